/* vec.h -- eight doubles at a time, for the *_isa.c files: GCC's and clang's vector extension, so that one source
 * serves every instruction set and the order of every sum is the same on all of them. Private to src/.
 */
#ifndef ICLKIN_VEC_H
#define ICLKIN_VEC_H

#include <stdint.h>

typedef double icl_vec __attribute__((vector_size(64), aligned(64)));
typedef int64_t icl_vec_bits __attribute__((vector_size(64), aligned(64)));

static inline icl_vec icl_vec_set(double x) {
    return (icl_vec){x, x, x, x, x, x, x, x};
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

/* e^x for |x| <= 708, to 2 ulp: x = k ln 2 + r, |r| <= ln 2/2, Taylor's series of e^r to r^13, then k into the
 * exponent. */
static inline icl_vec icl_vec_exp(icl_vec x) {
    const double shift = 0x1.8p52; /* adding it rounds to a whole number, held in the low bits */
    icl_vec k = x * 0x1.71547652b82fep0 + shift;
    const icl_vec_bits power = (icl_vec_bits)k << 52;
    k -= shift;
    icl_vec r = x - k * 0x1.62e42fefap-1; /* ln 2 in two parts: k times the first is exact */
    r -= k * 0x1.cf79abc9e3b39p-40;
    const icl_vec r2 = r * r, r4 = r2 * r2;
    const icl_vec p0 = (r + 1) + r2 * (r * (1. / 6) + 1. / 2);
    const icl_vec p1 = (r * (1. / 120) + 1. / 24) + r2 * (r * (1. / 5040) + 1. / 720);
    const icl_vec p2 = (r * (1. / 362880) + 1. / 40320) + r2 * (r * (1. / 39916800) + 1. / 3628800);
    const icl_vec p3 = r * (1. / 6227020800) + 1. / 479001600;
    const icl_vec e = p0 + r4 * (p1 + r4 * (p2 + r4 * p3));
    return (icl_vec)((icl_vec_bits)e + power);
}

#endif
