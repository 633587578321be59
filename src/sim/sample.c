#include "sim/sample.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"

enum { ALIGN = 16, AHEAD = ICL_HEAD_ISA_AHEAD, PART_BITS = 29 };

static const struct icl_head_isa *kernels(void) {
    switch (icl_cpu_level()) {
#ifndef ICL_NO_ISA
    case 4:
        return &icl_head_isa_v4;
    case 3:
        return &icl_head_isa_v3;
#endif
    default:
        return &icl_head_isa_v1;
    }
}

static float square_of(const struct icl_sample *s, const float *x) {
    const uint32_t zero[1 + AHEAD] = {0};
    float q[ALIGN];
    s->isa->scores(1, zero, x, s->width, x, q);
    return q[0];
}

/* Items of variance 1/D, or of length 1, from the N(0, 1) draws that stand in x. */
static void shape_items(const struct icl_sample *s, size_t n, float *x) {
    for (size_t i = 0; i < n; i++, x += s->width) {
        for (size_t d = s->D; d < s->width; d++) x[d] = 0;
        const float scale = 1.0f / sqrtf(s->unit ? square_of(s, x) : (float)s->D);
        s->isa->stretch(s->D, scale, x);
    }
}

static void draw_items(const struct icl_sample *s, struct icl_rng *rng, size_t n, float *x) {
    for (size_t i = 0; i < n; i++) icl_rng_fill_normal(rng, s->width, x + i * s->width);
    shape_items(s, n, x);
}

static enum icl_status check_task(const struct icl_task *task, struct icl_err *err) {
    const bool balanced = task->labels == ICL_LABELS_BALANCED;
    if (isfinite(task->K) && !(task->K >= (balanced ? 4 : 2) && task->K < 4294967295.0))
        return ICL_ERR(err, ICL_ERANGE, "K=%g: a simulation takes %d to 4294967294 items, or inf", task->K,
                       balanced ? 4 : 2);
    if (isfinite(task->D) && !(task->D >= 1 && task->D <= 1e7))
        return ICL_ERR(err, ICL_ERANGE, "D=%g: a simulation takes 1 to 1e7 dimensions, or inf", task->D);
    const size_t most = balanced ? task->N / 2 : task->N;
    if (task->copies < 1 || task->copies > most)
        return ICL_ERR(err, ICL_ERANGE, "copies=%zu: must be in [1, %zu]", task->copies, most);
    if (balanced && task->N % 2 != 0)
        return ICL_ERR(err, ICL_ERANGE, "N=%zu: must be even where labels are balanced", task->N);
    return ICL_OK;
}

enum icl_status icl_sample_alloc(struct icl_sample *sample, const struct icl_task *task, uint64_t seed, uint32_t member,
                                 struct icl_err *err) {
    *sample = (struct icl_sample){0};
    ICL_TRY(check_task(task, err));
    const size_t D = isfinite(task->D) ? (size_t)task->D : ICL_SAMPLE_DIM;
    *sample = (struct icl_sample){.K = isfinite(task->K) ? (size_t)task->K : 0,
                                  .N = task->N,
                                  .D = D,
                                  .width = (D + ALIGN - 1) / ALIGN * ALIGN,
                                  .copies = task->copies,
                                  .balanced = task->labels == ICL_LABELS_BALANCED,
                                  .unit = task->items == ICL_ITEMS_UNIT,
                                  .ideal = !isfinite(task->D),
                                  .seed = seed,
                                  .member = member,
                                  .isa = kernels()};
    if (sample->K == 0) return ICL_OK;
    ICL_TRY(icl_mem_alloc(&sample->items, sample->K, sample->width * sizeof *sample->items, err));
    for (size_t i = 0; i < sample->K; i++) {
        struct icl_rng rng;
        icl_rng_seek(&rng, seed, member, ICL_RNG_ITEMS, i);
        draw_items(sample, &rng, 1, sample->items + i * sample->width);
    }
    return ICL_OK;
}

void icl_sample_free(struct icl_sample *sample) {
    if (!sample) return;
    icl_mem_free(sample->items);
    *sample = (struct icl_sample){0};
}

