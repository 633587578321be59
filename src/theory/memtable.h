/* memtable.h -- how a loaded table lies in memory; private to theory. The public contract is iclkin/memtable.h. */
#ifndef ICLKIN_THEORY_MEMTABLE_H
#define ICLKIN_THEORY_MEMTABLE_H

#include "iclkin/memtable.h"
#include "iclkin/spline.h"

/* Clocks are told by x = log(1 + 200 u), u their share of the last: even below u = 1/200, logarithmic above. */
enum { ICL_MEMTABLE_RESOLVED = 20, ICL_MEMTABLE_ORDER = 8 };

/* Fields of a cell: log v, log(I_K/s), phi of each class, then the logarithm of the response to each offset beyond 0.
 */
enum { ICL_MEMTABLE_LNV, ICL_MEMTABLE_LNI, ICL_MEMTABLE_PHI };

struct icl_memtable {
    char path[ICL_TEXT_SIZE];
    double D, hidden, input_scale, batch; /* what it was measured with */
    enum icl_items items;
    struct icl_memtable_fit fit;
    size_t sizes, clocks, quantiles, offsets, fields, coefs;
    struct icl_spline *spline; /* over x, from clocks to coefficients */
    double *lnK;               /* shape (sizes) */
    double *lnend;             /* log of the last clock, shape (sizes) */
    double *excess;            /* log(I_K(inf)/I_K(end)), shape (sizes) */
    double *p;                 /* shape (sizes) */
    double *u;                 /* clocks over the last, shape (clocks) */
    double *weight;            /* shape (quantiles), sums to 1 */
    double *offset;            /* shape (offsets), rising from 0 */
    double *cell;              /* shape (sizes, fields, coefs): the fields' splines */
    double *lnI;               /* log(I_K/s) at the last clock, shape (sizes) */
};

double icl_memtable_coordinate(double u);
/* The spline that smooths a table's curves, and that reads them: x of shape (n), the clocks. */
enum icl_status icl_memtable_spline(struct icl_spline **spline, size_t n, const double *x,
                                    struct icl_err *err) ICL_MUST_CHECK;

#endif
