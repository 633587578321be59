/* spline.h -- least squares by B-splines (GSL): smooth curves through measured points, and their pieces as powers.
 *
 *   f(x) = sum_i c_i B_i(x), breaks evenly spaced over the points' x; order 8 has six continuous derivatives
 *
 * n        points x, rising; coefs = breaks + order - 2 of them at least
 * c        shape (coefs); where they rise, so does f
 * Fails    ICL_ENOMEM; ICL_ERANGE for too few points; ICL_ENUMERIC from GSL.
 * Owns     its matrices, until icl_spline_free. Threads: solve works in it; values and powers only read.
 */
#ifndef ICLKIN_SPLINE_H
#define ICLKIN_SPLINE_H

#include <stddef.h>

#include "iclkin/err.h"

struct icl_spline;

enum icl_status icl_spline_alloc(struct icl_spline **spline, size_t n, const double *x, size_t order, size_t breaks,
                                 struct icl_err *err) ICL_MUST_CHECK;
void icl_spline_free(struct icl_spline *spline);

size_t icl_spline_coefs(const struct icl_spline *spline);
/* Pieces between breaks, and how wide they are; the first begins at x_0. */
size_t icl_spline_pieces(const struct icl_spline *spline);
double icl_spline_step(const struct icl_spline *spline);

/* The c that fit y, shape (n) with so many doubles from one to the next. */
enum icl_status icl_spline_solve(struct icl_spline *spline, const double *y, size_t stride, double *c,
                                 struct icl_err *err) ICL_MUST_CHECK;
/* f at the points. */
void icl_spline_values(const struct icl_spline *spline, const double *c, double *y, size_t stride);
/* f on piece i as powers of the distance from its middle: power[(i order + k) stride], k < order. */
void icl_spline_powers(const struct icl_spline *spline, const double *c, double *power, size_t stride);

#endif
