#include "iclkin/ode.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/locate.h"
#include "num/steppers.h"

enum { INSIDE_STEPS = 10000 }; /* of icl_ode_at between the ends of one multistep step */

/* t as the right-hand side sees it, kept one ulp away from breaks: a break belongs to the side it is reached from. */
struct span {
    double lo, hi;
};

struct icl_ode {
    struct icl_ode_system system;
    struct icl_ode_control control;
    gsl_odeiv2_system gsl;
    struct icl_steppers_bundle main, inside;
    gsl_root_fsolver *solver; /* of icl_ode_locate */
    bool one_step;
    double dir, t, t_before, t1, h;
    struct span open, open_before; /* of the step to come and of the last one */
    const double *breaks;
    size_t breaks_left, steps, rhs_calls;
    bool undefined;                      /* a call of the right-hand side failed in this step */
    double *y, *y_before, *f, *f_before; /* the ends of the last step: all of shape (dim) */
    double *left, *right, *f_left;       /* scratch */
    double *f_right, *work, *error, *unit;
};

/* 0 x v is 0 for every finite v and NaN for all others. */
static bool all_finite(size_t n, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += 0 * v[i];
    return sum == 0;
}

static int rhs(double t, const double y[], double dydt[], void *params) {
    struct icl_ode *ode = params;

    ode->rhs_calls++;
    t = t > ode->open.lo ? t : ode->open.lo;
    t = t < ode->open.hi ? t : ode->open.hi;
    if (ode->system.rhs(t, y, dydt, ode->system.context) == 0 && all_finite(ode->system.dim, dydt)) return GSL_SUCCESS;
    ode->undefined = true;
    return GSL_FAILURE;
}

static int jac(double t, const double y[], double *dfdy, double dfdt[], void *params) {
    struct icl_ode *ode = params;
    const size_t dim = ode->system.dim;

    t = t > ode->open.lo ? t : ode->open.lo;
    t = t < ode->open.hi ? t : ode->open.hi;
    if (ode->system.jac(t, y, dfdy, dfdt, ode->system.context) == 0 && all_finite(dim * dim, dfdy) &&
        all_finite(dim, dfdt))
        return GSL_SUCCESS;
    ode->undefined = true;
    return GSL_FAILURE;
}

const struct icl_ode_stepper *icl_ode_stepper(enum icl_stepper method) {
    return (unsigned)method < ICL_STEPPER_COUNT ? &icl_steppers_table[method].info : NULL;
}

static enum icl_status check(const struct icl_ode_system *system, const struct icl_ode_control *control,
                             struct icl_err *err) {
    const struct icl_ode_stepper *info = icl_ode_stepper(control->method);

    if (!info) return ICL_ERR(err, ICL_ERANGE, "ode: method=%d: no such stepper", (int)control->method);
    if (system->dim < 1 || system->dim > 1000000)
        return ICL_ERR(err, ICL_ERANGE, "ode: dim=%zu: must be in [1, 1000000]", system->dim);
    if (info->needs_jacobian && !system->jac)
        return ICL_ERR(err, ICL_ERANGE, "ode: stepper %s needs a Jacobian", info->name);
    if (!(control->rtol >= 0 && control->rtol < INFINITY && control->atol >= 0 && control->atol < INFINITY &&
          control->rtol + control->atol > 0))
        return ICL_ERR(err, ICL_ERANGE, "ode: rtol=%g, atol=%g: must be >= 0, finite and not both 0", control->rtol,
                       control->atol);
    if (!isfinite(control->h0)) return ICL_ERR(err, ICL_ERANGE, "ode: h0=%g: must be finite", control->h0);
    if (control->max_steps < 1) return ICL_ERR(err, ICL_ERANGE, "ode: max_steps=0: must be positive");
    return ICL_OK;
}

enum icl_status icl_ode_alloc(struct icl_ode **out, const struct icl_ode_system *system,
                              const struct icl_ode_control *control, struct icl_err *err) {
    const size_t vectors = 11;
    struct icl_ode *ode = NULL;
    enum icl_status status;
    double *block;

    *out = NULL;
    ICL_TRY(check(system, control, err));
    ICL_TRY(icl_mem_alloc(&ode, 1, sizeof *ode + vectors * system->dim * sizeof(double), err));
    block = (double *)(void *)(ode + 1);
    for (size_t i = 0; i < vectors; i++) {
        double **const name[] = {&ode->y,     &ode->y_before, &ode->f,       &ode->f_before, &ode->error, &ode->left,
                                 &ode->right, &ode->f_left,   &ode->f_right, &ode->work,     &ode->unit};
        *name[i] = block + i * system->dim;
    }
    for (size_t i = 0; i < system->dim; i++) ode->unit[i] = 1;
    ode->system = *system;
    ode->control = *control;
    ode->gsl = (gsl_odeiv2_system){rhs, jac, system->dim, ode};
    const struct icl_steppers_row *const row = &icl_steppers_table[control->method];
    ode->one_step = row->info.one_step;
    status = icl_steppers_alloc(&ode->main, control->method, &ode->gsl, control->rtol, control->atol, err);
    if (status) goto done;
    status = icl_steppers_alloc(&ode->inside, row->inside, &ode->gsl, control->rtol, control->atol, err);
    if (status) goto done;
    ode->solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (!ode->solver) status = ICL_ERR(err, ICL_ENOMEM, "ode: no memory for GSL's root solver");
done:
    if (status) {
        icl_ode_free(ode);
        ode = NULL;
    }
    *out = ode;
    return status;
}

