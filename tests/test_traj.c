/* Trajectories: two roads to every time, the rows on the way, and what ends a run. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/ode.h"

/* ---- rows ---- */

enum { ROWS = 4096 };
struct rows {
    size_t n, fail_at;
    double t[ROWS], y[ROWS][ICL_DIM];
};

static enum icl_status keep(double t, const double *y, void *context, struct icl_err *err) {
    struct rows *rows = context;
    if (rows->fail_at > 0 && rows->n == rows->fail_at) return ICL_ERR(err, ICL_EIO, "the sink is full");
    assert_true(rows->n < ROWS);
    rows->t[rows->n] = t;
    memcpy(rows->y[rows->n++], y, sizeof rows->y[0]);
    return ICL_OK;
}

static struct icl_traj *traj_of(const struct icl_params *params, enum icl_level level) {
    struct icl_traj *traj = NULL;
    struct icl_err err;
    check_ok(icl_traj_alloc(&traj, params, level, params->task.K, &err), &err);
    return traj;
}

static struct icl_traj_result run(const struct icl_params *params, enum icl_level level, enum icl_traj_stop stop,
                                  struct rows *rows) {
    struct icl_traj *traj = traj_of(params, level);
    struct icl_traj_result result;
    struct icl_err err;
    rows->n = rows->fail_at = 0;
    check_ok(icl_traj_run(traj, params->init.w, params->init.beta, stop, keep, rows, &result, &err), &err);
    icl_traj_free(traj);
    return result;
}

static bool has_row(const struct rows *rows, double t) {
    for (size_t i = 0; i < rows->n; i++)
        if (rows->t[i] == t) return true;
    return false;
}

static const char *const TRANSIENT = "task.K=8000 train.lambda=3e-3 train.t_max=20000 solver.rtol=1e-10";

static void transient(void **state) {
    (void)state;
    static struct rows rows;
    const struct icl_params params = fixture_params(TRANSIENT);
    const struct icl_traj_result result = run(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &rows);

    assert_int_equal(result.outcome, ICL_OUTCOME_TRANSIENT);
    assert_true(0 < result.t_icl && result.t_icl < result.t_iwl && result.t_iwl < result.t_loss &&
                result.t_loss < 20000);
    assert_true(has_row(&rows, result.t_icl) && has_row(&rows, result.t_iwl) && has_row(&rows, result.t_loss));
    assert_int_equal(rows.n, 201 + 3);
    assert_true(rows.t[0] == 0 && rows.t[rows.n - 1] == 20000 && result.t == 20000);
    /* Early in the race t_icl stops the run, and is the same. */
    const struct icl_traj_result early = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL);
    assert_true(early.t_icl == result.t_icl && early.steps < result.steps && isinf(early.t_loss));
}

/* The rows between the steps are the solution. */
static void rows_are_the_solution(void **state) {
    (void)state;
    static struct rows rows;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        struct icl_params params = fixture_params("train.t_max=250 observe.samples=12 init.w=-0.385 task.N=60");
        const struct icl_traj_result result = run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
        assert_true(rows.n >= 12 || !isinf(result.t_blowup));
        for (size_t i = 1; i < rows.n && isfinite(rows.y[i][ICL_BETA]); i++) {
            if (level == ICL_LEVEL_REDUCED)
                check_rel(rows.y[i][ICL_S], rows.t[i], 1e-14); /* the clock is t: located to ulps */
            if (level == ICL_LEVEL_REDUCED) continue;
            double y[ICL_DIM] = {-0.385, 0, 0};
            params.solver.rtol = 1e-12;
            fixture_integrate(&params, ICL_LEVEL_MEANFIELD, rows.t[i], y);
            /* Truncation at rtol 1e-9, steep where ICL comes; measured 4e-11. */
            for (int k = 0; k < ICL_DIM; k++) check_rel(rows.y[i][k], y[k], 1e-9);
        }
    }
}

static void spacing(void **state) {
    (void)state;
    static struct rows rows;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        struct icl_params params =
            fixture_params("memory.law=none train.lambda=0.02 train.t_max=777 observe.samples=50 observe.spacing=log");
        run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
        assert_int_equal(rows.n, 50);
        check_rel(rows.t[1], 0.1, 1e-15);
        for (size_t i = 1; i < 49; i++) check_rel(rows.t[i + 1] / rows.t[i], pow(7770, 1. / 48), 1e-13);
        assert_true(rows.t[49] == 777);
        params.observe.spacing = ICL_SPACING_LINEAR;
        for (size_t samples = 2; samples < 60; samples = 3 * samples + 1) {
            params.observe.samples = samples;
            run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
            assert_int_equal(rows.n, samples);
            for (size_t i = 0; i < samples; i++) check_abs(rows.t[i], 777 * (double)i / ((double)samples - 1), 1e-12);
        }
    }
}

