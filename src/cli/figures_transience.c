/* figures_transience.c -- a run that acquires ICL and loses it again, under both closures. */
#include <string.h>

#include "cli/figures_sim.h"
#include "iclkin/closed.h"

struct tie {
    struct icl_table *table;
    const char *curve;
    double N, lambda_w;
};

/* A run's row, and beside it loss_iwl as (T10) has it from loss_icl and beta. */
static enum icl_status add_transience_row(const double row[ICL_TRAIN_COLUMNS], void *context, struct icl_err *err) {
    const struct tie *tie = context;
    union icl_cell cells[2 + ICL_TRAIN_COLUMNS] = {{.text = tie->curve}};
    for (size_t i = 0; i < ICL_TRAIN_COLUMNS; i++) cells[1 + i].number = row[i];
    cells[1 + ICL_TRAIN_COLUMNS].number =
        icl_closed_tie(tie->N, tie->lambda_w, row[ICL_TRAIN_BETA], row[ICL_TRAIN_LOSS_ICL]);
    return icl_table_row(tie->table, cells, err);
}

/* Theory with both closures over one simulated run. */
enum icl_status figures_transience(const struct icl_params *params, struct cmd_progress *progress,
                                   struct icl_table **table, struct icl_err *err) {
    static const char *const curve[] = {"response", "plain"};
    struct icl_column columns[2 + ICL_TRAIN_COLUMNS] = {{"curve", "text"}};
    struct tie tie = {.N = (double)params->task.N, .lambda_w = params->train.lambda_w};
    struct figures_theory theory = {.take = add_transience_row, .context = &tie};
    struct drive drive = {0};
    memcpy(columns + 1, icl_train_columns, sizeof icl_train_columns);
    columns[1 + ICL_TRAIN_COLUMNS] = (struct icl_column){"loss_tied", "nat"};
    ICL_TRY(icl_table_alloc(table, sizeof columns / sizeof *columns, columns, err));
    tie.table = *table;
    enum icl_status status = ICL_OK;
    for (int i = 0; i < 2 && status == ICL_OK; i++) {
        struct icl_params closed = *params;
        struct icl_traj_result unused;
        closed.memory.closure = i == 0 ? ICL_CLOSURE_AUTO : ICL_CLOSURE_PLAIN;
        tie.curve = curve[i];
        status = figures_sim_solve(&closed, &theory, &unused, err);
        if (status == ICL_OK) status = icl_table_break(*table, err);
    }
    if (status == ICL_OK) status = figures_sim_simulate(params, progress, &drive, err);
    tie.curve = "simulation";
    for (size_t i = 0; i < drive.rows && status == ICL_OK; i++)
        status = add_transience_row(drive.row + i * ICL_TRAIN_COLUMNS, &tie, err);
    cmd_drive_free(&drive);
    return status;
}
