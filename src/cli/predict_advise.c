/* predict_advise.c -- predict --advise: what to change to acquire ICL and keep it, and what each parameter moves. */
#include <math.h>
#include <stdio.h>

#include "cli/predict.h"
#include "iclkin/advise.h"
#include "iclkin/sensitivity.h"
#include "iclkin/traj.h"

enum { CELL = 64 };

static enum icl_status json_slope(struct cmd_text *text, const struct icl_sensitivity *s,
                                  const struct icl_sensitivity_row *row, enum icl_sensitivity_of of,
                                  struct icl_err *err) {
    char number[4][ICL_NUMBER_SIZE];
    const struct icl_slope *slope = &row->slope[of], log = icl_sensitivity_log(s, row, of);
    if (!isfinite(slope->value)) return cmd_text_add(text, err, ", \"%s\": null", icl_sensitivity_name(of));
    return cmd_text_add(
        text, err, ",\n       \"%s\": {\"slope\": %s, \"slope_error\": %s, \"log_slope\": %s, \"log_slope_error\": %s}",
        icl_sensitivity_name(of), cmd_predict_number(slope->value, number[0]),
        cmd_predict_number(slope->error, number[1]), cmd_predict_number(log.value, number[2]),
        cmd_predict_number(log.error, number[3]));
}

static enum icl_status json_boundaries(struct cmd_text *text, const struct icl_advise_line *line, struct icl_err *err) {
    char number[2][ICL_NUMBER_SIZE];
    for (size_t i = 0; i < line->roots.count; i++) {
        const struct icl_phase_root *root = &line->roots.root[i];
        ICL_TRY(cmd_text_add(text, err, "%s{\"x\": %s, \"error\": %s, \"below\": \"%s\", \"above\": \"%s\"}",
                             i > 0 ? ", " : "", cmd_predict_number(root->x, number[0]),
                             cmd_predict_number(root->error, number[1]), icl_phase_name(root->below),
                             icl_phase_name(root->above)));
    }
    return ICL_OK;
}

static enum icl_status json_kept(struct cmd_text *text, const struct icl_advise_line *line, struct icl_err *err) {
    char number[2][ICL_NUMBER_SIZE];
    struct icl_advise_interval interval[ICL_ADVISE_INTERVALS];
    const size_t n = icl_advise_intervals(line, ICL_PHASE_KEPT, interval);
    for (size_t i = 0; i < n; i++)
        ICL_TRY(cmd_text_add(text, err, "%s[%s, %s]", i > 0 ? ", " : "",
                             cmd_predict_number(interval[i].from, number[0]),
                             cmd_predict_number(interval[i].to, number[1])));
    return ICL_OK;
}

static enum icl_status as_json(struct cmd_text *text, const struct cmd_line *line, const struct icl_advise *advise,
                               const struct icl_sensitivity *s, struct icl_err *err) {
    char number[3][ICL_NUMBER_SIZE];
    ICL_TRY(cmd_text_add(text, err, "  \"advice\": {\n    \"level\": \"%s\",\n    \"now\": \"%s\",\n    \"change\": [",
                         icl_traj_level(line->params.theory.level), icl_phase_name(advise->now)));
    for (size_t i = 0; i < ICL_ADVISE_LINES; i++) {
        const struct icl_advise_line *at = &advise->line[i];
        ICL_TRY(cmd_text_add(text, err, "%s\n      {\"parameter\": \"%s\", \"now\": %s, \"from\": %s, \"to\": %s,\n",
                             i > 0 ? "," : "", at->axis.name, cmd_predict_number(at->now, number[0]),
                             cmd_predict_number(at->axis.lo, number[1]), cmd_predict_number(at->axis.hi, number[2])));
        ICL_TRY(cmd_text_add(text, err, "       \"solved\": %s, \"unsolved_points\": %zu, \"kept\": [",
                             at->failed ? "false" : "true", at->roots.failed));
        ICL_TRY(json_kept(text, at, err));
        ICL_TRY(cmd_text_add(text, err, "], \"boundaries\": ["));
        ICL_TRY(json_boundaries(text, at, err));
        ICL_TRY(cmd_text_add(text, err, "]}"));
    }
    ICL_TRY(cmd_text_add(text, err, "\n    ],\n    \"sensitivity\": ["));
    for (size_t i = 0; i < s->rows; i++) {
        ICL_TRY(cmd_text_add(text, err, "%s\n      {\"parameter\": \"%s\", \"now\": %s, \"per\": \"%s\", \"exact\": %s",
                             i > 0 ? "," : "", s->row[i].name, cmd_predict_number(s->row[i].p, number[0]),
                             s->row[i].relative ? "d ln p" : "dp", s->row[i].exact ? "true" : "false"));
        for (int of = 0; of < ICL_SENSITIVITY_COUNT; of++)
            ICL_TRY(json_slope(text, s, &s->row[i], (enum icl_sensitivity_of)of, err));
        ICL_TRY(cmd_text_add(text, err, "}"));
    }
    return cmd_text_add(text, err, "\n    ]\n  },\n");
}

