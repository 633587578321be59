/* lap.h -- where the processor time of a step goes, when asked; private to sim and its bench. */
#ifndef ICLKIN_SIM_LAP_H
#define ICLKIN_SIM_LAP_H

#include <stddef.h>
#include <time.h>

enum icl_lap_phase {
    ICL_LAP_SAMPLE,  /* indices, labels, random scores */
    ICL_LAP_GATHER,  /* scores of gathered items */
    ICL_LAP_SOFTMAX, /* attention and its derivative */
    ICL_LAP_PACK,    /* inputs into panels, transposes */
    ICL_LAP_GEMM_F1, /* W1 x */
    ICL_LAP_GEMM_F2, /* W2 h */
    ICL_LAP_GEMM_B2, /* gradient of h */
    ICL_LAP_GEMM_W2, /* update of W2 */
    ICL_LAP_GEMM_W1, /* update of W1 */
    ICL_LAP_VECTOR,  /* output layer, biases, loss */
    ICL_LAP_HEAD_F,  /* a transformer's attention, forward */
    ICL_LAP_HEAD_B,  /* and backward */
    ICL_LAP_EVAL,    /* evaluation, all of it */
    ICL_LAP_PHASES
};

struct icl_lap {
    double last, seconds[ICL_LAP_PHASES];
};

static inline double icl_lap_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The time since the last mark belongs to phase. */
static inline void icl_lap_mark(struct icl_lap *lap, enum icl_lap_phase phase) {
    if (!lap) return;
    const double now = icl_lap_now();
    lap->seconds[phase] += now - lap->last;
    lap->last = now;
}

/* Lays the steps of a run on a clock (NULL: on none). */
struct icl_train_run;
void icl_train_clock(struct icl_train_run *run, struct icl_lap *lap);

#endif
