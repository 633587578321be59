/* figures_crowd.c -- many simulated runs for a figure. */
#include "cli/figures_crowd.h"

#include <stdlib.h>

#include "base/mem.h"
#include "iclkin/pool.h"

static void run_member(size_t index, size_t worker, void *slot, void *context) {
    const struct figures_crowd *crowd = context;
    struct figures_member *member = &crowd->member[index];
    struct icl_params params = crowd->point[index / crowd->runs];
    (void)worker;
    (void)slot;
    params.sim.seed += index % crowd->runs;
    const struct icl_train_setup setup = cmd_drive_setup(&params, crowd->rows);
    member->drive.stop = crowd->stop;
    member->status = cmd_drive_start(&member->drive, &setup, &member->err);
    if (member->status == ICL_OK) member->status = cmd_drive_run(&member->drive, &member->err);
    if (member->status != ICL_OK) return;
    icl_train_result(member->drive.run, &member->result);
    icl_train_free(member->drive.run); /* its rows stay */
    member->drive.run = NULL;
}

static enum icl_status count_member(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct figures_crowd *crowd = context;
    const struct figures_member *member = &crowd->member[index];
    (void)slot;
    cmd_progress_step(crowd->progress);
    if (member->status == ICL_OK) return ICL_OK;
    return ICL_ERR(err, member->status, "run %zu: %s", index, member->err.text);
}

enum icl_status figures_crowd_run(struct figures_crowd *crowd, struct icl_err *err) {
    crowd->runs = crowd->point->ensemble.runs;
    crowd->count = crowd->points * crowd->runs;
    crowd->stop = cmd_stop_install();
    crowd->progress->total = crowd->count;
    ICL_TRY(icl_mem_alloc(&crowd->member, crowd->count, sizeof *crowd->member, err));
    const struct icl_pool_job job = {.n = crowd->count,
                                     .slot = 1,
                                     .threads = crowd->point->ensemble.threads,
                                     .compute = run_member,
                                     .emit = count_member,
                                     .context = crowd,
                                     .stop = crowd->stop};
    return icl_pool_run(&job, err);
}

void figures_crowd_free(struct figures_crowd *crowd) {
    for (size_t i = 0; crowd->member && i < crowd->count; i++) cmd_drive_free(&crowd->member[i].drive);
    icl_mem_free(crowd->member);
}

int figures_ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double figures_quantile(const double *sorted, size_t count, double share) {
    const double at = share * (double)(count - 1);
    const size_t i = (size_t)at, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - (double)i) * (sorted[next] - sorted[i]);
}
