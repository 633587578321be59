/* The memory laws: values at the start and for ever, slopes, the clock and its inverse, the law at K infinite. */
#include "check.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "fixtures.h"
#include "iclkin/memlaw.h"
#include "iclkin/quad.h"

static struct icl_memlaw law_of(const char *assignments, double K) {
    const struct icl_params params = fixture_params(assignments);
    struct icl_memlaw law;
    struct icl_err err;
    check_ok(icl_memlaw_init(&params, K, &law, &err), &err);
    return law;
}

static const char *const LAWS[] = {
    "memory.law=none",
    "memory.law=constant memory.c1=0.3",
    "memory.law=constant memory.c1=1e-20 memory.c2=0.7",
    "memory.law=powerlaw",
    "memory.law=powerlaw memory.p=1.37 memory.A=2 memory.nu=0.6",
    "memory.law=powerlaw memory.p=1.0001",
    "memory.law=powerlaw memory.p=17.3",
    "memory.law=powerlaw memory.p=1000",
};
enum { LAW_COUNT = sizeof LAWS / sizeof *LAWS };

static void at_the_start(void **state) {
    (void)state;
    struct icl_memlaw_state s;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], 1234);
        icl_memlaw_state(&law, 0, &s);
        const double c1 = law.law == ICL_LAW_CONSTANT ? law.c1 : 0.5;
        assert_true(s.c1 == c1);
        assert_true(icl_memlaw_budget(&law, 0) == 0);
        assert_true(icl_memlaw_alike(&law));
        assert_true(s.v == 0 && s.quantiles == 1 && s.weight[0] == 1);
        if (law.law != ICL_LAW_CONSTANT) assert_true(s.phi[0] == 0 && s.c2 == 0.5 && s.c3 == 1);
    }
}

/* All items alike: sigma(-phi) = c1, c2 = 1 - c1 and c3 = e^-phi at every clock (T1). */
static void averages_of_equal_items(void **state) {
    (void)state;
    struct icl_memlaw_state s;
    struct icl_memlaw_rates r;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], 1234);
        for (double at = 0.1; at < 1e5; at *= 2.7) { /* down to c1 = 1e-80 */
            icl_memlaw_state(&law, at, &s);
            icl_memlaw_rates(&law, at, &r);
            assert_true(r.c1 == s.c1 && r.c2 == s.c2);
            if (s.c1 < 1e-280) continue;                     /* memorized for good */
            check_rel(1 / (1 + exp(s.phi[0])), s.c1, 1e-13); /* rounding of an exponent of up to 600 */
            check_rel(exp(-s.phi[0]), s.c3, 1e-13);
            if (law.law != ICL_LAW_CONSTANT) check_abs(s.c2, 1 - s.c1, DBL_EPSILON);
        }
    }
}

/* Memorized for good: c1 underflows, but what the clock (M3) divides by does not. */
static void underflow(void **state) {
    (void)state;
    struct icl_memlaw_state s;
    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], 1234);
        for (double at = 1e5; at <= 1e300; at *= 1e5) {
            icl_memlaw_state(&law, at, &s);
            assert_true(s.c1 > 0 && isfinite(s.phi[0]) && isfinite(s.slope[0]) && s.c3 >= 0);
        }
    }
}

static double c1_at(double s, void *context) {
    struct icl_memlaw_rates r;
    icl_memlaw_rates(context, s, &r);
    return r.c1;
}

static void budget_is_the_integral_of_c1(void **state) {
    (void)state;
    struct icl_err err;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct icl_memlaw law = law_of(LAWS[i], 1234);
        for (double s = 0.3; s < 1e5; s *= 11.7) {
            double integral;
            check_ok(icl_quad_finite(c1_at, &law, 0, s, 1e-11, &integral, &err), &err);
            check_rel(icl_memlaw_budget(&law, s), integral,
                      1e-12); /* the quadrature's own and rounding; measured 4e-14 */
        }
    }
}

static double c1_of_share(double x, void *context) {
    return c1_at(x * ((struct icl_memlaw *)context)->scale, context);
}

static void budget_for_ever(void **state) {
    (void)state;
    struct icl_err err;
    static const double K[] = {2, 250, 4000, 1e15};

    for (size_t i = 0; i < 4; i++) {
        struct icl_memlaw law = law_of("memory.A=0.6 memory.nu=0.75 memory.p=2.4", K[i]);
        double integral;
        check_rel(law.budget, 0.6 * pow(K[i], 0.75), 4 * DBL_EPSILON); /* (T8): A K^nu */
        check_ok(icl_quad_infinite(c1_of_share, &law, 0, 1e-11, &integral, &err), &err);
        check_rel(integral * law.scale, law.budget, 1e-13); /* the quadrature's own; measured 2e-16 */
        check_rel(icl_memlaw_budget(&law, INFINITY), law.budget, DBL_EPSILON);
        check_rel(icl_memlaw_budget(&law, 1e12 * law.scale), law.budget, 1e-15); /* (1e12)^-1.4 is below rounding */
    }
    assert_true(isinf(law_of("memory.law=none", 100).budget));
    assert_true(isinf(law_of("memory.law=constant", 100).budget));
}

