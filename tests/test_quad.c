/* Gauss rules against exact moments, adaptive quadrature against closed forms. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "iclkin/quad.h"

/* GSL's eigenvectors are good to eps of their length, so a weight w to eps sqrt(w): small weights have no digits of
 * their own. An average of anything bounded, or of a low power, does not feel that; a high power does, which lives on
 * the outermost nodes. Hence powers below LOW are held to rounding at all sizes, the others up to FEW nodes to what the
 * weights' error makes of them. */
enum { MOST = 256, LOW = 8, FEW = 20 };

static const size_t SIZE[] = {1, 2, 3, 8, 12, 16, 20, 33, 64, 256};
static const double SHAPE[] = {0.5, 1, 1.5, 10, 31.5, 1e3, 1e5, 1e7, 1e9};
enum { SIZES = sizeof SIZE / sizeof *SIZE, SHAPES = sizeof SHAPE / sizeof *SHAPE };

static double moment(size_t n, const double *x, const double *w, double centre, double unit, size_t power) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += w[i] * pow((x[i] - centre) / unit, (double)power);
    return sum;
}

/* What a moment may err by: n eps in the square root of each weight. */
static double rounding(size_t n, const double *x, const double *w, double centre, double unit, size_t power) {
    const double e = DBL_EPSILON * (double)n;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (2 * e * sqrt(w[i]) + e * e) * pow(fabs(x[i] - centre) / unit, (double)power);
    return sum;
}

static void check_order(size_t n, const double *x, const double *w) {
    for (size_t i = 0; i < n; i++) {
        assert_true(w[i] >= 0 && isfinite(w[i]) && isfinite(x[i]));
        if (i > 0) assert_true(x[i] > x[i - 1]);
    }
    check_abs(moment(n, x, w, 0, 1, 0), 1, 1e-14); /* rounding of 256 terms; measured 6e-16 */
}

static void normal_moments(void **state) {
    (void)state;
    struct icl_err err;
    double x[MOST], w[MOST];

    for (size_t s = 0; s < SIZES; s++) {
        const size_t n = SIZE[s];
        double exact = 1;
        check_ok(icl_quad_normal(n, x, w, &err), &err);
        check_order(n, x, w);
        /* E z^2m = (2m - 1)!!: exact up to degree 2n - 1. Rounding, measured 6e-14 below degree 16; above it up to
         * 4e-11 of the moment, 0.02 of the allowance. */
        for (size_t m = 1; m < n && (m < LOW || n <= FEW); m++) {
            exact *= (double)(2 * m - 1);
            check_abs(moment(n, x, w, 0, 1, 2 * m), exact,
                      2e-13 * exact + (m < LOW ? 0 : rounding(n, x, w, 0, 1, 2 * m)));
        }
        /* Even to the last bit. */
        for (size_t i = 0; i < n; i++) assert_true(x[i] == -x[n - 1 - i] && w[i] == w[n - 1 - i]);
    }
}

/* A rule of n nodes is not exact at degree 2n: it errs by n! there (the norm of He_n), so a rule that silently used
 * more nodes, or other ones, would show. */
static void normal_is_gauss(void **state) {
    (void)state;
    struct icl_err err;
    double x[MOST], w[MOST], exact = 1, norm = 1;

    for (size_t n = 1; n <= 12; n++) {
        exact *= (double)(2 * n - 1);
        norm *= (double)n;
        check_ok(icl_quad_normal(n, x, w, &err), &err);
        /* Rounding of the moment over the norm; measured 8e-11 at n = 12. */
        check_rel(exact - moment(n, x, w, 0, 1, 2 * n), norm, 1e-9);
    }
}

/* A textbook value (Abramowitz and Stegun 25.10, n = 3: 0 and 1.224744871391589 with weights 1.181635900603677 and
 * 0.295408975150919 for exp(-x^2)). */
static void normal_table(void **state) {
    (void)state;
    struct icl_err err;
    double x[3], w[3];

    check_ok(icl_quad_normal(3, x, w, &err), &err);
    check_rel(x[2] / sqrt(2), 1.224744871391589, 1e-15);        /* the table's last digit */
    check_rel(w[1] * sqrt(acos(-1)), 1.181635900603677, 1e-15); /* the same */
    check_rel(w[0] * sqrt(acos(-1)), 0.295408975150919, 4e-15); /* its digits, and n eps of sqrt w: measured 1.7e-15 */
}

