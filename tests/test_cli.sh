#!/usr/bin/env bash
# test_cli.sh -- the command line: what each command prints, what it refuses, what it leaves behind.
#
# ICLKIN is the program under test. Exit code 0: all passed; otherwise every failure was printed.
#
# shellcheck disable=SC2016,SC2094 # programs of awk and bash in quotes; `params` is a command and a file
set -u
ICLKIN=$(realpath "${ICLKIN:-./iclkin}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C
checks=0
failures=0

fail() {
    echo "test_cli: $*"
    failures=$((failures + 1))
}

# expect CODE COMMAND...: the exit code; whatever is refused or fails says so in one line and prints nothing else. No
# run here takes a second; 60 s are for a busy machine and sanitizers.
expect() {
    local code=$1 seen
    shift
    checks=$((checks + 1))
    timeout 60 "$@" >out 2>err </dev/null
    seen=$?
    [ "$seen" -eq "$code" ] || fail "exit code $seen, expected $code: $*: $(head -c 300 err)"
    if [ "$code" -eq 1 ] || [ "$code" -eq 2 ]; then
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line on stderr: $*: $(head -c 300 err)"
        [ ! -s out ] || fail "something on stdout: $*"
    fi
}

# What the last command wrote to stderr has this in it.
says() {
    grep -qF -- "$1" err || fail "does not say '$1': $(head -c 300 err)"
}

# check WHAT COMMAND...
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$what"
}

iclkin() {
    "$ICLKIN" "$@"
}

head_of() { # FILE KEY: the value in a table's header
    sed -n "s/^# $2 = //p" "$1"
}

column() { # FILE NAME: a column's values
    awk -F'\t' -v name="$2" '/^#/ { next } !c { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } NF { print $c }' "$1"
}

near() { # A B RELATIVE
    awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a == b || d <= r * (b < 0 ? -b : b)) }'
}

mapfile -t commands < <(iclkin help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "${#commands[@]}" -ge 4 ] || fail "help lists ${#commands[@]} commands"

# The operand a command cannot do without.
operand() {
    [ "$1" != plot ] || echo levels
}

# ---- help, version, usage --------------------------------------------------------------------------------------------

expect 0 "$ICLKIN" --help
check "--help shows the usage" grep -q '^usage: iclkin COMMAND' out
expect 0 "$ICLKIN" help
expect 0 "$ICLKIN" --version
check "--version" grep -qE '^iclkin [0-9]+\.[0-9]+\.[0-9]+ \(.*\)$' out
cp out version
for command in "${commands[@]}"; do
    expect 0 "$ICLKIN" "$command" --help
    check "$command --help" grep -q "^usage: iclkin $command" out
    check "$command --help is silent" test ! -s err
    cp out help
    expect 0 "$ICLKIN" help "$command"
    check "help $command is $command --help" cmp -s out help
    expect 0 "$ICLKIN" "$command" --version
    check "$command --version" cmp -s out version
    # shellcheck disable=SC2046 # none or one word
    set -- $(operand "$command")
    expect 2 "$ICLKIN" "$command" "$@" --no-such-option
    says no-such-option
    expect 2 "$ICLKIN" "$command" "$@" -s
    says 'needs an argument'
    expect 2 "$ICLKIN" "$command" "$@" -o a -o b
    says twice
    expect 2 "$ICLKIN" "$command" "$@" -s task.Q=1 -o left
    says 'task.Q=1'
    expect 2 "$ICLKIN" "$command" "$@" none.ini -o left
    says none.ini
    if [ "$command" != validate ]; then # it takes a list
        expect 2 "$ICLKIN" "$command" "$@" none.ini one-too-many
        says one-too-many
    fi
    check "$command leaves nothing behind" test ! -e left
done
expect 2 "$ICLKIN"
expect 2 "$ICLKIN" trajectry
says trajectry
expect 2 "$ICLKIN" help trajectry
says trajectry
expect 2 "$ICLKIN" params --json
says --json
expect 2 "$ICLKIN" trajectory --json

# ---- bad parameters: file, line, key, value, rule --------------------------------------------------------------------

