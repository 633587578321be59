/* The noise of SGD (T11): closed limits, another road through perturbed trajectories, and Langevin paths of the same
 * equation; second moments of sampled softmax contexts are in test_context.c. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixtures.h"
#include "iclkin/gauge.h"
#include "iclkin/memtable.h"
#include "iclkin/noise.h"
#include "iclkin/quad.h"

enum { SQUARE = ICL_DIM * ICL_DIM };

static struct icl_model *model_of(const struct icl_params *params, enum icl_level level) {
    struct icl_model *model = NULL;
    struct icl_err err;
    check_ok(icl_model_alloc(&model, params, level, params->task.K, &err), &err);
    return model;
}

static struct icl_noise noise_at(const struct icl_params *params, enum icl_level level, double t) {
    struct icl_noise noise;
    struct icl_err err;
    check_ok(icl_noise_at(params, level, t, &noise, &err), &err);
    return noise;
}

static double sd_of(const struct icl_params *params, enum icl_level level) {
    const double t_icl = fixture_solve(params, level, ICL_TRAJ_TO_ICL).t_icl;
    struct icl_err err;
    struct icl_noise_time time = {NAN, NAN};
    check_ok(icl_noise_t_icl(params, level, t_icl, &time, &err), &err);
    return time.sd;
}

/* params with the table that is shipped, which the caller frees. */
static struct icl_memtable *measured(struct icl_params *params) {
    struct icl_memtable *table = NULL;
    struct icl_err err;
    check_ok(icl_memtable_read(&table, "params/memory/default.tsv", &err), &err);
    params->memtable = table;
    return table;
}

/* ---- dy/dt and its Jacobian in time t ---- */

static void linear_is_the_derivative(void **state) {
    (void)state;
    static const char *const AT[] = {"", "task.labels=balanced train.lambda=3e-3",
                                     "memory.law=table memory.closure=plain", "task.D=inf task.K=500"};
    static const double Y[][ICL_DIM] = {{0.3, 0.2, 20}, {2.385, 3.1, 150}, {-0.7, -0.4, 60}};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++)
        for (int level = ICL_LEVEL_REDUCED; level <= ICL_LEVEL_MEANFIELD; level++)
            for (size_t k = 0; k < sizeof Y / sizeof *Y; k++) {
                struct icl_params params = fixture_params(AT[i]);
                struct icl_memtable *table = measured(&params);
                struct icl_model *model = model_of(&params, (enum icl_level)level);
                double rate[ICL_DIM], J[SQUARE], C[3], tau[ICL_DIM], up[ICL_DIM], down[ICL_DIM], unused[SQUARE];
                icl_model_linear(model, Y[k], rate, J, C);
                icl_model_rhs(0, Y[k], tau, model);
                const double pace = icl_model_pace(model, Y[k]);
                for (int r = 0; r < ICL_DIM; r++) check_rel(rate[r], tau[r] / pace, 1e-12); /* rounding of sums */
                for (int c = 0; c < ICL_DIM; c++) {
                    const double h = 1e-4 * fmax(1, Y[k][c]);
                    double y[ICL_DIM];
                    memcpy(y, Y[k], sizeof y);
                    y[c] = Y[k][c] + h;
                    icl_model_linear(model, y, up, unused, C);
                    y[c] = Y[k][c] - h;
                    icl_model_linear(model, y, down, unused, C);
                    for (int r = 0; r < ICL_DIM; r++) /* truncation: h^2 */
                        check_abs(J[ICL_DIM * r + c], (up[r] - down[r]) / (2 * h), 1e-7 * fmax(1, 100 * fabs(rate[r])));
                }
                icl_model_free(model);
                icl_memtable_free(table);
            }
}

/* ---- closed limits ---- */

/* A stable node: Sigma of (w, beta) tends to the root of J S + S J' + C lr/batch = 0, in two dimensions
 * -(det J C + (J - tr J) C (J - tr J)')/(2 tr J det J). */