enum icl_status icl_sample_targets_alloc(struct icl_targets *targets, const struct icl_sample *sample, size_t capacity,
                                         struct icl_err *err) {
    *targets = (struct icl_targets){.capacity = capacity};
    enum icl_status status = icl_mem_alloc(&targets->id, capacity, sizeof *targets->id, err);
    if (status == ICL_OK) status = icl_mem_alloc(&targets->label, capacity, sizeof *targets->label, err);
    if (status == ICL_OK)
        status = icl_mem_alloc(&targets->fresh, capacity, sample->width * sizeof *targets->fresh, err);
    if (status != ICL_OK) icl_sample_targets_free(targets);
    return status;
}

void icl_sample_targets_free(struct icl_targets *targets) {
    if (!targets) return;
    icl_mem_free(targets->id);
    icl_mem_free(targets->label);
    icl_mem_free(targets->fresh);
    *targets = (struct icl_targets){0};
}

enum icl_status icl_sample_contexts_alloc(struct icl_contexts *contexts, const struct icl_sample *sample,
                                          size_t capacity, struct icl_err *err) {
    const size_t stride = (sample->N + ICL_HEAD_ISA_PAD - 1) / ICL_HEAD_ISA_PAD * ICL_HEAD_ISA_PAD;
    *contexts = (struct icl_contexts){.capacity = capacity, .stride = stride};
    const size_t n = capacity * stride + AHEAD; /* rows of the ids are N long, which is less */
    enum icl_status status = icl_mem_alloc(&contexts->word, n, sizeof *contexts->word, err);
    if (status == ICL_OK) status = icl_mem_alloc(&contexts->id, n, sizeof *contexts->id, err);
    if (status == ICL_OK) status = icl_mem_alloc(&contexts->label, n, sizeof *contexts->label, err);
    if (status == ICL_OK) status = icl_mem_alloc(&contexts->score, n, sizeof *contexts->score, err);
    if (status != ICL_OK) icl_sample_contexts_free(contexts);
    return status;
}

enum icl_status icl_sample_tokens_alloc(struct icl_contexts *contexts, const struct icl_sample *sample, size_t capacity,
                                        struct icl_err *err) {
    ICL_TRY(icl_sample_contexts_alloc(contexts, sample, capacity, err));
    return icl_mem_alloc(&contexts->fresh, capacity, sample->N * sample->width * sizeof *contexts->fresh, err);
}

void icl_sample_contexts_free(struct icl_contexts *contexts) {
    if (!contexts) return;
    icl_mem_free(contexts->word);
    icl_mem_free(contexts->id);
    icl_mem_free(contexts->label);
    icl_mem_free(contexts->score);
    icl_mem_free(contexts->fresh);
    *contexts = (struct icl_contexts){0};
}

void icl_sample_seek(const struct icl_sample *sample, enum icl_rng_purpose purpose, uint64_t step,
                     struct icl_draws *draws) {
    struct icl_rng *const part[] = {&draws->target, &draws->label, &draws->word, &draws->again, &draws->score};
    for (uint32_t i = 0; i < sizeof part / sizeof *part; i++) {
        icl_rng_seek(part[i], sample->seed, sample->member, purpose, step);
        part[i]->counter[0] = i << PART_BITS;
    }
}

void icl_sample_targets(const struct icl_sample *sample, size_t n, bool novel, struct icl_draws *draws,
                        struct icl_targets *targets) {
    targets->novel = novel || sample->K == 0;
    if (targets->novel) {
        draw_items(sample, &draws->target, n, targets->fresh);
        for (size_t i = 0; i < n; i++) targets->label[i] = icl_rng_bits(&draws->label) >> 31 ? 1.0f : -1.0f;
        return;
    }
    for (size_t i = 0; i < n; i++) targets->id[i] = icl_rng_below(&draws->target, (uint32_t)sample->K);
    sample->isa->signs(n, targets->id, (uint32_t)(sample->K / 2), targets->label);
}

const float *icl_sample_item(const struct icl_sample *sample, const struct icl_targets *targets, size_t i) {
    return targets->novel ? targets->fresh + i * sample->width : sample->items + targets->id[i] * sample->width;
}

