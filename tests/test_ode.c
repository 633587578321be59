/* Steppers, steps, dense values, breaks and events, on problems with known answers. Each pitfall of GSL that ode.c is
 * there to close is a test of that name. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/ode.h"
#include "num/steppers.h"

/* ---- problems ---- */

/* y0' = -y0 y1, y1' = y0^2 - y1 + cos t: not linear, not autonomous, not stiff. */
static int tangled(double t, const double *y, double *dydt, void *context) {
    (void)context;
    dydt[0] = -y[0] * y[1];
    dydt[1] = y[0] * y[0] - y[1] + cos(t);
    return 0;
}

static int tangled_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)context;
    dfdy[0] = -y[1];
    dfdy[1] = -y[0];
    dfdy[2] = 2 * y[0];
    dfdy[3] = -1;
    dfdt[0] = 0;
    dfdt[1] = -sin(t);
    return 0;
}

static int rotation(double t, const double *y, double *dydt, void *context) {
    (void)t;
    (void)context;
    dydt[0] = y[1];
    dydt[1] = -y[0];
    return 0;
}

static int rotation_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)t;
    (void)y;
    (void)context;
    dfdy[0] = dfdy[3] = dfdt[0] = dfdt[1] = 0;
    dfdy[1] = 1;
    dfdy[2] = -1;
    return 0;
}

/* y' = rate y */
static int decay(double t, const double *y, double *dydt, void *context) {
    (void)t;
    dydt[0] = *(const double *)context * y[0];
    return 0;
}

static int decay_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)t;
    (void)y;
    dfdy[0] = *(const double *)context;
    dfdt[0] = 0;
    return 0;
}

/* y' = 1: the solution is t itself, so that events may be any function of t. */
static int clock_rhs(double t, const double *y, double *dydt, void *context) {
    (void)t;
    (void)y;
    (void)context;
    dydt[0] = 1;
    return 0;
}

static const struct icl_ode_system TANGLED = {2, tangled, tangled_jac, NULL};
static const struct icl_ode_system ROTATION = {2, rotation, rotation_jac, NULL};
static const struct icl_ode_system CLOCK = {1, clock_rhs, NULL, NULL};

static struct icl_ode_control control(enum icl_stepper method, double rtol, double atol) {
    return (struct icl_ode_control){method, rtol, atol, 0, 2000000};
}

static struct icl_ode *start(const struct icl_ode_system *system, struct icl_ode_control how, double t0,
                             const double *y0, double t1) {
    struct icl_ode *ode;
    struct icl_err err;
    check_ok(icl_ode_alloc(&ode, system, &how, &err), &err);
    check_ok(icl_ode_init(ode, t0, y0, t1, &err), &err);
    return ode;
}

static void finish(struct icl_ode *ode) {
    struct icl_err err;
    while (!icl_ode_done(ode)) check_ok(icl_ode_step(ode, &err), &err);
}

/* y[0] at t1 */
static double solve(const struct icl_ode_system *system, struct icl_ode_control how, double t0, const double *y0,
                    double t1) {
    struct icl_ode *ode = start(system, how, t0, y0, t1);
    finish(ode);
    const double y = icl_ode_y(ode)[0];
    icl_ode_free(ode);
    return y;
}

/* ---- the table ---- */

static void table_is_in_order(void **state) {
    (void)state;
    char names[256] = "";

    for (int i = 0; i < ICL_STEPPER_COUNT; i++) {
        const struct icl_ode_stepper *row = icl_ode_stepper((enum icl_stepper)i);
        strcat(strcat(names, i ? "|" : ""), row->name);
        assert_string_equal(row->name, (*icl_steppers_table[i].type)->name);
        assert_true(strlen(row->use) > 10);
        assert_true(icl_steppers_table[icl_steppers_table[i].inside].info.one_step);
        /* A stepper without a Jacobian must not be re-integrated by one that needs it. */
        assert_true(row->needs_jacobian || !icl_steppers_table[icl_steppers_table[i].inside].info.needs_jacobian);
    }
    assert_string_equal(names, ICL_STEPPER_NAMES);
    assert_null(icl_ode_stepper(ICL_STEPPER_COUNT));
}

/* y at t1 after n equal steps of the tangled problem, which is not linear: Newton's iteration is exact on a linear
 * one, and the implicit steppers then look better than they are. */
static void fixed_steps(enum icl_stepper method, double t1, size_t n, double tolerance, double y[2]) {
    const gsl_odeiv2_system system = {tangled, tangled_jac, 2, NULL};
    struct icl_steppers_bundle bundle;
    struct icl_err err;
    double error[2], in[2], out[2];

    check_ok(icl_steppers_alloc(&bundle, method, &system, tolerance, tolerance, &err), &err);
    y[0] = 1.3;
    y[1] = 0.2;
    tangled(0, y, in, NULL);
    for (size_t i = 0; i < n; i++) {
        const double t = t1 * (double)i / (double)n;
        assert_int_equal(gsl_odeiv2_step_apply(bundle.step, t, t1 / (double)n, y, error, in, out, &system), 0);
        memcpy(in, out, sizeof in);
    }
    icl_steppers_free(&bundle);
}

static double fixed_error(enum icl_stepper method, double t1, size_t n, double tolerance) {
    double y[2], exact[2];
    fixed_steps(ICL_STEPPER_RK8PD, t1, 300, 1, exact);
    fixed_steps(method, t1, n, tolerance, y);
    return hypot(y[0] - exact[0], y[1] - exact[1]);
}

/* Two-sided, over all rows. Newton's tolerance is part of the implicit methods; the multistep ones choose their order
 * by it and hold the second at a loose one. */
static void measured_orders(void **state) {
    (void)state;
    static const struct {
        double t1, tolerance;
        size_t first; /* steps, doubled three times */
        double width; /* truncation: the next order at these steps; measured slopes beside it */
    } RUN[ICL_STEPPER_COUNT] = {
        [ICL_STEPPER_RK2] = {2, 1, 32, 0.03},        /* 3.007 */
        [ICL_STEPPER_RK4] = {2, 1, 32, 0.03},        /* 4.004 */
        [ICL_STEPPER_RKF45] = {2, 1, 32, 0.35},      /* 4.79 */
        [ICL_STEPPER_RKCK] = {2, 1, 16, 0.15},       /* 4.91 */
        [ICL_STEPPER_RK8PD] = {2, 1, 4, 0.4},        /* 7.75 */
        [ICL_STEPPER_RK1IMP] = {2, 1e-10, 64, 0.03}, /* 0.996 */
        [ICL_STEPPER_RK2IMP] = {2, 1e-10, 16, 0.03}, /* 2.001 */
        [ICL_STEPPER_RK4IMP] = {2, 1e-14, 16, 0.03}, /* 4.000 */
        [ICL_STEPPER_BSIMP] = {6, 1, 1, 0.7},        /* 11.75 */
        [ICL_STEPPER_MSADAMS] = {2, 1, 32, 0.1},     /* 2.04 */
        [ICL_STEPPER_MSBDF] = {2, 1, 32, 0.1},       /* 2.00 */
    };

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        double h[4], error[4];
        for (size_t i = 0; i < 4; i++) {
            h[i] = 1 / (double)(RUN[m].first << i);
            error[i] = fixed_error((enum icl_stepper)m, RUN[m].t1, RUN[m].first << i, RUN[m].tolerance);
        }
        check_slope(4, h, error, icl_ode_stepper((enum icl_stepper)m)->order, RUN[m].width);
    }
}

