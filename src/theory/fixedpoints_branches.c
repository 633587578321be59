/* fixedpoints_branches.c -- which branches there are: starts at the axis' ends and between, each traced once. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "theory/fixedpoints_trace.h"

enum { SEEK = 8 }; /* places between the ends where fixed points are looked for */

/* What can be swept, and what must hold for it to matter: a law of memorization, a level of theory. */
struct able {
    const char *name;
    unsigned laws, levels; /* bits */
};
enum {
    ANY = 0xff,
    LAW_CONSTANT = 1 << ICL_LAW_CONSTANT,
    LAW_POWER = 1 << ICL_LAW_POWERLAW,
    LEVEL_REDUCED = 1 << ICL_LEVEL_REDUCED,
    LEVEL_DECAYS = 1 << ICL_LEVEL_REDUCED | 1 << ICL_LEVEL_MEANFIELD
};
static const struct able able[] = {
    {"train.lambda", ANY, LEVEL_DECAYS},
    {"train.lambda_w", ANY, LEVEL_DECAYS},
    {"train.lambda_beta", ANY, LEVEL_DECAYS},
    {"memory.c1", LAW_CONSTANT, ANY},
    {"memory.c2", LAW_CONSTANT, LEVEL_REDUCED},
    {"memory.A", LAW_POWER, ANY},
    {"memory.nu", LAW_POWER, ANY},
    {"memory.p", LAW_POWER, ANY},
};

enum icl_status icl_fixedpoints_branches_check(const struct icl_params *params, const struct icl_axis *axis,
                                               struct icl_err *err) {
    const unsigned law = 1u << (isinf(params->task.K) ? ICL_LAW_NONE : params->memory.law);
    const unsigned level = 1u << params->theory.level;
    for (size_t i = 0; i < sizeof able / sizeof *able; i++) {
        if (strcmp(able[i].name, axis->name) != 0) continue;
        if (!(able[i].laws & law))
            return ICL_ERR(err, ICL_EUSAGE, "-x %s: has no effect here: it belongs to memory.law = %s with K finite",
                           axis->name, able[i].laws == LAW_CONSTANT ? "constant" : "powerlaw");
        if (!(able[i].levels & level))
            return ICL_ERR(err, ICL_EUSAGE, "-x %s: has no effect at this theory.level", axis->name);
        return ICL_OK;
    }
    return ICL_ERR(err, ICL_EUSAGE,
                   "-x %s: fixed points cannot be continued in it; they can in train.lambda, train.lambda_w, "
                   "train.lambda_beta, memory.c1, memory.c2, memory.A, memory.nu and memory.p",
                   axis->name);
}

struct start {
    double y[2];
    int station;
    bool seen;
};

struct sweep {
    struct icl_fixedpoints_trace trace;
    int stations;
    struct icl_fixedpoints_trace_station *station;
    size_t starts, start_size;
    struct start *start;
    size_t count, size; /* rows of the branch in hand */
    struct icl_fixedpoints_trace_row *row;
};

static enum icl_status add_rows(struct sweep *sweep, const struct icl_fixedpoints_trace_row *row, size_t n,
                                struct icl_err *err) {
    if (sweep->count + n > sweep->size) {
        const size_t size = 2 * (sweep->count + n);
        ICL_TRY(icl_mem_grow(&sweep->row, sweep->size, size, sizeof *sweep->row, err));
        sweep->size = size;
    }
    for (size_t i = 0; i < n; i++) sweep->row[sweep->count++] = row[i];
    return ICL_OK;
}

