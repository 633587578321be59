/* fixedpoints_field.h -- the planar field at a frozen clock as a function of (w, beta) and one parameter x; private to
 * theory. Beside it what every user of a fixed point needs: Newton's method at fixed x, and the point's row.
 *
 * y        shape (2): w, beta; J row-major 2 x 2, d(dw/dt, dbeta/dt)/d(w, beta)
 * Fails    ICL_ENOMEM, ICL_EUSAGE from making a model.
 */
#ifndef ICLKIN_FIXEDPOINTS_FIELD_H
#define ICLKIN_FIXEDPOINTS_FIELD_H

#include <stdbool.h>

#include "iclkin/fixedpoints.h"
#include "iclkin/model.h"

struct icl_fixedpoints_field {
    struct icl_params params;
    const struct icl_param *param; /* the parameter that x sets, or NULL */
    double s, x;
    double decay[2]; /* of w and beta, where x sets it: the model is then one without */
    struct icl_model *model;
};

enum icl_status icl_fixedpoints_field_init(struct icl_fixedpoints_field *field, const struct icl_params *params,
                                           double s, const struct icl_param *param, struct icl_err *err) ICL_MUST_CHECK;
void icl_fixedpoints_field_done(struct icl_fixedpoints_field *field);
/* Sets the parameter; a new model is made only where x is another, and no decay. */
enum icl_status icl_fixedpoints_field_set(struct icl_fixedpoints_field *field, double x,
                                          struct icl_err *err) ICL_MUST_CHECK;
/* J may be NULL. */
void icl_fixedpoints_field_at(const struct icl_fixedpoints_field *field, const double y[2], double f[2], double J[4]);

/* Newton from y at the present x; false (y as it was) unless it converges within reach of where it began. */
bool icl_fixedpoints_field_newton(const struct icl_fixedpoints_field *field, double reach, double y[2]);
/* The row of a fixed point: eigenvalues and type. */
void icl_fixedpoints_field_point(const struct icl_fixedpoints_field *field, const double y[2],
                                 struct icl_fixedpoints_point *point);
/* Appends. */
enum icl_status icl_fixedpoints_field_push(struct icl_fixedpoints_points *points,
                                           const struct icl_fixedpoints_point *point,
                                           struct icl_err *err) ICL_MUST_CHECK;

/* What icl_fixedpoints_solve does, at the present x (src/theory/fixedpoints.c). */
enum icl_status icl_fixedpoints_at(const struct icl_fixedpoints_field *field,
                                   const struct icl_fixedpoints_window *window, struct icl_fixedpoints_points *points,
                                   struct icl_err *err) ICL_MUST_CHECK;

/* Appends to the piece in hand; curves->pieces++ ends it (src/theory/fixedpoints_curves.c). */
enum icl_status icl_fixedpoints_curves_push(struct icl_fixedpoints_curves *curves, enum icl_fixedpoints_curve curve,
                                            double w, double beta, struct icl_err *err) ICL_MUST_CHECK;

bool icl_fixedpoints_field_inside(const struct icl_fixedpoints_window *window, const double y[2]);
/* Distance to the nearest edge; negative outside. */
double icl_fixedpoints_field_margin(const struct icl_fixedpoints_window *window, const double y[2]);

/* Line i of n + 1 over [lo, hi]: 0 is one of them where it lies inside, for curves run along the axes and balanced
 * labels have a fixed point at the origin. */
double icl_fixedpoints_field_line(double lo, double hi, size_t n, size_t i);

#endif
