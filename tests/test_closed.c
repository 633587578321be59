/* The closed forms against golden values, against quadrature by other roads, and against the integrated dynamics. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_lambert.h>
#include <math.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/quad.h"
#include "iclkin/roots.h"

static const double root_two_pi = 2.5066282746310005024;

static void golden_asymptotic(void **state) {
    (void)state;
    struct fixture_row row[FIXTURE_ROWS];
    const size_t n = fixture_golden("asym", row);

    for (size_t i = 0; i < n; i++) {
        const double *v = row[i].value;                                    /* N w0 beta0 c1 t */
        check_rel(icl_closed_budget(v[0], v[1], v[2]) / v[3], v[4], 1e-9); /* its ten digits; measured 1.5e-10 */
    }
}

/* ---- (T7) ---- */

static double energy(double w, void *context) {
    const double w0 = *(const double *)context;
    return exp(-(w - w0) * (w + w0) / 2);
}

static void budget_is_the_integral(void **state) {
    (void)state;
    struct icl_err err;

    for (double w0 = -4.385; w0 < 9; w0 += 0.713) {
        double integral;
        check_ok(icl_quad_infinite(energy, &w0, w0, 1e-13, &integral, &err), &err);
        /* Rounding: w0^2/2 in an exponent, and the quadrature's own 1e-13. Measured 1e-14. */
        check_rel(icl_closed_budget(137, w0, -0.3), 137 * exp(0.3) * integral, 1e-13);
    }
    check_rel(icl_closed_budget(100, 0, 0), 50 * root_two_pi, 4 * DBL_EPSILON);
    check_rel(icl_closed_budget(100, nextafter(0, 1), 0), icl_closed_budget(100, 0, 0), 4 * DBL_EPSILON);
}

/* 1/h(w) = (1/w)(1 - 1/w^2 + 3/w^4 - 15/w^6 + ...) for large w. */
static double hazard_series(double w) {
    const double x = 1 / (w * w);
    return (1 - x * (1 - 3 * x * (1 - 5 * x * (1 - 7 * x * (1 - 9 * x))))) / w;
}

/* e^(w0^2/2) erfc(w0/sqrt 2) is inf x 0 at w0 = 40 and 0/0 nowhere. */
static void budget_at_the_extremes(void **state) {
    (void)state;

    check_rel(icl_closed_budget(100, 40, 0), 100 * hazard_series(40), 1e-14); /* rounding; the series' next: 6e-16 */
    check_rel(icl_closed_budget(100, 1e3, -2), 100 * exp(2) * 1e-3 * (1 - 1e-6), 1e-11); /* the series' next: 3e-12 */
    /* e^(w0^2/2) alone overflows; rounding of an exponent of 800: 1e-13. */
    check_rel(icl_closed_budget(100, -40, 790), 100 * root_two_pi * exp(10), 2e-13);
    check_rel(icl_closed_budget(100, -40, 1400), 100 * root_two_pi * exp(-600), 2e-13);
    assert_true(icl_closed_budget(100, -40, 0) == INFINITY); /* 1e350: the true value overflows */
    assert_true(icl_closed_budget(100, 1, 2000) == 0);
    /* e^-beta0 alone overflows, or underflows, where the product does not; rounding of an exponent of 715. */
    check_rel(icl_closed_budget(2, 1e3, -714) * exp(-700), 2 * exp(14) * 1e-3 * (1 - 1e-6), 1e-11);
    check_rel(icl_closed_budget(1e7, 0.5, 740), 1e7 * exp(-370) * exp(-370) * icl_closed_budget(1, 0.5, 0), 1e-6);
}

static void budget_scales(void **state) {
    (void)state;

    for (double N = 2; N < 1e7; N *= 7.3)
        for (double w0 = -3; w0 < 4; w0 += 1.37) /* rounding of one product */
            check_rel(icl_closed_budget(10 * N, w0, 0.2), 10 * icl_closed_budget(N, w0, 0.2), 4 * DBL_EPSILON);
    /* beta0 is a shift of ln N; rounding of the exponent */
    check_rel(icl_closed_budget(100, 0.7, log(3)), icl_closed_budget(100 / 3., 0.7, 0), 8 * DBL_EPSILON);
    /* The slope of ln t in w0 at 0 is -sqrt(2/pi); truncation d^2/6 = 2e-9 */
    const double d = 1e-4;
    check_rel((log(icl_closed_budget(9, d, 0)) - log(icl_closed_budget(9, -d, 0))) / (2 * d), -2 / root_two_pi, 1e-8);
}