/* The axis' values and the places between, in order and without repeats. */
static enum icl_status set_stations(struct sweep *sweep, const struct icl_axis *axis, struct icl_err *err) {
    size_t next = 0;
    ICL_TRY(icl_mem_alloc(&sweep->station, axis->n + SEEK, sizeof *sweep->station, err));
    for (size_t i = 0; i < axis->n; i++) {
        const double share = (double)i / ((double)axis->n - 1);
        for (; next < SEEK && (double)(2 * next + 1) / (2 * SEEK) <= share; next++) {
            const double between = (double)(2 * next + 1) / (2 * SEEK);
            if (between < share)
                sweep->station[sweep->stations++] = (struct icl_fixedpoints_trace_station){
                    icl_fixedpoints_trace_v(between), icl_fixedpoints_trace_x(axis, between)};
        }
        sweep->station[sweep->stations++] =
            (struct icl_fixedpoints_trace_station){icl_fixedpoints_trace_v(share), icl_axis_value(axis, i)};
    }
    return ICL_OK;
}

static enum icl_status add_starts(struct sweep *sweep, int station, struct icl_err *err) {
    struct icl_fixedpoints_points points = {0};
    enum icl_status status = icl_fixedpoints_field_set(sweep->trace.field, sweep->station[station].x, err);
    if (status == ICL_OK) status = icl_fixedpoints_at(sweep->trace.field, sweep->trace.window, &points, err);
    if (status == ICL_OK && sweep->starts + points.count > sweep->start_size) {
        const size_t size = 2 * (sweep->starts + points.count);
        status = icl_mem_grow(&sweep->start, sweep->start_size, size, sizeof *sweep->start, err);
        if (status == ICL_OK) sweep->start_size = size;
    }
    for (size_t i = 0; i < points.count && status == ICL_OK; i++)
        sweep->start[sweep->starts++] = (struct start){{points.at[i].w, points.at[i].beta}, station, false};
    icl_fixedpoints_free(&points);
    return status;
}

static bool is_sought(const struct sweep *sweep, int station) {
    if (station == 0 || station == sweep->stations - 1) return true;
    for (int j = 0; j < SEEK; j++)
        if (sweep->station[station].v == icl_fixedpoints_trace_v((2 * j + 1) / (2.0 * SEEK))) return true;
    return false;
}

static void reverse(struct icl_fixedpoints_trace_row *row, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        const struct icl_fixedpoints_trace_row swap = row[i];
        row[i] = row[n - 1 - i];
        row[n - 1 - i] = swap;
    }
}

static double v_of(const struct icl_axis *axis, double x) {
    return axis->log ? log(x / axis->lo) / log(axis->hi / axis->lo) : (x - axis->lo) / (axis->hi - axis->lo);
}

/* The rows of the branch through a start. One that ends on both sides begins where the axis does, or at less beta. */
static enum icl_status trace_branch(struct sweep *sweep, const struct start *start, bool *stalled,
                                    struct icl_err *err) {
    struct icl_fixedpoints_trace *trace = &sweep->trace;
    const struct icl_fixedpoints_trace_row row = {
        {start->y[0], start->y[1]}, sweep->station[start->station].x, start->station, false};
    const bool first = start->station == 0, last = start->station == sweep->stations - 1;
    sweep->count = 0;
    *stalled = false;
    if (!first) {
        ICL_TRY(icl_fixedpoints_trace_run(trace, start->y, start->station, -1, err));
        ICL_TRY(add_rows(sweep, trace->row, trace->count, err));
        *stalled = trace->stalled;
        if (trace->closed) ICL_TRY(add_rows(sweep, &row, 1, err));
        reverse(sweep->row, sweep->count);
    }
    ICL_TRY(add_rows(sweep, &row, 1, err));
    if (last || (!first && trace->closed)) {
        if (last) reverse(sweep->row, sweep->count);
        return ICL_OK;
    }
    ICL_TRY(icl_fixedpoints_trace_run(trace, start->y, start->station, 1, err));
    ICL_TRY(add_rows(sweep, trace->row, trace->count, err));
    *stalled = *stalled || trace->stalled;
    if (trace->closed) ICL_TRY(add_rows(sweep, &row, 1, err));
    if (first) return ICL_OK;
    const struct icl_fixedpoints_trace_row *a = &sweep->row[0], *b = &sweep->row[sweep->count - 1];
    const double v_a = v_of(trace->axis, a->x), v_b = v_of(trace->axis, b->x), same = 1e-9;
    if (v_b < v_a - same || (fabs(v_b - v_a) <= same && b->y[1] < a->y[1])) reverse(sweep->row, sweep->count);
    return ICL_OK;
}