static void stationary_at_a_node(void **state) {
    (void)state;
    const struct icl_params params =
        fixture_params("task.K=inf memory.law=none train.lambda_w=0.04 train.lambda_beta=0.07 train.t_max=3000");
    const struct icl_noise noise = noise_at(&params, ICL_LEVEL_MEANFIELD, 3000);
    struct icl_model *model = model_of(&params, ICL_LEVEL_MEANFIELD);
    double rate[ICL_DIM], J[SQUARE], C[3];
    icl_model_linear(model, noise.y, rate, J, C);
    icl_model_free(model);
    check_abs(rate[ICL_W], 0, 1e-9);
    const double a = J[0], b = J[1], c = J[ICL_DIM], d = J[ICL_DIM + 1], det = a * d - b * c, trace = a + d;
    const double unit = params.train.lr / (double)params.train.batch, scale = -unit / (2 * trace * det);
    assert_true(trace < 0 && det > 0);
    /* J - tr J = [[-d, b], [c, -a]] */
    const double ww = d * d * C[0] - 2 * d * b * C[1] + b * b * C[2];
    const double wb = -d * c * C[0] + (d * a + b * c) * C[1] - a * b * C[2];
    const double bb = c * c * C[0] - 2 * a * c * C[1] + a * a * C[2];
    /* truncation: steps x rtol */
    check_rel(noise.Sigma[0], scale * (det * C[0] + ww), 1e-6);
    check_rel(noise.Sigma[1], scale * (det * C[1] + wb), 1e-6);
    check_rel(noise.Sigma[ICL_DIM + 1], scale * (det * C[2] + bb), 1e-6);
    assert_true(noise.Sigma[1] > 0);
}

/* exp(-3 w^2/2) (1 - w m(w))^2, m = e^(w^2/2) int_w^inf e^(-x^2/2) dx */
static double spent(double w, void *context) {
    (void)context;
    const double m = w < 30 ? sqrt(acos(-1) / 2) * exp(w * w / 2) * erfc(w / sqrt(2)) : 1 / w;
    return exp(-1.5 * w * w) * pow(1 - w * m, 2);
}

/* c2 = 0 and N large: sd(t_icl) = (N/c1) sqrt(lr/batch) e^(3 (w0^2/2 - beta0)/2) sqrt(I(w0)). */
static void closed_form_at_large_N(void **state) {
    (void)state;
    static const double START[][3] = {{0, 0, 0.5}, {0.8, 0, 0.5}, {-0.6, 0.7, 0.3}};
    for (size_t i = 0; i < sizeof START / sizeof *START; i++) {
        const double w = START[i][0], beta = START[i][1], c1 = START[i][2];
        double I, N[3], gap[3];
        struct icl_err err;
        check_ok(icl_quad_infinite(spent, NULL, w, 1e-10, &I, &err), &err);
        if (i == 0) check_abs(I, 0.32041, 5e-6); /* notes/model.md (T11), by another program */
        for (int k = 0; k < 3; k++) {
            struct icl_params params = fixture_reduced(N[k] = pow(10, 3 + 1.5 * k), w, beta, c1, 1e-12);
            params.task.D = INFINITY;
            params.train.t_max = 1e12;
            const double closed =
                N[k] / c1 * sqrt(params.train.lr / (double)params.train.batch * I) * exp(1.5 * (w * w / 2 - beta));
            gap[k] = fabs(sd_of(&params, ICL_LEVEL_REDUCED) / closed - 1);
        }
        assert_true(gap[0] > gap[1] && gap[1] > gap[2]);
        check_abs(gap[2], 0, 5e-5); /* truncation of (T11): falls with N; measured 3.5e-5 at most */
    }
}

/* The beginning: Sigma_ww = t (lr/batch)/(4 N) (1 + ...), the first sequences' sigma^2 a^2. */
static void first_steps(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("task.K=inf task.D=inf memory.law=none");
    const struct icl_noise noise = noise_at(&params, ICL_LEVEL_MEANFIELD, 0.01);
    const double N = (double)params.task.N, rate = params.train.lr / (double)params.train.batch / 4;
    /* <a^2> - <a>^2 = (N - 1)/N^2; truncation: t times the rates, 1/N */
    check_rel(noise.Sigma[0], 0.01 * rate * (N - 1) / (N * N), 1e-3);
    const struct icl_noise start = noise_at(&params, ICL_LEVEL_MEANFIELD, 0);
    for (int i = 0; i < SQUARE; i++) assert_true(start.Sigma[i] == 0);
}

/* sd goes as sqrt(lr/batch): so it is defined, and so it must come out. */
static void first_order_in_lr_over_batch(void **state) {
    (void)state;
    const struct icl_params one = fixture_params("memory.law=none train.lr=0.1 train.batch=128"),
                            small = fixture_params("memory.law=none train.lr=0.025 train.batch=128"),
                            large = fixture_params("memory.law=none train.lr=0.1 train.batch=2048");
    const double sd = sd_of(&one, ICL_LEVEL_MEANFIELD);
    check_rel(sd_of(&small, ICL_LEVEL_MEANFIELD), sd / 2, 1e-12);
    check_rel(sd_of(&large, ICL_LEVEL_MEANFIELD), sd / 4, 1e-12);
}

