#include "iclkin/sensitivity.h"

#include <math.h>

#include "iclkin/predict.h"
#include "iclkin/variation.h"

/* When a parameter is one of the theory's, as its level and memory law have it. */
enum when { ALWAYS, FINITE, DIMENSION, DECAYS, THRESHOLD, CONSTANT, POWERLAW };

static const struct {
    const char *name;
    enum when when;
    double end; /* whose distance from p (and p's from 0) the step is measured in; 0: p alone */
} rows[ICL_SENSITIVITY_ROWS] = {
    {"init.w", ALWAYS, 0},
    {"init.beta", ALWAYS, 0},
    {"task.K", FINITE, 0},
    {"task.N", ALWAYS, 0},
    {"task.D", DIMENSION, 0},
    {"train.lambda_w", DECAYS, 0},
    {"train.lambda_beta", DECAYS, 0},
    {"memory.c1", CONSTANT, 1},
    {"memory.c2", CONSTANT, 1},
    {"memory.A", POWERLAW, 0},
    {"memory.nu", POWERLAW, 0},
    {"memory.p", POWERLAW, 1},
    {"observe.icl_threshold", THRESHOLD, 1},
    {"observe.loss_threshold", THRESHOLD, 1},
};

const char *icl_sensitivity_name(enum icl_sensitivity_of of) {
    static const char *const names[ICL_SENSITIVITY_COUNT] = {"t_icl", "t_loss", "K_star"};
    return names[of];
}

struct icl_slope icl_sensitivity_log(const struct icl_sensitivity *sensitivity, const struct icl_sensitivity_row *row,
                                     enum icl_sensitivity_of of) {
    const double value = sensitivity->value[of], scale = value > 0 ? (row->relative ? row->p : 1) / value : NAN;
    return (struct icl_slope){row->slope[of].value * scale, row->slope[of].error * scale};
}

/* (T7) knows no decay, no D and no threshold; a measured table holds for its own D alone. */
static bool applies(const struct icl_params *params, enum when when, double p) {
    const bool closed = params->theory.level == ICL_LEVEL_ASYMPTOTIC;
    switch (when) {
    case FINITE:
        return isfinite(p);
    case DIMENSION:
        return !closed && isfinite(p) && params->memory.law != ICL_LAW_TABLE;
    case DECAYS:
        return !closed;
    case THRESHOLD:
        return !closed && p > 0 && p < 1;
    case CONSTANT:
        return params->memory.law == ICL_LAW_CONSTANT && isfinite(params->task.K) && p > 0 &&
               p < 1; /* c2 = auto is NaN */
    case POWERLAW:
        return params->memory.law == ICL_LAW_POWERLAW && isfinite(params->task.K);
    default:
        return true;
    }
}

/* What is differentiated: the times, or t_icl alone, or (T8). */
struct line {
    struct icl_params params;
    const struct icl_param *param;
    bool items;
    enum icl_traj_stop stop;
    double noise; /* relative error of what solve gives */
};

/* As a real number, unless it is held as a whole one. */
static void put(struct icl_params *params, const struct icl_param *param, double x) {
    void *at = (char *)params + param->offset;
    if (param->type == ICL_PARAM_COUNT)
        *(size_t *)at = (size_t)(x + 0.5);
    else
        *(double *)at = x;
}

static enum icl_status solve(double x, void *context, double *y, struct icl_err *err) {
    struct line *line = context;
    const enum icl_level level = line->params.theory.level;
    struct icl_traj_result result = {.t_icl = NAN, .t_loss = NAN};
    struct icl_err own = {ICL_OK, ""};
    put(&line->params, line->param, x);
    y[0] = y[1] = NAN;
    const enum icl_status status = line->items ? icl_predict_items(&line->params, level, &y[0], &own)
                                               : icl_predict_times(&line->params, level, line->stop, &result, &own);
    if (status == ICL_ENOMEM) return icl_err_set(err, status, "%s", own.text);
    if (line->items || status != ICL_OK) return ICL_OK; /* beyond a table, or beyond the solver: no number there */
    y[0] = result.t_icl;
    y[1] = result.t_loss;
    return ICL_OK;
}

/* The step at which differences begin: a share of p, of its distance to its end, of 1 for the start, or of 1/t for a
 * decay that is 0. */
static double step_of(const struct icl_params *params, size_t row, const struct icl_param *param, double p,
                      double share, double t) {
    if (param->type == ICL_PARAM_COUNT) return params->task.labels == ICL_LABELS_BALANCED ? 2 : 1;
    if (rows[row].when == DECAYS && p == 0) return share / (10 * t);
    if (param->lo < 0) return share;
    return share * (rows[row].end > 0 ? fmin(p, fabs(rows[row].end - p)) : p);
}

