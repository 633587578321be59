/* vec.h -- eight doubles at a time, for the *_isa.c files: GCC's and clang's vector extension, so that one source
 * serves every instruction set and the order of every sum is the same on all of them. Private to src/.
 */
#ifndef ICLKIN_VEC_H
#define ICLKIN_VEC_H

#include <stdint.h>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

typedef double icl_vec __attribute__((vector_size(64), aligned(64)));
typedef int64_t icl_vec_bits __attribute__((vector_size(64), aligned(64)));

static inline icl_vec icl_vec_set(double x) {
    return (icl_vec){x, x, x, x, x, x, x, x};
}

/* a b + c, rounded once where the processor can (under -std=c11 gcc contracts nothing by itself). */
static inline icl_vec icl_vec_fma(icl_vec a, icl_vec b, icl_vec c) {
#if defined(__AVX512F__)
    return (icl_vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    union halves {
        icl_vec whole;
        __m256d half[2];
    } x = {a}, y = {b}, z = {c};
    for (int i = 0; i < 2; i++) z.half[i] = _mm256_fmadd_pd(x.half[i], y.half[i], z.half[i]);
    return z.whole;
#else
    return a * b + c;
#endif
}

static inline double icl_vec_sum(const icl_vec *v) {
    const icl_vec x = *v;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* min(max(x, -limit), limit) */
static inline icl_vec icl_vec_limit(icl_vec x, double limit) {
    const icl_vec top = icl_vec_set(limit), low = icl_vec_set(-limit);
    const icl_vec_bits over = x > top, under = x < low;
    x = (icl_vec)(((icl_vec_bits)top & over) | ((icl_vec_bits)x & ~over));
    return (icl_vec)(((icl_vec_bits)low & under) | ((icl_vec_bits)x & ~under));
}

/* 1/x for 1 <= x, to 2 ulp; 0 beyond 1e300. Two steps of Newton from a 14-bit estimate where the processor has one: a
 * third of a division's time. */
static inline icl_vec icl_vec_inverse(icl_vec x) {
#ifdef __AVX512F__
    const __m512d most = _mm512_min_pd((__m512d)x, _mm512_set1_pd(1e300)); /* inf x 0 would be NaN */
    const icl_vec one = icl_vec_set(1), minus = -(icl_vec)most;
    icl_vec y = (icl_vec)_mm512_rcp14_pd(most);
    y = icl_vec_fma(y, icl_vec_fma(minus, y, one), y);
    return icl_vec_fma(y, icl_vec_fma(minus, y, one), y);
#else
    return 1 / x;
#endif
}

/* e^x for |x| <= 708, to 2 ulp: x = k ln 2 + r, |r| <= ln 2/2, Taylor's series of e^r to r^13, then k into the
 * exponent. */
static inline icl_vec icl_vec_exp(icl_vec x) {
    const double shift = 0x1.8p52; /* adding it rounds to a whole number, held in the low bits */
    icl_vec k = icl_vec_fma(x, icl_vec_set(0x1.71547652b82fep0), icl_vec_set(shift));
    const icl_vec_bits power = (icl_vec_bits)k << 52;
    k -= shift;
    /* ln 2 in two parts: k times the first is exact */
    icl_vec r = icl_vec_fma(k, icl_vec_set(-0x1.62e42fefap-1), x);
    r = icl_vec_fma(k, icl_vec_set(-0x1.cf79abc9e3b39p-40), r);
    const icl_vec r2 = r * r, r4 = r2 * r2;
#define TERM(a, b) icl_vec_fma(r, icl_vec_set(1. / (a)), icl_vec_set(1. / (b)))
    const icl_vec p0 = icl_vec_fma(r2, TERM(6, 2), r + 1);
    const icl_vec p1 = icl_vec_fma(r2, TERM(5040, 720), TERM(120, 24));
    const icl_vec p2 = icl_vec_fma(r2, TERM(39916800, 3628800), TERM(362880, 40320));
    const icl_vec p3 = TERM(6227020800, 479001600);
#undef TERM
    const icl_vec e = icl_vec_fma(r4, icl_vec_fma(r4, icl_vec_fma(r4, p3, p2), p1), p0);
    return (icl_vec)((icl_vec_bits)e + power);
}

#endif
