/* pool.h -- many independent jobs on threads, their results handed over in order.
 *
 * A job is named by its index; what it computes may depend on the index alone, so that the results are the same bytes
 * for any number of threads.
 *
 * Fails    ICL_ENOMEM; what `emit` returns; ICL_ESTOPPED where *stop became non-zero.
 * Threads  compute runs on the workers, each with its own number; emit runs on the caller's thread.
 * Cost     two lock operations a job; results wait in a window of `window` slots, whatever n.
 */
#ifndef ICLKIN_POOL_H
#define ICLKIN_POOL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"

struct icl_pool_job {
    size_t first; /* jobs first .. n - 1 are done */
    size_t n;
    size_t slot;    /* bytes of one result */
    size_t threads; /* 0: all cores */
    bool ordered;   /* emit in the order of the index; else as they finish */
    /* Fills the slot of a job; may fail only by what it writes there. */
    void (*compute)(size_t index, size_t worker, void *slot, void *context);
    /* Takes one result. */
    enum icl_status (*emit)(size_t index, const void *slot, void *context, struct icl_err *err);
    void *context;
    const volatile sig_atomic_t *stop; /* may be NULL */
};

/* Threads that a request for `threads` means here: at least 1. */
size_t icl_pool_threads(size_t threads);

enum icl_status icl_pool_run(const struct icl_pool_job *job, struct icl_err *err) ICL_MUST_CHECK;

#endif
