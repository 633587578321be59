/* Contexts against the exact laws of (S1), (S2), (S4), (S7). Every statistical bound is z = 4.5 standard errors of the
 * exact law at a fixed seed. */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "sim/sample.h"

enum { GROUP = 64, GROUPS = 400 };
static const double z = 4.5;

struct drawn {
    struct icl_sample sample;
    struct icl_targets targets;
    struct icl_contexts contexts;
};

static struct drawn draw_of(struct icl_task task) {
    struct drawn d;
    struct icl_err err;
    check_ok(icl_sample_alloc(&d.sample, &task, 3, 0, &err), &err);
    check_ok(icl_sample_targets_alloc(&d.targets, &d.sample, GROUP, &err), &err);
    check_ok(icl_sample_contexts_alloc(&d.contexts, &d.sample, GROUP, &err), &err);
    return d;
}

static void drop(struct drawn *d) {
    icl_sample_contexts_free(&d->contexts);
    icl_sample_targets_free(&d->targets);
    icl_sample_free(&d->sample);
}

static void draw_group(struct drawn *d, enum icl_context kind, uint64_t step) {
    struct icl_draws draws;
    icl_sample_seek(&d->sample, ICL_RNG_TEST, step, &draws);
    icl_sample_targets(&d->sample, GROUP, kind == ICL_CONTEXT_NOVEL, &draws, &d->targets);
    icl_sample_contexts(&d->sample, kind, &d->targets, 0, GROUP, &draws, &d->contexts, NULL);
}

static struct icl_task task_of(double K, size_t N, double D, size_t copies, enum icl_labels labels,
                               enum icl_items items) {
    return (struct icl_task){.K = K, .N = N, .D = D, .labels = labels, .copies = copies, .items = items};
}

/* n_c = B + Binomial(trials, p) as (S2) has it, by chi squared over 0..trials with the tail pooled. */
static void check_copies(struct icl_task task, size_t trials, double p) {
    enum { BINS = 8 };
    double seen[BINS] = {0}, chi2 = 0;
    struct drawn d = draw_of(task);
    for (uint64_t g = 0; g < GROUPS; g++) {
        draw_group(&d, ICL_CONTEXT_TRAIN, g);
        for (size_t c = 0; c < GROUP; c++) {
            size_t n = 0;
            for (size_t j = 0; j < task.N; j++) n += d.contexts.id[c * task.N + j] == d.targets.id[c];
            assert_true(n >= task.copies && n <= task.copies + trials);
            seen[n - task.copies < BINS ? n - task.copies : BINS - 1]++;
        }
    }
    const double all = GROUP * GROUPS;
    double left = 1;
    for (unsigned b = 0; b < BINS; b++) {
        const double expected = b < BINS - 1 ? gsl_ran_binomial_pdf(b, p, (unsigned)trials) : left;
        left -= expected;
        if (expected * all > 1e-6) chi2 += pow(seen[b] - expected * all, 2) / fmax(expected * all, 1);
    }
    check_abs(chi2, BINS - 1, z * sqrt(2. * (BINS - 1)));
    drop(&d);
}

static void copies_are_binomial(void **state) {
    (void)state;
    const enum icl_labels r = ICL_LABELS_RANDOM, b = ICL_LABELS_BALANCED;
    check_copies(task_of(40, 30, 20, 1, r, 0), 29, 1. / 40);
    check_copies(task_of(30, 20, 20, 3, r, 0), 17, 1. / 30);
    check_copies(task_of(40, 30, 20, 1, b, 0), 14, 2. / 40);
    check_copies(task_of(24, 20, 20, 2, b, 0), 8, 2. / 24);
}

/* Labels: random ones are +1 with probability 1/2 in all, balanced ones exactly half in each context; an id's label is
 * its item's; targets are uniform. */
static void labels_and_targets(void **state) {
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        enum { K = 10, N = 12 };
        double sum = 0, target[K] = {0}, item[K] = {0};
        struct drawn d = draw_of(task_of(K, N, 7, 1, balanced ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM, 0));
        for (uint64_t g = 0; g < GROUPS; g++) {
            draw_group(&d, ICL_CONTEXT_TRAIN, g);
            for (size_t c = 0; c < GROUP; c++) {
                double context = 0;
                target[d.targets.id[c]]++;
                assert_true(d.targets.label[c] == (d.targets.id[c] < K / 2 ? 1.0f : -1.0f));
                for (size_t j = 0; j < N; j++) {
                    const uint32_t id = d.contexts.id[c * N + j];
                    const float label = d.contexts.label[c * d.contexts.stride + j];
                    assert_true(id < K && label == (id < K / 2 ? 1.0f : -1.0f));
                    context += (double)label;
                    item[id]++;
                }
                if (balanced) assert_true(context == 0);
                sum += context;
            }
        }
        const double contexts = GROUP * GROUPS;
        check_abs(sum / contexts, 0, z * sqrt((double)N / contexts) + 1e-9);
        for (size_t k = 0; k < K; k++) {
            check_abs(target[k] / contexts, 1. / K, z * sqrt(0.1 * 0.9 / contexts));
            check_abs(item[k] / contexts, (double)N / K, z * sqrt(2. * N / K / contexts));
        }
        drop(&d);
    }
}

