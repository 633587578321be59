/* gemm.h -- the one matrix product that SGD needs; private to sim.
 *
 *   C = tail(A B),  A is (m,k), B is (k,n), C is (m,n)
 *
 * Matrices are held in panels of 32 columns: column j of row i is at panel[j/32][i][j%32], and the last panel is
 * padded to 32. A product then reads and writes memory in order whichever operand is large, and the forward pass, the
 * backward pass and the weights' gradient are all this one product:
 *
 *   forward   H'(out,batch) = W(out,in) H(in,batch)
 *   backward  G(batch,in)   = G'(batch,out) W(out,in)
 *   gradient  dW(out,in)    = G'(out,batch) H(batch,in)
 *
 * Padding   what stands in padded columns of an operand reaches only padded columns of C.
 * Roads     enum icl_gemm_road: the vector kernels, OpenBLAS, and the plain loops; they agree to rounding.
 * Threads   a product runs in the caller's thread and has no state; same operands, same bytes.
 */
#ifndef ICLKIN_SIM_GEMM_H
#define ICLKIN_SIM_GEMM_H

#include <stdbool.h>
#include <stddef.h>

enum { ICL_GEMM_PANEL = 32 };

enum icl_gemm_road {
    ICL_GEMM_AUTO, /* icl_gemm_choose */
    ICL_GEMM_PLAIN,
    ICL_GEMM_BLAS,
    ICL_GEMM_V1,
    ICL_GEMM_V3, /* AVX2 */
    ICL_GEMM_V4, /* AVX-512 */
    ICL_GEMM_ROADS
};

/* What is done to s = (A B)_ij on its way into C_ij. */
enum icl_gemm_tail_kind {
    ICL_GEMM_STORE,     /* s */
    ICL_GEMM_BIAS_RELU, /* max(0, s + vector_i), a NaN kept */
    ICL_GEMM_MASK,      /* s where matrix_ij > 0, else 0; matrix has C's shape */
    ICL_GEMM_ADD        /* alpha s + beta C_ij */
};

struct icl_gemm_tail {
    enum icl_gemm_tail_kind kind;
    const float *vector, *matrix;
    float alpha, beta;
};

/* Floats of an (m,n) matrix in panels. */
static inline size_t icl_gemm_floats(size_t m, size_t n) {
    return m * ((n + ICL_GEMM_PANEL - 1) / ICL_GEMM_PANEL) * ICL_GEMM_PANEL;
}
/* Where (i,j) of an (m,.) matrix stands. */
static inline size_t icl_gemm_at(size_t m, size_t i, size_t j) {
    return (j / ICL_GEMM_PANEL * m + i) * ICL_GEMM_PANEL + j % ICL_GEMM_PANEL;
}

/* Whether this processor and build can take a road, and its name. */
bool icl_gemm_has(enum icl_gemm_road road);
const char *icl_gemm_name(enum icl_gemm_road road);
/* The road that ICL_GEMM_AUTO stands for. OpenBLAS is taken only where there is no AVX2 and it bears callers on several
 * threads; it is then set to one thread of its own a caller. */
enum icl_gemm_road icl_gemm_choose(void);

void icl_gemm_product(enum icl_gemm_road road, size_t m, size_t n, size_t k, const float *A, const float *B,
                      const struct icl_gemm_tail *tail, float *C);
/* T(n,m) = A(m,n) transposed, both in panels; padded columns of T become 0. */
void icl_gemm_transpose(enum icl_gemm_road road, size_t m, size_t n, const float *A, float *T);

#endif
