#include "iclkin/net.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "iclkin/rng.h"
#include "sim/net_isa.h"
#include "sim/net_work.h"

enum size { ONE, IN, HIDDEN };

/* Every tensor, once. */
static const struct {
    const char *name;
    enum size rows, columns, fan_in;
} shape[ICL_NET_TENSORS] = {
    [ICL_NET_W1] = {"W1", HIDDEN, IN, IN},         [ICL_NET_B1] = {"b1", ONE, HIDDEN, IN},
    [ICL_NET_W2] = {"W2", HIDDEN, HIDDEN, HIDDEN}, [ICL_NET_B2] = {"b2", ONE, HIDDEN, HIDDEN},
    [ICL_NET_W3] = {"W3", ONE, HIDDEN, HIDDEN},    [ICL_NET_B3] = {"b3", ONE, ONE, HIDDEN},
};

static size_t size_of(const struct icl_net *net, enum size size) {
    return size == IN ? net->D : size == HIDDEN ? net->H : 1;
}

void icl_net_shape(const struct icl_net *net, enum icl_net_tensor tensor, size_t *rows, size_t *columns) {
    *rows = size_of(net, shape[tensor].rows);
    *columns = size_of(net, shape[tensor].columns);
}

const char *icl_net_name(enum icl_net_tensor tensor) {
    return shape[tensor].name;
}

float *icl_net_value(const struct icl_net *net, enum icl_net_tensor tensor, size_t i, size_t j) {
    return net->tensor[tensor] + icl_gemm_at(size_of(net, shape[tensor].rows), i, j);
}

enum icl_status icl_net_alloc(struct icl_net *net, size_t D, size_t H, struct icl_err *err) {
    *net = (struct icl_net){.D = D, .H = H};
    if (D == 0 || H == 0) return ICL_ERR(err, ICL_ERANGE, "net: D=%zu, H=%zu: must be at least 1", D, H);
    size_t at[ICL_NET_TENSORS];
    for (int t = 0; t < ICL_NET_TENSORS; t++) {
        at[t] = net->floats;
        net->floats += icl_gemm_floats(size_of(net, shape[t].rows), size_of(net, shape[t].columns));
    }
    ICL_TRY(icl_mem_alloc(&net->block, net->floats, sizeof *net->block, err));
    for (int t = 0; t < ICL_NET_TENSORS; t++) net->tensor[t] = net->block + at[t];
    return ICL_OK;
}

void icl_net_free(struct icl_net *net) {
    if (!net) return;
    icl_mem_free(net->block);
    *net = (struct icl_net){0};
}

void icl_net_init(struct icl_net *net, uint64_t seed, uint32_t member) {
    for (int t = 0; t < ICL_NET_TENSORS; t++) {
        struct icl_rng rng;
        icl_rng_seek(&rng, seed, member, ICL_RNG_WEIGHTS, (uint64_t)t);
        const double limit = 1.0 / sqrt((double)size_of(net, shape[t].fan_in));
        size_t rows, columns;
        icl_net_shape(net, t, &rows, &columns);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++)
                *icl_net_value(net, t, i, j) = (float)(limit * (2 * icl_rng_uniform(&rng) - 1));
        }
    }
}

static const struct icl_net_isa *vector_kernels(enum icl_gemm_road road) {
#ifndef ICL_NO_ISA
    if (road == ICL_GEMM_V4) return &icl_net_isa_v4;
    if (road == ICL_GEMM_V3) return &icl_net_isa_v3;
#endif
    (void)road;
    return &icl_net_isa_v1;
}

bool icl_net_finite(const struct icl_net *net) {
    return vector_kernels(icl_gemm_choose())->finite(net->floats, net->block);
}

enum icl_status icl_net_work_alloc(struct icl_net_work **work, const struct icl_net *net, size_t rows,
                                   struct icl_err *err) {
    *work = NULL;
    if (rows == 0) return ICL_ERR(err, ICL_ERANGE, "net: a batch of 0 rows");
    struct icl_net_work *w = NULL;
    ICL_TRY(icl_mem_alloc(&w, 1, sizeof *w, err));
    const size_t padded = icl_gemm_floats(1, rows), wide = icl_gemm_floats(1, net->H);
    const struct {
        float **matrix;
        size_t floats; /* of a hidden layer: the larger of either way */
    } part[] = {{&w->Xt, icl_gemm_floats(padded, net->D)},
                {&w->Xm, net->D * padded},
                {&w->H1m, padded * wide},
                {&w->H1t, padded * wide},
                {&w->H2m, padded * wide},
                {&w->H2t, padded * wide},
                {&w->phi, padded}};
    enum { PARTS = sizeof part / sizeof *part };
    *w = (struct icl_net_work){.rows = rows, .D = net->D, .H = net->H, .road = icl_gemm_choose()};
    size_t floats = 0;
    for (size_t i = 0; i < PARTS; i++) floats += part[i].floats;
    float *block = NULL;
    const enum icl_status status = icl_mem_alloc(&block, floats, sizeof *block, err);
    if (status != ICL_OK) {
        icl_mem_free(w);
        return status;
    }
    for (size_t i = 0; i < PARTS; i++) {
        *part[i].matrix = block;
        block += part[i].floats;
    }
    *work = w;
    return ICL_OK;
}

