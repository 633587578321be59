/* context.h -- what a context can hold, as nodes of an average; private to theory.
 *
 *   D infinite   a = (n E + S)/(n E + m), E = e^beta, m = N - n: node (n, S), exact sums (T2)
 *   D finite     a = (n r + mu + sd g)/(n r + m), r = e^(beta q - beta^2 q/2D): node (n, q, g), Gauss rules (T4)
 *                random labels: mu = -m/(K-1), sd = sqrt(m) e^(x/2); balanced: mu = -n, sd^2 = m (e^x - 1);
 *                x = beta^2 q/D (both sides of T4 divided by e^(beta^2 q/2D)), held at ln N in sd and continued
 * linearly beyond 2 ln N in r, where (T4) ends
 *
 * a        weight of the context's label in z = phi + w a; shape (nodes), padded with weight 0 to a multiple of 8
 * b, c     da/dbeta and d2a/dbeta2 at fixed S or g, shape (nodes)
 * Kinds    training contexts; a novel item with one copy; a training item with no copy (S4)
 */
#ifndef ICLKIN_CONTEXT_H
#define ICLKIN_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"

enum icl_context_kind { ICL_CONTEXT_TRAIN, ICL_CONTEXT_NOVEL, ICL_CONTEXT_ABSENT, ICL_CONTEXT_KINDS };

/* Nodes that share n and (D finite) q. */
struct icl_context_group {
    double n, m, weight; /* copies, other items, probability */
    double mu;           /* D finite: mean of the others' scaled sum */
    size_t norm;         /* D finite: its q */
    double root;         /* sqrt(m) */
    double stray;        /* D finite, at the last beta: variance of da/dbeta beyond b (T11) */
    double line[4];      /* D finite, at the last beta: a = line[0] + line[1] g, b = line[2] + line[3] g */
    size_t first, count; /* its nodes */
};

/* D finite: what depends on beta and q = |x|^2 alone. one, ratio: 1 and r, both divided by the larger of the two; the
 * derivatives in beta of r and of sd/sqrt(m) are divided by it too, stray/m by its square. */
struct icl_context_norm {
    double q, one, ratio[3], sd[3], stray;
};

struct icl_context {
    enum icl_labels labels;
    unsigned without; /* of enum icl_without: copies, correlation */
    double D;
    double most;                     /* D finite: x is held at this value, ln N, beyond it (notes/model.md, T4) */
    size_t groups, nodes;            /* nodes: padded to a multiple of 8 */
    struct icl_context_group *group; /* shape (groups) */
    size_t group_room, node_room;    /* allocated */
    size_t norms;
    struct icl_context_norm *norm; /* shape (norms) */
    double *node;                  /* S (D infinite) or g (D finite), shape (nodes) */
    double *weight;                /* shape (nodes), sums to 1 */
    double *a, *b, *c;             /* shape (nodes) */
};

enum icl_status icl_context_alloc(struct icl_context **context, const struct icl_task *task, unsigned without,
                                  const struct icl_solver *solver, enum icl_context_kind kind,
                                  struct icl_err *err) ICL_MUST_CHECK;
void icl_context_free(struct icl_context *context);

/* Fills a and b (and c, where curvature is asked for) at beta. */
void icl_context_at(struct icl_context *context, double beta, bool curvature);

/* a and b of all nodes from the groups' lines, one for each instruction set. */
void icl_context_fill_v1(struct icl_context *context);
void icl_context_fill_v3(struct icl_context *context);
void icl_context_fill_v4(struct icl_context *context);

/* acc: P(phi + w a > 0), ties counting 1/2, phi ~ N(phi, v) (O1). The Gaussian g is averaged in closed form. */
double icl_context_accuracy(const struct icl_context *context, double w, double beta, double phi, double v);

/* The same averaged over classes of items; arrays of shape (n), the weights sum to 1. */
struct icl_context_classes {
    size_t n;
    const double *phi, *v, *weight;
};
double icl_context_accuracies(const struct icl_context *context, double w, double beta,
                              const struct icl_context_classes *classes);

#endif
