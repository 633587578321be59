/* What an ingredient does: each one left out is the simpler theory that is known without it, and what is not at work is
 * said to be absent. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/attribute.h"
#include "iclkin/gauge.h"
#include "iclkin/predict.h"

static struct icl_params left_out(const struct icl_params *params, enum icl_ingredient ingredient) {
    struct icl_params left = *params;
    icl_attribute_leave(&left, ingredient);
    return left;
}

/* Both parameter sets give the same run and the same K*, bit for bit, at every level. */
static void same(const struct icl_params *a, const struct icl_params *b, bool items) {
    struct icl_err err;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        const struct icl_traj_result p = fixture_solve(a, (enum icl_level)level, ICL_TRAJ_TO_END),
                                     q = fixture_solve(b, (enum icl_level)level, ICL_TRAJ_TO_END);
        double K[2] = {0, 0};
        assert_true(p.t_icl == q.t_icl && p.t_loss == q.t_loss && p.t_iwl == q.t_iwl && p.steps == q.steps);
        if (!items) continue;
        check_ok(icl_predict_items(a, (enum icl_level)level, &K[0], &err), &err);
        check_ok(icl_predict_items(b, (enum icl_level)level, &K[1], &err), &err);
        assert_true(K[0] == K[1] && K[0] > 0);
    }
}

static void by_a_parameter(void **state) {
    (void)state;
    struct icl_params a = fixture_params("task.K=3000 train.lambda=3e-3 train.t_max=5000"), b = a;
    b.task.D = INFINITY;
    a = left_out(&a, ICL_INGREDIENT_D);
    assert_true(a.task.D == 63); /* which memory was measured with */
    same(&a, &b, true);
    a = fixture_params("task.labels=balanced init.w=0.2 init.beta=0.1");
    b = a;
    b.task.labels = ICL_LABELS_RANDOM;
    a = left_out(&a, ICL_INGREDIENT_BALANCED);
    same(&a, &b, true);
}

/* Without copies by chance and the others' mean label, contexts do not know K. */
static void contexts_without_K(void **state) {
    (void)state;
    static const char *const AT[] = {"memory.law=none task.K=300", "memory.law=none task.K=300 task.D=inf",
                                     "memory.law=none task.K=300 task.labels=balanced init.w=0.2",
                                     "memory.law=none task.K=300 task.copies=3 task.items=unit"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        struct icl_params a = fixture_params(AT[i]), b = a;
        b.task.K = INFINITY;
        a = left_out(&a, ICL_INGREDIENT_COPIES);
        if (a.task.labels == ICL_LABELS_RANDOM) a = left_out(&a, ICL_INGREDIENT_CORRELATION);
        same(&a, &b, false);
    }
}

static double binomial(double n, double k, double p) {
    if (p == 0) return k == 0;
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}

/* dw/dt of (T2), (T3) by direct sums over copies and labels. */
static double direct(double N, double w, double beta, double phi, double chance, double plus) {
    double sum = 0;
    for (double n = 1; n <= N; n++)
        for (double k = 0; k <= N - n; k++) {
            const double S = 2 * k - (N - n), a = (n * exp(beta) + S) / (n * exp(beta) + N - n);
            sum += binomial(N - 1, n - 1, chance) * binomial(N - n, k, plus) * a / (1 + exp(phi + w * a));
        }
    return sum;
}

/* Either of the two alone, at K = 40: n_c = 1, or p = 1/2. */
static void copies_and_correlation(void **state) {
    (void)state;
    const struct icl_params whole =
        fixture_params("task.N=20 task.D=inf task.K=40 memory.law=constant memory.c1=0.37 solver.tail=0");
    const double phi = log(1 / 0.37 - 1), p = (20. - 1) / 39, y[ICL_DIM] = {1.385, 1.713, 0};
    for (int part = 0; part < 4; part++) {
        struct icl_params params = whole;
        struct icl_model *model = NULL;
        struct icl_err err;
        double f[2];
        if (part & 1) icl_attribute_leave(&params, ICL_INGREDIENT_COPIES);
        if (part & 2) icl_attribute_leave(&params, ICL_INGREDIENT_CORRELATION);
        check_ok(icl_model_alloc(&model, &params, ICL_LEVEL_MEANFIELD, 40, &err), &err);
        icl_model_field(model, 0, y[ICL_W], y[ICL_BETA], f, NULL);
        /* rounding of lgamma; measured 2e-15 */
        check_rel(f[0], direct(20, y[ICL_W], y[ICL_BETA], phi, part & 1 ? 0 : 1. / 40, part & 2 ? 0.5 : p), 1e-13);
        icl_model_free(model);
    }
}

