#include "theory/context.h"

#include <math.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "iclkin/quad.h"

enum { LANES = 8 };
/* Beyond e^+-600 a ratio is 0 or infinite for every purpose here; this keeps products of two of them finite. */
static const double exponent_limit = 300;

static double limited(double x) {
    return fmax(-exponent_limit, fmin(x, exponent_limit));
}

/* Binomial(n, p) for any real n >= 0, by its recurrence from the mode: unlike log-gamma forms it keeps every digit at
 * n = 1e7. Real n stands for the analytic continuation that real K asks for; terms end where k reaches n. */
struct binomial {
    double n, p;
    size_t lo, hi; /* k = lo..hi hold all but terms below tail x the largest */
};

static double binomial_ratio(const struct binomial *b, double k) { /* pmf(k+1)/pmf(k) */
    return (b->n - k) / (k + 1) * b->p / (1 - b->p);
}

static size_t binomial_mode(const struct binomial *b) {
    return (size_t)floor(fmin((b->n + 1) * b->p, b->n));
}

static void binomial_range(struct binomial *b, double tail) {
    const size_t mode = binomial_mode(b);
    b->lo = b->hi = mode;
    for (double f = 1; b->hi < floor(b->n); b->hi++) {
        f *= binomial_ratio(b, (double)b->hi);
        if (!(f > tail)) break;
    }
    for (double f = 1; b->lo > 0; b->lo--) {
        f /= binomial_ratio(b, (double)b->lo - 1);
        if (!(f > tail)) break;
    }
}

/* pmf of k = lo..hi into f, times scale. */
static void binomial_fill(const struct binomial *b, double scale, double *f) {
    const size_t mode = binomial_mode(b) - b->lo, count = b->hi - b->lo + 1;
    double sum = f[mode] = 1;
    for (size_t i = mode; i + 1 < count; i++) sum += f[i + 1] = f[i] * binomial_ratio(b, (double)(b->lo + i));
    for (size_t i = mode; i > 0; i--) sum += f[i - 1] = f[i] / binomial_ratio(b, (double)(b->lo + i - 1));
    for (size_t i = 0; i < count; i++) f[i] *= scale / sum;
}

/* How many copies of the target a context holds: base + Binomial(trials, chance) (S2). */
struct copies {
    double base, trials, chance;
};

static struct copies copies_law(const struct icl_task *task, unsigned without, enum icl_context_kind kind) {
    if (kind == ICL_CONTEXT_NOVEL) return (struct copies){1, 0, 0};
    if (kind == ICL_CONTEXT_ABSENT) return (struct copies){0, 0, 0};
    const double B = (double)task->copies, N = (double)task->N;
    const double trials = (task->labels == ICL_LABELS_BALANCED ? N / 2 : N) - B;
    const double chance = (task->labels == ICL_LABELS_BALANCED ? 2 : 1) / task->K;
    return (struct copies){B, chance > 0 && !(without & ICL_WITHOUT_COPIES) ? trials : 0, chance};
}

/* P(label = +1) of another item, and the mean of a label given the target's (T2). */
static double other_plus(const struct icl_task *task, unsigned without, enum icl_context_kind kind) {
    if (kind == ICL_CONTEXT_NOVEL || isinf(task->K) || without & ICL_WITHOUT_CORRELATION) return 0.5;
    return (task->K / 2 - 1) / (task->K - 1);
}

static double other_mean(const struct icl_task *task, unsigned without, enum icl_context_kind kind) {
    if (kind == ICL_CONTEXT_NOVEL || isinf(task->K) || without & ICL_WITHOUT_CORRELATION) return 0;
    return -1 / (task->K - 1);
}

/* Appends a group of count nodes; their content is the caller's to fill (the last count of node and weight). */
static enum icl_status grow(struct icl_context *c, struct icl_context_group group, struct icl_err *err) {
    const size_t nodes = c->nodes + group.count;
    if (c->groups == c->group_room) {
        const size_t room = 2 * c->group_room + 8;
        ICL_TRY(icl_mem_grow(&c->group, c->group_room, room, sizeof *c->group, err));
        c->group_room = room;
    }
    if (nodes + LANES > c->node_room) { /* with room for the padding */
        const size_t room = 2 * c->node_room + nodes + LANES;
        ICL_TRY(icl_mem_grow(&c->node, c->node_room, room, sizeof *c->node, err));
        ICL_TRY(icl_mem_grow(&c->weight, c->node_room, room, sizeof *c->weight, err));
        c->node_room = room;
    }
    group.first = c->nodes;
    c->group[c->groups++] = group;
    c->nodes = nodes;
    return ICL_OK;
}

