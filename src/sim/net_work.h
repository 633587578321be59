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
    float *H1m, *H1t;    /* (H,B), (B,H): first hidden layer; H1m then takes its gradient */
    float *H2m, *H2t;    /* (H,B), (B,H): second hidden layer, then its gradient */
    float *G1t;          /* (B,H): gradient of the first hidden layer */
    float *phi;          /* (B) */
};

#endif
