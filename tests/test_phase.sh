#!/usr/bin/env bash
# test_phase.sh -- `iclkin phase`: the same bytes for any threads, killed and resumed; odd grids; what is refused.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

grid=(-x task.K=300:30000:13:log -y task.N=50:150:11 -s solver.nodes_q=6)

# threads: the same bytes
for threads in 1 2 8; do
    expect 0 "$ICLKIN" phase "${grid[@]}" -s ensemble.threads=$threads -o "$dir/t$threads"
done
for threads in 2 8; do
    cmp -s "$dir/t1" "$dir/t$threads" || fail "the bytes depend on the number of threads ($threads)"
done
[ "$(rows "$dir/t1" | wc -l)" -eq 143 ] || fail "a grid of 13 x 11 has $(rows "$dir/t1" | wc -l) rows"
[ "$(head -c 9 "$dir/t1")" = "# iclkin " ] || fail "no header"
grep -q $'^task.K\ttask.N\tt_icl\tt_iwl\tt_loss\toutcome\tstatus$' "$dir/t1" || fail "columns"

# a table reproduces itself, with its axes
"$ICLKIN" phase "${grid[@]}" -o "$dir/whole"
expect 0 "$ICLKIN" phase "$dir/whole" -o "$dir/again"
cmp -s "$dir/whole" "$dir/again" || fail "a grid does not reproduce itself"

# kill -9 at any byte, then --resume: cut the file anywhere, carry on, the same bytes. Every way is tried.
for way in "" --adapt --boundary; do
    rm -f "$dir/full"
    expect 0 "$ICLKIN" phase "${grid[@]}" $way -o "$dir/full"
    size=$(stat -c %s "$dir/full")
    for cut in 0 1 20 700 $((size / 2)) $((size / 2 + 7)) $((size - 60)) $((size - 1)) "$size"; do
        head -c "$cut" "$dir/full" >"$dir/part"
        expect 0 "$ICLKIN" phase "${grid[@]}" $way --resume -o "$dir/part"
        cmp -s "$dir/full" "$dir/part" || fail "phase $way: cut at $cut of $size and resumed, the bytes differ"
    done
done
rm -f "$dir/killed"
"$ICLKIN" phase "${grid[@]}" -s ensemble.threads=2 -o "$dir/killed" &
sleep 0.05
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
expect 0 "$ICLKIN" phase "${grid[@]}" -s ensemble.threads=2 --resume -o "$dir/killed"
cmp -s "$dir/t2" "$dir/killed" || fail "killed and resumed, the bytes differ"

# Ctrl-C: 130, and the rows so far are whole
rm -f "$dir/int"
bash -c 'trap - INT; exec "$@"' _ "$ICLKIN" phase -x task.K=300:30000:100:log -y task.N=50:150:100 -o "$dir/int" &
sleep 0.3
kill -INT $!
wait $!
code=$?
[ $code -eq 130 ] || fail "SIGINT ended with $code"
[ "$(tail -c 1 "$dir/int" | wc -l)" -eq 1 ] || fail "SIGINT left a torn row"

# adaptive: every cell is there once; solved cells are the grid's to the byte, filled ones have its outcome, and its
# times to 2 % (bilinear within a tenth; measured 0.6 %)
fine=(-x task.K=300:30000:97:log -y task.N=50:150:61 -s theory.level=reduced)
"$ICLKIN" phase -q "${fine[@]}" --adapt -o "$dir/adapt"
"$ICLKIN" phase -q "${fine[@]}" -o "$dir/fine"
[ "$(rows "$dir/adapt" | cut -f1,2 | sort -u | wc -l)" -eq 5917 ] || fail "--adapt misses cells"
[ "$(rows "$dir/adapt" | wc -l)" -eq 5917 ] || fail "--adapt repeats cells"
[ "$(rows "$dir/adapt" | grep -c 'filled$')" -gt 2000 ] || fail "--adapt fills in too little"
awk -F '\t' 'function off(x, y) { return x == y ? 0 : x == "inf" || y == "inf" ? 1 : (x > y ? x / y : y / x) - 1 }
    NR == FNR { if ($7 == "ok") whole[$1, $2] = $0; next }
    $7 == "ok" && $0 != whole[$1, $2] { bad++ }
    $7 == "filled" { split(whole[$1, $2], w, "\t"); bad += $6 != w[6]
        for (i = 3; i <= 5; i++) bad += off($i, w[i]) > 0.02 }
    END { exit bad > 0 }' <(rows "$dir/fine") <(rows "$dir/adapt") || fail "--adapt: other cells than the grid's"

