#include "iclkin/predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "iclkin/closed.h"
#include "iclkin/memlaw.h"
#include "iclkin/noise.h"

#define ROW(name, unit, level, tag, field)                                                                             \
    { name, unit, level, tag, NULL, offsetof(struct icl_prediction, field) }
#define NOISE(name, unit, level, tag, field)                                                                           \
    { name, unit, level, tag, "noise", offsetof(struct icl_prediction, field) }

static const struct icl_predict_row rows[] = {
    ROW("t_icl", "t", "asymptotic", "T7", t_icl[ICL_LEVEL_ASYMPTOTIC]),
    ROW("t_icl", "t", "reduced", "T5", t_icl[ICL_LEVEL_REDUCED]),
    ROW("t_icl", "t", "meanfield", "T3", t_icl[ICL_LEVEL_MEANFIELD]),
    ROW("t_blowup", "t", "reduced", "T6", t_blowup),
    ROW("K_star", "items", "asymptotic", "T8", K_star[ICL_LEVEL_ASYMPTOTIC]),
    ROW("K_star", "items", "reduced", "O4", K_star[ICL_LEVEL_REDUCED]),
    ROW("K_star", "items", "meanfield", "O4", K_star[ICL_LEVEL_MEANFIELD]),
    ROW("I_K_inf", "t", NULL, "T8", I_K_inf),
    ROW("t_iwl", "t", NULL, "O2", t_iwl),
    ROW("t_loss", "t", NULL, "O2", t_loss),
    NOISE("t_icl_sd", "t", "meanfield", "T11", t_icl_sd),
    NOISE("t_icl_read", "t", "meanfield", "O1", t_icl_read),
};

size_t icl_predict_count(void) {
    return sizeof rows / sizeof *rows;
}

const struct icl_predict_row *icl_predict_row(size_t index) {
    return &rows[index];
}

double icl_predict_value(const struct icl_prediction *prediction, const struct icl_predict_row *row) {
    return *(const double *)((const char *)prediction + row->offset);
}

static size_t more_nodes(size_t nodes) {
    const size_t most = 64; /* of solver.nodes_* */
    return nodes + nodes / 2 + 1 < most ? nodes + nodes / 2 + 1 : most;
}

void icl_predict_refine(struct icl_params *params) {
    struct icl_solver *solver = &params->solver;
    const double least = 1e-14; /* of solver.rtol */
    solver->rtol = fmax(solver->rtol / 10, least);
    solver->atol /= 10;
    solver->tail /= 10;
    solver->K_tol = fmax(solver->K_tol / 10, 1e-9);
    solver->nodes_q = more_nodes(solver->nodes_q);
    solver->nodes_g = more_nodes(solver->nodes_g);
    solver->nodes_n = more_nodes(solver->nodes_n);
}

enum icl_status icl_predict_times(const struct icl_params *params, enum icl_level level, enum icl_traj_stop stop,
                                  struct icl_traj_result *result, struct icl_err *err) {
    struct icl_traj *traj;
    ICL_TRY(icl_traj_alloc(&traj, params, level, params->task.K, err));
    const enum icl_status status = icl_traj_run(traj, params->init.w, params->init.beta, stop, NULL, NULL, result, err);
    icl_traj_free(traj);
    return status;
}

static enum icl_status acquires(const struct icl_params *params, enum icl_level level, double K, bool *yes,
                                struct icl_err *err) {
    struct icl_params at = *params;
    struct icl_traj_result result;
    at.task.K = K;
    const enum icl_status status = icl_predict_times(&at, level, ICL_TRAJ_TO_ICL, &result, err);
    if (status != ICL_OK) return icl_err_context(err, status, "K* at K = %g", K);
    *yes = !isinf(result.t_icl);
    return ICL_OK;
}

static enum icl_status budget_of(const struct icl_params *params, double *budget, struct icl_err *err) {
    const double N = (double)params->task.N;
    if (params->task.labels == ICL_LABELS_BALANCED)
        return icl_closed_budget_balanced(N, params->init.w, params->init.beta, budget, err);
    *budget = icl_closed_budget(N, params->init.w, params->init.beta);
    return ICL_OK;
}

