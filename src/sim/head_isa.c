#include "sim/head_isa.h"

#include <float.h>

#include "base/isa.h"

enum { AHEAD = ICL_HEAD_ISA_AHEAD };

static size_t indices(size_t n, const uint32_t *word, uint32_t first, uint32_t range, uint32_t *id) {
    const uint32_t uneven = -range % range;
    uint32_t again = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t product = (uint64_t)word[i] * range;
        const uint32_t bad = (uint32_t)product < uneven;
        again += bad;
        id[i] = (first + (uint32_t)(product >> 32)) | -bad;
    }
    return again;
}

static void signs(size_t n, const uint32_t *id, uint32_t half, float *label) {
    for (size_t i = 0; i < n; i++) label[i] = id[i] < half ? 1.0f : -1.0f;
}

static void coins(size_t n, const uint32_t *word, float *label) {
    for (size_t j = 0; j < n; j += 32, word++) {
        for (uint32_t i = 0; i < 32; i++) label[j + i] = (float)((int)(*word >> i & 1) * 2 - 1);
    }
}

static void stretch(size_t n, float factor, float *score) {
    for (size_t j = 0; j < n; j++) score[j] *= factor;
}

/* VL vectors to the vector of their sums. */
ISA_INLINE vec sums_of(vec *a) {
    ISA_UNROLL for (int half = VL / 2; half; half /= 2) {
        ISA_UNROLL for (int i = 0; i < half; i++) a[i] = ISA_LOW(a[i], a[i + half]) + ISA_HIGH(a[i], a[i + half]);
    }
    return a[0];
}

ISA_INLINE float sum_of(vec a) {
    float lane[VL], sum = 0;
    isa_store(lane, a);
    for (int i = 0; i < VL; i++) sum += lane[i];
    return sum;
}

ISA_INLINE float max_of(vec a) {
    float lane[VL], most = -FLT_MAX;
    isa_store(lane, a);
    for (int i = 0; i < VL; i++) most = lane[i] > most ? lane[i] : most;
    return most;
}

static void scores(size_t n, const uint32_t *id, const float *items, size_t width, const float *target, float *score) {
    for (size_t j = 0; j < n; j += VL) {
        vec a[VL];
        ISA_UNROLL for (int i = 0; i < VL; i++) {
            /* Entries beyond n stand in the next context or in padding: any item serves. */
            const float *const row = items + (size_t)id[j + (size_t)i] * width;
            const float *const next = items + (size_t)id[j + (size_t)i + AHEAD - VL] * width;
            for (size_t d = 0; d < width; d += 16) __builtin_prefetch(next + d);
            a[i] = isa_load(row) * isa_load(target);
            for (size_t d = VL; d < width; d += VL) a[i] = FMA(isa_load(row + d), isa_load(target + d), a[i]);
        }
        isa_store(score + j, sums_of(a));
    }
}

/* exp of x <= 0 to 2 ulp, 0 below -87: x = k log 2 + r, and a polynomial in r (Cephes). */
ISA_INLINE vec exp_of(vec x) {
    const vec shift = isa_all(0x1.8p23f); /* adding it rounds to a whole number, left in the low bits */
    const vec y = isa_select(x < -87.0f, isa_all(-87.0f), x);
    const vec k = FMA(y, isa_all(1.44269504f), shift), kf = k - shift;
    const vec r = FMA(kf, isa_all(2.12194440e-4f), FMA(kf, isa_all(-0.693359375f), y));
    vec p = isa_all(1.9875691500e-4f);
    p = FMA(p, r, isa_all(1.3981999507e-3f));
    p = FMA(p, r, isa_all(8.3334519073e-3f));
    p = FMA(p, r, isa_all(4.1665795894e-2f));
    p = FMA(p, r, isa_all(1.6666665459e-1f));
    p = FMA(p, r, isa_all(5.0000001201e-1f));
    p = FMA(p, r * r, r) + 1.0f;
    return isa_select(x < -87.0f, (vec){0}, (vec)((uvec)p + ((uvec)k << 23)));
}

