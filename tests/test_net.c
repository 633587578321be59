/* The network's kernels against plain ones, and every gradient against central differences of a plain model in double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "check.h"
#include "iclkin/net.h"
#include "iclkin/rng.h"
#include "plain.h"
#include "sim/gemm.h"
#include "sim/head_isa.h"
#include "sim/net_work.h"

static float *floats(size_t n) {
    float *p = NULL;
    struct icl_err err;
    check_ok(icl_mem_alloc(&p, n + 64, sizeof *p, &err), &err);
    return p;
}

static void fill(struct icl_rng *rng, size_t n, float *x) {
    for (size_t i = 0; i < n; i++) x[i] = (float)icl_rng_normal(rng);
}

/* ---- products ------------------------------------------------------------------------------------------------------
 */

/* Sizes about every edge: one, the vectors' widths, the tiles' heights, the panels' width. */
static const size_t sizes[] = {1, 2, 5, 6, 7, 13, 14, 15, 28, 31, 32, 33, 63, 64, 97};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_product(enum icl_gemm_road road, struct icl_rng *rng, size_t m, size_t n, size_t k) {
    float *A = floats(icl_gemm_floats(m, k)), *B = floats(icl_gemm_floats(k, n)), *vector = floats(m);
    float *matrix = floats(icl_gemm_floats(m, n)), *C = floats(icl_gemm_floats(m, n)),
          *P = floats(icl_gemm_floats(m, n));
    fill(rng, icl_gemm_floats(m, k), A); /* the padding too: it must not matter */
    fill(rng, icl_gemm_floats(k, n), B);
    fill(rng, m, vector);
    fill(rng, icl_gemm_floats(m, n), matrix);
    for (int kind = ICL_GEMM_STORE; kind <= ICL_GEMM_ADD; kind++) {
        const struct icl_gemm_tail tail = {kind, vector, matrix, -0.3f, 0.7f};
        fill(rng, icl_gemm_floats(m, n), C);
        memcpy(P, C, icl_gemm_floats(m, n) * sizeof *P);
        icl_gemm_product(road, m, n, k, A, B, &tail, C);
        icl_gemm_product(ICL_GEMM_PLAIN, m, n, k, A, B, &tail, P);
        /* Rounding: k terms of order 1 in float, against sums in double. Measured: 0.7 of it. */
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < n; j++)
                check_abs(C[icl_gemm_at(m, i, j)], P[icl_gemm_at(m, i, j)], 2e-6 * sqrt((double)k + 4));
        }
    }
    float *const all[] = {A, B, vector, matrix, C, P};
    for (size_t i = 0; i < 6; i++) icl_mem_free(all[i]);
}

static void roads_agree_at_odd_shapes(void **state) {
    (void)state;
    struct icl_rng rng;
    icl_rng_seek(&rng, 1, 0, ICL_RNG_TEST, 0);
    for (int road = ICL_GEMM_AUTO; road < ICL_GEMM_ROADS; road++) {
        if (road == ICL_GEMM_PLAIN || !icl_gemm_has(road)) continue;
        for (int trial = 0; trial < 60; trial++)
            check_product(road, &rng, sizes[icl_rng_below(&rng, SIZES)], sizes[icl_rng_below(&rng, SIZES)],
                          sizes[icl_rng_below(&rng, SIZES)]);
    }
}

static void transposes_agree(void **state) {
    (void)state;
    struct icl_rng rng;
    icl_rng_seek(&rng, 2, 0, ICL_RNG_TEST, 0);
    for (int road = ICL_GEMM_AUTO; road < ICL_GEMM_ROADS; road++) {
        if (!icl_gemm_has(road)) continue;
        for (int trial = 0; trial < 60; trial++) {
            const size_t m = sizes[icl_rng_below(&rng, SIZES)], n = sizes[icl_rng_below(&rng, SIZES)];
            float *A = floats(icl_gemm_floats(m, n)), *T = floats(icl_gemm_floats(n, m));
            fill(&rng, icl_gemm_floats(m, n), A);
            fill(&rng, icl_gemm_floats(n, m), T);
            icl_gemm_transpose(road, m, n, A, T);
            for (size_t j = 0; j < n; j++) {
                for (size_t i = 0; i < (m + 31) / 32 * 32; i++)
                    assert_true(T[icl_gemm_at(n, j, i)] == (i < m ? A[icl_gemm_at(m, i, j)] : 0));
            }
            icl_mem_free(A);
            icl_mem_free(T);
        }
    }
}

