#include "iclkin/traj.h"

#include <math.h>

#include "base/mem.h"
#include "iclkin/closed.h"
#include "iclkin/ode.h"

enum {
    PARTS = 4,   /* sub-steps in which an event is looked for */
    CAPACITY = 8 /* sign changes of one event in one step */
};

struct icl_traj {
    struct icl_train train;
    struct icl_observe observe;
    double N;
    size_t max_steps;
    enum icl_level level;
    enum icl_labels labels;
    struct icl_model *model;
    struct icl_gauge *gauge;
    struct icl_ode *ode;
};

const char *icl_traj_level(enum icl_level level) {
    static const char *const names[ICL_LEVEL_COUNT] = {"asymptotic", "reduced", "meanfield"};
    return names[level];
}

const char *icl_traj_outcome(enum icl_outcome outcome) {
    static const char *const names[ICL_OUTCOME_COUNT] = {"none", "iwl", "icl", "transient"};
    return names[outcome];
}

enum icl_status icl_traj_alloc(struct icl_traj **traj, const struct icl_params *params, enum icl_level level, double K,
                               struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(traj, 1, sizeof **traj, err));
    struct icl_traj *t = *traj;
    t->train = params->train;
    t->observe = params->observe;
    t->N = (double)params->task.N;
    t->max_steps = params->solver.max_steps;
    t->level = level;
    t->labels = params->task.labels;
    enum icl_status status = icl_model_alloc(&t->model, params, level, K, err);
    if (status == ICL_OK) status = icl_gauge_alloc(&t->gauge, params, level, K, false, err);
    const struct icl_ode_system system = {ICL_DIM, icl_model_rhs, icl_model_jac, t->model};
    const struct icl_ode_control control = {params->solver.method, params->solver.rtol, params->solver.atol, 0,
                                            params->solver.max_steps};
    if (status == ICL_OK) status = icl_ode_alloc(&t->ode, &system, &control, err);
    if (status == ICL_OK && level != ICL_LEVEL_MEANFIELD) {
        /* N and c1 only rescale time there: the steps must not depend on them, so s is measured in N/c1. */
        struct icl_memlaw_rates start;
        icl_memlaw_rates(icl_model_memlaw(t->model), 0, &start);
        const double unit[ICL_DIM] = {[ICL_W] = 1, [ICL_BETA] = 1, [ICL_S] = t->N / start.c1};
        status = icl_ode_units(t->ode, unit, err);
    }
    if (status == ICL_OK) return ICL_OK;
    icl_traj_free(t);
    *traj = NULL;
    return status;
}

void icl_traj_free(struct icl_traj *traj) {
    if (!traj) return;
    icl_ode_free(traj->ode);
    icl_gauge_free(traj->gauge);
    icl_model_free(traj->model);
    icl_mem_free(traj);
}

/* One run: where it stands between the steps. */
struct run {
    struct icl_traj *traj;
    icl_traj_sink *sink;
    void *context;
    struct icl_traj_result *result;
    size_t sample;          /* the next one to be written */
    double t_last;          /* of the last row written */
    double closed;          /* level asymptotic: (T7), the time of its blow-up */
    bool ended;             /* the result has the state at its end */
    bool icl_alone;         /* t_iwl and t_loss are not asked for */
    double at_icl[ICL_DIM]; /* the state at t_icl */
};

static double event_icl(double tau, const double *y, void *context) {
    (void)tau;
    return icl_gauge_event_icl(context, y);
}

static double event_iwl(double tau, const double *y, void *context) {
    (void)tau;
    return icl_gauge_event_iwl(context, y);
}

static double event_loss(double tau, const double *y, void *context) {
    (void)tau;
    return icl_gauge_event_loss(context, y);
}

struct clock {
    const struct icl_model *model;
    double t;
};

static double event_clock(double tau, const double *y, void *context) {
    const struct clock *clock = context;
    return icl_model_time(clock->model, tau, y) - clock->t;
}

/* tau at the time t inside the last step. */
static enum icl_status tau_of(const struct icl_traj *traj, double t, double *tau, struct icl_err *err) {
    *tau = icl_ode_t(traj->ode);
    if (traj->level == ICL_LEVEL_MEANFIELD) {
        *tau = t;
        return ICL_OK;
    }
    struct clock clock = {traj->model, t};
    double root[CAPACITY];
    size_t roots;
    ICL_TRY(icl_ode_locate(traj->ode, event_clock, &clock, 1, CAPACITY, root, &roots, err));
    if (roots > 0) *tau = root[0];
    return ICL_OK;
}

