#!/bin/sh
# deps.sh [-n] PACKAGE... -- sees to it that Debian packages are installed.
#
# Silent and quick where all are there. As root it installs the others; anyone else gets the one line to run, and exit
# code 1. With -n it installs nothing and prints that line for root too.
set -eu
export LC_ALL=C

only_say=
if [ "${1-}" = -n ]; then
    only_say=yes
    shift
fi
if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian system: install what these packages hold by other means: $*" >&2
    if [ -n "$only_say" ]; then exit 1; else exit 0; fi
fi

missing=
for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# A machine that never fetched the list of packages knows none of them.
update=
for package in $missing; do
    apt-cache show "$package" >/dev/null 2>&1 || update=yes
done

if [ -n "$only_say" ] || [ "$(id -u)" -ne 0 ]; then
    echo "Some Debian packages are missing. As root \"make deps\" installs them; otherwise run:" >&2
    echo "sudo apt-get install --no-install-recommends$missing" |
        sed "${update:+s/^/sudo apt-get update \&\& /}" >&2
    exit 1
fi

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing:$missing"
[ -z "$update" ] || apt update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
# An old list names files that are gone: then, and only then, fetch it anew.
# shellcheck disable=SC2086 # one word a package
apt install --no-install-recommends $missing >"$log" 2>&1 ||
    { apt update >"$log" 2>&1 && apt install --no-install-recommends $missing >"$log" 2>&1; } ||
    { cat "$log" >&2; exit 1; }
