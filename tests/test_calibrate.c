/* From measurements to curves: classes and averages by plain sums, noise smoothed away, and the response to a logit
 * offset of a planted pair of paths. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

#include "iclkin/rng.h"
#include "theory/calibrate.h"

enum { CLASSES = ICL_CALIBRATE_CLASSES, CLOCKS = 64, ITEMS = 1000 };

static double sigma(double x) {
    return 1 / (1 + exp(-x));
}

static void weights_of(double weight[CLASSES]) {
    struct icl_err err;
    check_ok(icl_calibrate_weights(weight, &err), &err);
}

/* Two measurements make one point: the averages of all their items. */
static void measurements_average(void **state) {
    (void)state;
    float phi[2][ITEMS], novel[2][ITEMS];
    double weight[CLASSES], miss = 0, square = 0, lift = 0, spread = 0, c1 = 0;
    struct icl_calibrate_point point = {0};
    weights_of(weight);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < ITEMS; k++) {
            phi[i][k] = (float)(sin(1.7 * (double)(k * (i + 1))) * 3 + (double)i);
            novel[i][k] = (float)cos(0.3 * (double)k);
            miss += sigma(-(double)phi[i][k]) / (2 * ITEMS);
            square += sigma(-(double)phi[i][k]) * sigma(-(double)phi[i][k]) / (2 * ITEMS);
            lift += exp(-(double)phi[i][k]) / (2 * ITEMS);
            spread += (double)novel[i][k] * (double)novel[i][k] / (2 * ITEMS);
        }
        icl_calibrate_measure(ITEMS, phi[i], ITEMS, novel[i], weight, &point);
    }
    icl_calibrate_close(2, &point);
    check_rel(point.c1, miss, 1e-12);
    check_rel(point.c2, 1 - square / miss, 1e-12);
    check_rel(point.c3, lift, 1e-12);
    check_rel(point.v, spread, 1e-12);
    for (size_t q = 0; q < CLASSES; q++) c1 += weight[q] * sigma(-point.phi[q]);
    check_rel(c1, miss, 1e-12);
    check_rel(icl_calibrate_c1(weight, point.phi, 0), miss, 1e-12);
}

/* A path of classes that part: phi_q = (q - 6) (1 - e^-s) / 4 + speed s. */
static struct icl_calibrate_point path_at(const double *weight, double s, double speed) {
    struct icl_calibrate_point p = {.c2 = 0.5, .c3 = 1, .v = 1};
    for (size_t q = 0; q < CLASSES; q++) p.phi[q] = ((double)q - 6) * (1 - exp(-s)) / 4 + speed * s;
    p.c1 = icl_calibrate_c1(weight, p.phi, 0);
    return p;
}

static void noise_is_smoothed(void **state) {
    (void)state;
    double weight[CLASSES], s[CLOCKS], before = 0, after = 0;
    struct icl_calibrate_point point[CLOCKS];
    struct icl_err err;
    struct icl_rng rng;
    weights_of(weight);
    icl_rng_seek(&rng, 7, 0, ICL_RNG_INIT, 0);
    for (size_t j = 0; j < CLOCKS; j++) {
        s[j] = 10 * icl_calibrate_clock(CLOCKS, j);
        point[j] = path_at(weight, s[j], 0.5);
        const double shift = 0.1 * icl_rng_normal(&rng);
        for (size_t q = 0; q < CLASSES; q++) point[j].phi[q] += shift;
        before += shift * shift;
    }
    check_ok(icl_calibrate_smooth(CLOCKS, s, weight, point, &err), &err);
    for (size_t j = 0; j < CLOCKS; j++) {
        const struct icl_calibrate_point planted = path_at(weight, s[j], 0.5);
        after += pow(point[j].phi[3] - planted.phi[3], 2);
        check_rel(point[j].c1, icl_calibrate_c1(weight, point[j].phi, 0), 1e-14);
        for (size_t q = 1; q < CLASSES; q++) assert_true(point[j].phi[q] >= point[j].phi[q - 1]);
    }
    /* 20 coefficients of 64 points keep 0.31 of the variance */
    assert_true(after < 0.5 * before);
}