/* ---- (T7b) ---- */

static double budget_balanced(double w0, double beta0) {
    struct icl_err err;
    double budget;
    check_ok(icl_closed_budget_balanced(100, w0, beta0, &budget, &err), &err);
    return budget;
}

struct level_set {
    double w0, C;
};

/* dw/(e^beta - 1) along beta + e^-beta = C + (w^2 - w0^2)/2, beta > 0: e^-beta = -W0(-e^-C(w)). */
static double by_lambert(double w, void *context) {
    const struct level_set *set = context;
    const double lambert = gsl_sf_lambert_W0(-exp(-(set->C + (w - set->w0) * (w + set->w0) / 2)));
    return -lambert / (1 + lambert);
}

static const struct {
    double w0, beta0;
} BALANCED[] = {{0.1, 0.1}, {0.5, 0},     {2.385, 0.713}, {0, 0.5},      {0, 3},   {-0.2, 0.5},
                {-1, 2},    {-0.05, 0.1}, {0.7, -0.5},    {1.2, -0.713}, {40, -3}, {0.001, 0.001},
                {-2.4, 4},  {0, 1e-3},    {4, -2.385},    {1e-6, 1e-6}};
enum { STARTS = sizeof BALANCED / sizeof *BALANCED };

static void balanced_by_another_variable(void **state) {
    (void)state;
    struct icl_err err;

    for (size_t i = 0; i < STARTS; i++) {
        const double w0 = BALANCED[i].w0, beta0 = BALANCED[i].beta0;
        const struct level_set set = {w0, beta0 + exp(-beta0)};
        double theta, left = 0;
        if (beta0 < 0.05) continue; /* Lambert's branch point: the road loses half its digits there */
        if (w0 < 0) check_ok(icl_quad_finite(by_lambert, (void *)&set, w0, 0, 1e-12, &left, &err), &err);
        check_ok(icl_quad_infinite(by_lambert, (void *)&set, fmax(w0, 0), 1e-12, &theta, &err), &err);
        /* Both quadratures stop at 1e-11 and 1e-12 and do far better on smooth integrands; measured 2e-15. */
        check_rel(budget_balanced(w0, beta0), 100 * (theta + left), 1e-12);
    }
}

/* Against the reduced dynamics with c2 = 0, integrated. */
static void balanced_by_integration(void **state) {
    (void)state;

    for (size_t i = 0; i < STARTS; i++) {
        struct icl_params params = fixture_reduced(100, BALANCED[i].w0, BALANCED[i].beta0, 0.37, 0);
        params.task.labels = ICL_LABELS_BALANCED;
        params.solver.rtol = 1e-12;
        params.solver.atol = 1e-16;
        const struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        /* Truncation: 10 x 60 steps x rtol = 6e-10 at most; measured 2e-12. */
        check_rel(result.t_blowup, budget_balanced(BALANCED[i].w0, BALANCED[i].beta0) / 0.37, 6e-11);
    }
}

static void balanced_turns_back(void **state) {
    (void)state;
    static const double START[][2] = {{-0.2, 0.5}, {-1, 2}, {-2.4, 4}};

    for (size_t i = 0; i < 3; i++) {
        const double w0 = START[i][0], beta0 = START[i][1], C = beta0 + exp(-beta0) - w0 * w0 / 2;
        const double turn = C + gsl_sf_lambert_W0(-exp(-C)); /* beta + e^-beta = C */
        /* The way in mirrors the way out. Rounding of the turning point; measured 5e-16. */
        check_rel(budget_balanced(w0, beta0), 2 * budget_balanced(0, turn) - budget_balanced(-w0, beta0), 1e-13);
    }
}

static void balanced_becomes_random(void **state) {
    (void)state;
    /* e^beta - 1 is e^beta to relative e^-30 = 1e-13; measured 4e-14. */
    for (double w0 = 0.1; w0 < 5; w0 += 0.9) check_rel(budget_balanced(w0, 30), icl_closed_budget(100, w0, 30), 2e-13);
}

static bool never(double w0, double beta0) {
    return isinf(budget_balanced(w0, beta0));
}

