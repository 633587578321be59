/* cmd_validate.c -- theory and simulation side by side: a table of differences, each with its error and a verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/validate.h"

/* ---- for machines ----------------------------------------------------------------------------------------------- */

static const struct icl_column columns[] = {
    {"setting", "text"}, {"quantity", "text"}, {"level", "text"},         {"y", "1"},       {"x", "1"},
    {"t", "lr x steps"}, {"simulation", "1"},  {"simulation_error", "1"}, {"runs", "runs"}, {"censored", "runs"},
    {"theory", "1"},     {"difference", "1"},  {"difference_error", "1"}, {"width", "1"},   {"bound", "1"},
    {"verdict", "text"}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* What differs from the defaults in each setting. */
static enum icl_status add_settings(const struct validate *validate, struct icl_table *table, struct icl_err *err) {
    struct icl_params preset;
    icl_params_default(&preset);
    for (size_t i = 0; i < validate->settings; i++)
        for (size_t k = 0; k < icl_params_count(); k++) {
            const struct icl_param *row = icl_params_row(k);
            char value[ICL_TEXT_SIZE], usual[ICL_TEXT_SIZE], key[2 * VALIDATE_NAME + ICL_NUMBER_SIZE];
            if (!icl_params_stated(row) && strcmp(row->section, "validate") != 0) continue;
            icl_params_text(&validate->setting[i].params, row, value);
            if (strcmp(value, icl_params_text(&preset, row, usual)) == 0) continue;
            snprintf(key, sizeof key, "setting.%s.%.20s.%.20s", validate->setting[i].name, row->section, row->key);
            ICL_TRY(icl_table_meta(table, err, key, "%s", value));
        }
    return ICL_OK;
}

static enum icl_status add_rows(const struct validate *validate, struct icl_table *table, struct icl_err *err) {
    for (size_t i = 0; i < validate->rows; i++) {
        const struct validate_row *compared = &validate->row[i];
        const struct icl_validate_row *row = &compared->row;
        const union icl_cell cells[COLUMNS] = {
            {.text = compared->setting->name},
            {.text = row->entry->row->name},
            {.text = icl_traj_level(row->level)},
            {.number = row->y},
            {.number = row->x},
            {.number = row->entry->t},
            {.number = row->stats.simulation},
            {.number = row->stats.simulation_error},
            {.number = (double)row->runs},
            {.number = (double)row->censored},
            {.number = row->stats.theory},
            {.number = row->stats.difference},
            {.number = row->stats.error},
            {.number = icl_stats_width(&row->stats, compared->setting->params.validate.confidence)},
            {.number = row->judged ? row->entry->bound : NAN},
            {.text = row->judged ? icl_stats_name(row->verdict) : "shown"}};
        ICL_TRY(icl_table_row(table, cells, err));
    }
    return ICL_OK;
}

static enum icl_status write_table(const struct validate *validate, struct icl_err *err) {
    char path[CMD_PATH + ICL_NUMBER_SIZE];
    struct icl_table *table;
    snprintf(path, sizeof path, "%s/validate.tsv", validate->folder);
    ICL_TRY(icl_table_alloc(&table, COLUMNS, columns, err));
    enum icl_status status = cmd_head(table, validate->line->command, err);
    if (status == ICL_OK) status = add_settings(validate, table, err);
    if (status == ICL_OK) status = add_rows(validate, table, err);
    if (status == ICL_OK) status = icl_table_write(table, path, err);
    icl_table_free(table);
    return status;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

enum { CELL = 40 };

/* "279.2 +- 0.3" */
static const char *cell_of(double value, double error, char cell[CELL]) {
    if (isnan(value))
        snprintf(cell, CELL, "-");
    else if (isinf(value))
        snprintf(cell, CELL, "never");
    else if (isnan(error) || error == 0)
        snprintf(cell, CELL, "%.5g", value);
    else
        snprintf(cell, CELL, "%.5g +- %.2g", value, error);
    return cell;
}

/* "+1.2 +- 0.4 %", or where the difference is absolute "+0.012 +- 0.004" */
static const char *difference_of(const struct icl_validate_row *row, double confidence, char cell[CELL]) {
    const double scale = row->entry->row->absolute ? 1 : 100, width = icl_stats_width(&row->stats, confidence);
    const char *unit = row->entry->row->absolute ? "" : " %";
    if (isinf(row->stats.simulation) && isinf(row->stats.theory))
        snprintf(cell, CELL, "neither does");
    else if (!isfinite(row->stats.difference))
        snprintf(cell, CELL, isnan(row->stats.difference) ? "-" : "only one does");
    else if (isinf(width))
        snprintf(cell, CELL, "%+.3g%s", scale * row->stats.difference, unit);
    else
        snprintf(cell, CELL, "%+.3g +- %.2g%s", scale * row->stats.difference, scale * width, unit);
    return cell;
}

static enum icl_status say_row(struct cmd_text *text, const struct validate_row *compared, struct icl_err *err) {
    const struct icl_validate_row *row = &compared->row;
    const double scale = row->entry->row->absolute ? 1 : 100;
    char place[VALIDATE_NAME], label[ICL_QUANTITY_LABEL], cell[4][CELL];
    snprintf(cell[3], CELL, "%zu/%zu", row->runs - row->censored, row->runs);
    ICL_TRY(cmd_text_add(text, err, "%-16s %-16s %-14s %-10s %18s %8s %12s %20s", compared->setting->name,
                         cmd_validate_place(compared, place), icl_quantity_label(row->entry, label),
                         icl_traj_level(row->level),
                         cell_of(row->stats.simulation, row->stats.simulation_error, cell[0]), cell[3],
                         cell_of(row->stats.theory, NAN, cell[1]),
                         difference_of(row, compared->setting->params.validate.confidence, cell[2])));
    if (!row->judged) return cmd_text_add(text, err, "\n");
    return cmd_text_add(text, err, " %5.3g%s  %s\n", scale * row->entry->bound, scale > 1 ? " %" : "",
                        icl_stats_name(row->verdict));
}

static enum icl_status say_all(const struct validate *validate, struct cmd_text *text, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, "%-16s %-16s %-14s %-10s %18s %8s %12s %20s %7s  %s\n", "setting", "at", "quantity",
                         "level", "simulation", "reach it", "theory", "difference", "bound", "verdict"));
    for (size_t i = 0; i < validate->rows; i++) ICL_TRY(say_row(text, &validate->row[i], err));
    return cmd_text_add(text, err, "%zu hold, %zu differ, %zu open; %s/validate.tsv\n",
                        validate->count[ICL_STATS_HOLDS], validate->count[ICL_STATS_DIFFERS],
                        validate->count[ICL_STATS_OPEN], validate->folder);
}

