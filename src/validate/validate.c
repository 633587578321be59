#include "iclkin/validate.h"

#include <math.h>

#include "base/mem.h"
#include "iclkin/predict.h"
#include "validate/solved.h"

/* One ensemble under comparison. */
struct compare {
    const struct icl_validate_ensemble *of;
    struct icl_solved solved;
    icl_validate_sink *sink;
    void *context;
    double *s, *h; /* shape (runs): of the runs that a row is made of */
    bool *s_is, *h_is;
};

/* Runs first .. first + count - 1, at one x. */
struct point {
    size_t first, count;
};

static enum icl_status give(const struct compare *compare, struct icl_validate_row *row, struct icl_err *err) {
    const struct icl_params *params = compare->of->params;
    row->judged = row->level == params->theory.level && !isnan(row->entry->bound);
    row->verdict = icl_stats_verdict(&row->stats, row->entry->bound, params->validate.confidence);
    return compare->sink(row, compare->context, err);
}

/* A time: the mean over the runs in which both reach it. Where in most runs only one of the two does, the difference is
 * infinite, and each mean is its own. */
static void compare_times(struct compare *compare, const struct point *point, struct icl_validate_row *row) {
    const int part = row->entry->row->part;
    size_t n = 0, unlike = 0, s_count = 0, h_count = 0;
    double s_sum = 0, h_sum = 0;
    for (size_t i = point->first; i < point->first + point->count; i++) {
        const double s = compare->of->run[i].times[part];
        const double h = icl_solved_of(&compare->solved, row->level, i)->times[part];
        const bool s_is = isfinite(s) != 0, h_is = isfinite(h) != 0;
        if (isnan(s) || isnan(h)) continue;
        row->runs++;
        s_count += s_is;
        h_count += h_is;
        unlike += s_is != h_is;
        if (s_is) s_sum += s;
        if (h_is) h_sum += h;
        if (!s_is || !h_is) continue;
        compare->s[n] = s;
        compare->h[n++] = h;
    }
    row->censored = row->runs - s_count;
    row->stats = icl_stats_paired(n, compare->s, compare->h, false);
    if (row->runs == 0 || (n > 0 && 2 * unlike <= row->runs)) return;
    row->stats = (struct icl_stats){.n = row->runs,
                                    .simulation = s_count > 0 ? s_sum / (double)s_count : INFINITY,
                                    .theory = h_count > 0 ? h_sum / (double)h_count : INFINITY,
                                    .difference = unlike == 0         ? 0
                                                  : s_count < h_count ? INFINITY
                                                                      : -INFINITY};
}

static void compare_states(struct compare *compare, const struct point *point, size_t which,
                           struct icl_validate_row *row) {
    for (size_t i = point->first; i < point->first + point->count; i++) {
        const double s = compare->of->state[i * compare->of->states + which];
        const double h = icl_solved_state(&compare->solved, row->level, i, which)[row->entry->row->part];
        if (isnan(s) || !isfinite(h)) continue;
        compare->s[row->runs] = s;
        compare->h[row->runs++] = h;
    }
    row->stats = icl_stats_paired(row->runs, compare->s, compare->h, false);
}

/* none and iwl: never; icl: kept; transient: lost. */
static int fate_of(enum icl_outcome outcome) {
    return outcome == ICL_OUTCOME_IWL ? ICL_OUTCOME_NONE : (int)outcome;
}

static void compare_shares(struct compare *compare, const struct point *point, struct icl_validate_row *row) {
    const double t_max = compare->of->params->train.t_max;
    const bool acquired = row->entry->row->part == ICL_QUANTITY_ACQUIRED;
    for (size_t i = point->first; i < point->first + point->count; i++) {
        const struct icl_validate_run *run = &compare->of->run[i];
        const struct icl_solved_run *theory = icl_solved_of(&compare->solved, row->level, i);
        if (isnan(theory->times[ICL_COUNTERPART_T_ICL])) continue;
        row->censored += isinf(run->times[ICL_COUNTERPART_T_ICL]) != 0;
        compare->s_is[row->runs] = acquired ? isfinite(run->times[ICL_COUNTERPART_T_ICL]) != 0
                                            : fate_of(run->outcome) == fate_of(theory->outcome);
        compare->h_is[row->runs++] = acquired ? theory->times[ICL_COUNTERPART_T_ICL] <= t_max : true;
    }
    row->stats = icl_stats_share(row->runs, compare->s_is, compare->h_is);
}

static enum icl_status compare_spread(struct compare *compare, const struct point *point, struct icl_validate_row *row,
                                      struct icl_err *err) {
    const double t_max = compare->of->params->train.t_max;
    for (size_t i = point->first; i < point->first + point->count; i++) {
        const double s = compare->of->run[i].times[ICL_COUNTERPART_T_ICL];
        const double h = icl_solved_of(&compare->solved, row->level, i)->times[ICL_COUNTERPART_T_ICL];
        if (isnan(s) || isnan(h)) continue;
        row->censored += isinf(s) != 0;
        compare->s[row->runs] = s;
        compare->h[row->runs++] = h <= t_max ? h : INFINITY;
    }
    row->s = compare->s;
    row->h = compare->h;
    return icl_stats_spread(row->runs, compare->s, compare->h, &row->stats, err);
}

