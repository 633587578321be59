#!/usr/bin/env bash
# test_validate.sh -- `iclkin validate`: --quick holds; a factor of 1.1 in c1 is caught; the same table for any threads,
# killed and resumed; the page; a cache of other runs and settings that cannot be are refused by name.
# shellcheck source=tests/shell.sh
. "$(dirname "$0")/shell.sh"

verdict() { # FILE SETTING QUANTITY...: the verdicts of the judged rows, a word each
    awk -F '\t' -v setting="$2" -v quantity="$3" '$1 == setting && $2 == quantity && $16 != "shown" { print $16 }' "$1" |
        paste -sd' '
}

# ---- the quick list --------------------------------------------------------------------------------------------------

start=$SECONDS
expect 0 "$ICLKIN" validate --quick -o "$dir/quick"
echo "validate --quick: $((SECONDS - start)) s"
grep -q ' 0 differ, ' "$dir/out" || fail "--quick: $(tail -1 "$dir/out")"
[ "$(verdict "$dir/quick/validate.tsv" unlimited t_icl)" = 'holds holds' ] || fail "t_icl, K infinite"
[ "$(verdict "$dir/quick/validate.tsv" starts ks)" = holds ] || fail "the distribution over starts"
[ "$(verdict "$dir/quick/validate.tsv" finite acquired)" = 'holds holds holds holds' ] || fail "acquired against K"
[ "$(verdict "$dir/quick/validate.tsv" memorized outcome)" = holds ] || fail "outcome at small K"

# A c1 that is 1.1 times what it should be, from the same simulations: a change of theory leaves the cache as it is.
find "$dir/quick" -name '*.tsv' ! -name validate.tsv -exec cat {} + >"$dir/before"
expect 1 "$ICLKIN" validate --quick -s memory.c1=0.55 -o "$dir/quick"
grep -q 'differ by more than their bound' "$dir/err" || fail "planted: $(cat "$dir/err")"
[ "$(verdict "$dir/quick/validate.tsv" frozen t_icl)" = differs ] || fail "1.1 x c1 is not caught by t_icl"
[ "$(verdict "$dir/quick/validate.tsv" frozen c1)" = differs ] || fail "1.1 x c1 is not caught by c1"
[ "$(grep -c differs "$dir/quick/validate.tsv")" -eq 2 ] || fail "1.1 x c1 changes other verdicts"
find "$dir/quick" -name '*.tsv' ! -name validate.tsv -exec cat {} + | cmp -s - "$dir/before" || fail "theory changes the cache"

# ---- a list of one's own ---------------------------------------------------------------------------------------------

mkdir "$dir/list"
cat >"$dir/list/one.ini" <<'END'
[task]
K = 60
D = 16
[train]
t_max = 80
[sim]
hidden = 16
eval_items = 300
[ensemble]
runs = 3
[validate]
xaxis = task.copies=1:2:2
yaxis = task.N=10:14:2
compare = t_icl, w@40, acc_icl@60:0.9, outcome
END
cat >"$dir/list/two.ini" <<'END'
[task]
D = 16
N = 12
K = inf
[init]
w_sd = 0.2
[train]
t_max = 80
[sim]
hidden = 16
[ensemble]
runs = 8
[validate]
compare = ks:0.9
END
list=("$dir/list/one.ini" "$dir/list/two.ini")
expect 0 "$ICLKIN" validate "${list[@]}" -o "$dir/whole" -s ensemble.threads=1
table=$dir/whole/validate.tsv
for file in one.N=10.tsv one.N=14.tsv two.tsv; do [ -s "$dir/whole/$file" ] || fail "$file is not there"; done
[ "$(grep -c $'^one\t' "$table")" -eq 48 ] || fail "one: $(grep -c $'^one\t' "$table") rows, not 2 x 2 points x 4 x 3"
[ "$(grep -c $'^two\tks\t' "$table")" -eq 3 ] || fail "two: not 3 rows"
[ "$(awk -F '\t' '$2 == "w" { print $16 }' "$table" | sort -u)" = shown ] || fail "without a bound it is judged"
grep -q '^# setting.one.task.K = 60$' "$table" || fail "the header does not say what was validated"
# its mean is that of the rows
mean=$(rows "$dir/whole/one.N=10.tsv" | awk -F '\t' '$1 == 2 { s += $3; n++ } END { printf "%.6g", s / n }')
seen=$(awk -F '\t' '$1 == "one" && $2 == "w" && $3 == "meanfield" && $4 == 10 && $5 == 2 { printf "%.6g", $7 }' "$table")
[ "$mean" = "$seen" ] || fail "w at t = 40: mean of the rows $mean, in the table $seen"
# a run's w at t = 40 is simulate's
line=$(rows "$dir/whole/one.N=10.tsv" | grep $'^1\t2\t')
expect 0 "$ICLKIN" simulate "$dir/list/one.ini" -s task.N=10 -s sim.seed=2
[ "$(rows "$dir/out" | awk -F '\t' '$1 == 40 { print $3 }' | head -1)" = "$(cut -f3 <<<"$line")" ] ||
    fail "w at t = 40 is not simulate's"