refuse() { # EXPECTED TEXT...: a parameter file of these lines
    local expected=$1
    shift
    printf '%s\n' "$@" >bad.ini
    echo old >kept
    for command in trajectory predict params; do
        expect 2 "$ICLKIN" "$command" bad.ini -o kept
        says "$expected"
        check "an earlier file survives bad input" grep -qx old kept
    done
}
refuse 'bad.ini:2: [task] N = 0: must be in [2, ' '[task]' 'N = 0'
refuse 'bad.ini:3: [task] K = 3: ' '[task]' '' 'K = 3'
refuse 'bad.ini:2: [train] lr = 0: must be in (0, ' '[train]' 'lr = 0'
refuse 'bad.ini:2: [task] N = many: not a number' '[task]' 'N = many'
refuse 'bad.ini:2: [task] N = 1e2x: not a number' '[task]' 'N = 1e2x'
refuse 'bad.ini:2: [task] N = 10.5: ' '[task]' 'N = 10.5'
refuse 'bad.ini:2: [task] labels = some: must be one of random, balanced' '[task]' 'labels = some'
refuse 'bad.ini:2: [task] K = nan: ' '[task]' 'K = nan'
refuse 'bad.ini:2: [train] lr = nan: ' '[train]' 'lr = nan'
refuse 'bad.ini:2: [task] N = inf: ' '[task]' 'N = inf'
refuse 'bad.ini:2: [train] t_max = inf: ' '[train]' 't_max = inf'
refuse 'bad.ini:2: [task] Q = 1: no such parameter' '[task]' 'Q = 1'
refuse 'bad.ini:1: [tusk]: no such section' '[tusk]' 'K = 4'
refuse 'bad.ini:3: [task] N = 6: given twice' '[task]' 'N = 5' 'N = 6'
refuse 'bad.ini:3: [train] lambda_w = 1: given with train.lambda' '[train]' 'lambda = 1' 'lambda_w = 1'
refuse 'bad.ini:3: [train] lambda = 1: given with train.lambda_beta' '[train]' 'lambda_beta = 1' 'lambda = 1'
refuse 'bad.ini:1: N = 5: stands before the first [section]' 'N = 5'
refuse 'bad.ini:2: ' '[task]' 'N'
refuse '[task] N = 51: must be even where task.labels = balanced' '[task]' 'N = 51' 'labels = balanced'
refuse '[task] copies = 11: must be at most 10' '[task]' 'N = 10' 'copies = 11'
head -c 3000 "$ICLKIN" >junk
expect 2 "$ICLKIN" predict junk
says 'junk:1: '
mkdir folder
expect 2 "$ICLKIN" predict folder
says folder
expect 2 "$ICLKIN" predict none.ini
says none.ini

wrong() { # EXPECTED SETTING...
    local expected=$1 settings=()
    shift
    for setting in "$@"; do settings+=(-s "$setting"); done
    expect 2 "$ICLKIN" predict "${settings[@]}"
    says "$expected"
}
wrong '-s task.N=1: must be in [2, ' task.N=1
wrong '-s task.N=x: not a number' task.N=x
wrong '-s task.N=: ' task.N=
wrong '-s task.N: expected section.key=value' task.N
wrong '-s task.Q=1: no such parameter' task.Q=1
wrong '-s task.N=6: given twice' task.N=5 task.N=6
wrong '-s task.N=5: given twice' task.N=5 task.N=5
wrong '-s train.lambda_w=1: given with train.lambda' train.lambda=1 train.lambda_w=1
wrong '-s train.lambda=1: given with train.lambda_w' train.lambda_w=1 train.lambda=1
wrong '-s task.K=nan: ' task.K=nan
wrong '-s task.N=inf: ' task.N=inf
wrong 'must be even where task.labels = balanced' task.labels=balanced task.N=51
expect 2 "$ICLKIN" predict -s memory.law=table -s memory.table=none.tsv
says memory

# ---- where options stand; sources and their order --------------------------------------------------------------------

printf '[task]\nN = 50\n[train]\nlambda = 1e-3\n' >own.ini
expect 0 "$ICLKIN" trajectory own.ini -s task.K=inf -q -o after.tsv
expect 0 "$ICLKIN" trajectory -q -o before.tsv -s task.K=inf own.ini
check "options before and after the operand" cmp -s before.tsv after.tsv
expect 0 "$ICLKIN" trajectory --set task.K=inf own.ini --quiet --output=long.tsv
check "long options" cmp -s before.tsv long.tsv
check "train.lambda sets both" test "$(head_of after.tsv train.lambda_w) $(head_of after.tsv train.lambda_beta)" = '0.001 0.001'
expect 0 "$ICLKIN" trajectory own.ini -s task.N=20 -s train.lambda_w=0 -s task.K=1e4
check "-s overrides the file" test "$(head_of out task.N) $(head_of out train.lambda_w) $(head_of out train.lambda_beta)" = '20 0 0.001'
check "1e4 is printed whole" test "$(head_of out task.K)" = 10000
expect 0 "$ICLKIN" predict -- own.ini