/* ReLU must not swallow a NaN: a run that diverges has to show it. */
static void relu_keeps_nan(void **state) {
    (void)state;
    for (int road = ICL_GEMM_AUTO; road < ICL_GEMM_ROADS; road++) {
        if (!icl_gemm_has(road)) continue;
        float A[32] = {NAN}, B[32] = {1}, C[32], bias[1] = {0};
        const struct icl_gemm_tail tail = {.kind = ICL_GEMM_BIAS_RELU, .vector = bias};
        icl_gemm_product(road, 1, 1, 1, A, B, &tail, C);
        assert_true(isnan(C[0]));
    }
}

/* ---- the attention head --------------------------------------------------------------------------------------------
 */

static const struct icl_head_isa *const heads[] = {&icl_head_isa_v1,
#ifndef ICL_NO_ISA
                                                   &icl_head_isa_v3, &icl_head_isa_v4
#endif
};
static const int head_level[] = {1, 3, 4};
enum { HEADS = sizeof heads / sizeof *heads };

/* Its value against the plain sum, its slope against a central difference of it; h = 1e-5 leaves 1e-10 of truncation.
 * Rounding: a few ulp of float. Measured: 4e-6 and 3e-7, the first at beta 300. */
static void softmax_and_its_slope(void **state) {
    (void)state;
    static const double betas[] = {0, 0.3, 2.385, 6.1, -1.7, 60, 300};
    struct icl_rng rng;
    icl_rng_seek(&rng, 3, 0, ICL_RNG_TEST, 0);
    for (size_t l = 0; l < HEADS && head_level[l] <= icl_cpu_level(); l++) {
        for (int trial = 0; trial < 40; trial++) {
            const size_t n = 1 + icl_rng_below(&rng, 130);
            float score[160], label[160];
            for (size_t j = 0; j < 160; j++) {
                score[j] = (float)(0.2 * icl_rng_normal(&rng));
                label[j] = icl_rng_bits(&rng) & 1 ? 1.0f : -1.0f;
            }
            for (size_t b = 0; b < sizeof betas / sizeof *betas; b++) {
                const double beta = betas[b], h = 1e-5;
                float out[2];
                heads[l]->softmax(n, score, label, (float)beta, out);
                const double up = plain_attention(n, score, label, (double)(float)beta + h);
                const double down = plain_attention(n, score, label, (double)(float)beta - h);
                check_abs(out[0], plain_attention(n, score, label, (double)(float)beta), 3e-6 + 1e-7 * fabs(beta));
                check_abs(out[1], (up - down) / (2 * h), 3e-6 + 1e-7 * fabs(beta));
            }
        }
    }
}

static void scores_indices_and_signs(void **state) {
    (void)state;
    struct icl_rng rng;
    icl_rng_seek(&rng, 4, 0, ICL_RNG_TEST, 0);
    for (size_t l = 0; l < HEADS && head_level[l] <= icl_cpu_level(); l++) {
        for (size_t width = 16; width <= 80; width += 32) {
            enum { K = 37, N = 45 };
            float *items = floats(K * width), score[N + 32], label[N + 32];
            uint32_t word[N], id[N + ICL_HEAD_ISA_AHEAD] = {0};
            fill(&rng, K * width, items);
            icl_rng_fill_bits(&rng, N, word);
            assert_int_equal(heads[l]->indices(N, word, 3, K - 3, id), 0);
            heads[l]->signs(N, id, K / 2, label);
            heads[l]->scores(N, id, items, width, items + width, score);
            for (size_t j = 0; j < N; j++) {
                assert_int_equal(id[j], 3 + (uint32_t)((uint64_t)word[j] * (K - 3) >> 32));
                assert_true(label[j] == (id[j] < K / 2 ? 1.0f : -1.0f));
                double dot = 0;
                for (size_t d = 0; d < width; d++) dot += (double)items[id[j] * width + d] * (double)items[width + d];
                check_abs(score[j], dot, 1e-5); /* rounding of width terms of order 1; measured 3e-6 */
            }
            heads[l]->coins(N, word, label);
            for (size_t j = 0; j < N; j++) assert_true(label[j] == (word[j / 32] >> j % 32 & 1 ? 1.0f : -1.0f));
            icl_mem_free(items);
        }
        /* 2^32 mod 3 = 1: of the words only 0 must be drawn anew. */
        const uint32_t edge[3] = {0, 1, UINT32_MAX};
        uint32_t id[3];
        assert_int_equal(heads[l]->indices(3, edge, 0, 3, id), 1);
        assert_int_equal(id[0], UINT32_MAX);
        assert_int_equal(id[1], 0);
        assert_int_equal(id[2], 2);
    }
}

