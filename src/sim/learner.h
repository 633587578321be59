/* learner.h -- what a simulated model is to a run: one row of a const table, one file; private to sim.
 *
 *   step    theta -= lr (dloss/dtheta + lambda theta) over one batch
 *   answer  l_t z of contexts, as drawn and with every label turned round, the target's own too
 *
 * train.c draws the batch's targets, keeps the clock and the record, evaluates through eval.c and writes checkpoints of
 * the learner's parts; none of them knows which model it is.
 *
 * w, beta  the parameters of (S6), or what a model measures in their place at each evaluation
 * pace     ds/dt of (M3) as of the last evaluation, where a model has no phi of its own
 * Owns     its networks, contexts and activations, until icl_learner_free.
 */
#ifndef ICLKIN_SIM_LEARNER_H
#define ICLKIN_SIM_LEARNER_H

#include "iclkin/net.h"
#include "iclkin/train.h"
#include "sim/lap.h"
#include "sim/sample.h"

/* Targets of one evaluation pass, and of one forward pass that it makes. */
enum { ICL_LEARNER_ROWS = 128, ICL_LEARNER_PARTS = 3 };

struct icl_learner_head {
    double w, beta, pace;
};

struct icl_learner {
    const struct icl_learner_kind *kind;
    const struct icl_train_setup *setup;
    const struct icl_sample *sample;
    size_t B;
    struct icl_learner_head head;
    struct icl_net net; /* block NULL where phi = 0 */
    struct icl_net_work *work;
    struct icl_contexts contexts;
    struct icl_lap *lap;
    float *a, *slope, *dphi; /* (B or ROWS, the larger) */
    void *own;               /* of the kind */
};

/* A batch's mean loss, and <sigma(-z)> and <sigma(-phi_+)> up to a common factor: the clock's pace (M3). */
struct icl_learner_sums {
    double loss, miss, miss_phi;
};

/* Of one context of each target: l_t z, -l_t z of the turned context, and where the kind measures w and beta the
 * attended label sum_j p_j l_j and the score of the copies less that of the other items. */
struct icl_learner_answers {
    double y[ICL_LEARNER_ROWS], turned[ICL_LEARNER_ROWS], attended[ICL_LEARNER_ROWS], gap[ICL_LEARNER_ROWS];
};

struct icl_learner_kind {
    const char *name;
    bool measures; /* w and beta come from its answers, phi from the even part of z in the labels */
    enum icl_status (*alloc)(struct icl_learner *learner, struct icl_err *err);
    void (*free)(struct icl_learner *learner);
    void (*init)(struct icl_learner *learner);
    /* One step on targets (B); contexts come from draws. A loss beyond limit leaves the parameters as they are. */
    struct icl_learner_sums (*step)(struct icl_learner *learner, const struct icl_targets *targets,
                                    struct icl_draws *draws, double limit);
    /* phi of n targets: what the MLP says of an item. */
    void (*phi)(struct icl_learner *learner, const struct icl_targets *targets, size_t n, float *phi);
    void (*answer)(struct icl_learner *learner, enum icl_context context, const struct icl_targets *targets, size_t n,
                   const float *phi, struct icl_draws *draws, struct icl_learner_answers *answers);
    /* Whether all parameters are finite. */
    bool (*finite)(const struct icl_learner *learner);
    /* Floats beside the MLP's that a checkpoint keeps; NULL: none. */
    float *(*block)(const struct icl_learner *learner, size_t *floats);
};

extern const struct icl_learner_kind icl_minimal_kind, icl_transformer_kind;

/* setup and sample are the caller's and outlive the learner. */
enum icl_status icl_learner_alloc(struct icl_learner *learner, const struct icl_train_setup *setup,
                                  const struct icl_sample *sample, struct icl_err *err) ICL_MUST_CHECK;
void icl_learner_free(struct icl_learner *learner);
void icl_learner_clock(struct icl_learner *learner, struct icl_lap *lap);

/* A checkpoint: its bytes, and the return to it. */
size_t icl_learner_bytes(const struct icl_learner *learner);
void icl_learner_save(const struct icl_learner *learner, unsigned char *bytes);
void icl_learner_restore(struct icl_learner *learner, const unsigned char *bytes);

#endif
