/* test_table.c -- tables that read back; files that are no tables; no memory lost when any allocation fails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "folder.h"
#include "iclkin/table.h"

static const double samples[] = {0, -0.0, 1, -1, 0.1, 1.0 / 3, 1e15, 1e22, 5e-324, 1.7e308, 123456789.5, -2.5e-7};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const struct icl_column columns[] = {{"t", "t"}, {"outcome", "text"}, {"w", "1"}};

static enum icl_status fill(struct icl_table **table, struct icl_err *err) {
    enum icl_status status = icl_table_alloc(table, 3, columns, err);

    if (status == ICL_OK) status = icl_table_meta(*table, err, "iclkin", "%s", "0.0");
    if (status == ICL_OK) status = icl_table_meta(*table, err, "note", "%s", "a = b, unit.t = x");
    for (size_t i = 0; status == ICL_OK && i < SAMPLES; i++) {
        const union icl_cell cells[] = {
            {.number = samples[i]}, {.text = i % 2 ? "none" : "icl kept"}, {.number = -samples[i]}};

        if (i == 5 || i == 9) status = icl_table_break(*table, err);
        if (status == ICL_OK && i == 9) status = icl_table_break(*table, err);
        if (status == ICL_OK) status = icl_table_row(*table, cells, err);
    }
    return status;
}

static void layout(void **state) {
    static const struct icl_column two[] = {{"x", "1"}, {"y", "1/t"}};
    const double first[] = {0.5, INFINITY}, second[] = {-1, NAN};
    struct icl_err err;
    struct icl_table *table;
    const char *text;
    size_t length;

    (void)state;
    check_ok(icl_table_alloc(&table, 2, two, &err), &err);
    check_ok(icl_table_meta(table, &err, "iclkin", "%d", 1), &err);
    check_ok(icl_table_numbers(table, first, &err), &err);
    check_ok(icl_table_break(table, &err), &err);
    check_ok(icl_table_numbers(table, second, &err), &err);
    check_ok(icl_table_text(table, &text, &length, &err), &err);
    assert_string_equal(text, "# iclkin = 1\n# unit.x = 1\n# unit.y = 1/t\nx\ty\n0.5\tinf\n\n-1\tnan\n");
    assert_int_equal(length, strlen(text));
    check_ok(icl_table_meta(table, &err, "late", "%s", "a\nb\tc"), &err);
    check_ok(icl_table_text(table, &text, &length, &err), &err);
    assert_non_null(strstr(text, "# late = a?b?c\n# unit.x")); /* one key, one line */
    icl_table_free(table);
    icl_table_free(NULL);
}

static void round_trip(void **state) {
    struct icl_err err;
    struct icl_table *table, *again;
    const char *text, *text_again;
    size_t length, length_again, column;

    (void)state;
    check_ok(fill(&table, &err), &err);
    check_ok(icl_table_write(table, folder_path("trip.tsv"), &err), &err);
    check_ok(icl_table_read(&again, folder_path("trip.tsv"), &err), &err);
    check_ok(icl_table_text(table, &text, &length, &err), &err);
    check_ok(icl_table_text(again, &text_again, &length_again, &err), &err);
    assert_string_equal(text, text_again);
    assert_int_equal(icl_table_rows(again), SAMPLES);
    assert_int_equal(icl_table_columns(again), 3);
    for (size_t j = 0; j < 3; j++) {
        assert_string_equal(icl_table_column_name(again, j), columns[j].name);
        check_ok(icl_table_find(again, columns[j].name, &column, &err), &err);
        assert_int_equal(column, j);
    }
    for (size_t i = 0; i < SAMPLES; i++) {
        const double x = icl_table_value(again, i, 0);

        assert_memory_equal(&x, &samples[i], sizeof x);
        assert_true(isnan(icl_table_value(again, i, 1)));
        assert_string_equal(icl_table_cell(again, i, 1), i % 2 ? "none" : "icl kept");
    }
    assert_string_equal(icl_table_get_meta(again, "note"), "a = b, unit.t = x");
    assert_string_equal(icl_table_get_meta(again, "unit.t"), "t");
    assert_string_equal(icl_table_get_meta(again, "unit.outcome"), "text");
    assert_null(icl_table_get_meta(again, "missing"));
    assert_null(icl_table_get_meta(again, "unit.missing"));
    check_fails(icl_table_find(again, "beta", &column, &err), ICL_EUSAGE, &err, "the columns are t outcome w");
    icl_table_free(table);
    icl_table_free(again);
}

/* Pointers given out stay valid while the table grows. */
static void many_rows(void **state) {
    static const struct icl_column one[] = {{"name", "text"}};
    const size_t held = icl_mem_held();
    struct icl_err err;
    struct icl_table *table;
    const char *first;
    char text[100000];

    (void)state;
    check_ok(icl_table_alloc(&table, 1, one, &err), &err);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    check_ok(icl_table_row(table, &(const union icl_cell){.text = "first"}, &err), &err);
    first = icl_table_cell(table, 0, 0);
    check_ok(icl_table_row(table, &(const union icl_cell){.text = text}, &err), &err); /* longer than a chunk */
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "row %d", i);
        check_ok(icl_table_row(table, &(const union icl_cell){.text = text}, &err), &err);
    }
    assert_string_equal(first, "first");
    assert_ptr_equal(first, icl_table_cell(table, 0, 0));
    assert_int_equal(strlen(icl_table_cell(table, 1, 0)), sizeof text - 1);
    assert_string_equal(icl_table_cell(table, 20001, 0), "row 19999");
    /* One byte a cell: the strings meet the end of their store exactly. */
    for (int i = 0; i < 140000; i++) check_ok(icl_table_row(table, &(const union icl_cell){.text = ""}, &err), &err);
    assert_string_equal(icl_table_cell(table, 20001, 0), "row 19999");
    icl_table_free(table);
    assert_int_equal(icl_mem_held(), held);
}

