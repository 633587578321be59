/* validate_runs.c -- the simulations that the cache lacks: the jobs of all settings in one list, on threads and ranks.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/validate.h"
#include "iclkin/pool.h"
#include "iclkin/predict.h"

struct crew {
    struct validate *validate;
    struct icl_comm *comm;
    const volatile sig_atomic_t *stop;
    size_t *job; /* rank 0: of all parts, counted through from part to part */
    size_t jobs;
};

struct ending {
    enum icl_status status;
    struct icl_err err;
};

/* The part's number, a tab, its row. */
static enum icl_status take(const char *result, size_t length, void *context, struct icl_err *err) {
    const struct crew *crew = context;
    char *row;
    const unsigned long part = strtoul(result, &row, 10);
    row++;
    return cmd_ensemble_take(&crew->validate->part[part].ensemble, row, length - (size_t)(row - result), err);
}

static struct validate_part *part_of(struct validate *validate, size_t job) {
    size_t i = validate->parts - 1;
    while (validate->part[i].base > job) i--;
    return &validate->part[i];
}

static void compute(size_t index, size_t worker, void *slot, void *context) {
    struct crew *crew = context;
    struct ending *ending = slot;
    size_t job;
    (void)index;
    (void)worker;
    *ending = (struct ending){.status = ICL_OK};
    if (*crew->stop || !icl_comm_next(crew->comm, &job)) return;
    struct validate_part *part = part_of(crew->validate, job);
    ending->status = cmd_ensemble_run(&part->ensemble, job - part->base, &ending->err);
    if (ending->status != ICL_OK) icl_err_context(&ending->err, ending->status, "setting %s", part->setting->name);
}

static enum icl_status emit(size_t index, const void *slot, void *context, struct icl_err *err) {
    const struct ending *ending = slot;
    (void)index;
    (void)context;
    return ending->status == ICL_OK ? ICL_OK : icl_err_set(err, ending->status, "%s", ending->err.text);
}

/* ---- how long it will take -------------------------------------------------------------------------------------- */

/* Steps of a job: to t_icl, where runs stop there and theory knows it, else to t_max. */
static double steps_of(const struct validate_part *part, size_t job, struct icl_err *err) {
    struct icl_params params;
    struct icl_traj_result result = {.t_icl = INFINITY};
    if (cmd_validate_params(part, job, &params, err) != ICL_OK) return 0;
    const bool stops = cmd_drive_setup(&part->line.params, part->ensemble.watches > 0).stop_at_icl;
    if (!stops || icl_predict_times(&params, params.theory.level, ICL_TRAJ_TO_ICL, &result, NULL) != ICL_OK)
        result.t_icl = INFINITY;
    return fmin(result.t_icl, params.train.t_max) / params.train.lr;
}

/* Seconds a step takes one thread, from a tenth of a second of them. */
static double measure(const struct validate_part *part, struct icl_err *err) {
    const double enough = 0.1;
    struct icl_params params;
    struct icl_train_run *run = NULL;
    double steps = 0, spent = 0;
    enum icl_status status = cmd_ensemble_params(&part->ensemble, part->ensemble.job[0], &params, err);
    const struct icl_train_setup setup = cmd_drive_setup(&params, false);
    if (status == ICL_OK) status = icl_train_alloc(&run, &setup, err);
    if (status == ICL_OK) status = icl_train_init(run, err);
    const double start = cmd_now();
    while (status == ICL_OK && spent < enough && !icl_train_done(run)) {
        status = icl_train_step(run, err);
        spent = cmd_now() - start;
        steps++;
    }
    icl_train_free(run);
    return steps > 0 ? spent / steps : 0;
}

static void announce(struct crew *crew) {
    enum { MINUTE = 60, HOUR = 3600 };
    struct validate *validate = crew->validate;
    const size_t threads = icl_pool_threads(validate->line->params.ensemble.threads);
    size_t all = 0;
    double steps = 0, seconds = 0;
    for (size_t i = 0; i < validate->parts; i++) {
        struct validate_part *part = &validate->part[i];
        all += part->ensemble.points * part->ensemble.runs;
        for (size_t j = 0; j < part->ensemble.jobs; j++) part->steps += steps_of(part, part->ensemble.job[j], NULL);
        steps += part->steps;
        if (part->ensemble.jobs > 0 && !validate->line->quiet) seconds += part->steps * measure(part, NULL);
    }
    const size_t shares = icl_comm_size(crew->comm) > 1 ? icl_comm_size(crew->comm) : threads;
    const double left = seconds / (double)(shares < crew->jobs ? shares : crew->jobs > 0 ? crew->jobs : 1);
    cmd_remark(validate->line,
               "%zu settings, %zu runs, %zu of them there already; %.2g SGD steps to go: about %d:%02d:%02d on %zu %s",
               validate->settings, all, all - crew->jobs, steps, (int)(left / HOUR), (int)left % HOUR / MINUTE,
               (int)left % MINUTE, shares, icl_comm_size(crew->comm) > 1 ? "ranks" : "threads");
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

enum icl_status cmd_validate_folder(const char *path, struct icl_err *err) {
    char copy[CMD_PATH];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
    for (char *at = copy + 1;; at++) {
        if (*at && *at != '/') continue;
        const char kept = *at;
        *at = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) return ICL_ERR(err, ICL_EIO, "%s: %s", copy, strerror(errno));
        *at = kept;
        if (!kept) return ICL_OK;
    }
}

