/* figures_time.c -- figures of one run in time: levels, transient. */
#include <math.h>

#include "cli/figures.h"
#include "iclkin/gauge.h"
#include "iclkin/traj.h"

/* How a trajectory becomes rows. A row is kept where the curve has moved since the last one; a run that goes to
 * infinity is cut where the others end, since its last stretch would hide them. */
struct path {
    struct icl_table *table;
    struct icl_gauge *gauge;
    const char *level;
    double most_w, most_beta; /* rows beyond are left out */
    double least_w, least_beta;
    double step_t, step_y, t_max;
    double last_t, last_y[ICL_DIM], last_acc;
    double reached_w, reached_beta;
    bool started;
};

/* ---- levels ----------------------------------------------------------------------------------------------------- */

static const struct icl_column levels_columns[] = {
    {"level", "text"}, {"curve", "text"}, {"t", "lr x steps"}, {"w", "1"}, {"beta", "1"}, {"c1", "1"}, {"acc_icl", "1"},
};

static enum icl_status levels_row(const struct path *path, const char *curve, double t, const double *y,
                                  struct icl_err *err) {
    struct icl_observables o;
    icl_gauge_all(path->gauge, y, &o);
    const union icl_cell cells[] = {{.text = path->level}, {.text = curve},         {.number = t},
                                    {.number = y[ICL_W]},  {.number = y[ICL_BETA]}, {.number = o.c1},
                                    {.number = o.acc_icl}};
    return icl_table_row(path->table, cells, err);
}

static enum icl_status levels_sink(double t, const double *y, void *context, struct icl_err *err) {
    struct path *path = context;
    if (!(fabs(y[ICL_W]) <= path->most_w && fabs(y[ICL_BETA]) <= path->most_beta)) return ICL_OK;
    const double moved = fmax(fabs(y[ICL_W] - path->last_y[ICL_W]), fabs(y[ICL_BETA] - path->last_y[ICL_BETA]));
    if (path->started && t < path->t_max && t - path->last_t < path->step_t && moved < path->step_y) return ICL_OK;
    path->started = true;
    path->last_t = t;
    for (size_t i = 0; i < ICL_DIM; i++) path->last_y[i] = y[i];
    path->reached_w = fmax(path->reached_w, fabs(y[ICL_W]));
    path->reached_beta = fmax(path->reached_beta, fabs(y[ICL_BETA]));
    path->least_w = fmin(path->least_w, y[ICL_W]);
    path->least_beta = fmin(path->least_beta, y[ICL_BETA]);
    return levels_row(path, "path", t, y, err);
}

/* Where a level's name may stand: on its way up, or on the plateau of a run that has one. */
static enum icl_status levels_label(const struct path *path, size_t first, double t_icl, double t_max,
                                    struct icl_err *err) {
    const double part_beta = path->level == icl_traj_level(ICL_LEVEL_MEANFIELD) ? INFINITY : 0.6, part_t = 0.5;
    const double t_label = (isfinite(t_icl) ? t_icl : 0) * (1 - part_t) + t_max * part_t;
    enum { LEVEL, CURVE, T, W, BETA };
    for (size_t i = first; i < icl_table_rows(path->table); i++) {
        const double y[ICL_DIM] = {icl_table_value(path->table, i, W), icl_table_value(path->table, i, BETA), 0};
        const double t = icl_table_value(path->table, i, T);
        if (y[ICL_BETA] < part_beta * path->most_beta && t < t_label) continue;
        ICL_TRY(icl_table_break(path->table, err));
        return levels_row(path, "label", t, y, err);
    }
    return ICL_OK;
}

/* The state at the time of an event. */
struct moment {
    double t, y[ICL_DIM];
};

static enum icl_status moment_sink(double t, const double *y, void *context, struct icl_err *err) {
    struct moment *moment = context;
    (void)err;
    for (size_t i = 0; t == moment->t && i < ICL_DIM; i++) moment->y[i] = y[i];
    return ICL_OK;
}

/* What stands out on a level's curve: acquisition, and the blow-up as a line across. */
static enum icl_status levels_marks(const struct icl_params *params, enum icl_level level, struct icl_traj *traj,
                                    const struct path *path, const struct icl_traj_result *result,
                                    struct icl_err *err) {
    const struct icl_init *init = &params->init;
    if (isfinite(result->t_icl) && level != ICL_LEVEL_ASYMPTOTIC) {
        struct moment at = {result->t_icl, {NAN, NAN, 0}};
        struct icl_traj_result again;
        ICL_TRY(icl_traj_run(traj, init->w, init->beta, ICL_TRAJ_TO_ICL, moment_sink, &at, &again, err));
        ICL_TRY(icl_table_break(path->table, err));
        ICL_TRY(levels_row(path, "t_icl", at.t, at.y, err));
    }
    const double blowup = level == ICL_LEVEL_ASYMPTOTIC ? result->t_icl : result->t_blowup;
    if (level != ICL_LEVEL_MEANFIELD && blowup <= params->train.t_max) {
        const double low[ICL_DIM] = {path->least_w, path->least_beta, 0};
        const double high[ICL_DIM] = {path->most_w, path->most_beta, 0};
        ICL_TRY(icl_table_break(path->table, err));
        ICL_TRY(levels_row(path, "blowup", blowup, low, err));
        ICL_TRY(levels_row(path, "blowup", blowup, high, err));
    }
    return icl_table_break(path->table, err);
}