static void bad_cells(void **state) {
    struct icl_err err;
    struct icl_table *table;
    union icl_cell cells[] = {{.number = 1}, {.text = "a\tb"}, {.number = 2}};

    (void)state;
    check_ok(icl_table_alloc(&table, 3, columns, &err), &err);
    check_fails(icl_table_row(table, cells, &err), ICL_ERANGE, &err, "column outcome = a\\x09b: a cell holds no tab");
    cells[1].text = "a\nb";
    check_fails(icl_table_row(table, cells, &err), ICL_ERANGE, &err, "no newline");
    assert_int_equal(icl_table_rows(table), 0);
    icl_table_free(table);
}

static void reading_leniently(void **state) {
    struct icl_err err;
    struct icl_table *table;

    (void)state;
    folder_write(folder_path("x.tsv"), "\xef\xbb\xbf# a = 1\r\n# no key here\r\n#b=2\r\n\r\nx\ty\tz\r\n1\t\tNaN\r\n\r\n"
                                       "# late = 3\r\n1e5\tb\t-INF");
    check_ok(icl_table_read(&table, folder_path("x.tsv"), &err), &err);
    assert_int_equal(icl_table_rows(table), 2);
    assert_string_equal(icl_table_get_meta(table, "a"), "1");
    assert_string_equal(icl_table_get_meta(table, "b"), "2");
    assert_string_equal(icl_table_get_meta(table, "late"), "3");
    assert_true(icl_table_value(table, 1, 0) == 1e5);
    assert_string_equal(icl_table_cell(table, 0, 1), "");
    assert_true(isnan(icl_table_value(table, 0, 2)) && icl_table_value(table, 1, 2) == -INFINITY);
    icl_table_free(table);

    /* A row may begin with an empty cell; a column is a number only if all of its cells are. */
    folder_write(folder_path("x.tsv"), "# unit.a = t\n# unit.b = text\na\tb\n\t1\n2\t2\n");
    check_ok(icl_table_read(&table, folder_path("x.tsv"), &err), &err);
    assert_int_equal(icl_table_rows(table), 2);
    assert_string_equal(icl_table_get_meta(table, "unit.a"), "text");
    assert_true(icl_table_value(table, 1, 1) == 2);
    icl_table_free(table);

    /* Without rows the header says what the columns are. */
    folder_write(folder_path("x.tsv"), "# unit.b = text\na\tb\n");
    check_ok(icl_table_read(&table, folder_path("x.tsv"), &err), &err);
    assert_int_equal(icl_table_rows(table), 0);
    assert_string_equal(icl_table_get_meta(table, "unit.b"), "text");
    icl_table_free(table);
}

static void reading_refuses(void **state) {
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "x.tsv:0: not a table: no line of column names"},
        {"# a = 1\n\n", "x.tsv:2: not a table: no line of column names"},
        {"a\tb\n1\n", "x.tsv:2: 1 cells where 2 columns are named"},
        {"# a = 1\na\tb\n1\t2\n\n1\t2\t3\n", "x.tsv:5: 3 cells where 2 columns are named"},
        {"a\t\n1\t2\n", "x.tsv:1: not a table: column 2 has no name"},
        {"a\n1\n\x01\n", "x.tsv:3: not a table: binary junk (byte 0x01)"},
        {"a\rb\n", "x.tsv:1: not a table: binary junk (byte 0x0d)"},
    };
    struct icl_err err;
    struct icl_table *table;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        folder_write(folder_path("x.tsv"), bad[i].text);
        check_fails(icl_table_read(&table, folder_path("x.tsv"), &err), ICL_EUSAGE, &err, bad[i].message);
        assert_null(table);
    }
    check_fails(icl_table_read(&table, folder_path("missing.tsv"), &err), ICL_EIO, &err, "No such file");
    check_fails(icl_table_read(&table, folder_path(""), &err), ICL_EIO, &err, "Is a directory");
}

/* ---- the nth allocation fails, for every n ---- */

static enum icl_status everything(struct icl_err *err) {
    struct icl_table *table, *again = NULL;
    enum icl_status status = fill(&table, err);

    if (status == ICL_OK) status = icl_table_write(table, folder_path("nth.tsv"), err);
    if (status == ICL_OK) status = icl_table_read(&again, folder_path("nth.tsv"), err);
    icl_table_free(table);
    icl_table_free(again);
    return status;
}

static void every_allocation(void **state) {
    const size_t held = icl_mem_held();
    struct icl_err err = {ICL_OK, ""};
    size_t n = 0;
    enum icl_status status;

    (void)state;
    do {
        icl_mem_fail_at(++n);
        status = everything(&err);
        icl_mem_fail_at(0);
        if (status != ICL_OK) check_fails(status, ICL_ENOMEM, &err, "out of memory");
        assert_int_equal(icl_mem_held(), held);
    } while (status != ICL_OK && n < 1000);
    assert_int_equal(status, ICL_OK);
    assert_true(n > 20); /* or nothing was tried */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),           cmocka_unit_test(round_trip),        cmocka_unit_test(many_rows),
        cmocka_unit_test(bad_cells),        cmocka_unit_test(reading_leniently), cmocka_unit_test(reading_refuses),
        cmocka_unit_test(every_allocation),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
