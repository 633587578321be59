/* predict_attribute.c -- predict --attribute: t_icl, K* and t_loss without each ingredient of the theory. */
#include <math.h>
#include <stdio.h>

#include "cli/predict.h"
#include "iclkin/attribute.h"
#include "iclkin/traj.h"

enum { NUMBERS = 3, CELL = 40 };

static const char *const names[NUMBERS] = {"t_icl", "K_star", "t_loss"};

static double number(const struct icl_attribute_numbers *numbers, int i) {
    const double value[NUMBERS] = {numbers->t_icl, numbers->K_star, numbers->t_loss};
    return value[i];
}

/* What leaving it out does [%]; NaN where there is no number on either side. */
static double change(double with, double without) {
    return isfinite(with) && isfinite(without) && with > 0 ? 100 * (without - with) / with : NAN;
}

static enum icl_status json_numbers(struct cmd_text *text, const struct icl_attribute_numbers *numbers,
                                    struct icl_err *err) {
    char buffer[ICL_NUMBER_SIZE];
    for (int i = 0; i < NUMBERS; i++)
        ICL_TRY(cmd_text_add(text, err, "%s\"%s\": %s", i > 0 ? ", " : "", names[i],
                             cmd_predict_number(number(numbers, i), buffer)));
    return ICL_OK;
}

static enum icl_status as_json(struct cmd_text *text, const struct cmd_line *line, const struct icl_attribute *a,
                               struct icl_err *err) {
    char buffer[ICL_NUMBER_SIZE];
    ICL_TRY(cmd_text_add(text, err, "  \"attribution\": {\n    \"level\": \"%s\",\n    \"with\": {",
                         icl_traj_level(line->params.theory.level)));
    ICL_TRY(json_numbers(text, &a->with, err));
    ICL_TRY(cmd_text_add(text, err, "},\n    \"without\": {"));
    for (int k = 0; k < ICL_INGREDIENT_COUNT; k++) {
        ICL_TRY(cmd_text_add(text, err, "%s\n      \"%s\": {", k > 0 ? "," : "",
                             icl_attribute_name((enum icl_ingredient)k)));
        if (a->absent[k]) {
            ICL_TRY(cmd_text_add(text, err, "\"absent\": \"%s\"}", a->absent[k]));
            continue;
        }
        ICL_TRY(json_numbers(text, &a->without[k], err));
        ICL_TRY(cmd_text_add(text, err, ", \"change_percent\": {"));
        for (int i = 0; i < NUMBERS; i++)
            ICL_TRY(cmd_text_add(text, err, "%s\"%s\": %s", i > 0 ? ", " : "", names[i],
                                 cmd_predict_number(change(number(&a->with, i), number(&a->without[k], i)), buffer)));
        ICL_TRY(cmd_text_add(text, err, "}}"));
    }
    return cmd_text_add(text, err, "\n    }\n  },\n");
}

/* "279.19", "never", "failed", with its change in brackets. */
static void cell_of(const struct icl_attribute_numbers *with, const struct icl_attribute_numbers *numbers, int i,
                    char cell[CELL]) {
    const double x = number(numbers, i), percent = change(number(with, i), x);
    const bool items = i == 1;
    if (isnan(x))
        snprintf(cell, CELL, "failed");
    else if (isinf(x))
        snprintf(cell, CELL, items ? "no K suffices" : "never");
    else if (items && x == 0)
        snprintf(cell, CELL, "every K suffices");
    else if (numbers == with || isnan(percent))
        snprintf(cell, CELL, "%.6g", x);
    else
        snprintf(cell, CELL, "%.6g (%+.2g %%)", x, percent);
}

static enum icl_status row(struct cmd_text *text, const char *name, const struct icl_attribute *a,
                           const struct icl_attribute_numbers *numbers, struct icl_err *err) {
    char cell[NUMBERS][CELL];
    for (int i = 0; i < NUMBERS; i++) cell_of(&a->with, numbers, i, cell[i]);
    return cmd_text_add(text, err, "%-31s %21s %21s %21s\n", name, cell[0], cell[1], cell[2]);
}

static enum icl_status for_people(struct cmd_text *text, const struct cmd_line *line, const struct icl_attribute *a,
                                  struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err,
                         "\nWhat each ingredient does at level %s: the numbers without it, one left out at a time.\n"
                         "%-31s %21s %21s %21s\n",
                         icl_traj_level(line->params.theory.level), "without", names[0], names[1], names[2]));
    ICL_TRY(row(text, "(nothing left out)", a, &a->with, err));
    for (int k = 0; k < ICL_INGREDIENT_COUNT; k++) {
        const char *name = icl_attribute_text((enum icl_ingredient)k);
        if (a->absent[k])
            ICL_TRY(cmd_text_add(text, err, "%-31s absent: %s\n", name, a->absent[k]));
        else
            ICL_TRY(row(text, name, a, &a->without[k], err));
    }
    return ICL_OK;
}

enum icl_status cmd_predict_attribute(struct cmd_text *text, const struct cmd_line *line, struct icl_err *err) {
    struct icl_attribute attribute;
    ICL_TRY(icl_attribute_run(&line->params, &attribute, err));
    ICL_TRY((line->json ? as_json : for_people)(text, line, &attribute, err));
    if (attribute.trouble.code != ICL_OK)
        cmd_remark(line, "--attribute: a number could not be computed: %s", attribute.trouble.text);
    return ICL_OK;
}
