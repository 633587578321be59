#include "theory/memcurve.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { NEAR = 4, ORDER = ICL_MEMTABLE_ORDER };

/* A number of items among the table's: neighbours first, ..., first + count - 1, K between cell and cell + 1 of them.
 */
struct place {
    size_t first, count, cell;
    double lnK; /* of K, or of the edge where K lies outside */
};

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

/* The cubic through y over n points x, at `at` between the points cell and cell + 1. n = 1: the point itself. */
static double steffen(size_t n, const double *x, const double *y, size_t cell, double at) {
    if (n == 1) return y[0];
    const double h = x[cell + 1] - x[cell], m = (y[cell + 1] - y[cell]) / h, u = at - x[cell];
    const double before = cell > 0 ? x[cell] - x[cell - 1] : 0, after = cell + 2 < n ? x[cell + 2] - x[cell + 1] : 0;
    const double left = cell > 0 ? (y[cell] - y[cell - 1]) / before : m;
    const double right = cell + 2 < n ? (y[cell + 2] - y[cell + 1]) / after : m;
    const double lo = cell > 0 ? slope_at(left, m, before, h) : n > 2 ? slope_at_end(m, right, h, after) : m;
    const double hi = cell + 2 < n ? slope_at(m, right, h, after) : n > 2 ? slope_at_end(m, left, h, before) : m;
    const double a = (lo + hi - 2 * m) / (h * h), b = (3 * m - 2 * lo - hi) / h;
    return ((a * u + b) * u + lo) * u + y[cell];
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

/* A K of the table's own is its own neighbour. */
static struct place place_of(const struct icl_memtable *t, double lnK) {
    const double same = 1e-12;
    struct place place = {.count = 1, .lnK = fmin(fmax(lnK, t->lnK[0]), t->lnK[t->sizes - 1])};
    size_t i = t->sizes > 1 ? find(t->sizes, t->lnK, place.lnK) : 0;
    if (t->sizes > 1 && fabs(t->lnK[i + 1] - place.lnK) <= same) i++;
    if (fabs(t->lnK[i] - place.lnK) <= same) {
        place.first = i;
        return place;
    }
    place.first = i > 0 ? i - 1 : 0;
    place.cell = i - place.first;
    place.count = (i + 3 < t->sizes ? i + 3 : t->sizes) - place.first;
    return place;
}

/* One number a size, at the place's K. */
static double across(const struct icl_memtable *t, const struct place *place, const double *value) {
    return steffen(place->count, t->lnK + place->first, value + place->first, place->cell, place->lnK);
}

static double total_inside(const struct icl_memtable *t, const struct place *place) {
    return exp(across(t, place, t->lnend) + across(t, place, t->lnI) + across(t, place, t->excess));
}

/* How many times as fast the clock runs as at the edge of the table. */
static double pace_of(const struct icl_memtable *t, const struct place *place, double lnK) {
    const double rounding = 1e-12;
    double nu = t->fit.nu;
    if (fabs(lnK - place->lnK) <= rounding) return 1;
    if (t->sizes > 1) { /* the local exponent at the edge */
        const size_t edge = lnK < place->lnK ? 0 : t->sizes - 2;
        const struct place a = place_of(t, t->lnK[edge]), b = place_of(t, t->lnK[edge + 1]);
        nu = log(total_inside(t, &b) / total_inside(t, &a)) / (t->lnK[edge + 1] - t->lnK[edge]);
    }
    return exp(nu * (place->lnK - lnK));
}

double icl_memcurve_total(const struct icl_memtable *t, double K) {
    const struct place place = place_of(t, log(K));
    return total_inside(t, &place) / pace_of(t, &place, log(K));
}

/* One field's pieces: its coefficients at the place's K; c, shape (coefs), is scratch. */
static void add_field(struct icl_memcurve *curve, const struct place *place, size_t field, double *c) {
    const struct icl_memtable *t = curve->table;
    double y[NEAR] = {0};
    for (size_t i = 0; i < t->coefs; i++) {
        for (size_t k = 0; k < place->count; k++)
            y[k] = t->cell[((place->first + k) * t->fields + field) * t->coefs + i];
        c[i] = steffen(place->count, t->lnK + place->first, y, place->cell, place->lnK);
    }
    icl_spline_powers(t->spline, c, curve->power + field, t->fields);
}

/* From the last clock backwards, at the clocks. */
static void add_bounds(struct icl_memcurve *curve) {
    const struct icl_memtable *t = curve->table;
    double phi[ICL_MEMTABLE_QUANTILES], slope[ICL_MEMTABLE_QUANTILES], weight[ICL_MEMTABLE_QUANTILES];
    double c1 = 0, c2 = INFINITY;
    for (size_t j = t->clocks; j-- > 0;) {
        double m1 = 0, m2 = 0;
        icl_memcurve_phi(curve, curve->end * t->u[j], phi, slope, weight);
        for (size_t q = 0; q < t->quantiles; q++) {
            const double miss = 1 / (1 + exp(phi[q]));
            m1 += weight[q] * miss;
            m2 += weight[q] * miss * miss;
        }
        curve->bounds[2 * j] = c1 = fmax(c1, m1);
        curve->bounds[2 * j + 1] = c2 = fmin(c2, 1 - m2 / m1);
    }
}

static enum icl_status build(struct icl_memcurve *curve, double K, struct icl_err *err) {
    const struct icl_memtable *t = curve->table;
    const struct place place = place_of(t, log(K));
    const double pace = pace_of(t, &place, log(K));
    double *c = NULL;
    curve->outside = pace != 1;
    curve->end = exp(across(t, &place, t->lnend)) / pace;
    curve->unit = curve->end / ICL_MEMTABLE_RESOLVED;
    curve->total = total_inside(t, &place) / pace;
    curve->last = curve->total / exp(across(t, &place, t->excess));
    curve->p = across(t, &place, t->p);
    curve->step = icl_spline_step(t->spline);
    ICL_TRY(icl_mem_alloc(&c, t->coefs, sizeof *c, err));
    for (size_t i = 0; i < t->fields; i++) add_field(curve, &place, i, c);
    icl_mem_free(c);
    add_bounds(curve);
    return ICL_OK;
}

enum icl_status icl_memcurve_alloc(struct icl_memcurve **curve, const struct icl_memtable *table, double K,
                                   struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(curve, 1, sizeof **curve, err));
    struct icl_memcurve *c = *curve;
    c->table = table;
    enum icl_status status =
        icl_mem_alloc(&c->power, icl_spline_pieces(table->spline) * ORDER, table->fields * sizeof *c->power, err);
    if (status == ICL_OK) status = icl_mem_alloc(&c->bounds, table->clocks, 2 * sizeof *c->bounds, err);
    if (status == ICL_OK) status = build(c, K, err);
    if (status == ICL_OK) return ICL_OK;
    icl_memcurve_free(c);
    *curve = NULL;
    return status;
}