/* Starts that lie on the branch in hand need not be traced again. */
static void tick_off(struct sweep *sweep) {
    const double same = 1e-6;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct icl_fixedpoints_trace_row *row = &sweep->row[i];
        for (size_t j = 0; j < sweep->starts && row->station >= 0; j++) {
            struct start *start = &sweep->start[j];
            if (start->station != row->station) continue;
            const double off = hypot(start->y[0] - row->y[0], start->y[1] - row->y[1]);
            if (off <= same * (1 + hypot(row->y[0], row->y[1]))) start->seen = true;
        }
    }
}

static enum icl_status write_branch(struct sweep *sweep, size_t branch, struct icl_fixedpoints_points *points,
                                    struct icl_err *err) {
    for (size_t i = 0; i < sweep->count; i++) {
        const struct icl_fixedpoints_trace_row *row = &sweep->row[i];
        struct icl_fixedpoints_point point = {.branch = branch};
        ICL_TRY(icl_fixedpoints_field_set(sweep->trace.field, row->x, err));
        icl_fixedpoints_field_point(sweep->trace.field, row->y, &point);
        if (row->fold)
            point.type = ICL_FIXEDPOINTS_FOLD;
        else if (point.type == ICL_FIXEDPOINTS_FOLD) /* near one: the sides still differ */
            point.type = point.re[0] < 0   ? ICL_FIXEDPOINTS_STABLE
                         : point.re[1] > 0 ? ICL_FIXEDPOINTS_UNSTABLE
                                           : ICL_FIXEDPOINTS_SADDLE;
        ICL_TRY(icl_fixedpoints_field_push(points, &point, err));
    }
    return ICL_OK;
}

static enum icl_status run(struct sweep *sweep, struct icl_fixedpoints_points *points, struct icl_err *err) {
    size_t branch = 0;
    ICL_TRY(set_stations(sweep, sweep->trace.axis, err));
    sweep->trace.stations = sweep->stations;
    sweep->trace.station = sweep->station;
    for (int i = 0; i < sweep->stations; i++)
        if (is_sought(sweep, i)) ICL_TRY(add_starts(sweep, i, err));
    for (size_t i = 0; i < sweep->starts; i++) {
        bool stalled;
        if (sweep->start[i].seen) continue;
        ICL_TRY(trace_branch(sweep, &sweep->start[i], &stalled, err));
        sweep->start[i].seen = true;
        points->stalled += stalled;
        tick_off(sweep);
        ICL_TRY(write_branch(sweep, branch++, points, err));
    }
    return ICL_OK;
}

enum icl_status icl_fixedpoints_branches(const struct icl_params *params, double s,
                                         const struct icl_fixedpoints_window *window, const struct icl_axis *axis,
                                         struct icl_fixedpoints_points *points, struct icl_err *err) {
    struct icl_fixedpoints_field field;
    struct sweep sweep = {.trace = {.field = &field, .axis = axis, .window = window}};
    struct icl_params at = *params;
    enum icl_status status;
    ICL_TRY(icl_fixedpoints_check(window, err));
    ICL_TRY(icl_fixedpoints_branches_check(params, axis, err));
    ICL_TRY(icl_params_put(&at, axis->param, axis->lo, err));
    ICL_TRY(icl_fixedpoints_field_init(&field, &at, s, axis->param, err));
    if (axis->n == 1 || axis->lo == axis->hi)
        status = icl_fixedpoints_at(&field, window, points, err);
    else
        status = run(&sweep, points, err);
    icl_fixedpoints_field_done(&field);
    icl_mem_free(sweep.trace.row);
    icl_mem_free(sweep.row);
    icl_mem_free(sweep.start);
    icl_mem_free(sweep.station);
    return status;
}
