/* ensemble_run.c -- one run of an ensemble: from its checkpoint or its start to its row. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ensemble.h"

/* A run under way. */
struct member {
    struct ensemble *ensemble;
    struct drive drive;
    char path[CMD_PATH + ICL_NUMBER_SIZE];
    size_t shown; /* of ENSEMBLE_PARTS, on the bar */
};

/* Moves the bar by what this run has done since it last did. */
static void show(struct member *member, size_t parts) {
    struct ensemble_board *board = member->ensemble->board;
    pthread_mutex_lock(&board->lock);
    board->progressed += parts - member->shown;
    member->shown = parts;
    cmd_progress_to(&board->progress, board->progressed);
    pthread_mutex_unlock(&board->lock);
}

/* The row will count instead. */
static void forget(struct member *member) {
    struct ensemble_board *board = member->ensemble->board;
    pthread_mutex_lock(&board->lock);
    board->progressed -= member->shown;
    member->shown = 0;
    pthread_mutex_unlock(&board->lock);
}

static void tick(uint64_t step, void *context) {
    struct member *member = context;
    const double share = (double)step / (double)icl_train_total(member->drive.run);
    show(member, (size_t)(share * ENSEMBLE_PARTS));
}

static void remark(struct ensemble *ensemble, size_t job, const struct icl_err *err) {
    char key[ENSEMBLE_KEY];
    cmd_ensemble_key(ensemble, job, key);
    for (char *at = key; (at = strchr(at, '\t')) != NULL;) *at = at[1] ? ' ' : '\0';
    pthread_mutex_lock(&ensemble->board->lock);
    cmd_progress_end(&ensemble->board->progress);
    cmd_remark(ensemble->line, "run %s: %s", key, err->text);
    pthread_mutex_unlock(&ensemble->board->lock);
}

/* Several runs, and ranks, make the folder: it may be there already. */
static enum icl_status make_folder(const char *folder, struct icl_err *err) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST) return ICL_OK;
    return ICL_ERR(err, ICL_EIO, "%s: %s", folder, strerror(errno));
}

/* A checkpoint that does not fit (another machine's kernels, an older version) costs time, and nothing else. */
static enum icl_status start(struct member *member, size_t job, const struct icl_train_setup *setup,
                             struct icl_err *err) {
    const struct ensemble *ensemble = member->ensemble;
    struct icl_err late = {ICL_OK, ""};
    ICL_TRY(cmd_drive_start(&member->drive, setup, err));
    if (!ensemble->folder[0]) return ICL_OK;
    snprintf(member->path, sizeof member->path, "%s/%zu", ensemble->folder, job);
    member->drive.path = member->path;
    if (access(member->path, F_OK) == 0 && cmd_drive_load(&member->drive, &late) != ICL_OK)
        remark(member->ensemble, job, &late);
    return ICL_OK;
}

/* A time that is known: reached, or not reached by t_max; where the run ended before, it is not known. */
static double known(const struct icl_train_time *time, bool whole) {
    return isfinite(time->t) || whole ? time->t : NAN;
}

/* What the rows say of a column at t, between the two beside it; NaN beyond the last. */
static double watched(const struct drive *drive, const struct ensemble_watch *watch) {
    const double *row = drive->row;
    for (size_t i = 0; i < drive->rows; i++, row += ICL_TRAIN_COLUMNS) {
        const double after = row[ICL_TRAIN_T] - watch->t;
        if (after < 0) continue;
        if (after == 0 || i == 0) return after == 0 ? row[watch->column] : NAN;
        const double *before = row - ICL_TRAIN_COLUMNS, step = row[ICL_TRAIN_T] - before[ICL_TRAIN_T];
        return row[watch->column] - after / step * (row[watch->column] - before[watch->column]);
    }
    return NAN;
}

/* Without items that come again, or without an MLP, there is nothing to know of an item without its copy. */
static bool memorizes(const struct icl_train_setup *setup) {
    return isfinite(setup->task.K) && setup->model != ICL_TRAIN_ATTENTION;
}

static int row_of(const struct member *member, size_t job, const struct icl_train_setup *setup,
                  const struct icl_train_result *result, bool failed, char row[ICL_COMM_RESULT]) {
    const bool whole = !failed && !result->stopped, no_iwl = !failed && !memorizes(setup);
    const double value[] = {result->w0, result->beta0, known(&result->t_icl, whole),
                            known(&result->t_iwl, whole || no_iwl), known(&result->t_loss, whole)};
    char key[ENSEMBLE_KEY], number[ICL_NUMBER_SIZE];
    const struct ensemble *ensemble = member->ensemble;
    int at = snprintf(row, ICL_COMM_RESULT, "%s%s", ensemble->prefix, cmd_ensemble_key(ensemble, job, key));
    for (size_t i = 0; i < ensemble->watches; i++)
        at += snprintf(row + at, ICL_COMM_RESULT - (size_t)at, "%s\t",
                       icl_table_number(failed ? NAN : watched(&member->drive, &ensemble->watch[i]), number));
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        at += snprintf(row + at, ICL_COMM_RESULT - (size_t)at, "%s\t", icl_table_number(value[i], number));
    at += snprintf(row + at, ICL_COMM_RESULT - (size_t)at, "%s\t%llu\t%.3f\n",
                   failed ? "failed" : icl_train_outcome_name(result->outcome), (unsigned long long)result->steps,
                   member->drive.seconds);
    return at;
}

/* What ends a run alone, and not the ensemble. */
static bool is_own(enum icl_status status) {
    return status == ICL_ENUMERIC || status == ICL_ERANGE || status == ICL_EUSAGE || status == ICL_ENOMEM;
}

enum icl_status cmd_ensemble_run(struct ensemble *ensemble, size_t job, struct icl_err *err) {
    struct member member = {.ensemble = ensemble,
                            .drive = {.every = ensemble->line->params.sim.checkpoint, .stop = ensemble->stop}};
    struct icl_train_result result = {
        .t_icl = {NAN, 0}, .t_iwl = {NAN, 0}, .t_loss = {NAN, 0}, .w0 = NAN, .beta0 = NAN};
    struct icl_params params;
    struct icl_err own = {ICL_OK, ""};
    char row[ICL_COMM_RESULT];
    member.drive.tick = tick;
    member.drive.context = &member;
    enum icl_status status = cmd_ensemble_params(ensemble, job, &params, &own);
    const struct icl_train_setup setup = cmd_drive_setup(&params, ensemble->watches > 0);
    if (status == ICL_OK && ensemble->folder[0]) status = make_folder(ensemble->folder, &own);
    if (status == ICL_OK) status = start(&member, job, &setup, &own);
    if (status == ICL_OK) status = cmd_drive_run(&member.drive, &own);
    if (member.drive.run) icl_train_result(member.drive.run, &result);
    const bool failed = is_own(status);
    if (failed) remark(ensemble, job, &own);
    if (status == ICL_OK || failed) {
        const int length = row_of(&member, job, &setup, &result, failed, row);
        forget(&member);
        status = icl_comm_give(ensemble->comm, row, (size_t)length, &own);
        if (status == ICL_OK && member.drive.path) unlink(member.drive.path); /* only now: the row is in the file */
    }
    cmd_drive_free(&member.drive);
    return status == ICL_OK ? ICL_OK : icl_err_set(err, status, "%s", own.text);
}
