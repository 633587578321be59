#include "iclkin/memlaw.h"

#include <math.h>
#include <stdio.h>

#include "theory/memcurve.h"

/* A share of I_K(inf) that may be spent beyond a table's last clock, by its tail, without being asked for. */
static const double little = 0.01;

static enum icl_status init_table(const struct icl_params *params, double K, struct icl_memlaw *law,
                                  struct icl_err *err) {
    const struct icl_memtable *table = params->memtable;
    const bool open = params->memory.extrapolate == ICL_EXTRAPOLATE_YES;
    double least, most;
    if (!table)
        return ICL_ERR(err, ICL_EUSAGE, "memory.law = table: memory.table = %s was not read", params->memory.table);
    ICL_TRY(icl_memtable_matches(table, params, err));
    const double *offset;
    law->spreads = !(params->without & ICL_WITHOUT_SPREAD);
    law->responds = icl_memtable_offsets(table, &offset) > 1 && params->memory.closure != ICL_CLOSURE_PLAIN;
    if (!law->responds && params->memory.closure == ICL_CLOSURE_RESPONSE)
        return ICL_ERR(err, ICL_EUSAGE, "memory.closure = response: memory.table = %s holds none (calibrate -y)",
                       icl_memtable_path(table));
    icl_memtable_range(table, &least, &most);
    ICL_TRY(icl_memcurve_alloc(&law->curve, table, K, err));
    if (law->curve->outside && !open) {
        icl_memlaw_free(law);
        return ICL_ERR(err, ICL_EUSAGE,
                       "memory.table = %s: K = %g lies outside its %g to %g (memory.extrapolate = yes goes on)",
                       icl_memtable_path(table), K, least, most);
    }
    law->budget = law->curve->total;
    const double left = (law->curve->total - law->curve->last) / law->curve->total;
    if (!open && left > little) law->end = law->curve->end;
    return ICL_OK;
}

void icl_memlaw_free(struct icl_memlaw *law) {
    icl_memcurve_free(law->curve);
    law->curve = NULL;
}

enum icl_status icl_memlaw_init(const struct icl_params *params, double K, struct icl_memlaw *law,
                                struct icl_err *err) {
    const struct icl_memory *memory = &params->memory;
    *law = (struct icl_memlaw){.law = memory->law, .c1 = 0.5, .c2 = 0.5, .budget = INFINITY, .end = INFINITY};
    if (isinf(K)) law->law = ICL_LAW_NONE;
    switch (law->law) {
    case ICL_LAW_NONE:
        break;
    case ICL_LAW_CONSTANT:
        law->c1 = memory->c1;
        law->c2 = isnan(memory->c2) ? 1 - memory->c1 : memory->c2;
        break;
    case ICL_LAW_POWERLAW:
        law->budget = memory->A * pow(K, memory->nu);
        law->p = memory->p;
        law->scale = (memory->p - 1) * 2 * law->budget;
        break;
    case ICL_LAW_TABLE:
        return init_table(params, K, law, err);
    }
    return ICL_OK;
}

/* A c1 that underflowed stands for "memorized for good": the clock (M3) divides by it. */
static const double least_c1 = 1e-300;

/* Averages over the classes (T1), and their slopes: d sigma(-phi)/dphi = -sigma(-phi) sigma(phi). */
static void average(const struct icl_memlaw_state *state, struct icl_memlaw_rates *rates, double *c3) {
    double m1 = 0, m2 = 0, dm1 = 0, dm2 = 0;
    *c3 = 0;
    for (size_t q = 0; q < state->quantiles; q++) {
        const double e = exp(-state->phi[q]), miss = isinf(e) ? 1 : e / (1 + e), p = state->weight[q];
        const double slope = -miss * (1 - miss) * state->slope[q];
        m1 += p * miss;
        m2 += p * miss * miss;
        dm1 += p * slope;
        dm2 += p * 2 * miss * slope;
        *c3 += p * e;
    }
    m1 = fmax(m1, least_c1);
    *rates = (struct icl_memlaw_rates){m1, 1 - m2 / m1, dm1, -(dm2 - m2 / m1 * dm1) / m1};
}

