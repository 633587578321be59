#include "sim/eval.h"

#include <math.h>

#include "sim/head.h"

/* Steps of the evaluation's stream, one a kind of draw. */
enum { STEP_NOVEL, STEP_ITEMS, STEP_UNSEEN };

struct mean {
    double sum, squares, n;
};

static void mean_add(struct mean *m, double x) {
    m->sum += x;
    m->squares += x * x;
    m->n++;
}

static void mean_put(const struct mean *m, enum icl_train_column column, struct icl_train_row *row) {
    const double mean = m->sum / m->n, variance = m->squares / m->n - mean * mean;
    row->value[column] = mean;
    row->error[column] = sqrt(fmax(variance, 0) / fmax(m->n - 1, 1));
}

enum icl_status icl_eval_alloc(struct icl_eval *eval, const struct icl_sample *sample, const struct icl_sim *sim,
                               struct icl_err *err) {
    size_t items = (sim->eval_items + ICL_EVAL_ITEM_DRAWS - 1) / ICL_EVAL_ITEM_DRAWS;
    items = items < ICL_EVAL_FEWEST ? ICL_EVAL_FEWEST : items + items % 2;
    *eval = (struct icl_eval){.items = sample->K != 0 && sample->K < items ? sample->K : items};
    icl_params_novel(sim, &eval->novel, &eval->contexts);
    return icl_sample_targets_alloc(&eval->targets, sample, ICL_LEARNER_ROWS, err);
}

void icl_eval_free(struct icl_eval *eval) {
    if (!eval) return;
    icl_sample_targets_free(&eval->targets);
    *eval = (struct icl_eval){0};
}

static void add_context(struct icl_eval *eval, size_t target, double y) {
    eval->loss[target] += icl_head_loss(y);
    eval->hit[target] += y > 0 ? 1 : y == 0 ? 0.5 : 0;
}

/* One context of each of n targets, into the answers. */
static void answer(struct icl_eval *eval, struct icl_learner *learner, enum icl_context context, size_t n,
                   struct icl_draws *draws) {
    learner->kind->answer(learner, context, &eval->targets, n, eval->phi, draws, &eval->answers);
}

/* Adds them to the targets' sums; both, that of the turned contexts too. */
static void add_contexts(struct icl_eval *eval, size_t n, bool both) {
    for (size_t c = 0; c < n; c++) {
        add_context(eval, c, eval->answers.y[c]);
        if (both) add_context(eval, c, eval->answers.turned[c]);
    }
}

/* The sums over `contexts` contexts of each of n targets, into means over the targets. */
static void close_targets(struct icl_eval *eval, size_t n, double contexts, struct mean *loss, struct mean *hit) {
    for (size_t i = 0; i < n; i++) {
        mean_add(loss, eval->loss[i] / contexts);
        mean_add(hit, eval->hit[i] / contexts);
        eval->loss[i] = eval->hit[i] = 0;
    }
}

/* The logit's response to the attended label a: its odd part is w a in (S6), so that w = <odd a>/<a^2>. */
struct response {
    double odd, square;
    struct mean gap, slope;
};

static void add_response(struct icl_eval *eval, size_t n, struct response *response) {
    for (size_t c = 0; c < n; c++) {
        const double a = (double)eval->targets.label[c] * eval->answers.attended[c];
        const double odd = (eval->answers.y[c] + eval->answers.turned[c]) / 2;
        response->odd += odd * a;
        response->square += a * a;
        mean_add(&response->gap, eval->answers.gap[c]);
        if (a != 0) mean_add(&response->slope, odd / a);
    }
}

static void put_response(const struct response *response, struct icl_learner *learner, struct icl_train_row *row) {
    mean_put(&response->slope, ICL_TRAIN_W, row);
    mean_put(&response->gap, ICL_TRAIN_BETA, row);
    row->value[ICL_TRAIN_W] = response->square > 0 ? response->odd / response->square : 0;
    learner->head.w = row->value[ICL_TRAIN_W];
    learner->head.beta = row->value[ICL_TRAIN_BETA];
}

static void eval_novel(struct icl_eval *eval, struct icl_learner *learner, struct icl_train_row *row) {
    const bool measures = learner->kind->measures;
    struct response response = {0};
    struct mean loss = {0}, hit = {0};
    struct icl_draws draws;
    icl_sample_seek(learner->sample, ICL_RNG_EVAL, STEP_NOVEL, &draws);
    for (size_t done = 0; done < eval->novel;) {
        const size_t n = eval->novel - done < ICL_LEARNER_ROWS ? eval->novel - done : ICL_LEARNER_ROWS;
        icl_sample_targets(learner->sample, n, true, &draws, &eval->targets);
        if (!measures) learner->kind->phi(learner, &eval->targets, n, eval->phi);
        for (size_t r = 0; r < eval->contexts; r++) {
            answer(eval, learner, ICL_CONTEXT_NOVEL, n, &draws);
            add_contexts(eval, n, true);
            if (measures) add_response(eval, n, &response);
        }
        close_targets(eval, n, 2 * (double)eval->contexts, &loss, &hit);
        done += n;
    }
    mean_put(&loss, ICL_TRAIN_LOSS_ICL, row);
    mean_put(&hit, ICL_TRAIN_ACC_ICL, row);
    if (measures) put_response(&response, learner, row);
}

