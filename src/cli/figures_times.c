/* figures_times.c -- when ICL is acquired, against N: many simulated runs, and theory from each run's own start. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/figures_crowd.h"
#include "cli/figures_sim.h"
#include "iclkin/predict.h"

enum { LENGTHS = 3, NUMBERS = 9 };

/* run     a run's start and its t_icl, and theory's from the same start
 * median  of a length: t_icl with the interval that holds it in 68 of 100 samples (low, high), theory's median
 * ranked  t_icl and theory over their median, and the share of runs that take longer
 * tail    skewness of t_icl and of theory; low, high: their 90 % quantiles over their medians
 * line    t_icl = slope N through the medians, its slope (low) and theory's (high)                             */
static const struct icl_column columns[2 + NUMBERS] = {
    {"curve", "text"},     {"simulated", "text"},  {"N", "items"},          {"seed", "1"},
    {"w0", "1"},           {"beta0", "1"},         {"t_icl", "lr x steps"}, {"theory", "lr x steps"},
    {"low", "lr x steps"}, {"high", "lr x steps"}, {"share", "1"},
};

struct times {
    struct icl_table *table;
    const char *model;
    size_t runs;
    double *seen, *said; /* shape (runs): of one length, sorted */
    double slope[2], lengths;
};

static enum icl_status add(const struct times *times, const char *curve, const double number[NUMBERS],
                           struct icl_err *err) {
    union icl_cell cells[2 + NUMBERS] = {{.text = curve}, {.text = times->model}};
    for (size_t i = 0; i < NUMBERS; i++) cells[2 + i].number = number[i];
    return icl_table_row(times->table, cells, err);
}

static enum icl_status add_runs(struct times *times, const struct figures_crowd *crowd, size_t point,
                                struct icl_err *err) {
    struct icl_params params = crowd->point[point];
    for (size_t i = 0; i < times->runs; i++) {
        const struct icl_train_result *const run = &crowd->member[point * times->runs + i].result;
        struct icl_traj_result predicted;
        params.init.w = run->w0;
        params.init.beta = run->beta0;
        ICL_TRY(icl_predict_times(&params, params.theory.level, ICL_TRAJ_TO_ICL, &predicted, err));
        times->seen[i] = run->t_icl.t;
        times->said[i] = predicted.t_icl;
        const double number[NUMBERS] = {
            (double)params.task.N, (double)(params.sim.seed + i), run->w0, run->beta0, run->t_icl.t, predicted.t_icl};
        ICL_TRY(add(times, "run", number, err));
    }
    qsort(times->seen, times->runs, sizeof *times->seen, figures_ascending);
    qsort(times->said, times->runs, sizeof *times->said, figures_ascending);
    return ICL_OK;
}

/* The rank of a sample's member that its median passes in 16 of 100 samples: half, less half of sqrt(runs). */
static size_t low_rank(size_t runs) {
    const double rank = floor((double)runs / 2 - sqrt((double)runs) / 2);
    return rank > 0 ? (size_t)rank : 0;
}

/* Never stays never. */
static double over(double t, double median) {
    return isfinite(t) ? t / median : INFINITY;
}
static double skewness(const double *sorted, size_t n) {
    return isfinite(sorted[n - 1]) ? gsl_stats_skew(sorted, 1, n) : INFINITY;
}

static enum icl_status add_length(struct times *times, double N, struct icl_err *err) {
    const size_t n = times->runs, low = low_rank(n);
    const double *const seen = times->seen, *const said = times->said;
    const double half = 0.5, most = 0.9;
    const double seen_median = figures_quantile(seen, n, half), said_median = figures_quantile(said, n, half);
    const double median[NUMBERS] = {N, 0, 0, 0, seen_median, said_median, seen[low], seen[n - 1 - low]};
    ICL_TRY(add(times, "median", median, err));
    const double tail[NUMBERS] = {N,
                                  0,
                                  0,
                                  0,
                                  skewness(seen, n),
                                  skewness(said, n),
                                  over(figures_quantile(seen, n, most), seen_median),
                                  over(figures_quantile(said, n, most), said_median)};
    ICL_TRY(add(times, "tail", tail, err));
    ICL_TRY(icl_table_break(times->table, err));
    for (size_t i = 0; i < n; i++) {
        const double share = 1 - ((double)i + half) / (double)n;
        const double ranked[NUMBERS] = {N, 0, 0,    0, over(seen[i], seen_median), over(said[i], said_median),
                                        0, 0, share};
        ICL_TRY(add(times, "ranked", ranked, err));
    }
    times->slope[0] += log(seen_median / N);
    times->slope[1] += log(said_median / N);
    times->lengths++;
    return icl_table_break(times->table, err);
}

/* Of the least squares of log(median/(slope N)): the geometric mean. */
static enum icl_status add_line(const struct times *times, double least, double most, struct icl_err *err) {
    const double seen = exp(times->slope[0] / times->lengths), said = exp(times->slope[1] / times->lengths);
    for (int end = 0; end < 2; end++) {
        const double N = end ? 1.25 * most : least / 1.25;
        const double number[NUMBERS] = {N, 0, 0, 0, seen * N, said * N, seen, said};
        ICL_TRY(add(times, "line", number, err));
    }
    return ICL_OK;
}

enum icl_status figures_times(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                              struct icl_err *err) {
    struct icl_params point[LENGTHS];
    struct figures_crowd crowd = {.point = point, .points = LENGTHS, .progress = progress};
    struct times times = {.model = figures_sim_model(params), .runs = params->ensemble.runs};
    for (size_t i = 0; i < LENGTHS; i++) {
        point[i] = *params;
        point[i].task.N <<= i;
    }
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    times.table = *table;
    enum icl_status status = icl_mem_alloc(&times.seen, times.runs, sizeof *times.seen, err);
    if (status == ICL_OK) status = icl_mem_alloc(&times.said, times.runs, sizeof *times.said, err);
    if (status == ICL_OK) status = figures_crowd_run(&crowd, err);
    for (size_t i = 0; i < LENGTHS && status == ICL_OK; i++) {
        status = add_runs(&times, &crowd, i, err);
        if (status == ICL_OK) status = add_length(&times, (double)point[i].task.N, err);
    }
    if (status == ICL_OK) status = add_line(&times, (double)point[0].task.N, (double)point[LENGTHS - 1].task.N, err);
    figures_crowd_free(&crowd);
    icl_mem_free(times.seen);
    icl_mem_free(times.said);
    return status;
}
