/* stats.h -- what a sample of simulated runs says, with its standard error, beside what theory says of the same runs.
 *
 *   relative  d = <s>/<h> - 1,  error sd(s - (<s>/<h>) h)/(|<h>| sqrt n);  absolute  d = <s> - <h>
 *
 * s, h     shape (n): a number of each run, simulated and by theory from the run's own start; h is constant where all
 *          start alike, and the error then that of the mean of s
 * error    standard errors; NaN where a single run leaves none. freedom: degrees of it, for Student's t
 * Fails    where stated; never otherwise: what cannot be had is NaN.
 * Threads  no shared state.
 */
#ifndef ICLKIN_STATS_H
#define ICLKIN_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"

struct icl_stats {
    size_t n;
    double simulation, simulation_error, theory;
    double difference, error, freedom;
};

struct icl_stats icl_stats_paired(size_t n, const double *s, const double *h, bool absolute);

/* The share of runs in which s is true, against that in which h is. The error comes from the m runs in which they
 * differ, p (1 - p)/(n + 1) with p = (m + 1/2)/(n + 1): not 0 where m is. */
struct icl_stats icl_stats_share(size_t n, const bool *s, const bool *h);

/* A number with its error against one without; relative. */
struct icl_stats icl_stats_number(double s, double error, double h, size_t n, double freedom);

/* Half the width of the interval of that confidence around the difference: Student's t, the normal law where freedom is
 * infinite. Infinite where the error is NaN. */
double icl_stats_width(const struct icl_stats *stats, double confidence);

enum icl_stats_verdict { ICL_STATS_HOLDS, ICL_STATS_DIFFERS, ICL_STATS_OPEN };
/* holds: the whole interval lies within +-bound; differs: all of it outside; open: neither. */
enum icl_stats_verdict icl_stats_verdict(const struct icl_stats *stats, double bound, double confidence);
const char *icl_stats_name(enum icl_stats_verdict verdict);

/* The x at which P(yes) = 1/2, P = 1/(1 + exp(-b (x - middle))), b > 0, by Firth's penalized likelihood, which is
 * finite also where a step separates yes from no. ICL_ENOROOT where all are alike or P does not grow; ICL_ENUMERIC. */
enum icl_status icl_stats_middle(size_t n, const double *x, const bool *yes, double *middle, double *error,
                                 struct icl_err *err) ICL_MUST_CHECK;

/* The largest difference of the distribution functions of two samples; infinite values count as never reached. s and h
 * are sorted by it. */
double icl_stats_distance(size_t n, double *s, double *h);
/* That distance for pairs (s, h), and its standard error by drawing the pairs anew, always the same way. ICL_ENOMEM. */
enum icl_status icl_stats_spread(size_t n, const double *s, const double *h, struct icl_stats *stats,
                                 struct icl_err *err) ICL_MUST_CHECK;

/* y = height + power (x - <x>) through n >= 2 points, <x> their plain mean, by least squares with weights 1/error^2. */
struct icl_stats_line {
    double power, power_error, height, height_error;
};
struct icl_stats_line icl_stats_line(size_t n, const double *x, const double *y, const double *weight);

#endif
