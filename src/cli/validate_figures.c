/* validate_figures.c -- the figures of a report: their tables, drawn by plots/validate_*.gp. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/figures.h"
#include "cli/validate.h"

/* Writes DIR/STEM.tsv and draws DIR/STEM.svg by plots/NAME.gp. Takes the table over. */
static enum icl_status draw(const struct validate *validate, struct icl_table *table, const char *name,
                            const char *caption, const char *stem, char picture[CMD_PATH], struct icl_err *err) {
    const struct figure figure = {.name = name, .caption = caption};
    char path[CMD_PATH];
    const char *folder = validate->line->report;
    enum icl_status status = ICL_OK;
    if (snprintf(path, sizeof path, "%s/%s.tsv", folder, stem) >= CMD_PATH ||
        snprintf(picture, CMD_PATH, "%s/%s.svg", folder, stem) >= CMD_PATH)
        status = ICL_ERR(err, ICL_EUSAGE, "--report: too long a path");
    if (status == ICL_OK) status = icl_table_write(table, path, err);
    if (status == ICL_OK) status = figures_draw(&figure, path, picture, err);
    icl_table_free(table);
    return status;
}

/* gnuplot draws what is infinite somewhere. */
static double finite(double x) {
    return isfinite(x) ? x : NAN;
}

/* ---- all judged rows, in units of their bounds ------------------------------------------------------------------ */

static enum icl_status overview_row(const struct validate_row *compared, size_t place, struct icl_table *table,
                                    struct icl_err *err) {
    const struct icl_validate_row *row = &compared->row;
    const double bound = row->entry->bound, confidence = compared->setting->params.validate.confidence;
    const double width = icl_stats_width(&row->stats, confidence) / bound, off = row->stats.difference / bound;
    char label[2 * VALIDATE_NAME + ICL_QUANTITY_LABEL], at[VALIDATE_NAME], name[ICL_QUANTITY_LABEL];
    snprintf(label, sizeof label, "%s  %s  %s", compared->setting->name, cmd_validate_place(compared, at),
             icl_quantity_label(row->entry, name));
    const union icl_cell cells[] = {{.text = label},
                                    {.text = icl_stats_name(row->verdict)},
                                    {.number = (double)place},
                                    {.number = isnan(off) ? 0 : off},
                                    {.number = isnan(off) ? INFINITY : width}};
    return icl_table_row(table, cells, err);
}

enum icl_status cmd_validate_overview(const struct validate *validate, char picture[CMD_PATH], struct icl_err *err) {
    static const struct icl_column columns[] = {
        {"label", "text"}, {"verdict", "text"}, {"place", "1"}, {"difference", "bounds"}, {"width", "bounds"}};
    struct icl_table *table;
    ICL_TRY(icl_table_alloc(&table, sizeof columns / sizeof *columns, columns, err));
    enum icl_status status = cmd_head(table, "validate --report", err);
    size_t place = 0;
    for (size_t i = 0; status == ICL_OK && i < validate->rows; i++)
        if (validate->row[i].row.judged) status = overview_row(&validate->row[i], place++, table, err);
    if (status != ICL_OK || place == 0) {
        icl_table_free(table);
        picture[0] = '\0';
        return status;
    }
    return draw(validate, table, "validate_overview", "", "overview", picture, err);
}

/* ---- a quantity along an axis or in time ------------------------------------------------------------------------ */

/* What is drawn: rows of one setting and quantity, cut into curves. */
struct curves {
    const struct validate *validate;
    const struct validate_setting *setting;
    const struct icl_quantity *row;
    enum { ALONG_X, ALONG_Y, IN_TIME } along;
    struct icl_table *table;
    size_t drawn; /* curves */
};

static bool belongs(const struct curves *curves, const struct validate_row *row) {
    return row->setting == curves->setting && row->row.entry->row == curves->row;
}

static double abscissa(const struct curves *curves, const struct validate_row *row) {
    return curves->along == IN_TIME ? row->row.entry->t : curves->along == ALONG_X ? row->row.x : row->row.y;
}

static bool same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

