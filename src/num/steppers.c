#include "num/steppers.h"

#include <stddef.h>

#define ROW(tag, name, jacobian, one_step, order, inside, use)                                                         \
    [ICL_STEPPER_##tag] = {{#name, jacobian, one_step, order, use}, &gsl_odeiv2_step_##name, ICL_STEPPER_##inside}

const struct icl_steppers_row icl_steppers_table[ICL_STEPPER_COUNT] = {
    ROW(RK2, rk2, false, true, 3.0, RK2, "teaching; low accuracy on a cheap right-hand side"),
    ROW(RK4, rk4, false, true, 4.0, RK4, "comparison with other codes; step doubling makes it dear"),
    ROW(RKF45, rkf45, false, true, 5.0, RKF45, "rtol 1e-3 to 1e-6, right-hand sides that are not smooth"),
    ROW(RKCK, rkck, false, true, 5.0, RKCK, "as rkf45, a little more accurate"),
    ROW(RK8PD, rk8pd, false, true, 8.0, RK8PD, "the default: smooth and not stiff, rtol 1e-6 and below"),
    ROW(RK1IMP, rk1imp, true, true, 1.0, RK1IMP, "stiff and rough; strongly damped, low accuracy"),
    ROW(RK2IMP, rk2imp, true, true, 2.0, RK2IMP, "stiff, with undamped oscillation"),
    ROW(RK4IMP, rk4imp, true, true, 4.0, RK4IMP, "stiff at rtol 1e-8 and below; at looser ones its order is 3"),
    ROW(BSIMP, bsimp, true, true, 12.0, BSIMP, "stiff and smooth, high accuracy"),
    ROW(MSADAMS, msadams, false, false, 2.0, RK8PD, "dear right-hand sides, smooth and not stiff, long spans"),
    ROW(MSBDF, msbdf, true, false, 2.0, BSIMP, "dear right-hand sides, stiff, long spans"),
};

void icl_steppers_free(struct icl_steppers_bundle *bundle) {
    if (bundle->evolve) gsl_odeiv2_evolve_free(bundle->evolve);
    if (bundle->control) gsl_odeiv2_control_free(bundle->control);
    if (bundle->step) gsl_odeiv2_step_free(bundle->step);
    *bundle = (struct icl_steppers_bundle){0};
}

enum icl_status icl_steppers_alloc(struct icl_steppers_bundle *bundle, enum icl_stepper method,
                                   const gsl_odeiv2_system *system, double rtol, double atol, struct icl_err *err) {
    const size_t dim = system->dimension;

    *bundle = (struct icl_steppers_bundle){.step = gsl_odeiv2_step_alloc(*icl_steppers_table[method].type, dim),
                                           .control = gsl_odeiv2_control_standard_new(atol, rtol, 1, 0),
                                           .evolve = gsl_odeiv2_evolve_alloc(dim)};
    if (!bundle->step || !bundle->control || !bundle->evolve) {
        icl_steppers_free(bundle);
        return ICL_ERR(err, ICL_ENOMEM, "ode: no memory for stepper %s of dimension %zu",
                       icl_steppers_table[method].info.name, dim);
    }
    bundle->driver =
        (gsl_odeiv2_driver){.sys = system, .s = bundle->step, .c = bundle->control, .e = bundle->evolve, .h = 1};
    gsl_odeiv2_step_set_driver(bundle->step, &bundle->driver);
    return ICL_OK;
}

enum icl_status icl_steppers_units(struct icl_steppers_bundle *bundle, double rtol, double atol, const double *unit,
                                   struct icl_err *err) {
    gsl_odeiv2_control *control = gsl_odeiv2_control_scaled_new(atol, rtol, 1, 0, unit, bundle->driver.sys->dimension);

    if (!control) return ICL_ERR(err, ICL_ENOMEM, "ode: no memory for the control");
    gsl_odeiv2_control_free(bundle->control);
    bundle->control = bundle->driver.c = control;
    gsl_odeiv2_step_set_driver(bundle->step, &bundle->driver);
    return ICL_OK;
}

void icl_steppers_reset(struct icl_steppers_bundle *bundle) {
    gsl_odeiv2_evolve_reset(bundle->evolve);
    gsl_odeiv2_step_reset(bundle->step);
}
