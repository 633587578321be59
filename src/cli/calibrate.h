/* calibrate.h -- the state of one `calibrate` command.
 *
 * Jobs: the plain runs first, all of one size together, then those of each offset; run r has the seed sim.seed + r.
 * FILE.runs holds one row a job and clock, in that order; FILE is made of it in the end.
 */
#ifndef ICLKIN_CLI_CALIBRATE_H
#define ICLKIN_CLI_CALIBRATE_H

#include "cli/cmd.h"
#include "iclkin/axis.h"
#include "theory/calibrate.h"

struct calibrate {
    const struct cmd_line *line;
    struct icl_axis axis, offsets_axis;
    bool has_offsets; /* -y was given */
    size_t offsets, sizes, runs, responses, clocks;
    double *offset; /* shape (offsets), rising from 0 */
    double *K;      /* shape (sizes), rising */
    double weight[ICL_CALIBRATE_CLASSES];
    char path[CMD_PATH];               /* FILE.runs; empty: no file */
    struct icl_calibrate_point *point; /* shape (jobs, clocks) */
    uint64_t *begin;                   /* shape (jobs): the step at which the offset is switched on; 0 at offset 0 */
    struct cmd_sink sink;
    size_t rows; /* that stand in the sink already and are still to be passed */
    const volatile sig_atomic_t *stop;
    struct cmd_progress progress;
};

/* What a job trains. */
struct calibrate_job {
    double K, offset;
    size_t size, run; /* K = K[size] */
    uint64_t seed;
};
struct calibrate_job cmd_calibrate_job(const struct calibrate *c, size_t job);
size_t cmd_calibrate_jobs(const struct calibrate *c);
/* The first of the jobs of one offset and size. */
size_t cmd_calibrate_first(const struct calibrate *c, size_t offset, size_t size);
/* Clock j of the plain runs of a size: as it stands in the table, and rounded to a step; those under an offset are
 * calibrate.length as far apart. */
double cmd_calibrate_clock(const struct calibrate *c, size_t size, size_t j);
uint64_t cmd_calibrate_step(const struct calibrate *c, const struct calibrate_job *job, size_t j);

/* The header of either file: what follows `command` and the axis. */
enum icl_status cmd_calibrate_head(const struct calibrate *c, const char *command, struct icl_table *table,
                                   struct icl_err *err);
/* The numbers in rows of FILE.runs into point; *jobs: how many are whole. */
enum icl_status cmd_calibrate_restore(struct calibrate *c, const char *rows, size_t *jobs, struct icl_err *err);
/* A job's row at one clock. */
enum icl_status cmd_calibrate_row(const struct calibrate *c, size_t job, size_t clock, struct cmd_text *text,
                                  struct icl_err *err);
/* Everything before the first row of FILE.runs. */
enum icl_status cmd_calibrate_opening(const struct calibrate *c, struct cmd_text *head, struct icl_err *err);
/* Averages, fits, writes FILE, and says on stderr what a reader must know. */
enum icl_status cmd_calibrate_finish(const struct calibrate *c, struct icl_err *err);

#endif
