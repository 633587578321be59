/* The minimal model (S6): z = phi(x_t) + w sum_j p_j l_j, and its two limits without attention and without phi. */
#include <string.h>

#include "sim/head.h"
#include "sim/learner.h"
#include "sim/net_work.h"

/* Contexts are drawn in groups that stay in the cache. */
static size_t group_of(size_t N, size_t B) {
    const size_t group = 8192 / N > 1 ? 8192 / N : 1;
    return group < B ? group : B;
}

static enum icl_status alloc(struct icl_learner *learner, struct icl_err *err) {
    const struct icl_train_setup *const u = learner->setup;
    const size_t B = learner->B, rows = B > ICL_LEARNER_ROWS ? B : ICL_LEARNER_ROWS;
    if (u->model != ICL_TRAIN_ATTENTION) {
        ICL_TRY(icl_net_alloc(&learner->net, learner->sample->D, u->sim.hidden, err));
        ICL_TRY(icl_net_work_alloc(&learner->work, &learner->net, rows, err));
    }
    return icl_sample_contexts_alloc(&learner->contexts, learner->sample, group_of(u->task.N, B), err);
}

/* Nothing of its own. */
static void release(struct icl_learner *learner) {
    (void)learner;
}

static void init(struct icl_learner *learner) {
    const struct icl_train_setup *const u = learner->setup;
    struct icl_rng rng;
    icl_rng_seek(&rng, u->sim.seed, u->member, ICL_RNG_INIT, 0);
    learner->head.w = u->init.w + u->init.w_sd * icl_rng_normal(&rng);
    learner->head.beta = u->init.beta + u->init.beta_sd * icl_rng_normal(&rng);
    if (learner->net.block) icl_net_init(&learner->net, u->sim.seed, u->member);
}

/* a and its slope in beta for contexts of n targets. */
static void attend(struct icl_learner *learner, enum icl_context context, const struct icl_targets *targets, size_t n,
                   struct icl_draws *draws, struct icl_lap *lap) {
    if (learner->setup->model == ICL_TRAIN_MLP) return;
    struct icl_contexts *const contexts = &learner->contexts;
    for (size_t first = 0; first < n; first += contexts->capacity) {
        const size_t left = n - first, count = left < contexts->capacity ? left : contexts->capacity;
        icl_sample_contexts(learner->sample, context, targets, first, count, draws, contexts, lap);
        icl_head_attend(learner->sample, contexts, count, learner->head.beta, learner->a + first,
                        learner->slope + first);
        icl_lap_mark(lap, ICL_LAP_SOFTMAX);
    }
}

static const float *forward(struct icl_learner *learner, const struct icl_targets *targets, size_t n) {
    if (!learner->net.block) return NULL;
    for (size_t b = 0; b < n; b++)
        icl_net_load(learner->work, n, b, icl_sample_item(learner->sample, targets, b),
                     (float)learner->setup->sim.input_scale);
    return icl_net_forward(&learner->net, learner->work, n);
}

/* Sums over a batch. */
struct sums {
    double loss, w, beta, miss, miss_phi;
};

/* The loss, its slopes in w and beta, and in phi of each target, divided by the batch. */
static struct sums differentiate(struct icl_learner *learner, const struct icl_targets *targets, const float *phi) {
    const bool mlp = learner->setup->model == ICL_TRAIN_MLP;
    const double w = learner->head.w, part = 1 / (double)learner->B;
    struct sums sum = {0};
    for (size_t b = 0; b < learner->B; b++) {
        const double label = (double)targets->label[b], f = phi ? (double)phi[b] : 0;
        const double a = mlp ? label : (double)learner->a[b], scale = mlp ? learner->setup->offset : w;
        const double y = label * (f + scale * a), miss = icl_head_miss(y), slope = -label * miss * part;
        sum.loss += icl_head_loss(y) * part;
        sum.miss += miss;
        sum.miss_phi += icl_head_miss(label * f);
        learner->dphi[b] = (float)slope;
        if (mlp) continue;
        sum.w += slope * a;
        sum.beta += slope * w * (double)learner->slope[b];
    }
    return sum;
}

static struct icl_learner_sums step(struct icl_learner *learner, const struct icl_targets *targets,
                                    struct icl_draws *draws, double limit) {
    const struct icl_train *const train = &learner->setup->train;
    struct icl_learner_head *const y = &learner->head;
    attend(learner, ICL_CONTEXT_TRAIN, targets, learner->B, draws, learner->lap);
    const float *const phi = forward(learner, targets, learner->B);
    const struct sums sum = differentiate(learner, targets, phi);
    const struct icl_learner_sums out = {sum.loss, sum.miss, sum.miss_phi};
    icl_lap_mark(learner->lap, ICL_LAP_VECTOR);
    if (!(sum.loss <= limit)) return out;
    if (phi)
        icl_net_backward(&learner->net, learner->work, learner->B, learner->dphi, (float)-train->lr,
                         (float)(1 - train->lr * train->lambda_mlp), &learner->net);
    if (learner->setup->model != ICL_TRAIN_MLP) {
        y->w -= train->lr * (sum.w + train->lambda_w * y->w);
        y->beta -= train->lr * (sum.beta + train->lambda_beta * y->beta);
    }
    return out;
}

static void phi_of(struct icl_learner *learner, const struct icl_targets *targets, size_t n, float *phi) {
    const float *const out = forward(learner, targets, n);
    if (out)
        memcpy(phi, out, n * sizeof *phi);
    else
        memset(phi, 0, n * sizeof *phi);
}

/* Attention answers a turned context as it is, the MLP as it was: the context's answer for no more work. */
static void answer(struct icl_learner *learner, enum icl_context context, const struct icl_targets *targets, size_t n,
                   const float *phi, struct icl_draws *draws, struct icl_learner_answers *answers) {
    const bool mlp = learner->setup->model == ICL_TRAIN_MLP;
    const double offset = context == ICL_CONTEXT_UNSEEN ? 0 : learner->setup->offset;
    attend(learner, context, targets, n, draws, NULL);
    for (size_t c = 0; c < n; c++) {
        const double label = (double)targets->label[c], known = label * (double)phi[c];
        const double head = mlp ? offset : label * learner->head.w * (double)learner->a[c];
        answers->y[c] = head + known;
        answers->turned[c] = head - known;
    }
}

static bool finite(const struct icl_learner *learner) {
    return !learner->net.block || icl_net_finite(&learner->net);
}

const struct icl_learner_kind icl_minimal_kind = {.name = "minimal",
                                                  .alloc = alloc,
                                                  .free = release,
                                                  .init = init,
                                                  .step = step,
                                                  .phi = phi_of,
                                                  .answer = answer,
                                                  .finite = finite};