/* ---- the MLP -------------------------------------------------------------------------------------------------------
 */

enum { D = 5, H = 37, B = 9 };

static double theta[H * D + H * H + 4 * H], gradient[H * D + H * H + 4 * H];
static double plain_x[B][D], weight[B];

static double plain_sum(void) {
    double sum = 0;
    for (size_t b = 0; b < B; b++) sum += weight[b] * plain_phi(D, H, theta, plain_x[b]);
    return sum;
}

static void load_batch(struct icl_rng *rng, struct icl_net_work *work, float *dphi) {
    for (size_t b = 0; b < B; b++) {
        float x[D];
        for (size_t d = 0; d < D; d++) {
            x[d] = (float)icl_rng_normal(rng);
            plain_x[b][d] = (double)(1.5f * x[d]);
        }
        dphi[b] = (float)icl_rng_normal(rng);
        weight[b] = (double)dphi[b];
        icl_net_load(work, B, b, x, 1.5f);
    }
}

/* sum_b dphi_b phi(x_b): each tensor's gradient, by every road, against central differences in double of the plain
 * model. h = 1e-6: rounding of the difference 1e-9; a kink within h of a sum is unlikely and would be seen. Float
 * rounding of the kernels: 1e-6 of a gradient's scale. Measured: 7e-7. */
static void every_gradient(void **state) {
    (void)state;
    for (int road = ICL_GEMM_AUTO; road < ICL_GEMM_ROADS; road++) {
        if (!icl_gemm_has(road)) continue;
        struct icl_net net, grad;
        struct icl_net_work *work;
        struct icl_err err;
        struct icl_rng rng;
        float dphi[B];
        check_ok(icl_net_alloc(&net, D, H, &err), &err);
        check_ok(icl_net_alloc(&grad, D, H, &err), &err);
        check_ok(icl_net_work_alloc(&work, &net, B + 3, &err), &err);
        work->road = road;
        icl_net_init(&net, 7, 0);
        icl_rng_seek(&rng, 5, 0, ICL_RNG_TEST, (uint64_t)road);
        load_batch(&rng, work, dphi);
        const float *const phi = icl_net_forward(&net, work, B);
        const size_t n = plain_theta(&net, theta);
        for (size_t b = 0; b < B; b++) check_abs(phi[b], plain_phi(D, H, theta, plain_x[b]), 1e-6);
        icl_net_backward(&net, work, B, dphi, 1, 0, &grad);
        assert_int_equal(plain_theta(&grad, gradient), n);
        size_t live = 0;
        for (size_t i = 0; i < n; i++) {
            const double keep = theta[i], h = 1e-6;
            theta[i] = keep + h;
            const double up = plain_sum();
            theta[i] = keep - h;
            const double down = plain_sum();
            theta[i] = keep;
            check_abs(gradient[i], (up - down) / (2 * h), 5e-6);
            live += gradient[i] != 0;
        }
        assert_true(live > n / 3); /* the batch reaches the net: otherwise nothing was checked */
        icl_net_work_free(work);
        icl_net_free(&grad);
        icl_net_free(&net);
    }
}