static void rk4imp_needs_a_tight_tolerance(void **state) {
    (void)state;
    double h[4], loose[4];

    for (size_t i = 0; i < 4; i++) {
        h[i] = 1 / (double)(16u << i);
        loose[i] = fixed_error(ICL_STEPPER_RK4IMP, 2, 16u << i, 1e-3);
    }
    check_slope(4, h, loose, 3, 0.05); /* truncation; measured 3.01 */
}

/* At points of no symmetry. */
static void jacobians_of_this_file(void **state) {
    (void)state;
    const double y[2] = {2.385, -0.713}, t = 1.137, d = 1e-5;
    double dfdy[4], dfdt[2], up[2], down[2];

    tangled_jac(t, y, dfdy, dfdt, NULL);
    for (int j = 0; j < 2; j++) {
        double a[2] = {y[0], y[1]}, b[2] = {y[0], y[1]};
        a[j] += d;
        b[j] -= d;
        tangled(t, a, up, NULL);
        tangled(t, b, down, NULL);
        for (int i = 0; i < 2; i++) check_abs((up[i] - down[i]) / (2 * d), dfdy[2 * i + j], 1e-9); /* rounding/d */
    }
    tangled(t + d, y, up, NULL);
    tangled(t - d, y, down, NULL);
    for (int i = 0; i < 2; i++) check_abs((up[i] - down[i]) / (2 * d), dfdt[i], 1e-9);
}

/* ---- steps ---- */

static void all_steppers_agree(void **state) {
    (void)state;
    static const double RTOL[ICL_STEPPER_COUNT] = {1e-8, 1e-10, 1e-10, 1e-10, 1e-12, 1e-6,
                                                   1e-8, 1e-10, 1e-10, 1e-10, 1e-8};
    const double y0[2] = {1.3, 0.2};
    double exact[2];

    fixed_steps(ICL_STEPPER_RK8PD, 2, 300, 1, exact);
    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        struct icl_ode *ode = start(&TANGLED, control((enum icl_stepper)m, RTOL[m], RTOL[m]), 0, y0, 2);
        finish(ode);
        /* Truncation: a step errs by rtol at most, and this problem forgets; implicit rows err more than they say. */
        const double bound = RTOL[m] * fmax(10, 0.5 * (double)icl_ode_steps(ode));
        check_abs(icl_ode_y(ode)[0], exact[0], bound);
        check_abs(icl_ode_y(ode)[1], exact[1], bound);
        assert_true(icl_ode_t(ode) == 2);
        icl_ode_free(ode);
    }
}

static void backwards_returns(void **state) {
    (void)state;
    const double y0[2] = {1.3, 0.2};

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        if (m == ICL_STEPPER_RK1IMP) continue; /* at its order too many steps for this accuracy */
        struct icl_ode_control how = control((enum icl_stepper)m, 1e-9, 1e-9);
        how.h0 = 1e-3; /* positive: its sign must not matter */
        struct icl_ode *ode = start(&TANGLED, how, 0, y0, 2);
        struct icl_err err;
        double end[2];
        finish(ode);
        memcpy(end, icl_ode_y(ode), sizeof end);
        check_ok(icl_ode_init(ode, 2, end, 0, &err), &err);
        finish(ode);
        assert_true(icl_ode_t(ode) == 0);
        /* Truncation there and back, grown by the problem's own decay e^2; measured 5e-6 (msbdf) to 1e-9. */
        check_abs(icl_ode_y(ode)[0], y0[0], m == ICL_STEPPER_MSBDF || m == ICL_STEPPER_MSADAMS ? 2e-5 : 2e-6);
        icl_ode_free(ode);
    }
}

static int blows_up(double t, const double *y, double *dydt, void *context) {
    (void)t;
    (void)context;
    dydt[0] = y[0] * y[0];
    return 0;
}

static int blows_up_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)t;
    (void)context;
    dfdy[0] = 2 * y[0];
    dfdt[0] = 0;
    return 0;
}

/* Finite only before t = 1. */
static int ends_at_one(double t, const double *y, double *dydt, void *context) {
    (void)y;
    (void)context;
    dydt[0] = t < 1 ? 1 : NAN;
    return 0;
}

static int refused_at_one(double t, const double *y, double *dydt, void *context) {
    (void)y;
    (void)context;
    dydt[0] = 1;
    return t < 1 ? 0 : 42;
}

static int zero_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)t;
    (void)y;
    (void)context;
    dfdy[0] = dfdt[0] = 0;
    return 0;
}

/* A finite right-hand side whose solution overflows. */
static int overflows(double t, const double *y, double *dydt, void *context) {
    (void)t;
    (void)y;
    (void)context;
    dydt[0] = 1e306;
    return 0;
}