/* (T5) without c2 and decay is (T7). */
static void reduced_without_c2(void **state) {
    (void)state;
    static const char *const AT[] = {"", "init.w=-0.4 init.beta=0.3 task.N=37", "memory.law=constant memory.c1=0.21",
                                     "task.labels=balanced init.w=0.2 init.beta=0.1"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        struct icl_params params = fixture_params(AT[i]);
        const double closed = fixture_solve(&params, ICL_LEVEL_ASYMPTOTIC, ICL_TRAJ_TO_BLOWUP).t_blowup;
        const double whole = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup;
        icl_attribute_leave(&params, ICL_INGREDIENT_DAMPING);
        /* truncation at rtol 1e-9; measured 6e-11 */
        check_rel(fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP).t_blowup, closed, 1e-9);
        assert_true(whole > 1.001 * closed);
    }
}

/* The mean field without damping is its own first order in w: dw/dt as at w = 0, dbeta/dt proportional to w. */
static void meanfield_without_damping(void **state) {
    (void)state;
    const struct icl_params whole = fixture_params("task.K=700"), params = left_out(&whole, ICL_INGREDIENT_DAMPING);
    struct icl_model *full = NULL, *part = NULL;
    struct icl_err err;
    double f[2], g[2], small[2];
    check_ok(icl_model_alloc(&full, &whole, ICL_LEVEL_MEANFIELD, 700, &err), &err);
    check_ok(icl_model_alloc(&part, &params, ICL_LEVEL_MEANFIELD, 700, &err), &err);
    icl_model_field(full, 30, 0, 2.385, f, NULL);
    icl_model_field(full, 30, 1e-6, 2.385, small, NULL);
    icl_model_field(part, 30, 3.7, 2.385, g, NULL);
    check_rel(g[0], f[0], 1e-14);                 /* rounding */
    check_rel(g[1], 3.7 / 1e-6 * small[1], 1e-6); /* the next order, w of it; measured 9e-8 */
    icl_model_free(full);
    icl_model_free(part);
}

/* Nothing but c1 and one copy is left: dw/dt = c1 a, dbeta/dt = c1 w a (1 - a), a = e^beta/(e^beta + N - 1), since S
 * has mean 0. Then w^2/2 = beta + (e^beta - 1)/(N - 1) from w = beta = 0, and t = int dw/(c1 a), up to the jump of
 * acc_icl at e^beta = 17 (O1). */
static void nothing_left(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=none task.K=4000 task.N=100 train.t_max=1e4");
    for (int i = 0; i < ICL_INGREDIENT_COUNT; i++) icl_attribute_leave(&params, (enum icl_ingredient)i);
    enum { STEPS = 2000 };
    const double end = sqrt(2 * (log(17) + 16. / 99));
    double t = 0, beta = 0;
    for (int i = 0; i <= STEPS; i++) { /* Simpson in w, beta(w) by Newton */
        const double w = end * i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        for (int k = 0; k < 50; k++) beta -= (beta + expm1(beta) / 99 - w * w / 2) / (1 + exp(beta) / 99);
        t += weight * (1 + 99 * exp(-beta)) / 0.5;
    }
    t *= end / STEPS / 3;
    /* truncation at rtol 1e-9; measured 7e-12 */
    check_rel(fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl, t, 1e-10);
}

/* The measured law: v = 0, the plain closure, s = t. */
static void memory_parts(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=table task.K=3000 train.lambda=3e-3 train.t_max=3000");
    struct icl_params alike = fixture_params("task.K=3000"), plain;
    struct icl_memtable *table = NULL;
    struct icl_gauge *without = NULL, *none = NULL;
    struct icl_err err;
    check_ok(icl_memtable_read(&table, "params/memory/default.tsv", &err), &err);
    params.memtable = table;

    const struct icl_params novel = left_out(&params, ICL_INGREDIENT_SPREAD);
    check_ok(icl_gauge_alloc(&without, &novel, ICL_LEVEL_MEANFIELD, 3000, false, &err), &err);
    check_ok(icl_gauge_alloc(&none, &alike, ICL_LEVEL_MEANFIELD, 3000, false, &err), &err);
    const double y[ICL_DIM] = {1.385, 3.1, 200};
    assert_true(icl_gauge_acc_icl(without, y) == icl_gauge_acc_icl(none, y));
    icl_gauge_free(without);
    icl_gauge_free(none);

    plain = params;
    plain.memory.closure = ICL_CLOSURE_PLAIN;
    const struct icl_params response = left_out(&params, ICL_INGREDIENT_RESPONSE);
    same(&response, &plain, false);

    const struct icl_params clock = left_out(&params, ICL_INGREDIENT_CLOCK);
    const struct icl_traj_result slowed = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END),
                                 free = fixture_solve(&clock, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END);
    check_rel(free.y[ICL_S], 3000, 1e-12); /* rounding */
    assert_true(slowed.y[ICL_S] < 0.5 * 3000);
    assert_true(free.t_loss < 0.5 * fmin(slowed.t_loss, 3000)); /* what keeps ICL is the slowed clock (M3) */
    icl_memtable_free(table);
}

