#!/usr/bin/env bash
# validate_simulation.sh [FOLDER] -- what the embedded simulation must reproduce, at full size: about a quarter of an hour
# on two cores. `make validate-simulation` runs it. Runs already in FOLDER (default out/simulation) are kept: it carries on.
#
# Prints a row a line: what, simulated mean, its standard error, what it is held against, the relative difference, the
# bound, the verdict. Exit 1 if any verdict is MISSED.
set -u
cd "$(dirname "$0")/.." || exit 1
iclkin=${ICLKIN:-./iclkin}
folder=${1:-out/simulation}
mkdir -p "$folder"
bad=0

row() { # what mean error against bound: |mean/against - 1| <= bound
    awk -v what="$1" -v mean="$2" -v error="$3" -v against="$4" -v bound="$5" 'BEGIN {
        off = mean / against - 1; fine = (off < 0 ? -off : off) <= bound
        printf "%-46s %10.5g %9.2g %10.5g %+8.2f %% %6.3g %%  %s\n", what, mean, error, against, 100 * off, 100 * bound,
            fine ? "holds" : "MISSED"; exit !fine }' || bad=1
}

claim() { # what seen rule verdict
    printf '%-46s %s  (%s)  %s\n' "$1" "$2" "$3" "$([ "$4" = 0 ] && echo holds || echo MISSED)"
    [ "$4" = 0 ] || bad=1
}

# ensemble NAME ARGS...: the rows, in $folder/NAME.tsv
ensemble() {
    local name=$1
    shift
    "$iclkin" ensemble "$@" --resume -o "$folder/$name.tsv" || exit 1
}

column() { # FILE COLUMN: its values, one a line
    awk -F '\t' -v want="$2" '/^#/ || NF == 0 { next } !at { for (i = 1; i <= NF; i++) if ($i == want) at = i; next }
        { print $at }' "$1"
}

mean_of() { # FILE COLUMN: mean and standard error of the finite values, and how many are not finite
    column "$1" "$2" | awk '/inf|nan/ { lost++; next } { n++; s += $1; q += $1 * $1 }
        END { m = s / n; print m, (n > 1 ? sqrt((q / n - m * m) / (n - 1)) : 0), lost + 0 }'
}

theory() { # ARGS...: t_icl of the finite-D mean field
    "$iclkin" predict --json "$@" | sed -n 's/.*"t_icl".*"meanfield": \([^}]*\)}.*/\1/p'
}

printf '%-46s %10s %9s %10s %10s %8s  %s\n' what mean error against difference bound verdict

# K infinite, ten seeds, lr 0.02
for N in 50 100 200; do
    t_max=$((N * 4))
    set=(-s task.K=inf -s "task.N=$N" -s train.lr=0.02 -s "train.t_max=$t_max")
    ensemble "inf_$N" "${set[@]}" -s ensemble.runs=10
    read -r mean error lost <<<"$(mean_of "$folder/inf_$N.tsv" t_icl)"
    row "t_icl, K infinite, N = $N, 10 seeds ($lost lost)" "$mean" "$error" "$(theory "${set[@]}")" 0.02
done

# w and beta alone (phi = 0)
for pair in 500:252.7 1000:264.6; do
    K=${pair%:*}
    ensemble "alone_$K" -s memory.law=none -s task.K="$K" -s train.lr=0.02 -s train.t_max=400 -s ensemble.runs=20
    read -r mean error lost <<<"$(mean_of "$folder/alone_$K.tsv" t_icl)"
    row "t_icl, phi = 0, K = $K, 20 seeds ($lost lost)" "$mean" "$error" "${pair#*:}" 0.01
done

# finite K with the MLP, lr 0.1
ensemble K4000 -s task.K=4000 -s train.t_max=500 -s ensemble.runs=3
read -r mean error lost <<<"$(mean_of "$folder/K4000.tsv" t_icl)"
row "t_icl, K = 4000, 3 seeds ($lost lost)" "$mean" "$error" 285 0.05

[ -s "$folder/K1000.tsv" ] || "$iclkin" simulate -s task.K=1000 -s train.t_max=1000 -o "$folder/K1000.tsv" || exit 1
last() {
    column "$folder/$1.tsv" "$2" | tail -1
}
never=$(sed -n 's/^# t_icl = \([^ ]*\).*/\1/p' "$folder/K1000.tsv")
claim "K = 1000: never acquired" "t_icl = $never" "inf" "$([ "$never" = inf ]; echo $?)"
claim "K = 1000: memorized" "acc_iwl = $(last K1000 acc_iwl)" ">= 0.99" "$(awk -v x="$(last K1000 acc_iwl)" 'BEGIN { exit !(x >= 0.99) }'; echo $?)"
claim "K = 1000: final w" "w = $(last K1000 w)" "1.0 to 1.4" "$(awk -v x="$(last K1000 w)" 'BEGIN { exit !(x > 1 && x < 1.4) }'; echo $?)"

# acquired, then lost
ensemble transient -s task.K=3000 -s train.lambda=3e-3 -s train.t_max=2600 -s ensemble.runs=2
for t in $(column "$folder/transient.tsv" t_loss); do
    claim "K = 3000, lambda = 3e-3: t_loss" "$t" "1400 to 2300" "$(awk -v x="$t" 'BEGIN { exit !(x > 1400 && x < 2300) }'; echo $?)"
done
exit $bad