static void separatrix(void **state) {
    (void)state;

    assert_true(never(0, 0) && never(-1, -1) && never(0, -1) && never(-0.1, 0));
    for (double beta = -3.385; beta < 4; beta += 0.713) {
        const double w = icl_closed_separatrix_balanced(beta), d = 1e-5;
        const double slope =
            (icl_closed_separatrix_balanced(beta + d) - icl_closed_separatrix_balanced(beta - d)) / 2 / d;
        check_rel(slope * w, -expm1(-beta),
                  1e-9); /* w dw = (1 - e^-beta) dbeta; truncation d^2, rounding eps/d = 2e-11; measured 3e-11 */
        /* One part in 1e9 beside it decides. */
        assert_true(never(w - 1e-9 * fabs(w), beta));
        assert_false(never(w + 1e-9 * fabs(w), beta));
        assert_true(never(w, beta));
        struct icl_params params = fixture_reduced(100, w + 1e-4, beta, 0.5, 0);
        params.task.labels = ICL_LABELS_BALANCED;
        struct icl_traj_result above = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        check_rel(above.t_blowup, budget_balanced(w + 1e-4, beta) / 0.5,
                  1e-6); /* rtol, grown by leaving the distance 1e-4; measured 1e-7 */
        params.init.w = w - 1e-4;
        above = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
        assert_true(isinf(above.t_blowup) && above.blowup_decided);
    }
    assert_true(icl_closed_separatrix_balanced(0) == 0);
    /* (T7b): -beta (1 - beta/6) near 0; truncation beta^2 */
    check_rel(icl_closed_separatrix_balanced(1e-4), -1e-4 * (1 - 1e-4 / 6), 1e-7);
}

/* The time from near the saddle grows as the logarithm of the distance. */
static void saddle_holds(void **state) {
    (void)state;
    for (double d = 1e-3; d > 1e-9; d /= 10) /* truncation d; measured 2e-4 at the first */
        check_rel(budget_balanced(d / 10, d / 10) - budget_balanced(d, d), 100 * log(10), 2 * d);
}

/* ---- (T9) ---- */

static void fold(void **state) {
    (void)state;
    double w, beta;

    check_abs(icl_closed_fold(100, 0.5, 0.5), 0.010475, 5e-7); /* theory's value, to its digits */
    for (double c2 = 0; c2 < 1; c2 += 0.237)
        for (double c1 = 1e-20; c1 < 1; c1 *= 317.3) {
            const double lambda = icl_closed_fold(137, c1, c2), other = lambda * 3.7;
            const double a = c1 / 137, pair = 2 * exp(1) * a * a / (other + a * c2);
            check_rel(icl_closed_fold_ratio(137, c1, c2, lambda, lambda), 1, 1e-15 * 20); /* rounding, measured 3e-16 */
            check_rel(icl_closed_fold_ratio(137, c1, c2, other, pair), 1, 1e-15 * 20);
            assert_false(icl_closed_saddle(137, c1, c2, 0.999 * lambda, 0.999 * lambda, &w, &beta));
            assert_true(icl_closed_saddle(137, c1, c2, 1.0001 * lambda, 1.0001 * lambda, &w, &beta));
            /* beta (1/2) of the fold; it opens as the square root of what is beyond: sqrt(1e-4) */
            check_abs(beta, 0.5, 0.02);
            assert_true(beta > 0.5);
        }
    assert_false(icl_closed_saddle(100, 0.5, 0.5, 0, 0, &w, &beta));
    assert_false(icl_closed_saddle(100, 0.5, 0.5, 1, 0, &w, &beta));
    assert_true(icl_closed_saddle(100, 0.5, 0.5, 0, 1, &w, &beta)); /* lambda_w = 0: c2 alone holds */
}

static void saddle_is_a_fixed_point(void **state) {
    (void)state;
    fixture_seed(1);
    for (int i = 0; i < 200; i++) {
        const double c1 = fixture_uniform(0.01, 0.99), c2 = fixture_uniform(0, 1),
                     N = 50 + floor(fixture_uniform(0, 200));
        const double lambda = icl_closed_fold(N, c1, c2), lw = lambda * fixture_uniform(0.5, 5),
                     lb = lambda * fixture_uniform(0.5, 5);
        const double a = c1 / N;
        double w, beta;
        const bool there = icl_closed_saddle(N, c1, c2, lw, lb, &w, &beta);
        assert_int_equal(there, icl_closed_fold_ratio(N, c1, c2, lw, lb) > 1);
        if (!there) continue;
        /* Rounding through an exponential; measured 5e-16. */
        check_rel(a * (exp(beta) - c2 * w), lw * w, 2e-14);
        check_rel(a * w * exp(beta), lb * beta, 2e-14);
        assert_true(beta > 0.5);
    }
}

