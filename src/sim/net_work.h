/* net_work.h -- the activations of a batch; private to sim and its tests, which choose the road. */
#ifndef ICLKIN_SIM_NET_WORK_H
#define ICLKIN_SIM_NET_WORK_H

#include "iclkin/net.h"
#include "sim/gemm.h"
#include "sim/lap.h"

/* B is rows, D and H the net's; every matrix in panels. A name's end says which way it lies: m is (feature, batch), t
 * is (batch, feature). */
struct icl_net_work {
    size_t rows; /* capacity */
    size_t D, H;
    enum icl_gemm_road road;
    struct icl_lap *lap; /* NULL: no clock */
    float *Xt, *Xm;      /* (B,D), (D,B): inputs */
    /* The hidden layers, in either way. Their gradients take the room of what is no longer needed: the second layer's
     * that of H2t and H2m, the first layer's that of H1m (lying as t) and H2t (lying as m). */
    float *H1m, *H1t, *H2m, *H2t;
    float *phi; /* (B) */
    float *dX;  /* (B,D): the loss's gradient in the inputs after a backward; NULL: not asked for */
};

#endif
