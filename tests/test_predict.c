/* The answers: K* is a true boundary, the table of scalars is whole, the sentence gives the right reason. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/closed.h"
#include "iclkin/predict.h"

static double K_star_of(const struct icl_params *params, enum icl_level level) {
    struct icl_err err;
    double K_star = NAN;
    check_ok(icl_predict_items(params, level, &K_star, &err), &err);
    return K_star;
}

static bool acquires(const struct icl_params *params, enum icl_level level, double K) {
    struct icl_params at = *params;
    at.task.K = K;
    return isfinite(fixture_solve(&at, level, ICL_TRAJ_TO_ICL).t_icl);
}

static struct icl_prediction predict(const struct icl_params *params) {
    struct icl_prediction prediction;
    struct icl_err err;
    check_ok(icl_predict_run(params, &prediction, &err), &err);
    return prediction;
}

/* ---- K* ---- */

static void K_star_is_a_boundary(void **state) {
    (void)state;
    static const char *const AT[] = {"",
                                     "task.N=50 init.w=-0.3",
                                     "task.N=200 task.D=inf train.t_max=3000",
                                     "task.labels=balanced init.w=0.2 init.beta=0.1",
                                     "train.lambda=3e-3",
                                     "memory.p=1.4 memory.nu=0.6 memory.A=2 init.beta=0.5",
                                     "solver.K_tol=1e-6 task.N=60",
                                     "train.t_max=400"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++)
        for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
            const struct icl_params params = fixture_params(AT[i]);
            const double K = K_star_of(&params, (enum icl_level)level);
            assert_true(K > 2 && isfinite(K));
            assert_false(acquires(&params, (enum icl_level)level, K));
            assert_true(acquires(&params, (enum icl_level)level, K * (1 + 1.01 * params.solver.K_tol)));
            for (double factor = 1.1; factor < 100; factor *= 1.7) {
                assert_true(acquires(&params, (enum icl_level)level, K * factor));
                if (K / factor > 2 * (double)params.task.N)
                    assert_false(acquires(&params, (enum icl_level)level, K / factor));
            }
        }
}

/* (T8): nu and A as they come in, and slope 1/nu against N. */
static void asymptotic_threshold(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.A=0.83 memory.nu=0.67 init.w=-0.4 init.beta=0.3");
    double N[6], K[6];
    for (int i = 0; i < 6; i++) {
        params.task.N = (size_t)(N[i] = 20 * pow(3, i));
        K[i] = K_star_of(&params, ICL_LEVEL_ASYMPTOTIC);
        check_rel(0.83 * pow(K[i], 0.67), icl_closed_budget(N[i], -0.4, 0.3), 1e-14); /* rounding of two powers */
    }
    check_slope(6, N, K, 1 / 0.67, 1e-13);
    /* Level asymptotic, in K: acquired above, not below. */
    assert_true(acquires(&params, ICL_LEVEL_ASYMPTOTIC, K[5] * (1 + 1e-9)));
    assert_false(acquires(&params, ICL_LEVEL_ASYMPTOTIC, K[5] * (1 - 1e-9)));
}

/* The reduced K* and (T8) share the limit of large beta0 in which c2 is nothing and the last of the way is short. */
static void reduced_threshold_tends_to_T8(void **state) {
    (void)state;
    double gap[3];
    for (int i = 0; i < 3; i++) {
        struct icl_params params = fixture_params("task.D=inf train.t_max=1e12 solver.K_tol=1e-7");
        params.task.N = (size_t)pow(10, 3 + 2 * i);
        params.init.beta = log((double)params.task.N) / 4;
        gap[i] = K_star_of(&params, ICL_LEVEL_REDUCED) / K_star_of(&params, ICL_LEVEL_ASYMPTOTIC) - 1;
    }
    /* Of order N^-1/4 (c2 e^-beta0) and N^-1/4 (the event comes before the blow-up), of opposite signs. */
    assert_true(fabs(gap[1]) < fabs(gap[0]) && fabs(gap[2]) < fabs(gap[1]));
    check_abs(gap[2], 0, 5e-4);
}