static enum icl_status conclude(const struct validate *validate, struct icl_err *err) {
    const size_t *count = validate->count, judged = count[0] + count[1] + count[2];
    struct cmd_text text = {0};
    enum icl_status status = write_table(validate, err);
    if (status == ICL_OK && validate->line->report) status = cmd_validate_report(validate, err);
    if (status == ICL_OK) status = say_all(validate, &text, err);
    if (status == ICL_OK) status = icl_table_save(NULL, text.bytes, text.length, err);
    cmd_text_free(&text);
    if (status == ICL_OK && validate->lost > 0)
        return ICL_ERR(err, ICL_ENUMERIC, "every run of %zu points failed; %zu of %zu comparisons of the others differ",
                       validate->lost, count[ICL_STATS_DIFFERS], judged);
    if (status != ICL_OK || count[ICL_STATS_DIFFERS] == 0) return status;
    return ICL_ERR(err, ICL_ENUMERIC, "%zu of %zu comparisons differ by more than their bound",
                   count[ICL_STATS_DIFFERS], judged);
}

enum icl_status cmd_validate(const struct cmd_line *line, struct icl_err *err) {
    struct validate validate = {.line = line, .folder = line->output ? line->output : "out/validate"};
    bool root = true;
    enum icl_status status = cmd_validate_settings(&validate, err);
    if (status == ICL_OK) status = cmd_validate_simulate(&validate, &root, err);
    if (status == ICL_OK && root) status = cmd_validate_compare(&validate, err);
    if (status == ICL_OK && root) status = conclude(&validate, err);
    cmd_validate_free(&validate);
    return status;
}
