/* cmd_predict.c -- one parameter set -> times, thresholds, outcome: for a person, or as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/predict.h"
#include "iclkin/memtable.h"
#include "iclkin/predict.h"

const char *cmd_predict_number(double x, char buffer[ICL_NUMBER_SIZE]) {
    return isfinite(x) ? icl_table_number(x, buffer) : "null";
}

/* Rows of one name become one object of levels, or a bare number where the name has no level or is in a group. */
static enum icl_status json_rows(struct cmd_text *text, const struct icl_prediction *p, struct icl_err *err) {
    char number[ICL_NUMBER_SIZE];
    const char *open = NULL, *group = NULL;
    for (size_t i = 0; i < icl_predict_count(); i++) {
        const struct icl_predict_row *row = icl_predict_row(i);
        const char *value = cmd_predict_number(icl_predict_value(p, row), number);
        if (open && strcmp(open, row->name) == 0) {
            ICL_TRY(cmd_text_add(text, err, ", \"%s\": %s", row->level, value));
            continue;
        }
        if (i > 0) ICL_TRY(cmd_text_add(text, err, "%s,%s", open ? "}" : "", group ? " " : "\n"));
        open = row->level && !row->group ? row->name : NULL;
        if (row->group && !group) ICL_TRY(cmd_text_add(text, err, "  \"%s\": {", row->group));
        if (open)
            ICL_TRY(cmd_text_add(text, err, "  \"%s\": {\"%s\": %s", row->name, row->level, value));
        else
            ICL_TRY(cmd_text_add(text, err, "%s\"%s\": %s", row->group ? "" : "  ", row->name, value));
        group = row->group;
    }
    return cmd_text_add(text, err, "%s,\n", open || group ? "}" : "");
}

/* How far a number may be off: the difference to the finer solve; a threshold is not known better than its bracket. */
static double error_of(const struct icl_predict_row *row, const struct icl_params *params,
                       const struct icl_prediction *p, const struct icl_prediction *finer) {
    const double x = icl_predict_value(p, row), fine = icl_predict_value(finer, row);
    const bool bracketed = strcmp(row->name, "K_star") == 0 && strcmp(row->level, "asymptotic") != 0;
    if (x == fine && (!bracketed || isinf(x))) return 0;
    return fmax(fabs(x - fine), bracketed ? params->solver.K_tol * x : 0);
}

static enum icl_status json_string(struct cmd_text *text, const char *value, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, "\""));
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\')
            ICL_TRY(cmd_text_add(text, err, "\\%c", *c));
        else if ((unsigned char)*c < ' ')
            ICL_TRY(cmd_text_add(text, err, "\\u%04x", (unsigned)*c));
        else
            ICL_TRY(cmd_text_add(text, err, "%c", *c));
    }
    return cmd_text_add(text, err, "\"");
}

/* One parameter a line: the form in which the parameter reader takes it back. */
static enum icl_status json_params(struct cmd_text *text, const struct icl_params *params, struct icl_err *err) {
    char value[ICL_TEXT_SIZE];
    const char *separator = "";
    ICL_TRY(cmd_text_add(text, err, "  \"params\": {"));
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        if (!icl_params_stated(row)) continue;
        icl_params_text(params, row, value);
        const bool bare =
            (row->type == ICL_PARAM_REAL || row->type == ICL_PARAM_COUNT) && isfinite(icl_params_get(params, row));
        ICL_TRY(cmd_text_add(text, err, "%s\n    \"%s.%s\": ", separator, row->section, row->key));
        if (bare)
            ICL_TRY(cmd_text_add(text, err, "%s", value));
        else
            ICL_TRY(json_string(text, value, err));
        separator = ",";
    }
    return cmd_text_add(text, err, "\n  }\n");
}

