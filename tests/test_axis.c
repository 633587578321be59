/* test_axis.c -- axes: their forms, their values, rounding, what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "iclkin/axis.h"

static void values_lie_where_they_should(void **state) {
    struct icl_err err;
    struct icl_axis axis;
    (void)state;
    check_ok(icl_axis_parse(&axis, "train.t_max=1e2:1e5:4:log", &err), &err);
    for (size_t i = 0; i < 4; i++) check_rel(icl_axis_value(&axis, i), pow(10, 2 + (double)i), 1e-14); /* rounding */
    check_ok(icl_axis_parse(&axis, "init.w=3:-1:5", &err), &err);                                      /* reversed */
    for (size_t i = 0; i < 5; i++) check_abs(icl_axis_value(&axis, i), 3 - (double)i, 1e-15);
    check_ok(icl_axis_parse(&axis, "init.beta=0.5:0.5:3", &err), &err); /* LO = HI */
    for (size_t i = 0; i < 3; i++) check_abs(icl_axis_value(&axis, i), 0.5, 0);
    check_ok(icl_axis_parse(&axis, "init.beta=0.25:7:1", &err), &err); /* one point: LO */
    check_abs(icl_axis_value(&axis, 0), 0.25, 0);
}

static void whole_numbers_are_rounded(void **state) {
    struct icl_err err;
    struct icl_axis axis;
    struct icl_params params;
    double value;
    (void)state;
    icl_params_default(&params);
    check_ok(icl_axis_parse(&axis, "task.K=100:1e3:4:log", &err), &err); /* 215.44, 464.16 */
    check_ok(icl_axis_set(&axis, 1, &params, &value, &err), &err);
    check_abs(value, 216, 0);
    check_abs(params.task.K, 216, 0);
    check_ok(icl_axis_parse(&axis, "task.N=50:55:2", &err), &err);
    check_ok(icl_axis_set(&axis, 1, &params, &value, &err), &err);
    check_abs(value, 55, 0);
    params.task.labels = ICL_LABELS_BALANCED;
    check_ok(icl_axis_set(&axis, 1, &params, &value, &err), &err);
    assert_true(value == 54 || value == 56);
}

static void lambda_moves_both_decays(void **state) {
    struct icl_err err;
    struct icl_axis axis;
    struct icl_params params;
    double value;
    (void)state;
    icl_params_default(&params);
    check_ok(icl_axis_parse(&axis, "train.lambda=1e-4:1e-2:3:log", &err), &err);
    check_ok(icl_axis_set(&axis, 1, &params, &value, &err), &err);
    check_rel(value, 1e-3, 1e-14);
    check_abs(params.train.lambda_w, value, 0);
    check_abs(params.train.lambda_beta, value, 0);
}

/* Every numeric parameter can be an axis over its own range, and the text of an axis parses back to it. */
static void every_number_is_an_axis(void **state) {
    struct icl_err err;
    (void)state;
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        char spec[ICL_TEXT_SIZE], text[ICL_TEXT_SIZE], again[ICL_TEXT_SIZE];
        struct icl_axis axis, back;
        const bool number = row->type == ICL_PARAM_REAL || row->type == ICL_PARAM_COUNT;
        const double lo = row->type == ICL_PARAM_BOTH ? 0 : row->lo, hi = row->type == ICL_PARAM_BOTH ? 1 : row->hi;
        const double a = lo + 0.25 * (hi - lo), b = lo + 0.75 * (hi - lo);
        snprintf(spec, sizeof spec, "%s.%s=%.17g:%.17g:7", row->section, row->key, a, b);
        if (!number && row->type != ICL_PARAM_BOTH) {
            check_fails(icl_axis_parse(&axis, spec, &err), ICL_EUSAGE, &err, "no number");
            continue;
        }
        check_ok(icl_axis_parse(&axis, spec, &err), &err);
        check_ok(icl_axis_parse(&back, icl_axis_text(&axis, text), &err), &err);
        assert_string_equal(icl_axis_text(&back, again), text);
    }
}

static void bad_axes_are_refused(void **state) {
    static const struct {
        const char *spec, *says;
    } bad[] = {
        {"task.K", "LO:HI:n"},
        {"task.K=1:2", "LO:HI:n"},
        {"task.K=1:2:3:log:5", "LO:HI:n"},
        {"task.Q=2:4:3", "no parameter"},
        {"task.labels=0:1:2", "no number"},
        {"init.w=-1:1:3:log", "above 0"},
        {"init.w=0:1:0", "whole number"},
        {"init.w=0:1:2.5", "whole number"},
        {"init.w=0:1:1e9", "whole number"},
        {"init.w=0:x:3", "LO:HI:n"},
        {"init.w=nan:1:3", "LO:HI:n"},
        {"init.w=0:inf:3", "LO:HI:n"},
        {"task.N=1:9:3", "[2,"},
        {"init.w=0:1:3:lin", "only `log`"},
        {"", "LO:HI:n"},
    };
    struct icl_err err;
    struct icl_axis axis;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fails(icl_axis_parse(&axis, bad[i].spec, &err), ICL_EUSAGE, &err, bad[i].says);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lie_where_they_should), cmocka_unit_test(whole_numbers_are_rounded),
        cmocka_unit_test(lambda_moves_both_decays),     cmocka_unit_test(every_number_is_an_axis),
        cmocka_unit_test(bad_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
