#!/usr/bin/env bash
# test_ensemble.sh -- `iclkin ensemble`: the same rows for any threads, in shards, killed and resumed; diverging runs;
# what is refused; t_icl against theory.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

cat >"$dir/small.ini" <<'END'
[task]
D = 16
N = 20
[init]
w_sd = 0.1
[train]
t_max = 120
[sim]
hidden = 16
eval_items = 500
[ensemble]
runs = 3
END
small=("$dir/small.ini" -x task.K=20:200:2)

# threads
for threads in 1 2 8; do
    expect 0 "$ICLKIN" ensemble "${small[@]}" -s ensemble.threads=$threads -o "$dir/t$threads"
done
same_runs "$dir/t1" "$dir/t2" "the rows depend on the number of threads (2)"
same_runs "$dir/t1" "$dir/t8" "the rows depend on the number of threads (8)"
grep -q '^iclkin ensemble: 6 runs: 3 icl, 0 transient, 3 iwl, 0 none, 0 failed; 3 without' "$dir/err" ||
    fail "summary: $(cat "$dir/err")"
[ "$(grep -v '^#' "$dir/t1" | head -1)" = \
    $'task.K\tseed\tw0\tbeta0\tt_icl\tt_iwl\tt_loss\toutcome\tsteps\tseconds' ] || fail "columns"
[ "$(runs "$dir/t1" | wc -l)" -eq 7 ] || fail "$(runs "$dir/t1" | wc -l) lines, not 7"
# K = 20: never acquired is inf, not the last step. K = 200: it stops once t_icl is known, and does not say what it has not seen.
awk -F'\t' '/^20\t/ && !($5 == "inf" && $7 == "inf" && $8 == "iwl" && $9 == 1200) { exit 1 }' "$dir/t1" || fail "censored rows"
awk -F'\t' '/^200\t/ && !($5 < 100 && $6 == "nan" && $7 == "nan" && $8 == "icl" && $9 < 1000) { exit 1 }' "$dir/t1" ||
    fail "rows that stopped at t_icl"
[ "$(find "$dir" -name '*.checkpoint*' | wc -l)" -eq 0 ] || fail "a finished ensemble leaves checkpoints"

# the file reproduces itself, and simulate each of its rows
expect 0 "$ICLKIN" ensemble "$dir/t1"
same_runs "$dir/t1" "$dir/out" "the file does not reproduce itself"
cmp -s <(grep '^#' "$dir/t1") <(grep '^#' "$dir/out") || fail "its header does not"
line=$(grep $'^200\t2\t' "$dir/t1")
expect 0 "$ICLKIN" simulate "$dir/small.ini" -s task.K=200 -s sim.seed=2
[ "$(grep -v '^#' "$dir/out" | sed -n 2p | cut -f3,4)" = "$(cut -f3,4 <<<"$line")" ] || fail "simulate starts elsewhere"
[ "$(sed -n 's/^# t_icl = //p' "$dir/out")" = "$(cut -f5 <<<"$line")" ] ||
    fail "simulate: t_icl $(sed -n 's/^# t_icl = //p' "$dir/out"), ensemble: $(cut -f5 <<<"$line")"
# Where nothing can be memorized t_iwl is known to be never, however early the run stops.
for blank in task.K=inf memory.law=none; do
    expect 0 "$ICLKIN" ensemble "$dir/small.ini" -s $blank -s ensemble.runs=1
    runs "$dir/out" | awk -F'\t' '$1 == 1 && !($4 < 110 && $5 == "inf" && $6 == "nan" && $7 == "icl") { print; exit 1 }' ||
        fail "$blank, stopped at t_icl: $(runs "$dir/out")"
done

# transience asked for: decay runs to the end, and knows all three times
expect 0 "$ICLKIN" ensemble "$dir/small.ini" -s task.K=200 -s train.lambda=1e-4 -s ensemble.runs=1
[ "$(runs "$dir/out" | head -1 | cut -f8)" = 1200 ] || fail "decay, and the run stopped early"
runs "$dir/out" | grep -q nan && fail "a whole run with an unknown time"
expect 0 "$ICLKIN" ensemble "$dir/small.ini" -s task.K=200 -s ensemble.stop=end -s ensemble.runs=1
[ "$(runs "$dir/out" | head -1 | cut -f8)" = 1200 ] || fail "ensemble.stop = end stopped early"

# shards: by option, by a job array's variables of either base; their files make up the whole
for i in 1 2 3 4; do
    expect 0 "$ICLKIN" ensemble "${small[@]}" --shard $i/4 -o "$dir/s$i"
    expect 0 env SLURM_ARRAY_TASK_ID=$((10 + 3 * i)) SLURM_ARRAY_TASK_MIN=13 SLURM_ARRAY_TASK_STEP=3 \
        SLURM_ARRAY_TASK_COUNT=4 "$ICLKIN" ensemble "${small[@]}" -o "$dir/slurm$i"
    same_runs "$dir/s$i" "$dir/slurm$i" "shard $i is not the job array's task"
