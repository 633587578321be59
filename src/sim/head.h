/* head.h -- the attention head over a group of contexts, and the loss; private to sim.
 *
 *   a_c = sum_j p_j l_j,  p = softmax_j(beta x_j . x_t)                   (S6)
 *   loss log(1 + exp(-y)), its slope -sigma(-y), y = l_t z                (S3)
 */
#ifndef ICLKIN_SIM_HEAD_H
#define ICLKIN_SIM_HEAD_H

#include <math.h>
#include <stddef.h>

#include "sim/sample.h"

/* a and da/dbeta of the first n contexts. */
static inline void icl_head_attend(const struct icl_sample *sample, const struct icl_contexts *contexts, size_t n,
                                   double beta, float *a, float *slope) {
    for (size_t c = 0; c < n; c++) {
        float out[2];
        sample->isa->softmax(sample->N, contexts->score + c * contexts->stride, contexts->label + c * contexts->stride,
                             (float)beta, out);
        a[c] = out[0];
        slope[c] = out[1];
    }
}

static inline double icl_head_loss(double y) {
    return y > 0 ? log1p(exp(-y)) : log1p(exp(y)) - y;
}

/* sigma(-y) */
static inline double icl_head_miss(double y) {
    return 1 / (1 + exp(y));
}

#endif
