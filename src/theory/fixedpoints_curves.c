/* fixedpoints_curves.c -- nullclines by marching squares, every vertex polished on its edge of the grid. */
#include <math.h>

#include "base/mem.h"
#include "iclkin/roots.h"
#include "theory/fixedpoints_field.h"

void icl_fixedpoints_curves_free(struct icl_fixedpoints_curves *curves) {
    icl_mem_free(curves->at);
    *curves = (struct icl_fixedpoints_curves){0};
}

const char *icl_fixedpoints_curves_name(enum icl_fixedpoints_curve curve) {
    static const char *const names[ICL_FIXEDPOINTS_CURVES] = {"w_nullcline", "beta_nullcline", "separatrix"};
    return names[curve];
}

enum icl_status icl_fixedpoints_curves_push(struct icl_fixedpoints_curves *curves, enum icl_fixedpoints_curve curve,
                                            double w, double beta, struct icl_err *err) {
    if (curves->count == curves->size) {
        const size_t size = 2 * curves->size + 256;
        ICL_TRY(icl_mem_grow(&curves->at, curves->size, size, sizeof *curves->at, err));
        curves->size = size;
    }
    curves->at[curves->count++] = (struct icl_fixedpoints_vertex){curve, curves->pieces, w, beta};
    return ICL_OK;
}

/* An edge of the grid that a nullcline crosses: where, and the edges next to it along the curve. */
struct edge {
    double w, beta;
    size_t next[2]; /* edge + 1; 0: none */
    bool crossed, walked;
};

struct grid {
    const struct icl_fixedpoints_field *field;
    const struct icl_fixedpoints_window *window;
    size_t n;
    double *rate[2];   /* dw/dt and dbeta/dt at the corners, shape (n + 1) x (n + 1), w fastest */
    struct edge *edge; /* shape (2 n (n + 1)): along w first, then along beta */
    int which;         /* of the two rates */
    double w, beta;    /* the edge in hand: NaN where it runs */
};

static double w_at(const struct grid *g, size_t i) {
    return icl_fixedpoints_field_line(g->window->w_lo, g->window->w_hi, g->n, i);
}

static double beta_at(const struct grid *g, size_t j) {
    return icl_fixedpoints_field_line(g->window->beta_lo, g->window->beta_hi, g->n, j);
}

/* Zero counts as positive, so that a nullcline along a line of the grid is crossed once. */
static bool positive(const struct grid *g, size_t i, size_t j) {
    return g->rate[g->which][j * (g->n + 1) + i] >= 0;
}

static size_t along_w(const struct grid *g, size_t i, size_t j) {
    return j * g->n + i;
}

static size_t along_beta(const struct grid *g, size_t i, size_t j) {
    return g->n * (g->n + 1) + j * (g->n + 1) + i;
}

static enum icl_status rate_on_edge(double x, void *context, double *rate, struct icl_err *err) {
    const struct grid *g = context;
    const double y[2] = {isnan(g->w) ? x : g->w, isnan(g->beta) ? x : g->beta};
    double f[2];
    (void)err;
    icl_fixedpoints_field_at(g->field, y, f, NULL);
    *rate = f[g->which];
    return ICL_OK;
}

static enum icl_status corners(struct grid *g, struct icl_err *err) {
    const size_t n = (g->n + 1) * (g->n + 1);
    ICL_TRY(icl_mem_alloc(&g->rate[0], 2 * n, sizeof(double), err));
    g->rate[1] = g->rate[0] + n;
    for (size_t j = 0; j <= g->n; j++)
        for (size_t i = 0; i <= g->n; i++) {
            const double y[2] = {w_at(g, i), beta_at(g, j)};
            double f[2];
            icl_fixedpoints_field_at(g->field, y, f, NULL);
            g->rate[0][j * (g->n + 1) + i] = f[0];
            g->rate[1][j * (g->n + 1) + i] = f[1];
        }
    return ICL_OK;
}

/* The crossing of an edge whose ends differ in sign. An end at which the rate is 0 is the crossing, unless the rate
 * takes the end's sign beside it: then the nullcline along that end is another, and this one lies within. */
static enum icl_status cross(struct grid *g, double lo, double hi, double *root, struct icl_err *err) {
    const double beside = 1e-6;
    double at_lo, at_hi, probe;
    ICL_TRY(rate_on_edge(lo, g, &at_lo, err));
    ICL_TRY(rate_on_edge(hi, g, &at_hi, err));
    if (at_lo == 0) {
        const double x = lo + beside * (hi - lo);
        ICL_TRY(rate_on_edge(x, g, &probe, err));
        if ((probe >= 0) != (at_hi >= 0)) lo = x;
    } else if (at_hi == 0) {
        const double x = hi - beside * (hi - lo);
        ICL_TRY(rate_on_edge(x, g, &probe, err));
        if ((probe >= 0) != (at_lo >= 0)) hi = x;
    }
    return icl_roots_brent(rate_on_edge, g, lo, hi, 0, root, NULL, err);
}

