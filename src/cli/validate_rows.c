/* validate_rows.c -- the cached runs of every setting, held against theory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/validate.h"

/* The runs of one part, as its file has them. */
struct cached {
    struct icl_validate_run *run;
    double *state;
    size_t runs, failed;
};

static int by_place(const void *a, const void *b) {
    const struct icl_validate_run *p = a, *q = b;
    if (p->x < q->x || p->x > q->x) return (p->x > q->x) - (p->x < q->x);
    return (p->seed > q->seed) - (p->seed < q->seed);
}

static enum icl_outcome outcome_of(const char *text) {
    int outcome = ICL_OUTCOME_COUNT;
    while (--outcome > 0 && strcmp(icl_traj_outcome((enum icl_outcome)outcome), text) != 0) continue;
    return (enum icl_outcome)outcome;
}

/* Columns by name; -1 where there is none such, which only the x axis may. */
static enum icl_status find_columns(const struct validate_part *part, const struct icl_table *table, size_t column[],
                                    struct icl_err *err) {
    static const char *const name[] = {"seed", "w0", "beta0", "t_icl", "t_iwl", "t_loss", "outcome"};
    const size_t names = sizeof name / sizeof *name;
    char watch[ENSEMBLE_NAME];
    for (size_t i = 0; i < names; i++) ICL_TRY(icl_table_find(table, name[i], &column[i], err));
    for (size_t i = 0; i < part->ensemble.watches; i++)
        ICL_TRY(icl_table_find(table, cmd_ensemble_watched(&part->watch[i], watch), &column[names + i], err));
    return ICL_OK;
}

enum { SEED, W0, BETA0, T_ICL, T_IWL, T_LOSS, OUTCOME, WATCHES };

static void fill_runs(const struct validate_part *part, const struct icl_table *table, const size_t *column,
                      struct cached *cached) {
    const bool axis = part->ensemble.axes > 0; /* its column is the first */
    for (size_t i = 0; i < icl_table_rows(table); i++) {
        const char *outcome = icl_table_cell(table, i, column[OUTCOME]);
        if (strcmp(outcome, "failed") == 0) {
            cached->failed++;
            continue;
        }
        cached->run[cached->runs++] =
            (struct icl_validate_run){.x = axis ? icl_table_value(table, i, 0) : NAN,
                                      .seed = (uint64_t)icl_table_value(table, i, column[SEED]),
                                      .w0 = icl_table_value(table, i, column[W0]),
                                      .beta0 = icl_table_value(table, i, column[BETA0]),
                                      .times = {[ICL_COUNTERPART_T_ICL] = icl_table_value(table, i, column[T_ICL]),
                                                [ICL_COUNTERPART_T_IWL] = icl_table_value(table, i, column[T_IWL]),
                                                [ICL_COUNTERPART_T_LOSS] = icl_table_value(table, i, column[T_LOSS])},
                                      .outcome = outcome_of(outcome),
                                      .row = i};
    }
    qsort(cached->run, cached->runs, sizeof *cached->run, by_place);
    for (size_t i = 0; i < cached->runs; i++)
        for (size_t k = 0; k < part->ensemble.watches; k++)
            cached->state[i * part->ensemble.watches + k] =
                icl_table_value(table, cached->run[i].row, column[WATCHES + k]);
}