done
awk '!seen[$0]++' "$dir"/s[1-4] >"$dir/joined"
same_runs "$dir/t1" "$dir/joined" "the shards do not make up the whole"
cmp -s <(grep '^#' "$dir/t1") <(grep '^#' "$dir/joined") || fail "shards differ in their headers"
expect 0 "$ICLKIN" ensemble "${small[@]}" --resume -o "$dir/joined"
awk '!seen[$0]++' "$dir"/s[124] >"$dir/lacking"
expect 0 "$ICLKIN" ensemble "${small[@]}" --resume -o "$dir/lacking"
same_runs "$dir/t1" "$dir/lacking" "a missing shard is not filled in by --resume"
expect 2 env SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 "$ICLKIN" ensemble "${small[@]}"
for variables in SLURM_ARRAY_TASK_ID=1 "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=2" \
    "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2x"; do
    # shellcheck disable=SC2086 # several words
    expect 2 env $variables "$ICLKIN" ensemble "${small[@]}"
    grep -q 'SLURM_ARRAY_TASK_COUNT' "$dir/err" || fail "$variables: $(cat "$dir/err")"
done
for shard in 0/3 4/3 1 1/0 a/b -1/3 1/3x; do expect 2 "$ICLKIN" ensemble "${small[@]}" --shard=$shard; done

# points that rounding makes equal are one point; a point that cannot be is a failed row, and the others are there
expect 0 "$ICLKIN" ensemble "$dir/small.ini" -x task.K=20:22:5 -s train.t_max=1 -s ensemble.runs=1
[ "$(runs "$dir/out" | wc -l)" -eq 3 ] || fail "coinciding points: $(runs "$dir/out")"
expect 0 "$ICLKIN" ensemble "$dir/small.ini" -x task.copies=1:30:2 -y task.K=20:40:2 -s train.t_max=1 -s ensemble.runs=2
[ "$(runs "$dir/out" | grep -c $'\tfailed\t')" -eq 4 ] || fail "copies > N: $(runs "$dir/out")"
[ "$(grep -c 'run 30 .* copies' "$dir/err")" -eq 4 ] || fail "copies > N gives no reason: $(cat "$dir/err")"

# a run that diverges ends alone, with the step as its reason
expect 0 "$ICLKIN" ensemble "$dir/small.ini" -x train.lr=1:100:2 -s ensemble.runs=2 -s train.t_max=2000 -s task.K=200 -s sim.hidden=64 \
    -s ensemble.stop=end -s sim.eval_items=100
[ "$(runs "$dir/out" | grep -c $'^100\t.*\tfailed\t')" -eq 2 ] || fail "lr 100 does not fail: $(runs "$dir/out")"
[ "$(runs "$dir/out" | grep -c $'^1\t.*\ticl\t')" -eq 2 ] || fail "a diverging run spoils others"
grep -q 'run 100 1: step [0-9]* .*diverges' "$dir/err" || fail "no reason: $(cat "$dir/err")"

# refused
expect 2 "$ICLKIN" ensemble "${small[@]}" -o "$dir/t1"
cp "$dir/t1" "$dir/keep"
expect 2 "$ICLKIN" ensemble "${small[@]}" -s init.w=0.5 --resume -o "$dir/t1"
grep -q 'header differs' "$dir/err" || fail "a changed parameter: $(cat "$dir/err")"
expect 2 "$ICLKIN" ensemble "$dir/small.ini" -x task.K=20:300:2 --resume -o "$dir/t1"
expect 2 "$ICLKIN" ensemble "${small[@]}" --shard 1/2 --resume -o "$dir/t1"
grep -q 'no runs of this ensemble or shard' "$dir/err" || fail "rows of another shard: $(cat "$dir/err")"
cmp -s "$dir/t1" "$dir/keep" || fail "a refused --resume changed the file"
# shellcheck disable=SC2016 # $s is sed's last line
for damage in '$s/\t[^\t]*$//' '$s/\ticl\t/\tnonsense\t/; $s/\tiwl\t/\tnonsense\t/'; do
    sed "$damage" "$dir/t1" >"$dir/damaged"
    cp "$dir/damaged" "$dir/keep"
    expect 2 "$ICLKIN" ensemble "${small[@]}" --resume -o "$dir/damaged"
    grep -q 'damaged row' "$dir/err" || fail "a row without its outcome: $(cat "$dir/err")"
    cmp -s "$dir/damaged" "$dir/keep" || fail "a refused --resume changed the file"
done
expect 2 "$ICLKIN" ensemble "${small[@]}" --resume
expect 2 "$ICLKIN" ensemble -y task.K=20:200:2
expect 2 "$ICLKIN" ensemble -x sim.seed=1:5:5
expect 2 "$ICLKIN" ensemble -x ensemble.runs=1:5:5
expect 2 "$ICLKIN" ensemble -x task.K=20:40:2 -y task.K=20:40:2
expect 2 "$ICLKIN" ensemble -s sim.seed=9007199254740991
expect 1 "$ICLKIN" ensemble "${small[@]}" -o "$dir/no/such/folder"
expect 1 "$ICLKIN" ensemble "${small[@]}" -o /dev/full

