/* The measured memory law: a planted power law comes back, averages and slopes agree with the classes, accuracies of
 * items that are not alike are those of brute sums, and every damaged or foreign table is refused by name. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixtures.h"
#include "folder.h"
#include "iclkin/gauge.h"
#include "iclkin/memlaw.h"
#include "iclkin/predict.h"
#include "theory/calibrate.h"
#include "theory/memcurve.h"

enum { SIZES = 7, CLOCKS = 64, CLASSES = 3, TEXT = 1 << 20, FIXED = 7, COLUMNS = FIXED + CLASSES };
static const double A = 0.6, NU = 0.75, END = 24000, WEIGHT[CLASSES] = {0.25, 0.5, 0.25};

/* What is written, and what is wrong with it. */
struct plan {
    const char *D;
    double spread; /* phi of the classes is phi (1 - spread), phi, phi (1 + spread) */
    double lean;   /* and the outer ones stand apart by -+ lean from the start */
    double v;      /* v = v phi^2 */
    double drift;  /* nu falls by this much a unit of ln K */
    double push;   /* the response to the offset 2 is e^p, to 5 e^2p, p = push (1 + phi/10) */
    size_t row, column;
    const char *cell;        /* stands in that row and column instead; NULL: nowhere */
    size_t skip;             /* a size whose rows are left out; SIZES: none */
    size_t rows;             /* are written; 0: all */
    const char *key, *value; /* a header line's other value, or "" for none at all */
};
static const struct plan SOUND = {.D = "63", .skip = SIZES};
static char text[TEXT];
static size_t used;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, TEXT - used, format, arguments);
    va_end(arguments);
    assert_true(used < TEXT);
}

static double size_of(size_t k) {
    return 250 * pow(2, (double)k);
}

static double budget_of(const struct plan *plan, size_t k) {
    const double x = (double)k * log(2);
    return A * pow(250, NU) * exp(NU * x - plan->drift * x * x / 2);
}

static double end_of(size_t k) {
    return END * pow(size_of(k) / size_of(SIZES - 1), NU);
}

static double clock_of(size_t k, size_t j) {
    return end_of(k) * icl_calibrate_clock(CLOCKS, j);
}

static void head(const struct plan *plan, const char *key, const char *value) {
    const bool other = plan->key && strcmp(plan->key, key) == 0;
    if (other && !plan->value[0]) return;
    put("# %s = %s\n", key, other ? plan->value : value);
}

static void heads(const struct plan *plan) {
    char sizes[300] = "", totals[300] = "", tails[300] = "";
    used = 0;
    for (size_t k = 0; k < SIZES; k++) {
        snprintf(sizes + strlen(sizes), 40, "%s%.0f", k > 0 ? " " : "", size_of(k));
        snprintf(totals + strlen(totals), 40, "%s%.17g", k > 0 ? " " : "", budget_of(plan, k));
        snprintf(tails + strlen(tails), 40, "%s2", k > 0 ? " " : "");
    }
    put("# iclkin = test\n");
    head(plan, "task.D", plan->D);
    head(plan, "sim.hidden", "512");
    head(plan, "sim.input_scale", "1");
    head(plan, "task.items", "gaussian");
    head(plan, "train.batch", "128");
    head(plan, "K", sizes);
    head(plan, "clocks", "64");
    head(plan, "offsets", plan->push != 0 ? "0 2 5" : "0");
    head(plan, "weight", "0.25 0.5 0.25");
    head(plan, "I_K_inf", totals);
    head(plan, "tail_p", tails);
    head(plan, "nu", "0.75");
    head(plan, "nu_error", "nan");
    head(plan, "A", "0.6");
    head(plan, "A_error", "nan");
    put("offset\tK\ts\tc1\tI\tv\tresponse\tphi_1\tphi_2\tphi_3\n");
}

static void put_row(const struct plan *plan, size_t row, const double cell[COLUMNS]) {
    for (size_t i = 0; i < COLUMNS; i++) {
        if (plan->cell && row == plan->row && i == plan->column)
            put("%s", plan->cell);
        else
            put("%.17g", cell[i]);
        put(i + 1 < COLUMNS ? "\t" : "\n");
    }
}

