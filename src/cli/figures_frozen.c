/* figures_frozen.c -- figures of the (w, beta) plane with memorization frozen: phaseplane, bifurcation. */
#include <math.h>
#include <string.h>

#include "cli/figures_map.h"
#include "iclkin/closed.h"
#include "iclkin/fixedpoints.h"
#include "iclkin/model.h"

/* ---- phaseplane ------------------------------------------------------------------------------------------------- */

enum { STATES = 3, STARTS = 6, ARROWS = 12, GRID = 128 };

/* The part of the plane that is drawn. */
static const struct icl_fixedpoints_window view = {-1.5, 7, -1.5, 7.5};

/* dw and dbeta: an arrow's, or half a cell's sides. */
static const struct icl_column plane_columns[] = {
    {"state", "text"}, {"curve", "text"}, {"c1", "1"}, {"w", "1"}, {"beta", "1"}, {"dw", "1"}, {"dbeta", "1"},
};

struct plane {
    struct icl_params params;
    struct icl_table *table;
    const char *state;
    double last[2]; /* of the path being drawn */
    bool started;
};

static enum icl_status add(const struct plane *plane, const char *curve, double w, double beta, double dw, double dbeta,
                           struct icl_err *err) {
    const union icl_cell cells[] = {{.text = plane->state}, {.text = curve},  {.number = plane->params.memory.c1},
                                    {.number = w},          {.number = beta}, {.number = dw},
                                    {.number = dbeta}};
    return icl_table_row(plane->table, cells, err);
}

/* The starts from which ICL is acquired and kept, as cells: found by integration, without the separatrix. */
static enum icl_status add_basin(const struct plane *plane, struct cmd_progress *progress, struct icl_err *err) {
    struct figures_map map = {.params = &plane->params, .progress = progress};
    enum icl_status status = ICL_OK;
    ICL_TRY(icl_axis_parse(&map.axis[0], "init.w=-1.5:7:35", err));
    ICL_TRY(icl_axis_parse(&map.axis[1], "init.beta=-1.5:7.5:37", err));
    for (size_t k = 0; k < MAP_AXES; k++) map.n[k] = map.axis[k].n;
    status = figures_map_solve(&map, err);
    const double dw = (view.w_hi - view.w_lo) / (double)(map.n[0] - 1) / 2;
    const double dbeta = (view.beta_hi - view.beta_lo) / (double)(map.n[1] - 1) / 2;
    for (size_t i = 0; i < map.n[0] * map.n[1] && status == ICL_OK; i++) {
        const struct icl_phase_cell *cell = &map.cell[i];
        if (!cell->failed && cell->outcome == ICL_OUTCOME_ICL)
            status = add(plane, "basin", cell->value[0], cell->value[1], dw, dbeta, err);
    }
    figures_map_free(&map);
    return status == ICL_OK ? icl_table_break(plane->table, err) : status;
}

/* Direction of the flow, as arrows of one length centred on a coarse grid. */
static enum icl_status add_flow(const struct plane *plane, struct icl_err *err) {
    const double length = 0.45;
    struct icl_model *model;
    const struct icl_params *p = &plane->params;
    ICL_TRY(icl_model_alloc(&model, p, p->theory.level, p->task.K, err));
    enum icl_status status = ICL_OK;
    for (size_t k = 0; k < (size_t)ARROWS * ARROWS && status == ICL_OK; k++) {
        const size_t i = k / ARROWS, j = k % ARROWS;
        const double w = view.w_lo + (view.w_hi - view.w_lo) * ((double)i + 0.5) / ARROWS;
        const double beta = view.beta_lo + (view.beta_hi - view.beta_lo) * ((double)j + 0.5) / ARROWS;
        double f[2];
        icl_model_field(model, 0, w, beta, f, NULL);
        const double speed = hypot(f[0], f[1]);
        if (!(speed > 0) || !isfinite(speed)) continue;
        const double dw = length * f[0] / speed, dbeta = length * f[1] / speed;
        status = add(plane, "flow", w - dw / 2, beta - dbeta / 2, dw, dbeta, err);
    }
    icl_model_free(model);
    return status == ICL_OK ? icl_table_break(plane->table, err) : status;
}

static enum icl_status path_sink(double t, const double *y, void *context, struct icl_err *err) {
    const double step = 0.04;
    struct plane *plane = context;
    (void)t;
    if (plane->started && hypot(y[ICL_W] - plane->last[0], y[ICL_BETA] - plane->last[1]) < step) return ICL_OK;
    plane->started = true;
    plane->last[0] = y[ICL_W];
    plane->last[1] = y[ICL_BETA];
    return add(plane, "path", y[ICL_W], y[ICL_BETA], 0, 0, err);
}