/* ---- (T10) ---- */

static void plateau(void **state) {
    (void)state;
    double w, beta;

    /* notes/model.md (T10), solved there by another program, to its digits */
    icl_closed_plateau(100, 1, 3e-3, 3e-3, &w, &beta);
    check_abs(beta, 5.826, 5e-4);
    check_abs(w, 5.076, 5e-4);
    for (double c3 = 1; c3 > 0.02; c3 /= 2.3)
        for (double lb = 1e-7; lb < 1e-3; lb *= 7) {
            const double lw = 1e-3;
            icl_closed_plateau(137, c3, lw, lb, &w, &beta);
            const double rest = 136 * exp(-beta), a = 1 / (1 + rest), loss_icl = exp(-w * a), loss_iwl = c3;
            check_rel(w * w * rest * a, lb / lw * beta, 1e-11); /* xtol 1e-12 of beta; measured 3e-13 */
            check_rel(c3 * loss_icl * a, lw * w, 1e-13);
            check_rel(loss_iwl * loss_icl, lw * -log(loss_icl) / (a * a), 1e-13);
        }
    icl_closed_plateau(100, 1, 1e-3, 1e-15, &w, &beta);
    check_abs(1 / (1 + 99 * exp(-beta)), 1, 1e-9); /* a -> 1 where lambda_beta << lambda_w */
    static const double NONE[][3] = {{1, 0, 1e-3}, {1, 1e-3, 0}, {INFINITY, 1e-3, 1e-3}, {1e-4, 1e-2, 1e-2}};
    for (size_t i = 0; i < 4; i++) {
        icl_closed_plateau(100, NONE[i][0], NONE[i][1], NONE[i][2], &w, &beta);
        assert_true(isnan(w) && isnan(beta));
    }
}

/* Along the plateau loss_icl = e^-wa and loss_iwl = c3. */
static void losses_are_tied(void **state) {
    (void)state;
    for (double c3 = 1; c3 > 0.05; c3 *= 0.6) {
        double w, beta;
        icl_closed_plateau(100, c3, 2e-3, 3e-3, &w, &beta);
        const double a = 1 / (1 + 99 * exp(-beta));
        check_rel(icl_closed_tie(100, 2e-3, beta, exp(-w * a)), c3, 1e-11); /* the plateau is a root to rounding */
    }
}

/* The mean field's own plateau, D infinite: (T10) leaves out S and saturation. */
static void plateau_of_the_meanfield(void **state) {
    (void)state;
    static const double RATIO[] = {1, 0.1, 1e-3};

    for (size_t i = 0; i < 3; i++) {
        struct icl_params params = fixture_meanfield(100, 5, 6, 3e-3, false);
        double y[ICL_DIM] = {5, 6, 0}, w, beta;
        params.train.lambda_beta *= RATIO[i];
        fixture_integrate(&params, ICL_LEVEL_MEANFIELD, 2e5, y);
        icl_closed_plateau(100, 1, params.train.lambda_w, params.train.lambda_beta, &w, &beta);
        /* What (T10) drops: e^-wa of saturation and w^2 (1 - a)^2/2N; measured 4e-3 and 1e-3. */
        check_rel(w, y[ICL_W], 0.01);
        check_rel(beta, y[ICL_BETA], 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_asymptotic),
        cmocka_unit_test(budget_is_the_integral),
        cmocka_unit_test(budget_at_the_extremes),
        cmocka_unit_test(budget_scales),
        cmocka_unit_test(balanced_by_another_variable),
        cmocka_unit_test(balanced_by_integration),
        cmocka_unit_test(balanced_turns_back),
        cmocka_unit_test(balanced_becomes_random),
        cmocka_unit_test(separatrix),
        cmocka_unit_test(saddle_holds),
        cmocka_unit_test(fold),
        cmocka_unit_test(saddle_is_a_fixed_point),
        cmocka_unit_test(plateau),
        cmocka_unit_test(losses_are_tied),
        cmocka_unit_test(plateau_of_the_meanfield),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
