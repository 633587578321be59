#include "theory/fixedpoints_trace.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/roots.h"

/* Lengths are those of (w, beta, v). */
static const double span = 4;          /* of v over the axis */
static const double step_first = 0.02; /* length of the first step */
static const double step_most = 0.2;   /* of any step at |z| of order 1 */
static const double step_least = 1e-9;
static const double turn_most = 0.2; /* angle between tangents of neighbours */

double icl_fixedpoints_trace_v(double share) {
    return span * share;
}

double icl_fixedpoints_trace_x(const struct icl_axis *axis, double share) {
    if (share <= 0) return axis->lo;
    if (share >= 1) return axis->hi;
    return axis->log ? axis->lo * pow(axis->hi / axis->lo, share) : axis->lo + (axis->hi - axis->lo) * share;
}

static enum icl_status set_v(struct icl_fixedpoints_trace *trace, double v, struct icl_err *err) {
    return icl_fixedpoints_field_set(trace->field, icl_fixedpoints_trace_x(trace->axis, v / span), err);
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double distance(const double a[3], const double b[3]) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot(d, d));
}

/* dF/dv by a difference of third order within the axis: x beyond its ends may be no value of the parameter. */
static enum icl_status slope(struct icl_fixedpoints_trace *trace, const double z[3], double Fv[2],
                             struct icl_err *err) {
    const double h = 1e-4 * span;
    const double way = z[2] > span / 2 ? -h : h;
    static const double weight[4] = {-11.0 / 6, 3, -1.5, 1.0 / 3};
    Fv[0] = Fv[1] = 0;
    for (int i = 0; i < 4; i++) {
        double f[2];
        ICL_TRY(set_v(trace, z[2] + i * way, err));
        icl_fixedpoints_field_at(trace->field, z, f, NULL);
        Fv[0] += weight[i] * f[0] / way;
        Fv[1] += weight[i] * f[1] / way;
    }
    return ICL_OK;
}

/* The rows of dF/dz at z, and F. */
static enum icl_status linear(struct icl_fixedpoints_trace *trace, const double z[3], double F[2], double rows[2][3],
                              struct icl_err *err) {
    double J[4], Fv[2];
    ICL_TRY(slope(trace, z, Fv, err));
    ICL_TRY(set_v(trace, z[2], err));
    icl_fixedpoints_field_at(trace->field, z, F, J);
    for (int i = 0; i < 2; i++) {
        rows[i][0] = J[2 * i];
        rows[i][1] = J[2 * i + 1];
        rows[i][2] = Fv[i];
    }
    return ICL_OK;
}

static void cross(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* The unit null vector of dF/dz that points along guide: its third part is det J over its length. */
static bool tangent(double rows[2][3], const double guide[3], double t[3]) {
    cross(rows[0], rows[1], t);
    const double length = sqrt(dot(t, t)), sign = dot(t, guide) < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) t[i] *= sign / length;
    return length > 0 && isfinite(t[0] + t[1] + t[2]);
}

/* Newton on F = 0 and normal . (z - z0) = 0, z0 being where z begins. False unless it converges nearby. */
static enum icl_status correct(struct icl_fixedpoints_trace *trace, const double normal[3], double reach,
                               struct icl_fixedpoints_trace_spot *spot, bool *found, int *iterations,
                               struct icl_err *err) {
    enum { ITERATIONS = 15 };
    const double enough = 1e-9, rounding = 1e-16;
    double start[3], F[2], rows[2][3], last = INFINITY;
    memcpy(start, spot->z, sizeof start);
    *found = false;
    for (*iterations = 0; *iterations < ITERATIONS; ++*iterations) {
        double *z = spot->z, a[3], b[3], c[3], step[3];
        if (!(z[2] >= 0 && z[2] <= span)) return ICL_OK;
        ICL_TRY(linear(trace, z, F, rows, err));
        const double off =
            normal[0] * (z[0] - start[0]) + normal[1] * (z[1] - start[1]) + normal[2] * (z[2] - start[2]);
        cross(rows[1], normal, a);
        cross(normal, rows[0], b);
        cross(rows[0], rows[1], c);
        const double det = dot(rows[0], a);
        for (int i = 0; i < 3; i++) step[i] = -(F[0] * a[i] + F[1] * b[i] + off * c[i]) / det;
        const double size = sqrt(dot(step, step)), unit = 1 + hypot(z[0], z[1]);
        if (last <= rounding || (last <= enough && !(size < 0.5 * last * unit))) {
            *found = tangent(rows, normal, spot->t);
            return ICL_OK;
        }
        for (int i = 0; i < 3; i++) z[i] += step[i];
        if (!(distance(z, start) <= reach)) return ICL_OK;
        last = size / unit;
    }
    return ICL_OK;
}

/* The cubic through two spots, s from 0 to 1. */
static void between(const struct icl_fixedpoints_trace_spot *a, const struct icl_fixedpoints_trace_spot *b, double s,
                    double z[3]) {
    const double length = distance(a->z, b->z), r = 1 - s;
    for (int i = 0; i < 3; i++)
        z[i] = r * r * (1 + 2 * s) * a->z[i] + s * s * (3 - 2 * s) * b->z[i] +
               length * s * r * (r * a->t[i] - s * b->t[i]);
}

