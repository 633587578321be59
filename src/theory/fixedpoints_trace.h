/* fixedpoints_trace.h -- one branch of fixed points by pseudo-arclength continuation (Keller); private to theory.
 *
 *   F(w, beta, x) = 0,  z = (w, beta, v),  v = SPAN (x - lo)/(hi - lo), or of log x
 *
 * The step predicts along the unit tangent t and corrects in the plane across it; v's part of t changes sign at a fold.
 * Stations are values of x at which the branch gets a row: the axis' own, and others at which it was looked for.
 */
#ifndef ICLKIN_FIXEDPOINTS_TRACE_H
#define ICLKIN_FIXEDPOINTS_TRACE_H

#include "theory/fixedpoints_field.h"

struct icl_fixedpoints_trace_station {
    double v, x;
};

struct icl_fixedpoints_trace_spot {
    double z[3], t[3];
};

enum { ICL_FIXEDPOINTS_TRACE_NOWHERE = -1 };

struct icl_fixedpoints_trace_row {
    double y[2], x;
    int station; /* or NOWHERE */
    bool fold;
};

struct icl_fixedpoints_trace {
    struct icl_fixedpoints_field *field;
    const struct icl_axis *axis;
    const struct icl_fixedpoints_window *window;
    int stations;
    const struct icl_fixedpoints_trace_station *station; /* shape (stations), in order of v from 0 to SPAN */
    size_t count, size;
    struct icl_fixedpoints_trace_row *row; /* shape (count): what the last run wrote, in order along the branch */
    bool closed, stalled;                  /* the last run came back to its start; could not go on */
};

/* v of a point of the axis given as a share 0..1 of it, and x there. */
double icl_fixedpoints_trace_v(double share);
double icl_fixedpoints_trace_x(const struct icl_axis *axis, double share);

/* From the fixed point y at a station in the direction (+1, -1) of v, to an end of the axis or the window's edge: rows
 * without that of the start. */
enum icl_status icl_fixedpoints_trace_run(struct icl_fixedpoints_trace *trace, const double y[2], int station,
                                          int direction, struct icl_err *err) ICL_MUST_CHECK;

#endif