/* Whatever the parameters: rows in order from 0 to the end, every event among them, the outcome by its definition. */
static void any_parameters(void **state) {
    (void)state;
    static struct rows rows;
    size_t outcomes[ICL_OUTCOME_COUNT] = {0};

    fixture_seed(11);
    for (int i = 0; i < 300; i++) {
        struct icl_params params = fixture_params("observe.samples=23 solver.rtol=1e-7");
        const enum icl_level level = (enum icl_level)(i % 3);
        params.task.K = 2 * round(pow(10, fixture_uniform(0.5, 5)) / 2);
        params.task.N = 2 * (size_t)fixture_uniform(5, 80);
        params.task.D = fixture_uniform(0, 1) < 0.3 ? INFINITY : floor(fixture_uniform(3, 90));
        params.task.labels = fixture_uniform(0, 1) < 0.3 ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM;
        params.init.w = fixture_uniform(-2, 3);
        params.init.beta = fixture_uniform(-2, 7);
        params.train.t_max = pow(10, fixture_uniform(0, 4));
        if (fixture_uniform(0, 1) < 0.5) params.train.lambda_w = pow(10, fixture_uniform(-4, 0));
        if (fixture_uniform(0, 1) < 0.5) params.train.lambda_beta = pow(10, fixture_uniform(-4, 0));
        if (fixture_uniform(0, 1) < 0.3) params.memory.law = ICL_LAW_CONSTANT;
        params.memory.c1 = fixture_uniform(0.01, 0.99);
        if (params.task.labels == ICL_LABELS_BALANCED)
            params.solver.method = ICL_STEPPER_BSIMP; /* (T6): stiff far out */
        const struct icl_traj_result r =
            run(&params, level, level == ICL_LEVEL_REDUCED ? ICL_TRAJ_TO_BLOWUP : ICL_TRAJ_TO_END, &rows);
        const double t_max = params.train.t_max, time[3] = {r.t_icl, r.t_iwl, r.t_loss};
        assert_true(rows.n >= 1 && rows.t[0] == 0);
        for (size_t k = 1; k < rows.n; k++) assert_true(rows.t[k] > rows.t[k - 1]);
        const double end = level != ICL_LEVEL_MEANFIELD && r.t_blowup < t_max ? r.t_blowup : t_max;
        check_rel(rows.t[rows.n - 1], end, 1e-13);
        check_rel(r.t, end, 1e-13);
        for (int k = 0; k < 3; k++)
            if (time[k] <= t_max && !(level == ICL_LEVEL_ASYMPTOTIC && k == 0)) assert_true(has_row(&rows, time[k]));
        if (!(isinf(r.t_loss) || r.t_loss > r.t_icl))
            fail_msg("case %d, level %d: t_icl = %.17g, t_loss = %.17g", i, level, r.t_icl, r.t_loss);
        const bool icl = r.t_icl <= t_max, iwl = r.t_iwl <= t_max, lost = r.t_loss <= t_max;
        assert_int_equal(r.outcome, lost  ? ICL_OUTCOME_TRANSIENT
                                    : icl ? ICL_OUTCOME_ICL
                                    : iwl ? ICL_OUTCOME_IWL
                                          : ICL_OUTCOME_NONE);
        outcomes[r.outcome]++;
    }
    for (int k = 0; k < ICL_OUTCOME_COUNT; k++) assert_true(outcomes[k] > 3); /* a test of all four */
}

/* ---- two roads ---- */

/* The time by bisection on integrations that stop short, with the observable itself. */
static double bisect(const struct icl_params *params, double lo, double hi, double threshold, bool rising) {
    struct icl_gauge *gauge = NULL;
    struct icl_err err;
    check_ok(icl_gauge_alloc(&gauge, params, ICL_LEVEL_MEANFIELD, params->task.K, false, &err), &err);
    while (hi - lo > 1e-11 * hi) {
        double y[ICL_DIM] = {params->init.w, params->init.beta, 0};
        const double t = (lo + hi) / 2;
        fixture_integrate(params, ICL_LEVEL_MEANFIELD, t, y);
        *((icl_gauge_acc_icl(gauge, y) >= threshold) == rising ? &hi : &lo) = t;
    }
    icl_gauge_free(gauge);
    return hi;
}

