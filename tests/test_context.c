/* The nodes of an average over contexts: exact sums, Gauss rules, their derivatives in beta, and what they stand for:
 * sampled softmax contexts. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixtures.h"
#include "theory/context.h"
#include "theory/meanfield.h"

static struct icl_context *context_of(const struct icl_params *params, enum icl_context_kind kind) {
    struct icl_context *context = NULL;
    struct icl_err err;
    check_ok(icl_context_alloc(&context, &params->task, params->without, &params->solver, kind, &err), &err);
    return context;
}

static const char *const SETTINGS[] = {
    "",
    "task.K=inf task.D=inf",
    "task.K=500 task.D=inf",
    "task.K=500 task.labels=balanced",
    "task.K=inf task.labels=balanced task.D=20",
    "task.K=30 task.D=inf task.labels=balanced task.N=10",
    "task.items=unit task.K=300 task.copies=3",
    "task.D=5 task.N=7 task.K=12",
    "task.D=inf task.N=7 task.K=12 task.copies=2",
    "task.D=inf task.N=2 task.K=2",
    "task.D=3 task.N=2 task.K=2 task.labels=balanced",
    "task.N=50 task.copies=50",
    "task.D=1 task.K=inf",
    "task.D=1e9 task.K=100000",
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static double mean(const struct icl_context *c, const double *value) {
    double sum = 0;
    for (size_t i = 0; i < c->nodes; i++) sum += c->weight[i] * value[i];
    return sum;
}

/* ---- what is averaged over ---- */

static void copies_and_others(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        for (int kind = 0; kind < ICL_CONTEXT_KINDS; kind++) {
            const struct icl_params params = fixture_params(SETTINGS[i]);
            const struct icl_task *task = &params.task;
            struct icl_context *c = context_of(&params, (enum icl_context_kind)kind);
            const bool balanced = task->labels == ICL_LABELS_BALANCED;
            const double N = (double)task->N, B = (double)task->copies, chance = (balanced ? 2 : 1) / task->K;
            const double trials = (balanced ? N / 2 : N) - B;
            double one = 0, n = 0, n2 = 0, nodes = 0;
            assert_int_equal(c->nodes % 8, 0);
            for (const struct icl_context_group *g = c->group; g < c->group + c->groups; g++) {
                double sum = 0;
                for (size_t k = g->first; k < g->first + g->count; k++) sum += c->weight[k];
                check_rel(sum, g->weight, 1e-14); /* rounding; measured 9e-16 */
                assert_true(g->first == (size_t)nodes && g->n + g->m == N);
                one += g->weight;
                n += g->weight * g->n;
                n2 += g->weight * g->n * g->n;
                nodes += (double)g->count;
            }
            for (size_t k = (size_t)nodes; k < c->nodes; k++) assert_true(c->weight[k] == 0);
            check_abs(one, 1, 1e-14); /* rounding; measured 2e-16 */
            const double mean_n = kind == ICL_CONTEXT_TRAIN ? B + trials * chance : kind == ICL_CONTEXT_NOVEL ? 1 : 0;
            const double var_n = kind == ICL_CONTEXT_TRAIN ? trials * chance * (1 - chance) : 0;
            check_abs(n, mean_n, 1e-14 * (1 + mean_n)); /* rounding; the tail 1e-16 left out; measured 4e-16 */
            check_abs(n2 - n * n, var_n, 1e-14 * (1 + n * n));
            icl_context_free(c);
        }
}

static double choose(double n, double k, double p) {
    if (p == 0 || p == 1) return (p == 0 ? k : n - k) == 0;
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}

/* D infinite, summed by another road: <1/(1 + e^{w a}) a>. */
static double brute(const struct icl_task *task, double w, double beta) {
    const double N = (double)task->N, B = (double)task->copies, E = exp(beta), p = (task->K / 2 - 1) / (task->K - 1);
    const bool balanced = task->labels == ICL_LABELS_BALANCED;
    const double trials = (balanced ? N / 2 : N) - B, chance = (balanced ? 2 : 1) / task->K;
    double sum = 0;
    for (double k = 0; k <= trials; k++) {
        const double n = B + k, m = N - n;
        for (double plus = 0; plus <= m; plus++) {
            const double S = balanced ? -n : 2 * plus - m, a = (n * E + S) / (n * E + m);
            sum += choose(trials, k, chance) * (balanced ? (plus == 0) : choose(m, plus, p)) * a / (1 + exp(w * a));
        }
    }
    return sum;
}

