/* The equations: right-hand sides as written in the notes, Jacobians, gradient flow, scaling, the fold, and the proofs
 * that end an integration. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/gauge.h"
#include "iclkin/ode.h"

static struct icl_model *model_of(const struct icl_params *params, enum icl_level level) {
    struct icl_model *model = NULL;
    struct icl_err err;
    check_ok(icl_model_alloc(&model, params, level, params->task.K, &err), &err);
    return model;
}

static const char *const LAWS[] = {"memory.law=none", "memory.law=constant memory.c1=0.37 memory.c2=0.21",
                                   "memory.law=powerlaw task.K=300", "memory.law=powerlaw memory.p=1.7 task.K=900"};
static const char *const TASKS[] = {"task.N=100", "task.N=60 task.labels=balanced", "task.N=20 task.D=inf",
                                    "task.N=20 task.D=inf task.labels=balanced",
                                    "task.N=50 task.items=unit task.copies=2"};
static const char *const DECAYS[] = {"train.lambda=0", "train.lambda_w=0.0113 train.lambda_beta=0.0237",
                                     "train.lambda_beta=0.031"};
enum { LAW_COUNT = 4, TASK_COUNT = 5, DECAY_COUNT = 3 };

/* Calls visit for every level, law, task and decay. */
static void everywhere(void (*visit)(const struct icl_params *params, enum icl_level level)) {
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        for (int law = 0; law < LAW_COUNT; law++)
            for (int task = 0; task < TASK_COUNT; task++)
                for (int decay = 0; decay < DECAY_COUNT; decay++) {
                    char text[300];
                    snprintf(text, sizeof text, "%s %s %s", LAWS[law], TASKS[task], DECAYS[decay]);
                    const struct icl_params params = fixture_params(text);
                    visit(&params, (enum icl_level)level);
                }
}

static const double POINTS[][ICL_DIM] = {{0.385, 0.713, 3.1},  {2.385, 4.117, 120.7}, {-1.713, 0.317, 17.9},
                                         {5.2, -1.385, 0.713}, {0.0137, 1e-3, 41.3},  {-0.9, -2.7, 800.3}};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

/* ---- the right-hand sides ---- */

/* (T5) in time t, from the notes. */
static void expanded(const struct icl_params *params, enum icl_level level, const double *y, double f[2]) {
    struct icl_memlaw law;
    struct icl_memlaw_rates rates;
    struct icl_err err;
    check_ok(icl_memlaw_init(params, params->task.K, &law, &err), &err);
    icl_memlaw_rates(&law, y[ICL_S], &rates);
    const bool reduced = level == ICL_LEVEL_REDUCED;
    const double N = (double)params->task.N, w = y[ICL_W], beta = y[ICL_BETA], E = exp(beta),
                 c2 = reduced ? rates.c2 : 0;
    const double lw = reduced ? params->train.lambda_w : 0, lb = reduced ? params->train.lambda_beta : 0;
    if (params->task.labels == ICL_LABELS_RANDOM) {
        f[0] = rates.c1 / N * (E - c2 * w) - lw * w;
        f[1] = rates.c1 / N * w * E - lb * beta;
        return;
    }
    f[0] = rates.c1 / N * (E - 1 - c2 * w * (E - 1) * (E - 1) / N) - lw * w;
    f[1] = rates.c1 / N * (w * E - c2 * w * w * E * (E - 1) / N) - lb * beta;
}

static void visit_expanded(const struct icl_params *params, enum icl_level level) {
    if (level == ICL_LEVEL_MEANFIELD) return;
    struct icl_model *model = model_of(params, level);
    for (int i = 0; i < POINT_COUNT; i++) {
        double f[2], rate[ICL_DIM];
        const double pace = 1 / (1 + exp(POINTS[i][ICL_BETA]));
        expanded(params, level, POINTS[i], f);
        icl_model_rhs(0, POINTS[i], rate, model);
        check_rel(rate[ICL_S], pace, 1e-15);
        check_rel(icl_model_pace(model, POINTS[i]), pace, 1e-15);
        for (int k = 0; k < 2; k++) check_abs(rate[k], f[k] * pace, 1e-15 * (1 + fabs(f[k] * pace))); /* rounding */
        assert_true(icl_model_time(model, 3, POINTS[i]) == POINTS[i][ICL_S]);
    }
    assert_int_equal(icl_model_level(model), level);
    icl_model_free(model);
}

