/* Splines by least squares: polynomials of their degree come back, noise is averaged, pieces join. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "iclkin/spline.h"

enum { POINTS = 40, ORDER = 8, BREAKS = 9 };

static struct icl_spline *spline_of(size_t order, double x[POINTS]) {
    struct icl_spline *spline;
    struct icl_err err;
    for (size_t i = 0; i < POINTS; i++) x[i] = -1 + 3 * pow((double)i / (POINTS - 1), 1.3);
    check_ok(icl_spline_alloc(&spline, POINTS, x, order, BREAKS, &err), &err);
    assert_int_equal(icl_spline_coefs(spline), BREAKS + order - 2);
    assert_int_equal(icl_spline_pieces(spline), BREAKS - 1);
    check_rel(icl_spline_step(spline), 3.0 / (BREAKS - 1), 1e-14);
    return spline;
}

/* f and its first derivative from the powers of the piece that holds x. */
static double at(const struct icl_spline *spline, const double *power, size_t piece, double x, double *slope) {
    const double u = x + 1 - icl_spline_step(spline) * ((double)piece + 0.5);
    double f = 0;
    *slope = 0;
    for (size_t k = ORDER; k-- > 0;) {
        *slope = *slope * u + f;
        f = f * u + power[piece * ORDER + k];
    }
    return f;
}

static void polynomials_return(void **state) {
    (void)state;
    double x[POINTS], y[2 * POINTS], c[BREAKS + ORDER], power[BREAKS * ORDER], slope;
    struct icl_spline *spline = spline_of(ORDER, x);
    struct icl_err err;
    for (int degree = 0; degree < ORDER; degree++) {
        for (size_t i = 0; i < POINTS; i++) {
            y[2 * i] = pow(x[i], degree);
            y[2 * i + 1] = 1e9; /* of another curve */
        }
        check_ok(icl_spline_solve(spline, y, 2, c, &err), &err);
        icl_spline_powers(spline, c, power, 1);
        for (size_t piece = 0; piece < BREAKS - 1; piece++)
            for (double part = 0; part <= 1; part += 0.25) {
                const double here = -1 + icl_spline_step(spline) * ((double)piece + part);
                /* rounding, by the condition of least squares: measured 3e-14 and 7e-13 at x^7 up to 128 */
                check_abs(at(spline, power, piece, here, &slope), pow(here, degree), 3e-13);
                check_abs(slope, degree > 0 ? degree * pow(here, degree - 1) : 0, 5e-12);
            }
        icl_spline_values(spline, c, y, 2);
        for (size_t i = 0; i < POINTS; i++) {
            check_abs(y[2 * i], pow(x[i], degree), 3e-13);
            assert_true(y[2 * i + 1] == 1e9);
        }
    }
    icl_spline_free(spline);
}

/* Neighbouring pieces meet in value and slope, whatever the data. */
static void pieces_join(void **state) {
    (void)state;
    double x[POINTS], y[POINTS], c[BREAKS + ORDER], power[BREAKS * ORDER], left, right;
    struct icl_spline *spline = spline_of(ORDER, x);
    struct icl_err err;
    for (size_t i = 0; i < POINTS; i++) y[i] = sin(17.0 * (double)(i * i)); /* noise */
    check_ok(icl_spline_solve(spline, y, 1, c, &err), &err);
    icl_spline_powers(spline, c, power, 1);
    for (size_t piece = 1; piece < BREAKS - 1; piece++) {
        const double here = -1 + icl_spline_step(spline) * (double)piece;
        check_abs(at(spline, power, piece - 1, here, &left), at(spline, power, piece, here, &right), 1e-14);
        check_abs(left, right, 1e-12);
    }
    icl_spline_free(spline);
}

/* The residual of least squares is orthogonal to what the spline can make: to polynomials of its degree. */
static void residuals_are_orthogonal(void **state) {
    (void)state;
    double x[POINTS], y[POINTS], fit[POINTS], c[BREAKS + ORDER];
    struct icl_spline *spline = spline_of(4, x);
    struct icl_err err;
    for (size_t i = 0; i < POINTS; i++) y[i] = cos(5 * x[i]) + 0.1 * sin(31.0 * (double)i);
    check_ok(icl_spline_solve(spline, y, 1, c, &err), &err);
    icl_spline_values(spline, c, fit, 1);
    double residue = 0;
    for (int degree = 0; degree < 4; degree++) {
        double product = 0;
        for (size_t i = 0; i < POINTS; i++) product += (y[i] - fit[i]) * pow(x[i], degree);
        check_abs(product, 0, 2e-14);
    }
    for (size_t i = 0; i < POINTS; i++) residue += (y[i] - fit[i]) * (y[i] - fit[i]);
    assert_true(residue > 0.01); /* the noise is not followed */
    icl_spline_free(spline);
}

static void rising_coefficients_rise(void **state) {
    (void)state;
    double x[POINTS], c[BREAKS + ORDER], power[BREAKS * ORDER], slope;
    struct icl_spline *spline = spline_of(ORDER, x);
    for (size_t i = 0; i < icl_spline_coefs(spline); i++) c[i] = i < 7 ? 0.1 * (double)i : 5 + (double)(i / 4);
    icl_spline_powers(spline, c, power, 1);
    for (size_t piece = 0; piece < BREAKS - 1; piece++)
        for (double part = 0; part < 1; part += 0.05) {
            at(spline, power, piece, -1 + icl_spline_step(spline) * ((double)piece + part), &slope);
            assert_true(slope > -1e-9);
        }
    icl_spline_free(spline);
}

static void too_few_points(void **state) {
    (void)state;
    double x[POINTS] = {0, 1, 2, 3, 4, 5, 6};
    struct icl_spline *spline;
    struct icl_err err;
    check_fails(icl_spline_alloc(&spline, 7, x, ORDER, 2, &err), ICL_ERANGE, &err, "7 points for 8 coefficients");
    check_fails(icl_spline_alloc(&spline, 7, x, 4, 1, &err), ICL_ERANGE, &err, "7 points");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials_return),       cmocka_unit_test(pieces_join),
        cmocka_unit_test(residuals_are_orthogonal), cmocka_unit_test(rising_coefficients_rise),
        cmocka_unit_test(too_few_points),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
