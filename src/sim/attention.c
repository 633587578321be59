#include "sim/attention.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/net.h"

enum { PANEL = ICL_GEMM_PANEL, PARTS = 20 };
static const float epsilon = 1e-5f; /* of LayerNorm, against a variance of 0 */

void icl_attention_shape(const struct icl_attention *attention, enum icl_attention_tensor tensor, size_t *rows,
                         size_t *columns) {
    *rows = tensor < ICL_ATTENTION_GAIN ? attention->d : 1;
    *columns = attention->d;
}

float *icl_attention_value(const struct icl_attention *attention, enum icl_attention_tensor tensor, size_t i,
                           size_t j) {
    size_t rows, columns;
    icl_attention_shape(attention, tensor, &rows, &columns);
    return attention->tensor[tensor] + icl_gemm_at(rows, i, j);
}

enum icl_status icl_attention_alloc(struct icl_attention *attention, size_t D, size_t slots, struct icl_err *err) {
    *attention = (struct icl_attention){.d = D + slots, .slots = slots};
    size_t at[ICL_ATTENTION_TENSORS];
    for (int t = 0; t < ICL_ATTENTION_TENSORS; t++) {
        size_t rows, columns;
        icl_attention_shape(attention, t, &rows, &columns);
        at[t] = attention->floats;
        attention->floats += icl_gemm_floats(rows, columns);
    }
    ICL_TRY(icl_mem_alloc(&attention->block, attention->floats, sizeof *attention->block, err));
    for (int t = 0; t < ICL_ATTENTION_TENSORS; t++) attention->tensor[t] = attention->block + at[t];
    return ICL_OK;
}

void icl_attention_free(struct icl_attention *attention) {
    icl_mem_free(attention->block);
    *attention = (struct icl_attention){0};
}

void icl_attention_init(struct icl_attention *attention, uint64_t seed, uint32_t member) {
    const double limit = 1 / sqrt((double)attention->d);
    for (int t = 0; t < ICL_ATTENTION_TENSORS; t++) {
        struct icl_rng rng;
        size_t rows, columns;
        icl_rng_seek(&rng, seed, member, ICL_RNG_WEIGHTS, ICL_NET_TENSORS + (uint64_t)t);
        icl_attention_shape(attention, t, &rows, &columns);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                float *const value = icl_attention_value(attention, t, i, j);
                *value = t == ICL_ATTENTION_GAIN ? 1.0f : 0.0f;
                if (t < ICL_ATTENTION_GAIN) *value = (float)(limit * (2 * icl_rng_uniform(&rng) - 1));
            }
        }
    }
}

enum icl_status icl_attention_work_alloc(struct icl_attention_work **work, const struct icl_attention *attention,
                                         const struct icl_sample *sample, size_t rows, struct icl_err *err) {
    *work = NULL;
    struct icl_attention_work *w = NULL;
    ICL_TRY(icl_mem_alloc(&w, 1, sizeof *w, err));
    const size_t d = attention->d, stride = (sample->N + 1 + PANEL - 1) / PANEL * PANEL;
    *w = (struct icl_attention_work){.rows = rows,
                                     .d = d,
                                     .D = sample->D,
                                     .width = sample->width,
                                     .stride = stride,
                                     .road = icl_gemm_choose(),
                                     .isa = sample->isa};
    const size_t wide = icl_gemm_floats(1, d), batch = rows * wide, turned = d * icl_gemm_floats(1, rows);
    const struct {
        float **matrix;
        size_t floats;
    } part[PARTS] = {{&w->norm, batch},
                     {&w->u, batch},
                     {&w->q, batch},
                     {&w->r, batch},
                     {&w->M, batch},
                     {&w->m, batch},
                     {&w->dh, batch},
                     {&w->dm, batch},
                     {&w->dr, batch},
                     {&w->turn, turned},
                     {&w->flip, d * wide},
                     {&w->p, rows * stride},
                     {&w->mean, rows * stride},
                     {&w->scale, rows * stride},
                     {&w->weight, stride},
                     {&w->ds, stride},
                     {&w->attended, rows},
                     {&w->gap, rows},
                     {&w->gradient, 2 * wide},
                     {&w->vector[0], 3 * wide}};
    size_t floats = 0;
    for (int i = 0; i < PARTS; i++) floats += part[i].floats;
    const enum icl_status status = icl_mem_alloc(&w->block, floats, sizeof *w->block, err);
    if (status != ICL_OK) {
        icl_mem_free(w);
        return status;
    }
    float *at = w->block;
    for (int i = 0; i < PARTS; i++) {
        *part[i].matrix = at;
        at += part[i].floats;
    }
    for (int i = 1; i < 3; i++) w->vector[i] = w->vector[0] + (size_t)i * wide;
    *work = w;
    return ICL_OK;
}

