#include "iclkin/memlaw.h"

#include <math.h>

static enum icl_status init_table(const struct icl_params *params, double K, struct icl_memlaw *law,
                                  struct icl_err *err) {
    const struct icl_memtable *table = params->memtable;
    const bool open = params->memory.extrapolate == ICL_EXTRAPOLATE_YES;
    double least, most;
    if (!table)
        return ICL_ERR(err, ICL_EUSAGE, "memory.law = table: memory.table = %s was not read", params->memory.table);
    ICL_TRY(icl_memtable_matches(table, params, err));
    law->table = table;
    law->place = icl_memtable_at(table, K);
    icl_memtable_range(table, &least, &most);
    if (law->place.outside && !open)
        return ICL_ERR(err, ICL_EUSAGE,
                       "memory.table = %s: K = %g lies outside its %g to %g (memory.extrapolate = yes goes on)",
                       icl_memtable_path(table), K, least, most);
    law->budget = law->place.total;
    if (!open) law->end = law->place.end;
    return ICL_OK;
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

static void state_table(const struct icl_memlaw *law, double s, struct icl_memlaw_state *state,
                        struct icl_memlaw_rates *rates) {
    state->quantiles = icl_memtable_phi(law->table, &law->place, s, state->phi, state->slope, state->weight);
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
        icl_memtable_bounds(law->table, &law->place, s, c1, c2);
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
        state->v = icl_memtable_spread(law->table, &law->place, s);
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
    state->slope[0] = rates.dc1 == 0 ? 0 : -rates.dc1 / (c1 * (1 - c1));
}

double icl_memlaw_budget(const struct icl_memlaw *law, double s) {
    if (law->law == ICL_LAW_TABLE) return icl_memtable_budget(law->table, &law->place, s);
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
    const struct icl_memtable_place *at = &law->place;
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
    double before = 0, s = law->place.end * 1e-6;
    while (s < most && unmemorized(law, s, level)) {
        before = s;
        s *= s < law->place.end ? finer : 2;
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
                   icl_memtable_path(law->table), s, law->end);
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
    if (icl_memtable_at(params->memtable, least).total > budget) return open ? 0 : NAN;
    if (icl_memtable_at(params->memtable, most).total < budget) return open ? INFINITY : NAN;
    double lo = log(least), hi = log(most);
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (lo + hi);
        *(icl_memtable_at(params->memtable, exp(middle)).total < budget ? &lo : &hi) = middle;
    }
    return exp(hi);
}

double icl_memlaw_items(const struct icl_params *params, double budget) {
    if (isinf(budget)) return INFINITY;
    if (params->memory.law == ICL_LAW_TABLE) return items_table(params, budget);
    return params->memory.law == ICL_LAW_POWERLAW ? pow(budget / params->memory.A, 1 / params->memory.nu) : 0;
}