enum { MOST_NODES = 64 }; /* the range of solver.nodes_* */

struct rule {
    size_t n;
    double x[MOST_NODES], w[MOST_NODES];
};

/* D infinite: the labels' sum S of the m = N - n others, exactly (T2). */
static enum icl_status grow_labels(struct icl_context *c, const struct icl_task *task, double plus, double n,
                                   double weight, double tail, struct icl_err *err) {
    const double m = (double)task->N - n;
    struct binomial b = {m, plus, 0, 0};
    const bool fixed = task->labels == ICL_LABELS_BALANCED || m == 0;
    if (!fixed) binomial_range(&b, tail);
    const size_t count = fixed ? 1 : b.hi - b.lo + 1;
    ICL_TRY(grow(c, (struct icl_context_group){.n = n, .m = m, .weight = weight, .count = count}, err));
    double *S = c->node + c->nodes - count, *f = c->weight + c->nodes - count;
    S[0] = m == 0 ? 0 : -n;
    f[0] = weight;
    if (fixed) return ICL_OK;
    binomial_fill(&b, weight, f);
    for (size_t i = 0; i < count; i++) S[i] = 2 * (double)(b.lo + i) - m;
    return ICL_OK;
}

/* Exact sums over n_c and S have sqrt(N) terms each; beyond EXACT_MOST nodes Gauss rules of the same Binomials take
 * their place: the gradient is smooth in both. (Accuracies, which jump with S, come from contexts of one n.) */
enum { EXACT_MOST = 8192, GAUSS_COPIES = 16, GAUSS_LABELS = 32 };

static enum icl_status build_smooth(struct icl_context *c, const struct icl_task *task, const struct copies *law,
                                    double plus, struct icl_err *err) {
    struct rule copies = {1, {0}, {1}}, sum = {.n = GAUSS_LABELS};
    if (law->trials > 0) {
        copies.n = (size_t)fmin(GAUSS_COPIES, law->trials + 1);
        ICL_TRY(icl_quad_binomial(copies.n, law->trials, law->chance, copies.x, copies.w, err));
    }
    for (size_t i = 0; i < copies.n; i++) {
        const double n = law->base + copies.x[i], m = (double)task->N - n, whole = floor(m + 0.5);
        ICL_TRY(icl_quad_binomial(sum.n, whole, plus, sum.x, sum.w, err));
        ICL_TRY(grow(c, (struct icl_context_group){.n = n, .m = m, .weight = copies.w[i], .count = sum.n}, err));
        for (size_t k = 0; k < sum.n; k++) { /* the rule of a whole m, moved to the mean and variance of m itself */
            const double deviation = (sum.x[k] - whole * plus) * sqrt(m / whole);
            c->node[c->nodes - sum.n + k] = m * (2 * plus - 1) + 2 * deviation;
            c->weight[c->nodes - sum.n + k] = copies.w[i] * sum.w[k];
        }
    }
    return ICL_OK;
}

static enum icl_status build_exact(struct icl_context *c, const struct icl_task *task, const struct icl_solver *solver,
                                   enum icl_context_kind kind, struct icl_err *err) {
    const struct copies law = copies_law(task, c->without, kind);
    const double plus = other_plus(task, c->without, kind);
    struct binomial b = {law.trials, law.chance, 0, 0};
    double *f = NULL;
    enum icl_status status = ICL_OK;
    if (law.trials > 0) binomial_range(&b, solver->tail);
    struct binomial labels = {(double)task->N - law.base, plus, 0, 0};
    binomial_range(&labels, solver->tail);
    const double size = (double)(b.hi - b.lo + 1) * (double)(labels.hi - labels.lo + 1);
    if (kind == ICL_CONTEXT_TRAIN && task->labels == ICL_LABELS_RANDOM && size > EXACT_MOST)
        return build_smooth(c, task, &law, plus, err);
    if ((status = icl_mem_alloc(&f, b.hi - b.lo + 1, sizeof *f, err)) != ICL_OK) return status;
    f[0] = 1;
    if (law.trials > 0) binomial_fill(&b, 1, f);
    for (size_t k = b.lo; k <= b.hi && status == ICL_OK; k++)
        status = grow_labels(c, task, plus, law.base + (double)k, f[k - b.lo], solver->tail, err);
    icl_mem_free(f);
    return status;
}