static void reduced_is_as_written(void **state) {
    (void)state;
    everywhere(visit_expanded);
}

/* (T5) is the start of (T3): for w and e^beta of order 1 they differ by 1/N. */
static void meanfield_becomes_reduced(void **state) {
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        double N[4], gap[4];
        for (int i = 0; i < 4; i++) {
            N[i] = 1e3 * pow(4, i);
            struct icl_params params = fixture_meanfield(N[i], 0, 0, 0, balanced);
            struct icl_model *full = model_of(&params, ICL_LEVEL_MEANFIELD),
                             *part = model_of(&params, ICL_LEVEL_REDUCED);
            const double y[ICL_DIM] = {0.385, 0.713, 0};
            double f[ICL_DIM], g[ICL_DIM];
            icl_model_rhs(0, y, f, full);
            icl_model_rhs(0, y, g, part);
            gap[i] = fabs(f[ICL_BETA] * N[i] - g[ICL_BETA] / icl_model_pace(part, y) * N[i]);
            icl_model_free(full);
            icl_model_free(part);
        }
        check_slope(4, N, gap, -1, 0.02); /* the next order, 1/N of it; measured 4e-3 */
    }
}

static void visit_finite(const struct icl_params *params, enum icl_level level) {
    static const double EDGE[] = {-1e3, -710, -1, 0, 1, 710, 1e3}, S[] = {0, 1e3, 1e15, 1e300};
    struct icl_model *model = model_of(params, level);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 4; k++) {
                const double y[ICL_DIM] = {EDGE[i], EDGE[j], S[k]};
                double f[ICL_DIM], J[ICL_DIM * ICL_DIM], ft[ICL_DIM];
                icl_model_rhs(0, y, f, model);
                icl_model_jac(0, y, J, ft, model);
                for (int m = 0; m < ICL_DIM; m++) assert_true(isfinite(f[m]) && ft[m] == 0);
                for (int m = 0; m < ICL_DIM * ICL_DIM; m++) assert_true(isfinite(J[m]));
            }
    icl_model_free(model);
}

static void finite_everywhere(void **state) {
    (void)state;
    everywhere(visit_finite);
}

/* ---- derivatives ---- */

static void visit_jacobian(const struct icl_params *params, enum icl_level level) {
    struct icl_model *model = model_of(params, level);
    for (int i = 0; i < POINT_COUNT; i++) {
        double J[ICL_DIM * ICL_DIM], ft[ICL_DIM];
        icl_model_jac(0, POINTS[i], J, ft, model);
        for (int column = 0; column < ICL_DIM; column++) {
            /* Six-point differences: truncation d^6, rounding eps/d; measured 5e-14. */
            const double d = column == ICL_S ? 0.3 : 0.01, weight[3] = {3. / 4, -3. / 20, 1. / 60};
            double slope[ICL_DIM] = {0};
            for (int k = -3; k <= 3; k++) {
                double y[ICL_DIM], f[ICL_DIM];
                if (k == 0) continue;
                memcpy(y, POINTS[i], sizeof y);
                y[column] += k * d;
                icl_model_rhs(0, y, f, model);
                for (int row = 0; row < ICL_DIM; row++)
                    slope[row] += (k > 0 ? 1 : -1) * weight[abs(k) - 1] * f[row] / d;
            }
            for (int row = 0; row < ICL_DIM; row++) check_abs(J[row * ICL_DIM + column], slope[row], 2e-12);
        }
        assert_true(ft[0] == 0 && ft[1] == 0 && ft[2] == 0);
    }
    icl_model_free(model);
}