/* phi = 2 log(1 + s/T) before the classes differ: without spread c1 = (1/2) (1 + s/T)^-2 exactly (M2). */
static void rows(const struct plan *plan) {
    static const double offset[] = {0, 2, 5};
    size_t row = 0;
    for (size_t o = 0; o < (plan->push != 0 ? 3 : 1); o++)
        for (size_t k = 0; k < SIZES; k++)
            for (size_t j = 0; j < CLOCKS; j++) {
                const double s = clock_of(k, j), budget = budget_of(plan, k), x = 1 + s / (2 * budget);
                const double phi = log(2 * x * x - 1);
                double cell[COLUMNS] = {offset[o],
                                        size_of(k),
                                        s,
                                        0,
                                        budget * (1 - 1 / x),
                                        plan->v * (phi * phi + 0.01),
                                        exp(plan->push * (double)o * (1 + phi / 10))};
                for (int q = 0; q < CLASSES; q++) {
                    cell[FIXED + q] = phi * (1 + plan->spread * (q - 1)) + plan->lean * (q - 1);
                    cell[3] += WEIGHT[q] / (1 + exp(cell[FIXED + q]));
                }
                if (k == plan->skip) continue;
                put_row(plan, row, cell);
                if (++row == plan->rows) return;
            }
}

static const char *write_plan(const struct plan *plan) {
    const char *path = folder_path("table.tsv");
    heads(plan);
    rows(plan);
    folder_write(path, text);
    return path;
}

static struct icl_memtable *read_plan(const struct plan *plan) {
    struct icl_memtable *table;
    struct icl_err err;
    check_ok(icl_memtable_read(&table, write_plan(plan), &err), &err);
    return table;
}

static struct icl_params params_of(const struct icl_memtable *table, const char *assignments) {
    struct icl_params params = fixture_params(assignments);
    params.memory.law = ICL_LAW_TABLE;
    params.memtable = table;
    return params;
}

static struct icl_memlaw law_at(const struct icl_memtable *table, double K, const char *assignments) {
    const struct icl_params params = params_of(table, assignments);
    struct icl_memlaw law;
    struct icl_err err;
    check_ok(icl_memlaw_init(&params, K, &law, &err), &err);
    return law;
}

/* ---- the planted power law -------------------------------------------------------------------------------------- */

static void planted_law_returns(void **state) {
    (void)state;
    struct icl_memtable *table = read_plan(&SOUND);
    struct icl_err err;
    static const double K[] = {250, 330, 3000, 4000, 11000, 16000};
    for (size_t i = 0; i < sizeof K / sizeof *K; i++) {
        const struct icl_params power = fixture_params("memory.A=0.6 memory.nu=0.75");
        struct icl_memlaw exact, law = law_at(table, K[i], "task.K=4000");
        struct icl_memlaw_rates r, e;
        check_ok(icl_memlaw_init(&power, K[i], &exact, &err), &err);
        check_rel(law.budget, exact.budget, 1e-10); /* log I_K(inf) is linear in log K: rounding */
        assert_false(icl_memlaw_alike(&law));
        for (double s = 0.7; s < law.curve->end; s *= 1.9) {
            icl_memlaw_rates(&law, s, &r);
            icl_memlaw_rates(&exact, s, &e);
            /* truncation: order 8, pieces of 0.23 in x; the planted curves collapse, so that K adds nothing. Measured
             * 9e-8 and 5e-12 */
            check_rel(r.c1, e.c1, 1e-6);
            check_rel(icl_memlaw_budget(&law, s), icl_memlaw_budget(&exact, s), 1e-9);
            check_rel(icl_memlaw_clock(&law, icl_memlaw_budget(&law, s)), s,
                      1e-9);                  /* rounding over what is left of I */
            check_abs(r.c2, 1 - r.c1, 1e-12); /* all classes alike */
        }
        const double level = 0.1;
        check_rel(icl_memlaw_reach(&law, level), icl_memlaw_reach(&exact, level), 1e-6); /* measured 3e-8 */
        for (double s = 2 * law.curve->end; s < 1e7; s *= 7) { /* the tail: I_K(inf) - I_K is c1 s/(p - 1) */
            icl_memlaw_rates(&law, s, &r);
            check_rel(icl_memlaw_budget(&law, s), icl_memlaw_budget(&exact, s),
                      0.05); /* p = 2 holds for s >> T; 0.032 */
            check_rel(icl_memlaw_clock(&law, icl_memlaw_budget(&law, s)), s, 1e-7);
            assert_true(r.c1 > 0 && r.dc1 < 0);
        }
        assert_true(isinf(icl_memlaw_clock(&law, law.budget)));
        icl_memlaw_free(&law);
    }
    icl_memtable_free(table);
}

