/* cmd_ensemble.c -- many runs -> one row each, on threads and ranks, resumable. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ensemble.h"
#include "iclkin/pool.h"

enum { NAME = 64 };

/* What a job leaves for the thread that collects. */
struct ending {
    enum icl_status status;
    struct icl_err err;
};

static enum icl_status take(const char *result, size_t length, void *context, struct icl_err *err) {
    struct ensemble *ensemble = context;
    ICL_TRY(cmd_sink_add(&ensemble->sink, result, length, err));
    cmd_ensemble_count(&ensemble->tally, result);
    pthread_mutex_lock(&ensemble->lock);
    ensemble->progressed += ENSEMBLE_PARTS;
    cmd_progress_to(&ensemble->progress, ensemble->progressed);
    pthread_mutex_unlock(&ensemble->lock);
    return ICL_OK;
}

/* The pool counts, rank 0 says which: a rank's share of the jobs is known only in the end. */
static void compute(size_t index, size_t worker, void *slot, void *context) {
    struct ensemble *ensemble = context;
    struct ending *ending = slot;
    size_t job;
    (void)index;
    (void)worker;
    *ending = (struct ending){.status = ICL_OK};
    if (*ensemble->stop || !icl_comm_next(ensemble->comm, &job)) return;
    ending->status = cmd_ensemble_run(ensemble, job, &ending->err);
}

static enum icl_status emit(size_t index, const void *slot, void *context, struct icl_err *err) {
    const struct ending *ending = slot;
    (void)index;
    (void)context;
    return ending->status == ICL_OK ? ICL_OK : icl_err_set(err, ending->status, "%s", ending->err.text);
}

/* Two processes must not append to one file: each would do the other's runs again. */
static enum icl_status lock_file(const struct ensemble *ensemble, struct icl_err *err) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!ensemble->folder[0] || fcntl(ensemble->sink.fd, F_SETLK, &lock) == 0) return ICL_OK;
    if (errno != EACCES && errno != EAGAIN) return ICL_OK; /* a file system without locks */
    return ICL_ERR(err, ICL_EUSAGE, "%s: another process is appending to it", ensemble->line->output);
}

/* Rank 0: the file, and the jobs that it lacks. */
static enum icl_status open_rows(struct ensemble *ensemble, struct icl_err *err) {
    struct cmd_text head = {0}, kept = {0};
    enum icl_status status = cmd_ensemble_head(ensemble, &head, err);
    if (status == ICL_OK) status = cmd_sink_open(&ensemble->sink, ensemble->line, head.bytes, &kept, err);
    const bool opened = status == ICL_OK;
    if (status == ICL_OK) status = lock_file(ensemble, err);
    if (status == ICL_OK) status = cmd_ensemble_jobs(ensemble, kept.bytes, err);
    if (opened && status != ICL_OK) (void)!cmd_sink_close(&ensemble->sink, NULL);
    cmd_text_free(&kept);
    cmd_text_free(&head);
    return status;
}

/* Checkpoints lie in a folder beside a regular FILE. */
static enum icl_status name_folder(struct ensemble *ensemble, struct icl_err *err) {
    const char *output = ensemble->line->output;
    struct stat is;
    if (!output || (stat(output, &is) == 0 && !S_ISREG(is.st_mode))) return ICL_OK;
    const int length = snprintf(ensemble->folder, sizeof ensemble->folder, "%s.checkpoints", output);
    return length >= 0 && length < CMD_PATH ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
}

