#include "iclkin/model.h"

#include <math.h>

#include "base/mem.h"
#include "iclkin/closed.h"
#include "theory/context.h"
#include "theory/meanfield.h"

struct icl_model {
    enum icl_level level;
    enum icl_labels labels;
    double N, lambda_w, lambda_beta;
    bool damped, slowed; /* whether w a lowers the error signal; mean field: whether the clock follows it */
    struct icl_memlaw law;
    struct icl_context *train; /* mean field only */
};

enum icl_status icl_model_alloc(struct icl_model **model, const struct icl_params *params, enum icl_level level,
                                double K, struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(model, 1, sizeof **model, err));
    struct icl_model *m = *model;
    const bool decays = level != ICL_LEVEL_ASYMPTOTIC;
    m->level = level;
    m->labels = params->task.labels;
    m->N = (double)params->task.N;
    m->damped = decays && !(params->without & ICL_WITHOUT_DAMPING);
    m->slowed = !(params->without & ICL_WITHOUT_CLOCK);
    m->lambda_w = decays ? params->train.lambda_w : 0;
    m->lambda_beta = decays ? params->train.lambda_beta : 0;
    struct icl_task task = params->task;
    task.K = K;
    if (params->without & ICL_WITHOUT_FINITE_D) task.D = INFINITY;
    enum icl_status status = icl_memlaw_init(params, K, &m->law, err);
    if (status == ICL_OK && level == ICL_LEVEL_MEANFIELD)
        status = icl_context_alloc(&m->train, &task, params->without, &params->solver, ICL_CONTEXT_TRAIN, err);
    if (status == ICL_OK) return ICL_OK;
    icl_model_free(m);
    *model = NULL;
    return status;
}

void icl_model_free(struct icl_model *model) {
    if (!model) return;
    icl_context_free(model->train);
    icl_memlaw_free(&model->law);
    icl_mem_free(model);
}

/* (T5) times dt/dtau = 1/(1 + e^beta): e^beta becomes P = sigma(beta), 1 becomes Q = sigma(-beta). */
struct scaled {
    double P, Q;           /* e^beta/(1 + e^beta), 1/(1 + e^beta) */
    double a, da, c2, dc2; /* c1/N and c2 with their slopes in s */
    double e1;             /* e^beta - 1: balanced labels, c2 > 0 only */
};

static const double overflow = 700; /* e^beta is finite below it */

static struct scaled scaled_at(const struct icl_model *m, const double *y) {
    struct icl_memlaw_rates rates;
    icl_memlaw_rates(&m->law, y[ICL_S], &rates);
    const double small = exp(-fabs(y[ICL_BETA])), big = 1 / (1 + small);
    struct scaled f = {.P = big, .Q = small * big, .a = rates.c1 / m->N, .da = rates.dc1 / m->N};
    if (y[ICL_BETA] < 0) {
        f.P = small * big;
        f.Q = big;
    }
    if (m->damped) {
        f.c2 = rates.c2;
        f.dc2 = rates.dc2;
    }
    if (m->labels == ICL_LABELS_BALANCED && f.c2 > 0) f.e1 = expm1(fmin(y[ICL_BETA], overflow));
    return f;
}

static void rhs_reduced(const struct icl_model *m, const double *y, double *dydtau) {
    const double w = y[ICL_W], beta = y[ICL_BETA];
    const struct scaled f = scaled_at(m, y);
    dydtau[ICL_S] = f.Q;
    if (m->labels == ICL_LABELS_RANDOM) {
        dydtau[ICL_W] = f.a * (f.P - f.c2 * w * f.Q) - m->lambda_w * w * f.Q;
        dydtau[ICL_BETA] = f.a * w * f.P - m->lambda_beta * beta * f.Q;
        return;
    }
    const double X = f.P - f.Q, damped = 1 - f.c2 * w * f.e1 / m->N;
    dydtau[ICL_W] = f.a * X * damped - m->lambda_w * w * f.Q;
    dydtau[ICL_BETA] = f.a * w * f.P * damped - m->lambda_beta * beta * f.Q;
}

