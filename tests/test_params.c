/* test_params.c -- the parameter table: every row in range, every kind of bad key refused with its place, every setting
 * reproduced by the table it heads. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "folder.h"
#include "iclkin/params.h"

static enum icl_status parse(const char *text, struct icl_params *params, struct icl_err *err) {
    icl_params_default(params);
    return icl_params_parse(params, "x.ini", text, strlen(text), err);
}

static enum icl_status apply(const char *text, struct icl_params *params, struct icl_err *err) {
    icl_params_default(params);
    return icl_params_apply(params, &text, 1, err);
}

static bool is_number(const struct icl_param *row) {
    return row->type == ICL_PARAM_REAL || row->type == ICL_PARAM_COUNT;
}

static void assert_same(const struct icl_params *a, const struct icl_params *b) {
    for (size_t i = 0; i < icl_params_count(); i++) {
        char one[ICL_TEXT_SIZE], other[ICL_TEXT_SIZE];
        const struct icl_param *row = icl_params_row(i);

        assert_string_equal(icl_params_text(a, row, one), icl_params_text(b, row, other));
        if (row->type == ICL_PARAM_REAL && !isnan(icl_params_get(a, row)))
            assert_true(icl_params_get(a, row) == icl_params_get(b, row));
    }
}

/* ---- the table ---- */

static void rows_are_sound(void **state) {
    (void)state;
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char name[128];

        snprintf(name, sizeof name, "%s.%s", row->section, row->key);
        assert_ptr_equal(icl_params_find(name), row); /* so no name comes twice */
        assert_non_null(icl_params_section(row->section));
        assert_true(row->meaning[0] != '\0' && strchr(row->meaning, '\n') == NULL &&
                    strchr(row->meaning, '\t') == NULL);
        assert_true(row->offset < sizeof(struct icl_params) && row->offset2 < sizeof(struct icl_params));
        if (is_number(row)) assert_true(row->lo < row->hi && row->unit[0] != '\0');
        /* The store keeps whole numbers of a COUNT and of a double exactly. */
        if (row->type == ICL_PARAM_COUNT)
            assert_true(row->lo >= 0 && row->hi < 0x1p53 && (row->flags & (ICL_P_INF | ICL_P_AUTO)) == 0);
        if (row->flags & ICL_P_EVEN) assert_true(row->flags & ICL_P_INTEGER);
    }
    assert_null(icl_params_row(icl_params_count()));
    assert_null(icl_params_find("task"));
    assert_null(icl_params_find("task."));
    assert_null(icl_params_find(".K"));
    assert_null(icl_params_find("tas.K"));
    assert_null(icl_params_section("tas"));
}

static void defaults_keep_the_rules(void **state) {
    struct icl_params params, again;
    struct icl_err err;

    (void)state;
    icl_params_default(&params);
    check_ok(icl_params_check(&params, &err), &err);
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char text[ICL_TEXT_SIZE], assignment[2 * ICL_TEXT_SIZE];

        snprintf(assignment, sizeof assignment, "%s.%s=%s", row->section, row->key,
                 icl_params_text(&params, row, text));
        check_ok(apply(assignment, &again, &err), &err);
        assert_same(&params, &again);
    }
    /* Anchors of the table, so that it is not compared with itself alone. */
    assert_true(params.task.K == 4000 && params.task.N == 100 && params.task.D == 63 && params.train.batch == 128);
    assert_true(isnan(params.memory.c2) && params.theory.level == ICL_LEVEL_MEANFIELD);
    assert_true(params.solver.method == ICL_STEPPER_RK8PD && strcmp(params.memory.table, "default") == 0);
}

/* ---- bad values, for every row ---- */

/* Gives value to a row by a file and by -s; both must refuse it with their place, the value and the rule. */
static void refuses(const struct icl_param *row, const char *value, const char *rule) {
    char text[2 * ICL_TEXT_SIZE], place[2 * ICL_TEXT_SIZE];
    struct icl_params params;
    struct icl_err err;

    snprintf(text, sizeof text, "[%s]\n\n%s = %s\n", row->section, row->key, value);
    snprintf(place, sizeof place, "x.ini:3: [%s] %s = %s: ", row->section, row->key, value);
    check_fails(parse(text, &params, &err), ICL_EUSAGE, &err, place);
    check_fails(parse(text, &params, &err), ICL_EUSAGE, &err, rule);
    snprintf(text, sizeof text, "%s.%s=%s", row->section, row->key, value);
    snprintf(place, sizeof place, "-s %s.%s=%s: ", row->section, row->key, value);
    check_fails(apply(text, &params, &err), ICL_EUSAGE, &err, place);
    check_fails(apply(text, &params, &err), ICL_EUSAGE, &err, rule);
}