static enum icl_status write_row(struct run *run, double t, const double *y, struct icl_err *err) {
    if (t <= run->t_last) return ICL_OK; /* an event on a sample's time */
    run->t_last = t;
    return run->sink(t, y, run->context, err);
}

static double sample_time(const struct icl_traj *traj, size_t i) {
    const double t_max = traj->train.t_max, last = (double)traj->observe.samples - 1;
    if (i == 0) return 0;
    if ((double)i >= last) return t_max;
    if (traj->observe.spacing == ICL_SPACING_LINEAR) return t_max * ((double)i / last);
    const double first = fmin(traj->train.lr, t_max * 1e-3);
    return first * pow(t_max / first, ((double)i - 1) / (last - 1));
}

/* Writes the samples of the last step up to time t. */
static enum icl_status write_samples(struct run *run, double t, struct icl_err *err) {
    if (!run->sink) return ICL_OK;
    for (; run->sample < run->traj->observe.samples; run->sample++) {
        const double at = sample_time(run->traj, run->sample);
        double tau, y[ICL_DIM];
        if (at > t) break;
        ICL_TRY(tau_of(run->traj, at, &tau, err));
        ICL_TRY(icl_ode_at(run->traj->ode, tau, y, err));
        ICL_TRY(write_row(run, at, y, err));
    }
    return ICL_OK;
}

struct mark {
    double tau, t, y[ICL_DIM];
};

/* The first time after tau = after in the last step at which an event becomes true (or, rising false, ceases to be), if
 * it comes by t_max. One jump can make two events true: the other one must not take it for its end. */
static enum icl_status first_change(struct icl_traj *traj, icl_ode_event *event, double after, bool rising,
                                    struct mark *mark, bool *found, struct icl_err *err) {
    double root[CAPACITY];
    size_t roots;
    *found = false;
    ICL_TRY(icl_ode_locate(traj->ode, event, traj->gauge, PARTS, CAPACITY, root, &roots, err));
    for (size_t i = 0; i < roots && !*found; i++) {
        const double next = i + 1 < roots ? root[i + 1] : icl_ode_t(traj->ode);
        if (!(root[i] > after)) continue;
        ICL_TRY(icl_ode_at(traj->ode, 0.5 * (root[i] + next), mark->y, err));
        if ((event(next, mark->y, traj->gauge) >= 0) != rising) continue;
        mark->tau = root[i];
        ICL_TRY(icl_ode_at(traj->ode, root[i], mark->y, err));
        mark->t = icl_model_time(traj->model, root[i], mark->y);
        *found = mark->t <= traj->train.t_max;
        if (!*found) break;
    }
    return ICL_OK;
}

enum { EVENTS = 3 };

/* Looks for the events of the last step and sets the result's times; marks come in the order of t. */
static enum icl_status find_events(struct run *run, struct mark mark[EVENTS], size_t *marks, struct icl_err *err) {
    struct icl_traj *traj = run->traj;
    struct icl_traj_result *result = run->result;
    double after = icl_ode_t_before(traj->ode);
    bool found;
    *marks = 0;
    if (isinf(result->t_icl)) {
        ICL_TRY(first_change(traj, event_icl, -INFINITY, true, &mark[*marks], &found, err));
        if (found) {
            after = mark[*marks].tau;
            for (int i = 0; i < ICL_DIM; i++) run->at_icl[i] = mark[*marks].y[i];
            result->t_icl = mark[(*marks)++].t;
        }
    }
    if (run->icl_alone) return ICL_OK;
    if (!isinf(result->t_icl) && isinf(result->t_loss)) {
        ICL_TRY(first_change(traj, event_loss, after, false, &mark[*marks], &found, err));
        if (found) result->t_loss = mark[(*marks)++].t;
    }
    if (isinf(result->t_iwl)) {
        ICL_TRY(first_change(traj, event_iwl, -INFINITY, true, &mark[*marks], &found, err));
        if (found) result->t_iwl = mark[(*marks)++].t;
    }
    for (size_t i = 1; i < *marks; i++)
        for (size_t j = i; j > 0 && mark[j].t < mark[j - 1].t; j--) {
            const struct mark swap = mark[j];
            mark[j] = mark[j - 1];
            mark[j - 1] = swap;
        }
    return ICL_OK;
}