# cut anywhere, as a kill may leave it, and resumed
size=$(stat -c %s "$dir/t1")
for cut in 0 20 700 $((size - 150)) $((size - 20)) $((size - 1)) "$size"; do
    head -c "$cut" "$dir/t1" >"$dir/part"
    expect 0 "$ICLKIN" ensemble "${small[@]}" --resume -o "$dir/part"
    same_runs "$dir/t1" "$dir/part" "cut at $cut of $size and resumed, the rows differ"
done

# kill -9 at 20 moments, in runs that have checkpoints: the rows of the uninterrupted ensemble
long=("$dir/small.ini" -s task.K=20 -s train.t_max=200 -s ensemble.runs=6 -s ensemble.threads=2 -s sim.checkpoint=0.01)
expect 0 "$ICLKIN" ensemble "${long[@]}" -o "$dir/whole"
killed=0
restored=0
rm -f "$dir/part"
saved() {
    [ -n "$(find "$dir/part.checkpoints" -name '[0-9]*' 2>/dev/null)" ]
}
for try in {1..20}; do
    "$ICLKIN" ensemble "${long[@]}" --resume -o "$dir/part" 2>"$dir/err" &
    # every other time not before there is a checkpoint, which on a busy machine may take a while
    while ((try % 2)) && ! saved && kill -0 $! 2>/dev/null; do sleep 0.01; done
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -9 $! 2>/dev/null && killed=$((killed + 1))
    wait $! 2>/dev/null
    saved && restored=$((restored + 1))
    # a finished one is begun again
    if [ -e "$dir/part" ] && [ "$(runs "$dir/part" | wc -l)" -eq 7 ]; then
        same_runs "$dir/whole" "$dir/part" "killed and resumed, the rows differ"
        rm -f "$dir/part"
    fi
done
((killed >= 5 && restored >= 5)) || fail "of 20 tries $killed were killed in time, $restored left checkpoints"
expect 0 "$ICLKIN" ensemble "${long[@]}" --resume -o "$dir/part"
same_runs "$dir/whole" "$dir/part" "killed and resumed, the rows differ"
[ ! -e "$dir/part.checkpoints" ] || fail "checkpoints stay: $(ls "$dir/part.checkpoints")"

# A checkpoint that cannot be used costs its run's time, and is named.
mkdir "$dir/spoilt.checkpoints"
echo spoilt >"$dir/spoilt.checkpoints/2"
expect 0 "$ICLKIN" ensemble "${small[@]}" -o "$dir/spoilt"
grep -q 'run 20 3: .*/2: no checkpoint' "$dir/err" || fail "a spoilt checkpoint: $(cat "$dir/err")"
same_runs "$dir/t1" "$dir/spoilt" "a spoilt checkpoint, and other rows"

# Ctrl-C: 130, at once (and on the busiest machine long before the runs' own end), and what was done is not lost
rm -f "$dir/int"
endless=("$dir/small.ini" -s task.K=20 -s train.t_max=1e5 -s ensemble.runs=3)
bash -c 'trap - INT; exec "$@"' _ "$ICLKIN" ensemble "${endless[@]}" -o "$dir/int" 2>"$dir/err" &
sleep 0.5
start=$(date +%s%N)
kill -INT $!
wait $!
code=$?
took=$((($(date +%s%N) - start) / 1000000))
[ $code -eq 130 ] || fail "SIGINT ended with $code"
[ $took -lt 20000 ] || fail "SIGINT took $took ms"
[ "$(find "$dir/int.checkpoints" -name '[0-9]*' | wc -l)" -ge 1 ] || fail "SIGINT left no checkpoint"
expect 2 "$ICLKIN" ensemble "${endless[@]}" -o "$dir/int"

# Two processes never append to one file.
"$ICLKIN" ensemble "${endless[@]}" --resume -o "$dir/int" 2>/dev/null &
sleep 0.5
expect 2 "$ICLKIN" ensemble "${endless[@]}" --resume -o "$dir/int"
grep -q 'another process' "$dir/err" || fail "two at once: $(cat "$dir/err")"
kill -TERM %%
wait

# K infinite, N = 50, lr 0.1: the mean of three runs against the finite-D mean field. Statistics: three standard errors,
# from a standard deviation of 2 a run (measured at N = 100: 1.95); lr 0.1 itself shifts t_icl by less than 1 %.
# Measured: theory 142.68, mean of the runs 142.85.
physics=(-s task.K=inf -s task.N=50 -s train.lr=0.1 -s train.t_max=250 -s sim.hidden=64 -s ensemble.runs=3)
expect 0 "$ICLKIN" ensemble "${physics[@]}"
mean=$(grep -v '^#' "$dir/out" | tail -n +2 | cut -f4 | awk '{ s += $1 } END { print s / NR }')
theory=$("$ICLKIN" trajectory "${physics[@]}" | sed -n 's/^# t_icl = //p')
awk -v m="$mean" -v t="$theory" 'BEGIN { d = (m - t) / (3 * 2 / sqrt(3) + 0.01 * t); exit !(d > -1 && d < 1) }' ||
    fail "t_icl: mean of three runs $mean, mean field $theory"
echo "t_icl: mean of three runs $mean, mean field $theory"
exit $bad
