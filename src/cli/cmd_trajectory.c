/* cmd_trajectory.c -- one parameter set -> trajectory. */
#include <math.h>

#include "cli/cmd.h"
#include "iclkin/gauge.h"
#include "iclkin/predict.h"
#include "iclkin/traj.h"

static const struct icl_column columns[] = {
    {"t", "lr x steps"},
    {"steps", "SGD steps"},
    {"w", "1"},
    {"beta", "1"},
    {"s", "lr x steps"},
    {"c1", "1"},
    {"c2", "1"},
    {"c3", "1"},
    {"loss_train", "nat"},
    {"loss_icl", "nat"},
    {"loss_iwl", "nat"},
    {"acc_icl", "1"},
    {"acc_iwl", "1"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct writer {
    const struct icl_params *params;
    struct icl_gauge *gauge;
    struct icl_table *table;
};

static enum icl_status write_row(double t, const double *y, void *context, struct icl_err *err) {
    struct writer *writer = context;
    struct icl_observables o;
    icl_gauge_all(writer->gauge, y, &o);
    const double row[COLUMNS] = {t,
                                 t / writer->params->train.lr,
                                 y[ICL_W],
                                 y[ICL_BETA],
                                 y[ICL_S],
                                 o.c1,
                                 o.c2,
                                 o.c3,
                                 o.loss_train,
                                 o.loss_icl,
                                 o.loss_iwl,
                                 o.acc_icl,
                                 o.acc_iwl};
    return icl_table_numbers(writer->table, row, err);
}

static enum icl_status add_time(struct icl_table *table, const char *key, double t, struct icl_err *err) {
    char number[ICL_NUMBER_SIZE];
    return icl_table_meta(table, err, key, "%s", icl_table_number(t, number));
}

static enum icl_status add_head(const struct cmd_line *line, struct icl_table *table,
                                const struct icl_traj_result *result, struct icl_err *err) {
    ICL_TRY(cmd_head(table, "trajectory", err));
    ICL_TRY(add_time(table, "t_icl", result->t_icl, err));
    ICL_TRY(add_time(table, "t_iwl", result->t_iwl, err));
    ICL_TRY(add_time(table, "t_loss", result->t_loss, err));
    ICL_TRY(icl_table_meta(table, err, "outcome", "%s", icl_traj_outcome(result->outcome)));
    ICL_TRY(cmd_memory_mark(&line->params, result->y[ICL_S], table, err));
    if (isinf(result->y[ICL_BETA])) ICL_TRY(add_time(table, "blowup", result->t, err));
    return icl_params_meta(&line->params, table, err);
}

/* --check: the same at a tenth of the tolerance. */
static enum icl_status check(const struct cmd_line *line, const struct icl_traj_result *result, struct icl_err *err) {
    struct icl_params finer = line->params;
    struct icl_traj_result fine;
    struct icl_traj *traj;
    icl_predict_refine(&finer);
    ICL_TRY(icl_traj_alloc(&traj, &finer, finer.theory.level, finer.task.K, err));
    const enum icl_status status =
        icl_traj_run(traj, finer.init.w, finer.init.beta, ICL_TRAJ_TO_END, NULL, NULL, &fine, err);
    icl_traj_free(traj);
    if (status != ICL_OK) return status;
    enum { ERRORS = 3 };
    const double seen[ERRORS] = {result->t_icl, result->t_iwl, result->t_loss};
    const double finer_seen[ERRORS] = {fine.t_icl, fine.t_iwl, fine.t_loss};
    const char *const name[ERRORS] = {"t_icl", "t_iwl", "t_loss"};
    for (size_t i = 0; i < ERRORS; i++)
        if (!isinf(seen[i]) || !isinf(finer_seen[i]))
            cmd_remark(line, "%s = %.10g, numerical error %.1e", name[i], seen[i], fabs(seen[i] - finer_seen[i]));
    cmd_remark(line, "at the end w = %.10g, numerical error %.1e; beta = %.10g, numerical error %.1e", result->y[ICL_W],
               fabs(result->y[ICL_W] - fine.y[ICL_W]), result->y[ICL_BETA],
               fabs(result->y[ICL_BETA] - fine.y[ICL_BETA]));
    return ICL_OK;
}

enum icl_status cmd_trajectory(const struct cmd_line *line, struct icl_err *err) {
    const struct icl_params *p = &line->params;
    struct writer writer = {.params = p};
    struct icl_traj *traj = NULL;
    struct icl_traj_result result;
    enum icl_status status = icl_table_alloc(&writer.table, COLUMNS, columns, err);
    if (status == ICL_OK) status = icl_gauge_alloc(&writer.gauge, p, p->theory.level, p->task.K, true, err);
    if (status == ICL_OK) status = icl_traj_alloc(&traj, p, p->theory.level, p->task.K, err);
    if (status == ICL_OK)
        status = icl_traj_run(traj, p->init.w, p->init.beta, ICL_TRAJ_TO_END, write_row, &writer, &result, err);
    if (status == ICL_OK) status = add_head(line, writer.table, &result, err);
    if (status == ICL_OK) status = icl_table_write(writer.table, line->output, err);
    if (status == ICL_OK && line->check) status = check(line, &result, err);
    icl_traj_free(traj);
    icl_gauge_free(writer.gauge);
    icl_table_free(writer.table);
    return status;
}
