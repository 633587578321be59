/* calibrate_table.c -- the two files of `calibrate`: the runs, row by row, and the table made of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "cli/calibrate.h"
#include "iclkin/train.h"

enum { CLASSES = ICL_CALIBRATE_CLASSES, LEADING = 8, RAW = LEADING + CLASSES, NAME = 16 };
/* offset K s t c1 c2 c3 I v response phi_1 ..., then the errors */
enum { BEFORE = 10, COLUMNS = BEFORE + CLASSES + 2 };

struct names {
    char phi[CLASSES][NAME];
};

static void name_classes(struct names *names, struct icl_column *column) {
    for (size_t j = 0; j < CLASSES; j++) {
        snprintf(names->phi[j], NAME, "phi_%zu", j + 1);
        column[j] = (struct icl_column){names->phi[j], "1"};
    }
}

static enum icl_status list(struct icl_table *table, const char *key, size_t n, const double *value,
                            struct icl_err *err) {
    struct cmd_text text = {0};
    char number[ICL_NUMBER_SIZE];
    enum icl_status status = ICL_OK;
    for (size_t i = 0; i < n && status == ICL_OK; i++)
        status = cmd_text_add(&text, err, "%s%s", i > 0 ? " " : "", icl_table_number(value[i], number));
    if (status == ICL_OK) status = icl_table_meta(table, err, key, "%s", n > 0 ? text.bytes : "");
    cmd_text_free(&text);
    return status;
}

/* The kernels that the runs use. */
static enum icl_status add_kernel(const struct calibrate *c, struct icl_table *table, struct icl_err *err) {
    const struct icl_params *p = &c->line->params;
    struct icl_train_setup setup = {.task = {.K = INFINITY, .N = 2, .D = 1, .copies = 1},
                                    .train = p->train,
                                    .observe = p->observe,
                                    .sim = p->sim,
                                    .model = ICL_TRAIN_MLP};
    struct icl_train_run *run;
    setup.train.batch = 1;
    ICL_TRY(icl_train_alloc(&run, &setup, err));
    const enum icl_status status = icl_table_meta(table, err, "kernel", "%s", icl_train_kernel(run));
    icl_train_free(run);
    return status;
}

enum icl_status cmd_calibrate_head(const struct calibrate *c, const char *command, struct icl_table *table,
                                   struct icl_err *err) {
    char spec[ICL_TEXT_SIZE];
    ICL_TRY(cmd_head(table, command, err));
    ICL_TRY(icl_table_meta(table, err, "axis.x", "%s", icl_axis_text(&c->axis, spec)));
    if (c->has_offsets) ICL_TRY(icl_table_meta(table, err, "axis.y", "%s", icl_axis_text(&c->offsets_axis, spec)));
    ICL_TRY(add_kernel(c, table, err));
    ICL_TRY(list(table, "K", c->sizes, c->K, err));
    ICL_TRY(list(table, "offsets", c->offsets, c->offset, err));
    ICL_TRY(icl_table_meta(table, err, "clocks", "%zu", c->clocks));
    ICL_TRY(list(table, "weight", CLASSES, c->weight, err));
    return icl_params_meta(&c->line->params, table, err);
}

enum icl_status cmd_calibrate_opening(const struct calibrate *c, struct cmd_text *head, struct icl_err *err) {
    struct icl_column column[RAW] = {{"offset", "1"}, {"K", "items"}, {"seed", "1"}, {"s", "lr x steps"},
                                     {"c1", "1"},     {"c2", "1"},    {"c3", "1"},   {"v", "1"}};
    struct names names;
    struct icl_table *table;
    const char *bytes;
    size_t length;
    name_classes(&names, column + LEADING);
    ICL_TRY(icl_table_alloc(&table, RAW, column, err));
    enum icl_status status = cmd_calibrate_head(c, "calibrate", table, err);
    if (status == ICL_OK) status = icl_table_text(table, &bytes, &length, err);
    if (status == ICL_OK) status = cmd_text_add(head, err, "%s", bytes);
    icl_table_free(table);
    return status;
}

