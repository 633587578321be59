/* cmd_fixedpoints.c -- frozen memorization -> fixed points, their stability, branches and folds; curves of the plane.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/cmd.h"
#include "iclkin/fixedpoints.h"

enum { CELLS = 128, NUMBERS = 4, POINT_COLUMNS = 8, CURVE_COLUMNS = 4 };

/* What to do: options, or what the header of an earlier table says where none is given. */
struct task {
    bool swept, boxed;
    struct icl_axis axis;
    double s;
    struct icl_fixedpoints_window box;
};

static enum icl_status read_window(const char *text, struct task *task, struct icl_err *err) {
    double number[NUMBERS];
    char part[NUMBERS][ICL_NUMBER_SIZE];
    task->boxed = strcmp(text, "auto") != 0;
    if (!task->boxed) return ICL_OK;
    int end = 0;
    bool good =
        sscanf(text, "%31[^:]:%31[^:]:%31[^:]:%31[^:]%n", part[0], part[1], part[2], part[3], &end) == NUMBERS &&
        text[end] == '\0';
    for (int i = 0; i < NUMBERS && good; i++) good = icl_number_decimal(part[i], &number[i]);
    if (!good)
        return ICL_ERR(err, ICL_EUSAGE, "--window %s: must be four numbers WLO:WHI:BETALO:BETAHI, or auto", text);
    task->box = (struct icl_fixedpoints_window){number[0], number[1], number[2], number[3]};
    return icl_fixedpoints_check(&task->box, err);
}

static enum icl_status read_task(const struct cmd_line *line, struct task *task, struct icl_err *err) {
    char x[ICL_TEXT_SIZE], at[ICL_TEXT_SIZE], window[ICL_TEXT_SIZE], command[ICL_TEXT_SIZE];
    const char *from = cmd_header_value(line, "command", command);
    const bool own = from && strcmp(from, line->command) == 0;
    const char *xaxis = line->xaxis || !own ? line->xaxis : cmd_header_value(line, "axis.x", x);
    const char *clock = line->at || !own ? line->at : cmd_header_value(line, "option.at", at);
    const char *box = line->window || !own ? line->window : cmd_header_value(line, "option.window", window);
    if (clock && !(icl_number_decimal(clock, &task->s) && task->s >= 0 && isfinite(task->s)))
        return ICL_ERR(err, ICL_EUSAGE, "--at %s: must be a number >= 0", clock);
    ICL_TRY(read_window(box ? box : "auto", task, err));
    if (!task->boxed) icl_fixedpoints_box(&line->params, &task->box);
    task->swept = xaxis != NULL;
    if (!xaxis) return ICL_OK;
    ICL_TRY(icl_axis_parse(&task->axis, xaxis, err));
    ICL_TRY(cmd_axes_check(line, &task->axis, 1, err));
    return icl_fixedpoints_branches_check(&line->params, &task->axis, err);
}

static enum icl_status add_head(const struct cmd_line *line, const struct task *task, struct icl_table *table,
                                struct icl_err *err) {
    char number[NUMBERS][ICL_NUMBER_SIZE], spec[ICL_TEXT_SIZE];
    ICL_TRY(cmd_head(table, line->command, err));
    if (task->swept) ICL_TRY(icl_table_meta(table, err, "axis.x", "%s", icl_axis_text(&task->axis, spec)));
    ICL_TRY(icl_table_meta(table, err, "option.at", "%s", icl_table_number(task->s, number[0])));
    if (!task->boxed) return icl_table_meta(table, err, "option.window", "auto");
    return icl_table_meta(table, err, "option.window", "%s:%s:%s:%s", icl_table_number(task->box.w_lo, number[0]),
                          icl_table_number(task->box.w_hi, number[1]), icl_table_number(task->box.beta_lo, number[2]),
                          icl_table_number(task->box.beta_hi, number[3]));
}

static enum icl_status points_table(const struct cmd_line *line, const struct task *task,
                                    const struct icl_fixedpoints_points *points, struct icl_table **table,
                                    struct icl_err *err) {
    const struct icl_column column[1 + POINT_COLUMNS] = {
        {task->swept ? task->axis.name : "", task->swept ? task->axis.param->unit : ""},
        {"branch", "1"},
        {"w", "1"},
        {"beta", "1"},
        {"re1", "1/t"},
        {"im1", "1/t"},
        {"re2", "1/t"},
        {"im2", "1/t"},
        {"type", "text"},
    };
    const size_t first = task->swept ? 0 : 1;
    ICL_TRY(icl_table_alloc(table, 1 + POINT_COLUMNS - first, column + first, err));
    ICL_TRY(add_head(line, task, *table, err));
    ICL_TRY(icl_params_meta(&line->params, *table, err));
    for (size_t i = 0; i < points->count; i++) {
        const struct icl_fixedpoints_point *p = &points->at[i];
        const union icl_cell cell[1 + POINT_COLUMNS] = {
            {.number = p->x},     {.number = (double)p->branch}, {.number = p->w},
            {.number = p->beta},  {.number = p->re[0]},          {.number = p->im[0]},
            {.number = p->re[1]}, {.number = p->im[1]},          {.text = icl_fixedpoints_name(p->type)},
        };
        if (task->swept && i > 0 && p->branch != p[-1].branch) ICL_TRY(icl_table_break(*table, err));
        ICL_TRY(icl_table_row(*table, cell + first, err));
    }
    return ICL_OK;
}