void icl_memcurve_free(struct icl_memcurve *curve) {
    if (!curve) return;
    icl_mem_free(curve->power);
    icl_mem_free(curve->bounds);
    icl_mem_free(curve);
}

/* The piece at s <= end: its powers, and u = x less the piece's middle. */
static const double *piece_at(const struct icl_memcurve *curve, double s, double *u) {
    const double x = log1p(s / curve->unit);
    size_t i = (size_t)(x / curve->step);
    if (i >= icl_spline_pieces(curve->table->spline)) i = icl_spline_pieces(curve->table->spline) - 1;
    *u = x - curve->step * ((double)i + 0.5);
    return curve->power + i * ORDER * curve->table->fields;
}

/* n fields side by side from the powers c, stride apart, and their slopes in x. */
static void evaluate(size_t n, const double *c, size_t stride, double u, double *y, double *d) {
    for (size_t q = 0; q < n; q++) {
        y[q] = c[(ORDER - 1) * stride + q];
        d[q] = 0;
    }
    for (size_t k = ORDER - 1; k-- > 0;)
        for (size_t q = 0; q < n; q++) {
            d[q] = d[q] * u + y[q];
            y[q] = y[q] * u + c[k * stride + q];
        }
}

static double field_at(const struct icl_memcurve *curve, double s, size_t field) {
    double u, y, d;
    const double *c = piece_at(curve, fmin(s, curve->end), &u) + field;
    evaluate(1, c, curve->table->fields, u, &y, &d);
    return y;
}

size_t icl_memcurve_phi(const struct icl_memcurve *curve, double s, double *phi, double *slope, double *weight) {
    const struct icl_memtable *t = curve->table;
    const double at = fmin(s, curve->end), rate = 1 / (curve->unit + at); /* dx/ds */
    double u;
    const double *c = piece_at(curve, at, &u) + ICL_MEMTABLE_PHI;
    evaluate(t->quantiles, c, t->fields, u, phi, slope);
    for (size_t q = 0; q < t->quantiles; q++) slope[q] *= rate;
    memcpy(weight, t->weight, t->quantiles * sizeof *weight);
    if (s <= curve->end) return t->quantiles;
    const double beyond = curve->p * log(s / curve->end);
    for (size_t q = 0; q < t->quantiles; q++) {
        phi[q] += beyond;
        slope[q] = curve->p / s;
    }
    return t->quantiles;
}

double icl_memcurve_spread(const struct icl_memcurve *curve, double s) {
    return exp(field_at(curve, s, ICL_MEMTABLE_LNV));
}

double icl_memcurve_budget(const struct icl_memcurve *curve, double s) {
    if (s <= curve->end) return s * exp(field_at(curve, s, ICL_MEMTABLE_LNI));
    return curve->total - (curve->total - curve->last) * pow(s / curve->end, 1 - curve->p);
}

void icl_memcurve_bounds(const struct icl_memcurve *curve, double s, double *c1, double *c2) {
    const struct icl_memtable *t = curve->table;
    const size_t j = find(t->clocks, t->u, fmin(s / curve->end, 1));
    *c1 = curve->bounds[2 * j];
    *c2 = curve->bounds[2 * j + 1];
}

size_t icl_memcurve_response(const struct icl_memcurve *curve, double s, double *response, double *slope) {
    const struct icl_memtable *t = curve->table;
    const double at = fmin(s, curve->end), rate = s <= curve->end ? 1 / (curve->unit + at) : 0;
    double u;
    const double *c = piece_at(curve, at, &u) + ICL_MEMTABLE_PHI + t->quantiles;
    evaluate(t->offsets - 1, c, t->fields, u, response, slope);
    for (size_t i = 0; i + 1 < t->offsets; i++) {
        response[i] = exp(response[i]);
        slope[i] *= response[i] * rate;
    }
    return t->offsets - 1;
}