/* Nothing in it is of use once every row is there; files that are not ours, and the folder then, stay. */
static void remove_folder(const struct ensemble *ensemble) {
    char path[CMD_PATH + NAME];
    DIR *folder = ensemble->folder[0] ? opendir(ensemble->folder) : NULL;
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *ending = entry->d_name + strspn(entry->d_name, "0123456789");
        if (ending == entry->d_name || (*ending && strcmp(ending, ".tmp") != 0)) continue;
        snprintf(path, sizeof path, "%s/%.*s", ensemble->folder, NAME - 2, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    rmdir(ensemble->folder);
}

static enum icl_status run_jobs(struct ensemble *ensemble, struct icl_err *err) {
    const size_t threads = ensemble->line->params.ensemble.threads;
    const struct icl_pool_job job = {.n = ensemble->work.n,
                                     .slot = sizeof(struct ending),
                                     .threads = threads == 0 && icl_comm_size(ensemble->comm) > 1 ? 1 : threads,
                                     .compute = compute,
                                     .emit = emit,
                                     .context = ensemble,
                                     .stop = ensemble->stop};
    return icl_pool_run(&job, err);
}

/* Says what the rows of this shard say, and whether any is missing. */
static enum icl_status conclude(const struct ensemble *ensemble, struct icl_err *err) {
    const size_t *n = ensemble->tally.outcome, all = ensemble->points * ensemble->runs;
    const size_t mine = all / ensemble->shards + (ensemble->shard < all % ensemble->shards);
    size_t rows = 0;
    for (size_t i = 0; i < ENSEMBLE_OUTCOMES; i++) rows += n[i];
    cmd_remark(ensemble->line,
               "%zu runs: %zu icl, %zu transient, %zu iwl, %zu none, %zu failed; %zu without ICL by t_max (t_icl inf)",
               rows, n[ICL_TRAIN_ICL], n[ICL_TRAIN_TRANSIENT], n[ICL_TRAIN_IWL], n[ICL_TRAIN_NONE], n[ENSEMBLE_FAILED],
               ensemble->tally.never);
    if (rows >= mine) {
        remove_folder(ensemble);
        return ICL_OK;
    }
    return ICL_ERR(err, ICL_EIO, "%zu of %zu runs are missing: a rank was stopped; --resume carries on", mine - rows,
                   mine);
}

/* From the shared list to the last row. */
static enum icl_status work(struct ensemble *ensemble, struct icl_err *err) {
    const bool root = icl_comm_rank(ensemble->comm) == 0;
    enum icl_status status = root ? open_rows(ensemble, err) : ICL_OK;
    const bool opened = root && status == ICL_OK;
    ensemble->work = (struct icl_comm_work){
        .job = ensemble->job, .n = opened ? ensemble->jobs : 0, .take = take, .context = ensemble};
    if (opened) cmd_progress_start(&ensemble->progress, ensemble->line, "ensemble", ensemble->jobs * ENSEMBLE_PARTS);
    const enum icl_status shared = icl_comm_share(ensemble->comm, &ensemble->work, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = shared;
    if (status == ICL_OK) status = run_jobs(ensemble, err);
    const enum icl_status ended = icl_comm_stop(ensemble->comm, status == ICL_OK ? err : NULL);
    ensemble->comm = NULL;
    if (status == ICL_OK) status = ended;
    if (!opened) return status;
    cmd_progress_end(&ensemble->progress);
    const enum icl_status closed = cmd_sink_close(&ensemble->sink, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = closed;
    if (status == ICL_ESTOPPED && ensemble->line->output) cmd_remark(ensemble->line, "stopped; --resume carries on");
    return status == ICL_OK ? conclude(ensemble, err) : status;
}

enum icl_status cmd_ensemble(const struct cmd_line *line, struct icl_err *err) {
    struct ensemble ensemble = {.line = line, .stop = cmd_stop_install()};
    pthread_mutex_init(&ensemble.lock, NULL);
    enum icl_status status = cmd_ensemble_plan(&ensemble, err);
    if (status == ICL_OK) status = name_folder(&ensemble, err);
    if (status == ICL_OK) {
        status = icl_comm_start(&ensemble.comm, err);
        if (status == ICL_OK) status = work(&ensemble, err);
        (void)!icl_comm_stop(ensemble.comm, NULL);
    }
    cmd_ensemble_free(&ensemble);
    pthread_mutex_destroy(&ensemble.lock);
    return status;
}