ISA_INLINE ivec lanes(void) {
    int lane[VL];
    ivec at;
    for (int i = 0; i < VL; i++) lane[i] = i;
    memcpy(&at, lane, sizeof at);
    return at;
}

static void softmax(size_t n, const float *score, const float *label, float beta, float out[2]) {
    const ivec at = lanes();
    vec top = isa_all(-FLT_MAX);
    for (size_t j = 0; j < n; j += VL) {
        const vec y = beta * isa_load(score + j);
        top = isa_select((y > top) & (at < (int)(n - j)), y, top);
    }
    const float most = max_of(top);
    vec z = {0}, zl = {0}, zs = {0}, zls = {0};
    for (size_t j = 0; j < n; j += VL) {
        const vec s = isa_load(score + j), l = isa_load(label + j);
        const vec e = isa_select(at < (int)(n - j), exp_of(beta * s - most), (vec){0});
        const vec es = e * s;
        z += e;
        zl = FMA(e, l, zl);
        zs += es;
        zls = FMA(es, l, zls);
    }
    const float scale = 1.0f / sum_of(z);
    out[0] = sum_of(zl) * scale;
    out[1] = (sum_of(zls) - out[0] * sum_of(zs)) * scale;
}

static void weights(size_t n, float *score) {
    const ivec at = lanes();
    vec top = isa_all(-FLT_MAX), z = {0};
    for (size_t j = 0; j < n; j += VL) {
        const vec y = isa_load(score + j);
        top = isa_select((y > top) & (at < (int)(n - j)), y, top);
    }
    const float most = max_of(top);
    for (size_t j = 0; j < n; j += VL) {
        const vec e = isa_select(at < (int)(n - j), exp_of(isa_load(score + j) - most), (vec){0});
        z += e;
        isa_store(score + j, e);
    }
    stretch(n, 1.0f / sum_of(z), score);
}

/* In two passes: an item's entries may lie close together. */
static struct icl_head_moments moments(size_t D, size_t width, const float *item) {
    const ivec at = lanes();
    vec sum = {0}, square = {0};
    for (size_t d = 0; d < width; d += VL) sum += isa_load(item + d);
    const float mean = sum_of(sum) / (float)D;
    for (size_t d = 0; d < width; d += VL) {
        const vec x = isa_select(at < (int)D - (int)d, isa_load(item + d) - mean, (vec){0});
        square = FMA(x, x, square);
    }
    return (struct icl_head_moments){mean, sum_of(square)};
}

/* 64 columns at a time, or 16. */
ISA_INLINE void gather_columns(size_t n, const uint32_t *id, const float *items, size_t width, const float *weight,
                               size_t columns, float *out) {
    vec sum[64 / VL] = {{0}};
    for (size_t j = 0; j < n; j++) {
        const float *const row = items + (size_t)id[j] * width, *const next = items + (size_t)id[j + AHEAD / 4] * width;
        const vec w = isa_all(weight[j]);
        ISA_UNROLL for (size_t v = 0; v < columns / VL; v++) {
            if (v * VL % 16 == 0) __builtin_prefetch(next + v * VL);
            sum[v] = FMA(isa_load(row + v * VL), w, sum[v]);
        }
    }
    ISA_UNROLL for (size_t v = 0; v < columns / VL; v++) isa_store(out + v * VL, sum[v]);
}

static void gather(size_t n, const uint32_t *id, const float *items, size_t width, const float *weight, float *out) {
    size_t at = 0;
    for (; at + 64 <= width; at += 64) gather_columns(n, id, items + at, width, weight, 64, out + at);
    for (; at < width; at += 16) gather_columns(n, id, items + at, width, weight, 16, out + at);
}

const struct icl_head_isa ISA_NAME(icl_head_isa) = {indices, signs,   coins,   stretch, scores,
                                                    softmax, weights, moments, gather};
