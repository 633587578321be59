/* advise.h -- what to change so that ICL is acquired by t_max and kept: one parameter at a time, the others as they
 * are.
 *
 *   w0, beta0, lambda (both decays alike), K, N: every change of class along a range (icl_phase_roots), and the
 *   intervals in between on which the class is `kept` (O3)
 *
 * Ranges   w0 and beta0 from 4 below to 6 and 8 above the start and 0; lambda from 0.01/t_max to 1; K from 10 (or the
 *          table's least) to 1e7 (its most); N from twice the copies (at least 4) to 1e4
 * Errors   half the last bracket, solver.K_tol of the value
 * Fails    ICL_ENOMEM; a line that cannot be solved says why and costs that line.
 * Cost     25 solves a line, and 10 a boundary
 */
#ifndef ICLKIN_ADVISE_H
#define ICLKIN_ADVISE_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/axis.h"
#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/phase.h"

enum { ICL_ADVISE_LINES = 5, ICL_ADVISE_INTERVALS = ICL_PHASE_ROOTS + 1 };

struct icl_advise_line {
    struct icl_axis axis;
    double now;
    bool failed;                  /* no point of the range could be solved: roots.why */
    struct icl_phase_roots roots; /* in the order of x */
};

struct icl_advise {
    enum icl_phase_class now;
    struct icl_advise_line line[ICL_ADVISE_LINES];
};

/* An interval of one class; infinite where it begins before the range, or ends beyond it. */
struct icl_advise_interval {
    double from, from_error, to, to_error;
};

/* Fills the intervals of a class in the order of x, and returns how many there are. */
size_t icl_advise_intervals(const struct icl_advise_line *line, enum icl_phase_class class_,
                            struct icl_advise_interval interval[ICL_ADVISE_INTERVALS]);

enum icl_status icl_advise_run(const struct icl_params *params, struct icl_advise *advise,
                               struct icl_err *err) ICL_MUST_CHECK;

#endif