/* backward with target = net is theta = beta theta + alpha gradient, with the gradient of the old theta. */
static void a_step_in_place(void **state) {
    (void)state;
    struct icl_net net, grad;
    struct icl_net_work *work;
    struct icl_err err;
    struct icl_rng rng;
    float dphi[B];
    check_ok(icl_net_alloc(&net, D, H, &err), &err);
    check_ok(icl_net_alloc(&grad, D, H, &err), &err);
    check_ok(icl_net_work_alloc(&work, &net, B, &err), &err);
    icl_net_init(&net, 8, 0);
    icl_rng_seek(&rng, 6, 0, ICL_RNG_TEST, 0);
    load_batch(&rng, work, dphi);
    (void)icl_net_forward(&net, work, B);
    icl_net_backward(&net, work, B, dphi, 1, 0, &grad);
    (void)icl_net_forward(&net, work, B);
    const size_t n = plain_theta(&net, theta);
    (void)plain_theta(&grad, gradient);
    icl_net_backward(&net, work, B, dphi, -0.25f, 0.875f, &net);
    static double after[H * D + H * H + 4 * H];
    (void)plain_theta(&net, after);
    for (size_t i = 0; i < n; i++) check_abs(after[i], 0.875 * theta[i] - 0.25 * gradient[i], 1e-6); /* rounding */
    assert_true(icl_net_finite(&net));
    *icl_net_value(&net, ICL_NET_W2, H - 1, H - 1) = INFINITY;
    assert_false(icl_net_finite(&net));
    icl_net_work_free(work);
    icl_net_free(&grad);
    icl_net_free(&net);
}

/* Weights and biases of a layer are uniform in +-1/sqrt(fan_in): mean, variance and range of W2's 512 x 512. */
static void initial_weights(void **state) {
    (void)state;
    struct icl_net net;
    struct icl_err err;
    check_ok(icl_net_alloc(&net, 63, 512, &err), &err);
    icl_net_init(&net, 1, 0);
    const double limit = 1 / sqrt(512.), n = 512. * 512;
    double mean = 0, square = 0;
    for (size_t i = 0; i < 512; i++) {
        for (size_t j = 0; j < 512; j++) {
            const double x = (double)*icl_net_value(&net, ICL_NET_W2, i, j) / limit;
            assert_true(fabs(x) <= 1);
            mean += x / n;
            square += x * x / n;
        }
    }
    check_abs(mean, 0, 4.5 * sqrt(1. / 3 / n));         /* statistics */
    check_abs(square, 1. / 3, 4.5 * sqrt(4. / 45 / n)); /* statistics */
    const float first = *icl_net_value(&net, ICL_NET_W1, 3, 4);
    icl_net_init(&net, 1, 1);
    assert_true(first != *icl_net_value(&net, ICL_NET_W1, 3, 4));
    icl_net_free(&net);
}

static void refusals(void **state) {
    (void)state;
    struct icl_net net;
    struct icl_net_work *work;
    struct icl_err err;
    check_fails(icl_net_alloc(&net, 0, 4, &err), ICL_ERANGE, &err, "D=0");
    icl_net_free(&net);
    icl_net_free(NULL);
    icl_net_work_free(NULL);
    check_ok(icl_net_alloc(&net, 2, 4, &err), &err);
    check_fails(icl_net_work_alloc(&work, &net, 0, &err), ICL_ERANGE, &err, "0 rows");
    for (size_t n = 1; n <= 2; n++) {
        icl_mem_fail_at(n);
        check_fails(icl_net_work_alloc(&work, &net, 3, &err), ICL_ENOMEM, &err, "");
        assert_null(work);
    }
    icl_net_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roads_agree_at_odd_shapes),
        cmocka_unit_test(transposes_agree),
        cmocka_unit_test(relu_keeps_nan),
        cmocka_unit_test(softmax_and_its_slope),
        cmocka_unit_test(scores_indices_and_signs),
        cmocka_unit_test(every_gradient),
        cmocka_unit_test(a_step_in_place),
        cmocka_unit_test(initial_weights),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
