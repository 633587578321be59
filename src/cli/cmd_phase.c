/* cmd_phase.c -- two axes -> a grid of outcomes, or the curves on which the outcome changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/phase.h"
#include "iclkin/pool.h"
#include "run/ranks.h"

enum { GRID_COLUMNS = 5, BOUNDARY_COLUMNS = 3, MODE = 16 };

static enum icl_status read_axes(const struct cmd_line *line, struct phase *phase, struct icl_err *err) {
    char x[ICL_TEXT_SIZE], y[ICL_TEXT_SIZE], mode[ICL_TEXT_SIZE];
    const bool given = line->xaxis || line->yaxis;
    const char *xaxis = given ? line->xaxis : cmd_header_value(line, "axis.x", x);
    const char *yaxis = given ? line->yaxis : cmd_header_value(line, "axis.y", y);
    const char *how = given ? NULL : cmd_header_value(line, "option.mode", mode);
    if (!xaxis) return ICL_ERR(err, ICL_EUSAGE, "-x section.key=LO:HI:n[:log] is missing");
    ICL_TRY(icl_axis_parse(&phase->axis[0], xaxis, err));
    phase->axes = 1;
    if (yaxis) ICL_TRY(icl_axis_parse(&phase->axis[phase->axes++], yaxis, err));
    ICL_TRY(cmd_axes_check(line, phase->axis, phase->axes, err));
    phase->mode = line->boundary || (how && strcmp(how, "boundary") == 0) ? PHASE_BOUNDARY
                  : line->adapt || (how && strcmp(how, "adapt") == 0)     ? PHASE_ADAPT
                                                                          : PHASE_GRID;
    if (line->boundary && line->adapt) return ICL_ERR(err, ICL_EUSAGE, "--boundary and --adapt exclude each other");
    if (phase->mode == PHASE_ADAPT && phase->axes < 2) return ICL_ERR(err, ICL_EUSAGE, "--adapt: needs -x and -y");
    return ICL_OK;
}

static struct icl_column axis_column(const struct icl_axis *axis) {
    return (struct icl_column){axis->name, axis->param->unit};
}

/* Everything before the first row. */
static enum icl_status head_of(const struct cmd_line *line, const struct phase *phase, struct cmd_text *head,
                               struct icl_err *err) {
    static const struct icl_column grid[GRID_COLUMNS] = {{"t_icl", "lr x steps"},
                                                         {"t_iwl", "lr x steps"},
                                                         {"t_loss", "lr x steps"},
                                                         {"outcome", "text"},
                                                         {"status", "text"}};
    static const struct icl_column boundary[BOUNDARY_COLUMNS] = {
        {"error", "as the x axis"}, {"branch", "text"}, {"status", "text"}};
    static const char *const modes[] = {"grid", "adapt", "boundary"};
    struct icl_column column[ICL_PHASE_AXES + GRID_COLUMNS];
    struct icl_table *table;
    char spec[ICL_TEXT_SIZE];
    const char *bytes;
    size_t length, n = 0;
    const bool roots = phase->mode == PHASE_BOUNDARY;
    for (size_t k = 0; k < phase->axes; k++) column[n++] = axis_column(&phase->axis[roots ? phase->axes - 1 - k : k]);
    for (size_t k = 0; k < (roots ? (size_t)BOUNDARY_COLUMNS : (size_t)GRID_COLUMNS); k++)
        column[n++] = roots ? boundary[k] : grid[k];
    ICL_TRY(icl_table_alloc(&table, n, column, err));
    enum icl_status status = cmd_head(table, "phase", err);
    if (status == ICL_OK) status = icl_table_meta(table, err, "axis.x", "%s", icl_axis_text(&phase->axis[0], spec));
    if (status == ICL_OK && phase->axes > 1)
        status = icl_table_meta(table, err, "axis.y", "%s", icl_axis_text(&phase->axis[1], spec));
    if (status == ICL_OK) status = icl_table_meta(table, err, "option.mode", "%s", modes[phase->mode]);
    if (status == ICL_OK && roots)
        status = icl_table_meta(table, err, "boundary", "%s", icl_phase_reading(&phase->axis[0]));
    if (status == ICL_OK) status = icl_params_meta(&line->params, table, err);
    if (status == ICL_OK) status = icl_table_text(table, &bytes, &length, err);
    if (status == ICL_OK) status = cmd_text_add(head, err, "%s", bytes);
    icl_table_free(table);
    return status;
}

enum icl_status cmd_phase_row(const struct phase *phase, const struct icl_phase_cell *cell, const char *status,
                              struct cmd_text *text, struct icl_err *err) {
    char number[ICL_NUMBER_SIZE];
    for (size_t k = 0; k < phase->axes; k++)
        ICL_TRY(cmd_text_add(text, err, "%s\t", icl_table_number(cell->value[k], number)));
    const double time[] = {cell->t_icl, cell->t_iwl, cell->t_loss};
    for (size_t k = 0; k < sizeof time / sizeof *time; k++)
        ICL_TRY(cmd_text_add(text, err, "%s\t", icl_table_number(time[k], number)));
    return cmd_text_add(text, err, "%s\t%s\n", cell->failed ? "failed" : icl_traj_outcome(cell->outcome), status);
}

