# shellcheck shell=bash
# shell.sh -- what the test scripts share; they source it. $dir is a folder of the script's own, $bad its exit code.
set -u
: "${ICLKIN:?the program under test}"
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP
dir=$(mktemp -d)
# A child that is killed before its exec must not clean up for its parent.
trap '[ "$BASHPID" = "$$" ] && rm -rf "$dir"' EXIT
bad=0

fail() {
    echo "FAILED: $*"
    # shellcheck disable=SC2034 # the scripts end with it
    bad=1
}

# expect CODE COMMAND...: the exit code; stdout and stderr stay in $dir/out and $dir/err
expect() {
    local want=$1 code
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want: $* ($(head -c 300 "$dir/err"))"
}

# The rows of a table.
rows() {
    grep -v -e '^#' -e '^$' "$1" | tail -n +2
}

# Those of an ensemble: sorted, and without the last column, since how long a run took is the machine's affair.
runs() {
    grep -v '^#' "$1" | sed 's/\t[^\t]*$//' | sort
}

same_runs() {
    cmp -s <(runs "$1") <(runs "$2") || fail "$3"
}