# ---- every parameter: params, params --ini ---------------------------------------------------------------------------

expect 0 "$ICLKIN" params
cp out params
check "columns of params" test "$(head -1 params)" = $'section\tkey\tunit\tdefault\trange\tmeaning'
check "six fields a row" awk -F'\t' 'NF != 6 { exit 1 }' params
expect 0 "$ICLKIN" params --ini -s task.N=70
cp out edit.ini
expect 0 "$ICLKIN" params edit.ini --ini
check "params --ini reads back" cmp -s out edit.ini
expect 0 "$ICLKIN" predict edit.ini
check "params --ini takes -s" test "$(head_of out task.N)" = 70
while IFS=$'\t' read -r section key _ default _; do
    case $section,$default in
    section,* | *,-) continue ;;
    esac
    expect 0 "$ICLKIN" params -s "$section.$key=$default"
    check "$section.$key=$default is the default" cmp -s out params
done <params

# ---- trajectory: columns, the last row, its own parameter file -------------------------------------------------------

columns=$'t\tsteps\tw\tbeta\ts\tc1\tc2\tc3\tloss_train\tloss_icl\tloss_iwl\tacc_icl\tacc_iwl'
for level in asymptotic reduced meanfield; do
    for K in inf 4000 400; do
        expect 0 "$ICLKIN" trajectory -s theory.level=$level -s task.K=$K -s observe.samples=21 -s train.t_max=900
        cp out table.tsv
        name="trajectory, $level, K = $K"
        check "$name: nothing on stderr" test ! -s err
        check "$name: columns" test "$(grep -v '^#' table.tsv | head -1)" = "$columns"
        check "$name: 13 fields a row" awk -F'\t' '!/^#/ && NF != 13 { exit 1 }' table.tsv
        check "$name: version first" grep -q '^# iclkin = ' <(head -1 table.tsv)
        check "$name: no nan" test "$(grep -c nan table.tsv)" -eq 0
        blowup=$(head_of table.tsv blowup)
        check "$name: last row" test "$(column table.tsv t | tail -1)" = "${blowup:-900}"
        case $level-$K in
        meanfield-* | *-400) check "$name: no blow-up" test -z "$blowup" ;;
        *) check "$name: a blow-up" test -n "$blowup" ;;
        esac
        check "$name: t grows" awk -F'\t' '!/^#/ && $1 != "t" { if (n++ && $1 < last) exit 1; last = $1 }' table.tsv
        expect 0 "$ICLKIN" trajectory table.tsv
        check "$name: reproduces itself" cmp -s out table.tsv
        expect 0 "$ICLKIN" predict table.tsv --json
        t_icl=$(head_of table.tsv t_icl)
        [ "$t_icl" != inf ] || t_icl=null
        check "$name: predict says the same t_icl" grep -qE "\"t_icl\".*\"$level\": ${t_icl}[,}]" out
    done
done
units=$(sed -n 's/^# unit\.\([^ ]*\) = .*/\1/p' table.tsv | paste -s)
check "a unit for every column" test "$units" = "$columns"
expect 0 "$ICLKIN" trajectory -s train.t_max=1e-9
check "a tiny t_max" test "$(column out t | tail -1)" = 1e-09
expect 0 "$ICLKIN" trajectory -s observe.spacing=log -s observe.samples=50
check "rows spaced in log t end at t_max" test "$(column out t | tail -1)" = 1000

# ---- predict: JSON ---------------------------------------------------------------------------------------------------

expect 0 "$ICLKIN" predict
cp out text
expect 0 "$ICLKIN" predict text
check "predict reproduces itself" cmp -s out text
expect 0 "$ICLKIN" predict --json
cp out json
expect 0 "$ICLKIN" predict json --json
check "predict --json reproduces itself" cmp -s out json
expect 0 "$ICLKIN" predict json
check "JSON and text are the same parameters" cmp -s out text
expect 0 "$ICLKIN" predict --json -s task.D=3 -s memory.law=none
cp out null.json
expect 0 "$ICLKIN" predict null.json --json
check "infinite values read back" cmp -s out null.json