static enum icl_status levels_path(const struct icl_params *params, enum icl_level level, struct path *path,
                                   struct icl_err *err) {
    struct icl_traj *traj = NULL;
    struct icl_traj_result result;
    path->level = icl_traj_level((enum icl_level)level);
    path->started = false;
    path->gauge = NULL;
    const size_t first = icl_table_rows(path->table);
    enum icl_status status = icl_gauge_alloc(&path->gauge, params, level, params->task.K, true, err);
    if (status == ICL_OK) status = icl_traj_alloc(&traj, params, level, params->task.K, err);
    if (status == ICL_OK)
        status =
            icl_traj_run(traj, params->init.w, params->init.beta, ICL_TRAJ_TO_END, levels_sink, path, &result, err);
    if (status == ICL_OK) status = levels_label(path, first, result.t_icl, params->train.t_max, err);
    if (status == ICL_OK) status = levels_marks(params, level, traj, path, &result, err);
    icl_traj_free(traj);
    icl_gauge_free(path->gauge);
    return status;
}

enum icl_status figures_levels(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                               struct icl_err *err) {
    const double rows_by_t = 200, rows_by_y = 0.03, beyond = 1.12;
    struct path path = {.most_w = INFINITY,
                        .most_beta = INFINITY,
                        .step_t = params->train.t_max / rows_by_t,
                        .step_y = rows_by_y,
                        .t_max = params->train.t_max};
    ICL_TRY(icl_table_alloc(table, sizeof levels_columns / sizeof *levels_columns, levels_columns, err));
    path.table = *table;
    progress->total = ICL_LEVEL_COUNT;
    for (int level = ICL_LEVEL_COUNT - 1; level >= 0; level--) { /* the mean field first: it stays finite */
        ICL_TRY(levels_path(params, (enum icl_level)level, &path, err));
        path.most_w = beyond * fmax(path.reached_w, 1);
        path.most_beta = beyond * fmax(path.reached_beta, 1);
        cmd_progress_step(progress);
    }
    return ICL_OK;
}

/* ---- transient -------------------------------------------------------------------------------------------------- */

static const struct icl_column transient_columns[] = {
    {"curve", "text"}, {"t", "lr x steps"}, {"w", "1"}, {"beta", "1"}, {"c1", "1"}, {"acc_icl", "1"}, {"acc_iwl", "1"},
};

static enum icl_status transient_row(const struct path *path, const char *curve, double t, const double *y,
                                     const struct icl_observables *o, struct icl_err *err) {
    const union icl_cell cells[] = {{.text = curve},         {.number = t},     {.number = y[ICL_W]},
                                    {.number = y[ICL_BETA]}, {.number = o->c1}, {.number = o->acc_icl},
                                    {.number = o->acc_iwl}};
    return icl_table_row(path->table, cells, err);
}

static enum icl_status transient_sink(double t, const double *y, void *context, struct icl_err *err) {
    struct path *path = context;
    struct icl_observables o;
    icl_gauge_all(path->gauge, y, &o);
    const double moved = fmax(fmax(fabs(y[ICL_W] - path->last_y[ICL_W]), fabs(y[ICL_BETA] - path->last_y[ICL_BETA])),
                              10 * fabs(o.acc_icl - path->last_acc));
    if (path->started && t < path->t_max && t - path->last_t < path->step_t && moved < path->step_y) return ICL_OK;
    path->started = true;
    path->last_t = t;
    path->last_acc = o.acc_icl;
    for (size_t i = 0; i < ICL_DIM; i++) path->last_y[i] = y[i];
    return transient_row(path, "path", t, y, &o, err);
}

/* Rows that stand out: acquisition, memorization, loss; and where names may stand, while ICL lives. */
static enum icl_status transient_marks(const struct path *path, const struct icl_traj_result *result, double t_max,
                                       struct icl_err *err) {
    enum { CURVE, T, W, MARKS = 4 };
    const char *const name[MARKS] = {"t_icl", "t_iwl", "t_loss", "label"};
    const double born = isfinite(result->t_icl) ? result->t_icl : 0;
    const double died = isfinite(result->t_loss) ? result->t_loss : t_max;
    const double at[MARKS] = {result->t_icl, result->t_iwl, result->t_loss, (born + died) / 2};
    const size_t rows = icl_table_rows(path->table);
    for (size_t i = 0; i < MARKS; i++) {
        size_t row = 0;
        while (row < rows && icl_table_value(path->table, row, T) < at[i]) row++;
        if (row == rows) continue;
        union icl_cell cells[] = {{.text = name[i]}, {.number = at[i]}, {0}, {0}, {0}, {0}, {0}};
        for (size_t j = W; j < sizeof cells / sizeof *cells; j++)
            cells[j].number = icl_table_value(path->table, row, j);
        ICL_TRY(icl_table_break(path->table, err));
        ICL_TRY(icl_table_row(path->table, cells, err));
    }
    return ICL_OK;
}

enum icl_status figures_transient(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) {
    const double rows_by_t = 200, rows_by_y = 0.05;
    struct path path = {.step_t = params->train.t_max / rows_by_t, .step_y = rows_by_y, .t_max = params->train.t_max};
    struct icl_traj *traj = NULL;
    struct icl_traj_result result;
    const enum icl_level level = params->theory.level;
    ICL_TRY(icl_table_alloc(table, sizeof transient_columns / sizeof *transient_columns, transient_columns, err));
    path.table = *table;
    progress->total = 1;
    enum icl_status status = icl_gauge_alloc(&path.gauge, params, level, params->task.K, true, err);
    if (status == ICL_OK) status = icl_traj_alloc(&traj, params, level, params->task.K, err);
    if (status == ICL_OK)
        status =
            icl_traj_run(traj, params->init.w, params->init.beta, ICL_TRAJ_TO_END, transient_sink, &path, &result, err);
    if (status == ICL_OK) status = transient_marks(&path, &result, params->train.t_max, err);
    icl_traj_free(traj);
    icl_gauge_free(path.gauge);
    return status;
}