static void events_by_bisection(void **state) {
    (void)state;
    static const char *const AT[] = {"memory.law=none", "task.D=inf task.K=4000",
                                     "task.labels=balanced init.w=0.1 init.beta=0.1", "task.N=50 task.K=1500"};
    for (int i = 0; i < 4; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        const double t = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
        /* Truncation at rtol 1e-9 of two sequences of steps; measured 6e-11. */
        check_rel(t, bisect(&params, 0.5 * t, fmin(1.5 * t, 1000), 0.95, true), 1e-9);
    }
    const struct icl_params params = fixture_params(TRANSIENT);
    const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END);
    check_rel(result.t_loss, bisect(&params, 1.01 * result.t_icl, 20000, 0.9, false), 1e-9);
}

static void all_steppers_agree(void **state) {
    (void)state;
    static const struct {
        double rtol,
            allowed; /* accumulated truncation is each stepper's own multiple of rtol; measured a third or less */
    } AT[ICL_STEPPER_COUNT] = {{1e-7, 3e-7}, {1e-9, 3e-8}, {1e-9, 1e-8},  {1e-9, 5e-9}, {1e-10, 1e-11}, {1e-5, 2e-3},
                               {1e-7, 1e-5}, {1e-9, 5e-9}, {1e-9, 2e-12}, {1e-9, 1e-7}, {1e-8, 1e-6}};
    struct icl_params params =
        fixture_params("task.K=2500 task.D=inf task.N=50 solver.rtol=1e-12 solver.max_steps=1000000");
    const double t_icl = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
    struct icl_params reduced = fixture_params("task.K=2500 task.N=50 theory.level=reduced solver.rtol=1e-12");
    const double t_blowup = fixture_solve(&reduced, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup;

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        params.solver.method = reduced.solver.method = (enum icl_stepper)m;
        params.solver.rtol = reduced.solver.rtol = AT[m].rtol;
        const double a = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl,
                     b = fixture_solve(&reduced, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup;
        check_rel(a, t_icl, AT[m].allowed);
        check_rel(b, t_blowup, AT[m].allowed);
    }
}

static void tolerance_converges(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=none solver.rtol=1e-14 solver.atol=1e-17");
    const double full = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
    const double part = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup;

    for (double rtol = 1e-3; rtol > 1e-13; rtol /= 10) {
        params.solver.rtol = rtol;
        params.solver.atol = rtol * 1e-3;
        /* Truncation: the steps of this stepper err far less than allowed; measured up to 0.004 and 0.08 rtol. */
        check_rel(fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl, full, 0.03 * rtol + 1e-13);
        check_rel(fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup, part, 0.3 * rtol + 1e-13);
    }
}

/* D infinite: acquisition is a step of the staircase, at e^beta = 17 (N = 100) whatever the dynamics. */
static void staircase(void **state) {
    (void)state;
    static struct rows rows;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        const struct icl_params params = fixture_params("task.D=inf");
        const struct icl_traj_result result = run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
        size_t i = 0;
        while (rows.t[i] != result.t_icl) i++;
        check_rel(rows.y[i][ICL_BETA], log(17),
                  1e-14); /* root-finding in t: ulps of t, times dbeta/dt; measured 1e-15 */
    }
}

/* ---- the levels ---- */

/* Level asymptotic integrated to its blow-up against (T7), without and with memorization. */
static void asymptotic_ends_at_T7(void **state) {
    (void)state;
    static struct rows rows;
    static const char *const AT[] = {
        "memory.law=none", "memory.law=constant memory.c1=0.2 memory.c2=0.9 init.w=-0.7 init.beta=0.3",
        "task.K=2000 train.t_max=1e5",
        "task.K=1600 memory.p=1.3 init.w=0.4 init.beta=-0.2 train.lambda=1 train.t_max=1e5"};
    for (int i = 0; i < 4; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        const struct icl_traj_result result = run(&params, ICL_LEVEL_ASYMPTOTIC, ICL_TRAJ_TO_END, &rows);
        struct icl_memlaw law;
        struct icl_err err;
        check_ok(icl_memlaw_init(&params, params.task.K, &law, &err), &err);
        const double T7 = icl_memlaw_clock(&law, icl_closed_budget(100, params.init.w, params.init.beta));
        assert_true(result.t_icl == T7 && result.t_blowup == T7);
        assert_true(rows.t[rows.n - 1] == T7 && result.t == T7);
        assert_true(isinf(rows.y[rows.n - 1][ICL_BETA]) && isinf(rows.y[rows.n - 1][ICL_W]));
        assert_int_equal(result.outcome, ICL_OUTCOME_ICL);
    }
}

