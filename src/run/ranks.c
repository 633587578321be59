#include "run/ranks.h"

#include <string.h>

#include "base/mem.h"

/* Rank 0's side: results that came before their turn. A message is the index of its first job, then the slots. */
struct ranks {
    const struct icl_pool_job *job;
    size_t chunk, emitted; /* jobs in a message; the next index to be emitted */
    size_t chunks;
    size_t *start;  /* shape (chunks): the list that is handed out */
    char **waiting; /* shape (chunks): messages that came early */
};

static size_t chunk_length(const struct icl_pool_job *job, size_t chunk, size_t first) {
    return job->n - first < chunk ? job->n - first : chunk;
}

static enum icl_status emit_chunk(struct ranks *ranks, const char *slots, struct icl_err *err) {
    const size_t count = chunk_length(ranks->job, ranks->chunk, ranks->emitted);
    for (size_t i = 0; i < count; i++) {
        ICL_TRY(ranks->job->emit(ranks->emitted, slots + i * ranks->job->slot, ranks->job->context, err));
        ranks->emitted++;
    }
    return ICL_OK;
}

static enum icl_status take(const char *result, size_t length, void *context, struct icl_err *err) {
    struct ranks *ranks = context;
    size_t first, at;
    memcpy(&first, result, sizeof first);
    at = (first - ranks->job->first) / ranks->chunk;
    if (first == ranks->emitted) {
        ICL_TRY(emit_chunk(ranks, result + sizeof first, err));
    } else {
        ICL_TRY(icl_mem_alloc(&ranks->waiting[at], length - sizeof first, 1, err));
        memcpy(ranks->waiting[at], result + sizeof first, length - sizeof first);
        return ICL_OK;
    }
    for (at++; at < ranks->chunks && ranks->waiting[at]; at++) {
        ICL_TRY(emit_chunk(ranks, ranks->waiting[at], err));
        icl_mem_free(ranks->waiting[at]);
        ranks->waiting[at] = NULL;
    }
    return ICL_OK;
}

static enum icl_status plan(struct ranks *ranks, struct icl_err *err) {
    const struct icl_pool_job *job = ranks->job;
    ranks->emitted = job->first;
    ranks->chunks = job->n > job->first ? (job->n - job->first + ranks->chunk - 1) / ranks->chunk : 0;
    ICL_TRY(icl_mem_alloc(&ranks->start, ranks->chunks + 1, sizeof *ranks->start, err));
    for (size_t i = 0; i < ranks->chunks; i++) ranks->start[i] = job->first + i * ranks->chunk;
    return icl_mem_alloc(&ranks->waiting, ranks->chunks + 1, sizeof *ranks->waiting, err);
}

static enum icl_status compute(struct icl_comm *comm, const struct ranks *ranks, struct icl_err *err) {
    const struct icl_pool_job *job = ranks->job;
    char message[ICL_COMM_RESULT];
    size_t first;
    while (!(job->stop && *job->stop) && icl_comm_next(comm, &first)) {
        const size_t count = chunk_length(job, ranks->chunk, first);
        memcpy(message, &first, sizeof first);
        for (size_t i = 0; i < count; i++)
            job->compute(first + i, 0, message + sizeof first + i * job->slot, job->context);
        ICL_TRY(icl_comm_give(comm, message, sizeof first + count * job->slot, err));
    }
    return job->stop && *job->stop ? ICL_ERR(err, ICL_ESTOPPED, "stopped") : ICL_OK;
}

enum icl_status icl_ranks_run(struct icl_comm *comm, const struct icl_pool_job *job, enum icl_status status,
                              struct icl_err *err) {
    struct ranks ranks = {.job = job, .chunk = (ICL_COMM_RESULT - sizeof(size_t)) / job->slot};
    const bool alone = icl_comm_size(comm) == 1, root = icl_comm_rank(comm) == 0;
    if (alone) {
        if (status == ICL_OK) status = icl_pool_run(job, err);
        const enum icl_status ended = icl_comm_stop(comm, NULL);
        return status == ICL_OK ? ended : status;
    }
    if (status == ICL_OK && ranks.chunk == 0)
        status = ICL_ERR(err, ICL_ERANGE, "a result of %zu bytes does not fit a message", job->slot);
    if (root && status == ICL_OK) status = plan(&ranks, err);
    struct icl_comm_work work = {
        .job = ranks.start, .n = status == ICL_OK ? ranks.chunks : 0, .take = take, .context = &ranks};
    const enum icl_status shared = icl_comm_share(comm, &work, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = shared;
    if (status == ICL_OK) status = compute(comm, &ranks, err);
    const enum icl_status ended = icl_comm_stop(comm, status == ICL_OK ? err : NULL);
    if (status == ICL_OK) status = ended;
    if (root && status == ICL_OK && ranks.emitted < job->n)
        status = ICL_ERR(err, ICL_EIO, "%zu of %zu results are missing: a rank was stopped; --resume carries on",
                         job->n - ranks.emitted, job->n - job->first);
    for (size_t i = 0; ranks.waiting && i < ranks.chunks; i++) icl_mem_free(ranks.waiting[i]);
    icl_mem_free(ranks.waiting);
    icl_mem_free(ranks.start);
    return status;
}