static void visit_jacobian_of_parts(const struct icl_params *params, enum icl_level level) {
    struct icl_params left = *params;
    left.without = ICL_WITHOUT_CLOCK;
    if (level == ICL_LEVEL_MEANFIELD) visit_jacobian(&left, level);
    left.without = ICL_WITHOUT_DAMPING;
    if (level != ICL_LEVEL_ASYMPTOTIC) visit_jacobian(&left, level);
}

static void jacobians(void **state) {
    (void)state;
    everywhere(visit_jacobian);
    everywhere(visit_jacobian_of_parts);
}

static void visit_field(const struct icl_params *params, enum icl_level level) {
    struct icl_model *model = model_of(params, level);
    const double d = 1e-4;
    for (int i = 0; i < POINT_COUNT; i++) {
        const double *y = POINTS[i];
        double f[2], J[4], rate[ICL_DIM], up[2], down[2];
        icl_model_field(model, y[ICL_S], y[ICL_W], y[ICL_BETA], f, J);
        icl_model_rhs(0, y, rate, model);
        for (int k = 0; k < 2; k++) check_rel(f[k] * icl_model_pace(model, y), rate[k], 1e-14);
        for (int column = 0; column < 2; column++) {
            icl_model_field(model, y[ICL_S], y[ICL_W] + (column == 0) * d, y[ICL_BETA] + (column == 1) * d, up, NULL);
            icl_model_field(model, y[ICL_S], y[ICL_W] - (column == 0) * d, y[ICL_BETA] - (column == 1) * d, down, NULL);
            for (int k = 0; k < 2; k++) /* truncation d^2, e^(2 beta) of the balanced level; rounding eps/d */
                check_abs(J[2 * k + column], (up[k] - down[k]) / (2 * d), 1e-7 * (1 + fabs(J[2 * k + column])));
        }
    }
    icl_model_free(model);
}

static void planar_field(void **state) {
    (void)state;
    everywhere(visit_field);
}

/* dw/dt, dbeta/dt = -dL/dw, -dL/dbeta of the loss that the gauge reports. */
static void visit_gradient(const struct icl_params *params, enum icl_level level) {
    if (level != ICL_LEVEL_MEANFIELD || params->train.lambda_beta > 0) return;
    struct icl_model *model = model_of(params, level);
    struct icl_gauge *gauge = NULL;
    struct icl_err err;
    const double d = 1e-4;
    check_ok(icl_gauge_alloc(&gauge, params, level, params->task.K, true, &err), &err);
    for (int i = 0; i < POINT_COUNT; i++) {
        double f[ICL_DIM];
        icl_model_rhs(0, POINTS[i], f, model);
        for (int k = 0; k < 2; k++) {
            double up[ICL_DIM], down[ICL_DIM];
            struct icl_observables high, low;
            memcpy(up, POINTS[i], sizeof up);
            memcpy(down, POINTS[i], sizeof down);
            up[k] += d;
            down[k] -= d;
            icl_gauge_all(gauge, up, &high);
            icl_gauge_all(gauge, down, &low);
            check_abs(f[k], -(high.loss_train - low.loss_train) / (2 * d),
                      1e-9); /* truncation d^2, rounding eps/d; measured 8e-11 */
        }
    }
    icl_gauge_free(gauge);
    icl_model_free(model);
}

static void meanfield_is_gradient_flow(void **state) {
    (void)state;
    everywhere(visit_gradient);
}

/* (T5) is the gradient flow of -a (w e^beta - c2 w^2/2), random labels; balanced -c1 (w A - c2 w^2 A^2/2). */
static double reduced_loss(const struct icl_params *params, double w, double beta) {
    const double N = (double)params->task.N, c1 = params->memory.c1, c2 = params->memory.c2, A = expm1(beta) / N;
    if (params->task.labels == ICL_LABELS_BALANCED) return -c1 * (w * A - c2 * w * w * A * A / 2);
    return -c1 / N * (w * exp(beta) - c2 * w * w / 2);
}