enum icl_status icl_ode_units(struct icl_ode *ode, const double *unit, struct icl_err *err) {
    const struct icl_ode_control *control = &ode->control;

    memcpy(ode->unit, unit, ode->system.dim * sizeof *unit);
    ICL_TRY(icl_steppers_units(&ode->main, control->rtol, control->atol, unit, err));
    return icl_steppers_units(&ode->inside, control->rtol, control->atol, unit, err);
}

void icl_ode_free(struct icl_ode *ode) {
    if (!ode) return;
    icl_steppers_free(&ode->main);
    icl_steppers_free(&ode->inside);
    if (ode->solver) gsl_root_fsolver_free(ode->solver);
    icl_mem_free(ode);
}

/* Breaks up to t lie behind; the open interval around what comes next is set. */
static void pass_breaks(struct icl_ode *ode) {
    double behind = -INFINITY * ode->dir, ahead = INFINITY * ode->dir;

    while (ode->breaks_left > 0 && ode->dir * (*ode->breaks - ode->t) <= 0) {
        if (*ode->breaks == ode->t) behind = nextafter(ode->t, ahead);
        ode->breaks++;
        ode->breaks_left--;
    }
    if (ode->breaks_left > 0) ahead = nextafter(*ode->breaks, -ahead);
    ode->open.lo = ode->dir > 0 ? behind : ahead;
    ode->open.hi = ode->dir > 0 ? ahead : behind;
}

enum icl_status icl_ode_init(struct icl_ode *ode, double t0, const double *y0, double t1, struct icl_err *err) {
    const size_t size = ode->system.dim * sizeof(double);

    if (!isfinite(t0) || isnan(t1) || t1 == t0)
        return ICL_ERR(err, ICL_ERANGE, "ode: span from t0=%g to t1=%g: must not be empty or NaN", t0, t1);
    for (size_t i = 0; i < ode->system.dim; i++)
        if (!isfinite(y0[i])) return ICL_ERR(err, ICL_ERANGE, "ode: y0[%zu]=%g: must be finite", i, y0[i]);

    ode->dir = t1 > t0 ? 1 : -1;
    ode->t = ode->t_before = t0;
    ode->t1 = t1;
    ode->h = ode->dir * fabs(ode->control.h0);
    ode->breaks_left = ode->steps = ode->rhs_calls = 0;
    memmove(ode->y, y0, size);
    memcpy(ode->y_before, ode->y, size);
    icl_steppers_reset(&ode->main);
    pass_breaks(ode);
    ode->open_before = ode->open;
    return ICL_OK;
}

enum icl_status icl_ode_extend(struct icl_ode *ode, double t1, struct icl_err *err) {
    if (!(ode->dir * (t1 - ode->t) > 0))
        return ICL_ERR(err, ICL_ERANGE, "ode: t1=%g: must lie ahead of t=%g", t1, ode->t);
    ode->t1 = t1;
    return ICL_OK;
}

enum icl_status icl_ode_breaks(struct icl_ode *ode, const double *at, size_t n, struct icl_err *err) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(at[i]) || (i > 0 && !(ode->dir * (at[i] - at[i - 1]) >= 0)))
            return ICL_ERR(err, ICL_ERANGE, "ode: break %zu at t=%g: must be finite and ordered along the span", i,
                           at[i]);
    ode->breaks = at;
    ode->breaks_left = n;
    pass_breaks(ode);
    return ICL_OK;
}

/* A norm in units of the tolerance; components without one are left out. */
static double scaled(const struct icl_ode *ode, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < ode->system.dim; i++) {
        const double unit = ode->control.atol * ode->unit[i] + ode->control.rtol * fabs(ode->y[i]);
        if (unit > 0) sum = fmax(sum, fabs(v[i] / unit));
    }
    return sum;
}