static void nan_is_never_accepted(void **state) {
    (void)state;
    static const struct {
        struct icl_ode_system system;
        double y0, t_min, t_max; /* where it must stop */
        const char *message;
    } CASE[] = {
        {{1, blows_up, blows_up_jac, NULL}, 1, 0.98, 1.0001, "at t="},
        {{1, ends_at_one, zero_jac, NULL}, 0, 0.999, 1, "right-hand side not finite at any step at t="},
        {{1, refused_at_one, zero_jac, NULL}, 0, 0.999, 1, "right-hand side not finite at any step at t="},
        {{1, overflows, zero_jac, NULL}, 1e300, 179, 179.8, "at t="},
    };

    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++)
        for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
            struct icl_ode_control how = control((enum icl_stepper)m, 1e-6, 1e-9);
            if (k == 3) how.max_steps = 2000; /* bsimp creeps up to the largest number */
            struct icl_ode *ode = start(&CASE[k].system, how, 0, &CASE[k].y0, 300);
            struct icl_err err;
            double t = 0, y = CASE[k].y0, again, middle;
            enum icl_status status;
            while ((status = icl_ode_step(ode, &err)) == ICL_OK) {
                assert_false(icl_ode_done(ode));
                t = icl_ode_t(ode);
                y = icl_ode_y(ode)[0];
                assert_true(isfinite(y) && isfinite(t));
            }
            check_fails(status, ICL_ENUMERIC, &err, CASE[k].message);
            assert_non_null(strstr(err.text, "rtol=1e-06"));
            assert_true(t >= CASE[k].t_min && t <= CASE[k].t_max);
            /* A failed step leaves everything as it was, also the last step's inside, and fails again. */
            assert_true(icl_ode_t(ode) == t && icl_ode_y(ode)[0] == y && icl_ode_t_before(ode) < t);
            middle = 0.5 * (t + icl_ode_t_before(ode));
            if (t - icl_ode_t_before(ode) > 1e-9) { /* beside a singularity of some ulp no Newton iteration converges */
                check_ok(icl_ode_at(ode, middle, &again, &err), &err);
                assert_true(again >= icl_ode_y_before(ode)[0] && again <= y);
            }
            check_fails(icl_ode_step(ode, &err), ICL_ENUMERIC, &err, CASE[k].message);
            assert_true(icl_ode_t(ode) == t && icl_ode_y(ode)[0] == y);
            icl_ode_free(ode);
        }
}

static void nan_at_the_start(void **state) {
    (void)state;
    const double y0 = 0;

    for (int m = 0; m < ICL_STEPPER_COUNT; m++)
        for (int given = 0; given < 2; given++) {
            const struct icl_ode_system system = {1, ends_at_one, zero_jac, NULL};
            struct icl_ode_control how = control((enum icl_stepper)m, 1e-6, 1e-9);
            struct icl_err err;
            how.h0 = given ? 0.1 : 0;
            struct icl_ode *ode = start(&system, how, 1, &y0, 2);
            check_fails(icl_ode_step(ode, &err), ICL_ENUMERIC, &err, "right-hand side not finite at any step at t=1 ");
            assert_true(icl_ode_t(ode) == 1 && icl_ode_y(ode)[0] == 0 && icl_ode_steps(ode) == 0);
            icl_ode_free(ode);
        }
}

static int nan_jac(double t, const double *y, double *dfdy, double *dfdt, void *context) {
    (void)t;
    (void)y;
    (void)context;
    dfdy[0] = NAN;
    dfdt[0] = 0;
    return 0;
}

static void nan_jacobian(void **state) {
    (void)state;
    const struct icl_ode_system system = {1, clock_rhs, nan_jac, NULL}, none = {1, clock_rhs, NULL, NULL};
    const double y0 = 0;

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        if (!icl_ode_stepper((enum icl_stepper)m)->needs_jacobian) continue;
        struct icl_ode_control how = control((enum icl_stepper)m, 1e-6, 1e-9);
        struct icl_ode *ode = start(&system, how, 0, &y0, 2);
        struct icl_err err;
        check_fails(icl_ode_step(ode, &err), ICL_ENUMERIC, &err, "right-hand side not finite");
        icl_ode_free(ode);
        check_fails(icl_ode_alloc(&ode, &none, &how, &err), ICL_ERANGE, &err, "needs a Jacobian");
        assert_null(ode);
    }
}

static void bad_arguments(void **state) {
    (void)state;
    const struct icl_ode_control good = control(ICL_STEPPER_RK8PD, 1e-9, 1e-12);
    struct icl_ode_system none = CLOCK;
    struct icl_ode_control bad;
    struct icl_ode *ode;
    struct icl_err err;
    const double y0 = 0, nan = NAN, unordered[2] = {0.5, 0.2};

#define BAD(member, value, text)                                                                                       \
    bad = good;                                                                                                        \
    bad.member = value;                                                                                                \
    check_fails(icl_ode_alloc(&ode, &CLOCK, &bad, &err), ICL_ERANGE, &err, text);                                      \
    assert_null(ode)
    BAD(rtol, NAN, "rtol=nan");
    BAD(rtol, -1, "rtol=-1");
    BAD(atol, INFINITY, "atol=inf");
    BAD(h0, NAN, "h0=nan");
    BAD(max_steps, 0, "max_steps=0");
    BAD(method, ICL_STEPPER_COUNT, "method=11: no such stepper");
#undef BAD
    bad = good;
    bad.rtol = bad.atol = 0;
    check_fails(icl_ode_alloc(&ode, &CLOCK, &bad, &err), ICL_ERANGE, &err, "not both 0");
    none.dim = 0;
    check_fails(icl_ode_alloc(&ode, &none, &good, &err), ICL_ERANGE, &err, "dim=0");

    ode = start(&CLOCK, good, 0, &y0, 1);
    check_fails(icl_ode_init(ode, 0, &y0, NAN, &err), ICL_ERANGE, &err, "t1=nan");
    check_fails(icl_ode_init(ode, NAN, &y0, 1, &err), ICL_ERANGE, &err, "t0=nan");
    check_fails(icl_ode_init(ode, -INFINITY, &y0, 1, &err), ICL_ERANGE, &err, "t0=-inf");
    check_fails(icl_ode_init(ode, 1, &y0, 1, &err), ICL_ERANGE, &err, "must not be empty");
    check_fails(icl_ode_init(ode, 0, &nan, 1, &err), ICL_ERANGE, &err, "y0[0]=nan");
    check_ok(icl_ode_init(ode, 0, &y0, 1, &err), &err);
    check_fails(icl_ode_breaks(ode, unordered, 2, &err), ICL_ERANGE, &err, "break 1 at t=0.2");
    check_fails(icl_ode_breaks(ode, &nan, 1, &err), ICL_ERANGE, &err, "break 0 at t=nan");
    check_fails(icl_ode_extend(ode, -1, &err), ICL_ERANGE, &err, "must lie ahead");
    check_fails(icl_ode_extend(ode, NAN, &err), ICL_ERANGE, &err, "must lie ahead");
    finish(ode);
    check_fails(icl_ode_step(ode, &err), ICL_ERANGE, &err, "t=1 is the end of the span");
    icl_ode_free(ode);
    icl_ode_free(NULL);
}

