/* figures.h -- the table of figures: what each is called, what computes its table, and how one is drawn.
 *
 * A figure is one stem: params/NAME.ini holds its parameters, one function its numbers, plots/NAME.gp its looks. Its
 * table is in long form: text columns (level, curve, ...) name a block of rows, a blank line ends it. Rows of curve
 * `label` say where along a curve its name may stand.
 */
#ifndef ICLKIN_FIGURES_H
#define ICLKIN_FIGURES_H

#include <stddef.h>

#include "cli/cmd.h"

struct figure {
    const char *name;
    const char *brief;   /* one line, for `plot list` */
    const char *value;   /* a column without a finite number means that there is nothing to draw */
    const char *caption; /* the line under the title; {section.key} stands for that parameter's value */
    enum icl_status (*compute)(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                               struct icl_err *err);
};

size_t figures_count(void);
const struct figure *figures_row(size_t index);
/* The figure of that name; ICL_EUSAGE naming them all if there is none. */
enum icl_status figures_find(const char *name, const struct figure **figure, struct icl_err *err) ICL_MUST_CHECK;

/* What computes each table (the caller frees it). */
enum icl_status figures_levels(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                               struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_transient(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_landscape(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_initial(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_context(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_threshold(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_outcome_K_N(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_outcome_K_beta(const struct icl_params *params, struct cmd_progress *progress,
                                       struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_outcome_lambda_K(const struct icl_params *params, struct cmd_progress *progress,
                                         struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_outcome_lambda_N(const struct icl_params *params, struct cmd_progress *progress,
                                         struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_outcome_w_beta(const struct icl_params *params, struct cmd_progress *progress,
                                       struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_acquisition(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_phaseplane(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_bifurcation(const struct icl_params *params, struct cmd_progress *progress,
                                    struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_times(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                              struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_diversity(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_run(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                            struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_band(const struct icl_params *params, struct cmd_progress *progress, struct icl_table **table,
                             struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_histogram(const struct icl_params *params, struct cmd_progress *progress,
                                  struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;

enum icl_status figures_memorization(const struct icl_params *params, struct cmd_progress *progress,
                                     struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_transience(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_lifetime(const struct icl_params *params, struct cmd_progress *progress,
                                 struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_closure(const struct icl_params *params, struct cmd_progress *progress,
                                struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status figures_thresholds(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) ICL_MUST_CHECK;

/* Draws the table in the file `table` to `output` with plots/NAME.gp, in the format that output's ending names. The
 * picture is held in memory until gnuplot has ended well, then saved whole. ICL_EIO where gnuplot is missing, fails or
 * finds no font. */
enum icl_status figures_draw(const struct figure *figure, const char *table, const char *output,
                             struct icl_err *err) ICL_MUST_CHECK;
/* "png", "svg" or "pdf"; ICL_EUSAGE for another ending. */
enum icl_status figures_format(const char *output, const char **format, struct icl_err *err) ICL_MUST_CHECK;

#endif