static void exact_sums(void **state) {
    (void)state;
    static const char *const EXACT[] = {"task.D=inf task.N=7 task.K=12",
                                        "task.D=inf task.N=10 task.K=30 task.labels=balanced",
                                        "task.D=inf task.N=40 task.K=26 task.copies=5", "task.D=inf task.N=2 task.K=2",
                                        "task.D=inf task.N=100 task.K=500"};
    for (size_t i = 0; i < 5; i++)
        for (double w = -2.385; w < 7; w += 1.37)
            for (double beta = -2.1; beta < 7; beta += 1.713) {
                const struct icl_params params = fixture_params(EXACT[i]);
                struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
                double sum = 0;
                icl_context_at(c, beta, false);
                for (size_t k = 0; k < c->nodes; k++) sum += c->weight[k] * c->a[k] / (1 + exp(w * c->a[k]));
                /* lgamma's rounding in the brute sum; measured 5e-14 */
                check_abs(sum, brute(&params.task, w, beta), 2e-13);
                icl_context_free(c);
            }
}

/* The mean label of another item is -1/(K - 1), not 0: exactly half of the K items are of each sign (S1). */
static void labels_are_correlated(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        struct icl_params params = fixture_params(exact ? "task.K=500 task.D=inf" : "task.K=500 task.D=1e9");
        struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
        icl_context_at(c, 0, false);
        /* beta = 0: a = (n_c + S)/N, <n_c> = 1 + 99/500, <S> = -(N - <n_c>)/(K - 1), and the two make 1/N. Rounding;
         * measured 7e-15. */
        check_rel(mean(c, c->a), 1. / 100, 1e-13);
        icl_context_free(c);
    }
}

static void many_items(void **state) {
    (void)state;
    struct icl_params params = fixture_params("task.N=10000000 task.D=inf task.K=1e4");
    struct icl_context *c = context_of(&params, ICL_CONTEXT_NOVEL);
    double S2 = 0;
    for (size_t i = 0; i < c->nodes; i++) S2 += c->weight[i] * c->node[i] * c->node[i];
    check_rel(S2, 1e7 - 1, 1e-13); /* rounding of 5e4 terms, tail 1e-16; measured 6e-15 */
    icl_context_free(c);
}

/* ---- derivatives ---- */

static void derivatives_in_beta(void **state) {
    (void)state;
    static const double BETA[] = {-7.385, -1.713, -0.2, -1e-3, 0, 1e-4, 0.0173, 0.385, 2.385, 4.717, 6.9, 11.3};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        for (int kind = 0; kind < ICL_CONTEXT_KINDS; kind++)
            for (size_t j = 0; j < sizeof BETA / sizeof *BETA; j++) {
                const struct icl_params params = fixture_params(SETTINGS[i]);
                if (BETA[j] * BETA[j] > 10 * params.task.D) continue; /* some node at the limit of its exponents */
                struct icl_context *at = context_of(&params, (enum icl_context_kind)kind);
                struct icl_context *up = context_of(&params, (enum icl_context_kind)kind);
                struct icl_context *down = context_of(&params, (enum icl_context_kind)kind);
                const double d = 1e-5;
                icl_context_at(at, BETA[j], true);
                icl_context_at(up, BETA[j] + d, true);
                icl_context_at(down, BETA[j] - d, true);
                for (size_t k = 0; k < at->nodes; k++) {
                    const double size = 1 + fabs(at->a[k]) + fabs(at->b[k]) + fabs(at->c[k]);
                    /* Truncation d^2/6 of the next derivatives (D = 1 has large ones), rounding eps/d. */
                    const double allowed = params.task.D < 10 ? 2e-5 : 1e-6;
                    check_abs((up->a[k] - down->a[k]) / (2 * d), at->b[k], allowed * size);
                    check_abs((up->b[k] - down->b[k]) / (2 * d), at->c[k], allowed * size * (1 + fabs(BETA[j])));
                }
                icl_context_free(at);
                icl_context_free(up);
                icl_context_free(down);
            }
}

