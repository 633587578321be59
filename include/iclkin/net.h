/* net.h -- the MLP D-H-H-1 that memorizes: its tensors, forward and backward passes.
 *
 *   phi(x) = W3 relu(W2 relu(W1 x + b1) + b2) + b3                        (S6)
 *
 * tensors  W1 (H,D), b1 (1,H), W2 (H,H), b2 (1,H), W3 (1,H), b3 (1,1), float, in one block and in panels of 32
 *          columns: icl_net_value finds an element
 * work     the activations of up to `rows` inputs; one a thread
 * Fails    ICL_ENOMEM; ICL_ERANGE for a size of 0.
 * Owns     a net its block, a work its activations.
 * Threads  separate works are independent; a net that nobody writes to may be shared.
 * Cost     forward 2 rows (D H + H^2 + H) flop, backward twice that less 2 rows D H; no allocation.
 */
#ifndef ICLKIN_NET_H
#define ICLKIN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iclkin/err.h"

enum icl_net_tensor { ICL_NET_W1, ICL_NET_B1, ICL_NET_W2, ICL_NET_B2, ICL_NET_W3, ICL_NET_B3, ICL_NET_TENSORS };

struct icl_net {
    size_t D, H;
    size_t floats; /* in block, padding included */
    float *block;
    float *tensor[ICL_NET_TENSORS]; /* into block */
};

struct icl_net_work;

/* The shape of a tensor, and its name ("W1"). */
void icl_net_shape(const struct icl_net *net, enum icl_net_tensor tensor, size_t *rows, size_t *columns);
const char *icl_net_name(enum icl_net_tensor tensor);
/* Element (i,j) of a tensor. */
float *icl_net_value(const struct icl_net *net, enum icl_net_tensor tensor, size_t i, size_t j);

/* A net of zeros. */
enum icl_status icl_net_alloc(struct icl_net *net, size_t D, size_t H, struct icl_err *err) ICL_MUST_CHECK;
void icl_net_free(struct icl_net *net);
/* Every weight and bias uniform in +-1/sqrt(fan_in). */
void icl_net_init(struct icl_net *net, uint64_t seed, uint32_t member);
/* Whether every parameter is finite. */
bool icl_net_finite(const struct icl_net *net);

enum icl_status icl_net_work_alloc(struct icl_net_work **work, const struct icl_net *net, size_t rows,
                                   struct icl_err *err) ICL_MUST_CHECK;
void icl_net_work_free(struct icl_net_work *work);

/* Sets input row b to scale x, x of D floats. */
void icl_net_load(struct icl_net_work *work, size_t rows, size_t b, const float *x, float scale);
/* phi of rows inputs, all loaded for that number of rows; valid until the next forward. */
const float *icl_net_forward(const struct icl_net *net, struct icl_net_work *work, size_t rows);
/* After a forward over the same rows: target = beta target + alpha sum_b dphi_b dphi(x_b)/dparameter, for every
 * tensor. target may be net itself, which makes it an SGD step, or one of the same shape. */
void icl_net_backward(const struct icl_net *net, struct icl_net_work *work, size_t rows, const float *dphi, float alpha,
                      float beta, struct icl_net *target);
/* The matrix kernels that a work uses ("own-avx512"). */
const char *icl_net_kernel(const struct icl_net_work *work);

#endif
