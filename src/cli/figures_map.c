#include "cli/figures_map.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/pool.h"

enum { CROSSINGS = 3, EDGES = 4, VERTICES = EDGES * CROSSINGS + 1 };

/* A change of class on the edge between two neighbouring grid points. */
struct crossing {
    double at;
    enum icl_phase_class below, above;
};

struct figures_edge {
    size_t count;
    struct crossing crossing[CROSSINGS];
};

/* ---- the grid and its edges ------------------------------------------------------------------------------------- */

static void compute_cell(size_t index, size_t worker, void *slot, void *context) {
    const struct figures_map *map = context;
    const size_t point[MAP_AXES] = {index % map->n[0], index / map->n[0]};
    (void)worker;
    icl_phase_cell(map->params, map->axis, MAP_AXES, point, slot);
}

static enum icl_status emit_cell(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct figures_map *map = context;
    (void)err;
    memcpy(&map->cell[index], slot, sizeof map->cell[index]);
    cmd_progress_step(map->progress);
    return ICL_OK;
}

static size_t edges_along_x(const struct figures_map *map) {
    return (map->n[0] - 1) * map->n[1];
}

/* The direction of an edge, and the grid point at its lower end. */
static size_t edge_start(const struct figures_map *map, size_t index, size_t point[MAP_AXES]) {
    const size_t along_x = edges_along_x(map), along = index < along_x ? 0 : 1;
    const size_t width = along == 0 ? map->n[0] - 1 : map->n[0], rest = along == 0 ? index : index - along_x;
    point[0] = rest % width;
    point[1] = rest / width;
    return along;
}

/* What had become of a cell by the time that is traced. */
static enum icl_phase_class class_by(const struct figures_map *map, const struct icl_phase_cell *cell) {
    if (!(cell->t_icl <= map->time)) return ICL_PHASE_NONE;
    return cell->t_loss <= map->time ? ICL_PHASE_TRANSIENT : ICL_PHASE_KEPT;
}

/* An edge on which a root cannot be found has none: the line has a gap there. */
static void compute_edge(size_t index, size_t worker, void *slot, void *context) {
    const struct figures_map *map = context;
    struct figures_edge *edge = slot;
    struct icl_params params = *map->params;
    struct icl_phase_roots roots;
    size_t point[MAP_AXES];
    double value;
    (void)worker;
    edge->count = 0;
    const size_t along = edge_start(map, index, point);
    const struct icl_phase_cell *lower = &map->cell[point[1] * map->n[0] + point[0]];
    const struct icl_phase_cell *upper = lower + (along == 0 ? 1 : map->n[0]);
    if (lower->failed || upper->failed || class_by(map, lower) == class_by(map, upper)) return;
    params.train.t_max = map->time;
    struct icl_axis axis = map->axis[along];
    axis.lo = icl_axis_value(&map->axis[along], point[along]);
    axis.hi = icl_axis_value(&map->axis[along], point[along] + 1);
    axis.n = 2;
    if (icl_axis_set(&map->axis[1 - along], point[1 - along], &params, &value, NULL) != ICL_OK) return;
    if (icl_phase_roots(&params, &axis, &roots, NULL) != ICL_OK) return;
    for (size_t i = 0; i < roots.count && i < CROSSINGS; i++)
        edge->crossing[edge->count++] = (struct crossing){roots.root[i].x, roots.root[i].below, roots.root[i].above};
}

static enum icl_status emit_edge(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct figures_map *map = context;
    (void)err;
    memcpy(&map->edge[index], slot, sizeof map->edge[index]);
    cmd_progress_step(map->progress);
    return ICL_OK;
}

static struct icl_pool_job job_of(struct figures_map *map) {
    return (struct icl_pool_job){.threads = map->params->ensemble.threads, .context = map, .stop = cmd_stop_install()};
}

enum icl_status figures_map_solve(struct figures_map *map, struct icl_err *err) {
    const size_t cells = map->n[0] * map->n[1], edges = edges_along_x(map) + map->n[0] * (map->n[1] - 1);
    struct icl_pool_job job = job_of(map);
    job.n = cells;
    job.slot = sizeof *map->cell;
    job.compute = compute_cell;
    job.emit = emit_cell;
    ICL_TRY(icl_mem_alloc(&map->cell, cells, sizeof *map->cell, err));
    ICL_TRY(icl_mem_alloc(&map->edge, edges, sizeof *map->edge, err));
    return icl_pool_run(&job, err);
}

