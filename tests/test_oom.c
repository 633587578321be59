/* The nth allocation fails, for every n: every object of the theory says so, leaves nothing behind, and works again. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "base/mem.h"
#include "fixtures.h"
#include "iclkin/advise.h"
#include "iclkin/attribute.h"
#include "iclkin/gauge.h"
#include "iclkin/predict.h"
#include "iclkin/sensitivity.h"
#include "theory/context.h"

static const char *const SETTINGS[] = {"", "task.D=inf task.N=20 task.K=40", "task.labels=balanced init.w=0.1",
                                       "memory.law=none task.K=inf task.D=inf"};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

/* What is tried: makes and unmakes something, or says why not. */
typedef enum icl_status attempt(const struct icl_params *params, struct icl_err *err);

static enum icl_status context_attempt(const struct icl_params *params, struct icl_err *err) {
    struct icl_context *context = NULL;
    const enum icl_status status =
        icl_context_alloc(&context, &params->task, params->without, &params->solver, ICL_CONTEXT_TRAIN, err);
    assert_true((context == NULL) == (status != ICL_OK));
    icl_context_free(context);
    return status;
}

static enum icl_status model_attempt(const struct icl_params *params, struct icl_err *err) {
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        struct icl_model *model = NULL;
        const enum icl_status status = icl_model_alloc(&model, params, (enum icl_level)level, params->task.K, err);
        assert_true((model == NULL) == (status != ICL_OK));
        icl_model_free(model);
        if (status != ICL_OK) return status;
    }
    return ICL_OK;
}

static enum icl_status gauge_attempt(const struct icl_params *params, struct icl_err *err) {
    for (int losses = 0; losses < 2; losses++) {
        struct icl_gauge *gauge = NULL;
        const enum icl_status status =
            icl_gauge_alloc(&gauge, params, ICL_LEVEL_MEANFIELD, params->task.K, losses, err);
        assert_true((gauge == NULL) == (status != ICL_OK));
        icl_gauge_free(gauge);
        if (status != ICL_OK) return status;
    }
    return ICL_OK;
}

/* No allocation after alloc: a run is part of the attempt, and adds none. */
static enum icl_status traj_attempt(const struct icl_params *params, struct icl_err *err) {
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        struct icl_traj *traj = NULL;
        struct icl_traj_result result;
        enum icl_status status = icl_traj_alloc(&traj, params, (enum icl_level)level, params->task.K, err);
        assert_true((traj == NULL) == (status != ICL_OK));
        if (status == ICL_OK) {
            const size_t held = icl_mem_held();
            status = icl_traj_run(traj, params->init.w, params->init.beta, ICL_TRAJ_TO_END, NULL, NULL, &result, err);
            assert_int_equal(icl_mem_held(), held);
        }
        icl_traj_free(traj);
        if (status != ICL_OK) return status;
    }
    return ICL_OK;
}

static enum icl_status predict_attempt(const struct icl_params *params, struct icl_err *err) {
    struct icl_prediction prediction;
    return icl_predict_run(params, &prediction, err);
}

static enum icl_status attribute_attempt(const struct icl_params *params, struct icl_err *err) {
    struct icl_params coarse = *params;
    struct icl_attribute attribute;
    coarse.solver.K_tol = 0.5; /* a thousandth of it: thousands of allocations */
    return icl_attribute_run(&coarse, &attribute, err);
}

static enum icl_status advise_attempt(const struct icl_params *params, struct icl_err *err) {
    struct icl_advise advise;
    return icl_advise_run(params, &advise, err);
}

static enum icl_status sensitivity_attempt(const struct icl_params *params, struct icl_err *err) {
    struct icl_sensitivity sensitivity;
    return icl_sensitivity_run(params, &sensitivity, err);
}

static const struct {
    const char *name;
    attempt *call;
    size_t stride; /* of n beyond the first hundred: K* allocates thousands of times */
} ATTEMPTS[] = {{"context", context_attempt, 1},  {"model", model_attempt, 1},
                {"gauge", gauge_attempt, 1},      {"traj", traj_attempt, 1},
                {"predict", predict_attempt, 37}, {"attribute", attribute_attempt, 237},
                {"advise", advise_attempt, 1237}, {"sensitivity", sensitivity_attempt, 3237}};

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t a = 0; a < sizeof ATTEMPTS / sizeof *ATTEMPTS; a++)
        for (int s = 0; s < SETTING_COUNT; s++) {
            struct icl_params params = fixture_params(SETTINGS[s]);
            const size_t before = icl_mem_held();
            enum icl_status status = ICL_ENOMEM;
            size_t n = 0, failures = 0;
            params.solver.rtol = 1e-5;
            params.solver.K_tol = 0.3;
            while (status != ICL_OK) {
                struct icl_err err = {0};
                n += n < 100 ? 1 : ATTEMPTS[a].stride;
                assert_true(n < 100000);
                icl_mem_fail_at(n);
                status = ATTEMPTS[a].call(&params, &err);
                icl_mem_fail_at(0);
                if (icl_mem_held() != before) fail_msg("%s, %s: n = %zu leaks", ATTEMPTS[a].name, SETTINGS[s], n);
                if (status == ICL_OK) continue;
                failures++;
                check_fails(status, ICL_ENOMEM, &err, "memory");
            }
            assert_true(failures > 0);
            struct icl_err err;
            check_ok(ATTEMPTS[a].call(&params, &err), &err); /* works again */
            assert_int_equal(icl_mem_held(), before);
        }
}

static void freeing_nothing(void **state) {
    (void)state;
    icl_context_free(NULL);
    icl_model_free(NULL);
    icl_gauge_free(NULL);
    icl_traj_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail), cmocka_unit_test(freeing_nothing)};
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
