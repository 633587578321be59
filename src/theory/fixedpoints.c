#include "iclkin/fixedpoints.h"

#include <math.h>

#include "base/mem.h"
#include "iclkin/roots.h"
#include "theory/fixedpoints_field.h"

enum { SCAN = 256 }; /* parts of the range of beta */

void icl_fixedpoints_free(struct icl_fixedpoints_points *points) {
    icl_mem_free(points->at);
    *points = (struct icl_fixedpoints_points){0};
}

const char *icl_fixedpoints_name(enum icl_fixedpoints_type type) {
    static const char *const names[ICL_FIXEDPOINTS_TYPES] = {"stable", "saddle", "unstable", "fold"};
    return names[type];
}

static double beta_top(const struct icl_params *params) {
    return log((double)params->task.N) + 10;
}

void icl_fixedpoints_box(const struct icl_params *params, struct icl_fixedpoints_window *box) {
    const double lo = params->task.labels == ICL_LABELS_BALANCED ? -12 : -3;
    *box = (struct icl_fixedpoints_window){-100, 100, lo, beta_top(params)};
}

void icl_fixedpoints_view(const struct icl_params *params, const struct icl_fixedpoints_points *points,
                          struct icl_fixedpoints_window *view) {
    const double margin = 0.1;
    *view = (struct icl_fixedpoints_window){-2, 10, -3, beta_top(params)};
    for (const struct icl_fixedpoints_point *p = points->at; p < points->at + points->count; p++) {
        view->w_lo = fmin(view->w_lo, p->w - margin * fabs(p->w));
        view->w_hi = fmax(view->w_hi, p->w + margin * fabs(p->w));
        view->beta_lo = fmin(view->beta_lo, p->beta - margin * fabs(p->beta));
        view->beta_hi = fmax(view->beta_hi, p->beta + margin * fabs(p->beta));
    }
}

enum icl_status icl_fixedpoints_check(const struct icl_fixedpoints_window *window, struct icl_err *err) {
    const double w_most = 1e4, beta_most = 300; /* beyond, e^(2 beta) leaves the range of double */
    if (!(window->w_lo < window->w_hi && window->beta_lo < window->beta_hi))
        return ICL_ERR(err, ICL_EUSAGE, "window %g:%g:%g:%g: each range must begin below its end", window->w_lo,
                       window->w_hi, window->beta_lo, window->beta_hi);
    if (!(window->w_lo >= -w_most && window->w_hi <= w_most && window->beta_lo >= -beta_most &&
          window->beta_hi <= beta_most))
        return ICL_ERR(err, ICL_EUSAGE, "window %g:%g:%g:%g: |w| must be <= %g and |beta| <= %g", window->w_lo,
                       window->w_hi, window->beta_lo, window->beta_hi, w_most, beta_most);
    return ICL_OK;
}

/* The search: at each beta dw/dt falls with w (the loss is convex in w), so that its zero w*(beta) is unique; fixed
 * points are the zeros of dbeta/dt along it. Where w* lies beyond +-limit it is cut there, and the zero is none. */
struct search {
    const struct icl_fixedpoints_field *field;
    double limit, beta, w;
    double most; /* |dbeta/dt| seen so far */
};

static enum icl_status w_rate(double w, void *context, double *rate, struct icl_err *err) {
    const struct search *search = context;
    const double y[2] = {w, search->beta};
    double f[2];
    (void)err;
    icl_fixedpoints_field_at(search->field, y, f, NULL);
    *rate = f[0];
    return ICL_OK;
}

/* From the w* of the beta before, which is near: the bracket around it widens until it holds the zero. */
static enum icl_status w_star(struct search *search, double beta, struct icl_err *err) {
    const double first = 0.05, widen = 8;
    const double from = fabs(search->w) < search->limit ? search->w : 0;
    double low, high, lo, hi, reach = first * (1 + fabs(from));
    search->beta = beta;
    for (;; reach *= widen) {
        lo = fmax(from - reach, -search->limit);
        hi = fmin(from + reach, search->limit);
        ICL_TRY(w_rate(lo, search, &low, err));
        ICL_TRY(w_rate(hi, search, &high, err));
        if (low > 0 && high < 0) return icl_roots_brent(w_rate, search, lo, hi, 0, &search->w, NULL, err);
        if ((lo == -search->limit || low > 0) && (hi == search->limit || high < 0)) break;
    }
    search->w = low > 0 ? search->limit : -search->limit;
    return ICL_OK;
}