/* ---- another road: every moment's kick, carried to t_icl by a trajectory of its own ---- */

struct start {
    struct icl_params params;
    struct icl_traj *traj;
};

/* The time left to t_icl from (w, beta); K infinite without an MLP, where no clock matters. */
static double left(const struct start *start, double w, double beta) {
    struct icl_traj_result result;
    struct icl_err err;
    check_ok(icl_traj_run(start->traj, w, beta, ICL_TRAJ_TO_ICL, NULL, NULL, &result, &err), &err);
    return result.t_icl;
}

/* lr/batch psi' C psi at t, psi the gradient of the time left. */
static double kicked(const struct start *start, double t) {
    const struct icl_noise at = noise_at(&start->params, ICL_LEVEL_MEANFIELD, t);
    const double w = at.y[ICL_W], beta = at.y[ICL_BETA], h = 1e-4;
    struct icl_model *model = model_of(&start->params, ICL_LEVEL_MEANFIELD);
    double rate[ICL_DIM], J[SQUARE], C[3];
    icl_model_linear(model, at.y, rate, J, C);
    icl_model_free(model);
    const double psi_w = (left(start, w + h, beta) - left(start, w - h, beta)) / (2 * h);
    const double psi_b = (left(start, w, beta + h) - left(start, w, beta - h)) / (2 * h);
    return start->params.train.lr / (double)start->params.train.batch *
           (psi_w * psi_w * C[0] + 2 * psi_w * psi_b * C[1] + psi_b * psi_b * C[2]);
}

static void kicks_add_up(void **state) {
    (void)state;
    static const char *const AT[] = {"", "task.N=50 init.w=0.4 init.beta=-0.3 train.lambda=2e-3", "task.copies=2",
                                     "task.labels=balanced init.w=0.7", "task.items=unit task.D=40"};
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        char text[200];
        struct icl_err err;
        enum { PANELS = 60 };
        double variance = 0;
        snprintf(text, sizeof text, "task.K=inf memory.law=none %s", AT[i]);
        struct start start = {.params = fixture_params(text)};
        const double t_icl = fixture_solve(&start.params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
        check_ok(icl_traj_alloc(&start.traj, &start.params, ICL_LEVEL_MEANFIELD, INFINITY, &err), &err);
        /* Gauss' two points of each panel: truncation, (t_icl/PANELS)^4 */
        for (int k = 0; k < 2 * PANELS; k++) {
            const double middle = (k / 2 + 0.5) / PANELS, off = (k % 2 ? 0.5 : -0.5) / sqrt(3) / PANELS;
            variance += t_icl / (2 * PANELS) * kicked(&start, t_icl * (middle + off));
        }
        icl_traj_free(start.traj);
        check_rel(sd_of(&start.params, ICL_LEVEL_MEANFIELD), sqrt(variance), 1e-5);
    }
}

/* ---- Langevin paths ---- */

/* dy = f dt + sqrt(lr/batch C) dW by Euler's steps; the first crossing, by a line between two steps. */
static double path(const struct icl_params *params, struct icl_model *model, const struct icl_gauge *gauge, double dt,
                   double *at_half) {
    const double root = sqrt(params->train.lr / (double)params->train.batch * dt);
    double y[ICL_DIM] = {params->init.w, params->init.beta, 0}, before = -1;
    for (int step = 0; step < 100000; step++) {
        double rate[ICL_DIM], J[SQUARE], C[3];
        if (step * dt <= 70) *at_half = y[ICL_W];
        const double event = icl_gauge_event_icl(gauge, y);
        if (event >= 0) return dt * (step - event / (event - before));
        before = event;
        icl_model_linear(model, y, rate, J, C);
        const double l = sqrt(C[0]), m = C[1] / l, r = sqrt(fmax(0, C[2] - m * m));
        const double x1 = root * fixture_normal(), x2 = root * fixture_normal();
        for (int i = 0; i < ICL_DIM; i++) y[i] += dt * rate[i];
        y[ICL_W] += l * x1;
        y[ICL_BETA] += m * x1 + r * x2;
    }
    return NAN;
}