static enum icl_status as_json(struct cmd_text *text, const struct cmd_line *line, const struct icl_prediction *p,
                               const struct icl_prediction *finer, struct icl_err *err) {
    const struct icl_params *params = &line->params;
    ICL_TRY(cmd_text_add(text, err, "{\n"));
    ICL_TRY(json_rows(text, p, err));
    ICL_TRY(cmd_text_add(text, err, "  \"outcome\": \"%s\",\n", icl_traj_outcome(p->outcome)));
    if (finer) {
        ICL_TRY(cmd_text_add(text, err, "  \"numerical_error\": {\n"));
        struct icl_prediction error = *p;
        for (size_t i = 0; i < icl_predict_count(); i++) {
            const struct icl_predict_row *row = icl_predict_row(i);
            double *value = (double *)((char *)&error + row->offset);
            *value = error_of(row, params, p, finer);
        }
        ICL_TRY(json_rows(text, &error, err));
        text->length -= 2; /* the last comma */
        ICL_TRY(cmd_text_add(text, err, "},\n"));
    }
    if (line->attribute) ICL_TRY(cmd_predict_attribute(text, line, err));
    if (line->advise) ICL_TRY(cmd_predict_advise(text, line, err));
    ICL_TRY(json_params(text, params, err));
    return cmd_text_add(text, err, "}\n");
}

enum { CELL = 28 };

/* "279.19", "never", or with its numerical error "279.19 +- 2e-09". */
static void cell_of(const struct icl_predict_row *row, const struct icl_params *params, const struct icl_prediction *p,
                    const struct icl_prediction *finer, char cell[CELL]) {
    const double x = icl_predict_value(p, row);
    const bool items = strcmp(row->name, "K_star") == 0;
    if (isnan(x))
        snprintf(cell, CELL, "failed");
    else if (isinf(x) && strcmp(row->name, "I_K_inf") == 0)
        snprintf(cell, CELL, "infinite");
    else if (isinf(x))
        snprintf(cell, CELL, items ? "no K suffices" : "never");
    else if (items && x == 0)
        snprintf(cell, CELL, "every K suffices");
    else if (finer)
        snprintf(cell, CELL, "%.8g +- %.0e", x, error_of(row, params, p, finer));
    else
        snprintf(cell, CELL, "%.6g", x);
}

/* The column of a row: its level, or theory.level's. */
static int column_of(const struct icl_predict_row *row, const struct icl_params *params) {
    for (int level = 0; row->level && level < ICL_LEVEL_COUNT; level++)
        if (strcmp(row->level, icl_traj_level((enum icl_level)level)) == 0) return level;
    return (int)params->theory.level;
}

static enum icl_status as_rows(struct cmd_text *text, const struct icl_params *params, const struct icl_prediction *p,
                               const struct icl_prediction *finer, struct icl_err *err) {
    const int width = finer ? 24 : 18;
    char cell[ICL_LEVEL_COUNT][CELL];
    ICL_TRY(cmd_text_add(text, err, "%-10s %-7s %*s %*s %*s\n", "quantity", "unit", width, "asymptotic", width,
                         "reduced", width, "meanfield"));
    for (size_t i = 0; i < icl_predict_count();) {
        const struct icl_predict_row *first = icl_predict_row(i);
        for (int level = 0; level < ICL_LEVEL_COUNT; level++) snprintf(cell[level], CELL, "-");
        for (; i < icl_predict_count() && strcmp(icl_predict_row(i)->name, first->name) == 0; i++)
            cell_of(icl_predict_row(i), params, p, finer, cell[column_of(icl_predict_row(i), params)]);
        ICL_TRY(cmd_text_add(text, err, "%-10s %-7s %*s %*s %*s\n", first->name, first->unit, width, cell[0], width,
                             cell[1], width, cell[2]));
    }
    for (int level = 0; level < ICL_LEVEL_COUNT; level++)
        snprintf(cell[level], CELL, "%s", level == (int)params->theory.level ? icl_traj_outcome(p->outcome) : "-");
    return cmd_text_add(text, err, "%-10s %-7s %*s %*s %*s\n", "outcome", "", width, cell[0], width, cell[1], width,
                        cell[2]);
}