static enum icl_status cross_edges(struct grid *g, struct icl_err *err) {
    for (size_t j = 0; j <= g->n; j++)
        for (size_t i = 0; i <= g->n; i++) {
            struct edge *edge = &g->edge[along_w(g, i, j)];
            if (i < g->n && positive(g, i, j) != positive(g, i + 1, j)) {
                edge->crossed = true;
                g->w = NAN;
                g->beta = edge->beta = beta_at(g, j);
                ICL_TRY(cross(g, w_at(g, i), w_at(g, i + 1), &edge->w, err));
            }
            edge = &g->edge[along_beta(g, i, j)];
            if (j < g->n && positive(g, i, j) != positive(g, i, j + 1)) {
                edge->crossed = true;
                g->beta = NAN;
                g->w = edge->w = w_at(g, i);
                ICL_TRY(cross(g, beta_at(g, j), beta_at(g, j + 1), &edge->beta, err));
            }
        }
    return ICL_OK;
}

static void join(struct grid *g, size_t a, size_t b) {
    g->edge[a].next[g->edge[a].next[0] != 0] = b + 1;
    g->edge[b].next[g->edge[b].next[0] != 0] = a + 1;
}

/* The edges crossed around a cell, in pairs; where all four are, the sign in the middle tells which. */
static void join_cell(struct grid *g, size_t i, size_t j) {
    const size_t around[4] = {along_w(g, i, j), along_beta(g, i + 1, j), along_w(g, i, j + 1), along_beta(g, i, j)};
    size_t crossed[4], n = 0;
    for (int k = 0; k < 4; k++)
        if (g->edge[around[k]].crossed) crossed[n++] = around[k];
    if (n == 2) join(g, crossed[0], crossed[1]);
    if (n != 4) return;
    const double y[2] = {(w_at(g, i) + w_at(g, i + 1)) / 2, (beta_at(g, j) + beta_at(g, j + 1)) / 2};
    double f[2];
    icl_fixedpoints_field_at(g->field, y, f, NULL);
    const bool as_first = (f[g->which] >= 0) == positive(g, i, j);
    join(g, around[0], around[as_first ? 1 : 3]);
    join(g, around[2], around[as_first ? 3 : 1]);
}

static enum icl_status walk(struct grid *g, size_t from, struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    const size_t began = curves->count;
    size_t at = from, before = from;
    for (;;) {
        struct edge *edge = &g->edge[at];
        const struct icl_fixedpoints_vertex *last = curves->count > began ? &curves->at[curves->count - 1] : NULL;
        /* a curve through a corner crosses two edges in one place */
        if (!last || last->w != edge->w || last->beta != edge->beta)
            ICL_TRY(
                icl_fixedpoints_curves_push(curves, (enum icl_fixedpoints_curve)g->which, edge->w, edge->beta, err));
        if (edge->walked) break; /* closed */
        edge->walked = true;
        const size_t next = edge->next[0] == before + 1 ? edge->next[1] : edge->next[0];
        if (next == 0) break;
        before = at;
        at = next - 1;
    }
    if (curves->count < began + 2)
        curves->count = began;
    else
        curves->pieces++;
    return ICL_OK;
}

/* Pieces with ends first, then the closed ones. */
static enum icl_status walk_all(struct grid *g, struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    for (int closed = 0; closed < 2; closed++)
        for (size_t e = 0; e < 2 * g->n * (g->n + 1); e++) {
            const struct edge *edge = &g->edge[e];
            if (edge->crossed && !edge->walked && edge->next[0] != 0 && (closed || edge->next[1] == 0))
                ICL_TRY(walk(g, e, curves, err));
        }
    return ICL_OK;
}

static enum icl_status trace(struct grid *g, struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    const size_t edges = 2 * g->n * (g->n + 1);
    ICL_TRY(corners(g, err));
    ICL_TRY(icl_mem_alloc(&g->edge, edges, sizeof *g->edge, err));
    for (g->which = 0; g->which < 2; g->which++) {
        for (size_t e = 0; e < edges; e++) g->edge[e] = (struct edge){0};
        ICL_TRY(cross_edges(g, err));
        for (size_t j = 0; j < g->n; j++)
            for (size_t i = 0; i < g->n; i++) join_cell(g, i, j);
        ICL_TRY(walk_all(g, curves, err));
    }
    return ICL_OK;
}

enum icl_status icl_fixedpoints_curves_nullclines(const struct icl_params *params, double s,
                                                  const struct icl_fixedpoints_window *window, size_t cells,
                                                  struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    const size_t cells_most = 4096;
    struct icl_fixedpoints_field field;
    struct grid g = {.field = &field, .window = window, .n = cells};
    ICL_TRY(icl_fixedpoints_check(window, err));
    if (cells < 1 || cells > cells_most)
        return ICL_ERR(err, ICL_EUSAGE, "cells = %zu: must be in [1, %zu]", cells, cells_most);
    ICL_TRY(icl_fixedpoints_field_init(&field, params, s, NULL, err));
    const enum icl_status status = trace(&g, curves, err);
    icl_mem_free(g.rate[0]);
    icl_mem_free(g.edge);
    icl_fixedpoints_field_done(&field);
    return status;
}
