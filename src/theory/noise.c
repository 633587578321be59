#include "iclkin/noise.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "iclkin/gauge.h"
#include "iclkin/ode.h"

/* The state, and the upper triangle of Sigma batch/lr by rows. */
enum { TRIANGLE = ICL_DIM * (ICL_DIM + 1) / 2, JOINT = ICL_DIM + TRIANGLE };

static void unpack(const double *triangle, double Sigma[ICL_DIM * ICL_DIM]) {
    for (size_t i = 0; i < ICL_DIM; i++)
        for (size_t j = i; j < ICL_DIM; j++) Sigma[ICL_DIM * i + j] = Sigma[ICL_DIM * j + i] = *triangle++;
}

static int rhs(double t, const double *y, double *dydt, void *context) {
    double J[ICL_DIM * ICL_DIM], Sigma[ICL_DIM * ICL_DIM], C[3];
    double *d = dydt + ICL_DIM;
    (void)t;
    icl_model_linear(context, y, dydt, J, C);
    unpack(y + ICL_DIM, Sigma);
    const double source[TRIANGLE] = {C[0], C[1], 0, C[2], 0, 0}; /* ww, w beta, ws, beta beta, beta s, ss */
    for (size_t i = 0, at = 0; i < ICL_DIM; i++)
        for (size_t j = i; j < ICL_DIM; j++, at++) {
            d[at] = source[at];
            for (size_t k = 0; k < ICL_DIM; k++)
                d[at] += J[ICL_DIM * i + k] * Sigma[ICL_DIM * k + j] + J[ICL_DIM * j + k] * Sigma[ICL_DIM * k + i];
        }
    return 0;
}

/* A stepper that needs the joint system's Jacobian has none: the default takes its place. */
static struct icl_ode_control control_of(const struct icl_solver *solver) {
    const enum icl_stepper method =
        icl_ode_stepper(solver->method)->needs_jacobian ? ICL_STEPPER_DEFAULT : solver->method;
    return (struct icl_ode_control){method, solver->rtol, solver->atol, 0, solver->max_steps};
}

static enum icl_status propagate(const struct icl_params *params, struct icl_model *model, double t,
                                 struct icl_noise *noise, struct icl_err *err) {
    const struct icl_ode_system system = {JOINT, rhs, NULL, model};
    const struct icl_ode_control control = control_of(&params->solver);
    const double y0[JOINT] = {[ICL_W] = params->init.w, [ICL_BETA] = params->init.beta};
    const double unit = params->train.lr / (double)params->train.batch;
    struct icl_ode *ode;
    ICL_TRY(icl_ode_alloc(&ode, &system, &control, err));
    enum icl_status status = t > 0 ? icl_ode_init(ode, 0, y0, t, err) : ICL_OK;
    while (status == ICL_OK && t > 0 && !icl_ode_done(ode)) status = icl_ode_step(ode, err);
    const double *const y = status == ICL_OK && t > 0 ? icl_ode_y(ode) : y0;
    noise->t = t;
    memcpy(noise->y, y, sizeof noise->y);
    unpack(y + ICL_DIM, noise->Sigma);
    for (size_t i = 0; i < ICL_DIM * ICL_DIM; i++) noise->Sigma[i] *= unit;
    icl_ode_free(ode);
    return status;
}

enum icl_status icl_noise_at(const struct icl_params *params, enum icl_level level, double t, struct icl_noise *noise,
                             struct icl_err *err) {
    struct icl_model *model;
    if (level == ICL_LEVEL_ASYMPTOTIC) return ICL_ERR(err, ICL_EUSAGE, "level asymptotic has no noise of SGD (T11)");
    ICL_TRY(icl_model_alloc(&model, params, level, params->task.K, err));
    const enum icl_status status = propagate(params, model, t, noise, err);
    icl_model_free(model);
    return status == ICL_OK ? ICL_OK : icl_err_context(err, status, "noise of SGD");
}

/* The slope of f in each variable, by central differences: exact where f is a distance in beta. */
static void gradient(double (*f)(const struct icl_gauge *gauge, const double *y), const struct icl_gauge *gauge,
                     const double *y, double n[ICL_DIM]) {
    for (size_t i = 0; i < ICL_DIM; i++) {
        const double h = cbrt(DBL_EPSILON) * fmax(1, fabs(y[i]));
        double up[ICL_DIM], down[ICL_DIM];
        memcpy(up, y, sizeof up);
        memcpy(down, y, sizeof down);
        up[i] = y[i] + h;
        down[i] = fmax(y[i] - h, i == ICL_S ? 0 : -DBL_MAX);
        n[i] = (f(gauge, up) - f(gauge, down)) / (up[i] - down[i]);
    }
}

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < ICL_DIM; i++) sum += a[i] * b[i];
    return sum;
}

static void spread_of(const struct icl_params *params, struct icl_model *model, struct icl_gauge *gauge,
                      const struct icl_noise *noise, struct icl_noise_time *time) {
    double n[ICL_DIM], rate[ICL_DIM], J[ICL_DIM * ICL_DIM], C[3], along[ICL_DIM];
    size_t items, contexts;
    icl_model_linear(model, noise->y, rate, J, C);
    gradient(icl_gauge_event_icl, gauge, noise->y, n);
    for (size_t i = 0; i < ICL_DIM; i++) along[i] = dot(noise->Sigma + ICL_DIM * i, n);
    time->sd = sqrt(dot(n, along)) / fabs(dot(n, rate));
    gradient(icl_gauge_acc_icl, gauge, noise->y, n);
    icl_params_novel(&params->sim, &items, &contexts);
    const double variance = icl_gauge_scatter_icl(gauge, noise->y, (double)contexts) / (double)items;
    time->read = sqrt(fmax(0, variance)) / fabs(dot(n, rate));
}

enum icl_status icl_noise_t_icl(const struct icl_params *params, enum icl_level level, double t_icl,
                                struct icl_noise_time *time, struct icl_err *err) {
    struct icl_noise noise;
    struct icl_model *model = NULL;
    struct icl_gauge *gauge = NULL;
    time->sd = time->read = t_icl > 0 ? INFINITY : 0;
    if (!(t_icl > 0) || isinf(t_icl)) return ICL_OK;
    ICL_TRY(icl_noise_at(params, level, t_icl, &noise, err));
    enum icl_status status = icl_model_alloc(&model, params, level, params->task.K, err);
    if (status == ICL_OK) status = icl_gauge_alloc(&gauge, params, level, params->task.K, true, err);
    if (status == ICL_OK) spread_of(params, model, gauge, &noise, time);
    icl_gauge_free(gauge);
    icl_model_free(model);
    return status;
}