static void without_curvature_the_same(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("");
    struct icl_context *one = context_of(&params, ICL_CONTEXT_TRAIN), *two = context_of(&params, ICL_CONTEXT_TRAIN);
    icl_context_at(one, 2.385, false);
    icl_context_at(two, 2.385, true);
    for (size_t k = 0; k < one->nodes; k++) assert_true(one->a[k] == two->a[k] && one->b[k] == two->b[k]);
    icl_context_free(one);
    icl_context_free(two);
}

static void finite_everywhere(void **state) {
    (void)state;
    static const double BETA[] = {-1e3, -300.5, -37, 0, 37, 63, 126.3, 300.5, 709.9, 1e3};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        for (int kind = 0; kind < ICL_CONTEXT_KINDS; kind++) {
            const struct icl_params params = fixture_params(SETTINGS[i]);
            struct icl_context *c = context_of(&params, (enum icl_context_kind)kind);
            for (size_t j = 0; j < sizeof BETA / sizeof *BETA; j++) {
                icl_context_at(c, BETA[j], true);
                for (size_t k = 0; k < c->nodes; k++)
                    if (!(isfinite(c->a[k]) && isfinite(c->b[k]) && isfinite(c->c[k])))
                        fail_msg("%s, kind %d, beta = %g: a = %g, b = %g, c = %g", SETTINGS[i], kind, BETA[j], c->a[k],
                                 c->b[k], c->c[k]);
                for (double w = -1e3; w <= 1e3; w += 500)
                    for (double v = 0; v < 2; v++) {
                        const double p = icl_context_accuracy(c, w, BETA[j], 0.3, v);
                        assert_true(p >= 0 && p <= 1 + 1e-12);
                    }
            }
            icl_context_free(c);
        }
}

/* D infinite: attention goes wholly to the copies, or wholly away from them. */
static void limits_in_beta(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=inf task.K=500");
    struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
    icl_context_at(c, 800, false);
    for (size_t k = 0; k < c->nodes; k++) assert_true(c->weight[k] == 0 || (c->a[k] == 1 && c->b[k] < 1e-100));
    icl_context_at(c, -800, false);
    for (const struct icl_context_group *g = c->group; g < c->group + c->groups; g++)
        for (size_t k = g->first; k < g->first + g->count; k++) check_abs(c->a[k], c->node[k] / g->m, DBL_EPSILON);
    icl_context_free(c);
}

/* ---- limits in D and K ---- */

/* <sigma(-w a) a> and <sigma(-w a) b>. */
static void gradients(const struct icl_params *params, enum icl_context_kind kind, double w, double beta,
                      double out[2]) {
    struct icl_context *c = context_of(params, kind);
    icl_context_at(c, beta, false);
    out[0] = out[1] = 0;
    for (size_t k = 0; k < c->nodes; k++) {
        const double s = c->weight[k] / (1 + exp(w * c->a[k]));
        out[0] += s * c->a[k];
        out[1] += s * c->b[k];
    }
    icl_context_free(c);
}

static void large_D_is_D_infinite(void **state) {
    (void)state;
    static const char *const LABELS[] = {"random", "balanced"};
    for (int l = 0; l < 2; l++)
        for (double w = 0.713; w < 6; w += 1.385)
            for (double beta = -0.5; beta < 7; beta += 0.917) {
                char text[200];
                double exact[2], gauss[2];
                snprintf(text, sizeof text,
                         "task.labels=%s task.K=300 solver.nodes_n=12 solver.nodes_g=24 task.D=", LABELS[l]);
                char *end = text + strlen(text);
                strcpy(end, "inf");
                struct icl_params params = fixture_params(text);
                gradients(&params, ICL_CONTEXT_TRAIN, w, beta, exact);
                strcpy(end, "1e9");
                params = fixture_params(text);
                gradients(&params, ICL_CONTEXT_TRAIN, w, beta, gauss);
                /* Balanced: no sum is random, so only 1/D and the nodes over n_c; measured 2e-9. Random: a Gaussian for
                 * the binomial S, whose kurtosis is -2/N; measured 3e-6. */
                for (int i = 0; i < 2; i++) check_abs(gauss[i], exact[i], l == 1 ? 5e-9 : 1e-5);
            }
}