/* Takes what a try found better. Returns whether that leaves nothing to be wished for. */
static bool better(const struct icl_slope *found, struct icl_slope *slope) {
    const double good = 1e-4;
    if (!isfinite(slope->value) || found->error < slope->error) *slope = *found;
    return slope->error <= good * fabs(slope->value);
}

/* The least that p may be: a context has room for its copies. */
static double least_of(const struct icl_params *params, const struct icl_param *param) {
    const double room = (double)params->task.copies * (params->task.labels == ICL_LABELS_BALANCED ? 2 : 1);
    return fmax(fmax(param->lo, 0), param->type == ICL_PARAM_COUNT ? room : 0);
}

/* The slopes of a row in the components that have a value. Smaller steps are tried where a larger one leaves the region
 * in which the numbers exist, or where they bend within it. */
static enum icl_status differences(struct line *line, size_t row, double p, double share, const double *value,
                                   struct icl_slope slope[2], struct icl_err *err) {
    const int tries = line->items ? 1 : 4;
    const double smaller = 8, most = 4, backward = 8; /* steps below p */
    const double least = least_of(&line->params, line->param);
    double step = step_of(&line->params, row, line->param, p, share, isfinite(value[0]) && value[0] > 0 ? value[0] : 1);
    enum icl_slope_side side = ICL_SLOPE_CENTRAL;
    if (line->param->lo >= 0 && p - most * step < least) side = ICL_SLOPE_FORWARD;
    slope[0] = slope[1] = (struct icl_slope){NAN, 0};
    bool good = false;
    for (int i = 0; i < tries && !good; i++, step /= smaller) {
        struct icl_slope found[2];
        ICL_TRY(icl_slope_run(solve, line, 2, p, step, side, line->noise, found, err));
        good = true;
        for (int k = 0; k < 2; k++)
            if (isfinite(value[k])) good = better(&found[k], &slope[k]) && good;
        if (line->param->type != ICL_PARAM_COUNT) continue;
        if (good || i > 0 || p - backward * step < least) break;
        side = ICL_SLOPE_FORWARD; /* whole steps cannot shrink: backward, to where ICL is acquired the sooner */
        step *= -smaller;
    }
    put(&line->params, line->param, p);
    return ICL_OK;
}

static enum icl_status times(const struct icl_params *params, struct icl_sensitivity *s, struct icl_err *err) {
    const double share = 0.01;
    struct icl_variation variation;
    struct icl_traj_result result;
    struct icl_err own = {ICL_OK, ""};
    ICL_TRY(icl_predict_times(params, params->theory.level, ICL_TRAJ_TO_END, &result, err));
    s->value[ICL_SENSITIVITY_T_ICL] = result.t_icl;
    s->value[ICL_SENSITIVITY_T_LOSS] = result.t_loss;
    const enum icl_status status = icl_variation_run(params, params->theory.level, &variation, &own);
    if (status == ICL_ENOMEM) return icl_err_set(err, status, "%s", own.text);
    const bool balanced = params->task.labels == ICL_LABELS_BALANCED;
    const bool follows = status == ICL_OK && !(balanced && params->theory.level == ICL_LEVEL_ASYMPTOTIC);
    for (size_t i = 0, k = 0; i < ICL_SENSITIVITY_ROWS; i++) {
        struct line line = {*params, icl_params_find(rows[i].name), false, ICL_TRAJ_TO_END, params->solver.rtol};
        const double p = icl_params_get(params, line.param);
        if (!applies(params, rows[i].when, p)) continue;
        struct icl_sensitivity_row *row = &s->row[k++];
        *row = (struct icl_sensitivity_row){.name = rows[i].name, .p = p, .relative = line.param->lo >= 0 && p > 0};
        for (int of = 0; of < ICL_SENSITIVITY_COUNT; of++) row->slope[of].value = NAN;
        row->exact = follows && i < ICL_VARIATION_STARTS;
        s->rows = k;
        if (row->exact) {
            row->slope[ICL_SENSITIVITY_T_ICL].value = variation.icl[i];
            row->slope[ICL_SENSITIVITY_T_LOSS].value = variation.loss[i];
        } else if (isfinite(result.t_icl)) {
            ICL_TRY(differences(&line, i, p, share, s->value, row->slope, err));
        }
    }
    return ICL_OK;
}