/* The grid: x runs fastest, a blank line between the rows of one y. */
static void compute_cell(size_t index, size_t worker, void *slot, void *context) {
    const struct phase *phase = context;
    const size_t nx = phase->axis[0].n, point[ICL_PHASE_AXES] = {index % nx, index / nx};
    (void)worker;
    icl_phase_cell(phase->params, phase->axis, phase->axes, point, slot);
}

enum { PENDING = 8192 }; /* bytes */

static enum icl_status flush_rows(struct phase *phase, struct icl_err *err) {
    const size_t length = phase->pending.length;
    phase->pending.length = 0;
    return length > 0 ? cmd_sink_add(&phase->sink, phase->pending.bytes, length, err) : ICL_OK;
}

static enum icl_status emit_cell(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct phase *phase = context;
    const struct icl_phase_cell *cell = slot;
    phase->failed += cell->failed;
    cmd_progress_step(&phase->progress);
    if (index > 0 && index % phase->axis[0].n == 0 && phase->axes > 1)
        ICL_TRY(cmd_text_add(&phase->pending, err, "\n"));
    ICL_TRY(cmd_phase_row(phase, cell, cell->status, &phase->pending, err));
    return phase->pending.length < PENDING ? ICL_OK : flush_rows(phase, err);
}

/* The boundaries along x at one y. */
struct line_result {
    double y;
    struct icl_phase_roots roots;
    bool failed;
    char status[ICL_PHASE_STATUS];
};

static void compute_line(size_t index, size_t worker, void *slot, void *context) {
    const struct phase *phase = context;
    struct line_result *result = slot;
    struct icl_params params = *phase->params;
    struct icl_err err = {ICL_OK, ""};
    enum icl_status status = ICL_OK;
    (void)worker;
    *result = (struct line_result){.y = NAN};
    if (phase->axes > 1) {
        result->y = icl_axis_value(&phase->axis[1], index);
        status = icl_axis_set(&phase->axis[1], index, &params, &result->y, &err);
    }
    if (status == ICL_OK) status = icl_phase_roots(&params, &phase->axis[0], &result->roots, &err);
    result->failed = status != ICL_OK;
    if (result->failed) snprintf(result->status, sizeof result->status, "%.*s", ICL_PHASE_STATUS - 1, err.text);
}

/* The rows of a line: its boundaries, or that there is none; last, whether a point of it could not be solved. */
static size_t rows_of(const struct line_result *line) {
    if (line->failed) return 1;
    return line->roots.count + (line->roots.count == 0 || line->roots.failed > 0);
}

static enum icl_status root_row(const struct phase *phase, const struct line_result *line, size_t row,
                                struct cmd_text *text, struct icl_err *err) {
    char y[ICL_NUMBER_SIZE], x[ICL_NUMBER_SIZE], error[ICL_NUMBER_SIZE];
    const struct icl_phase_roots *roots = &line->roots;
    const struct icl_phase_root *root = &roots->root[row];
    if (phase->axes > 1) ICL_TRY(cmd_text_add(text, err, "%s\t", icl_table_number(line->y, y)));
    if (line->failed) return cmd_text_add(text, err, "nan\tnan\tfailed\t%s\n", line->status);
    if (row == roots->count && roots->failed > 0)
        return cmd_text_add(text, err, "nan\tnan\tfailed\t%zu of %zu points: %s\n", roots->failed, phase->axis[0].n,
                            roots->why);
    if (row == roots->count)
        return cmd_text_add(text, err, "nan\tnan\t%s\tno boundary in range\n", icl_phase_name(roots->first));
    return cmd_text_add(text, err, "%s\t%s\t%s-%s\t%s\n", icl_table_number(root->x, x),
                        icl_table_number(root->error, error), icl_phase_name(root->below), icl_phase_name(root->above),
                        roots->more ? "more boundaries than could be kept" : "ok");
}

static enum icl_status emit_line(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct phase *phase = context;
    const struct line_result *line = slot;
    struct cmd_text text = {0};
    enum icl_status status = ICL_OK;
    (void)index;
    phase->solves += line->roots.solves;
    phase->failed += line->failed || line->roots.failed > 0;
    for (size_t i = 0; i < rows_of(line) && status == ICL_OK; i++) {
        if (phase->skip > 0)
            phase->skip--; /* stands in the file already */
        else
            status = root_row(phase, line, i, &text, err);
    }
    if (status == ICL_OK) status = cmd_sink_add(&phase->sink, text.bytes, text.length, err);
    cmd_text_free(&text);
    cmd_progress_step(&phase->progress);
    return status;
}