static void max_steps_says_so(void **state) {
    (void)state;
    struct icl_ode_control how = control(ICL_STEPPER_RK8PD, 1e-9, 1e-12);
    const double y0[2] = {0, 1};
    struct icl_err err;

    how.max_steps = 7;
    struct icl_ode *ode = start(&ROTATION, how, 0, y0, 1000);
    for (int i = 0; i < 7; i++) check_ok(icl_ode_step(ode, &err), &err);
    const double t = icl_ode_t(ode);
    check_fails(icl_ode_step(ode, &err), ICL_ENUMERIC, &err, "max_steps=7 reached at t=");
    assert_non_null(strstr(err.text, "rtol=1e-09"));
    assert_true(icl_ode_t(ode) == t && icl_ode_steps(ode) == 7);
    icl_ode_free(ode);
}

static void last_step_may_be_short(void **state) {
    (void)state;
    const double y0[2] = {0, 1}, t0 = 1000, ends[] = {nextafter(1000, 2000), 1000 + 1e-9, nextafter(1000, 0)};

    for (size_t i = 0; i < 3; i++)
        for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
            struct icl_ode *ode = start(&ROTATION, control((enum icl_stepper)m, 1e-6, 1e-9), t0, y0, ends[i]);
            finish(ode);
            assert_true(icl_ode_t(ode) == ends[i]);
            check_abs(icl_ode_y(ode)[0], ends[i] - t0, 1e-15); /* rounding */
            icl_ode_free(ode);
        }
    /* A first step too small to change t grows instead of standing still. */
    struct icl_ode_control how = control(ICL_STEPPER_RK8PD, 1e-9, 1e-12);
    how.h0 = 1e-30;
    struct icl_ode *ode = start(&ROTATION, how, t0, y0, t0 + 1);
    finish(ode);
    check_abs(icl_ode_y(ode)[0], sin(1), 1e-8); /* 10 x steps x rtol; measured 2e-11 */
    icl_ode_free(ode);
}

/* The end may be infinite; extend moves it without forgetting anything. */
static void infinite_and_extended_spans(void **state) {
    (void)state;
    double rate = -1;
    const struct icl_ode_system system = {1, decay, decay_jac, &rate};
    const double y0 = 1;
    struct icl_err err;

    struct icl_ode *ode = start(&system, control(ICL_STEPPER_RK8PD, 1e-9, 0), 0, &y0, INFINITY);
    while (icl_ode_t(ode) < 20) check_ok(icl_ode_step(ode, &err), &err);
    check_rel(icl_ode_y(ode)[0], exp(-icl_ode_t(ode)), 1e-7); /* 10 x steps x rtol; measured 4e-10 */
    check_ok(icl_ode_extend(ode, icl_ode_t(ode) + 1, &err), &err);
    finish(ode);
    check_rel(icl_ode_y(ode)[0], exp(-icl_ode_t(ode)), 1e-7);
    check_ok(icl_ode_extend(ode, icl_ode_t(ode) + 2, &err), &err);
    assert_false(icl_ode_done(ode));
    finish(ode);
    check_rel(icl_ode_y(ode)[0], exp(-icl_ode_t(ode)), 1e-7);
    icl_ode_free(ode);

    /* t itself runs out of numbers: an error, not a loop and not an infinite t. */
    ode = start(&system, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, &y0, -INFINITY);
    enum icl_status status = ICL_OK;
    while (status == ICL_OK) status = icl_ode_step(ode, &err);
    check_fails(status, ICL_ENUMERIC, &err, "at t=-7"); /* e^709 is the last number */
    icl_ode_free(ode);
}

static void reinit_is_fresh(void **state) {
    (void)state;
    const double first[2] = {1.3, 0.2}, second[2] = {-0.4, 2};

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        const struct icl_ode_control how = control((enum icl_stepper)m, 1e-5, 1e-7);
        struct icl_ode *used = start(&TANGLED, how, 0, first, 2), *fresh = start(&TANGLED, how, 1, second, 0);
        struct icl_err err;
        for (int i = 0; i < 5 && !icl_ode_done(used); i++) check_ok(icl_ode_step(used, &err), &err);
        check_ok(icl_ode_init(used, 1, second, 0, &err), &err);
        while (!icl_ode_done(fresh)) {
            check_ok(icl_ode_step(fresh, &err), &err);
            check_ok(icl_ode_step(used, &err), &err);
            assert_true(icl_ode_t(fresh) == icl_ode_t(used));
            assert_memory_equal(icl_ode_y(fresh), icl_ode_y(used), sizeof first);
        }
        assert_true(icl_ode_done(used) && icl_ode_rhs_calls(used) == icl_ode_rhs_calls(fresh));
        icl_ode_free(used);
        icl_ode_free(fresh);
    }
}

/* An absolute tolerance above the solution is obeyed, and the answer is noise: that is what it means. */
static void tolerance_above_the_solution(void **state) {
    (void)state;
    double rate = -50;
    const struct icl_ode_system system = {1, decay, decay_jac, &rate};
    const double y0 = 1e-9, exact = 1e-9 * exp(-50);

    const double loose = solve(&system, control(ICL_STEPPER_RKF45, 1e-9, 1e-8), 0, &y0, 1);
    assert_true(fabs(loose) < 1e-8 && fabs(loose) > 1e15 * exact);
    /* The defaults keep their promise of 1e-12; without an absolute tolerance all digits are right. */
    check_abs(solve(&system, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, &y0, 1), exact, 1e-12);
    check_rel(solve(&system, control(ICL_STEPPER_RK8PD, 1e-9, 0), 0, &y0, 1), exact, 1e-7); /* measured 2e-8 */
}

static int slow(double t, const double *y, double *dydt, void *context) {
    (void)context;
    dydt[0] = y[0] * y[0] * cos(t + y[0]);
    return 0;
}

static void tolerance_too_loose(void **state) {
    (void)state;
    const struct icl_ode_system system = {1, slow, NULL, NULL};
    const double y0 = 0.2;

    /* pitfalls: 0.10615 is right, 0.1555 what rtol 1e-3 gives. The last digit given; measured 0.106153. */
    check_abs(solve(&system, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, &y0, 300), 0.10615, 5e-6);
    check_abs(solve(&system, control(ICL_STEPPER_RKF45, 1e-9, 1e-12), 0, &y0, 300), 0.10615, 5e-6);
    /* Not a bug to be fixed, but why the defaults are tight; measured 0.1416. */
    assert_true(fabs(solve(&system, control(ICL_STEPPER_RKF45, 1e-3, 1e-3), 0, &y0, 300) - 0.10615) > 0.02);
}

static int scaled_tangle(double t, const double *y, double *dydt, void *context) {
    const double c = *(const double *)context;
    (void)t;
    dydt[0] = -c * y[0] * y[1];
    dydt[1] = c * (y[0] * y[0] - y[1]);
    return 0;
}

/* A factor of the right-hand side only rescales time: the same steps, bit for bit where the factor is a power of two.
 */
