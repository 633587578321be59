#include "iclkin/gauge.h"

#include <math.h>

#include "base/mem.h"
#include "iclkin/quad.h"
#include "iclkin/roots.h"
#include "theory/context.h"
#include "theory/meanfield.h"

enum { SPREAD_NODES = 32 }; /* Gauss nodes over phi of a novel item, losses only */

/* Where acc_icl >= threshold: given w > 0, lo <= beta <= hi. Given w < 0, where the accuracy is 1 minus that at -w, it
 * is beta < 0, the copy avoided instead of sought, where labels are balanced (and D large): depth <= beta < 0. */
struct interval {
    double lo, hi, depth;
};

struct icl_gauge {
    double beta_most;
    struct icl_memlaw law;
    bool alike;
    double icl_threshold, loss_threshold, iwl_threshold;
    struct interval icl, loss; /* alike only */
    double s_memorized;        /* alike only */
    struct icl_context *context[ICL_CONTEXT_KINDS];
    double x[SPREAD_NODES], f[SPREAD_NODES];
};

struct crossing {
    const struct icl_context *novel;
    double threshold;
};

static enum icl_status accuracy_above(double beta, void *context, double *y, struct icl_err *err) {
    const struct crossing *c = context;
    (void)err;
    *y = icl_context_accuracy(c->novel, 1, beta, 0, 0) - c->threshold;
    return ICL_OK;
}

static bool above(const struct crossing *c, double beta) {
    double y;
    return accuracy_above(beta, (void *)c, &y, NULL) == ICL_OK && y >= 0;
}

/* acc_icl at w > 0, v = 0 rises with beta from 1/2 to its top (at beta = D/2 for random labels) and falls beyond. A
 * jump (D infinite, or balanced labels at beta = 0) is found as well as a crossing, and its upper side is taken. */
static enum icl_status interval_of(const struct icl_context *novel, double threshold, double top, double beta_most,
                                   struct interval *in, struct icl_err *err) {
    struct crossing c = {novel, threshold};
    const double bottom = -60, tiny = 1e-9, xtol = 1e-14;
    *in = (struct interval){INFINITY, INFINITY, INFINITY};
    const struct crossing mirrored = {novel, 1 - threshold};
    if (novel->labels == ICL_LABELS_BALANCED && threshold > 0.5 && !above(&mirrored, -tiny)) {
        in->depth = -INFINITY; /* the accuracy rises from 1/2 at -infinity */
        if (above(&mirrored, bottom))
            ICL_TRY(icl_roots_brent(accuracy_above, (void *)&mirrored, bottom, -tiny, xtol, &in->depth, NULL, err));
    }
    if (!above(&c, top)) {
        const double all = 1e3; /* as good as infinite: small D rises again where the largest score holds all weight */
        if (beta_most <= top || !above(&c, all)) return ICL_OK;
        top = all;
    }
    in->lo = -INFINITY;
    if (!above(&c, bottom)) {
        if (!above(&c, 0) && above(&c, tiny))
            in->lo = 0;
        else
            ICL_TRY(icl_roots_brent(accuracy_above, &c, bottom, top, xtol, &in->lo, NULL, err));
        if (!above(&c, in->lo)) in->lo = nextafter(in->lo, INFINITY);
    }
    if (beta_most <= top) return ICL_OK; /* held at its top from there */
    double far = 2 * top;
    while (far < beta_most && far < 1e6 && above(&c, far)) far *= 2;
    if (above(&c, far)) return ICL_OK;
    return icl_roots_brent(accuracy_above, &c, top, far, xtol, &in->hi, NULL, err);
}

static enum icl_status find_intervals(struct icl_gauge *o, const struct icl_task *task, struct icl_err *err) {
    const struct icl_context *novel = o->context[ICL_CONTEXT_NOVEL];
    const double top = isinf(task->D) ? log((double)task->N) + 1 : task->D / 2;
    const double most = isinf(task->D) ? top : o->beta_most;
    ICL_TRY(interval_of(novel, o->icl_threshold, top, most, &o->icl, err));
    return interval_of(novel, o->loss_threshold, top, most, &o->loss, err);
}