static void planted_times_return(void **state) {
    (void)state;
    struct icl_memtable *table = read_plan(&SOUND);
    static const char *const setting[] = {"task.K=4000", "task.K=5600 task.N=120", "task.K=9000 task.N=150"};
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
        const struct icl_params measured = params_of(table, setting[i]), power = fixture_params(setting[i]);
        struct icl_prediction m, p;
        struct icl_err err;
        check_ok(icl_predict_run(&measured, &m, &err), &err);
        check_ok(icl_predict_run(&power, &p, &err), &err);
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            check_rel(m.t_icl[level], p.t_icl[level], 1e-7);   /* truncation of the table; measured 4e-9 */
            check_rel(m.K_star[level], p.K_star[level], 1e-9); /* the same bisection */
        }
        check_rel(m.t_blowup, p.t_blowup, 1e-7); /* 4e-9 */
    }
    icl_memtable_free(table);
}

/* ---- interpolation ---------------------------------------------------------------------------------------------- */

/* At a K of the table's own the classes follow GSL's Steffen in log(1 + s/s_1), and between two K they stay between. */
/* Between the clocks, and between the K: what was planted, and in order. */
static void smooth_between(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .spread = 0.4, .v = 0.1, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    struct icl_memcurve *curve[3];
    struct icl_err err;
    double phi[3][ICL_MEMTABLE_QUANTILES], slope[ICL_MEMTABLE_QUANTILES], weight[ICL_MEMTABLE_QUANTILES];
    const double K[] = {2000, 2900, 4000};
    for (int i = 0; i < 3; i++) check_ok(icl_memcurve_alloc(&curve[i], table, K[i], &err), &err);
    for (double s = 0.41; s < 0.9 * end_of(3); s *= 1.37) {
        for (int i = 0; i < 3; i++) assert_int_equal(icl_memcurve_phi(curve[i], s, phi[i], slope, weight), CLASSES);
        const double z = 1 + s / (2 * budget_of(&plan, 3)), planted = log(2 * z * z - 1);
        check_abs(phi[0][2], 1.4 * planted, 1e-6); /* measured 1.8e-7: order 8, pieces of 0.23 in x */
        for (int q = 0; q < CLASSES; q++) assert_true(phi[0][q] > phi[1][q] && phi[1][q] > phi[2][q]);
    }
    for (int i = 0; i < 3; i++) icl_memcurve_free(curve[i]);
    icl_memtable_free(table);
}

/* At the planted offsets what was planted, 1 at and below 0, held beyond; its derivatives are its differences. */
static void responses(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .spread = 0.4, .push = 0.3, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    struct icl_memlaw law = law_at(table, 3000, "memory.closure=response");
    struct icl_memlaw_state at, up;
    double o_slope, s_slope, unused[2];
    icl_memlaw_state(&law, 100, &at);
    icl_memlaw_state(&law, 100 * (1 + 1e-6), &up);
    assert_int_equal(at.response.pieces, 2);
    static const double offset[] = {-3, 0, 2, 5, 9}, steps[] = {0, 0, 1, 2, 2};
    const double z = 1 + 100 / (2 * A * pow(3000, NU)), push = 0.3 * (1 + log(2 * z * z - 1) / 10);
    for (int i = 0; i < 5; i++)
        check_rel(icl_memlaw_respond(&at.response, offset[i], &o_slope, &s_slope), exp(push * steps[i]), 1e-6);
    for (double o = 0.1; o < 5; o += 0.37) {
        const double d = 1e-6, here = icl_memlaw_respond(&at.response, o, &o_slope, &s_slope);
        const double differ = icl_memlaw_respond(&at.response, o + d, &unused[0], &unused[1]) -
                              icl_memlaw_respond(&at.response, o - d, &unused[0], &unused[1]);
        check_abs(o_slope, differ / (2 * d), 1e-8);
        check_abs(s_slope, (icl_memlaw_respond(&up.response, o, &unused[0], &unused[1]) - here) / (100 * 1e-6), 1e-8);
    }
    icl_memlaw_free(&law);
    law = law_at(table, 3000, "memory.closure=plain");
    icl_memlaw_state(&law, 100, &at);
    assert_int_equal(at.response.pieces, 0);
    icl_memlaw_free(&law);
    icl_memtable_free(table);
    table = read_plan(&SOUND);
    struct icl_params params = params_of(table, "memory.closure=response");
    struct icl_err err;
    check_fails(icl_memlaw_init(&params, 3000, &law, &err), ICL_EUSAGE, &err, "holds none");
    icl_memtable_free(table);
}

