/* phase.h -- what happens at one point of a phase diagram, and where along a line it changes.
 *
 * cell     the point of one or two axes; equals `predict` of the same parameters, bit for bit
 * class    none (ICL not acquired by t_max), kept, or transient (O3): what boundaries separate
 * Fails    a cell never: its status says what went wrong. icl_phase_roots: ICL_ENUMERIC where no point of the axis can
 *          be solved, ICL_ENOMEM.
 * Threads  no shared state.
 * Source   theory.level's equations; K and D are taken as real numbers along a boundary (K*, O4).
 */
#ifndef ICLKIN_PHASE_H
#define ICLKIN_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/axis.h"
#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/traj.h"

enum { ICL_PHASE_AXES = 2, ICL_PHASE_STATUS = 200, ICL_PHASE_ROOTS = 16 };

struct icl_phase_cell {
    double value[ICL_PHASE_AXES]; /* the axes' parameters as set (rounded) */
    double t_icl, t_iwl, t_loss;  /* [t]; NaN where the cell failed */
    enum icl_outcome outcome;
    bool failed;
    char status[ICL_PHASE_STATUS]; /* "ok", or why it failed */
};

/* Solves the cell at point[k] of axis[k], k < axes. */
void icl_phase_cell(const struct icl_params *params, const struct icl_axis *axis, size_t axes, const size_t *point,
                    struct icl_phase_cell *cell);

enum icl_phase_class { ICL_PHASE_NONE, ICL_PHASE_KEPT, ICL_PHASE_TRANSIENT, ICL_PHASE_CLASSES };
const char *icl_phase_name(enum icl_phase_class class_);
enum icl_phase_class icl_phase_class(enum icl_outcome outcome);

/* One change of class along an axis. */
struct icl_phase_root {
    double x, error;                   /* the middle of the last bracket, and half its width */
    enum icl_phase_class below, above; /* the classes at its lower and upper end */
};

struct icl_phase_roots {
    size_t count;                                /* 0: no boundary in range */
    struct icl_phase_root root[ICL_PHASE_ROOTS]; /* in the order of x along the axis */
    enum icl_phase_class first;                  /* at the axis's first point that could be solved */
    size_t solves;
    bool more;                  /* there are more than ICL_PHASE_ROOTS */
    size_t failed;              /* points that could not be solved: no boundary is sought beside them */
    char why[ICL_PHASE_STATUS]; /* of the first of them */
};

/* All changes of class along the axis: it is scanned at its n points, and every change between neighbours is bisected
 * to solver.K_tol (relative to x, or to a thousandth of the axis's span). */
enum icl_status icl_phase_roots(const struct icl_params *params, const struct icl_axis *axis,
                                struct icl_phase_roots *roots, struct icl_err *err) ICL_MUST_CHECK;

/* How x of a boundary along the axis is to be read: where the parameter is a whole number, x is none. */
const char *icl_phase_reading(const struct icl_axis *axis);

#endif