static void no_threshold(void **state) {
    (void)state;
    static const struct {
        const char *assignments;
        double K_star[ICL_LEVEL_COUNT];
    } AT[] = {
        {"memory.law=none", {0, 0, 0}},
        {"memory.law=constant memory.c1=0.3", {0, 0, 0}},
        {"memory.law=constant train.t_max=10", {0, INFINITY, INFINITY}}, /* (T8) knows no t_max */
        {"task.labels=balanced", {INFINITY, INFINITY, INFINITY}},        /* on the saddle */
        {"train.lambda=0.02 train.t_max=1e5", {-1, INFINITY, INFINITY}}, /* trapped, whatever K */
        {"task.D=5", {-1, INFINITY, INFINITY}},                          /* acc_icl never gets there */
        {"task.D=inf init.w=1 init.beta=6", {-1, 0, 0}},                 /* there already */
        {"memory.A=1e9 memory.nu=1", {-1, 0, 0}},                        /* every K >= 2 leaves enough */
    };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++)
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            const struct icl_params params = fixture_params(AT[i].assignments);
            const double K = K_star_of(&params, (enum icl_level)level);
            if (AT[i].K_star[level] != -1 && K != AT[i].K_star[level])
                fail_msg("%s: level %d: K* = %g", AT[i].assignments, level, K);
        }
}

/* K* goes as N^(1/nu) (T8), up to what c2 and t_max change: theory's headline. */
static void slope_in_N(void **state) {
    (void)state;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        double N[4], K[4];
        for (int i = 0; i < 4; i++) {
            struct icl_params params = fixture_params("train.t_max=1e6");
            params.task.N = (size_t)(N[i] = 50 * pow(2, i));
            K[i] = K_star_of(&params, (enum icl_level)level);
        }
        check_slope(4, N, K, 1 / 0.75, 0.03); /* corrections of order N^-1/2; measured 0.010 */
    }
}

/* ---- the whole prediction ---- */

static void table_is_whole(void **state) {
    (void)state;
    static const char *const NAMES[] = {"t_icl", "t_blowup", "K_star",   "I_K_inf",
                                        "t_iwl", "t_loss",   "t_icl_sd", "t_icl_read"};
    const struct icl_params params = fixture_params("task.K=8000 train.lambda=3e-3 train.t_max=20000");
    const struct icl_prediction p = predict(&params);
    enum { COUNT = sizeof NAMES / sizeof *NAMES };
    size_t seen = 0, rows[COUNT] = {0};

    for (size_t i = 0; i < icl_predict_count(); i++) {
        const struct icl_predict_row *row = icl_predict_row(i);
        for (size_t k = 0; k < COUNT; k++)
            if (strcmp(row->name, NAMES[k]) == 0) rows[k]++;
        assert_true(strlen(row->unit) > 0 && strlen(row->tag) >= 2);
        assert_true(icl_predict_value(&p, row) > 0 && isfinite(icl_predict_value(&p, row)));
        seen++;
    }
    assert_true(rows[0] == ICL_LEVEL_COUNT && rows[2] == ICL_LEVEL_COUNT);
    for (size_t k = 0; k < COUNT; k++) seen -= rows[k];
    assert_int_equal(seen, 0);
    /* Every number is the one that its own function gives. */
    struct icl_traj_result result = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END);
    assert_true(p.t_icl[ICL_LEVEL_MEANFIELD] == result.t_icl && p.t_iwl == result.t_iwl && p.t_loss == result.t_loss);
    assert_int_equal(p.outcome, ICL_OUTCOME_TRANSIENT);
    result = fixture_solve(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_BLOWUP);
    assert_true(p.t_icl[ICL_LEVEL_REDUCED] == result.t_icl && p.t_blowup == result.t_blowup);
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        assert_true(p.K_star[level] == K_star_of(&params, (enum icl_level)level));
    check_rel(p.I_K_inf, 0.6 * pow(8000, 0.75), 1e-15);
    check_rel(p.budget, icl_closed_budget(100, 0, 0), 1e-15);
}

