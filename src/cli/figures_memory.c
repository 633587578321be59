/* figures_memory.c -- what was measured of memorization, and what it does to ICL's lifetime. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/figures.h"
#include "iclkin/memtable.h"
#include "iclkin/predict.h"

/* ---- memorization ----------------------------------------------------------------------------------------------- */

static const struct icl_column memorization_columns[] = {
    {"curve", "text"},         {"K", "items"},     {"s", "lr x steps"},
    {"share", "s / I_K(inf)"}, {"y", "see curve"}, {"error", "1"},
};

static enum icl_status add_measured(struct icl_table *table, const char *curve, double K, double s, double share,
                                    double y, double error, struct icl_err *err) {
    const union icl_cell cells[] = {{.text = curve},   {.number = K}, {.number = s},
                                    {.number = share}, {.number = y}, {.number = error}};
    return icl_table_row(table, cells, err);
}

/* Number i of a header's list. */
static double listed(const struct icl_table *source, const char *key, size_t i) {
    const char *at = icl_table_get_meta(source, key);
    for (; at && i > 0; i--) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    return at ? strtod(at, NULL) : NAN;
}

/* The lists of the header: I_K(inf), its fit, the local exponents; one K a row. */
static enum icl_status add_totals(const struct icl_table *source, size_t sizes, struct icl_table *table,
                                  struct icl_err *err) {
    const double nu = listed(source, "nu", 0), A = listed(source, "A", 0);
    for (size_t k = 0; k < sizes; k++)
        ICL_TRY(add_measured(table, "I_K_inf", listed(source, "K", k), NAN, NAN, listed(source, "I_K_inf", k),
                             listed(source, "I_K_inf_error", k), err));
    ICL_TRY(icl_table_break(table, err));
    for (size_t k = 0; k < sizes; k++) {
        const double K = listed(source, "K", k);
        ICL_TRY(add_measured(table, "fit", K, NAN, NAN, A * pow(K, nu), NAN, err));
    }
    ICL_TRY(icl_table_break(table, err));
    for (size_t k = 0; k + 1 < sizes; k++)
        ICL_TRY(add_measured(table, "exponent", sqrt(listed(source, "K", k) * listed(source, "K", k + 1)), NAN, NAN,
                             listed(source, "local_exponent", k), listed(source, "local_exponent_error", k), err));
    ICL_TRY(icl_table_break(table, err));
    ICL_TRY(add_measured(table, "nu", listed(source, "K", 0), NAN, NAN, nu, listed(source, "nu_error", 0), err));
    ICL_TRY(add_measured(table, "nu", listed(source, "K", sizes - 1), NAN, NAN, nu, NAN, err));
    return icl_table_break(table, err);
}

/* c1 of the plain paths, one block a K; curve label: where they come down to a quarter. */
static enum icl_status add_paths(const struct icl_table *source, const char *curve, struct icl_table *table,
                                 struct icl_err *err) {
    const bool labels = strcmp(curve, "label") == 0;
    const double quarter = 0.25;
    size_t offset, K, s, c1, size = 0;
    ICL_TRY(icl_table_find(source, "offset", &offset, err));
    ICL_TRY(icl_table_find(source, "K", &K, err));
    ICL_TRY(icl_table_find(source, "s", &s, err));
    ICL_TRY(icl_table_find(source, "c1", &c1, err));
    for (size_t i = 0; i < icl_table_rows(source) && icl_table_value(source, i, offset) == 0; i++) {
        const double items = icl_table_value(source, i, K), clock = icl_table_value(source, i, s);
        if (i > 0 && items != icl_table_value(source, i - 1, K)) {
            if (!labels) ICL_TRY(icl_table_break(table, err));
            size++;
        }
        if (labels &&
            (i == 0 || icl_table_value(source, i, c1) > quarter || icl_table_value(source, i - 1, c1) <= quarter))
            continue;
        ICL_TRY(add_measured(table, curve, items, clock, clock / listed(source, "I_K_inf", size),
                             icl_table_value(source, i, c1), NAN, err));
    }
    return ICL_OK;
}

