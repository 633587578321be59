#include "theory/memtable.h"

#include <math.h>

#include "base/mem.h"

void icl_memtable_free(struct icl_memtable *table) {
    if (!table) return;
    icl_mem_free(table->lnK);
    icl_mem_free(table->excess);
    icl_mem_free(table->p);
    icl_mem_free(table->s);
    icl_mem_free(table->x);
    icl_mem_free(table->weight);
    icl_mem_free(table->bounds);
    icl_mem_free(table->cell);
    icl_mem_free(table);
}

static enum icl_status differs(const struct icl_memtable *table, const char *what, double seen, double wanted,
                               struct icl_err *err) {
    if (seen == wanted) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "memory.table = %s: measured with %s = %g, the parameters say %g", table->path,
                   what, seen, wanted);
}

enum icl_status icl_memtable_matches(const struct icl_memtable *table, const struct icl_params *params,
                                     struct icl_err *err) {
    static const char *const names[] = {"gaussian", "unit"};
    ICL_TRY(differs(table, "task.D", table->D, params->task.D, err));
    ICL_TRY(differs(table, "sim.hidden", table->hidden, (double)params->sim.hidden, err));
    ICL_TRY(differs(table, "sim.input_scale", table->input_scale, params->sim.input_scale, err));
    ICL_TRY(differs(table, "train.batch", table->batch, (double)params->train.batch, err));
    if (table->items == params->task.items) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "memory.table = %s: measured with task.items = %s, the parameters say %s",
                   table->path, names[table->items], names[params->task.items]);
}

const char *icl_memtable_path(const struct icl_memtable *table) {
    return table->path;
}

void icl_memtable_range(const struct icl_memtable *table, double *least, double *most) {
    *least = round(exp(table->lnK[0]));
    *most = round(exp(table->lnK[table->sizes - 1]));
}

const struct icl_memtable_fit *icl_memtable_law(const struct icl_memtable *table) {
    return &table->fit;
}

/* Steffen (1990): the slope at a point from the secants and widths on its two sides. */
static double slope_at(double left, double right, double before, double after) {
    if (left * right <= 0) return 0;
    const double mean = (left * after + right * before) / (before + after);
    return copysign(2 * fmin(fmin(fabs(left), fabs(right)), 0.5 * fabs(mean)), left);
}

/* At an end: that of the parabola through the last three points, limited to twice the secant. */
static double slope_at_end(double near, double far, double h_near, double h_far) {
    const double parabola = near + (near - far) * h_near / (h_near + h_far);
    if (parabola * near <= 0) return 0;
    return fabs(parabola) > 2 * fabs(near) ? 2 * near : parabola;
}

/* The cubic through y over n points x, at `at` between the points cell and cell + 1; *d: its derivative. n = 1: the
 * point itself. */
static double steffen(size_t n, const double *x, const double *y, size_t cell, double at, double *d) {
    if (n == 1) {
        *d = 0;
        return y[0];
    }
    const double h = x[cell + 1] - x[cell], m = (y[cell + 1] - y[cell]) / h, u = at - x[cell];
    const double before = cell > 0 ? x[cell] - x[cell - 1] : 0, after = cell + 2 < n ? x[cell + 2] - x[cell + 1] : 0;
    const double left = cell > 0 ? (y[cell] - y[cell - 1]) / before : m;
    const double right = cell + 2 < n ? (y[cell + 2] - y[cell + 1]) / after : m;
    const double lo = cell > 0 ? slope_at(left, m, before, h) : n > 2 ? slope_at_end(m, right, h, after) : m;
    const double hi = cell + 2 < n ? slope_at(m, right, h, after) : n > 2 ? slope_at_end(m, left, h, before) : m;
    const double a = (lo + hi - 2 * m) / (h * h), b = (3 * m - 2 * lo - hi) / h;
    *d = (3 * a * u + 2 * b) * u + lo;
    return ((a * u + b) * u + lo) * u + y[cell];
}

/* One number a size, at the place's K. */
static double across(const struct icl_memtable *t, const struct icl_memtable_place *place, const double *value) {
    double d;
    return steffen(place->count, t->lnK + place->first, value + place->first, place->cell, place->lnK, &d);
}

/* A field at clock j, at the place's K. */
static double node(const struct icl_memtable *t, const struct icl_memtable_place *place, size_t j, size_t field) {
    double y[ICL_MEMTABLE_NEAR] = {0}, d;
    for (size_t k = 0; k < place->count; k++) y[k] = t->cell[((place->first + k) * t->clocks + j) * t->fields + field];
    return steffen(place->count, t->lnK + place->first, y, place->cell, place->lnK, &d);
}

/* The last i with v[i] <= at, at most n - 2. */
static size_t find(size_t n, const double *v, double at) {
    size_t lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        const size_t middle = (lo + hi) / 2;
        *(v[middle] <= at ? &lo : &hi) = middle;
    }
    return lo;
}