# threads; carried on from nothing lacking; killed at 12 moments
expect 0 "$ICLKIN" validate "${list[@]}" -o "$dir/threads" -s ensemble.threads=8
cmp -s "$table" "$dir/threads/validate.tsv" || fail "the table depends on the number of threads"
cp "$table" "$dir/keep"
expect 0 "$ICLKIN" validate "${list[@]}" -o "$dir/whole"
grep -q '20 runs, 20 of them there already; 0 SGD steps' "$dir/err" || fail "estimate: $(cat "$dir/err")"
cmp -s "$table" "$dir/keep" || fail "from the cache another table"
killed=0
for try in {1..12}; do
    "$ICLKIN" validate "${list[@]}" -o "$dir/part" -q >/dev/null 2>&1 &
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $! 2>/dev/null && killed=$((killed + 1))
    wait $! 2>/dev/null
    [ -e "$dir/part/validate.tsv" ] && [ "$try" -lt 12 ] && rm -rf "$dir/part"
done
[ "$killed" -ge 3 ] || fail "only $killed of 12 were killed in time"
expect 0 "$ICLKIN" validate "${list[@]}" -o "$dir/part"
cmp -s "$table" "$dir/part/validate.tsv" || fail "killed and resumed, another table"
[ -z "$(find "$dir/part" -name '*.checkpoints')" ] || fail "checkpoints stay"

# Runs that fail are told, and a point without any other is no agreement.
expect 1 "$ICLKIN" validate "$dir/list/one.ini" -s validate.xaxis=train.lr=0.1:100:2 -s task.K=200 -s task.copies=1 -s sim.hidden=64 \
    -s validate.compare=acquired -s train.t_max=2000 -s sim.eval_items=100 -s ensemble.stop=end -o "$dir/failing"
grep -q 'setting one: 3 of its runs failed' "$dir/err" || fail "failing runs: $(cat "$dir/err")"
grep -q 'every run of 2 points failed' "$dir/err" || fail "failing points: $(tail -1 "$dir/err")"
[ "$(grep -c '^one' "$dir/failing/validate.tsv")" -eq 6 ] || fail "the other points are lost too"

# Ctrl-C: 130, and the same command carries on.
bash -c 'trap - INT; exec "$@"' _ "$ICLKIN" validate "${list[@]}" -s train.t_max=1e5 -o "$dir/int" >"$dir/out" 2>"$dir/err" &
while ! grep -q 'to go' "$dir/err" && kill -0 $! 2>/dev/null; do sleep 0.05; done
sleep 1
kill -INT $!
wait $!
code=$?
[ $code -eq 130 ] || fail "SIGINT ended with $code"
grep -q 'the same command carries on' "$dir/err" || fail "SIGINT: $(cat "$dir/err")"
[ ! -e "$dir/int/validate.tsv" ] || fail "stopped, and there is a table"
[ -n "$(find "$dir/int" -path '*.checkpoints/[0-9]*')" ] || fail "stopped, and no checkpoint"

# ---- the full list ---------------------------------------------------------------------------------------------------

# Every shipped setting can be planned, run, held against theory and drawn; here as a caricature of itself.
settings=$(dirname "$0")/../params/validate
"$ICLKIN" validate -o "$dir/full" --report "$dir/full/report" -s memory.law=powerlaw -s ensemble.runs=1 -s train.lr=10 \
    -s train.batch=1 -s sim.hidden=1 -s sim.eval_items=10 >"$dir/out" 2>"$dir/err"
