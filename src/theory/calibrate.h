/* calibrate.h -- from logits to a memorization law: what is kept of a run, averages over seeds, the tail, the fit (M1).
 *
 *   class j holds the share weight_j of the items, in the order of phi_+; phi_j = -logit of its mean sigma(-phi_+), so
 *   that c1 = sum_j weight_j sigma(-phi_j) exactly; the shares are Gauss-Legendre weights: fine at both ends
 *   clocks   s_j = u_j end, even in x = log(1 + 200 u): of any two K the same fractions u_j
 *   smooth   each class, c2, log c3, log v: least squares by cubic B-splines in x, whatever SGD's noise leaves
 *   I_K(s)   integral of Steffen's cubic through log c1 in x
 *   response (ds/dt under a logit offset at equal c1)/(<sigma(-phi_+ - offset)>/<sigma(-phi_+)>), the closure (M4)
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

enum {
    ICL_CALIBRATE_CLASSES = 16,
    ICL_CALIBRATE_FEWEST = 8, /* clocks */
    ICL_CALIBRATE_MATCHED = 3 /* of them must match for a response to be read off */
};

/* One network at one clock. */
struct icl_calibrate_point {
    double c1, c2, c3, v, phi[ICL_CALIBRATE_CLASSES];
};

/* A path under a logit offset when it has the plain path's c1 (NaN: never, or before the offset): the time since the
 * offset was switched on, what the path looks like then, and the response. */
struct icl_calibrate_response {
    double t, response;
    struct icl_calibrate_point look;
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

/* Most clocks, at most n, that stay apart when rounded to steps of a run of total steps. */
size_t icl_calibrate_clocks(size_t n, uint64_t total);
/* Clock j of n of a run that ends at 1: even in x (memtable.h). */
double icl_calibrate_clock(size_t n, size_t j);
enum icl_status icl_calibrate_weights(double weight[ICL_CALIBRATE_CLASSES], struct icl_err *err) ICL_MUST_CHECK;
/* Adds what phi (changed: sorted) of K items, and of novel ones, say; close makes means of so many measurements. */
void icl_calibrate_measure(size_t K, float *phi, size_t novel, const float *other, const double *weight,
                           struct icl_calibrate_point *point);
void icl_calibrate_close(size_t measurements, struct icl_calibrate_point *point);
/* run: shape (runs, n). */
enum icl_status icl_calibrate_average(size_t runs, size_t n, const double *s, const double *weight,
                                      const struct icl_calibrate_point *run, struct icl_calibrate_curve *curve,
                                      struct icl_err *err) ICL_MUST_CHECK;
/* point, shape (n): in place; c1 becomes the average over the classes. */
enum icl_status icl_calibrate_smooth(size_t n, const double *s, const double *weight, struct icl_calibrate_point *point,
                                     struct icl_err *err) ICL_MUST_CHECK;
/* sum_j weight_j sigma(-phi_j - offset). */
double icl_calibrate_c1(const double *weight, const double *phi, double offset);
/* path: of one network, shape (n), as measured at t since the offset was switched on; smoothed in place. response:
 * shape (n), at the plain path's clocks s; t is NaN where too few of them match. */
enum icl_status icl_calibrate_respond(size_t n, const double *s, const struct icl_calibrate_point *plain,
                                      const double *t, struct icl_calibrate_point *path, double offset,
                                      const double *weight, struct icl_calibrate_response *response,
                                      struct icl_err *err) ICL_MUST_CHECK;
/* Of several networks (shape (runs, n)): times and looks averaged, responses as their logarithms, over those that have
 * one; before the classes part 1. Where none has one, it changes as the one to the next smaller offset, below (shape
 * (n); NULL: stays), does. */
void icl_calibrate_respond_mean(size_t runs, size_t n, const struct icl_calibrate_point *plain,
                                const struct icl_calibrate_response *run, const double *below,
                                struct icl_calibrate_response *mean);
enum icl_status icl_calibrate_law(size_t sizes, const double *K, const struct icl_calibrate_curve *curve,
                                  struct icl_calibrate_fit *fit, struct icl_err *err) ICL_MUST_CHECK;

#endif
