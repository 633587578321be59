/* figures_scan.c -- figures of one prediction against a parameter: initial, context, threshold. */
#include <math.h>

#include "cli/figures.h"
#include "iclkin/predict.h"

/* Value i of n from lo to hi, evenly spaced. */
static double spaced(double lo, double hi, size_t i, size_t n) {
    return lo + (hi - lo) * (double)i / (double)(n - 1);
}

/* The closed form is a curve of many points; what is integrated is drawn as points, of which fewer will do. */
static size_t points(enum icl_level level, size_t most, size_t least) {
    return level == ICL_LEVEL_ASYMPTOTIC ? most : least;
}

/* A point that cannot be computed is NaN, and the others still come. */
static enum icl_status spare(enum icl_status status, double *value) {
    if (status != ICL_ENUMERIC) return status;
    *value = NAN;
    return ICL_OK;
}

/* ---- initial ---------------------------------------------------------------------------------------------------- */

enum { INITIAL_CURVE = 61, INITIAL_POINTS = 13, INITIAL_PANELS = 2 };

static const struct icl_column initial_columns[] = {
    {"panel", "text"}, {"level", "text"}, {"w0", "1"}, {"beta0", "1"}, {"t_icl", "lr x steps"},
};

static enum icl_status initial_curve(const struct icl_params *params, enum icl_level level, const char *panel,
                                     struct icl_table *table, struct cmd_progress *progress, struct icl_err *err) {
    const double reach = 3;
    const size_t n = points(level, INITIAL_CURVE, INITIAL_POINTS);
    for (size_t i = 0; i < n; i++) {
        struct icl_params p = *params;
        struct icl_traj_result result;
        *(panel[0] == 'w' ? &p.init.w : &p.init.beta) += spaced(-reach, reach, i, n);
        ICL_TRY(spare(icl_predict_times(&p, level, ICL_TRAJ_TO_ICL, &result, err), &result.t_icl));
        const union icl_cell cells[] = {{.text = panel},
                                        {.text = icl_traj_level((enum icl_level)level)},
                                        {.number = p.init.w},
                                        {.number = p.init.beta},
                                        {.number = result.t_icl}};
        ICL_TRY(icl_table_row(table, cells, err));
        cmd_progress_step(progress);
    }
    return icl_table_break(table, err);
}

enum icl_status figures_initial(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) {
    const char *const panel[INITIAL_PANELS] = {"beta0", "w0"};
    ICL_TRY(icl_table_alloc(table, sizeof initial_columns / sizeof *initial_columns, initial_columns, err));
    progress->total = INITIAL_PANELS * (INITIAL_CURVE + 2 * INITIAL_POINTS);
    for (size_t j = 0; j < INITIAL_PANELS; j++)
        for (int level = 0; level < ICL_LEVEL_COUNT; level++)
            ICL_TRY(initial_curve(params, (enum icl_level)level, panel[j], *table, progress, err));
    return ICL_OK;
}

/* ---- against N -------------------------------------------------------------------------------------------------- */

/* Context length i of n, evenly spaced in its logarithm; even, so that labels may be balanced. */
static size_t context_length(double lo, double hi, size_t i, size_t n) {
    return 2 * (size_t)lround(exp(spaced(log(lo), log(hi), i, n)) / 2);
}

enum { CONTEXT_CURVE = 31, CONTEXT_POINTS = 16 };

static const struct icl_column context_columns[] = {
    {"level", "text"},
    {"N", "items"},
    {"t_icl", "lr x steps"},
    {"ratio", "t_icl / (T7)"},
};

static enum icl_status context_curve(const struct icl_params *params, enum icl_level level, struct icl_table *table,
                                     struct cmd_progress *progress, struct icl_err *err) {
    const double lo = 10, hi = 1000;
    const size_t n = points(level, CONTEXT_CURVE, CONTEXT_POINTS);
    for (size_t i = 0; i < n; i++) {
        struct icl_params p = *params;
        struct icl_traj_result closed, result;
        p.task.N = context_length(lo, hi, i, n);
        ICL_TRY(icl_params_check(&p, err));
        ICL_TRY(spare(icl_predict_times(&p, ICL_LEVEL_ASYMPTOTIC, ICL_TRAJ_TO_ICL, &closed, err), &closed.t_icl));
        ICL_TRY(spare(icl_predict_times(&p, level, ICL_TRAJ_TO_ICL, &result, err), &result.t_icl));
        const union icl_cell cells[] = {{.text = icl_traj_level((enum icl_level)level)},
                                        {.number = (double)p.task.N},
                                        {.number = result.t_icl},
                                        {.number = result.t_icl / closed.t_icl}};
        ICL_TRY(icl_table_row(table, cells, err));
        cmd_progress_step(progress);
    }
    return icl_table_break(table, err);
}

