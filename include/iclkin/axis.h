/* axis.h -- one parameter as the axis of a grid: section.key=LO:HI:n[:log].
 *
 * n = 1 (the value LO), LO = HI and HI < LO are allowed; `log` needs LO and HI above 0. Whole-number parameters are
 * rounded to the nearest (K, and N where labels are balanced, to the nearest even), so that neighbours may coincide.
 *
 * Fails    ICL_EUSAGE with the spec and the rule.
 */
#ifndef ICLKIN_AXIS_H
#define ICLKIN_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"

enum { ICL_AXIS_NAME = 64 };

struct icl_axis {
    const struct icl_param *param;
    char name[ICL_AXIS_NAME]; /* "section.key" */
    double lo, hi;
    size_t n;
    bool log;
};

enum icl_status icl_axis_parse(struct icl_axis *axis, const char *spec, struct icl_err *err) ICL_MUST_CHECK;
/* The spec in its one canonical form, which parses back to the same axis. Returns buffer. */
const char *icl_axis_text(const struct icl_axis *axis, char buffer[ICL_TEXT_SIZE]);
/* The value of point i < n, before rounding. */
double icl_axis_value(const struct icl_axis *axis, size_t i);
/* Sets point i in params, and returns its value as set (rounded, in range). */
enum icl_status icl_axis_set(const struct icl_axis *axis, size_t i, struct icl_params *params, double *value,
                             struct icl_err *err) ICL_MUST_CHECK;

#endif
