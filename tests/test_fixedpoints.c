/* test_fixedpoints.c -- the frozen phase plane: saddle and fold in closed form (T9), the mean field's fold, stability
 * against integration, nullclines, separatrices against where starts go, continuation through folds and back. */
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "cli/cmd.h"
#include "fixtures.h"
#include "folder.h"
#include "iclkin/closed.h"
#include "iclkin/fixedpoints.h"

static struct icl_axis axis_of(const char *spec) {
    struct icl_err err;
    struct icl_axis axis;
    check_ok(icl_axis_parse(&axis, spec, &err), &err);
    return axis;
}

static struct icl_fixedpoints_points solve(const struct icl_params *params) {
    struct icl_err err;
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_window box;
    icl_fixedpoints_box(params, &box);
    check_ok(icl_fixedpoints_solve(params, 0, &box, &points, &err), &err);
    return points;
}

static struct icl_fixedpoints_points sweep(const struct icl_params *params, const char *spec) {
    struct icl_err err;
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_window box;
    const struct icl_axis axis = axis_of(spec);
    icl_fixedpoints_box(params, &box);
    check_ok(icl_fixedpoints_branches(params, 0, &box, &axis, &points, &err), &err);
    assert_int_equal(points.stalled, 0);
    return points;
}

static const struct icl_fixedpoints_point *of_type(const struct icl_fixedpoints_points *points,
                                                   enum icl_fixedpoints_type type, size_t nth) {
    for (size_t i = 0; i < points->count; i++)
        if (points->at[i].type == type && nth-- == 0) return &points->at[i];
    return NULL;
}

static size_t count_of(const struct icl_fixedpoints_points *points, enum icl_fixedpoints_type type) {
    size_t n = 0;
    for (size_t i = 0; i < points->count; i++) n += points->at[i].type == type;
    return n;
}

static double residual(const struct icl_params *params, double w, double beta, double x_scale) {
    struct icl_err err;
    struct icl_model *model;
    double f[2], J[4];
    check_ok(icl_model_alloc(&model, params, params->theory.level, params->task.K, &err), &err);
    icl_model_field(model, 0, w, beta, f, J);
    icl_model_free(model);
    return hypot(f[0], f[1]) / (hypot(hypot(J[0], J[1]), hypot(J[2], J[3])) * x_scale);
}

struct setting {
    double N, c1, c2, lambda_w, lambda_beta;
};

static struct icl_params reduced(const struct setting *set) {
    struct icl_params params = fixture_reduced(set->N, 0, 0, set->c1, set->c2);
    params.train.lambda_w = set->lambda_w;
    params.train.lambda_beta = set->lambda_beta;
    return params;
}

/* (T9): node and saddle are the two branches of Lambert's W. */
static void node_and_saddle_in_closed_form(void **state) {
    static const struct setting SETTINGS[] = {{100, 0.5, 0.5, 0.011, 0.011}, {100, 0.5, 0.5, 0.0104751, 0.0104751},
                                              {100, 0.5, 0.5, 0.3, 0.3},     {1e6, 0.5, 0.5, 1.2e-6, 1.2e-6},
                                              {10, 0.9, 0.1, 0.25, 0.25},    {100, 0.2, 0.8, 0.02, 0.004},
                                              {100, 0.5, 0.5, 0, 0.07},      {100, 0.5, 0, 0.001, 0.2},
                                              {50, 0.01, 0.99, 1e-3, 1e-3},  {100, 0.5, 0.5, 0.0105, 0.010456}};
    (void)state;
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        const struct setting *set = &SETTINGS[i];
        const struct icl_params params = reduced(set);
        struct icl_fixedpoints_points points = solve(&params);
        const double a = set->c1 / set->N, stiff = set->lambda_beta * (set->lambda_w + a * set->c2);
        double w, beta;
        assert_true(icl_closed_saddle(set->N, set->c1, set->c2, set->lambda_w, set->lambda_beta, &w, &beta));
        assert_int_equal(points.count, 2);
        assert_int_equal(points.at[0].type, ICL_FIXEDPOINTS_STABLE);
        assert_int_equal(points.at[1].type, ICL_FIXEDPOINTS_SADDLE);
        /* Rounding, over the distance 2 beta - 1 from the fold; seen 1e-15 far from it, 3e-14 at 4e-3. */
        const double rounding = 1e-14 / fmin(1, fabs(2 * beta - 1));
        check_rel(points.at[1].w, w, rounding);
        check_rel(points.at[1].beta, beta, rounding);
        const double node = -gsl_sf_lambert_W0(-2 * a * a / stiff) / 2;
        check_rel(points.at[0].beta, node, rounding);
        check_rel(points.at[0].w, sqrt(set->lambda_beta * node / (set->lambda_w + a * set->c2)), rounding);
        /* (T9): det J = Lambda lambda_beta (1 - 2 beta) */
        for (size_t k = 0; k < 2; k++)
            check_rel(points.at[k].re[0] * points.at[k].re[1], stiff * (1 - 2 * points.at[k].beta), 10 * rounding);
        icl_fixedpoints_free(&points);
    }
}