/* The mean field's exact Jacobian with a response, against differences. */
static void jacobian_with_response(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .spread = 0.4, .push = 0.3, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    const struct icl_params params = params_of(table, "task.K=3000 train.lambda=1e-3");
    static const double point[][ICL_DIM] = {{0.3, 0.2, 50}, {1.4, 3, 200}, {4.6, 5.9, 330}, {5.8, 7, 900}};
    struct icl_model *model;
    struct icl_err err;
    check_ok(icl_model_alloc(&model, &params, ICL_LEVEL_MEANFIELD, 3000, &err), &err);
    for (size_t i = 0; i < sizeof point / sizeof *point; i++) {
        double J[ICL_DIM * ICL_DIM], unused[ICL_DIM];
        icl_model_jac(0, point[i], J, unused, model);
        for (int column = 0; column < ICL_DIM; column++) {
            const double d = column == ICL_S ? 1e-2 : 1e-5;
            double up[ICL_DIM], down[ICL_DIM], y[ICL_DIM] = {point[i][0], point[i][1], point[i][2]};
            y[column] += d;
            icl_model_rhs(0, y, up, model);
            y[column] -= 2 * d;
            icl_model_rhs(0, y, down, model);
            for (int row = 0; row < ICL_DIM; row++) /* rounding eps/d, truncation d^2; measured 1.1e-11 */
                check_abs(J[row * ICL_DIM + column], (up[row] - down[row]) / (2 * d), 5e-11);
        }
    }
    icl_model_free(model);
    icl_memtable_free(table);
}

static void slopes(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .spread = 0.4, .v = 0.1, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    static const double K[] = {250, 2900, 60000};
    for (size_t i = 0; i < sizeof K / sizeof *K; i++) {
        struct icl_memlaw law = law_at(table, K[i], "memory.extrapolate=yes");
        for (double s = 0.11; s < 40 * law.curve->end; s *= 2.71) {
            const double d = 1e-6 * s;
            struct icl_memlaw_rates up, down, r;
            struct icl_memlaw_state sup, sdown, at;
            double c1 = 0;
            icl_memlaw_rates(&law, s, &r);
            icl_memlaw_rates(&law, s + d, &up);
            icl_memlaw_rates(&law, s - d, &down);
            icl_memlaw_state(&law, s + d, &sup);
            icl_memlaw_state(&law, s - d, &sdown);
            icl_memlaw_state(&law, s, &at);
            /* rounding eps c/(2 d dc); the cubic's third derivative is below */
            check_abs((up.c1 - down.c1) / (2 * d), r.dc1, 1e-6 * fabs(r.dc1) + 1e-15 / d);
            check_abs((up.c2 - down.c2) / (2 * d), r.dc2, 1e-6 * fabs(r.dc2) + 1e-15 / d);
            for (size_t q = 0; q < at.quantiles; q++) {
                check_abs((sup.phi[q] - sdown.phi[q]) / (2 * d), at.slope[q], 1e-6 * at.slope[q] + 1e-14 / d);
                c1 += at.weight[q] / (1 + exp(at.phi[q]));
            }
            check_rel(at.c1, c1, 1e-14);
            assert_true(at.c1 == r.c1 && at.c2 == r.c2 && at.v > 0);
        }
        icl_memlaw_free(&law);
    }
    icl_memtable_free(table);
}