/* Cubics from offset to offset, of even slopes: 0 at the first and the last, the secant over both sides between. */
static void respond_table(const struct icl_memlaw *law, double s, struct icl_memlaw_response *r) {
    const double *offset;
    double value[ICL_MEMTABLE_OFFSETS] = {1}, by_s[ICL_MEMTABLE_OFFSETS] = {0};
    const size_t n = icl_memtable_offsets(law->curve->table, &offset);
    icl_memcurve_response(law->curve, s, value + 1, by_s + 1);
    r->pieces = n - 1;
    for (size_t m = 0; m + 1 < n; m++) {
        const double h = offset[m + 1] - offset[m];
        r->start[m] = offset[m];
        r->width[m] = h;
        for (int part = 0; part < 2; part++) {
            const double *y = part == 0 ? value : by_s, rise = (y[m + 1] - y[m]) / h;
            const double lo = m > 0 ? (y[m + 1] - y[m - 1]) / (offset[m + 1] - offset[m - 1]) : 0;
            const double hi = m + 2 < n ? (y[m + 2] - y[m]) / (offset[m + 2] - offset[m]) : 0;
            double *c = part == 0 ? r->rise[m] : r->slope[m];
            c[0] = lo;
            c[1] = (3 * rise - 2 * lo - hi) / h;
            c[2] = (lo + hi - 2 * rise) / (h * h);
        }
    }
}

double icl_memlaw_respond(const struct icl_memlaw_response *r, double o, double *by_offset, double *by_clock) {
    double sum = 1;
    *by_offset = *by_clock = 0;
    for (size_t m = 0; m < r->pieces; m++) {
        const double u = fmin(fmax(o - r->start[m], 0), r->width[m]);
        const double *c = r->rise[m], *d = r->slope[m];
        sum += ((c[2] * u + c[1]) * u + c[0]) * u;
        *by_clock += ((d[2] * u + d[1]) * u + d[0]) * u;
        if (u > 0 && u < r->width[m]) *by_offset = (3 * c[2] * u + 2 * c[1]) * u + c[0];
    }
    return sum;
}

static void state_table(const struct icl_memlaw *law, double s, struct icl_memlaw_state *state,
                        struct icl_memlaw_rates *rates) {
    state->quantiles = icl_memcurve_phi(law->curve, s, state->phi, state->slope, state->weight);
    average(state, rates, &state->c3);
    state->c1 = rates->c1;
    state->c2 = rates->c2;
}

void icl_memlaw_rates(const struct icl_memlaw *law, double s, struct icl_memlaw_rates *rates) {
    if (law->law == ICL_LAW_TABLE) {
        struct icl_memlaw_state state;
        state_table(law, s, &state, rates);
        return;
    }
    if (law->law != ICL_LAW_POWERLAW) {
        *rates = (struct icl_memlaw_rates){law->c1, law->c2, 0, 0};
        return;
    }
    const double x = 1 + s / law->scale, p = law->p;
    rates->c1 = 0.5 * (p == 2 ? 1 / (x * x) : pow(x, -p)); /* pow is a third of a reduced solve */
    rates->c2 = 1 - rates->c1;
    rates->dc1 = -p / law->scale * rates->c1 / x;
    rates->dc2 = -rates->dc1;
}

void icl_memlaw_bounds(const struct icl_memlaw *law, double s, double *c1, double *c2) {
    struct icl_memlaw_rates rates;
    if (law->law == ICL_LAW_TABLE) {
        icl_memcurve_bounds(law->curve, s, c1, c2);
        return;
    }
    icl_memlaw_rates(law, s, &rates);
    *c1 = rates.c1;
    *c2 = rates.c2;
}

void icl_memlaw_state(const struct icl_memlaw *law, double s, struct icl_memlaw_state *state) {
    struct icl_memlaw_rates rates;
    if (law->law == ICL_LAW_TABLE) {
        state_table(law, s, state, &rates);
        state->v = law->spreads ? icl_memcurve_spread(law->curve, s) : 0;
        state->response.pieces = 0;
        if (law->responds) respond_table(law, s, &state->response);
        return;
    }
    icl_memlaw_rates(law, s, &rates);
    /* All items alike: sigma(-phi) = c1. */
    const double c1 = fmax(rates.c1, least_c1);
    state->c1 = c1;
    state->c2 = rates.c2;
    state->c3 = rates.c1 / (1 - rates.c1);
    state->v = 0;
    state->quantiles = 1;
    state->phi[0] = law->law == ICL_LAW_NONE ? 0 : log1p(-c1) - log(c1);
    state->weight[0] = 1;
    state->response.pieces = 0;
    state->slope[0] = rates.dc1 == 0 ? 0 : -rates.dc1 / (c1 * (1 - c1));
}

double icl_memlaw_budget(const struct icl_memlaw *law, double s) {
    if (law->law == ICL_LAW_TABLE) return icl_memcurve_budget(law->curve, s);
    if (law->law != ICL_LAW_POWERLAW) return law->c1 * s;
    return -law->budget * expm1(-(law->p - 1) * log1p(s / law->scale));
}

/* Halves [lo, hi] to rounding: the place where a function of s, `above` at lo, ceases to be. */
static double halve(const struct icl_memlaw *law, double lo, double hi,
                    bool (*above)(const struct icl_memlaw *law, double s, double level), double level) {
    const double rounding = 4e-16;
    while (hi - lo > rounding * hi) {
        const double middle = 0.5 * (lo + hi);
        if (middle <= lo || middle >= hi) break;
        *(above(law, middle, level) ? &lo : &hi) = middle;
    }
    return hi;
}