/* Training items done, ..., done + n - 1 of the evaluation, labels in turn. */
static void take_items(struct icl_eval *eval, const struct icl_sample *sample, size_t done, size_t n,
                       struct icl_draws *draws) {
    if (sample->K == 0) {
        icl_sample_targets(sample, n, true, draws, &eval->targets);
        return;
    }
    eval->targets.novel = false;
    for (size_t i = 0; i < n; i++) {
        const size_t index = done + i;
        eval->targets.id[i] = (uint32_t)(index / 2 + index % 2 * (sample->K / 2));
        eval->targets.label[i] = index % 2 ? -1.0f : 1.0f;
    }
}

static void put_memory(const struct mean *c1, const struct mean *square, const struct mean *c3, bool all_items,
                       struct icl_train_row *row) {
    mean_put(c1, ICL_TRAIN_C1, row);
    mean_put(square, ICL_TRAIN_C2, row);
    mean_put(c3, ICL_TRAIN_C3, row);
    /* c2 = 1 - <sigma^2>/c1 (T1); the two means move together, and so their errors are taken to. */
    const double one = row->value[ICL_TRAIN_C1], two = row->value[ICL_TRAIN_C2];
    row->value[ICL_TRAIN_C2] = 1 - two / one;
    row->error[ICL_TRAIN_C2] = fabs(row->error[ICL_TRAIN_C2] / one - two / (one * one) * row->error[ICL_TRAIN_C1]);
    if (all_items) row->error[ICL_TRAIN_C1] = row->error[ICL_TRAIN_C2] = row->error[ICL_TRAIN_C3] = 0;
}

/* Means over the items of an evaluation. */
struct items {
    struct mean loss, loss_iwl, hit, hit_iwl, c1, square, c3, miss;
};

static void add_items(struct icl_eval *eval, struct icl_learner *learner, size_t n, struct icl_draws *draws,
                      struct icl_draws *unseen, struct items *items) {
    const bool measures = learner->kind->measures;
    double known[ICL_LEARNER_ROWS] = {0}; /* l phi */
    if (!measures) learner->kind->phi(learner, &eval->targets, n, eval->phi);
    for (int r = 0; r < ICL_EVAL_UNSEEN_CONTEXTS; r++) {
        answer(eval, learner, ICL_CONTEXT_UNSEEN, n, unseen);
        add_contexts(eval, n, false);
        for (size_t i = 0; i < n; i++)
            known[i] += (eval->answers.y[i] - eval->answers.turned[i]) / (2 * ICL_EVAL_UNSEEN_CONTEXTS);
    }
    close_targets(eval, n, ICL_EVAL_UNSEEN_CONTEXTS, &items->loss_iwl, &items->hit_iwl);
    for (size_t i = 0; i < n; i++) {
        const double y = measures ? known[i] : (double)eval->targets.label[i] * (double)eval->phi[i];
        const double miss = icl_head_miss(y);
        mean_add(&items->c1, miss);
        mean_add(&items->square, miss * miss);
        mean_add(&items->c3, exp(-y));
    }
    for (int r = 0; r < ICL_EVAL_TRAIN_CONTEXTS; r++) {
        answer(eval, learner, ICL_CONTEXT_TRAIN, n, draws);
        add_contexts(eval, n, false);
        for (size_t i = 0; i < n && measures; i++) mean_add(&items->miss, icl_head_miss(eval->answers.y[i]));
    }
    close_targets(eval, n, ICL_EVAL_TRAIN_CONTEXTS, &items->loss, &items->hit);
}

static void eval_items(struct icl_eval *eval, struct icl_learner *learner, struct icl_train_row *row) {
    const struct icl_sample *const sample = learner->sample;
    struct items items = {0};
    struct icl_draws draws, unseen;
    icl_sample_seek(sample, ICL_RNG_EVAL, STEP_ITEMS, &draws);
    icl_sample_seek(sample, ICL_RNG_EVAL, STEP_UNSEEN, &unseen);
    for (size_t done = 0; done < eval->items;) {
        const size_t n = eval->items - done < ICL_LEARNER_ROWS ? eval->items - done : ICL_LEARNER_ROWS;
        take_items(eval, sample, done, n, &draws);
        add_items(eval, learner, n, &draws, &unseen, &items);
        done += n;
    }
    put_memory(&items.c1, &items.square, &items.c3, eval->items == sample->K, row);
    mean_put(&items.loss, ICL_TRAIN_LOSS_TRAIN, row);
    mean_put(&items.loss_iwl, ICL_TRAIN_LOSS_IWL, row);
    mean_put(&items.hit_iwl, ICL_TRAIN_ACC_IWL, row);
    if (learner->kind->measures) learner->head.pace = items.miss.sum / items.miss.n / row->value[ICL_TRAIN_C1];
}

void icl_eval_row(struct icl_eval *eval, struct icl_learner *learner, struct icl_train_row *row) {
    eval_novel(eval, learner, row);
    eval_items(eval, learner, row);
}