static enum icl_status read_runs(const struct validate_part *part, struct cached *cached, struct icl_err *err) {
    const size_t expected = part->ensemble.points * part->ensemble.runs;
    size_t column[WATCHES + ENSEMBLE_WATCHES];
    struct icl_table *table;
    ICL_TRY(icl_table_read(&table, part->output, err));
    const size_t rows = icl_table_rows(table);
    enum icl_status status = rows == expected
                                 ? ICL_OK
                                 : ICL_ERR(err, ICL_EIO,
                                           "%s: %zu of %zu runs are missing: a rank was stopped; the same command "
                                           "carries on",
                                           part->output, expected - rows, expected);
    if (status == ICL_OK) status = find_columns(part, table, column, err);
    if (status == ICL_OK) status = icl_mem_alloc(&cached->run, rows, sizeof *cached->run, err);
    if (status == ICL_OK)
        status = icl_mem_alloc(&cached->state, rows * part->ensemble.watches + 1, sizeof *cached->state, err);
    if (status == ICL_OK) fill_runs(part, table, column, cached);
    icl_table_free(table);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct collector {
    struct validate *validate;
    const struct validate_setting *setting;
};

static enum icl_status keep_sample(struct validate *validate, const struct icl_validate_row *row, struct icl_err *err) {
    const size_t samples = validate->samples + 2 * row->runs;
    ICL_TRY(icl_mem_grow(&validate->sample, validate->samples, samples + 1, sizeof *validate->sample, err));
    memcpy(validate->sample + validate->samples, row->s, row->runs * sizeof *row->s);
    memcpy(validate->sample + validate->samples + row->runs, row->h, row->runs * sizeof *row->h);
    validate->samples = samples;
    return ICL_OK;
}

static enum icl_status collect(const struct icl_validate_row *row, void *context, struct icl_err *err) {
    const struct collector *collector = context;
    struct validate *validate = collector->validate;
    if (validate->rows == validate->room) {
        const size_t room = 2 * validate->room + 64;
        ICL_TRY(icl_mem_grow(&validate->row, validate->room, room, sizeof *validate->row, err));
        validate->room = room;
    }
    validate->row[validate->rows++] = (struct validate_row){collector->setting, *row, validate->samples};
    if (row->s) ICL_TRY(keep_sample(validate, row, err));
    if (row->judged) validate->count[row->verdict]++;
    return ICL_OK;
}

/* Points of which not a single run came through. */
static size_t lost_points(const struct validate_part *part, const struct cached *cached) {
    size_t found = cached->runs > 0;
    for (size_t i = 1; i < cached->runs; i++) found += cached->run[i].x > cached->run[i - 1].x;
    return part->ensemble.points - found;
}

static enum icl_status compare_part(struct validate *validate, struct validate_part *part,
                                    struct icl_validate_items *items, struct icl_err *err) {
    const struct validate_setting *setting = part->setting;
    struct collector collector = {validate, setting};
    struct cached cached = {.runs = 0};
    struct icl_err trouble = {ICL_OK, ""};
    enum icl_status status = read_runs(part, &cached, err);
    const struct icl_validate_ensemble ensemble = {.params = &part->params,
                                                   .axis = setting->x.param,
                                                   .log = setting->x.log,
                                                   .y = part->y,
                                                   .list = &setting->list,
                                                   .runs = cached.runs,
                                                   .run = cached.run,
                                                   .states = part->ensemble.watches,
                                                   .state = cached.state};
    if (status == ICL_OK) status = icl_validate_rows(&ensemble, collect, &collector, items, &trouble, err);
    if (status == ICL_OK) validate->lost += lost_points(part, &cached);
    if (cached.failed > 0)
        cmd_remark(validate->line, "setting %s: %zu of its runs failed and are left out", setting->name, cached.failed);
    if (trouble.code != ICL_OK)
        cmd_remark(validate->line, "setting %s: a number could not be computed: %s", setting->name, trouble.text);
    icl_mem_free(cached.run);
    icl_mem_free(cached.state);
    return status;
}

enum icl_status cmd_validate_compare(struct validate *validate, struct icl_err *err) {
    struct validate_part *part = validate->part;
    for (size_t i = 0; i < validate->settings; i++) {
        const struct validate_setting *setting = &validate->setting[i];
        struct collector collector = {validate, setting};
        enum icl_status status = ICL_OK;
        for (size_t p = 0; status == ICL_OK && p < setting->parts; p++)
            status = compare_part(validate, part++, &validate->items[p], err);
        if (status == ICL_OK)
            status = icl_validate_lines(&setting->params, &setting->list, setting->parts, validate->items, collect,
                                        &collector, err);
        if (status != ICL_OK) return icl_err_context(err, status, "setting %s", setting->name);
    }
    return ICL_OK;
}

const char *cmd_validate_place(const struct validate_row *row, char place[VALIDATE_NAME]) {
    const struct icl_param *const axis[] = {row->setting->y.param, row->setting->x.param};
    const double value[] = {row->row.y, row->row.x};
    int at = 0;
    place[0] = '\0';
    for (size_t k = 0; k < 2; k++)
        if (axis[k] && !isnan(value[k]))
            at += snprintf(place + at, VALIDATE_NAME - (size_t)at, "%s%.12s=%.6g", at > 0 ? " " : "", axis[k]->key,
                           value[k]);
    return place;
}
