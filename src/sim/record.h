/* record.h -- when a run is evaluated, and the times of (O2) read off the evaluations; private to sim.
 *
 * Evaluations lie log-spaced in the steps (a SPACING of what is past), closer where acc_icl nears the level that it is
 * next expected to cross, and at the rows' times where rows are asked for; those leave the times of (O2) as they are,
 * so that they are the same with and without rows. All of a record is plain data: a checkpoint copies it.
 */
#ifndef ICLKIN_SIM_RECORD_H
#define ICLKIN_SIM_RECORD_H

#include "iclkin/train.h"

struct icl_record {
    uint64_t total;                 /* steps in the whole run */
    uint64_t next;                  /* the step of the next evaluation: due, or next_row */
    uint64_t due;                   /* the next that the times are read off */
    uint64_t next_row;              /* and of the next row; beyond total: none */
    uint64_t samples;               /* rows passed */
    uint64_t evaluated;             /* evaluations that the times are read off */
    uint64_t is_row;                /* 1: the last evaluation is a row */
    struct icl_train_row last, row; /* of those evaluations; of the rows */
    struct icl_train_time t_icl, t_iwl, t_loss;
};

void icl_record_init(const struct icl_train_setup *setup, struct icl_record *record);
/* Takes the evaluation made at a step: crossings, and the step of the next one. */
void icl_record_take(const struct icl_train_setup *setup, uint64_t step, const struct icl_train_row *row,
                     struct icl_record *record);

#endif
