/* bracket.h -- GSL's Brent on a bracket whose two ends are told apart; private to src/num.
 *
 * near, far      the ends, in either order: f has a sign at near, which f at far has not: zero is far, and so is
 *                whatever lies behind a jump
 * f_near, f_far  f there; near's is not 0. Infinite values are legal.
 */
#ifndef ICLKIN_BRACKET_H
#define ICLKIN_BRACKET_H

#include <gsl/gsl_roots.h>

#include "iclkin/roots.h"

struct icl_roots_bracket {
    double near, far, f_near, f_far;
};

/* Moves the ends together until they are less than xtol + 4 eps |x| apart, or neighbours; solver is GSL's Brent, and
 * nothing is allocated. f is not called at the ends given, and each call of it moves one end: the one of its sign. */
enum icl_status icl_roots_narrow(gsl_root_fsolver *solver, icl_roots_function *f, void *context, double xtol,
                                 struct icl_roots_bracket *bracket, struct icl_err *err) ICL_MUST_CHECK;

#endif
