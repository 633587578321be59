#include "iclkin/quad.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdbool.h>

/* A rule's three-term recurrence is (z - a_k) p_k = b_k p_{k-1} + b_{k+1} p_{k+1} for the orthonormal polynomials of a
 * probability measure of mean 0 and variance 1: no Gamma function, hence nothing to overflow at any shape. */
enum {
    MAX_NODES = 256,  /* beyond it components of eigenvectors leave the range of a double */
    MAX_SWEEPS = 64,  /* QL needs about two for each eigenvalue */
    WORKSPACE = 1000, /* intervals of an adaptive quadrature */
};

struct rule {
    size_t n;
    double a[MAX_NODES], b[MAX_NODES], unb[MAX_NODES]; /* unb = 1/b */
};

/* The eigenvalues of the Jacobi matrix (implicit QL without vectors), into d; e is destroyed. */
static bool eigenvalues(size_t n, double *d, double *e) {
    for (size_t l = 0; l < n; l++) {
        for (int sweep = 0;; sweep++) {
            size_t m = l;
            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) m++;
            if (m == l) break;
            if (sweep == MAX_SWEEPS) return false;

            double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
            double s = 1, c = 1, p = 0;
            size_t i = m;
            bool split = false;
            g = d[m] - d[l] + e[l] / (g + copysign(r, g));
            while (i > l) {
                i--;
                const double f = s * e[i], b = c * e[i];
                r = sqrt(f * f + g * g);
                e[i + 1] = r;
                split = r == 0;
                if (split) {
                    d[i + 1] -= p;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
            }
            if (!split) {
                d[l] -= p;
                e[l] = g;
            }
            e[m] = 0;
        }
    }
    return true;
}

/* Improves an eigenvalue and returns its weight, the square of the first component of its normalised eigenvector.
 *
 * (J - z) v = g e_r is solved forwards from the first row and backwards from the last; both meet in the row r where the
 * residue g is least. Neither runs into the range where its solution is the receding one, so that small weights keep
 * their digits (a Binomial of small p has no other road) and large ones too. */
static double twisted(const struct rule *rule, double *z) {
    const size_t n = rule->n;
    double down[MAX_NODES], up[MAX_NODES], residue = INFINITY, above = 0, below = 0, norm = 1;
    size_t r = 0;

    down[0] = up[n - 1] = 1;
    for (size_t k = 0; k + 1 < n; k++) {
        const double d = rule->a[k] - *z;
        down[k + 1] = -(d * down[k] + (k > 0 ? rule->b[k] * down[k - 1] : 0)) * rule->unb[k + 1];
    }
    for (size_t k = n - 1; k > 0; k--) {
        const double d = rule->a[k] - *z;
        up[k - 1] = -(d * up[k] + (k + 1 < n ? rule->b[k + 1] * up[k + 1] : 0)) * rule->unb[k];
    }
    for (size_t k = 0; k < n; k++) {
        double g = rule->a[k] - *z;
        if (k > 0) g += rule->b[k] * down[k - 1] / down[k];
        if (k + 1 < n) g += rule->b[k + 1] * up[k + 1] / up[k];
        if (!(fabs(g) < fabs(residue))) continue;
        residue = g;
        r = k;
    }
    for (size_t k = 0; k < r; k++) above += down[k] / down[r] * (down[k] / down[r]);
    for (size_t k = r + 1; k < n; k++) below += up[k] / up[r] * (up[k] / up[r]);
    norm += above + below;
    *z += residue / norm;
    return 1 / (down[r] * down[r] * norm);
}

static void sort(size_t n, double *z) {
    for (size_t i = 1; i < n; i++) {
        const double v = z[i];
        size_t k = i;
        for (; k > 0 && z[k - 1] > v; k--) z[k] = z[k - 1];
        z[k] = v;
    }
}

/* Nodes, and weights of sum 1. */
static enum icl_status solve(struct rule *rule, double *z, double *w, struct icl_err *err) {
    const size_t n = rule->n;
    double e[MAX_NODES], total = 0;

    for (size_t k = 0; k < n; k++) {
        z[k] = rule->a[k];
        e[k] = k + 1 < n ? rule->b[k + 1] : 0;
        rule->unb[k] = k > 0 ? 1 / rule->b[k] : 0;
    }
    if (!eigenvalues(n, z, e)) return ICL_ERR(err, ICL_ENUMERIC, "quadrature: no convergence for %zu nodes", n);
    sort(n, z);
    for (size_t i = 0; i < n; i++) {
        twisted(rule, &z[i]);
        w[i] = twisted(rule, &z[i]);
        total += w[i];
    }
    for (size_t i = 0; i < n; i++) w[i] /= total;
    return ICL_OK;
}

static enum icl_status check_size(size_t n, struct icl_err *err) {
    if (n < 1 || n > MAX_NODES) return ICL_ERR(err, ICL_ERANGE, "quadrature: n=%zu: must be in [1, %d]", n, MAX_NODES);
    return ICL_OK;
}

enum icl_status icl_quad_normal(size_t n, double *x, double *w, struct icl_err *err) {
    struct rule rule;