/* ---- the whole table ---- */

static void runs(void **state) {
    (void)state;
    static const struct {
        const char *assignments;
        const char *at_work; /* of enum icl_ingredient: D, n, r, b, v, R, s, c */
    } AT[] = {
        {"task.K=3000", "Dnr---sc"},
        {"task.K=3000 theory.level=reduced", "D------c"},
        {"task.K=3000 theory.level=asymptotic", "--------"},
        {"task.K=3000 task.D=inf", "-nr---sc"},
        {"task.K=inf", "D------c"},
        {"memory.law=constant", "Dnr----c"},
        {"task.labels=balanced init.w=0.2 init.beta=0.1", "Dn-b--sc"},
        {"task.labels=balanced init.w=0.2 init.beta=0.1 theory.level=asymptotic", "---b----"},
        {"task.N=4 task.copies=4", "D-r---sc"},
    };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i].assignments);
        const enum icl_level level = params.theory.level;
        struct icl_params finer = params;
        struct icl_attribute a;
        struct icl_err err;
        double K_star;
        finer.solver.K_tol /= 1000;
        check_ok(icl_attribute_run(&params, &a, &err), &err);
        check_ok(icl_predict_items(&finer, level, &K_star, &err), &err);
        assert_true(a.with.t_icl == fixture_solve(&params, level, ICL_TRAJ_TO_END).t_icl && a.with.K_star == K_star);
        for (int k = 0; k < ICL_INGREDIENT_COUNT; k++) {
            const bool at_work = AT[i].at_work[k] != '-';
            if (at_work != (a.absent[k] == NULL))
                fail_msg("%s: %s: %s", AT[i].assignments, icl_attribute_name((enum icl_ingredient)k),
                         a.absent[k] ? a.absent[k] : "at work");
            assert_true(!a.absent[k] || strlen(a.absent[k]) > 5);
            if (!at_work) continue;
            const struct icl_params left = left_out(&params, (enum icl_ingredient)k);
            assert_true(a.without[k].t_icl == fixture_solve(&left, level, ICL_TRAJ_TO_END).t_icl);
        }
        assert_int_equal(a.trouble.code, ICL_OK);
    }
}

/* An absent ingredient left out all the same changes nothing: it was absent. */
static void absent_is_without_effect(void **state) {
    (void)state;
    static const char *const AT[] = {"task.K=3000",
                                     "task.K=3000 theory.level=reduced",
                                     "task.K=3000 theory.level=asymptotic",
                                     "task.K=inf",
                                     "memory.law=constant",
                                     "task.labels=balanced init.w=0.2 init.beta=0.1",
                                     "task.N=4 task.copies=4"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        const struct icl_traj_result whole = fixture_solve(&params, params.theory.level, ICL_TRAJ_TO_END);
        struct icl_attribute a;
        struct icl_err err;
        check_ok(icl_attribute_run(&params, &a, &err), &err);
        for (int k = 0; k < ICL_INGREDIENT_COUNT; k++) {
            const struct icl_params left = left_out(&params, (enum icl_ingredient)k);
            const struct icl_traj_result result = fixture_solve(&left, params.theory.level, ICL_TRAJ_TO_END);
            const bool equal = result.t_icl == whole.t_icl && result.t_loss == whole.t_loss;
            if (a.absent[k] && !equal) fail_msg("%s: %s", AT[i], icl_attribute_name((enum icl_ingredient)k));
        }
    }
}

/* Steps that suffice for t_icl alone: t_loss is not known, t_icl is, and it is said why. */
static void trouble_costs_one_number(void **state) {
    (void)state;
    struct icl_params params = fixture_params("task.K=8000 train.lambda=3e-3 train.t_max=20000");
    const struct icl_traj_result icl = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL);
    struct icl_attribute a;
    struct icl_err err;
    params.solver.max_steps = icl.steps + 3;
    check_ok(icl_attribute_run(&params, &a, &err), &err);
    assert_true(a.with.t_icl == icl.t_icl && isnan(a.with.t_loss));
    assert_true(isfinite(a.without[ICL_INGREDIENT_CORRELATION].t_icl));
    check_fails(a.trouble.code, ICL_ENUMERIC, &a.trouble, "without nothing: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_a_parameter),
        cmocka_unit_test(contexts_without_K),
        cmocka_unit_test(copies_and_correlation),
        cmocka_unit_test(reduced_without_c2),
        cmocka_unit_test(meanfield_without_damping),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(memory_parts),
        cmocka_unit_test(runs),
        cmocka_unit_test(absent_is_without_effect),
        cmocka_unit_test(trouble_costs_one_number),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