/* Where a prediction is at theory.level, each level gives its own. */
static void scalars_are_at_the_level(void **state) {
    (void)state;
    struct icl_params params = fixture_params("task.K=500 train.t_max=2000");
    double t_iwl[ICL_LEVEL_COUNT];
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        params.theory.level = (enum icl_level)level;
        const struct icl_prediction p = predict(&params);
        assert_int_equal(p.outcome, ICL_OUTCOME_IWL);
        t_iwl[level] = p.t_iwl;
    }
    const double law = 2 * 0.6 * pow(500, 0.75) * (sqrt(10) - 1);
    check_rel(t_iwl[ICL_LEVEL_REDUCED], law, 1e-14); /* located to ulps */
    assert_true(t_iwl[ICL_LEVEL_MEANFIELD] != t_iwl[ICL_LEVEL_REDUCED]);
}

/* --check: the difference to a finer solution is the error; it is that small. */
static void refined(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.K=8000 train.lambda=3e-3 train.t_max=20000");
    struct icl_params finer = params;
    struct icl_err err;
    icl_predict_refine(&finer);
    check_ok(icl_params_check(&finer, &err), &err);
    assert_true(finer.solver.rtol < params.solver.rtol && finer.solver.nodes_q > params.solver.nodes_q &&
                finer.solver.nodes_g > params.solver.nodes_g && finer.solver.nodes_n > params.solver.nodes_n &&
                finer.solver.K_tol < params.solver.K_tol);
    const struct icl_prediction a = predict(&params), b = predict(&finer);
    for (size_t i = 0; i < icl_predict_count(); i++) {
        const struct icl_predict_row *row = icl_predict_row(i);
        /* nodes_q 8: 1.2e-5 of t_icl, 5e-3 of the accuracy's variance over items; K_tol 1e-3 of K*; t_loss is far from
         * linear in w. */
        const double allowed = strcmp(row->name, "K_star") == 0       ? 1.1e-3
                               : strcmp(row->name, "t_icl_read") == 0 ? 6e-3
                                                                      : 1e-4;
        check_rel(icl_predict_value(&a, row), icl_predict_value(&b, row), allowed);
    }
    assert_int_equal(a.outcome, b.outcome);
    /* However often: the nodes stay within what a rule may have, the tolerance within what doubles allow. */
    for (int i = 0; i < 12; i++) icl_predict_refine(&finer);
    finer.memory.law = ICL_LAW_NONE;
    finer.solver.K_tol = 1e-3;
    assert_true(finer.solver.rtol >= 1e-14 && finer.solver.nodes_q <= 64 && finer.solver.nodes_g <= 64 &&
                finer.solver.nodes_n <= 64);
}

/* ---- the sentence ---- */