static void refuses_number(const struct icl_param *row, double value, const char *rule) {
    char text[ICL_NUMBER_SIZE];
    struct icl_params params;
    struct icl_err err;

    refuses(row, icl_table_number(value, text), rule);
    if (row->flags & ICL_P_INTEGER) return; /* put rounds first */
    icl_params_default(&params);
    check_fails(icl_params_put(&params, row, value, &err), ICL_EUSAGE, &err, rule);
}

static void bad_numbers(void **state) {
    static const char *const junk[] = {"abc", "1e-3x",    "0x10", "nan", "NaN",  "1,5",
                                       "1 2", "infinity", "Inf",  "--1", "true", "1e"};
    struct icl_params params;
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        const double step = row->flags & ICL_P_EVEN ? 2 : 1;

        if (row->type != ICL_PARAM_BOTH && !is_number(row)) continue;
        for (size_t j = 0; j < sizeof junk / sizeof *junk; j++) refuses(row, junk[j], "not a number");
        refuses(row, "", "no value given");
        refuses(row, "1e999", "must be in ");
        refuses(row, "-inf", "must be in ");
        refuses(row, "-1e300", "must be in ");
        refuses(row, "1e300", "must be in ");
        if (!(row->flags & ICL_P_INF)) refuses(row, "inf", "must be in ");
        if (!(row->flags & ICL_P_AUTO)) refuses(row, "auto", "not a number");
        if (!is_number(row)) continue;
        if (row->flags & ICL_P_INTEGER) {
            refuses_number(row, row->lo - step, "must be in ");
            refuses_number(row, row->hi + step, "must be in ");
            refuses_number(row, row->lo + 0.5, "must be a whole number");
        } else {
            refuses_number(row, nextafter(row->lo, -INFINITY), "must be in ");
            refuses_number(row, nextafter(row->hi, INFINITY), "must be in ");
        }
        if (row->flags & ICL_P_EVEN) refuses_number(row, row->lo + 1, "must be even");
        if (row->flags & ICL_P_ABOVE) refuses_number(row, row->lo, "must be in (");
        if (row->flags & ICL_P_BELOW) refuses_number(row, row->hi, ")");
        check_fails(icl_params_put(&params, row, NAN, &err), ICL_EUSAGE, &err, "must be in ");
    }
}

static void good_ends(void **state) {
    struct icl_params params;
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char text[ICL_TEXT_SIZE], number[ICL_NUMBER_SIZE];

        if (!is_number(row)) continue;
        for (int high = 0; high < 2; high++) {
            const bool open = (row->flags & (high ? ICL_P_BELOW : ICL_P_ABOVE)) != 0;
            const double end = high ? row->hi : row->lo;
            const double x = open ? nextafter(end, high ? -INFINITY : INFINITY) : end;

            snprintf(text, sizeof text, "%s.%s=%s", row->section, row->key, icl_table_number(x, number));
            check_ok(apply(text, &params, &err), &err);
            assert_true(icl_params_get(&params, row) == x);
        }
        snprintf(text, sizeof text, "%s.%s = %s", row->section, row->key, row->flags & ICL_P_INF ? "inf" : "auto");
        if (!(row->flags & (ICL_P_INF | ICL_P_AUTO))) continue;
        check_ok(apply(text, &params, &err), &err);
        assert_false(isfinite(icl_params_get(&params, row)));
    }
    check_ok(apply("task.K=1e5", &params, &err), &err);
    assert_true(params.task.K == 1e5);
    check_ok(apply("task.N = 1e2", &params, &err), &err);
    assert_int_equal(params.task.N, 100);
}

