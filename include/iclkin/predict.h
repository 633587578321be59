/* predict.h -- the answers: when ICL is acquired, how diverse the data must be, when it is lost, and why.
 *
 *   t_icl by level (O2); K*, the K at which ICL stops being acquired as K falls (O4), (T8); t_blowup (T6);
 *   I_K(inf) (T8); t_iwl, t_loss (O2) and outcome (O3) at theory.level; of the mean field's t_icl, t_icl_sd over
 *   runs by the noise of SGD (T11), and t_icl_read, the standard error with which a simulation reads it (noise.h)
 *
 * Times    [t = lr x SGD steps]; infinite where never (by t_max, except (T7), (T8) and the blow-up)
 * K_star   [items]; 0 where every K >= 2 acquires ICL, infinite where none does, else the largest K that fails (to
 *          solver.K_tol, K taken as a real number)
 * Fails    ICL_ENUMERIC where theory.level's own run fails (another number that cannot be computed is NaN, and
 * `trouble` says why); ICL_ENOMEM; ICL_EUSAGE from the memory law. Cost     3 ms at the defaults, most of it the mean
 * field's K*.
 */
#ifndef ICLKIN_PREDICT_H
#define ICLKIN_PREDICT_H

#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/traj.h"

struct icl_prediction {
    double t_icl[ICL_LEVEL_COUNT], K_star[ICL_LEVEL_COUNT];
    double t_blowup; /* reduced */
    double I_K_inf, t_iwl, t_loss;
    double t_icl_sd, t_icl_read; /* meanfield */
    enum icl_outcome outcome;
    struct icl_err trouble; /* ICL_OK, or the first number that could not be computed */
    double budget;          /* I_K that acquisition takes from this start: right-hand side of (T7) times c1 */
    double fold, lambda;    /* (T9) with both decays equal to their geometric mean: lambda_c, and that mean */
    bool unreachable;       /* acc_icl stays below icl_threshold at every beta: D is too small for N */
    bool trapped;           /* not acquired, and a stable node holds the start at the initial c1 (T9) */
};

/* What a prediction is made of, one row a scalar; tests and printing loop over it. */
struct icl_predict_row {
    const char *name; /* as in the JSON: "t_icl", "K_star", ... */
    const char *unit;
    const char *level; /* "asymptotic", "reduced", "meanfield", or NULL: at theory.level */
    const char *tag;
    const char *group; /* the JSON object that the number is a bare member of, or NULL; groups come last */
    size_t offset;     /* of the double within struct icl_prediction */
};
size_t icl_predict_count(void);
const struct icl_predict_row *icl_predict_row(size_t index);
double icl_predict_value(const struct icl_prediction *prediction, const struct icl_predict_row *row);

enum icl_status icl_predict_run(const struct icl_params *params, struct icl_prediction *prediction,
                                struct icl_err *err) ICL_MUST_CHECK;

/* A tenth of the tolerances and finer quadrature: what --check solves with. */
void icl_predict_refine(struct icl_params *params);

/* t_icl and the other times of one level at K = params->task.K. */
enum icl_status icl_predict_times(const struct icl_params *params, enum icl_level level, enum icl_traj_stop stop,
                                  struct icl_traj_result *result, struct icl_err *err) ICL_MUST_CHECK;

/* K* of one level. */
enum icl_status icl_predict_items(const struct icl_params *params, enum icl_level level, double *K_star,
                                  struct icl_err *err) ICL_MUST_CHECK;

enum { ICL_PREDICT_SENTENCE = 1024 };
/* One or two sentences for a person: what will happen, and why. */
void icl_predict_sentence(const struct icl_params *params, const struct icl_prediction *prediction,
                          char text[ICL_PREDICT_SENTENCE]);

#endif
