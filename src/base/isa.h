/* isa.h -- vectors for the files X_isa.c, each compiled once for every level of the x86-64 instruction set (-DICL_ISA=
 * v1, v3, v4); private to src. ISA_NAME(f) is f with the level as its suffix.
 *
 * VL     floats in a vector: 4, 8, 16
 * FMA    a b + c, rounded once where the level has it
 */
#ifndef ICLKIN_BASE_ISA_H
#define ICLKIN_BASE_ISA_H

#include <string.h>

#ifndef ICL_ISA
#define ICL_ISA v1
#endif
#define ISA_PASTE(name, level) name##_##level
#define ISA_EXPAND(name, level) ISA_PASTE(name, level)
#define ISA_NAME(name) ISA_EXPAND(name, ICL_ISA)

#if defined(__AVX512F__)
enum { VL = 16 };
#elif defined(__AVX2__)
enum { VL = 8 };
#else
enum { VL = 4 };
#endif
typedef float vec __attribute__((vector_size(VL * sizeof(float))));
typedef int ivec __attribute__((vector_size(VL * sizeof(float))));
typedef unsigned uvec __attribute__((vector_size(VL * sizeof(float))));

#if defined(__AVX512F__)
#include <immintrin.h>
#define FMA(a, b, c) ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define FMA(a, b, c) ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

#define ISA_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define ISA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ISA_UNROLL _Pragma("GCC unroll 32")
#endif

ISA_INLINE vec isa_load(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
ISA_INLINE void isa_store(float *p, vec v) {
    memcpy(p, &v, sizeof v);
}
ISA_INLINE vec isa_all(float x) {
    return x - (vec){0};
}
/* The first and the second half of a0 b0 a1 b1 ... */
#if defined(__AVX512F__)
#define ISA_LOW(a, b) __builtin_shufflevector((a), (b), 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ISA_HIGH(a, b) __builtin_shufflevector((a), (b), 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif defined(__AVX2__)
#define ISA_LOW(a, b) __builtin_shufflevector((a), (b), 0, 8, 1, 9, 2, 10, 3, 11)
#define ISA_HIGH(a, b) __builtin_shufflevector((a), (b), 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define ISA_LOW(a, b) __builtin_shufflevector((a), (b), 0, 4, 1, 5)
#define ISA_HIGH(a, b) __builtin_shufflevector((a), (b), 2, 6, 3, 7)
#endif
/* a where the mask is set, else b. */
ISA_INLINE vec isa_select(ivec mask, vec a, vec b) {
    return (vec)(((ivec)a & mask) | ((ivec)b & ~mask));
}

#endif
