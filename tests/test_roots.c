/* Brent's method: known roots, ends, jumps, and every way to fail. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "iclkin/roots.h"

struct problem {
    const char *name;
    double (*f)(double x);
    double lo, hi, root;
    size_t most; /* iterations at xtol = 0, measured and up to 4 more */
};

static double cosine(double x) {
    return cos(x) - x;
}
static double cubic(double x) {
    return (x - 1) * (x * x + x + 5);
}
static double flat(double x) {
    return pow(x - 0.25, 9);
}
static double steep(double x) {
    return exp(40 * x) - 1e10;
}
static double step(double x) {
    return x < 0.3 ? -1 : 2;
}
static double pole(double x) {
    return x == 0 ? -INFINITY : log(x);
}
static double tiny(double x) {
    return x - 1e-13;
}
static double through_zero(double x) {
    return sin(x);
}

static const struct problem PROBLEMS[] = {
    /* cos x = x: the Dottie number, OEIS A003957. */
    {"cosine", cosine, 0, 1, 0.73908513321516064, 8},
    {"cubic", cubic, -3, 4, 1, 12},
    {"flat", flat, -1, 1, 0.25, 160},
    {"steep", steep, 0, 1, 0.57564627324851148, 17},
    {"step", step, 0, 1, 0.3, 62},
    {"pole", pole, 0, 5, 1, 14},
    {"tiny", tiny, -1, 1, 1e-13, 10},
    {"zero", through_zero, -1, 2, 0, 20},
};
enum { COUNT = sizeof PROBLEMS / sizeof *PROBLEMS };

static enum icl_status call(double x, void *context, double *y, struct icl_err *err) {
    (void)err;
    *y = ((const struct problem *)context)->f(x);
    return ICL_OK;
}

static void known_roots(void **state) {
    (void)state;
    struct icl_err err;

    for (size_t i = 0; i < COUNT; i++) {
        struct problem p = PROBLEMS[i];
        double forward, backward;
        size_t iterations;
        check_ok(icl_roots_brent(call, &p, p.lo, p.hi, 0, &forward, &iterations, &err), &err);
        /* The contract; at a root x = 0 that is an absolute 0, which sin x reaches below its smallest number. */
        const double bound = fmax(4 * DBL_EPSILON * fabs(p.root), DBL_MIN);
        check_abs(forward, p.root, bound);
        assert_true(iterations <= p.most);
        check_ok(icl_roots_brent(call, &p, p.hi, p.lo, 0, &backward, NULL, &err), &err);
        check_abs(backward, p.root, bound);
    }
}

static void tolerance_is_kept(void **state) {
    (void)state;
    struct icl_err err;

    for (size_t i = 0; i < COUNT; i++)
        for (double xtol = 1e-2; xtol > 1e-12; xtol *= 0.1) {
            struct problem p = PROBLEMS[i];
            double root;
            size_t loose, tight;
            check_ok(icl_roots_brent(call, &p, p.lo, p.hi, xtol, &root, &loose, &err), &err);
            check_abs(root, p.root, xtol + 4 * DBL_EPSILON * fabs(p.root));
            check_ok(icl_roots_brent(call, &p, p.lo, p.hi, 0.1 * xtol, &root, &tight, &err), &err);
            assert_true(loose <= tight);
        }
}

static void ends(void **state) {
    (void)state;
    struct icl_err err;
    struct problem p = {"cubic", cubic, 1, 4, 1, 0};
    size_t iterations = 9;
    double root;

    check_ok(icl_roots_brent(call, &p, 1, 4, 0, &root, &iterations, &err), &err);
    assert_true(root == 1 && iterations == 0);
    check_ok(icl_roots_brent(call, &p, -2, 1, 0, &root, &iterations, &err), &err);
    assert_true(root == 1 && iterations == 0);
    check_ok(icl_roots_brent(call, &p, 1, 1, 0, &root, NULL, &err), &err);
    assert_true(root == 1);
}

static double always_positive(double x) {
    return 1 + x * x;
}
static double nan_inside(double x) {
    return x == 0 || x == 1 ? x - 0.5 : NAN;
}

static enum icl_status fails_inside(double x, void *context, double *y, struct icl_err *err) {
    (void)context;
    *y = x - 0.3;
    if (x != 0 && x != 1) return ICL_ERR(err, ICL_EIO, "the table ends at %g", x);
    return ICL_OK;
}

static void refuses(void **state) {
    (void)state;
    struct icl_err err;
    struct problem none = {"none", always_positive, -1, 2, 0, 0}, bad = {"bad", nan_inside, 0, 1, 0, 0};
    double root = 7;

    check_fails(icl_roots_brent(call, &none, -1, 2, 0, &root, NULL, &err), ICL_ENOROOT, &err,
                "no root in range: f(-1) = 2 and f(2) = 5");
    check_fails(icl_roots_brent(call, &bad, 0, 1, 0, &root, NULL, &err), ICL_ENUMERIC, &err, "NaN at x=0.5");
    check_fails(icl_roots_brent(call, &bad, 0, 0.7, 0, &root, NULL, &err), ICL_ENUMERIC, &err, "NaN at x=0.69999");
    check_fails(icl_roots_brent(fails_inside, NULL, 0, 1, 0, &root, NULL, &err), ICL_EIO, &err, "the table ends at");
    check_fails(icl_roots_brent(call, &none, -1, INFINITY, 0, &root, NULL, &err), ICL_ERANGE, &err, "must be finite");
    check_fails(icl_roots_brent(call, &none, NAN, 1, 0, &root, NULL, &err), ICL_ERANGE, &err, "must be finite");
    check_fails(icl_roots_brent(call, &none, -1e308, 1e308, 0, &root, NULL, &err), ICL_ERANGE, &err, "must be finite");
    check_fails(icl_roots_brent(call, &none, 0, 1, NAN, &root, NULL, &err), ICL_ERANGE, &err, "xtol=nan");
    check_fails(icl_roots_brent(call, &none, 0, 1, -1, &root, NULL, &err), ICL_ERANGE, &err, "xtol=-1");
    assert_true(root == 7); /* untouched by failures */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_roots),
        cmocka_unit_test(tolerance_is_kept),
        cmocka_unit_test(ends),
        cmocka_unit_test(refuses),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
