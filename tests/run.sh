#!/usr/bin/env bash
# run.sh PROGRAM... -- runs test programs and scripts, JOBS at a time, and adds up what they say.
#
# A cmocka program counts with each of its tests, by its closing lines; a script counts as one test (exit code 0:
# passed, 77: skipped). A program that ends badly without naming a failed test, or without having run any, counts as
# one failure; so does one that takes longer than TEST_SECONDS (600). What a passing program prints beside cmocka's own lines stays in BUILD/logs.
#
# Scripts are told by the environment: ICLKIN (the program under test), ICLKIN_MPI (the one for MPI, or empty), BUILD,
# MAKE_ARGS (for a make of their own).
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export BUILD MAKE_ARGS="${MAKE_ARGS-BUILD=$BUILD}"
ICLKIN=$(realpath -m "$BUILD/iclkin")
export ICLKIN
unset MAKEFLAGS MAKELEVEL MFLAGS
logs=$BUILD/logs
rm -rf "$logs"
mkdir -p "$logs"

log_of() {
    printf '%s/%s.log' "$logs" "${1//\//_}"
}

run_one() {
    local log start=$SECONDS
    log=$(log_of "$1")
    timeout "${TEST_SECONDS:-600}" "$1" >"$log" 2>&1 </dev/null
    echo "$? $((SECONDS - start))" >"$log.end"
}

export -f run_one log_of
export logs
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'run_one "$0"' &
feeder=$!

passed=0
failed=0
skipped=0
report() {
    local name=$1 log end code ok bad
    log=$(log_of "$name")
    while [ ! -s "$log.end" ] && kill -0 "$feeder" 2>/dev/null; do sleep 0.1; done
    end=$(cat "$log.end" 2>/dev/null) || end="1 0"
    code=${end% *}
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s)\.$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s), listed below:$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    if [[ $name == *.sh ]]; then
        ok=0 bad=0
        case $code in
        0) ok=1 ;;
        77) skipped=$((skipped + 1)) ;;
        *) bad=1 ;;
        esac
    elif { [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; } || [ $((ok + bad)) -eq 0 ]; then
        bad=$((bad + 1))
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
    printf '== %s (exit code %s, %s s)\n' "$name" "$code" "${end#* }"
    if [ "$bad" -eq 0 ]; then
        grep -E '^\[ *(=+|PASSED) *\]' "$log"
    else
        head -n 100 "$log"
        [ "$(wc -l <"$log")" -le 100 ] || echo "(the rest is in $log)"
        failures+="$name "
    fi
}
failures=
for i in "$@"; do report "$i"; done
wait "$feeder"
[ -z "$failures" ] || printf 'failed: %s\n' "$failures"
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