static void time_scales(void **state) {
    (void)state;
    static const double SCALE[] = {0x1p-66, 0x1p66, 1e20, 1e-20};
    const double y0[2] = {0, 1};
    double one = 1;
    struct icl_ode_system system = {2, scaled_tangle, NULL, &one};

    for (int start_kind = 0; start_kind < 2; start_kind++) {
        const double first[2] = {start_kind ? 0.7 : y0[0], start_kind ? 0 : y0[1]};
        const struct icl_ode_control how = control(ICL_STEPPER_RK8PD, 1e-9, 1e-12);
        system.context = &one;
        struct icl_ode *ode = start(&system, how, 0, first, 3);
        finish(ode);
        for (size_t i = 0; i < 4; i++) {
            double scale = SCALE[i];
            system.context = &scale;
            struct icl_ode *other = start(&system, how, 0, first, 3 / scale);
            finish(other);
            assert_int_equal(icl_ode_steps(other), icl_ode_steps(ode));
            if (i < 2) assert_memory_equal(icl_ode_y(other), icl_ode_y(ode), sizeof y0);
            check_abs(icl_ode_y(other)[1], icl_ode_y(ode)[1],
                      1e-11); /* rounding of the scale in the error estimate, hence in h; measured 3e-13 */
            icl_ode_free(other);
        }
        icl_ode_free(ode);
    }
}

static void no_memory(void **state) {
    (void)state;
    const struct icl_ode_control how = control(ICL_STEPPER_MSBDF, 1e-9, 1e-12);
    struct icl_ode *ode;
    struct icl_err err;
    enum icl_status status = ICL_ENOMEM;

    for (size_t n = 1; status == ICL_ENOMEM; n++) {
        icl_mem_fail_at(n);
        status = icl_ode_alloc(&ode, &TANGLED, &how, &err);
        icl_mem_fail_at(0);
        assert_true((status == ICL_ENOMEM) == (n == 1)); /* one block of our own; the rest is GSL's */
        assert_true((ode == NULL) == (status == ICL_ENOMEM));
    }
    check_ok(status, &err);
    icl_ode_free(ode);
}

/* ---- breaks ---- */

static int pulse(double t, const double *y, double *dydt, void *context) {
    const int closed_right = *(const int *)context;
    (void)y;
    if (closed_right)
        dydt[0] = t > 50 && t <= 50.1 ? 1e4 : 0;
    else
        dydt[0] = t >= 50 && t < 50.1 ? 1e4 : 0;
    return 0;
}

static void pulse_needs_breaks(void **state) {
    (void)state;
    const double forward[] = {-3, 50, 50.1, 200}, backward[] = {200, 50.1, 50, -3}, y0 = 0;
    struct icl_err err;

    for (int closed_right = 0; closed_right < 2; closed_right++) {
        const struct icl_ode_system system = {1, pulse, zero_jac, &closed_right};
        /* What a stepper does by itself: it never sees the pulse. */
        assert_true(solve(&system, control(ICL_STEPPER_RKF45, 1e-9, 1e-12), 0, &y0, 100) == 0);
        for (int m = 0; m < ICL_STEPPER_COUNT; m++)
            for (int back = 0; back < 2; back++) {
                const double from = back ? 100 : 0;
                struct icl_ode *ode = start(&system, control((enum icl_stepper)m, 1e-9, 1e-12), from, &y0, 100 - from);
                check_ok(icl_ode_breaks(ode, back ? backward : forward, 4, &err), &err);
                size_t seen = 0;
                while (!icl_ode_done(ode)) {
                    check_ok(icl_ode_step(ode, &err), &err);
                    seen += icl_ode_t(ode) == 50 || icl_ode_t(ode) == 50.1;
                    /* The inside of a step up to a break knows nothing of what lies behind it. */
                    double y, end = icl_ode_y(ode)[0];
                    check_ok(icl_ode_at(ode, 0.5 * (icl_ode_t(ode) + icl_ode_t_before(ode)), &y, &err), &err);
                    check_abs(y, 0.5 * (icl_ode_y_before(ode)[0] + end), 1e-9); /* rounding at 1000 */
                }
                assert_int_equal(seen, 2);
                /* Rounding: 0.1 = 50.1 - 50 to 1e-14, times 1e4; measured 1e-11. */
                check_rel(icl_ode_y(ode)[0], back ? -1000 : 1000, 1e-12);
                icl_ode_free(ode);
            }
    }
}

/* Breaks at both ends of the span, and one that falls on t after an extension. */
static void breaks_at_the_ends(void **state) {
    (void)state;
    const int closed_right = 0;
    const struct icl_ode_system system = {1, pulse, NULL, (void *)(uintptr_t)&closed_right};
    const double at[] = {50, 50.1}, y0 = 0;
    struct icl_err err;

    struct icl_ode *ode = start(&system, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 50, &y0, 50.1);
    check_ok(icl_ode_breaks(ode, at, 2, &err), &err);
    finish(ode);
    check_rel(icl_ode_y(ode)[0], 1000, 1e-12); /* rounding, as above */
    check_ok(icl_ode_extend(ode, 60, &err), &err);
    finish(ode);
    check_rel(icl_ode_y(ode)[0], 1000, 1e-12);
    icl_ode_free(ode);
}

/* ---- inside a step ---- */

static void at_matches_the_solution(void **state) {
    (void)state;
    const double y0[2] = {0, 1};

    for (int m = 0; m < ICL_STEPPER_COUNT; m++) {
        const double rtol = m == ICL_STEPPER_RK1IMP ? 1e-5 : 1e-7;
        const struct icl_ode_control how = control((enum icl_stepper)m, rtol, rtol);
        struct icl_ode *looked = start(&ROTATION, how, 0, y0, 3), *left = start(&ROTATION, how, 0, y0, 3);
        struct icl_err err;
        double y[2], dense[2], worst_at = 0, worst_end = 0;
        while (!icl_ode_done(left)) {
            check_ok(icl_ode_step(looked, &err), &err);
            check_ok(icl_ode_step(left, &err), &err);
            const double ta = icl_ode_t_before(looked), tb = icl_ode_t(looked);
            for (int i = 0; i <= 4; i++) {
                const double t = i == 4 ? tb : ta + 0.25 * i * (tb - ta);
                check_ok(icl_ode_at(looked, t, y, &err), &err);
                icl_ode_dense(looked, t, dense);
                worst_at = fmax(worst_at, fabs(y[0] - sin(t)));
                if (i == 0) assert_memory_equal(y, icl_ode_y_before(looked), sizeof y);
                if (i == 4) assert_memory_equal(y, icl_ode_y(looked), sizeof y);
                if (i == 0 || i == 4) check_abs(dense[0], y[0], 1e-15); /* rounding of the cubic; measured 2e-16 */
            }
            worst_end = fmax(worst_end, fabs(icl_ode_y(looked)[0] - sin(tb)));
            /* Looking must not change the integration: the same bytes as without. */
            assert_true(tb == icl_ode_t(left));
            assert_memory_equal(icl_ode_y(looked), icl_ode_y(left), sizeof y);
        }
        /* The solver's accuracy: what its ends have, and one step's own error; measured 1.0 to 1.3 x. */
        assert_true(worst_at <= 2 * worst_end + 2 * rtol);
        icl_ode_free(looked);
        icl_ode_free(left);
    }
}

