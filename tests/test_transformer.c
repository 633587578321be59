/* The transformer: a step by hand through a full attention in double, the fast road at odd shapes, and what its columns
 * mean. */
#include <math.h>

#include "check.h"
#include "iclkin/net.h"
#include "iclkin/train.h"
#include "plain.h"
#include "runs.h"
#include "sim/attention.h"
#include "sim/learner.h"
#include "sim/sample.h"

enum { MOST_D = 40, MOST_N = 80, MOST_THETA = 12000, H = 7 };

/* Every parameter: Wq, Wk, Wv (d,d), g, b (d), then the MLP's. */
struct plain {
    size_t D, d, N;
    bool onehot;
    double theta[MOST_THETA];
};

static void plain_code(const struct plain *plain, double label, double *to) {
    to[0] = plain->onehot ? label > 0 : label;
    if (plain->onehot) to[1] = label < 0;
}

/* LayerNorm of (x, code), with gain and bias. label 0: the target. */
static void plain_token(const struct plain *plain, const float *x, double label, double *u) {
    const size_t d = plain->d;
    const double *const g = plain->theta + 3 * d * d, *const b = g + d;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < plain->D; i++) u[i] = (double)x[i];
    plain_code(plain, label, u + plain->D);
    if (label == 0) u[plain->D] = u[d - 1] = 0;
    for (size_t i = 0; i < d; i++) mean += u[i] / (double)d;
    for (size_t i = 0; i < d; i++) variance += (u[i] - mean) * (u[i] - mean) / (double)d;
    for (size_t i = 0; i < d; i++) u[i] = g[i] * (u[i] - mean) / sqrt(variance + 1e-5) + b[i];
}

static void plain_times(size_t d, const double *W, const double *u, double *y) {
    for (size_t i = 0; i < d; i++) {
        y[i] = 0;
        for (size_t j = 0; j < d; j++) y[i] += W[i * d + j] * u[j];
    }
}

/* z of one sequence of N items (N,width), their labels and a target, by an attention of every position to every one. */
static double plain_logit(const struct plain *plain, const float *const *item, const double *label, const float *target,
                          double *attended) {
    const size_t d = plain->d, N = plain->N;
    static double u[MOST_N + 1][MOST_D], q[MOST_N + 1][MOST_D], k[MOST_N + 1][MOST_D], v[MOST_N + 1][MOST_D];
    static double h[MOST_N + 1][MOST_D];
    for (size_t j = 0; j <= N; j++) {
        plain_token(plain, j < N ? item[j] : target, j < N ? label[j] : 0, u[j]);
        plain_times(d, plain->theta, u[j], q[j]);
        plain_times(d, plain->theta + d * d, u[j], k[j]);
        plain_times(d, plain->theta + 2 * d * d, u[j], v[j]);
    }
    for (size_t at = 0; at <= N; at++) {
        double p[MOST_N + 1], most = -INFINITY, sum = 0;
        for (size_t j = 0; j <= N; j++) {
            p[j] = 0;
            for (size_t i = 0; i < d; i++) p[j] += q[at][i] * k[j][i];
            most = fmax(most, p[j]);
        }
        for (size_t j = 0; j <= N; j++) sum += p[j] = exp(p[j] - most);
        *attended = 0;
        for (size_t j = 0; j < N; j++) *attended += p[j] / sum * label[j];
        for (size_t i = 0; i < d; i++) {
            h[at][i] = u[at][i];
            for (size_t j = 0; j <= N; j++) h[at][i] += p[j] / sum * v[j][i];
        }
    }
    return plain_phi(d, H, plain->theta + 3 * d * d + 2 * d, h[N]);
}

/* A learner, and a batch drawn as its first step draws it. */
struct hand {
    struct icl_train_setup setup;
    struct icl_sample sample;
    struct icl_targets targets;
    struct icl_contexts contexts;
    struct icl_draws draws;
    struct icl_learner learner;
    struct plain plain;
};

static void read_theta(const struct icl_learner *learner, double *theta) {
    struct icl_attention attention;
    struct icl_err err;
    size_t floats, n = 0;
    const float *const block = learner->kind->block(learner, &floats);
    const size_t slots = learner->setup->sim.label_code == ICL_CODE_ONEHOT ? 2 : 1;
    check_ok(icl_attention_alloc(&attention, learner->sample->D, slots, &err), &err);
    assert_int_equal(attention.floats, floats);
    for (size_t i = 0; i < floats; i++) attention.block[i] = block[i];
    for (int t = 0; t < ICL_ATTENTION_TENSORS; t++) {
        size_t rows, columns;
        icl_attention_shape(&attention, t, &rows, &columns);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) theta[n++] = (double)*icl_attention_value(&attention, t, i, j);
        }
    }
    icl_attention_free(&attention);
    assert_true(n + plain_theta(&learner->net, theta + n) <= MOST_THETA);
}