/* D finite: Gauss rules over n_c, q and g (T4). The averages are smooth in n_c, so that a few nodes serve any K. */
static enum icl_status build_gauss(struct icl_context *c, const struct icl_task *task, const struct icl_solver *solver,
                                   enum icl_context_kind kind, struct icl_err *err) {
    const struct copies law = copies_law(task, c->without, kind);
    struct rule copies = {1, {0}, {1}}, norm = {1, {1}, {1}}, sum = {.n = solver->nodes_g};
    if (law.trials > 0) {
        copies.n = (size_t)fmin((double)solver->nodes_n, law.trials + 1);
        ICL_TRY(icl_quad_binomial(copies.n, law.trials, law.chance, copies.x, copies.w, err));
    }
    if (task->items == ICL_ITEMS_GAUSSIAN) {
        norm.n = solver->nodes_q;
        ICL_TRY(icl_quad_gamma(norm.n, task->D / 2, norm.x, norm.w, err));
    }
    ICL_TRY(icl_quad_normal(sum.n, sum.x, sum.w, err));
    ICL_TRY(icl_mem_alloc(&c->norm, norm.n, sizeof *c->norm, err));
    c->norms = norm.n;
    for (size_t j = 0; j < norm.n; j++) c->norm[j].q = norm.x[j];
    for (size_t i = 0; i < copies.n; i++)
        for (size_t j = 0; j < norm.n; j++) {
            /* a node at n_c = N may pass it by rounding */
            const double n = law.base + copies.x[i], m = fmax((double)task->N - n, 0);
            const double weight = copies.w[i] * norm.w[j];
            const double mu = task->labels == ICL_LABELS_BALANCED ? -n : m * other_mean(task, c->without, kind);
            const struct icl_context_group group = {
                .n = n, .m = m, .root = sqrt(m), .weight = weight, .mu = mu, .norm = j, .count = sum.n};
            ICL_TRY(grow(c, group, err));
            for (size_t k = 0; k < sum.n; k++) {
                c->node[c->nodes - sum.n + k] = sum.x[k];
                c->weight[c->nodes - sum.n + k] = weight * sum.w[k];
            }
        }
    return ICL_OK;
}

enum icl_status icl_context_alloc(struct icl_context **context, const struct icl_task *task, unsigned without,
                                  const struct icl_solver *solver, enum icl_context_kind kind, struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(context, 1, sizeof **context, err));
    struct icl_context *c = *context;
    c->labels = task->labels;
    c->without = without;
    c->D = task->D;
    c->most = log((double)task->N);
    enum icl_status status =
        isinf(task->D) ? build_exact(c, task, solver, kind, err) : build_gauss(c, task, solver, kind, err);
    const size_t padded = (c->nodes + LANES - 1) / LANES * LANES;
    if (status == ICL_OK) status = icl_mem_alloc(&c->a, 3 * padded, sizeof(double), err);
    if (status != ICL_OK) {
        icl_context_free(c);
        *context = NULL;
        return status;
    }
    c->nodes = padded;
    c->b = c->a + padded;
    c->c = c->b + padded;
    return ICL_OK;
}

void icl_context_free(struct icl_context *context) {
    if (!context) return;
    icl_mem_free(context->group);
    icl_mem_free(context->norm);
    icl_mem_free(context->node);
    icl_mem_free(context->weight);
    icl_mem_free(context->a);
    icl_mem_free(context);
}

/* a = (n E + S)/(n E + m) with both sides divided by the larger of E and 1 (T2), (T3). */
static void at_exact(struct icl_context *c, double beta, bool curvature) {
    const double small = exp(-limited(fabs(beta))), E = beta > 0 ? 1 : small, one = beta > 0 ? small : 1;
    for (const struct icl_context_group *g = c->group; g < c->group + c->groups; g++) {
        const double nE = g->n * E, inverse = 1 / (nE + g->m * one), m = g->m;
        const double *S = c->node + g->first;
        double *a = c->a + g->first, *b = c->b + g->first, *cc = c->c + g->first;
        for (size_t i = 0; i < g->count; i++) {
            a[i] = (nE + S[i] * one) * inverse;
            b[i] = nE * one * (m - S[i]) * inverse * inverse;
        }
        if (!curvature) continue;
        for (size_t i = 0; i < g->count; i++) cc[i] = b[i] * (m * one - nE) * inverse;
    }
}

