#include "sim/eval.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
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

enum icl_status icl_eval_alloc(struct icl_eval *eval, const struct icl_eval_of *of, size_t draws, struct icl_err *err) {
    const size_t K = of->sample->K;
    const size_t novel = (draws + ICL_EVAL_NOVEL_DRAWS - 1) / ICL_EVAL_NOVEL_DRAWS;
    size_t items = (draws + ICL_EVAL_ITEM_DRAWS - 1) / ICL_EVAL_ITEM_DRAWS;
    items = items < ICL_EVAL_FEWEST ? ICL_EVAL_FEWEST : items + items % 2;
    *eval = (struct icl_eval){.novel = novel < ICL_EVAL_FEWEST ? ICL_EVAL_FEWEST : novel,
                              .items = K != 0 && K < items ? K : items};
    enum icl_status status = icl_sample_targets_alloc(&eval->targets, of->sample, ICL_EVAL_ROWS, err);
    if (status == ICL_OK) status = icl_mem_alloc(&eval->a, of->contexts->capacity, sizeof *eval->a, err);
    if (status == ICL_OK) status = icl_mem_alloc(&eval->slope, of->contexts->capacity, sizeof *eval->slope, err);
    if (status != ICL_OK) icl_eval_free(eval);
    return status;
}

void icl_eval_free(struct icl_eval *eval) {
    if (!eval) return;
    icl_sample_targets_free(&eval->targets);
    icl_mem_free(eval->a);
    icl_mem_free(eval->slope);
    *eval = (struct icl_eval){0};
}

void icl_eval_phi(const struct icl_eval_of *of, const struct icl_targets *targets, size_t n, float *phi) {
    if (!of->net) {
        memset(phi, 0, n * sizeof *phi);
        return;
    }
    for (size_t i = 0; i < n; i++)
        icl_net_load(of->work, n, i, icl_sample_item(of->sample, targets, i), of->input_scale);
    memcpy(phi, icl_net_forward(of->net, of->work, n), n * sizeof *phi);
}

static void add_context(struct icl_eval *eval, size_t target, double y) {
    eval->loss[target] += icl_head_loss(y);
    eval->hit[target] += y > 0 ? 1 : y == 0 ? 0.5 : 0;
}

/* Adds l_t z of one context of each of n targets to the sums, of a novel item that of the turned context too; phi is
 * theirs. */
static void add_contexts(struct icl_eval *eval, const struct icl_eval_of *of, enum icl_context kind, size_t n,
                         const float *phi, struct icl_draws *draws) {
    const double offset = kind == ICL_CONTEXT_UNSEEN ? 0 : of->offset;
    for (size_t first = 0; first < n; first += of->contexts->capacity) {
        const size_t left = n - first, count = left < of->contexts->capacity ? left : of->contexts->capacity;
        if (of->model != ICL_TRAIN_MLP) {
            icl_sample_contexts(of->sample, kind, &eval->targets, first, count, draws, of->contexts, NULL);
            icl_head_attend(of->sample, of->contexts, count, of->beta, eval->a, eval->slope);
        }
        for (size_t c = 0; c < count; c++) {
            const double label = (double)eval->targets.label[first + c];
            const double known = label * (double)phi[first + c];
            const double head = of->model == ICL_TRAIN_MLP ? offset : label * of->w * (double)eval->a[c];
            add_context(eval, first + c, head + known);
            if (kind == ICL_CONTEXT_NOVEL) add_context(eval, first + c, head - known);
        }
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

static void eval_novel(struct icl_eval *eval, const struct icl_eval_of *of, struct icl_train_row *row) {
    struct mean loss = {0}, hit = {0};
    struct icl_draws draws;
    icl_sample_seek(of->sample, ICL_RNG_EVAL, STEP_NOVEL, &draws);
    for (size_t done = 0; done < eval->novel;) {
        const size_t n = eval->novel - done < ICL_EVAL_ROWS ? eval->novel - done : ICL_EVAL_ROWS;
        float phi[ICL_EVAL_ROWS];
        icl_sample_targets(of->sample, n, true, &draws, &eval->targets);
        icl_eval_phi(of, &eval->targets, n, phi);
        for (int r = 0; r < ICL_EVAL_NOVEL_CONTEXTS; r++) add_contexts(eval, of, ICL_CONTEXT_NOVEL, n, phi, &draws);
        close_targets(eval, n, 2 * ICL_EVAL_NOVEL_CONTEXTS, &loss, &hit);
        done += n;
    }
    mean_put(&loss, ICL_TRAIN_LOSS_ICL, row);
    mean_put(&hit, ICL_TRAIN_ACC_ICL, row);
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

static void eval_items(struct icl_eval *eval, const struct icl_eval_of *of, struct icl_train_row *row) {
    struct mean loss = {0}, hit = {0}, loss_iwl = {0}, hit_iwl = {0}, c1 = {0}, square = {0}, c3 = {0};
    struct icl_draws draws, unseen;
    icl_sample_seek(of->sample, ICL_RNG_EVAL, STEP_ITEMS, &draws);
    icl_sample_seek(of->sample, ICL_RNG_EVAL, STEP_UNSEEN, &unseen);
    for (size_t done = 0; done < eval->items;) {
        const size_t n = eval->items - done < ICL_EVAL_ROWS ? eval->items - done : ICL_EVAL_ROWS;
        float phi[ICL_EVAL_ROWS];
        take_items(eval, of->sample, done, n, &draws);
        icl_eval_phi(of, &eval->targets, n, phi);
        for (size_t i = 0; i < n; i++) {
            const double y = (double)eval->targets.label[i] * (double)phi[i], miss = icl_head_miss(y);
            mean_add(&c1, miss);
            mean_add(&square, miss * miss);
            mean_add(&c3, exp(-y));
        }
        for (int r = 0; r < ICL_EVAL_TRAIN_CONTEXTS; r++) add_contexts(eval, of, ICL_CONTEXT_TRAIN, n, phi, &draws);
        close_targets(eval, n, ICL_EVAL_TRAIN_CONTEXTS, &loss, &hit);
        for (int r = 0; r < ICL_EVAL_UNSEEN_CONTEXTS; r++) add_contexts(eval, of, ICL_CONTEXT_UNSEEN, n, phi, &unseen);
        close_targets(eval, n, ICL_EVAL_UNSEEN_CONTEXTS, &loss_iwl, &hit_iwl);
        done += n;
    }
    put_memory(&c1, &square, &c3, eval->items == of->sample->K, row);
    mean_put(&loss, ICL_TRAIN_LOSS_TRAIN, row);
    mean_put(&loss_iwl, ICL_TRAIN_LOSS_IWL, row);
    mean_put(&hit_iwl, ICL_TRAIN_ACC_IWL, row);
}

void icl_eval_row(struct icl_eval *eval, const struct icl_eval_of *of, struct icl_train_row *row) {
    eval_novel(eval, of, row);
    eval_items(eval, of, row);
}
