#include "iclkin/phase.h"

#include <math.h>
#include <stdio.h>

#include "iclkin/predict.h"

static enum icl_status solve_cell(const struct icl_params *params, const struct icl_axis *axis, size_t axes,
                                  const size_t *point, struct icl_phase_cell *cell, struct icl_err *err) {
    struct icl_params at = *params;
    struct icl_traj_result result;
    for (size_t k = 0; k < axes; k++) ICL_TRY(icl_axis_set(&axis[k], point[k], &at, &cell->value[k], err));
    ICL_TRY(icl_params_check(&at, err));
    ICL_TRY(icl_predict_times(&at, at.theory.level, ICL_TRAJ_TO_END, &result, err));
    cell->t_icl = result.t_icl;
    cell->t_iwl = result.t_iwl;
    cell->t_loss = result.t_loss;
    cell->outcome = result.outcome;
    return ICL_OK;
}

void icl_phase_cell(const struct icl_params *params, const struct icl_axis *axis, size_t axes, const size_t *point,
                    struct icl_phase_cell *cell) {
    struct icl_err err = {ICL_OK, ""};
    *cell = (struct icl_phase_cell){.t_icl = NAN, .t_iwl = NAN, .t_loss = NAN, .status = "ok"};
    for (size_t k = 0; k < axes; k++) cell->value[k] = icl_axis_value(&axis[k], point[k]);
    if (solve_cell(params, axis, axes, point, cell, &err) == ICL_OK) return;
    cell->failed = true;
    snprintf(cell->status, sizeof cell->status, "%.*s", ICL_PHASE_STATUS - 1, err.text);
}

enum icl_phase_class icl_phase_class(enum icl_outcome outcome) {
    if (outcome == ICL_OUTCOME_TRANSIENT) return ICL_PHASE_TRANSIENT;
    return outcome == ICL_OUTCOME_ICL ? ICL_PHASE_KEPT : ICL_PHASE_NONE;
}

const char *icl_phase_name(enum icl_phase_class class_) {
    static const char *const names[ICL_PHASE_CLASSES] = {"none", "kept", "transient"};
    return names[class_];
}

/* One line to be searched. */
struct line {
    const struct icl_params *params;
    const struct icl_axis *axis;
    bool continuous;       /* x is taken as it is; else rounded to whole numbers, `grain` apart */
    double grain, floor_x; /* floor_x: the least |x| the tolerance is relative to */
    struct icl_phase_roots *roots;
};

struct point {
    double x;
    enum icl_phase_class class_;
};

static enum icl_status look(struct line *line, double x, struct point *point, struct icl_err *err) {
    struct icl_params at = *line->params;
    struct icl_traj_result result;
    const struct icl_param *param = line->axis->param;
    ICL_TRY(icl_params_put(&at, param, x, err));
    ICL_TRY(icl_params_check(&at, err));
    if (line->continuous && param->type == ICL_PARAM_REAL) {
        *(double *)((char *)&at + param->offset) = x;
    } else {
        x = icl_params_get(&at, param);
    }
    line->roots->solves++;
    const enum icl_status status = icl_predict_times(&at, at.theory.level, ICL_TRAJ_TO_END, &result, err);
    if (status != ICL_OK) return icl_err_context(err, status, "%s = %g", line->axis->name, x);
    *point = (struct point){x, icl_phase_class(result.outcome)};
    return ICL_OK;
}

static bool continuous(const struct icl_param *param) {
    return param->type == ICL_PARAM_BOTH || param->type == ICL_PARAM_REAL;
}

const char *icl_phase_reading(const struct icl_axis *axis) {
    if (!continuous(axis->param)) return "midway between neighbouring whole numbers, x - error and x + error";
    return axis->param->flags & ICL_P_INTEGER ? "a real number, as K* is: whole numbers lie on either side of it"
                                              : "the middle of a bracket, x - error to x + error";
}

static bool narrow(const struct line *line, const struct point *a, const struct point *b) {
    const double width = fabs(b->x - a->x), size = fmax(fmin(fabs(a->x), fabs(b->x)), line->floor_x);
    if (!line->continuous) return width <= line->grain;
    return width <= line->params->solver.K_tol * size;
}

static double middle(const struct line *line, const struct point *a, const struct point *b) {
    return line->axis->log ? sqrt(a->x * b->x) : 0.5 * (a->x + b->x);
}

static void keep(struct line *line, const struct point *a, const struct point *b) {
    struct icl_phase_roots *roots = line->roots;
    if (roots->count == ICL_PHASE_ROOTS) {
        roots->more = true;
        return;
    }
    const bool rising = a->x <= b->x;
    roots->root[roots->count++] = (struct icl_phase_root){middle(line, a, b), 0.5 * fabs(b->x - a->x),
                                                          (rising ? a : b)->class_, (rising ? b : a)->class_};
}

/* A point that cannot be solved hides the changes on both its sides, and no others. */
static void note(struct line *line, const struct icl_err *why) {
    struct icl_phase_roots *roots = line->roots;
    if (roots->failed++ == 0) snprintf(roots->why, sizeof roots->why, "%.*s", ICL_PHASE_STATUS - 1, why->text);
}

/* Bisects a change of class between neighbours of the scan. A third class in the middle means two changes: the far one
 * waits on the stack. */
static enum icl_status bisect(struct line *line, struct point a, struct point b, struct icl_err *err) {
    struct point waiting[ICL_PHASE_CLASSES];
    size_t depth = 0;
    for (;;) {
        while (!narrow(line, &a, &b)) {
            struct point m;
            ICL_TRY(look(line, middle(line, &a, &b), &m, err));
            if (m.x == a.x || m.x == b.x) break;
            if (m.class_ == a.class_) {
                a = m;
                continue;
            }
            if (m.class_ != b.class_ && depth < ICL_PHASE_CLASSES) waiting[depth++] = b;
            b = m;
        }
        keep(line, &a, &b);
        a = b;
        if (depth == 0) return ICL_OK;
        b = waiting[--depth];
        if (a.class_ == b.class_) return ICL_OK;
    }
}

enum icl_status icl_phase_roots(const struct icl_params *params, const struct icl_axis *axis,
                                struct icl_phase_roots *roots, struct icl_err *err) {
    const struct icl_param *param = axis->param;
    const double thousandth = 1e-3;
    struct line line = {.params = params, .axis = axis, .roots = roots};
    line.continuous = continuous(param);
    line.grain =
        param->flags & ICL_P_EVEN || (param == icl_params_find("task.N") && params->task.labels == ICL_LABELS_BALANCED)
            ? 2
            : 1;
    line.floor_x = thousandth * fabs(axis->hi - axis->lo);
    *roots = (struct icl_phase_roots){0};
    struct point before, here;
    struct icl_err why = {ICL_OK, ""};
    bool known = false, any = false;
    for (size_t i = 0; i < axis->n; i++) {
        enum icl_status status = look(&line, icl_axis_value(axis, i), &here, &why);
        const bool solved = status == ICL_OK;
        if (solved && !any) roots->first = here.class_;
        if (solved && known && here.class_ != before.class_) status = bisect(&line, before, here, &why);
        if (status == ICL_ENOMEM) {
            if (err) *err = why;
            return status;
        }
        if (status != ICL_OK) note(&line, &why);
        any = any || solved;
        known = solved;
        before = here;
    }
    if (any) return ICL_OK;
    return ICL_ERR(err, ICL_ENUMERIC, "%s", roots->why);
}
