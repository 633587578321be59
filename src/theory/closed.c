#include "iclkin/closed.h"

#include <math.h>

#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_sf_lambert.h>

#include "iclkin/quad.h"
#include "iclkin/roots.h"

/* (T7) through the hazard: exp(w^2/2) erfc(w/sqrt 2) overflows or underflows, their product does not. For w0 < 0 the
 * product itself may be huge while e^-beta0 brings the budget back: the logarithm of erfc is then well conditioned. */
double icl_closed_budget(double N, double w0, double beta0) {
    if (w0 > 0) return N * exp(-beta0) / gsl_sf_hazard(w0);
    const double root_half_pi = 1.2533141373155002512;
    return N * root_half_pi * erfc(w0 / sqrt(2)) * exp(w0 * w0 / 2 - beta0);
}

double icl_closed_separatrix_balanced(double beta) {
    const double gap = beta + expm1(-beta); /* >= 0, and 0 only at the saddle */
    const double w = sqrt(2 * fmax(gap, 0));
    return beta > 0 ? -w : w;
}

struct well {
    double u0, c; /* w^2 = c + 2 (v + u0 e^-v), v = beta - beta0 */
    double turn;  /* v where w = 0 */
};

static double well_w2(const struct well *well, double v) {
    return well->c + 2 * (v + well->u0 * exp(-v));
}

/* The integrand of (T7b) in y, v = turn + y^2: the turning point's inverse square root is gone. */
static double well_from_turn(double y, void *context) {
    const struct well *well = context;
    const double v = well->turn + y * y, d = y * y;
    /* w^2 = 2 (d + u_t (e^-d - 1)) with u_t = u0 e^-turn < 1: no cancellation near the turn */
    const double u_t = well->u0 * exp(-well->turn);
    const double w2 = 2 * (d + u_t * expm1(-d));
    return y == 0 ? 2 * well->u0 * exp(-v) / sqrt(2 * (1 - u_t)) : 2 * y * well->u0 * exp(-v) / sqrt(w2);
}

static double well_outward(double v, void *context) {
    const struct well *well = context;
    return well->u0 * exp(-v) / sqrt(well_w2(well, v));
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
    if (!(w0 > icl_closed_separatrix_balanced(beta0))) return ICL_OK;
    struct well well = {.u0 = exp(-beta0)};
    well.c = w0 * w0 - 2 * well.u0;
    double theta = 0;
    if (w0 > 0) {
        ICL_TRY(icl_quad_infinite(well_outward, &well, 0, well_rtol, &theta, err));
        *budget = N * theta;
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
    const double top = 700, step = 0.05;
    for (double hi = top; hi > step; hi -= step) {
        double y;
        if (plateau_balance(hi - step, &p, &y, NULL) != ICL_OK || !(y > 0)) continue;
        if (icl_roots_brent(plateau_balance, &p, hi - step, hi, 1e-12, beta, NULL, NULL) != ICL_OK) return;
        *w = plateau_w(&p, 1 / (1 + (N - 1) * exp(-*beta)));
        return;
    }
}