/* None below the fold, none without decay or with one of them (random labels); one saddle for balanced labels. */
static void where_there_is_none(void **state) {
    static const char *const NONE[] = {
        "theory.level=reduced train.lambda=0.0104",
        "theory.level=reduced",
        "theory.level=asymptotic train.lambda=0.02",
        "theory.level=reduced train.lambda_w=0.1",
        "theory.level=meanfield",
        "theory.level=meanfield train.lambda_w=0.1 task.D=inf",
    };
    static const char *const ORIGIN[] = {
        "theory.level=reduced task.labels=balanced",
        "theory.level=asymptotic task.labels=balanced",
        "theory.level=meanfield task.labels=balanced",
        "theory.level=meanfield task.labels=balanced task.D=inf task.N=20",
        "theory.level=reduced task.labels=balanced memory.law=constant memory.c2=0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        const struct icl_params params = fixture_params(NONE[i]);
        struct icl_fixedpoints_points points = solve(&params);
        assert_int_equal(points.count, 0);
        icl_fixedpoints_free(&points);
    }
    for (size_t i = 0; i < sizeof ORIGIN / sizeof *ORIGIN; i++) {
        const struct icl_params params = fixture_params(ORIGIN[i]);
        struct icl_fixedpoints_points points = solve(&params);
        assert_int_equal(points.count, 1);
        assert_int_equal(points.at[0].type, ICL_FIXEDPOINTS_SADDLE);
        check_abs(points.at[0].w, 0, 1e-15); /* rounding */
        check_abs(points.at[0].beta, 0, 1e-15);
        /* w' = a beta, beta' = a w to first order: rates +-a, which decay only shifts */
        check_rel(points.at[0].re[0], -points.at[0].re[1], 1e-14);
        icl_fixedpoints_free(&points);
    }
}

/* Balanced labels with decay, (T5): w^2 = (lambda_beta/lambda_w) beta (1 - e^-beta), one scalar equation in beta. */
static void balanced_with_decay(void **state) {
    const struct icl_params params =
        fixture_params("theory.level=reduced task.labels=balanced train.lambda_w=1e-3 train.lambda_beta=2e-3");
    struct icl_fixedpoints_points points = solve(&params);
    (void)state;
    assert_int_equal(points.count, 3);
    assert_int_equal(points.at[1].type, ICL_FIXEDPOINTS_SADDLE);
    for (size_t i = 0; i < 3; i += 2) {
        const double w = points.at[i].w, beta = points.at[i].beta, A = expm1(beta) / 100;
        assert_int_equal(points.at[i].type, ICL_FIXEDPOINTS_STABLE);
        check_rel(w * w, 2 * beta * -expm1(-beta), 1e-14);       /* rounding; seen 2e-16 */
        check_rel(0.5 * A * (1 - 0.5 * w * A), 1e-3 * w, 1e-12); /* the bracket is near 0: seen 2e-14 */
    }
    icl_fixedpoints_free(&points);
}

/* (T9): lambda_c with both decays equal, and the fold with two. */
static void fold_in_closed_form(void **state) {
    const double e = exp(1);
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct setting set = {i == 3 ? 1e4 : 100, i == 1 ? 0.05 : 0.5, i == 2 ? 0.1 : 0.5, 0, 0};
        struct icl_params params = reduced(&set);
        const double lambda_c = icl_closed_fold(set.N, set.c1, set.c2);
        char spec[200];
        snprintf(spec, sizeof spec, "train.lambda=%.17g:%.17g:5:log", lambda_c / 3, lambda_c * 5);
        struct icl_fixedpoints_points points = sweep(&params, spec);
        const struct icl_fixedpoints_point *fold = of_type(&points, ICL_FIXEDPOINTS_FOLD, 0);
        assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
        check_rel(fold->x, lambda_c, 1e-14); /* rounding; seen 3e-16 */
        check_rel(fold->beta, 0.5, 1e-14);
        check_abs(fold->re[0] / fold->re[1], 0, 1e-14);
        icl_fixedpoints_free(&points);
    }
    const double a = 0.005, c2 = 0.5;
    const struct {
        double lambda_w, lambda_beta; /* one of them swept: NaN */
        const char *spec;
        double fold;
    } TWO[] = {{NAN, 0.03, "train.lambda_w=0:0.05:7", 2 * e * a * a / 0.03 - a * c2},
               {0.002, NAN, "train.lambda_beta=0.005:0.2:7:log", 2 * e * a * a / (0.002 + a * c2)},
               {0, NAN, "train.lambda_beta=0.01:0.3:7", 2 * e * a / c2}};
    for (size_t i = 0; i < sizeof TWO / sizeof *TWO; i++) {
        const struct setting set = {100, 0.5, 0.5, isnan(TWO[i].lambda_w) ? 0 : TWO[i].lambda_w,
                                    isnan(TWO[i].lambda_beta) ? 0 : TWO[i].lambda_beta};
        const struct icl_params params = reduced(&set);
        struct icl_fixedpoints_points points = sweep(&params, TWO[i].spec);
        assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
        check_rel(of_type(&points, ICL_FIXEDPOINTS_FOLD, 0)->x, TWO[i].fold, 1e-14); /* rounding; seen 1e-15 */
        icl_fixedpoints_free(&points);
    }
    /* Memorization as the parameter, lambda and c2 fixed: lambda (lambda + a c2) = 2 e a^2 solved for a = c1/N. */
    const struct setting set = {100, 0.5, 0.5, 0.005, 0.005};
    const struct icl_params params = reduced(&set);
    struct icl_fixedpoints_points points = sweep(&params, "memory.c1=0.05:0.95:4");
    const double lambda = 0.005, half = lambda * c2 / (4 * e),
                 rate = half + sqrt(half * half + lambda * lambda / (2 * e));
    assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
    check_rel(of_type(&points, ICL_FIXEDPOINTS_FOLD, 0)->x, 100 * rate, 1e-14); /* rounding; seen 1e-16 */
    icl_fixedpoints_free(&points);
}

