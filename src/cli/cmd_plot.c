/* cmd_plot.c -- a figure: its table computed or given, then drawn. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/figures.h"

static enum icl_status list(const struct cmd_line *line, struct icl_err *err) {
    struct cmd_text text = {0};
    enum icl_status status = ICL_OK;
    for (size_t i = 0; status == ICL_OK && i < figures_count(); i++)
        status = cmd_text_add(&text, err, "%-24s %s\n", figures_row(i)->name, figures_row(i)->brief);
    if (status == ICL_OK) status = icl_table_save(line->output, text.bytes, text.length, err);
    cmd_text_free(&text);
    return status;
}

/* gnuplot says nothing useful of a figure without a point, so it is found before. */
static enum icl_status check_data(const struct cmd_line *line, const struct figure *figure,
                                  const struct icl_table *table, struct icl_err *err) {
    const size_t rows = icl_table_rows(table);
    size_t column, finite = 0, failed = 0;
    ICL_TRY(icl_table_find(table, figure->value, &column, err));
    for (size_t i = 0; i < rows; i++) {
        finite += isfinite(icl_table_value(table, i, column)) != 0;
        failed += isnan(icl_table_value(table, i, column)) != 0;
    }
    if (finite == 0)
        return ICL_ERR(err, ICL_ENUMERIC, "no data: %s is finite in none of %zu rows", figure->value, rows);
    if (failed > 0)
        cmd_remark(line, "figure %s: %zu of %zu rows could not be computed (%s is nan)", figure->name, failed, rows,
                   figure->value);
    return ICL_OK;
}

static enum icl_status compute(const struct cmd_line *line, const struct figure *figure, struct icl_table **table,
                               struct icl_err *err) {
    struct cmd_progress progress;
    char command[64];
    snprintf(command, sizeof command, "plot %s", figure->name);
    cmd_progress_start(&progress, line, figure->name, 1);
    enum icl_status status = figure->compute(&line->params, &progress, table, err);
    cmd_progress_end(&progress);
    if (status == ICL_OK) status = cmd_head(*table, command, err);
    if (status == ICL_OK) status = icl_params_meta(&line->params, *table, err);
    return status;
}

/* FILE.png -> FILE.tsv */
static enum icl_status table_path(const char *picture, char path[CMD_PATH], struct icl_err *err) {
    const int stem = (int)(strrchr(picture, '.') - picture);
    if (snprintf(path, CMD_PATH, "%.*s.tsv", stem, picture) < CMD_PATH) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "-o %.64s...: path too long", picture);
}

static enum icl_status from_table(const struct cmd_line *line, const struct figure *figure, const char *picture,
                                  struct icl_err *err) {
    struct icl_table *table = NULL;
    if (line->file || line->settings > 0)
        return ICL_ERR(err, ICL_EUSAGE, "--table: nothing is computed, so that neither %s applies",
                       line->file ? "PARAMS.ini" : "-s");
    enum icl_status status = icl_table_read(&table, line->table, err);
    if (status == ICL_OK) {
        status = check_data(line, figure, table, err);
        if (status != ICL_OK) status = icl_err_context(err, status, "figure %s: %s", figure->name, line->table);
    }
    icl_table_free(table);
    return status == ICL_OK ? figures_draw(figure, line->table, picture, err) : status;
}

static enum icl_status from_params(const struct cmd_line *line, const struct figure *figure, const char *picture,
                                   struct icl_err *err) {
    struct icl_table *table = NULL;
    char path[CMD_PATH];
    ICL_TRY(table_path(picture, path, err));
    enum icl_status status = compute(line, figure, &table, err);
    if (status == ICL_OK) status = check_data(line, figure, table, err);
    if (status != ICL_OK) status = icl_err_context(err, status, "figure %s", figure->name);
    if (status == ICL_OK) status = icl_table_write(table, path, err);
    icl_table_free(table);
    return status == ICL_OK ? figures_draw(figure, path, picture, err) : status;
}

enum icl_status cmd_plot(const struct cmd_line *line, struct icl_err *err) {
    const struct figure *figure;
    const char *format;
    char preset[64];
    if (strcmp(line->figure, "list") == 0) return list(line, err);
    ICL_TRY(figures_find(line->figure, &figure, err));
    snprintf(preset, sizeof preset, "%s.png", figure->name);
    const char *picture = line->output ? line->output : preset;
    ICL_TRY(figures_format(picture, &format, err));
    return (line->table ? from_table : from_params)(line, figure, picture, err);
}
