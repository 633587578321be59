#include "theory/meanfield.h"

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

void icl_meanfield_moments(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                           struct icl_meanfield_moments *m) {
    *m = (struct icl_meanfield_moments){0};
    for (size_t i = 0; i < context->nodes; i++) {
        double s = 0, h = 0, hs = 0;
        const double a = context->a[i], b = context->b[i];
        for (size_t j = 0; j < memory->quantiles; j++) {
            const double z = memory->phi[j] + w * a, p = memory->weight[j], minus = sigma(-z);
            s += p * minus;
            h += p * minus * sigma(z);
            hs += p * minus * sigma(z) * memory->slope[j];
        }
        const double p = context->weight[i];
        double by_offset, by_clock;
        const double R = icl_memlaw_respond(&memory->response, w * a, &by_offset, &by_clock);
        m->r += p * s * R;
        m->ra += p * a * (s * by_offset - h * R);
        m->rb += p * b * (s * by_offset - h * R);
        m->rs += p * (s * by_clock - hs * R);
        m->sa += p * s * a;
        m->sb += p * s * b;
        m->sc += p * s * context->c[i];
        m->haa += p * h * a * a;
        m->hab += p * h * a * b;
        m->hbb += p * h * b * b;
        m->hsa += p * hs * a;
        m->hsb += p * hs * b;
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
