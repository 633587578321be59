#!/bin/sh
# test_install.sh -- what `make install` puts down works from there, and `make uninstall` takes all of it away.
#
# Environment (set by run.sh): MAKE_ARGS, for the build that is installed.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MFLAGS
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=/usr/local # that of the build under test: another one would build it anew
root=$stage$prefix

fail() {
    echo "test_install: $*" >&2
    exit 1
}
# shellcheck disable=SC2086 # several words
from_make() {
    make -s ${MAKE_ARGS-} DESTDIR="$stage" PREFIX="$prefix" "$@"
}

from_make install
for f in bin/iclkin lib/libiclkin.a lib/pkgconfig/iclkin.pc include/iclkin/params.h include/iclkin/params.def \
    include/iclkin/version.h share/man/man1/iclkin.1 share/bash-completion/completions/iclkin; do
    [ -s "$root/$f" ] || fail "$f is not there"
done
for f in params/* params/*/* params/*/*/* plots/*; do
    [ ! -f "$f" ] || cmp "$f" "$root/share/iclkin/$f" || fail "$f is not as in the sources"
done

# The program, called by its full name from a folder that has none of its files.
version=$(cd / && "$root/bin/iclkin" --version)
case $version in
*"$(sed -n 's/^VERSION := //p' Makefile)"*) ;;
*) fail "iclkin --version says '$version'" ;;
esac
(cd / && "$root/bin/iclkin" predict >"$stage/predict") || fail "predict fails"
[ -s "$stage/predict" ] || fail "predict prints nothing"
(cd / && "$root/bin/iclkin" plot levels -o "$stage/levels.svg") || fail "the plot scripts are not found"
grep -q '</svg>' "$stage/levels.svg" || fail "plot draws nothing"

(cd "$stage" && "$root/bin/iclkin" validate --quick -s train.lr=1e6 >/dev/null 2>"$stage/validate") && fail "validate: lr = 1e6 passes"
grep -q '[0-9] settings' "$stage/validate" || fail "the quick list is not found: $(cat "$stage/validate")"

# The library, by pkg-config: a program outside the source tree compiles, links and gives the same version.
cat >"$stage/use.c" <<'END'
#include <iclkin/params.h>
#include <iclkin/version.h>
#include <stdio.h>

int main(void) {
    struct icl_params params;

    icl_params_default(&params);
    printf("%s %g\n", icl_version_text(), params.task.K);
    return 0;
}
END
export PKG_CONFIG_PATH="$root/lib/pkgconfig"
# shellcheck disable=SC2046 # several words
(cd "$stage" && ${CC:-gcc} -std=c11 -Wall -Werror use.c -o use \
    $(pkg-config --define-variable=prefix="$root" --cflags --libs iclkin))
seen=$("$stage/use")
[ "$seen" = "$(pkg-config --modversion iclkin) 4000" ] || fail "the library says '$seen'"

# The manual page is clean mdoc, the completion is bash that knows the commands.
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$root/share/man/man1/iclkin.1" || fail "the manual page is not clean"
fi
# shellcheck disable=SC2016 # the inner shell expands it
bash -euc '. "$0"; complete -p iclkin >/dev/null; COMP_WORDS=(iclkin pred); COMP_CWORD=1; COMP_LINE="iclkin pred"
    COMP_POINT=11; function=$(complete -p iclkin | sed "s/.*-F \([^ ]*\).*/\1/"); "$function" iclkin pred iclkin
    [ "${COMPREPLY[0]% }" = predict ]' "$root/share/bash-completion/completions/iclkin" || fail "no completion"

from_make uninstall
left=$(find "$stage/usr" -type f -o -type l)
[ -z "$left" ] || fail "uninstall leaves $left"
for folder in share/iclkin include/iclkin; do
    [ ! -e "$root/$folder" ] || fail "uninstall leaves $folder"
done