static void gamma_moments(void **state) {
    (void)state;
    struct icl_err err;
    double x[MOST], w[MOST];

    for (size_t k = 0; k < SHAPES; k++)
        for (size_t s = 0; s < SIZES; s++) {
            const size_t n = SIZE[s];
            const double shape = SHAPE[k];
            double exact = 1;
            check_ok(icl_quad_gamma(n, shape, x, w, &err), &err);
            check_order(n, x, w);
            assert_true(x[0] > 0);
            /* E q^m = product of (1 + j/shape). Rounding, measured 1e-13 below degree 8 (at 256 nodes); above it up to
             * 4e-5 of the moment (shape 1/2), 0.03 of the allowance. */
            for (size_t m = 1; m < 2 * n && (m < LOW || n <= FEW); m++) {
                exact *= 1 + (double)(m - 1) / shape;
                check_abs(moment(n, x, w, 0, 1, m), exact, 2e-13 * exact + (m < LOW ? 0 : rounding(n, x, w, 0, 1, m)));
            }
        }
}

/* Raw moments of a narrow distribution are all 1: its width shows in the central ones. */
static void gamma_central_moments(void **state) {
    (void)state;
    struct icl_err err;
    double x[16], w[16];

    for (size_t k = 0; k < SHAPES; k++) {
        const double shape = SHAPE[k], unit = 1 / sqrt(shape);
        /* x is stored near 1, so that z = (x - 1) sqrt(shape) is known to eps sqrt(shape): 3.5e-12 at 1e9. */
        const double rounding = 1e-13 + 8 * 2.3e-16 * sqrt(shape);
        check_ok(icl_quad_gamma(16, shape, x, w, &err), &err);
        check_abs(moment(16, x, w, 1, unit, 1), 0, rounding);
        check_rel(moment(16, x, w, 1, unit, 2), 1, rounding);
        check_abs(moment(16, x, w, 1, unit, 3), 2 * unit, 8 * rounding);
        check_rel(moment(16, x, w, 1, unit, 4), 3 + 6 / shape, 8 * rounding);
    }
}