static void hand_start(struct hand *h, const struct icl_train_setup *setup) {
    struct icl_err err;
    h->setup = *setup;
    const size_t B = setup->train.batch;
    check_ok(icl_sample_alloc(&h->sample, &setup->task, setup->sim.seed, setup->member, &err), &err);
    check_ok(icl_sample_targets_alloc(&h->targets, &h->sample, B, &err), &err);
    check_ok(icl_sample_tokens_alloc(&h->contexts, &h->sample, B, &err), &err);
    check_ok(icl_learner_alloc(&h->learner, &h->setup, &h->sample, &err), &err);
    h->learner.kind->init(&h->learner);
    const bool onehot = setup->sim.label_code == ICL_CODE_ONEHOT;
    h->plain.D = h->sample.D;
    h->plain.d = h->sample.D + (onehot ? 2 : 1);
    h->plain.N = h->sample.N;
    h->plain.onehot = onehot;
    assert_true(h->plain.d <= MOST_D && h->plain.N <= MOST_N);
    icl_sample_seek(&h->sample, ICL_RNG_BATCH, 0, &h->draws);
    icl_sample_targets(&h->sample, B, false, &h->draws, &h->targets);
}

static void hand_free(struct hand *h) {
    icl_learner_free(&h->learner);
    icl_sample_contexts_free(&h->contexts);
    icl_sample_targets_free(&h->targets);
    icl_sample_free(&h->sample);
}

/* Scales every parameter, and moves gain and bias off 1 and 0, so that no part of the gradient vanishes. */
static void stir(struct hand *h) {
    size_t floats;
    float *const block = h->learner.kind->block(&h->learner, &floats);
    struct icl_rng rng;
    icl_rng_seek(&rng, 5, 0, ICL_RNG_TEST, 0);
    for (size_t i = 0; i < floats; i++) {
        if (block[i] != 0) block[i] *= (float)(0.6 + 0.8 * icl_rng_uniform(&rng));
    }
    for (size_t i = 0; i < h->plain.d; i++)
        block[floats - icl_gemm_floats(1, h->plain.d) + i] = (float)(0.2 * icl_rng_normal(&rng));
}

/* z of sequence c of the drawn contexts. */
static double hand_logit(const struct hand *h, const struct icl_targets *targets, size_t c, double turn,
                         double *attended) {
    const size_t N = h->sample.N;
    const float *item[MOST_N];
    double label[MOST_N];
    for (size_t j = 0; j < N; j++) {
        item[j] = h->contexts.rows + h->contexts.id[c * N + j] * h->sample.width;
        label[j] = turn * (double)h->contexts.label[c * h->contexts.stride + j];
    }
    return plain_logit(&h->plain, item, label, icl_sample_item(&h->sample, targets, c), attended);
}

static double hand_loss(const struct hand *h) {
    const size_t B = h->setup.train.batch;
    double loss = 0, attended;
    for (size_t b = 0; b < B; b++)
        loss += log1p(exp(-(double)h->targets.label[b] * hand_logit(h, &h->targets, b, 1, &attended))) / (double)B;
    return loss;
}

/* theta -= lr (gradient + lambda theta), every gradient from a central difference. */
static void check_step(const struct icl_train_setup *setup) {
    static struct hand h;
    static double after[MOST_THETA];
    hand_start(&h, setup);
    stir(&h);
    read_theta(&h.learner, h.plain.theta);
    const size_t d = h.plain.d, head = 3 * d * d + 2 * d, all = head + plain_count(d, H);
    struct icl_draws draws = h.draws;
    icl_sample_tokens(&h.sample, ICL_CONTEXT_TRAIN, &h.targets, 0, setup->train.batch, &draws, &h.contexts, NULL);
    const struct icl_learner_sums sums = h.learner.kind->step(&h.learner, &h.targets, &h.draws, 1e4);
    check_abs(sums.loss, hand_loss(&h), 1e-7); /* rounding in float; measured 4e-9 */
    read_theta(&h.learner, after);
    double largest[2] = {0, 0}, worst = 0;
    for (size_t i = 0; i < all; i++) {
        const double keep = h.plain.theta[i], step = 1e-5;
        h.plain.theta[i] = keep + step;
        const double up = hand_loss(&h);
        h.plain.theta[i] = keep - step;
        const double gradient = (up - hand_loss(&h)) / (2 * step);
        h.plain.theta[i] = keep;
        const double lambda = i < head ? setup->train.lambda_attention : setup->train.lambda_mlp;
        const double seen = (keep - after[i]) / setup->train.lr - lambda * keep;
        largest[i >= head] = fmax(largest[i >= head], fabs(gradient));
        worst = fmax(worst, fabs(seen - gradient));
    }
    assert_true(largest[0] > 1e-2 && largest[1] > 1e-2);
    check_abs(worst, 0, 1e-6); /* rounding of parameters near 1 in float, over lr; measured 2e-7 */
    hand_free(&h);
}

static struct icl_train_setup small(size_t N, double D) {
    struct icl_train_setup s = runs_setup(10, N, D, H);
    s.model = ICL_TRAIN_TRANSFORMER;
    s.train.lr = 0.5;
    s.train.batch = 5;
    s.train.lambda_mlp = 0.02;
    s.train.lambda_attention = 0.03;
    s.sim.eval_items = 10;
    return s;
}

