/* figures_phase.c -- phase diagrams: the outcome in five planes, and t_icl as a map. */
#include <math.h>

#include "cli/figures_map.h"
#include "iclkin/closed.h"
#include "iclkin/memlaw.h"
#include "iclkin/predict.h"

enum { CLOSED = 65 };

/* What the closed forms have to say in a plane. */
enum closed { CLOSED_ITEMS, CLOSED_FOLD, CLOSED_START };

struct plane {
    const char *axis[MAP_AXES];
    enum closed closed;
};

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* Curves: cell; acquired and lost (boundaries); contour, level; closed; label. class: none, iwl, icl, transient. */
static enum icl_status open_table(struct figures_map *map, struct icl_table **table, struct icl_err *err) {
    const char *const x = map->axis[0].param->unit, *const y = map->axis[1].param->unit;
    const struct icl_column columns[] = {
        {"curve", "text"},
        {map->axis[0].name, x},
        {map->axis[1].name, y},
        {"x_lo", x},
        {"x_hi", x},
        {"y_lo", y},
        {"y_hi", y},
        {"class", "1"},
        {"t_icl", "lr x steps"},
        {"outcome", "text"},
    };
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    map->table = *table;
    return ICL_OK;
}

/* Grid points stand in the middle of their boxes, and those of the rim at the rim. */
static double box_edge(const struct icl_axis *axis, size_t i, double half) {
    return figures_map_place(axis, fmin(fmax((double)i + half, 0), (double)(axis->n - 1)));
}

static double class_of(const struct icl_phase_cell *cell) {
    return cell->failed ? NAN : (double)cell->outcome;
}

static enum icl_status add_cells(const struct figures_map *map, struct icl_err *err) {
    const double half = 0.5;
    for (size_t j = 0; j < map->n[1]; j++) {
        for (size_t i = 0; i < map->n[0]; i++) {
            const struct icl_axis *x = &map->axis[0], *y = &map->axis[1];
            const struct icl_phase_cell *cell = &map->cell[j * map->n[0] + i];
            const union icl_cell cells[] = {{.text = "cell"},
                                            {.number = cell->value[0]},
                                            {.number = cell->value[1]},
                                            {.number = box_edge(x, i, -half)},
                                            {.number = box_edge(x, i, half)},
                                            {.number = box_edge(y, j, -half)},
                                            {.number = box_edge(y, j, half)},
                                            {.number = class_of(cell)},
                                            {.number = cell->t_icl},
                                            {.text = cell->failed ? "failed" : icl_traj_outcome(cell->outcome)}};
            ICL_TRY(icl_table_row(map->table, cells, err));
        }
        ICL_TRY(icl_table_break(map->table, err));
    }
    return ICL_OK;
}

/* ---- contours ---------------------------------------------------------------------------------------------------- */

static const double contours[] = {20, 50, 100, 200, 500, 1000, 2000, 5000};
enum { CONTOURS = sizeof contours / sizeof *contours };

/* Where a contour's name may stand: between two rows of one column. */
static enum icl_status name_contour(const struct figures_map *map, double level, struct icl_err *err) {
    const size_t i = map->n[0] * 4 / 5;
    for (size_t j = 0; j + 1 < map->n[1]; j++) {
        const struct icl_phase_cell *low = &map->cell[j * map->n[0] + i], *high = low + map->n[0];
        if (!(low->t_icl < level && high->t_icl >= level && isfinite(high->t_icl))) continue;
        const double share = log(level / low->t_icl) / log(high->t_icl / low->t_icl);
        const double y = figures_map_place(&map->axis[1], (double)j + share);
        return figures_map_add_point(map, "level", low->value[0], y, 0, level, "contour", err);
    }
    return ICL_OK;
}

static enum icl_status add_contours(struct figures_map *map, struct icl_err *err) {
    for (size_t l = 0; l < CONTOURS; l++) {
        if (contours[l] >= map->params->train.t_max) continue;
        ICL_TRY(figures_map_trace(map, contours[l], "contour", err));
        ICL_TRY(name_contour(map, contours[l], err));
        ICL_TRY(icl_table_break(map->table, err));
    }
    return ICL_OK;
}

/* ---- closed forms and names ------------------------------------------------------------------------------------- */

/* A point of the closed form at place `at` of the axis that it is a function over. */
static enum icl_status closed_point(const struct figures_map *map, enum closed closed, double at,
                                    double point[MAP_AXES], struct icl_err *err) {
    struct icl_params params = *map->params;
    const size_t over = closed == CLOSED_START ? 0 : 1;
    point[over] = figures_map_place(&map->axis[over], at);
    ICL_TRY(icl_params_put(&params, map->axis[over].param, point[over], err));
    point[over] = icl_params_get(&params, map->axis[over].param);
    const double N = (double)params.task.N;
    if (closed == CLOSED_ITEMS) return icl_predict_items(&params, ICL_LEVEL_ASYMPTOTIC, &point[0], err);
    struct icl_memlaw law;
    struct icl_memlaw_rates rates;
    ICL_TRY(icl_memlaw_init(&params, params.task.K, &law, err));
    icl_memlaw_rates(&law, 0, &rates);
    icl_memlaw_free(&law);
    if (closed == CLOSED_FOLD)
        point[0] = icl_closed_fold(N, rates.c1, rates.c2);
    else
        point[1] = log(icl_closed_budget(N, params.init.w, 0) / law.budget);
    return ICL_OK;
}