static void rhs_meanfield(const struct icl_model *m, const double *y, double *dydt) {
    struct icl_memlaw_state memory;
    double sums[3];
    icl_memlaw_state(&m->law, y[ICL_S], &memory);
    icl_context_at(m->train, y[ICL_BETA], false);
    icl_meanfield_sums(m->train, &memory, y[ICL_W], sums);
    dydt[ICL_S] = m->slowed ? sums[0] / memory.c1 : 1;
    if (!m->damped) icl_meanfield_sums(m->train, &memory, 0, sums);
    dydt[ICL_W] = sums[1] - m->lambda_w * y[ICL_W];
    dydt[ICL_BETA] = y[ICL_W] * sums[2] - m->lambda_beta * y[ICL_BETA];
}

int icl_model_rhs(double tau, const double *y, double *dydtau, void *context) {
    const struct icl_model *m = context;
    (void)tau;
    (m->level == ICL_LEVEL_MEANFIELD ? rhs_meanfield : rhs_reduced)(m, y, dydtau);
    return 0;
}

#define DFDY(row, column) dfdy[(row)*ICL_DIM + (column)]

static void jac_reduced(const struct icl_model *m, const double *y, double *dfdy) {
    const double w = y[ICL_W], beta = y[ICL_BETA], N = m->N;
    const struct scaled f = scaled_at(m, y);
    const double PQ = f.P * f.Q; /* P' = PQ, Q' = -PQ */
    DFDY(ICL_S, ICL_W) = DFDY(ICL_S, ICL_S) = 0;
    DFDY(ICL_S, ICL_BETA) = -PQ;
    if (m->labels == ICL_LABELS_RANDOM) {
        DFDY(ICL_W, ICL_W) = -(f.a * f.c2 + m->lambda_w) * f.Q;
        DFDY(ICL_W, ICL_BETA) = (f.a * (1 + f.c2 * w) + m->lambda_w * w) * PQ;
        DFDY(ICL_W, ICL_S) = f.da * (f.P - f.c2 * w * f.Q) - f.a * f.dc2 * w * f.Q;
        DFDY(ICL_BETA, ICL_W) = f.a * f.P;
        DFDY(ICL_BETA, ICL_BETA) = f.a * w * PQ - m->lambda_beta * f.Q + m->lambda_beta * beta * PQ;
        DFDY(ICL_BETA, ICL_S) = f.da * w * f.P;
        return;
    }
    const double X = f.P - f.Q, damped = 1 - f.c2 * w * f.e1 / N;
    const double damped_w = -f.c2 * f.e1 / N, damped_s = -f.dc2 * w * f.e1 / N;
    const double damped_beta = f.c2 > 0 ? -f.c2 * w * (f.e1 + 1) / N : 0;
    DFDY(ICL_W, ICL_W) = f.a * X * damped_w - m->lambda_w * f.Q;
    DFDY(ICL_W, ICL_BETA) = f.a * (2 * PQ * damped + X * damped_beta) + m->lambda_w * w * PQ;
    DFDY(ICL_W, ICL_S) = X * (f.da * damped + f.a * damped_s);
    DFDY(ICL_BETA, ICL_W) = f.a * f.P * (damped + w * damped_w);
    DFDY(ICL_BETA, ICL_BETA) = f.a * w * (PQ * damped + f.P * damped_beta) + m->lambda_beta * (beta * PQ - f.Q);
    DFDY(ICL_BETA, ICL_S) = w * f.P * (f.da * damped + f.a * damped_s);
}

/* What the mean field's derivatives are made of at y: f, and g in its place for w and beta, which differs where w a
 * does not damp them; c1 is what ds/dt divides by. */
struct moments {
    struct icl_meanfield_moments f, g;
    double c1, dc1;
};

static void moments_at(const struct icl_model *m, const double *y, struct moments *at) {
    struct icl_memlaw_state memory;
    struct icl_memlaw_rates rates;
    icl_memlaw_state(&m->law, y[ICL_S], &memory);
    icl_memlaw_rates(&m->law, y[ICL_S], &rates);
    icl_context_at(m->train, y[ICL_BETA], true);
    icl_meanfield_moments(m->train, &memory, y[ICL_W], &at->f);
    at->g = at->f;
    if (!m->damped) {
        icl_meanfield_moments(m->train, &memory, 0, &at->g);
        at->g.haa = at->g.hab = at->g.hbb = 0;
    }
    at->c1 = memory.c1;
    at->dc1 = rates.dc1;
}