/* What is not to be extrapolated does not say where K* lies. */
static enum icl_status beyond(const struct icl_params *params, const char *side, struct icl_err *err) {
    double least, most;
    icl_memlaw_range(params, &least, &most);
    return ICL_ERR(err, ICL_ERANGE,
                   "K* lies %s the K of memory.table = %s, %g to %g (memory.extrapolate = yes goes on beyond them)",
                   side, params->memory.table, least, most);
}

/* Goes down from a K that acquires until one does not. */
static enum icl_status descend(const struct icl_params *params, enum icl_level level, double K_least, double *lo,
                               double *hi, struct icl_err *err) {
    const double factor = 2, every = 2;
    bool yes;
    for (double K = *hi; K > K_least;) {
        K = fmax(K / factor, K_least);
        ICL_TRY(acquires(params, level, K, &yes, err));
        if (!yes) {
            *lo = K;
            return ICL_OK;
        }
        *hi = K;
    }
    return K_least > every ? beyond(params, "below", err) : ICL_OK;
}

/* Goes up from a K until ICL is acquired there and at the sparse points above, so that the K below is the largest that
 * fails; then down until it is not. Leaves lo failing and hi acquiring; lo = 0: every K acquires, hi infinite: none. */
static enum icl_status bracket(const struct icl_params *params, enum icl_level level, double start, double *lo,
                               double *hi, struct icl_err *err) {
    const double factor = 2, all = 1e15;
    double K_least, K_most;
    bool yes;
    icl_memlaw_range(params, &K_least, &K_most);
    *hi = fmax(K_least, fmin(start, K_most));
    *lo = 0;
    ICL_TRY(acquires(params, level, INFINITY, &yes, err));
    if (!yes) {
        *hi = INFINITY;
        return ICL_OK;
    }
    for (;; *hi = fmin(*hi * factor, K_most)) {
        ICL_TRY(acquires(params, level, *hi, &yes, err));
        if (yes) break;
        if (*hi == K_most && K_most < all) return beyond(params, "above", err);
        if (*hi == K_most) break;
        *lo = *hi;
    }
    const bool found = *lo > 0;
    for (double above = *hi * 10; above < K_most && above < *hi * 1e4; above *= 10) { /* a second branch above? */
        ICL_TRY(acquires(params, level, above, &yes, err));
        if (yes) continue;
        *lo = above;
        *hi = fmin(above * 10, K_most);
    }
    return found || *lo > 0 ? ICL_OK : descend(params, level, K_least, lo, hi, err);
}

enum icl_status icl_predict_items(const struct icl_params *params, enum icl_level level, double *K_star,
                                  struct icl_err *err) {
    double budget, lo, hi;
    ICL_TRY(budget_of(params, &budget, err));
    const double asymptotic = icl_memlaw_items(params, budget), every = 2;
    if (level == ICL_LEVEL_ASYMPTOTIC) {
        if (isnan(asymptotic)) return beyond(params, "outside", err);
        *K_star = asymptotic < every ? 0 : asymptotic;
        return ICL_OK;
    }
    const double guess = asymptotic > 0 && !isinf(asymptotic) ? 1.5 * asymptotic : params->task.K;
    ICL_TRY(bracket(params, level, isinf(guess) ? 1000 : guess, &lo, &hi, err));
    if (lo == 0 || isinf(hi)) {
        *K_star = isinf(hi) ? INFINITY : 0;
        return ICL_OK;
    }
    while (hi > lo * (1 + params->solver.K_tol)) {
        const double middle = sqrt(lo * hi);
        bool yes;
        ICL_TRY(acquires(params, level, middle, &yes, err));
        *(yes ? &hi : &lo) = middle;
    }
    *K_star = lo;
    return ICL_OK;
}

