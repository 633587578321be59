/* The hot loop of every phase diagram, compiled once for each instruction set (ICL_ISA); see meanfield.h. */
#include "theory/meanfield.h"

#include "base/isa.h"
#include "num/vec.h"

/* icl_memlaw_respond, eight offsets at a time. */
static inline icl_vec respond(const struct icl_memlaw_response *r, icl_vec o) {
    icl_vec sum = icl_vec_set(1);
    for (size_t m = 0; m < r->pieces; m++) {
        const double *const c = r->rise[m];
        const double half = 0.5 * r->width[m]; /* the middle's distance is limited to half the width */
        const icl_vec u = icl_vec_limit(o - (r->start[m] + half), half) + half;
        sum = icl_vec_fma(icl_vec_fma(icl_vec_fma(icl_vec_set(c[2]), u, icl_vec_set(c[1])), u, icl_vec_set(c[0])), u,
                          sum);
    }
    return sum;
}

/* sigma(-(phi_j + w a_i)) = 1/(1 + e^phi_j e^(w a_i)): one exponential a node, one division a node and quantile. */
void ISA_NAME(icl_meanfield_sums)(const struct icl_meanfield_nodes *nodes, double w, double sums[3]) {
    icl_vec s0 = icl_vec_set(0), s1 = s0, s2 = s0;
    for (size_t i = 0; i < nodes->count; i += sizeof(icl_vec) / sizeof(double)) {
        const icl_vec a = *(const icl_vec *)(nodes->a + i), b = *(const icl_vec *)(nodes->b + i);
        const icl_vec p = *(const icl_vec *)(nodes->weight + i);
        const icl_vec u = icl_vec_exp(icl_vec_limit(a * w, 700));
        icl_vec sigma = icl_vec_set(0);
        for (size_t j = 0; j < nodes->quantiles; j++) {
            const icl_vec share = icl_vec_set(nodes->share[j]), lift = icl_vec_set(nodes->lift[j]);
            sigma = icl_vec_fma(share, icl_vec_inverse(icl_vec_fma(lift, u, icl_vec_set(1))), sigma);
        }
        sigma *= p;
        s0 = nodes->response->pieces == 0 ? s0 + sigma : icl_vec_fma(sigma, respond(nodes->response, a * w), s0);
        s1 = icl_vec_fma(sigma, a, s1);
        s2 = icl_vec_fma(sigma, b, s2);
    }
    sums[0] = icl_vec_sum(&s0);
    sums[1] = icl_vec_sum(&s1);
    sums[2] = icl_vec_sum(&s2);
}

/* y[i] = e^x[i], n a multiple of 8, |x| limited to 700. */
void ISA_NAME(icl_meanfield_exp)(size_t n, const double *x, double *y) {
    for (size_t i = 0; i < n; i += sizeof(icl_vec) / sizeof(double))
        *(icl_vec *)(y + i) = icl_vec_exp(icl_vec_limit(*(const icl_vec *)(x + i), 700));
}
