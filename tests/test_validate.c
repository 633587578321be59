/* Runs held against theory: runs made of theory itself agree, a planted disagreement is found, at every kind of
 * quantity.
 */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fixtures.h"
#include "iclkin/predict.h"
#include "iclkin/validate.h"

/* ---- lists of quantities ---- */

static void lists(void **state) {
    struct icl_quantity_list list;
    struct icl_err err;
    char label[ICL_QUANTITY_LABEL];
    (void)state;
    check_ok(icl_quantity_parse(" t_icl : 0.02, w@645:5e-2 ,beta @ 300, ks:0.1,", &list, &err), &err);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.entry[0].row->name, "t_icl");
    check_rel(list.entry[0].bound, 0.02, 0);
    assert_true(isnan(list.entry[0].t) && isnan(list.entry[2].bound));
    check_rel(list.entry[1].t, 645, 0);
    check_rel(list.entry[1].bound, 0.05, 0);
    assert_string_equal(icl_quantity_label(&list.entry[2], label), "beta@300");
    assert_string_equal(icl_quantity_label(&list.entry[3], label), "ks");
    assert_true(list.entry[3].row->absolute && !list.entry[0].row->absolute);
    check_fails(icl_quantity_parse("", &list, &err), ICL_EUSAGE, &err, "names no quantity");
    check_fails(icl_quantity_parse("t_ilc", &list, &err), ICL_EUSAGE, &err, "t_ilc: no such quantity; there are t_icl");
    check_fails(icl_quantity_parse("w", &list, &err), ICL_EUSAGE, &err, "needs a time");
    check_fails(icl_quantity_parse("ks@4", &list, &err), ICL_EUSAGE, &err, "has no time");
    check_fails(icl_quantity_parse("t_icl:-1", &list, &err), ICL_EUSAGE, &err, "must be a number above 0");
    check_fails(icl_quantity_parse("t_icl:", &list, &err), ICL_EUSAGE, &err, "must be a number above 0");
    check_fails(icl_quantity_parse("t_icl:0x1", &list, &err), ICL_EUSAGE, &err, "must be a number above 0");
}

/* Every row can be asked for, by its own name alone. */
static void every_quantity(void **state) {
    struct icl_quantity_list list;
    struct icl_err err;
    char text[ICL_QUANTITY_LABEL], longer[ICL_QUANTITY_LABEL + 2] = "";
    (void)state;
    for (size_t i = 0; i < icl_quantity_count(); i++) {
        const struct icl_quantity *row = icl_quantity_row(i);
        snprintf(text, sizeof text, "%s%s:0.5", row->name, row->kind == ICL_QUANTITY_STATE ? "@10" : "");
        check_ok(icl_quantity_parse(text, &list, &err), &err);
        assert_ptr_equal(list.entry[0].row, row);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(row->name, icl_quantity_row(j)->name);
    }
    memset(longer, 'x', sizeof longer - 1);
    check_fails(icl_quantity_parse(longer, &list, &err), ICL_EUSAGE, &err, "too long");
}

/* ---- the counterpart ---- */

/* Its times are predict's; its states are the trajectory's, asked for one by one. */
static void counterpart(void **state) {
    static const char *const settings[] = {"task.K=inf train.t_max=400",
                                           "task.K=8000 train.lambda=3e-3 train.t_max=6000",
                                           "task.K=300 init.w=0.3 train.t_max=600"};
    const double t[] = {37.5, 250};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int level = ICL_LEVEL_REDUCED; level < ICL_LEVEL_COUNT; level++) {
            struct icl_params params = fixture_params(settings[i]);
            double times[ICL_COUNTERPART_TIMES], at[2 * ICL_COUNTERPART_STATES];
            struct icl_counterpart *c;
            struct icl_traj_result result;
            enum icl_outcome outcome;
            struct icl_err err;
            const double w = params.init.w, beta = params.init.beta;
            check_ok(icl_counterpart_alloc(&c, &params, (enum icl_level)level, 2, t, &err), &err);
            check_ok(icl_counterpart_run(c, w, beta, times, &outcome, at, &err), &err);
            result = fixture_solve(&params, (enum icl_level)level, ICL_TRAJ_TO_END);
            assert_true(times[ICL_COUNTERPART_T_ICL] == result.t_icl && outcome == result.outcome);
            assert_true(times[ICL_COUNTERPART_T_LOSS] == result.t_loss);
            params.train.t_max = t[0];
            result = fixture_solve(&params, (enum icl_level)level, ICL_TRAJ_TO_END);
            check_abs(at[ICL_COUNTERPART_W], result.y[ICL_W], 0);
            check_abs(at[ICL_COUNTERPART_BETA], result.y[ICL_BETA], 0);
            assert_true(at[ICL_COUNTERPART_C1] > 0 && at[ICL_COUNTERPART_C1] <= 0.5);
            icl_counterpart_free(c);
        }
}