enum icl_status figures_memorization(const struct icl_params *params, struct cmd_progress *progress,
                                     struct icl_table **table, struct icl_err *err) {
    struct icl_table *source = NULL;
    size_t sizes = 0;
    (void)progress;
    if (!params->memtable)
        return ICL_ERR(err, ICL_EUSAGE, "memory.law = table is needed: there is no other to be shown");
    ICL_TRY(icl_table_read(&source, icl_memtable_path(params->memtable), err));
    while (!isnan(listed(source, "K", sizes))) sizes++;
    enum icl_status status =
        icl_table_alloc(table, sizeof memorization_columns / sizeof *memorization_columns, memorization_columns, err);
    if (status == ICL_OK) status = add_totals(source, sizes, *table, err);
    if (status == ICL_OK) status = add_paths(source, "c1", *table, err);
    if (status == ICL_OK) status = icl_table_break(*table, err);
    if (status == ICL_OK) status = add_paths(source, "label", *table, err);
    icl_table_free(source);
    return status;
}

/* ---- lifetime --------------------------------------------------------------------------------------------------- */

enum { LIFETIME_POINTS = 61 };

static const struct icl_column lifetime_columns[] = {
    {"closure", "text"}, {"lambda", "1/t"}, {"t_icl", "lr x steps"}, {"t_loss", "lr x steps"}, {"outcome", "text"},
};

static enum icl_status lifetime_curve(const struct icl_params *params, enum icl_closure closure,
                                      struct icl_table *table, struct cmd_progress *progress, struct icl_err *err) {
    const double lo = 5e-4, hi = 2e-2;
    for (size_t i = 0; i < LIFETIME_POINTS; i++) {
        struct icl_params p = *params;
        struct icl_traj_result result;
        p.memory.closure = closure;
        p.train.lambda_w = p.train.lambda_beta = lo * pow(hi / lo, (double)i / (LIFETIME_POINTS - 1));
        ICL_TRY(icl_predict_times(&p, p.theory.level, ICL_TRAJ_TO_END, &result, err));
        const union icl_cell cells[] = {{.text = closure == ICL_CLOSURE_PLAIN ? "plain" : "response"},
                                        {.number = p.train.lambda_w},
                                        {.number = result.t_icl},
                                        {.number = result.t_loss},
                                        {.text = icl_traj_outcome(result.outcome)}};
        ICL_TRY(icl_table_row(table, cells, err));
        cmd_progress_step(progress);
    }
    return icl_table_break(table, err);
}

enum icl_status figures_lifetime(const struct icl_params *params, struct cmd_progress *progress,
                                 struct icl_table **table, struct icl_err *err) {
    ICL_TRY(icl_table_alloc(table, sizeof lifetime_columns / sizeof *lifetime_columns, lifetime_columns, err));
    progress->total = 2 * LIFETIME_POINTS;
    ICL_TRY(lifetime_curve(params, ICL_CLOSURE_AUTO, *table, progress, err));
    return lifetime_curve(params, ICL_CLOSURE_PLAIN, *table, progress, err);
}

/* ---- closure ---------------------------------------------------------------------------------------------------- */

static const struct icl_column closure_columns[] = {
    {"curve", "text"}, {"offset", "1"}, {"K", "items"}, {"c1", "1"}, {"response", "1"},
};

struct response {
    double offset, K, c1, response;
};

static enum icl_status add_response(struct icl_table *table, const char *curve, const struct response *at,
                                    struct icl_err *err) {
    const union icl_cell cells[] = {
        {.text = curve}, {.number = at->offset}, {.number = at->K}, {.number = at->c1}, {.number = at->response}};
    return icl_table_row(table, cells, err);
}

/* The path under an offset at one K, from its row `first` on, against c1 of the plain path from row `plain` on:
 * response as far as the path was followed (t is a number), carried from there on, and both ends of the former once
 * more. */
static enum icl_status add_responses(const struct icl_table *source, const size_t column[5], size_t first, size_t plain,
                                     struct icl_table *table, struct icl_err *err) {
    const double K = icl_table_value(source, first, column[1]);
    bool carried = false;
    struct response last = {.offset = NAN};
    for (size_t i = first; i < icl_table_rows(source) && icl_table_value(source, i, column[1]) == K; i++, plain++) {
        const struct response at = {icl_table_value(source, i, column[0]), K, icl_table_value(source, plain, column[2]),
                                    icl_table_value(source, i, column[3])};
        const bool followed = !isnan(icl_table_value(source, i, column[4]));
        if (!followed && isnan(last.offset)) continue;
        if (followed && isnan(last.offset)) ICL_TRY(add_response(table, "first", &at, err));
        if (!followed && !carried) {
            ICL_TRY(add_response(table, "last", &last, err));
            ICL_TRY(icl_table_break(table, err));
            ICL_TRY(add_response(table, "carried", &last, err));
            carried = true;
        }
        ICL_TRY(add_response(table, followed ? "response" : "carried", &at, err));
        last = at;
    }
    return icl_table_break(table, err);
}

