/* check.h -- cmocka, and the comparisons of numbers that cmocka 1.1.5 lacks. NaN and Inf fail; the margin is printed.
 *
 * Every tolerance has one of three sources, named beside it: rounding, truncation (steps x rtol) or statistics.
 */
#ifndef ICLKIN_CHECK_H
#define ICLKIN_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iclkin/err.h"

/* |seen - expected| <= tolerance x |expected|, and <= tolerance. */
#define check_rel(seen, expected, tolerance) check_rel_at((seen), (expected), (tolerance), #seen, __FILE__, __LINE__)
#define check_abs(seen, expected, tolerance) check_abs_at((seen), (expected), (tolerance), #seen, __FILE__, __LINE__)
/* The least-squares slope of log y against log x lies within tolerance of expected. */
#define check_slope(n, x, y, expected, tolerance)                                                                      \
    check_slope_at((n), (x), (y), (expected), (tolerance), #y, __FILE__, __LINE__)
/* A call that must succeed; its message is printed if it does not. */
#define check_ok(call, err) check_ok_at((call), (err), #call, __FILE__, __LINE__)
/* A call that must fail with a status and a message that contains the text. */
#define check_fails(call, status, err, text) check_fails_at((call), (status), (err), (text), #call, __FILE__, __LINE__)

void check_rel_at(double seen, double expected, double tolerance, const char *what, const char *file, int line);
void check_abs_at(double seen, double expected, double tolerance, const char *what, const char *file, int line);
void check_slope_at(size_t n, const double *x, const double *y, double expected, double tolerance, const char *what,
                    const char *file, int line);
void check_ok_at(enum icl_status status, const struct icl_err *err, const char *what, const char *file, int line);
void check_fails_at(enum icl_status status, enum icl_status expected, const struct icl_err *err, const char *text,
                    const char *what, const char *file, int line);

#endif
