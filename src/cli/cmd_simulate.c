/* cmd_simulate.c -- one SGD run -> its curve. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/drive.h"

struct simulation {
    struct drive drive;
    struct cmd_progress progress;
    char path[CMD_PATH]; /* of the checkpoint */
    bool resumed;
};

static void tick(uint64_t step, void *context) {
    cmd_progress_to(context, (size_t)step);
}

static bool exists(const char *path) {
    struct stat is;
    return stat(path, &is) == 0;
}

/* Whether an earlier run of the same parameters has written the whole output. */
static bool finished(const struct cmd_line *line, const struct icl_train_setup *setup) {
    struct icl_table *table;
    struct icl_params params;
    if (icl_table_read(&table, line->output, NULL) != ICL_OK) return false;
    const char *command = icl_table_get_meta(table, "command");
    const bool ours = command && strcmp(command, line->command) == 0;
    icl_table_free(table);
    icl_params_default(&params);
    if (!ours || icl_params_load(&params, line->output, NULL) != ICL_OK) return false;
    const struct icl_train_setup other = cmd_drive_setup(&params, true);
    return icl_train_fingerprint(&other) == icl_train_fingerprint(setup);
}

/* Where the checkpoint goes: beside a regular FILE. What stands there already is carried on with, or refused. */
static enum icl_status find_checkpoint(const struct cmd_line *line, struct simulation *sim, struct icl_err *err) {
    struct stat is;
    if (line->resume && !line->output) return ICL_ERR(err, ICL_EUSAGE, "--resume: needs -o FILE");
    if (!line->output || (stat(line->output, &is) == 0 && !S_ISREG(is.st_mode))) return ICL_OK;
    const int length = snprintf(sim->path, sizeof sim->path, "%s.checkpoint", line->output);
    if (length < 0 || length >= CMD_PATH) return ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
    sim->drive.path = sim->path;
    if (exists(sim->path) && !line->resume)
        return ICL_ERR(err, ICL_EUSAGE, "%s: exists; --resume carries on with it, or remove it", sim->path);
    return ICL_OK;
}

static enum icl_status add_time(struct icl_table *table, const char *key, const struct icl_train_time *time,
                                struct icl_err *err) {
    char number[ICL_NUMBER_SIZE], name[ICL_NUMBER_SIZE];
    ICL_TRY(icl_table_meta(table, err, key, "%s", icl_table_number(time->t, number)));
    snprintf(name, sizeof name, "%s_error", key);
    return icl_table_meta(table, err, name, "%s", icl_table_number(time->error, number));
}

static enum icl_status fill(const struct cmd_line *line, const struct simulation *sim, struct icl_table *table,
                            struct icl_err *err) {
    struct icl_train_result result;
    icl_train_result(sim->drive.run, &result);
    ICL_TRY(cmd_head(table, "simulate", err));
    ICL_TRY(add_time(table, "t_icl", &result.t_icl, err));
    ICL_TRY(add_time(table, "t_iwl", &result.t_iwl, err));
    ICL_TRY(add_time(table, "t_loss", &result.t_loss, err));
    ICL_TRY(icl_table_meta(table, err, "outcome", "%s", icl_train_outcome_name(result.outcome)));
    ICL_TRY(icl_table_meta(table, err, "kernel", "%s", icl_train_kernel(sim->drive.run)));
    ICL_TRY(icl_params_meta(&line->params, table, err));
    for (size_t i = 0; i < sim->drive.rows; i++)
        ICL_TRY(icl_table_numbers(table, sim->drive.row + i * ICL_TRAIN_COLUMNS, err));
    return ICL_OK;
}

static enum icl_status write_table(const struct cmd_line *line, const struct simulation *sim, struct icl_err *err) {
    struct icl_table *table;
    ICL_TRY(icl_table_alloc(&table, ICL_TRAIN_COLUMNS, icl_train_columns, err));
    enum icl_status status = fill(line, sim, table, err);
    if (status == ICL_OK) status = icl_table_write(table, line->output, err);
    icl_table_free(table);
    if (status == ICL_OK && sim->drive.path && unlink(sim->drive.path) != 0 && errno != ENOENT)
        status = ICL_ERR(err, ICL_EIO, "%s: %s", sim->drive.path, strerror(errno));
    return status;
}

/* A first checkpoint at once: a place that cannot be written to is refused before the work, not after it. */
static enum icl_status start(const struct cmd_line *line, const struct icl_train_setup *setup, struct simulation *sim,
                             struct icl_err *err) {
    struct icl_train_result at;
    ICL_TRY(cmd_drive_start(&sim->drive, setup, err));
    sim->resumed = sim->drive.path && exists(sim->drive.path);
    if (sim->resumed) ICL_TRY(cmd_drive_load(&sim->drive, err));
    if (sim->drive.path && !sim->resumed) ICL_TRY(cmd_drive_save(&sim->drive, err));
    icl_train_result(sim->drive.run, &at);
    cmd_progress_start(&sim->progress, line, "simulate", (size_t)icl_train_total(sim->drive.run));
    sim->progress.first = sim->progress.done = (size_t)at.steps;
    if (sim->resumed) cmd_remark(line, "carries on at step %llu", (unsigned long long)at.steps);
    return ICL_OK;
}

enum icl_status cmd_simulate(const struct cmd_line *line, struct icl_err *err) {
    const struct icl_train_setup setup = cmd_drive_setup(&line->params, true);
    struct simulation sim = {.drive = {.every = line->params.sim.checkpoint, .stop = cmd_stop_install(), .tick = tick}};
    sim.drive.context = &sim.progress;
    ICL_TRY(find_checkpoint(line, &sim, err));
    if (line->resume && sim.drive.path && !exists(sim.path) && finished(line, &setup)) {
        cmd_remark(line, "%s: finished already", line->output);
        return ICL_OK;
    }
    enum icl_status status = start(line, &setup, &sim, err);
    if (status == ICL_OK) status = cmd_drive_run(&sim.drive, err);
    cmd_progress_end(&sim.progress);
    if (status == ICL_OK) status = write_table(line, &sim, err);
    if (status == ICL_ESTOPPED && sim.drive.path) cmd_remark(line, "stopped; --resume carries on with %s", sim.path);
    /* A run that diverged would only diverge again. */
    if (status == ICL_ENUMERIC && sim.drive.path) unlink(sim.drive.path);
    cmd_drive_free(&sim.drive);
    return status;
}