enum icl_status icl_gauge_alloc(struct icl_gauge **gauge, const struct icl_params *params, enum icl_level level,
                                double K, bool losses, struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(gauge, 1, sizeof **gauge, err));
    struct icl_gauge *o = *gauge;
    struct icl_task task = params->task;
    struct icl_solver solver = params->solver;
    task.K = K;
    if (params->without & ICL_WITHOUT_FINITE_D) task.D = INFINITY;
    if (!losses) solver.nodes_g = 1; /* accuracies average over g in closed form */
    o->beta_most = level == ICL_LEVEL_MEANFIELD ? INFINITY : task.D / 2;
    o->icl_threshold = params->observe.icl_threshold;
    o->loss_threshold = params->observe.loss_threshold;
    o->iwl_threshold = params->observe.iwl_threshold;
    enum icl_status status = icl_memlaw_init(params, K, &o->law, err);
    o->alike = icl_memlaw_alike(&o->law);
    if (status == ICL_OK && o->alike) o->s_memorized = icl_memlaw_reach(&o->law, 1 - o->iwl_threshold);
    for (int kind = 0; kind < ICL_CONTEXT_KINDS && status == ICL_OK; kind++)
        if (losses || kind == ICL_CONTEXT_NOVEL || (kind == ICL_CONTEXT_ABSENT && !o->alike))
            status =
                icl_context_alloc(&o->context[kind], &task, params->without, &solver, (enum icl_context_kind)kind, err);
    if (status == ICL_OK && losses) status = icl_quad_normal(SPREAD_NODES, o->x, o->f, err);
    if (status == ICL_OK && o->alike) status = find_intervals(o, &task, err);
    if (status == ICL_OK) return ICL_OK;
    icl_gauge_free(o);
    *gauge = NULL;
    return status;
}

void icl_gauge_free(struct icl_gauge *gauge) {
    if (!gauge) return;
    for (int kind = 0; kind < ICL_CONTEXT_KINDS; kind++) icl_context_free(gauge->context[kind]);
    icl_memlaw_free(&gauge->law);
    icl_mem_free(gauge);
}

bool icl_gauge_reachable(const struct icl_gauge *gauge) {
    return !gauge->alike || gauge->icl.lo < INFINITY;
}

double icl_gauge_acc_icl(const struct icl_gauge *o, const double *y) {
    struct icl_memlaw_state memory;
    icl_memlaw_state(&o->law, y[ICL_S], &memory);
    return icl_context_accuracy(o->context[ICL_CONTEXT_NOVEL], y[ICL_W], fmin(y[ICL_BETA], o->beta_most), 0, memory.v);
}

/* Variance within class j, as if its items lay evenly between its neighbours: without it the accuracy would be a
 * staircase of few steps, one for each class that crosses 0. */
static double within(const struct icl_memlaw_state *memory, size_t j) {
    const size_t last = memory->quantiles - 1, lo = j > 0 ? j - 1 : 0, hi = j < last ? j + 1 : last;
    const double width = hi > lo ? (memory->phi[hi] - memory->phi[lo]) / (double)(hi - lo) : 0;
    return width * width / 12;
}

double icl_gauge_acc_iwl(const struct icl_gauge *o, const double *y) {
    struct icl_memlaw_state memory;
    icl_memlaw_state(&o->law, y[ICL_S], &memory);
    double v[ICL_MEMLAW_QUANTILES];
    for (size_t j = 0; j < memory.quantiles; j++) v[j] = within(&memory, j);
    const struct icl_context_classes classes = {memory.quantiles, memory.phi, v, memory.weight};
    return icl_context_accuracies(o->context[ICL_CONTEXT_ABSENT], y[ICL_W], fmin(y[ICL_BETA], o->beta_most), &classes);
}

/* P(w a > x) of a group's contexts, ties counting 1/2. */
static double exceeds(const struct icl_context *c, const struct icl_context_group *g, double w, double x) {
    const double mean = w * g->line[0], sd = fabs(w * g->line[1]);
    if (!isinf(c->D) && sd > 0) return 0.5 * erfc((x - mean) / (sd * sqrt(2)));
    double p = 0;
    for (size_t i = g->first; i < g->first + g->count; i++)
        p += c->weight[i] / g->weight * (w * c->a[i] > x ? 1 : w * c->a[i] < x ? 0 : 0.5);
    return p;
}

