#include "iclkin/roots.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>

#include "num/bracket.h"

/* Bisection alone needs about 1075 + 53 halvings for any bracket of doubles; Brent at most about twice as many. */
enum { MAX_ITERATIONS = 3000 };
static const double LARGEST = 1e300; /* stands for infinity, which GSL refuses */

struct search {
    icl_roots_function *f;
    void *context;
    struct icl_roots_bracket *bracket;
    bool zero_ends; /* any zero is as good as another */
    bool asked;     /* GSL called f since this was set to false */
    size_t calls;
    enum icl_status status;
    struct icl_err *err;
};

static bool is_near(const struct icl_roots_bracket *bracket, double f) {
    return bracket->f_near > 0 ? f > 0 : f < 0;
}

/* A value for GSL: finite, and on the far side where it is 0, at which GSL would stop. */
static double tamed(const struct icl_roots_bracket *bracket, double f) {
    if (f == 0) return bracket->f_near > 0 ? -DBL_MIN : DBL_MIN;
    return fmax(fmin(f, LARGEST), -LARGEST);
}

static enum icl_status value(icl_roots_function *f, void *context, double x, double *y, struct icl_err *err) {
    ICL_TRY(f(x, context, y, err));
    if (isnan(*y)) return ICL_ERR(err, ICL_ENUMERIC, "root: the function is NaN at x=%.17g", x);
    return ICL_OK;
}

static double evaluate(double x, void *params) {
    struct search *search = params;
    struct icl_roots_bracket *const bracket = search->bracket;
    double y = 0;

    search->asked = true;
    if (x == bracket->near) return tamed(bracket, bracket->f_near);
    if (x == bracket->far) return tamed(bracket, bracket->f_far);
    search->calls++;
    search->status = value(search->f, search->context, x, &y, search->err);
    if (search->status) return 0;
    if (is_near(bracket, y)) {
        bracket->near = x;
        bracket->f_near = y;
    } else {
        bracket->far = x;
        bracket->f_far = y;
    }
    return tamed(bracket, y);
}

static enum icl_status narrow(gsl_root_fsolver *solver, struct search *search, double xtol) {
    const struct icl_roots_bracket *const bracket = search->bracket;
    gsl_function f = {evaluate, search};
    int failure =
        gsl_root_fsolver_set(solver, &f, fmin(bracket->near, bracket->far), fmax(bracket->near, bracket->far));

    for (search->asked = true; search->asked && !failure;) {
        if (search->zero_ends && bracket->f_far == 0) return ICL_OK;
        if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver), xtol,
                                   4 * DBL_EPSILON) == GSL_SUCCESS)
            return ICL_OK;
        if (search->calls >= MAX_ITERATIONS)
            return ICL_ERR(search->err, ICL_ENUMERIC, "root: no convergence in %d iterations near x=%g", MAX_ITERATIONS,
                           bracket->far);
        search->asked = false;
        failure = gsl_root_fsolver_iterate(solver);
        if (search->status) return search->status;
    }
    if (failure) return ICL_ERR(search->err, ICL_ENUMERIC, "root: %s near x=%g", gsl_strerror(failure), bracket->far);
    return ICL_OK;
}

enum icl_status icl_roots_narrow(gsl_root_fsolver *solver, icl_roots_function *f, void *context, double xtol,
                                 struct icl_roots_bracket *bracket, struct icl_err *err) {
    struct search search = {.f = f, .context = context, .bracket = bracket, .err = err};

    return narrow(solver, &search, xtol);
}

enum icl_status icl_roots_brent(icl_roots_function *f, void *context, double lo, double hi, double xtol, double *root,
                                size_t *iterations, struct icl_err *err) {
    struct icl_roots_bracket bracket = {lo, hi, 0, 0};
    struct search search = {.f = f, .context = context, .bracket = &bracket, .zero_ends = true, .err = err};
    gsl_root_fsolver *solver;
    enum icl_status status;

    if (!isfinite(hi - lo)) return ICL_ERR(err, ICL_ERANGE, "root: range [%g, %g] must be finite", lo, hi);
    if (!(xtol >= 0)) return ICL_ERR(err, ICL_ERANGE, "root: xtol=%g must be >= 0", xtol);
    if (iterations) *iterations = 0;
    ICL_TRY(value(f, context, lo, &bracket.f_near, err));
    ICL_TRY(value(f, context, hi, &bracket.f_far, err));
    if (bracket.f_near == 0 || bracket.f_far == 0) {
        *root = bracket.f_near == 0 ? lo : hi;
        return ICL_OK;
    }
    if (is_near(&bracket, bracket.f_far))
        return ICL_ERR(err, ICL_ENOROOT, "no root in range: f(%g) = %g and f(%g) = %g", lo, bracket.f_near, hi,
                       bracket.f_far);

    solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (!solver) return ICL_ERR(err, ICL_ENOMEM, "root: no memory for GSL's solver");
    status = narrow(solver, &search, xtol);
    gsl_root_fsolver_free(solver);
    if (status) return status;
    *root = fabs(bracket.f_near) < fabs(bracket.f_far) ? bracket.near : bracket.far;
    if (iterations) *iterations = search.calls;
    return ICL_OK;
}