static enum icl_status closure_rows(const struct icl_table *source, struct icl_table *table, struct icl_err *err) {
    static const char *const name[] = {"offset", "K", "c1", "response", "t"};
    size_t column[5], plain = 0;
    for (size_t i = 0; i < 5; i++) ICL_TRY(icl_table_find(source, name[i], &column[i], err));
    for (size_t i = 1; i < icl_table_rows(source); i++) {
        const double offset = icl_table_value(source, i, column[0]);
        plain = offset == icl_table_value(source, i - 1, column[0]) ? plain + 1 : 0;
        if (offset > 0 && icl_table_value(source, i, column[1]) != icl_table_value(source, i - 1, column[1]))
            ICL_TRY(add_responses(source, column, i, plain, table, err));
    }
    return ICL_OK;
}

enum icl_status figures_closure(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) {
    struct icl_table *source = NULL;
    const double *offset;
    (void)progress;
    if (!params->memtable)
        return ICL_ERR(err, ICL_EUSAGE, "memory.law = table is needed: there is no other to be shown");
    if (icl_memtable_offsets(params->memtable, &offset) < 2)
        return ICL_ERR(err, ICL_EUSAGE, "%s holds no response: calibrate with -y calibrate.offset=0:4:3",
                       icl_memtable_path(params->memtable));
    ICL_TRY(icl_table_read(&source, icl_memtable_path(params->memtable), err));
    enum icl_status status =
        icl_table_alloc(table, sizeof closure_columns / sizeof *closure_columns, closure_columns, err);
    if (status == ICL_OK) status = closure_rows(source, *table, err);
    icl_table_free(source);
    return status;
}

/* ---- thresholds ------------------------------------------------------------------------------------------------- */

enum { THRESHOLDS_POINTS = 11 };

static const struct icl_column thresholds_columns[] = {
    {"level", "text"}, {"N", "items"}, {"K_star", "items"}, {"slope", "d ln K* / d ln N"}, {"inverse_nu", "1"},
};

struct diversity {
    double N[THRESHOLDS_POINTS], K[THRESHOLDS_POINTS];
};

/* Slope to the neighbours on either side; at an end and beside a point that is missing there is none. */
static double diversity_slope(const struct diversity *curve, size_t i) {
    if (i == 0 || i + 1 == THRESHOLDS_POINTS) return NAN;
    const double slope = log(curve->K[i + 1] / curve->K[i - 1]) / log(curve->N[i + 1] / curve->N[i - 1]);
    return isfinite(slope) ? slope : NAN;
}

static enum icl_status thresholds_curve(const struct icl_params *params, enum icl_level level, double inverse_nu,
                                        struct icl_table *table, struct cmd_progress *progress, struct icl_err *err) {
    const double lo = 50, hi = 250;
    struct diversity curve;
    for (size_t i = 0; i < THRESHOLDS_POINTS; i++) {
        struct icl_params p = *params;
        p.task.N = 2 * (size_t)lround(lo * pow(hi / lo, (double)i / (THRESHOLDS_POINTS - 1)) / 2);
        ICL_TRY(icl_params_check(&p, err));
        curve.N[i] = (double)p.task.N;
        const enum icl_status status = icl_predict_items(&p, level, &curve.K[i], err);
        if (status == ICL_ENOMEM) return status;
        if (status != ICL_OK || curve.K[i] == 0) curve.K[i] = NAN; /* K* outside the table, or not to be computed */
        cmd_progress_step(progress);
    }
    for (size_t i = 0; i < THRESHOLDS_POINTS; i++) {
        const union icl_cell cells[] = {{.text = icl_traj_level(level)},
                                        {.number = curve.N[i]},
                                        {.number = curve.K[i]},
                                        {.number = diversity_slope(&curve, i)},
                                        {.number = inverse_nu}};
        ICL_TRY(icl_table_row(table, cells, err));
    }
    return icl_table_break(table, err);
}

enum icl_status figures_thresholds(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) {
    const double nu = params->memtable ? icl_memtable_law(params->memtable)->nu : params->memory.nu;
    if (params->memtable) ICL_TRY(icl_memtable_matches(params->memtable, params, err));
    ICL_TRY(icl_table_alloc(table, sizeof thresholds_columns / sizeof *thresholds_columns, thresholds_columns, err));
    progress->total = (size_t)ICL_LEVEL_COUNT * THRESHOLDS_POINTS;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        ICL_TRY(thresholds_curve(params, (enum icl_level)level, 1 / nu, *table, progress, err));
    return ICL_OK;
}
