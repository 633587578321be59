/* steppers.h -- the table of GSL's steppers and what one of them needs to run; private to src/num.
 *
 * Threads  the table is read-only; one bundle, one thread.
 */
#ifndef ICLKIN_STEPPERS_H
#define ICLKIN_STEPPERS_H

#include <gsl/gsl_odeiv2.h>

#include "iclkin/ode.h"

struct icl_steppers_row {
    struct icl_ode_stepper info;
    const gsl_odeiv2_step_type *const *type;
    enum icl_stepper inside; /* the stepper of icl_ode_at: itself, or the one-step one that re-integrates */
};
extern const struct icl_steppers_row icl_steppers_table[ICL_STEPPER_COUNT];

/* A stepper with its control and evolution. driver is GSL's public struct filled by hand: the implicit and multistep
 * steppers read the error level from it, and nothing here calls gsl_odeiv2_driver_apply. */
struct icl_steppers_bundle {
    gsl_odeiv2_step *step;
    gsl_odeiv2_control *control;
    gsl_odeiv2_evolve *evolve;
    gsl_odeiv2_driver driver;
};

/* bundle must stay where it is until icl_steppers_free: the stepper keeps a pointer to its driver. */
enum icl_status icl_steppers_alloc(struct icl_steppers_bundle *bundle, enum icl_stepper method,
                                   const gsl_odeiv2_system *system, double rtol, double atol,
                                   struct icl_err *err) ICL_MUST_CHECK;
/* Measures atol of each component in units of its own. */
enum icl_status icl_steppers_units(struct icl_steppers_bundle *bundle, double rtol, double atol, const double *unit,
                                   struct icl_err *err) ICL_MUST_CHECK;
/* Legal on a zeroed bundle and on one whose alloc failed. */
void icl_steppers_free(struct icl_steppers_bundle *bundle);
/* Forgets every step before. */
void icl_steppers_reset(struct icl_steppers_bundle *bundle);

#endif