static void langevin_paths(void **state) {
    (void)state;
    enum { PATHS = 600 };
    static const double dt = 0.5;
    const struct icl_params params =
        fixture_params("task.N=50 task.K=inf memory.law=none solver.nodes_q=4 solver.nodes_g=4");
    struct icl_model *model = model_of(&params, ICL_LEVEL_MEANFIELD);
    struct icl_gauge *gauge = NULL;
    struct icl_err err;
    double sum[2] = {0}, square[2] = {0};
    check_ok(icl_gauge_alloc(&gauge, &params, ICL_LEVEL_MEANFIELD, INFINITY, false, &err), &err);
    fixture_seed(700);
    for (int p = 0; p < PATHS; p++) {
        double x[2] = {NAN, NAN};
        x[0] = path(&params, model, gauge, dt, &x[1]);
        for (int j = 0; j < 2; j++) {
            sum[j] += x[j] / PATHS;
            square[j] += x[j] * x[j] / PATHS;
        }
    }
    /* Statistics: sd/sqrt(2 n), 3 of them; the second order in the noise and Euler's steps are below 1 %. */
    const double tolerance = 3 / sqrt(2.0 * PATHS) + 0.01;
    const struct icl_noise half = noise_at(&params, ICL_LEVEL_MEANFIELD, 70);
    check_rel(sqrt(square[0] - sum[0] * sum[0]), sd_of(&params, ICL_LEVEL_MEANFIELD), tolerance);
    check_rel(sqrt(square[1] - sum[1] * sum[1]), sqrt(half.Sigma[0]), tolerance);
    icl_gauge_free(gauge);
    icl_model_free(model);
}

/* ---- the event's gradient ---- */

/* Items that are not alike: n of acc_icl by Richardson's differences at another step. */
static void gradient_of_the_accuracy(void **state) {
    (void)state;
    struct icl_params params = fixture_params("memory.law=table");
    struct icl_memtable *table = measured(&params);
    const double t_icl = fixture_solve(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
    const struct icl_noise noise = noise_at(&params, ICL_LEVEL_MEANFIELD, t_icl);
    struct icl_model *model = model_of(&params, ICL_LEVEL_MEANFIELD);
    struct icl_gauge *gauge = NULL;
    struct icl_err err;
    double rate[ICL_DIM], J[SQUARE], C[3], n[ICL_DIM], variance = 0, slope = 0;
    check_ok(icl_gauge_alloc(&gauge, &params, ICL_LEVEL_MEANFIELD, params.task.K, false, &err), &err);
    for (int i = 0; i < ICL_DIM; i++) {
        double d[2];
        for (int k = 0; k < 2; k++) {
            const double h = (k + 1) * 1e-3 * fmax(1, noise.y[i]);
            double up[ICL_DIM], down[ICL_DIM];
            memcpy(up, noise.y, sizeof up);
            memcpy(down, noise.y, sizeof down);
            up[i] += h;
            down[i] -= h;
            d[k] = (icl_gauge_acc_icl(gauge, up) - icl_gauge_acc_icl(gauge, down)) / (2 * h);
        }
        n[i] = (4 * d[0] - d[1]) / 3;
    }
    icl_model_linear(model, noise.y, rate, J, C);
    for (int i = 0; i < ICL_DIM; i++) {
        slope += n[i] * rate[i];
        for (int j = 0; j < ICL_DIM; j++) variance += n[i] * noise.Sigma[ICL_DIM * i + j] * n[j];
    }
    assert_true(n[ICL_S] < 0 && n[ICL_BETA] > 0);                                 /* a spread of phi costs accuracy */
    check_rel(sd_of(&params, ICL_LEVEL_MEANFIELD), sqrt(variance) / slope, 1e-6); /* truncation: h^4, and h^2 there */
    icl_gauge_free(gauge);
    icl_model_free(model);
    icl_memtable_free(table);
}

/* ---- what an evaluation adds ---- */

/* Right answers of a fresh item: sampled softmax contexts, each with both signs of the item's phi. */
static double share(const struct icl_task *task, double w, double beta, double v, int contexts) {
    const double phi = sqrt(v) * fixture_normal();
    double q = 0, hit = 0;
    for (double i = 0; i < task->D; i++) q += pow(fixture_normal(), 2) / task->D;
    for (int c = 0; c < contexts; c++) {
        double p = 1, pl = 1;
        for (double j = 1; j < (double)task->N; j++) {
            const double e = exp(beta * (sqrt(q / task->D) * fixture_normal() - q));
            p += e;
            pl += fixture_uniform(0, 1) < 0.5 ? e : -e;
        }
        hit += (w * pl / p + phi > 0) + (w * pl / p - phi > 0);
    }
    return hit / (2 * contexts);
}

static void scatter_of_an_item(void **state) {
    (void)state;
    static const struct {
        const char *task;
        double y[ICL_DIM];
        int contexts;
    } AT[] = {{"task.K=inf memory.law=none", {2.3, 2.9, 100}, 12},
              {"task.N=40 task.K=inf memory.law=none task.D=40", {2.1, 2.4, 100}, 3},
              {"memory.law=table", {2.6, 3.1, 280}, 12}};
    enum { ITEMS = 3000 };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        struct icl_params params = fixture_params(AT[i].task);
        struct icl_memtable *table = measured(&params);
        struct icl_memlaw law;
        struct icl_memlaw_state memory;
        struct icl_gauge *gauge = NULL;
        struct icl_err err;
        double mean = 0, x[ITEMS], square = 0, fourth = 0;
        check_ok(icl_memlaw_init(&params, params.task.K, &law, &err), &err);
        icl_memlaw_state(&law, AT[i].y[ICL_S], &memory);
        assert_true(i < 2 ? memory.v == 0 : memory.v > 0.01);
        check_ok(icl_gauge_alloc(&gauge, &params, ICL_LEVEL_MEANFIELD, params.task.K, true, &err), &err);
        fixture_seed(720 + (unsigned)i);
        for (int k = 0; k < ITEMS; k++) {
            x[k] = share(&params.task, AT[i].y[ICL_W], AT[i].y[ICL_BETA], memory.v, AT[i].contexts);
            mean += x[k] / ITEMS;
        }
        for (int k = 0; k < ITEMS; k++) {
            square += pow(x[k] - mean, 2) / ITEMS;
            fourth += pow(x[k] - mean, 4) / ITEMS;
        }
        const double error = sqrt((fourth - square * square) / ITEMS);
        /* statistics, 3 standard errors (3 % each); (T4), 3 % */
        check_abs(icl_gauge_scatter_icl(gauge, AT[i].y, AT[i].contexts), square, 3 * error + 0.03 * square);
        assert_true(error < 0.06 * square); /* a sample that can tell */
        icl_gauge_free(gauge);
        icl_memlaw_free(&law);
        icl_memtable_free(table);
    }
}

