/* How times and K* move with every parameter: closed forms, scaling, and K* by its own differences. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/predict.h"
#include "iclkin/sensitivity.h"

static struct icl_sensitivity run(const struct icl_params *params) {
    struct icl_sensitivity s;
    struct icl_err err;
    check_ok(icl_sensitivity_run(params, &s, &err), &err);
    return s;
}

static const struct icl_sensitivity_row *row_of(const struct icl_sensitivity *s, const char *name) {
    for (size_t i = 0; i < s->rows; i++)
        if (strcmp(s->row[i].name, name) == 0) return &s->row[i];
    return NULL;
}

static struct icl_slope slope(const struct icl_sensitivity *s, const char *name, enum icl_sensitivity_of of) {
    const struct icl_sensitivity_row *row = row_of(s, name);
    if (!row) fail_msg("no row %s", name);
    return icl_sensitivity_log(s, row, of);
}

/* A slope, to the error that it states and to `allowed`. */
static void is(const struct icl_sensitivity *s, const char *name, enum icl_sensitivity_of of, double expected,
               double allowed) {
    const struct icl_slope seen = slope(s, name, of);
    check_abs(seen.value, expected, allowed);
    check_abs(seen.value, expected, fmax(seen.error, 1e-12));
}

/* (T7) at constant c1: t = (N/c1) e^-beta0/h(w0); (T8): K* = (I/A)^(1/nu). */
static void asymptotic(void **state) {
    (void)state;
    struct icl_params params =
        fixture_params("theory.level=asymptotic memory.law=constant memory.c1=0.3 task.N=70 init.w=0.6 init.beta=-0.4");
    struct icl_sensitivity s = run(&params);
    is(&s, "init.beta", ICL_SENSITIVITY_T_ICL, -1, 1e-14); /* rounding */
    is(&s, "task.N", ICL_SENSITIVITY_T_ICL, 1, 1e-12);     /* rounding over a step of 1/70; measured 3e-14 */
    is(&s, "memory.c1", ICL_SENSITIVITY_T_ICL, -1, 1e-9);  /* the differences' order, 0.04^6; measured 7e-11 */
    assert_null(row_of(&s, "train.lambda_w"));
    assert_null(row_of(&s, "task.D"));
    assert_true(s.value[ICL_SENSITIVITY_K_STAR] == 0 && isnan(slope(&s, "task.N", ICL_SENSITIVITY_K_STAR).value));

    params =
        fixture_params("theory.level=asymptotic memory.A=0.83 memory.nu=0.67 init.w=-0.4 init.beta=0.3 task.K=9000");
    s = run(&params);
    const double ln_K = log(s.value[ICL_SENSITIVITY_K_STAR]);
    /* the differences' order; measured 2e-13, 4e-13, 2e-10 and 6e-7 */
    is(&s, "init.beta", ICL_SENSITIVITY_K_STAR, -1 / 0.67, 1e-11);
    is(&s, "task.N", ICL_SENSITIVITY_K_STAR, 1 / 0.67, 1e-11);
    is(&s, "memory.A", ICL_SENSITIVITY_K_STAR, -1 / 0.67, 1e-9);
    is(&s, "memory.nu", ICL_SENSITIVITY_K_STAR, -ln_K, 1e-6);
    is(&s, "task.K", ICL_SENSITIVITY_K_STAR, 0, 0);
    is(&s, "memory.p", ICL_SENSITIVITY_K_STAR, 0, 0);
}

/* (T5) without memory and decay: N and c1 only scale time, and with the event far from the blow-up so do they here. */
static void reduced_scales(void **state) {
    (void)state;
    const struct icl_params params =
        fixture_params("theory.level=reduced memory.law=constant memory.c1=0.3 memory.c2=0.4 task.N=70 init.w=0.3");
    const struct icl_sensitivity s = run(&params);
    is(&s, "memory.c1", ICL_SENSITIVITY_T_ICL, -1, 1e-9); /* at fixed c2; measured 4e-11 */
    is(&s, "task.K", ICL_SENSITIVITY_T_ICL, 0, 0);
    assert_true(slope(&s, "memory.c2", ICL_SENSITIVITY_T_ICL).value > 0);
    assert_true(slope(&s, "observe.icl_threshold", ICL_SENSITIVITY_T_ICL).value > 0);
    assert_true(slope(&s, "init.beta", ICL_SENSITIVITY_T_ICL).value < 0);
}

/* The dimensions: c1 dt, lambda t, and T = 2 A K^nu over t are what the mean field knows of time's unit, so that A and
 * K through I_K(inf), and lambda, are tied: with no context's K in it, d ln t/d ln K = nu d ln t/d ln A. */
static void memory_scale(void **state) {
    (void)state;
    static const char *const LEVEL[] = {"theory.level=asymptotic", "theory.level=reduced",
                                        "theory.level=meanfield task.labels=balanced"};
    for (int i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s task.K=7000 memory.nu=0.67 init.w=0.4 init.beta=0.3", LEVEL[i]);
        struct icl_params params = fixture_params(text);
        params.without = ICL_WITHOUT_COPIES;
        const struct icl_sensitivity s = run(&params);
        const struct icl_slope A = slope(&s, "memory.A", ICL_SENSITIVITY_T_ICL),
                               K = slope(&s, "task.K", ICL_SENSITIVITY_T_ICL),
                               nu = slope(&s, "memory.nu", ICL_SENSITIVITY_T_ICL);
        assert_true(A.value < -0.01);
        check_rel(K.value, 0.67 * A.value, 1e-8); /* the differences' order; measured 7e-10 and 3e-6 */
        check_rel(nu.value, 0.67 * log(7000) * A.value, 1e-5);
    }
}