/* Under the offset the same path at another pace: t is since the onset at s = onset, ds/dt = pace. */
static void planted_response_returns(void **state) {
    (void)state;
    const double offset = 2, onset = 1.5, pace = 0.3;
    double weight[CLASSES], s[CLOCKS], t[CLOCKS];
    struct icl_calibrate_point plain[CLOCKS], path[CLOCKS];
    struct icl_calibrate_response run[2 * CLOCKS], mean[CLOCKS];
    struct icl_err err;
    weights_of(weight);
    for (size_t j = 0; j < CLOCKS; j++) {
        s[j] = 10 * icl_calibrate_clock(CLOCKS, j);
        t[j] = 20 * icl_calibrate_clock(CLOCKS, j);
        plain[j] = path_at(weight, s[j], 0.5);
    }
    for (size_t r = 0; r < 2; r++) { /* two networks, a factor of 1.1 about the pace */
        for (size_t j = 0; j < CLOCKS; j++) path[j] = path_at(weight, onset + pace * (r ? 1.1 : 1 / 1.1) * t[j], 0.5);
        check_ok(icl_calibrate_respond(CLOCKS, s, plain, t, path, offset, weight, run + r * CLOCKS, &err), &err);
    }
    icl_calibrate_respond_mean(2, CLOCKS, plain, run, NULL, mean);
    size_t matched = 0;
    double last = 1;
    for (size_t j = 0; j < CLOCKS; j++) {
        if (plain[j].c1 > 0.485) assert_true(mean[j].response == 1);
        if (s[j] > onset + 20 * pace * 1.1) check_rel(mean[j].response, last, 1e-14);
        last = mean[j].response;
        if (plain[j].c1 > 0.45 || s[j] < onset * 1.1 || s[j] > onset + 20 * pace / 1.1) continue;
        const double by_M3 = icl_calibrate_c1(weight, plain[j].phi, offset) / plain[j].c1;
        check_rel(mean[j].response, pace / by_M3, 0.01); /* straight lines between the clocks: measured 0.5 % */
        check_rel(mean[j].t, (s[j] - onset) / pace * (1.1 + 1 / 1.1) / 2, 3e-3); /* measured 1.4e-3 */
        check_rel(mean[j].look.c1, plain[j].c1, 1e-3);
        matched++;
    }
    assert_true(matched > 10);
}

/* Nothing to match: the plain closure. */
static void no_response_is_one(void **state) {
    (void)state;
    double weight[CLASSES], s[CLOCKS];
    struct icl_calibrate_point plain[CLOCKS], path[CLOCKS];
    struct icl_calibrate_response run[CLOCKS], mean[CLOCKS];
    struct icl_err err;
    weights_of(weight);
    for (size_t j = 0; j < CLOCKS; j++) {
        s[j] = 10 * icl_calibrate_clock(CLOCKS, j);
        plain[j] = path_at(weight, s[j], 0.5);
        path[j] = path_at(weight, 1e-3 * s[j], 0.5); /* never gets anywhere */
    }
    check_ok(icl_calibrate_respond(CLOCKS, s, plain, s, path, 4, weight, run, &err), &err);
    icl_calibrate_respond_mean(1, CLOCKS, plain, run, NULL, mean);
    for (size_t j = 0; j < CLOCKS; j++) assert_true(mean[j].response == 1);
    /* beside a smaller offset's: as that one goes */
    double below[CLOCKS];
    for (size_t j = 0; j < CLOCKS; j++) below[j] = 1 + 0.01 * (double)j;
    icl_calibrate_respond_mean(1, CLOCKS, plain, run, below, mean);
    for (size_t j = 0; j < CLOCKS; j++) check_rel(mean[j].response, below[j], 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measurements_average),
        cmocka_unit_test(noise_is_smoothed),
        cmocka_unit_test(planted_response_returns),
        cmocka_unit_test(no_response_is_one),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
