#include "iclkin/spline.h"

#include <gsl/gsl_bspline.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

struct icl_spline {
    size_t n, order, coefs, pieces;
    double first, step; /* of the breaks */
    double *power;      /* shape (pieces, order, order): of the order basis functions that live on a piece */
    gsl_vector *y, *c, *tau, *residual;
    gsl_matrix *X, *QR; /* the basis at the points, and its factors */
};

void icl_spline_free(struct icl_spline *spline) {
    if (!spline) return;
    if (spline->y) gsl_vector_free(spline->y);
    if (spline->c) gsl_vector_free(spline->c);
    if (spline->X) gsl_matrix_free(spline->X);
    if (spline->QR) gsl_matrix_free(spline->QR);
    if (spline->tau) gsl_vector_free(spline->tau);
    if (spline->residual) gsl_vector_free(spline->residual);
    icl_mem_free(spline->power);
    icl_mem_free(spline);
}

static double middle(const struct icl_spline *s, size_t i) {
    return s->first + s->step * ((double)i + 0.5);
}

/* The basis at the points, and its derivatives in the middle of each piece: a break belongs to two. */
static int fill(struct icl_spline *s, const double *x, gsl_bspline_workspace *basis, gsl_vector *b, gsl_matrix *d) {
    size_t from, to;
    int bad = gsl_bspline_knots_uniform(x[0], x[s->n - 1], basis);
    for (size_t i = 0; i < s->n && !bad; i++) {
        bad = gsl_bspline_eval(x[i], b, basis);
        for (size_t j = 0; j < s->coefs && !bad; j++) gsl_matrix_set(s->X, i, j, gsl_vector_get(b, j));
    }
    for (size_t i = 0; i < s->pieces && !bad; i++) {
        double factorial = 1;
        bad = gsl_bspline_deriv_eval_nonzero(middle(s, i), s->order - 1, d, &from, &to, basis);
        for (size_t k = 0; k < s->order && !bad; k++) {
            if (k > 0) factorial *= (double)k;
            for (size_t j = 0; j < s->order; j++) {
                const size_t coef =
                    i + j; /* rounding may put a break into the piece before it, where B_{i+order-1} is 0 */
                const double of = coef >= from && coef <= to ? gsl_matrix_get(d, coef - from, k) : 0;
                s->power[(i * s->order + k) * s->order + j] = of / factorial;
            }
        }
    }
    if (!bad) bad = gsl_matrix_memcpy(s->QR, s->X);
    return bad ? bad : gsl_linalg_QR_decomp(s->QR, s->tau);
}

enum icl_status icl_spline_alloc(struct icl_spline **spline, size_t n, const double *x, size_t order, size_t breaks,
                                 struct icl_err *err) {
    const size_t coefs = breaks + order - 2;
    if (breaks < 2 || n < coefs) return ICL_ERR(err, ICL_ERANGE, "spline: %zu points for %zu coefficients", n, coefs);
    ICL_TRY(icl_mem_alloc(spline, 1, sizeof **spline, err));
    struct icl_spline *s = *spline;
    *s = (struct icl_spline){.n = n, .order = order, .coefs = coefs, .pieces = breaks - 1, .first = x[0]};
    s->step = (x[n - 1] - x[0]) / (double)s->pieces;
    enum icl_status status = icl_mem_alloc(&s->power, s->pieces * order, order * sizeof *s->power, err);
    gsl_bspline_workspace *basis = gsl_bspline_alloc(order, breaks);
    gsl_vector *b = gsl_vector_alloc(coefs);
    gsl_matrix *d = gsl_matrix_alloc(order, order);
    s->y = gsl_vector_alloc(n);
    s->c = gsl_vector_alloc(coefs);
    s->X = gsl_matrix_alloc(n, coefs);
    s->QR = gsl_matrix_alloc(n, coefs);
    s->tau = gsl_vector_alloc(coefs);
    s->residual = gsl_vector_alloc(n);
    const bool whole = basis && b && d && s->y && s->c && s->X && s->QR && s->tau && s->residual;
    if (status == ICL_OK && !whole) status = ICL_ERR(err, ICL_ENOMEM, "spline of %zu points", n);
    if (status == ICL_OK && fill(s, x, basis, b, d) != 0)
        status = ICL_ERR(err, ICL_ENUMERIC, "spline of %zu points", n);
    if (basis) gsl_bspline_free(basis);
    if (b) gsl_vector_free(b);
    if (d) gsl_matrix_free(d);
    if (status == ICL_OK) return ICL_OK;
    icl_spline_free(s);
    *spline = NULL;
    return status;
}

size_t icl_spline_coefs(const struct icl_spline *spline) {
    return spline->coefs;
}

size_t icl_spline_pieces(const struct icl_spline *spline) {
    return spline->pieces;
}

double icl_spline_step(const struct icl_spline *spline) {
    return spline->step;
}

enum icl_status icl_spline_solve(struct icl_spline *s, const double *y, size_t stride, double *c, struct icl_err *err) {
    for (size_t i = 0; i < s->n; i++) gsl_vector_set(s->y, i, y[i * stride]);
    if (gsl_linalg_QR_lssolve(s->QR, s->tau, s->y, s->c, s->residual) != 0)
        return ICL_ERR(err, ICL_ENUMERIC, "spline of %zu points", s->n);
    for (size_t j = 0; j < s->coefs; j++) c[j] = gsl_vector_get(s->c, j);
    return ICL_OK;
}

void icl_spline_values(const struct icl_spline *s, const double *c, double *y, size_t stride) {
    for (size_t i = 0; i < s->n; i++) {
        double f = 0;
        for (size_t j = 0; j < s->coefs; j++) f += gsl_matrix_get(s->X, i, j) * c[j];
        y[i * stride] = f;
    }
}

void icl_spline_powers(const struct icl_spline *s, const double *c, double *power, size_t stride) {
    for (size_t i = 0; i < s->pieces; i++)
        for (size_t k = 0; k < s->order; k++) {
            const double *of = s->power + (i * s->order + k) * s->order;
            double sum = 0;
            for (size_t j = 0; j < s->order; j++) sum += of[j] * c[i + j];
            power[(i * s->order + k) * stride] = sum;
        }
}
