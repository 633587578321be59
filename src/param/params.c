#include "iclkin/params.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ini.h"
#include "near.h"
#include "value.h"

#define SECTION(name, meaning)
#define END(name)
#define AT(section, key) offsetof(struct icl_params, section.key)
#define REAL(section, key, preset, lo, hi, flags, unit, meaning)                                                       \
    {#section, #key, ICL_PARAM_REAL, flags, preset, lo, hi, "", unit, meaning, AT(section, key), 0},
#define COUNT(section, key, preset, lo, hi, flags, unit, meaning)                                                      \
    {#section, #key, ICL_PARAM_COUNT, (flags) | ICL_P_INTEGER, preset, lo, hi, "", unit, meaning, AT(section, key), 0},
#define CHOICE(section, key, preset, tag, names, meaning)                                                              \
    {#section, #key, ICL_PARAM_CHOICE, 0, preset, 0, 0, names, "", meaning, AT(section, key), 0},
#define TEXT(section, key, preset, flags, meaning)                                                                     \
    {#section, #key, ICL_PARAM_TEXT, flags, 0, 0, 0, preset, "", meaning, AT(section, key), 0},
#define BOTH(section, key, first, second, unit, meaning)                                                               \
    {#section,           #key, ICL_PARAM_BOTH, 0, 0, 0, 0, #first "|" #second, unit, meaning, AT(section, first),      \
     AT(section, second)},
static const struct icl_param table_of_rows[] = {
#include "iclkin/params.def"
};
#undef SECTION
#undef END
#undef REAL
#undef COUNT
#undef CHOICE
#undef TEXT
#undef BOTH

#define SECTION(name, meaning) {#name, meaning},
#define END(name)
#define REAL(section, key, preset, lo, hi, flags, unit, meaning)
#define COUNT(section, key, preset, lo, hi, flags, unit, meaning)
#define CHOICE(section, key, preset, tag, names, meaning)
#define TEXT(section, key, preset, flags, meaning)
#define BOTH(section, key, first, second, unit, meaning)
static const struct {
    const char *name, *meaning;
} sections[] = {
#include "iclkin/params.def"
};

enum { ROWS = sizeof table_of_rows / sizeof *table_of_rows, SECTIONS = sizeof sections / sizeof *sections };

/* One source of values, within which no key comes twice. */
struct batch {
    struct icl_params *params;
    bool given[ROWS];
};

size_t icl_params_count(void) {
    return ROWS;
}

const struct icl_param *icl_params_row(size_t index) {
    return index < ROWS ? &table_of_rows[index] : NULL;
}

static const struct icl_param *find_row(const char *section, size_t length, const char *key) {
    for (size_t i = 0; i < ROWS; i++) {
        const struct icl_param *row = &table_of_rows[i];

        if (strncmp(row->section, section, length) == 0 && row->section[length] == '\0' && strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

const struct icl_param *icl_params_find(const char *name) {
    const char *dot = strchr(name, '.');

    return dot != NULL ? find_row(name, (size_t)(dot - name), dot + 1) : NULL;
}

bool icl_params_stated(const struct icl_param *row) {
    return row->type != ICL_PARAM_BOTH && (row->flags & (ICL_P_SPEED | ICL_P_LIST)) == 0;
}

const char *icl_params_section(const char *section) {
    for (size_t i = 0; i < SECTIONS; i++)
        if (strcmp(sections[i].name, section) == 0) return sections[i].meaning;
    return NULL;
}

static void *slot_of(struct icl_params *params, size_t offset) {
    return (char *)params + offset;
}

static const void *value_of(const struct icl_params *params, size_t offset) {
    return (const char *)params + offset;
}

void icl_params_default(struct icl_params *params) {
    memset(params, 0, sizeof *params);
    for (size_t i = 0; i < ROWS; i++) {
        const struct icl_param *row = &table_of_rows[i];
        const int index = row->type == ICL_PARAM_CHOICE ? (int)row->preset : 0;

        switch (row->type) {
        case ICL_PARAM_REAL:
            *(double *)slot_of(params, row->offset) = row->preset;
            break;
        case ICL_PARAM_COUNT:
            *(size_t *)slot_of(params, row->offset) = (size_t)row->preset;
            break;
        case ICL_PARAM_CHOICE:
            memcpy(slot_of(params, row->offset), &index, sizeof index);
            break;
        case ICL_PARAM_TEXT:
            strcpy(slot_of(params, row->offset), row->names);
            break;
        case ICL_PARAM_BOTH:
            break;
        }
    }
}

/* The stored row at an offset: what a BOTH row stands for. */
static const struct icl_param *stored_row(size_t offset) {
    const struct icl_param *row = table_of_rows;

    while (row->type == ICL_PARAM_BOTH || row->offset != offset) row++;
    return row;
}

/* Refuses a key that this batch has given, by its own name or by another that sets the same value. */
static enum icl_status claim(struct batch *batch, const struct icl_param *row, struct icl_err *err) {
    for (size_t i = 0; i < ROWS; i++) {
        const struct icl_param *other = &table_of_rows[i];
        const bool shares = other->offset == row->offset ||
                            (other->type == ICL_PARAM_BOTH && other->offset2 == row->offset) ||
                            (row->type == ICL_PARAM_BOTH && other->offset == row->offset2);

        if (!shares || !batch->given[i]) continue;
        if (other == row) return ICL_ERR(err, ICL_EUSAGE, "given twice");
        return ICL_ERR(err, ICL_EUSAGE, "given with %s.%s", other->section, other->key);
    }
    batch->given[row - table_of_rows] = true;
    return ICL_OK;
}

static enum icl_status unknown(const char *section, const char *key, struct icl_err *err) {
    char hint[128] = "";

    if (icl_params_section(section) == NULL) {
        for (size_t i = 0; i < SECTIONS && hint[0] == '\0'; i++)
            if (icl_near_match(section, sections[i].name))
                snprintf(hint, sizeof hint, "; did you mean %s?", sections[i].name);
        return ICL_ERR(err, ICL_EUSAGE, "no such section%s", hint);
    }
    for (size_t i = 0; i < ROWS && hint[0] == '\0'; i++)
        if (strcmp(table_of_rows[i].section, section) == 0 && icl_near_match(key, table_of_rows[i].key))
            snprintf(hint, sizeof hint, "; did you mean %s.%s?", section, table_of_rows[i].key);
    for (size_t i = 0; i < ROWS && hint[0] == '\0'; i++)
        if (strcmp(table_of_rows[i].key, key) == 0)
            snprintf(hint, sizeof hint, "; there is %s.%s", table_of_rows[i].section, key);
    return ICL_ERR(err, ICL_EUSAGE, "no such parameter%s", hint);
}

static enum icl_status assign(struct batch *batch, const char *section, const char *key, const char *value,
                              struct icl_err *err) {
    const struct icl_param *row = find_row(section, strlen(section), key), *stored;

    if (row == NULL) return unknown(section, key, err);
    ICL_TRY(claim(batch, row, err));
    stored = stored_row(row->offset);
    ICL_TRY(icl_value_read(slot_of(batch->params, row->offset), stored, value, err));
    if (row->type == ICL_PARAM_BOTH)
        ICL_TRY(icl_value_read(slot_of(batch->params, row->offset2), stored_row(row->offset2), value, err));
    return ICL_OK;
}

static enum icl_status take(void *context, const struct icl_ini_entry *entry, struct icl_err *err) {
    enum icl_status status;

    if (entry->key == NULL) {
        if (icl_params_section(entry->section) != NULL) return ICL_OK;
        status = unknown(entry->section, "", err);
        return icl_err_context(err, status, "%s:%zu: [%s]", entry->file, entry->line, entry->section);
    }
    status = assign(context, entry->section, entry->key, entry->value, err);
    if (status == ICL_OK) return ICL_OK;
    return icl_err_context(err, status, "%s:%zu: [%.60s] %.60s = %.60s%s", entry->file, entry->line, entry->section,
                           entry->key, entry->value, strlen(entry->value) > 60 ? "..." : "");
}

/* A table's header also says what is no parameter (unit.t, axis.x): only our sections count. */
static enum icl_status take_known(void *context, const struct icl_ini_entry *entry, struct icl_err *err) {
    return icl_params_section(entry->section) != NULL ? take(context, entry, err) : ICL_OK;
}

enum icl_status icl_params_parse(struct icl_params *params, const char *name, const char *bytes, size_t length,
                                 struct icl_err *err) {
    static const char table_mark[] = "# iclkin = ";
    struct batch batch = {.params = params};
    size_t first = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    if (length - first >= sizeof table_mark - 1 && memcmp(bytes + first, table_mark, sizeof table_mark - 1) == 0)
        return icl_ini_header(name, bytes, length, take_known, &batch, err);
    while (first < length && memchr(" \t\r\n", bytes[first], 4) != NULL) first++;
    if (first == length) return ICL_ERR(err, ICL_EUSAGE, "%s:1: empty: no parameters in it", name);
    if (bytes[first] == '{') return icl_ini_json(name, bytes, length, take, &batch, err);
    return icl_ini_parse(name, bytes, length, take, &batch, err);
}

enum icl_status icl_params_load(struct icl_params *params, const char *path, struct icl_err *err) {
    char *bytes;
    size_t length;
    enum icl_status status;

    ICL_TRY(icl_table_slurp(path, &bytes, &length, err));
    status = icl_params_parse(params, path, bytes, length, err);
    icl_table_release(bytes);
    return status;
}

/* "section.key=value", with room around each part. */
static enum icl_status apply_one(struct batch *batch, const char *text, struct icl_err *err) {
    char copy[2 * ICL_TEXT_SIZE], *value, *key, *end, *section;

    if (strlen(text) >= sizeof copy) return ICL_ERR(err, ICL_EUSAGE, "too long");
    strcpy(copy, text);
    section = copy + strspn(copy, " \t");
    value = strchr(section, '=');
    if (value == NULL) return ICL_ERR(err, ICL_EUSAGE, "expected section.key=value");
    for (end = value; end > section && (end[-1] == ' ' || end[-1] == '\t'); end--) continue;
    *value = *end = '\0';
    value += 1 + strspn(value + 1, " \t");
    for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t'); end--) continue;
    *end = '\0';
    key = strchr(section, '.');
    if (key == NULL) {
        for (size_t i = 0; i < ROWS; i++)
            if (strcmp(table_of_rows[i].key, section) == 0)
                return ICL_ERR(err, ICL_EUSAGE, "expected section.key=value; there is %s.%s", table_of_rows[i].section,
                               section);
        return ICL_ERR(err, ICL_EUSAGE, "expected section.key=value");
    }
    *key++ = '\0';
    return assign(batch, section, key, value, err);
}

enum icl_status icl_params_apply(struct icl_params *params, const char *const *assignment, size_t n,
                                 struct icl_err *err) {
    struct batch batch = {.params = params};

    for (size_t i = 0; i < n; i++) {
        const enum icl_status status = apply_one(&batch, assignment[i], err);

        if (status != ICL_OK)
            return icl_err_context(err, status, "-s %.120s%s", assignment[i], strlen(assignment[i]) > 120 ? "..." : "");
    }
    return ICL_OK;
}

enum icl_status icl_params_check(const struct icl_params *params, struct icl_err *err) {
    const struct icl_task *task = &params->task;
    const bool balanced = task->labels == ICL_LABELS_BALANCED;
    const size_t most = balanced ? task->N / 2 : task->N;

    if (balanced && task->N % 2 != 0)
        return ICL_ERR(err, ICL_EUSAGE, "[task] N = %zu: must be even where task.labels = balanced", task->N);
    if (task->copies > most)
        return ICL_ERR(err, ICL_EUSAGE, "[task] copies = %zu: must be at most %zu = %s", task->copies, most,
                       balanced ? "task.N / 2 (labels balanced)" : "task.N");
    if (!(params->observe.loss_threshold < params->observe.icl_threshold))
        return ICL_ERR(err, ICL_EUSAGE, "[observe] loss_threshold = %g: must be below observe.icl_threshold = %g",
                       params->observe.loss_threshold, params->observe.icl_threshold);
    return ICL_OK;
}

double icl_params_get(const struct icl_params *params, const struct icl_param *row) {
    double first;

    if (row->type == ICL_PARAM_CHOICE || row->type == ICL_PARAM_TEXT) return NAN;
    first = icl_value_number(value_of(params, row->offset), row);
    if (row->type == ICL_PARAM_BOTH && first != *(const double *)value_of(params, row->offset2)) return NAN;
    return first;
}

enum icl_status icl_params_put(struct icl_params *params, const struct icl_param *row, double value,
                               struct icl_err *err) {
    const struct icl_param *stored = stored_row(row->offset);
    const bool even = (stored->flags & ICL_P_EVEN) != 0 ||
                      (stored->offset == AT(task, N) && params->task.labels == ICL_LABELS_BALANCED);
    char shown[ICL_TEXT_SIZE];
    enum icl_status status;

    if (row->type == ICL_PARAM_CHOICE || row->type == ICL_PARAM_TEXT)
        return ICL_ERR(err, ICL_EUSAGE, "[%s] %s: not a number", row->section, row->key);
    if ((stored->flags & ICL_P_INTEGER) != 0) value = even ? 2 * round(value / 2) : round(value);
    status = icl_value_store(slot_of(params, row->offset), stored, value, err);
    if (status == ICL_OK && row->type == ICL_PARAM_BOTH)
        status = icl_value_store(slot_of(params, row->offset2), stored_row(row->offset2), value, err);
    if (status == ICL_OK) return ICL_OK;
    return icl_err_context(err, status, "[%s] %s = %s", row->section, row->key, icl_table_number(value, shown));
}

const char *icl_params_text(const struct icl_params *params, const struct icl_param *row, char buffer[ICL_TEXT_SIZE]) {
    return icl_value_text(value_of(params, row->offset), row, buffer);
}

void icl_params_novel(const struct icl_sim *sim, size_t *items, size_t *contexts) {
    enum { DRAWS = 16, FEWEST = 16, CONTEXTS = 12 };
    *items = (sim->eval_items + DRAWS - 1) / DRAWS;
    if (*items < FEWEST) *items = FEWEST;
    *contexts = CONTEXTS;
}

enum icl_status icl_params_meta(const struct icl_params *params, struct icl_table *table, struct icl_err *err) {
    for (size_t i = 0; i < ROWS; i++) {
        const struct icl_param *row = &table_of_rows[i];
        char key[64], text[ICL_TEXT_SIZE];

        if (!icl_params_stated(row)) continue;
        snprintf(key, sizeof key, "%s.%s", row->section, row->key);
        ICL_TRY(icl_table_meta(table, err, key, "%s", icl_params_text(params, row, text)));
    }
    return ICL_OK;
}