/* "above 0.531 +- 3e-04", "1.2 +- 1e-03 to 3.4 +- 2e-03", "all of it". */
static enum icl_status say_intervals(struct cmd_text *text, const struct icl_advise_interval *interval, size_t n,
                                     struct icl_err *err) {
    for (size_t i = 0; i < n; i++) {
        const struct icl_advise_interval *at = &interval[i];
        const bool begins = isfinite(at->from), ends = isfinite(at->to);
        if (i > 0) ICL_TRY(cmd_text_add(text, err, ", "));
        if (!begins && !ends) ICL_TRY(cmd_text_add(text, err, "all of it"));
        if (begins) ICL_TRY(cmd_text_add(text, err, "%s%.5g +- %.0e", ends ? "" : "above ", at->from, at->from_error));
        if (ends) ICL_TRY(cmd_text_add(text, err, "%s%.5g +- %.0e", begins ? " to " : "below ", at->to, at->to_error));
    }
    return ICL_OK;
}

static enum icl_status say_line(struct cmd_text *text, const struct icl_advise_line *line, struct icl_err *err) {
    struct icl_advise_interval interval[ICL_ADVISE_INTERVALS];
    char range[CELL];
    snprintf(range, sizeof range, "%.4g to %.4g", line->axis.lo, line->axis.hi);
    ICL_TRY(cmd_text_add(text, err, "%-14s %10.6g %20s  ", line->axis.name, line->now, range));
    if (line->failed) return cmd_text_add(text, err, "not known: %s\n", line->roots.why);
    size_t n = icl_advise_intervals(line, ICL_PHASE_KEPT, interval);
    if (n == 0) {
        ICL_TRY(cmd_text_add(text, err, "none in range"));
        n = icl_advise_intervals(line, ICL_PHASE_TRANSIENT, interval);
        if (n > 0) ICL_TRY(cmd_text_add(text, err, "; acquired and lost again: "));
    }
    ICL_TRY(say_intervals(text, interval, n, err));
    if (line->roots.more) ICL_TRY(cmd_text_add(text, err, ", and more"));
    if (line->roots.failed > 0) ICL_TRY(cmd_text_add(text, err, " (%zu points failed)", line->roots.failed));
    return cmd_text_add(text, err, "\n");
}

static void slope_cell(const struct icl_slope *slope, char cell[CELL]) {
    if (!isfinite(slope->value))
        snprintf(cell, CELL, "-");
    else if (slope->error > 0)
        snprintf(cell, CELL, "%.4g +- %.0e", slope->value, slope->error);
    else
        snprintf(cell, CELL, "%.4g", slope->value);
}

static enum icl_status for_people(struct cmd_text *text, const struct cmd_line *line, const struct icl_advise *advise,
                                  const struct icl_sensitivity *s, struct icl_err *err) {
    const char *level = icl_traj_level(line->params.theory.level);
    ICL_TRY(cmd_text_add(text, err,
                         "\nWhere ICL is acquired by t_max = %g and kept, at level %s (now: %s), one parameter changed "
                         "at a time:\n%-14s %10s %20s  %s\n",
                         line->params.train.t_max, level, icl_phase_name(advise->now), "parameter", "now", "looked at",
                         "kept"));
    for (size_t i = 0; i < ICL_ADVISE_LINES; i++) ICL_TRY(say_line(text, &advise->line[i], err));
    ICL_TRY(cmd_text_add(text, err,
                         "\nSensitivity, d ln t/d ln p (or, where p may be 0, d ln t/dp); - where there is none:\n"
                         "%-24s %10s %-9s %21s %21s %21s\n",
                         "parameter p", "now", "per", icl_sensitivity_name(ICL_SENSITIVITY_T_ICL),
                         icl_sensitivity_name(ICL_SENSITIVITY_T_LOSS), icl_sensitivity_name(ICL_SENSITIVITY_K_STAR)));
    for (const struct icl_sensitivity_row *row = s->row; row < s->row + s->rows; row++) {
        char cell[ICL_SENSITIVITY_COUNT][CELL];
        for (int of = 0; of < ICL_SENSITIVITY_COUNT; of++) {
            const struct icl_slope log = icl_sensitivity_log(s, row, (enum icl_sensitivity_of)of);
            slope_cell(&log, cell[of]);
        }
        ICL_TRY(cmd_text_add(text, err, "%-24s %10.6g %-9s %21s %21s %21s\n", row->name, row->p,
                             row->relative ? "d ln p" : "dp", cell[0], cell[1], cell[2]));
    }
    return ICL_OK;
}

enum icl_status cmd_predict_advise(struct cmd_text *text, const struct cmd_line *line, struct icl_err *err) {
    struct icl_advise advise;
    struct icl_sensitivity sensitivity;
    ICL_TRY(icl_advise_run(&line->params, &advise, err));
    ICL_TRY(icl_sensitivity_run(&line->params, &sensitivity, err));
    return (line->json ? as_json : for_people)(text, line, &advise, &sensitivity, err);
}
