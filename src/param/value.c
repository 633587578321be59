#include "value.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* Every enum of params.h is stored as an int of its own type: choices are read and written as that. */
_Static_assert(sizeof(enum icl_labels) == sizeof(int) && sizeof(enum icl_stepper) == sizeof(int), "enums are ints");

static bool has(const struct icl_param *row, unsigned flag) {
    return (row->flags & flag) != 0;
}

static bool is_whole(const struct icl_param *row) {
    return row->type == ICL_PARAM_COUNT || has(row, ICL_P_INTEGER);
}

static enum icl_status out_of_range(const struct icl_param *row, struct icl_err *err) {
    char lo[ICL_NUMBER_SIZE], hi[ICL_NUMBER_SIZE];

    return ICL_ERR(err, ICL_EUSAGE, "must be in %c%s, %s%c%s%s", has(row, ICL_P_ABOVE) ? '(' : '[',
                   icl_number_brief(row->lo, lo), icl_number_brief(row->hi, hi), has(row, ICL_P_BELOW) ? ')' : ']',
                   has(row, ICL_P_INF) ? ", or inf" : "", has(row, ICL_P_AUTO) ? ", or auto" : "");
}

enum icl_status icl_value_store(void *slot, const struct icl_param *row, double x, struct icl_err *err) {
    const bool low = has(row, ICL_P_ABOVE) ? !(x > row->lo) : !(x >= row->lo);
    const bool high = has(row, ICL_P_BELOW) ? !(x < row->hi) : !(x <= row->hi);

    if ((low || high) && !(x == INFINITY && has(row, ICL_P_INF))) return out_of_range(row, err);
    if (is_whole(row) && x != floor(x)) return ICL_ERR(err, ICL_EUSAGE, "must be a whole number");
    if (has(row, ICL_P_EVEN) && isfinite(x) && fmod(x, 2) != 0) return ICL_ERR(err, ICL_EUSAGE, "must be even");
    if (row->type == ICL_PARAM_COUNT)
        *(size_t *)slot = (size_t)x;
    else
        *(double *)slot = x;
    return ICL_OK;
}

double icl_value_number(const void *slot, const struct icl_param *row) {
    return row->type == ICL_PARAM_COUNT ? (double)*(const size_t *)slot : *(const double *)slot;
}

static enum icl_status read_number(void *slot, const struct icl_param *row, const char *text, struct icl_err *err) {
    double x;

    if (has(row, ICL_P_AUTO) && strcmp(text, "auto") == 0) {
        *(double *)slot = NAN;
        return ICL_OK;
    }
    if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0)
        x = text[0] == '-' ? -INFINITY : INFINITY;
    else if (!icl_number_decimal(text, &x))
        return ICL_ERR(err, ICL_EUSAGE, "not a number");
    else if (isinf(x))
        return out_of_range(row, err); /* 1e999 is not a way to write inf */
    return icl_value_store(slot, row, x, err);
}

/* The i-th of "a|b|c" and its length; NULL past the last. */
static const char *choice(const char *names, int i, size_t *length) {
    for (; i > 0 && names != NULL; i--) {
        names = strchr(names, '|');
        if (names != NULL) names++;
    }
    *length = names != NULL ? strcspn(names, "|") : 0;
    return names;
}

static enum icl_status read_choice(void *slot, const struct icl_param *row, const char *text, struct icl_err *err) {
    char list[ICL_TEXT_SIZE];
    const char *name;
    size_t length, used = 0;

    for (int i = 0; (name = choice(row->names, i, &length)) != NULL; i++) {
        if (strlen(text) != length || memcmp(text, name, length) != 0) continue;
        memcpy(slot, &i, sizeof i);
        return ICL_OK;
    }
    for (const char *byte = row->names; *byte != '\0' && used + 3 < sizeof list; byte++) {
        if (*byte == '|') list[used++] = ',';
        list[used++] = *byte == '|' ? ' ' : *byte;
    }
    list[used] = '\0';
    return ICL_ERR(err, ICL_EUSAGE, "must be one of %s", list);
}

/* Without the blanks around it, which a header line could not give back. */
static enum icl_status read_text(char *slot, const char *text, struct icl_err *err) {
    size_t length;

    text += strspn(text, " \t");
    length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    if (length == 0) return ICL_ERR(err, ICL_EUSAGE, "no value given");
    if (length >= ICL_TEXT_SIZE) return ICL_ERR(err, ICL_EUSAGE, "too long: at most %d bytes", ICL_TEXT_SIZE - 1);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return ICL_ERR(err, ICL_EUSAGE, "must not hold control characters");
    memset(slot, 0, ICL_TEXT_SIZE);
    memcpy(slot, text, length);
    return ICL_OK;
}

enum icl_status icl_value_read(void *slot, const struct icl_param *row, const char *text, struct icl_err *err) {
    if (text[0] == '\0') return ICL_ERR(err, ICL_EUSAGE, "no value given");
    if (row->type == ICL_PARAM_CHOICE) return read_choice(slot, row, text, err);
    if (row->type == ICL_PARAM_TEXT) return read_text(slot, text, err);
    return read_number(slot, row, text, err);
}

const char *icl_value_text(const void *slot, const struct icl_param *row, char buffer[ICL_TEXT_SIZE]) {
    const char *name;
    size_t length;
    int i;

    switch (row->type) {
    case ICL_PARAM_COUNT:
        snprintf(buffer, ICL_TEXT_SIZE, "%zu", *(const size_t *)slot);
        break;
    case ICL_PARAM_CHOICE:
        memcpy(&i, slot, sizeof i);
        name = choice(row->names, i, &length);
        snprintf(buffer, ICL_TEXT_SIZE, "%.*s", (int)length, name != NULL ? name : "");
        break;
    case ICL_PARAM_TEXT:
        snprintf(buffer, ICL_TEXT_SIZE, "%s", (const char *)slot);
        break;
    default:
        if (has(row, ICL_P_AUTO) && isnan(*(const double *)slot)) return strcpy(buffer, "auto");
        icl_number_print(*(const double *)slot, buffer);
    }
    return buffer;
}