static enum icl_status take_step(struct run *run, struct icl_err *err) {
    struct icl_traj *traj = run->traj;
    struct mark mark[EVENTS];
    size_t marks;
    ICL_TRY(icl_ode_step(traj->ode, err));
    ICL_TRY(find_events(run, mark, &marks, err));
    for (size_t i = 0; i < marks && run->sink; i++) {
        ICL_TRY(write_samples(run, mark[i].t, err));
        ICL_TRY(write_row(run, mark[i].t, mark[i].y, err));
    }
    const double t = icl_model_time(traj->model, icl_ode_t(traj->ode), icl_ode_y(traj->ode));
    return write_samples(run, fmin(t, traj->train.t_max), err);
}

static const double tiny = 1e-9; /* a w beside 0 */

/* What holds at t = 0 already. */
static enum icl_status at_start(struct run *run, const double *y, struct icl_err *err) {
    struct icl_gauge *gauge = run->traj->gauge;
    double rate[ICL_DIM], after[ICL_DIM] = {y[ICL_W], y[ICL_BETA], y[ICL_S]};
    /* At w = 0 every answer is a tie; what counts is the side to which w leaves it at once. */
    if (y[ICL_W] == 0 && icl_model_rhs(0, y, rate, run->traj->model) == 0)
        after[ICL_W] = rate[ICL_W] > 0 ? tiny : rate[ICL_W] < 0 ? -tiny : 0;
    if (icl_gauge_event_icl(gauge, after) >= 0) run->result->t_icl = 0;
    if (icl_gauge_event_iwl(gauge, y) >= 0) run->result->t_iwl = 0;
    run->sample = 1;
    return run->sink ? write_row(run, 0, y, err) : ICL_OK;
}

/* Reduced levels: beta = infinity. Returns whether the run is over. */
static enum icl_status reach_blowup(struct run *run, enum icl_traj_stop stop, bool *over, struct icl_err *err) {
    struct icl_traj *traj = run->traj;
    struct icl_traj_result *result = run->result;
    const double t = icl_model_time(traj->model, icl_ode_t(traj->ode), icl_ode_y(traj->ode));
    const double t_max = traj->train.t_max, rounding = 1e-14;
    double t_blowup = INFINITY;
    const enum icl_fate fate = icl_model_fate(traj->model, icl_ode_y(traj->ode), &t_blowup);
    if (fate == ICL_FATE_BLOWUP && traj->level == ICL_LEVEL_ASYMPTOTIC) t_blowup = run->closed;
    if (fate != ICL_FATE_OPEN && !result->blowup_decided) {
        result->blowup_decided = true;
        result->t_blowup = t_blowup;
    }
    const bool undecidable = icl_ode_steps(traj->ode) >= traj->max_steps; /* on the double point of the fold */
    *over = t >= t_max && (stop != ICL_TRAJ_TO_BLOWUP || result->blowup_decided || undecidable);
    if (fate == ICL_FATE_BLOWUP && t_blowup <= t_max * (1 + rounding)) {
        const double y[ICL_DIM] = {INFINITY, INFINITY, t_blowup};
        for (int i = 0; i < ICL_DIM; i++) result->y[i] = y[i];
        result->t = t_blowup;
        *over = true;
        return run->sink ? write_row(run, t_blowup, y, err) : ICL_OK;
    }
    result->t = fmin(t, t_max);
    return ICL_OK;
}

static enum icl_status closed_time(const struct icl_traj *traj, double w, double beta, double *t, struct icl_err *err) {
    double budget = icl_closed_budget(traj->N, w, beta);
    if (traj->labels == ICL_LABELS_BALANCED) ICL_TRY(icl_closed_budget_balanced(traj->N, w, beta, &budget, err));
    *t = icl_memlaw_clock(icl_model_memlaw(traj->model), budget);
    return ICL_OK;
}

static enum icl_outcome outcome_of(const struct icl_traj_result *result, double t_max) {
    if (!isinf(result->t_loss)) return ICL_OUTCOME_TRANSIENT;
    if (result->t_icl <= t_max) return ICL_OUTCOME_ICL;
    return isinf(result->t_iwl) ? ICL_OUTCOME_NONE : ICL_OUTCOME_IWL;
}