keys='t_icl t_blowup K_star I_K_inf t_iwl t_loss noise outcome params'
check "the keys of the JSON" test "$(sed -n 's/^  "\([A-Za-z_]*\)": .*/\1/p' json | paste -sd' ')" = "$keys"
levels='"asymptotic": [^ ]*, "reduced": [^ ]*, "meanfield": [^ ]*'
check "t_icl by level" grep -qE "^  \"t_icl\": \{$levels\},$" json
check "K_star by level" grep -qE "^  \"K_star\": \{$levels\},$" json
check "t_blowup" grep -qE '^  "t_blowup": \{"reduced": [^ ]*\},$' json
check "noise" grep -qE '^  "noise": \{"t_icl_sd": [0-9.]+, "t_icl_read": [0-9.]+\},$' json
check "no K needed: 0" grep -qE '^  "K_star": \{"asymptotic": 0, ' null.json
check "none suffices: null" grep -qE '"K_star": .*"meanfield": null\}' null.json
check "I_K infinite: null" grep -qx '  "I_K_inf": null,' null.json
if command -v python3 >/dev/null; then
    for f in json null.json; do
        check "$f is JSON" python3 -c 'import json, sys
p = json.load(open(sys.argv[1]), parse_constant=lambda s: sys.exit("not JSON: " + s))
sys.exit(list(p) != sys.argv[2].split() or len(p["params"]) < 40)' "$f" "$keys"
    done
fi

# What is asked for beside it changes nothing of the rest.
expect 0 "$ICLKIN" predict --attribute
check "predict --attribute: predict's own lines first" cmp -s <(head -n "$(wc -l <text)" out) text
check "predict --attribute: every ingredient" test "$(grep -c '(nothing left out)\|([STM][0-9])' <(tail -n 9 out))" -eq 9
check "predict --attribute: absent ones are said to be" grep -q '^balanced labels (S2)  *absent: task.labels = random$' out
expect 0 "$ICLKIN" predict json --json --attribute
cp out more.json
check "--attribute: an object, before params" test "$(sed -n 's/^  "\([A-Za-z_]*\)": .*/\1/p' more.json | paste -sd' ')" = "${keys% params} attribution params"
check "--attribute: the rest as it was" cmp -s <(sed '/^  "attribution": {$/,/^  },$/d' more.json) json
expect 0 "$ICLKIN" predict more.json --json
check "JSON with more in it reads back" cmp -s out json
if command -v python3 >/dev/null; then
    check "--attribute: JSON, and its changes are those of its numbers" python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))["attribution"]
rows = [r for r in a["without"].values() if "absent" not in r]
assert len(a["without"]) == 8 and len(rows) == 5 and a["level"] == "meanfield"
for r in rows:
    for k in "t_icl", "K_star":
        assert abs(r["change_percent"][k] - 100 * (r[k] / a["with"][k] - 1)) < 1e-9' more.json
fi

expect 0 "$ICLKIN" predict --advise --attribute
check "predict --advise: predict's own lines first" cmp -s <(head -n "$(wc -l <text)" out) text
check "predict --advise: five lines of what to change" test "$(grep -cE '^(init|train|task)\.[a-zA-Z]+ .* to .*  (above|below|all of it|none)' out)" -eq 5
expect 0 "$ICLKIN" predict json --json --advise
cp out more.json
check "--advise: an object, before params" test "$(sed -n 's/^  "\([A-Za-z_]*\)": .*/\1/p' more.json | paste -sd' ')" = "${keys% params} advice params"
check "--advise: the rest as it was" cmp -s <(sed '/^  "advice": {$/,/^  },$/d' more.json) json
expect 0 "$ICLKIN" predict more.json --json
check "JSON with advice in it reads back" cmp -s out json
expect 0 "$ICLKIN" predict --advise -s task.D=5 -s memory.law=none
check "--advise: nothing helps" test "$(grep -c '  none in range$' out)" -eq 5
if command -v python3 >/dev/null; then
    check "--advise: JSON; K's boundary is K*" python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))
a = p["advice"]
K = [c for c in a["change"] if c["parameter"] == "task.K"][0]
assert a["now"] == "kept" and len(a["change"]) == 5 and len(a["sensitivity"]) == 12
assert len(K["kept"]) == 1 and K["kept"][0][1] is None
assert abs(K["kept"][0][0] / p["K_star"]["meanfield"] - 1) < 2e-3' more.json
fi

