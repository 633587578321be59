#!/usr/bin/env bash
# lint.sh [RULE...] -- the rules of the house that a machine can judge; all of them, or those named.
#
# Reads the sources, and the objects in BUILD (default: build), which must be up to date (`make lint` sees to it).
# Each breach is one line: rule, place, what is wrong. Exit code 1 if there is any.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
export BUILD=${BUILD:-build}
scratch=$(mktemp -d)
breaches=$scratch/breaches
trap 'rm -rf "$scratch"' EXIT
jobs=$(nproc)

if [ -e .git ] && command -v git >/dev/null; then
    mapfile -t all < <(git -c safe.directory='*' ls-files --cached --others --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
else
    mapfile -t all < <(find . -type f -not -path './build*' -not -path './out/*' -not -path ./iclkin | sed 's|^\./||')
fi
pick() {
    printf '%s\n' "${all[@]}" | grep -E "$1"
}
mapfile -t sources < <(pick '^src/.*\.c$')
mapfile -t code < <(pick '^(src|include)/.*\.[ch]$')

# ---- layers: base < param < num < { theory | sim } < validate < cli; run: base only ----------------------------------

declare -A may=(
    [base]="base" [param]="base param" [num]="base param num" [theory]="base param num theory"
    [sim]="base param num sim" [run]="base run" [validate]="base param num theory sim run validate"
    [cli]="base param num theory sim run validate cli"
)

# The layer of a public header is that of the .c (or _isa.c) of the same name.
layer_of() {
    local stem=${1##*/} source
    case $1 in
    params.def | iclkin/params.def) echo param ;;
    iclkin/*)
        for source in src/*/"${stem%.*}".c src/*/"${stem%.*}"_isa.c; do
            [ -f "$source" ] && echo "$source" | cut -d/ -f2 && return
        done
        ;;
    */*) echo "${1%%/*}" ;;
    esac
}

rule_layers() {
    local file mine other line included
    for file in "${code[@]}"; do
        case $file in
        src/*) mine=$(cut -d/ -f2 <<<"$file") ;;
        *) mine=$(layer_of "${file#include/}") ;;
        esac
        if [ -z "$mine" ]; then
            echo "$file: belongs to no layer: no src/*/$(basename "${file%.*}").c"
            continue
        fi
        if [ -z "${may[$mine]-}" ]; then
            echo "$file: $mine is no layer"
            continue
        fi
        while IFS=: read -r line included; do
            included=${included#*\"}
            included=${included%%\"*}
            case $included in
            */*) ;;
            *) included=$mine/$included ;;
            esac
            other=$(layer_of "$included")
            if [ -z "$other" ]; then
                echo "$file:$line: $included belongs to no layer"
            elif [[ " ${may[$mine]} " != *" $other "* ]]; then
                echo "$file:$line: $mine must not include $included ($other)"
            fi
        done < <(grep -nE '^ *# *include *"' "$file")
    done
    grep -nE '^ *# *include *[<"](gsl/|cblas)' include/iclkin/*.h | sed 's/$/: GSL stays out of public headers/'
    printf '%s\n' "${sources[@]}" | sed 's|.*/||' | sort | uniq -d | sed 's/$/: two sources of one name: one archive member/'
}

rule_mpi() {
    local file
    file=$(grep -lE '^ *# *include *<mpi\.h>' "${code[@]}" tests/*.c)
    [ "$(wc -w <<<"$file")" -le 1 ] || echo "mpi.h is included by more than one file: ${file//$'\n'/ }"
    grep -nE '^ *# *(if|elif).*MPI' "${code[@]}" tests/*.c | sed 's/$/: the Makefile chooses between comm.c and comm_mpi.c/'
}

rule_flags() {
    grep -nE '^[^#]*(-f(fast-math|unsafe-math)|-Ofast|-lgslcblas)' Makefile tests/*.sh .ci/run | grep -v '^tests/lint\.sh:'
    grep -nE 'pragma.*(fast-math|Ofast)|optimize *\("(fast|O)' "${code[@]}"
}

# ---- names and symbols, asked of the objects -------------------------------------------------------------------------

# "member section symbol" of what each object defines for others.
exported() {
    objdump -t "$BUILD/libiclkin.a" | awk '
        /^[^ ].*: +file format/ { member = $1; sub(/:$/, "", member) }
        /^[0-9a-f]+ .[^l]/ && $0 !~ /\*UND\*/ {
            if (substr($0, 18, 1) ~ /[gu!]/ || substr($0, 19, 1) == "w") print member, $(NF - 2), $NF
        }'
}

rule_names() {
    exported | while read -r member section symbol; do
        stem=${member%.o}
        stem=${stem%_v[134]}
        case $symbol in
        "icl_$stem" | "icl_${stem}_"* | "icl_${stem%_isa}_"*) ;;
        *) echo "$member: $symbol: an exported symbol starts with icl_${stem}_; everything else is static" ;;
        esac
        case $section in
        .data | .bss | .tdata | .tbss | '*COM*' | .data.[!r]* | .bss.*) echo "$member: $symbol: a global that can change" ;;
        esac
    done
}

