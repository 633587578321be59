/* memtable_read.c -- a table as calibrate wrote it: read, and believed only where it agrees with itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "theory/memtable.h"

enum column { OFFSET, K, S, C1, I, V, RESPONSE, FIXED }; /* then phi_1, phi_2, ... */
static const char *const names[FIXED] = {"offset", "K", "s", "c1", "I", "v", "response"};

struct reader {
    const struct icl_table *source;
    struct icl_memtable *table;
    size_t column[FIXED + ICL_MEMTABLE_QUANTILES];
    size_t row;    /* the next one */
    double *size;  /* K, shape (sizes) */
    double *total; /* I_K(inf), shape (sizes) */
    double *s;     /* the clocks of a size, shape (clocks) */
    double *x;     /* shape (clocks) */
    double *cell;  /* shape (sizes, clocks, fields) */
};

/* The numbers of a header line, into a block of its own; *n is how many, or how many there must be where not 0. */
static enum icl_status numbers(const struct reader *r, const char *key, size_t *n, double **value,
                               struct icl_err *err) {
    const char *text = icl_table_get_meta(r->source, key);
    size_t count = 0;
    if (!text) return ICL_ERR(err, ICL_EUSAGE, "no \"%s\" in its header: not a table that calibrate wrote", key);
    ICL_TRY(icl_mem_alloc(value, strlen(text) / 2 + 1, sizeof **value, err));
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char word[ICL_NUMBER_SIZE];
        const size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (!icl_number_parse(word, &(*value)[count]) || !isfinite((*value)[count]))
            return ICL_ERR(err, ICL_EUSAGE, "\"%s\" in its header: \"%s\" is no number", key, word);
        count++;
        at += length;
    }
    if (count == 0 || (*n > 0 && count != *n))
        return ICL_ERR(err, ICL_EUSAGE, "\"%s\" in its header: %zu numbers instead of %zu", key, count,
                       *n > 0 ? *n : 1);
    *n = count;
    return ICL_OK;
}

static enum icl_status number(const struct reader *r, const char *key, double *value, struct icl_err *err) {
    const char *text = icl_table_get_meta(r->source, key);
    if (!text) return ICL_ERR(err, ICL_EUSAGE, "no \"%s\" in its header: not a table that calibrate wrote", key);
    if (!icl_number_parse(text, value)) return ICL_ERR(err, ICL_EUSAGE, "\"%s\" in its header: %s", key, text);
    return ICL_OK;
}

/* What was trained, and the fit, which one size or one seed leaves without errors. */
static enum icl_status read_setting(struct reader *r, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    ICL_TRY(number(r, "task.D", &t->D, err));
    ICL_TRY(number(r, "sim.hidden", &t->hidden, err));
    ICL_TRY(number(r, "sim.input_scale", &t->input_scale, err));
    ICL_TRY(number(r, "train.batch", &t->batch, err));
    const char *items = icl_table_get_meta(r->source, "task.items");
    if (!items || (strcmp(items, "gaussian") != 0 && strcmp(items, "unit") != 0))
        return ICL_ERR(err, ICL_EUSAGE, "\"task.items\" in its header: %s", items ? items : "missing");
    t->items = strcmp(items, "unit") == 0 ? ICL_ITEMS_UNIT : ICL_ITEMS_GAUSSIAN;
    ICL_TRY(number(r, "nu", &t->fit.nu, err));
    ICL_TRY(number(r, "nu_error", &t->fit.nu_error, err));
    ICL_TRY(number(r, "A", &t->fit.A, err));
    return number(r, "A_error", &t->fit.A_error, err);
}