static void bad_words(void **state) {
    char longest[ICL_TEXT_SIZE + 1], text[2 * ICL_TEXT_SIZE];
    struct icl_params params;
    struct icl_err err;

    (void)state;
    memset(longest, 'a', ICL_TEXT_SIZE);
    longest[ICL_TEXT_SIZE] = '\0';
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char rule[ICL_TEXT_SIZE] = "must be one of ";

        if (row->type == ICL_PARAM_CHOICE) {
            strncat(rule, row->names, strcspn(row->names, "|"));
            refuses(row, "fair", rule);
            snprintf(text, sizeof text, "%.*s|", (int)strcspn(row->names, "|"), row->names);
            refuses(row, text, rule); /* a piece of "a|b|c" that is no choice */
            refuses(row, "1", rule);
            refuses(row, "", "no value given");
        } else if (row->type == ICL_PARAM_TEXT) {
            refuses(row, "", "no value given");
            snprintf(text, sizeof text, "%s.%s=%s", row->section, row->key, longest);
            check_fails(apply(text, &params, &err), ICL_EUSAGE, &err, "too long: at most 511 bytes");
            snprintf(text, sizeof text, "%s.%s=%s", row->section, row->key, longest + 1);
            check_ok(apply(text, &params, &err), &err);
            snprintf(text, sizeof text, "%s.%s=a\nb", row->section, row->key);
            check_fails(apply(text, &params, &err), ICL_EUSAGE, &err, "a\\x0ab: must not hold control characters");
        }
    }
}

static void bad_options(void **state) {
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"task.N=abc", "-s task.N=abc: not a number"},
        {"task.N", "-s task.N: expected section.key=value"},
        {"N=5", "-s N=5: expected section.key=value; there is task.N"},
        {"M=5", "-s M=5: expected section.key=value"},
        {"=5", "-s =5: expected section.key=value"},
        {"", "-s : expected section.key=value"},
        {".=5", "-s .=5: no such section"},
        {"task.=5", "-s task.=5: no such parameter"},
        {"tsk.N=5", "-s tsk.N=5: no such section; did you mean task?"},
        {"task.N.K=5", "-s task.N.K=5: no such parameter"},
        {"train.LR=5", "-s train.LR=5: no such parameter; did you mean train.lr?"},
        {"task.N=", "-s task.N=: no value given"},
        {"task.N=5=5", "-s task.N=5=5: not a number"},
        {"task.N=5 # c", "-s task.N=5 # c: not a number"},
        {"task.N=\n5", "-s task.N=\\x0a5: not a number"},
        {"task.K=101", "-s task.K=101: must be even"},
    };
    static const char *const twice[] = {"task.N=5", "task.K=4", "task.N=5"};
    static const char *const with[] = {"train.lambda_w=1", "train.lambda=1"};
    static const char *const both[] = {"train.lambda_w=1", "train.lambda_beta=2"};
    struct icl_params params;
    struct icl_err err;
    char text[3000];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fails(apply(bad[i].text, &params, &err), ICL_EUSAGE, &err, bad[i].message);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    check_fails(apply(text, &params, &err), ICL_EUSAGE, &err, "...: too long");
    icl_params_default(&params);
    check_fails(icl_params_apply(&params, twice, 3, &err), ICL_EUSAGE, &err, "-s task.N=5: given twice");
    check_fails(icl_params_apply(&params, with, 2, &err), ICL_EUSAGE, &err,
                "-s train.lambda=1: given with train.lambda_w");
    check_ok(icl_params_apply(&params, both, 2, &err), &err);
    check_ok(icl_params_apply(&params, NULL, 0, &err), &err);
    assert_true(params.train.lambda_w == 1 && params.train.lambda_beta == 2);
}

/* A later source overrides an earlier one, lambda over lambda_w included. */
static void sources_in_order(void **state) {
    static const char *const options[] = {"train.lambda=3", "task.N=7"};
    struct icl_params params;
    struct icl_err err;

    (void)state;
    folder_write(folder_path("a.ini"), "[train]\nlambda_w = 1\nlambda_beta = 2\nlr = 0.5\n[task]\nN = 5\n");
    icl_params_default(&params);
    check_ok(icl_params_load(&params, folder_path("a.ini"), &err), &err);
    assert_true(params.train.lambda_w == 1 && params.train.lambda_beta == 2 && params.task.N == 5);
    check_ok(icl_params_apply(&params, options, 2, &err), &err);
    assert_true(params.train.lambda_w == 3 && params.train.lambda_beta == 3 && params.task.N == 7);
    assert_true(params.train.lr == 0.5 && params.task.K == 4000);
    assert_true(icl_params_get(&params, icl_params_find("train.lambda")) == 3);
    params.train.lambda_w = 4;
    assert_true(isnan(icl_params_get(&params, icl_params_find("train.lambda"))));
}

/* ---- rules that join several keys ---- */

