/* ensemble_plan.c -- which runs an ensemble is made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ensemble.h"

static const double largest_seed = 9007199254740991;

static enum icl_status read_axis(struct ensemble *ensemble, const char *spec, struct icl_err *err) {
    struct icl_axis *axis = &ensemble->axis[ensemble->axes];
    ICL_TRY(icl_axis_parse(axis, spec, err));
    if (strcmp(axis->param->section, "ensemble") == 0 || strcmp(axis->name, "sim.seed") == 0)
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: the runs of a point are ensemble.runs seeds from sim.seed on", spec);
    if (ensemble->axes > 0 && ensemble->axis[0].param == axis->param)
        return ICL_ERR(err, ICL_EUSAGE, "-x and -y: %s on both", axis->name);
    ensemble->axes++;
    return ICL_OK;
}

static enum icl_status read_axes(struct ensemble *ensemble, struct icl_err *err) {
    const struct cmd_line *line = ensemble->line;
    char x[ICL_TEXT_SIZE], y[ICL_TEXT_SIZE];
    const bool given = line->xaxis || line->yaxis;
    const char *const xaxis = given ? line->xaxis : cmd_header_value(line, "axis.x", x);
    const char *const yaxis = given ? line->yaxis : cmd_header_value(line, "axis.y", y);
    if (yaxis && !xaxis) return ICL_ERR(err, ICL_EUSAGE, "-y: needs -x");
    if (xaxis) ICL_TRY(read_axis(ensemble, xaxis, err));
    if (yaxis) ICL_TRY(read_axis(ensemble, yaxis, err));
    return ICL_OK;
}

/* Whether point i of an axis is set to the value of an earlier one; they can coincide only where rounded, and next to
 * each other, or where both ends do. */
static enum icl_status repeats(const struct ensemble *ensemble, const struct icl_axis *axis, size_t i, bool *same,
                               struct icl_err *err) {
    struct icl_params params = ensemble->line->params;
    double before, value;
    *same = false;
    if (i == 0) return ICL_OK;
    ICL_TRY(icl_axis_set(axis, i - 1, &params, &before, err));
    ICL_TRY(icl_axis_set(axis, i, &params, &value, err));
    *same = value == before;
    return ICL_OK;
}

static enum icl_status place_points(struct ensemble *ensemble, struct icl_err *err) {
    const size_t nx = ensemble->axes > 0 ? ensemble->axis[0].n : 1, ny = ensemble->axes > 1 ? ensemble->axis[1].n : 1;
    ICL_TRY(icl_mem_alloc(&ensemble->point, nx * ny, sizeof *ensemble->point, err));
    for (size_t y = 0; y < ny; y++) {
        bool same = false;
        if (ensemble->axes > 1) ICL_TRY(repeats(ensemble, &ensemble->axis[1], y, &same, err));
        for (size_t x = 0; x < nx && !same; x++) {
            bool twice = false;
            if (ensemble->axes > 0) ICL_TRY(repeats(ensemble, &ensemble->axis[0], x, &twice, err));
            if (twice) continue;
            ensemble->point[ensemble->points][0] = x;
            ensemble->point[ensemble->points++][1] = y;
        }
    }
    return ICL_OK;
}

/* A whole number in the environment. */
static bool from_environment(const char *name, long *value) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return false;
    *value = strtol(text, &end, 10);
    return *end == '\0';
}

