#include "sim/net_isa.h"

#include "base/isa.h"
#include "sim/gemm.h"

enum { PANEL = ICL_GEMM_PANEL, NV = PANEL / VL };

ISA_INLINE void add_to(float *p, vec sum, float alpha, float beta) {
    isa_store(p, alpha * sum + beta * isa_load(p));
}

static void output(size_t H, size_t B, const float *w, float bias, const float *Hm, float *phi) {
    for (size_t at = 0; at < B; at += PANEL, Hm += H * PANEL) {
        vec sum[2][NV];
        for (size_t v = 0; v < NV; v++) sum[0][v] = isa_all(bias), sum[1][v] = (vec){0};
        for (size_t k = 0; k < H; k++) {
            for (size_t v = 0; v < NV; v++)
                sum[k & 1][v] = FMA(isa_all(w[k]), isa_load(Hm + k * PANEL + v * VL), sum[k & 1][v]);
        }
        for (size_t v = 0; v < NV; v++) isa_store(phi + at + v * VL, sum[0][v] + sum[1][v]);
    }
}

static void delta(size_t B, size_t H, const float *w, const float *dphi, float alpha, float beta, float *Ht, float *W,
                  float *b) {
    for (size_t at = 0; at < H; at += PANEL, Ht += B * PANEL) {
        for (size_t v = 0; v < PANEL; v += VL) {
            const vec wv = isa_load(w + at + v);
            vec sumW = {0}, sumb = {0};
            for (size_t i = 0; i < B; i++) {
                float *const p = Ht + i * PANEL + v;
                const vec h = isa_load(p), g = isa_select(h > 0, wv * dphi[i], (vec){0});
                sumW = FMA(h, isa_all(dphi[i]), sumW);
                sumb += g;
                isa_store(p, g);
            }
            add_to(W + at + v, sumW, alpha, beta);
            add_to(b + at + v, sumb, alpha, beta);
        }
    }
}

static void columns(size_t B, size_t H, const float *Gt, float alpha, float beta, float *b) {
    for (size_t at = 0; at < H; at += PANEL, Gt += B * PANEL) {
        for (size_t v = 0; v < PANEL; v += VL) {
            vec sum = {0};
            for (size_t i = 0; i < B; i++) sum += isa_load(Gt + i * PANEL + v);
            add_to(b + at + v, sum, alpha, beta);
        }
    }
}

/* x - x is 0, or NaN. */
static bool finite(size_t n, const float *x) {
    vec sum[NV] = {{0}};
    for (size_t i = 0; i < n; i += PANEL) {
        for (size_t v = 0; v < NV; v++) sum[v] += isa_load(x + i + v * VL) - isa_load(x + i + v * VL);
    }
    float lane[PANEL], all = 0;
    memcpy(lane, sum, sizeof lane);
    for (size_t v = 0; v < PANEL; v++) all += lane[v];
    return all == 0;
}

const struct icl_net_isa ISA_NAME(icl_net_isa) = {output, delta, columns, finite};
