#include "theory/meanfield.h"

#include <float.h>
#include <math.h>

#include "base/cpu.h"

void icl_meanfield_sums(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                        double sums[3]) {
    double lift[ICL_MEMLAW_QUANTILES];
    for (size_t j = 0; j < memory->quantiles; j++) lift[j] = exp(fmin(memory->phi[j], 700));
    const struct icl_meanfield_nodes nodes = {context->nodes,    context->a, context->b,     context->weight,
                                              memory->quantiles, lift,       memory->weight, &memory->response};
    switch (icl_cpu_level()) {
#ifndef ICL_NO_ISA
    case 4:
        icl_meanfield_sums_v4(&nodes, w, sums);
        break;
    case 3:
        icl_meanfield_sums_v3(&nodes, w, sums);
        break;
#endif
    default:
        icl_meanfield_sums_v1(&nodes, w, sums);
    }
}

static double sigma(double x) {
    return 1 / (1 + exp(-x));
}

void icl_meanfield_plain(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                         double sums[3]) {
    double unused[2];
    sums[0] = sums[1] = sums[2] = 0;
    for (size_t i = 0; i < context->nodes; i++)
        for (size_t j = 0; j < memory->quantiles; j++) {
            const double p = context->weight[i] * memory->weight[j];
            const double s = p * sigma(-(memory->phi[j] + w * context->a[i]));
            sums[0] += s * icl_memlaw_respond(&memory->response, w * context->a[i], &unused[0], &unused[1]);
            sums[1] += s * context->a[i];
            sums[2] += s * context->b[i];
        }
}

struct node {
    double weight, a, b, c, stray;
};

/* Of one node, over the quantiles: sigma = sigma(-z) = 1/(1 + e^phi u), u = e^(w a). */
struct slopes {
    double s, h, hs, q; /* <sigma>, <sigma (1 - sigma)>, that with dphi/ds, <sigma^2> */
};

static struct slopes slopes_at(const struct icl_memlaw_state *memory, const double *lift, double wa) {
    struct slopes f = {0};
    const bool far = fabs(wa) > 700; /* where the product of two exponentials is not that of their sum */
    const double u = exp(wa);
    for (size_t j = 0; j < memory->quantiles; j++) {
        const double x = fmin(far ? exp(memory->phi[j] + wa) : lift[j] * u, DBL_MAX), minus = 1 / (1 + x),
                     p = memory->weight[j] * minus;
        const double h = p * (x * minus);
        f.s += p;
        f.h += h;
        f.hs += h * memory->slope[j];
        f.q += p * minus;
    }
    return f;
}

static void add_moments(struct icl_meanfield_moments *m, const struct node *node, const struct slopes *f,
                        const struct icl_memlaw_response *response, double w) {
    const double p = node->weight, a = node->a, b = node->b;
    double by_offset, by_clock;
    const double R = icl_memlaw_respond(response, w * a, &by_offset, &by_clock);
    m->r += p * f->s * R;
    m->ra += p * a * (f->s * by_offset - f->h * R);
    m->rb += p * b * (f->s * by_offset - f->h * R);
    m->rs += p * (f->s * by_clock - f->hs * R);
    m->sa += p * f->s * a;
    m->sb += p * f->s * b;
    m->sc += p * f->s * node->c;
    m->haa += p * f->h * a * a;
    m->hab += p * f->h * a * b;
    m->hbb += p * f->h * b * b;
    m->hsa += p * f->hs * a;
    m->hsb += p * f->hs * b;
    m->qaa += p * f->q * a * a;
    m->qab += p * f->q * a * b;
    m->qbb += p * f->q * (b * b + node->stray);
}

void icl_meanfield_moments(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                           struct icl_meanfield_moments *m) {
    double lift[ICL_MEMLAW_QUANTILES];
    for (size_t j = 0; j < memory->quantiles; j++) lift[j] = exp(fmin(memory->phi[j], 700));
    *m = (struct icl_meanfield_moments){0};
    for (const struct icl_context_group *g = context->group; g < context->group + context->groups; g++)
        for (size_t i = g->first; i < g->first + g->count; i++) {
            const struct node node = {context->weight[i], context->a[i], context->b[i], context->c[i], g->stray};
            const struct slopes f = slopes_at(memory, lift, w * node.a);
            add_moments(m, &node, &f, &memory->response, w);
        }
}

static double softplus(double x) { /* log(1 + e^x) */
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double icl_meanfield_loss(const struct icl_context *context, const struct icl_memlaw_state *memory, double w) {
    double loss = 0;
    for (size_t i = 0; i < context->nodes; i++)
        for (size_t j = 0; j < memory->quantiles; j++)
            loss += context->weight[i] * memory->weight[j] * softplus(-(memory->phi[j] + w * context->a[i]));
    return loss;
}

double icl_meanfield_loss_novel(const struct icl_context *context, double v, size_t n, const double *x, const double *f,
                                double w) {
    double loss = 0;
    for (size_t i = 0; i < context->nodes; i++)
        for (size_t j = 0; j < (v > 0 ? n : 1); j++)
            loss +=
                context->weight[i] * (v > 0 ? f[j] : 1) * softplus(-((v > 0 ? sqrt(v) * x[j] : 0) + w * context->a[i]));
    return loss;
}