/* K* as it is when p is a little more and a little less. */
static double moved(const struct icl_params *params, const char *name, double by) {
    struct icl_params at = *params;
    struct icl_err err;
    double K = NAN;
    const struct icl_param *param = icl_params_find(name);
    *(double *)((char *)&at + param->offset) += by;
    check_ok(icl_predict_items(&at, at.theory.level, &K, &err), &err);
    return K;
}

static void threshold(void **state) {
    (void)state;
    static const struct {
        const char *assignments;
        double allowed; /* truncation d^2; measured 7e-5. At the graze: what rounding does to K* (1e-6) over d; measured
                           2e-4 */
    } AT[] = {{"theory.level=reduced train.lambda=5e-4", 1e-4},
              {"task.N=60 init.w=0.2", 1e-4},
              {"theory.level=reduced train.lambda=3e-3 train.t_max=8000", 1e-3}};
    static const char *const NAMES[] = {"init.w", "memory.A", "init.beta", "memory.p", "task.D"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        struct icl_params params = fixture_params(AT[i].assignments);
        const struct icl_sensitivity s = run(&params);
        params.solver.K_tol = 1e-8;
        params.solver.rtol = 1e-12;
        for (size_t k = 0; k < (i < 2 ? 5 : 2); k++) {
            const struct icl_sensitivity_row *row = row_of(&s, NAMES[k]);
            const double d = (i < 2 ? 1e-3 : 1e-2) * (row->relative ? row->p : 1);
            const double slow = (moved(&params, NAMES[k], d) - moved(&params, NAMES[k], -d)) / (2 * d);
            check_abs(row->slope[ICL_SENSITIVITY_K_STAR].value, slow, AT[i].allowed * fabs(slow));
        }
    }
}

/* Decay that is 0 is looked at from above; a transient's t_loss moves with everything. */
static void decay(void **state) {
    (void)state;
    struct icl_params params = fixture_params("task.K=6000 init.beta=0.2"), more = params;
    const struct icl_sensitivity none = run(&params);
    const double d = 1e-6;
    more.train.lambda_w = d;
    const double up = fixture_solve(&more, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
    more.train.lambda_w = 2 * d;
    const double far = fixture_solve(&more, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl, t = none.value[0];
    check_rel(row_of(&none, "train.lambda_w")->slope[0].value, (4 * up - far - 3 * t) / (2 * d), 1e-4);
    assert_false(row_of(&none, "train.lambda_w")->relative);

    params = fixture_params(
        "task.K=8000 train.lambda=3e-3 train.t_max=20000 solver.nodes_q=4 solver.nodes_g=6 solver.nodes_n=2");
    const struct icl_sensitivity s = run(&params);
    assert_true(isfinite(s.value[ICL_SENSITIVITY_T_LOSS]));
    for (size_t i = 0; i < s.rows; i++) {
        const struct icl_slope icl = icl_sensitivity_log(&s, &s.row[i], ICL_SENSITIVITY_T_ICL),
                               loss = icl_sensitivity_log(&s, &s.row[i], ICL_SENSITIVITY_T_LOSS);
        assert_true(isfinite(icl.value) && isfinite(loss.value));
        /* At N = 104 it is not acquired: whole steps downwards, from 99 to 92, are left. */
        const double allowed = strcmp(s.row[i].name, "task.N") == 0 ? 2e-2 : 1e-3;
        assert_true(icl.error <= allowed * fmax(fabs(icl.value), 0.1));
        assert_true(loss.error <= allowed * fmax(fabs(loss.value), 0.1));
    }
    assert_true(slope(&s, "train.lambda_w", ICL_SENSITIVITY_T_LOSS).value < 0);
    assert_true(slope(&s, "observe.loss_threshold", ICL_SENSITIVITY_T_ICL).value == 0);
}

/* Few items: N has no room below for its steps. */
static void small_N(void **state) {
    (void)state;
    static const char *const AT[] = {"task.N=3", "task.N=12 task.copies=9",
                                     "task.N=40 task.copies=18 task.labels=balanced init.w=0.1"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        const struct icl_sensitivity s = run(&params);
        const struct icl_slope N = slope(&s, "task.N", ICL_SENSITIVITY_T_ICL);
        struct icl_params more = params;
        more.task.N += 2;
        const double t = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl,
                     next = fixture_solve(&more, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
        assert_true(t > 0 && N.value * (next - t) > 0 && N.error < 0.05 * fabs(N.value));
    }
}

static void never(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.K=500");
    const struct icl_sensitivity s = run(&params);
    assert_true(isinf(s.value[0]) && s.value[ICL_SENSITIVITY_K_STAR] > 500);
    for (size_t i = 0; i < s.rows; i++) {
        assert_true(isnan(s.row[i].slope[0].value) && isnan(s.row[i].slope[1].value));
        assert_true(isfinite(s.row[i].slope[ICL_SENSITIVITY_K_STAR].value)); /* K* is there all the same */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(asymptotic),   cmocka_unit_test(reduced_scales),
                                       cmocka_unit_test(memory_scale), cmocka_unit_test(threshold),
                                       cmocka_unit_test(decay),        cmocka_unit_test(small_N),
                                       cmocka_unit_test(never)};
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
