/* test_number.c -- every double reads back from its text, in any locale; what is no number is refused. */
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "check.h"
#include "folder.h"
#include "iclkin/table.h"

static const double samples[] = {
    0,
    -0.0,
    1,
    -1,
    0.1,
    1.0 / 3,
    2.0 / 3,
    1e15,
    1e16,
    1e22,
    1e23,
    5e-324,
    2.2e-308,
    1e308,
    1.7e308,
    123456789.5,
    4000,
    9007199254740993.0,
    0.30000000000000004,
    3.14159,
    1e-5,
    1e5,
    -2.5e-7,
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static void assert_reads_back(double x) {
    char text[ICL_NUMBER_SIZE];
    double y;

    assert_ptr_equal(icl_table_number(x, text), text);
    assert_int_equal(strspn(text, "+-.0123456789e"), strlen(text));
    assert_true(icl_number_decimal(text, &y));
    assert_memory_equal(&x, &y, sizeof x);
    assert_true(icl_number_decimal(icl_number_brief(x, text), &y));
    assert_memory_equal(&x, &y, sizeof x);
}

/* Doubles of every exponent, from their bits. */
static void assert_all_read_back(void) {
    uint64_t bits = 88172645463325252u;

    for (size_t i = 0; i < SAMPLES; i++) assert_reads_back(samples[i]);
    for (int i = 0; i < 20000; i++) {
        double x;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17; /* xorshift64 */
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) assert_reads_back(x);
    }
}

static void numbers_read_back(void **state) {
    char text[ICL_NUMBER_SIZE];

    (void)state;
    assert_all_read_back();
    assert_string_equal(icl_table_number(0.1, text), "0.1");
    assert_string_equal(icl_table_number(1e6, text), "1000000");
    assert_string_equal(icl_number_brief(1e6, text), "1e+06");
    assert_string_equal(icl_number_brief(9007199254740991.0, text), "9007199254740991");
    assert_string_equal(icl_table_number(INFINITY, text), "inf");
    assert_string_equal(icl_table_number(-INFINITY, text), "-inf");
    assert_string_equal(icl_table_number(NAN, text), "nan");
    assert_string_equal(icl_table_number(-NAN, text), "nan");
}

static void what_is_a_number(void **state) {
    static const char *const good[] = {"1", "+1", "-1", "1.", ".5", "1e5", "1E5", "1e+5", "1.5e-5", "007", "1e999"};
    static const char *const bad[] = {"",    " 1",  "1 ",       "1x",   "1e-3x", "1e",  "1e+",
                                      ".",   "+",   "-.e1",     "0x10", "inf",   "nan", "1,5",
                                      "1_0", "--1", "infinity", "1d5",  "1.5.2", "e5",  "auto"};
    static const char *const special[] = {"inf", "-inf", "+Inf", "INF", "nan", "NaN", "-nan"};
    char long_number[1000];
    double x;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(icl_number_decimal(good[i], &x));
        assert_true(icl_number_parse(good[i], &x));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(icl_number_decimal(bad[i], &x));
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        assert_false(icl_number_decimal(special[i], &x));
        assert_true(icl_number_parse(special[i], &x));
        assert_false(isfinite(x));
    }
    memset(long_number, '1', sizeof long_number - 1);
    long_number[sizeof long_number - 1] = '\0';
    assert_false(icl_number_decimal(long_number, &x));
}

/* Sets a locale whose decimal mark is no full stop: an installed one, or one made for this test. */
static bool comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "fr_FR.utf8",  "nl_NL.utf8", "de_DE"};
    char command[1024];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL) return localeconv()->decimal_point[0] == ',';
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s >%s 2>&1", folder_path("de_DE.UTF-8"),
             folder_path("log"));
    if (system(command) != 0 || setenv("LOCPATH", folder_path(""), 1) != 0) return false;
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL && localeconv()->decimal_point[0] == ',';
}

static void locale_changes_nothing(void **state) {
    char text[ICL_NUMBER_SIZE];
    double x;

    (void)state;
    if (!comma_locale()) {
        setlocale(LC_ALL, "C");
        print_message("no locale with decimal commas here\n");
        skip();
    }
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5"); /* the locale does what we guard against */
    assert_string_equal(icl_table_number(0.5, text), "0.5");
    assert_true(icl_number_decimal("-1234.5e-1", &x));
    check_abs(x, -123.45, 0.0); /* the nearest double to the same decimal */
    assert_false(icl_number_decimal("0,5", &x));
    assert_false(icl_number_decimal("1.234,5", &x));
    assert_all_read_back();
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(what_is_a_number),
        cmocka_unit_test(locale_changes_nothing),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