# ---- predict: numbers ------------------------------------------------------------------------------------------------

value() { # NAME LEVEL: of the JSON in out
    sed -n "s/^  \"$1\": {.*\"$2\": \([^,}]*\).*/\1/p" out
}
# (T7) at w = beta = 0, c1 = 1/2: sqrt(2 pi) N.
expect 0 "$ICLKIN" predict --json -s task.K=inf
check "sqrt(2 pi) N" near "$(value t_icl asymptotic)" 250.66282746310005 1e-12
# N alone sets the clock of the reduced level's blow-up, whatever its size: (T5) at c1 = c2 = 1/2.
blowup=$(value t_blowup reduced)
expect 0 "$ICLKIN" predict --json -s task.K=inf -s task.N=1e6 -s train.t_max=1e9
check "t_blowup is proportional to N" near "$(value t_blowup reduced)" "$(awk -v t="$blowup" 'BEGIN { printf "%.17g", 1e4 * t }')" 1e-8
for settings in 'task.K=1e15' 'task.K=inf task.D=inf' 'train.t_max=1e15' 'init.w=40' 'init.w=-40' 'train.t_max=1e-300' \
    'task.N=1e7' 'task.N=1e7 task.D=inf task.K=inf' \
    'task.N=1e7 task.K=2 train.t_max=1e15' 'task.copies=5' 'task.labels=balanced init.w=1' 'task.N=2' 'task.D=1' \
    'task.items=unit' 'train.lambda=0.01'; do
    # shellcheck disable=SC2046,SC2086 # several words
    expect 0 "$ICLKIN" predict --json $(printf -- '-s %s ' $settings)
    check "$settings: no nan" test "$(grep -c nan out)" -eq 0
done
expect 0 "$ICLKIN" predict --json -s init.w=-40
check "w = -40 never acquires ICL" test "$(value t_icl meanfield)" = null
expect 0 "$ICLKIN" predict --json -s task.labels=balanced
check "balanced labels at the saddle never acquire ICL" test "$(value t_icl meanfield)" = null
expect 0 "$ICLKIN" predict --json
plain=$(value t_icl meanfield)
expect 0 "$ICLKIN" predict --json -s task.copies=5
check "copies hasten ICL" near "$(awk -v a="$(value t_icl meanfield)" -v b="$plain" 'BEGIN { print a < b }')" 1 0

