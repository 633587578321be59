/* calibrate.h -- from logits to a memorization law: what is kept of a run, averages over seeds, the tail, the fit (M1).
 *
 *   class j holds the share weight_j of the items, in the order of phi_+; phi_j = -logit of its mean sigma(-phi_+), so
 *   that c1 = sum_j weight_j sigma(-phi_j) exactly; the shares are Gauss-Legendre weights: fine at both ends
 *   I_K(s)   integral of Steffen's cubic through log c1 in log(1 + s/s_1)
 *   tail     c1 ~ s^-p, fitted to the clocks of the last factor of 4 in s: I_K(inf) - I_K(end) = c1(end) end/(p - 1)
 *   law      I_K(inf) = A K^nu (T8), weighted by the errors of log I_K(inf)
 *
 * n        curves hold n clocks s, rising from 0; runs hold one point a clock
 * errors   standard errors over runs (NaN for a single one); of a tail, that of its exponent, or what the exponent of
 * its last factor of 2 would change, whichever is larger Fails    ICL_ENOMEM; ICL_ENUMERIC from GSL.
 */
#ifndef ICLKIN_THEORY_CALIBRATE_H
#define ICLKIN_THEORY_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iclkin/err.h"

enum { ICL_CALIBRATE_CLASSES = 16 };

/* One network at one clock. */
struct icl_calibrate_point {
    double c1, c2, c3, v, phi[ICL_CALIBRATE_CLASSES];
};

/* All runs of one K; arrays of shape (n) are the caller's. */
struct icl_calibrate_curve {
    struct icl_calibrate_point *mean;
    double *c1_error, *I, *I_error;
    double total, total_error; /* I_K(inf) */
    double p, tail_error;
    bool short_; /* c1 falls too slowly at the end for a tail to be known: p was held at its least */
};

struct icl_calibrate_fit {
    double nu, nu_error, A, A_error, covariance; /* of nu and log A */
    double chi2, chance;                         /* of so large a chi2 on a straight line; NaN where none is known */
};

/* Steps of the clocks: 0, then n - 1 log-spaced to total, less those that rounding makes equal. Returns how many. */
size_t icl_calibrate_clocks(size_t n, uint64_t total, uint64_t *step);
enum icl_status icl_calibrate_weights(double weight[ICL_CALIBRATE_CLASSES], struct icl_err *err) ICL_MUST_CHECK;
/* phi (changed: sorted) of K items, and of novel ones. */
void icl_calibrate_measure(size_t K, float *phi, size_t novel, const float *other, const double *weight,
                           struct icl_calibrate_point *point);
/* run: shape (runs, n). */
enum icl_status icl_calibrate_average(size_t runs, size_t n, const double *s, const struct icl_calibrate_point *run,
                                      struct icl_calibrate_curve *curve, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status icl_calibrate_law(size_t sizes, const double *K, const struct icl_calibrate_curve *curve,
                                  struct icl_calibrate_fit *fit, struct icl_err *err) ICL_MUST_CHECK;

#endif