static size_t index_of(const char *name) {
    size_t i = 0;
    while (rows[i].name != name) i++;
    return i;
}

/* K* itself, as often as differences ask for it. Where acc_icl only grazes its threshold, the path passes so near a
 * saddle that rounding, grown on the way, moves K* by up to 1e-6 of it even at a thousandth of the tolerance. */
static enum icl_status items_differences(const struct icl_params *params, struct icl_sensitivity *s,
                                         struct icl_err *err) {
    const bool closed = params->theory.level == ICL_LEVEL_ASYMPTOTIC;
    const double share = closed ? 0.01 : 0.02, noise = closed ? 1e-15 : 1e-6, tighter = 1000;
    struct icl_params sharp = *params;
    sharp.solver.K_tol = fmax(noise / 10, 1e-9);
    sharp.solver.rtol = fmax(params->solver.rtol / tighter, 1e-13);
    const double value[2] = {s->value[ICL_SENSITIVITY_K_STAR], NAN};
    for (struct icl_sensitivity_row *row = s->row; row < s->row + s->rows; row++) {
        struct line line = {sharp, icl_params_find(row->name), true, ICL_TRAJ_TO_ICL, noise};
        struct icl_slope slope[2];
        ICL_TRY(differences(&line, index_of(row->name), row->p, share, value, slope, err));
        row->slope[ICL_SENSITIVITY_K_STAR] = slope[0];
    }
    return ICL_OK;
}

/* Where t_icl = t_max at K*: dK = -(dt_icl/dp)/(dt_icl/dK) dp. t_max itself must not cut the differences off. Not so
 * where acc_icl at K* only grazes its threshold and turns back: t_icl ends there before t_max. */
static enum icl_status items_implicit(const struct icl_params *params, struct icl_sensitivity *s, bool *grazes,
                                      struct icl_err *err) {
    const double share = 1e-3, beyond = 10, close = 0.01;
    struct icl_params at = *params;
    const double value[2] = {params->train.t_max, NAN}, K = s->value[ICL_SENSITIVITY_K_STAR];
    struct icl_slope by_K[2], by_p[2];
    at.task.K = K;
    at.train.t_max *= beyond;
    struct line line = {at, icl_params_find("task.K"), false, ICL_TRAJ_TO_ICL, at.solver.rtol};
    double t[2];
    ICL_TRY(solve(K, &line, t, err));
    *grazes = !(fabs(t[0] - params->train.t_max) < close * params->train.t_max);
    if (*grazes) return ICL_OK;
    ICL_TRY(differences(&line, index_of("task.K"), K, share, value, by_K, err));
    for (struct icl_sensitivity_row *row = s->row; row < s->row + s->rows; row++) {
        line = (struct line){at, icl_params_find(row->name), false, ICL_TRAJ_TO_ICL, at.solver.rtol};
        struct icl_slope *out = &row->slope[ICL_SENSITIVITY_K_STAR];
        *out = (struct icl_slope){0, 0};
        if (line.param == icl_params_find("task.K")) continue;
        ICL_TRY(differences(&line, index_of(row->name), row->p, share, value, by_p, err));
        out->value = -by_p[0].value / by_K[0].value;
        out->error = (by_p[0].error + fabs(out->value) * by_K[0].error) / fabs(by_K[0].value);
    }
    return ICL_OK;
}

enum icl_status icl_sensitivity_run(const struct icl_params *params, struct icl_sensitivity *s, struct icl_err *err) {
    const double finer = 1000, least = 1e-9; /* of solver.K_tol */
    struct icl_params sharp = *params;
    struct icl_err own = {ICL_OK, ""};
    double *K_star = &s->value[ICL_SENSITIVITY_K_STAR];
    *s = (struct icl_sensitivity){0};
    ICL_TRY(times(params, s, err));
    sharp.solver.K_tol = fmax(sharp.solver.K_tol / finer, least);
    const enum icl_status status = icl_predict_items(&sharp, params->theory.level, K_star, &own);
    if (status == ICL_ENOMEM) return icl_err_set(err, status, "%s", own.text);
    if (status != ICL_OK) *K_star = NAN;
    if (!(*K_star > 0) || isinf(*K_star)) return ICL_OK;
    bool grazes = true;
    if (params->theory.level != ICL_LEVEL_ASYMPTOTIC) ICL_TRY(items_implicit(params, s, &grazes, err));
    const bool slow = params->memory.law == ICL_LAW_TABLE && params->theory.level != ICL_LEVEL_ASYMPTOTIC;
    return grazes && !slow ? items_differences(params, s, err) : ICL_OK;
}