static void at_refuses_the_outside(void **state) {
    (void)state;
    const double y0[2] = {0, 1};
    struct icl_ode *ode = start(&ROTATION, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, y0, 3);
    struct icl_err err;
    double y[2];

    check_ok(icl_ode_at(ode, 0, y, &err), &err); /* before the first step both ends are t0 */
    assert_memory_equal(y, y0, sizeof y);
    icl_ode_dense(ode, 0, y);
    assert_memory_equal(y, y0, sizeof y);
    check_ok(icl_ode_step(ode, &err), &err);
    check_ok(icl_ode_step(ode, &err), &err);
    check_fails(icl_ode_at(ode, 0, y, &err), ICL_ERANGE, &err, "outside the last step");
    check_fails(icl_ode_at(ode, 3, y, &err), ICL_ERANGE, &err, "outside the last step");
    check_fails(icl_ode_at(ode, NAN, y, &err), ICL_ERANGE, &err, "t=nan");
    icl_ode_free(ode);
}

/* One step of the size given, and the cubic's error in its middle. */
static void dense_is_of_fourth_order(void **state) {
    (void)state;
    const double y0[2] = {0.3, 0.9};
    double h[4], error[4], y[2], dense[2];
    struct icl_err err;

    for (size_t i = 0; i < 4; i++) {
        struct icl_ode_control how = control(ICL_STEPPER_RK8PD, 1e-3, 1e-3);
        how.h0 = h[i] = 0.2 * pow(0.5, (double)i);
        struct icl_ode *ode = start(&TANGLED, how, 0, y0, 3);
        check_ok(icl_ode_step(ode, &err), &err);
        assert_true(icl_ode_t(ode) == h[i]);
        check_ok(icl_ode_at(ode, 0.5 * h[i], y, &err), &err);
        icl_ode_dense(ode, 0.5 * h[i], dense);
        error[i] = hypot(dense[0] - y[0], dense[1] - y[1]);
        icl_ode_free(ode);
    }
    check_slope(4, h, error, 4, 0.15); /* truncation */
}

static void counts_every_call(void **state) {
    (void)state;
    const double y0[2] = {0, 1};
    struct icl_ode *ode = start(&ROTATION, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, y0, 3);
    struct icl_err err;
    double y[2];

    check_ok(icl_ode_step(ode, &err), &err);
    const size_t first = icl_ode_rhs_calls(ode);
    check_ok(icl_ode_step(ode, &err), &err);
    assert_int_equal(icl_ode_rhs_calls(ode), first + 13); /* 12 stages and the end; the beginning is known */
    check_ok(icl_ode_at(ode, 0.5 * (icl_ode_t(ode) + icl_ode_t_before(ode)), y, &err), &err);
    assert_int_equal(icl_ode_rhs_calls(ode), first + 13 + 12);
    icl_ode_dense(ode, icl_ode_t(ode), y);
    assert_int_equal(icl_ode_rhs_calls(ode), first + 13 + 12);
    icl_ode_free(ode);
}

/* ---- events ---- */

enum { MOST = 16 };

/* Every event up to t1. */
static size_t events(struct icl_ode *ode, icl_ode_event *g, void *context, size_t parts, double *root) {
    struct icl_err err;
    size_t total = 0, found;
    while (!icl_ode_done(ode)) {
        check_ok(icl_ode_step(ode, &err), &err);
        check_ok(icl_ode_locate(ode, g, context, parts, MOST - total, root + total, &found, &err), &err);
        total += found;
    }
    return total;
}

/* One step from 0 to 1 (or back) of y = t. */
static struct icl_ode *one_step(double t0, double t1) {
    struct icl_ode_control how = control(ICL_STEPPER_RK8PD, 1e-9, 1e-12);
    struct icl_err err;
    how.h0 = 4 * fabs(t1 - t0);
    struct icl_ode *ode = start(&CLOCK, how, t0, &t0, t1);
    check_ok(icl_ode_step(ode, &err), &err);
    assert_true(icl_ode_done(ode));
    return ode;
}

static double polynomial(double t, const double *y, void *context) {
    const double *root = context; /* three roots */
    (void)t;
    return (y[0] - root[0]) * (y[0] - root[1]) * (y[0] - root[2]);
}

static void three_roots_in_one_step(void **state) {
    (void)state;
    double planted[3] = {0.15, 0.5, 0.85}, root[MOST];
    struct icl_err err;
    size_t n;

    for (int back = 0; back < 2; back++) {
        struct icl_ode *ode = one_step(back, 1 - back);
        for (size_t parts = 4; parts <= 64; parts *= 2) {
            check_ok(icl_ode_locate(ode, polynomial, planted, parts, MOST, root, &n, &err), &err);
            assert_int_equal(n, 3);
            for (size_t i = 0; i < 3; i++)
                check_abs(root[i], planted[back ? 2 - i : i], 1e-15); /* a few ulp; measured 4.4e-16 */
        }
        /* Between its ends alone the step shows one change of sign. */
        check_ok(icl_ode_locate(ode, polynomial, planted, 1, MOST, root, &n, &err), &err);
        assert_int_equal(n, 1);
        /* No more than asked for, the first ones. */
        check_ok(icl_ode_locate(ode, polynomial, planted, 8, 2, root, &n, &err), &err);
        assert_int_equal(n, 2);
        check_abs(root[1], 0.5, 1e-15);
        check_ok(icl_ode_locate(ode, polynomial, planted, 8, 0, root, &n, &err), &err);
        assert_int_equal(n, 0);
        check_fails(icl_ode_locate(ode, polynomial, planted, 0, MOST, root, &n, &err), ICL_ERANGE, &err, "parts=0");
        icl_ode_free(ode);
    }
}

static double line(double t, const double *y, void *context) {
    (void)y;
    return t - *(const double *)context;
}