static bool unspent(const struct icl_memlaw *law, double s, double budget) {
    return icl_memlaw_budget(law, s) < budget;
}

static double clock_table(const struct icl_memlaw *law, double budget) {
    const struct icl_memcurve *at = law->curve;
    if (!(budget > 0)) return 0;
    if (budget >= at->total) return INFINITY;
    if (budget < at->last) return halve(law, 0, at->end, unspent, budget);
    return at->end * pow((at->total - budget) / (at->total - at->last), 1 / (1 - at->p));
}

static bool unmemorized(const struct icl_memlaw *law, double s, double level) {
    struct icl_memlaw_rates rates;
    icl_memlaw_rates(law, s, &rates);
    return rates.c1 > level;
}

/* The first of a fine row of clocks at which c1 has fallen so far, and the place before it. */
static double reach_table(const struct icl_memlaw *law, double level) {
    const double finer = 1.02, most = 1e300;
    double before = 0, s = law->curve->end * 1e-6;
    while (s < most && unmemorized(law, s, level)) {
        before = s;
        s *= s < law->curve->end ? finer : 2;
    }
    return s < most ? halve(law, before, s, unmemorized, level) : INFINITY;
}

double icl_memlaw_clock(const struct icl_memlaw *law, double budget) {
    if (law->law == ICL_LAW_TABLE) return clock_table(law, budget);
    if (law->law != ICL_LAW_POWERLAW) return budget / law->c1;
    if (budget >= law->budget) return INFINITY;
    return law->scale * expm1(-log1p(-budget / law->budget) / (law->p - 1));
}

double icl_memlaw_reach(const struct icl_memlaw *law, double level) {
    struct icl_memlaw_rates start;
    icl_memlaw_rates(law, 0, &start);
    if (start.c1 <= level) return 0;
    if (law->law == ICL_LAW_TABLE) return reach_table(law, level);
    if (law->law != ICL_LAW_POWERLAW) return INFINITY;
    return law->scale * (pow(2 * level, -1 / law->p) - 1);
}

bool icl_memlaw_alike(const struct icl_memlaw *law) {
    return law->law != ICL_LAW_TABLE;
}

enum icl_status icl_memlaw_check(const struct icl_memlaw *law, double s, struct icl_err *err) {
    if (s <= law->end) return ICL_OK;
    return ICL_ERR(err, ICL_ERANGE,
                   "memory.table = %s: the clock s = %g passes its end, s = %g (memory.extrapolate = yes goes on)",
                   icl_memtable_path(law->curve->table), s, law->end);
}

const char *icl_memlaw_beyond(const struct icl_memlaw *law, double K, double s, char buffer[ICL_TEXT_SIZE]) {
    if (law->law != ICL_LAW_TABLE || (!law->curve->outside && s <= law->curve->end)) return NULL;
    if (law->curve->outside)
        snprintf(buffer, ICL_TEXT_SIZE, "K = %g", K);
    else
        snprintf(buffer, ICL_TEXT_SIZE, "s > %g", law->curve->end);
    return buffer;
}

static const double K_least = 2, K_most = 1e15; /* the range of task.K */

void icl_memlaw_range(const struct icl_params *params, double *least, double *most) {
    *least = K_least;
    *most = K_most;
    if (params->memory.law == ICL_LAW_TABLE && params->memtable && params->memory.extrapolate == ICL_EXTRAPOLATE_NO)
        icl_memtable_range(params->memtable, least, most);
}

/* I_K(inf) of a table rises with K: halves ln K. */
static double items_table(const struct icl_params *params, double budget) {
    const bool open = params->memory.extrapolate == ICL_EXTRAPOLATE_YES;
    double least, most;
    if (!params->memtable) return NAN;
    icl_memlaw_range(params, &least, &most);
    if (icl_memcurve_total(params->memtable, least) > budget) return open ? 0 : NAN;
    if (icl_memcurve_total(params->memtable, most) < budget) return open ? INFINITY : NAN;
    double lo = log(least), hi = log(most);
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (lo + hi);
        *(icl_memcurve_total(params->memtable, exp(middle)) < budget ? &lo : &hi) = middle;
    }
    return exp(hi);
}

double icl_memlaw_items(const struct icl_params *params, double budget) {
    if (isinf(budget)) return INFINITY;
    if (params->memory.law == ICL_LAW_TABLE) return items_table(params, budget);
    return params->memory.law == ICL_LAW_POWERLAW ? pow(budget / params->memory.A, 1 / params->memory.nu) : 0;
}
