/* Statistics of runs against theory: against brute force, independent values, and their own scatter over many samples.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fixtures.h"
#include "iclkin/stats.h"

/* ---- means ---- */

static void a_mean_by_hand(void **state) {
    const double s[] = {1, 2, 3, 6}, h[] = {2, 2, 2, 2};
    const struct icl_stats relative = icl_stats_paired(4, s, h, false), absolute = icl_stats_paired(4, s, h, true);
    (void)state;
    /* mean 3, sum of squares 14: standard error sqrt(14/12) */
    check_rel(relative.simulation, 3, 1e-15);
    check_rel(relative.simulation_error, sqrt(14.0 / 12), 1e-15);
    check_rel(relative.difference, 0.5, 1e-15);
    check_rel(relative.error, sqrt(14.0 / 12) / 2, 1e-15);
    check_rel(absolute.difference, 1, 1e-15);
    check_rel(absolute.error, sqrt(14.0 / 12), 1e-15);
    check_abs(relative.freedom, 3, 0);
}

/* Where theory explains every run up to one factor, nothing is left to chance. */
static void pairs_leave_the_rest(void **state) {
    const double s[] = {2.2, 3.3, 5.5}, h[] = {2, 3, 5};
    const struct icl_stats stats = icl_stats_paired(3, s, h, false);
    (void)state;
    check_rel(stats.difference, 0.1, 1e-14);
    check_abs(stats.error, 0, 1e-15);
    assert_true(stats.simulation_error > 0.5);
}

static void one_run_has_no_error(void **state) {
    const double s = 3, h = 2;
    const struct icl_stats one = icl_stats_paired(1, &s, &h, false), none = icl_stats_paired(0, &s, &h, false);
    (void)state;
    check_rel(one.difference, 0.5, 1e-15);
    assert_true(isnan(one.error) && isinf(icl_stats_width(&one, 0.95)));
    assert_true(isnan(none.difference) && icl_stats_verdict(&none, 0.1, 0.95) == ICL_STATS_OPEN);
    assert_int_equal(icl_stats_verdict(&one, 0.1, 0.95), ICL_STATS_OPEN);
}

/* The stated error of the ratio against its scatter over 2000 samples of 10 pairs; statistics: 5 sigma of a standard
 * deviation, 5/sqrt(2 x 2000), and a tenth for the ratio's own curvature. */
static void the_error_is_the_scatter(void **state) {
    enum { SAMPLES = 2000, N = 10 };
    double mean = 0, square = 0, stated = 0;
    (void)state;
    fixture_seed(1);
    for (int r = 0; r < SAMPLES; r++) {
        double s[N], h[N];
        for (int i = 0; i < N; i++) {
            h[i] = 100 + 30 * fixture_normal();
            s[i] = 1.05 * h[i] + 4 * fixture_normal();
        }
        const struct icl_stats stats = icl_stats_paired(N, s, h, false);
        mean += stats.difference / SAMPLES;
        square += stats.difference * stats.difference / SAMPLES;
        stated += stats.error * stats.error / SAMPLES;
    }
    check_abs(mean, 0.05, 5 * sqrt(square - mean * mean) / sqrt(SAMPLES) + 1e-4);
    check_rel(sqrt(stated), sqrt(square - mean * mean), 5 / sqrt(2.0 * SAMPLES) + 0.02);
}

/* ---- verdicts ---- */

/* Student's t at 9 degrees of freedom, 95 %: 2.262157; the normal law 1.959964 (tables). */
static void widths(void **state) {
    struct icl_stats stats = {.difference = 0.01, .error = 0.001, .freedom = 9};
    (void)state;
    check_rel(icl_stats_width(&stats, 0.95), 0.002262157, 1e-6);
    stats.freedom = INFINITY;
    check_rel(icl_stats_width(&stats, 0.95), 0.001959964, 1e-6);
}

