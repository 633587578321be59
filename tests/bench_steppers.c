/* bench_steppers.c -- work-precision: every stepper at every tolerance, on the solves that phase diagrams are made of.
 *
 * Prints, tab-separated: level, stepper, rtol, relative error of t_icl and largest error of (w, beta) at the end
 * against rk8pd at rtol 1e-13, rhs calls and microseconds (median of REPEATS). Asserted: at the default tolerance every
 * stepper of order 4 and more is good to 1e-6. Times are recorded only. tests/bench/cvode.c solves the second problem
 * with SUNDIALS CVODE.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "iclkin/ode.h"
#include "iclkin/traj.h"

enum { REPEATS = 5 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct problem {
    const char *name;
    enum icl_level level;
    double lambda, K;
};

/* Median seconds of a run; fills the result. Returns false where the stepper gave up. */
static bool measure(const struct problem *problem, enum icl_stepper method, double rtol, struct icl_traj_result *result,
                    double *seconds) {
    struct icl_params params;
    struct icl_err err;
    struct icl_traj *traj;
    double time[REPEATS];
    bool good = true;
    icl_params_default(&params);
    params.solver.method = method;
    params.solver.rtol = rtol;
    params.solver.max_steps = 20000;
    params.train.lambda_w = params.train.lambda_beta = problem->lambda;
    check_ok(icl_traj_alloc(&traj, &params, problem->level, problem->K, &err), &err);
    for (int i = 0; i < REPEATS; i++) {
        const double start = now();
        good = icl_traj_run(traj, 0, 0, ICL_TRAJ_TO_END, NULL, NULL, result, &err) == ICL_OK && good;
        time[i] = now() - start;
        if (!good || time[i] > 0.2) {
            time[REPEATS / 2] = time[i];
            break;
        }
        if (i == REPEATS - 1) qsort(time, REPEATS, sizeof *time, ascending);
    }
    *seconds = time[REPEATS / 2];
    icl_traj_free(traj);
    return good;
}

static void every_stepper_at_every_tolerance(void **state) {
    static const struct problem problems[] = {{"reduced", ICL_LEVEL_REDUCED, 0, 8000},
                                              {"meanfield", ICL_LEVEL_MEANFIELD, 0, 8000},
                                              {"meanfield, decay 3e-3", ICL_LEVEL_MEANFIELD, 3e-3, 16000}};
    (void)state;
    printf("problem\tstepper\trtol\terror_t_icl\terror_end\trhs_calls\tmicroseconds\n");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        struct icl_traj_result exact, result;
        double seconds;
        assert_true(measure(&problems[k], ICL_STEPPER_RK8PD, 1e-13, &exact, &seconds));
        for (int method = 0; method < ICL_STEPPER_COUNT; method++)
            for (double rtol = 1e-5; rtol > 1e-12; rtol /= 100) {
                const struct icl_ode_stepper *row = icl_ode_stepper((enum icl_stepper)method);
                if (row->order < 3.5 && rtol < 1e-8) continue; /* minutes, and nobody would */
                if (!measure(&problems[k], (enum icl_stepper)method, rtol, &result, &seconds)) {
                    printf("%s\t%s\t%.0e\tgave up\n", problems[k].name, row->name, rtol);
                    continue;
                }
                const double error = fabs(result.t_icl / exact.t_icl - 1);
                const double end = isinf(exact.y[ICL_BETA]) ? fabs(result.t / exact.t - 1)
                                                            : fmax(fabs(result.y[ICL_W] / exact.y[ICL_W] - 1),
                                                                   fabs(result.y[ICL_BETA] / exact.y[ICL_BETA] - 1));
                printf("%s\t%s\t%.0e\t%.1e\t%.1e\t%zu\t%.0f\n", problems[k].name, row->name, rtol, error, end,
                       result.rhs_calls, 1e6 * seconds);
                if (row->order > 3.9 && rtol < 2e-9) check_abs(error, 0, 1e-6); /* 1000 x rtol: truncation */
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_stepper_at_every_tolerance)};
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