/* No copy of the target where it is unseen; the K - 1 others are equally likely (within their class if balanced). */
static void unseen_contexts_hold_no_copy(void **state) {
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        enum { K = 8, N = 6 };
        double distance[K] = {0};
        struct drawn d = draw_of(task_of(K, N, 7, 2, balanced ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM, 0));
        for (uint64_t g = 0; g < GROUPS; g++) {
            draw_group(&d, ICL_CONTEXT_UNSEEN, g);
            for (size_t c = 0; c < GROUP; c++) {
                for (size_t j = 0; j < N; j++) {
                    const uint32_t id = d.contexts.id[c * N + j];
                    assert_true(id < K && id != d.targets.id[c]);
                    if (d.targets.id[c] == 2) distance[id]++;
                }
            }
        }
        const double n = GROUP * GROUPS / (double)K * N;
        for (size_t k = 0; k < K; k++) {
            const double p = k == 2 ? 0 : !balanced ? 1. / 7 : k < 4 ? 0.5 / 3 : 0.5 / 4;
            check_abs(distance[k] / n, p, z * sqrt(2 * p / n)); /* of n itself too */
        }
        drop(&d);
    }
}

/* Items: norm 1, or mean 1 and variance 2/D; and the scores of contexts are the items' products. */
static void items_and_scores(void **state) {
    (void)state;
    for (int unit = 0; unit < 2; unit++) {
        enum { K = 2000, D = 19, N = 33 };
        struct drawn d = draw_of(task_of(K, N, D, 1, 0, unit ? ICL_ITEMS_UNIT : ICL_ITEMS_GAUSSIAN));
        const size_t width = d.sample.width;
        assert_int_equal(width, 32);
        double mean = 0, square = 0, first = 0;
        for (size_t i = 0; i < K; i++) {
            const float *const x = d.sample.items + i * width;
            double q = 0;
            for (size_t a = 0; a < width; a++) q += (double)x[a] * (double)x[a];
            for (size_t a = D; a < width; a++) assert_true(x[a] == 0);
            if (unit) check_abs(q, 1, 1e-6); /* rounding of D squares; measured 3e-7 */
            mean += q / K;
            square += q * q / K;
            first += (double)x[0] / K;
        }
        check_abs(mean, 1, z * sqrt(2. / D / K));
        if (!unit) check_abs(square - mean * mean, 2. / D, z * (2. / D) * sqrt((2 + 12. * 4 / D) / K));
        check_abs(first, 0, z * sqrt(1. / D / K));
        draw_group(&d, ICL_CONTEXT_TRAIN, 0);
        for (size_t c = 0; c < GROUP; c++) {
            const float *const t = d.sample.items + d.targets.id[c] * width;
            for (size_t j = 0; j < N; j++) {
                const float *const x = d.sample.items + d.contexts.id[c * N + j] * width;
                double dot = 0;
                for (size_t a = 0; a < D; a++) dot += (double)x[a] * (double)t[a];
                check_abs(d.contexts.score[c * d.contexts.stride + j], dot, 1e-6); /* rounding; measured 1e-7 */
            }
        }
        drop(&d);
    }
}

/* K infinite: the copies' score is |x_t|^2; the others have mean 0, variance q/D, and for unit items the kurtosis
 * 3D/(D + 2) of a coordinate of a random unit vector. */