/* The state at the end of a run that did not blow up: the reduced levels overshoot t_max by part of a step. */
static enum icl_status end_state(struct run *run, struct icl_err *err) {
    struct icl_traj *traj = run->traj;
    double tau;
    run->ended = true;
    if (isinf(run->result->y[ICL_BETA])) return ICL_OK;
    const double now = icl_model_time(traj->model, icl_ode_t(traj->ode), icl_ode_y(traj->ode));
    run->result->t = fmin(now, traj->train.t_max);
    for (int i = 0; i < ICL_DIM; i++) run->result->y[i] = icl_ode_y(traj->ode)[i];
    if (now <= traj->train.t_max) return ICL_OK;
    ICL_TRY(tau_of(traj, traj->train.t_max, &tau, err));
    return icl_ode_at(traj->ode, tau, run->result->y, err);
}

/* A measured law ends somewhere. Reduced levels overshoot t_max by part of a step, and to the blow-up by more. */
static enum icl_status check_clock(const struct run *run, struct icl_err *err) {
    const struct icl_traj *traj = run->traj;
    const double s = icl_ode_y(traj->ode)[ICL_S];
    return icl_memlaw_check(icl_model_memlaw(traj->model),
                            traj->level == ICL_LEVEL_MEANFIELD ? s : fmin(s, traj->train.t_max), err);
}

static enum icl_status integrate(struct run *run, const double *y0, enum icl_traj_stop stop, struct icl_err *err) {
    struct icl_traj *traj = run->traj;
    const bool meanfield = traj->level == ICL_LEVEL_MEANFIELD;
    ICL_TRY(icl_ode_init(traj->ode, 0, y0, meanfield ? traj->train.t_max : INFINITY, err));
    ICL_TRY(at_start(run, y0, err));
    bool over = false;
    while (!over) {
        if (stop == ICL_TRAJ_TO_ICL && !isinf(run->result->t_icl)) {
            run->result->t = run->result->t_icl;
            for (int i = 0; i < ICL_DIM; i++) run->result->y[i] = run->at_icl[i];
            return ICL_OK;
        }
        ICL_TRY(take_step(run, err));
        if (stop != ICL_TRAJ_TO_ICL || isinf(run->result->t_icl)) ICL_TRY(check_clock(run, err));
        run->result->t = icl_ode_t(traj->ode);
        over = icl_ode_done(traj->ode);
        if (!meanfield) ICL_TRY(reach_blowup(run, stop, &over, err));
        const double t = icl_model_time(traj->model, icl_ode_t(traj->ode), icl_ode_y(traj->ode));
        if (!run->ended && t >= traj->train.t_max) ICL_TRY(end_state(run, err));
    }
    return run->ended ? ICL_OK : end_state(run, err);
}

enum icl_status icl_traj_run(struct icl_traj *traj, double w, double beta, enum icl_traj_stop stop, icl_traj_sink *sink,
                             void *context, struct icl_traj_result *result, struct icl_err *err) {
    const double y0[ICL_DIM] = {w, beta, 0};
    struct run run = {.traj = traj,
                      .sink = sink,
                      .context = context,
                      .result = result,
                      .t_last = -1,
                      .closed = INFINITY,
                      .icl_alone = stop == ICL_TRAJ_TO_ICL,
                      .at_icl = {w, beta, 0}};
    *result = (struct icl_traj_result){.t_icl = INFINITY, .t_iwl = INFINITY, .t_loss = INFINITY, .t_blowup = INFINITY};
    const bool asymptotic = traj->level == ICL_LEVEL_ASYMPTOTIC;
    if (asymptotic) ICL_TRY(closed_time(traj, w, beta, &run.closed, err));
    const enum icl_status status = integrate(&run, y0, stop, err);
    result->steps = icl_ode_steps(traj->ode);
    result->rhs_calls = icl_ode_rhs_calls(traj->ode);
    if (status != ICL_OK) {
        return icl_err_context(err, status, "%s from w = %g, beta = %g", icl_traj_level(traj->level), w, beta);
    }
    if (asymptotic) { /* acquisition is the blow-up, not the event */
        result->t_icl = result->t_blowup = run.closed;
        result->t_loss = INFINITY;
        result->blowup_decided = true;
    }
    result->outcome = outcome_of(result, traj->train.t_max);
    return ICL_OK;
}
