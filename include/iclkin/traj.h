/* traj.h -- solve the dynamics from one start: the times at which something happens, and the state on the way.
 *
 *   t_icl: first t with acc_icl >= icl_threshold; t_iwl: the same for acc_iwl; t_loss: first t > t_icl with
 *   acc_icl < loss_threshold                                                                                    (O2)
 *
 * t        time, lr x SGD steps, 0 <= t <= t_max
 * y        shape (ICL_DIM), order of enum icl_state
 * Times    events located to the solver's accuracy; infinite where t_max comes first. Level asymptotic: t_icl is (T7).
 *          t_max does not cut t_blowup, nor (T7).
 * Fails    ICL_ENUMERIC from the integrator (with t, and which model); ICL_ENOMEM; what the sink returns.
 * Owns     model, gauges and integrator; run may be called again from other starts.
 * Threads  one object, one thread.
 * Cost     20 us reduced, 0.3 ms mean field at D = 63; no allocation after icl_traj_alloc.
 */
#ifndef ICLKIN_TRAJ_H
#define ICLKIN_TRAJ_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/gauge.h"
#include "iclkin/model.h"
#include "iclkin/params.h"

enum icl_outcome {
    ICL_OUTCOME_NONE,
    ICL_OUTCOME_IWL,
    ICL_OUTCOME_ICL,
    ICL_OUTCOME_TRANSIENT,
    ICL_OUTCOME_COUNT
}; /* (O3) */

struct icl_traj_result {
    double t_icl, t_iwl, t_loss;
    double t_blowup;     /* reduced, asymptotic: the time at which beta is infinite; infinite where it never is */
    bool blowup_decided; /* false: t_blowup was not asked for, or max_steps came first */
    enum icl_outcome outcome;
    double t;          /* where the run ended: t_max, the blow-up, or t_icl if it was to stop there */
    double y[ICL_DIM]; /* the state there */
    size_t steps, rhs_calls;
};

enum icl_traj_stop {
    ICL_TRAJ_TO_END,   /* t_max, or the blow-up if that is earlier */
    ICL_TRAJ_TO_ICL,   /* as soon as t_icl is known; t_iwl and t_loss are not looked for */
    ICL_TRAJ_TO_BLOWUP /* to the end, and on until t_blowup is known (reduced level) */
};

/* Receives the rows of a trajectory in the order of t: the samples asked for by [observe], and every event. */
typedef enum icl_status icl_traj_sink(double t, const double *y, void *context, struct icl_err *err);

struct icl_traj;

enum icl_status icl_traj_alloc(struct icl_traj **traj, const struct icl_params *params, enum icl_level level, double K,
                               struct icl_err *err) ICL_MUST_CHECK;
void icl_traj_free(struct icl_traj *traj);

/* Solves from (w, beta). sink may be NULL. */
enum icl_status icl_traj_run(struct icl_traj *traj, double w, double beta, enum icl_traj_stop stop, icl_traj_sink *sink,
                             void *context, struct icl_traj_result *result, struct icl_err *err) ICL_MUST_CHECK;

/* "asymptotic", "reduced" or "meanfield". */
const char *icl_traj_level(enum icl_level level);
/* "none", "iwl", "icl" or "transient" (O3). */
const char *icl_traj_outcome(enum icl_outcome outcome);

#endif
