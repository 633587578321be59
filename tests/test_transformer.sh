#!/usr/bin/env bash
# test_transformer.sh -- sim.model = transformer in `simulate` and `ensemble`: the same bytes for any threads, in shards,
# stopped and resumed; what is refused; it learns in context, and abruptly.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

cat >"$dir/small.ini" <<'END'
[task]
K = inf
D = 8
N = 8
[train]
lr = 0.05
batch = 32
t_max = 100
[sim]
model = transformer
hidden = 32
eval_items = 300
[ensemble]
runs = 3
END

# threads, shards, cut and resumed
finite=("$dir/small.ini" -x task.K=20:200:2 -s train.t_max=10)
expect 0 "$ICLKIN" ensemble "${finite[@]}" -s ensemble.threads=1 -o "$dir/t1"
expect 0 "$ICLKIN" ensemble "${finite[@]}" -s ensemble.threads=4 -o "$dir/t4"
same_runs "$dir/t1" "$dir/t4" "the rows depend on the number of threads"
for i in 1 2; do expect 0 "$ICLKIN" ensemble "${finite[@]}" --shard $i/2 -o "$dir/s$i"; done
awk '!seen[$0]++' "$dir"/s[12] >"$dir/joined"
same_runs "$dir/t1" "$dir/joined" "the shards do not make up the whole"
head -c $(($(stat -c %s "$dir/t1") - 60)) "$dir/t1" >"$dir/part"
expect 0 "$ICLKIN" ensemble "${finite[@]}" --resume -o "$dir/part"
same_runs "$dir/t1" "$dir/part" "cut and resumed, the rows differ"

# killed at any moment and resumed from its checkpoints: the same bytes
one=("$dir/small.ini" -s task.K=50 -s sim.checkpoint=0.02 -s observe.samples=21)
expect 0 "$ICLKIN" simulate "${one[@]}" -o "$dir/whole"
restored=0
for try in 1 2 3 4 5 6; do
    "$ICLKIN" simulate "${one[@]}" --resume -o "$dir/cut" 2>/dev/null &
    sleep "0.1$((RANDOM % 10))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    [ -e "$dir/cut.checkpoint" ] && restored=$((restored + 1))
done
expect 0 "$ICLKIN" simulate "${one[@]}" --resume -o "$dir/cut"
cmp -s "$dir/whole" "$dir/cut" || fail "killed and resumed ($restored of $try from a checkpoint), the bytes differ"

# what a checkpoint belongs to
"$ICLKIN" simulate "${one[@]}" -s train.t_max=1e5 -o "$dir/c" 2>/dev/null &
for _ in {1..200}; do [ -e "$dir/c.checkpoint" ] || sleep 0.05; done
kill -9 $!
wait $! 2>/dev/null
for other in sim.model=minimal sim.label_code=onehot train.lambda_attention=2e-3; do
    expect 2 "$ICLKIN" simulate "${one[@]}" -s train.t_max=1e5 -s $other --resume -o "$dir/c"
    grep -q 'other parameters' "$dir/err" || fail "$other: $(cat "$dir/err")"
done

# It learns in context: chance at first, then nearly every novel item right, with both the score of the copy and the
# response to the attended label grown.
for code in sign onehot; do
    expect 0 "$ICLKIN" simulate "$dir/small.ini" -s sim.label_code=$code -s train.t_max=400 -s observe.samples=41
    grep -v '^#' "$dir/out" | awk -F'\t' 'NR == 2 && !($12 > 0.4 && $12 < 0.6 && $3^2 < 1) { exit 1 }
        END { exit !($12 > 0.9 && $3 * $3 > 4 && $4 > 2) }' || fail "$code does not learn: $(tail -1 "$dir/out")"
done

# refused
expect 1 "$ICLKIN" simulate "$dir/small.ini" -s task.D=inf
grep -q 'D = inf' "$dir/err" || fail "D = inf: $(cat "$dir/err")"
expect 2 "$ICLKIN" calibrate "$dir/small.ini" -x task.K=20:80:3:log
grep -q 'sim.*model = transformer' "$dir/err" || fail "calibrate: $(cat "$dir/err")"
expect 2 "$ICLKIN" simulate -s sim.model=lstm
exit $bad
