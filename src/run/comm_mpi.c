#include "run/comm.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

/* What a rank says to rank 0, and hears from it. */
enum tag { TAG_NEXT, TAG_GIVE, TAG_DONE, TAG_ANSWER, TAG_BYE };

/* MPI is called from one thread at a time: on rank 0 from the server, between share and stop; elsewhere under lock. */
struct icl_comm {
    pthread_mutex_t lock;
    int rank, size;
    struct icl_comm_work *work;
    size_t next; /* of work->job, on rank 0 */
    bool drained, failed;
    struct icl_err err; /* the first failure of take, on rank 0 */
    bool serving;
    pthread_t server;
};

static void doze(void) {
    const struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
}

enum icl_status icl_comm_start(struct icl_comm **comm, struct icl_err *err) {
    int level;
    ICL_TRY(icl_mem_alloc(comm, 1, sizeof **comm, err));
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        icl_mem_free(*comm);
        *comm = NULL;
        return ICL_ERR(err, ICL_EIO, "MPI could not be started");
    }
    pthread_mutex_init(&(*comm)->lock, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &(*comm)->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &(*comm)->size);
    return level < MPI_THREAD_SERIALIZED ? ICL_ERR(err, ICL_EIO, "this MPI does not allow threads") : ICL_OK;
}

size_t icl_comm_rank(const struct icl_comm *comm) {
    return (size_t)comm->rank;
}

size_t icl_comm_size(const struct icl_comm *comm) {
    return (size_t)comm->size;
}

/* Rank 0's own part of the list and of the results. */
static bool local_next(struct icl_comm *comm, size_t *job) {
    pthread_mutex_lock(&comm->lock);
    const bool any = !comm->failed && comm->next < comm->work->n;
    if (any) *job = comm->work->job[comm->next++];
    pthread_mutex_unlock(&comm->lock);
    return any;
}

static enum icl_status local_give(struct icl_comm *comm, const char *result, size_t length, struct icl_err *err) {
    pthread_mutex_lock(&comm->lock);
    const enum icl_status status = comm->work->take(result, length, comm->work->context, err);
    if (status != ICL_OK && !comm->failed) {
        comm->failed = true;
        icl_err_set(&comm->err, status, "%s", err ? err->text : icl_err_name(status));
    }
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* Answers one message. Returns whether its rank has said its last. */
static bool serve_one(struct icl_comm *comm, const MPI_Status *from) {
    char result[ICL_COMM_RESULT];
    struct icl_err err = {ICL_OK, ""};
    int length;
    size_t job = 0;
    long long answer = -1;
    MPI_Get_count(from, MPI_CHAR, &length);
    MPI_Recv(result, length, MPI_CHAR, from->MPI_SOURCE, from->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (from->MPI_TAG == TAG_DONE) return true;
    if (from->MPI_TAG == TAG_NEXT && local_next(comm, &job)) answer = (long long)job;
    if (from->MPI_TAG == TAG_GIVE) answer = local_give(comm, result, (size_t)length, &err);
    MPI_Send(&answer, 1, MPI_LONG_LONG, from->MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
    return false;
}

static void *serve(void *argument) {
    struct icl_comm *comm = argument;
    for (int open = comm->size - 1; open > 0;) {
        MPI_Status from;
        int any;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, &from);
        if (!any)
            doze();
        else if (serve_one(comm, &from))
            open--;
    }
    return NULL;
}

enum icl_status icl_comm_share(struct icl_comm *comm, struct icl_comm_work *work, struct icl_err *err) {
    unsigned long long n = work->n;
    comm->work = work;
    MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    work->n = (size_t)n;
    if (comm->rank > 0 || comm->size == 1) return ICL_OK;
    comm->serving = pthread_create(&comm->server, NULL, serve, comm) == 0;
    if (comm->serving) return ICL_OK;
    MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait for ever */
    return ICL_ERR(err, ICL_ENOMEM, "no thread could be started");
}

/* One message to rank 0, and its answer. */
static long long ask(enum tag tag, const char *bytes, size_t length) {
    long long answer;
    MPI_Send(bytes, (int)length, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_LONG_LONG, 0, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer;
}

bool icl_comm_next(struct icl_comm *comm, size_t *job) {
    if (comm->rank == 0) return local_next(comm, job);
    pthread_mutex_lock(&comm->lock);
    const long long answer = comm->drained ? -1 : ask(TAG_NEXT, "", 0);
    comm->drained = answer < 0;
    pthread_mutex_unlock(&comm->lock);
    if (answer >= 0) *job = (size_t)answer;
    return answer >= 0;
}

enum icl_status icl_comm_give(struct icl_comm *comm, const char *result, size_t length, struct icl_err *err) {
    if (length > ICL_COMM_RESULT)
        return ICL_ERR(err, ICL_ERANGE, "a result of %zu bytes: at most %d", length, ICL_COMM_RESULT);
    if (comm->rank == 0) return local_give(comm, result, length, err);
    pthread_mutex_lock(&comm->lock);
    const long long answer = ask(TAG_GIVE, result, length);
    pthread_mutex_unlock(&comm->lock);
    return answer == ICL_OK ? ICL_OK : ICL_ERR(err, (enum icl_status)answer, "rank 0 could not take a result");
}

/* Dozes until all are done, where MPI's own waiting would keep a core busy that others need. */
static void part(struct icl_comm *comm) {
    int any = 0;
    if (comm->rank == 0) {
        if (comm->serving) pthread_join(comm->server, NULL);
        for (int rank = 1; comm->serving && rank < comm->size; rank++)
            MPI_Send("", 0, MPI_CHAR, rank, TAG_BYE, MPI_COMM_WORLD);
        return;
    }
    MPI_Send("", 0, MPI_CHAR, 0, TAG_DONE, MPI_COMM_WORLD);
    while (!any) {
        doze();
        MPI_Iprobe(0, TAG_BYE, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_CHAR, 0, TAG_BYE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

enum icl_status icl_comm_stop(struct icl_comm *comm, struct icl_err *err) {
    if (!comm) return ICL_OK;
    if (comm->work) part(comm);
    const enum icl_status status = comm->failed ? icl_err_set(err, comm->err.code, "%s", comm->err.text) : ICL_OK;
    MPI_Finalize();
    pthread_mutex_destroy(&comm->lock);
    icl_mem_free(comm);
    return status;
}
