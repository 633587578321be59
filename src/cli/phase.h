/* phase.h -- the state of one `phase` command, shared by its grid, boundary and adaptive ways. */
#ifndef ICLKIN_CLI_PHASE_H
#define ICLKIN_CLI_PHASE_H

#include "cli/cmd.h"
#include "iclkin/phase.h"

enum phase_mode { PHASE_GRID, PHASE_ADAPT, PHASE_BOUNDARY };

struct phase {
    const struct icl_params *params;
    struct icl_axis axis[ICL_PHASE_AXES];
    size_t axes;
    enum phase_mode mode;
    struct cmd_sink sink;
    struct cmd_progress progress;
    const volatile sig_atomic_t *stop;
    struct cmd_text pending; /* rows not written yet: a write for each would take a tenth of a core */
    size_t skip, solves, failed;
};

/* One row of a grid, with `status` in its last column. */
enum icl_status cmd_phase_row(const struct phase *phase, const struct icl_phase_cell *cell, const char *status,
                              struct cmd_text *text, struct icl_err *err);

/* --adapt: rectangles whose corners agree are filled in, the others are split. kept: the rows solved by an earlier run
 * that was stopped, or NULL. */
enum icl_status cmd_phase_adapt(struct phase *phase, char *kept, struct icl_err *err);

#endif
