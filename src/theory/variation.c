#include "iclkin/variation.h"

#include <math.h>

#include "iclkin/closed.h"
#include "iclkin/gauge.h"
#include "iclkin/model.h"
#include "iclkin/ode.h"
#include "iclkin/predict.h"

/* y, then V's column of w0, then that of beta0. */
enum { COLUMNS = ICL_VARIATION_STARTS, WHOLE = ICL_DIM * (1 + COLUMNS) };

static int rhs(double tau, const double *y, double *dydtau, void *context) {
    double J[ICL_DIM * ICL_DIM], unused[ICL_DIM];
    icl_model_rhs(tau, y, dydtau, context);
    icl_model_jac(tau, y, J, unused, context);
    for (int column = 1; column <= COLUMNS; column++)
        for (int i = 0; i < ICL_DIM; i++) {
            double sum = 0;
            for (int j = 0; j < ICL_DIM; j++) sum += J[i * ICL_DIM + j] * y[column * ICL_DIM + j];
            dydtau[column * ICL_DIM + i] = sum;
        }
    return 0;
}

struct moment {
    const struct icl_model *model;
    double t;
};

static double until(double tau, const double *y, void *context) {
    const struct moment *moment = context;
    return icl_model_time(moment->model, tau, y) - moment->t;
}

/* The solution at the time t, which lies at or ahead of the last step. */
static enum icl_status solution_at(struct icl_ode *ode, const struct icl_model *model, double t, double y[WHOLE],
                                   struct icl_err *err) {
    struct moment moment = {model, t};
    double root;
    size_t roots;
    while (!icl_ode_done(ode) && until(icl_ode_t(ode), icl_ode_y(ode), &moment) < 0) ICL_TRY(icl_ode_step(ode, err));
    ICL_TRY(icl_ode_locate(ode, until, &moment, 1, 1, &root, &roots, err));
    return icl_ode_at(ode, roots > 0 ? root : icl_ode_t(ode), y, err);
}

typedef double event(const struct icl_gauge *gauge, const double *y);

/* grad g by four-point differences: g is smooth, or beta itself. */
static void gradient(event *g, const struct icl_gauge *gauge, const double *y, double slope[ICL_DIM]) {
    const double share = 1e-3;
    for (int i = 0; i < ICL_DIM; i++) {
        const double d = share * fmax(fabs(y[i]), 1);
        double at[4], point[ICL_DIM] = {y[ICL_W], y[ICL_BETA], y[ICL_S]};
        for (int k = 0; k < 4; k++) { /* -2 -1 1 2 */
            point[i] = y[i] + (k < 2 ? k - 2 : k - 1) * d;
            at[k] = g(gauge, point);
        }
        slope[i] = (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * d);
    }
}

/* dt/d(w0, beta0) of the event at the solution y. */
static void implicit(struct icl_model *model, event *g, const struct icl_gauge *gauge, const double y[WHOLE],
                     double slope[COLUMNS]) {
    double f[WHOLE], grad[ICL_DIM], along = 0;
    const bool is_t = icl_model_level(model) == ICL_LEVEL_MEANFIELD; /* tau; else t is y[ICL_S] */
    icl_model_rhs(0, y, f, model);
    gradient(g, gauge, y, grad);
    for (int i = 0; i < ICL_DIM; i++) along += grad[i] * f[i];
    for (int k = 0; k < COLUMNS; k++) {
        const double *V = y + (size_t)(k + 1) * ICL_DIM;
        double across = 0;
        for (int i = 0; i < ICL_DIM; i++) across += grad[i] * V[i];
        const double tau = -across / along;
        slope[k] = is_t ? tau : V[ICL_S] + f[ICL_S] * tau;
    }
}

struct parts {
    struct icl_model *model;
    struct icl_gauge *gauge;
    struct icl_ode *ode;
};

static enum icl_status follow(struct parts *p, const struct icl_params *params, enum icl_level level,
                              struct icl_variation *v, struct icl_err *err) {
    const struct icl_ode_system system = {WHOLE, rhs, NULL, NULL};
    const struct icl_ode_control control = {ICL_STEPPER_DEFAULT, params->solver.rtol, params->solver.atol, 0,
                                            params->solver.max_steps};
    double y[WHOLE] = {[ICL_W] = params->init.w, [ICL_BETA] = params->init.beta};
    y[ICL_DIM + ICL_W] = y[2 * ICL_DIM + ICL_BETA] = 1;
    ICL_TRY(icl_model_alloc(&p->model, params, level, params->task.K, err));
    ICL_TRY(icl_gauge_alloc(&p->gauge, params, level, params->task.K, false, err));
    struct icl_ode_system own = system;
    own.context = p->model;
    ICL_TRY(icl_ode_alloc(&p->ode, &own, &control, err));
    ICL_TRY(icl_ode_init(p->ode, 0, y, level == ICL_LEVEL_MEANFIELD ? params->train.t_max : INFINITY, err));
    if (v->t_icl > 0) {
        ICL_TRY(solution_at(p->ode, p->model, v->t_icl, y, err));
        implicit(p->model, icl_gauge_event_icl, p->gauge, y, v->icl);
    }
    if (!isfinite(v->t_loss)) return ICL_OK;
    ICL_TRY(solution_at(p->ode, p->model, v->t_loss, y, err));
    implicit(p->model, icl_gauge_event_loss, p->gauge, y, v->loss);
    return ICL_OK;
}

/* (T7): 1/h = y(w) has y' = w y - 1. */
static enum icl_status closed(const struct icl_params *params, struct icl_variation *v, struct icl_err *err) {
    struct icl_memlaw law;
    struct icl_memlaw_rates rates;
    const double N = (double)params->task.N, w = params->init.w, beta = params->init.beta;
    if (params->task.labels == ICL_LABELS_BALANCED) return ICL_OK;
    const double budget = icl_closed_budget(N, w, beta);
    ICL_TRY(icl_memlaw_init(params, params->task.K, &law, err));
    icl_memlaw_rates(&law, v->t_icl, &rates);
    icl_memlaw_free(&law);
    v->icl[ICL_W] = (w * budget - N * exp(-beta)) / rates.c1;
    v->icl[ICL_BETA] = -budget / rates.c1;
    return ICL_OK;
}

enum icl_status icl_variation_run(const struct icl_params *params, enum icl_level level, struct icl_variation *v,
                                  struct icl_err *err) {
    struct icl_traj_result result;
    struct parts parts = {NULL, NULL, NULL};
    ICL_TRY(icl_predict_times(params, level, ICL_TRAJ_TO_END, &result, err));
    *v = (struct icl_variation){result.t_icl, result.t_loss, {NAN, NAN}, {NAN, NAN}};
    if (v->t_icl == 0) v->icl[ICL_W] = v->icl[ICL_BETA] = 0;
    if (!isfinite(v->t_icl)) return ICL_OK;
    if (level == ICL_LEVEL_ASYMPTOTIC) return closed(params, v, err);
    const enum icl_status status = follow(&parts, params, level, v, err);
    icl_ode_free(parts.ode);
    icl_gauge_free(parts.gauge);
    icl_model_free(parts.model);
    return status;
}
