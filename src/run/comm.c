#include "run/comm.h"

#include <pthread.h>

#include "base/mem.h"

struct icl_comm {
    pthread_mutex_t lock;
    struct icl_comm_work *work;
    size_t next;
    bool failed;
    struct icl_err err; /* the first failure of take */
};

enum icl_status icl_comm_start(struct icl_comm **comm, struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(comm, 1, sizeof **comm, err));
    pthread_mutex_init(&(*comm)->lock, NULL);
    return ICL_OK;
}

size_t icl_comm_rank(const struct icl_comm *comm) {
    (void)comm;
    return 0;
}

size_t icl_comm_size(const struct icl_comm *comm) {
    (void)comm;
    return 1;
}

enum icl_status icl_comm_share(struct icl_comm *comm, struct icl_comm_work *work, struct icl_err *err) {
    (void)err;
    comm->work = work;
    return ICL_OK;
}

bool icl_comm_next(struct icl_comm *comm, size_t *job) {
    pthread_mutex_lock(&comm->lock);
    const bool any = !comm->failed && comm->next < comm->work->n;
    if (any) *job = comm->work->job[comm->next++];
    pthread_mutex_unlock(&comm->lock);
    return any;
}

enum icl_status icl_comm_give(struct icl_comm *comm, const char *result, size_t length, struct icl_err *err) {
    if (length > ICL_COMM_RESULT)
        return ICL_ERR(err, ICL_ERANGE, "a result of %zu bytes: at most %d", length, ICL_COMM_RESULT);
    pthread_mutex_lock(&comm->lock);
    enum icl_status status = comm->work->take(result, length, comm->work->context, err);
    if (status != ICL_OK && !comm->failed) {
        comm->failed = true;
        icl_err_set(&comm->err, status, "%s", err ? err->text : icl_err_name(status));
    }
    pthread_mutex_unlock(&comm->lock);
    return status;
}

enum icl_status icl_comm_stop(struct icl_comm *comm, struct icl_err *err) {
    if (!comm) return ICL_OK;
    const bool failed = comm->failed;
    const enum icl_status status = failed ? icl_err_set(err, comm->err.code, "%s", comm->err.text) : ICL_OK;
    pthread_mutex_destroy(&comm->lock);
    icl_mem_free(comm);
    return status;
}
