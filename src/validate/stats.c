#include "iclkin/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/rng.h"

struct icl_stats icl_stats_paired(size_t n, const double *s, const double *h, bool absolute) {
    double s_mean = 0, h_mean = 0, s_square = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        s_mean += s[i] / (double)n;
        h_mean += h[i] / (double)n;
    }
    const double ratio = absolute ? 1 : s_mean / h_mean;
    for (size_t i = 0; i < n; i++) {
        const double residual = absolute ? (s[i] - s_mean) - (h[i] - h_mean) : s[i] - ratio * h[i];
        s_square += (s[i] - s_mean) * (s[i] - s_mean);
        square += residual * residual;
    }
    const double pairs = (double)n * ((double)n - 1);
    return (struct icl_stats){.n = n,
                              .simulation = n > 0 ? s_mean : NAN,
                              .simulation_error = n > 1 ? sqrt(s_square / pairs) : NAN,
                              .theory = n > 0 ? h_mean : NAN,
                              .difference = n == 0     ? NAN
                                            : absolute ? s_mean - h_mean
                                                       : s_mean / h_mean - 1,
                              .error = n > 1 ? sqrt(square / pairs) / (absolute ? 1 : fabs(h_mean)) : NAN,
                              .freedom = n > 1 ? (double)n - 1 : NAN};
}

static double share_error(size_t m, size_t n) {
    const double p = ((double)m + 0.5) / ((double)n + 1);
    return sqrt(p * (1 - p) / ((double)n + 1));
}

struct icl_stats icl_stats_share(size_t n, const bool *s, const bool *h) {
    size_t s_count = 0, h_count = 0, unlike = 0;
    for (size_t i = 0; i < n; i++) {
        s_count += s[i];
        h_count += h[i];
        unlike += s[i] != h[i];
    }
    const double simulation = (double)s_count / (double)n, theory = (double)h_count / (double)n;
    return (struct icl_stats){.n = n,
                              .simulation = simulation,
                              .simulation_error = share_error(s_count, n),
                              .theory = theory,
                              .difference = simulation - theory,
                              .error = n > 0 ? share_error(unlike, n) : NAN,
                              .freedom = INFINITY};
}

struct icl_stats icl_stats_number(double s, double error, double h, size_t n, double freedom) {
    return (struct icl_stats){.n = n,
                              .simulation = s,
                              .simulation_error = error,
                              .theory = h,
                              .difference = s / h - 1,
                              .error = error / fabs(h),
                              .freedom = freedom};
}

double icl_stats_width(const struct icl_stats *stats, double confidence) {
    const double tail = (1 - confidence) / 2;
    if (stats->error == 0) return 0;
    if (isnan(stats->error) || isnan(stats->freedom) || stats->freedom <= 0) return INFINITY;
    return stats->error *
           (isinf(stats->freedom) ? gsl_cdf_ugaussian_Qinv(tail) : gsl_cdf_tdist_Qinv(tail, stats->freedom));
}

enum icl_stats_verdict icl_stats_verdict(const struct icl_stats *stats, double bound, double confidence) {
    const double off = fabs(stats->difference), width = icl_stats_width(stats, confidence);
    if (isnan(off)) return ICL_STATS_OPEN;
    if (off + width <= bound) return ICL_STATS_HOLDS;
    return isinf(off) || off - width > bound ? ICL_STATS_DIFFERS : ICL_STATS_OPEN;
}

const char *icl_stats_name(enum icl_stats_verdict verdict) {
    static const char *const name[] = {"holds", "differs", "open"};
    return name[verdict];
}

/* ---- P(yes | x) ------------------------------------------------------------------------------------------------- */

/* a + b x with its information matrix, packed aa, ab, bb. */
struct logistic {
    double a, b, information[3];
};

static double probability(const struct logistic *fit, double x) {
    return 1 / (1 + exp(-(fit->a + fit->b * x)));
}

/* The penalized score at the fit, and the information. Firth (1993): y - p + h (1/2 - p), h the leverage. */
static void score_of(struct logistic *fit, size_t n, const double *x, const bool *yes, double score[2]) {
    double *const I = fit->information;
    I[0] = I[1] = I[2] = score[0] = score[1] = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = probability(fit, x[i]), weight = p * (1 - p);
        I[0] += weight;
        I[1] += weight * x[i];
        I[2] += weight * x[i] * x[i];
    }
    const double determinant = I[0] * I[2] - I[1] * I[1];
    for (size_t i = 0; i < n; i++) {
        const double p = probability(fit, x[i]);
        const double leverage = p * (1 - p) * (I[2] - 2 * I[1] * x[i] + I[0] * x[i] * x[i]) / determinant;
        const double residual = (double)yes[i] - p + leverage * (0.5 - p);
        score[0] += residual;
        score[1] += residual * x[i];
    }
}

