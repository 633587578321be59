/* rng.h -- counter-based random streams: Philox4x32-10 (Salmon et al., SC 2011), from Random123.
 *
 * A stream is named by (seed, member, purpose) and is positioned by (step, draw): any draw of any step can be had
 * without those before it, so there is nothing to checkpoint but a step number, and threads and ranks never share one.
 *
 * seed     from the command line, never from the clock
 * member   the run within an ensemble
 * purpose  what the numbers are for: one of enum icl_rng_purpose
 * step     the SGD step (or 0 for what is drawn once)
 * Threads  a struct is one thread's; streams are independent.
 */
#ifndef ICLKIN_RNG_H
#define ICLKIN_RNG_H

#include <stddef.h>
#include <stdint.h>

enum icl_rng_purpose {
    ICL_RNG_WEIGHTS,  /* initial weights */
    ICL_RNG_ITEMS,    /* the K training items */
    ICL_RNG_BATCH,    /* training contexts */
    ICL_RNG_EVAL,     /* held-out draws */
    ICL_RNG_INIT,     /* initial w and beta of an ensemble's run */
    ICL_RNG_TEST,     /* tests and benches */
    ICL_RNG_BOOTSTRAP /* runs drawn anew, for the error of a statistic */
};

struct icl_rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    unsigned used; /* words of block already given out */
};

/* Positions *rng at the first draw of a step of a stream. */
void icl_rng_seek(struct icl_rng *rng, uint64_t seed, uint32_t member, enum icl_rng_purpose purpose, uint64_t step);
/* 32 random bits. */
uint32_t icl_rng_bits(struct icl_rng *rng);
/* Uniform in (0, 1): 53 bits, never 0 or 1. */
double icl_rng_uniform(struct icl_rng *rng);
/* Uniform whole number in [0, n), without bias; n >= 1. */
uint32_t icl_rng_below(struct icl_rng *rng, uint32_t n);
/* N(0, 1). */
double icl_rng_normal(struct icl_rng *rng);
/* n draws at once: 32-bit words; N(0, 1) floats (n even). The same numbers whatever the machine's vector width. */
void icl_rng_fill_bits(struct icl_rng *rng, size_t n, uint32_t *out);
void icl_rng_fill_normal(struct icl_rng *rng, size_t n, float *out);

#endif
