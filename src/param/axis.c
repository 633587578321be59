#include "iclkin/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { FIELDS = 4, MOST_POINTS = 100000 };

/* Splits LO:HI:n[:log] in place; returns the number of fields, or 0 where there are too many. */
static size_t split(char *text, char *field[FIELDS]) {
    size_t n = 0;
    for (char *at = text; at;) {
        if (n == FIELDS) return 0;
        field[n++] = at;
        at = strchr(at, ':');
        if (at) *at++ = '\0';
    }
    return n;
}

enum icl_status icl_axis_parse(struct icl_axis *axis, const char *spec, struct icl_err *err) {
    char text[ICL_TEXT_SIZE], *field[FIELDS];
    const char *form = "must be section.key=LO:HI:n[:log]";
    double n;
    if (snprintf(text, sizeof text, "%s", spec) >= (int)sizeof text)
        return ICL_ERR(err, ICL_EUSAGE, "axis %.40s...: %s", spec, form);
    char *equals = strchr(text, '=');
    if (!equals) return ICL_ERR(err, ICL_EUSAGE, "axis %s: %s", spec, form);
    *equals = '\0';
    *axis = (struct icl_axis){.param = icl_params_find(text)};
    if (!axis->param || axis->param->type == ICL_PARAM_CHOICE || axis->param->type == ICL_PARAM_TEXT)
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: %s is %s", spec, text,
                       axis->param ? "no number" : "no parameter; see `iclkin params`");
    snprintf(axis->name, sizeof axis->name, "%.20s.%.20s", axis->param->section, axis->param->key);
    const size_t fields = split(equals + 1, field);
    if (fields < 3 || !icl_number_decimal(field[0], &axis->lo) || !icl_number_decimal(field[1], &axis->hi) ||
        !icl_number_decimal(field[2], &n) || !isfinite(axis->lo) || !isfinite(axis->hi))
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: %s", spec, form);
    if (!(n >= 1 && n <= MOST_POINTS && n == floor(n)))
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: n = %s: must be a whole number in [1, %d]", spec, field[2],
                       MOST_POINTS);
    if (fields == FIELDS && strcmp(field[3], "log") != 0)
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: \"%s\": only `log` may stand there", spec, field[3]);
    axis->n = (size_t)n;
    axis->log = fields == FIELDS;
    if (axis->log && !(axis->lo > 0 && axis->hi > 0))
        return ICL_ERR(err, ICL_EUSAGE, "axis %s: a logarithmic axis needs both ends above 0", spec);
    struct icl_params scratch;
    double value;
    icl_params_default(&scratch);
    for (size_t i = 0; i<axis->n; i += axis->n> 1 ? axis->n - 1 : 1) { /* both ends are in range */
        const enum icl_status status = icl_axis_set(axis, i, &scratch, &value, err);
        if (status != ICL_OK) return icl_err_context(err, status, "axis %s", spec);
    }
    return ICL_OK;
}

const char *icl_axis_text(const struct icl_axis *axis, char buffer[ICL_TEXT_SIZE]) {
    char lo[ICL_NUMBER_SIZE], hi[ICL_NUMBER_SIZE];
    snprintf(buffer, ICL_TEXT_SIZE, "%s=%s:%s:%zu%s", axis->name, icl_table_number(axis->lo, lo),
             icl_table_number(axis->hi, hi), axis->n, axis->log ? ":log" : "");
    return buffer;
}

double icl_axis_value(const struct icl_axis *axis, size_t i) {
    if (i == 0 || axis->n == 1) return axis->lo;
    if (i + 1 == axis->n) return axis->hi;
    const double share = (double)i / ((double)axis->n - 1);
    return axis->log ? axis->lo * pow(axis->hi / axis->lo, share) : axis->lo + share * (axis->hi - axis->lo);
}

enum icl_status icl_axis_set(const struct icl_axis *axis, size_t i, struct icl_params *params, double *value,
                             struct icl_err *err) {
    ICL_TRY(icl_params_put(params, axis->param, icl_axis_value(axis, i), err));
    *value = icl_params_get(params, axis->param);
    return ICL_OK;
}
