#include "sim/learner.h"

#include <string.h>

#include "base/mem.h"
#include "sim/net_work.h"

/* Every model, once. */
static const struct icl_learner_kind *const kind_of[] = {
    [ICL_TRAIN_MINIMAL] = &icl_minimal_kind,
    [ICL_TRAIN_MLP] = &icl_minimal_kind,
    [ICL_TRAIN_ATTENTION] = &icl_minimal_kind,
    [ICL_TRAIN_TRANSFORMER] = &icl_transformer_kind,
};

static enum icl_status alloc_parts(struct icl_learner *learner, struct icl_err *err) {
    const size_t rows = learner->B > ICL_LEARNER_ROWS ? learner->B : ICL_LEARNER_ROWS;
    ICL_TRY(icl_mem_alloc(&learner->a, rows, sizeof *learner->a, err));
    ICL_TRY(icl_mem_alloc(&learner->slope, rows, sizeof *learner->slope, err));
    ICL_TRY(icl_mem_alloc(&learner->dphi, rows, sizeof *learner->dphi, err));
    return learner->kind->alloc(learner, err);
}

enum icl_status icl_learner_alloc(struct icl_learner *learner, const struct icl_train_setup *setup,
                                  const struct icl_sample *sample, struct icl_err *err) {
    *learner =
        (struct icl_learner){.kind = kind_of[setup->model], .setup = setup, .sample = sample, .B = setup->train.batch};
    const enum icl_status status = alloc_parts(learner, err);
    if (status != ICL_OK) icl_learner_free(learner);
    return status;
}

void icl_learner_free(struct icl_learner *learner) {
    if (!learner || !learner->kind) return;
    learner->kind->free(learner);
    icl_sample_contexts_free(&learner->contexts);
    icl_net_work_free(learner->work);
    icl_net_free(&learner->net);
    icl_mem_free(learner->dphi);
    icl_mem_free(learner->slope);
    icl_mem_free(learner->a);
    *learner = (struct icl_learner){0};
}

void icl_learner_clock(struct icl_learner *learner, struct icl_lap *lap) {
    learner->lap = lap;
    if (learner->work) learner->work->lap = lap;
}

struct part {
    void *bytes;
    size_t size;
};

static void parts_of(const struct icl_learner *learner, struct part part[ICL_LEARNER_PARTS]) {
    size_t floats = 0;
    float *const block = learner->kind->block ? learner->kind->block(learner, &floats) : NULL;
    part[0] = (struct part){(void *)&learner->head, sizeof learner->head};
    part[1] = (struct part){learner->net.block, learner->net.block ? learner->net.floats * sizeof(float) : 0};
    part[2] = (struct part){block, floats * sizeof(float)};
}

size_t icl_learner_bytes(const struct icl_learner *learner) {
    struct part part[ICL_LEARNER_PARTS];
    size_t bytes = 0;
    parts_of(learner, part);
    for (int i = 0; i < ICL_LEARNER_PARTS; i++) bytes += part[i].size;
    return bytes;
}

void icl_learner_save(const struct icl_learner *learner, unsigned char *bytes) {
    struct part part[ICL_LEARNER_PARTS];
    parts_of(learner, part);
    for (int i = 0; i < ICL_LEARNER_PARTS; bytes += part[i++].size) {
        if (part[i].size) memcpy(bytes, part[i].bytes, part[i].size);
    }
}

void icl_learner_restore(struct icl_learner *learner, const unsigned char *bytes) {
    struct part part[ICL_LEARNER_PARTS];
    parts_of(learner, part);
    for (int i = 0; i < ICL_LEARNER_PARTS; bytes += part[i++].size) {
        if (part[i].size) memcpy(part[i].bytes, bytes, part[i].size);
    }
}