/* Two roads: at tail 1e-16 this context has over 8192 exact terms and is summed by Gauss rules; at 1e-10 it is summed
 * term by term. They differ by what the tail leaves out, and by the rules' error where w and beta are large. */
static void large_contexts_by_gauss(void **state) {
    (void)state;
    static const double AT[][2] = {{0.3, 0.2}, {1.7, 2.9}, {-2.2, 1.1}, {4.4, 6.1}, {7.1, 9.3}};
    struct icl_params params = fixture_params("task.D=inf task.N=3000 task.K=2000");
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        double rule[2], sum[2];
        params.solver.tail = 1e-16;
        gradients(&params, ICL_CONTEXT_TRAIN, AT[i][0], AT[i][1], rule);
        params.solver.tail = 1e-10;
        gradients(&params, ICL_CONTEXT_TRAIN, AT[i][0], AT[i][1], sum);
        for (int j = 0; j < 2; j++) check_rel(rule[j], sum[j], 1e-8);
    }
    struct icl_context *c = NULL;
    for (int k = 0; k < 2; k++) { /* and it is true that they are two roads */
        params.solver.tail = k ? 1e-10 : 1e-16;
        c = context_of(&params, ICL_CONTEXT_TRAIN);
        assert_true((c->nodes < 1000) == (k == 0));
        icl_context_free(c);
    }
}

static void large_K_is_K_infinite(void **state) {
    (void)state;
    static const char *const D[] = {"inf", "63"};
    for (int d = 0; d < 2; d++)
        for (int balanced = 0; balanced < 2; balanced++) {
            char text[200];
            double K[4], gap[4], far[2], near[2];
            snprintf(text, sizeof text, "task.K=inf task.labels=%s task.D=%s", balanced ? "balanced" : "random", D[d]);
            struct icl_params params = fixture_params(text);
            gradients(&params, ICL_CONTEXT_TRAIN, 0.9, 1.3, far);
            for (int i = 0; i < 4; i++) {
                params.task.K = K[i] = 1e5 * pow(10, i);
                gradients(&params, ICL_CONTEXT_TRAIN, 0.9, 1.3, near);
                gap[i] = fabs(near[0] - far[0]);
            }
            check_slope(4, K, gap, -1, 2e-5); /* the first correction is 1/K, the next 1e-5 of it; measured 5e-6 */
        }
}

/* ---- sampled softmax contexts ---- */

struct sampled {
    double a, b; /* sum p l, and its derivative in beta */
};

static double binomial(double trials, double chance) {
    double k = 0;
    for (double i = 0; i < trials; i++) k += fixture_uniform(0, 1) < chance;
    return k;
}

static struct sampled sample(const struct icl_task *task, enum icl_context_kind kind, double beta) {
    const bool balanced = task->labels == ICL_LABELS_BALANCED, novel = kind == ICL_CONTEXT_NOVEL;
    const double N = (double)task->N, B = (double)task->copies,
                 plus = novel || isinf(task->K) ? 0.5 : (task->K / 2 - 1) / (task->K - 1);
    double n = novel ? 1 : 0, q = 1, p = 0, pl = 0, ps = 0, psl = 0;
    if (kind == ICL_CONTEXT_TRAIN)
        n = B + (isinf(task->K) ? 0 : binomial((balanced ? N / 2 : N) - B, (balanced ? 2 : 1) / task->K));
    if (task->items == ICL_ITEMS_GAUSSIAN) {
        q = 0;
        for (double i = 0; i < task->D; i++) q += pow(fixture_normal(), 2) / task->D;
    }
    for (double j = 0; j < N; j++) {
        const double s = j < n ? q : sqrt(q / task->D) * fixture_normal(), e = exp(beta * (s - q));
        const double l = j < n ? 1 : balanced ? (j < N / 2 ? 1 : -1) : fixture_uniform(0, 1) < plus ? 1 : -1;
        p += e;
        pl += e * l;
        ps += e * s;
        psl += e * s * l;
    }
    return (struct sampled){pl / p, psl / p - pl / p * ps / p};
}