void icl_attention_work_free(struct icl_attention_work *work) {
    if (!work) return;
    icl_mem_free(work->block);
    icl_mem_free(work);
}

/* ---- LayerNorm -----------------------------------------------------------------------------------------------------
 */

/* Of a token: an item of D entries with its moments, and the slots of its label's code. */
static void normalise(float D, struct icl_head_moments moments, size_t slots, const float code[2], float *mean,
                      float *scale) {
    const float d = D + (float)slots, second = slots == 2 ? 1.0f : 0.0f;
    const float m = (D * moments.mean + code[0] + second * code[1]) / d;
    float square = moments.square + D * (moments.mean - m) * (moments.mean - m);
    square += (code[0] - m) * (code[0] - m) + second * (code[1] - m) * (code[1] - m);
    *mean = m;
    *scale = 1 / sqrtf(square / d + epsilon);
}

void icl_attention_norms(const struct icl_attention *attention, const struct icl_sample *sample, size_t n,
                         const float *items, struct icl_attention_norm *norm) {
    static const float code[2][2][2] = {{{1}, {-1}}, {{1, 0}, {0, 1}}}; /* slots - 1, label, slot */
    for (size_t i = 0; i < n; i++) {
        const struct icl_head_moments moments =
            sample->isa->moments(sample->D, sample->width, items + i * sample->width);
        for (int turn = 0; turn < 2; turn++)
            normalise((float)sample->D, moments, attention->slots, code[attention->slots - 1][turn],
                      &norm[i].mean[turn], &norm[i].scale[turn]);
    }
}

/* n_T of every sequence. */
static void norm_targets(struct icl_attention_work *work, const struct icl_attention_input *input, size_t n) {
    static const float none[2] = {0, 0};
    for (size_t c = 0; c < n; c++) {
        const float *const x = icl_sample_item(input->sample, input->targets, input->first + c);
        float mean, scale;
        const struct icl_head_moments moments = work->isa->moments(work->D, work->width, x);
        normalise((float)work->D, moments, work->d - work->D, none, &mean, &scale);
        for (size_t at = 0; at < work->d; at += PANEL) {
            float *const to = work->norm + icl_gemm_at(n, c, at);
            for (size_t i = 0; i < PANEL; i++) {
                const size_t k = at + i;
                to[i] = k < work->D ? (x[k] - mean) * scale : k < work->d ? -mean * scale : 0;
            }
        }
    }
}

/* Mean and scale of every token of sequence c. */
static void norm_tokens(struct icl_attention_work *work, const struct icl_attention_input *input, size_t c) {
    const size_t N = input->sample->N;
    const uint32_t *const id = input->contexts->id + c * N;
    const float *const label = input->contexts->label + c * input->contexts->stride;
    float *const mean = work->mean + c * work->stride, *const scale = work->scale + c * work->stride;
    for (size_t j = 0; j < N; j++) {
        const struct icl_attention_norm *const norm = &input->norm[id[j]];
        const bool minus = (label[j] < 0) != input->turned;
        mean[j] = norm->mean[minus];
        scale[j] = norm->scale[minus];
    }
}

/* ---- a sequence's tokens -------------------------------------------------------------------------------------------
 */

static void row_get(size_t n, size_t d, const float *panel, size_t c, float *row) {
    for (size_t at = 0; at < d; at += PANEL) memcpy(row + at, panel + icl_gemm_at(n, c, at), PANEL * sizeof *row);
}
static void row_put(size_t n, size_t d, float *panel, size_t c, const float *row) {
    for (size_t at = 0; at < d; at += PANEL) memcpy(panel + icl_gemm_at(n, c, at), row + at, PANEL * sizeof *row);
}

/* v . n_j for every token, the target's the last. */
static void project(const struct icl_attention_work *work, const struct icl_attention_input *input, size_t n, size_t c,
                    const float *v, float *out) {
    const size_t N = input->sample->N, D = work->D, d = work->d;
    const float *const label = input->contexts->label + c * input->contexts->stride;
    const float *const mean = work->mean + c * work->stride, *const scale = work->scale + c * work->stride;
    const float plus = v[D], minus = d - D == 2 ? v[D + 1] : -v[D];
    const float upper = input->turned ? minus : plus, lower = input->turned ? plus : minus;
    float sum = 0, own = 0;
    work->isa->scores(N, input->contexts->id + c * N, input->contexts->rows, work->width, v, out);
    for (size_t i = 0; i < d; i++) sum += v[i];
    for (size_t j = 0; j < N; j++) out[j] = scale[j] * (out[j] - mean[j] * sum + (label[j] < 0 ? lower : upper));
    for (size_t at = 0; at < d; at += PANEL) {
        const float *const norm = work->norm + icl_gemm_at(n, c, at);
        const size_t most = d - at < PANEL ? d - at : PANEL;
        for (size_t i = 0; i < most; i++) own += v[at + i] * norm[i];
    }
    out[N] = own;
}

