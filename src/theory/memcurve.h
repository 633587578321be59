/* memcurve.h -- a measured table at one K: cubics in the clock; private to theory.
 *
 *   phi_j(s), v(s), log(I_K/s), log response: splines in x = log(1 + 200 s/end), held monotone where the data are,
 *   through values that are Steffen's cubics in log K of the table's (of four neighbours), at equal fractions of the
 * end s > end   phi_j + p log(s/end): c1 falls as s^-p, and I_K closes with it on I_K(inf) K outside the clock runs
 * (K_edge/K)^nu times as fast, nu the local exponent at the edge (T8)
 *
 * s        clock of the MLP [t], >= 0
 * phi      shape (quantiles): signed logit of each class of items
 * Owns     its coefficients, until icl_memcurve_free; the table must outlive it. Read-only once made.
 * Cost     made in some tens of microseconds; phi at one clock is less than a tenth of one.
 */
#ifndef ICLKIN_MEMCURVE_H
#define ICLKIN_MEMCURVE_H

#include "theory/memtable.h"

struct icl_memcurve {
    const struct icl_memtable *table;
    double unit, end;      /* x = log(1 + s/unit); the last clock */
    double last, total, p; /* I_K(end), I_K(inf); beyond the end c1 ~ s^-p */
    bool outside;          /* K is none of the table's range */
    double step;           /* of x, from piece to piece */
    double *power;         /* shape (pieces, order, fields): of 1, u, u^2, ..., u = x less the piece's middle */
    double *bounds;        /* shape (clocks, 2): the largest c1 and the smallest c2 from a clock on */
};

enum icl_status icl_memcurve_alloc(struct icl_memcurve **curve, const struct icl_memtable *table, double K,
                                   struct icl_err *err) ICL_MUST_CHECK;
void icl_memcurve_free(struct icl_memcurve *curve);

/* phi, dphi/ds and the weights, shape (quantiles); returns how many there are. */
size_t icl_memcurve_phi(const struct icl_memcurve *curve, double s, double *phi, double *slope, double *weight);
/* v(s): variance of the logit on novel items. */
double icl_memcurve_spread(const struct icl_memcurve *curve, double s);
/* I_K(s). */
double icl_memcurve_budget(const struct icl_memcurve *curve, double s);
/* The largest c1 and the smallest c2 from s on: noise lets a measured c1 rise, and a spread at the start c2 fall. */
void icl_memcurve_bounds(const struct icl_memcurve *curve, double s, double *c1, double *c2);
/* Response to each offset beyond 0 and its slope in s, shape (offsets - 1); returns how many there are. */
size_t icl_memcurve_response(const struct icl_memcurve *curve, double s, double *response, double *slope);
/* I_K(inf) at any K (as a curve says), and end. */
double icl_memcurve_total(const struct icl_memtable *table, double K);

#endif