/* The spot of the branch in the plane across the chord at s. */
struct segment {
    struct icl_fixedpoints_trace *trace;
    const struct icl_fixedpoints_trace_spot *a, *b;
    struct icl_fixedpoints_trace_spot *spot;
};

static enum icl_status spot_at(const struct segment *segment, double s, struct icl_err *err) {
    const struct icl_fixedpoints_trace_spot *a = segment->a, *b = segment->b;
    const double length = distance(a->z, b->z);
    double chord[3];
    bool found;
    int iterations;
    for (int i = 0; i < 3; i++) chord[i] = (b->z[i] - a->z[i]) / length;
    between(a, b, s, segment->spot->z);
    ICL_TRY(correct(segment->trace, chord, length, segment->spot, &found, &iterations, err));
    return found ? ICL_OK : ICL_ERR(err, ICL_ENUMERIC, "continuation: the branch is lost between two of its points");
}

static enum icl_status fold_goal(double s, void *context, double *goal, struct icl_err *err) {
    const struct segment *segment = context;
    ICL_TRY(spot_at(segment, s, err));
    *goal = segment->spot->t[2];
    return ICL_OK;
}

static enum icl_status edge_goal(double s, void *context, double *goal, struct icl_err *err) {
    const struct segment *segment = context;
    ICL_TRY(spot_at(segment, s, err));
    *goal = icl_fixedpoints_field_margin(segment->trace->window, segment->spot->z);
    return ICL_OK;
}

struct level {
    const struct icl_fixedpoints_trace_spot *a, *b;
    double v;
};

static enum icl_status level_goal(double s, void *context, double *goal, struct icl_err *err) {
    const struct level *level = context;
    double z[3];
    (void)err;
    between(level->a, level->b, s, z);
    *goal = z[2] - level->v;
    return ICL_OK;
}

static enum icl_status add_row(struct icl_fixedpoints_trace *trace, const double y[2], double x, int station, bool fold,
                               struct icl_err *err) {
    if (trace->count == trace->size) {
        const size_t size = 2 * trace->size + 64;
        ICL_TRY(icl_mem_grow(&trace->row, trace->size, size, sizeof *trace->row, err));
        trace->size = size;
    }
    trace->row[trace->count++] = (struct icl_fixedpoints_trace_row){{y[0], y[1]}, x, station, fold};
    return ICL_OK;
}

/* The rows at the stations strictly between a and b, along which v rises or falls all the way. */
static enum icl_status stations(struct icl_fixedpoints_trace *trace, const struct icl_fixedpoints_trace_spot *a,
                                const struct icl_fixedpoints_trace_spot *b, struct icl_err *err) {
    const double same = 1e-12;
    const bool up = b->z[2] > a->z[2];
    const double lo = fmin(a->z[2], b->z[2]) + same, hi = fmax(a->z[2], b->z[2]) - same;
    for (int i = 0; i < trace->stations; i++) {
        const int k = up ? i : trace->stations - 1 - i;
        struct level level = {a, b, trace->station[k].v};
        double s, z[3];
        if (!(level.v > lo && level.v < hi)) continue;
        ICL_TRY(icl_roots_brent(level_goal, &level, 0, 1, 1e-12, &s, NULL, err));
        between(a, b, s, z);
        ICL_TRY(icl_fixedpoints_field_set(trace->field, trace->station[k].x, err));
        if (icl_fixedpoints_field_newton(trace->field, distance(a->z, b->z), z))
            ICL_TRY(add_row(trace, z, trace->station[k].x, k, false, err));
    }
    return ICL_OK;
}

static int station_of(const struct icl_fixedpoints_trace *trace, double v) {
    for (int i = 0; i < trace->stations; i++)
        if (trace->station[i].v == v) return i;
    return ICL_FIXEDPOINTS_TRACE_NOWHERE;
}

static bool turns(const struct icl_fixedpoints_trace_spot *a, const struct icl_fixedpoints_trace_spot *b) {
    return (a->t[2] > 0 && b->t[2] < 0) || (a->t[2] < 0 && b->t[2] > 0);
}

/* Everything from a (excluded) to b: stations, a fold, b itself. */
static enum icl_status emit(struct icl_fixedpoints_trace *trace, const struct icl_fixedpoints_trace_spot *a,
                            const struct icl_fixedpoints_trace_spot *b, struct icl_err *err) {
    if (turns(a, b)) {
        struct icl_fixedpoints_trace_spot fold;
        struct segment segment = {trace, a, b, &fold};
        double s;
        ICL_TRY(icl_roots_brent(fold_goal, &segment, 0, 1, 0, &s, NULL, err));
        ICL_TRY(spot_at(&segment, s, err));
        ICL_TRY(stations(trace, a, &fold, err));
        ICL_TRY(add_row(trace, fold.z, icl_fixedpoints_trace_x(trace->axis, fold.z[2] / span),
                        ICL_FIXEDPOINTS_TRACE_NOWHERE, true, err));
        ICL_TRY(stations(trace, &fold, b, err));
    } else {
        ICL_TRY(stations(trace, a, b, err));
    }
    const int station = station_of(trace, b->z[2]);
    const double x = station >= 0 ? trace->station[station].x : icl_fixedpoints_trace_x(trace->axis, b->z[2] / span);
    return add_row(trace, b->z, x, station, false, err);
}

