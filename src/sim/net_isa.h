/* net_isa.h -- the vector work of the output layer and the biases, for every level of the instruction set; private to
 * sim.
 *
 * output   phi(B) = w(H) Hm(H,B) + bias
 * delta    Ht(B,H) becomes w_k dphi_b where it was > 0, else 0; W = beta W + alpha sum_b dphi_b Ht_bk, and b the same
 *          with the new Ht
 * columns  b = beta b + alpha sum_b Gt_bk
 * finite   whether all of x (n), n a multiple of 32, are
 */
#ifndef ICLKIN_SIM_NET_ISA_H
#define ICLKIN_SIM_NET_ISA_H

#include <stdbool.h>
#include <stddef.h>

struct icl_net_isa {
    void (*output)(size_t H, size_t B, const float *w, float bias, const float *Hm, float *phi);
    void (*delta)(size_t B, size_t H, const float *w, const float *dphi, float alpha, float beta, float *Ht, float *W,
                  float *b);
    void (*columns)(size_t B, size_t H, const float *Gt, float alpha, float beta, float *b);
    bool (*finite)(size_t n, const float *x);
};

extern const struct icl_net_isa icl_net_isa_v1, icl_net_isa_v3, icl_net_isa_v4;

#endif
