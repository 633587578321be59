/* model.h -- the learning dynamics of the attention head at one level of theory.
 *
 *   reduced     dw/dt = (c1/N)(e^beta - c2 w) - lambda_w w,  dbeta/dt = (c1/N) w e^beta - lambda_beta beta       (T5)
 *   asymptotic  the same with c2 = 0 and no decay                                                               (T7)
 *   meanfield   dw/dt = <sigma(-z) a> - lambda_w w,  dbeta/dt = <sigma(-z) w da/dbeta> - lambda_beta beta  (T3), (T4)
 *               ds/dt = <sigma(-z)>/<sigma(-phi_+)>                                                             (M3)
 *
 * The integration variable tau is t in the mean field; reduced and asymptotic use dtau = (1 + e^beta) dt, in which the
 * blow-up (T6) lies at infinity and nothing overflows.
 *
 * y        shape (ICL_DIM), order of enum icl_state
 * Needs    checked parameters.
 * Fails    ICL_ENOMEM; ICL_EUSAGE from the memory law.
 * Owns     its nodes. Threads: one model, one thread (the averages have work space).
 * Cost     a right-hand side: about 50 ns reduced, 1 us mean field at D = 63; no allocation.
 */
#ifndef ICLKIN_MODEL_H
#define ICLKIN_MODEL_H

#include "iclkin/err.h"
#include "iclkin/memlaw.h"
#include "iclkin/params.h"

enum icl_state { ICL_W, ICL_BETA, ICL_S, ICL_DIM };

struct icl_model;

/* The model of params at a level (which may differ from params->theory.level) and at any real K >= 2. */
enum icl_status icl_model_alloc(struct icl_model **model, const struct icl_params *params, enum icl_level level,
                                double K, struct icl_err *err) ICL_MUST_CHECK;
void icl_model_free(struct icl_model *model);

/* dy/dtau and its exact Jacobian, as an ode.h system takes them; context is the model. */
int icl_model_rhs(double tau, const double *y, double *dydtau, void *context);
int icl_model_jac(double tau, const double *y, double *dfdy, double *dfdtau, void *context);

/* The planar field (dw/dt, dbeta/dt) in time t at (w, beta) with memorization frozen at clock s, and its Jacobian
 * (row-major 2 x 2; NULL where not wanted). Infinite where e^beta overflows. */
void icl_model_field(struct icl_model *model, double s, double w, double beta, double f[2], double jacobian[4]);

/* What the noise of SGD needs (T11): dy/dt in time t with its Jacobian (row-major ICL_DIM x ICL_DIM), and over
 * sequences the covariance ww, w beta, beta beta of the gradient of (w, beta). Infinite where e^beta overflows. */
void icl_model_linear(struct icl_model *model, const double *y, double rate[ICL_DIM],
                      double jacobian[ICL_DIM * ICL_DIM], double covariance[3]);

/* The time t [SGD steps x lr] at (tau, y). */
double icl_model_time(const struct icl_model *model, double tau, const double *y);
/* dt/dtau at y. */
double icl_model_pace(const struct icl_model *model, const double *y);

/* Whether beta = infinity is reached from y (reduced and asymptotic levels), as far as y alone can tell. */
enum icl_fate {
    ICL_FATE_OPEN,  /* not yet decided */
    ICL_FATE_NEVER, /* proved: budget, trap or invariant quadrant (notes/model.md, T5 and T9) */
    ICL_FATE_BLOWUP /* within rounding of it: *t_blowup is its time */
};
enum icl_fate icl_model_fate(const struct icl_model *model, const double *y, double *t_blowup);

enum icl_level icl_model_level(const struct icl_model *model);
const struct icl_memlaw *icl_model_memlaw(const struct icl_model *model);

#endif
