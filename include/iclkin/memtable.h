/* memtable.h -- memorization as measured: the table that `calibrate` writes, and its interpolation (M1), (M2).
 *
 *   phi_j(s, K), v(s, K), I_K(s): Steffen's monotone cubics in log(1 + s/s_1), through values that are Steffen's cubics
 *   in log K of the table's (of four neighbours; I_K as log I_K)
 *   s > end   phi_j + p log(s/end): c1 falls as s^-p, and I_K closes with it on I_K(inf)
 *   K outside the clock runs (K_edge/K)^nu times as fast, nu the local exponent at the edge (T8)
 *
 * s        clock of the MLP [t], >= 0; s_1 the table's first beyond 0
 * phi      shape (quantiles): signed logit of each class of items, classes of known weight
 * Fails    read: ICL_EIO; ICL_EUSAGE, naming file, place and value, for a file that is cut short, lacks a K, holds a
 * NaN or a clock that does not rise, or contradicts itself. Owns     what it read, until icl_memtable_free. Threads  a
 * loaded table is read-only: one serves all. Cost     a place holds no memory; phi at one clock is about a microsecond.
 */
#ifndef ICLKIN_MEMTABLE_H
#define ICLKIN_MEMTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"

enum { ICL_MEMTABLE_QUANTILES = 64, ICL_MEMTABLE_NEAR = 4 };

struct icl_memtable;

/* What the table's header says of its law (T8). */
struct icl_memtable_fit {
    double nu, nu_error, A, A_error;
};

/* A number of items among the table's. */
struct icl_memtable_place {
    size_t first, count, cell; /* neighbours first, ..., first + count - 1; K lies between cell and cell + 1 of them */
    double lnK;                /* of K, or of the edge where K lies outside */
    double pace;               /* what s is multiplied by: 1 inside */
    double p, end, last;       /* beyond s = end: c1 ~ s^-p, and I_K(end) */
    double total;              /* I_K(inf) */
    bool outside;
};

enum icl_status icl_memtable_read(struct icl_memtable **table, const char *path, struct icl_err *err) ICL_MUST_CHECK;
void icl_memtable_free(struct icl_memtable *table);

/* ICL_EUSAGE where the table was measured with another D, hidden, input_scale, items or batch. */
enum icl_status icl_memtable_matches(const struct icl_memtable *table, const struct icl_params *params,
                                     struct icl_err *err) ICL_MUST_CHECK;
const char *icl_memtable_path(const struct icl_memtable *table);
void icl_memtable_range(const struct icl_memtable *table, double *least, double *most);
const struct icl_memtable_fit *icl_memtable_law(const struct icl_memtable *table);

struct icl_memtable_place icl_memtable_at(const struct icl_memtable *table, double K);
/* phi and dphi/ds at s, shape (quantiles), and the weights; returns how many there are. */
size_t icl_memtable_phi(const struct icl_memtable *table, const struct icl_memtable_place *place, double s, double *phi,
                        double *slope, double *weight);
/* v(s): variance of the logit on novel items. */
double icl_memtable_spread(const struct icl_memtable *table, const struct icl_memtable_place *place, double s);
/* I_K(s). */
double icl_memtable_budget(const struct icl_memtable *table, const struct icl_memtable_place *place, double s);
/* The largest c1 and the smallest c2 from s on: noise lets a measured c1 rise, and a spread at the start c2 fall. */
void icl_memtable_bounds(const struct icl_memtable *table, const struct icl_memtable_place *place, double s, double *c1,
                         double *c2);

#endif
