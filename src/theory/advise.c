#include "iclkin/advise.h"

#include <math.h>
#include <stdio.h>

#include "iclkin/memlaw.h"
#include "iclkin/predict.h"

enum { POINTS = 25 };

/* The ranges; see advise.h. */
static void range_of(const struct icl_params *params, size_t line, struct icl_axis *axis) {
    static const char *const names[ICL_ADVISE_LINES] = {"init.beta", "init.w", "train.lambda", "task.K", "task.N"};
    const double below = 4, above_beta = 8, above_w = 6, weakest = 0.01, strongest = 1, most_N = 1e4;
    const double least_K = 10, most_K = 1e7, least_N = 4;
    double lo, hi;
    *axis = (struct icl_axis){.param = icl_params_find(names[line]), .n = POINTS, .log = line > 1};
    snprintf(axis->name, sizeof axis->name, "%s", names[line]);
    switch (line) {
    case 0:
    case 1:
        lo = line == 0 ? params->init.beta : params->init.w;
        axis->lo = fmax(fmin(lo, 0) - below, axis->param->lo);
        axis->hi = fmin(fmax(lo, 0) + (line == 0 ? above_beta : above_w), axis->param->hi);
        break;
    case 2:
        axis->lo = fmin(weakest / params->train.t_max, strongest / 10);
        axis->hi = strongest;
        break;
    case 3:
        icl_memlaw_range(params, &lo, &hi);
        axis->lo = lo < least_K ? least_K : ceil(lo / 2) * 2;
        axis->hi = hi > most_K ? most_K : floor(hi / 2) * 2;
        break;
    default:
        axis->lo = fmax(least_N, 2 * (double)params->task.copies);
        axis->hi = fmax(most_N, axis->lo);
    }
}

/* icl_phase_roots keeps the order in which it went along the axis, which here is that of x. */
size_t icl_advise_intervals(const struct icl_advise_line *line, enum icl_phase_class class_,
                            struct icl_advise_interval interval[ICL_ADVISE_INTERVALS]) {
    const struct icl_phase_roots *roots = &line->roots;
    size_t count = 0;
    bool inside = !line->failed && roots->first == class_;
    struct icl_advise_interval at = {-INFINITY, 0, INFINITY, 0};
    for (size_t i = 0; i < roots->count && !line->failed; i++) {
        const struct icl_phase_root *root = &roots->root[i];
        if (inside && root->above != class_) {
            at.to = root->x;
            at.to_error = root->error;
            interval[count++] = at;
            inside = false;
        } else if (!inside && root->above == class_) {
            at = (struct icl_advise_interval){root->x, root->error, INFINITY, 0};
            inside = true;
        }
    }
    if (inside) interval[count++] = at;
    return count;
}

enum icl_status icl_advise_run(const struct icl_params *params, struct icl_advise *advise, struct icl_err *err) {
    struct icl_traj_result result;
    *advise = (struct icl_advise){.now = ICL_PHASE_NONE};
    ICL_TRY(icl_predict_times(params, params->theory.level, ICL_TRAJ_TO_END, &result, err));
    advise->now = icl_phase_class(result.outcome);
    for (size_t i = 0; i < ICL_ADVISE_LINES; i++) {
        struct icl_advise_line *line = &advise->line[i];
        struct icl_err own = {ICL_OK, ""};
        range_of(params, i, &line->axis);
        line->now = icl_params_get(params, line->axis.param);
        const enum icl_status status = icl_phase_roots(params, &line->axis, &line->roots, &own);
        if (status == ICL_ENOMEM) return icl_err_set(err, status, "%s", own.text);
        line->failed = status != ICL_OK;
    }
    return ICL_OK;
}