/* The mean field's fold at D infinite: 0.98212 and 0.99982 of the reduced one (notes/model.md, T9). */
static void fold_of_the_mean_field(void **state) {
    static const struct { double N, ratio; } ROWS[] = {{100, 0.98212}, {1e4, 0.99982}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct icl_params params = fixture_meanfield(ROWS[i].N, 0, 0, 0, false);
        const double lambda_c = icl_closed_fold(ROWS[i].N, 0.5, 0.5);
        char spec[200];
        snprintf(spec, sizeof spec, "train.lambda=%.17g:%.17g:2", lambda_c * 0.95, lambda_c * 1.05);
        struct icl_fixedpoints_points points = sweep(&params, spec);
        assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
        check_abs(of_type(&points, ICL_FIXEDPOINTS_FOLD, 0)->x / lambda_c, ROWS[i].ratio, 6e-6); /* its last digit */
        icl_fixedpoints_free(&points);
    }
}

/* Over the whole range of decay plateau, saddle and node are one branch with two folds: once through it, everything
 * that solve finds at the axis' values lies on it, and the other way round. */
static void one_branch_through_two_folds(void **state) {
    static const char *const SPECS[] = {"train.lambda=0.002:0.06:9:log", "train.lambda=0.06:0.002:9:log",
                                        "train.lambda=0.002:0.06:2"};
    double first[2] = {0, 0};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const struct icl_params params = fixture_params("task.D=inf task.K=inf");
        const struct icl_axis axis = axis_of(SPECS[k]);
        struct icl_fixedpoints_points points = sweep(&params, SPECS[k]);
        assert_int_equal(points.at[points.count - 1].branch, 0);
        assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 2);
        const bool down = axis.hi < axis.lo;
        for (size_t i = 0; i < 2; i++) {
            const double x = of_type(&points, ICL_FIXEDPOINTS_FOLD, down ? 1 - i : i)->x;
            if (k == 0) first[i] = x;
            check_rel(x, first[i], 1e-14); /* rounding: the same fold from another side */
        }
        assert_true(points.at[0].x == axis.lo && points.at[points.count - 1].x == axis.hi);
        for (size_t i = 1; i < points.count; i++) { /* neighbours are near: it is a curve */
            const struct icl_fixedpoints_point *p = &points.at[i], *q = p - 1;
            assert_true(hypot(p->w - q->w, p->beta - q->beta) < 0.5);
            struct icl_params at = params;
            at.train.lambda_w = at.train.lambda_beta = p->x;
            assert_true(residual(&at, p->w, p->beta, 1) < 1e-13); /* rounding; seen 1e-15 */
        }
        for (size_t i = 0; i < axis.n; i++) {
            struct icl_params at = params;
            double value;
            struct icl_err err;
            check_ok(icl_axis_set(&axis, i, &at, &value, &err), &err);
            struct icl_fixedpoints_points here = solve(&at);
            size_t matched = 0, rows = 0;
            for (size_t j = 0; j < points.count; j++) rows += points.at[j].x == value;
            for (size_t m = 0; m < here.count; m++)
                for (size_t j = 0; j < points.count; j++)
                    if (points.at[j].x == value && points.at[j].type == here.at[m].type &&
                        hypot(points.at[j].w - here.at[m].w, points.at[j].beta - here.at[m].beta) < 1e-10)
                        matched++;
            assert_int_equal(matched, here.count);
            assert_int_equal(rows, here.count);
            icl_fixedpoints_free(&here);
        }
        icl_fixedpoints_free(&points);
    }
}

/* A branch that neither end of the axis shows is found from between; an axis of one value is solve. */
static void ends_of_an_axis(void **state) {
    const struct setting set = {100, 0.5, 0.5, 0.011, 0.011};
    struct icl_params params = reduced(&set);
    struct icl_err err;
    (void)state;
    static const char *const ONE[] = {"train.lambda=0.011:0.5:1", "train.lambda=0.011:0.011:3"};
    struct icl_fixedpoints_points alone = solve(&params);
    for (size_t i = 0; i < 2; i++) {
        struct icl_fixedpoints_points points = sweep(&params, ONE[i]);
        assert_int_equal(points.count, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_true(points.at[k].x == 0.011 && points.at[k].branch == k && points.at[k].type == alone.at[k].type);
            check_rel(points.at[k].w, alone.at[k].w, 1e-14); /* rounding */
            check_rel(points.at[k].beta, alone.at[k].beta, 1e-14);
        }
        icl_fixedpoints_free(&points);
    }
    icl_fixedpoints_free(&alone);
    struct icl_fixedpoints_points none = sweep(&params, "train.lambda=0:0.01:5");
    assert_int_equal(none.count, 0);
    icl_fixedpoints_free(&none);
    /* A narrow window holds the fold but neither branch at the axis' ends: the rows end on the window's edge. */
    const struct icl_axis axis = axis_of("train.lambda=0.009:0.02:3");
    const struct icl_fixedpoints_window narrow = {0.5, 0.8, 0.3, 0.7};
    struct icl_fixedpoints_points points = {0};
    check_ok(icl_fixedpoints_branches(&params, 0, &narrow, &axis, &points, &err), &err);
    assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
    const struct icl_fixedpoints_point *ends[2] = {&points.at[0], &points.at[points.count - 1]};
    for (size_t i = 0; i < 2; i++) {
        const double margin =
            fmin(fmin(ends[i]->w - 0.5, 0.8 - ends[i]->w), fmin(ends[i]->beta - 0.3, 0.7 - ends[i]->beta));
        check_abs(margin, 0, 1e-12); /* the width of the bracket on the edge */
    }
    icl_fixedpoints_free(&points);
}