static void joint_rules(void **state) {
    static const struct {
        const char *text, *message; /* NULL: kept */
    } rules[] = {
        {"[task]\nN = 101\n", NULL},
        {"[task]\nN = 101\nlabels = balanced\n", "[task] N = 101: must be even where task.labels = balanced"},
        {"[task]\nN = 102\nlabels = balanced\ncopies = 51\n", NULL},
        {"[task]\nN = 102\nlabels = balanced\ncopies = 52\n", "[task] copies = 52: must be at most 51 = task.N / 2"},
        {"[task]\nN = 102\ncopies = 102\n", NULL},
        {"[task]\nN = 102\ncopies = 103\n", "[task] copies = 103: must be at most 102 = task.N"},
        {"[observe]\nicl_threshold = 0.9\n",
         "[observe] loss_threshold = 0.9: must be below observe.icl_threshold = 0.9"},
        {"[observe]\nloss_threshold = 0.96\n", "must be below observe.icl_threshold = 0.95"},
        {"[observe]\nloss_threshold = 0.94\n", NULL},
    };
    struct icl_params params;
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        check_ok(parse(rules[i].text, &params, &err), &err);
        if (rules[i].message == NULL)
            check_ok(icl_params_check(&params, &err), &err);
        else
            check_fails(icl_params_check(&params, &err), ICL_EUSAGE, &err, rules[i].message);
    }
}

static double put(struct icl_params *params, const char *name, double value) {
    const struct icl_param *row = icl_params_find(name);
    struct icl_err err;

    assert_non_null(row);
    check_ok(icl_params_put(params, row, value, &err), &err);
    return icl_params_get(params, row);
}

static void put_rounds(void **state) {
    struct icl_params params;
    struct icl_err err;

    (void)state;
    icl_params_default(&params);
    assert_true(put(&params, "task.K", 100.9) == 100);
    assert_true(put(&params, "task.K", 101.1) == 102);
    assert_true(put(&params, "task.K", 1.2) == 2);
    assert_true(put(&params, "task.K", INFINITY) == INFINITY);
    assert_true(put(&params, "task.D", 63.4) == 63);
    assert_true(put(&params, "task.N", 100.6) == 101);
    assert_true(put(&params, "init.w", 0.25) == 0.25);
    assert_true(put(&params, "train.lambda", 0.5) == 0.5);
    assert_true(params.train.lambda_w == 0.5 && params.train.lambda_beta == 0.5);
    params.task.labels = ICL_LABELS_BALANCED;
    assert_true(put(&params, "task.N", 100.9) == 100);
    assert_true(put(&params, "task.N", 101.1) == 102);
    check_fails(icl_params_put(&params, icl_params_find("task.K"), 0.9, &err), ICL_EUSAGE, &err,
                "[task] K = 0: must be in [2, 1e+15], or inf");
    check_fails(icl_params_put(&params, icl_params_find("train.lr"), 0, &err), ICL_EUSAGE, &err,
                "[train] lr = 0: must be in (0, 1e+06]");
    check_fails(icl_params_put(&params, icl_params_find("task.labels"), 0, &err), ICL_EUSAGE, &err,
                "[task] labels: not a number");
    assert_true(isnan(icl_params_get(&params, icl_params_find("task.labels"))));
    assert_true(isnan(icl_params_get(&params, icl_params_find("memory.table"))));
}

/* ---- a table reproduces its parameters ---- */

static uint64_t draw(void) {
    static uint64_t bits = 88172645463325252u;

    bits ^= bits << 13;
    bits ^= bits >> 7;
    return bits ^= bits << 17; /* xorshift64 */
}

static double uniform(void) {
    return (double)(draw() >> 11) * 0x1p-53;
}

/* Any value that a row allows: the ends, inf and auto often, the rest linearly or by magnitude. */
static void draw_number(struct icl_params *params, const struct icl_param *row) {
    const uint64_t kind = draw() % 6;
    double x = row->lo + (row->hi - row->lo) * uniform();
    struct icl_err err;

    if (kind == 0) x = row->hi;
    if (kind == 1) x = row->lo;
    if (kind == 2 || kind == 3) x = row->lo + pow(row->hi - row->lo, uniform()) * uniform();
    if (kind == 4 && (row->flags & ICL_P_INF)) x = INFINITY;
    if (row->flags & ICL_P_ABOVE && !(x > row->lo)) x = nextafter(row->lo, INFINITY);
    if (row->flags & ICL_P_BELOW && !(x < row->hi)) x = nextafter(row->hi, -INFINITY);
    if (x != INFINITY && x > row->hi) x = row->hi;
    check_ok(icl_params_put(params, row, x, &err), &err);
    if (kind == 4 && (row->flags & ICL_P_AUTO)) *(double *)((char *)params + row->offset) = NAN;
}

