/* solved.h -- theory's counterpart of every run of an ensemble, at every level; private to src/.
 *
 * Contracts as validate.h. What a level cannot compute at a point is NaN there.
 */
#ifndef ICLKIN_SOLVED_H
#define ICLKIN_SOLVED_H

#include "iclkin/validate.h"

struct icl_solved_run {
    double times[ICL_COUNTERPART_TIMES];
    enum icl_outcome outcome;
};

struct icl_solved {
    size_t runs, states;
    struct icl_solved_run *run; /* shape (levels, runs) */
    double *state;              /* shape (levels, runs, states, ICL_COUNTERPART_STATES) */
};

enum icl_status icl_solved_init(struct icl_solved *solved, const struct icl_validate_ensemble *ensemble,
                                struct icl_err *trouble, struct icl_err *err) ICL_MUST_CHECK;
void icl_solved_free(struct icl_solved *solved);

const struct icl_solved_run *icl_solved_of(const struct icl_solved *solved, enum icl_level level, size_t run);
const double *icl_solved_state(const struct icl_solved *solved, enum icl_level level, size_t run, size_t state);

#endif