/* n ids in [first, first + range), or in [first, first + range] but for skip, which lies there. */
static void draw_ids(const struct icl_sample *s, size_t n, uint32_t first, uint32_t range, const uint32_t *skip,
                     const uint32_t *word, struct icl_draws *draws, uint32_t *id) {
    if (s->isa->indices(n, word, first, range, id) != 0) {
        for (size_t j = 0; j < n; j++) {
            if (id[j] == UINT32_MAX) id[j] = first + icl_rng_below(&draws->again, range);
        }
    }
    for (size_t j = 0; skip && j < n; j++) id[j] += id[j] >= *skip;
}

/* The ids of one context; uses N words or fewer. */
static void context_ids(const struct icl_sample *s, size_t copies, uint32_t target, const uint32_t *word,
                        struct icl_draws *draws, uint32_t *id) {
    const uint32_t K = (uint32_t)s->K, half = K / 2, skips = copies == 0;
    const uint32_t *const skip = skips ? &target : NULL;
    for (size_t j = 0; j < copies; j++) id[j] = target;
    if (!s->balanced) {
        draw_ids(s, s->N - copies, 0, K - skips, skip, word, draws, id + copies);
        return;
    }
    const uint32_t own = target < half ? 0 : half, other = half - own;
    draw_ids(s, s->N / 2 - copies, own, half - skips, skip, word, draws, id + copies);
    draw_ids(s, s->N / 2, other, half, NULL, word + s->N / 2, draws, id + s->N / 2);
}

static void drawn_ids(const struct icl_sample *s, size_t copies, const struct icl_targets *targets, size_t first,
                      size_t n, struct icl_draws *draws, struct icl_contexts *contexts, struct icl_lap *lap) {
    const size_t N = s->N, stride = contexts->stride;
    icl_rng_fill_bits(&draws->word, n * N, contexts->word);
    for (size_t c = 0; c < n; c++) {
        uint32_t *const id = contexts->id + c * N;
        context_ids(s, copies, targets->id[first + c], contexts->word + c * N, draws, id);
        s->isa->signs(N, id, (uint32_t)(s->K / 2), contexts->label + c * stride);
    }
    memset(contexts->id + n * N, 0, AHEAD * sizeof *contexts->id);
    icl_lap_mark(lap, ICL_LAP_SAMPLE);
}

static void drawn_contexts(const struct icl_sample *s, size_t copies, const struct icl_targets *targets, size_t first,
                           size_t n, struct icl_draws *draws, struct icl_contexts *contexts, struct icl_lap *lap) {
    const size_t N = s->N, stride = contexts->stride;
    drawn_ids(s, copies, targets, first, n, draws, contexts, lap);
    for (size_t c = 0; c < n; c++) {
        const uint32_t *const id = contexts->id + c * N, target = targets->id[first + c];
        float *const score = contexts->score + c * stride;
        if (s->ideal)
            for (size_t j = 0; j < N; j++) score[j] = id[j] == target;
        else
            s->isa->scores(N, id, s->items, s->width, s->items + target * s->width, score);
    }
    icl_lap_mark(lap, ICL_LAP_GATHER);
}

/* x_j . x_t of fresh unit items: a coordinate of a random unit vector in D dimensions, drawn as r cos(2 pi v), r^2
 * being the squared length of its projection on a plane. */
static void unit_scores(const struct icl_sample *s, size_t n, struct icl_rng *rng, float *score) {
    for (size_t j = 0; j < n; j++) {
        const double u = icl_rng_uniform(rng), v = icl_rng_uniform(rng);
        const double r2 = s->D > 2 ? 1 - pow(u, 2.0 / ((double)s->D - 2)) : 1;
        score[j] = s->D > 1 ? (float)(sqrt(r2) * cos(6.283185307179586477 * v)) : v < 0.5 ? 1.0f : -1.0f;
    }
}

/* The labels of a fresh context. */
static void fresh_labels(const struct icl_sample *s, size_t copies, float own, const uint32_t *word, float *label) {
    if (s->balanced)
        for (size_t j = 0; j < s->N; j++) label[j] = j < s->N / 2 ? own : -own;
    else
        s->isa->coins(s->N, word, label);
    for (size_t j = 0; j < copies; j++) label[j] = own;
}

