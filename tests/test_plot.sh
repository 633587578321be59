#!/usr/bin/env bash
# test_plot.sh -- every figure of `plot list` in every format; its table reproduces itself; failures say why in one
# line and leave what was there. ICLKIN is the program under test.
set -u
cd "$(dirname "$0")/.." || exit 1
ICLKIN=${ICLKIN:-$PWD/iclkin}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "$(id -u)" -eq 0 ]; then chmod 755 "$scratch"; fi
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# fails CODE PATTERN COMMAND...: ends with CODE, one line on stderr that matches PATTERN, nothing on stdout
fails() {
    local code=$1 pattern=$2 seen
    shift 2
    "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    seen=$?
    [ "$seen" -eq "$code" ] || fail "$*: exit code $seen, expected $code"
    [ "$(wc -l <"$scratch/stderr")" -eq 1 ] || fail "$*: not one line on stderr: $(cat "$scratch/stderr")"
    grep -qE "$pattern" "$scratch/stderr" || fail "$*: says \"$(cat "$scratch/stderr")\", expected $pattern"
    [ ! -s "$scratch/stdout" ] || fail "$*: writes to stdout"
}

# The first bytes of each format.
kind() {
    case $(head -c 4 "$1" | tr -d '\0') in
    $'\x89PNG') echo png ;;
    '<?xm') echo svg ;;
    '%PDF') echo pdf ;;
    *) echo unknown ;;
    esac
}

mapfile -t figures < <("$ICLKIN" plot list | awk '{ print $1 }')
[ "${#figures[@]}" -ge 20 ] || fail "plot list: ${#figures[@]} figures"

# Settings under which a figure is the same work in less time.
declare -A lighter
for f in outcome_K_N outcome_K_beta outcome_lambda_K outcome_lambda_N outcome_w_beta acquisition phaseplane; do
    lighter[$f]="-s solver.nodes_q=2 -s solver.nodes_g=4 -s solver.nodes_n=1 -s solver.rtol=1e-4 -s solver.K_tol=0.01"
done
lighter[run]="-s sim.hidden=16 -s sim.eval_items=200 -s train.batch=32"
lighter[band]="-s sim.hidden=16 -s sim.eval_items=200 -s ensemble.runs=5"
lighter[histogram]="-s train.batch=16 -s ensemble.runs=20"
lighter[transience]="-s memory.table=params/validate/quick/memory.tsv -s sim.hidden=64 -s task.K=600 -s task.N=40 -s train.t_max=300 -s sim.eval_items=200"
lighter[times]="-s train.batch=16 -s ensemble.runs=8 -s task.N=10"
lighter[diversity]="-s memory.law=powerlaw -s sim.hidden=16 -s train.t_max=60 -s ensemble.runs=2 -s sim.eval_items=100"
lighter[transformer_times]="-s task.K=inf -s train.lr=0.05 -s task.N=4 -s task.D=8 -s sim.hidden=16 -s train.batch=16 -s train.t_max=600 -s ensemble.runs=4 -s sim.eval_items=200"
lighter[transformer_diversity]="-s memory.law=none -s task.N=4 -s task.D=8 -s sim.hidden=16 -s train.t_max=40 -s ensemble.runs=2 -s sim.eval_items=100"
lighter[transformer_run]="-s train.t_max=120 -s sim.eval_items=200 -s observe.samples=25"
lighter[transformer_transience]="-s train.t_max=30 -s sim.eval_items=200 -s observe.samples=11"

for f in "${figures[@]}"; do
    read -ra settings <<<"${lighter[$f]-}"
    if [ ! -f "params/$f.ini" ] || [ ! -f "plots/$f.gp" ]; then fail "$f: a figure is params/$f.ini and plots/$f.gp"; fi
    for e in png svg pdf; do
        if [ "$e" = png ]; then
            "$ICLKIN" plot "$f" "${settings[@]}" -o "$scratch/$f.png" >"$scratch/out" 2>&1 || fail "$f.png: $(cat "$scratch/out")"
        else
            "$ICLKIN" plot "$f" --table "$scratch/$f.tsv" -o "$scratch/$f.$e" >"$scratch/out" 2>&1 ||
                fail "$f.$e: $(cat "$scratch/out")"
        fi
        [ ! -s "$scratch/out" ] || fail "$f.$e: not silent: $(cat "$scratch/out")"
        [ "$(kind "$scratch/$f.$e")" = "$e" ] || fail "$f.$e: is no $e"
    done
    grep -q '</svg>' "$scratch/$f.svg" || fail "$f.svg: not whole"
    tail -c 8 "$scratch/$f.pdf" | grep -q '%%EOF' || fail "$f.pdf: not whole"
    tail -c 8 "$scratch/$f.png" | grep -q IEND || fail "$f.png: not whole"
    "$ICLKIN" plot "$f" "$scratch/$f.tsv" -o "$scratch/again.png" || fail "$f: from its own table"
    cmp "$scratch/$f.tsv" "$scratch/again.tsv" || fail "$f: its table does not reproduce itself"
    cmp "$scratch/$f.png" "$scratch/again.png" || fail "$f: the same table, another picture"