/* As the shape grows the Gamma's nodes become the normal's, with an error that falls as shape^-1/2. */
static void gamma_becomes_normal(void **state) {
    (void)state;
    struct icl_err err;
    double x[8], w[8], z[8], v[8], scale[4], gap[4];

    check_ok(icl_quad_normal(8, z, v, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        scale[i] = pow(10, (double)(3 + i));
        check_ok(icl_quad_gamma(8, scale[i], x, w, &err), &err);
        gap[i] = fabs((x[7] - 1) * sqrt(scale[i]) - z[7]);
    }
    check_slope(4, scale, gap, -0.5, 0.02); /* truncation: the next order; measured -0.499 */
}

/* The moment E ((x - mean)/sd)^power and the same of absolute values, summed over the whole distribution. */
static void binomial_sum(size_t trials, double p, size_t power, double *moment_out, double *size) {
    const double mean = (double)trials * p, sd = sqrt(mean * (1 - p));
    double chance[1000], total = 0;

    /* From the middle outwards, so that nothing underflows before it is negligible. */
    const size_t mode = (size_t)mean;
    chance[mode] = 1;
    for (size_t k = mode; k < trials; k++)
        chance[k + 1] = chance[k] * (double)(trials - k) / (double)(k + 1) * p / (1 - p);
    for (size_t k = mode; k > 0; k--) chance[k - 1] = chance[k] * (double)k / (double)(trials - k + 1) * (1 - p) / p;
    *moment_out = *size = 0;
    for (size_t k = 0; k <= trials; k++) {
        const double z = pow(((double)k - mean) / sd, (double)power);
        total += chance[k];
        *moment_out += chance[k] * z;
        *size += chance[k] * fabs(z);
    }
    *moment_out /= total;
    *size /= total;
}

static void binomial_moments(void **state) {
    (void)state;
    static const size_t TRIALS[] = {1, 7, 15, 98, 99, 999};
    static const double CHANCE[] = {0.5, 0.4995, 0.01, 2.5e-4, 0.9};
    struct icl_err err;
    double x[MOST], w[MOST];

    for (size_t t = 0; t < sizeof TRIALS / sizeof *TRIALS; t++)
        for (size_t c = 0; c < sizeof CHANCE / sizeof *CHANCE; c++)
            for (size_t n = 1; n <= 16 && n <= TRIALS[t] + 1; n++) {
                const double trials = (double)TRIALS[t], p = CHANCE[c], sd = sqrt(trials * p * (1 - p));
                check_ok(icl_quad_binomial(n, trials, p, x, w, &err), &err);
                check_order(n, x, w);
                for (size_t m = 1; m < 2 * n; m++) {
                    double exact, size;
                    binomial_sum(TRIALS[t], p, m, &exact, &size);
                    /* Rounding of powers of nodes and of the sum over the distribution, measured 2e-14 below degree 8;
                     * above it up to 1e-10 of the moment, 0.1 of the allowance. Where the probability is
                     * small, as in the sequences that the theory averages over, no degree loses more than 5e-14. */
                    const double weights = m < LOW || p < 1e-3 ? 0 : rounding(n, x, w, trials * p, sd, m) / size;
                    check_abs((moment(n, x, w, trials * p, sd, m) - exact) / size, 0, 2e-13 + weights);
                }
            }
}

/* So many trials that only closed forms tell: variance 1, skewness (1 - 2p)/sd, kurtosis 3 + (1 - 6 p (1 - p))/sd^2. */
static void binomial_large(void **state) {
    (void)state;
    const double trials = 1e9, p = 0.2, sd = sqrt(trials * p * (1 - p));
    struct icl_err err;
    double x[16], w[16];

    check_ok(icl_quad_binomial(16, trials, p, x, w, &err), &err);
    /* x is stored near its mean 2e8: z is known to 8 eps mean/sd = 3e-11. Measured 4e-13, 6e-13, 3e-13, 3e-12. */
    check_abs(moment(16, x, w, trials * p, sd, 1), 0, 3e-11);
    check_rel(moment(16, x, w, trials * p, sd, 2), 1, 3e-11);
    check_abs(moment(16, x, w, trials * p, sd, 3), (1 - 2 * p) / sd, 2e-10);
    check_rel(moment(16, x, w, trials * p, sd, 4), 3 + (1 - 6 * p * (1 - p)) / (sd * sd), 2e-10);
}

/* With n = trials + 1 nodes the rule is the distribution itself. */
static void binomial_whole(void **state) {
    (void)state;
    struct icl_err err;
    double x[21], w[21], exact = pow(0.7, 20);

    check_ok(icl_quad_binomial(21, 20, 0.3, x, w, &err), &err);
    for (size_t i = 0; i <= 20; i++) {
        check_abs(x[i], (double)i, 1e-13);        /* rounding, measured 2e-14 */
        check_abs(w[i], exact, 21 * DBL_EPSILON); /* n eps: rounding, measured 1e-15 */
        exact *= (20 - (double)i) / ((double)i + 1) * 0.3 / 0.7;
    }
    check_ok(icl_quad_binomial(3, 20, 0, x, w, &err), &err);
    assert_true(x[0] == 0 && w[0] == 1 && w[1] == 0);
    check_ok(icl_quad_binomial(3, 20, 1, x, w, &err), &err);
    assert_true(x[0] == 20 && w[0] == 1 && w[2] == 0);
}

/* What the rules are for: averages of bounded functions, here E exp(i z), E exp(-q/2) and E exp(-k/sd), in closed form.
 * From 16 nodes on all that is left is rounding, 2 n eps in absolute terms: of the weights, and of the nodes, which are
 * good to eps of the largest. */
static void averages(void **state) {
    (void)state;
    struct icl_err err;
    double x[MOST], w[MOST];

    for (size_t s = 0; s < SIZES; s++) {
        const size_t n = SIZE[s];
        const double bound = 2 * DBL_EPSILON * (double)n;
        double sum = 0;
        if (n < 16) continue;
        check_ok(icl_quad_normal(n, x, w, &err), &err);
        for (size_t i = 0; i < n; i++) sum += w[i] * cos(x[i]);
        check_abs(sum, exp(-0.5), bound); /* measured 1e-15 */
        for (size_t k = 0; k < SHAPES; k++) {
            check_ok(icl_quad_gamma(n, SHAPE[k], x, w, &err), &err);
            sum = 0;
            for (size_t i = 0; i < n; i++) sum += w[i] * exp(-0.5 * x[i]);
            check_abs(sum, exp(-SHAPE[k] * log1p(0.5 / SHAPE[k])), bound); /* measured 3e-15, at 256 nodes 5e-14 */
        }
        for (double p = 2.5e-4; p < 1; p *= 3) {
            const double trials = 999, t = 1 / sqrt(trials * p * (1 - p));
            check_ok(icl_quad_binomial(n, trials, p, x, w, &err), &err);
            sum = 0;
            for (size_t i = 0; i < n; i++) sum += w[i] * exp(-t * x[i]);
            check_abs(sum, exp(trials * log1p(p * expm1(-t))), bound); /* measured 2e-15 */
        }
    }
}

static void rules_refuse(void **state) {
    (void)state;
    struct icl_err err;
    double x[MOST], w[MOST];

    check_fails(icl_quad_normal(0, x, w, &err), ICL_ERANGE, &err, "n=0: must be in [1, 256]");
    check_fails(icl_quad_normal(257, x, w, &err), ICL_ERANGE, &err, "n=257");
    check_fails(icl_quad_gamma(0, 1, x, w, &err), ICL_ERANGE, &err, "n=0");
    check_fails(icl_quad_gamma(4, 0, x, w, &err), ICL_ERANGE, &err, "shape=0: must be positive");
    check_fails(icl_quad_gamma(4, NAN, x, w, &err), ICL_ERANGE, &err, "shape=nan");
    check_fails(icl_quad_gamma(4, INFINITY, x, w, &err), ICL_ERANGE, &err, "shape=inf");
    check_fails(icl_quad_binomial(4, 2, 0.5, x, w, &err), ICL_ERANGE, &err, "at least n - 1 = 3");
    check_fails(icl_quad_binomial(2, 2.5, 0.5, x, w, &err), ICL_ERANGE, &err, "trials=2.5: must be whole");
    check_fails(icl_quad_binomial(2, 3, 1.5, x, w, &err), ICL_ERANGE, &err, "p=1.5: must be in [0, 1]");
    check_fails(icl_quad_binomial(2, 3, NAN, x, w, &err), ICL_ERANGE, &err, "p=nan");
}

static double gauss(double x, void *context) {
    (void)context;
    return exp(-0.5 * x * x);
}

static double root_singularity(double x, void *context) {
    (void)context;
    return 1 / sqrt(x);
}

static double reciprocal(double x, void *context) {
    (void)context;
    return 1 / x;
}

static double nan_beyond(double x, void *context) {
    return x > *(const double *)context ? NAN : exp(-x);
}

static double nothing(double x, void *context) {
    (void)x;
    (void)context;
    return 0;
}

static void adaptive_closed_forms(void **state) {
    (void)state;
    struct icl_err err;
    double integral;

    /* (T7)'s integral: sqrt(pi/2) erfc(a/sqrt 2). The tolerance is the one asked for; measured 3e-16 to 2e-15. */
    for (double a = -3; a <= 5; a += 1) {
        check_ok(icl_quad_infinite(gauss, NULL, a, 1e-12, &integral, &err), &err);
        check_rel(integral, sqrt(acos(0)) * erfc(a / sqrt(2)), 1e-12);
    }
    check_ok(icl_quad_finite(root_singularity, NULL, 0, 1, 1e-10, &integral, &err), &err);
    check_rel(integral, 2, 1e-10); /* asked for; measured 4e-15 */
    check_ok(icl_quad_finite(gauss, NULL, 2, -1, 1e-12, &integral, &err), &err);
    check_rel(integral, -sqrt(acos(0)) * (erf(2 / sqrt(2)) + erf(1 / sqrt(2))), 1e-12);
    check_ok(icl_quad_finite(gauss, NULL, 1, 1, 1e-9, &integral, &err), &err);
    assert_true(integral == 0);
    check_ok(icl_quad_infinite(nothing, NULL, 0, 1e-9, &integral, &err), &err);
    assert_true(integral == 0);
}

static void adaptive_refuses(void **state) {
    (void)state;
    struct icl_err err;
    double integral, edge = 0.5;

    check_fails(icl_quad_finite(reciprocal, NULL, 0, 1, 1e-9, &integral, &err), ICL_ENUMERIC, &err,
                "quadrature over [0, 1]");
    check_fails(icl_quad_infinite(reciprocal, NULL, 1, 1e-9, &integral, &err), ICL_ENUMERIC, &err, "[1, inf]");
    check_fails(icl_quad_infinite(nan_beyond, &edge, 0, 1e-9, &integral, &err), ICL_ENUMERIC, &err,
                "the integrand is not finite at x=");
    check_fails(icl_quad_finite(nan_beyond, &edge, 0, 1, 1e-9, &integral, &err), ICL_ENUMERIC, &err, "not finite");
    check_fails(icl_quad_finite(gauss, NULL, 0, NAN, 1e-9, &integral, &err), ICL_ERANGE, &err, "must be finite");
    check_fails(icl_quad_infinite(gauss, NULL, INFINITY, 1e-9, &integral, &err), ICL_ERANGE, &err, "a=inf");
    check_fails(icl_quad_finite(gauss, NULL, 0, 1, 0, &integral, &err), ICL_ERANGE, &err, "rtol=0");
    check_fails(icl_quad_finite(gauss, NULL, 0, 1, 1e-16, &integral, &err), ICL_ENUMERIC, &err, "rtol 1e-16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_moments),        cmocka_unit_test(normal_is_gauss),
        cmocka_unit_test(normal_table),          cmocka_unit_test(gamma_moments),
        cmocka_unit_test(gamma_central_moments), cmocka_unit_test(gamma_becomes_normal),
        cmocka_unit_test(binomial_moments),      cmocka_unit_test(binomial_large),
        cmocka_unit_test(binomial_whole),        cmocka_unit_test(averages),
        cmocka_unit_test(rules_refuse),          cmocka_unit_test(adaptive_closed_forms),
        cmocka_unit_test(adaptive_refuses),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