static enum icl_status point_rows(struct compare *compare, const struct point *point, struct icl_err *err) {
    const struct icl_quantity_list *list = compare->of->list;
    size_t state = 0;
    for (size_t e = 0; e < list->count; e++) {
        const struct icl_quantity_entry *entry = &list->entry[e];
        const size_t which = state;
        state += entry->row->kind == ICL_QUANTITY_STATE;
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            struct icl_validate_row row = {.entry = entry,
                                           .level = (enum icl_level)level,
                                           .y = compare->of->y,
                                           .x = compare->of->run[point->first].x};
            switch (entry->row->kind) {
            case ICL_QUANTITY_TIME:
                compare_times(compare, point, &row);
                break;
            case ICL_QUANTITY_STATE:
                compare_states(compare, point, which, &row);
                break;
            case ICL_QUANTITY_SHARE:
                compare_shares(compare, point, &row);
                break;
            case ICL_QUANTITY_SPREAD:
                ICL_TRY(compare_spread(compare, point, &row, err));
                break;
            default:
                continue;
            }
            ICL_TRY(give(compare, &row, err));
        }
    }
    return ICL_OK;
}

/* ---- along the x axis ------------------------------------------------------------------------------------------- */

static struct point next_point(const struct icl_validate_ensemble *of, size_t first) {
    struct point point = {first, 1};
    while (first + point.count < of->runs && !(of->run[first + point.count].x > of->run[first].x)) point.count++;
    return point;
}

/* ln <t_icl> against x, simulated and by theory at the same points with the same weights. */
static enum icl_status compare_powers(struct compare *compare, struct icl_validate_row *row, struct icl_err *err) {
    const struct icl_validate_ensemble *of = compare->of;
    const struct icl_quantity_entry time = {.row = icl_quantity_row(0), .t = NAN, .bound = NAN};
    double *x;
    size_t n = 0;
    ICL_TRY(icl_mem_alloc(&x, 4 * of->runs + 1, sizeof *x, err));
    double *const s = x + of->runs, *const h = s + of->runs, *const weight = h + of->runs;
    for (struct point point = {0, 0}; point.first + point.count < of->runs;) {
        struct icl_validate_row at = {.entry = &time, .level = row->level};
        point = next_point(of, point.first + point.count);
        compare_times(compare, &point, &at);
        row->censored += at.censored;
        if (!isfinite(at.stats.difference)) continue;
        const double error = at.stats.simulation_error / at.stats.simulation;
        row->runs += at.runs;
        x[n] = of->log ? log(of->run[point.first].x) : of->run[point.first].x;
        s[n] = log(at.stats.simulation);
        h[n] = log(at.stats.theory);
        weight[n++] = 1 / (error * error);
    }
    const struct icl_stats_line seen = icl_stats_line(n, x, s, weight), said = icl_stats_line(n, x, h, weight);
    row->stats = icl_stats_number(seen.power, seen.power_error, said.power, row->runs, INFINITY);
    icl_mem_free(x);
    return ICL_OK;
}

/* K* of the runs; NaN, and the reason in trouble, where they do not tell. */
static enum icl_status find_items(struct compare *compare, struct icl_validate_items *items, struct icl_err *trouble,
                                  struct icl_err *err) {
    const struct icl_validate_ensemble *of = compare->of;
    struct icl_err own = {ICL_OK, ""};
    double middle = NAN, error = NAN;
    *items = (struct icl_validate_items){.y = of->y};
    for (size_t i = 0; i < of->runs; i++) {
        const double t_icl = of->run[i].times[ICL_COUNTERPART_T_ICL];
        if (isnan(t_icl)) continue;
        compare->s[items->runs] = log(of->run[i].x);
        compare->s_is[items->runs++] = isfinite(t_icl) != 0;
    }
    enum icl_status status = icl_stats_middle(items->runs, compare->s, compare->s_is, &middle, &error, &own);
    for (int level = -1; level < ICL_LEVEL_COUNT; level++) {
        if (level >= 0) {
            status = icl_predict_items(of->params, (enum icl_level)level, &items->theory[level], &own);
            if (status != ICL_OK) items->theory[level] = NAN;
        }
        if (status == ICL_ENOMEM || status == ICL_EUSAGE) return icl_err_set(err, status, "%s", own.text);
        if (status != ICL_OK && trouble->code == ICL_OK) icl_err_set(trouble, status, "K*: %s", own.text);
    }
    items->K_star = exp(middle);
    items->error = items->K_star * error;
    return ICL_OK;
}