/* A job array numbers its tasks MIN, MIN + STEP, ...; a list with gaps does not say which of its tasks this one is. */
static enum icl_status shard_of_slurm(struct ensemble *ensemble, struct icl_err *err) {
    long id, count, first = 0, step = 1;
    const char *const task = getenv("SLURM_ARRAY_TASK_ID"), *const tasks = getenv("SLURM_ARRAY_TASK_COUNT");
    if (!task || !*task) return ICL_OK;
    if (!from_environment("SLURM_ARRAY_TASK_ID", &id) || !from_environment("SLURM_ARRAY_TASK_COUNT", &count))
        return ICL_ERR(err, ICL_EUSAGE, "SLURM_ARRAY_TASK_ID = %s, SLURM_ARRAY_TASK_COUNT = %s: say --shard i/n", task,
                       tasks ? tasks : "not set");
    const bool known = from_environment("SLURM_ARRAY_TASK_MIN", &first);
    if (!known) first = 0;
    if (!from_environment("SLURM_ARRAY_TASK_STEP", &step) || step < 1) step = 1;
    if (count < 1 || id < first || (id - first) % step != 0 || (id - first) / step >= count)
        return ICL_ERR(err, ICL_EUSAGE,
                       "SLURM_ARRAY_TASK_ID = %ld is not among the %ld tasks from %ld in steps of %ld: say --shard i/n",
                       id, count, first, step);
    ensemble->shard = (size_t)((id - first) / step);
    ensemble->shards = (size_t)count;
    return ICL_OK;
}

static enum icl_status read_shard(struct ensemble *ensemble, struct icl_err *err) {
    const char *text = ensemble->line->shard;
    unsigned long i, n;
    int length = 0;
    ensemble->shards = 1;
    if (!text) return shard_of_slurm(ensemble, err);
    if (sscanf(text, "%9lu/%9lu%n", &i, &n, &length) != 2 || text[length] != '\0' || text[0] == '-' || i < 1 || i > n)
        return ICL_ERR(err, ICL_EUSAGE, "--shard %s: expected i/n with 1 <= i <= n", text);
    ensemble->shard = i - 1;
    ensemble->shards = n;
    return ICL_OK;
}

enum icl_status cmd_ensemble_plan(struct ensemble *ensemble, struct icl_err *err) {
    const struct icl_params *params = &ensemble->line->params;
    ensemble->runs = params->ensemble.runs;
    if ((double)params->sim.seed + (double)(ensemble->runs - 1) > largest_seed)
        return ICL_ERR(err, ICL_EUSAGE, "[sim] seed = %zu: seeds of %zu runs would pass %.0f", params->sim.seed,
                       ensemble->runs, largest_seed);
    ICL_TRY(read_axes(ensemble, err));
    ICL_TRY(read_shard(ensemble, err));
    return place_points(ensemble, err);
}

/* The kernels that the runs will use: those of a network of the same width. */
static enum icl_status add_kernel(const struct ensemble *ensemble, struct icl_table *table, struct icl_err *err) {
    struct icl_train_setup setup = cmd_drive_setup(&ensemble->line->params, false);
    struct icl_train_run *run;
    setup.task = (struct icl_task){.K = INFINITY, .N = 2, .D = 1, .copies = 1};
    setup.train = (struct icl_train){.lr = 1, .batch = 1, .t_max = 1};
    ICL_TRY(icl_train_alloc(&run, &setup, err));
    const enum icl_status status = icl_table_meta(table, err, "kernel", "%s", icl_train_kernel(run));
    icl_train_free(run);
    return status;
}

/* A file that outlives a change of theory, of its parameters too. */
static enum icl_status add_bare(const struct icl_params *params, struct icl_table *table, struct icl_err *err) {
    static const char *const theory[] = {"theory", "memory", "solver", "calibrate"};
    struct icl_params preset;
    icl_params_default(&preset);
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char key[ICL_AXIS_NAME], value[ICL_TEXT_SIZE], usual[ICL_TEXT_SIZE];
        bool skipped = false;
        icl_params_text(params, row, value);
        for (size_t k = 0; k < sizeof theory / sizeof *theory; k++)
            skipped = skipped || strcmp(row->section, theory[k]) == 0;
        if (skipped) skipped = strcmp(value, icl_params_text(&preset, row, usual)) == 0;
        if (skipped || !icl_params_stated(row)) continue;
        snprintf(key, sizeof key, "%.20s.%.20s", row->section, row->key);
        ICL_TRY(icl_table_meta(table, err, key, "%s", value));
    }
    return ICL_OK;
}

