/* slope.h -- derivatives of functions known only by solving: differences at several steps, extrapolated to step 0.
 *
 *   central   (f(x + h) - f(x - h))/2h at h = step, 2 step, 4 step           what is left is of order h^6 f^(7)
 *   forward   (f(x + h) - f(x))/h at h = step, 2 step, 4 step, 8 step        of order h^4 f^(5); backward: step < 0
 *
 * error    the last extrapolation's change, and noise |f/step|: noise is the relative error of f's values
 * Value    NaN where f is not finite at some point it was asked for.
 * Fails    what f fails with.
 * Threads  no shared state.
 * Cost     6 or 5 calls of f, for all its components together; no allocation.
 */
#ifndef ICLKIN_SLOPE_H
#define ICLKIN_SLOPE_H

#include <stddef.h>

#include "iclkin/err.h"

enum { ICL_SLOPE_COMPONENTS = 4 };

/* Fills y, shape (count); components that do not exist at x are infinite or NaN. */
typedef enum icl_status icl_slope_function(double x, void *context, double *y, struct icl_err *err);

enum icl_slope_side { ICL_SLOPE_CENTRAL, ICL_SLOPE_FORWARD };

struct icl_slope {
    double value, error;
};

enum icl_status icl_slope_run(icl_slope_function *f, void *context, size_t count, double x, double step,
                              enum icl_slope_side side, double noise, struct icl_slope *slope,
                              struct icl_err *err) ICL_MUST_CHECK;

#endif
