#!/usr/bin/env bash
# test_calibrate.sh -- `iclkin calibrate`: the same bytes for any threads, killed and resumed; what its table says; the
# theory reads it; what is refused.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

head_of() { # FILE KEY
    sed -n "s/^# $2 = //p" "$1"
}

cat >"$dir/small.ini" <<'END'
[task]
D = 16
N = 10
[train]
t_max = 400
[sim]
hidden = 32
eval_items = 200
[calibrate]
clocks = 40
samples = 3
responses = 2
length = 3
[ensemble]
runs = 2
END
small=("$dir/small.ini" -x task.K=64:256:3:log -y calibrate.offset=0:2:2)

# threads, and stdout
for threads in 1 2; do
    expect 0 "$ICLKIN" calibrate "${small[@]}" -s ensemble.threads=$threads -o "$dir/t$threads"
done
cmp -s "$dir/t1" "$dir/t2" || fail "the table depends on the number of threads"
cmp -s "$dir/t1.runs" "$dir/t2.runs" || fail "the runs depend on the number of threads"
expect 0 "$ICLKIN" calibrate "${small[@]}"
cmp -s "$dir/t1" "$dir/out" || fail "stdout is another table"
expect 0 "$ICLKIN" calibrate "$dir/t1"
cmp -s "$dir/t1" "$dir/out" || fail "the file does not reproduce itself"
expect 0 "$ICLKIN" calibrate "$dir/small.ini" -x task.K=256:64:3:log -y calibrate.offset=2:0:2
cmp -s <(grep -v '^# axis' "$dir/t1") <(grep -v '^# axis' "$dir/out") || fail "K from high to low is another table"

# columns, rows, and that c1 is the average over the classes and I the integral of c1
[ "$(grep -v '^#' "$dir/t1" | head -1 | cut -f1-11,26-28)" = \
    $'offset\tK\ts\tt\tc1\tc2\tc3\tI\tv\tresponse\tphi_1\tphi_16\tc1_error\tI_error' ] || fail "columns"
[ "$(head_of "$dir/t1" K)" = "64 128 256" ] || fail "K: $(head_of "$dir/t1" K)"
clocks=$(head_of "$dir/t1" clocks)
[ "$(grep -vc '^#' "$dir/t1")" -eq $((2 * 3 * clocks + 1)) ] || fail "rows"
grep -v '^#' "$dir/t1" | tail -n +2 | head -n $((3 * clocks)) | awk -F'\t' -v weights="$(head_of "$dir/t1" weight)" -v totals="$(head_of "$dir/t1" I_K_inf)" '
    BEGIN { split(weights, w, " "); split(totals, total, " ") }
    function off(what) { print "row " NR ": " what; bad = 1 }
    {
        c1 = 0
        for (q = 1; q <= 16; q++) c1 += w[q] / (1 + exp($(10 + q)))
        if (c1 < $5 * (1 - 1e-9) || c1 > $5 * (1 + 1e-9)) off("c1 " c1 ", not " $5)
        for (q = 2; q <= 16; q++) if ($(10 + q) < $(9 + q)) off("classes out of order")
        if ($1 != 0 || $4 != $3 || $9 < 0 || !($6 > 0 && $6 < 1) || $10 != 1) off("offset, t, v, c2 or response")
        if ($3 == 0) { k++; I = 0 } else I += ($5 + c) / 2 * ($3 - s)
        # trapezoids, h = 0.14 in log s at most: h^2/12 times what bends in c1
        if ($3 > 10 && (I < $8 * 0.99 || I > $8 * 1.01)) off("I " I ", not " $8)
        if ($8 >= total[k]) off("I beyond I_K_inf")
        c = $5; s = $3
    }
    END { exit bad }' || fail "numbers"