static enum icl_status read_lists(struct reader *r, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    double clocks, sum = 0;
    ICL_TRY(numbers(r, "K", &t->sizes, &r->size, err));
    ICL_TRY(numbers(r, "I_K_inf", &t->sizes, &r->total, err));
    ICL_TRY(numbers(r, "tail_p", &t->sizes, &t->p, err));
    ICL_TRY(numbers(r, "weight", &t->quantiles, &t->weight, err));
    ICL_TRY(numbers(r, "offsets", &t->offsets, &t->offset, err));
    ICL_TRY(number(r, "clocks", &clocks, err));
    if (!(clocks >= 8 && clocks <= 1e6)) return ICL_ERR(err, ICL_EUSAGE, "\"clocks\" in its header: %g", clocks);
    t->clocks = (size_t)clocks;
    if (t->quantiles > ICL_MEMTABLE_QUANTILES)
        return ICL_ERR(err, ICL_EUSAGE, "\"weight\" in its header: more than %d", ICL_MEMTABLE_QUANTILES);
    for (size_t o = 0; o < t->offsets; o++)
        if (o == 0 ? t->offset[o] != 0 : !(t->offset[o] > t->offset[o - 1]))
            return ICL_ERR(err, ICL_EUSAGE, "\"offsets\" in its header: %g; they must rise from 0", t->offset[o]);
    if (t->offsets > ICL_MEMTABLE_OFFSETS)
        return ICL_ERR(err, ICL_EUSAGE, "\"offsets\" in its header: more than %d", ICL_MEMTABLE_OFFSETS);
    for (size_t q = 0; q < t->quantiles; q++) {
        if (!(t->weight[q] > 0)) return ICL_ERR(err, ICL_EUSAGE, "\"weight\" in its header: %g", t->weight[q]);
        sum += t->weight[q];
    }
    if (fabs(sum - 1) > 1e-9) return ICL_ERR(err, ICL_EUSAGE, "\"weight\" in its header: the sum is %.12g, not 1", sum);
    for (size_t k = 0; k < t->sizes; k++) {
        if (!(r->size[k] >= 2) || (k > 0 && !(r->size[k] > r->size[k - 1])))
            return ICL_ERR(err, ICL_EUSAGE, "\"K\" in its header: %g out of place", r->size[k]);
        if (!(t->p[k] > 1)) return ICL_ERR(err, ICL_EUSAGE, "\"tail_p\" in its header: %g; must exceed 1", t->p[k]);
    }
    return ICL_OK;
}

static enum icl_status find_columns(struct reader *r, struct icl_err *err) {
    for (size_t i = 0; i < FIXED; i++) ICL_TRY(icl_table_find(r->source, names[i], &r->column[i], err));
    for (size_t q = 0; q < r->table->quantiles; q++) {
        char name[ICL_NUMBER_SIZE];
        snprintf(name, sizeof name, "phi_%zu", q + 1);
        ICL_TRY(icl_table_find(r->source, name, &r->column[FIXED + q], err));
    }
    return ICL_OK;
}

static double value(const struct reader *r, size_t column) {
    return icl_table_value(r->source, r->row, r->column[column]);
}

/* One row into its cell. c1 must be the average over the classes: a cell that lost digits shows. */
static enum icl_status take(const struct reader *r, size_t k, size_t j, double before, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    double *cell = r->cell + (k * t->clocks + j) * t->fields, c1 = 0;
    const double least_v = 1e-9; /* far below what an untrained MLP has */
    char number[ICL_NUMBER_SIZE];
    const double size = r->size[k], s = value(r, S), I_K = value(r, I), seen = value(r, C1);
    for (size_t i = OFFSET; i < FIXED + t->quantiles; i++)
        if (!isfinite(value(r, i)))
            return ICL_ERR(err, ICL_EUSAGE, "K = %g, s = %g: %s is %s", size, s,
                           icl_table_column_name(r->source, r->column[i]), icl_table_number(value(r, i), number));
    if (j == 0 ? s != 0 : !(s > r->s[j - 1]))
        return ICL_ERR(err, ICL_EUSAGE, "K = %g: the clock s = %g after %g: it must rise from 0", size, s,
                       j > 0 ? r->s[j - 1] : 0);
    if (j > 0 && !(I_K > before))
        return ICL_ERR(err, ICL_EUSAGE, "K = %g, s = %g: I = %g after %g: it must rise", size, s, I_K, before);
    if (!(value(r, V) >= 0)) return ICL_ERR(err, ICL_EUSAGE, "K = %g, s = %g: v = %g", size, s, value(r, V));
    r->s[j] = s;
    for (size_t q = 0; q < t->quantiles; q++) {
        cell[ICL_MEMTABLE_PHI + q] = value(r, FIXED + q);
        c1 += t->weight[q] / (1 + exp(value(r, FIXED + q)));
    }
    if (!(fabs(c1 - seen) <= 1e-6 * seen))
        return ICL_ERR(err, ICL_EUSAGE, "K = %g, s = %g: c1 = %g, but phi_1, phi_2, ... average to %g: damaged", size,
                       s, seen, c1);
    cell[ICL_MEMTABLE_LNV] = log(fmax(value(r, V), least_v));
    cell[ICL_MEMTABLE_LNI] = j > 0 ? log(I_K / s) : log(seen);
    return ICL_OK;
}

