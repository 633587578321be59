/* attention.h -- LayerNorm and one attention head over tokens, at the last position alone: (S8) up to the MLP; private
 * to sim.
 *
 *   token   t_j = (x_j, code(l_j)), the target's code is 0;  d = D + 1 (code +1, -1) or D + 2 ((1,0), (0,1))
 *   norm    n_j = (t_j - mean)/sqrt(var + 1e-5),  u_j = g n_j + b
 *   scores  s_j = (W_k u_j) . (W_q u_T),  p = softmax over the N items and the target
 *   out     h = u_T + W_v sum_j p_j u_j
 *
 * Only the last position is asked for, so that keys and values of single tokens are never formed: with
 * r = W_k' W_q u_T the scores are (g r) . n_j up to a constant, and the values need only M = sum_j p_j n_j. Nor are the
 * n_j: their items stay where they are, and each token's mean and scale go with its weight. 8 N d flop a sequence for
 * both ways, and 16 d^2 in products over the batch.
 *
 * tensors  Wq, Wk, Wv (d,d), g, b (1,d), float, in one block and in panels of 32 columns
 * work     of up to `rows` sequences; one a thread
 * Fails    ICL_ENOMEM.
 */
#ifndef ICLKIN_SIM_ATTENTION_H
#define ICLKIN_SIM_ATTENTION_H

#include "sim/gemm.h"
#include "sim/lap.h"
#include "sim/sample.h"

enum icl_attention_tensor {
    ICL_ATTENTION_WQ,
    ICL_ATTENTION_WK,
    ICL_ATTENTION_WV,
    ICL_ATTENTION_GAIN,
    ICL_ATTENTION_BIAS,
    ICL_ATTENTION_TENSORS
};

struct icl_attention {
    size_t d, slots; /* slots: of a label's code */
    size_t floats;   /* in block, padding included */
    float *block;
    float *tensor[ICL_ATTENTION_TENSORS];
};

/* The LayerNorm of an item's token with label +1 [0] and -1 [1]. */
struct icl_attention_norm {
    float mean[2], scale[2];
};

/* What attention sees. turned: with every label turned round. */
struct icl_attention_input {
    const struct icl_sample *sample;
    const struct icl_targets *targets;
    const struct icl_contexts *contexts;
    const struct icl_attention_norm *norm; /* of contexts->rows */
    size_t first;                          /* of the targets; contexts start at 0 */
    bool turned;
};

struct icl_attention_work {
    size_t rows, d, D, width, stride;
    enum icl_gemm_road road;
    const struct icl_head_isa *isa;
    /* (rows,d), in panels: n_T, u_T, W_q u_T, r, M, m = g M + b; gradients of h, of m and then of W_q u_T, of r */
    float *norm, *u, *q, *r, *M, *m, *dh, *dm, *dr;
    float *turn, *flip;          /* (d,rows), (d,d): transposes */
    float *p, *mean, *scale;     /* (rows,stride): p_j and the LayerNorm of token j, the target's the last */
    float *weight, *ds;          /* (stride) */
    float *attended, *gap;       /* (rows): sum_j p_j l_j; score of the first item less the mean of the others */
    float *vector[3], *gradient; /* (wide), (2 wide) of a sequence; of g and b */
    float *block;
};

enum icl_status icl_attention_alloc(struct icl_attention *attention, size_t D, size_t slots,
                                    struct icl_err *err) ICL_MUST_CHECK;
void icl_attention_free(struct icl_attention *attention);
/* W uniform in +-1/sqrt(d), gain 1, bias 0. */
void icl_attention_init(struct icl_attention *attention, uint64_t seed, uint32_t member);
/* The shape of a tensor, and its element (i,j). */
void icl_attention_shape(const struct icl_attention *attention, enum icl_attention_tensor tensor, size_t *rows,
                         size_t *columns);
float *icl_attention_value(const struct icl_attention *attention, enum icl_attention_tensor tensor, size_t i, size_t j);

/* Fills the norm of n items. */
void icl_attention_norms(const struct icl_attention *attention, const struct icl_sample *sample, size_t n,
                         const float *items, struct icl_attention_norm *norm);

enum icl_status icl_attention_work_alloc(struct icl_attention_work **work, const struct icl_attention *attention,
                                         const struct icl_sample *sample, size_t rows,
                                         struct icl_err *err) ICL_MUST_CHECK;
void icl_attention_work_free(struct icl_attention_work *work);

/* h of n sequences to h (n,d), in panels. */
void icl_attention_forward(const struct icl_attention *attention, struct icl_attention_work *work,
                           const struct icl_attention_input *input, size_t n, float *h);
/* After a forward over the same input: target = beta target + alpha sum dloss/dparameter, dh (n,d) the loss's gradient
 * in h. target may be attention itself. */
void icl_attention_backward(const struct icl_attention *attention, struct icl_attention_work *work,
                            const struct icl_attention_input *input, size_t n, const float *dh, float alpha, float beta,
                            struct icl_attention *target);
#endif
