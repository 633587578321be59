/* attribute.h -- which ingredient of the theory moves t_icl, K* and t_loss: each left out in turn (O6).
 *
 *   finite D (T4), further copies by chance (S2), the others' mean label (S1), balanced labels (S2), v (M1), response
 *   (M4), slowed clock (M3), w a in the error signal: c2 (T5), sigma(-z) for sigma(-phi_+) (T3)
 *
 * Numbers  at theory.level, as in predict.h; NaN where one could not be computed (`trouble` says why). K* to a
 *          thousandth of solver.K_tol, so that small differences are seen.
 * Absent   an ingredient that the level or the parameters leave out already: it is not solved, and it is said why.
 * Fails    ICL_ENOMEM; ICL_EUSAGE from the memory law.
 * Cost     that of predict's theory.level for each ingredient at work, and K* half as much again.
 */
#ifndef ICLKIN_ATTRIBUTE_H
#define ICLKIN_ATTRIBUTE_H

#include "iclkin/err.h"
#include "iclkin/params.h"

enum icl_ingredient {
    ICL_INGREDIENT_D,
    ICL_INGREDIENT_COPIES,
    ICL_INGREDIENT_CORRELATION,
    ICL_INGREDIENT_BALANCED,
    ICL_INGREDIENT_SPREAD,
    ICL_INGREDIENT_RESPONSE,
    ICL_INGREDIENT_CLOCK,
    ICL_INGREDIENT_DAMPING,
    ICL_INGREDIENT_COUNT
};

struct icl_attribute_numbers {
    double t_icl, K_star, t_loss;
};

struct icl_attribute {
    struct icl_attribute_numbers with;
    const char *absent[ICL_INGREDIENT_COUNT];                   /* why it is not at work; NULL: it is */
    struct icl_attribute_numbers without[ICL_INGREDIENT_COUNT]; /* where not absent */
    struct icl_err trouble;
};

/* As in the JSON: "finite_D", ...; and for a person, with its tag. */
const char *icl_attribute_name(enum icl_ingredient ingredient);
const char *icl_attribute_text(enum icl_ingredient ingredient);

/* Leaves an ingredient out of params: by the parameter that does it, or in params->without. */
void icl_attribute_leave(struct icl_params *params, enum icl_ingredient ingredient);

enum icl_status icl_attribute_run(const struct icl_params *params, struct icl_attribute *attribute,
                                  struct icl_err *err) ICL_MUST_CHECK;

#endif