static void draw_word(struct icl_params *params, const struct icl_param *row) {
    char assignment[2 * ICL_TEXT_SIZE], word[ICL_TEXT_SIZE] = "";
    const char *name = row->names;
    struct icl_err err;

    if (row->type == ICL_PARAM_CHOICE) {
        for (uint64_t skip = draw() % 11; skip > 0 && strchr(name, '|') != NULL; skip--) name = strchr(name, '|') + 1;
        strncat(word, name, strcspn(name, "|"));
    } else {
        const size_t length = 1 + draw() % (ICL_TEXT_SIZE - 1);

        for (size_t i = 0; i < length; i++) word[i] = (char)(0x21 + draw() % 0x5e); /* any visible byte, = # ; too */
        if (length > 2) word[length / 2] = ' ';
    }
    snprintf(assignment, sizeof assignment, "%s.%s=%s", row->section, row->key, word);
    check_ok(icl_params_apply(params, &(const char *){assignment}, 1, &err), &err);
}

static void tables_reproduce(void **state) {
    static const struct icl_column column = {"t", "t"};

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct icl_params params, again;
        struct icl_table *table;
        struct icl_err err;

        icl_params_default(&params);
        for (size_t i = 0; i < icl_params_count(); i++) {
            const struct icl_param *row = icl_params_row(i);

            if (!icl_params_stated(row)) continue;
            if (is_number(row)) draw_number(&params, row);
            if (row->type == ICL_PARAM_CHOICE || row->type == ICL_PARAM_TEXT) draw_word(&params, row);
        }
        check_ok(icl_table_alloc(&table, 1, &column, &err), &err);
        check_ok(icl_table_meta(table, &err, "iclkin", "%s", "0.0"), &err);
        check_ok(icl_params_meta(&params, table, &err), &err);
        check_ok(icl_table_write(table, folder_path("head.tsv"), &err), &err);
        icl_table_free(table);
        icl_params_default(&again);
        check_ok(icl_params_load(&again, folder_path("head.tsv"), &err), &err);
        assert_same(&params, &again);
        assert_true(params.task.N == again.task.N && params.task.labels == again.task.labels);
    }
}

/* ---- the nth allocation fails, for every n ---- */

static enum icl_status everything(struct icl_err *err) {
    static const struct icl_column column = {"t", "t"};
    struct icl_params params;
    struct icl_table *table;
    enum icl_status status = icl_table_alloc(&table, 1, &column, err);

    icl_params_default(&params);
    if (status == ICL_OK) status = icl_table_meta(table, err, "iclkin", "%s", "0.0");
    if (status == ICL_OK) status = icl_params_meta(&params, table, err);
    if (status == ICL_OK) status = icl_table_write(table, folder_path("nth.tsv"), err);
    if (status == ICL_OK) status = icl_params_load(&params, folder_path("nth.tsv"), err);
    icl_table_free(table);
    return status;
}

static void every_allocation(void **state) {
    const size_t held = icl_mem_held();
    struct icl_err err = {ICL_OK, ""};
    enum icl_status status;
    size_t n = 0;

    (void)state;
    do {
        icl_mem_fail_at(++n);
        status = everything(&err);
        icl_mem_fail_at(0);
        if (status != ICL_OK) check_fails(status, ICL_ENOMEM, &err, "out of memory");
        assert_int_equal(icl_mem_held(), held);
    } while (status != ICL_OK && n < 10000);
    assert_int_equal(status, ICL_OK);
    assert_true(n > icl_params_count()); /* or nothing was tried */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sound),   cmocka_unit_test(defaults_keep_the_rules),
        cmocka_unit_test(bad_numbers),      cmocka_unit_test(good_ends),
        cmocka_unit_test(bad_words),        cmocka_unit_test(bad_options),
        cmocka_unit_test(sources_in_order), cmocka_unit_test(joint_rules),
        cmocka_unit_test(put_rounds),       cmocka_unit_test(tables_reproduce),
        cmocka_unit_test(every_allocation),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
