/* gemm_isa.h -- the kernels of gemm_isa.c for every level; private to gemm.c, which chooses. */
#ifndef ICLKIN_SIM_GEMM_ISA_H
#define ICLKIN_SIM_GEMM_ISA_H

#include "sim/gemm.h"

#define ICL_GEMM_ISA_DECLARE(level)                                                                                    \
    void icl_gemm_isa_product_##level(size_t m, size_t n, size_t k, const float *A, const float *B,                    \
                                      const struct icl_gemm_tail *tail, float *C);                                     \
    void icl_gemm_isa_transpose_##level(size_t m, size_t n, const float *A, float *T);
ICL_GEMM_ISA_DECLARE(v1)
ICL_GEMM_ISA_DECLARE(v3)
ICL_GEMM_ISA_DECLARE(v4)

#endif
