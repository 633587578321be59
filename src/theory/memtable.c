#include "theory/memtable.h"

#include <math.h>

#include "base/mem.h"

void icl_memtable_free(struct icl_memtable *table) {
    if (!table) return;
    icl_mem_free(table->lnK);
    icl_mem_free(table->lnend);
    icl_mem_free(table->excess);
    icl_mem_free(table->p);
    icl_mem_free(table->u);
    icl_mem_free(table->weight);
    icl_mem_free(table->offset);
    icl_mem_free(table->cell);
    icl_mem_free(table->lnI);
    icl_spline_free(table->spline);
    icl_mem_free(table);
}

double icl_memtable_coordinate(double u) {
    return log1p(ICL_MEMTABLE_RESOLVED * u);
}

enum icl_status icl_memtable_spline(struct icl_spline **spline, size_t n, const double *x, struct icl_err *err) {
    enum { most = 14, points_a_break = 3 };
    const size_t room = n >= ICL_MEMTABLE_ORDER ? n - ICL_MEMTABLE_ORDER + 2 : 0; /* no more coefficients than points */
    size_t breaks = n / points_a_break;
    if (breaks > most) breaks = most;
    if (breaks > room) breaks = room;
    return icl_spline_alloc(spline, n, x, ICL_MEMTABLE_ORDER, breaks > 2 ? breaks : 2, err);
}

static enum icl_status differs(const struct icl_memtable *table, const char *what, double seen, double wanted,
                               struct icl_err *err) {
    const double typed = 1e-5; /* sqrt(63) need not be typed to the last digit */
    if (seen == wanted || fabs(seen - wanted) <= typed * fabs(seen)) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "memory.table = %s: measured with %s = %g, the parameters say %g", table->path,
                   what, seen, wanted);
}

enum icl_status icl_memtable_matches(const struct icl_memtable *table, const struct icl_params *params,
                                     struct icl_err *err) {
    static const char *const names[] = {"gaussian", "unit"};
    ICL_TRY(differs(table, "task.D", table->D, params->task.D, err));
    ICL_TRY(differs(table, "sim.hidden", table->hidden, (double)params->sim.hidden, err));
    ICL_TRY(differs(table, "sim.input_scale", table->input_scale, params->sim.input_scale, err));
    ICL_TRY(differs(table, "train.batch", table->batch, (double)params->train.batch, err));
    if (table->items == params->task.items) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "memory.table = %s: measured with task.items = %s, the parameters say %s",
                   table->path, names[table->items], names[params->task.items]);
}

const char *icl_memtable_path(const struct icl_memtable *table) {
    return table->path;
}

void icl_memtable_range(const struct icl_memtable *table, double *least, double *most) {
    *least = round(exp(table->lnK[0]));
    *most = round(exp(table->lnK[table->sizes - 1]));
}

const struct icl_memtable_fit *icl_memtable_law(const struct icl_memtable *table) {
    return &table->fit;
}

size_t icl_memtable_offsets(const struct icl_memtable *table, const double **offset) {
    *offset = table->offset;
    return table->offsets;
}