static enum icl_status add_paths(struct plane *plane, struct icl_err *err) {
    const struct icl_params *p = &plane->params;
    const double start[STARTS][2] = {
        {p->init.w, p->init.beta}, {-1.2, 2.5}, {1.2, -1.2}, {6.5, 0.8}, {0.5, 7}, {6.5, 7}};
    struct icl_traj *traj;
    struct icl_traj_result end;
    ICL_TRY(icl_traj_alloc(&traj, p, p->theory.level, p->task.K, err));
    enum icl_status status = ICL_OK;
    for (size_t i = 0; i < STARTS && status == ICL_OK; i++) {
        plane->started = false;
        status = icl_traj_run(traj, start[i][0], start[i][1], ICL_TRAJ_TO_END, path_sink, plane, &end, err);
        if (status == ICL_OK) status = icl_table_break(plane->table, err);
        if (status == ICL_OK) status = add(plane, i == 0 ? "origin" : "start", start[i][0], start[i][1], 0, 0, err);
        if (status == ICL_OK) status = icl_table_break(plane->table, err);
    }
    icl_traj_free(traj);
    return status;
}

static enum icl_status add_curves(const struct plane *plane, const struct icl_fixedpoints_curves *curves,
                                  struct icl_err *err) {
    for (size_t i = 0; i < curves->count; i++) {
        const struct icl_fixedpoints_vertex *v = &curves->at[i];
        if (i > 0 && v->piece != v[-1].piece) ICL_TRY(icl_table_break(plane->table, err));
        ICL_TRY(add(plane, icl_fixedpoints_curves_name(v->curve), v->w, v->beta, 0, 0, err));
    }
    return icl_table_break(plane->table, err);
}

static enum icl_status add_points(const struct plane *plane, const struct icl_fixedpoints_points *points,
                                  struct icl_err *err) {
    for (size_t i = 0; i < points->count; i++) {
        const struct icl_fixedpoints_point *p = &points->at[i];
        ICL_TRY(add(plane, icl_fixedpoints_name(p->type), p->w, p->beta, 0, 0, err));
        ICL_TRY(icl_table_break(plane->table, err));
    }
    return ICL_OK;
}

static enum icl_status add_state(struct plane *plane, struct cmd_progress *progress, struct icl_err *err) {
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_curves curves = {0};
    enum icl_status status = add_basin(plane, progress, err);
    if (status == ICL_OK) status = add_flow(plane, err);
    if (status == ICL_OK) status = icl_fixedpoints_solve(&plane->params, 0, &view, &points, err);
    if (status == ICL_OK) status = icl_fixedpoints_curves_nullclines(&plane->params, 0, &view, GRID, &curves, err);
    for (size_t i = 0; i < points.count && status == ICL_OK; i++)
        status = icl_fixedpoints_separatrix(&plane->params, 0, &view, &points.at[i], &curves, err);
    if (status == ICL_OK) status = add_curves(plane, &curves, err);
    if (status == ICL_OK) status = add_paths(plane, err);
    if (status == ICL_OK) status = add_points(plane, &points, err);
    icl_fixedpoints_curves_free(&curves);
    icl_fixedpoints_free(&points);
    return status;
}

enum icl_status figures_phaseplane(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) {
    static const char *const state[STATES] = {"before", "during", "after"};
    const double c1[STATES] = {0.5, 0.12, 0.05};
    struct plane plane = {.params = *params};
    ICL_TRY(icl_table_alloc(table, sizeof plane_columns / sizeof *plane_columns, plane_columns, err));
    plane.table = *table;
    plane.params.memory.law = ICL_LAW_CONSTANT;
    progress->total = (size_t)STATES * 35 * 37;
    for (size_t i = 0; i < STATES; i++) {
        plane.state = state[i];
        plane.params.memory.c1 = c1[i];
        ICL_TRY(add_state(&plane, progress, err));
    }
    return ICL_OK;
}

/* ---- bifurcation ------------------------------------------------------------------------------------------------ */

static const struct icl_column bifurcation_columns[] = {
    {"parameter", "text"}, {"level", "text"}, {"curve", "text"}, {"x", "1/t or 1"}, {"w", "1"}, {"beta", "1"},
};

struct diagram {
    struct icl_params params;
    struct icl_table *table;
    const char *parameter;
    struct icl_axis axis;
};

static enum icl_status add_row(const struct diagram *diagram, const char *curve, double x, double w, double beta,
                               struct icl_err *err) {
    const union icl_cell cells[] = {{.text = diagram->parameter},
                                    {.text = icl_traj_level(diagram->params.theory.level)},
                                    {.text = curve},
                                    {.number = x},
                                    {.number = w},
                                    {.number = beta}};
    return icl_table_row(diagram->table, cells, err);
}

static enum icl_status add_point(const struct diagram *diagram, const char *curve,
                                 const struct icl_fixedpoints_point *p, struct icl_err *err) {
    return add_row(diagram, curve, p->x, p->w, p->beta, err);
}

