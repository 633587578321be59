/* figures_plane.c -- the figure landscape: the (w, beta) plane for three states of the MLP. */
#include <math.h>

#include "cli/figures.h"
#include "iclkin/gauge.h"
#include "iclkin/traj.h"

/* The part of the plane that is drawn, and how finely. */
static const double w_least = -1.5, w_most = 7, beta_least = -1.5, beta_most = 7.5;
enum { CELLS = 81, ARROWS = 12, STARTS = 6, STATES = 3 };

static const struct icl_column columns[] = {
    {"c1", "1"}, {"curve", "text"}, {"w", "1"}, {"beta", "1"}, {"value", "nat"}, {"dw", "1"}, {"dbeta", "1"},
};

struct plane {
    struct icl_params params;
    struct icl_table *table;
    struct icl_gauge *gauge;
    struct icl_model *model;
    struct icl_traj *traj;
    double ends[2], last[2]; /* of the path being drawn */
    bool started;
};

static enum icl_status add(const struct plane *plane, const char *curve, double w, double beta, double value, double dw,
                           double dbeta, struct icl_err *err) {
    const union icl_cell cells[] = {{.number = plane->params.memory.c1},
                                    {.text = curve},
                                    {.number = w},
                                    {.number = beta},
                                    {.number = value},
                                    {.number = dw},
                                    {.number = dbeta}};
    return icl_table_row(plane->table, cells, err);
}

/* Two blank lines: the next rows are another data set (gnuplot's index). Each state has five: loss, arrow, path, start,
 * end. */
static enum icl_status end_set(const struct plane *plane, struct icl_err *err) {
    ICL_TRY(icl_table_break(plane->table, err));
    return icl_table_break(plane->table, err);
}

/* The loss at one place. */
static double loss(const struct plane *plane, double w, double beta) {
    const double y[ICL_DIM] = {w, beta, 0};
    struct icl_observables o;
    icl_gauge_all(plane->gauge, y, &o);
    return o.loss_train;
}

/* What the flow descends: the loss above its value without attention, and the price of decay. */
static enum icl_status add_cells(const struct plane *plane, struct cmd_progress *progress, struct icl_err *err) {
    const struct icl_train *train = &plane->params.train;
    const double loss_without = loss(plane, 0, 0);
    for (size_t i = 0; i < CELLS; i++) {
        const double w = w_least + (w_most - w_least) * (double)i / (CELLS - 1);
        for (size_t j = 0; j < CELLS; j++) {
            const double beta = beta_least + (beta_most - beta_least) * (double)j / (CELLS - 1);
            const double decay = train->lambda_w * w * w / 2 + train->lambda_beta * beta * beta / 2;
            ICL_TRY(add(plane, "loss", w, beta, loss(plane, w, beta) - loss_without + decay, 0, 0, err));
        }
        ICL_TRY(icl_table_break(plane->table, err));
        cmd_progress_step(progress);
    }
    return icl_table_break(plane->table, err);
}

/* Direction of the flow, as arrows of one length centred on a coarse grid; value is the flow's speed. */
static enum icl_status add_arrows(const struct plane *plane, struct icl_err *err) {
    const double length = 0.45;
    for (size_t i = 0; i < ARROWS; i++)
        for (size_t j = 0; j < ARROWS; j++) {
            const double w = w_least + (w_most - w_least) * ((double)i + 0.5) / ARROWS;
            const double beta = beta_least + (beta_most - beta_least) * ((double)j + 0.5) / ARROWS;
            const double y[ICL_DIM] = {w, beta, 0};
            double dy[ICL_DIM];
            if (icl_model_rhs(0, y, dy, plane->model) != 0) continue;
            const double speed = hypot(dy[ICL_W], dy[ICL_BETA]);
            if (!(speed > 0)) continue;
            const double dw = length * dy[ICL_W] / speed, dbeta = length * dy[ICL_BETA] / speed;
            ICL_TRY(add(plane, "arrow", w - dw / 2, beta - dbeta / 2, speed, dw, dbeta, err));
        }
    return end_set(plane, err);
}

static enum icl_status path_sink(double t, const double *y, void *context, struct icl_err *err) {
    const double step = 0.04;
    struct plane *plane = context;
    if (plane->started && hypot(y[ICL_W] - plane->last[0], y[ICL_BETA] - plane->last[1]) < step) return ICL_OK;
    plane->started = true;
    plane->last[0] = y[ICL_W];
    plane->last[1] = y[ICL_BETA];
    return add(plane, "path", y[ICL_W], y[ICL_BETA], t, 0, 0, err);
}

static enum icl_status add_paths(struct plane *plane, struct icl_err *err) {
    const double start[STARTS][2] = {
        {plane->params.init.w, plane->params.init.beta}, {-1.2, 2.5}, {1.2, -1.2}, {6.5, 0.8}, {0.5, 7}, {6.5, 7}};
    struct icl_traj_result result[STARTS];
    for (size_t i = 0; i < STARTS; i++) {
        plane->started = false;
        ICL_TRY(
            icl_traj_run(plane->traj, start[i][0], start[i][1], ICL_TRAJ_TO_END, path_sink, plane, &result[i], err));
        ICL_TRY(add(plane, "path", result[i].y[ICL_W], result[i].y[ICL_BETA], result[i].t, 0, 0, err));
        ICL_TRY(icl_table_break(plane->table, err));
    }
    ICL_TRY(icl_table_break(plane->table, err));
    for (size_t i = 0; i < STARTS; i++) ICL_TRY(add(plane, "start", start[i][0], start[i][1], 0, 0, 0, err));
    ICL_TRY(end_set(plane, err));
    for (size_t i = 0; i < STARTS; i++)
        ICL_TRY(add(plane, "end", result[i].y[ICL_W], result[i].y[ICL_BETA], result[i].t, 0, 0, err));
    return end_set(plane, err);
}

static enum icl_status add_state(struct plane *plane, struct cmd_progress *progress, struct icl_err *err) {
    const struct icl_params *p = &plane->params;
    const enum icl_level level = ICL_LEVEL_MEANFIELD;
    plane->gauge = NULL;
    plane->model = NULL;
    plane->traj = NULL;
    enum icl_status status = icl_gauge_alloc(&plane->gauge, p, level, p->task.K, true, err);
    if (status == ICL_OK) status = icl_model_alloc(&plane->model, p, level, p->task.K, err);
    if (status == ICL_OK) status = icl_traj_alloc(&plane->traj, p, level, p->task.K, err);
    if (status == ICL_OK) status = add_cells(plane, progress, err);
    if (status == ICL_OK) status = add_arrows(plane, err);
    if (status == ICL_OK) status = add_paths(plane, err);
    icl_traj_free(plane->traj);
    icl_model_free(plane->model);
    icl_gauge_free(plane->gauge);
    return status;
}

enum icl_status figures_landscape(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) {
    const double c1[STATES] = {0.5, 0.2, 0.05}; /* before, during, after memorization */
    struct plane plane = {.params = *params};
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    plane.table = *table;
    plane.params.memory.law = ICL_LAW_CONSTANT;
    progress->total = STATES * CELLS;
    for (size_t i = 0; i < STATES; i++) {
        plane.params.memory.c1 = c1[i];
        ICL_TRY(add_state(&plane, progress, err));
    }
    return ICL_OK;
}
