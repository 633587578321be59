/* runs.h -- simulated runs for the tests of sim. What fails here fails the test. */
#ifndef ICLKIN_RUNS_H
#define ICLKIN_RUNS_H

#include "iclkin/train.h"

/* Random labels, one copy, lr 0.1, batch 128, t_max 1000, the default levels, 11 samples. */
struct icl_train_setup runs_setup(double K, size_t N, double D, size_t H);
/* A run at its first step. The caller frees it. */
struct icl_train_run *runs_start(const struct icl_train_setup *setup);
void runs_finish(struct icl_train_run *run);

#endif
