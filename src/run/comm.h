/* comm.h -- processes that share one list of jobs: one process alone (comm.c), or the ranks of MPI (comm_mpi.c).
 *
 * Rank 0 owns the list, hands out the next job to whoever asks, since jobs differ in length, and takes every result: so
 * one process writes, whatever file system the ranks share. A result counts as given only once rank 0 has taken it; a
 * rank that fails loses what it was working on, and nothing that it gave.
 *
 * Fails    ICL_EIO where MPI has no threads, or what `take` returned; ICL_ERANGE for a result too long.
 * Threads  next and give may be called from any thread; the others from the one that called start.
 * Cost     two messages a call on other ranks than 0, answered within about a millisecond.
 */
#ifndef ICLKIN_COMM_H
#define ICLKIN_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"

enum { ICL_COMM_RESULT = 4096 };

struct icl_comm;

/* The list, of which other ranks than 0 learn n alone. take runs on rank 0, one call at a time, on any thread. */
struct icl_comm_work {
    const size_t *job;
    size_t n;
    enum icl_status (*take)(const char *result, size_t length, void *context, struct icl_err *err);
    void *context;
};

/* Once in a process. */
enum icl_status icl_comm_start(struct icl_comm **comm, struct icl_err *err) ICL_MUST_CHECK;
size_t icl_comm_rank(const struct icl_comm *comm);
size_t icl_comm_size(const struct icl_comm *comm);

/* Every rank calls it; work must outlive the comm. n = 0 on rank 0, where it failed: nothing to do anywhere. */
enum icl_status icl_comm_share(struct icl_comm *comm, struct icl_comm_work *work, struct icl_err *err) ICL_MUST_CHECK;
/* False when no job is left, or a result could not be taken. */
bool icl_comm_next(struct icl_comm *comm, size_t *job);
enum icl_status icl_comm_give(struct icl_comm *comm, const char *result, size_t length,
                              struct icl_err *err) ICL_MUST_CHECK;
/* Waits until every rank is here, then ends comm; NULL is legal. The first failure of take, on rank 0. */
enum icl_status icl_comm_stop(struct icl_comm *comm, struct icl_err *err) ICL_MUST_CHECK;

#endif
