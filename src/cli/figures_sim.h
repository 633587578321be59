/* figures_sim.h -- what the figures of theory over simulation share: trajectories as rows of a simulation, and one run.
 */
#ifndef ICLKIN_CLI_FIGURES_SIM_H
#define ICLKIN_CLI_FIGURES_SIM_H

#include "cli/drive.h"
#include "cli/figures.h"
#include "iclkin/gauge.h"
#include "iclkin/traj.h"

struct figures_theory {
    struct icl_gauge *gauge;
    double lr;
    enum icl_status (*take)(const double row[ICL_TRAIN_COLUMNS], void *context, struct icl_err *err);
    void *context;
};

/* Solves at theory.level and gives every row to theory->take; at least 401 rows: they are drawn as a line. */
enum icl_status figures_sim_solve(const struct icl_params *params, struct figures_theory *theory,
                                  struct icl_traj_result *result, struct icl_err *err) ICL_MUST_CHECK;
/* One run with its rows; the caller frees the drive, whatever the status. */
enum icl_status figures_sim_simulate(const struct icl_params *params, struct cmd_progress *progress,
                                     struct drive *drive, struct icl_err *err) ICL_MUST_CHECK;
/* What the simulated network is, for the picture to say. */
const char *figures_sim_model(const struct icl_params *params);

#endif