done

# What the figures are made of agrees with what predict says.
seen=$(awk -F'\t' '$1 == "meanfield" && $2 == "t_icl" { print $3 }' "$scratch/levels.tsv")
said=$("$ICLKIN" predict params/levels.ini --json | sed -n 's/.*"t_icl".*"meanfield": \([^}]*\)}.*/\1/p')
if [ -z "$seen" ] || [ "$seen" != "$said" ]; then fail "levels: t_icl $seen, predict says $said"; fi

# A cell is what predict says of it, and the boundary at N = 100, a row of the grid, is its K*.
from=$scratch/outcome_K_N.tsv
while IFS=$'\t' read -r K N t outcome; do
    said=$("$ICLKIN" predict "$from" -s task.K="$K" -s task.N="$N" --json | tr -d '\n')
    [ "$t" != inf ] || t=null
    [[ $said == *"\"meanfield\": $t}"*"\"outcome\": \"$outcome\""* ]] || fail "outcome_K_N: K = $K, N = $N: $t $outcome"
done < <(awk -F'\t' -v OFS='\t' '$1 == "cell" && n++ % 97 == 50 { print $2, $3, $9, $10 }' "$from")
said=$("$ICLKIN" predict "$from" -s task.N=100 --json | tr -d '\n' | sed 's/.*"K_star"[^}]*"meanfield": \([^}]*\)}.*/\1/')
awk -F'\t' -v K="$said" '$1 == "acquired" && $3 == 100 { n++; if ($2 / K > 1.011 || $2 / K < 0.989) bad = 1 }
    END { exit !n || bad }' "$from" || fail "outcome_K_N: at N = 100 the boundary is not at K* = $said"

# Memorization: one curve and one label a K of the shipped table, and its header's I_K(inf). With the response ICL is lost
# earlier than by the plain clock, at the same decay, and never acquired at the largest.
sizes=$(sed -n 's/^# K = //p' params/memory/default.tsv | wc -w)
for curve in label I_K_inf fit; do
    [ "$(grep -c "^$curve" "$scratch/memorization.tsv")" -eq "$sizes" ] || fail "memorization: $curve"
done
awk -F'\t' '$1 == "c1" && $4 > 5 && $5 > 0.02 { exit 1 }' "$scratch/memorization.tsv" || fail "memorization: no collapse"
awk -F'\t' '$1 == "response" && $4 > 0 && $4 != "inf" { early[$2] = $4 }
    $1 == "plain" && ($2 in early) { n++; if ($4 != "inf" && $4 <= early[$2]) bad = 1; last = $5 }
    $1 == "plain" { end = $5 } END { exit bad || n < 10 || end != "iwl" }' "$scratch/lifetime.tsv" ||
    fail "lifetime: the response does not hasten the loss, or nothing traps the start"
awk -F'\t' '$1 == "simulation" { n++ } $1 == "response" { r++ } END { exit !(n >= 61 && r > 400) }' "$scratch/transience.tsv" ||
    fail "transience: rows"

# Closure: from two offsets of the shipped table, where the response was followed it stays near 1. Thresholds: predict's K*,
# rising in N by every level; the exponent of (T8) is one over the local exponent of I_K(inf).
awk -F'\t' '$1 == "response" { seen[$2] = 1; n++; if ($5 < 0.4 || $5 > 4 || $4 > 0.49) bad = 1 }
    $1 == "carried" { c++ } END { exit bad || n < 60 || c < 60 || !(2 in seen) || !(4 in seen) }' "$scratch/closure.tsv" ||
    fail "closure: rows"
"$ICLKIN" calibrate -q -x task.K=20:80:2 -s task.D=8 -s sim.hidden=8 -s train.t_max=300 -s calibrate.clocks=8 -s ensemble.runs=1 -o "$scratch/plain.tsv" ||
    fail "a table without a response"
fails 2 'holds no response' "$ICLKIN" plot closure -s memory.table="$scratch/plain.tsv" -s task.D=8 -s sim.hidden=8 -s train.t_max=20 \
    -o "$scratch/none.png"