static const struct {
    const char *assignments;
    enum icl_outcome outcome;
    const char *say[3]; /* what it must hold */
} SENTENCES[] = {
    {"memory.law=none task.K=inf",
     ICL_OUTCOME_ICL,
     {"is acquired at t = 279", "kept to t_max = 1000", "2792 SGD steps"}},
    {"task.K=8000 train.lambda=3e-3 train.t_max=20000",
     ICL_OUTCOME_TRANSIENT,
     {"is acquired at t", "lost again at t", "memorized by t"}},
    {"init.w=1 init.beta=5", ICL_OUTCOME_ICL, {"already at the start", "kept", "t = 0"}},
    {"task.K=1000", ICL_OUTCOME_IWL, {"never acquired", "I_K(inf) = 106.7", "K must exceed K*"}},
    {"task.K=1300 train.t_max=3000", ICL_OUTCOME_IWL, {"below K*", "memoriz", "not acquired"}},
    {"memory.law=none train.lambda=0.011", ICL_OUTCOME_NONE, {"never acquired", "fold at lambda_c = 0.01048", "traps"}},
    {"task.D=5 memory.law=none", ICL_OUTCOME_NONE, {"never acquired", "D = 5", "stays below 0.95"}},
    {"task.labels=balanced memory.law=none", ICL_OUTCOME_NONE, {"never acquired", "separatrix", "saddle"}},
    {"memory.law=none train.t_max=200", ICL_OUTCOME_NONE, {"not acquired by t_max = 200", "250.7", "t"}},
    /* Decay is beyond the fold, but the start is beyond the saddle: what keeps ICL away is memorization. */
    {"task.K=20 init.w=1.5 init.beta=1 train.lambda=0.0106 task.N=100 train.t_max=1e4",
     ICL_OUTCOME_IWL,
     {"memorization of K = 20", "never acquired", "K must exceed"}},
    {"task.K=1e4 init.w=1.5 init.beta=1 train.lambda=0.0106", ICL_OUTCOME_ICL, {"is acquired", "kept", "t"}},
};

static void sentences(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof SENTENCES / sizeof *SENTENCES; i++) {
        const struct icl_params params = fixture_params(SENTENCES[i].assignments);
        const struct icl_prediction p = predict(&params);
        char text[ICL_PREDICT_SENTENCE];
        icl_predict_sentence(&params, &p, text);
        if (p.outcome != SENTENCES[i].outcome)
            fail_msg("%s: outcome %s: %s", SENTENCES[i].assignments, icl_traj_outcome(p.outcome), text);
        for (int k = 0; k < 3; k++)
            if (strstr(text, SENTENCES[i].say[k]) == NULL)
                fail_msg("%s: \"%s\" does not say \"%s\"", SENTENCES[i].assignments, text, SENTENCES[i].say[k]);
    }
}

/* Any parameters: text that ends, says which of the two it is, and no nan and no inf in it. */
static void sentences_of_any_parameters(void **state) {
    (void)state;
    fixture_seed(5);
    for (int i = 0; i < 60; i++) {
        struct icl_params params = fixture_params("solver.rtol=1e-6 solver.K_tol=0.05 task.D=inf");
        params.theory.level = (enum icl_level)(i % 3);
        params.task.K = 2 * round(pow(10, fixture_uniform(0.5, 5)) / 2);
        params.task.N = 2 * (size_t)fixture_uniform(5, 80);
        params.task.labels = fixture_uniform(0, 1) < 0.3 ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM;
        params.init.w = fixture_uniform(-2, 2);
        params.init.beta = fixture_uniform(-2, 3);
        params.train.t_max = pow(10, fixture_uniform(1, 3.3));
        if (fixture_uniform(0, 1) < 0.5) params.train.lambda_w = pow(10, fixture_uniform(-4, -1));
        if (fixture_uniform(0, 1) < 0.5) params.train.lambda_beta = pow(10, fixture_uniform(-4, -1));
        const struct icl_prediction p = predict(&params);
        char text[ICL_PREDICT_SENTENCE];
        icl_predict_sentence(&params, &p, text);
        const bool icl = p.outcome == ICL_OUTCOME_ICL || p.outcome == ICL_OUTCOME_TRANSIENT;
        const size_t length = strlen(text);
        const bool says = strstr(text, "is acquired") || strstr(text, "already at the start");
        if (says != icl || length < 20 || text[length - 1] != '.' || strstr(text, "= inf") || strstr(text, "nan"))
            fail_msg("case %d, K = %g, level %d, outcome %s: \"%s\"", i, params.task.K, params.theory.level,
                     icl_traj_outcome(p.outcome), text);
    }
}