static void t_max_cuts_times_but_not_the_blowup(void **state) {
    (void)state;
    static struct rows rows;
    const struct icl_params params = fixture_params("memory.law=none train.t_max=100");
    struct icl_traj_result result = run(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP, &rows);
    assert_true(isinf(result.t_icl) && result.outcome == ICL_OUTCOME_NONE);
    check_rel(result.t_blowup, 273.6443398, 1e-9); /* golden.tsv; truncation, measured 2e-10 */
    assert_true(rows.t[rows.n - 1] == 100 && result.t == 100 && isfinite(result.y[ICL_BETA]));
    check_rel(result.y[ICL_S], 100, 1e-12);
    result = run(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_END, &rows);
    assert_true(isinf(result.t_blowup) && !result.blowup_decided && rows.t[rows.n - 1] == 100);
    result = run(&params, ICL_LEVEL_ASYMPTOTIC, ICL_TRAJ_TO_END, &rows);
    check_rel(result.t_icl, 250.6628275, 1e-9); /* golden.tsv: t_max does not cut (T7), but the rows */
    assert_true(rows.t[rows.n - 1] == 100 && result.outcome == ICL_OUTCOME_NONE);
    result = run(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &rows);
    assert_true(isinf(result.t_icl) && result.t == 100);
}

/* w passing 0 while attention is right already: acc_icl jumps from 0 to 1 over both thresholds, and is not lost. */
static void one_jump_is_two_thresholds(void **state) {
    (void)state;
    static struct rows rows;
    for (int i = 0; i < 60; i++) {
        struct icl_params params = fixture_params("init.beta=5 train.t_max=400 observe.samples=2");
        params.init.w = -0.1 - 0.0137 * i;
        params.theory.level = i % 2 ? ICL_LEVEL_REDUCED : ICL_LEVEL_MEANFIELD;
        if (i % 3 == 0) params.task.labels = ICL_LABELS_BALANCED;
        const struct icl_traj_result result = run(&params, params.theory.level, ICL_TRAJ_TO_END, &rows);
        assert_true(result.t_icl > 0 && result.t_icl < 100 && isinf(result.t_loss));
        size_t k = 0;
        while (rows.t[k] != result.t_icl) k++;
        check_abs(rows.y[k][ICL_W], 0, 1e-13); /* a few ulp of t, times dw/dt */
    }
}

static void already_at_the_start(void **state) {
    (void)state;
    static struct rows rows;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        struct icl_params params = fixture_params("init.w=1 init.beta=5 memory.law=constant memory.c1=0.01 task.K=1e4");
        struct icl_traj_result result = run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
        assert_true(result.t_icl == 0 && result.t_iwl == 0 && isinf(result.t_loss));
        assert_int_equal(result.outcome, ICL_OUTCOME_ICL);
        result = run(&params, (enum icl_level)level, ICL_TRAJ_TO_ICL, &rows);
        assert_true(result.t_icl == 0 && result.steps == 0);
        /* There at the start, and lost: transient, with t_icl = 0. */
        params = fixture_params("init.w=1 init.beta=4 memory.law=constant memory.c1=0.01 train.lambda=0.1");
        result = run(&params, (enum icl_level)level, ICL_TRAJ_TO_END, &rows);
        assert_true(result.t_icl == 0 && result.t_loss > 0 && result.t_loss < 20);
        assert_int_equal(result.outcome, ICL_OUTCOME_TRANSIENT);
    }
}

/* s = t at the reduced levels: t_iwl is where the law says. With ICL on the mean field's clock is slow (M3). */
static void memorization_times(void **state) {
    (void)state;
    static struct rows rows;
    const struct icl_params params = fixture_params("task.K=500 task.N=200 train.t_max=3000");
    const double law = 2 * 0.6 * pow(500, 0.75) * (sqrt(10) - 1);
    check_rel(run(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_END, &rows).t_iwl, law, 1e-14); /* located to ulps */
    const struct icl_traj_result full = run(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &rows);
    assert_int_equal(full.outcome, ICL_OUTCOME_IWL);
    check_rel(full.t_iwl, law, 0.05); /* w a is small, not zero */
    const struct icl_params with = fixture_params("task.K=20000 task.N=50 train.t_max=3000");
    const struct icl_traj_result slow = run(&with, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &rows);
    assert_int_equal(slow.outcome, ICL_OUTCOME_ICL);
    assert_true(slow.y[ICL_S] < 0.1 * slow.t);
}