enum icl_status figures_context(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) {
    ICL_TRY(icl_table_alloc(table, sizeof context_columns / sizeof *context_columns, context_columns, err));
    progress->total = CONTEXT_CURVE + 2 * CONTEXT_POINTS;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        ICL_TRY(context_curve(params, (enum icl_level)level, *table, progress, err));
    return ICL_OK;
}

/* ---- threshold -------------------------------------------------------------------------------------------------- */

enum { THRESHOLD_CURVE = 25, THRESHOLD_POINTS = 9, THRESHOLD_STARTS = 3 };

static const struct icl_column threshold_columns[] = {
    {"level", "text"}, {"beta0", "1"}, {"N", "items"}, {"K_star", "items"}, {"slope", "d log K* / d log N"},
};

static enum icl_status threshold_row(struct icl_table *table, const char *level, double beta0, double N, double K_star,
                                     double slope, struct icl_err *err) {
    const union icl_cell cells[] = {
        {.text = level}, {.number = beta0}, {.number = N}, {.number = K_star}, {.number = slope}};
    return icl_table_row(table, cells, err);
}

static enum icl_status threshold_curve(const struct icl_params *params, enum icl_level level, struct icl_table *table,
                                       struct cmd_progress *progress, struct icl_err *err) {
    const double lo = 20, hi = 500;
    const size_t n = points(level, THRESHOLD_CURVE, THRESHOLD_POINTS);
    for (size_t i = 0; i < n; i++) {
        struct icl_params p = *params;
        double K_star;
        p.task.N = context_length(lo, hi, i, n);
        ICL_TRY(icl_params_check(&p, err));
        ICL_TRY(spare(icl_predict_items(&p, level, &K_star, err), &K_star));
        ICL_TRY(threshold_row(table, icl_traj_level((enum icl_level)level), p.init.beta, (double)p.task.N, K_star,
                              1 / params->memory.nu, err));
        cmd_progress_step(progress);
        if (level == ICL_LEVEL_MEANFIELD && i == n - 1) { /* where the curve's name may stand */
            ICL_TRY(icl_table_break(table, err));
            ICL_TRY(threshold_row(table, "label", p.init.beta, hi, K_star, 1 / params->memory.nu, err));
        }
    }
    return icl_table_break(table, err);
}

/* A stretch of slope 1/nu (T8) below the lowest curve: the eye's measure. */
static enum icl_status threshold_slope(const struct icl_params *params, struct icl_table *table, struct icl_err *err) {
    const double lo = 100, hi = 300, below = 0.4, slope = 1 / params->memory.nu;
    struct icl_params p = *params;
    double K_star;
    p.task.N = (size_t)lo;
    ICL_TRY(spare(icl_predict_items(&p, ICL_LEVEL_ASYMPTOTIC, &K_star, err), &K_star));
    if (!isfinite(K_star)) return ICL_OK;
    ICL_TRY(threshold_row(table, "slope", p.init.beta, lo, below * K_star, slope, err));
    return threshold_row(table, "slope", p.init.beta, hi, below * K_star * pow(hi / lo, slope), slope, err);
}

enum icl_status figures_threshold(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) {
    const double beta0[THRESHOLD_STARTS] = {-1, 0, 1}; /* from init.beta */
    struct icl_params p = *params;
    ICL_TRY(icl_table_alloc(table, sizeof threshold_columns / sizeof *threshold_columns, threshold_columns, err));
    progress->total = THRESHOLD_STARTS * (THRESHOLD_CURVE + 2 * THRESHOLD_POINTS);
    for (size_t j = 0; j < THRESHOLD_STARTS; j++) {
        p.init.beta = params->init.beta + beta0[j];
        for (int level = 0; level < ICL_LEVEL_COUNT; level++)
            ICL_TRY(threshold_curve(&p, (enum icl_level)level, *table, progress, err));
    }
    return threshold_slope(&p, *table, err);
}
