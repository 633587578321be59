#!/usr/bin/env bash
# test_simulate.sh -- `iclkin simulate`: its table, cut and resumed at any moment, what is refused, a run that diverges.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

meta() {
    sed -n "s/^# $2 = //p" "$1"
}

small=("$dir/small.ini")
cat >"${small[0]}" <<'END'
[task]
D = 16
K = 200
N = 20
[sim]
hidden = 32
[observe]
samples = 31
END

# the table: columns of a trajectory, rows from t = 0 to t_max, the times in the header; the file reproduces itself
expect 0 "$ICLKIN" simulate "${small[@]}" -s train.t_max=150 -o "$dir/a"
[ "$(grep -v '^#' "$dir/a" | head -1)" = "$("$ICLKIN" trajectory | grep -v '^#' | head -1)" ] || fail "columns"
"$ICLKIN" trajectory >"$dir/theory"
[ "$(grep -c '^# unit' "$dir/a")" -eq 13 ] || fail "units"
cmp -s <(grep '^# unit' "$dir/a") <(grep '^# unit' "$dir/theory") || fail "units differ from a trajectory's"
[ "$(rows "$dir/a" | wc -l)" -eq 31 ] || fail "$(rows "$dir/a" | wc -l) rows, not 31"
[ "$(rows "$dir/a" | head -1 | cut -f1,2)" = $'0\t0' ] || fail "the first row is not at 0"
[ "$(rows "$dir/a" | tail -1 | cut -f1,2)" = $'150\t1500' ] || fail "the last row is not at t_max"
[ "$(meta "$dir/a" outcome)" = icl ] || fail "outcome $(meta "$dir/a" outcome)"
awk -v t="$(meta "$dir/a" t_icl)" -v e="$(meta "$dir/a" t_icl_error)" \
    'BEGIN { exit !(t > 40 && t < 100 && e > 0 && e < 5) }' || fail "t_icl, or its error"
[ "$(meta "$dir/a" t_loss)" = inf ] || fail "t_loss"
[ -n "$(meta "$dir/a" kernel)" ] || fail "the kernel is not named"
[ ! -e "$dir/a.checkpoint" ] || fail "a finished run leaves its checkpoint"
expect 0 "$ICLKIN" simulate "$dir/a"
cmp -s "$dir/a" "$dir/out" || fail "the table does not reproduce itself"
expect 0 "$ICLKIN" simulate "$dir/a" -s sim.seed=2
! cmp -s <(rows "$dir/a") <(rows "$dir/out") || fail "another seed, the same rows"

# w and beta alone; scores 0 and 1; both go on without a network or without a dimension
expect 0 "$ICLKIN" simulate "${small[@]}" -s memory.law=none -s train.t_max=20
[ "$(meta "$dir/out" kernel)" = none ] || fail "memory.law = none has a network"
[ "$(rows "$dir/out" | tail -1 | cut -f6-8)" = $'0.5\t0.5\t1' ] || fail "memory.law = none is not phi = 0"
expect 0 "$ICLKIN" simulate "${small[@]}" -s task.D=inf -s task.K=inf -s train.t_max=5
expect 0 "$ICLKIN" simulate "${small[@]}" -s task.labels=balanced -s init.w=0.5 -s train.t_max=5