/* Balanced labels: the origin changes from saddle to node where lambda_w lambda_beta = a^2, and another branch crosses
 * it there; neither has a fold at the crossing. */
static void a_crossing_is_no_fold(void **state) {
    const struct icl_params params = fixture_params("theory.level=reduced task.labels=balanced");
    struct icl_fixedpoints_points points = sweep(&params, "train.lambda=0.001:0.1:11:log");
    (void)state;
    assert_int_equal(points.at[points.count - 1].branch, 1);
    assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 1);
    for (size_t i = 0; i < points.count; i++) {
        const struct icl_fixedpoints_point *p = &points.at[i];
        if (p->branch != 1) continue;
        check_abs(hypot(p->w, p->beta), 0, 1e-14); /* rounding over the distance from the crossing */
        check_rel(p->re[0], 0.005 - p->x, 1e-12);  /* rates +-a, less lambda */
        assert_int_equal(p->type, p->x < 0.005 ? ICL_FIXEDPOINTS_SADDLE : ICL_FIXEDPOINTS_STABLE);
    }
    icl_fixedpoints_free(&points);
}

/* At one clock c1 first rises, then falls with memory.p, so that plateau and saddle exist between two values of p only:
 * a closed branch, which no end of the axis shows. The field knows p by c1 alone: both folds have the same c1. */
static void a_closed_branch(void **state) {
    struct icl_params params = fixture_params("task.D=inf train.lambda=7e-4");
    const struct icl_axis axis = axis_of("memory.p=1.05:20:3:log");
    const double s = 3000;
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_window box;
    struct icl_err err;
    (void)state;
    icl_fixedpoints_box(&params, &box);
    check_ok(icl_fixedpoints_branches(&params, s, &box, &axis, &points, &err), &err);
    assert_int_equal(count_of(&points, ICL_FIXEDPOINTS_FOLD), 2);
    double c1[2];
    for (size_t i = 0; i < 2; i++) {
        const struct icl_fixedpoints_point *fold = of_type(&points, ICL_FIXEDPOINTS_FOLD, i);
        struct icl_memlaw law;
        struct icl_memlaw_rates rates;
        assert_int_equal(fold->branch, 1);
        params.memory.p = fold->x;
        check_ok(icl_memlaw_init(&params, params.task.K, &law, &err), &err);
        icl_memlaw_rates(&law, s, &rates);
        c1[i] = rates.c1;
    }
    check_rel(c1[0], c1[1], 1e-13); /* rounding; seen 5e-16 */
    const struct icl_fixedpoints_point *last = &points.at[points.count - 1], *first = last;
    while (first > points.at && first[-1].branch == 1) first--;
    assert_true(last->branch == 1 && first->x == last->x && first->w == last->w && first->beta == last->beta);
    icl_fixedpoints_free(&points);
}

static const char *const PLANES[] = {
    "theory.level=reduced memory.law=constant train.lambda=0.012",
    "theory.level=reduced memory.law=constant memory.c1=0.2 train.lambda_w=0.02 train.lambda_beta=0.004",
    "theory.level=reduced task.labels=balanced memory.law=constant train.lambda=0.002",
    "theory.level=meanfield task.D=inf task.K=inf train.lambda=0.0104",
    "theory.level=meanfield memory.law=constant memory.c1=0.3 train.lambda=0.0075",
    "theory.level=meanfield task.labels=balanced memory.law=constant train.lambda=0.002",
};
enum { PLANE_COUNT = sizeof PLANES / sizeof *PLANES };

/* Eigenvalues against GSL's of a Jacobian made by differences. */
static void eigenvalues_against_differences(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANE_COUNT; i++) {
        struct icl_params params = fixture_params(PLANES[i]);
        struct icl_fixedpoints_points points = solve(&params);
        struct icl_model *model;
        struct icl_err err;
        assert_true(points.count >= 2);
        check_ok(icl_model_alloc(&model, &params, params.theory.level, params.task.K, &err), &err);
        for (size_t k = 0; k < points.count; k++) {
            const double h = 1e-5, y[2] = {points.at[k].w, points.at[k].beta};
            double J[4];
            for (int j = 0; j < 2; j++) {
                double up[2], down[2];
                icl_model_field(model, 0, y[0] + (j == 0 ? h : 0), y[1] + (j == 1 ? h : 0), up, NULL);
                icl_model_field(model, 0, y[0] - (j == 0 ? h : 0), y[1] - (j == 1 ? h : 0), down, NULL);
                J[j] = (up[0] - down[0]) / (2 * h);
                J[2 + j] = (up[1] - down[1]) / (2 * h);
            }
            gsl_matrix_view matrix = gsl_matrix_view_array(J, 2, 2);
            gsl_vector_complex *value = gsl_vector_complex_alloc(2);
            gsl_eigen_nonsymm_workspace *work = gsl_eigen_nonsymm_alloc(2);
            assert_int_equal(gsl_eigen_nonsymm(&matrix.matrix, value, work), 0);
            const double a = GSL_REAL(gsl_vector_complex_get(value, 0)), b = GSL_REAL(gsl_vector_complex_get(value, 1));
            const double scale = fmax(fabs(a), fabs(b)), truncation = 1e-9; /* h^2 and rounding/h; seen 7e-11 */
            check_abs((points.at[k].re[0] - fmax(a, b)) / scale, 0, truncation);
            check_abs((points.at[k].re[1] - fmin(a, b)) / scale, 0, truncation);
            assert_true(points.at[k].im[0] == 0 && points.at[k].im[1] == 0); /* a gradient flow */
            gsl_eigen_nonsymm_free(work);
            gsl_vector_complex_free(value);
        }
        icl_model_free(model);
        icl_fixedpoints_free(&points);
    }
}

