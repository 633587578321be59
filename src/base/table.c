#include "iclkin/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "mem.h"
#include "number.h"
#include "tsv.h"

enum { CHUNK = 1 << 16 };

/* Strings are kept in a list of chunks, so that a pointer once given out stays valid. */
struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

struct column {
    const char *name, *unit;
    bool text;
};

struct meta {
    const char *key, *value;
};

struct cell {
    double number;
    const char *text;
};

struct icl_table {
    size_t columns, rows, row_room, metas, meta_room, breaks, break_room;
    struct column *column;
    struct meta *meta;
    struct cell *cell;     /* shape (rows, columns) */
    size_t *break_before;  /* row before which a blank line stands, ascending */
    struct chunk *strings; /* the newest first */
    char *text;            /* of icl_table_text */
};

const char *icl_table_number(double x, char buffer[ICL_NUMBER_SIZE]) {
    return icl_number_print(x, buffer);
}

/* A copy of length bytes and a zero byte. */
static enum icl_status keep(struct icl_table *table, const char *bytes, size_t length, const char **kept,
                            struct icl_err *err) {
    struct chunk *chunk = table->strings;

    if (chunk == NULL || chunk->size - chunk->used <= length) {
        const size_t size = length < CHUNK ? CHUNK : length + 1;

        ICL_TRY(icl_mem_alloc(&chunk, 1, sizeof *chunk + size, err));
        chunk->next = table->strings;
        chunk->size = size;
        table->strings = chunk;
    }
    memcpy(chunk->bytes + chunk->used, bytes, length);
    chunk->bytes[chunk->used + length] = '\0';
    *kept = chunk->bytes + chunk->used;
    chunk->used += length + 1;
    return ICL_OK;
}

/* Makes room for one element more. */
static enum icl_status reserve(void *block, size_t count, size_t *room, size_t size, struct icl_err *err) {
    const size_t more = *room == 0 ? 8 : 2 * *room;

    if (count < *room) return ICL_OK;
    ICL_TRY(icl_mem_grow(block, *room, more, size, err));
    *room = more;
    return ICL_OK;
}

static enum icl_status set_columns(struct icl_table *table, size_t columns, const struct icl_column *column,
                                   struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(&table->column, columns, sizeof *table->column, err));
    table->columns = columns;
    for (size_t j = 0; j < columns; j++) {
        ICL_TRY(keep(table, column[j].name, strlen(column[j].name), &table->column[j].name, err));
        ICL_TRY(keep(table, column[j].unit, strlen(column[j].unit), &table->column[j].unit, err));
        table->column[j].text = strcmp(column[j].unit, "text") == 0;
    }
    return ICL_OK;
}

enum icl_status icl_table_alloc(struct icl_table **table, size_t columns, const struct icl_column *column,
                                struct icl_err *err) {
    enum icl_status status = icl_mem_alloc(table, 1, sizeof **table, err);

    if (status == ICL_OK) status = set_columns(*table, columns, column, err);
    if (status != ICL_OK) {
        icl_table_free(*table);
        *table = NULL;
    }
    return status;
}

void icl_table_free(struct icl_table *table) {
    if (table == NULL) return;
    while (table->strings != NULL) {
        struct chunk *next = table->strings->next;

        icl_mem_free(table->strings);
        table->strings = next;
    }
    icl_mem_free(table->column);
    icl_mem_free(table->meta);
    icl_mem_free(table->cell);
    icl_mem_free(table->break_before);
    icl_mem_free(table->text);
    icl_mem_free(table);
}

static enum icl_status add_meta(struct icl_table *table, const char *key, size_t key_length, const char *value,
                                size_t value_length, struct icl_err *err) {
    struct meta meta;

    ICL_TRY(reserve(&table->meta, table->metas, &table->meta_room, sizeof *table->meta, err));
    ICL_TRY(keep(table, key, key_length, &meta.key, err));
    ICL_TRY(keep(table, value, value_length, &meta.value, err));
    table->meta[table->metas++] = meta;
    return ICL_OK;
}

enum icl_status icl_table_meta(struct icl_table *table, struct icl_err *err, const char *key, const char *format, ...) {
    char *value = NULL;
    enum icl_status status;
    int length;
    va_list args;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) return ICL_ERR(err, ICL_ERANGE, "table header: %s: cannot be formatted", key);
    ICL_TRY(icl_mem_alloc(&value, (size_t)length + 1, 1, err));
    va_start(args, format);
    vsnprintf(value, (size_t)length + 1, format, args);
    va_end(args);
    /* One header line is one line, whatever a command line or a path holds. */
    for (char *byte = value; *byte != '\0'; byte++)
        if ((unsigned char)*byte < 0x20 || *byte == 0x7f) *byte = '?';
    status = add_meta(table, key, strlen(key), value, (size_t)length, err);
    icl_mem_free(value);
    return status;
}

/* The next row's cells, not yet counted. */
static enum icl_status next_row(struct icl_table *table, struct cell **cells, struct icl_err *err) {
    ICL_TRY(reserve(&table->cell, table->rows, &table->row_room, table->columns * sizeof *table->cell, err));
    *cells = table->cell + table->rows * table->columns;
    return ICL_OK;
}

/* Printed where it is written: a table that is only read never needs the text. */
static void set_number(struct cell *cell, double number) {
    cell->number = number;
    cell->text = NULL;
}

static enum icl_status set_text(struct icl_table *table, struct cell *cell, size_t j, const char *text,
                                struct icl_err *err) {
    if (text[strcspn(text, "\t\n\r")] != '\0')
        return ICL_ERR(err, ICL_ERANGE, "table: column %s = %s: a cell holds no tab and no newline",
                       table->column[j].name, text);
    cell->number = NAN;
    return keep(table, text, strlen(text), &cell->text, err);
}