static enum icl_status along(double beta, void *context, double *rate, struct icl_err *err) {
    struct search *search = context;
    double f[2];
    ICL_TRY(w_star(search, beta, err));
    const double y[2] = {search->w, beta};
    icl_fixedpoints_field_at(search->field, y, f, NULL);
    *rate = f[1];
    search->most = fmax(search->most, fabs(f[1]));
    return ICL_OK;
}

/* Whether dbeta/dt vanishes to rounding at w*(beta): compared with what a small change of (w, beta) makes of it. */
static bool is_flat(const struct search *search, double rate) {
    const double y[2] = {search->w, search->beta}, rounding = 1e-13, worth_a_look = 1e-9;
    double f[2], J[4];
    if (fabs(rate) > worth_a_look * search->most) return false; /* the Jacobian costs ten rates */
    icl_fixedpoints_field_at(search->field, y, f, J);
    return fabs(search->w) < search->limit && fabs(f[1]) <= rounding * (fabs(J[2]) + fabs(J[3]));
}

static enum icl_status keep(struct search *search, const struct icl_fixedpoints_window *window, double w, double beta,
                            struct icl_fixedpoints_points *points, struct icl_err *err) {
    const double reach = 0.5, same = 1e-10, edge = 1e-12;
    double y[2] = {w, beta};
    struct icl_fixedpoints_point point = {0};
    if (!icl_fixedpoints_field_newton(search->field, reach, y)) return ICL_OK;
    if (icl_fixedpoints_field_margin(window, y) < -edge * (1 + hypot(y[0], y[1]))) return ICL_OK;
    for (size_t i = 0; i < points->count; i++)
        if (hypot(points->at[i].w - y[0], points->at[i].beta - y[1]) <= same * (1 + hypot(y[0], y[1]))) return ICL_OK;
    icl_fixedpoints_field_point(search->field, y, &point);
    return icl_fixedpoints_field_push(points, &point, err);
}

/* A change of sign of dbeta/dt along w* between lo and hi. */
static enum icl_status sign_change(struct search *search, const struct icl_fixedpoints_window *window, double lo,
                                   double hi, struct icl_fixedpoints_points *points, struct icl_err *err) {
    double beta;
    ICL_TRY(icl_roots_brent(along, search, lo, hi, 0, &beta, NULL, err));
    ICL_TRY(w_star(search, beta, err));
    return keep(search, window, search->w, beta, points, err);
}

/* Two zeros between neighbours of one sign show as a dip of |dbeta/dt|: it is followed to its bottom or to a change of
 * sign, whichever comes first. */
static enum icl_status dip(struct search *search, const struct icl_fixedpoints_window *window, double lo, double mid,
                           double hi, double g_mid, struct icl_fixedpoints_points *points, struct icl_err *err) {
    const double golden = 0.38196601125010515, enough = 1e-9, sign = g_mid > 0 ? 1 : -1, touching = 1e-12;
    const double left = lo, right = hi, first = fabs(g_mid);
    double best = sign * g_mid;
    while (best > 0 && hi - lo > enough) {
        const double x = hi - mid > mid - lo ? mid + golden * (hi - mid) : mid - golden * (mid - lo);
        double g;
        ICL_TRY(along(x, search, &g, err));
        g *= sign;
        if (g < best) {
            *(x > mid ? &lo : &hi) = mid;
            mid = x;
            best = g;
        } else {
            *(x > mid ? &hi : &lo) = x;
        }
    }
    if (best <= 0) {
        ICL_TRY(sign_change(search, window, left, mid, points, err));
        return sign_change(search, window, mid, right, points, err);
    }
    if (best > touching * first) return ICL_OK;
    ICL_TRY(w_star(search, mid, err));
    return keep(search, window, search->w, mid, points, err);
}

struct sample {
    double beta, g;
    bool flat; /* on a line of fixed points, or by chance on one */
};