static double softplus(double x) {
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static void averages_of_sampled_contexts(void **state) {
    (void)state;
    static const struct {
        const char *task;
        double w, beta;
    } AT[] = {{"task.K=inf", 1.1, 2},
              {"task.K=inf", 3.2, 4.1},
              {"task.K=inf", 4.8, 6.3},
              {"task.K=300", 0.8, 1.2},
              {"task.K=200 task.copies=3", 2.1, 3},
              {"task.K=inf task.labels=balanced", 2.3, 3.7},
              {"task.K=300 task.labels=balanced", 1.3, 2.2}};
    enum { SAMPLES = 20000 };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i].task);
        struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
        double seen[3] = {0}, square[3] = {0}, theory[3] = {0};
        fixture_seed(100 + (unsigned)i);
        for (int k = 0; k < SAMPLES; k++) {
            const struct sampled x = sample(&params.task, ICL_CONTEXT_TRAIN, AT[i].beta);
            const double sigma = 1 / (1 + exp(AT[i].w * x.a)),
                         f[3] = {sigma * x.a, sigma * x.b, softplus(-AT[i].w * x.a)};
            for (int j = 0; j < 3; j++) {
                seen[j] += f[j] / SAMPLES;
                square[j] += f[j] * f[j] / SAMPLES;
            }
        }
        icl_context_at(c, AT[i].beta, false);
        for (size_t k = 0; k < c->nodes; k++) {
            const double sigma = 1 / (1 + exp(AT[i].w * c->a[k]));
            const double f[3] = {sigma * c->a[k], sigma * c->b[k], softplus(-AT[i].w * c->a[k])};
            for (int j = 0; j < 3; j++) theory[j] += c->weight[k] * f[j];
        }
        for (int j = 0; j < 3; j++) {
            /* Statistics, 4 standard errors (0.3 to 1.5 %); and what (T4) leaves out: 0.3 % of the gradients, 0.7 % of
             * the loss. */
            const double error = sqrt((square[j] - seen[j] * seen[j]) / SAMPLES);
            check_abs(theory[j], seen[j], 4 * error + (j < 2 ? 0.003 : 0.007) * fabs(seen[j]));
            assert_true(error < 0.02 * fabs(seen[j])); /* a sample that can tell */
        }
        icl_context_free(c);
    }
}

/* The gradient's second moments (T11), for which da/dbeta scatters beyond its part along the others' sum. */
static void squares_of_sampled_contexts(void **state) {
    (void)state;
    static const struct {
        const char *task;
        double w, beta, slack;
    } AT[] = {{"task.K=inf", 1.1, 0.4, 0.01},
              {"task.K=inf", 1.1, 2, 0.01},
              {"task.K=inf", 2.6, 3.2, 0.02},
              {"task.K=300", 0.8, 1.2, 0.01},
              {"task.K=200 task.copies=3", 2.1, 3, 0.02},
              {"task.K=inf task.items=unit task.D=40", 1.7, 2.5, 0.02},
              {"task.K=inf task.labels=balanced", 2.3, 0.6, 0.02},
              {"task.K=inf task.labels=balanced", 2.3, 3.2, 0.02}};
    enum { SAMPLES = 20000 };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i].task);
        struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
        const struct icl_memlaw_state none = {.c1 = 0.5, .quantiles = 1, .weight = {1}};
        struct icl_meanfield_moments m;
        double seen[3] = {0}, square[3] = {0};
        fixture_seed(300 + (unsigned)i);
        for (int k = 0; k < SAMPLES; k++) {
            const struct sampled x = sample(&params.task, ICL_CONTEXT_TRAIN, AT[i].beta);
            const double sigma = 1 / (1 + exp(AT[i].w * x.a)), s2 = sigma * sigma,
                         f[3] = {s2 * x.a * x.a, s2 * x.a * x.b, s2 * x.b * x.b};
            for (int j = 0; j < 3; j++) {
                seen[j] += f[j] / SAMPLES;
                square[j] += f[j] * f[j] / SAMPLES;
            }
        }
        icl_context_at(c, AT[i].beta, true);
        icl_meanfield_moments(c, &none, AT[i].w, &m);
        const double theory[3] = {m.qaa, m.qab, m.qbb};
        for (int j = 0; j < 3; j++) { /* statistics, 4 standard errors; what (T4) leaves out */
            const double error = sqrt((square[j] - seen[j] * seen[j]) / SAMPLES);
            check_abs(theory[j], seen[j], 4 * error + AT[i].slack * sqrt(theory[0] * theory[2]));
        }
        icl_context_free(c);
    }
}