/* At the step's ends, at a part's end, next to both, and close to zero. */
static void roots_at_the_edges(void **state) {
    (void)state;
    const double at[] = {1e-13,          1e-300, 5e-324, 0.25, 0.5, 1, 0.1, nextafter(0.25, 0), nextafter(0.25, 1),
                         nextafter(1, 0)};
    double root[MOST];
    struct icl_err err;
    size_t n;

    struct icl_ode *ode = one_step(0, 1);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double planted = at[i];
        check_ok(icl_ode_locate(ode, line, &planted, 4, MOST, root, &n, &err), &err);
        assert_int_equal(n, 1);
        /* A few ulp of t itself, however small it is, down to eps^2 of the step. */
        check_abs(root[0], planted, 4 * DBL_EPSILON * planted + 2 * DBL_EPSILON * DBL_EPSILON);
        assert_true(root[0] >= 0 && root[0] <= 1);
    }
    /* At the very beginning it is the step before's. */
    double zero = 0, beyond = nextafter(1, 2);
    check_ok(icl_ode_locate(ode, line, &zero, 4, MOST, root, &n, &err), &err);
    assert_int_equal(n, 0);
    check_ok(icl_ode_locate(ode, line, &beyond, 4, MOST, root, &n, &err), &err);
    assert_int_equal(n, 0);
    icl_ode_free(ode);

    /* A root at t = 0 in the middle of a step. */
    ode = one_step(-1, 1);
    check_ok(icl_ode_locate(ode, line, &zero, 3, MOST, root, &n, &err), &err);
    assert_int_equal(n, 1);
    check_abs(root[0], 0, 1e-31); /* eps^2 of the step */
    icl_ode_free(ode);

    /* Before the first step there is nothing to find. */
    ode = start(&CLOCK, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, &zero, 1);
    check_ok(icl_ode_locate(ode, line, &zero, 4, MOST, root, &n, &err), &err);
    assert_int_equal(n, 0);
    icl_ode_free(ode);
}

/* A root exactly where a step ends is found once: by that step, not by the next. */
static void root_between_two_steps(void **state) {
    (void)state;
    double planted = 0.5, root[MOST];
    const double at = 0.5, y0 = 0;
    struct icl_err err;

    struct icl_ode *ode = start(&CLOCK, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, &y0, 1);
    check_ok(icl_ode_breaks(ode, &at, 1, &err), &err);
    assert_int_equal(events(ode, line, &planted, 3, root), 1);
    check_abs(root[0], 0.5, 1e-15); /* a few ulp; measured 2.2e-16 */
    icl_ode_free(ode);
}

static double staircase(double t, const double *y, void *context) {
    const double stride = *(const double *)context;
    (void)t;
    return sin(floor(y[0] / stride) * 2 + 1); /* changes of sign at some of the stairs, never 0 */
}

static void jumps_are_events(void **state) {
    (void)state;
    double stride = 0.0625, root[MOST], y;
    struct icl_err err;
    size_t n, expected = 0;

    struct icl_ode *ode = one_step(0, 1);
    check_ok(icl_ode_locate(ode, staircase, &stride, 32, MOST, root, &n, &err), &err);
    for (size_t k = 1; k < 16; k++) {
        if ((sin(2 * (double)k + 1) > 0) == (sin(2 * (double)k - 1) > 0)) continue;
        assert_true(expected < n);
        check_abs(root[expected], stride * (double)k, 1e-15); /* a few ulp; measured 4.4e-16 */
        /* Its far side: whoever looks there sees the new sign. */
        check_ok(icl_ode_at(ode, root[expected], &y, &err), &err);
        assert_true((staircase(0, &y, &stride) > 0) == (sin(2 * (double)k + 1) > 0));
        expected++;
    }
    assert_int_equal(n, expected);
    icl_ode_free(ode);
}

static double plateau(double t, const double *y, void *context) {
    (void)t;
    (void)context;
    return fmin(y[0] - 0.3, 0) + fmax(y[0] - 0.6, 0);
}

static double infinite_jump(double t, const double *y, void *context) {
    (void)t;
    (void)context;
    return y[0] < 0.7 ? -INFINITY : INFINITY;
}

/* g = 0 over a stretch: the event is where it becomes 0; leaving is none. Infinite values are values. */
static void plateaus_and_infinities(void **state) {
    (void)state;
    double root[MOST];
    struct icl_err err;
    size_t n;

    struct icl_ode *ode = one_step(0, 1);
    for (size_t parts = 1; parts <= 20; parts++) {
        check_ok(icl_ode_locate(ode, plateau, NULL, parts, MOST, root, &n, &err), &err);
        assert_int_equal(n, 1);
        /* With one part the step shows - to + alone, and a zero inside is as good as another. */
        if (parts > 3) check_abs(root[0], 0.3, 1e-15);
        check_ok(icl_ode_locate(ode, infinite_jump, NULL, parts, MOST, root, &n, &err), &err);
        assert_int_equal(n, 1);
        check_abs(root[0], 0.7, 1e-15);
    }
    icl_ode_free(ode);
}

static double nan_after(double t, const double *y, void *context) {
    (void)t;
    return y[0] > *(const double *)context ? NAN : y[0] - 0.99;
}

static double nan_near_root(double t, const double *y, void *context) {
    (void)t;
    (void)context;
    return fabs(y[0] - 0.37) < 1e-3 ? NAN : y[0] - 0.37;
}

static void nan_events_end(void **state) {
    (void)state;
    double edge[] = {-1, 0.5, 0.98}, root[MOST];
    struct icl_err err;
    size_t n;

    struct icl_ode *ode = one_step(0, 1);
    for (size_t i = 0; i < 3; i++)
        check_fails(icl_ode_locate(ode, nan_after, &edge[i], 8, MOST, root, &n, &err), ICL_ENUMERIC, &err,
                    "event function is NaN at t=");
    check_fails(icl_ode_locate(ode, nan_near_root, NULL, 8, MOST, root, &n, &err), ICL_ENUMERIC, &err,
                "event function is NaN at t=0.3");
    icl_ode_free(ode);
}

static double first_component(double t, const double *y, void *context) {
    (void)t;
    return y[0] - *(const double *)context;
}