enum icl_status cmd_calibrate_row(const struct calibrate *c, size_t index, size_t clock, struct cmd_text *text,
                                  struct icl_err *err) {
    const struct icl_calibrate_point *p = &c->point[index * c->clocks + clock];
    const struct calibrate_job job = cmd_calibrate_job(c, index);
    const double s = c->line->params.train.lr * (double)(c->begin[index] + cmd_calibrate_step(c, &job, clock));
    const double leading[LEADING] = {job.offset, job.K, (double)job.seed, s, p->c1, p->c2, p->c3, p->v};
    char number[ICL_NUMBER_SIZE];
    for (size_t i = 0; i < LEADING; i++)
        ICL_TRY(cmd_text_add(text, err, "%s%s", i > 0 ? "\t" : "", icl_table_number(leading[i], number)));
    for (size_t j = 0; j < CLASSES; j++) ICL_TRY(cmd_text_add(text, err, "\t%s", icl_table_number(p->phi[j], number)));
    return cmd_text_add(text, err, "\n");
}

/* One row's numbers; false where they are not the row that this job and clock have. */
static bool read_row(struct calibrate *c, size_t index, size_t clock, const char *row) {
    struct icl_calibrate_point *p = &c->point[index * c->clocks + clock];
    const struct calibrate_job job = cmd_calibrate_job(c, index);
    const double lr = c->line->params.train.lr, most = 1e15;
    double value[RAW];
    for (size_t i = 0; i < RAW; i++) {
        char cell[ICL_NUMBER_SIZE];
        const size_t length = strcspn(row, "\t\n");
        if (length >= sizeof cell) return false;
        memcpy(cell, row, length);
        cell[length] = '\0';
        if (!icl_number_parse(cell, &value[i])) return false;
        row += length + (row[length] != '\0' && i + 1 < RAW);
    }
    *p = (struct icl_calibrate_point){.c1 = value[4], .c2 = value[5], .c3 = value[6], .v = value[7]};
    for (size_t j = 0; j < CLASSES; j++) p->phi[j] = value[LEADING + j];
    if (job.offset != 0 && clock == 0 && value[3] >= 0 && value[3] / lr < most)
        c->begin[index] = (uint64_t)round(value[3] / lr);
    return (*row == '\n' || *row == '\0') && value[0] == job.offset && value[1] == job.K &&
           value[2] == (double)job.seed &&
           value[3] == lr * (double)(c->begin[index] + cmd_calibrate_step(c, &job, clock));
}

enum icl_status cmd_calibrate_restore(struct calibrate *c, const char *rows, size_t *jobs, struct icl_err *err) {
    size_t row = 0;
    const size_t most = cmd_calibrate_jobs(c) * c->clocks;
    for (const char *at = rows; *at; row++) {
        if (row == most || !read_row(c, row / c->clocks, row % c->clocks, at))
            return ICL_ERR(err, ICL_EUSAGE, "%s: row %zu is none of this calibration", c->path, row + 1);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *jobs = row / c->clocks;
    return ICL_OK;
}

/* Local exponents between neighbours, with their errors (T8). */
static enum icl_status add_exponents(const struct calibrate *c, const struct icl_calibrate_curve *curve,
                                     struct icl_table *table, struct icl_err *err) {
    const size_t n = c->sizes - 1;
    double *local = NULL;
    ICL_TRY(icl_mem_alloc(&local, 2 * n + 1, sizeof *local, err));
    for (size_t k = 0; k < n; k++) {
        const double apart = log(c->K[k + 1] / c->K[k]);
        local[k] = log(curve[k + 1].total / curve[k].total) / apart;
        local[n + k] =
            hypot(curve[k].total_error / curve[k].total, curve[k + 1].total_error / curve[k + 1].total) / apart;
    }
    enum icl_status status = list(table, "local_exponent", n, local, err);
    if (status == ICL_OK) status = list(table, "local_exponent_error", n, local + n, err);
    icl_mem_free(local);
    return status;
}

static enum icl_status add_totals(const struct calibrate *c, const struct icl_calibrate_curve *curve,
                                  struct icl_table *table, struct icl_err *err) {
    double *value = NULL;
    ICL_TRY(icl_mem_alloc(&value, 5 * c->sizes, sizeof *value, err));
    for (size_t k = 0; k < c->sizes; k++) {
        const double of[] = {curve[k].total, curve[k].total_error, curve[k].total - curve[k].I[c->clocks - 1],
                             curve[k].tail_error, curve[k].p};
        for (size_t i = 0; i < 5; i++) value[i * c->sizes + k] = of[i];
    }
    static const char *const key[] = {"I_K_inf", "I_K_inf_error", "tail", "tail_error", "tail_p"};
    enum icl_status status = ICL_OK;
    for (size_t i = 0; i < 5 && status == ICL_OK; i++)
        status = list(table, key[i], c->sizes, value + i * c->sizes, err);
    icl_mem_free(value);
    return status;
}

/* A warning stands in the header and on stderr. */
static enum icl_status warn(const struct calibrate *c, struct icl_table *table, struct icl_err *err, const char *text) {
    cmd_remark(c->line, "%s", text);
    return icl_table_meta(table, err, "warning", "%s", text);
}

static enum icl_status add_law(const struct calibrate *c, const struct icl_calibrate_curve *curve,
                               struct icl_table *table, struct icl_err *err) {
    struct icl_calibrate_fit f;
    const double likely = 0.01;
    char text[ICL_TEXT_SIZE];
    ICL_TRY(icl_calibrate_law(c->sizes, c->K, curve, &f, err));
    const double value[] = {f.nu, f.nu_error, f.A, f.A_error, f.covariance, f.chi2, f.chance};
    static const char *const key[] = {"nu", "nu_error", "A", "A_error", "nu_lnA_covariance", "chi2", "chi2_chance"};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) ICL_TRY(list(table, key[i], 1, &value[i], err));
    cmd_remark(c->line, "I_K(inf) = A K^nu for K = %g to %g: nu = %.4g +- %.2g, A = %.4g +- %.2g, 1/nu = %.4g", c->K[0],
               c->K[c->sizes - 1], f.nu, f.nu_error, f.A, f.A_error, 1 / f.nu);
    if (f.chance < likely) {
        snprintf(text, sizeof text,
                 "no straight line: chi^2 = %.3g of %zu degrees of freedom; nu depends on the range of K", f.chi2,
                 c->sizes - 2);
        ICL_TRY(warn(c, table, err, text));
    }
    if (c->runs == 1)
        ICL_TRY(
            warn(c, table, err, "one seed: the errors are those of the tail alone, without the scatter of networks"));
    for (size_t k = 0; k < c->sizes; k++) {
        const double tail = (curve[k].total - curve[k].I[c->clocks - 1]) / curve[k].total, much = 0.2;
        if (!curve[k].short_ && tail < much) continue;
        snprintf(text, sizeof text, "K = %g: %.0f %% of I_K(inf) is extrapolated%s; a longer train.t_max is needed",
                 c->K[k], 100 * tail, curve[k].short_ ? ", and c1 hardly falls" : "");
        ICL_TRY(warn(c, table, err, text));
    }
    return ICL_OK;
}

