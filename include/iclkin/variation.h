/* variation.h -- how t_icl and t_loss move with the start (w0, beta0): the variational equations.
 *
 *   dV/dtau = J(y) V, V(0) = 1;  an event g(y) = 0 moves by dtau = -(grad g . V)/(grad g . f)               (O7)
 *   asymptotic, random labels: dt/dbeta0 = -I/c1(t), dt/dw0 = (w0 I - N e^-beta0)/c1(t), I the budget of (T7)
 *
 * Slopes   dt/dw0 and dt/dbeta0, order of enum icl_state; NaN where there is no such time, 0 where it is 0, and NaN at
 *          level asymptotic with balanced labels, which has no flow to follow to its end.
 * Fails    ICL_ENUMERIC from the integrator; ICL_ENOMEM; ICL_EUSAGE from the memory law.
 * Cost     an exact Jacobian with every right-hand side: twenty times a run of the mean field.
 */
#ifndef ICLKIN_VARIATION_H
#define ICLKIN_VARIATION_H

#include "iclkin/err.h"
#include "iclkin/params.h"

enum { ICL_VARIATION_STARTS = 2 };

struct icl_variation {
    double t_icl, t_loss;
    double icl[ICL_VARIATION_STARTS], loss[ICL_VARIATION_STARTS];
};

enum icl_status icl_variation_run(const struct icl_params *params, enum icl_level level,
                                  struct icl_variation *variation, struct icl_err *err) ICL_MUST_CHECK;

#endif
