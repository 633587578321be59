/* quantity.h -- what theory and simulation are compared in: the table of quantities, and lists of them as text.
 *
 *   quantity[@t][:bound], ...        t_icl:0.05, w@645:0.05, beta@645:0.05, ks:0.1
 *
 * bound    of the relative difference, simulation/theory - 1; of the absolute one where the row says so
 * Fails    ICL_EUSAGE with the entry and the rule.
 * Threads  no shared state.
 */
#ifndef ICLKIN_QUANTITY_H
#define ICLKIN_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"

enum icl_quantity_kind {
    ICL_QUANTITY_TIME,    /* a time of (O2), the mean over the runs that reach it */
    ICL_QUANTITY_STATE,   /* a column of a trajectory at a time t, the mean over runs */
    ICL_QUANTITY_SHARE,   /* a share of the runs */
    ICL_QUANTITY_SPREAD,  /* of a whole distribution over runs */
    ICL_QUANTITY_ITEMS,   /* K* (O4), from the share of acquired runs along an x axis task.K */
    ICL_QUANTITY_SLOPE_X, /* a straight line along the x axis, an ensemble's own */
    ICL_QUANTITY_SLOPE_Y  /* a straight line along the y axis, through the ensembles' K* */
};

/* Which number of its kind a quantity is. TIME and STATE have columns instead: of struct icl_counterpart. */
enum icl_quantity_part { ICL_QUANTITY_ACQUIRED, ICL_QUANTITY_OUTCOME, ICL_QUANTITY_POWER, ICL_QUANTITY_HEIGHT };

struct icl_quantity {
    const char *name;
    enum icl_quantity_kind kind;
    int part;      /* TIME: enum icl_counterpart_time; STATE: enum icl_counterpart_state; else icl_quantity_part */
    bool absolute; /* the difference is simulation - theory */
    const char *meaning;
};

size_t icl_quantity_count(void);
const struct icl_quantity *icl_quantity_row(size_t index);

enum { ICL_QUANTITY_LIST = 32, ICL_QUANTITY_LABEL = 64 };

struct icl_quantity_entry {
    const struct icl_quantity *row;
    double t;     /* STATE: when; else NaN */
    double bound; /* NaN: shown, not judged */
};

struct icl_quantity_list {
    struct icl_quantity_entry entry[ICL_QUANTITY_LIST];
    size_t count;
};

enum icl_status icl_quantity_parse(const char *text, struct icl_quantity_list *list,
                                   struct icl_err *err) ICL_MUST_CHECK;
/* "w@645". Returns label. */
const char *icl_quantity_label(const struct icl_quantity_entry *entry, char label[ICL_QUANTITY_LABEL]);

#endif