static enum icl_status add_plain(const struct calibrate *c, const struct icl_calibrate_curve *curve,
                                 struct icl_table *table, struct icl_err *err) {
    for (size_t k = 0; k < c->sizes; k++)
        for (size_t j = 0; j < c->clocks; j++) {
            const struct icl_calibrate_point *p = &curve[k].mean[j];
            const double s = cmd_calibrate_clock(c, k, j);
            double row[COLUMNS] = {0, c->K[k], s, s, p->c1, p->c2, p->c3, curve[k].I[j], p->v, 1};
            memcpy(row + BEFORE, p->phi, sizeof p->phi);
            row[BEFORE + CLASSES] = curve[k].c1_error[j];
            row[BEFORE + CLASSES + 1] = curve[k].I_error[j];
            ICL_TRY(icl_table_numbers(table, row, err));
        }
    return ICL_OK;
}

/* The response of one size to one offset; t and s of shape (clocks) are scratch, and so is each, (responses, clocks).
 */
static enum icl_status respond(const struct calibrate *c, size_t o, size_t k, const struct icl_calibrate_curve *plain,
                               double *t, double *s, double *below, struct icl_calibrate_response *each,
                               struct icl_calibrate_response *mean, struct icl_err *err) {
    for (size_t r = 0; r < c->responses; r++) {
        const size_t index = cmd_calibrate_first(c, o, k) + r;
        const struct calibrate_job job = cmd_calibrate_job(c, index);
        for (size_t j = 0; j < c->clocks; j++) {
            t[j] = c->line->params.train.lr * (double)cmd_calibrate_step(c, &job, j);
            s[j] = cmd_calibrate_clock(c, k, j);
        }
        ICL_TRY(icl_calibrate_respond(c->clocks, s, plain->mean, t, &c->point[index * c->clocks], c->offset[o],
                                      c->weight, each + r * c->clocks, err));
    }
    icl_calibrate_respond_mean(c->responses, c->clocks, plain->mean, each, o > 1 ? below : NULL, mean);
    for (size_t j = 0; j < c->clocks; j++) below[j] = mean[j].response;
    return ICL_OK;
}