/* From nearby the distance goes as e^(re1 t): away from a saddle, into a node. */
static void stability_against_integration(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANE_COUNT; i++) {
        struct icl_params params = fixture_params(PLANES[i]);
        params.solver.rtol = 1e-13;
        params.solver.atol = 1e-15;
        struct icl_fixedpoints_points points = solve(&params);
        for (size_t k = 0; k < points.count; k++) {
            const struct icl_fixedpoints_point *p = &points.at[k];
            /* the slower (or unstable) direction wins over time; dt = dtau/(1 + e^beta) at the reduced level */
            const double rate = p->re[0] * (params.theory.level == ICL_LEVEL_REDUCED ? 1 / (1 + exp(p->beta)) : 1);
            const double span = 8 / (p->re[0] - p->re[1]) * (p->re[0] / rate), off = 1e-5;
            double y[ICL_DIM] = {p->w + off, p->beta + 0.7 * off, 0}, before, after;
            fixture_integrate(&params, params.theory.level, span, y);
            before = hypot(y[ICL_W] - p->w, y[ICL_BETA] - p->beta);
            const double more = fmin(1 / fabs(rate), span);
            fixture_integrate(&params, params.theory.level, more, y);
            after = hypot(y[ICL_W] - p->w, y[ICL_BETA] - p->beta);
            /* What is left of the faster direction, e^-8 squared, and the curvature, of order the distance. */
            check_abs(log(after / before), rate * more, 1e-3); /* seen 2e-4 */
            assert_int_equal(after > before, p->type == ICL_FIXEDPOINTS_SADDLE);
        }
        icl_fixedpoints_free(&points);
    }
}

static struct icl_fixedpoints_curves draw(const struct icl_params *params, struct icl_fixedpoints_points *points,
                                          const struct icl_fixedpoints_window *window) {
    struct icl_err err;
    struct icl_fixedpoints_curves curves = {0};
    check_ok(icl_fixedpoints_curves_nullclines(params, 0, window, 48, &curves, &err), &err);
    for (size_t i = 0; i < points->count; i++)
        check_ok(icl_fixedpoints_separatrix(params, 0, window, &points->at[i], &curves, &err), &err);
    return curves;
}

/* Every vertex is a root, neighbours share a cell, and every fixed point lies within a cell of both nullclines. */
static void nullclines_are_roots(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANE_COUNT; i++) {
        const struct icl_params params = fixture_params(PLANES[i]);
        struct icl_fixedpoints_points points = solve(&params);
        struct icl_fixedpoints_window view;
        struct icl_model *model;
        struct icl_err err;
        icl_fixedpoints_view(&params, &points, &view);
        struct icl_fixedpoints_curves curves = draw(&params, &points, &view);
        /* zero is a line of the grid: the others move by up to half a cell, cells grow by 1 in 8 (from 9 cells) */
        const double cell = 1.2 * hypot(view.w_hi - view.w_lo, view.beta_hi - view.beta_lo) / 48;
        check_ok(icl_model_alloc(&model, &params, params.theory.level, params.task.K, &err), &err);
        double nearest[2][8];
        for (size_t k = 0; k < 8; k++) nearest[0][k] = nearest[1][k] = INFINITY;
        for (size_t k = 0; k < curves.count; k++) {
            const struct icl_fixedpoints_vertex *v = &curves.at[k];
            double f[2], J[4];
            if (v->curve == ICL_FIXEDPOINTS_SEPARATRIX) continue;
            icl_model_field(model, 0, v->w, v->beta, f, J);
            const int which = v->curve == ICL_FIXEDPOINTS_BETA_NULLCLINE;
            const double slope = hypot(J[2 * which], J[2 * which + 1]);
            check_abs(f[which] / slope, 0, 1e-13); /* rounding, as a distance; seen 2e-15 */
            if (k > 0 && v[-1].piece == v->piece) assert_true(hypot(v->w - v[-1].w, v->beta - v[-1].beta) < cell);
            for (size_t m = 0; m < points.count; m++)
                nearest[which][m] = fmin(nearest[which][m], hypot(v->w - points.at[m].w, v->beta - points.at[m].beta));
        }
        for (size_t m = 0; m < points.count; m++) assert_true(fmax(nearest[0][m], nearest[1][m]) < cell);
        icl_model_free(model);
        icl_fixedpoints_curves_free(&curves);
        icl_fixedpoints_free(&points);
    }
}

