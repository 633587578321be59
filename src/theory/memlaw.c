#include "iclkin/memlaw.h"

#include <math.h>

enum icl_status icl_memlaw_init(const struct icl_memory *memory, double K, struct icl_memlaw *law,
                                struct icl_err *err) {
    *law = (struct icl_memlaw){.law = memory->law, .c1 = 0.5, .c2 = 0.5, .budget = INFINITY};
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
        return ICL_ERR(err, ICL_EUSAGE, "memory.law = table: no measured table is part of this version");
    }
    return ICL_OK;
}

void icl_memlaw_rates(const struct icl_memlaw *law, double s, struct icl_memlaw_rates *rates) {
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

void icl_memlaw_state(const struct icl_memlaw *law, double s, struct icl_memlaw_state *state) {
    struct icl_memlaw_rates rates;
    icl_memlaw_rates(law, s, &rates);
    /* All items alike: sigma(-phi) = c1. A c1 that underflowed stands for "memorized for good". */
    const double c1 = fmax(rates.c1, 1e-300);
    state->c1 = c1; /* the clock (M3) divides by it */
    state->c2 = rates.c2;
    state->c3 = rates.c1 / (1 - rates.c1);
    state->v = 0;
    state->quantiles = 1;
    state->phi[0] = law->law == ICL_LAW_NONE ? 0 : log1p(-c1) - log(c1);
    state->weight[0] = 1;
    state->slope[0] = rates.dc1 == 0 ? 0 : -rates.dc1 / (c1 * (1 - c1));
}

double icl_memlaw_budget(const struct icl_memlaw *law, double s) {
    if (law->law != ICL_LAW_POWERLAW) return law->c1 * s;
    return -law->budget * expm1(-(law->p - 1) * log1p(s / law->scale));
}

double icl_memlaw_clock(const struct icl_memlaw *law, double budget) {
    if (law->law != ICL_LAW_POWERLAW) return budget / law->c1;
    if (budget >= law->budget) return INFINITY;
    return law->scale * expm1(-log1p(-budget / law->budget) / (law->p - 1));
}

double icl_memlaw_reach(const struct icl_memlaw *law, double level) {
    struct icl_memlaw_rates start;
    icl_memlaw_rates(law, 0, &start);
    if (start.c1 <= level) return 0;
    if (law->law != ICL_LAW_POWERLAW) return INFINITY;
    return law->scale * (pow(2 * level, -1 / law->p) - 1);
}

bool icl_memlaw_alike(const struct icl_memlaw *law) {
    return law->law != ICL_LAW_TABLE;
}

double icl_memlaw_items(const struct icl_memory *memory, double budget) {
    if (isinf(budget)) return INFINITY;
    return memory->law == ICL_LAW_POWERLAW ? pow(budget / memory->A, 1 / memory->nu) : 0;
}