/* Beyond x = beta^2 q/D = ln N the formula (T4), taken as it stands, gives |a| > 1 and at last infinity (17: <a^2>
 * = 1.05, 25: 2e6); held there it stays with the sampled softmax. Tolerances: 4 standard errors of 4000 contexts and
 * what (T4) leaves out, measured 0.013 (a), 0.02 (a^2). */
static void strong_attention_is_bounded(void **state) {
    (void)state;
    static const struct {
        const char *task;
        double beta;
    } AT[] = {{"task.K=inf task.N=10 task.D=20 task.items=unit", 9},
              {"task.K=inf task.N=10 task.D=20 task.items=unit", 17},
              {"task.K=inf task.N=10 task.D=20 task.items=unit", 25},
              {"task.K=inf task.N=10 task.D=20", 12},
              {"task.K=inf task.N=10 task.D=20", 25},
              {"task.K=inf task.N=100", 12},
              {"task.K=inf task.N=100", 40}};
    enum { SAMPLES = 4000 };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i].task);
        struct icl_context *c = context_of(&params, ICL_CONTEXT_TRAIN);
        double a = 0, a2 = 0, a4 = 0, theory = 0, theory2 = 0;
        fixture_seed(300 + (unsigned)i);
        for (int k = 0; k < SAMPLES; k++) {
            const double x = sample(&params.task, ICL_CONTEXT_TRAIN, AT[i].beta).a;
            a += x / SAMPLES;
            a2 += x * x / SAMPLES;
            a4 += x * x * x * x / SAMPLES;
        }
        icl_context_at(c, AT[i].beta, false);
        for (size_t k = 0; k < c->nodes; k++) {
            theory += c->weight[k] * c->a[k];
            theory2 += c->weight[k] * c->a[k] * c->a[k];
        }
        check_abs(theory, a, 4 * sqrt((a2 - a * a) / SAMPLES) + 0.013);
        check_abs(theory2, a2, 4 * sqrt((a4 - a2 * a2) / SAMPLES) + 0.02);
        icl_context_free(c);
    }
}

static void accuracies_of_sampled_contexts(void **state) {
    (void)state;
    static const struct {
        const char *task;
        enum icl_context_kind kind;
        double w, beta, phi, v;
    } AT[] = {{"", ICL_CONTEXT_NOVEL, 1, 3.2, 0, 0},
              {"", ICL_CONTEXT_NOVEL, 2.7, 4, 0, 0.5},
              {"task.labels=balanced", ICL_CONTEXT_NOVEL, 1, 1.1, 0, 0},
              {"task.items=unit", ICL_CONTEXT_NOVEL, 1, 2.5, 0, 0.01},
              {"task.K=500", ICL_CONTEXT_ABSENT, 4, 3.5, 0.2, 0},
              {"task.K=500 task.labels=balanced", ICL_CONTEXT_ABSENT, 4, 3.5, 0.2, 0},
              {"", ICL_CONTEXT_ABSENT, -1.3, 2.2, 0.1, 0}};
    enum { SAMPLES = 20000 };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i].task);
        struct icl_context *c = context_of(&params, AT[i].kind);
        double right = 0;
        fixture_seed(200 + (unsigned)i);
        for (int k = 0; k < SAMPLES; k++) {
            const double a = sample(&params.task, AT[i].kind, AT[i].beta).a;
            right += AT[i].phi + sqrt(AT[i].v) * fixture_normal() + AT[i].w * a > 0;
        }
        right /= SAMPLES;
        /* Statistics, 4 standard errors; a Gaussian for a sum of 100 lognormals moves an accuracy by up to 0.003. */
        check_abs(icl_context_accuracy(c, AT[i].w, AT[i].beta, AT[i].phi, AT[i].v), right,
                  4 * sqrt(right * (1 - right) / SAMPLES) + 0.003);
        icl_context_free(c);
    }
}

