/* figures_sim.c -- theory over simulation: one run, a band of seeds, the distribution of t_icl. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/drive.h"
#include "cli/figures_crowd.h"
#include "cli/figures_sim.h"
#include "iclkin/gauge.h"
#include "iclkin/predict.h"
#include "iclkin/traj.h"

/* ---- a trajectory as rows of a simulation ----------------------------------------------------------------------- */

static enum icl_status theory_sink(double t, const double *y, void *context, struct icl_err *err) {
    const struct figures_theory *theory = context;
    struct icl_observables o;
    icl_gauge_all(theory->gauge, y, &o);
    const double row[ICL_TRAIN_COLUMNS] = {[ICL_TRAIN_T] = t,
                                           [ICL_TRAIN_STEPS] = t / theory->lr,
                                           [ICL_TRAIN_W] = y[ICL_W],
                                           [ICL_TRAIN_BETA] = y[ICL_BETA],
                                           [ICL_TRAIN_S] = y[ICL_S],
                                           [ICL_TRAIN_C1] = o.c1,
                                           [ICL_TRAIN_C2] = o.c2,
                                           [ICL_TRAIN_C3] = o.c3,
                                           [ICL_TRAIN_LOSS_TRAIN] = o.loss_train,
                                           [ICL_TRAIN_LOSS_ICL] = o.loss_icl,
                                           [ICL_TRAIN_LOSS_IWL] = o.loss_iwl,
                                           [ICL_TRAIN_ACC_ICL] = o.acc_icl,
                                           [ICL_TRAIN_ACC_IWL] = o.acc_iwl};
    return theory->take(row, theory->context, err);
}

enum icl_status figures_sim_solve(const struct icl_params *params, struct figures_theory *theory,
                                  struct icl_traj_result *result, struct icl_err *err) {
    const enum icl_level level = params->theory.level;
    const size_t least = 401; /* rows: it is drawn as a line */
    struct icl_params finer = *params;
    struct icl_traj *traj = NULL;
    theory->gauge = NULL;
    theory->lr = params->train.lr;
    if (finer.observe.samples < least) finer.observe.samples = least;
    enum icl_status status = icl_gauge_alloc(&theory->gauge, params, level, params->task.K, true, err);
    if (status == ICL_OK) status = icl_traj_alloc(&traj, &finer, level, params->task.K, err);
    if (status == ICL_OK)
        status =
            icl_traj_run(traj, params->init.w, params->init.beta, ICL_TRAJ_TO_END, theory_sink, theory, result, err);
    icl_traj_free(traj);
    icl_gauge_free(theory->gauge);
    return status;
}

