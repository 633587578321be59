#!/usr/bin/env bash
# test_docs.sh -- manual page, completion and README in step with the program: every command, option and parameter of
# the tables stands in the first two, README names none that does not exist, and the examples run.
#
# ICLKIN is the program under test. Exit code 0: all passed; otherwise every failure was printed.
#
# shellcheck disable=SC2016,SC2094 # programs of bash in quotes; `params` is a command and a file
set -u
cd "$(dirname "$0")/.." || exit 1
readme=$PWD/README.md
ICLKIN=$(realpath "${ICLKIN:-./iclkin}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C
checks=0
failures=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" && return
    echo "test_docs: $what"
    failures=$((failures + 1))
}

"$ICLKIN" _man >iclkin.1 || exit 1
"$ICLKIN" _completion >completion.bash || exit 1
"$ICLKIN" help >help || exit 1
"$ICLKIN" params >params || exit 1
mapfile -t commands < <(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help)
mapfile -t parameters < <(awk -F'\t' 'NR > 1 { print $1 "." $2 }' params)
mapfile -t figures < <("$ICLKIN" plot list | awk '{ print $1 }')
check "help lists commands" test "${#commands[@]}" -ge 4
check "params lists parameters" test "${#parameters[@]}" -ge 40

# The options of a command, or of all: "-x --xaxis" or "--json", a line each.
options_of() {
    "$ICLKIN" help "$@" | sed -n '/^options:/,$s/^  *\(-.*\)  .*/\1/p' | sed 's/,//; s/\(--[a-z]*\) .*/\1/'
}

# ---- manual page -----------------------------------------------------------------------------------------------------

for command in "${commands[@]}"; do
    check "manual page: $command" grep -qx "\.It Cm $command" iclkin.1
    check "manual page: synopsis of $command" grep -qx "\.Cm $command" iclkin.1
done
while read -r option; do
    for form in $option; do
        check "manual page: $form" grep -qE -- "^\.It.* Fl $(sed 's/^-//; s/^-/\\\\-/' <<<"$form")( |$)" iclkin.1
    done
done < <(options_of)
for parameter in "${parameters[@]}"; do
    check "manual page: $parameter" grep -qx "\.It Va $parameter" iclkin.1
done
check "manual page: exit codes" test "$(grep -cE '^\.It (0|1|2|128 \+ signal)$' iclkin.1)" -eq 4
while IFS=$'\t' read -r section key _ default _; do
    case $section,$default in
    section,* | *,-) continue ;;
    esac
    check "manual page: default of $section.$key" grep -qxF "Default $default." <(grep -A 8 -x "\.It Va $section\.$key" iclkin.1)
done <params
if command -v mandoc >/dev/null; then
    # Which other pages are installed here is no fault of this one.
    mandoc -T lint iclkin.1 2>/dev/null | grep -v 'mandoc.db' >lint
    check "mandoc -T lint: $(cat lint)" test ! -s lint
fi

# The examples, in a folder of their own.
PATH=$(dirname "$ICLKIN"):$PATH
mkdir examples
sed -n 's/^\.Dl \$ //p' iclkin.1 >examples.sh
check "the manual page has examples" test "$(grep -c '' examples.sh)" -ge 4
while read -r line; do
    check "example: $line" bash -c 'cd examples && eval "$0" >/dev/null 2>../err' "$line"
done <examples.sh

# ---- completion ------------------------------------------------------------------------------------------------------