/* A row at an offset: what stands there is the path under the offset when it has the plain path's c1. */
static enum icl_status add_offset(const struct calibrate *c, size_t o, size_t k,
                                  const struct icl_calibrate_response *response, struct icl_table *table,
                                  struct icl_err *err) {
    for (size_t j = 0; j < c->clocks; j++) {
        const struct icl_calibrate_response *r = &response[j];
        double row[COLUMNS] = {
            c->offset[o], c->K[k],    cmd_calibrate_clock(c, k, j), r->t, r->look.c1, r->look.c2, r->look.c3, NAN,
            r->look.v,    r->response};
        memcpy(row + BEFORE, r->look.phi, sizeof r->look.phi);
        row[BEFORE + CLASSES] = row[BEFORE + CLASSES + 1] = NAN;
        ICL_TRY(icl_table_numbers(table, row, err));
    }
    return ICL_OK;
}

static enum icl_status add_offsets(const struct calibrate *c, const struct icl_calibrate_curve *plain,
                                   struct icl_table *table, struct icl_err *err) {
    struct icl_calibrate_response *response = NULL;
    double *scratch = NULL;
    const size_t n = c->clocks;
    enum icl_status status = icl_mem_alloc(&response, (1 + c->responses) * n, sizeof *response, err);
    if (status == ICL_OK) status = icl_mem_alloc(&scratch, (2 + c->sizes) * n, sizeof *scratch, err);
    for (size_t o = 1; o < c->offsets; o++)
        for (size_t k = 0; k < c->sizes && status == ICL_OK; k++) {
            double *below = scratch + (2 + k) * n; /* the response to the offset before */
            status = respond(c, o, k, &plain[k], scratch, scratch + n, below, response + n, response, err);
            if (status == ICL_OK) status = add_offset(c, o, k, response, table, err);
        }
    icl_mem_free(scratch);
    icl_mem_free(response);
    return status;
}

static enum icl_status write_table(const struct calibrate *c, const struct icl_calibrate_curve *curve,
                                   struct icl_err *err) {
    struct icl_column column[COLUMNS] = {{"offset", "1"}, {"K", "items"},   {"s", "lr x steps"}, {"t", "lr x steps"},
                                         {"c1", "1"},     {"c2", "1"},      {"c3", "1"},         {"I", "lr x steps"},
                                         {"v", "1"},      {"response", "1"}};
    struct names names;
    struct icl_table *table;
    name_classes(&names, column + BEFORE);
    column[BEFORE + CLASSES] = (struct icl_column){"c1_error", "1"};
    column[BEFORE + CLASSES + 1] = (struct icl_column){"I_error", "lr x steps"};
    ICL_TRY(icl_table_alloc(&table, COLUMNS, column, err));
    enum icl_status status = cmd_calibrate_head(c, "calibrate", table, err);
    if (status == ICL_OK) status = add_totals(c, curve, table, err);
    if (status == ICL_OK) status = add_exponents(c, curve, table, err);
    if (status == ICL_OK) status = add_law(c, curve, table, err);
    if (status == ICL_OK) status = add_plain(c, curve, table, err);
    if (status == ICL_OK) status = add_offsets(c, curve, table, err);
    if (status == ICL_OK) status = icl_table_write(table, c->line->output, err);
    icl_table_free(table);
    return status;
}

enum icl_status cmd_calibrate_finish(const struct calibrate *c, struct icl_err *err) {
    const size_t n = c->sizes * c->clocks;
    struct icl_calibrate_curve *curve = NULL;
    struct icl_calibrate_point *mean = NULL;
    double *number = NULL;
    enum icl_status status = icl_mem_alloc(&curve, c->sizes, sizeof *curve, err);
    if (status == ICL_OK) status = icl_mem_alloc(&mean, n, sizeof *mean, err);
    if (status == ICL_OK) status = icl_mem_alloc(&number, 3 * n + c->clocks, sizeof *number, err);
    for (size_t k = 0; k < c->sizes && status == ICL_OK; k++) {
        double *s = number + 3 * n;
        for (size_t j = 0; j < c->clocks; j++) s[j] = cmd_calibrate_clock(c, k, j);
        curve[k].mean = mean + k * c->clocks;
        curve[k].c1_error = number + k * c->clocks;
        curve[k].I = curve[k].c1_error + n;
        curve[k].I_error = curve[k].I + n;
        status =
            icl_calibrate_average(c->runs, c->clocks, s, c->weight, c->point + k * c->runs * c->clocks, &curve[k], err);
    }
    if (status == ICL_OK) status = write_table(c, curve, err);
    icl_mem_free(number);
    icl_mem_free(mean);
    icl_mem_free(curve);
    return status;
}
