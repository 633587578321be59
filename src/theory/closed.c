#include "iclkin/closed.h"

#include <math.h>

#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_sf_lambert.h>

#include "iclkin/quad.h"
#include "iclkin/roots.h"

/* (T7) through the hazard: exp(w^2/2) erfc(w/sqrt 2) overflows or underflows, their product does not. For w0 < 0 the
 * product itself may be huge while e^-beta0 brings the budget back: the logarithm of erfc is then well conditioned. */
double icl_closed_budget(double N, double w0, double beta0) {
    const double half = exp(-beta0 / 2); /* alone it is finite wherever the product is */
    if (w0 > 0) return N * half / gsl_sf_hazard(w0) * half;
    const double root_half_pi = 1.2533141373155002512;
    return N * root_half_pi * erfc(w0 / sqrt(2)) * exp(w0 * w0 / 2 - beta0);
}

/* x + e^-x - 1 >= 0, without cancellation near its double root 0. */
static double gap(double x) {
    if (fabs(x) > 0.03) return x + expm1(-x);
    return x * x * (1. / 2 - x * (1. / 6 - x * (1. / 24 - x * (1. / 120 - x * (1. / 720 - x / 5040)))));
}

double icl_closed_separatrix_balanced(double beta) {
    const double w = sqrt(2 * gap(beta));
    return beta > 0 ? -w : w;
}

/* w^2 = base + 2 (v + u0 (e^-v - 1)), v = beta - beta0. No sum below cancels: base is w0^2, or where beta0 < 0 and the
 * middle falls, w0^2 - w_s^2 with 2 gap(beta) beside it. */
struct well {
    double beta0, base;
    double turn; /* v where w = 0 */
};

static double well_rise(double beta0, double v) { /* v + e^-beta0 (e^-v - 1) */
    return -expm1(-beta0) * v + exp(-beta0) * gap(v);
}

static double well_w2(const struct well *well, double v) {
    return well->base + 2 * well_rise(well->beta0, v);
}

/* The integrand of (T7b) in y, v = turn + y^2: the turning point's inverse square root is gone. */
static double well_from_turn(double y, void *context) {
    const struct well *well = context;
    const double d = y * y, beta = well->beta0 + well->turn, u = exp(-beta - d);
    return y == 0 ? 2 * u / sqrt(-2 * expm1(-beta)) : 2 * y * u / sqrt(2 * well_rise(beta, d));
}

/* The integrand in x, the distance in beta from where w is least: from beta0, or from 0 if that lies ahead. */
static double well_outward(double x, void *context) {
    const struct well *well = context;
    if (well->beta0 < 0) return exp(-x) / sqrt(well->base + 2 * gap(x));
    return exp(-well->beta0 - x) / sqrt(well_w2(well, x));
}

static enum icl_status well_turning(double v, void *context, double *y, struct icl_err *err) {
    (void)err;
    *y = well_w2(context, v);
    return ICL_OK;
}

enum { WELL_SPAN = 40 }; /* e^-40 is below rounding: the integrals end there */
static const double well_rtol = 1e-11;

enum icl_status icl_closed_budget_balanced(double N, double w0, double beta0, double *budget, struct icl_err *err) {
    *budget = INFINITY;
    const double w_s = icl_closed_separatrix_balanced(beta0);
    if (!(w0 > w_s)) return ICL_OK;
    struct well well = {beta0, beta0 < 0 ? (w0 - w_s) * (w0 + w_s) : w0 * w0, 0};
    if (w0 > 0) { /* in three parts: near the separatrix or the saddle the integrand has a narrow peak at x = 0 */
        double in = 0, near = 0, far = 0;
        if (beta0 < 0) ICL_TRY(icl_quad_finite(well_outward, &well, beta0, 0, well_rtol, &in, err));
        ICL_TRY(icl_quad_finite(well_outward, &well, 0, 1, well_rtol, &near, err));
        ICL_TRY(icl_quad_infinite(well_outward, &well, 1, well_rtol, &far, err));
        *budget = N * (in + near + far);
        return ICL_OK;
    }
    /* Above the separatrix with w0 <= 0: beta falls to the turning point at beta > 0, and comes back (beta0 > 0). */
    double down = 0, out = 0;
    if (w0 < 0) ICL_TRY(icl_roots_brent(well_turning, &well, -beta0, 0, 1e-15 * beta0, &well.turn, NULL, err));
    if (w0 < 0) ICL_TRY(icl_quad_finite(well_from_turn, &well, 0, sqrt(-well.turn), well_rtol, &down, err));
    ICL_TRY(icl_quad_finite(well_from_turn, &well, 0, sqrt(WELL_SPAN - well.turn), well_rtol, &out, err));
    *budget = N * (down + out);
    return ICL_OK;
}