# what is no table of iclkin is never carried on with
for text in 'my notes' '# important' ''; do
    printf '%s\n' "$text" >"$dir/foreign"
    cp "$dir/foreign" "$dir/before"
    expect 2 "$ICLKIN" phase "${grid[@]}" --resume -o "$dir/foreign"
    cmp -s "$dir/foreign" "$dir/before" || fail "--resume wrote over '$text'"
done

# odd grids are whole tables, exit 0: all blow up, none acquires, a column, a row, one cell, reversed
check_rows() {
    local want=$1
    shift
    expect 0 "$ICLKIN" phase "$@"
    [ "$(rows "$dir/out" | wc -l)" -eq "$want" ] || fail "$(rows "$dir/out" | wc -l) rows, not $want: phase $*"
}
check_rows 9 -x init.beta=3:4:3 -y init.w=1:2:3 -s theory.level=reduced
check_rows 9 -x task.K=4:8:3 -y task.N=200:300:3
check_rows 4 -x task.K=1000:1000:1 -y task.N=50:80:4
check_rows 4 -x task.N=50:80:4 -y task.K=1000:9000:1
check_rows 1 -x task.K=1000:2000:1 -y task.N=50:90:1
check_rows 6 -x task.K=9000:1000:3 -y task.N=80:50:2
check_rows 5 -x train.lambda=0:2e-2:5
check_rows 6 -x task.N=50:250:3 -y task.copies=1:200:2
grep -q '2 failed' "$dir/err" || fail "failed cells go unsaid: $(cat "$dir/err")"
[ "$(rows "$dir/out" | grep -c failed)" -eq 2 ] || fail "cells with more copies than items do not fail alone"
expect 0 "$ICLKIN" phase -x init.beta=1:2:3 -y init.w=1:2:2 --boundary
[ "$(grep -c 'no boundary in range' "$dir/out")" -eq 2 ] || fail "no boundary in range is not said"
grep -q $'^init.w\tinit.beta\terror\tbranch\tstatus$' "$dir/out" || fail "columns of --boundary"

# a boundary that is carried on with solves only what is left: the second half costs about half
lines=(-x task.K=300:30000:9:log -y task.N=50:150:12 -s solver.nodes_q=6 --boundary)
solves() { sed -n 's/.*: \([0-9]*\) solves$/\1/p' "$dir/err"; }
expect 0 "$ICLKIN" phase "${lines[@]}" -o "$dir/lines"
all=$(solves)
head -n -6 "$dir/lines" >"$dir/part"
expect 0 "$ICLKIN" phase "${lines[@]}" --resume -o "$dir/part"
cmp -s "$dir/lines" "$dir/part" || fail "a boundary resumed after six lines differs"
[ "$(solves)" -lt $((all * 2 / 3)) ] || fail "a resumed boundary solves $(solves) of $all points again"
# two values of y that round to one, and lines of several rows
lines=(-x task.K=1e3:1e6:7:log -y task.N=50:52:4 -s solver.nodes_q=6 -s train.lambda=3e-3 -s train.t_max=2e4 --boundary)
expect 0 "$ICLKIN" phase "${lines[@]}" -o "$dir/several"
[ "$(rows "$dir/several" | wc -l)" -eq 8 ] || fail "lines of two boundaries: $(rows "$dir/several" | wc -l) rows"
for left in 1 2 3 4 5 6 7 8; do
    head -n -$left "$dir/several" >"$dir/part"
    expect 0 "$ICLKIN" phase "${lines[@]}" --resume -o "$dir/part"
    cmp -s "$dir/several" "$dir/part" || fail "a boundary without its last $left rows, resumed, differs"
done

