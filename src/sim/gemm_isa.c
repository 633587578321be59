/* The product in registers: a tile of up to MR rows by NV vectors of C is summed over all of k, then passed through the
 * tail and written once. MR x NV sums, NV of B and one of A fill the register file. */
#include "sim/gemm_isa.h"
#include "base/isa.h"

enum { PANEL = ICL_GEMM_PANEL, NV = 2, TILE = NV * VL, MR = VL == 16 ? 14 : 6 };

struct tile {
    size_t m, k;    /* rows of A and C; the summed index */
    const float *A; /* row 0 of the tile, panel 0 */
    const float *B; /* this panel, at the tile's first column */
    float *C;       /* row 0 of the tile, at its first column */
    const float *vector, *matrix;
};

ISA_INLINE vec tail_of(const struct icl_gemm_tail *tail, const struct tile *t, size_t i, size_t at, vec s) {
    switch (tail->kind) {
    case ICL_GEMM_BIAS_RELU: {
        const vec x = s + t->vector[i];
        return isa_select(x < 0, (vec){0}, x);
    }
    case ICL_GEMM_MASK:
        return isa_select(isa_load(t->matrix + at) > 0, s, (vec){0});
    case ICL_GEMM_ADD:
        return FMA(s, isa_all(tail->alpha), isa_all(tail->beta) * isa_load(t->C + at));
    case ICL_GEMM_STORE:
    default:
        return s;
    }
}

ISA_INLINE void sum_rows(const struct tile *t, const size_t rows, vec (*c)[NV]) {
    const float *b = t->B;
    for (size_t k0 = 0; k0 < t->k; k0 += PANEL) {
        const float *a = t->A + k0 * t->m;
        const size_t kn = t->k - k0 < PANEL ? t->k - k0 : PANEL;
        for (size_t k = 0; k < kn; k++, a++, b += PANEL) {
            vec bv[NV];
            ISA_UNROLL for (size_t v = 0; v < NV; v++) bv[v] = isa_load(b + v * VL);
            ISA_UNROLL for (size_t i = 0; i < rows; i++) {
                const vec av = isa_all(a[i * PANEL]);
                ISA_UNROLL for (size_t v = 0; v < NV; v++) c[i][v] = FMA(av, bv[v], c[i][v]);
            }
        }
    }
}

ISA_INLINE void tile_rows(const struct tile *t, const struct icl_gemm_tail *tail, const size_t rows) {
    vec c[MR][NV] = {{{0}}};
    sum_rows(t, rows, c);
    ISA_UNROLL for (size_t i = 0; i < rows; i++) {
        ISA_UNROLL for (size_t v = 0; v < NV; v++) {
            const size_t at = i * PANEL + v * VL;
            isa_store(t->C + at, tail_of(tail, t, i, at, c[i][v]));
        }
    }
}

#define ROWS(n)                                                                                                        \
    static __attribute__((noinline)) void rows_##n(const struct tile *t, const struct icl_gemm_tail *tail) {           \
        tile_rows(t, tail, n);                                                                                         \
    }
/* clang-format off */
ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6)
#if defined(__AVX512F__)
ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12) ROWS(13) ROWS(14)
#endif
    /* clang-format on */

    static void (*const rows_of[MR])(const struct tile *, const struct icl_gemm_tail *) = {
        rows_1, rows_2, rows_3, rows_4,  rows_5,  rows_6,
#if defined(__AVX512F__)
        rows_7, rows_8, rows_9, rows_10, rows_11, rows_12, rows_13, rows_14,
#endif
};

void ISA_NAME(icl_gemm_isa_product)(size_t m, size_t n, size_t k, const float *A, const float *B,
                                    const struct icl_gemm_tail *tail, float *C) {
    const size_t panels = (n + PANEL - 1) / PANEL, strips = (m + MR - 1) / MR;
    const bool strip_outer = m > n;
    const size_t outer = strip_outer ? strips : panels, inner = strip_outer ? panels : strips;
    for (size_t o = 0; o < outer; o++) {
        for (size_t q = 0; q < inner; q++) {
            const size_t strip = strip_outer ? o : q, panel = strip_outer ? q : o;
            const size_t i0 = strip * m / strips, rows = (strip + 1) * m / strips - i0;
            for (size_t v = 0; v < PANEL; v += TILE) {
                const size_t at = (panel * m + i0) * PANEL + v;
                const struct tile t = {.m = m,
                                       .k = k,
                                       .A = A + i0 * PANEL,
                                       .B = B + panel * k * PANEL + v,
                                       .C = C + at,
                                       .vector = tail->vector ? tail->vector + i0 : NULL,
                                       .matrix = tail->matrix ? tail->matrix + at : NULL};
                rows_of[rows - 1](&t, tail);
            }
        }
    }
}

/* Rows i and i + VL/2 are interleaved, log2(VL) times over: a perfect shuffle of the block is its transpose. */
ISA_INLINE void transpose_block(const float *A, float *T) {
    vec a[VL], b[VL];
    ISA_UNROLL for (int i = 0; i < VL; i++) a[i] = isa_load(A + i * PANEL);
    ISA_UNROLL for (int stage = 1; stage < VL; stage *= 2) {
        ISA_UNROLL for (int i = 0; i < VL / 2; i++) {
            b[2 * i] = ISA_LOW(a[i], a[i + VL / 2]);
            b[2 * i + 1] = ISA_HIGH(a[i], a[i + VL / 2]);
        }
        ISA_UNROLL for (int i = 0; i < VL; i++) a[i] = b[i];
    }
    ISA_UNROLL for (int i = 0; i < VL; i++) isa_store(T + i * PANEL, a[i]);
}

void ISA_NAME(icl_gemm_isa_transpose)(size_t m, size_t n, const float *A, float *T) {
    for (size_t i = 0; i < m; i += VL) {
        for (size_t j = 0; j < n; j += VL) {
            const size_t from = icl_gemm_at(m, i, j), to = icl_gemm_at(n, j, i);
            if (i + VL <= m && j + VL <= n) {
                transpose_block(A + from, T + to);
                continue;
            }
            for (size_t y = 0; y < VL && i + y < m; y++) {
                for (size_t x = 0; x < VL && j + x < n; x++) T[to + x * PANEL + y] = A[from + y * PANEL + x];
            }
        }
    }
}
