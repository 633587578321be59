/* calibrate_respond.c -- the response to a logit offset, read off two paths with the same c1 (M4). */
#include <gsl/gsl_interp.h>
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "iclkin/spline.h"
#include "theory/calibrate.h"

enum { LINE = 2, CUBIC = 4, POINTS_A_BREAK = 3, ENOUGH_FOR_CUBIC = 6 };

static struct icl_calibrate_point unknown(void) {
    struct icl_calibrate_point p = {.c1 = NAN, .c2 = NAN, .c3 = NAN, .v = NAN};
    for (size_t q = 0; q < ICL_CALIBRATE_CLASSES; q++) p.phi[q] = NAN;
    return p;
}

static struct icl_calibrate_point between(const struct icl_calibrate_point *a, const struct icl_calibrate_point *b,
                                          double u) {
    struct icl_calibrate_point p = {.c1 = a->c1 + u * (b->c1 - a->c1),
                                    .c2 = a->c2 + u * (b->c2 - a->c2),
                                    .c3 = a->c3 + u * (b->c3 - a->c3),
                                    .v = a->v + u * (b->v - a->v)};
    for (size_t q = 0; q < ICL_CALIBRATE_CLASSES; q++) p.phi[q] = a->phi[q] + u * (b->phi[q] - a->phi[q]);
    return p;
}

/* Where the path first comes down to c1; false where it never does or starts below. */
static bool find(size_t n, const double *t, const struct icl_calibrate_point *path, double c1,
                 struct icl_calibrate_response *at) {
    if (path[0].c1 < c1) return false;
    for (size_t i = 1; i < n; i++) {
        if (path[i].c1 > c1) continue;
        const double u = (path[i - 1].c1 - c1) / (path[i - 1].c1 - path[i].c1);
        at->t = t[i - 1] + u * (t[i] - t[i - 1]);
        at->look = between(&path[i - 1], &path[i], u);
        return true;
    }
    return false;
}

/* The clocks whose c1 is lower than any before and met by the path. */
static size_t match(size_t n, const double *s, const struct icl_calibrate_point *plain, const double *t,
                    const struct icl_calibrate_point *path, struct icl_calibrate_response *response, double *x,
                    double *y, size_t *index) {
    double least = INFINITY;
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        struct icl_calibrate_response at = {.t = 0};
        response[j] = (struct icl_calibrate_response){NAN, 1, unknown()};
        if (plain[j].c1 >= least) continue;
        least = plain[j].c1;
        if (!find(n, t, path, least, &at) || (count > 0 && at.t <= y[count - 1])) continue;
        at.response = 1;
        response[j] = at;
        x[count] = s[j];
        y[count] = at.t;
        index[count++] = j;
    }
    return count;
}

/* ds/dt by the slopes of a cubic through the smoothed pairs (s, t), over what (M3) says. */
static enum icl_status slopes(size_t count, const double *x, const double *y, const size_t *index, double offset,
                              const double *weight, const struct icl_calibrate_point *plain,
                              struct icl_calibrate_response *response, struct icl_err *err) {
    const double least = 0.05 * (y[count - 1] - y[0]) / (x[count - 1] - x[0]);
    gsl_interp *cubic = gsl_interp_alloc(gsl_interp_cspline, count);
    if (!cubic) return ICL_ERR(err, ICL_ENOMEM, "interpolation of %zu clocks", count);
    const int bad = gsl_interp_init(cubic, x, y, count);
    for (size_t i = 0; i < count && !bad; i++) {
        const size_t j = index[i];
        const double slope = fmax(gsl_interp_eval_deriv(cubic, x, y, x[i], NULL), least);
        response[j].response = plain[j].c1 / (slope * icl_calibrate_c1(weight, plain[j].phi, offset));
    }
    gsl_interp_free(cubic);
    return bad ? ICL_ERR(err, ICL_ENUMERIC, "interpolation of %zu clocks", count) : ICL_OK;
}

static enum icl_status respond(size_t count, const double *x, double *y, const size_t *index, double offset,
                               const double *weight, const struct icl_calibrate_point *plain,
                               struct icl_calibrate_response *response, struct icl_err *err) {
    const bool enough = count >= ENOUGH_FOR_CUBIC;
    const size_t breaks = enough ? count / POINTS_A_BREAK : 2;
    struct icl_spline *spline = NULL;
    double *c = NULL;
    if (count < ICL_CALIBRATE_MATCHED) {
        for (size_t i = 0; i < count; i++) response[index[i]].t = NAN;
        return ICL_OK;
    }
    ICL_TRY(icl_mem_alloc(&c, count, sizeof *c, err));
    enum icl_status status = icl_spline_alloc(&spline, count, x, enough ? CUBIC : LINE, breaks, err);
    if (status == ICL_OK) status = icl_spline_solve(spline, y, 1, c, err);
    if (status == ICL_OK) icl_spline_values(spline, c, y, 1);
    icl_spline_free(spline);
    icl_mem_free(c);
    return status == ICL_OK ? slopes(count, x, y, index, offset, weight, plain, response, err) : status;
}

enum icl_status icl_calibrate_respond(size_t n, const double *s, const struct icl_calibrate_point *plain,
                                      const double *t, struct icl_calibrate_point *path, double offset,
                                      const double *weight, struct icl_calibrate_response *response,
                                      struct icl_err *err) {
    double *x = NULL;
    size_t *index = NULL;
    enum icl_status status = icl_mem_alloc(&x, 2 * n, sizeof *x, err);
    if (status == ICL_OK) status = icl_mem_alloc(&index, n, sizeof *index, err);
    if (status == ICL_OK) status = icl_calibrate_smooth(n, t, weight, path, err);
    if (status == ICL_OK) {
        const size_t count = match(n, s, plain, t, path, response, x, x + n, index);
        status = respond(count, x, x + n, index, offset, weight, plain, response, err);
    }
    icl_mem_free(index);
    icl_mem_free(x);
    return status;
}

/* Above the first c1 the classes have hardly parted, and the plain closure holds; below the second what was measured
 * does; in between the one goes over into the other. */
static const double parting = 0.485, parted = 0.45;

void icl_calibrate_respond_mean(size_t runs, size_t n, const struct icl_calibrate_point *plain,
                                const struct icl_calibrate_response *run, const double *below,
                                struct icl_calibrate_response *mean) {
    for (size_t j = 0; j < n; j++) {
        const double share = fmin(fmax((parting - plain[j].c1) / (parting - parted), 0), 1);
        const double follow = j > 0 ? mean[j - 1].response * (below ? below[j] / below[j - 1] : 1) : 1;
        double log_response = 0, count = 0;
        mean[j] = (struct icl_calibrate_response){NAN, follow, unknown()};
        for (size_t r = 0; r < runs; r++) {
            const struct icl_calibrate_response *one = &run[r * n + j];
            if (isnan(one->t)) continue;
            count++;
            log_response += (log(one->response) - log_response) / count;
            if (count == 1) {
                mean[j].t = one->t;
                mean[j].look = one->look;
                continue;
            }
            mean[j].t += (one->t - mean[j].t) / count;
            mean[j].look = between(&mean[j].look, &one->look, 1 / count);
        }
        if (count > 0) mean[j].response = exp(share * log_response);
    }
}