/* sum_j weight_j n_j over every token, to out (wide), 0 beyond d. */
static void mix(struct icl_attention_work *work, const struct icl_attention_input *input, size_t n, size_t c,
                const float *weight, float *out) {
    const size_t N = input->sample->N, D = work->D, d = work->d;
    const float *const label = input->contexts->label + c * input->contexts->stride;
    const float *const mean = work->mean + c * work->stride, *const scale = work->scale + c * work->stride;
    float centre = 0, all = 0, up = 0;
    for (size_t j = 0; j < N; j++) {
        const float w = weight[j] * scale[j];
        work->weight[j] = w;
        centre += w * mean[j];
        all += w;
        up += label[j] < 0 ? 0 : w;
    }
    work->isa->gather(N, input->contexts->id + c * N, input->contexts->rows, work->width, work->weight, out);
    const float down = all - up, plus = input->turned ? down : up, minus = input->turned ? up : down;
    for (size_t i = 0; i < D; i++) out[i] -= centre;
    out[D] = (d - D == 2 ? plus : plus - minus) - centre;
    if (d - D == 2) out[D + 1] = minus - centre;
    for (size_t i = d; i % PANEL != 0; i++) out[i] = 0;
    for (size_t at = 0; at < d; at += PANEL) {
        const float *const norm = work->norm + icl_gemm_at(n, c, at);
        for (size_t i = 0; i < PANEL; i++) out[at + i] += weight[N] * norm[i];
    }
}

/* ---- forward -------------------------------------------------------------------------------------------------------
 */

/* g x + b of every row. */
static void affine(const struct icl_attention *attention, size_t n, const float *x, float *y) {
    for (size_t at = 0; at < attention->d; at += PANEL) {
        const float *const g = attention->tensor[ICL_ATTENTION_GAIN] + at;
        const float *const b = attention->tensor[ICL_ATTENTION_BIAS] + at;
        for (size_t c = 0; c < n; c++) {
            const float *const from = x + icl_gemm_at(n, c, at);
            float *const to = y + icl_gemm_at(n, c, at);
            for (size_t i = 0; i < PANEL; i++) to[i] = g[i] * from[i] + b[i];
        }
    }
}

/* p of sequence c, and what an evaluation asks of it. */
static void attend(const struct icl_attention *attention, struct icl_attention_work *work,
                   const struct icl_attention_input *input, size_t n, size_t c) {
    const size_t N = input->sample->N, d = work->d;
    const float *const g = attention->tensor[ICL_ATTENTION_GAIN];
    const float *const label = input->contexts->label + c * input->contexts->stride;
    float *const v = work->vector[0], *const p = work->p + c * work->stride;
    row_get(n, d, work->r, c, v);
    for (size_t i = 0; i < d; i++) v[i] *= g[i];
    norm_tokens(work, input, c);
    project(work, input, n, c, v, p);
    float others = 0, attended = 0;
    for (size_t j = 1; j < N; j++) others += p[j];
    work->gap[c] = N > 1 ? p[0] - others / (float)(N - 1) : p[0];
    work->isa->weights(N + 1, p);
    for (size_t j = 0; j < N; j++) attended += p[j] * label[j];
    work->attended[c] = input->turned ? -attended : attended;
    mix(work, input, n, c, p, work->vector[1]);
    row_put(n, d, work->M, c, work->vector[1]);
}

void icl_attention_forward(const struct icl_attention *attention, struct icl_attention_work *work,
                           const struct icl_attention_input *input, size_t n, float *h) {
    const size_t d = attention->d;
    float *const *const T = attention->tensor;
    const struct icl_gemm_tail store = {.kind = ICL_GEMM_STORE}, add = {.kind = ICL_GEMM_ADD, .alpha = 1, .beta = 1};
    norm_targets(work, input, n);
    affine(attention, n, work->norm, work->u);
    icl_gemm_transpose(work->road, d, d, T[ICL_ATTENTION_WQ], work->flip);
    icl_gemm_product(work->road, n, d, d, work->u, work->flip, &store, work->q);
    icl_gemm_product(work->road, n, d, d, work->q, T[ICL_ATTENTION_WK], &store, work->r);
    for (size_t c = 0; c < n; c++) attend(attention, work, input, n, c);
    affine(attention, n, work->M, work->m);
    memcpy(h, work->u, icl_gemm_floats(n, d) * sizeof *h);
    icl_gemm_transpose(work->road, d, d, T[ICL_ATTENTION_WV], work->flip);
    icl_gemm_product(work->road, n, d, d, work->m, work->flip, &add, h);
}

