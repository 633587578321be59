/* plain.h -- the minimal model by plain loops in double: what the simulation's kernels are tested against. */
#ifndef ICLKIN_PLAIN_H
#define ICLKIN_PLAIN_H

#include <stddef.h>

#include "iclkin/net.h"

enum { PLAIN_MOST = 64 }; /* hidden units at most */

/* Numbers in the tensors of a net, and the tensors one after another, each row-major. */
size_t plain_count(size_t D, size_t H);
size_t plain_theta(const struct icl_net *net, double *theta);
/* phi of one input. */
double plain_phi(size_t D, size_t H, const double *theta, const double *x);
/* sum_j p_j label_j with p = softmax(beta score). */
double plain_attention(size_t n, const float *score, const float *label, double beta);

#endif