/* The spread runs over three decades and more; the curve through it follows it in all of them. */
static void spread_of_shipped_tables(void **state) {
    (void)state;
    static const char *const path[] = {"params/memory/default.tsv", "params/memory/small.tsv"};
    static const char *const measured[] = {"memory.extrapolate=no",
                                           "task.D=16 sim.hidden=64 sim.input_scale=4 train.batch=64 train.lr=0.05"};
    for (size_t p = 0; p < sizeof path / sizeof *path; p++) {
        struct icl_memtable *table;
        struct icl_table *source;
        struct icl_err err;
        size_t offset, K, s, v, seen = 0;
        check_ok(icl_memtable_read(&table, path[p], &err), &err);
        check_ok(icl_table_read(&source, path[p], &err), &err);
        check_ok(icl_table_find(source, "offset", &offset, &err), &err);
        check_ok(icl_table_find(source, "K", &K, &err), &err);
        check_ok(icl_table_find(source, "s", &s, &err), &err);
        check_ok(icl_table_find(source, "v", &v, &err), &err);
        for (size_t i = 0; i < icl_table_rows(source); i++) {
            struct icl_memlaw_state at;
            if (icl_table_value(source, i, offset) != 0) continue;
            struct icl_memlaw law = law_at(table, icl_table_value(source, i, K), measured[p]);
            icl_memlaw_state(&law, icl_table_value(source, i, s), &at);
            check_abs(log(at.v / icl_table_value(source, i, v)), 0, 1e-12); /* through the clocks: rounding; 8e-15 */
            icl_memlaw_free(&law);
            seen++;
        }
        assert_true(seen > 100);
        icl_table_free(source);
        icl_memtable_free(table);
    }
}

/* What is still to come, by looking at all of it. */
static void bounds(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .spread = 1.4, .lean = 0.5, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    const double K[] = {2000, 2900};
    bool fell = false;
    for (int i = 0; i < 2; i++) {
        struct icl_memlaw law = law_at(table, K[i], "task.D=63");
        double worst[2], c1, c2;
        icl_memlaw_bounds(&law, 0, &worst[0], &worst[1]);
        for (double s = 0.1; s < 20 * law.curve->end; s *= 1.3) {
            struct icl_memlaw_rates r;
            icl_memlaw_rates(&law, s, &r);
            icl_memlaw_bounds(&law, s, &c1, &c2);
            const double cubics = 1e-3; /* between nodes the classes need not turn together */
            assert_true(r.c1 <= c1 + cubics && r.c2 >= c2 - cubics);
            assert_true(c1 <= worst[0] && c2 >= worst[1]);
            fell = fell || c2 < r.c2 - 0.01;
        }
        icl_memlaw_free(&law);
    }
    assert_true(fell); /* c2 does fall in this table */
    icl_memtable_free(table);
}

/* Beyond the table: refused, or the edge's exponent goes on (here it differs from the fit's). */
static void outside(void **state) {
    (void)state;
    const struct plan plan = {.D = "63", .drift = 0.02, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    struct icl_params params = params_of(table, "task.K=100");
    struct icl_memlaw law;
    struct icl_traj_result result;
    struct icl_err err;
    check_fails(icl_memlaw_init(&params, 100, &law, &err), ICL_EUSAGE, &err, "K = 100 lies outside its 250 to 16000");
    check_fails(icl_memlaw_init(&params, 16002, &law, &err), ICL_EUSAGE, &err, "memory.extrapolate");
    check_ok(icl_memlaw_init(&params, INFINITY, &law, &err), &err);
    assert_int_equal(law.law, ICL_LAW_NONE);
    params.task.K = 4000;
    params.task.N = 4000; /* t_icl lies beyond the table's clock */
    params.train.t_max = 20000;
    check_fails(icl_predict_times(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &result, &err), ICL_ERANGE, &err,
                "passes its end, s = 8485");
    check_fails(icl_predict_times(&params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_END, &result, &err), ICL_ERANGE, &err,
                "passes its end, s = 8485");
    params.memory.extrapolate = ICL_EXTRAPOLATE_YES;
    check_ok(icl_predict_times(&params, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_END, &result, &err), &err);
    const double lo = log(budget_of(&plan, 1) / budget_of(&plan, 0)) / log(2);
    const double hi = log(budget_of(&plan, 6) / budget_of(&plan, 5)) / log(2);
    law = law_at(table, 100, "memory.extrapolate=yes");
    check_rel(law.budget, budget_of(&plan, 0) * pow(0.4, lo), 1e-12);
    icl_memlaw_free(&law);
    law = law_at(table, 64000, "memory.extrapolate=yes");
    check_rel(law.budget, budget_of(&plan, 6) * pow(4, hi), 1e-12);
    assert_true(law.curve->outside);
    icl_memlaw_free(&law);
    icl_memtable_free(table);
}

static void K_star_outside(void **state) {
    (void)state;
    struct icl_memtable *table = read_plan(&SOUND);
    struct icl_err err;
    double K_star;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        struct icl_params params = params_of(table, "task.N=1000 train.t_max=4000"), power = params;
        power.memory.law = ICL_LAW_POWERLAW;
        double expected;
        check_fails(icl_predict_items(&params, (enum icl_level)level, &K_star, &err), ICL_ERANGE, &err,
                    level == ICL_LEVEL_ASYMPTOTIC ? "outside" : "above");
        params.memory.extrapolate = ICL_EXTRAPOLATE_YES;
        check_ok(icl_predict_items(&params, (enum icl_level)level, &K_star, &err), &err);
        check_ok(icl_predict_items(&power, (enum icl_level)level, &expected, &err), &err);
        check_rel(K_star, expected, 4e-3); /* K_tol = 1e-3, and the table's truncation */
        params.memory.extrapolate = ICL_EXTRAPOLATE_NO;
        params.task.N = 5;
        check_fails(icl_predict_items(&params, (enum icl_level)level, &K_star, &err), ICL_ERANGE, &err,
                    level == ICL_LEVEL_ASYMPTOTIC ? "outside" : "below");
    }
    icl_memtable_free(table);
}

