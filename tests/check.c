/* check.c -- see check.h. With ICLKIN_SLACK set, every comparison that passes prints the share of its tolerance used.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Also false for NaN and Inf, which a plain comparison would let through in one direction. */
static void judge(double seen, double expected, double error, double allowed, const char *what, const char *file,
                  int line) {
    const double used = allowed > 0 ? error / allowed : (error > 0 ? INFINITY : 0);
    const int good = isfinite(seen) && isfinite(expected) && isfinite(allowed) && error <= allowed;

    if (good && getenv("ICLKIN_SLACK") == NULL) return;
    print_message("%s:%d: %s: seen %.17g, expected %.17g, error %.3g, allowed %.3g, used %.3g\n", file, line, what,
                  seen, expected, error, allowed, used);
    if (!good) _fail(file, line);
}

void check_rel_at(double seen, double expected, double tolerance, const char *what, const char *file, int line) {
    judge(seen, expected, fabs(seen - expected), tolerance * fabs(expected), what, file, line);
}

void check_abs_at(double seen, double expected, double tolerance, const char *what, const char *file, int line) {
    judge(seen, expected, fabs(seen - expected), tolerance, what, file, line);
}

void check_slope_at(size_t n, const double *x, const double *y, double expected, double tolerance, const char *what,
                    const char *file, int line) {
    double mx = 0, my = 0, sxx = 0, sxy = 0;

    for (size_t i = 0; i < n; i++) {
        mx += log(x[i]) / (double)n;
        my += log(y[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        sxx += (log(x[i]) - mx) * (log(x[i]) - mx);
        sxy += (log(x[i]) - mx) * (log(y[i]) - my);
    }
    judge(sxy / sxx, expected, fabs(sxy / sxx - expected), tolerance, what, file, line);
}

void check_ok_at(enum icl_status status, const struct icl_err *err, const char *what, const char *file, int line) {
    if (status == ICL_OK) return;
    print_message("%s:%d: %s: failed (%s): %s\n", file, line, what, icl_err_name(status), err ? err->text : "");
    _fail(file, line);
}

void check_fails_at(enum icl_status status, enum icl_status expected, const struct icl_err *err, const char *text,
                    const char *what, const char *file, int line) {
    const char *seen = err ? err->text : "";

    if (status == expected && (err == NULL || (err->code == expected && seen[0] != '\0')) &&
        strchr(seen, '\n') == NULL && (text == NULL || strstr(seen, text) != NULL))
        return;
    print_message("%s:%d: %s: status %s, expected %s; message \"%s\", expected to hold \"%s\"\n", file, line, what,
                  icl_err_name(status), icl_err_name(expected), seen, text ? text : "");
    _fail(file, line);
}