/* dz/dw = a, dz/dbeta = w b, dz/ds = dphi/ds, d sigma(-z)/dz = -sigma(-z) sigma(z). */
static void jac_moments(const struct icl_model *m, const double *y, const struct moments *at, double *dfdy) {
    const double w = y[ICL_W], c1 = at->c1;
    const struct icl_meanfield_moments *f = &at->f, *g = &at->g;
    DFDY(ICL_W, ICL_W) = -g->haa - m->lambda_w;
    DFDY(ICL_W, ICL_BETA) = g->sb - w * g->hab;
    DFDY(ICL_W, ICL_S) = -g->hsa;
    DFDY(ICL_BETA, ICL_W) = g->sb - w * g->hab;
    DFDY(ICL_BETA, ICL_BETA) = w * (g->sc - w * g->hbb) - m->lambda_beta;
    DFDY(ICL_BETA, ICL_S) = -w * g->hsb;
    DFDY(ICL_S, ICL_W) = m->slowed ? f->ra / c1 : 0;
    DFDY(ICL_S, ICL_BETA) = m->slowed ? w * f->rb / c1 : 0;
    DFDY(ICL_S, ICL_S) = m->slowed ? (f->rs - f->r * at->dc1 / c1) / c1 : 0;
}

static void jac_meanfield(const struct icl_model *m, const double *y, double *dfdy) {
    struct moments at;
    moments_at(m, y, &at);
    jac_moments(m, y, &at, dfdy);
}

int icl_model_jac(double tau, const double *y, double *dfdy, double *dfdtau, void *context) {
    const struct icl_model *m = context;
    (void)tau;
    for (int i = 0; i < ICL_DIM; i++) dfdtau[i] = 0;
    (m->level == ICL_LEVEL_MEANFIELD ? jac_meanfield : jac_reduced)(m, y, dfdy);
    return 0;
}

void icl_model_field(struct icl_model *m, double s, double w, double beta, double f[2], double jacobian[4]) {
    const double y[ICL_DIM] = {[ICL_W] = w, [ICL_BETA] = beta, [ICL_S] = s};
    const bool meanfield = m->level == ICL_LEVEL_MEANFIELD;
    /* dt/dtau = 1/(1 + e^beta) of the reduced levels is undone: f = F (1 + e^beta). */
    const double pace = meanfield ? 1 : 1 + exp(beta), growth = meanfield ? 0 : exp(beta);
    double rate[ICL_DIM], dfdy[ICL_DIM * ICL_DIM];
    (meanfield ? rhs_meanfield : rhs_reduced)(m, y, rate);
    f[0] = rate[ICL_W] * pace;
    f[1] = rate[ICL_BETA] * pace;
    if (!jacobian) return;
    (meanfield ? jac_meanfield : jac_reduced)(m, y, dfdy);
    for (int i = 0; i < 2; i++) {
        jacobian[2 * i] = DFDY(i, ICL_W) * pace;
        jacobian[2 * i + 1] = DFDY(i, ICL_BETA) * pace + rate[i] * growth;
    }
}

static void linear_meanfield(const struct icl_model *m, const double *y, double *rate, double *dfdy, double C[3]) {
    const double w = y[ICL_W];
    struct moments at;
    const struct icl_meanfield_moments *const f = &at.f;
    moments_at(m, y, &at);
    jac_moments(m, y, &at, dfdy);
    rate[ICL_W] = at.g.sa - m->lambda_w * w;
    rate[ICL_BETA] = w * at.g.sb - m->lambda_beta * y[ICL_BETA];
    rate[ICL_S] = m->slowed ? f->r / at.c1 : 1;
    C[0] = f->qaa - f->sa * f->sa;
    C[1] = w * (f->qab - f->sa * f->sb);
    C[2] = w * w * (f->qbb - f->sb * f->sb);
}

/* To the order of (T5): <a^2> = 1/N (random), and a itself where it does not scatter (balanced). */
static void scatter_reduced(const struct icl_model *m, const double *y, double C[3]) {
    struct icl_memlaw_rates rates;
    icl_memlaw_rates(&m->law, y[ICL_S], &rates);
    const double square = rates.c1 * (1 - rates.c2), spread = square - rates.c1 * rates.c1;
    const double A = expm1(y[ICL_BETA]) / m->N, b = y[ICL_W] * exp(y[ICL_BETA]) / m->N;
    const bool random = m->labels == ICL_LABELS_RANDOM;
    C[0] = random ? square / m->N : spread * A * A;
    C[1] = random ? 0 : spread * A * b;
    C[2] = random ? 0 : spread * b * b;
}

