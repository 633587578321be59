/* eval.h -- the observables of (O1) on held-out draws; private to sim.
 *
 * The draws come from a stream of their own and are the same at every evaluation of a run, so that a curve is smooth in
 * t and its error is one of the sample, not of each point.
 *
 * novel    `novel` fresh items, NOVEL_CONTEXTS contexts of each, one copy: loss and acc ICL; each also with every label
 *          turned round, the item's own too, a second context without the noise of the coin that a novel item's label
 *          is
 * items    `items` training items, half of each label (fresh ones where K is infinite): c1, c2, c3; TRAIN_CONTEXTS
 *          contexts of each: loss train; UNSEEN_CONTEXTS without a copy: loss and acc IWL
 * errors   of means over items, whose contexts are not independent
 */
#ifndef ICLKIN_SIM_EVAL_H
#define ICLKIN_SIM_EVAL_H

#include "iclkin/train.h"
#include "sim/learner.h"

/* NOVEL_DRAWS, ITEM_DRAWS: draws asked for to one item of either kind. */
enum {
    ICL_EVAL_NOVEL_DRAWS = 16,
    ICL_EVAL_NOVEL_CONTEXTS = 12,
    ICL_EVAL_TRAIN_CONTEXTS = 1,
    ICL_EVAL_UNSEEN_CONTEXTS = 2,
    ICL_EVAL_ITEM_DRAWS = 10,
    ICL_EVAL_FEWEST = 16
};

struct icl_eval {
    size_t novel, items;
    struct icl_targets targets;
    struct icl_learner_answers answers;
    float phi[ICL_LEARNER_ROWS];                          /* of the targets */
    double loss[ICL_LEARNER_ROWS], hit[ICL_LEARNER_ROWS]; /* sums over an item's contexts */
};

/* draws: what sim.eval_items asks for; to the next whole item. */
enum icl_status icl_eval_alloc(struct icl_eval *eval, const struct icl_sample *sample, size_t draws,
                               struct icl_err *err) ICL_MUST_CHECK;
void icl_eval_free(struct icl_eval *eval);
/* Fills the measured columns of a row: c1, ..., acc_iwl, and w and beta where the learner measures them; sets its head
 * then. */
void icl_eval_row(struct icl_eval *eval, struct icl_learner *learner, struct icl_train_row *row);

#endif
