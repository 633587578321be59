/* noise.h -- how far the noise of SGD scatters w, beta and t_icl over runs that start alike (T11).
 *
 *   dSigma/dt = J Sigma + Sigma J' + (lr/batch) C,   sd(t_icl) = sqrt(n' Sigma n)/|n' dy/dt| at t_icl
 *
 * Sigma    covariance of the state over runs, row-major ICL_DIM x ICL_DIM, to first order in lr/batch; 0 at the start
 * J, C     Jacobian of dy/dt, and the covariance over sequences of the gradient of (w, beta), on the path of y
 * n        gradient of the event (O2): of acc_icl, or of the distance in beta where acc_icl depends on beta alone
 * Levels   reduced and meanfield. Not in it: the noise of the MLP, and which K items were drawn.
 *
 * Fails    ICL_ENUMERIC from the integrator; ICL_ENOMEM; ICL_EUSAGE from the memory law, or for level asymptotic.
 * Cost     5 ms in the mean field at D = 63.
 */
#ifndef ICLKIN_NOISE_H
#define ICLKIN_NOISE_H

#include "iclkin/err.h"
#include "iclkin/model.h"
#include "iclkin/params.h"

struct icl_noise {
    double t, y[ICL_DIM], Sigma[ICL_DIM * ICL_DIM];
};

/* The state and its covariance at time t >= 0 from params->init. */
enum icl_status icl_noise_at(const struct icl_params *params, enum icl_level level, double t, struct icl_noise *noise,
                             struct icl_err *err) ICL_MUST_CHECK;

/* Of t_icl, as icl_traj_run gives it: both infinite where it is, and 0 where ICL is there at once. */
struct icl_noise_time {
    double sd;   /* over runs */
    double read; /* the standard error with which `simulate` reads it off its sample of sim.eval_items (O1) */
};
enum icl_status icl_noise_t_icl(const struct icl_params *params, enum icl_level level, double t_icl,
                                struct icl_noise_time *time, struct icl_err *err) ICL_MUST_CHECK;

#endif