/* Whether (T5) with memorization frozen at its beginning never leaves for beta = infinity (T9). */
static enum icl_status trapped(const struct icl_params *params, const struct icl_memlaw_rates *start, bool *yes,
                               struct icl_err *err) {
    const struct icl_train *train = &params->train;
    struct icl_params frozen = *params;
    struct icl_traj_result result;
    *yes = params->task.labels == ICL_LABELS_RANDOM &&
           icl_closed_fold_ratio((double)params->task.N, start->c1, start->c2, train->lambda_w, train->lambda_beta) > 1;
    if (!*yes) return ICL_OK;
    frozen.memory.law = ICL_LAW_CONSTANT;
    frozen.memory.c1 = start->c1;
    frozen.memory.c2 = start->c2;
    ICL_TRY(icl_predict_times(&frozen, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP, &result, err));
    *yes = isinf(result.t_blowup);
    return ICL_OK;
}

/* Numeric trouble costs the number alone; the first is remembered. */
static enum icl_status tolerate(struct icl_prediction *p, enum icl_status status, const struct icl_err *own,
                                double *number, struct icl_err *err) {
    if (status == ICL_OK) return ICL_OK;
    if (status != ICL_ENUMERIC) return icl_err_set(err, status, "%s", own->text);
    *number = NAN;
    if (p->trouble.code == ICL_OK) p->trouble = *own;
    return ICL_OK;
}

static enum icl_status predict_noise(const struct icl_params *params, struct icl_prediction *p, struct icl_err *err) {
    struct icl_err own = {ICL_OK, ""};
    const double t_icl = p->t_icl[ICL_LEVEL_MEANFIELD];
    struct icl_noise_time time = {NAN, NAN};
    enum icl_status status = ICL_OK;
    if (!isnan(t_icl)) status = icl_noise_t_icl(params, ICL_LEVEL_MEANFIELD, t_icl, &time, &own);
    ICL_TRY(tolerate(p, status, &own, &time.sd, err));
    p->t_icl_sd = time.sd;
    p->t_icl_read = status == ICL_OK ? time.read : NAN;
    return ICL_OK;
}

static enum icl_status predict_level(const struct icl_params *params, enum icl_level level, struct icl_prediction *p,
                                     struct icl_err *err) {
    const bool wanted = level == params->theory.level;
    struct icl_traj_result result = {.t_icl = NAN, .t_blowup = NAN};
    struct icl_err own = {ICL_OK, ""};
    enum icl_status status = icl_predict_items(params, level, &p->K_star[level], &own);
    ICL_TRY(tolerate(p, status, &own, &p->K_star[level], err));
    if (level == ICL_LEVEL_REDUCED) {
        status = icl_predict_times(params, level, ICL_TRAJ_TO_BLOWUP, &result, &own);
        p->t_blowup = result.t_blowup;
        p->t_icl[level] = result.t_icl;
        ICL_TRY(tolerate(p, status, &own, &p->t_blowup, err));
        if (status == ICL_OK && !wanted) return ICL_OK;
    }
    status = icl_predict_times(params, level, wanted ? ICL_TRAJ_TO_END : ICL_TRAJ_TO_ICL, &result, &own);
    if (wanted && status != ICL_OK) return icl_err_set(err, status, "%s", own.text);
    p->t_icl[level] = result.t_icl;
    ICL_TRY(tolerate(p, status, &own, &p->t_icl[level], err));
    if (level == ICL_LEVEL_MEANFIELD) ICL_TRY(predict_noise(params, p, err));
    if (!wanted) return ICL_OK;
    p->t_iwl = result.t_iwl;
    p->t_loss = result.t_loss;
    p->outcome = result.outcome;
    return ICL_OK;
}

enum icl_status icl_predict_run(const struct icl_params *params, struct icl_prediction *p, struct icl_err *err) {
    struct icl_memlaw law;
    struct icl_memlaw_rates start;
    const struct icl_train *train = &params->train;
    *p = (struct icl_prediction){0};
    ICL_TRY(icl_memlaw_init(params, params->task.K, &law, err));
    icl_memlaw_rates(&law, 0, &start);
    p->I_K_inf = law.budget;
    icl_memlaw_free(&law);
    ICL_TRY(budget_of(params, &p->budget, err));
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) ICL_TRY(predict_level(params, (enum icl_level)level, p, err));
    struct icl_gauge *gauge;
    ICL_TRY(icl_gauge_alloc(&gauge, params, params->theory.level, params->task.K, false, err));
    p->unreachable = !icl_gauge_reachable(gauge);
    icl_gauge_free(gauge);
    p->fold = icl_closed_fold((double)params->task.N, start.c1, start.c2);
    p->lambda = sqrt(train->lambda_w * train->lambda_beta);
    if (params->theory.level == ICL_LEVEL_ASYMPTOTIC || p->outcome == ICL_OUTCOME_ICL ||
        p->outcome == ICL_OUTCOME_TRANSIENT)
        return ICL_OK;
    return trapped(params, &start, &p->trapped, err);
}