/* ---- backward ------------------------------------------------------------------------------------------------------
 */

/* dr of sequence c from dm, and what g and b gain by M and by the scores. */
static void attend_back(const struct icl_attention *attention, struct icl_attention_work *work,
                        const struct icl_attention_input *input, size_t n, size_t c) {
    const size_t N = input->sample->N, d = work->d;
    const float *const g = attention->tensor[ICL_ATTENTION_GAIN];
    float *const v = work->vector[0], *const x = work->vector[1], *const e = work->vector[2];
    float *const gain = work->gradient, *const bias = work->gradient + icl_gemm_floats(1, d);
    float *const p = work->p + c * work->stride, *const ds = work->ds;
    row_get(n, d, work->dm, c, v);
    row_get(n, d, work->M, c, x);
    for (size_t i = 0; i < d; i++) {
        gain[i] += v[i] * x[i];
        bias[i] += v[i];
        v[i] *= g[i];
    }
    project(work, input, n, c, v, ds);
    float mean = 0;
    for (size_t j = 0; j <= N; j++) mean += p[j] * ds[j];
    for (size_t j = 0; j <= N; j++) ds[j] = p[j] * (ds[j] - mean);
    mix(work, input, n, c, ds, x);
    row_get(n, d, work->r, c, e);
    for (size_t i = 0; i < d; i++) {
        gain[i] += e[i] * x[i];
        x[i] *= g[i];
    }
    row_put(n, d, work->dr, c, x);
}

/* What g and b gain by u_T. */
static void add_affine(struct icl_attention_work *work, size_t n, const float *du) {
    float *const gain = work->gradient, *const bias = work->gradient + icl_gemm_floats(1, work->d);
    for (size_t at = 0; at < work->d; at += PANEL) {
        for (size_t c = 0; c < n; c++) {
            const float *const x = work->norm + icl_gemm_at(n, c, at), *const y = du + icl_gemm_at(n, c, at);
            for (size_t i = 0; i < PANEL; i++) {
                gain[at + i] += x[i] * y[i];
                bias[at + i] += y[i];
            }
        }
    }
}

void icl_attention_backward(const struct icl_attention *attention, struct icl_attention_work *work,
                            const struct icl_attention_input *input, size_t n, const float *dh, float alpha, float beta,
                            struct icl_attention *target) {
    const size_t d = attention->d, wide = icl_gemm_floats(1, d);
    float *const *const T = attention->tensor;
    const struct icl_gemm_tail store = {.kind = ICL_GEMM_STORE}, add = {.kind = ICL_GEMM_ADD, .alpha = 1, .beta = 1};
    const struct icl_gemm_tail update = {.kind = ICL_GEMM_ADD, .alpha = alpha, .beta = beta};
    memset(work->gradient, 0, 2 * wide * sizeof *work->gradient);
    icl_gemm_product(work->road, n, d, d, dh, T[ICL_ATTENTION_WV], &store, work->dm);
    icl_gemm_transpose(work->road, n, d, dh, work->turn);
    icl_gemm_product(work->road, d, d, n, work->turn, work->m, &update, target->tensor[ICL_ATTENTION_WV]);
    for (size_t c = 0; c < n; c++) attend_back(attention, work, input, n, c);
    /* dm is done with: its room is dq's. */
    float *const dq = work->dm;
    icl_gemm_transpose(work->road, d, d, T[ICL_ATTENTION_WK], work->flip);
    icl_gemm_product(work->road, n, d, d, work->dr, work->flip, &store, dq);
    icl_gemm_transpose(work->road, n, d, work->q, work->turn);
    icl_gemm_product(work->road, d, d, n, work->turn, work->dr, &update, target->tensor[ICL_ATTENTION_WK]);
    memcpy(work->dh, dh, icl_gemm_floats(n, d) * sizeof *dh);
    icl_gemm_product(work->road, n, d, d, dq, T[ICL_ATTENTION_WQ], &add, work->dh);
    icl_gemm_transpose(work->road, n, d, dq, work->turn);
    icl_gemm_product(work->road, d, d, n, work->turn, work->u, &update, target->tensor[ICL_ATTENTION_WQ]);
    add_affine(work, n, work->dh);
    for (int t = ICL_ATTENTION_GAIN; t <= ICL_ATTENTION_BIAS; t++) {
        const float *const gradient = work->gradient + (size_t)(t - ICL_ATTENTION_GAIN) * wide;
        for (size_t i = 0; i < d; i++) target->tensor[t][i] = beta * target->tensor[t][i] + alpha * gradient[i];
    }
}