void icl_model_linear(struct icl_model *m, const double *y, double rate[ICL_DIM], double dfdy[ICL_DIM * ICL_DIM],
                      double C[3]) {
    if (m->level == ICL_LEVEL_MEANFIELD) {
        linear_meanfield(m, y, rate, dfdy, C);
        return;
    }
    rhs_reduced(m, y, rate);
    jac_reduced(m, y, dfdy);
    scatter_reduced(m, y, C);
    const double growth = exp(y[ICL_BETA]), pace = 1 + growth; /* as in icl_model_field; s = t without the rounding */
    for (int j = 0; j < ICL_DIM; j++) {
        DFDY(ICL_W, j) *= pace;
        DFDY(ICL_BETA, j) *= pace;
        DFDY(ICL_S, j) = 0;
    }
    DFDY(ICL_W, ICL_BETA) += rate[ICL_W] * growth;
    DFDY(ICL_BETA, ICL_BETA) += rate[ICL_BETA] * growth;
    rate[ICL_W] *= pace;
    rate[ICL_BETA] *= pace;
    rate[ICL_S] = 1;
}

double icl_model_time(const struct icl_model *model, double tau, const double *y) {
    return model->level == ICL_LEVEL_MEANFIELD ? tau : y[ICL_S];
}

double icl_model_pace(const struct icl_model *model, const double *y) {
    return model->level == ICL_LEVEL_MEANFIELD ? 1 : scaled_at(model, y).Q;
}

/* Relative size of what the remaining time's closed form leaves out; its error is the square of this. */
static const double late = 1e-7;
static const double forever = 1e300;

enum icl_fate icl_model_fate(const struct icl_model *m, const double *y, double *t_blowup) {
    const double w = y[ICL_W], beta = y[ICL_BETA], s = y[ICL_S];
    const bool balanced = m->labels == ICL_LABELS_BALANCED;
    struct icl_memlaw_rates rates;
    if (m->level == ICL_LEVEL_MEANFIELD) return ICL_FATE_NEVER;
    icl_memlaw_rates(&m->law, s, &rates);
    const double c2 = m->damped ? rates.c2 : 0;
    if (s > forever || rates.c1 == 0) return ICL_FATE_NEVER;
    if (balanced && ((w <= 0 && beta <= 0) || c2 > 0)) return ICL_FATE_NEVER;
    const double lost = (fmax(w, 1) + (m->lambda_w * w + m->lambda_beta * beta) * m->N / rates.c1) * exp(-beta);
    if (w > 0 && beta > 0 && lost < late) {
        const double spent = icl_memlaw_budget(&m->law, s) + icl_closed_budget(m->N, w, beta);
        *t_blowup = icl_memlaw_clock(&m->law, spent); /* infinite where memorization leaves less than that */
        if (isfinite(*t_blowup)) return ICL_FATE_BLOWUP;
    }
    const double w_at_most = c2 > 0 || m->lambda_w > 0 ? fmax(w, 0) : w,
                 beta_at_most = m->lambda_beta > 0 ? fmax(beta, 0) : beta;
    if (isfinite(m->law.budget) &&
        icl_closed_budget(m->N, w_at_most, beta_at_most) >= m->law.budget - icl_memlaw_budget(&m->law, s))
        return ICL_FATE_NEVER;
    double saddle_w, saddle_beta, most_c1, least_c2;
    icl_memlaw_bounds(&m->law, s, &most_c1, &least_c2);
    if (!m->damped) least_c2 = 0;
    if (!balanced && icl_closed_saddle(m->N, most_c1, least_c2, m->lambda_w, m->lambda_beta, &saddle_w, &saddle_beta) &&
        w <= saddle_w && beta <= saddle_beta)
        return ICL_FATE_NEVER;
    return ICL_FATE_OPEN;
}

enum icl_level icl_model_level(const struct icl_model *model) {
    return model->level;
}

const struct icl_memlaw *icl_model_memlaw(const struct icl_model *model) {
    return &model->law;
}
