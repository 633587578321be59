/* meanfield.h -- the averages of (T2)-(T4) over phi_+ and the contexts; private to theory.
 *
 *   <sigma(-z) R(w a)>, <sigma(-z) a>, <sigma(-z) da/dbeta>,  z = phi_+ + w a,  R the response (M4), 1 without one
 *
 * The nodes come from a context (context.h) after icl_context_at, the quantiles of phi_+ from a memory law.
 * Cost     one exponential a node, one division a node and quantile; no allocation.
 */
#ifndef ICLKIN_MEANFIELD_H
#define ICLKIN_MEANFIELD_H

#include <stddef.h>

#include "iclkin/memlaw.h"
#include "theory/context.h"

struct icl_meanfield_nodes {
    size_t count;                 /* a multiple of 8 */
    const double *a, *b, *weight; /* shape (count), 64-byte aligned */
    size_t quantiles;
    const double *lift, *share; /* e^phi and its weight, shape (quantiles) */
    const struct icl_memlaw_response *response;
};

/* First and second derivatives' averages for the exact Jacobian, and the gradient's second moments; slope is dphi/ds.
 */
struct icl_meanfield_moments {
    double sa, sb, sc;    /* <sigma a>, <sigma b>, <sigma c> */
    double haa, hab, hbb; /* with sigma(-z) sigma(z) instead of sigma, and products of a and b */
    double hsa, hsb;      /* with dphi/ds too */
    double qaa, qab, qbb; /* with sigma^2; da/dbeta scatters beyond b too (T11) */
    double r, ra, rb, rs; /* r = <sigma R>; dr/dw, (dr/dbeta)/w, dr/ds */
};

/* sums = <sigma(-z) R>, <sigma(-z) a>, <sigma(-z) b>: the fast road, and the plain one that is its test. */
void icl_meanfield_sums(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                        double sums[3]);
void icl_meanfield_plain(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                         double sums[3]);
/* Needs icl_context_at with curvature. */
void icl_meanfield_moments(const struct icl_context *context, const struct icl_memlaw_state *memory, double w,
                           struct icl_meanfield_moments *moments);
/* <log(1 + e^-z)> (T2). */
double icl_meanfield_loss(const struct icl_context *context, const struct icl_memlaw_state *memory, double w);
/* The same for a novel item, phi ~ N(0, v): x, f shape (n) are nodes of N(0, 1). */
double icl_meanfield_loss_novel(const struct icl_context *context, double v, size_t n, const double *x, const double *f,
                                double w);

/* The fast road's parts, one for each instruction set; base/cpu.h chooses. */
void icl_meanfield_sums_v1(const struct icl_meanfield_nodes *nodes, double w, double sums[3]);
void icl_meanfield_sums_v3(const struct icl_meanfield_nodes *nodes, double w, double sums[3]);
void icl_meanfield_sums_v4(const struct icl_meanfield_nodes *nodes, double w, double sums[3]);
void icl_meanfield_exp_v1(size_t n, const double *x, double *y);
void icl_meanfield_exp_v3(size_t n, const double *x, double *y);
void icl_meanfield_exp_v4(size_t n, const double *x, double *y);

#endif
