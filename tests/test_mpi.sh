#!/usr/bin/env bash
# test_mpi.sh -- `iclkin ensemble` built for MPI: the same rows for 1, 2, 4 ranks; ranks that are killed, stopped, refused.
program=${ICLKIN_MPI:-}
if [ -z "$program" ] || ! command -v mpirun >/dev/null; then
    echo "no program for MPI, or no mpirun: skipped"
    exit 77
fi
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

run() {
    local ranks=$1
    shift
    timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" "$program" ensemble "$@" \
        >"$dir/out" 2>"$dir/err"
}

cat >"$dir/small.ini" <<'END'
[task]
D = 16
N = 20
[train]
t_max = 120
[sim]
hidden = 16
eval_items = 500
[ensemble]
runs = 4
END
small=("$dir/small.ini" -x task.K=20:200:2)

"$program" ensemble "${small[@]}" -s ensemble.threads=2 -o "$dir/threads" 2>"$dir/err" || fail "threads: $(cat "$dir/err")"
for ranks in 1 2 4; do
    run $ranks "${small[@]}" -o "$dir/ranks$ranks" || fail "$ranks ranks: $(cat "$dir/err")"
    same_runs "$dir/threads" "$dir/ranks$ranks" "$ranks ranks: the rows differ from the threads'"
    [ "$(grep -c ' 8 runs: 4 icl' "$dir/err")" -eq 1 ] || fail "$ranks ranks: the summary $(cat "$dir/err")"
done
run 2 "${small[@]}" -s ensemble.threads=2 || fail "2 ranks of 2 threads: $(cat "$dir/err")"
same_runs "$dir/threads" "$dir/out" "2 ranks of 2 threads: the rows differ"
run 3 "$dir/small.ini" -s task.K=20 -s ensemble.runs=1 || fail "more ranks than runs: $(cat "$dir/err")"
[ "$(runs "$dir/out" | wc -l)" -eq 2 ] || fail "more ranks than runs: $(runs "$dir/out")"
run 2 "${small[@]}" --shard 2/2 || fail "a shard on 2 ranks: $(cat "$dir/err")"
[ "$(runs "$dir/out" | wc -l)" -eq 5 ] || fail "a shard on 2 ranks: $(runs "$dir/out")"

# `validate` shares its runs in the same way.
printf '%s\n' '[validate]' 'xaxis = task.K=20:200:2' 'compare = t_icl, w@100' | cat "$dir/small.ini" - >"$dir/setting.ini"
"$program" validate -q "$dir/setting.ini" -o "$dir/alone" >"$dir/out" 2>"$dir/err" || fail "validate: $(cat "$dir/err")"
timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 3 "$program" validate "$dir/setting.ini" \
    -o "$dir/shared" >"$dir/out" 2>"$dir/err" || fail "validate on 3 ranks: $(cat "$dir/err")"
cmp -s "$dir/alone/validate.tsv" "$dir/shared/validate.tsv" || fail "validate on 3 ranks: another table"
[ "$(grep -c ' hold, ' "$dir/out")" -eq 1 ] || fail "validate on 3 ranks says it more than once"

# An existing file is refused once, by rank 0; a full disk ends every rank.
run 2 "${small[@]}" -o "$dir/threads" && fail "an existing file is not refused"
[ "$(grep -c 'exists' "$dir/err")" -eq 1 ] || fail "refused: $(cat "$dir/err")"
run 2 "${small[@]}" -o /dev/full && fail "a full disk goes unseen"

# A rank is killed: finished rows are whole, and --resume carries on, here on threads.
long=("$dir/small.ini" -s task.K=20 -s train.t_max=300 -s ensemble.runs=12 -s sim.checkpoint=0.02)
"$program" ensemble "${long[@]}" -o "$dir/whole" 2>/dev/null
run 2 "${long[@]}" -o "$dir/killed" &
for _ in {1..200}; do
    [ -e "$dir/killed" ] && [ "$(grep -c -v '^#' "$dir/killed")" -ge 3 ] && break
    sleep 0.05
done
victim=$(pgrep -f "ensemble $dir/small.ini.*-o $dir/killed" | while read -r pid; do
    [ "$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')" = 1 ] && echo "$pid"
done)
[ -n "$victim" ] && kill -9 "$victim"
wait
[ "$(runs "$dir/killed" | wc -l)" -lt 13 ] || fail "the rank was killed too late"
[ "$(tail -c 1 "$dir/killed" | wc -l)" -eq 1 ] || fail "a killed rank left a torn row"
[ -z "$(comm -23 <(runs "$dir/killed") <(runs "$dir/whole"))" ] || fail "a killed rank left other rows"
"$program" ensemble "${long[@]}" --resume -o "$dir/killed" 2>"$dir/err" || fail "resumed: $(cat "$dir/err")"
same_runs "$dir/whole" "$dir/killed" "a rank killed and the rest resumed, the rows differ"

# phase: the same bytes for 1, 2, 4 ranks as on threads, whole or resumed; a bad axis is refused.
phase() {
    local ranks=$1
    shift
    timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" "$program" phase "$@" 2>"$dir/err"
}
grid=(-x task.K=300:30000:40:log -y task.N=50:150:5 -s solver.nodes_q=6 -s solver.nodes_g=8)
for way in "" --boundary --adapt; do
    [ "$way" = --boundary ] && grid[1]=task.K=300:30000:7:log
    "$program" phase "${grid[@]}" $way -o "$dir/phase$way" 2>/dev/null
    for ranks in 1 2 4; do
        rm -f "$dir/ranks"
        phase "$ranks" "${grid[@]}" $way -o "$dir/ranks" || fail "phase $way on $ranks ranks: $(cat "$dir/err")"
        cmp -s "$dir/phase$way" "$dir/ranks" || fail "phase $way on $ranks ranks: other bytes"
    done
done
grid[1]=task.K=300:30000:40:log
head -c 4000 "$dir/phase" >"$dir/part"
phase 3 "${grid[@]}" --resume -o "$dir/part" || fail "phase resumed on 3 ranks: $(cat "$dir/err")"
cmp -s "$dir/phase" "$dir/part" || fail "phase resumed on 3 ranks: other bytes"
phase 2 "${grid[@]}" -o "$dir/phase" && fail "phase: an existing file is not refused"
phase 2 -x task.K=1:2 && fail "phase: a bad axis is not refused"
exit $bad