double icl_closed_fold(double N, double c1, double c2) {
    const double a = c1 / N, e = exp(1);
    return 4 * e * a / (c2 + sqrt(c2 * c2 + 8 * e));
}

double icl_closed_fold_ratio(double N, double c1, double c2, double lambda_w, double lambda_beta) {
    const double a = c1 / N;
    return lambda_beta * (lambda_w + a * c2) / (2 * exp(1) * a * a);
}

/* (T9): beta e^(-2 beta) = a^2/(lambda_beta (lambda_w + a c2)); with x = -2 beta, x e^x = -2 a^2/(...): the saddle is
 * the lower branch of Lambert's W. */
bool icl_closed_saddle(double N, double c1, double c2, double lambda_w, double lambda_beta, double *w, double *beta) {
    const double a = c1 / N, stiff = lambda_beta * (lambda_w + a * c2);
    if (!(icl_closed_fold_ratio(N, c1, c2, lambda_w, lambda_beta) > 1)) return false;
    gsl_sf_result lower;
    if (gsl_sf_lambert_Wm1_e(-2 * a * a / stiff, &lower) != 0) return false;
    *beta = -lower.val / 2;
    *w = sqrt(lambda_beta * *beta / (lambda_w + a * c2));
    return true;
}

struct plateau {
    double N, c3, lambda_w, lambda_beta;
};

static double plateau_w(const struct plateau *p, double a) {
    return gsl_sf_lambert_W0(p->c3 * a * a / p->lambda_w) / a;
}

/* w^2 (1 - a) - (lambda_beta/lambda_w) beta (T10) */
static enum icl_status plateau_balance(double beta, void *context, double *y, struct icl_err *err) {
    const struct plateau *p = context;
    (void)err;
    const double rest = (p->N - 1) * exp(-beta), a = 1 / (1 + rest), w = plateau_w(p, a);
    *y = w * w * rest * a - p->lambda_beta / p->lambda_w * beta;
    return ICL_OK;
}

void icl_closed_plateau(double N, double c3, double lambda_w, double lambda_beta, double *w, double *beta) {
    struct plateau p = {N, c3, lambda_w, lambda_beta};
    *w = *beta = NAN;
    if (!(lambda_w > 0 && lambda_beta > 0 && isfinite(c3))) return;
    /* The balance is positive on the plateau's near side and falls to minus infinity: take its last sign change. */
    const double top = 700, step = 0.05, bottom = log(N) / 2; /* e^beta = sqrt N: the end of (T10)'s domain */
    for (double hi = top; hi > bottom + step; hi -= step) {
        double y;
        if (plateau_balance(hi - step, &p, &y, NULL) != ICL_OK || !(y > 0)) continue;
        if (icl_roots_brent(plateau_balance, &p, hi - step, hi, 1e-12, beta, NULL, NULL) != ICL_OK) return;
        *w = plateau_w(&p, 1 / (1 + (N - 1) * exp(-*beta)));
        return;
    }
}

double icl_closed_tie(double N, double lambda_w, double beta, double loss_icl) {
    const double a = 1 / (1 + (N - 1) * exp(-beta));
    return -lambda_w * log(loss_icl) / (a * a * loss_icl);
}