    ICL_TRY(check_size(n, err));
    rule.n = n;
    for (size_t k = 0; k < n; k++) {
        rule.a[k] = 0;
        rule.b[k] = sqrt((double)k);
    }
    ICL_TRY(solve(&rule, x, w, err));
    /* The rule is even; made so to the last bit, odd moments vanish exactly. */
    for (size_t i = 0; i <= (n - 1) / 2; i++) {
        const double half = 0.5 * (x[n - 1 - i] - x[i]), mean = 0.5 * (w[i] + w[n - 1 - i]);
        x[i] = -half;
        x[n - 1 - i] = half;
        w[i] = w[n - 1 - i] = mean;
    }
    return ICL_OK;
}

enum icl_status icl_quad_gamma(size_t n, double shape, double *x, double *w, struct icl_err *err) {
    struct rule rule;

    ICL_TRY(check_size(n, err));
    if (!(shape > 0 && shape < INFINITY))
        return ICL_ERR(err, ICL_ERANGE, "quadrature: shape=%g: must be positive and finite", shape);
    /* In z = (x - 1) sqrt(shape), so that neither a small nor a large shape loses digits. */
    const double unit = 1 / sqrt(shape);
    rule.n = n;
    for (size_t k = 0; k < n; k++) {
        const double m = (double)k;
        rule.a[k] = 2 * m * unit;
        rule.b[k] = k == 0 ? 0 : sqrt(m * (1 + (m - 1) / shape));
    }
    ICL_TRY(solve(&rule, x, w, err));
    for (size_t i = 0; i < n; i++) x[i] = 1 + x[i] * unit;
    return ICL_OK;
}

enum icl_status icl_quad_binomial(size_t n, double trials, double p, double *x, double *w, struct icl_err *err) {
    const double mean = trials * p, sd = sqrt(trials * p * (1 - p));
    struct rule rule;

    ICL_TRY(check_size(n, err));
    if (!(trials >= (double)n - 1 && trials < INFINITY && floor(trials) == trials))
        return ICL_ERR(err, ICL_ERANGE, "quadrature: trials=%g: must be whole and at least n - 1 = %zu", trials, n - 1);
    if (!(p >= 0 && p <= 1)) return ICL_ERR(err, ICL_ERANGE, "quadrature: p=%g: must be in [0, 1]", p);
    if (sd == 0) {
        for (size_t i = 0; i < n; i++) {
            x[i] = mean;
            w[i] = i == 0;
        }
        return ICL_OK;
    }
    rule.n = n;
    for (size_t k = 0; k < n; k++) {
        const double m = (double)k;
        rule.a[k] = m * (1 - 2 * p) / sd;
        rule.b[k] = k == 0 ? 0 : sqrt(m * (1 - (m - 1) / trials));
    }
    ICL_TRY(solve(&rule, x, w, err));
    for (size_t i = 0; i < n; i++) x[i] = mean + x[i] * sd;
    return ICL_OK;
}

/* GSL would bisect a NaN until its workspace is full: zero goes on, and the first bad point is told. */
struct guard {
    double (*f)(double x, void *context);
    void *context;
    bool bad;
    double x;
};

static double guarded(double x, void *context) {
    struct guard *guard = context;
    const double y = guard->f(x, guard->context);

    if (isfinite(y)) return y;
    if (!guard->bad) guard->x = x;
    guard->bad = true;
    return 0;
}

/* b = INFINITY for the half line. */
static enum icl_status adaptive(struct guard *guard, double a, double b, double rtol, double *integral,
                                struct icl_err *err) {
    gsl_function f = {guarded, guard};
    gsl_integration_workspace *space;
    double error = 0;
    int status;

    if (!(rtol > 0 && rtol < 1)) return ICL_ERR(err, ICL_ERANGE, "quadrature: rtol=%g: must be in (0, 1)", rtol);
    space = gsl_integration_workspace_alloc(WORKSPACE);
    if (!space) return ICL_ERR(err, ICL_ENOMEM, "quadrature: no memory for %d intervals", WORKSPACE);
    if (isinf(b))
        status = gsl_integration_qagiu(&f, a, 0, rtol, WORKSPACE, space, integral, &error);
    else
        status = gsl_integration_qags(&f, a, b, 0, rtol, WORKSPACE, space, integral, &error);
    gsl_integration_workspace_free(space);

    if (guard->bad) return ICL_ERR(err, ICL_ENUMERIC, "quadrature: the integrand is not finite at x=%.17g", guard->x);
    if (status)
        return ICL_ERR(err, ICL_ENUMERIC, "quadrature over [%g, %g]: %s (value %g, error %g, rtol %g)", a, b,
                       gsl_strerror(status), *integral, error, rtol);
    return ICL_OK;
}

enum icl_status icl_quad_infinite(double (*f)(double x, void *context), void *context, double a, double rtol,
                                  double *integral, struct icl_err *err) {
    struct guard guard = {f, context, false, 0};

    if (!isfinite(a)) return ICL_ERR(err, ICL_ERANGE, "quadrature: a=%g: must be finite", a);
    return adaptive(&guard, a, INFINITY, rtol, integral, err);
}

enum icl_status icl_quad_finite(double (*f)(double x, void *context), void *context, double a, double b, double rtol,
                                double *integral, struct icl_err *err) {
    struct guard guard = {f, context, false, 0};

    if (!isfinite(a) || !isfinite(b))
        return ICL_ERR(err, ICL_ERANGE, "quadrature: [%g, %g]: the ends must be finite", a, b);
    return adaptive(&guard, a, b, rtol, integral, err);
}