/* The scores and labels of a fresh context whose N(0, 1) draws stand in score. */
static void fresh_context(const struct icl_sample *s, size_t copies, const float *x, float own, const uint32_t *word,
                          float *score, float *label) {
    const float q = s->ideal ? 1 : s->unit ? 1 : square_of(s, x);
    const float scale = s->ideal ? 0 : s->unit ? 1 : sqrtf(q / (float)s->D);
    s->isa->stretch(s->N, scale, score);
    fresh_labels(s, copies, own, word, label);
    for (size_t j = 0; j < copies; j++) score[j] = q;
}

static void fresh_contexts(const struct icl_sample *s, size_t copies, const struct icl_targets *targets, size_t first,
                           size_t n, struct icl_draws *draws, struct icl_contexts *contexts, struct icl_lap *lap) {
    const size_t stride = contexts->stride, words = (s->N + 31) / 32;
    if (!s->ideal && s->unit) unit_scores(s, n * stride, &draws->score, contexts->score);
    if (!s->ideal && !s->unit) icl_rng_fill_normal(&draws->score, n * stride, contexts->score);
    icl_rng_fill_bits(&draws->word, n * words, contexts->word);
    for (size_t c = 0; c < n; c++)
        fresh_context(s, copies, icl_sample_item(s, targets, first + c), targets->label[first + c],
                      contexts->word + c * words, contexts->score + c * stride, contexts->label + c * stride);
    icl_lap_mark(lap, ICL_LAP_SAMPLE);
}

static size_t copies_of(const struct icl_sample *sample, enum icl_context kind) {
    return kind == ICL_CONTEXT_TRAIN ? sample->copies : kind == ICL_CONTEXT_NOVEL ? 1 : 0;
}

void icl_sample_contexts(const struct icl_sample *sample, enum icl_context kind, const struct icl_targets *targets,
                         size_t first, size_t n, struct icl_draws *draws, struct icl_contexts *contexts,
                         struct icl_lap *lap) {
    const size_t copies = copies_of(sample, kind);
    if (targets->novel)
        fresh_contexts(sample, copies, targets, first, n, draws, contexts, lap);
    else
        drawn_contexts(sample, copies, targets, first, n, draws, contexts, lap);
}

static void fresh_tokens(const struct icl_sample *s, size_t copies, const struct icl_targets *targets, size_t first,
                         size_t n, struct icl_draws *draws, struct icl_contexts *contexts, struct icl_lap *lap) {
    const size_t N = s->N, words = (N + 31) / 32;
    icl_rng_fill_bits(&draws->word, n * words, contexts->word);
    for (size_t c = 0; c < n; c++) {
        float *const items = contexts->fresh + c * N * s->width;
        icl_rng_fill_normal(&draws->score, (N - copies) * s->width, items + copies * s->width);
        shape_items(s, N - copies, items + copies * s->width);
        for (size_t j = 0; j < copies; j++)
            memcpy(items + j * s->width, icl_sample_item(s, targets, first + c), s->width * sizeof *items);
        fresh_labels(s, copies, targets->label[first + c], contexts->word + c * words,
                     contexts->label + c * contexts->stride);
    }
    for (size_t i = 0; i < n * N; i++) contexts->id[i] = (uint32_t)i;
    memset(contexts->id + n * N, 0, AHEAD * sizeof *contexts->id);
    icl_lap_mark(lap, ICL_LAP_SAMPLE);
}

void icl_sample_tokens(const struct icl_sample *sample, enum icl_context kind, const struct icl_targets *targets,
                       size_t first, size_t n, struct icl_draws *draws, struct icl_contexts *contexts,
                       struct icl_lap *lap) {
    const size_t copies = copies_of(sample, kind);
    contexts->rows = targets->novel ? contexts->fresh : sample->items;
    if (targets->novel)
        fresh_tokens(sample, copies, targets, first, n, draws, contexts, lap);
    else
        drawn_ids(sample, copies, targets, first, n, draws, contexts, lap);
}