/* A step that would leave the axis ends on its last value. */
static enum icl_status land(struct icl_fixedpoints_trace *trace, const struct icl_fixedpoints_trace_spot *from,
                            double v, struct icl_fixedpoints_trace_spot *to, bool *found, struct icl_err *err) {
    const double reach = (v - from->z[2]) / from->t[2];
    double F[2], rows[2][3];
    for (int i = 0; i < 3; i++) to->z[i] = from->z[i] + reach * from->t[i];
    to->z[2] = v;
    ICL_TRY(set_v(trace, v, err));
    *found = icl_fixedpoints_field_newton(trace->field, fmax(0.3 * reach, 1e-7), to->z);
    if (!*found) return ICL_OK;
    ICL_TRY(linear(trace, to->z, F, rows, err));
    *found = tangent(rows, from->t, to->t) && !turns(from, to);
    return ICL_OK;
}

static bool is_back(const struct icl_fixedpoints_trace_spot *start, const struct icl_fixedpoints_trace_spot *a,
                    const struct icl_fixedpoints_trace_spot *b) {
    const double length = distance(a->z, b->z), near = 0.05;
    double chord[3], off[3], z[3];
    for (int i = 0; i < 3; i++) {
        chord[i] = (b->z[i] - a->z[i]) / length;
        off[i] = start->z[i] - a->z[i];
    }
    const double s = dot(off, chord) / length;
    if (!(s > 0 && s <= 1)) return false;
    between(a, b, s, z);
    return distance(z, start->z) < near * length && dot(start->t, chord) > 0.9;
}

/* One step of at most *h from `from`; *h is set for the next one. Not found: no step of any length. */
static enum icl_status advance(struct icl_fixedpoints_trace *trace, const struct icl_fixedpoints_trace_spot *from,
                               double *h, struct icl_fixedpoints_trace_spot *to, bool *found, bool *last,
                               struct icl_err *err) {
    enum { EASY = 3, HARD = 6 };
    for (; *h >= step_least; *h /= 2) {
        int iterations = 0;
        for (int i = 0; i < 3; i++) to->z[i] = from->z[i] + *h * from->t[i];
        *last = to->z[2] <= 0 || to->z[2] >= span;
        if (*last)
            ICL_TRY(land(trace, from, to->z[2] <= 0 ? 0 : span, to, found, err));
        else
            ICL_TRY(correct(trace, from->t, 0.3 * *h, to, found, &iterations, err));
        if (!*found || dot(from->t, to->t) < cos(turn_most)) continue;
        const double most = step_most * (1 + 0.1 * hypot(to->z[0], to->z[1]));
        if (iterations <= HARD && dot(from->t, to->t) > cos(turn_most / 2)) *h = fmin(*h * 1.5, most);
        return ICL_OK;
    }
    *found = false;
    return ICL_OK;
}

/* The step that left the window ends on its edge. */
static enum icl_status at_edge(struct icl_fixedpoints_trace *trace, const struct icl_fixedpoints_trace_spot *from,
                               const struct icl_fixedpoints_trace_spot *to, struct icl_err *err) {
    struct icl_fixedpoints_trace_spot edge;
    struct segment segment = {trace, from, to, &edge};
    double s;
    if (icl_fixedpoints_field_margin(trace->window, from->z) <= 0) return ICL_OK; /* began on it */
    ICL_TRY(icl_roots_brent(edge_goal, &segment, 0, 1, 1e-12, &s, NULL, err));
    ICL_TRY(spot_at(&segment, s, err));
    return emit(trace, from, &edge, err);
}

enum icl_status icl_fixedpoints_trace_run(struct icl_fixedpoints_trace *trace, const double y[2], int station,
                                          int direction, struct icl_err *err) {
    enum { STEPS = 20000 };
    struct icl_fixedpoints_trace_spot start = {{y[0], y[1], trace->station[station].v}, {0}}, now, next;
    const double guide[3] = {0, 0, direction};
    double F[2], rows[2][3], h = step_first;
    bool found, last = false;
    trace->count = 0;
    trace->closed = trace->stalled = false;
    ICL_TRY(linear(trace, start.z, F, rows, err));
    trace->stalled = !tangent(rows, guide, start.t);
    now = start;
    for (int i = 0; i < STEPS && !last && !trace->stalled; i++) {
        ICL_TRY(advance(trace, &now, &h, &next, &found, &last, err));
        trace->stalled = !found || i == STEPS - 1;
        if (!found) break;
        if (!icl_fixedpoints_field_inside(trace->window, next.z)) return at_edge(trace, &now, &next, err);
        trace->closed = i > 3 && is_back(&start, &now, &next);
        if (trace->closed) return ICL_OK;
        ICL_TRY(emit(trace, &now, &next, err));
        now = next;
    }
    return ICL_OK;
}