awk -v nu="$(head_of "$dir/t1" nu)" 'BEGIN { exit !(nu > 0.6 && nu < 1.2) }' || fail "nu = $(head_of "$dir/t1" nu)"
# the responses: 1 before the classes part, then another number; where a time stands, so does a path with the same c1
grep -v '^#' "$dir/t1" | tail -n +2 | awk -F'\t' '
    $1 == 0 { c1[$2, $3] = $5; next }
    { n++ }
    $1 != 2 || $10 <= 0 { print "row " NR ": " $0; bad = 1 }
    c1[$2, $3] > 0.485 && $10 != 1 { print "row " NR ": a response before the classes part"; bad = 1 }
    $4 != "nan" { timed++; d = $5 / c1[$2, $3] - 1; if (d < -0.02 || d > 0.02) { print "row " NR ": c1 " $5; bad = 1 } }
    $10 != 1 { other++ }
    END { exit bad || n != 3 * '"$clocks"' || timed < 20 || other < 20 }' || fail "responses"
[ "$(head_of "$dir/t1" local_exponent | wc -w)" -eq 2 ] || fail "local exponents"
for key in I_K_inf_error tail tail_error tail_p local_exponent_error nu_error A A_error nu_lnA_covariance chi2; do
    [ -n "$(head_of "$dir/t1" $key)" ] || fail "no $key"
done
grep -q 'nu = .* +- .*1/nu' "$dir/err" || fail "the law is not told: $(cat "$dir/err")"

# a clock too short says so, in the header too
expect 0 "$ICLKIN" calibrate "${small[@]}" -s train.t_max=60
grep -q 'longer train.t_max' "$dir/err" || fail "too short a clock: $(cat "$dir/err")"
grep -q '^# warning = K = 256' "$dir/out" || fail "too short a clock: no warning in the header"

# and so does a single seed
expect 0 "$ICLKIN" calibrate "${small[@]}" -s ensemble.runs=1
grep -q '^# warning = one seed' "$dir/out" || fail "one seed: no warning in the header"
grep -v '^#' "$dir/out" | sed -n 2p | grep -q $'\tnan\tnan$' || fail "one seed: errors that nobody knows"

# cut anywhere, as a kill may leave it, and resumed
size=$(stat -c %s "$dir/t1.runs")
for cut in 0 20 2000 $((size / 2)) $((size - 20)) "$size"; do
    rm -f "$dir/part"
    head -c "$cut" "$dir/t1.runs" >"$dir/part.runs"
    expect 0 "$ICLKIN" calibrate "${small[@]}" --resume -o "$dir/part"
    cmp -s "$dir/t1" "$dir/part" || fail "cut at $cut of $size and resumed, the table differs"
    cmp -s "$dir/t1.runs" "$dir/part.runs" || fail "cut at $cut of $size and resumed, the runs differ"
done

# killed at several moments and resumed
rm -f "$dir/part" "$dir/part.runs"
for try in 1 2 3 4 5 6; do
    "$ICLKIN" calibrate "${small[@]}" -s ensemble.threads=$((try % 2 + 1)) --resume -o "$dir/part" 2>/dev/null &
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
expect 0 "$ICLKIN" calibrate "${small[@]}" --resume -o "$dir/part"
cmp -s "$dir/t1" "$dir/part" || fail "killed and resumed, the table differs"
cmp -s "$dir/t1.runs" "$dir/part.runs" || fail "killed and resumed, the runs differ"

# the theory reads it
{
    cat "$dir/small.ini"
    printf '[memory]\nlaw = table\ntable = %s\n' "$dir/t1"
} >"$dir/table.ini"
sed -i 's/^D = 16/&\nK = 180/' "$dir/table.ini"
table=("$dir/table.ini")
expect 0 "$ICLKIN" trajectory "${table[@]}"
awk -F'\t' '!/^#/ && NR > 1 && $6 + 0 > 0 { n++; if ($5 > last + 1e-12 || n == 1) last = $5; else bad = 1 } END { exit bad || n < 100 }' \
    "$dir/out" || fail "trajectory: the clock"