/* ---- ensembles made of theory ---- */

enum { MOST = 400, ROWS = 400 };

/* Simulated runs that are theory's own, at level meanfield, times `factor` and `scatter`. */
struct ensemble {
    struct icl_params params;
    struct icl_quantity_list list;
    struct icl_validate_run run[MOST];
    double state[MOST * ICL_QUANTITY_LIST];
    size_t runs, states;
    struct icl_validate_row row[ROWS];
    size_t rows;
};

static double noise(double factor, double scatter) {
    return factor * (1 + scatter * fixture_normal());
}

static void make(struct ensemble *e, const char *assignments, const char *list) {
    struct icl_err err;
    memset(e, 0, sizeof *e);
    e->params = fixture_params(assignments);
    check_ok(icl_quantity_parse(list, &e->list, &err), &err);
    for (size_t i = 0; i < e->list.count; i++) e->states += e->list.entry[i].row->kind == ICL_QUANTITY_STATE;
}

/* n runs at x of the axis (NULL: none). */
static void add(struct ensemble *e, const char *axis, double x, size_t n, double factor, double scatter) {
    struct icl_params params = e->params;
    struct icl_counterpart *c;
    double t[ICL_QUANTITY_LIST], state[ICL_QUANTITY_LIST * ICL_COUNTERPART_STATES];
    struct icl_err err;
    size_t states = 0;
    int part[ICL_QUANTITY_LIST];
    for (size_t i = 0; i < e->list.count; i++) {
        part[states] = e->list.entry[i].row->part;
        if (e->list.entry[i].row->kind == ICL_QUANTITY_STATE) t[states++] = e->list.entry[i].t;
    }
    if (axis) check_ok(icl_params_put(&params, icl_params_find(axis), x, &err), &err);
    check_ok(icl_counterpart_alloc(&c, &params, ICL_LEVEL_MEANFIELD, states, t, &err), &err);
    for (size_t i = 0; i < n; i++) {
        struct icl_validate_run *run = &e->run[e->runs];
        assert_true(e->runs < MOST);
        run->x = axis ? x : NAN;
        run->seed = i;
        run->w0 = params.init.w + params.init.w_sd * fixture_normal();
        run->beta0 = params.init.beta + params.init.beta_sd * fixture_normal();
        check_ok(icl_counterpart_run(c, run->w0, run->beta0, run->times, &run->outcome, state, &err), &err);
        for (int k = 0; k < ICL_COUNTERPART_TIMES; k++) run->times[k] *= noise(factor, scatter);
        for (size_t k = 0; k < states; k++)
            e->state[e->runs * states + k] =
                state[k * ICL_COUNTERPART_STATES + (size_t)part[k]] * noise(factor, scatter);
        e->runs++;
    }
    icl_counterpart_free(c);
}

static enum icl_status keep(const struct icl_validate_row *row, void *context, struct icl_err *err) {
    struct ensemble *e = context;
    (void)err;
    assert_true(e->rows < ROWS);
    e->row[e->rows++] = *row;
    return ICL_OK;
}

static void compare(struct ensemble *e, const char *axis, struct icl_validate_items *items) {
    const struct icl_validate_ensemble of = {.params = &e->params,
                                             .axis = axis ? icl_params_find(axis) : NULL,
                                             .log = true,
                                             .y = (double)e->params.task.N,
                                             .list = &e->list,
                                             .runs = e->runs,
                                             .run = e->run,
                                             .states = e->states,
                                             .state = e->state};
    struct icl_err err, trouble = {ICL_OK, ""};
    check_ok(icl_validate_rows(&of, keep, e, items, &trouble, &err), &err);
    if (trouble.code != ICL_OK) fail_msg("%s", trouble.text);
}

/* The verdict of the mean field on a quantity, at the first x it has. */
static const struct icl_validate_row *find(const struct ensemble *e, const char *name) {
    for (size_t i = 0; i < e->rows; i++)
        if (e->row[i].level == ICL_LEVEL_MEANFIELD && strcmp(e->row[i].entry->row->name, name) == 0) return &e->row[i];
    fail_msg("no row %s", name);
    return NULL;
}

#define check_verdict(e, name, expected)                                                                               \
    assert_string_equal(icl_stats_name(find((e), (name))->verdict), icl_stats_name(expected))

static const char every[] = "t_icl:0.02, w@150:0.02, c1@150:0.02, loss_icl@150:0.02, ks:0.1, acquired:0.1";
static const char drawn[] = "task.K=inf task.N=60 init.w_sd=0.3 init.beta_sd=0.3 train.t_max=1000";