/* The first line that an earlier run may have left undone, and how many of its rows stand in the file. A line has as
 * many rows as boundaries, so that the last y in the file is solved again. */
static size_t first_line(struct phase *phase, const char *kept) {
    char last[ICL_NUMBER_SIZE], number[ICL_NUMBER_SIZE];
    phase->skip = phase->sink.rows;
    if (phase->axes < 2 || phase->skip == 0) return 0;
    const char *row = kept + strlen(kept) - 1;
    while (row > kept && row[-1] != '\n') row--;
    snprintf(last, sizeof last, "%.*s", (int)strcspn(row, "\t"), row);
    const size_t width = strlen(last) + 1;
    for (phase->skip = 1; row > kept; phase->skip++) {
        const char *before = row - 1;
        while (before > kept && before[-1] != '\n') before--;
        if (strncmp(before, row, width) != 0) break;
        row = before;
    }
    for (size_t i = 0; i < phase->axis[1].n; i++) {
        struct icl_params scratch = *phase->params;
        double y;
        if (icl_axis_set(&phase->axis[1], i, &scratch, &y, NULL) != ICL_OK) break;
        if (strcmp(icl_table_number(y, number), last) == 0) return i;
    }
    phase->skip = phase->sink.rows;
    return 0;
}

/* The grid or the lines, on threads or ranks; rank 0 alone has the file. status: the file's. */
static enum icl_status run(struct phase *phase, const char *kept, struct icl_comm *comm, enum icl_status status,
                           struct icl_err *err) {
    const bool lines = phase->mode == PHASE_BOUNDARY;
    const size_t ny = phase->axes > 1 ? phase->axis[1].n : 1, n = lines ? ny : phase->axis[0].n * ny;
    const struct icl_pool_job job = {.first = lines ? first_line(phase, kept) : phase->sink.rows,
                                     .n = n,
                                     .slot = lines ? sizeof(struct line_result) : sizeof(struct icl_phase_cell),
                                     .threads = phase->params->ensemble.threads,
                                     .ordered = true,
                                     .compute = lines ? compute_line : compute_cell,
                                     .emit = lines ? emit_line : emit_cell,
                                     .context = phase,
                                     .stop = phase->stop};
    if (lines) cmd_progress_to(&phase->progress, phase->progress.first = job.first);
    if (status == ICL_OK && job.first > n)
        status = ICL_ERR(err, ICL_EUSAGE, "%s: has more rows than the grid", phase->sink.path);
    status = icl_ranks_run(comm, &job, status, err);
    /* also after a stop: what is solved is kept */
    const enum icl_status flushed = flush_rows(phase, status == ICL_OK ? err : NULL);
    return status == ICL_OK ? flushed : status;
}

/* Everything behind the axes: opens the file (rank 0), computes, closes. */
static enum icl_status compute_all(const struct cmd_line *line, struct phase *phase, struct icl_comm *comm,
                                   struct icl_err *err) {
    struct cmd_text head = {0}, kept = {0};
    const bool root = icl_comm_rank(comm) == 0, adapt = phase->mode == PHASE_ADAPT;
    const size_t lines = phase->axes > 1 ? phase->axis[1].n : 1;
    enum icl_status status = root ? head_of(line, phase, &head, err) : ICL_OK;
    if (root && status == ICL_OK) status = cmd_sink_open(&phase->sink, line, head.bytes, &kept, err);
    const bool opened = root && status == ICL_OK;
    cmd_text_free(&head);
    if (opened)
        cmd_progress_start(&phase->progress, line, "phase",
                           phase->mode == PHASE_BOUNDARY ? lines : lines * phase->axis[0].n - phase->sink.rows);
    if (adapt) { /* rounds wait for each other: one process, its threads */
        if (opened) status = cmd_phase_adapt(phase, kept.bytes, err);
        const enum icl_status ended = icl_comm_stop(comm, NULL);
        if (status == ICL_OK) status = ended;
    } else {
        status = run(phase, kept.bytes, comm, status, err);
    }
    cmd_text_free(&kept);
    cmd_text_free(&phase->pending);
    if (!opened) return status;
    cmd_progress_end(&phase->progress);
    const enum icl_status closed = cmd_sink_close(&phase->sink, status == ICL_OK ? err : NULL);
    if (status == ICL_OK && phase->solves > 0) cmd_remark(line, "%zu solves", phase->solves);
    if (phase->failed > 0) cmd_remark(line, "%zu failed; column status says why", phase->failed);
    return status == ICL_OK ? closed : status;
}

enum icl_status cmd_phase(const struct cmd_line *line, struct icl_err *err) {
    struct phase phase = {.params = &line->params, .stop = cmd_stop_install()};
    struct icl_comm *comm;
    ICL_TRY(read_axes(line, &phase, err));
    ICL_TRY(icl_comm_start(&comm, err));
    return compute_all(line, &phase, comm, err);
}