/* Whether two rows stand on one curve: all that is not the abscissa is the same. */
static bool together(const struct curves *curves, const struct validate_row *a, const struct validate_row *b) {
    return (curves->along == ALONG_X || same(a->row.x, b->row.x)) &&
           (curves->along == ALONG_Y || same(a->row.y, b->row.y)) &&
           (curves->along == IN_TIME || same(a->row.entry->t, b->row.entry->t));
}

static void name_curve(const struct curves *curves, const struct validate_row *row, char name[VALIDATE_NAME]) {
    struct validate_row other = *row;
    if (curves->along == ALONG_X) other.row.x = NAN;
    if (curves->along == ALONG_Y) other.row.y = NAN;
    cmd_validate_place(&other, name);
}

/* A row of the figure's table; its curve's name stands at the place of kind `label`. */
static enum icl_status curve_row(struct curves *curves, const struct validate_row *row, const char *kind, double value,
                                 double error, struct icl_err *err) {
    const struct validate_setting *setting = curves->setting;
    const struct icl_param *param = curves->along == ALONG_X ? setting->x.param : setting->y.param;
    const bool log = curves->along == ALONG_X ? setting->x.log : curves->along == ALONG_Y && setting->y.log;
    char name[VALIDATE_NAME];
    name_curve(curves, row, name);
    const union icl_cell cells[] = {{.text = curves->row->name},
                                    {.text = curves->along == IN_TIME ? "t" : param->key},
                                    {.text = name},
                                    {.text = kind},
                                    {.number = log},
                                    {.number = (double)curves->drawn},
                                    {.number = abscissa(curves, row)},
                                    {.number = finite(value)},
                                    {.number = isnan(error) ? 0 : error}};
    return icl_table_row(curves->table, cells, err);
}

/* level -1: the simulation. */
static enum icl_status curve_rows(struct curves *curves, const struct validate_row *first, int level,
                                  struct icl_err *err) {
    const struct validate *validate = curves->validate;
    const struct validate_row *last = NULL;
    for (size_t i = 0; i < validate->rows; i++) {
        const struct validate_row *row = &validate->row[i];
        const struct icl_stats *stats = &row->row.stats;
        if (!belongs(curves, row) || !together(curves, first, row)) continue;
        if ((int)row->row.level != (level < 0 ? (int)curves->setting->params.theory.level : level)) continue;
        const char *kind = level < 0 ? "simulation" : icl_traj_level((enum icl_level)level);
        ICL_TRY(curve_row(curves, row, kind, level < 0 ? stats->simulation : stats->theory,
                          level < 0 ? stats->simulation_error : 0, err));
        if (level < 0 && isfinite(stats->simulation)) last = row;
    }
    ICL_TRY(icl_table_break(curves->table, err));
    return last ? curve_row(curves, last, "label", last->row.stats.simulation, 0, err) : ICL_OK;
}

static enum icl_status fill_curves(struct curves *curves, struct icl_err *err) {
    const struct validate *validate = curves->validate;
    ICL_TRY(cmd_head(curves->table, "validate --report", err));
    for (size_t i = 0; i < validate->rows; i++) {
        const struct validate_row *row = &validate->row[i];
        bool first = belongs(curves, row);
        for (size_t j = 0; first && j < i; j++)
            first = !belongs(curves, &validate->row[j]) || !together(curves, &validate->row[j], row);
        if (!first) continue;
        for (int level = -1; level < ICL_LEVEL_COUNT; level++) ICL_TRY(curve_rows(curves, row, level, err));
        curves->drawn++;
    }
    return ICL_OK;
}

/* Along what a quantity varies in its setting; false where it is one number, or none that is drawn. */
static bool choose(struct curves *curves) {
    const struct validate *validate = curves->validate;
    const struct validate_row *first = NULL;
    bool x = false, y = false, t = false, any = false;
    for (size_t i = 0; i < validate->rows; i++) {
        const struct validate_row *row = &validate->row[i];
        if (!belongs(curves, row)) continue;
        if (!first) first = row;
        x = x || !same(row->row.x, first->row.x);
        y = y || !same(row->row.y, first->row.y);
        t = t || !same(row->row.entry->t, first->row.entry->t);
        any = any || isfinite(row->row.stats.simulation) || isfinite(row->row.stats.theory);
    }
    curves->along = t ? IN_TIME : x ? ALONG_X : ALONG_Y;
    return any && (x || y || t);
}