static enum icl_status sample(struct search *search, double beta, struct sample *at, struct icl_err *err) {
    at->beta = beta;
    ICL_TRY(along(beta, search, &at->g, err));
    at->flat = is_flat(search, at->g);
    return ICL_OK;
}

/* The part of the range between two samples; one of them that is a fixed point itself gives way to its neighbourhood.
 */
static enum icl_status part(struct search *search, const struct icl_fixedpoints_window *window, struct sample lo,
                            struct sample hi, struct icl_fixedpoints_points *points, struct icl_err *err) {
    const double beside = 1e-6 * (hi.beta - lo.beta);
    if (lo.flat) ICL_TRY(sample(search, lo.beta + beside, &lo, err));
    if (hi.flat) ICL_TRY(sample(search, hi.beta - beside, &hi, err));
    if ((lo.g > 0) == (hi.g > 0)) return ICL_OK;
    return sign_change(search, window, lo.beta, hi.beta, points, err);
}

static bool is_dip(const struct sample *a) {
    const struct sample *before = a - 1, *after = a + 1;
    return !before->flat && !a->flat && !after->flat && (before->g > 0) == (a->g > 0) && (after->g > 0) == (a->g > 0) &&
           fabs(a->g) < fabs(before->g) && fabs(a->g) <= fabs(after->g);
}

static enum icl_status scan(struct search *search, const struct icl_fixedpoints_window *window,
                            struct icl_fixedpoints_points *points, struct icl_err *err) {
    struct sample at[SCAN + 1];
    /* Balanced labels attend to nothing at beta = 0: the origin is fixed, and without lambda_w w* jumps there. */
    if (search->field->params.task.labels == ICL_LABELS_BALANCED) ICL_TRY(keep(search, window, 0, 0, points, err));
    for (size_t i = 0; i <= SCAN; i++)
        ICL_TRY(sample(search, icl_fixedpoints_field_line(window->beta_lo, window->beta_hi, SCAN, i), &at[i], err));
    for (size_t i = 0; i <= SCAN; i++) {
        /* two neighbours in a row are a line of fixed points, none of them isolated */
        const bool line = at[i].flat && ((i > 0 && at[i - 1].flat) || (i < SCAN && at[i + 1].flat));
        if (at[i].flat && !line) {
            ICL_TRY(w_star(search, at[i].beta, err));
            ICL_TRY(keep(search, window, search->w, at[i].beta, points, err));
        }
        if (i > 0 && i < SCAN && is_dip(&at[i]))
            ICL_TRY(dip(search, window, at[i - 1].beta, at[i].beta, at[i + 1].beta, at[i].g, points, err));
        if (i < SCAN && !(at[i].flat && at[i + 1].flat)) ICL_TRY(part(search, window, at[i], at[i + 1], points, err));
    }
    return ICL_OK;
}

static void sort(struct icl_fixedpoints_points *points) {
    for (size_t i = 1; i < points->count; i++)
        for (size_t j = i; j > 0; j--) {
            struct icl_fixedpoints_point *a = &points->at[j - 1], *b = &points->at[j], swap = *a;
            if (a->beta < b->beta || (a->beta == b->beta && a->w <= b->w)) break;
            *a = *b;
            *b = swap;
        }
    for (size_t i = 0; i < points->count; i++) points->at[i].branch = i;
}

enum icl_status icl_fixedpoints_at(const struct icl_fixedpoints_field *field,
                                   const struct icl_fixedpoints_window *window, struct icl_fixedpoints_points *points,
                                   struct icl_err *err) {
    const double beyond = 10;
    struct search search = {.field = field};
    search.limit = beyond * (1 + fmax(fabs(window->w_lo), fabs(window->w_hi)));
    const enum icl_status status = scan(&search, window, points, err);
    sort(points);
    return status;
}

enum icl_status icl_fixedpoints_solve(const struct icl_params *params, double s,
                                      const struct icl_fixedpoints_window *window,
                                      struct icl_fixedpoints_points *points, struct icl_err *err) {
    struct icl_fixedpoints_field field;
    ICL_TRY(icl_fixedpoints_check(window, err));
    ICL_TRY(icl_fixedpoints_field_init(&field, params, s, NULL, err));
    const enum icl_status status = icl_fixedpoints_at(&field, window, points, err);
    icl_fixedpoints_field_done(&field);
    return status;
}
