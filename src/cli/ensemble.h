/* ensemble.h -- the state of an ensemble: its list of runs, and their rows.
 *
 * Run r of point p is job p runs + r; its seed is sim.seed + r and its row begins with the point's values and the seed,
 * which is its key. Coinciding points of an axis are one point. `ensemble` makes one, `validate` several side by side.
 */
#ifndef ICLKIN_CLI_ENSEMBLE_H
#define ICLKIN_CLI_ENSEMBLE_H

#include <pthread.h>

#include "cli/cmd.h"
#include "cli/drive.h"
#include "iclkin/axis.h"
#include "run/comm.h"

enum { ENSEMBLE_AXES = 2, ENSEMBLE_KEY = 3 * ICL_NUMBER_SIZE, ENSEMBLE_PARTS = 1000 };
enum { ENSEMBLE_WATCHES = 32, ENSEMBLE_NAME = 64 };
/* Indices of a tally, after those of enum icl_train_outcome. */
enum { ENSEMBLE_FAILED = ICL_TRAIN_TRANSIENT + 1, ENSEMBLE_OUTCOMES };

/* What the rows so far say, for the closing line. */
struct ensemble_tally {
    size_t outcome[ENSEMBLE_OUTCOMES];
    size_t never; /* t_icl = inf: not acquired by t_max */
};

/* A column of a run's rows that is wanted at a time: a column of its own, after the key. */
struct ensemble_watch {
    enum icl_train_column column;
    double t;
};

/* The bar that ensembles side by side share. */
struct ensemble_board {
    pthread_mutex_t lock; /* of the rest, and of stderr */
    struct cmd_progress progress;
    size_t progressed; /* ENSEMBLE_PARTS a run */
};

struct ensemble {
    const struct cmd_line *line;
    struct icl_axis axis[ENSEMBLE_AXES];
    size_t axes, points, runs;
    size_t (*point)[ENSEMBLE_AXES]; /* the place of each point on its axes */
    size_t shard, shards;           /* this is shard 0 <= shard < shards */
    size_t *job;                    /* those to do, in order */
    size_t jobs;
    struct cmd_sink sink;
    char folder[CMD_PATH]; /* of checkpoints; empty: none */
    const volatile sig_atomic_t *stop;
    struct icl_comm *comm;
    struct icl_comm_work work;
    struct ensemble_tally tally;
    struct ensemble_board *board;
    const struct ensemble_watch *watch;
    size_t watches;
    bool bare;                    /* its header says of the theory's sections only what differs from the defaults */
    char prefix[ICL_NUMBER_SIZE]; /* before a row on its way to rank 0 */
};

/* Axes, points and shard, from the command line, an earlier table's header and SLURM's variables. */
enum icl_status cmd_ensemble_plan(struct ensemble *ensemble, struct icl_err *err);
/* Everything before the first row. */
enum icl_status cmd_ensemble_head(const struct ensemble *ensemble, struct cmd_text *head, struct icl_err *err);
/* The name of a watch's column: "w@645". Returns name. */
const char *cmd_ensemble_watched(const struct ensemble_watch *watch, char name[ENSEMBLE_NAME]);
/* The parameters of a job, its seed included. */
enum icl_status cmd_ensemble_params(const struct ensemble *ensemble, size_t job, struct icl_params *params,
                                    struct icl_err *err);
/* The beginning of a job's row: its values and its seed, each with a tab after it. Returns key. */
const char *cmd_ensemble_key(const struct ensemble *ensemble, size_t job, char key[ENSEMBLE_KEY]);
void cmd_ensemble_free(struct ensemble *ensemble);

/* Where checkpoints go: beside a regular FILE. */
enum icl_status cmd_ensemble_folder(struct ensemble *ensemble, struct icl_err *err);
/* Rank 0: opens the file, and lists the jobs that it lacks. cmd_sink_close is the caller's. */
enum icl_status cmd_ensemble_open(struct ensemble *ensemble, struct icl_err *err);
/* Takes a row, without its prefix, into the file. */
enum icl_status cmd_ensemble_take(struct ensemble *ensemble, const char *row, size_t length, struct icl_err *err);
/* Removes the checkpoints. Nothing in them is of use once every row is there; files that are not ours stay. */
void cmd_ensemble_tidy(const struct ensemble *ensemble);

/* Lists this shard's jobs without those of which rows (changed by this; NULL: none) holds a row. ICL_EUSAGE where rows
 * holds others. */
enum icl_status cmd_ensemble_jobs(struct ensemble *ensemble, char *rows, struct icl_err *err);
/* Counts a row; false where it states no outcome. */
bool cmd_ensemble_count(struct ensemble_tally *tally, const char *row);

/* Runs one job: from its checkpoint, where there is one, to its row, which is given to rank 0. A run that fails is a
 * row too; what comes back as an error ends the ensemble. */
enum icl_status cmd_ensemble_run(struct ensemble *ensemble, size_t job, struct icl_err *err);

#endif
