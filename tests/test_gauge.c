/* What is observed: events have the zeros of acc - threshold, losses and accuracies have their limits, and the plateau
 * is where the closed form puts it. (Sampled softmax contexts: test_context.c.) */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/gauge.h"

static struct icl_gauge *gauge_of(const struct icl_params *params, enum icl_level level, bool losses) {
    struct icl_gauge *gauge = NULL;
    struct icl_err err;
    check_ok(icl_gauge_alloc(&gauge, params, level, params->task.K, losses, &err), &err);
    return gauge;
}

static const char *const SETTINGS[] = {
    "task.N=100 task.D=inf",
    "task.N=50 task.D=inf",
    "task.N=100 task.D=inf observe.icl_threshold=0.5 observe.loss_threshold=0.3",
    "task.N=20 task.D=inf task.labels=balanced",
    "task.N=100",
    "task.N=100 observe.icl_threshold=0.999 observe.loss_threshold=0.6",
    "task.N=60 task.labels=balanced",
    "task.N=50 task.items=unit",
    "task.N=10 task.D=20",
    "task.N=1000 task.D=63",
    "task.N=20 task.labels=balanced",
    "task.N=20 task.D=inf task.labels=balanced observe.icl_threshold=0.7 observe.loss_threshold=0.6",
    "task.N=4 task.D=inf observe.icl_threshold=0.51 observe.loss_threshold=0.505",
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

/* ---- events ---- */

/* The events look at beta alone; acc - threshold is what they stand for. */
static void events_have_the_signs_of_the_accuracy(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            const struct icl_params params = fixture_params(SETTINGS[i]);
            struct icl_gauge *gauge = gauge_of(&params, (enum icl_level)level, false);
            int above = 0, below = 0;
            for (double w = -2.385; w < 5; w += 1.19)
                for (double beta = -3.1; beta < 80; beta += beta < 8 ? 0.0173 : 1.7) {
                    const double y[ICL_DIM] = {w, beta, 12.3}, acc = icl_gauge_acc_icl(gauge, y);
                    const double icl = icl_gauge_event_icl(gauge, y), loss = icl_gauge_event_loss(gauge, y);
                    const bool is = icl >= 0, kept = loss >= 0;
                    assert_false(isnan(icl) || isnan(loss));
                    if (fabs(acc - params.observe.icl_threshold) > 1e-12)
                        if (is != (acc >= params.observe.icl_threshold))
                            fail_msg("%s, level %d, w = %g, beta = %g: acc_icl = %.17g, event %g", SETTINGS[i], level,
                                     w, beta, acc, icl);
                    if (fabs(acc - params.observe.loss_threshold) > 1e-12)
                        if (kept != (acc >= params.observe.loss_threshold))
                            fail_msg("%s, level %d, w = %g, beta = %g: acc_icl = %.17g, loss event %g", SETTINGS[i],
                                     level, w, beta, acc, loss);
                    above += is;
                    below += !is;
                }
            assert_true(above > 100 && below > 100 && icl_gauge_reachable(gauge));
            icl_gauge_free(gauge);
        }
}

/* Where the event changes sign, by bisection. */
static double edge(const struct icl_gauge *gauge, double lo, double hi) {
    while (nextafter(lo, hi) < hi && hi - lo > 1e-15 * fabs(hi)) {
        const double y[ICL_DIM] = {1, (lo + hi) / 2, 0};
        *(icl_gauge_event_icl(gauge, y) >= 0 ? &hi : &lo) = y[ICL_BETA];
    }
    return hi;
}

static void event_at_the_accuracy(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct icl_params params = fixture_params(SETTINGS[i]);
        struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, false);
        if (isfinite(params.task.D)) {
            const double y[ICL_DIM] = {0.7, edge(gauge, -5, 10), 0};
            if (fabs(y[ICL_BETA]) > 1e-9) /* balanced labels and large D: a jump at 0 */
                check_abs(icl_gauge_acc_icl(gauge, y), params.observe.icl_threshold,
                          1e-14); /* rounding; measured 2e-16 */
        }
        icl_gauge_free(gauge);
    }
}

/* N = 100, D infinite: 0.946 to 0.965 at e^beta = 17 (O1). */
static void event_on_the_stair(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=inf");
    struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, false);
    check_rel(edge(gauge, 0, 5), log(17), 8 * DBL_EPSILON); /* rounding of 17 one against n E; measured 4 */
    icl_gauge_free(gauge);
}