static int longest_first(const void *a, const void *b) {
    const struct validate_part *const *p = a, *const *q = b;
    const double x = (*p)->steps / (double)((*p)->ensemble.jobs + 1);
    const double y = (*q)->steps / (double)((*q)->ensemble.jobs + 1);
    return x != y ? (x < y) - (x > y) : ((*p)->base > (*q)->base) - ((*p)->base < (*q)->base);
}

/* The jobs of all parts, those with the longest runs first: so the last threads end together. */
static enum icl_status list_jobs(struct crew *crew, struct icl_err *err) {
    struct validate *validate = crew->validate;
    struct validate_part **order;
    ICL_TRY(icl_mem_alloc(&order, validate->parts, sizeof *order, err));
    for (size_t i = 0; i < validate->parts; i++) order[i] = &validate->part[i];
    qsort(order, validate->parts, sizeof *order, longest_first);
    const enum icl_status status = icl_mem_alloc(&crew->job, crew->jobs + 1, sizeof *crew->job, err);
    size_t n = 0;
    for (size_t i = 0; status == ICL_OK && i < validate->parts; i++)
        for (size_t j = 0; j < order[i]->ensemble.jobs; j++)
            crew->job[n++] = order[i]->base + order[i]->ensemble.job[j];
    icl_mem_free(order);
    return status;
}

static enum icl_status open_parts(struct crew *crew, struct icl_err *err) {
    struct validate *validate = crew->validate;
    ICL_TRY(cmd_validate_folder(validate->folder, err));
    for (size_t i = 0; i < validate->parts; i++) {
        struct validate_part *part = &validate->part[i];
        const enum icl_status status = cmd_ensemble_open(&part->ensemble, err);
        if (status != ICL_OK) return icl_err_context(err, status, "setting %s", part->setting->name);
        part->opened = true;
        crew->jobs += part->ensemble.jobs;
    }
    announce(crew);
    return list_jobs(crew, err);
}

static enum icl_status close_parts(struct validate *validate, enum icl_status status, struct icl_err *err) {
    for (size_t i = 0; i < validate->parts; i++) {
        struct validate_part *part = &validate->part[i];
        if (!part->opened) continue;
        const enum icl_status closed = cmd_sink_close(&part->ensemble.sink, status == ICL_OK ? err : NULL);
        if (status == ICL_OK) status = closed;
        if (status == ICL_OK) cmd_ensemble_tidy(&part->ensemble);
    }
    return status;
}

static enum icl_status run_jobs(struct crew *crew, size_t n, struct icl_err *err) {
    const size_t threads = crew->validate->line->params.ensemble.threads;
    const struct icl_pool_job job = {.n = n,
                                     .slot = sizeof(struct ending),
                                     .threads = threads == 0 && icl_comm_size(crew->comm) > 1 ? 1 : threads,
                                     .compute = compute,
                                     .emit = emit,
                                     .context = crew,
                                     .stop = crew->stop};
    return icl_pool_run(&job, err);
}

static enum icl_status work(struct crew *crew, struct icl_err *err) {
    struct validate *validate = crew->validate;
    const bool root = icl_comm_rank(crew->comm) == 0;
    enum icl_status status = root ? open_parts(crew, err) : ICL_OK;
    struct icl_comm_work share = {
        .job = crew->job, .n = status == ICL_OK ? crew->jobs : 0, .take = take, .context = crew};
    if (root && status == ICL_OK)
        cmd_progress_start(&validate->board.progress, validate->line, "validate", crew->jobs * ENSEMBLE_PARTS);
    const enum icl_status shared = icl_comm_share(crew->comm, &share, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = shared;
    if (status == ICL_OK) status = run_jobs(crew, share.n, err);
    const enum icl_status ended = icl_comm_stop(crew->comm, status == ICL_OK ? err : NULL);
    crew->comm = NULL;
    if (status == ICL_OK) status = ended;
    if (!root) return status;
    cmd_progress_end(&validate->board.progress);
    if (status == ICL_ESTOPPED)
        cmd_remark(validate->line, "stopped; the same command carries on with %s", validate->folder);
    return close_parts(validate, status, err);
}

enum icl_status cmd_validate_simulate(struct validate *validate, bool *root, struct icl_err *err) {
    struct crew crew = {.validate = validate, .stop = cmd_stop_install()};
    size_t base = 0;
    for (size_t i = 0; i < validate->parts; i++) {
        struct ensemble *ensemble = &validate->part[i].ensemble;
        ensemble->stop = crew.stop;
        validate->part[i].base = base;
        base += ensemble->points * ensemble->runs;
    }
    pthread_mutex_init(&validate->board.lock, NULL);
    enum icl_status status = icl_comm_start(&crew.comm, err);
    if (status == ICL_OK) {
        *root = icl_comm_rank(crew.comm) == 0;
        for (size_t i = 0; i < validate->parts; i++) validate->part[i].ensemble.comm = crew.comm;
        status = work(&crew, err);
    }
    (void)!icl_comm_stop(crew.comm, NULL);
    pthread_mutex_destroy(&validate->board.lock);
    icl_mem_free(crew.job);
    return status;
}
