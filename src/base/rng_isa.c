/* Philox blocks in vectors, and Box-Muller pairs as a plain loop that the compiler turns into vectors. Nothing here is
 * fused or reordered, so that every level gives the same numbers. Blocks are little-endian pairs of words. */
#include "base/rng_isa.h"

#include <math.h>
#include <string.h>

/* gcc takes -std=c11 to mean this, and warns of the pragma. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#include "base/isa.h"

enum { GROUP = ICL_RNG_ISA_GROUP, HALF = ICL_RNG_ISA_CHUNK / 2, ROUNDS = 10, LANES = VL / 2, PARTS = GROUP / LANES };

/* The constants of Philox4x32 (Salmon et al.). */
#define M0 UINT64_C(0xD2511F53)
#define M1 UINT64_C(0xCD9E8D57)
#define W0 UINT32_C(0x9E3779B9)
#define W1 UINT32_C(0xBB67AE85)

/* A word of a block in each 64-bit lane; only its lower half counts. */
typedef uint64_t lanes __attribute__((vector_size(LANES * sizeof(uint64_t))));

#if defined(__AVX512F__)
#define WIDE(a, b) ((lanes)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define FIRST(a, b) __builtin_shufflevector((a), (b), 0, 8, 1, 9, 2, 10, 3, 11)
#define SECOND(a, b) __builtin_shufflevector((a), (b), 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__)
#define WIDE(a, b) ((lanes)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define FIRST(a, b) __builtin_shufflevector((a), (b), 0, 4, 1, 5)
#define SECOND(a, b) __builtin_shufflevector((a), (b), 2, 6, 3, 7)
#else
#ifdef __SSE2__
#include <emmintrin.h>
#define WIDE(a, b) ((lanes)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#else
#define WIDE(a, b) (((a)&UINT32_MAX) * (b))
#endif
#define FIRST(a, b) __builtin_shufflevector((a), (b), 0, 2)
#define SECOND(a, b) __builtin_shufflevector((a), (b), 1, 3)
#endif

ISA_INLINE void round_of(lanes c[4][PARTS], uint32_t k0, uint32_t k1) {
    ISA_UNROLL for (int i = 0; i < PARTS; i++) {
        const lanes p0 = WIDE(c[0][i], (lanes){0} + M0), p1 = WIDE(c[2][i], (lanes){0} + M1);
        c[0][i] = (p1 >> 32) ^ c[1][i] ^ k0;
        c[2][i] = (p0 >> 32) ^ c[3][i] ^ k1;
        c[1][i] = p1;
        c[3][i] = p0;
    }
}

void ISA_NAME(icl_rng_isa_blocks)(const uint32_t key[2], uint32_t first, const uint32_t rest[3], size_t blocks,
                                  uint32_t *out) {
    uint64_t count[GROUP];
    for (uint64_t i = 0; i < GROUP; i++) count[i] = i;
    for (size_t b = 0; b < blocks; b += GROUP, out += 4 * GROUP) {
        lanes c[4][PARTS];
        ISA_UNROLL for (int i = 0; i < PARTS; i++) {
            memcpy(&c[0][i], count + i * LANES, sizeof c[0][i]);
            c[0][i] += first + b;
            for (int w = 1; w < 4; w++) c[w][i] = (lanes){0} + rest[w - 1];
        }
        uint32_t k0 = key[0], k1 = key[1];
        for (int r = 0; r < ROUNDS; r++, k0 += W0, k1 += W1) round_of(c, k0, k1);
        ISA_UNROLL for (int i = 0; i < PARTS; i++) {
            const lanes low = (c[0][i] & UINT32_MAX) | c[1][i] << 32, high = (c[2][i] & UINT32_MAX) | c[3][i] << 32;
            const lanes pair[2] = {FIRST(low, high), SECOND(low, high)};
            memcpy(out + 4 * i * LANES, pair, sizeof pair);
        }
    }
}

/* log of x in (0, 1] to 1 ulp: x = 2^e m, m in [sqrt(1/2), sqrt 2), and Cephes' polynomial for log(1 + (m - 1)). */
static inline float log_of(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t e = (bits - 0x3f3504f3) >> 23;
    bits -= e * (1 << 23);
    float m;
    memcpy(&m, &bits, sizeof m);
    const float f = m - 1.0f, f2 = f * f;
    float p = 7.0376836292e-2f;
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    const float ef = (float)e;
    return ((p * f2 * f + ef * -2.12194440e-4f) - 0.5f * f2) + f + ef * 0.693359375f;
}

/* A 32-bit word as a float, rounded once on every machine. */
static inline float word(uint32_t w) {
    return (float)(int32_t)(w >> 16) * 65536.0f + (float)(int32_t)(w & 0xffff);
}

void ISA_NAME(icl_rng_isa_normals)(size_t n, const uint32_t *bits, float *out) {
    for (size_t at = 0; at < n; at += 2 * HALF) {
        uint32_t w[2 * HALF];
        memcpy(w, bits + at, sizeof w);
        for (int i = 0; i < HALF; i++) {
            const float u = word(w[i]) * 0x1p-32f + 0x1p-33f;
            const float r = sqrtf(-2.0f * log_of(u < 1.0f ? u : 1.0f));
            /* The angle is 2 pi w/2^32: a quarter turn q and a rest within an eighth of a turn. */
            const uint32_t v = w[HALF + i], q = (v + (UINT32_C(1) << 29)) >> 30;
            const float a = (float)(int32_t)(v - (q << 30)) * 1.46291807927e-9f, a2 = a * a;
            const float s = ((-1.9515295891e-4f * a2 + 8.3321608736e-3f) * a2 - 1.6666654611e-1f) * a2 * a + a;
            const float c =
                ((2.443315711809948e-5f * a2 - 1.388731625493765e-3f) * a2 + 4.166664568298827e-2f) * a2 * a2 -
                0.5f * a2 + 1.0f;
            const float x = q & 1 ? s : c, y = q & 1 ? c : s;
            out[at + (size_t)i] = (q + 1) & 2 ? -(r * x) : r * x;
            out[at + HALF + (size_t)i] = q & 2 ? -(r * y) : r * y;
        }
    }
}