/* ---- items that are not alike ------------------------------------------------------------------------------------ */

/* P(phi + w a > 0) by the plain sum over S = 2 k - m, D infinite (T2), (O1). */
static double accuracy(double N, double n, double w, double beta, double phi, double v) {
    const double E = exp(beta), m = N - n;
    double p = 0;
    for (unsigned k = 0; k <= (unsigned)m; k++) {
        const double z = phi + w * (n * E + 2 * k - m) / (n * E + m);
        const double right = v > 0 ? 0.5 * erfc(-z / sqrt(2 * v)) : z > 0 ? 1 : z < 0 ? 0 : 0.5;
        p += gsl_ran_binomial_pdf(k, 0.5, (unsigned)m) * right;
    }
    return p;
}

static void accuracies(void **state) {
    (void)state;
    const struct plan plan = {.D = "inf", .spread = 1.4, .v = 0.2, .skip = SIZES};
    struct icl_memtable *table = read_plan(&plan);
    const struct icl_params params = params_of(table, "task.D=inf task.N=20 task.K=4000");
    struct icl_memlaw law = law_at(table, 4000, "task.D=inf");
    struct icl_gauge *gauge;
    struct icl_observables all;
    struct icl_err err;
    check_ok(icl_gauge_alloc(&gauge, &params, ICL_LEVEL_MEANFIELD, 4000, true, &err), &err);
    assert_true(icl_gauge_reachable(gauge));
    for (double s = 10; s < law.curve->end; s *= 3.1)
        for (double w = 0.3; w < 8; w *= 2.3)
            for (double beta = 0.2; beta < 5; beta += 1.1) {
                const double y[ICL_DIM] = {[ICL_W] = w, [ICL_BETA] = beta, [ICL_S] = s};
                struct icl_memlaw_state memory;
                double iwl = 0;
                icl_memlaw_state(&law, s, &memory);
                for (size_t q = 0; q < memory.quantiles; q++) {
                    const size_t lo = q > 0 ? q - 1 : 0, hi = q < CLASSES - 1 ? q + 1 : q;
                    const double width = (memory.phi[hi] - memory.phi[lo]) / (double)(hi - lo);
                    iwl += memory.weight[q] * accuracy(20, 0, w, beta, memory.phi[q], width * width / 12);
                }
                const double icl = accuracy(20, 1, w, beta, 0, memory.v);
                icl_gauge_all(gauge, y, &all);
                /* training items have other label odds at finite K: a shift of order N/K */
                check_abs(all.acc_iwl, iwl, 20.0 / 4000);
                check_abs(all.acc_icl, icl, 1e-12);
                check_abs(icl_gauge_event_icl(gauge, y), icl - 0.95, 1e-12);
                check_abs(icl_gauge_event_loss(gauge, y), icl - 0.9, 1e-12);
                check_abs(icl_gauge_event_iwl(gauge, y), all.acc_iwl - 0.95, 1e-12);
            }
    icl_gauge_free(gauge);
    icl_memlaw_free(&law);
    icl_memtable_free(table);
}

struct seen {
    const struct icl_gauge *gauge;
    size_t rows;
    double t[400], icl[400], iwl[400];
};

