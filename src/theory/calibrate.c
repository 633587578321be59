#include "theory/calibrate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "theory/memtable.h"

enum { GAUSS = 4 };

enum { FINE = 200 };

double icl_calibrate_clock(size_t n, size_t j) {
    return expm1((double)j / (double)(n - 1) * log1p(FINE)) / FINE;
}

size_t icl_calibrate_clocks(size_t n, uint64_t total) {
    while (n > 2 && (double)total * icl_calibrate_clock(n, 1) < 1) n--;
    return n;
}

enum icl_status icl_calibrate_weights(double weight[ICL_CALIBRATE_CLASSES], struct icl_err *err) {
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(ICL_CALIBRATE_CLASSES);
    if (!rule) return ICL_ERR(err, ICL_ENOMEM, "Gauss-Legendre rule");
    for (size_t j = 0; j < ICL_CALIBRATE_CLASSES; j++) {
        double x;
        gsl_integration_glfixed_point(0, 1, j, &x, &weight[j], rule);
    }
    gsl_integration_glfixed_table_free(rule);
    return ICL_OK;
}

static int rising(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double miss_of(double phi) { /* sigma(-phi) */
    return phi > 0 ? exp(-phi) / (1 + exp(-phi)) : 1 / (1 + exp(phi));
}

static double logit_of(double miss) {
    const double least = 1e-300;
    return log1p(-fmin(miss, 1 - 1e-16)) - log(fmax(miss, least));
}

double icl_calibrate_c1(const double *weight, const double *phi, double offset) {
    double c1 = 0;
    for (size_t q = 0; q < ICL_CALIBRATE_CLASSES; q++) c1 += weight[q] * miss_of(phi[q] + offset);
    return c1;
}

void icl_calibrate_measure(size_t K, float *phi, size_t novel, const float *other, const double *weight,
                           struct icl_calibrate_point *point) {
    const double n = (double)K;
    double m1 = 0, m2 = 0, lift = 0, square = 0, end = 0;
    size_t i = 0;
    qsort(phi, K, sizeof *phi, rising);
    for (size_t k = 0; k < K; k++) {
        const double miss = miss_of((double)phi[k]);
        m1 += miss / n;
        m2 += miss * miss / n;
        lift += exp(-(double)phi[k]) / n;
    }
    for (size_t k = 0; k < novel; k++) square += (double)other[k] * (double)other[k] / (double)novel;
    /* Item i fills the share from i/K to (i+1)/K; the one on the border of two classes is in both, by its parts. */
    for (size_t j = 0; j < ICL_CALIBRATE_CLASSES; j++) {
        const double start = end;
        double sum = 0;
        end = j + 1 < ICL_CALIBRATE_CLASSES ? end + weight[j] : 1;
        while (i < K) {
            const double lo = fmax(start, (double)i / n), hi = fmin(end, (double)(i + 1) / n);
            if (hi > lo) sum += (hi - lo) * miss_of((double)phi[i]);
            if ((double)(i + 1) / n > end) break;
            i++;
        }
        point->phi[j] += sum / (end - start);
    }
    point->c1 += m1;
    point->c2 += m2;
    point->c3 += lift;
    point->v += square;
}

void icl_calibrate_close(size_t measurements, struct icl_calibrate_point *point) {
    const double n = (double)measurements;
    point->c2 = 1 - point->c2 / point->c1;
    point->c1 /= n;
    point->c3 /= n;
    point->v /= n;
    for (size_t j = 0; j < ICL_CALIBRATE_CLASSES; j++) point->phi[j] = logit_of(point->phi[j] / n);
}

struct mean {
    double sum, squares, n;
};

static void add(struct mean *m, double x) {
    const double delta = x - m->sum;
    m->n++;
    m->sum += delta / m->n;
    m->squares += delta * (x - m->sum);
}

static double error_of(const struct mean *m) {
    return m->n > 1 ? sqrt(m->squares / (m->n - 1) / m->n) : NAN;
}

/* The seeds' mean at one clock: sigma(-phi_j) is averaged, so that c1 stays the average over the classes. */
static void average_at(size_t runs, size_t n, size_t at, const struct icl_calibrate_point *run,
                       struct icl_calibrate_curve *curve) {
    struct mean c1 = {0}, c2 = {0}, c3 = {0}, v = {0};
    for (size_t r = 0; r < runs; r++) {
        const struct icl_calibrate_point *p = &run[r * n + at];
        add(&c1, p->c1);
        add(&c2, p->c2);
        add(&c3, p->c3);
        add(&v, p->v);
    }
    curve->mean[at] = (struct icl_calibrate_point){.c1 = c1.sum, .c2 = c2.sum, .c3 = c3.sum, .v = v.sum};
    curve->c1_error[at] = error_of(&c1);
    for (size_t j = 0; j < ICL_CALIBRATE_CLASSES; j++) {
        struct mean miss = {0};
        for (size_t r = 0; r < runs; r++) add(&miss, miss_of(run[r * n + at].phi[j]));
        curve->mean[at].phi[j] = logit_of(miss.sum);
    }
}

/* I_K of one path into I, shape (n); x, y of shape (n) are scratch. */
static enum icl_status integrate(size_t n, const double *s, const struct icl_calibrate_point *path, double *x,
                                 double *y, double *I, struct icl_err *err) {
    static const double node[GAUSS] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                       0.8611363115940526};
    static const double share[GAUSS] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538};
    const double unit = s[n - 1] / ICL_MEMTABLE_RESOLVED;
    gsl_interp *cubic = gsl_interp_alloc(gsl_interp_steffen, n);
    if (!cubic) return ICL_ERR(err, ICL_ENOMEM, "interpolation of %zu clocks", n);
    for (size_t i = 0; i < n; i++) {
        x[i] = icl_memtable_coordinate(s[i] / s[n - 1]);
        y[i] = log(path[i].c1);
    }
    int bad = gsl_interp_init(cubic, x, y, n);
    I[0] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double half = 0.5 * (x[i + 1] - x[i]), middle = 0.5 * (x[i + 1] + x[i]);
        I[i + 1] = I[i];
        for (int k = 0; k < GAUSS && !bad; k++) {
            const double at = middle + half * node[k]; /* ds = unit e^x dx */
            I[i + 1] += half * share[k] * unit * exp(at + gsl_interp_eval(cubic, x, y, at, NULL));
        }
    }
    gsl_interp_free(cubic);
    return bad ? ICL_ERR(err, ICL_ENUMERIC, "interpolation of %zu clocks", n) : ICL_OK;
}

