#include "iclkin/pool.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { WINDOW_A_THREAD = 64 };

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_DONE };

/* Slot i % window holds job i; a job is handed out only once its slot is free, so nobody runs ahead of the window. */
struct pool {
    const struct icl_pool_job *job;
    pthread_mutex_t lock;
    pthread_cond_t done, free;
    size_t window, next, emitted;
    bool over;
    unsigned char *slots;
    struct {
        enum slot_state state;
        size_t index;
    } * slot;
};

struct worker {
    struct pool *pool;
    size_t number;
    pthread_t thread;
};

size_t icl_pool_threads(size_t threads) {
    if (threads > 0) return threads;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    const struct icl_pool_job *job = pool->job;
    pthread_mutex_lock(&pool->lock);
    while (!pool->over && pool->next < job->n) {
        const size_t index = pool->next, at = index % pool->window;
        if (pool->slot[at].state != SLOT_FREE) {
            pthread_cond_wait(&pool->free, &pool->lock);
            continue;
        }
        pool->next++;
        pool->slot[at].state = SLOT_TAKEN;
        pool->slot[at].index = index;
        pthread_mutex_unlock(&pool->lock);
        job->compute(index, worker->number, pool->slots + at * job->slot, job->context);
        pthread_mutex_lock(&pool->lock);
        pool->slot[at].state = SLOT_DONE;
        pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A finished slot that may be emitted now, or the window's size. */
static size_t ready(const struct pool *pool) {
    if (pool->job->ordered) {
        const size_t at = pool->emitted % pool->window;
        return pool->slot[at].state == SLOT_DONE ? at : pool->window;
    }
    for (size_t at = 0; at < pool->window; at++)
        if (pool->slot[at].state == SLOT_DONE) return at;
    return pool->window;
}

static bool stopped(const struct pool *pool) {
    return pool->job->stop && *pool->job->stop;
}

/* The caller's part: takes results until all are there. Wakes ten times a second to look at the stop flag. */
static enum icl_status collect(struct pool *pool, struct icl_err *err) {
    const struct icl_pool_job *job = pool->job;
    enum icl_status status = ICL_OK;
    pthread_mutex_lock(&pool->lock);
    while (status == ICL_OK && pool->emitted < job->n) {
        const size_t at = ready(pool);
        if (at == pool->window) {
            struct timespec wake;
            clock_gettime(CLOCK_REALTIME, &wake);
            wake.tv_nsec += 100000000;
            if (wake.tv_nsec >= 1000000000) {
                wake.tv_nsec -= 1000000000;
                wake.tv_sec++;
            }
            if (stopped(pool))
                status = ICL_ERR(err, ICL_ESTOPPED, "stopped");
            else
                pthread_cond_timedwait(&pool->done, &pool->lock, &wake);
            continue;
        }
        const size_t index = pool->slot[at].index;
        pthread_mutex_unlock(&pool->lock);
        status = job->emit(index, pool->slots + at * job->slot, job->context, err);
        if (status == ICL_OK && stopped(pool)) status = ICL_ERR(err, ICL_ESTOPPED, "stopped");
        pthread_mutex_lock(&pool->lock);
        pool->slot[at].state = SLOT_FREE;
        pool->emitted++;
        pthread_cond_broadcast(&pool->free);
    }
    pool->over = true;
    pthread_cond_broadcast(&pool->free);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

enum icl_status icl_pool_run(const struct icl_pool_job *job, struct icl_err *err) {
    const size_t wanted = icl_pool_threads(job->threads), jobs = job->n > job->first ? job->n - job->first : 0;
    const size_t threads = jobs < wanted ? jobs : wanted;
    struct pool pool = {.job = job, .window = threads * WINDOW_A_THREAD, .next = job->first, .emitted = job->first};
    struct worker *worker = NULL;
    size_t started = 0;
    if (jobs == 0) return ICL_OK;
    enum icl_status status = icl_mem_alloc(&pool.slots, pool.window, job->slot, err);
    if (status == ICL_OK) status = icl_mem_alloc(&pool.slot, pool.window, sizeof *pool.slot, err);
    if (status == ICL_OK) status = icl_mem_alloc(&worker, threads, sizeof *worker, err);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.done, NULL);
    pthread_cond_init(&pool.free, NULL);
    for (; status == ICL_OK && started < threads; started++) {
        worker[started].pool = &pool;
        worker[started].number = started;
        if (pthread_create(&worker[started].thread, NULL, work, &worker[started]) != 0) break;
    }
    if (status == ICL_OK && started == 0) status = ICL_ERR(err, ICL_ENOMEM, "no thread could be started");
    if (status == ICL_OK) status = collect(&pool, err);
    for (size_t i = 0; i < started; i++) pthread_join(worker[i].thread, NULL);
    pthread_cond_destroy(&pool.free);
    pthread_cond_destroy(&pool.done);
    pthread_mutex_destroy(&pool.lock);
    icl_mem_free(worker);
    icl_mem_free(pool.slot);
    icl_mem_free(pool.slots);
    return status;
}
