/* ode.h -- one step of a GSL integrator at a time, with the solution and the events inside that step.
 *
 *   dy/dt = f(t, y)
 *
 * The caller's loop is init, step until done; after each step it may ask for the solution anywhere inside the step
 * (icl_ode_at to the solver's accuracy, icl_ode_dense cheaply) and for the sign changes of a function of it.
 *
 * t        the integration variable, which need not be time; t1 may be infinite, and t1 < t0 integrates backwards
 * y        shape (dim)
 * Fails    ICL_ERANGE for a NaN or empty span, tolerance or state; ICL_ENUMERIC when the step underflows, the
 * right-hand side is not finite at any step, or max_steps is reached (the message says which, with t and the
 * tolerance). A failed step leaves t and y as they were. Owns     its workspace; copies y; the right-hand side's
 * context stays the caller's. Threads  one object, one thread; separate objects are independent. Cost     no allocation
 * after icl_ode_alloc.
 */
#ifndef ICLKIN_ODE_H
#define ICLKIN_ODE_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"

/* Both return 0, or another number where the value is not defined (the step is then retried smaller). jac fills
 * dfdy (dim x dim, row-major: df_i/dy_j) and dfdt (dim); NULL where no stepper that needs it will be used. */
struct icl_ode_system {
    size_t dim;
    int (*rhs)(double t, const double *y, double *dydt, void *context);
    int (*jac)(double t, const double *y, double *dfdy, double *dfdt, void *context);
    void *context;
};

/* One row of the const table of steppers. */
struct icl_ode_stepper {
    const char *name;
    bool needs_jacobian;
    bool one_step;   /* false: multistep, whose dense values are re-integrated */
    double order;    /* of the global error at fixed step, as measured by tests/test_ode.c, not as GSL claims */
    const char *use; /* when to choose it */
};
const struct icl_ode_stepper *icl_ode_stepper(enum icl_stepper method);

struct icl_ode_control {
    enum icl_stepper method;
    double rtol, atol; /* error of one step: atol + rtol |y| for every component */
    double h0;         /* first step, its sign ignored; 0: chosen from the span and the right-hand side */
    size_t max_steps;
};

struct icl_ode;

enum icl_status icl_ode_alloc(struct icl_ode **ode, const struct icl_ode_system *system,
                              const struct icl_ode_control *control, struct icl_err *err) ICL_MUST_CHECK;
void icl_ode_free(struct icl_ode *ode);
/* Measures atol of component i in unit[i] > 0 (1 before): where a component has a unit, the steps then do not depend on
 * it. Before init. ICL_ENOMEM. */
enum icl_status icl_ode_units(struct icl_ode *ode, const double *unit, struct icl_err *err) ICL_MUST_CHECK;

/* Starts (again) at (t0, y0) towards t1: forgets every step before it. */
enum icl_status icl_ode_init(struct icl_ode *ode, double t0, const double *y0, double t1,
                             struct icl_err *err) ICL_MUST_CHECK;
/* Changes the end of the span without a restart; t1 must lie ahead. */
enum icl_status icl_ode_extend(struct icl_ode *ode, double t1, struct icl_err *err) ICL_MUST_CHECK;
/* Sets points the solution must not be stepped across (a table's knots): each step ends at the next one, and the
 * stepper restarts there. at is ordered along the span, borrowed until the next init; n = 0 removes them. */
enum icl_status icl_ode_breaks(struct icl_ode *ode, const double *at, size_t n, struct icl_err *err) ICL_MUST_CHECK;
/* One accepted step. */
enum icl_status icl_ode_step(struct icl_ode *ode, struct icl_err *err) ICL_MUST_CHECK;
bool icl_ode_done(const struct icl_ode *ode);

/* The ends of the last step (both at t0 before the first). */
double icl_ode_t(const struct icl_ode *ode);
const double *icl_ode_y(const struct icl_ode *ode);
double icl_ode_t_before(const struct icl_ode *ode);
const double *icl_ode_y_before(const struct icl_ode *ode);

/* The solution at t inside the last step: at, to the accuracy of the solver; dense, by cubic Hermite interpolation. */
enum icl_status icl_ode_at(struct icl_ode *ode, double t, double *y, struct icl_err *err) ICL_MUST_CHECK;
void icl_ode_dense(const struct icl_ode *ode, double t, double *y);

/* g(t, y) of an event; its sign changes are the events. */
typedef double icl_ode_event(double t, const double *y,
                             void *context); /* the one typedef: a function cannot be a struct */

/* Finds every sign change of g inside the last step, in order of the integration: g is looked at in parts >= 1 equal
 * sub-steps (dense values), each change is polished on icl_ode_at to a few ulp of t. g = 0 at the step's beginning is
 * the step before's event, not this one's; a jump of g counts as a change, at its far side. At most capacity are
 * stored; ICL_ENUMERIC if g is NaN. */
enum icl_status icl_ode_locate(struct icl_ode *ode, icl_ode_event *g, void *context, size_t parts, size_t capacity,
                               double *root, size_t *roots, struct icl_err *err) ICL_MUST_CHECK;

/* Work done since icl_ode_init. */
size_t icl_ode_steps(const struct icl_ode *ode);
size_t icl_ode_rhs_calls(const struct icl_ode *ode);

#endif