static enum icl_status draw_curves(struct curves *curves, char picture[CMD_PATH], struct icl_err *err) {
    static const struct icl_column columns[] = {{"quantity", "text"}, {"abscissa", "text"}, {"name", "text"},
                                                {"kind", "text"},     {"log", "1"},         {"curve", "1"},
                                                {"x", "1"},           {"value", "1"},       {"error", "1"}};
    char stem[2 * VALIDATE_NAME];
    snprintf(stem, sizeof stem, "%s-%s", curves->setting->name, curves->row->name);
    ICL_TRY(icl_table_alloc(&curves->table, sizeof columns / sizeof *columns, columns, err));
    const enum icl_status status = fill_curves(curves, err);
    if (status == ICL_OK)
        return draw(curves->validate, curves->table, "validate_curves", curves->setting->name, stem, picture, err);
    icl_table_free(curves->table);
    return status;
}

/* ---- a distribution over runs ----------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum icl_status draw_sample(const struct validate *validate, const struct validate_row *row,
                                   char picture[CMD_PATH], struct icl_err *err) {
    static const struct icl_column columns[] = {{"share", "1"}, {"simulation", "lr x steps"}, {"theory", "lr x steps"}};
    const size_t n = row->row.runs;
    double *const s = validate->sample + row->sample, *const h = s + n;
    char stem[3 * VALIDATE_NAME], caption[8 * VALIDATE_NAME], place[VALIDATE_NAME];
    struct icl_table *table;
    qsort(s, n, sizeof *s, by_value);
    qsort(h, n, sizeof *h, by_value);
    cmd_validate_place(row, place);
    snprintf(stem, sizeof stem, "%s-ks%s%s", row->setting->name, *place ? "-" : "", place);
    for (char *c = stem; *c; c++)
        if (*c == ' ') *c = '-';
    snprintf(caption, sizeof caption, "%s%s%s: distance %.3f over %zu runs", row->setting->name, *place ? ", " : "",
             place, row->row.stats.simulation, n);
    ICL_TRY(icl_table_alloc(&table, sizeof columns / sizeof *columns, columns, err));
    enum icl_status status = cmd_head(table, "validate --report", err);
    for (size_t i = 0; status == ICL_OK && i < n; i++) {
        const double values[] = {((double)i + 1) / (double)n, finite(s[i]), finite(h[i])};
        status = icl_table_numbers(table, values, err);
    }
    if (status == ICL_OK) return draw(validate, table, "validate_spread", caption, stem, picture, err);
    icl_table_free(table);
    return status;
}

/* ---- of a setting ----------------------------------------------------------------------------------------------- */

enum icl_status cmd_validate_figures(const struct validate *validate, const struct validate_setting *setting,
                                     enum icl_status (*give)(const char *picture, const char *caption, void *context,
                                                             struct icl_err *err),
                                     void *context, struct icl_err *err) {
    char picture[CMD_PATH];
    for (size_t e = 0; e < setting->list.count; e++) {
        struct curves curves = {.validate = validate, .setting = setting, .row = setting->list.entry[e].row};
        bool again = false;
        for (size_t before = 0; before < e; before++) again = again || setting->list.entry[before].row == curves.row;
        if (again || curves.row->kind == ICL_QUANTITY_SPREAD || !choose(&curves)) continue;
        ICL_TRY(draw_curves(&curves, picture, err));
        ICL_TRY(give(picture, curves.row->meaning, context, err));
    }
    for (size_t i = 0; i < validate->rows; i++) {
        const struct validate_row *row = &validate->row[i];
        if (row->setting != setting || row->row.entry->row->kind != ICL_QUANTITY_SPREAD || row->row.runs == 0 ||
            row->row.level != setting->params.theory.level)
            continue;
        ICL_TRY(draw_sample(validate, row, picture, err));
        ICL_TRY(give(picture, row->row.entry->row->meaning, context, err));
    }
    return ICL_OK;
}