/* The first step, after Hairer, Norsett and Wanner (II.4), in a form that scales with t: the local error of order p is
 * guessed as d1 tau (h/tau)^(p+1) tolerances with tau = |f|/|f'|, and made 0.01. */
static int first_step(struct icl_ode *ode) {
    const size_t dim = ode->system.dim;
    const double span = isfinite(ode->t1) ? fabs(ode->t1 - ode->t) : INFINITY;
    double d1, d2 = 0, probe, h;

    if (rhs(ode->t, ode->y, ode->f_left, ode)) return GSL_FAILURE;
    d1 = scaled(ode, ode->f_left);
    probe = d1 > 0 ? fmax(0.01 * scaled(ode, ode->y), 1) / d1 : INFINITY;
    if (isinf(span) && !isfinite(probe)) probe = ode->t != 0 ? 1e-3 * fabs(ode->t) : 1e-3;
    probe = ode->dir * fmin(probe, 1e-3 * span);

    for (size_t i = 0; i < dim; i++) ode->left[i] = ode->y[i] + probe * ode->f_left[i];
    h = fabs(probe);
    if (rhs(ode->t + probe, ode->left, ode->f_right, ode) == GSL_SUCCESS) {
        for (size_t i = 0; i < dim; i++) ode->f_right[i] = (ode->f_right[i] - ode->f_left[i]) / probe;
        d2 = scaled(ode, ode->f_right);
        if (d1 > 0 && d2 > 0) {
            const double tau = d1 / d2, p = gsl_odeiv2_step_order(ode->main.step);
            h = tau * pow(0.01 / (d1 * tau), 1 / (p + 1));
        } else {
            h = isinf(span) ? 100 * h : 0.01 * span;
        }
    }
    h = fmin(h, span);
    h = fmax(h, 4 * DBL_EPSILON * fabs(ode->t));
    ode->h = ode->dir * (h > 0 && h < INFINITY ? h : fabs(probe));
    return GSL_SUCCESS;
}

static enum icl_status failed(const struct icl_ode *ode, struct icl_err *err) {
    return ICL_ERR(err, ICL_ENUMERIC, "ode: %s at t=%.17g (%s, rtol=%g, atol=%g, step %zu)",
                   ode->undefined ? "right-hand side not finite at any step" : "step underflow", ode->t,
                   icl_steppers_table[ode->control.method].info.name, ode->control.rtol, ode->control.atol,
                   ode->steps + 1);
}

/* One accepted step of GSL whose result is finite: GSL accepts NaN, since every comparison with it is false. */
static int finite_step(struct icl_ode *ode, double target, double *t) {
    gsl_odeiv2_evolve *const e = ode->main.evolve;
    const size_t dim = ode->system.dim;

    for (;;) {
        *t = ode->t;
        if (gsl_odeiv2_evolve_apply(e, ode->main.control, ode->main.step, &ode->gsl, t, target, &ode->h, ode->y))
            return GSL_FAILURE;
        if (all_finite(dim, ode->y) && all_finite(dim, e->yerr) && isfinite(*t)) return GSL_SUCCESS;
        memcpy(ode->y, e->y0, dim * sizeof(double));
        ode->h = 0.5 * e->last_step;
        icl_steppers_reset(&ode->main);
        if (ode->t + ode->h == ode->t) return GSL_FAILURE;
    }
}

enum icl_status icl_ode_step(struct icl_ode *ode, struct icl_err *err) {
    gsl_odeiv2_evolve *const e = ode->main.evolve;
    const size_t size = ode->system.dim * sizeof(double);
    const double h = ode->h;
    const bool at_break = ode->breaks_left > 0 && ode->dir * (*ode->breaks - ode->t1) < 0;
    const double target = at_break ? *ode->breaks : ode->t1;
    double t;

    if (ode->t == ode->t1) return ICL_ERR(err, ICL_ERANGE, "ode: t=%g is the end of the span", ode->t);
    if (ode->steps >= ode->control.max_steps)
        return ICL_ERR(err, ICL_ENUMERIC, "ode: max_steps=%zu reached at t=%.17g (%s, rtol=%g, atol=%g)%s",
                       ode->control.max_steps, ode->t, icl_steppers_table[ode->control.method].info.name,
                       ode->control.rtol, ode->control.atol,
                       icl_steppers_table[ode->control.method].info.needs_jacobian
                           ? ""
                           : "; if the problem is stiff, try solver.method = msbdf or bsimp");
    ode->undefined = false;
    if (h == 0 && first_step(ode)) return failed(ode, err);
    if (finite_step(ode, target, &t)) {
        /* GSL leaves the last attempt in y, and a derivative that is not that of y. */
        memcpy(ode->y, e->y0, size);
        icl_steppers_reset(&ode->main);
        ode->h = h;
        return failed(ode, err);
    }
    ode->steps++;
    ode->open_before = ode->open;
    ode->t_before = ode->t;
    ode->t = t;
    memcpy(ode->y_before, e->y0, size);
    memcpy(ode->f_before, e->dydt_in, size);
    memcpy(ode->f, e->dydt_out, size);
    if (ode->breaks_left > 0 && *ode->breaks == t) {
        icl_steppers_reset(&ode->main);
        pass_breaks(ode);
    }
    return ICL_OK;
}