/* The reading's error goes as 1/sqrt(eval_items), and is no part of sd. */
static void reading_by_items(void **state) {
    (void)state;
    const struct icl_params few = fixture_params("memory.law=none sim.eval_items=1600"),
                            many = fixture_params("memory.law=none sim.eval_items=160000");
    const double t_icl = fixture_solve(&few, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).t_icl;
    struct icl_noise_time a, b;
    struct icl_err err;
    check_ok(icl_noise_t_icl(&few, ICL_LEVEL_MEANFIELD, t_icl, &a, &err), &err);
    check_ok(icl_noise_t_icl(&many, ICL_LEVEL_MEANFIELD, t_icl, &b, &err), &err);
    check_rel(a.read, 10 * b.read, 1e-12);
    assert_true(a.sd == b.sd && a.read > 0);
}

/* ---- what cannot be had ---- */

static void never_and_at_once(void **state) {
    (void)state;
    const struct icl_params there = fixture_params("init.w=5 init.beta=6"), never = fixture_params("task.K=100");
    assert_true(sd_of(&there, ICL_LEVEL_MEANFIELD) == 0);
    assert_true(isinf(sd_of(&never, ICL_LEVEL_MEANFIELD)));
}

static void failures(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("solver.max_steps=10 memory.law=none"), sound = fixture_params("");
    struct icl_noise noise;
    struct icl_err err;
    struct icl_noise_time time;
    check_fails(icl_noise_at(&sound, ICL_LEVEL_ASYMPTOTIC, 1, &noise, &err), ICL_EUSAGE, &err, "level asymptotic");
    check_fails(icl_noise_t_icl(&params, ICL_LEVEL_MEANFIELD, 200, &time, &err), ICL_ENUMERIC, &err, "noise of SGD");
}

/* A stepper that needs a Jacobian gives way to the default. */
static void any_stepper(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("memory.law=none"),
                            implicit = fixture_params("memory.law=none solver.method=msbdf");
    check_rel(sd_of(&implicit, ICL_LEVEL_MEANFIELD), sd_of(&params, ICL_LEVEL_MEANFIELD), 1e-4); /* t_icl of msbdf */
}

int main(void) {
    gsl_set_error_handler_off();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_is_the_derivative),
        cmocka_unit_test(stationary_at_a_node),
        cmocka_unit_test(closed_form_at_large_N),
        cmocka_unit_test(first_steps),
        cmocka_unit_test(first_order_in_lr_over_batch),
        cmocka_unit_test(kicks_add_up),
        cmocka_unit_test(langevin_paths),
        cmocka_unit_test(gradient_of_the_accuracy),
        cmocka_unit_test(scatter_of_an_item),
        cmocka_unit_test(reading_by_items),
        cmocka_unit_test(never_and_at_once),
        cmocka_unit_test(failures),
        cmocka_unit_test(any_stepper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