static void failures_are_passed_on(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=table");
    struct icl_prediction p;
    struct icl_err err;
    double K_star;
    check_fails(icl_predict_run(&params, &p, &err), ICL_EUSAGE, &err, "memory.law = table");
    params = fixture_params("solver.max_steps=10");
    check_fails(icl_predict_run(&params, &p, &err), ICL_ENUMERIC, &err, "max_steps=10");
    check_fails(icl_predict_items(&params, ICL_LEVEL_MEANFIELD, &K_star, &err), ICL_ENUMERIC, &err, "K* at K = ");
}

/* Contexts so small that a Gauss node of n_c falls on N: every number is there (a square root of -1e-16 once was not).
 */
static void smallest_contexts(void **state) {
    (void)state;
    static const char *const TASKS[] = {"task.N=2",
                                        "task.N=2 task.K=10000",
                                        "task.N=3",
                                        "task.N=3 task.K=10",
                                        "task.N=4 task.copies=2",
                                        "task.N=5 task.copies=3 task.K=4",
                                        "task.N=6 task.copies=4 task.K=10",
                                        "task.N=20 task.K=50 solver.nodes_n=20",
                                        "task.N=8 task.K=10 solver.nodes_n=64"};
    for (size_t i = 0; i < sizeof TASKS / sizeof *TASKS; i++) {
        const struct icl_params params = fixture_params(TASKS[i]);
        struct icl_prediction p;
        struct icl_err err;
        check_ok(icl_predict_run(&params, &p, &err), &err);
        assert_int_equal(p.trouble.code, ICL_OK);
        for (size_t k = 0; k < icl_predict_count(); k++) assert_false(isnan(icl_predict_value(&p, icl_predict_row(k))));
    }
}

/* At w = 0 all is a tie; where acc_icl jumps above its threshold at once, t_icl is 0 and no rounding error of it. */
static void a_tie_at_the_start(void **state) {
    (void)state;
    static const char *const STARTS[] = {"init.beta=4", "init.beta=30", "task.D=inf init.beta=3",
                                         "observe.icl_threshold=0.5 observe.loss_threshold=0.4",
                                         "task.labels=balanced task.D=inf init.beta=0.1"};
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++) {
        const struct icl_params params = fixture_params(STARTS[i]);
        struct icl_traj_result result;
        struct icl_err err;
        check_ok(icl_predict_times(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL, &result, &err), &err);
        assert_true(result.t_icl == 0);
    }
}

/* A number that cannot be computed is NaN and said; the others stand. */
static void one_failure_is_not_all(void **state) {
    (void)state;
    const struct icl_params params =
        fixture_params("task.labels=balanced task.N=10 task.K=4 task.D=inf memory.law=none init.beta=5 train.t_max=2e4 "
                       "theory.level=asymptotic solver.max_steps=20000");
    struct icl_prediction p;
    struct icl_err err;
    check_ok(icl_predict_run(&params, &p, &err), &err);
    assert_int_equal(p.trouble.code, ICL_ENUMERIC);
    assert_non_null(strstr(p.trouble.text, "max_steps"));
    assert_true(isnan(p.t_blowup) && p.outcome == ICL_OUTCOME_ICL);
    assert_true(p.t_icl[ICL_LEVEL_ASYMPTOTIC] > 0 && !isnan(p.t_icl[ICL_LEVEL_MEANFIELD]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_contexts),
        cmocka_unit_test(a_tie_at_the_start),
        cmocka_unit_test(one_failure_is_not_all),
        cmocka_unit_test(K_star_is_a_boundary),
        cmocka_unit_test(asymptotic_threshold),
        cmocka_unit_test(reduced_threshold_tends_to_T8),
        cmocka_unit_test(no_threshold),
        cmocka_unit_test(slope_in_N),
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(scalars_are_at_the_level),
        cmocka_unit_test(refined),
        cmocka_unit_test(sentences),
        cmocka_unit_test(sentences_of_any_parameters),
        cmocka_unit_test(failures_are_passed_on),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
