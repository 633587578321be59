/* cmd_params.c -- the table of parameters, as help or as a parameter file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/cmd.h"
#include "iclkin/version.h"

const char *cmd_params_range(const struct icl_param *row, char range[CMD_RANGE]) {
    char lo[ICL_NUMBER_SIZE], hi[ICL_NUMBER_SIZE];
    switch (row->type) {
    case ICL_PARAM_CHOICE:
        snprintf(range, CMD_RANGE, "%s", row->names);
        break;
    case ICL_PARAM_TEXT:
        snprintf(range, CMD_RANGE, "text");
        break;
    case ICL_PARAM_BOTH:
        snprintf(range, CMD_RANGE, "as its two");
        break;
    default:
        snprintf(range, CMD_RANGE, "%s%s, %s%s%s%s%s", row->flags & ICL_P_ABOVE ? "(" : "[",
                 icl_number_brief(row->lo, lo), icl_number_brief(row->hi, hi), row->flags & ICL_P_BELOW ? ")" : "]",
                 row->flags & ICL_P_INF ? ", inf" : "", row->flags & ICL_P_AUTO ? ", auto" : "",
                 row->flags & ICL_P_EVEN        ? ", even"
                 : row->type == ICL_PARAM_COUNT ? ", whole"
                 : row->flags & ICL_P_INTEGER   ? ", whole"
                                                : "");
    }
    return range;
}

static enum icl_status as_table(struct cmd_text *text, const struct icl_params *params, struct icl_err *err) {
    char value[ICL_TEXT_SIZE], range[CMD_RANGE];
    ICL_TRY(cmd_text_add(text, err, "section\tkey\tunit\tdefault\trange\tmeaning\n"));
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        const bool both = row->type == ICL_PARAM_BOTH;
        ICL_TRY(cmd_text_add(text, err, "%s\t%s\t%s\t%s\t%s\t%s\n", row->section, row->key,
                             *row->unit ? row->unit : "-", both ? "-" : icl_params_text(params, row, value),
                             cmd_params_range(row, range), row->meaning));
    }
    return ICL_OK;
}

static enum icl_status as_ini(struct cmd_text *text, const struct icl_params *params, struct icl_err *err) {
    char value[ICL_TEXT_SIZE], range[CMD_RANGE];
    const char *section = "";
    ICL_TRY(
        cmd_text_add(text, err, "; iclkin %s: parameters. A key left out keeps its default.\n", icl_version_text()));
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        if (strcmp(section, row->section) != 0)
            ICL_TRY(cmd_text_add(text, err, "\n; %s\n[%s]\n", icl_params_section(row->section), row->section));
        section = row->section;
        ICL_TRY(cmd_text_add(text, err, "; %s%s%s%s: %s\n", row->meaning, *row->unit ? " [" : "", row->unit,
                             *row->unit ? "]" : "", cmd_params_range(row, range)));
        if (row->type == ICL_PARAM_BOTH)
            ICL_TRY(cmd_text_add(text, err, "; %s = 0\n", row->key));
        else
            ICL_TRY(cmd_text_add(text, err, "%s = %s\n", row->key, icl_params_text(params, row, value)));
    }
    return ICL_OK;
}

enum icl_status cmd_params(const struct cmd_line *line, struct icl_err *err) {
    struct cmd_text text = {0};
    enum icl_status status = (line->ini ? as_ini : as_table)(&text, &line->params, err);
    if (status == ICL_OK) status = icl_table_save(line->output, text.bytes, text.length, err);
    cmd_text_free(&text);
    return status;
}