/* A name in the middle of a stable stretch: attention selects the target there (e^beta > sqrt N), or does not. */
static enum icl_status add_name(const struct diagram *diagram, const struct icl_fixedpoints_point *p,
                                struct icl_err *err) {
    const bool selects = p->beta > log((double)diagram->params.task.N) / 2;
    ICL_TRY(icl_table_break(diagram->table, err));
    ICL_TRY(add_point(diagram, selects ? "icl" : "none", p, err));
    return icl_table_break(diagram->table, err);
}

/* Stretches of one stability; a fold ends one and begins the next. */
static enum icl_status add_branches(const struct diagram *diagram, const struct icl_fixedpoints_points *points,
                                    struct icl_err *err) {
    size_t first = 0;
    for (size_t i = 0; i < points->count; i++) {
        const struct icl_fixedpoints_point *p = &points->at[i];
        const bool last = i + 1 == points->count || p[1].branch != p->branch;
        if (p->type == ICL_FIXEDPOINTS_FOLD) {
            ICL_TRY(add_point(diagram, "fold", p, err));
            ICL_TRY(icl_table_break(diagram->table, err));
            if (!last) ICL_TRY(add_point(diagram, icl_fixedpoints_name(p[1].type), p, err));
            first = i + 1;
            continue;
        }
        ICL_TRY(add_point(diagram, icl_fixedpoints_name(p->type), p, err));
        const bool ends = last || p[1].type == ICL_FIXEDPOINTS_FOLD;
        if (!ends) continue;
        if (!last) ICL_TRY(add_point(diagram, icl_fixedpoints_name(p->type), p + 1, err));
        if (p->type == ICL_FIXEDPOINTS_STABLE && diagram->params.theory.level == ICL_LEVEL_MEANFIELD)
            ICL_TRY(add_name(diagram, &points->at[(first + i) / 2], err));
        ICL_TRY(icl_table_break(diagram->table, err));
        first = i + 1;
    }
    return ICL_OK;
}

/* The c1 at which (T9) holds for the decays as they are: the ratio falls as c1 grows. NaN where there is none. */
static double fold_c1(const struct icl_params *params) {
    const struct icl_memory *memory = &params->memory;
    const double N = (double)params->task.N, lambda_w = params->train.lambda_w, lambda_beta = params->train.lambda_beta;
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double c1 = (low + high) / 2, c2 = isnan(memory->c2) ? 1 - c1 : memory->c2;
        *(icl_closed_fold_ratio(N, c1, c2, lambda_w, lambda_beta) > 1 ? &low : &high) = c1;
    }
    return low > 0 && high < 1 ? (low + high) / 2 : NAN;
}

/* (T9): beta = 1/2, and w from dbeta/dt = 0. */
static enum icl_status add_fold(const struct diagram *diagram, struct icl_err *err) {
    const struct icl_params *p = &diagram->params;
    const bool over_decay = diagram->axis.param == icl_params_find("train.lambda");
    const double N = (double)p->task.N, c2 = isnan(p->memory.c2) ? 1 - p->memory.c1 : p->memory.c2, beta = 0.5;
    const double x = over_decay ? icl_closed_fold(N, p->memory.c1, c2) : fold_c1(p);
    const double lambda_beta = over_decay ? x : p->train.lambda_beta, c1 = over_decay ? p->memory.c1 : x;
    if (p->task.labels == ICL_LABELS_BALANCED || !isfinite(x)) return ICL_OK;
    ICL_TRY(add_row(diagram, "T9", x, lambda_beta * beta * N / (c1 * exp(beta)), beta, err));
    return icl_table_break(diagram->table, err);
}

static enum icl_status add_diagram(struct diagram *diagram, const char *axis, struct cmd_progress *progress,
                                   struct icl_err *err) {
    static const enum icl_level levels[] = {ICL_LEVEL_REDUCED, ICL_LEVEL_MEANFIELD};
    ICL_TRY(icl_axis_parse(&diagram->axis, axis, err));
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        struct icl_fixedpoints_points points = {0};
        struct icl_fixedpoints_window box;
        diagram->params.theory.level = levels[l];
        icl_fixedpoints_box(&diagram->params, &box);
        enum icl_status status = icl_fixedpoints_branches(&diagram->params, 0, &box, &diagram->axis, &points, err);
        if (status == ICL_OK) status = add_branches(diagram, &points, err);
        icl_fixedpoints_free(&points);
        if (status != ICL_OK) return status;
        cmd_progress_step(progress);
    }
    return add_fold(diagram, err);
}

enum icl_status figures_bifurcation(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) {
    struct diagram diagram = {.params = *params};
    ICL_TRY(icl_table_alloc(table, sizeof bifurcation_columns / sizeof *bifurcation_columns, bifurcation_columns, err));
    diagram.table = *table;
    diagram.params.memory.law = ICL_LAW_CONSTANT;
    progress->total = 4;
    diagram.parameter = "lambda";
    ICL_TRY(add_diagram(&diagram, "train.lambda=1e-3:1e-1:61:log", progress, err));
    diagram.parameter = "c1";
    return add_diagram(&diagram, "memory.c1=0.01:0.5:61", progress, err);
}