bool icl_ode_done(const struct icl_ode *ode) {
    return ode->t == ode->t1;
}

double icl_ode_t(const struct icl_ode *ode) {
    return ode->t;
}

const double *icl_ode_y(const struct icl_ode *ode) {
    return ode->y;
}

double icl_ode_t_before(const struct icl_ode *ode) {
    return ode->t_before;
}

const double *icl_ode_y_before(const struct icl_ode *ode) {
    return ode->y_before;
}

size_t icl_ode_steps(const struct icl_ode *ode) {
    return ode->steps;
}

size_t icl_ode_rhs_calls(const struct icl_ode *ode) {
    return ode->rhs_calls;
}

/* From the last step's beginning to t, on objects that share nothing with the integration. */
static int integrate_inside(struct icl_ode *ode, double t, double *y) {
    struct icl_steppers_bundle *const in = &ode->inside;
    double now = ode->t_before, h = t - now;

    if (ode->one_step) return gsl_odeiv2_step_apply(in->step, now, h, y, ode->error, ode->f_before, NULL, &ode->gsl);
    icl_steppers_reset(in);
    for (int i = 0; i < INSIDE_STEPS && now != t; i++)
        if (gsl_odeiv2_evolve_apply(in->evolve, in->control, in->step, &ode->gsl, &now, t, &h, y)) return GSL_FAILURE;
    return now == t ? GSL_SUCCESS : GSL_FAILURE;
}

enum icl_status icl_ode_at(struct icl_ode *ode, double t, double *y, struct icl_err *err) {
    const size_t size = ode->system.dim * sizeof(double);
    const struct span open = ode->open;
    int failure;

    if (!(ode->dir * (t - ode->t_before) >= 0 && ode->dir * (ode->t - t) >= 0))
        return ICL_ERR(err, ICL_ERANGE, "ode: t=%.17g lies outside the last step, %.17g to %.17g", t, ode->t_before,
                       ode->t);
    memcpy(y, t == ode->t ? ode->y : ode->y_before, size);
    if (t == ode->t || t == ode->t_before) return ICL_OK;

    ode->open = ode->open_before;
    failure = integrate_inside(ode, t, y);
    ode->open = open;
    if (failure || !all_finite(ode->system.dim, y))
        return ICL_ERR(err, ICL_ENUMERIC, "ode: no solution at t=%.17g inside the step from t=%.17g (%s, rtol=%g)", t,
                       ode->t_before, icl_steppers_table[ode->control.method].info.name, ode->control.rtol);
    return ICL_OK;
}

void icl_ode_dense(const struct icl_ode *ode, double t, double *y) {
    const struct icl_locate_piece last = {ode->t_before, ode->t, ode->y_before, ode->y, ode->f_before, ode->f};

    icl_locate_hermite(ode->system.dim, &last, t, y);
}

static enum icl_status slope(struct icl_ode *ode, double t, const double *y, double *f, struct icl_err *err) {
    const struct span open = ode->open;
    int failure;

    ode->open = ode->open_before;
    failure = rhs(t, y, f, ode);
    ode->open = open;
    return failure ? ICL_ERR(err, ICL_ENUMERIC, "ode: right-hand side not finite at t=%.17g", t) : ICL_OK;
}

enum icl_status icl_ode_locate(struct icl_ode *ode, icl_ode_event *g, void *context, size_t parts, size_t capacity,
                               double *root, size_t *roots, struct icl_err *err) {
    struct icl_locate search = {
        .ode = ode,
        .dim = ode->system.dim,
        .g = g,
        .context = context,
        .slope = slope,
        .solver = ode->solver,
        .step = {ode->t_before, ode->t, ode->y_before, ode->y, ode->f_before, ode->f},
        .y_near = ode->left,
        .y_far = ode->right,
        .f_near = ode->f_left,
        .f_far = ode->f_right,
        .work = ode->work,
    };

    *roots = 0;
    if (parts < 1) return ICL_ERR(err, ICL_ERANGE, "ode: parts=0: must be positive");
    return icl_locate_all(&search, parts, capacity, root, roots, err);
}