static void balanced_jumps_at_zero(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=inf task.labels=balanced task.N=100");
    struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, false);
    const double before[ICL_DIM] = {1, -1e-9, 0}, at[ICL_DIM] = {1, 0, 0}, after[ICL_DIM] = {1, 1e-8, 0};
    check_abs(icl_gauge_acc_icl(gauge, before), 0, DBL_EPSILON);
    check_abs(icl_gauge_acc_icl(gauge, at), 0.5, DBL_EPSILON);
    check_abs(icl_gauge_acc_icl(gauge, after), 1, DBL_EPSILON);
    assert_true(icl_gauge_event_icl(gauge, before) < 0 && icl_gauge_event_icl(gauge, after) > 0);
    icl_gauge_free(gauge);
}

/* A small D never lets the copy stand out. */
static void unreachable(void **state) {
    (void)state;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        const struct icl_params params = fixture_params("task.D=5 task.N=100");
        struct icl_gauge *gauge = gauge_of(&params, (enum icl_level)level, false);
        assert_false(icl_gauge_reachable(gauge));
        for (double beta = -10; beta < 300; beta += 0.37) {
            const double y[ICL_DIM] = {3, beta, 0};
            assert_true(icl_gauge_event_icl(gauge, y) < 0 && icl_gauge_acc_icl(gauge, y) < 0.95);
        }
        icl_gauge_free(gauge);
    }
}

/* Far out the accuracy stays up: (T4) taken as it stands would let it fall to 1/2 beyond beta = D/2. The reduced
 * levels, whose beta runs to infinity, hold it at D/2. */
static void accuracy_far_out(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=20 task.N=10 task.items=unit");
    struct icl_gauge *full = gauge_of(&params, ICL_LEVEL_MEANFIELD, false),
                     *part = gauge_of(&params, ICL_LEVEL_REDUCED, false);
    const double top[ICL_DIM] = {1, 10, 0}, beyond[ICL_DIM] = {1, 17.3, 0}, far[ICL_DIM] = {1, 200, 0};
    assert_true(icl_gauge_acc_icl(full, beyond) >= icl_gauge_acc_icl(full, top));
    check_abs(icl_gauge_acc_icl(full, far), 1, DBL_EPSILON);
    assert_true(icl_gauge_event_icl(full, far) > 0 && icl_gauge_event_icl(full, top) > 0);
    check_abs(icl_gauge_acc_icl(part, far), icl_gauge_acc_icl(full, top), DBL_EPSILON);
    assert_true(icl_gauge_event_icl(part, far) > 0);
    icl_gauge_free(full);
    icl_gauge_free(part);
}

static void memorized(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.p=2 observe.iwl_threshold=0.9");
    struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, true);
    /* c1 = 0.1: (1 + x)^-2 = 1/5; T = 2 A K^nu */
    const double s = 2 * 0.6 * pow(4000, 0.75) * (sqrt(5) - 1);
    const double y[ICL_DIM] = {0.3, 0.2, s};
    struct icl_observables seen;
    check_abs(icl_gauge_event_iwl(gauge, y), 0, 1e-11 * s); /* rounding */
    icl_gauge_all(gauge, y, &seen);
    check_rel(seen.c1, 0.1, 1e-13);
    check_rel(seen.c3, 1. / 9, 1e-13);
    icl_gauge_free(gauge);
    params = fixture_params("memory.law=constant memory.c1=0.04");
    gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, false);
    const double start[ICL_DIM] = {0, 0, 0};
    assert_true(icl_gauge_event_iwl(gauge, start) >= 0); /* already there */
    icl_gauge_free(gauge);
    params = fixture_params("memory.law=none");
    gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, false);
    assert_true(icl_gauge_event_iwl(gauge, y) < 0); /* never */
    icl_gauge_free(gauge);
}

/* ---- losses and accuracies ---- */

static void at_the_origin(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            const struct icl_params params = fixture_params(SETTINGS[i]);
            struct icl_gauge *gauge = gauge_of(&params, (enum icl_level)level, true);
            const double y[ICL_DIM] = {0, 0, 0};
            struct icl_observables seen;
            icl_gauge_all(gauge, y, &seen);
            assert_true(seen.c1 == 0.5 && seen.c2 == 0.5 && seen.c3 == 1);
            /* Nothing learned: a coin. Rounding of the weights' sum. */
            check_rel(seen.loss_train, log(2), 1e-14);
            check_rel(seen.loss_icl, log(2), 1e-14);
            check_rel(seen.loss_iwl, log(2), 1e-14);
            check_abs(seen.acc_icl, 0.5, 1e-14);
            check_abs(seen.acc_iwl, 0.5, 1e-14);
            icl_gauge_free(gauge);
        }
}

/* K infinite: a training context is a novel one. */
static void infinite_items_are_novel(void **state) {
    (void)state;
    static const char *const D[] = {"task.K=inf task.D=inf", "task.K=inf", "task.K=inf task.labels=balanced"};
    for (int i = 0; i < 3; i++) {
        const struct icl_params params = fixture_params(D[i]);
        struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, true);
        for (double beta = -1; beta < 7; beta += 1.385) {
            const double y[ICL_DIM] = {2.3, beta, 31};
            struct icl_observables seen;
            icl_gauge_all(gauge, y, &seen);
            check_rel(seen.loss_train, seen.loss_icl, 1e-13); /* rounding */
        }
        icl_gauge_free(gauge);
    }
}