static enum icl_status add_closed(const struct figures_map *map, enum closed closed, struct icl_err *err) {
    const struct icl_axis *over = &map->axis[closed == CLOSED_START ? 0 : 1];
    if (closed != CLOSED_ITEMS && map->params->task.labels == ICL_LABELS_BALANCED) return ICL_OK; /* they have others */
    for (size_t i = 0; i < CLOSED; i++) {
        double point[MAP_AXES];
        const enum icl_status status =
            closed_point(map, closed, (double)i / (CLOSED - 1) * (double)(over->n - 1), point, err);
        if (status != ICL_OK && status != ICL_ENUMERIC) return status;
        bool inside = status == ICL_OK;
        for (size_t k = 0; k < MAP_AXES && inside; k++)
            inside = point[k] >= map->axis[k].lo && point[k] <= map->axis[k].hi;
        if (inside) ICL_TRY(figures_map_add_point(map, "closed", point[0], point[1], 0, INFINITY, "closed", err));
    }
    return icl_table_break(map->table, err);
}

/* How far a name at (i, j) stays clear of other classes and of the rim; names are broader than high. */
static double clearance(const struct figures_map *map, size_t i, size_t j) {
    const double broad = 2.5, x = (double)i, y = (double)j;
    const double class_ = class_of(&map->cell[j * map->n[0] + i]);
    double least = fmin(fmin(x, (double)(map->n[0] - 1 - i)) / broad, fmin(y, (double)(map->n[1] - 1 - j)));
    for (size_t b = 0; b < map->n[1]; b++)
        for (size_t a = 0; a < map->n[0]; a++)
            if (class_of(&map->cell[b * map->n[0] + a]) != class_)
                least = fmin(least, fmax(fabs((double)a - x) / broad, fabs((double)b - y)));
    return least;
}

static enum icl_status add_names(const struct figures_map *map, struct icl_err *err) {
    const double needed = 1.4;
    for (int outcome = 0; outcome < ICL_OUTCOME_COUNT; outcome++) {
        double most = needed, x = NAN, y = NAN;
        for (size_t j = 0; j < map->n[1]; j++)
            for (size_t i = 0; i < map->n[0]; i++) {
                const struct icl_phase_cell *cell = &map->cell[j * map->n[0] + i];
                const double clear = class_of(cell) == outcome ? clearance(map, i, j) : 0;
                if (clear <= most) continue;
                most = clear;
                x = cell->value[0];
                y = cell->value[1];
            }
        if (!isnan(x))
            ICL_TRY(figures_map_add_point(map, "label", x, y, outcome, INFINITY,
                                          icl_traj_outcome((enum icl_outcome)outcome), err));
    }
    return ICL_OK;
}

/* ---- the figures ------------------------------------------------------------------------------------------------ */

static enum icl_status draw(const struct icl_params *params, const struct plane *plane, bool timed,
                            struct cmd_progress *progress, struct icl_table **table, struct icl_err *err) {
    struct figures_map map = {.params = params, .progress = progress};
    for (size_t k = 0; k < MAP_AXES; k++) {
        ICL_TRY(icl_axis_parse(&map.axis[k], plane->axis[k], err));
        map.n[k] = map.axis[k].n;
    }
    ICL_TRY(open_table(&map, table, err));
    const size_t cells = map.n[0] * map.n[1], edges = 2 * cells - map.n[0] - map.n[1];
    progress->total = cells + edges * (timed ? 1 + CONTOURS : 1);
    enum icl_status status = figures_map_solve(&map, err);
    if (status == ICL_OK) status = add_cells(&map, err);
    if (status == ICL_OK && timed) status = add_contours(&map, err);
    if (status == ICL_OK) status = figures_map_trace(&map, params->train.t_max, "acquired", err);
    if (status == ICL_OK) status = add_closed(&map, plane->closed, err);
    if (status == ICL_OK) status = add_names(&map, err);
    figures_map_free(&map);
    return status;
}

enum icl_status figures_outcome_K_N(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"task.K=1e3:1e6:43:log", "task.N=20:500:33:log"}, CLOSED_ITEMS};
    return draw(params, &plane, false, progress, table, err);
}

enum icl_status figures_outcome_K_beta(const struct icl_params *params, struct cmd_progress *progress,
                                       struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"task.K=1e2:1e6:43:log", "init.beta=-2:3:31"}, CLOSED_ITEMS};
    return draw(params, &plane, false, progress, table, err);
}

enum icl_status figures_outcome_lambda_K(const struct icl_params *params, struct cmd_progress *progress,
                                         struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"train.lambda=1e-4:1e-1:43:log", "task.K=1e3:1e6:31:log"}, CLOSED_FOLD};
    return draw(params, &plane, false, progress, table, err);
}

enum icl_status figures_outcome_lambda_N(const struct icl_params *params, struct cmd_progress *progress,
                                         struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"train.lambda=1e-4:1e-1:43:log", "task.N=20:500:31:log"}, CLOSED_FOLD};
    return draw(params, &plane, false, progress, table, err);
}

enum icl_status figures_outcome_w_beta(const struct icl_params *params, struct cmd_progress *progress,
                                       struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"init.w=-3:5:41", "init.beta=-3:4:36"}, CLOSED_START};
    return draw(params, &plane, false, progress, table, err);
}

enum icl_status figures_acquisition(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) {
    static const struct plane plane = {{"task.K=5e2:5e5:43:log", "task.N=50:1000:33:log"}, CLOSED_ITEMS};
    return draw(params, &plane, true, progress, table, err);
}