seen=$(awk -F'\t' '$1 == "meanfield" && $2 == 250 { print $3 }' "$scratch/thresholds.tsv")
said=$("$ICLKIN" predict "$scratch/thresholds.tsv" -s task.N=250 --json | tr -d '\n' | sed 's/.*"K_star"[^}]*"meanfield": \([^}]*\)}.*/\1/')
[ "$seen" = "$said" ] || fail "thresholds: K* $seen, predict says $said"
awk -F'\t' -v local="$(sed -n 's/^# local_exponent = //p' params/memory/default.tsv)" '
    NF > 1 && $1 in last && $3 <= last[$1] { bad = 1 } NF > 1 && !/^#/ && $2 != "N" { last[$1] = $3 }
    $1 == "asymptotic" && $3 > 1000 && $4 != "nan" { n++; if ($4 < 1 / 0.93 || $4 > 1 / 0.75) bad = 1 }
    END { split(local, nu, " "); exit bad || n < 5 || nu[4] < 0.75 || nu[6] > 0.93 }' "$scratch/thresholds.tsv" ||
    fail "thresholds: K* does not rise, or not by 1/nu"

# The folds of the mean field are near (T9), and between them there are two stable points.
awk -F'\t' '$1 == "lambda" && $3 == "T9" { closed = $4 }
    $1 == "lambda" && $2 == "meanfield" && $3 == "fold" { if (!low || $4 < low) low = $4; if ($4 > high) high = $4 }
    $1 == "lambda" && $2 == "reduced" && $3 == "fold" { reduced = $4 }
    END { exit !(low / closed > 0.98 && low / closed < 1.02 && high > 2 * low && reduced / closed - 1 < 1e-9 &&
                 1 - reduced / closed < 1e-9) }' "$scratch/bifurcation.tsv" || fail "bifurcation: its folds are not at (T9)"

# Times: run by run theory from the run's start (batch 16: a run strays by 2.6 %), medians alike, both linear in N.
awk -F'\t' '$1 == "run" { n++; d = $7 / $8 - 1; sum += d; if (d > 0.13 || d < -0.13) bad = 1 }
    $1 == "line" { seen = $9; said = $10 } END { exit bad || n != 24 || sum / n > 0.025 || sum / n < -0.025 ||
        seen / said > 1.05 || seen / said < 0.95 }' "$scratch/times.tsv" || fail "times: simulation and theory disagree"
# Diversity: at K/8 all is memorized or nothing learned, at 8 K the transformer answers novel items.
awk -F'\t' '$1 == "run" { n++; first = n == 1 ? $3 : first; if ($3 == first && $5 > 0.75) bad = 1; last = $5 }
    $1 == "theory" { t++; if ($5 < 0 || $5 > 1) bad = 1 } END { exit bad || n != 26 || t != 37 }' "$scratch/diversity.tsv" ||
    fail "diversity: rows"
# The transformer's w and beta start where theory does, and at the end novel items are right.
awk -F'\t' '$1 == "theory" && !n++ { w = $5; beta = $6 } $1 == "simulation" { if (!m++) { if ($5 != w || $6 != beta) bad = 1 }; acc = $14 }
    END { exit bad || m != 25 || acc < 0.9 }' "$scratch/transformer_run.tsv" || fail "transformer_run: start or end"

# Simulations in figures are those of the commands, and theory agrees with them: t_icl of 20 runs on average to 3 %
# (statistics: a run's t_icl strays by 2.6 % at this batch, their mean by 0.6 %; seen 0.13 %).
"$ICLKIN" simulate -q "$scratch/run.tsv" -o "$scratch/simulate.tsv" || fail "simulate from a figure's table"
awk -F'\t' -v OFS='\t' '$1 == "simulation" { $1 = $2 = ""; print substr($0, 3) }' "$scratch/run.tsv" >"$scratch/seen"
grep -v '^#' "$scratch/simulate.tsv" | tail -n +2 | cmp - "$scratch/seen" || fail "run: not what simulate says"
"$ICLKIN" ensemble -q "$scratch/histogram.tsv" -s ensemble.runs=3 -o "$scratch/ensemble.tsv" || fail "ensemble from a figure's table"
grep '^[123]	' "$scratch/ensemble.tsv" | sort | cut -f1-4 >"$scratch/said"
awk -F'\t' -v OFS='\t' '$1 == "run" && $3 <= 3 { print $3, $4, $5, $6 }' "$scratch/histogram.tsv" | cmp - "$scratch/said" ||
    fail "histogram: not what ensemble says"
awk -F'\t' '$1 == "run" { n++; sum += log($6 / $7) } END { exit !(n == 20 && sum / n < 0.03 && sum / n > -0.03) }' \
    "$scratch/histogram.tsv" || fail "histogram: theory and simulation disagree"

