/* bracket.h -- Brent's bracketing iteration, turned inside out: the caller evaluates f; private to src/num.
 *
 * The bracket has a near end, where f has the sign it started with, and a far end, where it has not: zero is far, and
 * so is whatever lies behind a jump. Infinite values are legal (they bisect), NaN is the caller's to refuse.
 * Order of use: start, then while next gives an x, put f(x).
 */
#ifndef ICLKIN_BRACKET_H
#define ICLKIN_BRACKET_H

#include <stdbool.h>

struct icl_roots_bracket {
    double a, b, c, fa, fb, fc; /* the point before, the best one, and the other end of the bracket */
    double step, before;
    bool positive; /* the sign of the near end */
};

void icl_roots_start(struct icl_roots_bracket *br, double near, double f_near, double far, double f_far);
/* False once the bracket is at most xtol + 4 eps |x| wide; else the next point to try. */
bool icl_roots_next(struct icl_roots_bracket *br, double xtol, double *x);
void icl_roots_put(struct icl_roots_bracket *br, double f);
/* The far end of the bracket. */
double icl_roots_far(const struct icl_roots_bracket *br);

#endif
