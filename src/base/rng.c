#include "iclkin/rng.h"

#include <math.h>
#include <string.h>

#include <Random123/philox.h>

#include "base/cpu.h"
#include "base/rng_isa.h"

enum { GROUP = ICL_RNG_ISA_GROUP, CHUNK = ICL_RNG_ISA_CHUNK, BLOCK = 4, BUFFER = 16 * CHUNK };

void icl_rng_seek(struct icl_rng *rng, uint64_t seed, uint32_t member, enum icl_rng_purpose purpose, uint64_t step) {
    *rng = (struct icl_rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                            .counter = {0, (uint32_t)step, member, (uint32_t)purpose << 24 | (uint32_t)(step >> 32)},
                            .used = BLOCK};
}

static void next_block(struct icl_rng *rng, uint32_t *out) {
    philox4x32_ctr_t c;
    philox4x32_key_t k;
    memcpy(c.v, rng->counter, sizeof rng->counter);
    memcpy(k.v, rng->key, sizeof rng->key);
    c = philox4x32_R(10, c, k);
    memcpy(out, c.v, BLOCK * sizeof *out);
    rng->counter[0]++;
}

uint32_t icl_rng_bits(struct icl_rng *rng) {
    if (rng->used == BLOCK) {
        next_block(rng, rng->block);
        rng->used = 0;
    }
    return rng->block[rng->used++];
}

double icl_rng_uniform(struct icl_rng *rng) {
    const uint64_t high = icl_rng_bits(rng) >> 6, low = icl_rng_bits(rng) >> 6;
    return ((double)(high << 26 | low) + 0.5) * 0x1p-52;
}

uint32_t icl_rng_below(struct icl_rng *rng, uint32_t n) {
    const uint32_t uneven = -n % n; /* 2^32 mod n: that many products are one too many */
    for (;;) {
        const uint64_t product = (uint64_t)icl_rng_bits(rng) * n;
        if ((uint32_t)product >= uneven) return (uint32_t)(product >> 32);
    }
}

double icl_rng_normal(struct icl_rng *rng) {
    const double radius = sqrt(-2.0 * log(icl_rng_uniform(rng)));
    return radius * cos(6.283185307179586477 * icl_rng_uniform(rng));
}

static void fill_blocks(struct icl_rng *rng, size_t blocks, uint32_t *out) {
    const size_t whole = blocks / GROUP * GROUP;
    const uint32_t *const c = rng->counter;
    switch (icl_cpu_level()) {
#ifndef ICL_NO_ISA
    case 4:
        icl_rng_isa_blocks_v4(rng->key, c[0], c + 1, whole, out);
        break;
    case 3:
        icl_rng_isa_blocks_v3(rng->key, c[0], c + 1, whole, out);
        break;
#endif
    default:
        icl_rng_isa_blocks_v1(rng->key, c[0], c + 1, whole, out);
    }
    rng->counter[0] += (uint32_t)whole;
    for (size_t b = whole; b < blocks; b++) next_block(rng, out + BLOCK * b);
}

void icl_rng_fill_bits(struct icl_rng *rng, size_t n, uint32_t *out) {
    size_t at = 0;
    for (; at < n && rng->used < BLOCK; at++) out[at] = icl_rng_bits(rng);
    const size_t blocks = (n - at) / BLOCK;
    fill_blocks(rng, blocks, out + at);
    for (at += blocks * BLOCK; at < n; at++) out[at] = icl_rng_bits(rng);
}

static void normals(size_t n, const uint32_t *bits, float *out) {
    switch (icl_cpu_level()) {
#ifndef ICL_NO_ISA
    case 4:
        icl_rng_isa_normals_v4(n, bits, out);
        break;
    case 3:
        icl_rng_isa_normals_v3(n, bits, out);
        break;
#endif
    default:
        icl_rng_isa_normals_v1(n, bits, out);
    }
}

/* Words are taken a whole chunk at a time, so a fill of no multiple of CHUNK drops what is left of the last one. */
void icl_rng_fill_normal(struct icl_rng *rng, size_t n, float *out) {
    uint32_t bits[BUFFER];
    for (size_t at = 0; at < n;) {
        const size_t want = n - at < BUFFER ? n - at : BUFFER, whole = want / CHUNK * CHUNK;
        icl_rng_fill_bits(rng, whole < want ? whole + CHUNK : whole, bits);
        normals(whole, bits, out + at);
        if (whole < want) {
            float last[CHUNK];
            normals(CHUNK, bits + whole, last);
            memcpy(out + at + whole, last, (want - whole) * sizeof *out);
        }
        at += want;
    }
}