/* x = beta^2 q/D with its two derivatives in beta, held below ln N: there the standard deviation of the others' sum of
 * labels has reached the sum of their weights, which it cannot exceed, while (T4) would go on without bound. The bend
 * is smooth (a corner would catch trajectories) and sharp: at x = ln N/2, N = 100, it changes x by 1e-9. */
struct held {
    double x, x1, x2;
    double share; /* dx/d(beta^2 q/D) */
};

static struct held hold(double rate, double beta, double most) { /* rate = q/D */
    const double sharp = 8, free = rate * beta * beta, over = sharp * (free - most), rounding = -37;
    if (over < rounding) return (struct held){free, 2 * rate * beta, 2 * rate, 1};
    const double lift = (over > 0 ? over + log1p(exp(-over)) : log1p(exp(over))) - log1p(exp(-sharp * most));
    const double p = over > 700 ? 0 : 1 / (1 + exp(over)), free1 = 2 * rate * beta, free2 = 2 * rate;
    return (struct held){free - lift / sharp, p * free1, p * free2 - sharp * p * (1 - p) * free1 * free1, p};
}

/* sd of the others' scaled sum and its two derivatives in beta, per sqrt(m) (T4). For balanced labels sd is signed as
 * beta is: that makes it smooth at 0, and g is symmetric. */
static void spread(enum icl_labels labels, const struct held *h, double rate, double beta, double sd[3]) {
    const double e = exp(h->x);
    if (labels == ICL_LABELS_RANDOM) {
        sd[0] = sqrt(e);
        sd[1] = sd[0] * h->x1 / 2;
        sd[2] = sd[0] * (h->x2 / 2 + h->x1 * h->x1 / 4);
        return;
    }
    /* sd^2 = e^x - 1 = f^2: 2 f f' = x' e^x, 2 (f'^2 + f f'') = (x'' + x'^2) e^x */
    const double f = sqrt(expm1(fmax(h->x, 0)));
    if (f < 1e-3) { /* f = sqrt(rate) beta (1 + x/4 + 5 x^2/96 + ...): no cancellation near 0 */
        const double k = sqrt(rate * h->share), x = h->x;
        sd[0] = k * beta * (1 + x / 4 + 5 * x * x / 96);
        sd[1] = k * (1 + 3 * x / 4 + 25 * x * x / 96);
        sd[2] = k * k * k * beta * (1.5 + 100 * x / 96);
        return;
    }
    sd[0] = beta < 0 ? -f : f;
    sd[1] = h->x1 * e / (2 * sd[0]);
    sd[2] = ((h->x2 + h->x1 * h->x1) * e / 2 - sd[1] * sd[1]) / sd[0];
}

/* Variance of the others' sum of l s e^(beta s) beyond its part along the sum of l e^(beta s), per m (T11). */
static double stray(enum icl_labels labels, double x, double rate) {
    const double small = 1e-6, rest = x < small ? x / 2 : 1 - x / expm1(x);
    return rate * exp(x) * (labels == ICL_LABELS_RANDOM ? 1 : rest);
}

/* (T4): everything of one q at one beta. */
static struct icl_context_norm norm_at(const struct icl_context *c, double q, double beta) {
    const double rate = q / c->D;
    const struct held h = hold(rate, beta, c->most);
    /* The others' mean weight, e^(x/2) up to where their largest holds it all (x = 2 ln N); the largest's beyond. */
    const double frozen = sqrt(2 * c->most / rate), strong = fabs(beta) - frozen;
    const double half = strong > 0 ? rate * frozen * (frozen / 2 + strong) : rate * beta * beta / 2;
    const double pull = rate * copysign(fmin(fabs(beta), frozen), beta), bend = strong > 0 ? 0 : rate;
    const double lr = limited(beta * q - half), slope = q - pull;
    struct icl_context_norm norm = {.q = q, .one = lr > 0 ? exp(-lr) : 1};
    norm.ratio[0] = lr > 0 ? 1 : exp(lr);
    norm.ratio[1] = norm.ratio[0] * slope;
    norm.ratio[2] = norm.ratio[0] * (slope * slope - bend);
    spread(c->labels, &h, rate, beta, norm.sd);
    norm.stray = stray(c->labels, h.x, rate) * norm.one * norm.one;
    for (int i = 0; i < 3; i++) norm.sd[i] *= norm.one;
    return norm;
}

