#!/usr/bin/env bash
# bench_scaling.sh -- what a second core brings: one thread against two, one MPI rank against two, in pairs.
#
# Beside each ratio stands the machine's own: two processes of one thread at a time against one.
set -u
: "${ICLKIN:?the program to time}"
pairs=${PAIRS:-5}

seconds() {
    local begin end
    begin=$(date +%s%N)
    if ! "$@" >/dev/null 2>&1; then
        echo "bench_scaling: failed: $*" >&2
        kill $$
    fi
    end=$(date +%s%N)
    echo $((end - begin))
}

twice() {
    "$@" &
    "$@" &
    wait
}

middle() {
    sort -g | awk '{ v[NR] = $1 } END { printf "median %.2f (%.2f to %.2f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

# compare NAME ONE -- TWO: the command on one core and on two.
compare() {
    local name=$1 one=() both=() single double side
    shift
    while [ "$1" != -- ]; do
        one+=("$1")
        shift
    done
    shift
    both=("$@")
    local ratios='' ceilings=''
    for _ in $(seq "$pairs"); do
        single=$(seconds "${one[@]}")
        double=$(seconds "${both[@]}")
        side=$(seconds twice "${one[@]}")
        ratios+="$(awk "BEGIN { print $single / $double }")"$'\n'
        ceilings+="$(awk "BEGIN { print 2 * $single / $side }")"$'\n'
    done
    printf '%-36s %s; two processes at once: %s\n' "$name" "$(printf %s "$ratios" | middle)" \
        "$(printf %s "$ceilings" | middle)"
}

phase=(phase -q -x task.K=100:1e5:96:log -y task.N=20:250:96)
ensemble=(ensemble -q -s ensemble.runs=2 -s train.t_max=150)
one=(-s ensemble.threads=1)
two=(-s ensemble.threads=2)
ranks=(mpirun --allow-run-as-root --oversubscribe --bind-to none -n)

echo "# $pairs pairs each; OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE-unset} OPENBLAS_L2_SIZE=${OPENBLAS_L2_SIZE-unset}"
compare "phase 96 x 96, threads" "$ICLKIN" "${phase[@]}" "${one[@]}" -- "$ICLKIN" "${phase[@]}" "${two[@]}"
compare "ensemble, 2 runs, threads" "$ICLKIN" "${ensemble[@]}" "${one[@]}" -- "$ICLKIN" "${ensemble[@]}" "${two[@]}"
if [ -n "${ICLKIN_MPI:-}" ] && command -v mpirun >/dev/null; then
    compare "phase 96 x 96, ranks" "${ranks[@]}" 1 "$ICLKIN_MPI" "${phase[@]}" "${one[@]}" -- \
        "${ranks[@]}" 2 "$ICLKIN_MPI" "${phase[@]}" "${one[@]}"
    compare "ensemble, 2 runs, ranks" "${ranks[@]}" 1 "$ICLKIN_MPI" "${ensemble[@]}" "${one[@]}" -- \
        "${ranks[@]}" 2 "$ICLKIN_MPI" "${ensemble[@]}" "${one[@]}"
else
    echo '# ranks are left out: no program for MPI (ICLKIN_MPI)'
fi
