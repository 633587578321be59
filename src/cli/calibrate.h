/* calibrate.h -- the state of one `calibrate` command.
 *
 * Run r of size k is job k runs + r, its seed sim.seed + r. FILE.runs holds one row a job and clock, in that order;
 * FILE is made of it in the end.
 */
#ifndef ICLKIN_CLI_CALIBRATE_H
#define ICLKIN_CLI_CALIBRATE_H

#include "cli/cmd.h"
#include "iclkin/axis.h"
#include "theory/calibrate.h"

struct calibrate {
    const struct cmd_line *line;
    struct icl_axis axis;
    size_t sizes, runs, clocks;
    double *K;      /* shape (sizes), rising */
    uint64_t *step; /* shape (clocks) */
    double *s;      /* shape (clocks): lr x step */
    double weight[ICL_CALIBRATE_CLASSES];
    char path[CMD_PATH];               /* FILE.runs; empty: no file */
    struct icl_calibrate_point *point; /* shape (sizes, runs, clocks) */
    struct cmd_sink sink;
    size_t rows; /* that stand in the sink already and are still to be passed */
    const volatile sig_atomic_t *stop;
    struct cmd_progress progress;
};

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
