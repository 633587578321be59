/* validate.h -- an ensemble of simulated runs against theory at every level, one row a compared number.
 *
 * run      one simulated run: its x, its start, its times (O2) and outcome (O3); `state` holds what it was at the times
 *          that the list asks for
 * theory   solved from each run's own start (counterpart.h); K* from the setting's start
 * rows     by point, entry, level; the level theory.level is judged, the others are shown
 * Fails    ICL_ENOMEM, ICL_EUSAGE, what the sink returns. What theory cannot compute is NaN, its verdict open, and
 *          `trouble` says why (the first).
 * Threads  no shared state.
 * Cost     a solve a run and level where starts are drawn, else one a point and level.
 */
#ifndef ICLKIN_VALIDATE_H
#define ICLKIN_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iclkin/counterpart.h"
#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/quantity.h"
#include "iclkin/stats.h"

struct icl_validate_run {
    double x; /* the x axis's parameter; NaN without one */
    uint64_t seed;
    double w0, beta0;
    double times[ICL_COUNTERPART_TIMES]; /* infinite: not by t_max; NaN: not known */
    enum icl_outcome outcome;
    size_t row; /* where the caller has it */
};

struct icl_validate_ensemble {
    const struct icl_params *params; /* without the x axis */
    const struct icl_param *axis;    /* of x, or NULL */
    bool log;                        /* whether the axis is */
    double y;                        /* the value that the y axis has in params; NaN without one */
    const struct icl_quantity_list *list;
    size_t runs;
    const struct icl_validate_run *run; /* shape (runs), by x */
    size_t states;                      /* entries of the list of kind STATE */
    const double *state;                /* shape (runs, states), in the list's order */
};

struct icl_validate_row {
    const struct icl_quantity_entry *entry;
    enum icl_level level;
    double y, x;           /* NaN: of all of them */
    size_t runs, censored; /* those it comes from; those of them that never reach what is asked for */
    struct icl_stats stats;
    bool judged;
    enum icl_stats_verdict verdict;
    const double *s, *h; /* SPREAD, while the sink runs: t_icl of each run, simulated and by theory; else NULL */
};
typedef enum icl_status icl_validate_sink(const struct icl_validate_row *row, void *context, struct icl_err *err);

/* K* of one ensemble, for lines along the y axis. */
struct icl_validate_items {
    double y, K_star, error, theory[ICL_LEVEL_COUNT];
    size_t runs;
};

/* All rows but those of SLOPE_Y. items (NULL: not wanted) receives K*. */
enum icl_status icl_validate_rows(const struct icl_validate_ensemble *ensemble, icl_validate_sink *sink, void *context,
                                  struct icl_validate_items *items, struct icl_err *trouble,
                                  struct icl_err *err) ICL_MUST_CHECK;
/* Those of SLOPE_Y, through n ensembles. */
enum icl_status icl_validate_lines(const struct icl_params *params, const struct icl_quantity_list *list, size_t n,
                                   const struct icl_validate_items *items, icl_validate_sink *sink, void *context,
                                   struct icl_err *err) ICL_MUST_CHECK;

#endif
