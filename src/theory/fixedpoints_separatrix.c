/* fixedpoints_separatrix.c -- the stable manifold of a saddle, backwards in time to the window's edge. */
#include <math.h>

#include "base/mem.h"
#include "iclkin/ode.h"
#include "theory/fixedpoints_field.h"

/* The field along its arc length: it then takes as long to leave the saddle as to cross the window, whatever e^beta
 * makes of the speed. `still` is the speed below which the orbit has come to another fixed point. */
struct flow {
    const struct icl_fixedpoints_field *field;
    const struct icl_fixedpoints_window *window;
    double still;
};

static int arc(double length, const double *y, double *dydl, void *context) {
    const struct flow *flow = context;
    double f[2];
    (void)length;
    icl_fixedpoints_field_at(flow->field, y, f, NULL);
    const double speed = hypot(hypot(f[0], f[1]), flow->still);
    dydl[0] = f[0] / speed;
    dydl[1] = f[1] / speed;
    return 0;
}

static int arc_jacobian(double length, const double *y, double *dfdy, double *dfdl, void *context) {
    const struct flow *flow = context;
    double f[2], J[4];
    (void)length;
    icl_fixedpoints_field_at(flow->field, y, f, J);
    const double speed = hypot(hypot(f[0], f[1]), flow->still);
    for (int j = 0; j < 2; j++) {
        const double along = (f[0] * J[j] + f[1] * J[2 + j]) / (speed * speed);
        for (int i = 0; i < 2; i++) dfdy[2 * i + j] = (J[2 * i + j] - f[i] * along) / speed;
        dfdl[j] = 0;
    }
    return 0;
}

static double margin(double length, const double *y, void *context) {
    const struct flow *flow = context;
    (void)length;
    return icl_fixedpoints_field_margin(flow->window, y);
}

/* The unit eigenvector of the smaller eigenvalue. */
static void stable_direction(const struct flow *flow, const struct icl_fixedpoints_point *saddle, double direction[2]) {
    const double y[2] = {saddle->w, saddle->beta}, mu = saddle->re[1];
    double f[2], J[4];
    icl_fixedpoints_field_at(flow->field, y, f, J);
    const double a[2] = {J[1], mu - J[0]}, b[2] = {mu - J[3], J[2]};
    const double *v = hypot(a[0], a[1]) >= hypot(b[0], b[1]) ? a : b, norm = hypot(v[0], v[1]);
    direction[0] = v[0] / norm;
    direction[1] = v[1] / norm;
}

struct path {
    size_t count, size;
    double (*at)[2]; /* shape (count) */
};

static enum icl_status add(struct path *path, const double y[2], struct icl_err *err) {
    if (path->count == path->size) {
        const size_t size = 2 * path->size + 256;
        ICL_TRY(icl_mem_grow(&path->at, path->size, size, sizeof *path->at, err));
        path->size = size;
    }
    path->at[path->count][0] = y[0];
    path->at[path->count++][1] = y[1];
    return ICL_OK;
}

/* The last step: at its end, and closely enough between to be drawn. */
static enum icl_status add_step(struct icl_ode *ode, double end, double spacing, struct path *path,
                                struct icl_err *err) {
    const double begin = icl_ode_t_before(ode);
    const size_t parts = (size_t)ceil(fmax(1, fabs(end - begin) / spacing));
    for (size_t i = 1; i <= parts; i++) {
        const double at = i == parts ? end : begin + (end - begin) * ((double)i / (double)parts);
        double y[2];
        ICL_TRY(icl_ode_at(ode, at, y, err));
        ICL_TRY(add(path, y, err));
    }
    return ICL_OK;
}

