#include "iclkin/roots.h"

#include <float.h>
#include <math.h>

#include "num/bracket.h"

/* Bisection alone needs about 1075 + 53 halvings for any bracket of doubles; Brent at most about twice as many. */
enum { MAX_ITERATIONS = 3000 };

static bool is_near(const struct icl_roots_bracket *br, double f) {
    return br->positive ? f > 0 : f < 0;
}

void icl_roots_start(struct icl_roots_bracket *br, double near, double f_near, double far, double f_far) {
    br->positive = f_near > 0;
    br->a = br->c = near;
    br->fa = br->fc = f_near;
    br->b = far;
    br->fb = f_far;
    br->step = br->before = far - near;
}

/* Inverse quadratic or linear interpolation, or the middle where that would leave the bracket or gain too little. */
static double next_step(struct icl_roots_bracket *br, double half, double tolerance) {
    const double s = br->fb / br->fa, q = br->fa / br->fc, r = br->fb / br->fc;
    const bool line = br->a == br->c;
    double p = line ? 2 * half * s : s * (2 * half * q * (q - r) - (br->b - br->a) * (r - 1));
    double d = line ? 1 - s : (q - 1) * (r - 1) * (s - 1);
    const double before = br->before;

    if (p > 0) d = -d;
    p = fabs(p);
    br->before = br->step;
    if (fabs(before) >= tolerance && fabs(br->fa) > fabs(br->fb) && isfinite(br->fa) && isfinite(br->fc) &&
        2 * p < fmin(3 * half * d - fabs(tolerance * d), fabs(before * d)))
        return p / d;
    br->before = half;
    return half;
}

bool icl_roots_next(struct icl_roots_bracket *br, double xtol, double *x) {
    if (fabs(br->fc) < fabs(br->fb)) {
        br->a = br->b;
        br->fa = br->fb;
        br->b = br->c;
        br->fb = br->fc;
        br->c = br->a;
        br->fc = br->fa;
    }
    const double tolerance = 2 * DBL_EPSILON * fabs(br->b) + 0.5 * xtol;
    const double half = 0.5 * br->c - 0.5 * br->b;
    if (fabs(half) <= tolerance || !(fabs(half) > 0)) return false;

    br->step = next_step(br, half, tolerance);
    br->a = br->b;
    br->fa = br->fb;
    br->b += fabs(br->step) > tolerance ? br->step : copysign(tolerance, half);
    *x = br->b;
    return *x != br->a;
}

void icl_roots_put(struct icl_roots_bracket *br, double f) {
    br->fb = f;
    if (is_near(br, br->fb) != is_near(br, br->fc)) return;
    br->c = br->a;
    br->fc = br->fa;
    br->step = br->before = br->b - br->a;
}

double icl_roots_far(const struct icl_roots_bracket *br) {
    return is_near(br, br->fb) ? br->c : br->b;
}

static enum icl_status value(icl_roots_function *f, void *context, double x, double *y, struct icl_err *err) {
    ICL_TRY(f(x, context, y, err));
    if (isnan(*y)) return ICL_ERR(err, ICL_ENUMERIC, "root: the function is NaN at x=%.17g", x);
    return ICL_OK;
}

enum icl_status icl_roots_brent(icl_roots_function *f, void *context, double lo, double hi, double xtol, double *root,
                                size_t *iterations, struct icl_err *err) {
    struct icl_roots_bracket br;
    size_t spent = 0;
    double f_lo, f_hi, x, y;

    if (!isfinite(lo) || !isfinite(hi)) return ICL_ERR(err, ICL_ERANGE, "root: range [%g, %g] must be finite", lo, hi);
    if (!(xtol >= 0)) return ICL_ERR(err, ICL_ERANGE, "root: xtol=%g must be >= 0", xtol);
    if (iterations) *iterations = 0;
    ICL_TRY(value(f, context, lo, &f_lo, err));
    ICL_TRY(value(f, context, hi, &f_hi, err));
    if (f_lo == 0 || f_hi == 0) {
        *root = f_lo == 0 ? lo : hi;
        return ICL_OK;
    }
    if ((f_lo > 0) == (f_hi > 0))
        return ICL_ERR(err, ICL_ENOROOT, "no root in range: f(%g) = %g and f(%g) = %g", lo, f_lo, hi, f_hi);

    icl_roots_start(&br, lo, f_lo, hi, f_hi);
    while (icl_roots_next(&br, xtol, &x)) {
        if (++spent > MAX_ITERATIONS)
            return ICL_ERR(err, ICL_ENUMERIC, "root: no convergence in %d iterations near x=%g", MAX_ITERATIONS, x);
        ICL_TRY(value(f, context, x, &y, err));
        icl_roots_put(&br, y);
        if (y == 0) break;
    }
    *root = br.b;
    if (iterations) *iterations = spent;
    return ICL_OK;
}