/* I of the smooth mean; its error from the runs as they are. */
static enum icl_status add_budgets(size_t runs, size_t n, const double *s, const struct icl_calibrate_point *run,
                                   struct icl_calibrate_curve *curve, struct icl_err *err) {
    double *scratch = NULL;
    struct mean *mean = NULL;
    enum icl_status status = icl_mem_alloc(&scratch, 3 * n, sizeof *scratch, err);
    if (status == ICL_OK) status = icl_mem_alloc(&mean, n, sizeof *mean, err);
    for (size_t r = 0; r < runs && status == ICL_OK; r++) {
        double *I = scratch + 2 * n;
        status = integrate(n, s, run + r * n, scratch, scratch + n, I, err);
        for (size_t i = 0; i < n && status == ICL_OK; i++) add(&mean[i], I[i]);
    }
    if (status == ICL_OK) status = integrate(n, s, curve->mean, scratch, scratch + n, curve->I, err);
    for (size_t i = 0; i < n && status == ICL_OK; i++) curve->I_error[i] = error_of(&mean[i]);
    icl_mem_free(mean);
    icl_mem_free(scratch);
    return status;
}

/* The straight line of log c1 against log s from s = lo on. */
struct line {
    double p, p_error, last; /* minus its slope, with its error, and e^ of its value at the end */
};

