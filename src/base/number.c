#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 512 }; /* no number that a person or a program writes comes near */

static const char *print_from(int digits, double x, char buffer[ICL_NUMBER_SIZE]) {
    char *from, *to;

    if (isnan(x)) return strcpy(buffer, "nan");
    if (isinf(x)) return strcpy(buffer, x > 0 ? "inf" : "-inf");
    for (; digits <= 17; digits = digits < 15 ? 15 : digits + 1) {
        snprintf(buffer, ICL_NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x) break;
    }
    /* Whatever the locale writes between the digits, of any length, becomes one full stop. */
    from = buffer + strspn(buffer, "+-0123456789e");
    if (*from == '\0') return buffer;
    to = from + strcspn(from, "+-0123456789e");
    *from = '.';
    memmove(from + 1, to, strlen(to) + 1);
    return buffer;
}

const char *icl_number_print(double x, char buffer[ICL_NUMBER_SIZE]) {
    return print_from(15, x, buffer);
}

const char *icl_number_brief(double x, char buffer[ICL_NUMBER_SIZE]) {
    return print_from(6, x, buffer);
}

/* Strict, because strtod alone also takes leading spaces, hexadecimal, "infinity" and "nan(...)". */
static bool is_decimal(const char *text) {
    size_t whole, fraction = 0;

    if (*text == '+' || *text == '-') text++;
    whole = strspn(text, "0123456789");
    text += whole;
    if (*text == '.') {
        fraction = strspn(text + 1, "0123456789");
        text += 1 + fraction;
    }
    if (whole + fraction == 0) return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        if (strspn(text, "0123456789") == 0) return false;
        text += strspn(text, "0123456789");
    }
    return *text == '\0';
}

bool icl_number_decimal(const char *text, double *x) {
    char half[ICL_NUMBER_SIZE], local[LONGEST + ICL_NUMBER_SIZE];
    const char *stop;
    char *end;

    if (!is_decimal(text) || strlen(text) >= LONGEST) return false;
    *x = strtod(text, &end);
    if (*end == '\0') return true;
    /* The locale has another decimal mark, which stands between the digits of one half: read it with that mark. */
    snprintf(half, sizeof half, "%.1f", 0.5);
    stop = strchr(text, '.');
    snprintf(local, sizeof local, "%.*s%.*s%s", (int)(stop - text), text, (int)(strlen(half) - 2), half + 1, stop + 1);
    *x = strtod(local, &end);
    return *end == '\0';
}

bool icl_number_parse(const char *text, double *x) {
    const char *unsigned_text = *text == '+' || *text == '-' ? text + 1 : text;

    if (icl_number_decimal(text, x)) return true;
    if (strcasecmp(unsigned_text, "inf") == 0)
        *x = *text == '-' ? -INFINITY : INFINITY;
    else if (strcasecmp(unsigned_text, "nan") == 0)
        *x = NAN;
    else
        return false;
    return true;
}
