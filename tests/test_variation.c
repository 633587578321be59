/* How times move with the start: the variational equations against differences, and against (T7). */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/memtable.h"
#include "iclkin/predict.h"
#include "iclkin/slope.h"
#include "iclkin/variation.h"

struct start {
    struct icl_params params;
    enum icl_level level;
    bool of_beta;
};

static enum icl_status times(double x, void *context, double *y, struct icl_err *err) {
    struct start *start = context;
    struct icl_traj_result result;
    *(start->of_beta ? &start->params.init.beta : &start->params.init.w) = x;
    ICL_TRY(icl_predict_times(&start->params, start->level, ICL_TRAJ_TO_END, &result, err));
    y[0] = result.t_icl;
    y[1] = result.t_loss;
    return ICL_OK;
}

/* Both roads, to `allowed` of the time for a change of 1 in the start. */
static void agree(const struct icl_params *params, enum icl_level level, double allowed) {
    struct icl_variation v;
    struct icl_err err;
    check_ok(icl_variation_run(params, level, &v, &err), &err);
    for (int k = 0; k < ICL_VARIATION_STARTS; k++) {
        struct start start = {*params, level, k == 1};
        struct icl_slope slope[2];
        const double x = k == 1 ? params->init.beta : params->init.w;
        check_ok(icl_slope_run(times, &start, 2, x, 3e-3, ICL_SLOPE_CENTRAL, 0, slope, &err), &err);
        check_abs(v.icl[k], slope[0].value, allowed * v.t_icl);
        assert_true(isfinite(v.t_loss) == isfinite(v.loss[k]) && isfinite(v.t_loss) == isfinite(slope[1].value));
        if (isfinite(v.t_loss)) check_abs(v.loss[k], slope[1].value, allowed * v.t_loss);
    }
}

static void against_differences(void **state) {
    (void)state;
    static const char *const AT[] = {
        "memory.law=none task.K=inf init.w=0.3 init.beta=-0.2",
        "task.K=4000 init.w=-0.2 init.beta=0.4 task.D=inf",
        "task.K=6000 task.N=50 init.w=0.4 init.beta=0.1 task.items=unit",
        "task.labels=balanced init.w=0.3 init.beta=0.2",
        "task.K=8000 init.beta=0.2 train.lambda=3e-3 train.t_max=20000", /* transient */
    };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++)
        for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
            struct icl_params params = fixture_params(AT[i]);
            params.solver.rtol = 1e-11;
            agree(&params, (enum icl_level)level, 1e-9); /* rtol, of the differences over 3e-3; measured 7e-11 */
        }
}

/* With v > 0 the event depends on w, beta and s. */
static void against_differences_measured(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=table task.K=3000 train.lambda=3e-3 train.t_max=3000");
    struct icl_memtable *table = NULL;
    struct icl_err err;
    check_ok(icl_memtable_read(&table, "params/memory/default.tsv", &err), &err);
    params.memtable = table;
    agree(&params, ICL_LEVEL_MEANFIELD, 2e-6); /* rtol 1e-9 over 3e-3; measured 2e-7 */
    agree(&params, ICL_LEVEL_REDUCED, 1e-8);   /* measured 1e-9 */
    icl_memtable_free(table);
}

/* (T7) at constant c1: t goes as e^-beta0, and as 1/h(w0). */
static void asymptotic(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("memory.law=constant memory.c1=0.3 init.w=0.6 init.beta=-0.4");
    struct icl_variation v;
    struct icl_err err;
    check_ok(icl_variation_run(&params, ICL_LEVEL_ASYMPTOTIC, &v, &err), &err);
    check_rel(v.icl[1], -v.t_icl, 1e-15);        /* rounding */
    agree(&params, ICL_LEVEL_ASYMPTOTIC, 1e-12); /* rounding over 3e-3; measured 1e-14 */
    const struct icl_params falling = fixture_params("init.w=0.6 init.beta=-0.4 task.K=6000");
    agree(&falling, ICL_LEVEL_ASYMPTOTIC, 1e-12); /* measured 5e-14 */
}

static void no_time_no_slope(void **state) {
    (void)state;
    struct icl_variation v;
    struct icl_err err;
    const struct icl_params never = fixture_params("task.K=500"), start = fixture_params("init.w=1 init.beta=6"),
                            balanced = fixture_params("task.labels=balanced init.w=0.3 init.beta=0.2");
    check_ok(icl_variation_run(&never, ICL_LEVEL_MEANFIELD, &v, &err), &err);
    assert_true(isinf(v.t_icl) && isnan(v.icl[0]) && isnan(v.icl[1]) && isnan(v.loss[0]));
    check_ok(icl_variation_run(&start, ICL_LEVEL_MEANFIELD, &v, &err), &err);
    assert_true(v.t_icl == 0 && v.icl[0] == 0 && v.icl[1] == 0);
    check_ok(icl_variation_run(&balanced, ICL_LEVEL_ASYMPTOTIC, &v, &err), &err);
    assert_true(isfinite(v.t_icl) && isnan(v.icl[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_differences),
        cmocka_unit_test(against_differences_measured),
        cmocka_unit_test(asymptotic),
        cmocka_unit_test(no_time_no_slope),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
