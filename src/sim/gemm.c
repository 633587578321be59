#include "sim/gemm.h"

#include <gsl/gsl_cblas.h>

#include "base/cpu.h"
#include "sim/gemm_isa.h"

enum { PANEL = ICL_GEMM_PANEL };

/* OpenBLAS's own calls, absent from any other BLAS. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

/* A Debian build without threads gave wrong sums to two callers at once. */
static bool blas_bears_threads(void) {
    return openblas_set_num_threads && openblas_get_parallel && openblas_get_parallel() != 0;
}

bool icl_gemm_has(enum icl_gemm_road road) {
    switch (road) {
    case ICL_GEMM_BLAS:
        return blas_bears_threads();
    case ICL_GEMM_V3:
        return icl_cpu_level() >= 3;
    case ICL_GEMM_V4:
        return icl_cpu_level() >= 4;
    default:
        return road < ICL_GEMM_ROADS;
    }
}

const char *icl_gemm_name(enum icl_gemm_road road) {
    static const char *const name[ICL_GEMM_ROADS] = {"auto", "plain", "openblas", "own-v1", "own-avx2", "own-avx512"};
    return road < ICL_GEMM_ROADS ? name[road] : "?";
}

enum icl_gemm_road icl_gemm_choose(void) {
    if (icl_gemm_has(ICL_GEMM_V4)) return ICL_GEMM_V4;
    if (icl_gemm_has(ICL_GEMM_V3)) return ICL_GEMM_V3;
    if (!blas_bears_threads()) return ICL_GEMM_V1;
    openblas_set_num_threads(1);
    return ICL_GEMM_BLAS;
}

static float tail_of(const struct icl_gemm_tail *tail, size_t row, size_t at, float s, const float *C) {
    switch (tail->kind) {
    case ICL_GEMM_BIAS_RELU: {
        const float x = s + tail->vector[row];
        return x < 0 ? 0 : x;
    }
    case ICL_GEMM_MASK:
        return tail->matrix[at] > 0 ? s : 0;
    case ICL_GEMM_ADD:
        return tail->alpha * s + tail->beta * C[at];
    case ICL_GEMM_STORE:
    default:
        return s;
    }
}

static void product_plain(size_t m, size_t n, size_t k, const float *A, const float *B,
                          const struct icl_gemm_tail *tail, float *C) {
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double s = 0;
            for (size_t l = 0; l < k; l++) s += (double)A[icl_gemm_at(m, i, l)] * (double)B[icl_gemm_at(k, l, j)];
            const size_t at = icl_gemm_at(m, i, j);
            C[at] = tail_of(tail, i, at, (float)s, C);
        }
    }
}

/* A panel is a row-major matrix of 32 columns, and so is a block of A or B within one. */
static void product_blas(size_t m, size_t n, size_t k, const float *A, const float *B, const struct icl_gemm_tail *tail,
                         float *C) {
    const bool add = tail->kind == ICL_GEMM_ADD;
    for (size_t j = 0; j < n; j += PANEL) {
        float *const c = C + j * m;
        for (size_t l = 0; l < k; l += PANEL) {
            const size_t kn = k - l < PANEL ? k - l : PANEL;
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, PANEL, (int)kn, add ? tail->alpha : 1.0f,
                        A + l * m, PANEL, B + j * k + l * PANEL, PANEL,
                        l     ? 1.0f
                        : add ? tail->beta
                              : 0.0f,
                        c, PANEL);
        }
        for (size_t i = 0; !add && i < m; i++) {
            for (size_t v = 0; v < PANEL; v++) {
                const size_t at = j * m + i * PANEL + v;
                C[at] = tail_of(tail, i, at, C[at], C);
            }
        }
    }
}

void icl_gemm_product(enum icl_gemm_road road, size_t m, size_t n, size_t k, const float *A, const float *B,
                      const struct icl_gemm_tail *tail, float *C) {
    switch (road == ICL_GEMM_AUTO ? icl_gemm_choose() : road) {
    case ICL_GEMM_PLAIN:
        product_plain(m, n, k, A, B, tail, C);
        return;
    case ICL_GEMM_BLAS:
        product_blas(m, n, k, A, B, tail, C);
        return;
#ifndef ICL_NO_ISA
    case ICL_GEMM_V4:
        icl_gemm_isa_product_v4(m, n, k, A, B, tail, C);
        return;
    case ICL_GEMM_V3:
        icl_gemm_isa_product_v3(m, n, k, A, B, tail, C);
        return;
#endif
    default:
        icl_gemm_isa_product_v1(m, n, k, A, B, tail, C);
    }
}

static void transpose_plain(size_t m, size_t n, const float *A, float *T) {
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) T[icl_gemm_at(n, j, i)] = A[icl_gemm_at(m, i, j)];
    }
}

void icl_gemm_transpose(enum icl_gemm_road road, size_t m, size_t n, const float *A, float *T) {
    switch (road == ICL_GEMM_AUTO ? icl_gemm_choose() : road) {
    case ICL_GEMM_PLAIN:
        transpose_plain(m, n, A, T);
        break;
#ifndef ICL_NO_ISA
    case ICL_GEMM_V4:
        icl_gemm_isa_transpose_v4(m, n, A, T);
        break;
    case ICL_GEMM_V3:
        icl_gemm_isa_transpose_v3(m, n, A, T);
        break;
#endif
    default:
        icl_gemm_isa_transpose_v1(m, n, A, T);
    }
    for (size_t j = 0; m % PANEL != 0 && j < n; j++) {
        float *const row = T + icl_gemm_at(n, j, m);
        for (size_t i = 0; i < PANEL - m % PANEL; i++) row[i] = 0;
    }
}