static enum icl_status fill_head(const struct ensemble *ensemble, struct icl_table *table, struct icl_err *err) {
    static const char *const name[ENSEMBLE_AXES] = {"axis.x", "axis.y"};
    char spec[ICL_TEXT_SIZE];
    ICL_TRY(cmd_head(table, ensemble->line->command, err));
    for (size_t k = 0; k < ensemble->axes && k < ENSEMBLE_AXES; k++)
        ICL_TRY(icl_table_meta(table, err, name[k], "%s", icl_axis_text(&ensemble->axis[k], spec)));
    ICL_TRY(add_kernel(ensemble, table, err));
    return (ensemble->bare ? add_bare : icl_params_meta)(&ensemble->line->params, table, err);
}

const char *cmd_ensemble_watched(const struct ensemble_watch *watch, char name[ENSEMBLE_NAME]) {
    char number[ICL_NUMBER_SIZE];
    snprintf(name, ENSEMBLE_NAME, "%s@%s", icl_train_columns[watch->column].name, icl_table_number(watch->t, number));
    return name;
}

enum icl_status cmd_ensemble_head(const struct ensemble *ensemble, struct cmd_text *head, struct icl_err *err) {
    static const struct icl_column result[] = {{"seed", "1"},           {"w0", "1"},
                                               {"beta0", "1"},          {"t_icl", "lr x steps"},
                                               {"t_iwl", "lr x steps"}, {"t_loss", "lr x steps"},
                                               {"outcome", "text"},     {"steps", "SGD steps"},
                                               {"seconds", "s"}};
    enum { RESULTS = sizeof result / sizeof *result, MOST = ENSEMBLE_AXES + ENSEMBLE_WATCHES + RESULTS };
    struct icl_column column[MOST];
    char name[ENSEMBLE_WATCHES][ENSEMBLE_NAME];
    struct icl_table *table;
    const char *bytes;
    size_t length, n = 0;
    for (size_t k = 0; k < ensemble->axes; k++)
        column[n++] = (struct icl_column){ensemble->axis[k].name, ensemble->axis[k].param->unit};
    column[n++] = result[0];
    for (size_t i = 0; i < ensemble->watches; i++)
        column[n++] = (struct icl_column){cmd_ensemble_watched(&ensemble->watch[i], name[i]),
                                          icl_train_columns[ensemble->watch[i].column].unit};
    memcpy(column + n, result + 1, sizeof result - sizeof *result);
    n += RESULTS - 1;
    ICL_TRY(icl_table_alloc(&table, n, column, err));
    enum icl_status status = fill_head(ensemble, table, err);
    if (status == ICL_OK) status = icl_table_text(table, &bytes, &length, err);
    if (status == ICL_OK) status = cmd_text_add(head, err, "%s", bytes);
    icl_table_free(table);
    return status;
}

enum icl_status cmd_ensemble_params(const struct ensemble *ensemble, size_t job, struct icl_params *params,
                                    struct icl_err *err) {
    const size_t *place = ensemble->point[job / ensemble->runs];
    double value;
    *params = ensemble->line->params;
    params->sim.seed += job % ensemble->runs;
    for (size_t k = 0; k < ensemble->axes; k++)
        ICL_TRY(icl_axis_set(&ensemble->axis[k], place[k], params, &value, err));
    return icl_params_check(params, err);
}

const char *cmd_ensemble_key(const struct ensemble *ensemble, size_t job, char key[ENSEMBLE_KEY]) {
    const size_t *place = ensemble->point[job / ensemble->runs];
    struct icl_params params = ensemble->line->params;
    char number[ICL_NUMBER_SIZE];
    int at = 0;
    for (size_t k = 0; k < ensemble->axes; k++) {
        double value = NAN;
        /* the ends of an axis are in range, and so is all between them */
        if (icl_axis_set(&ensemble->axis[k], place[k], &params, &value, NULL) != ICL_OK) value = NAN;
        at += snprintf(key + at, ENSEMBLE_KEY - (size_t)at, "%s\t", icl_table_number(value, number));
    }
    snprintf(key + at, ENSEMBLE_KEY - (size_t)at, "%zu\t", params.sim.seed + job % ensemble->runs);
    return key;
}

void cmd_ensemble_free(struct ensemble *ensemble) {
    icl_mem_free(ensemble->point);
    icl_mem_free(ensemble->job);
    ensemble->point = NULL;
    ensemble->job = NULL;
}
