/* fixedpoints.h -- the phase plane (w, beta) with memorization frozen at a clock s: where it stands still, and what
 * divides the starts that acquire ICL from those that do not.
 *
 *   dw/dt = 0 and dbeta/dt = 0 at fixed s; type by the eigenvalues of the Jacobian there; folds (T9)
 *
 * w, beta  [1]; eigenvalues [1/t], the one of larger real part first
 * Needs    checked parameters; theory.level, task.K and memory are those of params.
 * Fails    ICL_ENOMEM; ICL_EUSAGE from the memory law, for a window that is none, and for a parameter that cannot be
 *          swept; ICL_ENUMERIC from an integration.
 * Owns     points and curves grow as needed: begin with {0}, end with their free. On failure they hold what was found.
 * Threads  no shared state.
 * Cost     solve about 5000 evaluations of the field; the methods and their limits are in notes/fixedpoints.md.
 */
#ifndef ICLKIN_FIXEDPOINTS_H
#define ICLKIN_FIXEDPOINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/axis.h"
#include "iclkin/err.h"
#include "iclkin/params.h"

struct icl_fixedpoints_window {
    double w_lo, w_hi, beta_lo, beta_hi;
};

enum icl_fixedpoints_type {
    ICL_FIXEDPOINTS_STABLE,
    ICL_FIXEDPOINTS_SADDLE,
    ICL_FIXEDPOINTS_UNSTABLE,
    ICL_FIXEDPOINTS_FOLD,
    ICL_FIXEDPOINTS_TYPES
};

struct icl_fixedpoints_point {
    double x; /* the swept parameter; 0 without one */
    size_t branch;
    double w, beta, re[2], im[2];
    enum icl_fixedpoints_type type;
};

struct icl_fixedpoints_points {
    size_t count, size;
    struct icl_fixedpoints_point *at; /* shape (count) */
    size_t stalled;                   /* branches that ended inside the window because no step could be taken */
};
void icl_fixedpoints_free(struct icl_fixedpoints_points *points);
/* "stable", "saddle", "unstable", "fold". */
const char *icl_fixedpoints_name(enum icl_fixedpoints_type type);

/* Where to look if nothing else is asked for: |w| <= 100, beta from -3 (balanced labels: -12) to ln N + 10. */
void icl_fixedpoints_box(const struct icl_params *params, struct icl_fixedpoints_window *box);
/* What to draw: w in [-2, 10], beta from -3 up, and every point. */
void icl_fixedpoints_view(const struct icl_params *params, const struct icl_fixedpoints_points *points,
                          struct icl_fixedpoints_window *view);
/* ICL_EUSAGE unless it is finite, not empty, |w| <= 1e4 and |beta| <= 300. */
enum icl_status icl_fixedpoints_check(const struct icl_fixedpoints_window *window, struct icl_err *err) ICL_MUST_CHECK;

/* Every isolated fixed point in the window, in order of beta; each is a branch of its own. */
enum icl_status icl_fixedpoints_solve(const struct icl_params *params, double s,
                                      const struct icl_fixedpoints_window *window,
                                      struct icl_fixedpoints_points *points, struct icl_err *err) ICL_MUST_CHECK;

/* ICL_EUSAGE, with the reason, where params cannot be continued in the axis' parameter: only train.lambda,
 * train.lambda_w, train.lambda_beta and the numbers of the memory law in use can. */
enum icl_status icl_fixedpoints_branches_check(const struct icl_params *params, const struct icl_axis *axis,
                                               struct icl_err *err) ICL_MUST_CHECK;

/* The branches of fixed points over the axis by pseudo-arclength continuation: rows in order along each branch (at the
 * axis' values, at the steps between, at the window's edge), and one of type fold at each fold, polished to rounding.
 * Branches are numbered in the order of the axis and of beta. An axis of one value: as solve. */
enum icl_status icl_fixedpoints_branches(const struct icl_params *params, double s,
                                         const struct icl_fixedpoints_window *window, const struct icl_axis *axis,
                                         struct icl_fixedpoints_points *points, struct icl_err *err) ICL_MUST_CHECK;

enum icl_fixedpoints_curve {
    ICL_FIXEDPOINTS_W_NULLCLINE,
    ICL_FIXEDPOINTS_BETA_NULLCLINE,
    ICL_FIXEDPOINTS_SEPARATRIX,
    ICL_FIXEDPOINTS_CURVES
};

struct icl_fixedpoints_vertex {
    enum icl_fixedpoints_curve curve;
    size_t piece; /* counts up; vertices of one piece are joined in order */
    double w, beta;
};

struct icl_fixedpoints_curves {
    size_t count, size, pieces;
    struct icl_fixedpoints_vertex *at; /* shape (count) */
};
void icl_fixedpoints_curves_free(struct icl_fixedpoints_curves *curves);
/* "w_nullcline", "beta_nullcline", "separatrix". */
const char *icl_fixedpoints_curves_name(enum icl_fixedpoints_curve curve);

/* dw/dt = 0 and dbeta/dt = 0 in the window, as polylines with a vertex on every line of a grid of cells x cells that
 * they cross; each vertex is a root to rounding. A closed piece ends where it began. */
enum icl_status icl_fixedpoints_curves_nullclines(const struct icl_params *params, double s,
                                                  const struct icl_fixedpoints_window *window, size_t cells,
                                                  struct icl_fixedpoints_curves *curves,
                                                  struct icl_err *err) ICL_MUST_CHECK;

/* The stable manifold of a saddle up to the window's edge, one piece through the saddle: adds nothing for a point that
 * is no saddle or lies outside. */
enum icl_status icl_fixedpoints_separatrix(const struct icl_params *params, double s,
                                           const struct icl_fixedpoints_window *window,
                                           const struct icl_fixedpoints_point *saddle,
                                           struct icl_fixedpoints_curves *curves, struct icl_err *err) ICL_MUST_CHECK;

#endif