static void clock_inverts_budget(void **state) {
    (void)state;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], 1234);
        assert_true(icl_memlaw_clock(&law, 0) == 0);
        for (double s = 1e-3; s < 1e4; s *= 7.1) {
            const double I = icl_memlaw_budget(&law, s), left = isinf(law.budget) ? 1 : 1 - I / law.budget;
            if (!(left > 1e-8)) continue; /* too close to exhaustion: the inverse is ill conditioned */
            /* Rounding of I against what is left of it, and of log1p: p - 1 = 1e-4 amplifies it. */
            const double slope = law.law == ICL_LAW_POWERLAW ? 1 / left * I / (c1_at(s, (void *)&law) * s) : 1;
            check_rel(icl_memlaw_clock(&law, I), s, 16 * DBL_EPSILON * fmax(slope, 1) * fmax(1, 1 / left));
        }
        if (isinf(law.budget)) continue;
        assert_true(isinf(icl_memlaw_clock(&law, law.budget)));
        assert_true(isinf(icl_memlaw_clock(&law, 2 * law.budget)));
        assert_true(isfinite(icl_memlaw_clock(&law, law.budget * 0.999)) || law.p < 1.01); /* p near 1: 1000^(1e4) */
    }
}

static void slopes(void **state) {
    (void)state;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], 1234);
        if (law.law != ICL_LAW_POWERLAW) {
            struct icl_memlaw_rates r;
            icl_memlaw_rates(&law, 3, &r);
            assert_true(r.dc1 == 0 && r.dc2 == 0);
            continue;
        }
        for (double s = 0.1 * law.scale / law.p; s < 30 * law.scale / law.p; s *= 3.71) {
            const double d = 1e-5 * (s + law.scale / law.p);
            struct icl_memlaw_rates up, down, r;
            struct icl_memlaw_state sup, sdown, at;
            icl_memlaw_rates(&law, s, &r);
            icl_memlaw_rates(&law, s + d, &up);
            icl_memlaw_rates(&law, s - d, &down);
            /* truncation (d p/scale)^2 and rounding eps/1e-5 */
            check_rel((up.c1 - down.c1) / (2 * d), r.dc1, 1e-8);
            check_abs((up.c2 - down.c2) / (2 * d), r.dc2, 1e-8 * r.dc2 + DBL_EPSILON / d); /* c2 itself is near 1 */
            icl_memlaw_state(&law, s + d, &sup);
            icl_memlaw_state(&law, s - d, &sdown);
            icl_memlaw_state(&law, s, &at);
            check_rel((sup.phi[0] - sdown.phi[0]) / (2 * d), at.slope[0], 1e-7);
        }
    }
}

/* p = 2 takes a road of its own; the laws beside it must meet it. */
static void two_is_like_its_neighbours(void **state) {
    (void)state;
    const struct icl_memlaw two = law_of("memory.p=2", 4000), beside = law_of("memory.p=2.0000000000000004", 4000);

    for (double s = 0; s < 1e6; s = 3 * s + 0.1) {
        struct icl_memlaw_rates a, b;
        icl_memlaw_rates(&two, s, &a);
        icl_memlaw_rates(&beside, s, &b);
        check_rel(a.c1, b.c1, 1e-14); /* rounding of pow; measured 1e-15 */
        check_rel(icl_memlaw_budget(&two, s), icl_memlaw_budget(&beside, s), 1e-14);
    }
}

static void reach(void **state) {
    (void)state;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        struct icl_memlaw law = law_of(LAWS[i], 1234);
        for (double level = 0.49; level > 1e-6; level *= 0.31) {
            const double s = icl_memlaw_reach(&law, level);
            if (law.law == ICL_LAW_POWERLAW)
                check_rel(c1_at(s, &law), level, 1e-11); /* rounding of s/scale + 1, times p = 1000 */
            else
                assert_true(s == (law.c1 <= level ? 0 : INFINITY));
        }
        assert_true(icl_memlaw_reach(&law, 0.5) == 0);
        assert_true(icl_memlaw_reach(&law, 0.9) == 0);
    }
}

static void items(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("memory.A=0.6 memory.nu=0.75");

    for (double K = 2; K < 1e12; K *= 31.7) {
        struct icl_memlaw law = law_of("memory.A=0.6 memory.nu=0.75", K);
        check_rel(icl_memlaw_items(&params, law.budget), K, 1e-14); /* rounding of two powers */
    }
    assert_true(isinf(icl_memlaw_items(&params, INFINITY)));
    const struct icl_params none = fixture_params("memory.law=none"), frozen = fixture_params("memory.law=constant");
    assert_true(icl_memlaw_items(&none, 5) == 0 && icl_memlaw_items(&frozen, 5) == 0);
}

static void infinite_items_are_never_memorized(void **state) {
    (void)state;

    for (size_t i = 0; i < LAW_COUNT; i++) {
        const struct icl_memlaw law = law_of(LAWS[i], INFINITY);
        assert_int_equal(law.law, ICL_LAW_NONE);
        assert_true(c1_at(1e9, (void *)&law) == 0.5 && isinf(law.budget));
    }
}

static void a_table_must_be_read(void **state) {
    (void)state;
    const struct icl_params params = fixture_params("memory.law=table");
    struct icl_memlaw law;
    struct icl_err err;
    check_fails(icl_memlaw_init(&params, 4000, &law, &err), ICL_EUSAGE, &err, "memory.law = table");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_start),
        cmocka_unit_test(averages_of_equal_items),
        cmocka_unit_test(underflow),
        cmocka_unit_test(budget_is_the_integral_of_c1),
        cmocka_unit_test(budget_for_ever),
        cmocka_unit_test(clock_inverts_budget),
        cmocka_unit_test(slopes),
        cmocka_unit_test(two_is_like_its_neighbours),
        cmocka_unit_test(reach),
        cmocka_unit_test(items),
        cmocka_unit_test(infinite_items_are_never_memorized),
        cmocka_unit_test(a_table_must_be_read),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