static enum icl_status curves_table(const struct cmd_line *line, const struct task *task,
                                    const struct icl_fixedpoints_window *view,
                                    const struct icl_fixedpoints_curves *curves, struct icl_table **table,
                                    struct icl_err *err) {
    static const struct icl_column column[CURVE_COLUMNS] = {
        {"curve", "text"}, {"piece", "1"}, {"w", "1"}, {"beta", "1"}};
    ICL_TRY(icl_table_alloc(table, CURVE_COLUMNS, column, err));
    ICL_TRY(add_head(line, task, *table, err));
    ICL_TRY(icl_table_meta(*table, err, "view", "%g:%g:%g:%g", view->w_lo, view->w_hi, view->beta_lo, view->beta_hi));
    ICL_TRY(icl_params_meta(&line->params, *table, err));
    for (size_t i = 0; i < curves->count; i++) {
        const struct icl_fixedpoints_vertex *v = &curves->at[i];
        const union icl_cell cell[CURVE_COLUMNS] = {{.text = icl_fixedpoints_curves_name(v->curve)},
                                                    {.number = (double)v->piece},
                                                    {.number = v->w},
                                                    {.number = v->beta}};
        if (i > 0 && v->piece != v[-1].piece) ICL_TRY(icl_table_break(*table, err));
        ICL_TRY(icl_table_row(*table, cell, err));
    }
    return ICL_OK;
}

/* The curves belong to the parameters as they stand, whatever is swept. */
static enum icl_status draw(const struct cmd_line *line, const struct task *task, struct icl_table **table,
                            struct icl_err *err) {
    const struct icl_params *params = &line->params;
    struct icl_fixedpoints_points points = {0};
    struct icl_fixedpoints_curves curves = {0};
    struct icl_fixedpoints_window view = task->box;
    enum icl_status status = icl_fixedpoints_solve(params, task->s, &task->box, &points, err);
    if (!task->boxed) icl_fixedpoints_view(params, &points, &view);
    if (status == ICL_OK) status = icl_fixedpoints_curves_nullclines(params, task->s, &view, CELLS, &curves, err);
    for (size_t i = 0; i < points.count && status == ICL_OK; i++)
        status = icl_fixedpoints_separatrix(params, task->s, &view, &points.at[i], &curves, err);
    if (status == ICL_OK) status = curves_table(line, task, &view, &curves, table, err);
    icl_fixedpoints_curves_free(&curves);
    icl_fixedpoints_free(&points);
    return status;
}

enum icl_status cmd_fixedpoints(const struct cmd_line *line, struct icl_err *err) {
    struct task task = {0};
    struct icl_fixedpoints_points points = {0};
    struct icl_table *table = NULL, *curves = NULL;
    ICL_TRY(read_task(line, &task, err));
    if (line->curves && line->output && strcmp(line->curves, line->output) == 0)
        return ICL_ERR(err, ICL_EUSAGE, "--curves and -o: %s on both", line->output);
    enum icl_status status = task.swept
                                 ? icl_fixedpoints_branches(&line->params, task.s, &task.box, &task.axis, &points, err)
                                 : icl_fixedpoints_solve(&line->params, task.s, &task.box, &points, err);
    if (status == ICL_OK) status = points_table(line, &task, &points, &table, err);
    if (status == ICL_OK && line->curves) status = draw(line, &task, &curves, err);
    if (status == ICL_OK && curves) status = icl_table_write(curves, line->curves, err);
    if (status == ICL_OK) status = icl_table_write(table, line->output, err);
    if (status == ICL_OK && points.count == 0) cmd_remark(line, "no fixed point in the window");
    if (status == ICL_OK && points.stalled > 0)
        cmd_remark(line, "%zu branches end inside the window: no step could be taken", points.stalled);
    icl_table_free(curves);
    icl_table_free(table);
    icl_fixedpoints_free(&points);
    return status;
}
