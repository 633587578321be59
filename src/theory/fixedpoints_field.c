#include "theory/fixedpoints_field.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

static bool is_decay(const struct icl_param *param) {
    return param && (strcmp(param->key, "lambda") == 0 || strcmp(param->key, "lambda_w") == 0 ||
                     strcmp(param->key, "lambda_beta") == 0);
}

/* The model of the present parameters; without decay where that is what varies: it is added in
 * icl_fixedpoints_field_at, and the model, whose nodes cost more than many evaluations, serves every x. */
static enum icl_status make(const struct icl_fixedpoints_field *field, struct icl_model **model, struct icl_err *err) {
    struct icl_params params = field->params;
    if (is_decay(field->param)) params.train.lambda_w = params.train.lambda_beta = 0;
    return icl_model_alloc(model, &params, params.theory.level, params.task.K, err);
}

static void set_decay(struct icl_fixedpoints_field *field) {
    const bool apart = is_decay(field->param) && field->params.theory.level != ICL_LEVEL_ASYMPTOTIC;
    field->decay[0] = apart ? field->params.train.lambda_w : 0;
    field->decay[1] = apart ? field->params.train.lambda_beta : 0;
}

enum icl_status icl_fixedpoints_field_init(struct icl_fixedpoints_field *field, const struct icl_params *params,
                                           double s, const struct icl_param *param, struct icl_err *err) {
    field->params = *params;
    field->param = param;
    field->s = s;
    field->x = param ? icl_params_get(params, param) : 0;
    set_decay(field);
    return make(field, &field->model, err);
}

void icl_fixedpoints_field_done(struct icl_fixedpoints_field *field) {
    icl_model_free(field->model);
    field->model = NULL;
}

enum icl_status icl_fixedpoints_field_set(struct icl_fixedpoints_field *field, double x, struct icl_err *err) {
    struct icl_model *model;
    if (x == field->x) return ICL_OK;
    ICL_TRY(icl_params_put(&field->params, field->param, x, err));
    if (!is_decay(field->param)) {
        ICL_TRY(make(field, &model, err));
        icl_model_free(field->model);
        field->model = model;
    }
    set_decay(field);
    field->x = x;
    return ICL_OK;
}

void icl_fixedpoints_field_at(const struct icl_fixedpoints_field *field, const double y[2], double f[2], double J[4]) {
    icl_model_field(field->model, field->s, y[0], y[1], f, J);
    for (int i = 0; i < 2; i++) {
        f[i] -= field->decay[i] * y[i];
        if (J) J[3 * i] -= field->decay[i];
    }
}

/* Newton stops by its own step; what it stops at is exact to the rounding of the field. */
bool icl_fixedpoints_field_newton(const struct icl_fixedpoints_field *field, double reach, double y[2]) {
    enum { ITERATIONS = 40 };
    const double start[2] = {y[0], y[1]}, enough = 1e-9, rounding = 1e-16;
    double at[2] = {y[0], y[1]}, f[2], J[4], last = INFINITY;
    for (int i = 0; i < ITERATIONS; i++) {
        icl_fixedpoints_field_at(field, at, f, J);
        const double det = J[0] * J[3] - J[1] * J[2];
        const double step[2] = {(J[1] * f[1] - J[3] * f[0]) / det, (J[2] * f[0] - J[0] * f[1]) / det};
        const double size = hypot(step[0], step[1]), unit = 1 + hypot(at[0], at[1]);
        if (f[0] == 0 && f[1] == 0) last = 0;
        /* steps that no longer shrink are rounding */
        if (last <= rounding * unit || (last <= enough * unit && !(size < 0.5 * last))) {
            y[0] = at[0];
            y[1] = at[1];
            return true;
        }
        at[0] += step[0];
        at[1] += step[1];
        if (!(hypot(at[0] - start[0], at[1] - start[1]) <= reach)) return false;
        last = size;
    }
    return false;
}

/* |det J| that counts as zero, in units of |J|^2: a fold is known to rounding, and det J goes with the square root. */
static const double flat = 1e-7;

void icl_fixedpoints_field_point(const struct icl_fixedpoints_field *field, const double y[2],
                                 struct icl_fixedpoints_point *point) {
    double f[2], J[4];
    icl_fixedpoints_field_at(field, y, f, J);
    const double mean = (J[0] + J[3]) / 2, half = (J[0] - J[3]) / 2, disc = half * half + J[1] * J[2];
    const double root = sqrt(fabs(disc)), det = J[0] * J[3] - J[1] * J[2];
    const double norm = J[0] * J[0] + J[1] * J[1] + J[2] * J[2] + J[3] * J[3];
    point->x = field->x;
    point->w = y[0];
    point->beta = y[1];
    point->im[0] = disc < 0 ? root : 0;
    point->im[1] = disc < 0 ? -root : 0;
    point->re[0] = point->re[1] = mean;
    if (disc >= 0) { /* the larger one by the sum without cancellation, the other from the product */
        const double large = mean < 0 ? mean - root : mean + root, other = large != 0 ? det / large : 0;
        point->re[0] = fmax(large, other);
        point->re[1] = fmin(large, other);
    }
    if (fabs(det) <= flat * norm)
        point->type = ICL_FIXEDPOINTS_FOLD;
    else if (det < 0)
        point->type = ICL_FIXEDPOINTS_SADDLE;
    else
        point->type = mean < 0 ? ICL_FIXEDPOINTS_STABLE : ICL_FIXEDPOINTS_UNSTABLE;
}

enum icl_status icl_fixedpoints_field_push(struct icl_fixedpoints_points *points,
                                           const struct icl_fixedpoints_point *point, struct icl_err *err) {
    if (points->count == points->size) {
        const size_t size = 2 * points->size + 16;
        ICL_TRY(icl_mem_grow(&points->at, points->size, size, sizeof *points->at, err));
        points->size = size;
    }
    points->at[points->count++] = *point;
    return ICL_OK;
}

double icl_fixedpoints_field_margin(const struct icl_fixedpoints_window *window, const double y[2]) {
    return fmin(fmin(y[0] - window->w_lo, window->w_hi - y[0]), fmin(y[1] - window->beta_lo, window->beta_hi - y[1]));
}

bool icl_fixedpoints_field_inside(const struct icl_fixedpoints_window *window, const double y[2]) {
    return icl_fixedpoints_field_margin(window, y) >= 0;
}

double icl_fixedpoints_field_line(double lo, double hi, size_t n, size_t i) {
    if (i == 0) return lo;
    if (i == n) return hi;
    if (lo < 0 && hi > 0 && n > 1) {
        const size_t zero = (size_t)fmin(fmax(1, round((double)n * (-lo / (hi - lo)))), (double)n - 1);
        return i <= zero ? 0.0 + lo * ((double)(zero - i) / (double)zero)
                         : hi * ((double)(i - zero) / (double)(n - zero));
    }
    return lo + (hi - lo) * ((double)i / (double)n);
}
