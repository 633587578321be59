/* figures_diversity.c -- what is known at t_max, in context and in weights, against K: seeds one by one, and theory. */
#include <math.h>

#include "base/mem.h"
#include "cli/figures_crowd.h"
#include "cli/figures_sim.h"
#include "iclkin/predict.h"

/* K from K/2^REACH to K 2^REACH, STEPS to a doubling; theory's curve has FINER of them. */
enum { REACH = 3, STEPS = 2, POINTS = 2 * REACH * STEPS + 1, FINER = 6, NUMBERS = 5 };

/* run: one run's accuracies at t_max. share: the share of runs at a K whose acc_icl passes observe.icl_threshold.
 * theory: its accuracies, and t_icl; where a table of memorization does not reach a K there is none. threshold: K*. */
static const struct icl_column columns[2 + NUMBERS] = {
    {"curve", "text"}, {"simulated", "text"}, {"K", "items"},          {"seed", "1"},
    {"acc_icl", "1"},  {"acc_iwl", "1"},      {"t_icl", "lr x steps"},
};

struct diversity {
    struct icl_table *table;
    const char *model;
    double last[2]; /* accuracies of theory's last row */
};

static enum icl_status add(const struct diversity *d, const char *curve, const double number[NUMBERS],
                           struct icl_err *err) {
    union icl_cell cells[2 + NUMBERS] = {{.text = curve}, {.text = d->model}};
    for (size_t i = 0; i < NUMBERS; i++) cells[2 + i].number = number[i];
    return icl_table_row(d->table, cells, err);
}

/* K times 2^(i/steps), even. */
static double items_at(const struct icl_params *params, double i, double steps) {
    return 2 * round(params->task.K * exp2(i / steps - REACH) / 2);
}

static enum icl_status keep_last(const double row[ICL_TRAIN_COLUMNS], void *context, struct icl_err *err) {
    struct diversity *const d = context;
    (void)err;
    d->last[0] = row[ICL_TRAIN_ACC_ICL];
    d->last[1] = row[ICL_TRAIN_ACC_IWL];
    return ICL_OK;
}

static enum icl_status add_theory(const struct icl_params *params, struct diversity *d, struct icl_err *err) {
    double K_star;
    for (int i = 0; i <= 2 * REACH * FINER; i++) {
        struct icl_params at = *params;
        struct icl_traj_result result;
        struct figures_theory theory = {.take = keep_last, .context = d};
        at.task.K = items_at(params, i, FINER);
        const enum icl_status status = figures_sim_solve(&at, &theory, &result, err);
        if (status == ICL_ERANGE) continue;
        ICL_TRY(status);
        const double number[NUMBERS] = {at.task.K, 0, d->last[0], d->last[1], result.t_icl};
        ICL_TRY(add(d, "theory", number, err));
    }
    ICL_TRY(icl_table_break(d->table, err));
    const enum icl_status status = icl_predict_items(params, params->theory.level, &K_star, err);
    if (status == ICL_ERANGE) return ICL_OK;
    ICL_TRY(status);
    const double number[NUMBERS] = {K_star};
    ICL_TRY(add(d, "threshold", number, err));
    return icl_table_break(d->table, err);
}

static enum icl_status add_runs(const struct figures_crowd *crowd, const struct diversity *d, struct icl_err *err) {
    for (size_t i = 0; i < crowd->count; i++) {
        const struct icl_params *const params = &crowd->point[i / crowd->runs];
        const struct figures_member *const member = &crowd->member[i];
        const double *const last = member->drive.row + (member->drive.rows - 1) * ICL_TRAIN_COLUMNS;
        const double number[NUMBERS] = {params->task.K, (double)(params->sim.seed + i % crowd->runs),
                                        last[ICL_TRAIN_ACC_ICL], last[ICL_TRAIN_ACC_IWL], member->result.t_icl.t};
        ICL_TRY(add(d, "run", number, err));
    }
    ICL_TRY(icl_table_break(d->table, err));
    for (size_t p = 0; p < crowd->points; p++) {
        double share = 0;
        for (size_t r = 0; r < crowd->runs; r++)
            share += isfinite(crowd->member[p * crowd->runs + r].result.t_icl.t) / (double)crowd->runs;
        const double number[NUMBERS] = {crowd->point[p].task.K, 0, share};
        ICL_TRY(add(d, "share", number, err));
    }
    return ICL_OK;
}

enum icl_status figures_diversity(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) {
    struct icl_params point[POINTS];
    struct figures_crowd crowd = {.point = point, .points = POINTS, .progress = progress, .rows = true};
    struct diversity d = {.model = figures_sim_model(params)};
    if (!isfinite(params->task.K))
        return ICL_ERR(err, ICL_EUSAGE, "[task] K = inf: the figure spans K/%d to %d K", 1 << REACH, 1 << REACH);
    for (size_t i = 0; i < POINTS; i++) {
        point[i] = *params;
        point[i].task.K = items_at(params, (double)i, STEPS);
        point[i].observe.samples = 2;
    }
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    d.table = *table;
    enum icl_status status = ICL_OK;
    if (params->memory.law != ICL_LAW_NONE) status = add_theory(params, &d, err);
    if (status == ICL_OK) status = figures_crowd_run(&crowd, err);
    if (status == ICL_OK) status = add_runs(&crowd, &d, err);
    figures_crowd_free(&crowd);
    return status;
}