enum icl_status icl_table_row(struct icl_table *table, const union icl_cell *cells, struct icl_err *err) {
    struct cell *cell;

    ICL_TRY(next_row(table, &cell, err));
    for (size_t j = 0; j < table->columns; j++) {
        if (table->column[j].text)
            ICL_TRY(set_text(table, &cell[j], j, cells[j].text, err));
        else
            set_number(&cell[j], cells[j].number);
    }
    table->rows++;
    return ICL_OK;
}

enum icl_status icl_table_numbers(struct icl_table *table, const double *values, struct icl_err *err) {
    struct cell *cell;

    ICL_TRY(next_row(table, &cell, err));
    for (size_t j = 0; j < table->columns; j++) set_number(&cell[j], values[j]);
    table->rows++;
    return ICL_OK;
}

enum icl_status icl_table_break(struct icl_table *table, struct icl_err *err) {
    ICL_TRY(reserve(&table->break_before, table->breaks, &table->break_room, sizeof *table->break_before, err));
    table->break_before[table->breaks++] = table->rows;
    return ICL_OK;
}

/* Appends at *used of out; where out is NULL, only counts, and numbers by their most. */
static void put(char *out, size_t *used, const char *text) {
    const size_t length = strlen(text);

    if (out != NULL) memcpy(out + *used, text, length);
    *used += length;
}

static size_t layout(const struct icl_table *table, char *out) {
    size_t used = 0, next = 0;

    for (size_t i = 0; i < table->metas; i++) {
        put(out, &used, "# ");
        put(out, &used, table->meta[i].key);
        put(out, &used, " = ");
        put(out, &used, table->meta[i].value);
        put(out, &used, "\n");
    }
    for (size_t j = 0; j < table->columns; j++) {
        put(out, &used, "# unit.");
        put(out, &used, table->column[j].name);
        put(out, &used, " = ");
        put(out, &used, table->column[j].unit);
        put(out, &used, "\n");
    }
    for (size_t j = 0; j < table->columns; j++) {
        put(out, &used, table->column[j].name);
        put(out, &used, j + 1 < table->columns ? "\t" : "\n");
    }
    for (size_t i = 0; i <= table->rows; i++) {
        for (; next < table->breaks && table->break_before[next] == i; next++) put(out, &used, "\n");
        for (size_t j = 0; i < table->rows && j < table->columns; j++) {
            const struct cell *cell = &table->cell[i * table->columns + j];
            char number[ICL_NUMBER_SIZE];

            if (cell->text == NULL && out == NULL)
                used += ICL_NUMBER_SIZE;
            else
                put(out, &used, cell->text != NULL ? cell->text : icl_number_print(cell->number, number));
            put(out, &used, j + 1 < table->columns ? "\t" : "\n");
        }
    }
    return used;
}

enum icl_status icl_table_text(struct icl_table *table, const char **text, size_t *length, struct icl_err *err) {
    const size_t most = layout(table, NULL);

    icl_mem_free(table->text);
    ICL_TRY(icl_mem_alloc(&table->text, most + 1, 1, err));
    *length = layout(table, table->text);
    table->text[*length] = '\0';
    *text = table->text;
    return ICL_OK;
}

enum icl_status icl_table_write(struct icl_table *table, const char *path, struct icl_err *err) {
    const char *text;
    size_t length;

    ICL_TRY(icl_table_text(table, &text, &length, err));
    return icl_file_write(path, text, length, err);
}

enum icl_status icl_table_save(const char *path, const char *bytes, size_t length, struct icl_err *err) {
    return icl_file_write(path, bytes, length, err);
}

enum icl_status icl_table_slurp(const char *path, char **bytes, size_t *length, struct icl_err *err) {
    return icl_file_read(path, bytes, length, err);
}

void icl_table_release(char *bytes) {
    icl_mem_free(bytes);
}

enum icl_status icl_table_read(struct icl_table **table, const char *path, struct icl_err *err) {
    return icl_tsv_read(table, path, err);
}

size_t icl_table_rows(const struct icl_table *table) {
    return table->rows;
}

size_t icl_table_columns(const struct icl_table *table) {
    return table->columns;
}

const char *icl_table_column_name(const struct icl_table *table, size_t column) {
    return table->column[column].name;
}

enum icl_status icl_table_find(const struct icl_table *table, const char *name, size_t *column, struct icl_err *err) {
    char names[512];
    size_t used = 0;

    for (size_t j = 0; j < table->columns; j++) {
        if (strcmp(table->column[j].name, name) == 0) {
            *column = j;
            return ICL_OK;
        }
    }
    names[0] = '\0';
    for (size_t j = 0; j < table->columns && used < sizeof names; j++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", table->column[j].name);
    return ICL_ERR(err, ICL_EUSAGE, "no column %s; the columns are%s", name, names);
}

double icl_table_value(const struct icl_table *table, size_t row, size_t column) {
    return table->cell[row * table->columns + column].number;
}

const char *icl_table_cell(const struct icl_table *table, size_t row, size_t column) {
    return table->cell[row * table->columns + column].text;
}

const char *icl_table_get_meta(const struct icl_table *table, const char *key) {
    for (size_t i = 0; i < table->metas; i++)
        if (strcmp(table->meta[i].key, key) == 0) return table->meta[i].value;
    if (strncmp(key, "unit.", 5) != 0) return NULL;
    for (size_t j = 0; j < table->columns; j++)
        if (strcmp(table->column[j].name, key + 5) == 0) return table->column[j].unit;
    return NULL;
}