/* Newton's steps, each at most 1 in the scaled x, as a flat likelihood would send them far. */
static enum icl_status fit_logistic(struct logistic *fit, size_t n, const double *x, const bool *yes,
                                    struct icl_err *err) {
    enum { STEPS = 1000 };
    const double enough = 1e-10;
    double score[2];
    *fit = (struct logistic){.b = 1};
    for (int step = 0; step < STEPS; step++) {
        score_of(fit, n, x, yes, score);
        const double *const I = fit->information, determinant = I[0] * I[2] - I[1] * I[1];
        const double da = (I[2] * score[0] - I[1] * score[1]) / determinant;
        const double db = (I[0] * score[1] - I[1] * score[0]) / determinant;
        const double size = fmax(fabs(da), fabs(db)), part = size > 1 ? 1 / size : 1;
        if (!isfinite(size)) break;
        fit->a += part * da;
        fit->b += part * db;
        if (size < enough) return ICL_OK;
    }
    return ICL_ERR(err, ICL_ENUMERIC, "the logistic fit of %zu runs does not converge (a = %g, b = %g)", n, fit->a,
                   fit->b);
}

enum icl_status icl_stats_middle(size_t n, const double *x, const bool *yes, double *middle, double *error,
                                 struct icl_err *err) {
    double mean = 0, square = 0, *scaled;
    size_t count = 0;
    struct logistic fit;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / (double)n;
        count += yes[i];
    }
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean) / (double)n;
    const double scale = sqrt(square);
    if (count == 0 || count == n) return ICL_ERR(err, ICL_ENOROOT, "%zu of %zu runs: no change in range", count, n);
    if (!(scale > 0)) return ICL_ERR(err, ICL_ENOROOT, "all %zu runs at one x", n);
    ICL_TRY(icl_mem_alloc(&scaled, n, sizeof *scaled, err));
    for (size_t i = 0; i < n; i++) scaled[i] = (x[i] - mean) / scale;
    const enum icl_status status = fit_logistic(&fit, n, scaled, yes, err);
    icl_mem_free(scaled);
    if (status != ICL_OK) return status;
    if (!(fit.b > 0)) return ICL_ERR(err, ICL_ENOROOT, "the share of %zu runs does not grow with x", n);
    const double *const I = fit.information, determinant = I[0] * I[2] - I[1] * I[1], u = -fit.a / fit.b;
    *middle = mean + scale * u;
    *error = scale * sqrt((I[2] - 2 * I[1] * u + I[0] * u * u) / determinant) / fit.b;
    return ICL_OK;
}

/* ---- distributions ---------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double icl_stats_distance(size_t n, double *s, double *h) {
    double distance = 0;
    size_t i = 0, j = 0;
    qsort(s, n, sizeof *s, compare);
    qsort(h, n, sizeof *h, compare);
    while (i < n || j < n) {
        const double x = fmin(i < n ? s[i] : INFINITY, j < n ? h[j] : INFINITY);
        if (isinf(x)) break;
        while (i < n && s[i] <= x) i++;
        while (j < n && h[j] <= x) j++;
        distance = fmax(distance, fabs((double)i - (double)j) / (double)n);
    }
    return distance;
}

enum icl_status icl_stats_spread(size_t n, const double *s, const double *h, struct icl_stats *stats,
                                 struct icl_err *err) {
    enum { RESAMPLES = 400 };
    double *draw, mean = 0, square = 0;
    struct icl_rng rng;
    *stats = (struct icl_stats){.n = n,
                                .simulation = NAN,
                                .simulation_error = NAN,
                                .theory = 0,
                                .difference = NAN,
                                .error = NAN,
                                .freedom = NAN};
    if (n == 0) return ICL_OK;
    ICL_TRY(icl_mem_alloc(&draw, 2 * n, sizeof *draw, err));
    memcpy(draw, s, n * sizeof *s);
    memcpy(draw + n, h, n * sizeof *h);
    stats->difference = stats->simulation = icl_stats_distance(n, draw, draw + n);
    icl_rng_seek(&rng, 1, 0, ICL_RNG_BOOTSTRAP, 0);
    for (int r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < n; i++) {
            const size_t pick = icl_rng_below(&rng, (uint32_t)n);
            draw[i] = s[pick];
            draw[n + i] = h[pick];
        }
        const double distance = icl_stats_distance(n, draw, draw + n);
        mean += distance / RESAMPLES;
        square += distance * distance / RESAMPLES;
    }
    icl_mem_free(draw);
    if (n > 1) {
        stats->error = stats->simulation_error = sqrt(fmax(0, square - mean * mean));
        stats->freedom = INFINITY;
    }
    return ICL_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

struct icl_stats_line icl_stats_line(size_t n, const double *x, const double *y, const double *weight) {
    double mean = 0, c0, c1, v00, v01, v11, chi2;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    if (n < 2 || gsl_fit_wlinear(x, 1, weight, 1, y, 1, n, &c0, &c1, &v00, &v01, &v11, &chi2) != 0)
        return (struct icl_stats_line){NAN, NAN, NAN, NAN};
    return (struct icl_stats_line){.power = c1,
                                   .power_error = sqrt(v11),
                                   .height = c0 + c1 * mean,
                                   .height_error = sqrt(v00 + 2 * mean * v01 + mean * mean * v11)};
}