# Every stepper finds the same t_icl: 1e-6 relative at rtol 1e-9 (measured: 1.4e-7, rk2imp); rk1imp, whose error falls
# as the square root of rtol, within 1e-3 at 1e-6 (measured: 2.9e-4).
methods=$(awk -F'\t' '$1 == "solver" && $2 == "method" { print $5 }' params)
check "the steppers are listed" test "$(tr '|' '\n' <<<"$methods" | wc -l)" -ge 11
cp json out
right=("$(value t_icl reduced)" "$(value t_icl meanfield)")
for method in ${methods//|/ }; do
    rtol=1e-9 bound=1e-6
    [ "$method" != rk1imp ] || rtol=1e-6 bound=1e-3
    for i in 0 1; do
        level=$([ $i = 0 ] && echo reduced || echo meanfield)
        expect 0 "$ICLKIN" trajectory -s observe.samples=2 -s theory.level="$level" -s solver.method="$method" -s solver.rtol=$rtol
        seen=$(head_of out t_icl)
        check "$method, $level: t_icl = $seen, not ${right[i]}" near "$seen" "${right[i]}" $bound
    done
done

# ---- phase -----------------------------------------------------------------------------------------------------------

grid=(-x task.K=1e3:4e3:3:log -y task.N=50:100:2)
expect 0 "$ICLKIN" phase "${grid[@]}"
cp out phase
check "columns of phase" test "$(grep -v '^#' phase | head -1)" = $'task.K\ttask.N\tt_icl\tt_iwl\tt_loss\toutcome\tstatus'
check "six cells" test "$(column phase outcome | wc -l)" -eq 6
expect 0 "$ICLKIN" phase phase "${grid[@]}"
check "phase reproduces itself" cmp -s out phase
expect 0 "$ICLKIN" phase "${grid[@]}" --boundary
check "columns of --boundary" test "$(grep -v '^#' out | head -1)" = $'task.N\ttask.K\terror\tbranch\tstatus'
expect 2 "$ICLKIN" phase
expect 2 "$ICLKIN" phase -x task.K=1:2 -y task.N=50:100:2
says task.K
expect 2 "$ICLKIN" phase -x task.labels=1:2:3 -y task.N=50:100:2
says task.labels

# ---- simulate, ensemble, fixedpoints ---------------------------------------------------------------------------------

small=(-s task.N=10 -s task.K=40 -s task.D=8 -s train.t_max=5 -s train.batch=8 -s sim.hidden=8 -s sim.eval_items=50
    -s observe.samples=3)
expect 0 "$ICLKIN" simulate -q "${small[@]}"
cp out simulated
check "simulate has the columns of trajectory" test "$(grep -v '^#' simulated | head -1)" = "$columns"
check "simulate: last row" test "$(column simulated t | tail -1)" = 5
expect 0 "$ICLKIN" simulate -q simulated
check "simulate reproduces itself" cmp -s out simulated
expect 0 "$ICLKIN" simulate -q simulated -s sim.seed=2
check "another seed, another run" test "$(column out w | tail -1)" != "$(column simulated w | tail -1)"
expect 0 "$ICLKIN" ensemble -q "${small[@]}" -s ensemble.runs=3 -x task.K=20:40:2
check "columns of ensemble" test "$(grep -v '^#' out | head -1)" = $'task.K\tseed\tw0\tbeta0\tt_icl\tt_iwl\tt_loss\toutcome\tsteps\tseconds'
check "a row a run" test "$(column out seed | wc -l)" -eq 6
frozen=(-s memory.law=constant -s train.lambda=5e-3)
expect 0 "$ICLKIN" fixedpoints "${frozen[@]}"
check "columns of fixedpoints" test "$(grep -v '^#' out | head -1)" = $'branch\tw\tbeta\tre1\tim1\tre2\tim2\ttype'
expect 0 "$ICLKIN" fixedpoints "${frozen[@]}" -x train.lambda=1e-3:2e-2:8:log
check "columns of a sweep" test "$(grep -v '^#' out | head -1)" = $'train.lambda\tbranch\tw\tbeta\tre1\tim1\tre2\tim2\ttype'
check "types of fixed points" test -z "$(column out type | grep -vxE 'stable|saddle|unstable|fold')"

# ---- plot ------------------------------------------------------------------------------------------------------------

expect 0 "$ICLKIN" plot list
check "plot list" grep -q '^levels ' out
expect 2 "$ICLKIN" plot
says NAME
expect 2 "$ICLKIN" plot no-such-figure
says no-such-figure

# ---- -q, --check, locale ---------------------------------------------------------------------------------------------

expect 0 "$ICLKIN" trajectory --check
check "--check says the numerical error" grep -q 'numerical error' err
expect 0 "$ICLKIN" trajectory --check -q
check "-q is silent" test ! -s err
expect 0 "$ICLKIN" predict --check --json
check "--check in JSON" grep -q '^  "numerical_error": {$' out
locales=(fr_FR.UTF-8 C.UTF-8 nowhere)
if localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" 2>/dev/null; then locales+=(de_DE.UTF-8); fi
for locale in "${locales[@]}"; do
    expect 0 env LOCPATH="$dir" LC_ALL="$locale" "$ICLKIN" predict
    check "LC_ALL=$locale changes nothing" cmp -s out text
done

# ---- -o: whole or not at all -----------------------------------------------------------------------------------------

hurried=(-s solver.max_steps=10) # fails: exit code 1
mkdir place
echo old >place/file
expect 1 "$ICLKIN" trajectory "${hurried[@]}" -o place/file
says max_steps
check "a failure keeps the earlier file" grep -qx old place/file
expect 1 bash -c 'trap "" XFSZ; ulimit -f 8; exec "$0" trajectory -s observe.samples=500 -o place/file' "$ICLKIN"
says place/file
check "a full disk keeps the earlier file" grep -qx old place/file
expect 0 "$ICLKIN" trajectory -o place/file
check "-o writes nothing to stdout" test ! -s out
check "the file is replaced" grep -q '^# iclkin' place/file
check "nothing else is left in the folder" test "$(ls place)" = file
expect 1 "$ICLKIN" predict -o nowhere/file
says nowhere/file
expect 1 "$ICLKIN" predict -o place
says place
expect 1 "$ICLKIN" predict -o /dev/full
says 'No space left'
for command in trajectory predict params help; do
    expect 1 bash -c '"$0" "$1" >/dev/full' "$ICLKIN" $command
done
expect 0 "$ICLKIN" predict -o /dev/null
check "/dev/null stays a device" test -c /dev/null
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w place
    expect 1 "$ICLKIN" predict -o place/other
    chmod u+w place
fi
mkfifo pipe
cat pipe >arrived &
expect 0 "$ICLKIN" predict -o pipe
wait $!
check "a pipe is written in place" cmp -s arrived text
ln -s "$dir/place/file" link
expect 0 "$ICLKIN" predict -o /dev/stdout
check "-o /dev/stdout" cmp -s out text

# ---- signals ---------------------------------------------------------------------------------------------------------

iclkin trajectory -s observe.samples=2000 -s theory.level=reduced -s task.K=100 2>err | head -1 >out
check "a closed pipe ends it by SIGPIPE" test "${PIPESTATUS[0]}" -eq 141
check "without a message" test ! -s err
echo old >place/file
"$ICLKIN" trajectory -s solver.method=rk1imp -s solver.rtol=1e-14 -s solver.max_steps=1e9 -o place/file 2>err &
sleep 0.3
kill -TERM $!
wait $! 2>/dev/null
check "SIGTERM: 143" test $? -eq 143
check "SIGTERM keeps the earlier file" grep -qx old place/file
check "SIGTERM leaves nothing" test "$(ls place)" = file

# ---- settings at random ----------------------------------------------------------------------------------------------

# Whatever the settings, a run ends by itself with 0, 1 or 2, and one line says why it is not 0. Ends of ranges are
# drawn often, a value outside now and then; observe.samples and solver.max_steps, long by intention, are kept small.
cat >draw.awk <<'PROGRAM'
BEGIN { FS = "\t"; srand(seed) }
NR > 1 { row[++rows] = $1 "." $2; range[rows] = $5 }
function draw(r,   part, lo, hi, n, u, x) {
    if (r == "text") return rand() < 0.5 ? "default" : "none.tsv"
    if (r == "as its two") r = "[0, 1000000]"
    if (r ~ /\|/) { n = split(r, part, "|"); return part[1 + int(n * rand())] }
    u = rand()
    if (u < 0.1 && r ~ /, inf/) return "inf"
    if (u < 0.1 && r ~ /, auto/) return "auto"
    split(r, part, /[][(), ]+/); lo = part[2] + 0; hi = part[3] + 0
    if (u < 0.2) return lo
    if (u < 0.3) return hi
    if (u < 0.32) return 2 * hi + 1
    if (lo < 0) x = (rand() < 0.5 ? -1 : 1) * 1e-3 * exp(rand() * log(hi / 1e-3))
    else x = exp(log(lo + 1e-9) + rand() * log((hi + 1e-9) / (lo + 1e-9)))
    if (r ~ /even/) return sprintf("%.0f", 2 * int(x / 2))
    return sprintf(r ~ /whole/ ? "%.0f" : "%.6g", x)
}
END {
    for (i = 0; i < n; i++) {
        line = rand() < 0.5 ? "predict" : "trajectory"
        split("", used)
        used["observe.samples"] = used["solver.max_steps"] = 1
        for (j = 1 + int(4 * rand()); j > 0; j--) {
            k = 1 + int(rows * rand())
            if (rand() < 0.3) k = 1 + int(6 * rand())
            if (row[k] in used) continue
            used[row[k]] = 1
            line = line " -s " row[k] "=" draw(range[k])
        }
        print line " -s solver.max_steps=20000 -s observe.samples=" 2 + int(200 * rand())
    }
}
PROGRAM
cat >one.sh <<'PROGRAM'
# one.sh ICLKIN SETTINGS: prints what is wrong
err=$(timeout 60 "$1" $2 2>&1 >/dev/null)
code=$?
[ "$code" -le 2 ] && [ "$(printf '%s' "$err" | grep -c '')" -eq $((code > 0)) ] || echo "exit code $code: $2: $err"
PROGRAM
awk -v seed="${SEED:-1}" -v n=150 -f draw.awk params >cases
xargs -a cases -d '\n' -n 1 -P 2 bash one.sh "$ICLKIN" >wrong 2>&1
checks=$((checks + $(wc -l <cases)))
while read -r line; do fail "$line"; done <wrong

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