static enum icl_status take_size(struct reader *r, size_t k, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    double before = 0;
    char number[ICL_NUMBER_SIZE];
    for (size_t j = 0; j < t->clocks; j++, r->row++) {
        const bool there = r->row < icl_table_rows(r->source) && !(value(r, OFFSET) != 0 && isfinite(value(r, OFFSET)));
        if (there && isfinite(value(r, K)) && value(r, K) == r->size[k]) {
            ICL_TRY(take(r, k, j, before, err));
            before = value(r, I);
            continue;
        }
        if (there && !isfinite(value(r, K)))
            return ICL_ERR(err, ICL_EUSAGE, "after K = %g, s = %g: K is %s", r->size[k], j > 0 ? r->s[j - 1] : 0,
                           icl_table_number(value(r, K), number));
        return ICL_ERR(err, ICL_EUSAGE, "K = %g is missing: %zu of its %zu clocks are there", r->size[k], j, t->clocks);
    }
    t->lnK[k] = log(r->size[k]);
    if (!(r->total[k] >= before))
        return ICL_ERR(err, ICL_EUSAGE, "\"I_K_inf\" in its header: %g, below I = %g at the last s of K = %g",
                       r->total[k], before, r->size[k]);
    t->excess[k] = log(r->total[k] / before);
    return ICL_OK;
}

/* The clocks of every size are the same fractions of its last. */
static enum icl_status take_clocks(const struct reader *r, size_t k, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    const double end = r->s[t->clocks - 1], rounding = 1e-9;
    t->lnend[k] = log(end);
    for (size_t j = 0; j < t->clocks; j++) {
        if (k == 0) t->u[j] = r->s[j] / end;
        if (fabs(r->s[j] / end - t->u[j]) > rounding)
            return ICL_ERR(err, ICL_EUSAGE,
                           "K = %g: the clock s = %g is %.9g of the last, where K = %g has %.9g: it must be the same",
                           r->size[k], r->s[j], r->s[j] / end, r->size[0], t->u[j]);
        r->x[j] = icl_memtable_coordinate(t->u[j]);
    }
    return ICL_OK;
}

/* A row of the response to offset o. */
static enum icl_status take_response(const struct reader *r, size_t o, size_t k, size_t j, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    const double offset = t->offset[o], size = r->size[k], s = t->u[j] * exp(t->lnend[k]), rounding = 1e-9;
    if (r->row >= icl_table_rows(r->source) || value(r, OFFSET) != offset || value(r, K) != size ||
        !(fabs(value(r, S) - s) <= rounding * s))
        return ICL_ERR(err, ICL_EUSAGE, "offset = %g, K = %g is missing: %zu of its %zu clocks are there", offset, size,
                       j, t->clocks);
    const double response = value(r, RESPONSE);
    char number[ICL_NUMBER_SIZE];
    if (!(response > 0 && isfinite(response)))
        return ICL_ERR(err, ICL_EUSAGE, "offset = %g, K = %g, s = %g: response is %s", offset, size, s,
                       icl_table_number(response, number));
    r->cell[(k * t->clocks + j) * t->fields + ICL_MEMTABLE_PHI + t->quantiles + o - 1] = log(response);
    return ICL_OK;
}

