/* ranks.h -- the jobs of a pool on all ranks: threads where there is one process, ranks where MPI started several;
 * private to src/.
 *
 * A rank computes chunks of consecutive jobs, as many as their results fit one message, on one thread; rank 0 takes the
 * results and emits them in order, so that the bytes are those of one process. Every rank calls it with the same job
 * but for `first`, which rank 0 alone must know.
 *
 * Fails    as icl_pool_run; ICL_EIO on rank 0 where a rank failed and results are missing.
 */
#ifndef ICLKIN_RANKS_H
#define ICLKIN_RANKS_H

#include "iclkin/pool.h"
#include "run/comm.h"

/* Shares the jobs and ends comm (also where status, this rank's state so far, is a failure: then there is nothing to
 * do, and status is returned). */
enum icl_status icl_ranks_run(struct icl_comm *comm, const struct icl_pool_job *job, enum icl_status status,
                              struct icl_err *err) ICL_MUST_CHECK;

#endif