# Killed, or asked to stop, at any moment, and resumed: the same bytes.
long=("${small[@]}" -s train.t_max=400 -s sim.checkpoint=0.02)
expect 0 "$ICLKIN" simulate "${long[@]}" -o "$dir/whole"
for signal in KILL INT TERM; do
    rm -f "$dir/part"
    stopped=0
    for try in 1 2 3 4 5 6; do
        bash -c 'trap - INT; exec "$@"' _ "$ICLKIN" simulate "${long[@]}" --resume -o "$dir/part" 2>"$dir/err" &
        sleep "0.0$((3 + RANDOM % 7))"
        kill -$signal $! 2>/dev/null
        wait $! 2>/dev/null
        code=$?
        [ $code -eq 0 ] && break
        [ $code -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal in try $try ended with $code: $(cat "$dir/err")"
        [ ! -e "$dir/part" ] || fail "an unfinished run left an output"
        stopped=$((stopped + 1))
    done
    [ $stopped -gt 0 ] || fail "SIG$signal never came in time"
    expect 0 "$ICLKIN" simulate "${long[@]}" --resume -o "$dir/part"
    [ "$code" -eq 0 ] || grep -q 'carries on at step [1-9]' "$dir/err" || fail "SIG$signal: begins again: $(cat "$dir/err")"
    cmp -s "$dir/whole" "$dir/part" || fail "SIG$signal $stopped times and resumed, the bytes differ"
    [ "$(find "$dir" -name 'part.checkpoint*' | wc -l)" -eq 0 ] || fail "left behind: $(echo "$dir"/part*)"
done
expect 0 "$ICLKIN" simulate "${long[@]}" --resume -o "$dir/part"
grep -q 'finished already' "$dir/err" || fail "a finished run is made again"

# A run that diverges names the step and writes nothing.
expect 1 "$ICLKIN" simulate "${small[@]}" -s train.lr=100 -s train.t_max=1e5 -o "$dir/diverged"
grep -q 'step [0-9]* .*diverges at lr=100' "$dir/err" || fail "divergence: $(cat "$dir/err")"
[ -z "$(find "$dir" -name 'diverged*')" ] || fail "a diverged run left something"

# refused
make_checkpoint() {
    rm -f "$dir/c" "$dir/c.checkpoint"
    "$ICLKIN" simulate "${small[@]}" -s train.t_max=1e6 -s sim.checkpoint=0.01 -o "$dir/c" 2>/dev/null &
    for _ in {1..500}; do
        [ -e "$dir/c.checkpoint" ] && break
        sleep 0.02
    done
    sleep 0.1
    kill -9 $!
    wait $! 2>/dev/null
    [ -e "$dir/c.checkpoint" ] || fail "no checkpoint after 10 s"
}
make_checkpoint
cp "$dir/c.checkpoint" "$dir/keep"
expect 2 "$ICLKIN" simulate "${small[@]}" -s train.t_max=1e6 -o "$dir/c"
grep -q 'exists' "$dir/err" || fail "an existing checkpoint: $(cat "$dir/err")"
for other in train.lr=0.2 sim.seed=9 task.K=300 sim.hidden=16 observe.samples=30 memory.law=none; do
    expect 2 "$ICLKIN" simulate "${small[@]}" -s train.t_max=1e6 -s $other --resume -o "$dir/c"
    grep -q 'checkpoint' "$dir/err" || fail "a checkpoint of another $other: $(cat "$dir/err")"
done
cmp -s "$dir/c.checkpoint" "$dir/keep" || fail "a refused --resume changed the checkpoint"
for size in 0 7 50 200 $(($(stat -c %s "$dir/keep") - 1)); do
    head -c "$size" "$dir/keep" >"$dir/c.checkpoint"
    expect 2 "$ICLKIN" simulate "${small[@]}" -s train.t_max=1e6 --resume -o "$dir/c"
done
# A byte changed anywhere, in the rows so far (from 64 on) or in the state: refused.
for at in 70 100 500 $(($(stat -c %s "$dir/keep") / 2)) $(($(stat -c %s "$dir/keep") - 1)); do
    cp "$dir/keep" "$dir/c.checkpoint"
    byte=$(od -An -tu1 -j "$at" -N 1 "$dir/keep")
    printf '%b' "\\x$(printf %02x $((byte ^ 1)))" | dd of="$dir/c.checkpoint" bs=1 seek="$at" conv=notrunc status=none
    expect 2 timeout 20 "$ICLKIN" simulate "${small[@]}" -s train.t_max=1e6 --resume -o "$dir/c"
    grep -q 'checkpoint' "$dir/err" || fail "byte $at changed: $(cat "$dir/err")"
done
expect 2 "$ICLKIN" simulate "${small[@]}" --resume
expect 2 "$ICLKIN" simulate "${small[@]}" -x task.K=1:2:2
expect 1 "$ICLKIN" simulate "${small[@]}" -s train.t_max=0.04 # no row could lie at t_max
grep -q 'lr=0.1, t_max=0.04: .* half a step' "$dir/err" || fail "t_max below a step: $(cat "$dir/err")"
expect 1 "$ICLKIN" simulate "${small[@]}" -o "$dir/no/such/folder"
expect 1 "$ICLKIN" simulate "${small[@]}" -s train.t_max=1 -o /dev/full
exit $bad
