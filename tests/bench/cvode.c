/* cvode.c -- a yardstick for bench_steppers.c: SUNDIALS CVODE on the same right-hand sides (libsundials-dev; `make
 * bench` builds it where that is installed). Nothing else of iclkin uses SUNDIALS.
 *
 * Prints, tab-separated, as bench_steppers does: problem, method, rtol, largest error of (w, beta) at the end against
 * GSL's rk8pd at rtol 1e-13, rhs calls, microseconds (median of 5).
 */
#include <cvode/cvode.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

#include "iclkin/traj.h"

enum { REPEATS = 5 };

static int rhs(realtype t, N_Vector y, N_Vector dydt, void *model) {
    return icl_model_rhs(t, N_VGetArrayPointer(y), N_VGetArrayPointer(dydt), model);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void solve(struct icl_model *model, int lmm, double rtol, const struct icl_traj_result *exact, double t_end) {
    double seconds[REPEATS], error = 0;
    long calls = 0, extra = 0;
    for (int i = 0; i < REPEATS; i++) {
        SUNContext context;
        SUNContext_Create(NULL, &context);
        N_Vector y = N_VNew_Serial(ICL_DIM, context);
        double *value = N_VGetArrayPointer(y), t;
        for (int k = 0; k < ICL_DIM; k++) value[k] = 0;
        SUNMatrix A = SUNDenseMatrix(ICL_DIM, ICL_DIM, context);
        SUNLinearSolver linear = SUNLinSol_Dense(y, A, context);
        SUNNonlinearSolver fixed = SUNNonlinSol_FixedPoint(y, 0, context);
        const double start = now();
        void *cvode = CVodeCreate(lmm, context);
        CVodeInit(cvode, rhs, 0, y);
        CVodeSStolerances(cvode, rtol, 1e-12);
        CVodeSetUserData(cvode, model);
        CVodeSetMaxNumSteps(cvode, 100000);
        CVodeSetStopTime(cvode, t_end);
        if (lmm == CV_BDF)
            CVodeSetLinearSolver(cvode, linear, A);
        else
            CVodeSetNonlinearSolver(cvode, fixed);
        CVode(cvode, t_end, y, &t, CV_NORMAL);
        CVodeGetNumRhsEvals(cvode, &calls);
        if (lmm == CV_BDF) CVodeGetNumLinRhsEvals(cvode, &extra);
        CVodeFree(&cvode);
        seconds[i] = now() - start;
        error = fmax(fabs(value[ICL_W] / exact->y[ICL_W] - 1), fabs(value[ICL_BETA] / exact->y[ICL_BETA] - 1));
        SUNNonlinSolFree(fixed);
        SUNLinSolFree(linear);
        SUNMatDestroy(A);
        N_VDestroy(y);
        SUNContext_Free(&context);
    }
    qsort(seconds, REPEATS, sizeof *seconds, ascending);
    printf("meanfield\tcvode-%s\t%.0e\t\t%.1e\t%ld\t%.0f\n", lmm == CV_BDF ? "bdf" : "adams", rtol, error,
           calls + extra, 1e6 * seconds[REPEATS / 2]);
}

int main(void) {
    struct icl_params params;
    struct icl_err err;
    struct icl_traj *traj = NULL;
    struct icl_model *model = NULL;
    struct icl_traj_result exact;
    gsl_set_error_handler_off();
    icl_params_default(&params);
    params.solver.rtol = 1e-13;
    if (icl_traj_alloc(&traj, &params, ICL_LEVEL_MEANFIELD, 8000, &err) != ICL_OK ||
        icl_traj_run(traj, 0, 0, ICL_TRAJ_TO_END, NULL, NULL, &exact, &err) != ICL_OK ||
        icl_model_alloc(&model, &params, ICL_LEVEL_MEANFIELD, 8000, &err) != ICL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (double rtol = 1e-5; rtol > 1e-12; rtol /= 100) {
        solve(model, CV_ADAMS, rtol, &exact, params.train.t_max);
        solve(model, CV_BDF, rtol, &exact, params.train.t_max);
    }
    icl_model_free(model);
    icl_traj_free(traj);
    return 0;
}
