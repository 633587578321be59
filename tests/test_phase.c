/* test_phase.c -- phase diagrams: a cell is `predict`, a boundary is where the grid changes, failures stay in their
 * cell. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "iclkin/closed.h"
#include "iclkin/phase.h"
#include "iclkin/predict.h"

static struct icl_axis axis_of(const char *spec) {
    struct icl_err err;
    struct icl_axis axis;
    check_ok(icl_axis_parse(&axis, spec, &err), &err);
    return axis;
}

static void a_cell_is_predict(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_prediction prediction;
    struct icl_phase_cell cell;
    const struct icl_axis axis[] = {axis_of("task.K=500:20000:3:log"), axis_of("train.lambda=0:4e-3:3")};
    (void)state;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        for (size_t i = 0; i < 9; i++) {
            const size_t point[] = {i % 3, i / 3};
            double value;
            icl_params_default(&params);
            params.theory.level = (enum icl_level)level;
            icl_phase_cell(&params, axis, 2, point, &cell);
            for (size_t k = 0; k < 2; k++) check_ok(icl_axis_set(&axis[k], point[k], &params, &value, &err), &err);
            check_ok(icl_predict_run(&params, &prediction, &err), &err);
            assert_false(cell.failed);
            assert_memory_equal(&cell.t_icl, &prediction.t_icl[level], sizeof(double)); /* bit for bit */
            assert_memory_equal(&cell.t_iwl, &prediction.t_iwl, sizeof(double));
            assert_memory_equal(&cell.t_loss, &prediction.t_loss, sizeof(double));
            assert_int_equal(cell.outcome, prediction.outcome);
        }
}

/* Two roads to K*: bisection of the outcome along K, and `predict`'s own bracket. Both are good to K_tol. */
static void the_boundary_is_K_star(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    double K_star;
    const struct icl_axis axis = axis_of("task.K=100:1e5:12:log");
    (void)state;
    for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++) {
        icl_params_default(&params);
        params.theory.level = (enum icl_level)level;
        check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
        check_ok(icl_predict_items(&params, (enum icl_level)level, &K_star, &err), &err);
        assert_int_equal(roots.count, 1);
        assert_int_equal(roots.root[0].below, ICL_PHASE_NONE);
        assert_int_equal(roots.root[0].above, ICL_PHASE_KEPT);
        assert_true(roots.root[0].error <= 0.5 * params.solver.K_tol * roots.root[0].x);
        check_rel(roots.root[0].x, K_star, 1.5 * params.solver.K_tol); /* two brackets of width K_tol */
    }
}

/* The fold (T9): with memorization frozen, lambda_c is where acquisition stops; t_max = 1e5 leaves the ghost's delay.
 */
static void the_boundary_in_lambda_is_the_fold(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    const struct icl_axis axis = axis_of("train.lambda=1e-3:1e-1:8:log");
    (void)state;
    icl_params_default(&params);
    params.theory.level = ICL_LEVEL_REDUCED;
    params.memory.law = ICL_LAW_NONE;
    params.train.t_max = 1e5;
    params.solver.K_tol = 1e-5;
    check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
    assert_int_equal(roots.count, 1);
    check_rel(roots.root[0].x, icl_closed_fold(100, 0.5, 0.5), 1e-4);
}

/* With decay and memorization there are three classes along K: none, transient, kept (or lost later than t_max). */
static void all_branches_are_found(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    const struct icl_axis axis = axis_of("task.K=1000:1e6:9:log");
    (void)state;
    icl_params_default(&params);
    params.train.lambda_w = params.train.lambda_beta = 2e-3;
    params.train.t_max = 5000;
    check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
    assert_true(roots.count >= 2);
    for (size_t i = 0; i < roots.count; i++) { /* just outside each bracket the class is the one that was said */
        const struct icl_phase_root *root = &roots.root[i];
        for (int side = 0; side < 2; side++) {
            struct icl_traj_result result;
            struct icl_params at = params;
            at.task.K = root->x + (side ? 2 : -2) * root->error;
            check_ok(icl_predict_times(&at, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &result, &err), &err);
            assert_int_equal(icl_phase_class(result.outcome), side ? root->above : root->below);
        }
    }
}