static void fresh_scores(void **state) {
    (void)state;
    static const double dims[] = {1, 2, 3, 19};
    for (size_t i = 0; i < 4; i++) {
        for (int unit = 0; unit < 2; unit++) {
            enum { N = 20, COPIES = 2 };
            const double D = dims[i], n = (double)GROUP * GROUPS * (N - COPIES);
            double m[5] = {0}, labels = 0;
            struct drawn d = draw_of(task_of(INFINITY, N, D, COPIES, 0, unit ? ICL_ITEMS_UNIT : ICL_ITEMS_GAUSSIAN));
            for (uint64_t g = 0; g < GROUPS; g++) {
                draw_group(&d, ICL_CONTEXT_TRAIN, g);
                for (size_t c = 0; c < GROUP; c++) {
                    const float *const s = d.contexts.score + c * d.contexts.stride;
                    const float *const x = icl_sample_item(&d.sample, &d.targets, c);
                    double q = 0;
                    for (size_t a = 0; a < d.sample.width; a++) q += (double)x[a] * (double)x[a];
                    for (size_t j = 0; j < N; j++) {
                        const float label = d.contexts.label[c * d.contexts.stride + j];
                        const double y = (double)s[j] / sqrt(q / D);
                        assert_true(fabsf(label) == 1);
                        if (j < COPIES) {
                            check_abs(s[j], q, 1e-5 * fmax(q, 1)); /* rounding of D squares; measured 3e-7 */
                            assert_true(label == d.targets.label[c]);
                            continue;
                        }
                        labels += (double)label / n;
                        for (int k = 1; k <= 4; k++) m[k] += pow(y, k) / n;
                    }
                }
            }
            const double fourth = unit ? 3 * D / (D + 2) : 3;
            check_abs(m[1], 0, z / sqrt(n));
            check_abs(m[2], 1, z * sqrt((fourth - 1) / n) + 1e-6);
            check_abs(m[3], 0, z * sqrt(15 / n));
            check_abs(m[4], fourth, z * sqrt(96 / n) + 1e-6);
            check_abs(labels, 0, z / sqrt(n));
            drop(&d);
        }
    }
}

/* D infinite: 1 for a copy and 0 for any other, at K finite and infinite; balanced fresh contexts hold half of each. */
static void ideal_scores(void **state) {
    (void)state;
    enum { N = 10 };
    struct drawn d = draw_of(task_of(6, N, INFINITY, 1, ICL_LABELS_RANDOM, 0));
    draw_group(&d, ICL_CONTEXT_TRAIN, 0);
    for (size_t c = 0; c < GROUP; c++) {
        for (size_t j = 0; j < N; j++)
            assert_true(d.contexts.score[c * d.contexts.stride + j] ==
                        (d.contexts.id[c * N + j] == d.targets.id[c] ? 1.0f : 0.0f));
    }
    drop(&d);
    d = draw_of(task_of(INFINITY, N, INFINITY, 2, ICL_LABELS_BALANCED, 0));
    for (int kind = ICL_CONTEXT_TRAIN; kind <= ICL_CONTEXT_UNSEEN; kind++) {
        const float copies = kind == ICL_CONTEXT_TRAIN ? 2 : kind == ICL_CONTEXT_NOVEL ? 1 : 0;
        draw_group(&d, kind, 1);
        for (size_t c = 0; c < GROUP; c++) {
            float score = 0, label = 0;
            for (size_t j = 0; j < N; j++) {
                score += d.contexts.score[c * d.contexts.stride + j];
                label += d.contexts.label[c * d.contexts.stride + j];
            }
            assert_true(score == copies && label == 0);
        }
    }
    drop(&d);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        double K, D;
        size_t N, copies;
        enum icl_labels labels;
        const char *text;
    } bad[] = {{5e9, 63, 10, 1, 0, "K=5e+09"},
               {2, 63, 10, 1, ICL_LABELS_BALANCED, "K=2"},
               {100, 0, 10, 1, 0, "D=0"},
               {100, 63, 10, 11, 0, "copies=11: must be in [1, 10]"},
               {100, 63, 10, 6, ICL_LABELS_BALANCED, "copies=6: must be in [1, 5]"},
               {100, 63, 11, 1, ICL_LABELS_BALANCED, "N=11: must be even"}};
    struct icl_err err;
    struct icl_sample sample;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct icl_task task = task_of(bad[i].K, bad[i].N, bad[i].D, bad[i].copies, bad[i].labels, 0);
        check_fails(icl_sample_alloc(&sample, &task, 1, 0, &err), ICL_ERANGE, &err, bad[i].text);
    }
    icl_sample_free(NULL);
    icl_sample_targets_free(NULL);
    icl_sample_contexts_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_binomial),
        cmocka_unit_test(labels_and_targets),
        cmocka_unit_test(unseen_contexts_hold_no_copy),
        cmocka_unit_test(items_and_scores),
        cmocka_unit_test(fresh_scores),
        cmocka_unit_test(ideal_scores),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