# a point that fails hides the boundaries beside it alone: beyond 800 items the table ends
table=(-s memory.law=table -s memory.table=params/validate/quick/memory.tsv -s sim.hidden=64 -s task.N=40)
expect 0 "$ICLKIN" phase -x task.K=100:2000:5:log "${table[@]}" --boundary
[ "$(rows "$dir/out" | grep -c $'none-kept\tok$')" -eq 1 ] || fail "a failing end hides K*: $(rows "$dir/out")"
rows "$dir/out" | grep -q '2 of 5 points: task.K = .*outside' || fail "which points fail goes unsaid: $(rows "$dir/out")"
awk -F '\t' -v K="$("$ICLKIN" predict "${table[@]}" -s task.K=400 --json | tr -d '\n' | sed 's/.*"K_star"[^}]*"meanfield": \([^}]*\)}.*/\1/')" \
    '$4 == "ok" { seen = $1 } END { exit !(seen / K > 0.998 && seen / K < 1.002) }' <(rows "$dir/out") || fail "not at K*"
expect 0 "$ICLKIN" phase -x task.copies=1:200:5 --boundary
rows "$dir/out" | grep -q $'kept-none\tok$' || fail "copies: the boundary is lost"
rows "$dir/out" | grep -q '3 of 5 points: .*copies = 101: must be at most 100' || fail "copies beyond task.N are solved"

# a boundary is read alike whichever way its axis runs, and says what x is
expect 0 "$ICLKIN" phase -x task.K=1e3:1e4:5:log --boundary
rows "$dir/out" >"$dir/up"
grep -q '^# boundary = a real number' "$dir/out" || fail "--boundary: K goes unsaid"
expect 0 "$ICLKIN" phase -x task.K=1e4:1e3:5:log --boundary
[ "$(cut -f3 "$dir/up")" = "$(rows "$dir/out" | cut -f3)" ] || fail "reversed, a boundary is $(rows "$dir/out")"
expect 0 "$ICLKIN" phase -x task.N=50:250:5 --boundary -s task.K=3000
grep -q '^# boundary = midway between neighbouring whole numbers' "$dir/out" || fail "--boundary: N goes unsaid"

# refused
expect 2 "$ICLKIN" phase -x train.lambda=0:1e-3:2 -y train.lambda_w=0:1e-3:2
expect 2 "$ICLKIN" phase -x train.lambda_beta=0:1e-3:2 -y train.lambda=0:1e-3:2
expect 2 "$ICLKIN" phase -x train.lambda=0:1e-3:2 -s train.lambda_w=1e-3
grep -q 'train.lambda: given with -s train.lambda_w$' "$dir/err" || fail "lambda twice: $(cat "$dir/err")"
check_rows 4 -x train.lambda_w=0:1e-3:2 -y train.lambda_beta=0:1e-3:2
expect 2 "$ICLKIN" fixedpoints -x train.lambda=1e-3:1e-2:3 -s train.lambda_beta=1e-3
expect 2 "$ICLKIN" fixedpoints -s train.lambda=3e-3 --curves "$dir/both" -o "$dir/both"
[ ! -e "$dir/both" ] || fail "fixedpoints wrote curves and points to one file"
expect 2 "$ICLKIN" phase
expect 2 "$ICLKIN" phase -x task.K=1:2
expect 2 "$ICLKIN" phase -x task.K=10:20:3 -y task.K=10:20:3
expect 2 "$ICLKIN" phase "${grid[@]}" -o "$dir/whole"
grep -q 'exists' "$dir/err" || fail "an existing file: $(cat "$dir/err")"
cp "$dir/whole" "$dir/keep"
expect 2 "$ICLKIN" phase "${grid[@]}" -s init.w=0.5 --resume -o "$dir/whole"
grep -q 'header differs' "$dir/err" || fail "a changed parameter: $(cat "$dir/err")"
cmp -s "$dir/whole" "$dir/keep" || fail "a refused --resume changed the file"
expect 2 "$ICLKIN" phase "${grid[@]}" --resume
expect 2 "$ICLKIN" phase "${grid[@]}" --boundary --adapt
expect 1 "$ICLKIN" phase "${grid[@]}" -o "$dir/no/such/folder"
expect 1 "$ICLKIN" phase "${grid[@]}" -o /dev/full
exit $bad
