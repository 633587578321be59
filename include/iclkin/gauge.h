/* gauge.h -- what the network is seen to do at (w, beta, s): losses and accuracies, and the events they define.
 *
 *   acc_icl = P(phi_novel + w a > 0), phi_novel ~ N(0, v(s));  acc_iwl = P(phi_+ + w S/N > 0); ties count 1/2   (O1)
 *
 * Every level of theory uses the same expressions at its own (w, beta). At the levels reduced and asymptotic, whose
 * beta runs to infinity, accuracies are taken at min(beta, D/2): beyond D/2 (T4)'s Gaussian sum has lost its meaning.
 *
 * Fails    ICL_ENOMEM; ICL_EUSAGE from the memory law.
 * Threads  one object, one thread.
 */
#ifndef ICLKIN_GAUGE_H
#define ICLKIN_GAUGE_H

#include <stdbool.h>

#include "iclkin/err.h"
#include "iclkin/model.h"
#include "iclkin/params.h"

struct icl_observables {
    double c1, c2, c3;
    double loss_train, loss_icl, loss_iwl; /* mean log(1 + e^-z) of each kind [nat] */
    double acc_icl, acc_iwl;
};

struct icl_gauge;

/* losses: whether icl_gauge_all or icl_gauge_scatter_icl will be called; the events alone need less. */
enum icl_status icl_gauge_alloc(struct icl_gauge **gauge, const struct icl_params *params, enum icl_level level,
                                double K, bool losses, struct icl_err *err) ICL_MUST_CHECK;
void icl_gauge_free(struct icl_gauge *gauge);

/* Whether acc_icl reaches icl_threshold at any beta (always true where items are not all alike). */
bool icl_gauge_reachable(const struct icl_gauge *gauge);

double icl_gauge_acc_icl(const struct icl_gauge *gauge, const double *y);
double icl_gauge_acc_iwl(const struct icl_gauge *gauge, const double *y);
/* Variance over novel items of an item's share of right answers in so many contexts, each taken twice as `simulate`
 * does: with every label turned round, the item's own too (O1). Needs losses. */
double icl_gauge_scatter_icl(struct icl_gauge *gauge, const double *y, double contexts);
/* All of them; w = beta = infinity (the blow-up) gives the limits. */
void icl_gauge_all(struct icl_gauge *gauge, const double *y, struct icl_observables *out);

/* Functions whose sign changes are the events of (O2): acc_icl - icl_threshold, acc_icl - loss_threshold, and
 * acc_iwl - iwl_threshold (where all items are alike: the clock at which c1 = 1 - iwl_threshold). Where acc_icl depends
 * on beta alone (v = 0), the first two are distances in beta instead, with the same zeros, at no cost. */
double icl_gauge_event_icl(const struct icl_gauge *gauge, const double *y);
double icl_gauge_event_loss(const struct icl_gauge *gauge, const double *y);
double icl_gauge_event_iwl(const struct icl_gauge *gauge, const double *y);

#endif