grep -q '^# extrapolated' "$dir/out" && fail "extrapolated inside the table"
expect 0 "$ICLKIN" predict "${table[@]}" -s memory.extrapolate=yes
grep -q 'Measured: I_K(inf) = A K^nu, nu = ' "$dir/out" || fail "predict does not tell nu"
expect 0 "$ICLKIN" phase "${table[@]}" -x task.K=100:200:3 -y task.N=8:12:2
grep -q failed "$dir/out" && fail "phase: $(grep failed "$dir/out" | head -1)"
expect 2 "$ICLKIN" trajectory "${table[@]}" -s task.K=300
grep -q 'K = 300 lies outside its 64 to 256' "$dir/err" || fail "K outside: $(cat "$dir/err")"
expect 0 "$ICLKIN" trajectory "${table[@]}" -s task.K=300 -s memory.extrapolate=yes
[ "$(head_of "$dir/out" extrapolated)" = 'K = 300' ] || fail "K extrapolated and not marked"
expect 1 "$ICLKIN" trajectory "${table[@]}" -s train.t_max=900 -s train.lambda=1
grep -q 'passes its end, s = 307' "$dir/err" || fail "s outside: $(cat "$dir/err")"
expect 0 "$ICLKIN" trajectory "${table[@]}" -s train.t_max=900 -s train.lambda=1 -s memory.extrapolate=yes
[ "$(head_of "$dir/out" extrapolated)" = "s > 307.139" ] || fail "s extrapolated and not marked"
expect 2 "$ICLKIN" predict "${table[@]}" -s task.D=17
grep -q 'measured with task.D = 16, the parameters say 17' "$dir/err" || fail "another D: $(cat "$dir/err")"
head -c 9000 "$dir/t1" >"$dir/cut"
expect 2 "$ICLKIN" predict "${table[@]}" -s memory.table="$dir/cut"
grep -q "$dir/cut" "$dir/err" || fail "a table cut short: $(cat "$dir/err")"
expect 2 "$ICLKIN" predict "${table[@]}" -s memory.table="$dir/none"
# the shipped ones, by name, from any folder
(cd "$dir" && "$ICLKIN" predict -s memory.law=table >out 2>err) || fail "the default table: $(cat "$dir/err")"
(cd "$dir" && "$ICLKIN" predict -s memory.law=table -s memory.table=layernorm -s sim.input_scale=7.93725 -s task.K=16000 >out 2>err) ||
    fail "the table layernorm: $(cat "$dir/err")"
expect 2 "$ICLKIN" predict -s memory.law=table -s memory.table=layernorm
grep -q 'measured with sim.input_scale = 7.93725, the parameters say 1' "$dir/err" || fail "another scale: $(cat "$dir/err")"
expect 2 "$ICLKIN" predict -s memory.law=table -s memory.table=nosuch
grep -q 'memory.table = nosuch' "$dir/err" || fail "no such name: $(cat "$dir/err")"
# simulation has no use for it
expect 0 "$ICLKIN" simulate "${table[@]}" -s memory.table="$dir/none" -s train.t_max=1

# refused
expect 2 "$ICLKIN" calibrate "${small[@]}" -o "$dir/t1"
rm -f "$dir/alone"
cp "$dir/t1.runs" "$dir/alone.runs"
expect 2 "$ICLKIN" calibrate "${small[@]}" -o "$dir/alone"
expect 2 "$ICLKIN" calibrate "${small[@]}" -s train.lr=0.2 --resume -o "$dir/alone"
grep -q 'header differs' "$dir/err" || fail "other parameters: $(cat "$dir/err")"
cmp -s "$dir/t1.runs" "$dir/alone.runs" || fail "a refused --resume changed the runs"
sed 's/^0\t64\t1\t/0\t64\t7\t/' "$dir/t1.runs" >"$dir/alone.runs"
expect 2 "$ICLKIN" calibrate "${small[@]}" --resume -o "$dir/alone"
grep -q 'row 1 is none of this calibration' "$dir/err" || fail "foreign rows: $(cat "$dir/err")"
expect 2 "$ICLKIN" calibrate "${small[@]}" --resume
expect 2 "$ICLKIN" calibrate "$dir/small.ini"
expect 2 "$ICLKIN" calibrate "$dir/small.ini" -x task.N=10:20:2
expect 2 "$ICLKIN" calibrate "$dir/small.ini" -x task.K=64:64:3
expect 2 "$ICLKIN" calibrate "${small[@]}" -s task.D=inf
expect 1 "$ICLKIN" calibrate "${small[@]}" -s train.lr=1e5 -s train.t_max=1e8
grep -q 'K = 64, seed 1, offset 0: .*diverges' "$dir/err" || fail "divergence: $(cat "$dir/err")"
expect 1 "$ICLKIN" calibrate "${small[@]}" -o "$dir/no/such/folder"
exit $bad
