/* quad.h -- Gauss rules as probability measures, and adaptive quadrature (GSL).
 *
 * x, w     shape (n); the weights sum to 1, so that sum w f(x) is an average
 * Fails    ICL_ERANGE for n = 0 or a parameter outside its range; ICL_ENOMEM; ICL_ENUMERIC where GSL does not converge.
 */
#ifndef ICLKIN_QUAD_H
#define ICLKIN_QUAD_H

#include <stddef.h>

#include "iclkin/err.h"

/* Nodes of N(0, 1). */
enum icl_status icl_quad_normal(size_t n, double *x, double *w, struct icl_err *err) ICL_MUST_CHECK;
/* Nodes of the Gamma distribution of the given shape and mean 1 (scale 1/shape): q = |x|^2 has shape D/2 (T4). Good for
 * shapes from 1/2 to 1e9. */
enum icl_status icl_quad_gamma(size_t n, double shape, double *x, double *w, struct icl_err *err) ICL_MUST_CHECK;

/* Nodes of Binomial(trials, p), whole trials >= n - 1 (Krawtchouk): exact for polynomials of degree below 2n. */
enum icl_status icl_quad_binomial(size_t n, double trials, double p, double *x, double *w,
                                  struct icl_err *err) ICL_MUST_CHECK;

/* The integral of f from a to infinity, to the relative accuracy rtol. */
enum icl_status icl_quad_infinite(double (*f)(double x, void *context), void *context, double a, double rtol,
                                  double *integral, struct icl_err *err) ICL_MUST_CHECK;
/* The integral of f over [a, b]; end-point singularities are allowed. */
enum icl_status icl_quad_finite(double (*f)(double x, void *context), void *context, double a, double b, double rtol,
                                double *integral, struct icl_err *err) ICL_MUST_CHECK;

#endif