static enum icl_status allocate(struct reader *r, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    t->fields = ICL_MEMTABLE_PHI + t->quantiles + t->offsets - 1;
    ICL_TRY(icl_mem_alloc(&t->lnK, t->sizes, sizeof *t->lnK, err));
    ICL_TRY(icl_mem_alloc(&t->lnend, t->sizes, sizeof *t->lnend, err));
    ICL_TRY(icl_mem_alloc(&t->excess, t->sizes, sizeof *t->excess, err));
    ICL_TRY(icl_mem_alloc(&t->u, t->clocks, sizeof *t->u, err));
    ICL_TRY(icl_mem_alloc(&t->lnI, t->sizes, sizeof *t->lnI, err));
    ICL_TRY(icl_mem_alloc(&r->x, t->clocks, sizeof *r->x, err));
    ICL_TRY(icl_mem_alloc(&r->s, t->clocks, sizeof *r->s, err));
    return icl_mem_alloc(&r->cell, t->sizes * t->clocks, t->fields * sizeof *r->cell, err);
}

/* The splines of all fields. */
static enum icl_status fit(const struct reader *r, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    ICL_TRY(icl_memtable_spline(&t->spline, t->clocks, r->x, err));
    t->coefs = icl_spline_coefs(t->spline);
    ICL_TRY(icl_mem_alloc(&t->cell, t->sizes * t->fields, t->coefs * sizeof *t->cell, err));
    for (size_t k = 0; k < t->sizes; k++) {
        const double *cell = r->cell + k * t->clocks * t->fields;
        t->lnI[k] = cell[(t->clocks - 1) * t->fields + ICL_MEMTABLE_LNI];
        for (size_t i = 0; i < t->fields; i++)
            ICL_TRY(icl_spline_solve(t->spline, cell + i, t->fields, t->cell + (k * t->fields + i) * t->coefs, err));
    }
    return ICL_OK;
}

static enum icl_status read_all(struct reader *r, struct icl_err *err) {
    struct icl_memtable *t = r->table;
    ICL_TRY(read_setting(r, err));
    ICL_TRY(read_lists(r, err));
    ICL_TRY(find_columns(r, err));
    ICL_TRY(allocate(r, err));
    for (size_t k = 0; k < t->sizes; k++) {
        ICL_TRY(take_size(r, k, err));
        ICL_TRY(take_clocks(r, k, err));
    }
    for (size_t o = 1; o < t->offsets; o++)
        for (size_t k = 0; k < t->sizes; k++)
            for (size_t j = 0; j < t->clocks; j++, r->row++) ICL_TRY(take_response(r, o, k, j, err));
    if (r->row < icl_table_rows(r->source))
        return ICL_ERR(err, ICL_EUSAGE, "more rows than its header's offsets, K and clocks: K = %g", value(r, K));
    return fit(r, err);
}

enum icl_status icl_memtable_read(struct icl_memtable **table, const char *path, struct icl_err *err) {
    struct icl_table *source = NULL;
    struct reader reader = {.row = 0};
    *table = NULL;
    enum icl_status status = icl_table_read(&source, path, err);
    if (status == ICL_OK) status = icl_mem_alloc(table, 1, sizeof **table, err);
    if (status != ICL_OK) goto done;
    snprintf((*table)->path, sizeof(*table)->path, "%s", path);
    reader.source = source;
    reader.table = *table;
    status = read_all(&reader, err);
    if (status == ICL_EUSAGE) status = icl_err_context(err, status, "%s", path);
done:
    icl_mem_free(reader.size);
    icl_mem_free(reader.total);
    icl_mem_free(reader.s);
    icl_mem_free(reader.x);
    icl_mem_free(reader.cell);
    icl_table_free(source);
    if (status == ICL_OK) return ICL_OK;
    icl_memtable_free(*table);
    *table = NULL;
    return icl_err_context(err, status, "memory.table");
}
