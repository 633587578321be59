/* Extrapolated differences: orders, error estimates, what is not finite. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>

#include "iclkin/slope.h"

static enum icl_status smooth(double x, void *context, double *y, struct icl_err *err) {
    (void)context;
    (void)err;
    y[0] = exp(x);
    y[1] = x < 0.9 ? NAN : sqrt(x);
    return ICL_OK;
}

static double error_at(double step, enum icl_slope_side side, double *estimate) {
    struct icl_slope slope[2];
    struct icl_err err;
    check_ok(icl_slope_run(smooth, NULL, 1, 0.7, step, side, 0, slope, &err), &err);
    *estimate = slope[0].error;
    return fabs(slope[0].value - exp(0.7));
}

static void orders(void **state) {
    (void)state;
    for (int side = 0; side < 3; side++) {
        const bool central = side == 0;
        double step[4], error[4], estimate;
        for (int i = 0; i < 4; i++) {
            step[i] = (central ? 0.1 : 0.01) * pow(2, i);
            error[i] =
                error_at(side < 2 ? step[i] : -step[i], central ? ICL_SLOPE_CENTRAL : ICL_SLOPE_FORWARD, &estimate);
            assert_true(error[i] <= estimate); /* the estimate is of the order before */
        }
        check_slope(4, step, error, central ? 6 : 4, 0.15); /* the next order; measured 0.085 */
    }
}

static void noise_is_counted(void **state) {
    (void)state;
    struct icl_slope slope[2];
    struct icl_err err;
    check_ok(icl_slope_run(smooth, NULL, 2, 4, 0.01, ICL_SLOPE_CENTRAL, 1e-6, slope, &err), &err);
    check_rel(slope[0].error, 1e-6 * exp(4.01) / 0.01, 1e-3); /* what the extrapolation adds */
    check_rel(slope[1].value, 0.25, 1e-12);                   /* rounding, eps/step; measured 2e-14 */
}

static void not_finite(void **state) {
    (void)state;
    struct icl_slope slope[2];
    struct icl_err err;
    check_ok(icl_slope_run(smooth, NULL, 2, 0.9, 0.01, ICL_SLOPE_CENTRAL, 0, slope, &err), &err);
    assert_true(isfinite(slope[0].value) && isnan(slope[1].value));
    check_ok(icl_slope_run(smooth, NULL, 2, 0.9, 0.01, ICL_SLOPE_FORWARD, 0, slope, &err), &err);
    assert_true(isfinite(slope[1].value));
}

static enum icl_status failing(double x, void *context, double *y, struct icl_err *err) {
    (void)context;
    y[0] = x;
    return x > 1.015 ? ICL_ERR(err, ICL_ENUMERIC, "no value at x = %g", x) : ICL_OK;
}

static void failures_are_passed_on(void **state) {
    (void)state;
    struct icl_slope slope;
    struct icl_err err;
    for (int side = ICL_SLOPE_CENTRAL; side <= ICL_SLOPE_FORWARD; side++)
        check_fails(icl_slope_run(failing, NULL, 1, 1, 0.01, (enum icl_slope_side)side, 0, &slope, &err), ICL_ENUMERIC,
                    &err, "no value at x = 1.02");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(noise_is_counted),
                                       cmocka_unit_test(not_finite), cmocka_unit_test(failures_are_passed_on)};
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