static void one_step_by_hand(void **state) {
    (void)state;
    for (int variant = 0; variant < 16; variant++) {
        struct icl_train_setup s = small(6, 3);
        s.task.K = variant & 1 ? INFINITY : 10;
        s.task.labels = variant & 2 ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM;
        s.task.items = variant & 4 ? ICL_ITEMS_UNIT : ICL_ITEMS_GAUSSIAN;
        s.sim.label_code = variant & 8 ? ICL_CODE_ONEHOT : ICL_CODE_SIGN;
        s.task.copies = variant == 3 ? 2 : 1;
        check_step(&s);
    }
}

/* z, the attended label and their turned ones, of novel and of training items; shapes off every multiple of 16 and 32.
 */
static void check_answers(size_t N, double D, enum icl_label_code code, enum icl_context context) {
    static struct hand h;
    static struct icl_learner_answers answers;
    struct icl_train_setup s = small(N, D);
    const bool novel = context == ICL_CONTEXT_NOVEL;
    const size_t n = 33;
    s.sim.label_code = code;
    s.train.batch = n;
    hand_start(&h, &s);
    stir(&h);
    read_theta(&h.learner, h.plain.theta);
    if (novel) icl_sample_targets(&h.sample, n, true, &h.draws, &h.targets);
    struct icl_draws draws = h.draws;
    icl_sample_tokens(&h.sample, context, &h.targets, 0, n, &draws, &h.contexts, NULL);
    h.learner.kind->answer(&h.learner, context, &h.targets, n, NULL, &h.draws, &answers);
    for (size_t c = 0; c < n; c++) {
        const double label = (double)h.targets.label[c];
        double plus, minus;
        const double z = hand_logit(&h, &h.targets, c, 1, &plus), turned = hand_logit(&h, &h.targets, c, -1, &minus);
        check_abs(answers.y[c], label * z, 3e-6); /* rounding in float; measured 2e-7 */
        check_abs(answers.turned[c], -label * turned, 3e-6);
        check_abs(answers.attended[c], (plus - minus) / 2, 3e-6); /* measured 5e-7 */
    }
    hand_free(&h);
}

static void fast_attention_is_full_attention(void **state) {
    (void)state;
    for (int context = ICL_CONTEXT_TRAIN; context <= ICL_CONTEXT_UNSEEN; context++) {
        check_answers(1, 1, ICL_CODE_SIGN, context);
        check_answers(5, 15, ICL_CODE_SIGN, context);
        check_answers(31, 16, ICL_CODE_ONEHOT, context);
        check_answers(32, 31, ICL_CODE_SIGN, context);
        check_answers(33, 31, ICL_CODE_ONEHOT, context);
        check_answers(77, 38, ICL_CODE_ONEHOT, context);
    }
}

/* With Wq = 0 attention is uniform: nothing tells the copy from the others. With Wv = 0 the labels do not reach the
 * logit: w = 0, and every novel item is right with one of its labels, wrong with the other. */
static void measured_w_and_beta(void **state) {
    (void)state;
    for (int zero = ICL_ATTENTION_WQ; zero <= ICL_ATTENTION_WV; zero += 2) {
        static struct hand h;
        static struct icl_learner_answers answers;
        struct icl_train_setup s = small(20, 7);
        s.train.batch = 64;
        hand_start(&h, &s);
        size_t floats;
        float *const block = h.learner.kind->block(&h.learner, &floats);
        const size_t tensor = icl_gemm_floats(h.plain.d, h.plain.d);
        for (size_t i = 0; i < tensor; i++) block[(size_t)zero * tensor + i] = 0;
        icl_sample_targets(&h.sample, 64, true, &h.draws, &h.targets);
        h.learner.kind->answer(&h.learner, ICL_CONTEXT_NOVEL, &h.targets, 64, NULL, &h.draws, &answers);
        double gap = 0, response = 0;
        for (size_t c = 0; c < 64; c++) {
            gap = fmax(gap, fabs(answers.gap[c]));
            response = fmax(response, fabs(answers.y[c] + answers.turned[c]));
        }
        if (zero == ICL_ATTENTION_WQ) {
            check_abs(gap, 0, 0);
            assert_true(response > 1e-3);
        } else {
            check_abs(response, 0, 0);
            assert_true(gap > 1e-3);
        }
        hand_free(&h);
    }
}

static void an_infinite_D_is_refused(void **state) {
    (void)state;
    struct icl_train_setup s = small(20, INFINITY);
    struct icl_train_run *run;
    struct icl_err err;
    check_fails(icl_train_alloc(&run, &s, &err), ICL_ERANGE, &err, "D = inf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_by_hand),
        cmocka_unit_test(fast_attention_is_full_attention),
        cmocka_unit_test(measured_w_and_beta),
        cmocka_unit_test(an_infinite_D_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