/* The neighbours of a K inside; a K of the table's own is its own neighbour. */
static void neighbours(const struct icl_memtable *t, struct icl_memtable_place *place) {
    const double same = 1e-12;
    size_t i = t->sizes > 1 ? find(t->sizes, t->lnK, place->lnK) : 0;
    if (t->sizes > 1 && fabs(t->lnK[i + 1] - place->lnK) <= same) i++;
    if (fabs(t->lnK[i] - place->lnK) <= same) {
        place->first = i;
        place->count = 1;
        return;
    }
    place->first = i > 0 ? i - 1 : 0;
    place->cell = i - place->first;
    place->count = (i + 3 < t->sizes ? i + 3 : t->sizes) - place->first;
}

static double inside(const struct icl_memtable *t, const struct icl_memtable_place *place, double s) {
    const size_t j = find(t->clocks, t->s, s), from = j > 0 ? j - 1 : 0;
    const size_t n = (j + 3 < t->clocks ? j + 3 : t->clocks) - from;
    double y[ICL_MEMTABLE_NEAR] = {0}, d;
    for (size_t i = 0; i < n; i++) y[i] = node(t, place, from + i, ICL_MEMTABLE_LNI);
    return s * exp(steffen(n, t->x + from, y, j - from, log1p(s / t->s[1]), &d));
}

struct icl_memtable_place icl_memtable_at(const struct icl_memtable *t, double K) {
    const double lo = t->lnK[0], hi = t->lnK[t->sizes - 1], lnK = log(K), rounding = 1e-12;
    struct icl_memtable_place place = {.lnK = fmin(fmax(lnK, lo), hi), .pace = 1};
    place.outside = lnK < lo - rounding || lnK > hi + rounding;
    neighbours(t, &place);
    const double end = t->s[t->clocks - 1];
    place.last = inside(t, &place, end);
    place.total = place.last * exp(across(t, &place, t->excess));
    place.p = across(t, &place, t->p);
    if (place.outside) {
        double nu = t->fit.nu;
        if (t->sizes > 1) { /* the local exponent at the edge */
            const size_t edge = lnK < lo ? 0 : t->sizes - 2;
            const struct icl_memtable_place a = icl_memtable_at(t, exp(t->lnK[edge]));
            const struct icl_memtable_place b = icl_memtable_at(t, exp(t->lnK[edge + 1]));
            nu = log(b.total / a.total) / (t->lnK[edge + 1] - t->lnK[edge]);
        }
        place.pace = exp(nu * (place.lnK - lnK));
    }
    place.end = end / place.pace;
    place.last /= place.pace;
    place.total /= place.pace;
    return place;
}

size_t icl_memtable_phi(const struct icl_memtable *t, const struct icl_memtable_place *place, double s, double *phi,
                        double *slope, double *weight) {
    const double beyond = s > place->end ? log(s / place->end) : 0, at = fmin(s, place->end) * place->pace;
    const size_t j = find(t->clocks, t->s, at), from = j > 0 ? j - 1 : 0;
    const size_t n = (j + 3 < t->clocks ? j + 3 : t->clocks) - from;
    const double x = log1p(at / t->s[1]), rate = place->pace / (t->s[1] + at);
    for (size_t q = 0; q < t->quantiles; q++) {
        double y[ICL_MEMTABLE_NEAR] = {0};
        for (size_t i = 0; i < n; i++) y[i] = node(t, place, from + i, ICL_MEMTABLE_PHI + q);
        phi[q] = steffen(n, t->x + from, y, j - from, x, &slope[q]);
        slope[q] *= rate;
        weight[q] = t->weight[q];
        if (s <= place->end) continue;
        phi[q] += place->p * beyond;
        slope[q] = place->p / s;
    }
    return t->quantiles;
}

double icl_memtable_spread(const struct icl_memtable *t, const struct icl_memtable_place *place, double s) {
    const double at = fmin(s, place->end) * place->pace;
    const size_t j = find(t->clocks, t->s, at), from = j > 0 ? j - 1 : 0;
    const size_t n = (j + 3 < t->clocks ? j + 3 : t->clocks) - from;
    double y[ICL_MEMTABLE_NEAR] = {0}, d;
    for (size_t i = 0; i < n; i++) y[i] = node(t, place, from + i, ICL_MEMTABLE_V);
    return fmax(0, steffen(n, t->x + from, y, j - from, log1p(at / t->s[1]), &d));
}

double icl_memtable_budget(const struct icl_memtable *t, const struct icl_memtable_place *place, double s) {
    if (s <= place->end) return inside(t, place, s * place->pace) / place->pace;
    return place->total - (place->total - place->last) * pow(s / place->end, 1 - place->p);
}

void icl_memtable_bounds(const struct icl_memtable *t, const struct icl_memtable_place *place, double s, double *c1,
                         double *c2) {
    const size_t j = find(t->clocks, t->s, fmin(s, place->end) * place->pace);
    *c1 = 0;
    *c2 = INFINITY;
    for (size_t k = place->first; k < place->first + place->count; k++) {
        *c1 = fmax(*c1, t->bounds[2 * (k * t->clocks + j)]);
        *c2 = fmin(*c2, t->bounds[2 * (k * t->clocks + j) + 1]);
    }
}
