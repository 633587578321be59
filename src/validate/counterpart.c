#include "iclkin/counterpart.h"

#include "base/mem.h"
#include "iclkin/gauge.h"

struct icl_counterpart {
    struct icl_traj *whole, **until; /* to t_max; to each of the times, shape (n) */
    struct icl_gauge *gauge;
    size_t n;
};

static enum icl_status alloc_parts(struct icl_counterpart *c, const struct icl_params *params, enum icl_level level,
                                   const double *t, struct icl_err *err) {
    const double K = params->task.K;
    ICL_TRY(icl_traj_alloc(&c->whole, params, level, K, err));
    ICL_TRY(icl_mem_alloc(&c->until, c->n + 1, sizeof *c->until, err));
    if (c->n > 0) ICL_TRY(icl_gauge_alloc(&c->gauge, params, level, K, true, err));
    for (size_t i = 0; i < c->n; i++) {
        struct icl_params shorter = *params;
        shorter.train.t_max = t[i];
        ICL_TRY(icl_traj_alloc(&c->until[i], &shorter, level, K, err));
    }
    return ICL_OK;
}

enum icl_status icl_counterpart_alloc(struct icl_counterpart **counterpart, const struct icl_params *params,
                                      enum icl_level level, size_t n, const double *t, struct icl_err *err) {
    struct icl_counterpart *c;
    *counterpart = NULL;
    ICL_TRY(icl_mem_alloc(&c, 1, sizeof *c, err));
    c->n = n;
    const enum icl_status status = alloc_parts(c, params, level, t, err);
    if (status == ICL_OK)
        *counterpart = c;
    else
        icl_counterpart_free(c);
    return status;
}

void icl_counterpart_free(struct icl_counterpart *c) {
    if (!c) return;
    for (size_t i = 0; c->until && i < c->n; i++) icl_traj_free(c->until[i]);
    icl_mem_free(c->until);
    icl_gauge_free(c->gauge);
    icl_traj_free(c->whole);
    icl_mem_free(c);
}

enum icl_status icl_counterpart_run(struct icl_counterpart *c, double w, double beta, double *times,
                                    enum icl_outcome *outcome, double *state, struct icl_err *err) {
    struct icl_traj_result result;
    ICL_TRY(icl_traj_run(c->whole, w, beta, ICL_TRAJ_TO_END, NULL, NULL, &result, err));
    times[ICL_COUNTERPART_T_ICL] = result.t_icl;
    times[ICL_COUNTERPART_T_IWL] = result.t_iwl;
    times[ICL_COUNTERPART_T_LOSS] = result.t_loss;
    *outcome = result.outcome;
    for (size_t i = 0; i < c->n; i++) {
        double *at = state + i * ICL_COUNTERPART_STATES;
        struct icl_observables o;
        ICL_TRY(icl_traj_run(c->until[i], w, beta, ICL_TRAJ_TO_END, NULL, NULL, &result, err));
        icl_gauge_all(c->gauge, result.y, &o);
        at[ICL_COUNTERPART_W] = result.y[ICL_W];
        at[ICL_COUNTERPART_BETA] = result.y[ICL_BETA];
        at[ICL_COUNTERPART_C1] = o.c1;
        at[ICL_COUNTERPART_C2] = o.c2;
        at[ICL_COUNTERPART_C3] = o.c3;
        at[ICL_COUNTERPART_LOSS_TRAIN] = o.loss_train;
        at[ICL_COUNTERPART_LOSS_ICL] = o.loss_icl;
        at[ICL_COUNTERPART_LOSS_IWL] = o.loss_iwl;
        at[ICL_COUNTERPART_ACC_ICL] = o.acc_icl;
        at[ICL_COUNTERPART_ACC_IWL] = o.acc_iwl;
    }
    return ICL_OK;
}