const char *figures_sim_model(const struct icl_params *params) {
    switch (cmd_drive_setup(params, false).model) {
    case ICL_TRAIN_TRANSFORMER:
        return "one-layer transformer";
    case ICL_TRAIN_ATTENTION:
        return "attention alone";
    default:
        return "MLP and attention";
    }
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

struct writer {
    struct icl_table *table;
    const char *curve, *model;
};

static enum icl_status add_run_row(const double row[ICL_TRAIN_COLUMNS], void *context, struct icl_err *err) {
    const struct writer *writer = context;
    union icl_cell cells[2 + ICL_TRAIN_COLUMNS] = {{.text = writer->curve}, {.text = writer->model}};
    for (size_t i = 0; i < ICL_TRAIN_COLUMNS; i++) cells[2 + i].number = row[i];
    return icl_table_row(writer->table, cells, err);
}

static void tick(uint64_t step, void *context) {
    cmd_progress_to(context, (size_t)step);
}

enum icl_status figures_sim_simulate(const struct icl_params *params, struct cmd_progress *progress,
                                     struct drive *drive, struct icl_err *err) {
    const struct icl_train_setup setup = cmd_drive_setup(params, true);
    drive->stop = cmd_stop_install();
    drive->tick = tick;
    drive->context = progress;
    ICL_TRY(cmd_drive_start(drive, &setup, err));
    progress->total = (size_t)icl_train_total(drive->run);
    return cmd_drive_run(drive, err);
}

/* A row that marks a time; its other columns are 0. */
static enum icl_status add_time(struct writer *writer, const char *curve, double t, struct icl_err *err) {
    const double row[ICL_TRAIN_COLUMNS] = {[ICL_TRAIN_T] = t};
    writer->curve = curve;
    ICL_TRY(icl_table_break(writer->table, err));
    return isfinite(t) ? add_run_row(row, writer, err) : ICL_OK;
}

enum icl_status figures_run(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                            struct icl_err *err) {
    struct icl_column columns[2 + ICL_TRAIN_COLUMNS] = {{"curve", "text"}, {"simulated", "text"}};
    struct writer writer = {.curve = "theory", .model = figures_sim_model(params)};
    struct figures_theory theory = {.take = add_run_row, .context = &writer};
    struct drive drive = {0};
    struct icl_traj_result predicted;
    struct icl_train_result measured = {0};
    memcpy(columns + 2, icl_train_columns, sizeof icl_train_columns);
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    writer.table = *table;
    enum icl_status status = figures_sim_simulate(params, progress, &drive, err);
    if (status == ICL_OK) icl_train_result(drive.run, &measured);
    struct icl_params started = *params;
    started.init.w = measured.w0;
    started.init.beta = measured.beta0;
    if (status == ICL_OK) status = figures_sim_solve(&started, &theory, &predicted, err);
    if (status == ICL_OK) status = icl_table_break(*table, err);
    writer.curve = "simulation";
    for (size_t i = 0; i < drive.rows && status == ICL_OK; i++)
        status = add_run_row(drive.row + i * ICL_TRAIN_COLUMNS, &writer, err);
    if (status == ICL_OK) status = add_time(&writer, "theory t_icl", predicted.t_icl, err);
    if (status == ICL_OK) status = add_time(&writer, "simulation t_icl", measured.t_icl.t, err);
    cmd_drive_free(&drive);
    return status;
}

/* ---- band ------------------------------------------------------------------------------------------------------- */

enum { BANDS = 3, PLACES = 5, BAND_COLUMNS = 3 + BANDS * PLACES };

/* Of each: the least, the quartiles and the median, and the most over the runs. */
static const enum icl_train_column banded[BANDS] = {ICL_TRAIN_W, ICL_TRAIN_BETA, ICL_TRAIN_ACC_ICL};
static const struct icl_column band_columns[BAND_COLUMNS] = {
    {"curve", "text"}, {"simulated", "text"},  {"t", "lr x steps"},   {"w_least", "1"},       {"w_lower", "1"},
    {"w", "1"},        {"w_upper", "1"},       {"w_most", "1"},       {"beta_least", "1"},    {"beta_lower", "1"},
    {"beta", "1"},     {"beta_upper", "1"},    {"beta_most", "1"},    {"acc_icl_least", "1"}, {"acc_icl_lower", "1"},
    {"acc_icl", "1"},  {"acc_icl_upper", "1"}, {"acc_icl_most", "1"},
};

/* A curve is a band of no width. */
static enum icl_status add_curve_row(const double row[ICL_TRAIN_COLUMNS], void *context, struct icl_err *err) {
    const struct writer *writer = context;
    union icl_cell cells[BAND_COLUMNS] = {
        {.text = writer->curve}, {.text = writer->model}, {.number = row[ICL_TRAIN_T]}};
    for (size_t b = 0; b < BANDS; b++)
        for (size_t p = 0; p < PLACES; p++) cells[3 + b * PLACES + p].number = row[banded[b]];
    return icl_table_row(writer->table, cells, err);
}

static enum icl_status add_band(const struct figures_crowd *crowd, struct writer *writer, struct icl_err *err) {
    const double quarter = 0.25;
    double *values;
    enum icl_status status = ICL_OK;
    ICL_TRY(icl_mem_alloc(&values, crowd->count, sizeof *values, err));
    writer->curve = "seeds";
    for (size_t r = 0; r < crowd->member[0].drive.rows && status == ICL_OK; r++) {
        const double *first = crowd->member[0].drive.row + r * ICL_TRAIN_COLUMNS;
        union icl_cell cells[BAND_COLUMNS] = {
            {.text = writer->curve}, {.text = writer->model}, {.number = first[ICL_TRAIN_T]}};
        for (size_t b = 0; b < BANDS; b++) {
            for (size_t i = 0; i < crowd->count; i++)
                values[i] = crowd->member[i].drive.row[r * ICL_TRAIN_COLUMNS + banded[b]];
            qsort(values, crowd->count, sizeof *values, figures_ascending);
            for (size_t p = 0; p < PLACES; p++)
                cells[3 + b * PLACES + p].number = figures_quantile(values, crowd->count, (double)p * quarter);
        }
        status = icl_table_row(writer->table, cells, err);
    }
    icl_mem_free(values);
    return status;
}

enum icl_status figures_band(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                             struct icl_err *err) {
    struct figures_crowd crowd = {.point = params, .points = 1, .progress = progress, .rows = true};
    struct writer writer = {.curve = "theory", .model = figures_sim_model(params)};
    struct figures_theory theory = {.take = add_curve_row, .context = &writer};
    struct icl_traj_result predicted;
    ICL_TRY(icl_table_alloc(table, BAND_COLUMNS, band_columns, err));
    writer.table = *table;
    enum icl_status status = figures_sim_solve(params, &theory, &predicted, err);
    if (status == ICL_OK) status = icl_table_break(*table, err);
    if (status == ICL_OK) status = figures_crowd_run(&crowd, err);
    if (status == ICL_OK) status = add_band(&crowd, &writer, err);
    figures_crowd_free(&crowd);
    return status;
}

/* ---- histogram -------------------------------------------------------------------------------------------------- */

enum { MOST_BINS = 40 };

/* Rows of curve run: a run's start, its t_icl and theory's from the same start. bin: from t_icl to theory, with the
 * number of runs in each. total: runs that never acquired ICL, by simulation and by theory; theory: the
 * Kolmogorov-Smirnov distance. */
static const struct icl_column histogram_columns[] = {
    {"curve", "text"},
    {"simulated", "text"},
    {"seed", "1"},
    {"w0", "1"},
    {"beta0", "1"},
    {"t_icl", "lr x steps"},
    {"theory", "lr x steps"},
    {"runs", "runs"},
    {"runs_theory", "runs"},
};

struct times {
    size_t count;
    double *seen, *said; /* shape (count) */
    struct icl_table *table;
    const char *model;
};

static enum icl_status add_times(const struct times *times, const char *curve, const double number[7],
                                 struct icl_err *err) {
    union icl_cell cells[sizeof histogram_columns / sizeof *histogram_columns] = {{.text = curve},
                                                                                  {.text = times->model}};
    for (size_t i = 0; i < 7; i++) cells[2 + i].number = number[i];
    return icl_table_row(times->table, cells, err);
}

static enum icl_status add_runs(const struct figures_crowd *crowd, const struct times *times, struct icl_err *err) {
    for (size_t i = 0; i < crowd->count; i++) {
        struct icl_params params = *crowd->point;
        struct icl_traj_result predicted;
        const struct icl_train_result *seen = &crowd->member[i].result;
        params.init.w = seen->w0;
        params.init.beta = seen->beta0;
        ICL_TRY(icl_predict_times(&params, params.theory.level, ICL_TRAJ_TO_ICL, &predicted, err));
        times->seen[i] = seen->t_icl.t;
        times->said[i] = predicted.t_icl;
        const double row[] = {
            (double)(params.sim.seed + i), seen->w0, seen->beta0, times->seen[i], times->said[i], 0, 0};
        ICL_TRY(add_times(times, "run", row, err));
    }
    qsort(times->seen, times->count, sizeof *times->seen, figures_ascending);
    qsort(times->said, times->count, sizeof *times->said, figures_ascending);
    return icl_table_break(times->table, err);
}

static size_t below(const double *sorted, size_t count, double t) {
    size_t n = 0;
    while (n < count && sorted[n] < t) n++;
    return n;
}

/* Bins of one width that is 1, 2 or 5 times a power of ten, about as many as the square root of the runs. */
static double bin_width(double span, size_t count) {
    const double wanted = span / fmax(8, sqrt((double)count));
    const double ten = pow(10, floor(log10(wanted)));
    return ten * (wanted >= 5 * ten ? 5 : wanted >= 2 * ten ? 2 : 1);
}

static enum icl_status add_bins(const struct times *times, struct icl_err *err) {
    const size_t n = times->count, seen = below(times->seen, n, INFINITY), said = below(times->said, n, INFINITY);
    double distance = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            const double t = nextafter(k == 0 ? times->seen[i] : times->said[i], INFINITY);
            const double apart = (double)below(times->seen, n, t) - (double)below(times->said, n, t);
            distance = fmax(distance, fabs(apart) / (double)n);
        }
    const double totals[] = {0, 0, 0, INFINITY, distance, (double)(n - seen), (double)(n - said)};
    ICL_TRY(add_times(times, "total", totals, err));
    if (seen == 0 || said == 0) return ICL_OK;
    const double least = fmin(times->seen[0], times->said[0]);
    const double most = fmax(times->seen[seen - 1], times->said[said - 1]);
    const double width = bin_width(fmax(most - least, 1e-6 * most), n);
    double t = width * floor(least / width);
    for (size_t i = 0; t <= most && i < MOST_BINS; i++, t += width) {
        const double in_seen = (double)(below(times->seen, n, t + width) - below(times->seen, n, t));
        const double in_said = (double)(below(times->said, n, t + width) - below(times->said, n, t));
        const double row[] = {0, 0, 0, t, t + width, in_seen, in_said};
        ICL_TRY(icl_table_break(times->table, err));
        ICL_TRY(add_times(times, "bin", row, err));
    }
    return ICL_OK;
}

enum icl_status figures_histogram(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) {
    struct figures_crowd crowd = {.point = params, .points = 1, .progress = progress};
    struct times times = {.count = params->ensemble.runs, .model = figures_sim_model(params)};
    ICL_TRY(icl_table_alloc(table, sizeof histogram_columns / sizeof *histogram_columns, histogram_columns, err));
    times.table = *table;
    enum icl_status status = icl_mem_alloc(&times.seen, times.count, sizeof *times.seen, err);
    if (status == ICL_OK) status = icl_mem_alloc(&times.said, times.count, sizeof *times.said, err);
    if (status == ICL_OK) status = figures_crowd_run(&crowd, err);
    if (status == ICL_OK) status = add_runs(&crowd, &times, err);
    if (status == ICL_OK) status = add_bins(&times, err);
    figures_crowd_free(&crowd);
    icl_mem_free(times.seen);
    icl_mem_free(times.said);
    return status;
}