static void reduced_is_gradient_flow(void **state) {
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        struct icl_params params = fixture_reduced(60, 0, 0, 0.37, 0.21);
        params.task.labels = balanced ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM;
        struct icl_model *model = model_of(&params, ICL_LEVEL_REDUCED);
        for (int i = 0; i < POINT_COUNT; i++) {
            const double w = POINTS[i][ICL_W], beta = POINTS[i][ICL_BETA], d = 1e-4;
            double f[2];
            icl_model_field(model, 0, w, beta, f, NULL);
            /* rounding eps/d; truncation d^2, e^(2 beta) of the balanced loss; measured 2e-12 and 2e-9 */
            check_abs(f[0], -(reduced_loss(&params, w + d, beta) - reduced_loss(&params, w - d, beta)) / (2 * d),
                      2e-11);
            check_abs(f[1], -(reduced_loss(&params, w, beta + d) - reduced_loss(&params, w, beta - d)) / (2 * d), 1e-8);
        }
        icl_model_free(model);
    }
}

/* ---- golden values and scaling of the reduced level ---- */

struct level_of_beta {
    double beta;
};

static double beta_event(double tau, const double *y, void *context) {
    (void)tau;
    return y[ICL_BETA] - ((const struct level_of_beta *)context)->beta;
}

/* The state at which beta reaches ln N. */
static void at_ln_N(const struct icl_params *params, double y[ICL_DIM]) {
    struct icl_model *model = model_of(params, ICL_LEVEL_REDUCED);
    const struct icl_ode_system system = {ICL_DIM, icl_model_rhs, icl_model_jac, model};
    const struct icl_ode_control control = {params->solver.method, params->solver.rtol, params->solver.atol, 0, 10000};
    const double y0[ICL_DIM] = {params->init.w, params->init.beta, 0};
    struct level_of_beta level = {log((double)params->task.N)};
    struct icl_ode *ode = NULL;
    struct icl_err err;
    double root;
    size_t roots = 0;

    check_ok(icl_ode_alloc(&ode, &system, &control, &err), &err);
    check_ok(icl_ode_init(ode, 0, y0, INFINITY, &err), &err);
    while (roots == 0) {
        check_ok(icl_ode_step(ode, &err), &err);
        check_ok(icl_ode_locate(ode, beta_event, &level, 4, 1, &root, &roots, &err), &err);
    }
    check_ok(icl_ode_at(ode, root, y, &err), &err);
    icl_ode_free(ode);
    icl_model_free(model);
}

static void golden_reduced(void **state) {
    (void)state;
    struct fixture_row row[FIXTURE_ROWS];
    const size_t n = fixture_golden("red", row);

    for (size_t i = 0; i < n; i++) {
        const double *v = row[i].value; /* N w0 beta0 c1 c2 -> t at beta = ln N, w there, blow-up */
        const struct icl_params params = fixture_reduced(v[0], v[1], v[2], v[3], v[4]);
        const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        double y[ICL_DIM];
        at_ln_N(&params, y);
        /* Truncation at the default rtol 1e-9; measured 2e-10 of each. */
        check_rel(y[ICL_S], v[5], 1e-9);
        check_rel(y[ICL_W], v[6], 1e-9);
        check_rel(result.t_blowup, v[7], 1e-9);
    }
}

