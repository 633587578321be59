/* roots.h -- bracketed scalar roots: GSL's Brent, for functions that may fail or be infinite.
 *
 * Fails    ICL_ENOROOT ("no root in range", with the values at both ends) where f does not change sign on [lo, hi];
 *          ICL_ENUMERIC where f is NaN; ICL_ERANGE where lo, hi or hi - lo is not finite; ICL_ENOMEM; a failure of f
 *          itself is passed on.
 * Threads  no shared state.
 * Cost     GSL's solver, allocated for the call; the two ends, then the iterations.
 */
#ifndef ICLKIN_ROOTS_H
#define ICLKIN_ROOTS_H

#include <stddef.h>

#include "iclkin/err.h"

/* A function that may fail: fills *y and returns ICL_OK, or a status. */
typedef enum icl_status icl_roots_function(double x, void *context, double *y, struct icl_err *err);

/* The root of f in [lo, hi] (either order) to |error| <= xtol + 4 eps |x|; a root at an end is found. iterations may be
 * NULL. */
enum icl_status icl_roots_brent(icl_roots_function *f, void *context, double lo, double hi, double xtol, double *root,
                                size_t *iterations, struct icl_err *err) ICL_MUST_CHECK;

#endif
