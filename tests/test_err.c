/* test_err.c -- codes, messages, context; memory that is zeroed, aligned, checked, and fails when told to. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

static void names(void **state) {
    (void)state;
    for (int i = 0; i < ICL_STATUS_COUNT; i++) {
        const char *name = icl_err_name((enum icl_status)i);

        assert_true(name != NULL && name[0] != '\0');
        assert_string_not_equal(name, "unknown");
        for (int j = 0; j < i; j++) assert_string_not_equal(name, icl_err_name((enum icl_status)j));
    }
    assert_string_equal(icl_err_name(ICL_STATUS_COUNT), "unknown");
    assert_string_equal(icl_err_name((enum icl_status) - 1), "unknown");
}

static enum icl_status half(double x, double *y, struct icl_err *err) {
    if (!(x > 0)) return ICL_ERR(err, ICL_ERANGE, "x=%g: must be positive", x);
    *y = x / 2;
    return ICL_OK;
}

static enum icl_status quarter(double x, double *y, struct icl_err *err) {
    ICL_TRY(half(x, y, err));
    return half(*y, y, err);
}

static void set_and_try(void **state) {
    struct icl_err err = {ICL_OK, ""};
    double y = 0;

    (void)state;
    check_ok(quarter(8, &y, &err), &err);
    check_abs(y, 2.0, 0.0); /* exact */
    check_fails(quarter(-1, &y, &err), ICL_ERANGE, &err, "x=-1: must be positive");
    assert_int_equal(quarter(-1, &y, NULL), ICL_ERANGE);
    for (int i = 1; i < ICL_STATUS_COUNT; i++) {
        assert_int_equal(icl_err_set(&err, (enum icl_status)i, "status %d", i), i);
        assert_int_equal(err.code, i);
        assert_non_null(strstr(err.text, "status"));
    }
}

static void context(void **state) {
    struct icl_err err = {ICL_OK, ""};

    (void)state;
    icl_err_set(&err, ICL_ENUMERIC, "ode: step underflow at t=%g", 41.7);
    assert_int_equal(icl_err_context(&err, ICL_ENUMERIC, "phase: cell K=%d", 3200), ICL_ENUMERIC);
    assert_string_equal(err.text, "phase: cell K=3200: ode: step underflow at t=41.7");
    assert_int_equal(icl_err_context(NULL, ICL_EIO, "x"), ICL_EIO);
}

/* A message is one line of visible bytes, whatever it quotes. */
static void control_bytes(void **state) {
    struct icl_err err = {ICL_OK, ""};

    (void)state;
    icl_err_set(&err, ICL_EUSAGE, "[%s]", "a\nb\x1b[2J\x7f\tc");
    assert_string_equal(err.text, "[a\\x0ab\\x1b[2J\\x7f\\x09c]");
    icl_err_context(&err, ICL_EUSAGE, "d\re");
    assert_string_equal(err.text, "d\\x0de: [a\\x0ab\\x1b[2J\\x7f\\x09c]");
}

static void long_messages(void **state) {
    char text[3 * ICL_ERR_TEXT];
    struct icl_err err = {ICL_OK, ""};

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    icl_err_set(&err, ICL_EUSAGE, "%s", text);
    assert_int_equal(strlen(err.text), ICL_ERR_TEXT - 1);
    icl_err_context(&err, ICL_EUSAGE, "where");
    assert_int_equal(strncmp(err.text, "where: aaa", 10), 0);
    assert_int_equal(strlen(err.text), ICL_ERR_TEXT - 1);
    icl_err_context(&err, ICL_EUSAGE, "%s", text);
    assert_true(strlen(err.text) < ICL_ERR_TEXT);
    memset(text, '\n', sizeof text - 1); /* four bytes each once visible: none is cut in the middle */
    icl_err_set(&err, ICL_EUSAGE, "%s", text);
    assert_int_equal(strlen(err.text), (ICL_ERR_TEXT - 1) / 4 * 4);
}

static void blocks(void **state) {
    static const size_t counts[] = {0, 1, 7, 63, 64, 65, 1000, 100000};
    const size_t held = icl_mem_held();
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double *block;

        check_ok(icl_mem_alloc(&block, counts[i], sizeof *block, &err), &err);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t j = 0; j < counts[i]; j++) assert_true(block[j] == 0);
        assert_int_equal(icl_mem_held(), held + 1);
        icl_mem_free(block);
    }
    icl_mem_free(NULL);
    assert_int_equal(icl_mem_held(), held);
}

static void growing(void **state) {
    const size_t held = icl_mem_held();
    struct icl_err err;
    int *block = NULL;

    (void)state;
    check_ok(icl_mem_grow(&block, 0, 3, sizeof *block, &err), &err);
    for (int i = 0; i < 3; i++) block[i] = i + 1;
    check_ok(icl_mem_grow(&block, 3, 1000, sizeof *block, &err), &err);
    for (int i = 0; i < 1000; i++) assert_int_equal(block[i], i < 3 ? i + 1 : 0);
    check_fails(icl_mem_grow(&block, 1000, SIZE_MAX / 2, sizeof *block, &err), ICL_ENOMEM, &err, "out of memory");
    assert_int_equal(block[2], 3); /* the old block stays */
    check_ok(icl_mem_grow(&block, 1000, 2, sizeof *block, &err), &err);
    assert_int_equal(block[1], 2);
    icl_mem_free(block);
    assert_int_equal(icl_mem_held(), held);
}

static void too_much(void **state) {
    struct icl_err err;
    char *block = (char *)&err;

    (void)state;
    check_fails(icl_mem_alloc(&block, SIZE_MAX / 4, 8, &err), ICL_ENOMEM, &err, "more than can be addressed");
    assert_null(block);
    check_fails(icl_mem_alloc(&block, SIZE_MAX, 1, &err), ICL_ENOMEM, &err, "more than can be addressed");
    /* Products that wrap around to a small number. */
    check_fails(icl_mem_alloc(&block, SIZE_MAX / 16 + 2, 16, &err), ICL_ENOMEM, &err, "more than can be addressed");
}

static void fails_when_told(void **state) {
    struct icl_err err;
    char *block[4];

    (void)state;
    for (size_t n = 1; n <= 4; n++) {
        icl_mem_fail_at(n);
        for (size_t i = 0; i < 4; i++) {
            const enum icl_status status = icl_mem_alloc(&block[i], 10, 1, &err);

            assert_int_equal(status, i + 1 == n ? ICL_ENOMEM : ICL_OK);
            assert_true((block[i] == NULL) == (i + 1 == n));
        }
        for (size_t i = 0; i < 4; i++) icl_mem_free(block[i]);
    }
    icl_mem_fail_at(1);
    icl_mem_fail_at(0);
    check_ok(icl_mem_alloc(&block[0], 1, 1, &err), &err);
    icl_mem_free(block[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),         cmocka_unit_test(set_and_try),   cmocka_unit_test(context),
        cmocka_unit_test(control_bytes), cmocka_unit_test(long_messages), cmocka_unit_test(blocks),
        cmocka_unit_test(growing),       cmocka_unit_test(too_much),      cmocka_unit_test(fails_when_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