/* (T5), random labels: w = a e^beta/(a c2 + lambda_w); without decay of beta the other nullcline is the axis w = 0. */
static void nullclines_in_closed_form(void **state) {
    const struct icl_params params = fixture_params("theory.level=reduced memory.law=constant train.lambda_w=0.01");
    const struct icl_fixedpoints_window windows[] = {{-2, 10, -3, 6}, {-1.7, 3.1, -0.4, 2.2}, {-4, 4, -4, 4}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct icl_fixedpoints_points none = {0};
        struct icl_fixedpoints_curves curves = draw(&params, &none, &windows[i]);
        size_t on_axis = 0;
        double lo = INFINITY, hi = -INFINITY;
        assert_int_equal(curves.pieces, 2);
        for (size_t k = 0; k < curves.count; k++) {
            const struct icl_fixedpoints_vertex *v = &curves.at[k];
            if (v->curve == ICL_FIXEDPOINTS_W_NULLCLINE) {
                check_rel(v->w, 0.005 * exp(v->beta) / (0.005 * 0.5 + 0.01), 1e-14); /* rounding */
                continue;
            }
            assert_true(v->w == 0);
            on_axis++;
            lo = fmin(lo, v->beta);
            hi = fmax(hi, v->beta);
        }
        assert_int_equal(on_axis, 49);
        assert_true(lo == windows[i].beta_lo && hi == windows[i].beta_hi);
        icl_fixedpoints_curves_free(&curves);
    }
}

/* One cell all of whose edges are crossed joins them as a fine grid does. */
static void a_cell_crossed_four_times(void **state) {
    const struct icl_params params = fixture_params(
        "theory.level=reduced task.labels=balanced memory.law=constant train.lambda_w=0.5 train.lambda_beta=2e-3");
    const struct icl_fixedpoints_window window = {0.1, 20, 0.5, 4};
    struct icl_fixedpoints_curves coarse = {0}, fine = {0};
    struct icl_err err;
    size_t pieces = 0;
    (void)state;
    check_ok(icl_fixedpoints_curves_nullclines(&params, 0, &window, 1, &coarse, &err), &err);
    check_ok(icl_fixedpoints_curves_nullclines(&params, 0, &window, 64, &fine, &err), &err);
    for (size_t k = 1; k < coarse.count; k++) {
        const struct icl_fixedpoints_vertex *b = &coarse.at[k], *a = b - 1;
        if (b->curve != ICL_FIXEDPOINTS_BETA_NULLCLINE || a->piece != b->piece) continue;
        size_t at_a = SIZE_MAX, at_b = SIZE_MAX;
        for (size_t m = 0; m < fine.count; m++) {
            const struct icl_fixedpoints_vertex *v = &fine.at[m];
            if (v->curve != b->curve) continue;
            if (hypot(v->w - a->w, v->beta - a->beta) < 1e-9) at_a = v->piece;
            if (hypot(v->w - b->w, v->beta - b->beta) < 1e-9) at_b = v->piece;
        }
        assert_true(at_a != SIZE_MAX && at_a == at_b);
        pieces++;
    }
    assert_int_equal(pieces, 2);
    icl_fixedpoints_curves_free(&coarse);
    icl_fixedpoints_curves_free(&fine);
}

/* (T7b): the stable manifold of the balanced saddle. */
static void balanced_separatrix(void **state) {
    static const char *const SAME[] = {"theory.level=asymptotic task.labels=balanced",
                                       "theory.level=reduced task.labels=balanced memory.law=constant memory.c2=0"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct icl_params params = fixture_params(SAME[i]);
        const struct icl_fixedpoints_window window = {-3, 6, -4, 5};
        struct icl_fixedpoints_points points = solve(&params);
        struct icl_fixedpoints_curves curves = draw(&params, &points, &window);
        size_t vertices = 0;
        for (size_t k = 0; k < curves.count; k++) {
            const struct icl_fixedpoints_vertex *v = &curves.at[k];
            if (v->curve != ICL_FIXEDPOINTS_SEPARATRIX) continue;
            /* truncation: 100 steps of rtol 1e-9, most of them better; seen 6e-11 */
            check_abs(v->w, icl_closed_separatrix_balanced(v->beta), 1e-9);
            vertices++;
        }
        assert_true(vertices > 100);
        icl_fixedpoints_curves_free(&curves);
        icl_fixedpoints_free(&points);
    }
}

static double beta_on(const struct icl_fixedpoints_curves *curves, double w) {
    double beta = NAN;
    for (size_t k = 1; k < curves->count; k++) {
        const struct icl_fixedpoints_vertex *b = &curves->at[k], *a = b - 1;
        if (a->piece != b->piece || b->curve != ICL_FIXEDPOINTS_SEPARATRIX) continue;
        if ((a->w <= w) != (b->w <= w)) beta = a->beta + (b->beta - a->beta) * (w - a->w) / (b->w - a->w);
    }
    return beta;
}

/* Whether a start ends beyond the saddle, by the full dynamics. */
static bool acquires(const struct icl_params *params, double w, double beta, double beta_saddle) {
    struct icl_params from = *params;
    from.init.w = w;
    from.init.beta = beta;
    const struct icl_traj_result result = fixture_solve(
        &from, params->theory.level, params->theory.level == ICL_LEVEL_REDUCED ? ICL_TRAJ_TO_BLOWUP : ICL_TRAJ_TO_END);
    if (params->theory.level == ICL_LEVEL_REDUCED) return isfinite(result.t_blowup);
    return result.y[ICL_BETA] > beta_saddle;
}