static void say(char text[ICL_PREDICT_SENTENCE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(char text[ICL_PREDICT_SENTENCE], const char *format, ...) {
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, ICL_PREDICT_SENTENCE - used, format, arguments);
    va_end(arguments);
}

/* Why ICL is not acquired: the first of these that holds is enough. */
static void say_never(const struct icl_params *params, const struct icl_prediction *p,
                      char text[ICL_PREDICT_SENTENCE]) {
    const double K_star = p->K_star[params->theory.level];
    if (p->unreachable)
        say(text,
            "By (T4) ICL is never acquired: with N = %zu items of D = %g dimensions acc_icl stays below %g at every "
            "beta.",
            params->task.N, params->task.D, params->observe.icl_threshold);
    else if (isinf(p->budget) && params->task.labels == ICL_LABELS_BALANCED)
        say(text,
            "ICL is never acquired: the start lies on or below the separatrix of the saddle w = beta = 0, from where "
            "balanced labels do not let go.");
    else if (p->trapped)
        say(text,
            "ICL is never acquired: weight decay (geometric mean %.4g) exceeds the fold at lambda_c = %.4g, and a "
            "stable node near the origin traps the start.",
            p->lambda, p->fold);
    else if (p->budget >= p->I_K_inf)
        say(text,
            "ICL is never acquired: by (T7) it takes I_K = %.4g, and memorization of K = %g items leaves I_K(inf) = "
            "%.4g; "
            "%s K must exceed K* = %.4g.",
            p->budget, params->task.K, p->I_K_inf, isinf(K_star) ? "by (T8)" : "at this level of theory",
            isinf(K_star) ? p->K_star[ICL_LEVEL_ASYMPTOTIC] : K_star);
    else if (params->task.K <= K_star && !isinf(K_star))
        say(text,
            "ICL is not acquired by t_max = %g: K = %g lies below K* = %.4g of that t_max, memorization is ahead of "
            "it. "
            "A longer run may still acquire it.",
            params->train.t_max, params->task.K, K_star);
    else
        say(text, "ICL is not acquired by t_max = %g; without decay and memorization's damping it would take t = %.4g.",
            params->train.t_max, p->t_icl[ICL_LEVEL_ASYMPTOTIC]);
}

void icl_predict_sentence(const struct icl_params *params, const struct icl_prediction *p,
                          char text[ICL_PREDICT_SENTENCE]) {
    const double t = p->t_icl[params->theory.level], lr = params->train.lr;
    text[0] = '\0';
    if (t == 0)
        say(text, "ICL is there already at the start: acc_icl >= %g at t = 0", params->observe.icl_threshold);
    else if (p->outcome == ICL_OUTCOME_ICL || p->outcome == ICL_OUTCOME_TRANSIENT)
        say(text, "ICL is acquired at t = %.4g (%.0f SGD steps)", t, ceil(t / lr));
    if (p->outcome == ICL_OUTCOME_ICL)
        say(text,
            params->theory.level == ICL_LEVEL_MEANFIELD ? " and kept to t_max = %g."
                                                        : " and, as far as this level can tell, kept to t_max = %g.",
            params->train.t_max);
    else if (p->outcome == ICL_OUTCOME_TRANSIENT)
        say(text, " and lost again at t = %.4g (%.0f SGD steps): %sweight decay pulls w and beta back.", p->t_loss,
            ceil(p->t_loss / lr), p->I_K_inf < INFINITY ? "as the MLP memorizes, " : "");
    else
        say_never(params, p, text);
    if (!isinf(p->t_iwl)) say(text, " The training items are memorized by t = %.4g.", p->t_iwl);
}