static void the_grid_agrees_with_the_boundary(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    struct icl_phase_cell cell;
    const struct icl_axis axis = axis_of("task.K=20000:200:40:log"); /* reversed */
    (void)state;
    icl_params_default(&params);
    check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
    assert_int_equal(roots.count, 1);
    for (size_t i = 0; i < axis.n; i++) {
        icl_phase_cell(&params, &axis, 1, &i, &cell);
        const bool acquired = icl_phase_class(cell.outcome) == ICL_PHASE_KEPT;
        if (fabs(cell.value[0] - roots.root[0].x) > roots.root[0].error + 2) /* K is rounded to even in a cell */
            assert_int_equal(acquired, cell.value[0] > roots.root[0].x);
    }
}

static void whole_numbers_are_bisected_to_neighbours(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    struct icl_traj_result result;
    const struct icl_axis axis = axis_of("task.N=20:400:7");
    (void)state;
    icl_params_default(&params);
    params.theory.level = ICL_LEVEL_REDUCED;
    check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
    assert_int_equal(roots.count, 1);
    check_abs(roots.root[0].error, 0.5, 0);
    params.task.N = (size_t)(roots.root[0].x - 0.5);
    check_ok(icl_predict_times(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_END, &result, &err), &err);
    assert_int_equal(result.outcome, ICL_OUTCOME_ICL);
    params.task.N++;
    check_ok(icl_predict_times(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_END, &result, &err), &err);
    assert_true(isinf(result.t_icl));
}

static void no_boundary_is_said(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    const struct icl_axis axis = axis_of("init.beta=1:2:4");
    (void)state;
    icl_params_default(&params);
    check_ok(icl_phase_roots(&params, &axis, &roots, &err), &err);
    assert_int_equal(roots.count, 0);
    assert_int_equal(roots.first, ICL_PHASE_KEPT);
}

/* A cell that cannot be computed says why, and nothing else happens. */
static void a_cell_that_fails_says_why(void **state) {
    struct icl_params params;
    struct icl_phase_cell cell;
    const struct icl_axis axis[] = {axis_of("task.N=50:250:2"), axis_of("task.copies=1:100:2")};
    const size_t bad[] = {0, 1}, good[] = {1, 1};
    (void)state;
    icl_params_default(&params);
    icl_phase_cell(&params, axis, 2, bad, &cell); /* 100 copies in a context of 50 */
    assert_true(cell.failed && isnan(cell.t_icl) && isnan(cell.t_loss));
    assert_non_null(strstr(cell.status, "copies"));
    icl_phase_cell(&params, axis, 2, good, &cell);
    assert_false(cell.failed);
    params.solver.max_steps = 10;
    params.solver.method = ICL_STEPPER_RK2;
    icl_phase_cell(&params, axis, 2, good, &cell);
    assert_true(cell.failed);
    assert_non_null(strstr(cell.status, "steps"));
}

/* Points that fail hide the changes beside them; the others are found, and say the same whichever way the axis runs. */
static void a_point_that_fails_hides_its_neighbours(void **state) {
    struct icl_err err;
    struct icl_params params;
    struct icl_phase_roots roots;
    const struct icl_axis ways[] = {axis_of("task.copies=1:201:9"), axis_of("task.copies=201:1:9")};
    const struct icl_axis none = axis_of("task.copies=150:250:3");
    (void)state;
    icl_params_default(&params);
    params.theory.level = ICL_LEVEL_MEANFIELD;
    for (size_t k = 0; k < 2; k++) { /* 1, 26, .. 76 copies are in a context of 100, 101 .. 201 are not */
        check_ok(icl_phase_roots(&params, &ways[k], &roots, &err), &err);
        assert_int_equal(roots.failed, 5);
        assert_non_null(strstr(roots.why, "must be at most 100"));
        assert_int_equal(roots.count, 1);
        assert_int_equal(roots.root[0].below, ICL_PHASE_KEPT);
        assert_int_equal(roots.root[0].above, ICL_PHASE_NONE);
        assert_true(roots.root[0].x > 26 && roots.root[0].x < 76);
    }
    check_fails(icl_phase_roots(&params, &none, &roots, &err), ICL_ENUMERIC, &err, "must be at most 100");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_predict),
        cmocka_unit_test(the_boundary_is_K_star),
        cmocka_unit_test(the_boundary_in_lambda_is_the_fold),
        cmocka_unit_test(all_branches_are_found),
        cmocka_unit_test(the_grid_agrees_with_the_boundary),
        cmocka_unit_test(whole_numbers_are_bisected_to_neighbours),
        cmocka_unit_test(no_boundary_is_said),
        cmocka_unit_test(a_cell_that_fails_says_why),
        cmocka_unit_test(a_point_that_fails_hides_its_neighbours),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
