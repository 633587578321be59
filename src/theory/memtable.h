/* memtable.h -- how a loaded table lies in memory; private to theory. The public contract is iclkin/memtable.h. */
#ifndef ICLKIN_THEORY_MEMTABLE_H
#define ICLKIN_THEORY_MEMTABLE_H

#include "iclkin/memtable.h"

/* Fields of a cell: v, log(I_K/s), then phi of each class. */
enum { ICL_MEMTABLE_V, ICL_MEMTABLE_LNI, ICL_MEMTABLE_PHI };

struct icl_memtable {
    char path[ICL_TEXT_SIZE];
    double D, hidden, input_scale, batch; /* what it was measured with */
    enum icl_items items;
    struct icl_memtable_fit fit;
    size_t sizes, clocks, quantiles, fields;
    double *lnK;    /* shape (sizes) */
    double *excess; /* log(I_K(inf)/I_K(end)), shape (sizes) */
    double *p;      /* shape (sizes) */
    double *s, *x;  /* clocks and log(1 + s/s_1), shape (clocks) */
    double *weight; /* shape (quantiles), sums to 1 */
    double *bounds; /* shape (sizes, clocks, 2): the largest c1 and the smallest c2 from a clock on */
    double *cell;   /* shape (sizes, clocks, fields) */
};

#endif