static bool fit_line(size_t n, const double *s, const struct icl_calibrate_curve *curve, double lo, struct line *fit) {
    struct mean x = {0}, y = {0};
    double xy = 0, xx = 0, left = 0;
    size_t first = n;
    while (first > 1 && s[first - 1] >= lo) first--;
    for (size_t i = first; i < n; i++) {
        add(&x, log(s[i]));
        add(&y, log(curve->mean[i].c1));
    }
    if (x.n < 3) return false;
    for (size_t i = first; i < n; i++) {
        xy += (log(s[i]) - x.sum) * (log(curve->mean[i].c1) - y.sum);
        xx += (log(s[i]) - x.sum) * (log(s[i]) - x.sum);
    }
    for (size_t i = first; i < n; i++) {
        const double miss = log(curve->mean[i].c1) - y.sum - xy / xx * (log(s[i]) - x.sum);
        left += miss * miss;
    }
    fit->p = -xy / xx;
    fit->p_error = sqrt(left / (x.n - 2) / xx);
    fit->last = exp(y.sum - fit->p * (log(s[n - 1]) - x.sum));
    return true;
}

static const double least_p = 1.05; /* a slower fall leaves the tail unknown */

static double tail_of(double end, double last, double p) {
    return last * end / (fmax(p, least_p) - 1);
}

static void add_tail(size_t n, const double *s, struct icl_calibrate_curve *curve) {
    const double end = s[n - 1], spread = isnan(curve->I_error[n - 1]) ? 0 : curve->I_error[n - 1];
    struct line all = {least_p, 0, curve->mean[n - 1].c1}, late;
    curve->short_ = !fit_line(n, s, curve, end / 4, &all) || all.p < least_p;
    curve->p = fmax(all.p, least_p);
    const double tail = tail_of(end, all.last, curve->p);
    double apart = curve->short_ ? tail : tail * all.p_error / (all.p - 1);
    if (fit_line(n, s, curve, end / 2, &late)) apart = fmax(apart, fabs(tail_of(end, late.last, late.p) - tail));
    curve->tail_error = apart;
    curve->total = curve->I[n - 1] + tail;
    curve->total_error = hypot(spread, apart);
}

enum icl_status icl_calibrate_average(size_t runs, size_t n, const double *s, const double *weight,
                                      const struct icl_calibrate_point *run, struct icl_calibrate_curve *curve,
                                      struct icl_err *err) {
    for (size_t i = 0; i < n; i++) average_at(runs, n, i, run, curve);
    ICL_TRY(icl_calibrate_smooth(n, s, weight, curve->mean, err));
    ICL_TRY(add_budgets(runs, n, s, run, curve, err));
    add_tail(n, s, curve);
    return ICL_OK;
}

enum icl_status icl_calibrate_law(size_t sizes, const double *K, const struct icl_calibrate_curve *curve,
                                  struct icl_calibrate_fit *fit, struct icl_err *err) {
    double *x = NULL, lnA, var_A, var_nu, cov;
    bool weighted = true;
    ICL_TRY(icl_mem_alloc(&x, 3 * sizes, sizeof *x, err));
    double *y = x + sizes, *w = y + sizes;
    for (size_t k = 0; k < sizes; k++) {
        const double error = curve[k].total_error / curve[k].total;
        x[k] = log(K[k]);
        y[k] = log(curve[k].total);
        w[k] = 1 / (error * error);
        weighted = weighted && error > 0 && isfinite(error);
    }
    const int bad = weighted
                        ? gsl_fit_wlinear(x, 1, w, 1, y, 1, sizes, &lnA, &fit->nu, &var_A, &cov, &var_nu, &fit->chi2)
                        : gsl_fit_linear(x, 1, y, 1, sizes, &lnA, &fit->nu, &var_A, &cov, &var_nu, &fit->chi2);
    icl_mem_free(x);
    if (bad) return ICL_ERR(err, ICL_ENUMERIC, "fit of log I_K(inf) over %zu K", sizes);
    const bool tells = sizes > 2;
    fit->A = exp(lnA);
    fit->nu_error = weighted || tells ? sqrt(var_nu) : NAN;
    fit->A_error = weighted || tells ? fit->A * sqrt(var_A) : NAN;
    fit->covariance = weighted || tells ? cov : NAN;
    fit->chance = weighted && tells ? gsl_cdf_chisq_Q(fit->chi2, (double)(sizes - 2)) : NAN;
    return ICL_OK;
}