static enum icl_status axis_rows(struct compare *compare, const struct icl_validate_items *items, struct icl_err *err) {
    const struct icl_quantity_list *list = compare->of->list;
    for (size_t e = 0; e < list->count; e++) {
        const enum icl_quantity_kind kind = list->entry[e].row->kind;
        if (kind != ICL_QUANTITY_ITEMS && kind != ICL_QUANTITY_SLOPE_X) continue;
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
            struct icl_validate_row row = {
                .entry = &list->entry[e], .level = (enum icl_level)level, .y = compare->of->y, .x = NAN};
            if (kind == ICL_QUANTITY_SLOPE_X) {
                ICL_TRY(compare_powers(compare, &row, err));
            } else {
                row.runs = items->runs;
                row.stats = icl_stats_number(items->K_star, items->error, items->theory[level], items->runs, INFINITY);
            }
            ICL_TRY(give(compare, &row, err));
        }
    }
    return ICL_OK;
}

static bool wants_items(const struct icl_quantity_list *list) {
    for (size_t e = 0; e < list->count; e++) {
        const enum icl_quantity_kind kind = list->entry[e].row->kind;
        if (kind == ICL_QUANTITY_ITEMS || kind == ICL_QUANTITY_SLOPE_Y) return true;
    }
    return false;
}

enum icl_status icl_validate_rows(const struct icl_validate_ensemble *ensemble, icl_validate_sink *sink, void *context,
                                  struct icl_validate_items *items, struct icl_err *trouble, struct icl_err *err) {
    struct compare compare = {.of = ensemble, .sink = sink, .context = context};
    struct icl_validate_items own = {.y = NAN};
    if (!items) items = &own;
    enum icl_status status = icl_solved_init(&compare.solved, ensemble, trouble, err);
    if (status == ICL_OK) status = icl_mem_alloc(&compare.s, 2 * ensemble->runs + 1, sizeof *compare.s, err);
    if (status == ICL_OK) status = icl_mem_alloc(&compare.s_is, 2 * ensemble->runs + 1, sizeof *compare.s_is, err);
    if (status == ICL_OK) {
        compare.h = compare.s + ensemble->runs;
        compare.h_is = compare.s_is + ensemble->runs;
    }
    for (struct point point = {0, 0}; status == ICL_OK && point.first + point.count < ensemble->runs;) {
        point = next_point(ensemble, point.first + point.count);
        status = point_rows(&compare, &point, err);
    }
    if (status == ICL_OK && wants_items(ensemble->list)) status = find_items(&compare, items, trouble, err);
    if (status == ICL_OK) status = axis_rows(&compare, items, err);
    icl_mem_free(compare.s);
    icl_mem_free(compare.s_is);
    icl_solved_free(&compare.solved);
    return status;
}

/* ---- along the y axis ------------------------------------------------------------------------------------------- */

static void compare_lines(size_t n, const struct icl_validate_items *items, double *x, struct icl_validate_row *row) {
    double *const s = x + n, *const h = s + n, *const weight = h + n;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(items[i].K_star) || !(items[i].theory[row->level] > 0)) continue;
        const double error = items[i].error / items[i].K_star;
        row->runs += items[i].runs;
        x[used] = log(items[i].y);
        s[used] = log(items[i].K_star);
        h[used] = log(items[i].theory[row->level]);
        weight[used++] = 1 / (error * error);
    }
    const struct icl_stats_line seen = icl_stats_line(used, x, s, weight), said = icl_stats_line(used, x, h, weight);
    const double height = exp(seen.height);
    row->stats = row->entry->row->part == ICL_QUANTITY_POWER
                     ? icl_stats_number(seen.power, seen.power_error, said.power, row->runs, INFINITY)
                     : icl_stats_number(height, height * seen.height_error, exp(said.height), row->runs, INFINITY);
}

enum icl_status icl_validate_lines(const struct icl_params *params, const struct icl_quantity_list *list, size_t n,
                                   const struct icl_validate_items *items, icl_validate_sink *sink, void *context,
                                   struct icl_err *err) {
    const struct icl_validate_ensemble of = {.params = params};
    const struct compare compare = {.of = &of, .sink = sink, .context = context};
    double *x;
    enum icl_status status = icl_mem_alloc(&x, 4 * n + 1, sizeof *x, err);
    for (size_t e = 0; status == ICL_OK && e < list->count; e++) {
        if (list->entry[e].row->kind != ICL_QUANTITY_SLOPE_Y) continue;
        for (int level = 0; status == ICL_OK && level < ICL_LEVEL_COUNT; level++) {
            struct icl_validate_row row = {
                .entry = &list->entry[e], .level = (enum icl_level)level, .y = NAN, .x = NAN};
            compare_lines(n, items, x, &row);
            status = give(&compare, &row, err);
        }
    }
    icl_mem_free(x);
    return status;
}
