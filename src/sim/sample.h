/* sample.h -- items, targets and contexts drawn as (S1), (S2), (S4), (S7) say; private to sim.
 *
 * K         0 where it is infinite: targets are then fresh items, and of the context only what attention sees is drawn,
 *           the scores x_j . x_t. Given x_t they are independent: N(0, |x_t|^2/D) for gaussian items, for unit items a
 *           coordinate of a random unit vector.
 * width     D rounded up to 16; an item is a row of width floats, aligned, 0 beyond D
 * ideal     D is infinite for attention: a copy's score is 1, any other 0. The MLP sees items of ICL_SAMPLE_DIM.
 * labels    item i has label +1 below K/2, else -1: half of each
 * contexts  of up to `capacity` targets at a time: id (n,N), label and score (n,stride); the copies stand first
 * Fails     ICL_ERANGE for a task that cannot be sampled; ICL_ENOMEM.
 * Threads   a sample is read-only once drawn; draws belong to one thread.
 */
#ifndef ICLKIN_SIM_SAMPLE_H
#define ICLKIN_SIM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/rng.h"
#include "sim/head_isa.h"
#include "sim/lap.h"

enum { ICL_SAMPLE_DIM = 63 };

struct icl_sample {
    size_t K, N, D, width, copies;
    bool balanced, unit, ideal;
    uint64_t seed;
    uint32_t member;
    float *items; /* (K,width); NULL for K infinite */
    const struct icl_head_isa *isa;
};

enum icl_context {
    ICL_CONTEXT_TRAIN, /* at least `copies` of the target, others from the K items */
    ICL_CONTEXT_NOVEL, /* one copy of a fresh target, others fresh (S4) */
    ICL_CONTEXT_UNSEEN /* no copy, others from the K items (S4) */
};

/* Targets: n of them, as ids into the items or, id NULL, as fresh rows. */
struct icl_targets {
    size_t capacity;
    bool novel;   /* fresh although K is finite */
    uint32_t *id; /* (n) */
    float *fresh; /* (n,width) */
    float *label; /* (n) */
};

struct icl_contexts {
    size_t capacity, stride;
    uint32_t *word, *id;
    float *label, *score;
    float *fresh;      /* (capacity N,width), or NULL: items of contexts whose every item is asked for */
    const float *rows; /* what ids count in then */
};

/* The independent parts of a step's stream. */
struct icl_draws {
    struct icl_rng target, label, word, again, score;
};

/* Fills *sample from the task; items are drawn where K is finite. */
enum icl_status icl_sample_alloc(struct icl_sample *sample, const struct icl_task *task, uint64_t seed, uint32_t member,
                                 struct icl_err *err) ICL_MUST_CHECK;
void icl_sample_free(struct icl_sample *sample);

enum icl_status icl_sample_targets_alloc(struct icl_targets *targets, const struct icl_sample *sample, size_t capacity,
                                         struct icl_err *err) ICL_MUST_CHECK;
void icl_sample_targets_free(struct icl_targets *targets);
enum icl_status icl_sample_contexts_alloc(struct icl_contexts *contexts, const struct icl_sample *sample,
                                          size_t capacity, struct icl_err *err) ICL_MUST_CHECK;
void icl_sample_contexts_free(struct icl_contexts *contexts);
/* The same for icl_sample_tokens. */
enum icl_status icl_sample_tokens_alloc(struct icl_contexts *contexts, const struct icl_sample *sample, size_t capacity,
                                        struct icl_err *err) ICL_MUST_CHECK;

/* Positions draws at a step of a stream. */
void icl_sample_seek(const struct icl_sample *sample, enum icl_rng_purpose purpose, uint64_t step,
                     struct icl_draws *draws);
/* n targets: of the K items, or fresh where K is infinite or novel. */
void icl_sample_targets(const struct icl_sample *sample, size_t n, bool novel, struct icl_draws *draws,
                        struct icl_targets *targets);
/* The item that target i is. */
const float *icl_sample_item(const struct icl_sample *sample, const struct icl_targets *targets, size_t i);
/* Contexts of targets first, ..., first + n - 1, n <= contexts->capacity. */
void icl_sample_contexts(const struct icl_sample *sample, enum icl_context kind, const struct icl_targets *targets,
                         size_t first, size_t n, struct icl_draws *draws, struct icl_contexts *contexts,
                         struct icl_lap *lap);
/* Contexts of the same law with every item in full, for a model that sees more than scores: ids count in
 * contexts->rows, and there are no scores. */
void icl_sample_tokens(const struct icl_sample *sample, enum icl_context kind, const struct icl_targets *targets,
                       size_t first, size_t n, struct icl_draws *draws, struct icl_contexts *contexts,
                       struct icl_lap *lap);

#endif