static void agreement_holds(void **state) {
    static struct ensemble e;
    (void)state;
    fixture_seed(11);
    make(&e, drawn, every);
    add(&e, NULL, 0, 100, 1, 0.02);
    compare(&e, NULL, NULL);
    assert_int_equal(e.rows, 6 * ICL_LEVEL_COUNT);
    for (size_t i = 0; i < e.rows; i++) {
        assert_int_equal(e.row[i].judged, e.row[i].level == ICL_LEVEL_MEANFIELD);
        if (!e.row[i].judged) continue;
        assert_string_equal(icl_stats_name(e.row[i].verdict), "holds");
        assert_int_equal(e.row[i].runs, 100);
        assert_int_equal(e.row[i].censored, 0);
    }
    /* Other levels are shown with the differences that they have: the reduced t_icl lies below. */
    assert_true(e.row[ICL_LEVEL_REDUCED].stats.difference > 0.03);
}

static void a_factor_is_found(void **state) {
    static struct ensemble e;
    (void)state;
    fixture_seed(12);
    make(&e, drawn, every);
    add(&e, NULL, 0, 100, 1.1, 0.02);
    compare(&e, NULL, NULL);
    check_verdict(&e, "t_icl", ICL_STATS_DIFFERS);
    check_verdict(&e, "w", ICL_STATS_DIFFERS);
    check_verdict(&e, "c1", ICL_STATS_DIFFERS);
    check_rel(find(&e, "t_icl")->stats.difference, 0.1, 0.1); /* statistics: 0.02/sqrt(100), 5 sigma */
    assert_true(find(&e, "ks")->stats.difference > 0.05);
}

/* Runs that theory says acquire ICL, and do not. */
static void never_against_once(void **state) {
    static struct ensemble e;
    (void)state;
    fixture_seed(13);
    make(&e, "task.K=inf task.N=60", "t_icl:0.02, acquired:0.2, outcome:0.2");
    add(&e, NULL, 0, 10, 1, 0.01);
    for (size_t i = 0; i < 3; i++) e.run[i].times[ICL_COUNTERPART_T_ICL] = INFINITY;
    compare(&e, NULL, NULL);
    check_verdict(&e, "t_icl", ICL_STATS_HOLDS); /* of those that do */
    assert_int_equal(find(&e, "t_icl")->censored, 3);
    check_rel(find(&e, "acquired")->stats.difference, -0.3, 1e-12);
    for (size_t i = 0; i < 8; i++) {
        e.run[i].times[ICL_COUNTERPART_T_ICL] = INFINITY;
        e.run[i].outcome = ICL_OUTCOME_NONE;
    }
    e.rows = 0;
    compare(&e, NULL, NULL);
    check_verdict(&e, "t_icl", ICL_STATS_DIFFERS);
    check_verdict(&e, "acquired", ICL_STATS_DIFFERS);
    check_verdict(&e, "outcome", ICL_STATS_DIFFERS);
    assert_true(isinf(find(&e, "t_icl")->stats.difference));
}

/* Both never: that is agreement; iwl and none are one fate. */
static void never_holds(void **state) {
    static struct ensemble e;
    (void)state;
    make(&e, "task.K=300 task.N=100 train.t_max=500", "t_icl:0.02, outcome:0.3");
    add(&e, NULL, 0, 6, 1, 0);
    for (size_t i = 0; i < 3; i++) e.run[i].outcome = ICL_OUTCOME_NONE;
    compare(&e, NULL, NULL);
    check_verdict(&e, "t_icl", ICL_STATS_HOLDS);
    check_verdict(&e, "outcome", ICL_STATS_HOLDS);
    assert_int_equal(find(&e, "t_icl")->censored, 6);
    /* What is not known is not counted. */
    for (size_t i = 0; i < 6; i++) e.run[i].times[ICL_COUNTERPART_T_ICL] = NAN;
    e.rows = 0;
    compare(&e, NULL, NULL);
    check_verdict(&e, "t_icl", ICL_STATS_OPEN);
    assert_int_equal(find(&e, "t_icl")->runs, 0);
}

/* ---- along axes ---- */

/* K*, and its line along N: runs acquire ICL where K, times a scatter of 10 %, exceeds `factor` x the mean field's K*.
 */
