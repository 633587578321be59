/* head_isa.h -- the attention head's kernels for every level of the instruction set, one of which is chosen at run
 * time; private to sim.
 *
 * indices   word (n) to id (n), each uniform in [first, first + range); returns how many words must be drawn anew
 *           because range does not divide 2^32 (their id is then the largest uint32)
 * signs     id (n) to label (n): 1 below half, else -1
 * coins     label (n) +1 or -1 by the bits of word (n/32, rounded up); label is written up to the next multiple of 32
 * stretch   score (n) times factor
 * scores    x_t . x_j of n items: target is (width), items is (., width), width a multiple of 16; id is readable for
 *           AHEAD more than n
 * softmax   p = softmax(beta score) over n: out = {sum p label, its derivative in beta}; score and label are readable,
 *           and score finite, up to the next multiple of 32
 */
#ifndef ICLKIN_SIM_HEAD_ISA_H
#define ICLKIN_SIM_HEAD_ISA_H

#include <stddef.h>
#include <stdint.h>

enum { ICL_HEAD_ISA_AHEAD = 32, ICL_HEAD_ISA_PAD = 32 };

struct icl_head_moments {
    float mean, square;
};

struct icl_head_isa {
    size_t (*indices)(size_t n, const uint32_t *word, uint32_t first, uint32_t range, uint32_t *id);
    void (*signs)(size_t n, const uint32_t *id, uint32_t half, float *label);
    void (*coins)(size_t n, const uint32_t *word, float *label);
    void (*stretch)(size_t n, float factor, float *score);
    void (*scores)(size_t n, const uint32_t *id, const float *items, size_t width, const float *target, float *score);
    void (*softmax)(size_t n, const float *score, const float *label, float beta, float out[2]);
    void (*weights)(size_t n, float *score);
    struct icl_head_moments (*moments)(size_t D, size_t width, const float *item);
    void (*gather)(size_t n, const uint32_t *id, const float *items, size_t width, const float *weight, float *out);
};

extern const struct icl_head_isa icl_head_isa_v1, icl_head_isa_v3, icl_head_isa_v4;

#endif
