/* The one-layer transformer (S8): LayerNorm and one attention head (attention.h), then the MLP. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sim/attention.h"
#include "sim/head.h"
#include "sim/learner.h"
#include "sim/net_work.h"

struct transformer {
    struct icl_attention attention;
    struct icl_attention_work *work;
    struct icl_attention_norm *items; /* (K): of the training items */
    struct icl_attention_norm *fresh; /* (contexts' capacity N): of fresh ones */
    float *dh;                        /* (rows,d): gradient of the MLP's inputs */
};

static size_t rows_of(const struct icl_learner *learner) {
    return learner->B > ICL_LEARNER_ROWS ? learner->B : ICL_LEARNER_ROWS;
}

static enum icl_status alloc_parts(struct icl_learner *learner, struct transformer *own, struct icl_err *err) {
    const struct icl_sample *const sample = learner->sample;
    const struct icl_sim *const sim = &learner->setup->sim;
    const size_t rows = rows_of(learner), slots = sim->label_code == ICL_CODE_ONEHOT ? 2 : 1;
    ICL_TRY(icl_attention_alloc(&own->attention, sample->D, slots, err));
    const size_t d = own->attention.d;
    ICL_TRY(icl_attention_work_alloc(&own->work, &own->attention, sample, rows, err));
    ICL_TRY(icl_net_alloc(&learner->net, d, sim->hidden, err));
    ICL_TRY(icl_net_work_alloc(&learner->work, &learner->net, rows, err));
    ICL_TRY(icl_sample_tokens_alloc(&learner->contexts, sample, rows, err));
    ICL_TRY(icl_mem_alloc(&own->dh, icl_gemm_floats(rows, d), sizeof *own->dh, err));
    ICL_TRY(icl_mem_alloc(&own->fresh, rows, sample->N * sizeof *own->fresh, err));
    if (sample->K == 0) return ICL_OK;
    ICL_TRY(icl_mem_alloc(&own->items, sample->K, sizeof *own->items, err));
    icl_attention_norms(&own->attention, sample, sample->K, sample->items, own->items);
    return ICL_OK;
}

static enum icl_status alloc(struct icl_learner *learner, struct icl_err *err) {
    if (learner->sample->ideal)
        return ICL_ERR(err, ICL_ERANGE, "[task] D = inf: a transformer sees the items themselves; give a finite D");
    struct transformer *own = NULL;
    ICL_TRY(icl_mem_alloc(&own, 1, sizeof *own, err));
    learner->own = own;
    return alloc_parts(learner, own, err);
}

static void release(struct icl_learner *learner) {
    struct transformer *const own = learner->own;
    if (!own) return;
    icl_mem_free(own->items);
    icl_mem_free(own->fresh);
    icl_mem_free(own->dh);
    icl_attention_work_free(own->work);
    icl_attention_free(&own->attention);
    icl_mem_free(own);
    learner->own = NULL;
}

/* w and beta are what the first evaluation finds. */
static void init(struct icl_learner *learner) {
    const struct icl_train_setup *const u = learner->setup;
    struct transformer *const own = learner->own;
    learner->head = (struct icl_learner_head){0};
    icl_attention_init(&own->attention, u->sim.seed, u->member);
    icl_net_init(&learner->net, u->sim.seed, u->member);
}

/* One context of each of n targets. */
static struct icl_attention_input draw(struct icl_learner *learner, enum icl_context context,
                                       const struct icl_targets *targets, size_t n, struct icl_draws *draws,
                                       struct icl_lap *lap) {
    struct transformer *const own = learner->own;
    const struct icl_sample *const sample = learner->sample;
    icl_sample_tokens(sample, context, targets, 0, n, draws, &learner->contexts, lap);
    if (targets->novel)
        icl_attention_norms(&own->attention, sample, n * sample->N, learner->contexts.fresh, own->fresh);
    return (struct icl_attention_input){.sample = sample,
                                        .targets = targets,
                                        .contexts = &learner->contexts,
                                        .norm = targets->novel ? own->fresh : own->items};
}

/* z of n sequences. */
static const float *forward(struct icl_learner *learner, const struct icl_attention_input *input, size_t n) {
    struct transformer *const own = learner->own;
    icl_attention_forward(&own->attention, own->work, input, n, learner->work->Xt);
    icl_lap_mark(learner->lap, ICL_LAP_HEAD_F);
    return icl_net_forward(&learner->net, learner->work, n);
}

static struct icl_learner_sums step(struct icl_learner *learner, const struct icl_targets *targets,
                                    struct icl_draws *draws, double limit) {
    const struct icl_train *const train = &learner->setup->train;
    struct transformer *const own = learner->own;
    const size_t B = learner->B;
    const struct icl_attention_input input = draw(learner, ICL_CONTEXT_TRAIN, targets, B, draws, learner->lap);
    const float *const z = forward(learner, &input, B);
    struct icl_learner_sums sums = {0, learner->head.pace, 1};
    for (size_t b = 0; b < B; b++) {
        const double label = (double)targets->label[b], y = label * (double)z[b];
        sums.loss += icl_head_loss(y) / (double)B;
        learner->dphi[b] = (float)(-label * icl_head_miss(y) / (double)B);
    }
    icl_lap_mark(learner->lap, ICL_LAP_VECTOR);
    if (!(sums.loss <= limit)) return sums;
    const float alpha = (float)-train->lr;
    learner->work->dX = own->dh;
    icl_net_backward(&learner->net, learner->work, B, learner->dphi, alpha, (float)(1 - train->lr * train->lambda_mlp),
                     &learner->net);
    icl_attention_backward(&own->attention, own->work, &input, B, own->dh, alpha,
                           (float)(1 - train->lr * train->lambda_attention), &own->attention);
    icl_lap_mark(learner->lap, ICL_LAP_HEAD_B);
    return sums;
}

static void answer(struct icl_learner *learner, enum icl_context context, const struct icl_targets *targets, size_t n,
                   const float *phi, struct icl_draws *draws, struct icl_learner_answers *answers) {
    (void)phi;
    struct transformer *const own = learner->own;
    struct icl_attention_input input = draw(learner, context, targets, n, draws, NULL);
    const float *z = forward(learner, &input, n);
    for (size_t c = 0; c < n; c++) {
        answers->y[c] = (double)targets->label[c] * (double)z[c];
        answers->attended[c] = (double)own->work->attended[c];
        answers->gap[c] = (double)own->work->gap[c];
    }
    input.turned = true;
    z = forward(learner, &input, n);
    for (size_t c = 0; c < n; c++) {
        answers->turned[c] = -(double)targets->label[c] * (double)z[c];
        answers->attended[c] = (answers->attended[c] - (double)own->work->attended[c]) / 2;
        answers->gap[c] = (answers->gap[c] + (double)own->work->gap[c]) / 2;
    }
}

static bool finite(const struct icl_learner *learner) {
    const struct transformer *const own = learner->own;
    bool all = icl_net_finite(&learner->net);
    for (size_t i = 0; i < own->attention.floats && all; i++) all = isfinite(own->attention.block[i]);
    return all;
}

static float *block(const struct icl_learner *learner, size_t *floats) {
    const struct transformer *const own = learner->own;
    *floats = own->attention.floats;
    return own->attention.block;
}

const struct icl_learner_kind icl_transformer_kind = {.name = "transformer",
                                                      .measures = true,
                                                      .alloc = alloc,
                                                      .free = release,
                                                      .init = init,
                                                      .step = step,
                                                      .answer = answer,
                                                      .finite = finite,
                                                      .block = block};
