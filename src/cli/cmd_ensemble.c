/* cmd_ensemble.c -- many runs -> one row each, on threads and ranks, resumable. */
#include "cli/ensemble.h"
#include "iclkin/pool.h"

/* What a job leaves for the thread that collects. */
struct ending {
    enum icl_status status;
    struct icl_err err;
};

static enum icl_status take(const char *result, size_t length, void *context, struct icl_err *err) {
    return cmd_ensemble_take(context, result, length, err);
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
        cmd_ensemble_tidy(ensemble);
        return ICL_OK;
    }
    return ICL_ERR(err, ICL_EIO, "%zu of %zu runs are missing: a rank was stopped; --resume carries on", mine - rows,
                   mine);
}

/* From the shared list to the last row. */
static enum icl_status work(struct ensemble *ensemble, struct icl_err *err) {
    const bool root = icl_comm_rank(ensemble->comm) == 0;
    enum icl_status status = root ? cmd_ensemble_open(ensemble, err) : ICL_OK;
    const bool opened = root && status == ICL_OK;
    ensemble->work = (struct icl_comm_work){
        .job = ensemble->job, .n = opened ? ensemble->jobs : 0, .take = take, .context = ensemble};
    if (opened)
        cmd_progress_start(&ensemble->board->progress, ensemble->line, "ensemble", ensemble->jobs * ENSEMBLE_PARTS);
    const enum icl_status shared = icl_comm_share(ensemble->comm, &ensemble->work, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = shared;
    if (status == ICL_OK) status = run_jobs(ensemble, err);
    const enum icl_status ended = icl_comm_stop(ensemble->comm, status == ICL_OK ? err : NULL);
    ensemble->comm = NULL;
    if (status == ICL_OK) status = ended;
    if (!opened) return status;
    cmd_progress_end(&ensemble->board->progress);
    const enum icl_status closed = cmd_sink_close(&ensemble->sink, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = closed;
    if (status == ICL_ESTOPPED && ensemble->line->output) cmd_remark(ensemble->line, "stopped; --resume carries on");
    return status == ICL_OK ? conclude(ensemble, err) : status;
}

enum icl_status cmd_ensemble(const struct cmd_line *line, struct icl_err *err) {
    struct ensemble_board board = {.progressed = 0};
    struct ensemble ensemble = {.line = line, .stop = cmd_stop_install(), .board = &board};
    pthread_mutex_init(&board.lock, NULL);
    enum icl_status status = cmd_ensemble_plan(&ensemble, err);
    if (status == ICL_OK) status = cmd_ensemble_folder(&ensemble, err);
    if (status == ICL_OK) {
        status = icl_comm_start(&ensemble.comm, err);
        if (status == ICL_OK) status = work(&ensemble, err);
        (void)!icl_comm_stop(ensemble.comm, NULL);
    }
    cmd_ensemble_free(&ensemble);
    pthread_mutex_destroy(&board.lock);
    return status;
}
