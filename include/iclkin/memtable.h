/* memtable.h -- memorization as measured: the table that `calibrate` writes (M1), (M2), (M4).
 *
 * Fails    read: ICL_EIO; ICL_EUSAGE, naming file, place and value, for a file that is cut short, lacks a K, holds a
 * NaN or a clock that does not rise, or contradicts itself. Owns     what it read, until icl_memtable_free. Threads  a
 * loaded table is read-only: one serves all.
 */
#ifndef ICLKIN_MEMTABLE_H
#define ICLKIN_MEMTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/params.h"

enum { ICL_MEMTABLE_QUANTILES = 64, ICL_MEMTABLE_OFFSETS = 8 };

struct icl_memtable;

/* What the table's header says of its law (T8). */
struct icl_memtable_fit {
    double nu, nu_error, A, A_error;
};

enum icl_status icl_memtable_read(struct icl_memtable **table, const char *path, struct icl_err *err) ICL_MUST_CHECK;
void icl_memtable_free(struct icl_memtable *table);

/* ICL_EUSAGE where the table was measured with another D, hidden, input_scale, items or batch. */
enum icl_status icl_memtable_matches(const struct icl_memtable *table, const struct icl_params *params,
                                     struct icl_err *err) ICL_MUST_CHECK;
const char *icl_memtable_path(const struct icl_memtable *table);
void icl_memtable_range(const struct icl_memtable *table, double *least, double *most);
const struct icl_memtable_fit *icl_memtable_law(const struct icl_memtable *table);
/* The logit offsets whose response was measured, rising from 0; returns how many. */
size_t icl_memtable_offsets(const struct icl_memtable *table, const double **offset);

#endif