static void lines_of(double factor, double tilt, const char *power, const char *height) {
    static struct ensemble e;
    struct icl_validate_items items[3];
    struct icl_err err;
    const double N[3] = {50, 100, 200};
    e.rows = 0;
    for (int k = 0; k < 3; k++) {
        char text[64];
        double K_star;
        snprintf(text, sizeof text, "task.N=%g train.t_max=4000", N[k]);
        make(&e, text, "K_star:0.1, K_star_power:0.1, K_star_height:0.1");
        check_ok(icl_predict_items(&e.params, ICL_LEVEL_MEANFIELD, &K_star, &err), &err);
        for (int i = 0; i < 7 * 20; i++) {
            struct icl_validate_run *run = &e.run[e.runs++];
            run->x = K_star * exp(0.15 * (i / 20 - 3));
            const bool acquires = run->x * exp(0.1 * fixture_normal()) > factor * K_star * pow(N[k] / 100, tilt);
            run->times[ICL_COUNTERPART_T_ICL] = acquires ? 100 : INFINITY;
        }
        compare(&e, "task.K", &items[k]);
        check_rel(items[k].y, N[k], 0);
        if (factor == 1 && tilt == 0) check_verdict(&e, "K_star", ICL_STATS_HOLDS);
    }
    e.rows = 0;
    check_ok(icl_validate_lines(&e.params, &e.list, 3, items, keep, &e, &err), &err);
    assert_int_equal(e.rows, 2 * ICL_LEVEL_COUNT);
    assert_string_equal(icl_stats_name(find(&e, "K_star_power")->verdict), power);
    assert_string_equal(icl_stats_name(find(&e, "K_star_height")->verdict), height);
}

static void thresholds(void **state) {
    (void)state;
    fixture_seed(14);
    lines_of(1, 0, "holds", "holds");
    lines_of(1.25, 0, "holds", "differs");
    lines_of(1, 0.3, "differs", "holds");
}

/* ln t_icl along ln N. */
static void powers(void **state) {
    static struct ensemble e;
    (void)state;
    fixture_seed(15);
    make(&e, "task.K=inf train.t_max=2000", "t_icl_power:0.03");
    for (double N = 50; N <= 400; N *= 2) add(&e, "task.N", N, 8, 1, 0.01);
    compare(&e, "task.N", NULL);
    check_verdict(&e, "t_icl_power", ICL_STATS_HOLDS);
    check_rel(find(&e, "t_icl_power")->stats.theory, 0.97, 0.02); /* somewhat below (T7)'s 1 */
    e.rows = e.runs = 0;
    for (double N = 50; N <= 400; N *= 2) add(&e, "task.N", N, 8, pow(N / 50, 0.1), 0.01);
    compare(&e, "task.N", NULL);
    check_verdict(&e, "t_icl_power", ICL_STATS_DIFFERS);
}

/* ---- failure ---- */

/* A level that cannot be computed is NaN and open, and the reason is told; the other levels stand. */
static void trouble_is_told(void **state) {
    static struct ensemble e;
    const struct icl_validate_ensemble of = {
        .params = &e.params, .y = NAN, .list = &e.list, .runs = 0, .run = e.run, .state = e.state};
    struct icl_validate_ensemble some = of;
    struct icl_err err, trouble = {ICL_OK, ""};
    (void)state;
    make(&e, "task.K=inf task.N=60", "t_icl:0.02");
    add(&e, NULL, 0, 3, 1, 0.01);
    some.runs = e.runs;
    e.params.solver.max_steps = 10;
    check_ok(icl_validate_rows(&some, keep, &e, NULL, &trouble, &err), &err);
    assert_int_equal(trouble.code, ICL_ENUMERIC);
    check_verdict(&e, "t_icl", ICL_STATS_OPEN);
    assert_true(isnan(find(&e, "t_icl")->stats.theory));
}

static void every_allocation(void **state) {
    static struct ensemble e;
    struct icl_err err;
    enum icl_status status;
    size_t n = 0;
    (void)state;
    fixture_seed(16);
    make(&e, "task.K=inf task.N=30", "t_icl:0.02, w@20, ks, acquired, t_icl_power");
    for (double N = 30; N < 70; N += 30) add(&e, "task.N", N, 2, 1, 0.01);
    const struct icl_validate_ensemble of = {.params = &e.params,
                                             .axis = icl_params_find("task.N"),
                                             .y = NAN,
                                             .list = &e.list,
                                             .runs = e.runs,
                                             .run = e.run,
                                             .states = e.states,
                                             .state = e.state};
    const size_t held = icl_mem_held();
    do {
        struct icl_err trouble = {ICL_OK, ""};
        e.rows = 0;
        icl_mem_fail_at(++n);
        status = icl_validate_rows(&of, keep, &e, NULL, &trouble, &err);
        icl_mem_fail_at(0);
        if (status != ICL_OK) check_fails(status, ICL_ENOMEM, &err, "out of memory");
        assert_int_equal(icl_mem_held(), held);
    } while (status != ICL_OK && n < 10000);
    assert_int_equal(status, ICL_OK);
    assert_true(n > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),           cmocka_unit_test(every_quantity),    cmocka_unit_test(counterpart),
        cmocka_unit_test(agreement_holds), cmocka_unit_test(a_factor_is_found), cmocka_unit_test(never_against_once),
        cmocka_unit_test(never_holds),     cmocka_unit_test(thresholds),        cmocka_unit_test(powers),
        cmocka_unit_test(trouble_is_told), cmocka_unit_test(every_allocation),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
