/* eval.h -- the observables of (O1) on held-out draws; private to sim.
 *
 * The draws come from a stream of their own and are the same at every evaluation of a run, so that a curve is smooth in
 * t and its error is one of the sample, not of each point.
 *
 * novel    `novel` fresh items, `contexts` contexts of each, one copy: loss and acc ICL; each also with every label
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

/* ITEM_DRAWS: draws asked for to one training item. */
enum { ICL_EVAL_TRAIN_CONTEXTS = 1, ICL_EVAL_UNSEEN_CONTEXTS = 2, ICL_EVAL_ITEM_DRAWS = 10, ICL_EVAL_FEWEST = 16 };

struct icl_eval {
    size_t novel, contexts, items;
    struct icl_targets targets;
    struct icl_learner_answers answers;
    float phi[ICL_LEARNER_ROWS];                          /* of the targets */
    double loss[ICL_LEARNER_ROWS], hit[ICL_LEARNER_ROWS]; /* sums over an item's contexts */
};

/* sim.eval_items, to the next whole item of each kind. */
enum icl_status icl_eval_alloc(struct icl_eval *eval, const struct icl_sample *sample, const struct icl_sim *sim,
                               struct icl_err *err) ICL_MUST_CHECK;
void icl_eval_free(struct icl_eval *eval);
/* Fills the measured columns of a row: c1, ..., acc_iwl, and w and beta where the learner measures them; sets its head
 * then. */
void icl_eval_row(struct icl_eval *eval, struct icl_learner *learner, struct icl_train_row *row);

#endif
