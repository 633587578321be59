/* calibrate_smooth.c -- smooth curves through what was measured. */
#include <math.h>

#include "base/mem.h"
#include "iclkin/spline.h"
#include "theory/calibrate.h"
#include "theory/memtable.h"

/* The classes stay in order, and c1 their average. */
static void settle(const double *weight, struct icl_calibrate_point *p) {
    for (size_t q = 1; q < ICL_CALIBRATE_CLASSES; q++) p->phi[q] = fmax(p->phi[q], p->phi[q - 1]);
    p->c1 = icl_calibrate_c1(weight, p->phi, 0);
}

/* One field of the points; c, shape (coefs), is scratch. */
static enum icl_status smooth(struct icl_spline *spline, double *field, double *c, struct icl_err *err) {
    const size_t stride = sizeof(struct icl_calibrate_point) / sizeof(double);
    ICL_TRY(icl_spline_solve(spline, field, stride, c, err));
    icl_spline_values(spline, c, field, stride);
    return ICL_OK;
}

enum icl_status icl_calibrate_smooth(size_t n, const double *s, const double *weight, struct icl_calibrate_point *point,
                                     struct icl_err *err) {
    const double least_v = 1e-30;
    struct icl_spline *spline = NULL;
    double *x = NULL;
    ICL_TRY(icl_mem_alloc(&x, 2 * n, sizeof *x, err)); /* the coefficients are no more than the points */
    for (size_t j = 0; j < n; j++) {
        x[j] = icl_memtable_coordinate(s[j] / s[n - 1]);
        point[j].c3 = log(point[j].c3);
        point[j].v = log(fmax(point[j].v, least_v));
    }
    enum icl_status status = icl_memtable_spline(&spline, n, x, err);
    double *const field[] = {&point->c2, &point->c3, &point->v};
    for (size_t i = 0; i < sizeof field / sizeof *field && status == ICL_OK; i++)
        status = smooth(spline, field[i], x + n, err);
    for (size_t q = 0; q < ICL_CALIBRATE_CLASSES && status == ICL_OK; q++)
        status = smooth(spline, &point->phi[q], x + n, err);
    icl_spline_free(spline);
    icl_mem_free(x);
    for (size_t j = 0; j < n; j++) {
        point[j].c3 = exp(point[j].c3);
        point[j].v = exp(point[j].v);
        settle(weight, &point[j]);
    }
    return status;
}
