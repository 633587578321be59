/* closed.h -- what the theory says in closed form: acquisition, threshold, fold and plateau.
 *
 *   t_ICL = (N/c1) e^-beta0 / h(w0),  h the Gaussian hazard: e^(w0^2/2) sqrt(pi/2) erfc(w0/sqrt 2) = 1/h(w0)   (T7)
 *
 * N        context length, any real number >= 2
 * c1, c2   averages over the MLP's logits (T1)
 * I        int c1 dt, the budget that memorization leaves [t]
 * lambda   weight decay [1/t]
 * Fails    never: what does not exist is infinite, or NaN where stated.
 * Source   Nguyen & Reddy (2025), sections and tags of notes/model.md.
 */
#ifndef ICLKIN_CLOSED_H
#define ICLKIN_CLOSED_H

#include <stdbool.h>

#include "iclkin/err.h"

/* The budget I that acquisition takes from (w0, beta0) with c2 and decay dropped (T7), random labels. Overflows to
 * infinity only where the true value does. */
double icl_closed_budget(double N, double w0, double beta0);

/* The same for balanced labels (T7b), by quadrature; infinity on or below the separatrix of the saddle w = beta = 0. */
enum icl_status icl_closed_budget_balanced(double N, double w0, double beta0, double *budget,
                                           struct icl_err *err) ICL_MUST_CHECK;

/* w on the separatrix of the balanced saddle at beta: w = -sgn(beta) sqrt(2 (beta + e^-beta - 1)) (T7b). */
double icl_closed_separatrix_balanced(double beta);

/* The decay at the fold of (T5) with lambda_w = lambda_beta, c1 frozen (T9). */
double icl_closed_fold(double N, double c1, double c2);
/* lambda_beta (lambda_w + a c2) / (2 e a^2), a = c1/N: above 1 a start near the origin is trapped (T9, two decays). */
double icl_closed_fold_ratio(double N, double c1, double c2, double lambda_w, double lambda_beta);
/* The saddle of (T5) at these values; false where there is none (ratio below 1, or a decay is 0). Random labels. */
bool icl_closed_saddle(double N, double c1, double c2, double lambda_w, double lambda_beta, double *w, double *beta);

/* The plateau with ICL on (T10): w and beta with w a = W0(c3 a^2/lambda_w), w^2 (1 - a) = (lambda_beta/lambda_w) beta,
 * a = e^beta/(e^beta + N - 1). NaN where there is none. */
void icl_closed_plateau(double N, double c3, double lambda_w, double lambda_beta, double *w, double *beta);
/* loss_iwl along the plateau (T10): lambda_w log(1/loss_icl)/(a^2 loss_icl), a = e^beta/(e^beta + N - 1). */
double icl_closed_tie(double N, double lambda_w, double beta, double loss_icl);

#endif