/* Random starts, and starts a hair beside the curve, go where the separatrix says. */
static void the_separatrix_divides(void **state) {
    static const char *const DIVIDED[] = {
        "theory.level=reduced memory.law=constant train.lambda=0.012",
        "theory.level=reduced memory.law=constant memory.c1=0.2 train.lambda_w=0.02 train.lambda_beta=0.004",
        "theory.level=meanfield task.D=inf task.K=inf train.lambda=0.0104 train.t_max=2e4",
        "theory.level=meanfield memory.law=constant memory.c1=0.3 train.lambda=0.0075 train.t_max=2e4",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof DIVIDED / sizeof *DIVIDED; i++) {
        const struct icl_params params = fixture_params(DIVIDED[i]);
        const struct icl_fixedpoints_window window = {-2, 6, -3, 4};
        struct icl_fixedpoints_points points = solve(&params);
        struct icl_fixedpoints_curves curves = draw(&params, &points, &window);
        const double saddle = of_type(&points, ICL_FIXEDPOINTS_SADDLE, 0)->beta;
        size_t above = 0, below = 0;
        fixture_seed(i);
        for (int k = 0; k < 60; k++) {
            const double w = fixture_uniform(-2, 5), edge = beta_on(&curves, w);
            if (isnan(edge)) continue; /* the curve has left the window by its top */
            /* linear interpolation between vertices 0.03 apart is good to 1e-4 */
            const double beta = k < 30 ? fixture_uniform(-3, 4) : edge + (k % 2 ? 1e-3 : -1e-3);
            *(beta > edge ? &above : &below) += 1;
            assert_int_equal(acquires(&params, w, beta, saddle), beta > edge);
        }
        assert_true(above > 15 && below > 15);
        icl_fixedpoints_curves_free(&curves);
        icl_fixedpoints_free(&points);
    }
}

/* Memorization is frozen at the clock that was asked for: a law's state at s is the constant law of its c1. */
static void frozen_at_the_clock(void **state) {
    const struct icl_params law = fixture_params("train.lambda=0.005 task.D=inf");
    struct icl_params same = fixture_params("train.lambda=0.005 task.D=inf memory.law=constant");
    struct icl_fixedpoints_points at = {0}, constant;
    struct icl_fixedpoints_window box;
    struct icl_memlaw memlaw;
    struct icl_memlaw_rates rates;
    struct icl_err err;
    const double s = 300;
    (void)state;
    check_ok(icl_memlaw_init(&law, law.task.K, &memlaw, &err), &err);
    icl_memlaw_rates(&memlaw, s, &rates);
    assert_true(rates.c1 < 0.3);
    same.memory.c1 = rates.c1;
    icl_fixedpoints_box(&law, &box);
    check_ok(icl_fixedpoints_solve(&law, s, &box, &at, &err), &err);
    constant = solve(&same);
    assert_int_equal(at.count, 3);
    assert_int_equal(constant.count, 3);
    for (size_t i = 0; i < 3; i++) {
        check_rel(at.at[i].w, constant.at[i].w, 1e-14); /* rounding */
        check_rel(at.at[i].beta, constant.at[i].beta, 1e-14);
    }
    icl_fixedpoints_free(&at);
    icl_fixedpoints_free(&constant);
}

static void refuses(void **state) {
    const struct icl_params params = fixture_params("memory.law=constant");
    struct icl_params none = fixture_params("memory.law=constant task.K=inf");
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_curves curves = {0};
    struct icl_err err;
    const struct icl_fixedpoints_window box = {-2, 10, -3, 6}, empty = {1, 1, -3, 6}, nan = {-2, 10, NAN, 6},
                                        wide = {-2, 10, -3, 600};
    static const char *const AXES[] = {"task.K=100:1000:3", "init.w=0:1:3", "solver.rtol=1e-9:1e-6:3",
                                       "memory.A=1:2:3"};
    (void)state;
    for (size_t i = 0; i < sizeof AXES / sizeof *AXES; i++) {
        const struct icl_axis axis = axis_of(AXES[i]);
        check_fails(icl_fixedpoints_branches(&params, 0, &box, &axis, &points, &err), ICL_EUSAGE, &err,
                    i < 3 ? "cannot be continued" : "memory.law = powerlaw");
    }
    const struct icl_axis c1 = axis_of("memory.c1=0.1:0.9:3");
    const struct icl_axis c2 = axis_of("memory.c2=0.1:0.9:3"), lambda = axis_of("train.lambda=0.1:0.9:3");
    const struct icl_params asymptotic = fixture_params("theory.level=asymptotic");
    check_fails(icl_fixedpoints_branches_check(&params, &c2, &err), ICL_EUSAGE, &err, "at this theory.level");
    check_fails(icl_fixedpoints_branches_check(&asymptotic, &lambda, &err), ICL_EUSAGE, &err, "at this theory.level");
    check_fails(icl_fixedpoints_branches_check(&none, &c1, &err), ICL_EUSAGE, &err, "K finite");
    check_fails(icl_fixedpoints_solve(&params, 0, &empty, &points, &err), ICL_EUSAGE, &err, "begin below its end");
    check_fails(icl_fixedpoints_solve(&params, 0, &nan, &points, &err), ICL_EUSAGE, &err, "begin below its end");
    check_fails(icl_fixedpoints_solve(&params, 0, &wide, &points, &err), ICL_EUSAGE, &err, "|beta| <= 300");
    check_fails(icl_fixedpoints_curves_nullclines(&params, 0, &box, 0, &curves, &err), ICL_EUSAGE, &err, "cells = 0");
    assert_int_equal(points.count, 0);
    assert_int_equal(curves.count, 0);
}