# complete WORD... (the last is completed): the answers, one a line.
complete_words() {
    bash -uc '. ./completion.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        $(complete -p iclkin | sed "s/.*-F \([^ ]*\).*/\1/")
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
offers() { # EXPECTED WORD...
    complete_words "${@:2}" >offered 2>&1
    check "completion of '${*:2}' offers '$1', not '$(paste -sd' ' offered | cut -c1-200)'" grep -qxF -- "$1" offered
}
only() { # EXPECTED WORD...
    complete_words "${@:2}" >offered 2>&1
    check "completion of '${*:2}' is '$1', not '$(paste -sd' ' offered | cut -c1-200)'" test "$1" = "$(paste -sd' ' offered)"
}
for command in "${commands[@]}"; do
    only "$command" iclkin "$command"
    offers "$command" iclkin ''
    offers "$command" iclkin help ''
    while read -r option; do
        for form in $option; do offers "$form" iclkin "$command" -; done
    done < <(options_of "$command")
done
complete_words iclkin predict - >offered
check "completion offers only the command's options" test "$(grep -cx -- --ini offered)" -eq 0
for parameter in "${parameters[@]}"; do
    offers "$parameter=" iclkin predict -s "${parameter%?}"
done
only 'random balanced' iclkin predict -s task.labels = # as readline splits it
only balanced iclkin predict -s task.labels = b
only task.labels=balanced iclkin predict -s task.labels=b # where `=` is no word break
only 'asymptotic reduced meanfield' iclkin predict -s theory.level = ''
offers inf iclkin predict -s task.K = ''
touch mine.ini 'two words.tsv'
offers mine.ini iclkin predict mi
offers 'two words.tsv' iclkin predict -s task.N=5 tw
offers mine.ini iclkin predict -o m
for figure in "${figures[@]}" list; do offers "$figure" iclkin plot ''; done
offers mine.ini iclkin plot levels m
if command -v shellcheck >/dev/null; then
    check "the completion is clean" shellcheck -s bash completion.bash
fi

# ---- README ----------------------------------------------------------------------------------------------------------

known() { # NAME LIST...
    local name=$1 one
    shift
    for one; do [ "$name" != "$one" ] || return 0; done
    return 1
}
mapfile -t sections < <(tail -n +2 params | cut -f1 | sort -u)
alternatives=$(
    IFS='|'
    echo "${sections[*]}"
)
while read -r name; do
    check "README: no parameter $name" known "$name" "${parameters[@]}"
done < <(grep -oE "(^|[^A-Za-z0-9_./])($alternatives)\.[A-Za-z][A-Za-z_0-9]*" "$readme" | grep -oE "($alternatives)\..*" |
    grep -vE '\.(tsv|png|svg|pdf|ini|gp|md|py|c|h|json)$' | sort -u)
while read -r name; do
    check "README: no command $name" known "$name" "${commands[@]}" help
done < <(grep -oE '(\./iclkin|`iclkin|^iclkin|\$ iclkin) [a-z]+' "$readme" | grep -oE '[a-z]+$' | sort -u)
mapfile -t options < <(options_of | tr ' ' '\n')
while read -r option; do
    check "README: no option $option" known "$option" "${options[@]}"
done < <(grep -E 'iclkin [a-z]+' "$readme" | sed 's: | .*::; s:^ *mpirun.* build::' | grep -oE '(^| )--?[a-z]+' | tr -d ' ' | sort -u)
for figure in "${figures[@]}"; do
    check "README: figure $figure" grep -qw -- "$figure" "$readme"
done
# What README shows, the program prints: in a block, the lines after `$ ./iclkin ...` are its output, `...` stands for
# lines left out. The commands run in order, in one folder.
awk '/^```/ { block = !block; file = ""; next }
     block && /^\$ / { file = "" }
     block && /^\$ \.\/iclkin/ { file = sprintf("shown.%03d", ++n); print substr($0, 3) >(file ".cmd"); next }
     file != "" { print >(file ".out") }' "$readme"
ln -s "$ICLKIN" iclkin
for shown in shown.*.cmd; do
    command=$(cat "$shown")
    check "README: '$command' fails: $(cat err)" bash -c 'set -o pipefail; eval "$0" >seen 2>err' "$command"
    [ -e "${shown%.cmd}.out" ] || continue
    while read -r line; do
        [ -z "$line" ] || [ "$line" = ... ] || check "README: '$command' does not print '$line'" grep -qF -- "$line" seen
    done <"${shown%.cmd}.out"
done

# The lines of gnuplot and Python, on the table that the tour has left.
for language in gnuplot python; do
    awk -v language="$language" '/^```/ { on = $0 == "```" language; next } on' "$readme" >"lines.$language"
    check "README: no lines of $language" test -s "lines.$language"
done
if command -v gnuplot >/dev/null; then
    check "README: the lines of gnuplot: $(cat err)" gnuplot -e 'set terminal dumb; set output "drawn"' lines.gnuplot 2>err
    check "README: gnuplot draws" test -s drawn
fi
if python3 -c 'import pandas, matplotlib' 2>/dev/null; then
    check "README: the lines of Python" env MPLBACKEND=agg python3 lines.python
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