double icl_gauge_scatter_icl(struct icl_gauge *o, const double *y, double contexts) {
    struct icl_memlaw_state memory;
    struct icl_context *c = o->context[ICL_CONTEXT_NOVEL];
    double mean = 0, square = 0, within_items = 0;
    icl_memlaw_state(&o->law, y[ICL_S], &memory);
    icl_context_at(c, fmin(y[ICL_BETA], o->beta_most), false);
    for (const struct icl_context_group *g = c->group; g < c->group + c->groups; g++)
        for (size_t j = 0; j < (memory.v > 0 ? SPREAD_NODES : 1); j++) {
            /* A context and its turn are both right where w a > |phi|, one of them where |w a| < |phi|. */
            const double phi = memory.v > 0 ? sqrt(memory.v) * fabs(o->x[j]) : 0, p = memory.v > 0 ? o->f[j] : 1;
            const double both = exceeds(c, g, y[ICL_W], phi), one = exceeds(c, g, y[ICL_W], -phi) - both;
            const double hit = both + one / 2, weight = g->weight * p;
            mean += weight * hit;
            square += weight * hit * hit;
            within_items += weight * (both + one / 4 - hit * hit);
        }
    return square - mean * mean + within_items / contexts;
}

void icl_gauge_all(struct icl_gauge *o, const double *y, struct icl_observables *out) {
    struct icl_memlaw_state memory;
    icl_memlaw_state(&o->law, y[ICL_S], &memory);
    *out = (struct icl_observables){.c1 = memory.c1, .c2 = memory.c2, .c3 = memory.c3};
    const double far[ICL_DIM] = {1e100, fmin(o->beta_most, 1e3), y[ICL_S]};
    const bool blown = isinf(y[ICL_BETA]);
    if (blown) y = far;
    out->acc_icl = icl_gauge_acc_icl(o, y);
    out->acc_iwl = icl_gauge_acc_iwl(o, y);
    for (int kind = 0; kind < ICL_CONTEXT_KINDS; kind++)
        icl_context_at(o->context[kind], fmin(y[ICL_BETA], o->beta_most), false);
    out->loss_train = icl_meanfield_loss(o->context[ICL_CONTEXT_TRAIN], &memory, y[ICL_W]);
    out->loss_iwl = icl_meanfield_loss(o->context[ICL_CONTEXT_ABSENT], &memory, y[ICL_W]);
    out->loss_icl =
        icl_meanfield_loss_novel(o->context[ICL_CONTEXT_NOVEL], memory.v, SPREAD_NODES, o->x, o->f, y[ICL_W]);
    double *const loss[] = {&out->loss_train, &out->loss_iwl, &out->loss_icl};
    for (int i = 0; i < 3 && blown; i++)
        if (*loss[i] > 1e50) *loss[i] = INFINITY; /* some context is wrong, and w without bound */
}

/* The distance in beta into the interval, its sign that of acc - threshold; w = 0 lies outside wherever
 * threshold > 1/2. */
static double inside(const struct interval *in, double w, double beta) {
    if (w > 0) return fmin(beta - in->lo, in->hi - beta);
    return w < 0 && beta < 0 && beta >= in->depth ? fmin(beta - in->depth, -beta) : -1;
}

double icl_gauge_event_icl(const struct icl_gauge *o, const double *y) {
    if (o->alike) return inside(&o->icl, y[ICL_W], y[ICL_BETA]);
    return icl_gauge_acc_icl(o, y) - o->icl_threshold;
}

double icl_gauge_event_loss(const struct icl_gauge *o, const double *y) {
    if (o->alike && o->loss_threshold > 0.5) return inside(&o->loss, y[ICL_W], y[ICL_BETA]);
    return icl_gauge_acc_icl(o, y) - o->loss_threshold;
}

double icl_gauge_event_iwl(const struct icl_gauge *o, const double *y) {
    if (o->alike) return isinf(o->s_memorized) ? -1 : y[ICL_S] - o->s_memorized;
    return icl_gauge_acc_iwl(o, y) - o->iwl_threshold;
}
