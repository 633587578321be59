/* train.h -- one SGD run of the minimal model, a step at a time, with its observables.
 *
 *   z = phi(x_t) + w sum_j p_j l_j,  p = softmax_j(beta x_j . x_t),  loss log(1 + exp(-l_t z))    (S3), (S6)
 *   theta -= lr (dloss/dtheta + lambda theta),  t = lr steps                                      (S5)
 *
 * The caller's loop is init, then step until done; after init and each step it may take a row where one is due, and at
 * any time the result so far, or a block of bytes from which an equal run carries on bit for bit.
 *
 * setup    sections of the parameters, copied; member is the run's index in an ensemble
 * Needs    parameters that icl_params_check passed.
 * Fails    ICL_ERANGE for a task that cannot be sampled; ICL_ENOMEM; ICL_EUSAGE for a damaged block or one of another
 *          setup or version; ICL_ENUMERIC, naming the step, where a parameter is not finite or a loss beyond 1e4.
 * Owns     its network and items, until icl_train_free.
 * Threads  separate runs are independent and each uses only its caller's thread; same setup, same bytes.
 * Memory   K D floats (D rounded up to 16), one MLP, the activations of max(batch, 128) inputs, batch items and a few
 *          thousand scores; nothing grows with steps.
 * Cost     a step: 6 batch (D H + H^2) flop, less 2 batch D H, and 2 batch N D for the scores.
 */
#ifndef ICLKIN_TRAIN_H
#define ICLKIN_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/table.h"

enum icl_train_model {
    ICL_TRAIN_MINIMAL,    /* (S6) */
    ICL_TRAIN_MLP,        /* z = phi(x_t) + l_t offset: no context (M4) */
    ICL_TRAIN_ATTENTION,  /* phi = 0: w and beta alone */
    ICL_TRAIN_TRANSFORMER /* one layer of attention, then the MLP (S8) */
};

struct icl_train_setup {
    struct icl_task task;
    struct icl_init init; /* w and beta; where an sd is not 0 they are drawn, by member */
    struct icl_train train;
    struct icl_observe observe;
    struct icl_sim sim;
    uint32_t member;
    enum icl_train_model model;
    double offset;    /* ICL_TRAIN_MLP */
    bool rows;        /* evaluate at observe.samples times too; else only as often as the crossings need */
    bool stop_at_icl; /* done once t_icl is known; leave it off where transience is asked for */
};

/* The columns of a row, in the order of every trajectory. */
enum icl_train_column {
    ICL_TRAIN_T,
    ICL_TRAIN_STEPS,
    ICL_TRAIN_W,
    ICL_TRAIN_BETA,
    ICL_TRAIN_S,
    ICL_TRAIN_C1,
    ICL_TRAIN_C2,
    ICL_TRAIN_C3,
    ICL_TRAIN_LOSS_TRAIN,
    ICL_TRAIN_LOSS_ICL,
    ICL_TRAIN_LOSS_IWL,
    ICL_TRAIN_ACC_ICL,
    ICL_TRAIN_ACC_IWL,
    ICL_TRAIN_COLUMNS
};
extern const struct icl_column icl_train_columns[ICL_TRAIN_COLUMNS];

/* s is the clock of (M3) along the run, the sum of lr <sigma(-z)>/<sigma(-phi_+)> over its batches. */
struct icl_train_row {
    double value[ICL_TRAIN_COLUMNS];
    double error[ICL_TRAIN_COLUMNS]; /* standard error of the sample; 0 where exact */
};

enum icl_train_outcome { ICL_TRAIN_NONE, ICL_TRAIN_IWL, ICL_TRAIN_ICL, ICL_TRAIN_TRANSIENT }; /* (O3) */

/* A time of (O2), INFINITY where not reached, and the error that the spacing of evaluations and their sample leave. */
struct icl_train_time {
    double t, error;
};

struct icl_train_result {
    struct icl_train_time t_icl, t_iwl, t_loss;
    enum icl_train_outcome outcome;
    bool stopped; /* before t_max, by stop_at_icl */
    uint64_t steps;
    double t, w0, beta0, w, beta;
};

struct icl_train_run;

enum icl_status icl_train_alloc(struct icl_train_run **run, const struct icl_train_setup *setup,
                                struct icl_err *err) ICL_MUST_CHECK;
void icl_train_free(struct icl_train_run *run);

/* (Re)starts at step 0 and evaluates there. */
enum icl_status icl_train_init(struct icl_train_run *run, struct icl_err *err) ICL_MUST_CHECK;
/* One SGD step, and an evaluation where one is due. */
enum icl_status icl_train_step(struct icl_train_run *run, struct icl_err *err) ICL_MUST_CHECK;
bool icl_train_done(const struct icl_train_run *run);
/* ICL_TRAIN_MLP: the logit offset from here on, as if the setup had it. */
void icl_train_offset(struct icl_train_run *run, double offset);

/* Whether the step just made ends at a row's time; then fills *row. */
bool icl_train_row(const struct icl_train_run *run, struct icl_train_row *row);
void icl_train_result(const struct icl_train_run *run, struct icl_train_result *result);
/* Steps in the whole run, t_max/lr to the nearest. */
uint64_t icl_train_total(const struct icl_train_run *run);
/* "none", "iwl", "icl", "transient". */
const char *icl_train_outcome_name(enum icl_train_outcome outcome);
/* The matrix kernels in use ("own-avx512", "openblas"; "none" without an MLP). */
const char *icl_train_kernel(const struct icl_train_run *run);

/* Signed logits l_i phi(x_i) of training items first, ..., first + n - 1, and phi of n novel items (always the same).
 */
enum icl_status icl_train_logits(struct icl_train_run *run, size_t first, size_t n, float *phi,
                                 struct icl_err *err) ICL_MUST_CHECK;
void icl_train_novel(struct icl_train_run *run, size_t n, float *phi);

/* A checkpoint: its size, its bytes, and the return to it in a run of an equal setup, initialised or not. */
size_t icl_train_save_size(const struct icl_train_run *run);
void icl_train_save(const struct icl_train_run *run, void *block);
enum icl_status icl_train_restore(struct icl_train_run *run, const void *block, size_t size,
                                  struct icl_err *err) ICL_MUST_CHECK;
/* A number that differs where any value of the setup does. */
uint64_t icl_train_fingerprint(const struct icl_train_setup *setup);

#endif
