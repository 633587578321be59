/* memlaw.h -- how far the MLP has memorized at its clock s: a law, and what it says at one s.
 *
 *   c1 = <sigma(-phi_+)>, c2 = 1 - <sigma(-phi_+)^2>/c1, c3 = <exp(-phi_+)>, I_K = int_0^s c1 ds'        (T1), (M1)
 *   powerlaw: c1 = (1/2) (1 + s/((p-1)T))^-p, T = 2 A K^nu, so that I_K(inf) = T/2 = A K^nu            (M2), (T8)
 *   table: measured classes of phi_+, of which c1, c2 and c3 are averages (memtable.h)
 *
 * s        clock of the MLP [t], >= 0
 * phi_+    signed logit of a training item; an average over quantiles with weights that sum to 1
 * v        variance of the logit on novel items (0 where all items are alike)
 * Fails    law table: ICL_EUSAGE where none was read, where it was measured with another network, or where K lies
 *          outside it and memory.extrapolate = no.
 * Owns     with law table its curves, until icl_memlaw_free; the table itself is its caller's. Threads: read-only.
 */
#ifndef ICLKIN_MEMLAW_H
#define ICLKIN_MEMLAW_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/memtable.h"
#include "iclkin/params.h"

enum { ICL_MEMLAW_QUANTILES = ICL_MEMTABLE_QUANTILES };

struct icl_memcurve;

struct icl_memlaw {
    enum icl_law law;
    double c1, c2;   /* none, constant: the frozen values */
    double scale, p; /* powerlaw: (p - 1) T and p */
    double budget;   /* I_K(inf) [t]; infinite for none and constant */
    double end;      /* the s beyond which it says nothing: the end of a table that is not to be extrapolated */
    struct icl_memcurve *curve; /* table: what was measured, at this K; owned */
    bool responds;              /* table: with its response to a logit offset */
    bool spreads;               /* table: v is as measured, else 0 */
};

/* The response to a logit offset o (M4): 1 + sum_m P_m(min(max(o - start_m, 0), width_m)), P_m(u) = rise_m[0] u +
 * rise_m[1] u^2 + rise_m[2] u^3: cubics with even slopes, 1 for o <= 0, held beyond the last offset. */
struct icl_memlaw_response {
    size_t pieces; /* 0: 1 everywhere, the plain closure (M3) */
    double start[ICL_MEMTABLE_OFFSETS], width[ICL_MEMTABLE_OFFSETS];
    double rise[ICL_MEMTABLE_OFFSETS][3];
    double slope[ICL_MEMTABLE_OFFSETS][3]; /* d rise/ds */
};

/* The two numbers that the reduced dynamics needs, and their slopes in s. */
struct icl_memlaw_rates {
    double c1, c2, dc1, dc2;
};

struct icl_memlaw_state {
    double c1, c2, c3, v;
    size_t quantiles;
    double phi[ICL_MEMLAW_QUANTILES];    /* shape (quantiles) */
    double weight[ICL_MEMLAW_QUANTILES]; /* shape (quantiles), sums to 1 */
    double slope[ICL_MEMLAW_QUANTILES];  /* dphi/ds, shape (quantiles) */
    struct icl_memlaw_response response;
};

/* The law of the parameters at K training items (any real K >= 2; K infinite: none). */
enum icl_status icl_memlaw_init(const struct icl_params *params, double K, struct icl_memlaw *law,
                                struct icl_err *err) ICL_MUST_CHECK;

void icl_memlaw_free(struct icl_memlaw *law);

void icl_memlaw_rates(const struct icl_memlaw *law, double s, struct icl_memlaw_rates *rates);
/* The largest c1 and the smallest c2 from s on: those at s but for a table. */
void icl_memlaw_bounds(const struct icl_memlaw *law, double s, double *c1, double *c2);
void icl_memlaw_state(const struct icl_memlaw *law, double s, struct icl_memlaw_state *state);
/* I_K(s), and its inverse (infinite where I_K never gets there). */
double icl_memlaw_budget(const struct icl_memlaw *law, double s);
double icl_memlaw_clock(const struct icl_memlaw *law, double budget);
/* The first s at which c1 <= level (infinite where it never is). */
double icl_memlaw_reach(const struct icl_memlaw *law, double level);
/* The response and its derivatives in o and in s. */
double icl_memlaw_respond(const struct icl_memlaw_response *response, double o, double *by_offset, double *by_clock);
/* Whether a table's K or clock was left behind (memory.extrapolate = yes): what, as "K = 300"; NULL: neither. */
const char *icl_memlaw_beyond(const struct icl_memlaw *law, double K, double s, char buffer[ICL_TEXT_SIZE]);
/* Whether all items are alike: one quantile, and t_iwl read off c1 (O2). */
bool icl_memlaw_alike(const struct icl_memlaw *law);
/* ICL_ERANGE where s lies beyond law->end. */
enum icl_status icl_memlaw_check(const struct icl_memlaw *law, double s, struct icl_err *err) ICL_MUST_CHECK;
/* The K that the law of the parameters holds for: 2 to 1e15, or the table's. */
void icl_memlaw_range(const struct icl_params *params, double *least, double *most);
/* The K at which I_K(inf) = budget (T8); 0 where every K has more, infinite where none has, NaN where it lies outside a
 * table that is not to be extrapolated. */
double icl_memlaw_items(const struct icl_params *params, double budget);

#endif