static void reduced_times_scale(void **state) {
    (void)state;
    const struct icl_params params = fixture_reduced(40, 0.2, -0.3, 0.5, 0.5);
    const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    static const double FACTOR[] = {10, 1e2, 1e4};

    for (int i = 0; i < 3; i++) { /* N */
        const struct icl_params larger = fixture_reduced(40 * FACTOR[i], 0.2, -0.3, 0.5, 0.5);
        const struct icl_traj_result scaled = fixture_solve(&larger, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        /* The steps are the same: rounding. Measured 4e-16. */
        check_rel(scaled.t_blowup, FACTOR[i] * result.t_blowup, 1e-14);
    }
    for (int i = 1; i < 4; i++) { /* c1, c2 fixed */
        const double c1 = pow(10, -20. / i);
        const struct icl_params slower = fixture_reduced(40, 0.2, -0.3, c1, 0.5);
        const struct icl_traj_result scaled = fixture_solve(&slower, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        check_rel(scaled.t_blowup * c1, result.t_blowup * 0.5, 1e-14);
    }
}

/* ---- the fold (T9) ---- */

static bool held(double N, double c1, double c2, double lambda_w, double lambda_beta) {
    struct icl_params params = fixture_reduced(N, 0, 0, c1, c2);
    params.train.lambda_w = lambda_w;
    params.train.lambda_beta = lambda_beta;
    params.train.t_max = 1;
    const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    assert_true(result.blowup_decided);
    return isinf(result.t_blowup);
}

static void fold_by_integration(void **state) {
    (void)state;
    static const double CASE[][4] = {{100, 0.5, 0.5, 1}, {100, 0.5, 0.5, 0.1}, {37, 0.2, 0.8, 1}, {1000, 0.05, 0, 7}};

    for (int i = 0; i < 4; i++) {
        const double N = CASE[i][0], c1 = CASE[i][1], c2 = CASE[i][2], share = CASE[i][3],
                     unit = icl_closed_fold(N, c1, c2);
        double lo = 0.013, hi = 100;
        while (hi > lo * (1 + 2e-6)) { /* passing the fold at distance d takes pi/sqrt d of its own times */
            const double middle = sqrt(lo * hi);
            *(held(N, c1, c2, middle * unit, share * middle * unit) ? &hi : &lo) = middle;
        }
        /* Must hold to 0.1 %; the bisection leaves 2e-6 of lambda, 4e-6 of the ratio. */
        check_rel(icl_closed_fold_ratio(N, c1, c2, lo * unit, share * lo * unit), 1, 5e-6);
        if (share == 1) check_rel(lo, 1, 3e-6);
    }
}

/* Exactly on the fold nothing decides but max_steps, and that is no failure once t_max is passed. */
static void undecided_at_the_double_point(void **state) {
    (void)state;
    struct icl_params params = fixture_reduced(100, 0, 0, 0.5, 0.5);
    params.train.lambda_w = params.train.lambda_beta = icl_closed_fold(100, 0.5, 0.5) * (1 - DBL_EPSILON);
    params.train.t_max = 1000;
    params.solver.max_steps = 2000;
    const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    assert_false(result.blowup_decided);
    assert_true(isinf(result.t_blowup) && result.outcome == ICL_OUTCOME_NONE);
    check_rel(result.t, 1000, 1e-15);
}

/* ---- the proofs that end an integration, against one that goes on ---- */

/* Steps on whatever the verdict says. The first verdict is final: NEVER never turns into BLOWUP, and the time of BLOWUP
 * is the one that is reached. */
static enum icl_fate brute(const struct icl_params *params, const char *what) {
    struct icl_model *model = model_of(params, ICL_LEVEL_REDUCED);
    const struct icl_ode_system system = {ICL_DIM, icl_model_rhs, icl_model_jac, model};
    const struct icl_ode_control control = {ICL_STEPPER_RK8PD, 1e-10, 1e-13, 0, 100000};
    const double y0[ICL_DIM] = {params->init.w, params->init.beta, 0};
    struct icl_ode *ode = NULL;
    struct icl_err err;
    enum icl_fate verdict = ICL_FATE_OPEN;
    double t_blowup = INFINITY, after = 0;

    check_ok(icl_ode_alloc(&ode, &system, &control, &err), &err);
    check_ok(icl_ode_init(ode, 0, y0, INFINITY, &err), &err);
    for (int i = 0; i < 3000; i++) {
        double t = INFINITY;
        const double *y = icl_ode_y(ode);
        const enum icl_fate fate = icl_model_fate(model, y, &t);
        if (verdict == ICL_FATE_OPEN && fate != ICL_FATE_OPEN) {
            verdict = fate;
            t_blowup = t;
        }
        if (verdict == ICL_FATE_NEVER && fate == ICL_FATE_BLOWUP) fail_msg("%s: blows up after all", what);
        if (verdict == ICL_FATE_BLOWUP && y[ICL_BETA] > 60) { /* nothing is left to come: this is the time */
            check_rel(y[ICL_S], t_blowup, 1e-12);             /* truncation of the rest of the way; measured 5e-14 */
            break;
        }
        if (verdict == ICL_FATE_NEVER && ++after > 500) break;
        check_ok(icl_ode_step(ode, &err), &err);
    }
    icl_ode_free(ode);
    icl_model_free(model);
    return verdict;
}

static void verdicts_are_true(void **state) {
    (void)state;
    int never = 0, blowup = 0;

    fixture_seed(7);
    for (int i = 0; i < 300; i++) {
        const bool balanced = fixture_uniform(0, 1) < 0.4, frozen = fixture_uniform(0, 1) < 0.5;
        struct icl_params params =
            fixture_reduced(100, fixture_uniform(-2, 3), fixture_uniform(-2, 2), fixture_uniform(0.1, 0.9),
                            fixture_uniform(0, 1) < 0.5 ? 0 : fixture_uniform(0, 1));
        char what[100];
        const double fold = icl_closed_fold(100, params.memory.c1, params.memory.c2);
        if (balanced) params.task.labels = ICL_LABELS_BALANCED;
        if (!frozen) params.memory.law = ICL_LAW_POWERLAW;
        params.task.K = 2 * round(pow(10, fixture_uniform(1, 4)) / 2);
        if (fixture_uniform(0, 1) < 0.6) params.train.lambda_w = fold * fixture_uniform(0, 2);
        if (fixture_uniform(0, 1) < 0.6) params.train.lambda_beta = fold * fixture_uniform(0, 2);
        snprintf(what, sizeof what, "case %d", i);
        if (balanced && params.memory.c2 > 0) params.init.beta = fmin(params.init.beta, 0.5);
        const enum icl_fate fate = brute(&params, what);
        never += fate == ICL_FATE_NEVER;
        blowup += fate == ICL_FATE_BLOWUP;
    }
    /* Both happened often, and almost every run was decided. */
    assert_true(never > 60 && blowup > 60 && never + blowup > 280);
}

/* What memorization leaves is less than the little that is needed, though beta is far out already. */
static void exhausted_although_late(void **state) {
    (void)state;
    struct icl_params params = fixture_params("theory.level=reduced init.w=5 init.beta=20 memory.A=1e-9 task.K=2");
    struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    assert_true(icl_closed_budget(100, 5, 20) > 1e-9 * pow(2, 0.75));
    assert_true(isinf(result.t_blowup));
    params.memory.A = 1e-7; /* enough, but a good part of it */
    result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    struct icl_memlaw law;
    struct icl_err err;
    check_ok(icl_memlaw_init(&params, 2, &law, &err), &err);
    check_rel(result.t_blowup, icl_memlaw_clock(&law, icl_closed_budget(100, 5, 20)),
              1e-9); /* c2 e^-beta/2w is left out; measured 4e-11 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduced_is_as_written),
        cmocka_unit_test(meanfield_becomes_reduced),
        cmocka_unit_test(finite_everywhere),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(planar_field),
        cmocka_unit_test(meanfield_is_gradient_flow),
        cmocka_unit_test(reduced_is_gradient_flow),
        cmocka_unit_test(golden_reduced),
        cmocka_unit_test(reduced_times_scale),
        cmocka_unit_test(fold_by_integration),
        cmocka_unit_test(undecided_at_the_double_point),
        cmocka_unit_test(verdicts_are_true),
        cmocka_unit_test(exhausted_although_late),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