void figures_map_free(struct figures_map *map) {
    icl_mem_free(map->cell);
    icl_mem_free(map->edge);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

double figures_map_place(const struct icl_axis *axis, double at) {
    const double step = axis->n > 1 ? at / (double)(axis->n - 1) : 0;
    return axis->log ? axis->lo * pow(axis->hi / axis->lo, step) : axis->lo + (axis->hi - axis->lo) * step;
}

enum icl_status figures_map_add_point(const struct figures_map *map, const char *curve, double x, double y,
                                      double class_, double t, const char *outcome, struct icl_err *err) {
    const union icl_cell cells[] = {{.text = curve}, {.number = x},    {.number = y}, {.number = x},
                                    {.number = x},   {.number = y},    {.number = y}, {.number = class_},
                                    {.number = t},   {.text = outcome}};
    return icl_table_row(map->table, cells, err);
}

/* ---- boundaries ------------------------------------------------------------------------------------------------- */

struct vertex {
    double at[MAP_AXES];
    enum icl_phase_class one, other; /* one < other */
    bool used;
};

static enum icl_status add_segment(const struct figures_map *map, const struct vertex *a, const struct vertex *b,
                                   struct icl_err *err) {
    const bool acquired = a->one == ICL_PHASE_NONE;
    const char *curve = acquired ? map->curve : "lost";
    if (!acquired && map->time < map->params->train.t_max) return ICL_OK;
    ICL_TRY(figures_map_add_point(map, curve, a->at[0], a->at[1], 0, map->time, "boundary", err));
    ICL_TRY(figures_map_add_point(map, curve, b->at[0], b->at[1], 0, map->time, "boundary", err));
    return icl_table_break(map->table, err);
}

/* The middle of what was left over, in the axes' own scales: where three classes meet. */
static struct vertex meeting(const struct figures_map *map, const struct vertex *vertex, size_t count) {
    struct vertex middle = {.at = {0, 0}};
    size_t left = 0;
    for (size_t i = 0; i < count; i++) left += !vertex[i].used;
    for (size_t k = 0; k < MAP_AXES; k++) {
        for (size_t i = 0; i < count; i++)
            if (!vertex[i].used)
                middle.at[k] += (map->axis[k].log ? log(vertex[i].at[k]) : vertex[i].at[k]) / (double)left;
        if (map->axis[k].log) middle.at[k] = exp(middle.at[k]);
    }
    return middle;
}

static size_t gather(const struct figures_map *map, size_t i, size_t j, struct vertex vertex[VERTICES]) {
    const size_t width = map->n[0] - 1, first_y = edges_along_x(map);
    const size_t index[EDGES] = {j * width + i, first_y + j * map->n[0] + i + 1, (j + 1) * width + i,
                                 first_y + j * map->n[0] + i};
    size_t count = 0;
    for (size_t e = 0; e < EDGES; e++) {
        const struct figures_edge *edge = &map->edge[index[e]];
        size_t point[MAP_AXES];
        const size_t along = edge_start(map, index[e], point);
        for (size_t c = 0; c < edge->count; c++) {
            const struct crossing *x = &edge->crossing[c];
            struct vertex *v = &vertex[count++];
            v->at[along] = x->at;
            v->at[1 - along] = map->cell[point[1] * map->n[0] + point[0]].value[1 - along];
            v->one = x->below < x->above ? x->below : x->above;
            v->other = x->below < x->above ? x->above : x->below;
            v->used = false;
        }
    }
    return count;
}

/* Joins crossings between the same two classes; those that find no partner meet in the middle. */
static enum icl_status add_square(const struct figures_map *map, size_t i, size_t j, struct icl_err *err) {
    struct vertex vertex[VERTICES];
    const size_t count = gather(map, i, j, vertex);
    size_t left = count;
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count && !vertex[a].used; b++)
            if (!vertex[b].used && vertex[a].one == vertex[b].one && vertex[a].other == vertex[b].other) {
                vertex[a].used = vertex[b].used = true;
                left -= 2;
                ICL_TRY(add_segment(map, &vertex[a], &vertex[b], err));
            }
    if (left < 2) return ICL_OK;
    const struct vertex middle = meeting(map, vertex, count);
    for (size_t a = 0; a < count; a++)
        if (!vertex[a].used) ICL_TRY(add_segment(map, &vertex[a], &middle, err));
    return ICL_OK;
}

enum icl_status figures_map_trace(struct figures_map *map, double time, const char *curve, struct icl_err *err) {
    struct icl_pool_job job = job_of(map);
    job.n = edges_along_x(map) + map->n[0] * (map->n[1] - 1);
    job.slot = sizeof *map->edge;
    job.compute = compute_edge;
    job.emit = emit_edge;
    map->time = time;
    map->curve = curve;
    ICL_TRY(icl_pool_run(&job, err));
    for (size_t j = 0; j + 1 < map->n[1]; j++)
        for (size_t i = 0; i + 1 < map->n[0]; i++) ICL_TRY(add_square(map, i, j, err));
    return ICL_OK;
}