code=$?
[ $code -le 1 ] || fail "the full list ends with $code: $(tail -1 "$dir/err")"
for file in "$settings"/*.ini; do
    name=$(basename "$file" .ini)
    grep -q "^$name"$'\t' "$dir/full/validate.tsv" || fail "the full list lacks $name"
    head -1 "$file" | grep -q '^; ' || fail "$name: its first line does not say what it is about"
    grep -q "<h2 id=\"$name\">" "$dir/full/report/index.html" || fail "the report lacks $name"
done

# ---- the page --------------------------------------------------------------------------------------------------------

page=$dir/report/deep/index.html
expect 0 "$ICLKIN" validate "${list[@]}" -o "$dir/whole" --report "$dir/report/deep"
cmp -s "$table" "$dir/keep" || fail "--report changes the table"
# acc_icl and outcome have a figure each, as t_icl and w; ks; and the overview
[ "$(grep -c '<figure>' "$page")" -eq 6 ] || fail "the page has $(grep -c '<figure>' "$page") figures, not 6"
[ "$(grep -c '</svg>' "$page")" -eq 6 ] || fail "a figure is not whole"
[ "$(grep -c '<tr' "$page")" -eq $((48 + 3 + 2)) ] || fail "the page has $(grep -c '<tr' "$page") rows"
for text in 'K = 60' 'iclkin validate .*one.ini .*two.ini -o' "commit $("$ICLKIN" --version | sed 's/.*(//; s/)//')"; do
    grep -q "$text" "$page" || fail "the page does not say '$text'"
done
grep -oE "(src|href|url)[=(]['\"]?[^'\" >]*" "$page" | grep -vE "^href=['\"]#picture|^url\(#" && fail "the page needs something else"
[ -z "$(grep -oE " id=['\"][^'\"]*" "$page" | sort | uniq -d)" ] || fail "two things of one name in the page"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    look() {
        timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/browser" "$@" "file://$page" \
            2>"$dir/err"
    }
    look --dump-dom >"$dir/dom" || fail "the browser does not open the page: $(tail -3 "$dir/err")"
    [ "$(grep -o '<svg' "$dir/dom" | wc -l)" -eq 6 ] || fail "the browser sees $(grep -o '<svg' "$dir/dom" | wc -l) figures"
    grep -q 'class="word holds">holds' "$dir/dom" || fail "the browser sees no verdict"
    look --window-size=1200,3000 --screenshot="$dir/page.png" >/dev/null || fail "no screenshot"
    # a blank page of this size takes some 10 kB
    [ "$(stat -c %s "$dir/page.png" 2>/dev/null || echo 0)" -gt 50000 ] || fail "the page is all but blank"
else
    echo "no browser: the page was not looked at"
fi
(
    mkdir "$dir/bin"
    printf '#!/bin/sh\nexit 3\n' >"$dir/bin/gnuplot"
    chmod +x "$dir/bin/gnuplot"
    PATH=$dir/bin:$PATH
    "$ICLKIN" validate -q "${list[@]}" -o "$dir/whole" --report "$dir/none" >/dev/null 2>"$dir/err"
) && fail "a gnuplot that fails is not told"
grep -q 'gnuplot: exit code 3' "$dir/err" || fail "gnuplot: $(cat "$dir/err")"
[ ! -e "$dir/none/index.html" ] || fail "gnuplot failed, and there is a page"

# ---- refused ---------------------------------------------------------------------------------------------------------

expect 2 "$ICLKIN" validate "${list[@]}" -s task.items=unit -o "$dir/whole"
grep -q 'setting one: .*one.N=10.tsv: its header differs' "$dir/err" || fail "another cache: $(cat "$dir/err")"
cmp -s "$table" "$dir/keep" || fail "refused, and the table changed"
refused() { # TEXT LINE...: one.ini with these lines in [validate] instead
    local text=$1
    shift
    sed '/^\[validate\]/,$d' "$dir/list/one.ini" >"$dir/bad.ini"
    printf '%s\n' '[validate]' "$@" >>"$dir/bad.ini"
    expect 2 "$ICLKIN" validate "$dir/bad.ini" -o "$dir/nothing"
    grep -qE -- "(bad.ini|setting bad).*$text" "$dir/err" || fail "$*: $(cat "$dir/err")"
    [ ! -e "$dir/nothing" ] || fail "$*: refused, and something written"
}
refused 'no such quantity; there are t_icl' 'compare = t_ilc:0.1'
refused 'needs a time: w@t' 'compare = w:0.1'
refused 't_icl has no time' 'compare = t_icl@30:0.1'
refused "0 after ':' must be a number above 0" 'compare = t_icl:0'
refused 'names no quantity' 'compare = ,'
refused 'beyond train.t_max' 'compare = w@81'
refused 'K_star: needs validate.xaxis = task.K' 'compare = K_star:0.1'
refused 'needs a validate.yaxis' 'compare = K_star_power:0.1' 'xaxis = task.K=20:80:3'
refused 'needs an xaxis and a yaxis' 'tilt = 1'
refused 'no parameter' 'xaxis = task.Q=1:2:2'
refused 'runs of a point' 'xaxis = sim.seed=1:2:2'
refused 'given twice' 'tilt = 1' 'tilt = 1'
refused 'no such parameter' 'axis = none'
refused 'copies = 200: must be at most 100' 'compare = t_icl' 'xaxis = task.copies=1:200:2'
refused 'N = 1' 'compare = t_icl' 'yaxis = task.N=1:4:2'
expect 2 "$ICLKIN" validate "$settings/quick/finite.ini" -s task.K=100 -s validate.xaxis=task.K=100:900:2 -o "$dir/nothing"
grep -q 'setting finite: .*K = 900' "$dir/err" || fail "K beyond the table: $(cat "$dir/err")"
[ ! -e "$dir/nothing" ] || fail "refused, and something written"
expect 2 "$ICLKIN" validate "$dir/list/one.ini" "$dir/list/one.ini" -o "$dir/none"
grep -q 'two settings of one name' "$dir/err" || fail "twice: $(cat "$dir/err")"
expect 2 "$ICLKIN" validate "$dir/none.ini"
expect 2 "$ICLKIN" validate --quick "$dir/list/one.ini"
expect 2 "$ICLKIN" validate "$dir/list/one.ini" -s memory.law=table -s memory.table="$dir/none.tsv" -o "$dir/none"
expect 1 "$ICLKIN" validate "$dir/list/one.ini" -o /dev/full/x
exit $bad