/* sin t has its zeros at the multiples of pi, whatever the stepper; none at t0, where it starts. */
static void every_stepper_finds_events(void **state) {
    (void)state;
    const double y0[2] = {0, 1}, pi = acos(-1);
    double zero = 0, root[MOST], y[2];

    for (int m = 0; m < ICL_STEPPER_COUNT; m++)
        for (int back = 0; back < 2; back++) {
            const double rtol = m == ICL_STEPPER_RK1IMP ? 1e-5 : 1e-8, span = back ? -13 : 13;
            struct icl_ode *ode = start(&ROTATION, control((enum icl_stepper)m, rtol, rtol), 0, y0, span);
            struct icl_err err;
            size_t total = 0, n;
            double worst = 0;
            while (!icl_ode_done(ode)) {
                check_ok(icl_ode_step(ode, &err), &err);
                check_ok(icl_ode_locate(ode, first_component, &zero, 8, MOST, root, &n, &err), &err);
                for (size_t i = 0; i < n; i++) {
                    total++;
                    worst = fmax(worst, fabs(fabs(root[i]) - (double)total * pi));
                    /* On the far side to the last bit of what at() says. */
                    check_ok(icl_ode_at(ode, root[i], y, &err), &err);
                    assert_true((total % 2 == 1) == back ? y[0] >= 0 : y[0] <= 0);
                    /* A few ulp of t; rounding of the extrapolation in bsimp, which also looks inside msbdf: 2e-13. */
                    check_abs(y[0], 0, m == ICL_STEPPER_BSIMP || m == ICL_STEPPER_MSBDF ? 1e-12 : 1e-14);
                }
            }
            assert_int_equal(total, 4);
            /* Truncation: the solution's own phase error, at slope 1. */
            const double bound = rtol * fmax(20, 2 * (double)icl_ode_steps(ode));
            check_abs(worst, 0, bound);
            icl_ode_free(ode);
        }
}

static double ring(double t, const double *y, void *context) {
    (void)t;
    return y[0] * y[0] + y[1] * y[1] - *(const double *)context;
}

/* Where the cubic and the solution disagree about a sign, the solution has the word: a rotation keeps its radius, but
 * the cubic of a long step cuts the corner. */
static void dense_is_overruled(void **state) {
    (void)state;
    const double y0[2] = {0, 1};
    double inside = 1 - 1e-4, root[MOST], y[2];
    size_t alarms = 0, n;
    struct icl_err err;

    for (size_t parts = 1; parts <= 16; parts++) {
        struct icl_ode *ode = start(&ROTATION, control(ICL_STEPPER_RK8PD, 1e-6, 1e-8), 0, y0, 30);
        while (!icl_ode_done(ode)) {
            check_ok(icl_ode_step(ode, &err), &err);
            icl_ode_dense(ode, 0.5 * (icl_ode_t_before(ode) + icl_ode_t(ode)), y);
            alarms += ring(0, y, &inside) < 0;
            check_ok(icl_ode_locate(ode, ring, &inside, parts, MOST, root, &n, &err), &err);
            assert_int_equal(n, 0);
        }
        icl_ode_free(ode);
    }
    assert_true(alarms > 100); /* else this test would test nothing */
}

/* The other way round: the cubic errs by a per cent at the crossing, the root does not. */
static void roots_are_the_solutions(void **state) {
    (void)state;
    const double y0[2] = {0, 1}, level[] = {0.9, 0.5, -0.3};
    double root[MOST];

    for (size_t i = 0; i < 3; i++)
        for (size_t parts = 2; parts <= 16; parts++) {
            double at = level[i];
            struct icl_ode *ode = start(&ROTATION, control(ICL_STEPPER_RK8PD, 1e-6, 1e-8), 0, y0, 4);
            const size_t n = events(ode, first_component, &at, parts, root);
            /* Truncation: 10 x rtol over the slope; measured 2e-7. */
            const double bound = 1e-5 / cos(asin(at));
            assert_int_equal(n, at > 0 ? 2 : 1);
            check_abs(root[n - 1], acos(-1) - asin(at), bound);
            if (n == 2) check_abs(root[0], asin(at), bound);
            icl_ode_free(ode);
        }
}

/* What an event costs: some evaluations by the stepper (12 calls each), whether g is smooth or jumps. */
static void events_are_cheap(void **state) {
    (void)state;
    const double y0[2] = {0, 1};
    double level = 0.3, stride = 0.3, root[MOST];
    icl_ode_event *const kind[] = {first_component, staircase};
    double *const context[] = {&level, &stride};

    for (int k = 0; k < 2; k++) {
        struct icl_ode *ode = start(&ROTATION, control(ICL_STEPPER_RK8PD, 1e-9, 1e-12), 0, y0, 3);
        struct icl_err err;
        size_t total = 0, calls = 0, n;
        while (!icl_ode_done(ode)) {
            check_ok(icl_ode_step(ode, &err), &err);
            const size_t before = icl_ode_rhs_calls(ode);
            check_ok(icl_ode_locate(ode, kind[k], context[k], 4, MOST, root, &n, &err), &err);
            if (n == 0) assert_int_equal(icl_ode_rhs_calls(ode), before);
            calls += icl_ode_rhs_calls(ode) - before;
            total += n;
        }
        assert_true(total >= 2);
        assert_true(calls <= 5 * 12 * total); /* measured 38 a crossing, 59 a jump */
        icl_ode_free(ode);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_in_order),
        cmocka_unit_test(measured_orders),
        cmocka_unit_test(rk4imp_needs_a_tight_tolerance),
        cmocka_unit_test(jacobians_of_this_file),
        cmocka_unit_test(all_steppers_agree),
        cmocka_unit_test(backwards_returns),
        cmocka_unit_test(nan_is_never_accepted),
        cmocka_unit_test(nan_at_the_start),
        cmocka_unit_test(nan_jacobian),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(max_steps_says_so),
        cmocka_unit_test(last_step_may_be_short),
        cmocka_unit_test(infinite_and_extended_spans),
        cmocka_unit_test(reinit_is_fresh),
        cmocka_unit_test(tolerance_above_the_solution),
        cmocka_unit_test(tolerance_too_loose),
        cmocka_unit_test(time_scales),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(pulse_needs_breaks),
        cmocka_unit_test(breaks_at_the_ends),
        cmocka_unit_test(at_matches_the_solution),
        cmocka_unit_test(at_refuses_the_outside),
        cmocka_unit_test(dense_is_of_fourth_order),
        cmocka_unit_test(counts_every_call),
        cmocka_unit_test(three_roots_in_one_step),
        cmocka_unit_test(roots_at_the_edges),
        cmocka_unit_test(root_between_two_steps),
        cmocka_unit_test(jumps_are_events),
        cmocka_unit_test(plateaus_and_infinities),
        cmocka_unit_test(nan_events_end),
        cmocka_unit_test(every_stepper_finds_events),
        cmocka_unit_test(dense_is_overruled),
        cmocka_unit_test(roots_are_the_solutions),
        cmocka_unit_test(events_are_cheap),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