/* The nth allocation fails, for every n: an error, and nothing held. */
static void memory_runs_out(void **state) {
    const struct setting set = {100, 0.5, 0.5, 0.012, 0.012};
    const struct icl_params params = reduced(&set);
    const struct icl_axis axis = axis_of("train.lambda=0.009:0.02:3");
    const size_t held = icl_mem_held();
    (void)state;
    for (size_t n = 1; n < 1000; n++) {
        struct icl_fixedpoints_points points = {0}, branches = {0};
        struct icl_fixedpoints_curves curves = {0};
        const struct icl_fixedpoints_window box = {-2, 10, -3, 6};
        struct icl_err err;
        icl_mem_fail_at(n);
        enum icl_status status = icl_fixedpoints_solve(&params, 0, &box, &points, &err);
        if (status == ICL_OK) status = icl_fixedpoints_curves_nullclines(&params, 0, &box, 8, &curves, &err);
        for (size_t i = 0; i < points.count && status == ICL_OK; i++)
            status = icl_fixedpoints_separatrix(&params, 0, &box, &points.at[i], &curves, &err);
        if (status == ICL_OK) status = icl_fixedpoints_branches(&params, 0, &box, &axis, &branches, &err);
        icl_mem_fail_at(0);
        icl_fixedpoints_free(&points);
        icl_fixedpoints_free(&branches);
        icl_fixedpoints_curves_free(&curves);
        assert_int_equal(icl_mem_held(), held);
        if (status == ICL_OK) {
            assert_true(n > 20);
            return;
        }
        assert_int_equal(status, ICL_ENOMEM);
    }
    fail_msg("it never succeeded");
}

static struct icl_table *run_command(struct cmd_line *line, const char *name) {
    struct icl_err err;
    struct icl_table *table;
    static char path[512];
    snprintf(path, sizeof path, "%s", folder_path(name));
    line->command = "fixedpoints";
    line->quiet = true;
    line->output = path;
    check_ok(cmd_fixedpoints(line, &err), &err);
    check_ok(icl_table_read(&table, path, &err), &err);
    return table;
}

/* The command's tables: whole even where there is nothing, and what they hold. */
static void the_command(void **state) {
    struct cmd_line line = {.params = fixture_params("theory.level=reduced")};
    struct icl_err err;
    char curves[512];
    (void)state;
    struct icl_table *table = run_command(&line, "none.tsv");
    assert_int_equal(icl_table_rows(table), 0);
    assert_int_equal(icl_table_columns(table), 8);
    assert_string_equal(icl_table_column_name(table, 0), "branch");
    assert_string_equal(icl_table_get_meta(table, "theory.level"), "reduced");
    icl_table_free(table);

    line.params = fixture_params("theory.level=reduced train.lambda=0.012");
    snprintf(curves, sizeof curves, "%s", folder_path("curves.tsv"));
    line.curves = curves;
    line.xaxis = "train.lambda=0.005:0.02:4";
    line.window = "-2:10:-3:6";
    table = run_command(&line, "sweep.tsv");
    assert_int_equal(icl_table_columns(table), 9);
    assert_string_equal(icl_table_column_name(table, 0), "train.lambda");
    size_t type, folds = 0;
    check_ok(icl_table_find(table, "type", &type, &err), &err);
    for (size_t i = 0; i < icl_table_rows(table); i++) folds += strcmp(icl_table_cell(table, i, type), "fold") == 0;
    assert_int_equal(folds, 1);
    icl_table_free(table);
    check_ok(icl_table_read(&table, curves, &err), &err);
    assert_string_equal(icl_table_column_name(table, 0), "curve");
    assert_string_equal(icl_table_cell(table, icl_table_rows(table) - 1, 0), "separatrix");
    icl_table_free(table);

    static const char *const BAD[] = {"-2:10:-3", "a:b:c:d", "1:2:3:4:5", "2:1:0:1", ""};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        line.window = BAD[i];
        check_fails(cmd_fixedpoints(&line, &err), ICL_EUSAGE, &err, "window");
    }
    line.window = NULL;
    line.at = "-1";
    check_fails(cmd_fixedpoints(&line, &err), ICL_EUSAGE, &err, "--at -1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_and_saddle_in_closed_form),
        cmocka_unit_test(where_there_is_none),
        cmocka_unit_test(balanced_with_decay),
        cmocka_unit_test(fold_in_closed_form),
        cmocka_unit_test(fold_of_the_mean_field),
        cmocka_unit_test(one_branch_through_two_folds),
        cmocka_unit_test(ends_of_an_axis),
        cmocka_unit_test(a_crossing_is_no_fold),
        cmocka_unit_test(a_closed_branch),
        cmocka_unit_test(eigenvalues_against_differences),
        cmocka_unit_test(stability_against_integration),
        cmocka_unit_test(nullclines_are_roots),
        cmocka_unit_test(nullclines_in_closed_form),
        cmocka_unit_test(a_cell_crossed_four_times),
        cmocka_unit_test(balanced_separatrix),
        cmocka_unit_test(the_separatrix_divides),
        cmocka_unit_test(frozen_at_the_clock),
        cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(the_command),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