static void verdicts(void **state) {
    static const struct {
        double difference, error, bound;
        enum icl_stats_verdict expected;
    } rows[] = {
        {0.01, 0.004, 0.02, ICL_STATS_HOLDS},
        {-0.01, 0.004, 0.02, ICL_STATS_HOLDS},
        {0.01, 0.006, 0.02, ICL_STATS_OPEN},
        {0.03, 0.006, 0.02, ICL_STATS_OPEN},
        {0.03, 0.004, 0.02, ICL_STATS_DIFFERS},
        {-0.03, 0.004, 0.02, ICL_STATS_DIFFERS},
        {INFINITY, 0, 0.02, ICL_STATS_DIFFERS},
        {-INFINITY, NAN, 0.02, ICL_STATS_DIFFERS},
        {NAN, 0.001, 0.02, ICL_STATS_OPEN},
        {0.01, NAN, 0.02, ICL_STATS_OPEN},
        {0, 0, 0.02, ICL_STATS_HOLDS},
        {0.02 + 3 * 0.01, 0.01, 0.02, ICL_STATS_DIFFERS}, /* planted 3 sigma */
        {0.02 + 1.5 * 0.01, 0.01, 0.02, ICL_STATS_OPEN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct icl_stats stats = {.difference = rows[i].difference, .error = rows[i].error, .freedom = INFINITY};
        assert_string_equal(icl_stats_name(icl_stats_verdict(&stats, rows[i].bound, 0.95)),
                            icl_stats_name(rows[i].expected));
    }
}

/* A true difference at the bound itself is said to differ in (1 - confidence)/2 of all samples, and to hold in as many.
 * Statistics: 4 sigma of a share of 4000. */
static void the_confidence_is_kept(void **state) {
    enum { SAMPLES = 4000, N = 5 };
    size_t count[3] = {0};
    double s[N], h[N];
    (void)state;
    fixture_seed(2);
    for (int r = 0; r < SAMPLES; r++) {
        for (int i = 0; i < N; i++) {
            h[i] = 1;
            s[i] = 1.02 + 0.004 * fixture_normal();
        }
        const struct icl_stats stats = icl_stats_paired(N, s, h, false);
        count[icl_stats_verdict(&stats, 0.02, 0.9)]++;
    }
    const double sigma = sqrt(0.05 * 0.95 / SAMPLES);
    check_abs((double)count[ICL_STATS_DIFFERS] / SAMPLES, 0.05, 4 * sigma);
    check_abs((double)count[ICL_STATS_HOLDS] / SAMPLES, 0.05, 4 * sigma);
}

/* ---- shares ---- */

static void shares(void **state) {
    const bool yes[] = {true, true, true, true}, mixed[] = {true, false, true, true}, no[4] = {false};
    struct icl_stats stats = icl_stats_share(4, yes, yes);
    (void)state;
    check_abs(stats.difference, 0, 0);
    check_rel(stats.error, sqrt(0.1 * 0.9 / 5), 1e-15); /* p = 1/2 in 5 */
    stats = icl_stats_share(4, mixed, yes);
    check_rel(stats.difference, -0.25, 1e-15);
    check_rel(stats.error, sqrt(0.3 * 0.7 / 5), 1e-15);
    stats = icl_stats_share(4, no, yes);
    check_rel(stats.difference, -1, 1e-15);
    check_rel(stats.theory, 1, 1e-15);
}

/* ---- the middle ---- */

static double probability(double x, double middle, double slope) {
    return 1 / (1 + exp(-slope * (x - middle)));
}

/* Maximum of the penalized likelihood log L + log det I / 2 by brute force on a grid: another road to the same fit. */
static void middle_by_brute_force(void **state) {
    enum { N = 12 };
    const double x[N] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    const bool yes[N] = {false, false, false, false, true, false, false, true, true, true, true, true};
    double best = -INFINITY, at = NAN, middle, error;
    struct icl_err err;
    (void)state;
    for (double m = 3; m <= 4; m += 0.001)
        for (double slope = 0.3; slope < 4; slope += 0.002) {
            double likelihood = 0, I[3] = {0};
            for (int i = 0; i < N; i++) {
                const double p = probability(x[i], m, slope), weight = p * (1 - p);
                likelihood += log(yes[i] ? p : 1 - p);
                I[0] += weight;
                I[1] += weight * x[i];
                I[2] += weight * x[i] * x[i];
            }
            likelihood += log(I[0] * I[2] - I[1] * I[1]) / 2;
            if (likelihood > best) {
                best = likelihood;
                at = m;
            }
        }
    check_ok(icl_stats_middle(N, x, yes, &middle, &error, &err), &err);
    check_abs(middle, at, 0.0015); /* the grid's spacing */
}

/* A step that separates: the middle of the gap by symmetry, with a finite error. */
static void middle_of_a_step(void **state) {
    enum { N = 24 };
    double x[N], middle, error;
    bool yes[N];
    struct icl_err err;
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = 3 + 0.25 * (i / 6);
        yes[i] = i >= N / 2;
    }
    check_ok(icl_stats_middle(N, x, yes, &middle, &error, &err), &err);
    check_abs(middle, 3.375, 1e-9);
    assert_true(error > 0.02 && error < 0.25);
}

