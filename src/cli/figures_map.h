/* figures_map.h -- a grid of outcomes over two parameters, and the curves drawn over it.
 *
 * Boundaries are marching squares over the grid's points, with every vertex found by root finding on its edge, so that
 * they do not know how coarse the grid is. Columns of the table: curve, the two parameters, x_lo x_hi y_lo y_hi (the
 * cell's box), class t_icl outcome.
 */
#ifndef ICLKIN_CLI_FIGURES_MAP_H
#define ICLKIN_CLI_FIGURES_MAP_H

#include "cli/figures.h"
#include "iclkin/phase.h"

enum { MAP_AXES = ICL_PHASE_AXES };

struct figures_edge;

struct figures_map {
    const struct icl_params *params;
    struct cmd_progress *progress;
    struct icl_table *table;
    struct icl_axis axis[MAP_AXES];
    size_t n[MAP_AXES];
    struct icl_phase_cell *cell; /* shape (n[1], n[0]) */
    struct figures_edge *edge;   /* those along x, row by row, then those along y, row by row */
    double time;                 /* of the curve that is traced */
    const char *curve;
};

/* Solves the cells, on all threads. */
enum icl_status figures_map_solve(struct figures_map *map, struct icl_err *err) ICL_MUST_CHECK;
void figures_map_free(struct figures_map *map);

/* Place `at` of an axis, between its points too. */
double figures_map_place(const struct icl_axis *axis, double at);

/* A row that is no cell: its box is empty. */
enum icl_status figures_map_add_point(const struct figures_map *map, const char *curve, double x, double y,
                                      double class_, double t, const char *outcome, struct icl_err *err) ICL_MUST_CHECK;
/* Adds, in segments, the curve on which ICL is acquired by the time given: K*(..) for t_max, a contour of t_icl for a
 * shorter one; and for t_max the curve `lost`, on which it is lost again by then. An edge on which no root can be found
 * leaves a gap. */
enum icl_status figures_map_trace(struct figures_map *map, double time, const char *curve,
                                  struct icl_err *err) ICL_MUST_CHECK;

#endif