/* ---- objects and failures ---- */

static void run_again(void **state) {
    (void)state;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        const struct icl_params params = fixture_params("task.K=3000");
        struct icl_traj *used = traj_of(&params, (enum icl_level)level),
                        *fresh = traj_of(&params, (enum icl_level)level);
        struct icl_traj_result first, again, alone;
        struct icl_err err;
        check_ok(icl_traj_run(used, 0.3, -0.2, ICL_TRAJ_TO_END, NULL, NULL, &first, &err), &err);
        check_ok(icl_traj_run(used, 0, 0.1, ICL_TRAJ_TO_END, NULL, NULL, &again, &err), &err);
        check_ok(icl_traj_run(fresh, 0, 0.1, ICL_TRAJ_TO_END, NULL, NULL, &alone, &err), &err);
        assert_true(again.t_icl == alone.t_icl && again.t == alone.t && again.steps == alone.steps &&
                    again.rhs_calls == alone.rhs_calls);
        for (int k = 0; k < ICL_DIM; k++) assert_true(again.y[k] == alone.y[k]);
        icl_traj_free(used);
        icl_traj_free(fresh);
    }
    icl_traj_free(NULL);
}

static void failures_say_where(void **state) {
    (void)state;
    struct icl_params params = fixture_params("solver.max_steps=10 init.w=0.25");
    static const char *const NAMES[] = {"asymptotic from w = 0.25", "reduced from w = 0.25", "meanfield from w = 0.25"};
    static struct rows rows;
    struct icl_traj_result result;
    struct icl_err err;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        struct icl_traj *traj = traj_of(&params, (enum icl_level)level);
        check_fails(icl_traj_run(traj, 0.25, 0, ICL_TRAJ_TO_END, NULL, NULL, &result, &err), ICL_ENUMERIC, &err,
                    NAMES[level]);
        assert_non_null(strstr(err.text, "max_steps=10"));
        rows.n = 0;
        rows.fail_at = 1;
        check_fails(icl_traj_run(traj, 0.25, 0, ICL_TRAJ_TO_END, keep, &rows, &result, &err), ICL_EIO, &err,
                    "the sink is full");
        icl_traj_free(traj);
    }
    struct icl_traj *traj = traj_of(&params, ICL_LEVEL_MEANFIELD);
    check_fails(icl_traj_run(traj, NAN, 0, ICL_TRAJ_TO_END, NULL, NULL, &result, &err), ICL_ERANGE, &err, "nan");
    icl_traj_free(traj);
    params.memory.law = ICL_LAW_TABLE;
    check_fails(icl_traj_alloc(&traj, &params, ICL_LEVEL_REDUCED, 100, &err), ICL_EUSAGE, &err, "table");
    assert_null(traj);
}

static void outcomes_have_names(void **state) {
    (void)state;
    assert_string_equal(icl_traj_outcome(ICL_OUTCOME_NONE), "none");
    assert_string_equal(icl_traj_outcome(ICL_OUTCOME_IWL), "iwl");
    assert_string_equal(icl_traj_outcome(ICL_OUTCOME_ICL), "icl");
    assert_string_equal(icl_traj_outcome(ICL_OUTCOME_TRANSIENT), "transient");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transient),
        cmocka_unit_test(rows_are_the_solution),
        cmocka_unit_test(spacing),
        cmocka_unit_test(any_parameters),
        cmocka_unit_test(events_by_bisection),
        cmocka_unit_test(all_steppers_agree),
        cmocka_unit_test(tolerance_converges),
        cmocka_unit_test(staircase),
        cmocka_unit_test(asymptotic_ends_at_T7),
        cmocka_unit_test(t_max_cuts_times_but_not_the_blowup),
        cmocka_unit_test(one_jump_is_two_thresholds),
        cmocka_unit_test(already_at_the_start),
        cmocka_unit_test(memorization_times),
        cmocka_unit_test(run_again),
        cmocka_unit_test(failures_say_where),
        cmocka_unit_test(outcomes_have_names),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
