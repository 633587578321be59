#!/bin/sh
# demo.sh FIGURE... -- `make demo`: one prediction, one trajectory and the figures; then says what to look at.
#
# PROGRAM is iclkin, OUT where the files go (default: out).
set -eu
cd "$(dirname "$0")/.."
PROGRAM=${PROGRAM:-./iclkin}
OUT=${OUT:-out}
mkdir -p "$OUT"
begin=$(date +%s)

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

run "$PROGRAM" predict
run "$PROGRAM" trajectory -o "$OUT/trajectory.tsv"
for figure in "$@"; do
    run "$PROGRAM" plot "$figure" -o "$OUT/$figure.png"
done

printf '\nDone in %d s.\n\nFigures:\n' $(($(date +%s) - begin))
for figure in "$@"; do echo "  $OUT/$figure.png"; done
printf '\nTables (tab-separated; each opens with the parameters that reproduce it):\n'
find "$OUT" -name '*.tsv' -newermt "@$((begin - 1))" | sort | sed 's/^/  /'
cat <<END

What to try next:
  $PROGRAM predict -s task.K=1e5 -s task.N=50         another task: more items, a shorter context
  $PROGRAM predict $OUT/trajectory.tsv -s task.K=inf  any table is a parameter file; -s changes it
  $PROGRAM phase -x task.K=1e2:1e5:64:log -y task.N=50:250:41 -o $OUT/phase.tsv
  $PROGRAM simulate -s task.K=inf -o $OUT/simulate.tsv  SGD on the same model, the columns of trajectory
  $PROGRAM params                                     every parameter, its default and its meaning
  $PROGRAM --help                                     every command
END
