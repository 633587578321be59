/* locate.h -- the sign changes of a function inside one step; private to src/num, the work of icl_ode_locate.
 *
 * Each change is first found on the cubic through the step's ends, then bracketed by accurate values to WIDTH of the
 * step, where the cubic through the bracket's ends is as good as the solver (its error falls with the fourth power):
 * the last digits cost no right-hand side, whether g is smooth or jumps.
 */
#ifndef ICLKIN_LOCATE_H
#define ICLKIN_LOCATE_H

#include <gsl/gsl_roots.h>

#include "iclkin/ode.h"

/* A cubic by its ends: times, states, slopes. */
struct icl_locate_piece {
    double ta, tb;
    const double *ya, *yb, *fa, *fb;
};
void icl_locate_hermite(size_t dim, const struct icl_locate_piece *piece, double t, double *y);

struct icl_locate {
    struct icl_ode *ode;
    size_t dim;
    icl_ode_event *g;
    void *context;
    enum icl_status (*slope)(struct icl_ode *ode, double t, const double *y, double *f, struct icl_err *err);
    gsl_root_fsolver *solver; /* GSL's Brent */
    struct icl_locate_piece step;
    double *y_near, *y_far, *f_near, *f_far, *work; /* scratch of shape (dim) */
    double sign;                                    /* of g before the change looked for; 0: not known yet */
    double known, g_known;                          /* the last point where g has that sign for certain */
};
enum icl_status icl_locate_all(struct icl_locate *search, size_t parts, size_t capacity, double *root, size_t *roots,
                               struct icl_err *err) ICL_MUST_CHECK;

#endif