static enum icl_status look(double t, const double *y, void *context, struct icl_err *err) {
    struct seen *seen = context;
    (void)err;
    assert_true(seen->rows < 400);
    seen->t[seen->rows] = t;
    seen->icl[seen->rows] = icl_gauge_acc_icl(seen->gauge, y);
    seen->iwl[seen->rows++] = icl_gauge_acc_iwl(seen->gauge, y);
    return ICL_OK;
}

static void crosses(const struct seen *seen, double t, const double *accuracy_, double threshold) {
    size_t i = 0;
    while (i < seen->rows && seen->t[i] < t) i++;
    assert_true(i > 0 && i < seen->rows && seen->t[i] == t);
    check_abs(accuracy_[i], threshold, 1e-6); /* the events are roots to rounding, the solution to rtol */
}

/* t_icl, t_iwl and t_loss are where the accuracies cross; v > 0 delays ICL and hastens its loss. */
static void times(void **state) {
    (void)state;
    const char *setting = "task.K=8000 train.lambda=3e-3 train.t_max=30000 memory.extrapolate=yes";
    double t_icl[2];
    for (int spread = 0; spread < 2; spread++) {
        const struct plan plan = {.D = "63", .spread = 0.5, .lean = 0.3, .v = 0.3 * spread, .skip = SIZES};
        struct icl_memtable *table = read_plan(&plan);
        const struct icl_params params = params_of(table, setting);
        struct icl_gauge *gauge;
        struct icl_traj *traj;
        struct icl_traj_result result;
        struct icl_err err;
        check_ok(icl_gauge_alloc(&gauge, &params, ICL_LEVEL_MEANFIELD, 8000, true, &err), &err);
        check_ok(icl_traj_alloc(&traj, &params, ICL_LEVEL_MEANFIELD, 8000, &err), &err);
        struct seen seen = {.gauge = gauge};
        check_ok(icl_traj_run(traj, 0, 0, ICL_TRAJ_TO_END, look, &seen, &result, &err), &err);
        assert_int_equal(result.outcome, ICL_OUTCOME_TRANSIENT);
        crosses(&seen, result.t_icl, seen.icl, 0.95);
        crosses(&seen, result.t_loss, seen.icl, 0.9);
        crosses(&seen, result.t_iwl, seen.iwl, 0.95);
        t_icl[spread] = result.t_icl;
        icl_traj_free(traj);
        icl_gauge_free(gauge);
        icl_memtable_free(table);
    }
    assert_true(t_icl[1] > t_icl[0] + 0.1);
}

/* ---- refusals -----------------------------------------------------------------------------------------------------
 */

static void refused(const struct plan *plan, const char *why) {
    struct icl_memtable *table;
    struct icl_err err;
    check_fails(icl_memtable_read(&table, write_plan(plan), &err), ICL_EUSAGE, &err, why);
    assert_non_null(strstr(err.text, "table.tsv"));
    assert_null(table);
}

static void damaged_rows(void **state) {
    (void)state;
    static const struct {
        size_t row, column;
        const char *cell, *why;
    } flaw[] = {
        {200, 7, "nan", "phi_1 is nan"},
        {100, 1, "nan", "K is nan"},
        {100, 3, "nan", "c1 is nan"},
        {100, 4, "inf", "I is inf"},
        {100, 0, "nan", "offset is nan"},
        {40, 2, "0.5", "must rise from 0"},
        {0, 2, "0.1", "must rise from 0"},
        {64 + 40, 2, "235", "must be the same"},
        {50, 4, "0.01", "it must rise"},
        {50, 5, "-1", "v = -1"},
        {60, 8, "0.9", "average to"},
        {63, 3, "0.2", "average to"},
        {68, 1, "300", "K = 500 is missing: 4 of its 64 clocks"},
        {7 * 64 + 70, 6, "nan", "offset = 2, K = 500, s = "},
        {7 * 64 + 70, 6, "-1", "response is -1"},
        {7 * 64 + 70, 0, "5", "offset = 2, K = 500 is missing: 6 of its 64 clocks"},
        {14 * 64 + 3, 2, "77", "offset = 5, K = 250 is missing: 3 of its 64 clocks"},
    };
    for (size_t i = 0; i < sizeof flaw / sizeof *flaw; i++) {
        struct plan plan = SOUND;
        plan.row = flaw[i].row;
        plan.column = flaw[i].column;
        plan.cell = flaw[i].cell;
        plan.push = 0.3;
        refused(&plan, flaw[i].why);
    }
    struct plan plan = SOUND;
    plan.skip = 2;
    refused(&plan, "K = 1000 is missing: 0 of its 64 clocks");
    plan.skip = SIZES - 1;
    refused(&plan, "K = 16000 is missing");
    plan = SOUND;
    plan.rows = 340;
    refused(&plan, "K = 8000 is missing: 20 of its 64 clocks");
    plan.push = 0.3;
    plan.rows = 20 * 64 + 5;
    refused(&plan, "offset = 5, K = 16000 is missing: 5 of its 64 clocks");
}

