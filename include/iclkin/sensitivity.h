/* sensitivity.h -- how t_icl, t_loss and K* move with every parameter of the theory (O7).
 *
 *   start (w0, beta0): the variational equations (variation.h); the others: extrapolated differences (slope.h)
 *   K* at asymptotic: differences of (T8); else t_icl(K, p) = t_max at K* gives its slope -(dt_icl/dp)/(dt_icl/dK)
 *
 * Slopes   d/dp at theory.level, NaN where the time (or K*) does not exist, or not on both sides of p
 * error    of the differences; 0 for the variational equations, which are solved to solver.rtol
 * Fails    ICL_ENOMEM, ICL_EUSAGE and the failures of theory.level's own run; trouble elsewhere costs one number.
 * Cost     6 runs a parameter to t_max, and 6 to t_icl alone
 */
#ifndef ICLKIN_SENSITIVITY_H
#define ICLKIN_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/slope.h"

enum icl_sensitivity_of {
    ICL_SENSITIVITY_T_ICL,
    ICL_SENSITIVITY_T_LOSS,
    ICL_SENSITIVITY_K_STAR,
    ICL_SENSITIVITY_COUNT
};

enum { ICL_SENSITIVITY_ROWS = 14 };

struct icl_sensitivity_row {
    const char *name; /* "section.key" */
    double p;
    bool relative; /* p > 0 always: d ln t/d ln p is meant; else d ln t/dp */
    bool exact;    /* the times by the variational equations */
    struct icl_slope slope[ICL_SENSITIVITY_COUNT];
};

struct icl_sensitivity {
    double value[ICL_SENSITIVITY_COUNT];
    size_t rows;
    struct icl_sensitivity_row row[ICL_SENSITIVITY_ROWS];
};

/* "t_icl", "t_loss" or "K_star". */
const char *icl_sensitivity_name(enum icl_sensitivity_of of);
/* d ln t/d ln p, or d ln t/dp, and its error. */
struct icl_slope icl_sensitivity_log(const struct icl_sensitivity *sensitivity, const struct icl_sensitivity_row *row,
                                     enum icl_sensitivity_of of);

enum icl_status icl_sensitivity_run(const struct icl_params *params, struct icl_sensitivity *sensitivity,
                                    struct icl_err *err) ICL_MUST_CHECK;

#endif