/* Its error against its scatter, and its mean, over 1000 samples of 5 x 20 runs. Statistics: 5 sigma; the error is that
 * of large samples: a tenth of it is left for that. */
static void the_middle_scatters_as_it_says(void **state) {
    enum { SAMPLES = 1000, POINTS = 5, RUNS = 20, N = POINTS * RUNS };
    double mean = 0, square = 0, stated = 0, x[N];
    bool yes[N];
    struct icl_err err;
    (void)state;
    fixture_seed(3);
    for (int r = 0; r < SAMPLES; r++) {
        double middle, error;
        for (int i = 0; i < N; i++) {
            x[i] = 6.5 + 0.2 * (i / RUNS);
            yes[i] = fixture_uniform(0, 1) < probability(x[i], 6.85, 8);
        }
        check_ok(icl_stats_middle(N, x, yes, &middle, &error, &err), &err);
        mean += middle / SAMPLES;
        square += (middle - 6.85) * (middle - 6.85) / SAMPLES;
        stated += error * error / SAMPLES;
    }
    check_abs(mean, 6.85, 5 * sqrt(square / SAMPLES));
    check_rel(sqrt(stated), sqrt(square), 5 / sqrt(2.0 * SAMPLES) + 0.1);
}

static void no_middle(void **state) {
    const double x[] = {1, 2, 3, 4}, same[] = {2, 2, 2, 2};
    const bool all[] = {true, true, true, true}, none[4] = {false}, falls[] = {true, true, false, false};
    const bool mixed[] = {true, false, true, false};
    double middle, error;
    struct icl_err err;
    (void)state;
    check_fails(icl_stats_middle(4, x, all, &middle, &error, &err), ICL_ENOROOT, &err, "4 of 4 runs");
    check_fails(icl_stats_middle(4, x, none, &middle, &error, &err), ICL_ENOROOT, &err, "0 of 4 runs");
    check_fails(icl_stats_middle(0, x, none, &middle, &error, &err), ICL_ENOROOT, &err, "0 of 0 runs");
    check_fails(icl_stats_middle(4, same, mixed, &middle, &error, &err), ICL_ENOROOT, &err, "at one x");
    check_fails(icl_stats_middle(4, x, falls, &middle, &error, &err), ICL_ENOROOT, &err, "does not grow");
    icl_mem_fail_at(1);
    check_fails(icl_stats_middle(4, x, mixed, &middle, &error, &err), ICL_ENOMEM, &err, "memory");
    icl_mem_fail_at(0);
}

/* ---- distributions ---- */

/* The largest difference over all points, counted. */
static double distance_by_counting(size_t n, const double *s, const double *h) {
    double distance = 0;
    for (size_t k = 0; k < 2 * n; k++) {
        const double x = k < n ? s[k] : h[k - n];
        int below = 0;
        if (isinf(x)) continue;
        for (size_t i = 0; i < n; i++) below += (s[i] <= x) - (h[i] <= x);
        distance = fmax(distance, fabs((double)below) / (double)n);
    }
    return distance;
}

static void distances(void **state) {
    double s[] = {1, 2, 3, 4}, h[] = {1.5, 2.5, 3.5, 4.5}, far[] = {11, 12, 13, 14},
           never[] = {1, 2, INFINITY, INFINITY};
    (void)state;
    check_rel(icl_stats_distance(4, s, h), 0.25, 1e-15);
    check_rel(icl_stats_distance(4, s, far), 1, 1e-15);
    check_abs(icl_stats_distance(4, s, s), 0, 0);
    check_rel(icl_stats_distance(4, s, never), 0.5, 1e-15);
    fixture_seed(4);
    for (int r = 0; r < 300; r++) {
        double a[30], b[30], expected;
        const size_t n = 1 + (size_t)fixture_uniform(0, 30);
        for (size_t i = 0; i < n; i++) {
            a[i] = fixture_uniform(0, 1) < 0.1 ? INFINITY : floor(fixture_uniform(0, 20));
            b[i] = fixture_uniform(0, 1) < 0.1 ? INFINITY : floor(fixture_uniform(0, 20));
        }
        expected = distance_by_counting(n, a, b);
        check_abs(icl_stats_distance(n, a, b), expected, 1e-15);
    }
}

