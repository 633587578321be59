/* figures_crowd.h -- what the figures of many simulated runs share: the runs, and quantiles of them. */
#ifndef ICLKIN_CLI_FIGURES_CROWD_H
#define ICLKIN_CLI_FIGURES_CROWD_H

#include <signal.h>

#include "cli/drive.h"
#include "cli/figures.h"

struct figures_member {
    struct icl_train_result result;
    struct drive drive;
    enum icl_status status;
    struct icl_err err;
};

/* point[0].ensemble.runs runs at each of `points` parameters, on all threads. */
struct figures_crowd {
    const struct icl_params *point; /* shape (points) */
    size_t points;
    struct cmd_progress *progress;
    bool rows;
    size_t runs, count;            /* count = points runs */
    struct figures_member *member; /* shape (points,runs) */
    const volatile sig_atomic_t *stop;
};

/* Run r of a point is that of `ensemble`: its seed is sim.seed + r. Free it whatever the status. */
enum icl_status figures_crowd_run(struct figures_crowd *crowd, struct icl_err *err) ICL_MUST_CHECK;
void figures_crowd_free(struct figures_crowd *crowd);

/* For qsort of doubles, and the value a share of the way up the sorted ones. */
int figures_ascending(const void *a, const void *b);
double figures_quantile(const double *sorted, size_t count, double share);

#endif