/* ---- accuracy ---- */

static void staircase_at_D_infinite(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=inf");
    struct icl_context *c = context_of(&params, ICL_CONTEXT_NOVEL);
    const double step = log(17);
    /* theory's values, to their digits: 0.946 to 0.965, the tie between them */
    check_abs(icl_context_accuracy(c, 1, step * (1 - 1e-12), 0, 0), 0.9463, 5e-5);
    check_abs(icl_context_accuracy(c, 1, step * (1 + 1e-12), 0, 0), 0.9650, 5e-5);
    double below = 0, tie = 0;
    for (int plus = 0; plus <= 99; plus++) {
        below += 2 * plus - 99 > -17 ? choose(99, plus, 0.5) : 0;
        tie += 2 * plus - 99 == -17 ? choose(99, plus, 0.5) : 0;
    }
    check_abs(icl_context_accuracy(c, 1, step * (1 - 1e-12), 0, 0), below, 1e-13); /* lgamma's rounding */
    check_abs(icl_context_accuracy(c, 1, step * (1 + 1e-12), 0, 0), below + tie, 1e-13);
    check_abs(icl_context_accuracy(c, 1, 0, 0, 0), 0.5 + choose(99, 49, 0.5) / 2,
              1e-13); /* e^0 = 1: a tie with S = -1 */
    icl_context_free(c);
}

static void accuracy_is_symmetric(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct icl_params params = fixture_params(SETTINGS[i]);
        struct icl_context *c = context_of(&params, ICL_CONTEXT_NOVEL);
        for (double beta = -2; beta < 8; beta += 1.37)
            for (double v = 0; v < 1; v += 0.4) {
                const double p = icl_context_accuracy(c, 1.7, beta, 0, v);
                check_abs(icl_context_accuracy(c, -1.7, beta, 0, v), 1 - p, 1e-13); /* rounding */
                if (v == 0) check_abs(icl_context_accuracy(c, 17, beta, 0, v), p, 1e-13);
            }
        check_abs(icl_context_accuracy(c, 0, 1.3, 0, 0), 0.5, 1e-13); /* all ties */
        icl_context_free(c);
    }
}

/* Closed form in g against many nodes: where v smooths the step, the weighted nodes give the same. */
static void gaussian_in_closed_form(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("solver.nodes_g=64 solver.nodes_q=24");
    struct icl_context *c = context_of(&params, ICL_CONTEXT_NOVEL);
    const double w = 1.9, v = 0.7;
    for (double beta = -1; beta < 7; beta += 1.13) {
        double sum = 0;
        icl_context_at(c, beta, false);
        for (size_t k = 0; k < c->nodes; k++) sum += c->weight[k] * 0.5 * erfc(-w * c->a[k] / sqrt(2 * v));
        check_abs(icl_context_accuracy(c, w, beta, 0, v), sum,
                  2e-14); /* 64 Hermite nodes leave rounding; measured 2e-15 */
    }
    icl_context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_others),
        cmocka_unit_test(exact_sums),
        cmocka_unit_test(labels_are_correlated),
        cmocka_unit_test(many_items),
        cmocka_unit_test(derivatives_in_beta),
        cmocka_unit_test(without_curvature_the_same),
        cmocka_unit_test(finite_everywhere),
        cmocka_unit_test(limits_in_beta),
        cmocka_unit_test(large_D_is_D_infinite),
        cmocka_unit_test(large_contexts_by_gauss),
        cmocka_unit_test(large_K_is_K_infinite),
        cmocka_unit_test(averages_of_sampled_contexts),
        cmocka_unit_test(squares_of_sampled_contexts),
        cmocka_unit_test(strong_attention_is_bounded),
        cmocka_unit_test(accuracies_of_sampled_contexts),
        cmocka_unit_test(staircase_at_D_infinite),
        cmocka_unit_test(accuracy_is_symmetric),
        cmocka_unit_test(gaussian_in_closed_form),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
