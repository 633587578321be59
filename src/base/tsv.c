#include "tsv.h"

#include <stdbool.h>
#include <string.h>

#include "file.h"
#include "mem.h"
#include "number.h"

enum kind { BLANK, NOTE, CELLS };

struct line {
    char *text; /* once split, every cell ends with a zero byte */
    enum kind kind;
};

struct source {
    const char *path;
    char *bytes;
    struct line *line; /* shape (lines) */
    size_t lines, names, columns;
    struct icl_column *column;
    union icl_cell *cell;
    size_t *numbers; /* shape (columns): how many cells of each are numbers */
};

static enum icl_status find_lines(struct source *source, size_t length, struct icl_err *err) {
    char *from = source->bytes, *const end = source->bytes + length;
    size_t count = 1;

    for (const char *byte = from; byte < end; byte++) count += *byte == '\n';
    ICL_TRY(icl_mem_alloc(&source->line, count, sizeof *source->line, err));
    if (length >= 3 && memcmp(from, "\xef\xbb\xbf", 3) == 0) from += 3;
    while (from < end) {
        char *stop = memchr(from, '\n', (size_t)(end - from));
        char *next = stop != NULL ? stop + 1 : end;

        if (stop == NULL) stop = end;
        if (stop > from && stop[-1] == '\r') stop--;
        *stop = '\0';
        source->line[source->lines].text = from;
        source->line[source->lines++].kind = *from == '\0' ? BLANK : *from == '#' ? NOTE : CELLS;
        for (const char *byte = from; byte < stop; byte++)
            if (((unsigned char)*byte < 0x20 && *byte != '\t') || *byte == 0x7f)
                return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: not a table: binary junk (byte 0x%02x)", source->path,
                               source->lines, (unsigned char)*byte);
        from = next;
    }
    return ICL_OK;
}

/* Ends every cell with a zero byte and returns how many there are. */
static size_t split(char *line) {
    size_t cells = 1;

    for (; *line != '\0'; line++) {
        if (*line != '\t') continue;
        *line = '\0';
        cells++;
    }
    return cells;
}

static const char *next_cell(const char *cell) {
    return cell + strlen(cell) + 1;
}

/* Splits a "# key = value" line in place. */
static bool split_meta(char *line, const char **key, const char **value) {
    char *equals = strchr(line, '=');
    char *end;

    if (equals == NULL) return false;
    for (end = equals; end > line + 1 && (end[-1] == ' ' || end[-1] == '\t'); end--) continue;
    *end = '\0';
    *key = line + 1 + strspn(line + 1, " \t");
    *value = equals + 1 + strspn(equals + 1, " \t");
    return **key != '\0';
}

static enum icl_status split_names(struct source *source, struct icl_err *err) {
    const char *name;

    while (source->names < source->lines && source->line[source->names].kind != CELLS) source->names++;
    if (source->names == source->lines)
        return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: not a table: no line of column names", source->path, source->lines);
    name = source->line[source->names].text;
    source->columns = split(source->line[source->names].text);
    ICL_TRY(icl_mem_alloc(&source->column, source->columns, sizeof *source->column, err));
    ICL_TRY(icl_mem_alloc(&source->cell, source->columns, sizeof *source->cell, err));
    ICL_TRY(icl_mem_alloc(&source->numbers, source->columns, sizeof *source->numbers, err));
    for (size_t j = 0; j < source->columns; j++, name = next_cell(name)) {
        if (*name == '\0')
            return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: not a table: column %zu has no name", source->path,
                           source->names + 1, j + 1);
        source->column[j].name = name;
        source->column[j].unit = "1";
    }
    return ICL_OK;
}

static enum icl_status split_rows(struct source *source, size_t *rows, struct icl_err *err) {
    for (size_t i = source->names + 1; i < source->lines; i++) {
        const char *cell = source->line[i].text;
        size_t cells;

        if (source->line[i].kind != CELLS) continue;
        cells = split(source->line[i].text);
        if (cells != source->columns)
            return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: %zu cells where %zu columns are named", source->path, i + 1, cells,
                           source->columns);
        ++*rows;
        for (size_t j = 0; j < cells; j++, cell = next_cell(cell)) {
            double number;

            source->numbers[j] += icl_number_parse(cell, &number);
        }
    }
    return ICL_OK;
}

/* Of a column's unit in the header only what its cells bear out. */
static void find_units(struct source *source, size_t rows) {
    for (size_t i = 0; i < source->lines; i++) {
        char *line = source->line[i].text;
        const char *key, *value;

        if (source->line[i].kind != NOTE || strncmp(line + 1 + strspn(line + 1, " \t"), "unit.", 5) != 0) continue;
        if (!split_meta(line, &key, &value)) continue;
        for (size_t j = 0; j < source->columns; j++)
            if (strcmp(source->column[j].name, key + 5) == 0) source->column[j].unit = value;
        line[0] = '\0'; /* kept by the column, no longer by the header */
    }
    for (size_t j = 0; j < source->columns && rows > 0; j++) {
        const bool text = source->numbers[j] != rows;

        if (text != (strcmp(source->column[j].unit, "text") == 0)) source->column[j].unit = text ? "text" : "1";
    }
}

static enum icl_status fill(struct icl_table *table, struct source *source, struct icl_err *err) {
    size_t rows = 0, blanks = 0;

    for (size_t i = 0; i < source->lines; i++) {
        char *line = source->line[i].text;
        const char *cell = line, *key, *value;

        if (source->line[i].kind == BLANK) blanks++;
        if (source->line[i].kind == NOTE && line[0] != '\0' && split_meta(line, &key, &value))
            ICL_TRY(icl_table_meta(table, err, key, "%s", value));
        if (source->line[i].kind != CELLS || i == source->names) continue;
        /* Blank lines count as breaks only between rows. */
        for (; blanks > 0; blanks--)
            if (rows > 0) ICL_TRY(icl_table_break(table, err));
        for (size_t j = 0; j < source->columns; j++, cell = next_cell(cell)) {
            if (strcmp(source->column[j].unit, "text") == 0)
                source->cell[j].text = cell;
            else if (!icl_number_parse(cell, &source->cell[j].number))
                return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: %s: not a number", source->path, i + 1, cell);
        }
        ICL_TRY(icl_table_row(table, source->cell, err));
        rows++;
    }
    return ICL_OK;
}

enum icl_status icl_tsv_read(struct icl_table **table, const char *path, struct icl_err *err) {
    struct source source = {.path = path};
    size_t length, rows = 0;
    enum icl_status status = icl_file_read(path, &source.bytes, &length, err);

    *table = NULL;
    if (status == ICL_OK) status = find_lines(&source, length, err);
    if (status == ICL_OK) status = split_names(&source, err);
    if (status == ICL_OK) status = split_rows(&source, &rows, err);
    if (status != ICL_OK) goto done;
    find_units(&source, rows);
    status = icl_table_alloc(table, source.columns, source.column, err);
    if (status == ICL_OK) status = fill(*table, &source, err);
done:
    if (status != ICL_OK) {
        icl_table_free(*table);
        *table = NULL;
    }
    icl_mem_free(source.bytes);
    icl_mem_free(source.line);
    icl_mem_free(source.column);
    icl_mem_free(source.cell);
    icl_mem_free(source.numbers);
    return status;
}
