#include "iclkin/quad.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdbool.h>

/* A rule's three-term recurrence is (z - a_k) p_k = b_k p_{k-1} + b_{k+1} p_{k+1} for the orthonormal polynomials of a
 * probability measure of mean 0 and variance 1: no Gamma function, hence nothing to overflow at any shape. The nodes
 * are the eigenvalues of the Jacobi matrix, the weights the squares of the first components of its eigenvectors. */
enum {
    MAX_NODES = 256,  /* the matrix is a full one to GSL: its cost grows as n^3 */
    WORKSPACE = 1000, /* intervals of an adaptive quadrature */
};

struct rule {
    size_t n;
    double a[MAX_NODES], b[MAX_NODES];
};

/* Nodes, and weights of sum 1. */
static enum icl_status solve(const struct rule *rule, double *z, double *w, struct icl_err *err) {
    const size_t n = rule->n;
    gsl_matrix *const jacobi = gsl_matrix_calloc(n, n), *const vectors = gsl_matrix_alloc(n, n);
    gsl_eigen_symmv_workspace *const space = gsl_eigen_symmv_alloc(n);
    gsl_vector_view nodes = gsl_vector_view_array(z, n);
    enum icl_status status = ICL_OK;
    double total = 0;
    int failure;

    if (!jacobi || !vectors || !space) {
        status = ICL_ERR(err, ICL_ENOMEM, "quadrature: no memory for %zu nodes", n);
        goto done;
    }
    for (size_t k = 0; k < n; k++) {
        gsl_matrix_set(jacobi, k, k, rule->a[k]);
        if (k > 0) gsl_matrix_set(jacobi, k, k - 1, rule->b[k]); /* the lower half is read */
    }
    failure = gsl_eigen_symmv(jacobi, &nodes.vector, vectors, space);
    if (!failure) failure = gsl_eigen_symmv_sort(&nodes.vector, vectors, GSL_EIGEN_SORT_VAL_ASC);
    if (failure) {
        status = ICL_ERR(err, ICL_ENUMERIC, "quadrature: %s for %zu nodes", gsl_strerror(failure), n);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        w[i] = gsl_matrix_get(vectors, 0, i) * gsl_matrix_get(vectors, 0, i);
        total += w[i];
    }
    for (size_t i = 0; i < n; i++) w[i] /= total;
done:
    if (space) gsl_eigen_symmv_free(space);
    if (vectors) gsl_matrix_free(vectors);
    if (jacobi) gsl_matrix_free(jacobi);
    return status;
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