static void cut_short(void **state) {
    (void)state;
    write_plan(&SOUND);
    const char *path = folder_path("cut.tsv");
    const size_t whole = used;
    for (size_t cut = 1; cut < whole - 12; cut += whole / 97) { /* the last cell may lose digits that nothing shows */
        struct icl_memtable *table;
        struct icl_err err;
        const char kept = text[cut];
        text[cut] = '\0';
        folder_write(path, text);
        check_fails(icl_memtable_read(&table, path, &err), ICL_EUSAGE, &err, "cut.tsv");
        text[cut] = kept;
    }
}

static void damaged_heads(void **state) {
    (void)state;
    static const char *const flaw[][3] = {
        {"task.D", "", "no \"task.D\""},
        {"K", "", "no \"K\""},
        {"K", "250 500 400 2000 4000 8000 16000", "out of place"},
        {"K", "250 500 1000", "\"I_K_inf\" in its header: 7 numbers instead of 3"},
        {"K", "250 500 x", "\"x\" is no number"},
        {"clocks", "65", "is missing"},
        {"clocks", "63", "is missing"},
        {"clocks", "2", "\"clocks\""},
        {"offsets", "", "no \"offsets\""},
        {"offsets", "1", "must rise from 0"},
        {"offsets", "0 3 2", "must rise from 0"},
        {"offsets", "0 2", "offset = 2, K = 250 is missing: 0 of its 64 clocks"},
        {"weight", "0.25 0.5 0.2", "not 1"},
        {"weight", "0.25 1 -0.25", "\"weight\""},
        {"weight", "0.25 0.25 0.25 0.25", "no column phi_4"},
        {"I_K_inf", "1 2 3 4 5 6 7", "below I"},
        {"tail_p", "2 2 2 2 2 2 1", "must exceed 1"},
        {"nu", "", "no \"nu\""},
        {"task.items", "round", "\"task.items\""},
    };
    for (size_t i = 0; i < sizeof flaw / sizeof *flaw; i++) {
        struct plan plan = SOUND;
        plan.key = flaw[i][0];
        plan.value = flaw[i][1];
        refused(&plan, flaw[i][2]);
    }
    struct icl_memtable *table;
    struct icl_err err;
    check_fails(icl_memtable_read(&table, folder_path("none.tsv"), &err), ICL_EIO, &err, "none.tsv");
}

static void of_another_network(void **state) {
    (void)state;
    static const char *const other[][2] = {
        {"task.D=64", "task.D = 63, the parameters say 64"},
        {"sim.hidden=256", "sim.hidden"},
        {"sim.input_scale=2", "sim.input_scale"},
        {"task.items=unit", "task.items = gaussian, the parameters say unit"},
        {"train.batch=64", "train.batch"},
    };
    struct icl_memtable *table = read_plan(&SOUND);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        const struct icl_params params = params_of(table, other[i][0]);
        struct icl_memlaw law;
        struct icl_err err;
        check_fails(icl_memlaw_init(&params, 4000, &law, &err), ICL_EUSAGE, &err, other[i][1]);
    }
    icl_memtable_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_law_returns),
        cmocka_unit_test(planted_times_return),
        cmocka_unit_test(smooth_between),
        cmocka_unit_test(responses),
        cmocka_unit_test(jacobian_with_response),
        cmocka_unit_test(slopes),
        cmocka_unit_test(bounds),
        cmocka_unit_test(outside),
        cmocka_unit_test(K_star_outside),
        cmocka_unit_test(accuracies),
        cmocka_unit_test(times),
        cmocka_unit_test(damaged_rows),
        cmocka_unit_test(spread_of_shipped_tables),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(damaged_heads),
        cmocka_unit_test(of_another_network),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