/* The blow-up's row is what the rows before it tend to. */
static void limits_at_the_blowup(void **state) {
    (void)state;
    static const char *const AT[] = {
        "task.D=inf", "task.D=inf task.labels=balanced", "", "task.labels=balanced", "task.D=5", "task.D=20"};
    for (int i = 0; i < 6; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_REDUCED, true);
        const double end[ICL_DIM] = {INFINITY, INFINITY, 300}, near[ICL_DIM] = {1e13, 900, 300};
        struct icl_observables limit, seen;
        icl_gauge_all(gauge, end, &limit);
        icl_gauge_all(gauge, near, &seen);
        check_abs(limit.acc_icl, seen.acc_icl, 1e-9);
        check_abs(limit.acc_iwl, seen.acc_iwl, 1e-9);
        assert_true(limit.c1 == seen.c1 && limit.c2 == seen.c2 && limit.c3 == seen.c3);
        const double pair[3][2] = {
            {limit.loss_train, seen.loss_train}, {limit.loss_iwl, seen.loss_iwl}, {limit.loss_icl, seen.loss_icl}};
        for (int k = 0; k < 3; k++) {
            if (isfinite(pair[k][0]))
                check_abs(pair[k][0], pair[k][1], 1e-9);
            else
                assert_true(pair[k][0] > 0 && pair[k][1] > 1); /* grows with w */
        }
        if (isinf(params.task.D)) { /* all weight on the copy; without one, on an item of either label */
            check_abs(limit.acc_icl, 1, 1e-14);
            assert_true(limit.loss_train < 1e-300 && limit.loss_icl < 1e-300);
            assert_true(isinf(limit.loss_iwl) || params.task.labels == ICL_LABELS_BALANCED);
        }
        icl_gauge_free(gauge);
    }
}

/* Finite D raises the loss with ICL on by about 30 % (N = 100, D = 63). */
static void finite_D_raises_the_plateau(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=none task.K=inf train.lambda=3e-3");
    double loss[2];
    for (int i = 0; i < 2; i++) {
        struct icl_observables seen;
        double y[ICL_DIM] = {5, 6, 0};
        if (i == 0) params.task.D = INFINITY;
        if (i == 1) params.task.D = 63;
        struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, true);
        fixture_integrate(&params, ICL_LEVEL_MEANFIELD, 1e4, y);
        icl_gauge_all(gauge, y, &seen);
        loss[i] = seen.loss_icl;
        icl_gauge_free(gauge);
    }
    check_abs(loss[1] / loss[0], 1.3, 0.05); /* theory's "30 %", to its digits */
}

/* (T10): loss_iwl loss_icl = lambda_w log(1/loss_icl)/a^2 on the mean field's plateau, while the MLP memorizes. */
static void the_two_losses_are_tied(void **state) {
    (void)state;
    for (double c1 = 0.5; c1 > 0.02; c1 /= 3) {
        struct icl_params params =
            fixture_params("memory.law=constant task.K=1e15 task.D=inf train.lambda_w=3e-4 train.lambda_beta=1e-7");
        struct icl_observables seen;
        double y[ICL_DIM] = {5, 9, 0};
        params.memory.c1 = c1;
        struct icl_gauge *gauge = gauge_of(&params, ICL_LEVEL_MEANFIELD, true);
        fixture_integrate(&params, ICL_LEVEL_MEANFIELD, 3e5, y);
        icl_gauge_all(gauge, y, &seen);
        const double a = 1 / (1 + 99 * exp(-y[ICL_BETA]));
        /* Saturation: log(1 + e^-z) for e^-z; measured 2 % and less. */
        check_rel(seen.c3 * seen.loss_icl, 3e-4 * -log(seen.loss_icl) / (a * a), 0.05);
        icl_gauge_free(gauge);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_the_signs_of_the_accuracy),
        cmocka_unit_test(event_at_the_accuracy),
        cmocka_unit_test(event_on_the_stair),
        cmocka_unit_test(balanced_jumps_at_zero),
        cmocka_unit_test(unreachable),
        cmocka_unit_test(accuracy_far_out),
        cmocka_unit_test(memorized),
        cmocka_unit_test(at_the_origin),
        cmocka_unit_test(infinite_items_are_novel),
        cmocka_unit_test(limits_at_the_blowup),
        cmocka_unit_test(finite_D_raises_the_plateau),
        cmocka_unit_test(the_two_losses_are_tied),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
