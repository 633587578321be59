/* rng_isa.h -- the kernels of rng_isa.c for every level; private to rng.c, which chooses, and to its test. */
#ifndef ICLKIN_BASE_RNG_ISA_H
#define ICLKIN_BASE_RNG_ISA_H

#include <stddef.h>
#include <stdint.h>

enum { ICL_RNG_ISA_GROUP = 16, ICL_RNG_ISA_CHUNK = 32 };

/* blocks: out is (blocks, 4), block b from counter {first + b, rest[0..2]}; blocks is a multiple of GROUP.
 * normals: in place, bits (n) to N(0, 1) (n), n a multiple of CHUNK: Box-Muller, the first half of a chunk's words
 * being radii and the second half angles. */
#define ICL_RNG_ISA_DECLARE(level)                                                                                     \
    void icl_rng_isa_blocks_##level(const uint32_t key[2], uint32_t first, const uint32_t rest[3], size_t blocks,      \
                                    uint32_t *out);                                                                    \
    void icl_rng_isa_normals_##level(size_t n, const uint32_t *bits, float *out);
ICL_RNG_ISA_DECLARE(v1)
ICL_RNG_ISA_DECLARE(v3)
ICL_RNG_ISA_DECLARE(v4)

#endif
