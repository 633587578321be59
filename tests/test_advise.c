/* What to change: the thresholds are those of closed forms and of K*, and the class is what it is said to be on both
 * sides of each. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/advise.h"
#include "iclkin/closed.h"
#include "iclkin/memlaw.h"
#include "iclkin/predict.h"

static struct icl_advise run(const struct icl_params *params) {
    struct icl_advise advise;
    struct icl_err err;
    check_ok(icl_advise_run(params, &advise, &err), &err);
    return advise;
}

static const struct icl_advise_line *line_of(const struct icl_advise *advise, const char *name) {
    for (size_t i = 0; i < ICL_ADVISE_LINES; i++)
        if (strcmp(advise->line[i].axis.name, name) == 0) return &advise->line[i];
    return NULL;
}

/* (T7) by t_max: N e^-beta0/h(w0) = I_K(t_max), solved for beta0, N and K. */
static void asymptotic(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("theory.level=asymptotic task.K=1000 train.t_max=700 init.w=0.2");
    const struct icl_advise advise = run(&params);
    struct icl_memlaw law;
    struct icl_err err;
    struct icl_advise_interval at[ICL_ADVISE_INTERVALS];
    check_ok(icl_memlaw_init(&params, 1000, &law, &err), &err);
    const double budget = icl_memlaw_budget(&law, 700), needed = icl_closed_budget(100, 0.2, 0);
    assert_true(needed > budget && advise.now == ICL_PHASE_NONE);

    assert_int_equal(icl_advise_intervals(line_of(&advise, "init.beta"), ICL_PHASE_KEPT, at), 1);
    assert_true(isinf(at[0].to));
    check_abs(at[0].from, log(needed / budget), at[0].from_error); /* the bracket's half */
    assert_int_equal(icl_advise_intervals(line_of(&advise, "task.N"), ICL_PHASE_KEPT, at), 1);
    assert_true(isinf(at[0].from) && at[0].from < 0);
    check_abs(at[0].to, 100 * budget / needed, at[0].to_error + 0.5); /* between whole numbers */
    assert_int_equal(icl_advise_intervals(line_of(&advise, "task.K"), ICL_PHASE_KEPT, at), 1);
    check_ok(icl_memlaw_init(&params, at[0].from, &law, &err), &err);
    check_rel(icl_memlaw_budget(&law, 700), needed, 1e-3); /* solver.K_tol */
    assert_int_equal(icl_advise_intervals(line_of(&advise, "train.lambda"), ICL_PHASE_KEPT, at), 0);
}

/* On both sides of every boundary the class is the one stated, and K's is K*. */
static void classes(void **state) {
    (void)state;
    static const char *const AT[] = {"", "task.K=1000", "train.lambda=3e-3 train.t_max=8000 task.K=8000",
                                     "task.labels=balanced init.w=0.2 init.beta=0.1",
                                     "theory.level=reduced train.lambda=1e-3"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        const struct icl_params params = fixture_params(AT[i]);
        const enum icl_level level = params.theory.level;
        const struct icl_advise advise = run(&params);
        size_t seen = 0;
        assert_true(advise.now == icl_phase_class(fixture_solve(&params, level, ICL_TRAJ_TO_END).outcome));
        for (size_t k = 0; k < ICL_ADVISE_LINES; k++) {
            const struct icl_advise_line *line = &advise.line[k];
            assert_true(line->axis.lo < line->axis.hi && !line->failed && line->roots.failed == 0);
            if (line->axis.param->type == ICL_PARAM_COUNT) continue; /* whole numbers: asymptotic() */
            for (size_t r = 0; r < line->roots.count; r++, seen++)
                for (int side = -1; side <= 1; side += 2) {
                    const struct icl_phase_root *root = &line->roots.root[r];
                    struct icl_params at = params;
                    const double x = root->x + 1.01 * side * root->error;
                    *(double *)((char *)&at + line->axis.param->offset) = x;
                    if (line->axis.param->type == ICL_PARAM_BOTH)
                        *(double *)((char *)&at + line->axis.param->offset2) = x;
                    const enum icl_phase_class class_ =
                        icl_phase_class(fixture_solve(&at, level, ICL_TRAJ_TO_END).outcome);
                    if (class_ != (side < 0 ? root->below : root->above))
                        fail_msg("%s: %s = %.9g: %s", AT[i], line->axis.name, x, icl_phase_name(class_));
                }
        }
        assert_true(seen >= 3);
    }
}

static void nothing_helps(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.D=5 memory.law=none");
    const struct icl_advise advise = run(&params);
    struct icl_advise_interval at[ICL_ADVISE_INTERVALS];
    for (size_t i = 0; i < ICL_ADVISE_LINES; i++) {
        assert_int_equal(advise.line[i].roots.count, 0);
        assert_int_equal(icl_advise_intervals(&advise.line[i], ICL_PHASE_KEPT, at), 0);
        assert_int_equal(icl_advise_intervals(&advise.line[i], ICL_PHASE_NONE, at), 1);
        assert_true(isinf(at[0].from) && isinf(at[0].to));
    }
}

/* none | kept | transient | kept: two intervals, one of them open. */
static void intervals(void **state) {
    (void)state;
    struct icl_advise_line line = {.roots = {.first = ICL_PHASE_NONE, .count = 3}};
    struct icl_advise_interval at[ICL_ADVISE_INTERVALS];
    line.roots.root[0] = (struct icl_phase_root){1, 0.1, ICL_PHASE_NONE, ICL_PHASE_KEPT};
    line.roots.root[1] = (struct icl_phase_root){2, 0.2, ICL_PHASE_KEPT, ICL_PHASE_TRANSIENT};
    line.roots.root[2] = (struct icl_phase_root){3, 0.3, ICL_PHASE_TRANSIENT, ICL_PHASE_KEPT};
    assert_int_equal(icl_advise_intervals(&line, ICL_PHASE_KEPT, at), 2);
    assert_true(at[0].from == 1 && at[0].from_error == 0.1 && at[0].to == 2 && at[0].to_error == 0.2);
    assert_true(at[1].from == 3 && isinf(at[1].to));
    assert_int_equal(icl_advise_intervals(&line, ICL_PHASE_NONE, at), 1);
    assert_true(isinf(at[0].from) && at[0].to == 1);
    line.failed = true;
    assert_int_equal(icl_advise_intervals(&line, ICL_PHASE_KEPT, at), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(asymptotic), cmocka_unit_test(classes),
                                       cmocka_unit_test(nothing_helps), cmocka_unit_test(intervals)};
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