/* Two independent samples of one law: P(D sqrt(n/2) > x) = 2 sum (-1)^(k-1) exp(-2 k^2 x^2) (Kolmogorov); at x = 1 it
 * is 0.26999967. n = 500 still lies below by a few per cent. Statistics: 4 sigma of a share of 4000. */
static void distances_follow_kolmogorov(void **state) {
    enum { SAMPLES = 4000, N = 500 };
    double s[N], h[N];
    int above = 0;
    (void)state;
    fixture_seed(5);
    for (int r = 0; r < SAMPLES; r++) {
        for (int i = 0; i < N; i++) {
            s[i] = fixture_normal();
            h[i] = fixture_normal();
        }
        above += icl_stats_distance(N, s, h) * sqrt(N / 2.0) > 1;
    }
    check_abs((double)above / SAMPLES, 0.27, 4 * sqrt(0.27 * 0.73 / SAMPLES) + 0.02);
}

static void spreads(void **state) {
    double s[100], h[100];
    struct icl_stats stats, again;
    struct icl_err err;
    (void)state;
    fixture_seed(6);
    for (int i = 0; i < 100; i++) {
        h[i] = 100 + 30 * fixture_normal();
        s[i] = h[i] + 3 * fixture_normal();
    }
    const double first = s[0];
    check_ok(icl_stats_spread(100, s, h, &stats, &err), &err);
    check_ok(icl_stats_spread(100, s, h, &again, &err), &err);
    assert_memory_equal(&stats, &again, sizeof stats);
    check_abs(s[0], first, 0); /* unsorted */
    check_abs(stats.difference, distance_by_counting(100, s, h), 1e-15);
    assert_true(stats.difference < 0.15 && stats.error > 0.003 && stats.error < 0.05);
    check_ok(icl_stats_spread(0, s, h, &stats, &err), &err);
    assert_true(isnan(stats.difference));
    check_ok(icl_stats_spread(1, s, h, &stats, &err), &err);
    assert_true(isnan(stats.error));
    icl_mem_fail_at(1);
    check_fails(icl_stats_spread(100, s, h, &stats, &err), ICL_ENOMEM, &err, "memory");
    icl_mem_fail_at(0);
}

/* ---- lines ---- */

static void lines(void **state) {
    enum { SAMPLES = 2000, N = 5 };
    double x[N], y[N], weight[N], square[2] = {0};
    struct icl_stats_line line = {NAN, NAN, NAN, NAN};
    (void)state;
    fixture_seed(7);
    for (int i = 0; i < N; i++) {
        x[i] = i * i;
        y[i] = 2.5 - 0.7 * (x[i] - 6);
        weight[i] = 1 + i;
    }
    line = icl_stats_line(N, x, y, weight);
    check_rel(line.power, -0.7, 1e-13); /* rounding */
    check_rel(line.height, 2.5, 1e-13);
    for (int r = 0; r < SAMPLES; r++) {
        for (int i = 0; i < N; i++) y[i] = 2.5 - 0.7 * (x[i] - 6) + fixture_normal() / sqrt(weight[i]);
        line = icl_stats_line(N, x, y, weight);
        square[0] += (line.power + 0.7) * (line.power + 0.7) / SAMPLES;
        square[1] += (line.height - 2.5) * (line.height - 2.5) / SAMPLES;
    }
    check_rel(line.power_error, sqrt(square[0]), 5 / sqrt(2.0 * SAMPLES)); /* statistics: 5 sigma */
    check_rel(line.height_error, sqrt(square[1]), 5 / sqrt(2.0 * SAMPLES));
    assert_true(isnan(icl_stats_line(1, x, y, weight).power));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mean_by_hand),
        cmocka_unit_test(pairs_leave_the_rest),
        cmocka_unit_test(one_run_has_no_error),
        cmocka_unit_test(the_error_is_the_scatter),
        cmocka_unit_test(widths),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(the_confidence_is_kept),
        cmocka_unit_test(shares),
        cmocka_unit_test(middle_by_brute_force),
        cmocka_unit_test(middle_of_a_step),
        cmocka_unit_test(the_middle_scatters_as_it_says),
        cmocka_unit_test(no_middle),
        cmocka_unit_test(distances),
        cmocka_unit_test(distances_follow_kolmogorov),
        cmocka_unit_test(spreads),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
