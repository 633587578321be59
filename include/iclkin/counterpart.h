/* counterpart.h -- what theory says of one simulated run: its times, its outcome, its state at given times.
 *
 * A level of theory is solved from the run's own initial w and beta (O5).
 *
 * Times    infinite where never, by t_max; level asymptotic: (T7), which t_max does not cut
 * States   as the columns of a trajectory; beyond a blow-up w and beta are infinite
 * Fails    ICL_ENUMERIC, ICL_ENOMEM, ICL_EUSAGE as traj.h.
 * Threads  one object, one thread.
 */
#ifndef ICLKIN_COUNTERPART_H
#define ICLKIN_COUNTERPART_H

#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/traj.h"

enum icl_counterpart_time {
    ICL_COUNTERPART_T_ICL,
    ICL_COUNTERPART_T_IWL,
    ICL_COUNTERPART_T_LOSS,
    ICL_COUNTERPART_TIMES
};

enum icl_counterpart_state {
    ICL_COUNTERPART_W,
    ICL_COUNTERPART_BETA,
    ICL_COUNTERPART_C1,
    ICL_COUNTERPART_C2,
    ICL_COUNTERPART_C3,
    ICL_COUNTERPART_LOSS_TRAIN,
    ICL_COUNTERPART_LOSS_ICL,
    ICL_COUNTERPART_LOSS_IWL,
    ICL_COUNTERPART_ACC_ICL,
    ICL_COUNTERPART_ACC_IWL,
    ICL_COUNTERPART_STATES
};

struct icl_counterpart;

/* At params->task.K, with states at the n times t. */
enum icl_status icl_counterpart_alloc(struct icl_counterpart **counterpart, const struct icl_params *params,
                                      enum icl_level level, size_t n, const double *t,
                                      struct icl_err *err) ICL_MUST_CHECK;
void icl_counterpart_free(struct icl_counterpart *counterpart);

/* From (w, beta): times, shape (ICL_COUNTERPART_TIMES); state, shape (n, ICL_COUNTERPART_STATES). */
enum icl_status icl_counterpart_run(struct icl_counterpart *counterpart, double w, double beta, double *times,
                                    enum icl_outcome *outcome, double *state, struct icl_err *err) ICL_MUST_CHECK;

#endif
