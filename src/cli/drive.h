/* drive.h -- a simulated run from its start, or from a checkpoint, to its end.
 *
 * A checkpoint is a file that holds the run's state, its rows so far and the seconds it took; it is replaced as a
 * whole.
 */
#ifndef ICLKIN_CLI_DRIVE_H
#define ICLKIN_CLI_DRIVE_H

#include "cli/cmd.h"
#include "iclkin/train.h"

struct drive {
    struct icl_train_run *run;
    const char *path; /* of the checkpoint, or NULL */
    double every;     /* seconds between checkpoints */
    const volatile sig_atomic_t *stop;
    void (*tick)(uint64_t step, void *context); /* about ten times a second */
    void *context;
    double *row; /* the rows so far, ICL_TRAIN_COLUMNS numbers each */
    size_t rows, room;
    double seconds; /* spent on the run, by this process and those before it */
};

/* The simulation that the parameters ask for: (S6) whole, or, where memory.law = none, with phi = 0. */
struct icl_train_setup cmd_drive_setup(const struct icl_params *params, bool rows);

/* Allocates the run and puts it at step 0. */
enum icl_status cmd_drive_start(struct drive *drive, const struct icl_train_setup *setup, struct icl_err *err);
/* Puts the run where its checkpoint left it. ICL_EUSAGE, the run unchanged, where the file is no checkpoint of it. */
enum icl_status cmd_drive_load(struct drive *drive, struct icl_err *err);
enum icl_status cmd_drive_save(struct drive *drive, struct icl_err *err);
/* Runs to the end; ICL_ESTOPPED, after a checkpoint, where *stop became non-zero. */
enum icl_status cmd_drive_run(struct drive *drive, struct icl_err *err);
void cmd_drive_free(struct drive *drive);

#endif