static void fill(struct icl_context *c) {
    switch (icl_cpu_level()) {
#ifndef ICL_NO_ISA
    case 4:
        icl_context_fill_v4(c);
        break;
    case 3:
        icl_context_fill_v3(c);
        break;
#endif
    default:
        icl_context_fill_v1(c);
    }
}

/* a = (n r + mu + sd g)/(n r + m) and b = (n r' (1 - a) + sd' g)/(n r + m) are linear in g; c = b' is as well. */
static void at_gauss(struct icl_context *c, double beta, bool curvature) {
    for (size_t j = 0; j < c->norms; j++) c->norm[j] = norm_at(c, c->norm[j].q, beta);
    for (struct icl_context_group *g = c->group; g < c->group + c->groups; g++) {
        const struct icl_context_norm *norm = c->norm + g->norm;
        const double inverse = 1 / (g->n * norm->ratio[0] + g->m * norm->one), root = g->root * inverse;
        const double pull = g->n * norm->ratio[1] * inverse, pull2 = g->n * norm->ratio[2] * inverse;
        g->line[0] = (g->n * norm->ratio[0] + g->mu * norm->one) * inverse;
        g->line[1] = root * norm->sd[0];
        g->line[2] = pull * (1 - g->line[0]);
        g->line[3] = root * norm->sd[1] - pull * g->line[1];
        g->stray = root * root * norm->stray;
        if (!curvature) continue;
        const double c0 = pull2 * (1 - g->line[0]) - 2 * pull * g->line[2];
        const double c1 = root * norm->sd[2] - pull2 * g->line[1] - 2 * pull * g->line[3];
        for (size_t i = g->first; i < g->first + g->count; i++) c->c[i] = c0 + c1 * c->node[i];
    }
    fill(c);
}

void icl_context_at(struct icl_context *context, double beta, bool curvature) {
    (isinf(context->D) ? at_exact : at_gauss)(context, beta, curvature);
}

/* P(mean + sd x > 0), x ~ N(0, 1); a tie counts 1/2. */
static double positive(double mean, double sd) {
    if (sd == 0 || isinf(mean)) return mean > 0 ? 1 : mean < 0 ? 0 : 0.5;
    return 0.5 * erfc(-mean / (sd * sqrt(2)));
}

/* sum_j weight_j P(phi_j + shift + noise g > 0), phi_j ~ N(phi_j, v_j). */
static double right(const struct icl_context_classes *classes, double shift, double noise) {
    double p = 0;
    for (size_t j = 0; j < classes->n; j++)
        p += classes->weight[j] * positive(classes->phi[j] + shift, hypot(sqrt(classes->v[j]), noise));
    return p;
}

double icl_context_accuracies(const struct icl_context *c, double w, double beta,
                              const struct icl_context_classes *classes) {
    double p = 0;
    const bool exact = isinf(c->D);
    const double E = exp(-limited(fabs(beta)));
    for (const struct icl_context_group *g = c->group; g < c->group + c->groups; g++) {
        if (exact) {
            const double nE = g->n * (beta > 0 ? 1 : E), one = beta > 0 ? E : 1, den = nE + g->m * one;
            for (size_t i = g->first; i < g->first + g->count; i++)
                p += c->weight[i] * right(classes, w == 0 ? 0 : w * ((nE + c->node[i] * one) / den), 0);
            continue;
        }
        const struct icl_context_norm norm = norm_at(c, c->norm[g->norm].q, beta);
        const double nr = g->n * norm.ratio[0], pull = w / (nr + g->m * norm.one), noise = pull * g->root * norm.sd[0];
        p += g->weight * right(classes, w == 0 ? 0 : pull * (nr + g->mu * norm.one), noise);
    }
    return p;
}

double icl_context_accuracy(const struct icl_context *c, double w, double beta, double phi, double v) {
    const double all = 1;
    const struct icl_context_classes one = {1, &phi, &v, &all};
    return icl_context_accuracies(c, w, beta, &one);
}