/* One side of the manifold. */
static enum icl_status side(struct icl_ode *ode, struct flow *flow, const double y0[2], struct path *path,
                            struct icl_err *err) {
    enum { ROOM = 8, PARTS = 4 };
    const struct icl_fixedpoints_window *window = flow->window;
    const double across = hypot(window->w_hi - window->w_lo, window->beta_hi - window->beta_lo);
    const double longest = 100 * across, spacing = across / 400;
    if (!icl_fixedpoints_field_inside(window, y0)) return ICL_OK;
    ICL_TRY(icl_ode_init(ode, 0, y0, -longest, err));
    ICL_TRY(add(path, y0, err));
    while (!icl_ode_done(ode)) {
        double root[ROOM], f[2];
        size_t roots;
        ICL_TRY(icl_ode_step(ode, err));
        ICL_TRY(icl_ode_locate(ode, margin, flow, PARTS, ROOM, root, &roots, err));
        ICL_TRY(add_step(ode, roots > 0 ? root[0] : icl_ode_t(ode), spacing, path, err));
        icl_fixedpoints_field_at(flow->field, icl_ode_y(ode), f, NULL);
        if (roots > 0 || hypot(f[0], f[1]) < 10 * flow->still) break;
    }
    return ICL_OK;
}

static enum icl_status both_sides(struct icl_ode *ode, struct flow *flow, const struct icl_fixedpoints_point *saddle,
                                  struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    /* What the straight start leaves out, of order offset^2, shrinks backwards in time. */
    const double offset = 1e-5;
    struct path path[2] = {{0}, {0}};
    double direction[2];
    enum icl_status status = ICL_OK;
    stable_direction(flow, saddle, direction);
    for (int i = 0; i < 2 && status == ICL_OK; i++) {
        const double step = i == 0 ? offset : -offset;
        const double y[2] = {saddle->w + step * direction[0], saddle->beta + step * direction[1]};
        status = side(ode, flow, y, &path[i], err);
    }
    for (size_t i = path[0].count; i > 0 && status == ICL_OK; i--)
        status = icl_fixedpoints_curves_push(curves, ICL_FIXEDPOINTS_SEPARATRIX, path[0].at[i - 1][0],
                                             path[0].at[i - 1][1], err);
    if (status == ICL_OK)
        status = icl_fixedpoints_curves_push(curves, ICL_FIXEDPOINTS_SEPARATRIX, saddle->w, saddle->beta, err);
    for (size_t i = 0; i < path[1].count && status == ICL_OK; i++)
        status =
            icl_fixedpoints_curves_push(curves, ICL_FIXEDPOINTS_SEPARATRIX, path[1].at[i][0], path[1].at[i][1], err);
    if (status == ICL_OK) curves->pieces++;
    icl_mem_free(path[0].at);
    icl_mem_free(path[1].at);
    return status;
}

enum icl_status icl_fixedpoints_separatrix(const struct icl_params *params, double s,
                                           const struct icl_fixedpoints_window *window,
                                           const struct icl_fixedpoints_point *saddle,
                                           struct icl_fixedpoints_curves *curves, struct icl_err *err) {
    const double y[2] = {saddle->w, saddle->beta}, little = 1e-9;
    struct icl_fixedpoints_field field;
    struct flow flow = {&field, window, little * hypot(saddle->re[0], saddle->re[1])};
    struct icl_ode *ode = NULL;
    ICL_TRY(icl_fixedpoints_check(window, err));
    if (saddle->type != ICL_FIXEDPOINTS_SADDLE || !icl_fixedpoints_field_inside(window, y)) return ICL_OK;
    ICL_TRY(icl_fixedpoints_field_init(&field, params, s, NULL, err));
    const struct icl_ode_system system = {2, arc, arc_jacobian, &flow};
    const struct icl_ode_control control = {params->solver.method, params->solver.rtol, params->solver.atol, 0,
                                            params->solver.max_steps};
    enum icl_status status = icl_ode_alloc(&ode, &system, &control, err);
    if (status == ICL_OK) status = both_sides(ode, &flow, saddle, curves, err);
    icl_ode_free(ode);
    icl_fixedpoints_field_done(&field);
    if (status != ICL_OK)
        return icl_err_context(err, status, "separatrix of the saddle w = %g, beta = %g", saddle->w, saddle->beta);
    return ICL_OK;
}