void icl_net_work_free(struct icl_net_work *work) {
    if (!work) return;
    icl_mem_free(work->Xt);
    icl_mem_free(work);
}

const char *icl_net_kernel(const struct icl_net_work *work) {
    return icl_gemm_name(work->road);
}

void icl_net_load(struct icl_net_work *work, size_t rows, size_t b, const float *x, float scale) {
    for (size_t d = 0; d < work->D; d += ICL_GEMM_PANEL) {
        float *const to = work->Xt + icl_gemm_at(rows, b, d);
        const size_t n = work->D - d < ICL_GEMM_PANEL ? work->D - d : ICL_GEMM_PANEL;
        for (size_t i = 0; i < ICL_GEMM_PANEL; i++) to[i] = i < n ? scale * x[d + i] : 0;
    }
}

const float *icl_net_forward(const struct icl_net *net, struct icl_net_work *work, size_t rows) {
    assert(rows <= work->rows && net->D == work->D && net->H == work->H);
    const size_t D = net->D, H = net->H, B = rows;
    float *const *const T = net->tensor;
    const struct icl_gemm_tail layer1 = {.kind = ICL_GEMM_BIAS_RELU, .vector = T[ICL_NET_B1]};
    const struct icl_gemm_tail layer2 = {.kind = ICL_GEMM_BIAS_RELU, .vector = T[ICL_NET_B2]};
    icl_gemm_transpose(work->road, B, D, work->Xt, work->Xm);
    icl_lap_mark(work->lap, ICL_LAP_PACK);
    icl_gemm_product(work->road, H, B, D, T[ICL_NET_W1], work->Xm, &layer1, work->H1m);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_F1);
    icl_gemm_product(work->road, H, B, H, T[ICL_NET_W2], work->H1m, &layer2, work->H2m);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_F2);
    vector_kernels(work->road)->output(H, B, T[ICL_NET_W3], *T[ICL_NET_B3], work->H2m, work->phi);
    icl_lap_mark(work->lap, ICL_LAP_VECTOR);
    return work->phi;
}

/* Where target is net, each tensor is overwritten only after its last use. */
void icl_net_backward(const struct icl_net *net, struct icl_net_work *work, size_t rows, const float *dphi, float alpha,
                      float beta, struct icl_net *target) {
    const size_t D = net->D, H = net->H, B = rows;
    float *const *const T = target->tensor;
    const struct icl_net_isa *const isa = vector_kernels(work->road);
    const struct icl_gemm_tail mask = {.kind = ICL_GEMM_MASK, .matrix = work->H1t};
    const struct icl_gemm_tail add = {.kind = ICL_GEMM_ADD, .alpha = alpha, .beta = beta};
    const struct icl_gemm_tail store = {.kind = ICL_GEMM_STORE};
    icl_gemm_transpose(work->road, H, B, work->H1m, work->H1t);
    icl_gemm_transpose(work->road, H, B, work->H2m, work->H2t);
    icl_lap_mark(work->lap, ICL_LAP_PACK);
    float sum = 0;
    for (size_t b = 0; b < B; b++) sum += dphi[b];
    *T[ICL_NET_B3] = beta * *T[ICL_NET_B3] + alpha * sum;
    isa->delta(B, H, net->tensor[ICL_NET_W3], dphi, alpha, beta, work->H2t, T[ICL_NET_W3], T[ICL_NET_B2]);
    icl_lap_mark(work->lap, ICL_LAP_VECTOR);
    icl_gemm_transpose(work->road, B, H, work->H2t, work->H2m);
    icl_lap_mark(work->lap, ICL_LAP_PACK);
    icl_gemm_product(work->road, B, H, H, work->H2t, net->tensor[ICL_NET_W2], &mask, work->H1m);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_B2);
    icl_gemm_product(work->road, H, H, B, work->H2m, work->H1t, &add, T[ICL_NET_W2]);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_W2);
    isa->columns(B, H, work->H1m, alpha, beta, T[ICL_NET_B1]);
    icl_lap_mark(work->lap, ICL_LAP_VECTOR);
    if (work->dX) icl_gemm_product(work->road, B, D, H, work->H1m, net->tensor[ICL_NET_W1], &store, work->dX);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_W1);
    icl_gemm_transpose(work->road, B, H, work->H1m, work->H2t);
    icl_lap_mark(work->lap, ICL_LAP_PACK);
    icl_gemm_product(work->road, H, D, B, work->H2t, work->Xt, &add, T[ICL_NET_W1]);
    icl_lap_mark(work->lap, ICL_LAP_GEMM_W1);
}