# Other parameters than its own, and the current folder.
(cd "$scratch" && "$ICLKIN" plot levels -q -s task.K=inf -s task.D=inf -s observe.samples=201 -s train.t_max=400) ||
    fail "levels with -s"
[ "$(kind "$scratch/levels.png")" = png ] || fail "levels.png in the current folder"
grep -q '^# task.D = inf$' "$scratch/levels.tsv" || fail "levels.tsv: -s is not in its header"
(cd "$scratch" && LC_ALL=de_DE.UTF-8 "$ICLKIN" plot levels levels.tsv -o locale.png) || fail "levels in another locale"
cmp "$scratch/levels.tsv" "$scratch/locale.tsv" || fail "levels: a locale changes the table"

# Failures.
picture=$scratch/kept.png
cp "$scratch/levels.png" "$picture"
quick=(-s observe.samples=101)
fails 2 'no figure "nosuch"; there are levels, .*transient' "$ICLKIN" plot nosuch
fails 2 'NAME of a figure is missing' "$ICLKIN" plot
fails 2 'ends in .png, .svg or .pdf' "$ICLKIN" plot levels -o "$scratch/levels.jpg"
fails 2 'neither -s applies' "$ICLKIN" plot levels --table "$scratch/levels.tsv" -s task.N=50 -o "$picture"
fails 1 'none/levels.tsv: ' "$ICLKIN" plot levels "${quick[@]}" -o "$scratch/none/levels.png"
fails 1 'figure initial: no data: t_icl' "$ICLKIN" plot initial -s train.t_max=1e-3 -s task.labels=balanced \
    -s init.w=-9 -s init.beta=-9 -o "$picture"
grep -vE '^[a-z]+	' "$scratch/levels.tsv" >"$scratch/empty.tsv"
sed -n '/^level	/p' "$scratch/levels.tsv" >>"$scratch/empty.tsv"
fails 1 'figure levels: .*empty.tsv: no data: beta' "$ICLKIN" plot levels --table "$scratch/empty.tsv" -o "$picture"
fails 2 'K_star.*(level|columns)' "$ICLKIN" plot threshold --table "$scratch/levels.tsv" -o "$picture"
fails 1 'missing.tsv' "$ICLKIN" plot levels --table "$scratch/missing.tsv" -o "$picture"
mkdir "$scratch/empty" "$scratch/bad" "$scratch/dir.png"
fails 1 'figure levels: .*dir.png' "$ICLKIN" plot levels --table "$scratch/levels.tsv" -o "$scratch/dir.png"
fails 1 'figure levels: gnuplot: not found on PATH' env PATH="$scratch/empty" "$ICLKIN" plot levels "${quick[@]}" -o "$picture"

# A gnuplot that fails, is killed, has no fonts, or draws nothing; it must not run through a shell of ours.
gnuplot_that() {
    printf '#!/bin/sh\n%s\n' "$1" >"$scratch/bad/gnuplot"
    chmod 755 "$scratch/bad/gnuplot"
    fails 1 "figure levels: gnuplot: $2" env PATH="$scratch/bad:$PATH" "$ICLKIN" plot levels --table "$scratch/levels.tsv" \
        -o "$picture"
}
# shellcheck disable=SC2016 # for the shell that plays gnuplot
{
    gnuplot_that 'printf half; echo first >&2; echo "line 7: undefined" >&2; exit 3' 'exit code 3: line 7: undefined'
    gnuplot_that 'printf half; kill -9 $$' 'ended by signal 9'
    gnuplot_that 'printf half; echo "Fontconfig error: Cannot load default config file" >&2' 'finds no fonts'
    gnuplot_that 'exit 0' 'drew nothing'
    gnuplot_that 'head -c 1000000 /dev/zero | tr "\0" x >&2; exit 1' 'exit code 1: x'
}
FONTCONFIG_FILE=$scratch/none.conf FONTCONFIG_PATH=$scratch/empty fails 1 'figure levels: gnuplot: finds no fonts' \
    "$ICLKIN" plot levels --table "$scratch/levels.tsv" -o "$picture"
cmp "$scratch/levels.png" "$picture" || fail "an earlier picture did not survive a failure"
[ -z "$(find "$scratch" -name '*kept.png?*')" ] || fail "a half picture was left"

# Shipped parameter files: the generated one is in step, and every one predicts.
"$ICLKIN" params --ini | cmp - params/default.ini || fail "params/default.ini: run iclkin params --ini >params/default.ini"
for p in params/*.ini; do
    "$ICLKIN" predict "$p" >"$scratch/out" 2>&1 || fail "$p: $(cat "$scratch/out")"
done

[ "$failures" -eq 0 ]