# file, pattern of symbols, objects that may use them, why
rule_calls() {
    local objects libraries
    mapfile -t libraries < <(find "$BUILD"/{base,param,num,theory,sim,run,validate} -name '*.o' 2>/dev/null | sort)
    mapfile -t objects < <(printf '%s\n' "${libraries[@]}"; find "$BUILD/cli" -name '*.o' 2>/dev/null | sort)
    calls 'malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|memalign|strdup|strndup|asprintf|vasprintf|getline|getdelim|open_memstream' \
        'base/mem\.o' 'the heap belongs to src/base/mem.c' "${objects[@]}"
    calls '_?exit|_Exit|quick_exit|abort|v?printf|puts|putchar|perror|stderr|(__v?printf_chk)' '$^' \
        'only src/cli ends the program or prints' "${libraries[@]}"
    calls 'gsl_set_error_handler(_off)?' 'cli/main\.o' "GSL's handler is set once, in main" "${objects[@]}"
    calls 'rand|srand|random|drand48|gsl_rng_.*' '$^' 'random numbers come from icl_rng' "${objects[@]}"
}
calls() {
    local pattern=$1 allowed=$2 why=$3
    shift 3
    [ $# -gt 0 ] || return
    nm -A -u "$@" | sed 's/@.*//' | awk -v p="^($pattern)\$" '$NF ~ p { sub(/:$/, "", $1); print $1 ": calls " $NF }' |
        grep -vE "^$BUILD/$allowed:" | sed "s|^$BUILD/||; s|\$|: $why|"
}

# ---- sizes -----------------------------------------------------------------------------------------------------------

rule_sizes() {
    local file
    for file in "${code[@]}"; do
        awk -v file="$file" '
            /^[A-Za-z_]/ && !/^(struct|union|enum)[^()]*[{;]$/ && !inside { if (!open) { start = FNR; head = "" } open = 1 }
            open && !inside {
                head = head $0
                if (/;$/) open = 0
                else if (/\{$/ && head ~ /\)/ && head !~ /= *\{$/) { inside = 1; name = head }
                else if (/[{}]$/) open = 0
            }
            /^}/ {
                if (inside && FNR - start + 1 > 60) {
                    sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
                    printf "%s:%d: %s has %d lines; at most 60\n", file, start, name, FNR - start + 1
                }
                inside = open = 0
            }
            END { if (FNR > 400) printf "%s: %d lines; at most 400\n", file, FNR }' "$file"
    done
}

# ---- equations: what code cites is a heading in notes/, and every heading is cited ----------------------------------

# Tags whose code comes with later work.
later=""

# (S1)-(S4) cites all four.
tags() {
    grep -ohE '\([TMOS][0-9]+[a-z]?\)(-\([TMOS][0-9]+\))?' "$@" 2>/dev/null | tr -d '()' | while IFS=- read -r first last; do
        if [ -n "$last" ] && [ "${first:0:1}" = "${last:0:1}" ]; then
            seq -f "${first:0:1}%g" "${first:1}" "${last:1}"
        else
            printf '%s\n' "$first" ${last:+"$last"}
        fi
    done | sort -u
}

rule_tags() {
    local notes=() file tag cited known
    for file in notes/model.md notes/simulation.md; do [ ! -f "$file" ] || notes+=("$file"); done
    if [ ${#notes[@]} -eq 0 ]; then
        echo "notes/model.md: missing"
        return
    fi
    known=$(grep -hE '^#' "${notes[@]}" | tags /dev/stdin)
    mapfile -t cited < <(pick '^(src|include|tests)/.*\.([ch]|def)$')
    for tag in $(comm -23 <(tags "${cited[@]}") <(echo "$known")); do
        echo "$(grep -lE "\\($tag\\)" "${cited[@]}" | tr '\n' ' '): cites ($tag), which is no heading of notes/"
    done
    for tag in $later; do
        ! grep -qE "\\($tag\\)" "${cited[@]}" || echo "tests/lint.sh: ($tag) is cited by now: not later"
    done
    for tag in $(comm -13 <(tags "${cited[@]}") <(echo "$known")); do
        [[ " $later " == *" $tag "* ]] || echo "${notes[*]}: no code cites ($tag)"
    done
}

# ---- text ------------------------------------------------------------------------------------------------------------

# The repository speaks of the project alone: no place on somebody's machine, no host packages come from.
rule_text() {
    printf '%s\0' "${all[@]}" | grep -zvxE 'LICENSE' |
        xargs -0 grep -nIE '/[w]ork/|/[r]oot/|/home/[a-z]|(deb|snapshot|security|ftp)[.]debian[.]org|registry[.]npmjs|pypi[.]org|crates[.]io' |
        cut -c1-160
    printf '%s\0' "${all[@]}" | grep -zE '\.(c|h|def|sh|md|gp|ini)$|Makefile' | xargs -0 grep -nIE '[[:blank:]]+$' |
        cut -c1-100 | sed 's/$/: blanks at the end/'
}

# ---- other people's tools --------------------------------------------------------------------------------------------

need() {
    command -v "$1" >/dev/null || { echo "$1: not installed (make deps-check)"; return 1; }
}

rule_format() {
    need clang-format || return
    pick '^(src|include|tests)/.*\.[ch]$' | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error:' |
        awk -F: '!seen[$1]++ { print $1 ":" $2 ": clang-format would change this" }'
}

flags=(-std=c11 -Iinclude -Isrc -Itests -D_POSIX_C_SOURCE=200809L -DICL_ISA=v1
    '-DICL_VERSION="0"' '-DICL_COMMIT="0"' '-DICL_DATADIR="/"')

# What is null or unset, the analyser follows better (rule tidy); here a call by `(yes ? f : g)(...)` hides a store.
rule_cppcheck() {
    need cppcheck || return
    cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --template=gcc \
        --suppress=missingIncludeSystem --suppress=invalidPointerCast --suppress=uninitvar --suppress=nullPointer \
        --suppress=nullPointerRedundantCheck --suppress=duplicateAssignExpression \
        "${flags[@]:1}" "${sources[@]}" 2>&1 |
        grep -E '(error|warning|performance|portability):'
}

# The analyser sees one file at a time: it must be told that the makers of errors return the code they were given.
# (One file a process, too: version 14 carries faults of its own from one file to the next.)
rule_tidy() {
    need clang-tidy || return
    local file
    cat >"$scratch/analyser.h" <<'END'
#include "iclkin/err.h"
#define icl_err_set(err, code, ...) ((void)icl_err_set(err, code, __VA_ARGS__), (code))
#define icl_err_context(err, code, ...) ((void)icl_err_context(err, code, __VA_ARGS__), (code))
END
    # What was found clean stays so until the text that the compiler sees changes.
    mkdir -p "$BUILD/tidy"
    # shellcheck disable=SC2016 # the inner shell expands it
    for file in "${sources[@]}"; do
        grep -q '<mpi\.h>' "$file" || printf '%s\0' "$file"
    done | xargs -0 -n 1 -P "$jobs" bash -c '
        [ "${*: -1}" = src/base/err.c ] || set -- -include "$0/analyser.h" "$@"
        seen=$BUILD/tidy/$({ clang -E -P "$@" 2>/dev/null; cat .clang-tidy; } | sha256sum | cut -c1-40)
        [ ! -e "$seen" ] || exit 0
        clang-tidy --quiet "${*: -1}" -- "${@:1:$#-1}" 2>/dev/null && touch "$seen"' "$scratch" "${flags[@]}" |
        sed "s|^$PWD/||" | grep -E '^[^ ].*(error|warning):'
}

rule_scripts() {
    need shellcheck || return
    pick '\.sh$|^\.ci/run$' | xargs shellcheck -x -f gcc
}

for rule in "${@:-layers mpi flags names calls sizes tags text format scripts cppcheck tidy}"; do
    for one in $rule; do
        "rule_$one" 2>&1 | sed "s/^/$one: /"
    done
done >"$breaches"
sort -u "$breaches"
[ ! -s "$breaches" ]
