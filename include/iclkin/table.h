/* table.h -- the one writer and reader of result tables (TSV).
 *
 * A table is `# key = value` lines, one plain line of column names, then rows; all tab-separated. Numbers are the
 * shortest decimal that reads back to the same double ("inf", "-inf", "nan" for the others). The header holds version,
 * command, every parameter and every column's unit, so that the file reproduces itself.
 *
 * Fails    ICL_ENOMEM; ICL_EIO with the path and the system's reason; ICL_EUSAGE where a file read is no table;
 *          ICL_ERANGE for a cell with a tab or newline.
 * Owns     everything it was given, until icl_table_free.
 * Threads  separate tables are independent.
 */
#ifndef ICLKIN_TABLE_H
#define ICLKIN_TABLE_H

#include <stddef.h>

#include "iclkin/err.h"

struct icl_table;

struct icl_column {
    const char *name; /* as in the line of column names */
    const char *unit; /* printed as `# unit.NAME = UNIT`; "1" for a pure number, "text" for a text column */
};

union icl_cell {
    double number;    /* in a column of any other unit */
    const char *text; /* in a column of unit "text"; no tab, no newline */
};

enum { ICL_NUMBER_SIZE = 32 };

/* The shortest decimal form of x that strtod reads back to x. Returns buffer. */
const char *icl_table_number(double x, char buffer[ICL_NUMBER_SIZE]);

enum icl_status icl_table_alloc(struct icl_table **table, size_t columns, const struct icl_column *column,
                                struct icl_err *err) ICL_MUST_CHECK;
void icl_table_free(struct icl_table *table);

/* Appends `# key = value` to the header. */
enum icl_status icl_table_meta(struct icl_table *table, struct icl_err *err, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5))) ICL_MUST_CHECK;

/* Appends one row of cells, in column order. */
enum icl_status icl_table_row(struct icl_table *table, const union icl_cell *cells, struct icl_err *err) ICL_MUST_CHECK;

/* Appends a row of a table whose columns are all numbers. */
enum icl_status icl_table_numbers(struct icl_table *table, const double *values, struct icl_err *err) ICL_MUST_CHECK;

/* Appends a blank line: gnuplot's separator between blocks (two make a new data set). */
enum icl_status icl_table_break(struct icl_table *table, struct icl_err *err) ICL_MUST_CHECK;

/* Header and rows as text, valid until the next call on this table or its end. */
enum icl_status icl_table_text(struct icl_table *table, const char **text, size_t *length,
                               struct icl_err *err) ICL_MUST_CHECK;

/* Writes the whole table: to stdout (path NULL), or by icl_table_save. */
enum icl_status icl_table_write(struct icl_table *table, const char *path, struct icl_err *err) ICL_MUST_CHECK;

/* Writes bytes under a temporary name beside path, then renames; a path that exists and is no regular file (a device,
 * a pipe) is written in place. On failure nothing is left behind and an earlier file is untouched. path NULL: stdout.
 * ICL_EIO with the reason. */
enum icl_status icl_table_save(const char *path, const char *bytes, size_t length, struct icl_err *err) ICL_MUST_CHECK;

/* Reads a whole file (regular or not) into a zero-ended block that the caller frees with icl_table_release. */
enum icl_status icl_table_slurp(const char *path, char **bytes, size_t *length, struct icl_err *err) ICL_MUST_CHECK;
void icl_table_release(char *bytes);

/* Reads a table back: every column a number where all its cells are, else text. */
enum icl_status icl_table_read(struct icl_table **table, const char *path, struct icl_err *err) ICL_MUST_CHECK;

size_t icl_table_rows(const struct icl_table *table);
size_t icl_table_columns(const struct icl_table *table);
const char *icl_table_column_name(const struct icl_table *table, size_t column);
/* The index of a column by name; ICL_EUSAGE naming the table's columns if it has none such. */
enum icl_status icl_table_find(const struct icl_table *table, const char *name, size_t *column,
                               struct icl_err *err) ICL_MUST_CHECK;
/* A cell as a number (NaN where it is text) and as text (NULL where it is a number). */
double icl_table_value(const struct icl_table *table, size_t row, size_t column);
const char *icl_table_cell(const struct icl_table *table, size_t row, size_t column);
/* The value of a header key, or NULL. */
const char *icl_table_get_meta(const struct icl_table *table, const char *key);

#endif