static enum icl_status remarks(struct cmd_text *text, const struct icl_params *params, struct icl_err *err) {
    const struct icl_task *task = &params->task;
    ICL_TRY(cmd_text_add(text, err, "t = lr x SGD steps: %g steps are t = 1. K_star is that of t_max = %g.",
                         1 / params->train.lr, params->train.t_max));
    if (params->memory.law == ICL_LAW_POWERLAW)
        ICL_TRY(cmd_text_add(text, err, " I_K(inf) ~ K^%.4g, hence K* ~ N^%.4g (T8).", params->memory.nu,
                             1 / params->memory.nu));
    const struct icl_memtable_fit *fit = params->memtable ? icl_memtable_law(params->memtable) : NULL;
    if (params->memory.law == ICL_LAW_TABLE && fit)
        ICL_TRY(cmd_text_add(text, err,
                             " Measured: I_K(inf) = A K^nu, nu = %.4g +- %.2g, A = %.4g +- %.2g, hence K* ~ N^(1/nu), "
                             "1/nu = %.4g (T8).",
                             fit->nu, fit->nu_error, fit->A, fit->A_error, 1 / fit->nu));
    ICL_TRY(cmd_text_add(text, err, "\n"));
    if (task->copies > 1 || task->K < 20 * (double)task->N)
        ICL_TRY(cmd_text_add(text, err,
                             "Copies of the target beyond the first (copies = %zu, K = %g) count in the mean "
                             "field only; asymptotic and reduced leave them out.\n",
                             task->copies, task->K));
    if (task->D < 4 * log((double)task->N))
        ICL_TRY(cmd_text_add(text, err,
                             "D = %g is small for N = %zu: ICL lives beyond beta = %.3g, where (T4) ends and its "
                             "numbers are rough; simulate.\n",
                             task->D, task->N, sqrt(task->D * log((double)task->N) / 2)));
    if (params->train.lambda_w > 0 || params->train.lambda_beta > 0)
        ICL_TRY(cmd_text_add(text, err, "The level asymptotic ignores decay and t_max.\n"));
    return ICL_OK;
}

static enum icl_status for_people(struct cmd_text *text, const struct cmd_line *line, const struct icl_prediction *p,
                                  const struct icl_prediction *finer, struct icl_err *err) {
    const struct icl_params *params = &line->params;
    char sentence[ICL_PREDICT_SENTENCE];
    struct icl_table *head;
    const char *bytes;
    size_t length;
    const struct icl_column none = {"", "1"};
    ICL_TRY(icl_table_alloc(&head, 0, &none, err));
    enum icl_status status = cmd_head(head, "predict", err);
    if (status == ICL_OK) status = cmd_memory_mark(params, 0, head, err);
    if (status == ICL_OK) status = icl_params_meta(params, head, err);
    if (status == ICL_OK) status = icl_table_text(head, &bytes, &length, err);
    while (status == ICL_OK && length > 0 && bytes[length - 1] == '\n') length--;
    if (status == ICL_OK) status = cmd_text_add(text, err, "%.*s\n\n", (int)length, bytes);
    icl_table_free(head);
    if (status != ICL_OK) return status;
    ICL_TRY(as_rows(text, params, p, finer, err));
    icl_predict_sentence(params, p, sentence);
    ICL_TRY(cmd_text_add(text, err, "\n%s\n", sentence));
    ICL_TRY(remarks(text, params, err));
    if (line->attribute) ICL_TRY(cmd_predict_attribute(text, line, err));
    return line->advise ? cmd_predict_advise(text, line, err) : ICL_OK;
}

enum icl_status cmd_predict(const struct cmd_line *line, struct icl_err *err) {
    struct icl_prediction prediction, finer;
    struct cmd_text text = {0};
    ICL_TRY(icl_predict_run(&line->params, &prediction, err));
    if (line->check) {
        struct icl_params fine = line->params;
        icl_predict_refine(&fine);
        ICL_TRY(icl_predict_run(&fine, &finer, err));
    }
    enum icl_status status =
        (line->json ? as_json : for_people)(&text, line, &prediction, line->check ? &finer : NULL, err);
    if (status == ICL_OK) status = icl_table_save(line->output, text.bytes, text.length, err);
    cmd_text_free(&text);
    if (prediction.trouble.code != ICL_OK)
        cmd_remark(line, "a number could not be computed: %s", prediction.trouble.text);
    return status;
}
