/* cmd_calibrate.c -- MLP-only runs at several K -> the memorization table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/calibrate.h"
#include "iclkin/pool.h"
#include "iclkin/train.h"

/* A job's result: its points, or why there are none. */
struct ending {
    enum icl_status status;
    struct icl_err err;
};

static int rising(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t cmd_calibrate_first(const struct calibrate *c, size_t offset, size_t size) {
    if (offset == 0) return size * c->runs;
    return c->sizes * c->runs + ((offset - 1) * c->sizes + size) * c->responses;
}

size_t cmd_calibrate_jobs(const struct calibrate *c) {
    return cmd_calibrate_first(c, c->offsets - 1, c->sizes - 1) + (c->offsets > 1 ? c->responses : c->runs);
}

struct calibrate_job cmd_calibrate_job(const struct calibrate *c, size_t job) {
    const size_t plain = c->sizes * c->runs, runs = job < plain ? c->runs : c->responses;
    const size_t at = job < plain ? job : job - plain, group = at / runs;
    const struct calibrate_job found = {.K = c->K[group % c->sizes],
                                        .offset = job < plain ? 0 : c->offset[1 + group / c->sizes],
                                        .size = group % c->sizes,
                                        .run = at % runs,
                                        .seed = c->line->params.sim.seed + at % runs};
    return found;
}

double cmd_calibrate_clock(const struct calibrate *c, size_t size, size_t j) {
    const struct icl_params *p = &c->line->params;
    return p->train.t_max * pow(c->K[size] / c->K[c->sizes - 1], p->calibrate.stretch) *
           icl_calibrate_clock(c->clocks, j);
}

uint64_t cmd_calibrate_step(const struct calibrate *c, const struct calibrate_job *job, size_t j) {
    const struct icl_params *p = &c->line->params;
    const double length = job->offset == 0 ? 1 : p->calibrate.length;
    return (uint64_t)round(length * cmd_calibrate_clock(c, job->size, j) / p->train.lr);
}

/* The values of an axis, rising, each once. */
static enum icl_status read_values(const struct calibrate *c, const struct icl_axis *axis, size_t *n, double **value,
                                   struct icl_err *err) {
    ICL_TRY(icl_mem_alloc(value, axis->n, sizeof **value, err));
    double *v = *value;
    for (size_t i = 0; i < axis->n; i++) {
        struct icl_params params = c->line->params;
        ICL_TRY(icl_axis_set(axis, i, &params, &v[i], err));
    }
    qsort(v, axis->n, sizeof *v, rising);
    *n = 0;
    for (size_t i = 0; i < axis->n; i++) /* rounding may make neighbours equal */
        if (i == 0 || v[i] > v[*n - 1]) v[(*n)++] = v[i];
    return ICL_OK;
}

static enum icl_status read_sizes(struct calibrate *c, struct icl_err *err) {
    char kept[ICL_TEXT_SIZE];
    const char *spec = c->line->xaxis ? c->line->xaxis : cmd_header_value(c->line, "axis.x", kept);
    if (!spec) return ICL_ERR(err, ICL_EUSAGE, "-x task.K=LO:HI:n[:log] is missing: the K to measure");
    ICL_TRY(icl_axis_parse(&c->axis, spec, err));
    if (strcmp(c->axis.name, "task.K") != 0) return ICL_ERR(err, ICL_EUSAGE, "-x %s: must be task.K", spec);
    ICL_TRY(read_values(c, &c->axis, &c->sizes, &c->K, err));
    if (isinf(c->K[c->sizes - 1])) return ICL_ERR(err, ICL_EUSAGE, "-x %s: K must be finite", spec);
    return c->sizes > 1 ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-x %s: a law takes two K at least", spec);
}

static enum icl_status read_offsets(struct calibrate *c, struct icl_err *err) {
    char kept[ICL_TEXT_SIZE];
    const char *spec = c->line->yaxis ? c->line->yaxis : cmd_header_value(c->line, "axis.y", kept);
    c->has_offsets = spec != NULL;
    if (!spec) {
        c->offsets = 1; /* the plain path: offset 0 */
        return icl_mem_alloc(&c->offset, 1, sizeof *c->offset, err);
    }
    ICL_TRY(icl_axis_parse(&c->offsets_axis, spec, err));
    if (strcmp(c->offsets_axis.name, "calibrate.offset") != 0)
        return ICL_ERR(err, ICL_EUSAGE, "-y %s: must be calibrate.offset", spec);
    ICL_TRY(read_values(c, &c->offsets_axis, &c->offsets, &c->offset, err));
    return c->offset[0] == 0 ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-y %s: must start at 0, the plain path", spec);
}

static enum icl_status plan(struct calibrate *c, struct icl_err *err) {
    const struct icl_params *p = &c->line->params;
    if (p->sim.model != ICL_SIM_MINIMAL)
        return ICL_ERR(err, ICL_EUSAGE,
                       "[sim] model = transformer: what is measured is an MLP alone; give it the "
                       "transformer's inputs by input_scale = sqrt(D)");
    if (isinf(p->task.D)) return ICL_ERR(err, ICL_EUSAGE, "[task] D = inf: the MLP needs items of finite D");
    if (c->line->resume && !c->line->output) return ICL_ERR(err, ICL_EUSAGE, "--resume: needs -o FILE");
    ICL_TRY(read_sizes(c, err));
    ICL_TRY(read_offsets(c, err));
    c->runs = p->ensemble.runs;
    c->responses = p->calibrate.responses;
    c->clocks = 2;
    const double least = fmin(1, p->calibrate.length) * cmd_calibrate_clock(c, 0, 1) / p->train.lr;
    c->clocks = icl_calibrate_clocks(p->calibrate.clocks, (uint64_t)fmax(1, round(least)));
    if (c->clocks < ICL_CALIBRATE_FEWEST)
        return ICL_ERR(err, ICL_EUSAGE, "[train] t_max = %g: too few steps for a law of K = %g", p->train.t_max,
                       c->K[0]);
    ICL_TRY(icl_calibrate_weights(c->weight, err));
    ICL_TRY(icl_mem_alloc(&c->begin, cmd_calibrate_jobs(c), sizeof *c->begin, err));
    return icl_mem_alloc(&c->point, cmd_calibrate_jobs(c) * c->clocks, sizeof *c->point, err);
}

/* The network of a job. What a run evaluates on its own is not looked at: as little as can be. */
static struct icl_train_setup setup_of(const struct calibrate *c, const struct calibrate_job *job) {
    const struct icl_params *p = &c->line->params;
    struct icl_train_setup setup = {.task = p->task,
                                    .init = p->init,
                                    .train = p->train,
                                    .observe = p->observe,
                                    .sim = p->sim,
                                    .model = ICL_TRAIN_MLP};
    setup.task.K = job->K;
    setup.task.N = 2;
    setup.task.copies = 1;
    setup.sim.seed = job->seed;
    setup.sim.eval_items = 10;
    return setup;
}

/* Beyond so many items the first ones speak for all: c1 within 0.4 % of itself at c1 = 1/2. */
enum { ITEMS_MOST = 16384 };

/* A network on its way. */
struct walk {
    const struct calibrate *c;
    struct calibrate_job job;
    struct icl_train_run *run;
    uint64_t step;
    size_t items, novel;
    float *phi; /* shape (items + novel) */
};

static enum icl_status go_to(struct walk *walk, uint64_t step, struct icl_err *err) {
    for (; walk->step < step; walk->step++) {
        if (*walk->c->stop) return ICL_ERR(err, ICL_ESTOPPED, "stopped");
        ICL_TRY(icl_train_step(walk->run, err));
    }
    return ICL_OK;
}

/* The mean of the measurements around clock j of a job whose clocks count from step begin: each is taken at a step of
 * its own, within a quarter of the way to the clock before and as far beyond. */
static enum icl_status measure(struct walk *walk, const struct calibrate_job *job, uint64_t begin, size_t j,
                               struct icl_calibrate_point *point, struct icl_err *err) {
    const struct calibrate *c = walk->c;
    const size_t samples = j == 0 ? 1 : c->line->params.calibrate.samples;
    const double at = (double)cmd_calibrate_step(c, job, j), quarter = 0.25;
    const double reach = j == 0 ? 0 : quarter * (at - (double)cmd_calibrate_step(c, job, j - 1));
    *point = (struct icl_calibrate_point){0};
    for (size_t i = 0; i < samples; i++) {
        const double aside = reach * ((2 * (double)i + 1) / (double)samples - 1);
        ICL_TRY(go_to(walk, begin + (uint64_t)round(at + aside), err));
        ICL_TRY(icl_train_logits(walk->run, 0, walk->items, walk->phi, err));
        icl_train_novel(walk->run, walk->novel, walk->phi + walk->items);
        icl_calibrate_measure(walk->items, walk->phi, walk->novel, walk->phi + walk->items, c->weight, point);
    }
    icl_calibrate_close(samples, point);
    return ICL_OK;
}

/* Along the plain clocks until c1 has come down to calibrate.onset; there the offset is switched on. */
static enum icl_status switch_on(struct walk *walk, uint64_t *begin, struct icl_err *err) {
    const struct calibrate *c = walk->c;
    struct calibrate_job plain = walk->job;
    struct icl_calibrate_point point;
    plain.offset = 0;
    for (size_t j = 0; j < c->clocks; j++) {
        ICL_TRY(measure(walk, &plain, 0, j, &point, err));
        if (point.c1 <= c->line->params.calibrate.onset) break;
    }
    *begin = walk->step;
    icl_train_offset(walk->run, walk->job.offset);
    return ICL_OK;
}

static enum icl_status go(struct walk *walk, size_t job, struct icl_err *err) {
    const struct calibrate *c = walk->c;
    const struct icl_train_setup setup = setup_of(c, &walk->job);
    ICL_TRY(icl_mem_alloc(&walk->phi, walk->items + walk->novel, sizeof *walk->phi, err));
    ICL_TRY(icl_train_alloc(&walk->run, &setup, err));
    ICL_TRY(icl_train_init(walk->run, err));
    if (walk->job.offset != 0) ICL_TRY(switch_on(walk, &c->begin[job], err));
    for (size_t j = 0; j < c->clocks; j++)
        ICL_TRY(measure(walk, &walk->job, c->begin[job], j, &c->point[job * c->clocks + j], err));
    return ICL_OK;
}

static enum icl_status train(const struct calibrate *c, size_t job, struct icl_err *err) {
    struct walk walk = {.c = c, .job = cmd_calibrate_job(c, job), .novel = c->line->params.sim.eval_items};
    walk.items = walk.job.K < ITEMS_MOST ? (size_t)walk.job.K : ITEMS_MOST;
    const enum icl_status status = go(&walk, job, err);
    icl_train_free(walk.run);
    icl_mem_free(walk.phi);
    return status;
}

static void compute(size_t index, size_t worker, void *slot, void *context) {
    const struct calibrate *c = context;
    struct ending *ending = slot;
    (void)worker;
    *ending = (struct ending){.status = ICL_OK};
    ending->status = train(c, index, &ending->err);
    const struct calibrate_job job = cmd_calibrate_job(c, index);
    if (ending->status != ICL_OK && ending->status != ICL_ESTOPPED)
        icl_err_context(&ending->err, ending->status, "K = %g, seed %zu, offset %g", job.K, (size_t)job.seed,
                        job.offset);
}

static enum icl_status emit(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct calibrate *c = context;
    const struct ending *ending = slot;
    struct cmd_text text = {0};
    if (ending->status != ICL_OK) return icl_err_set(err, ending->status, "%s", ending->err.text);
    cmd_progress_step(&c->progress);
    if (!c->path[0]) return ICL_OK;
    enum icl_status status = ICL_OK;
    for (size_t j = 0; j < c->clocks && status == ICL_OK; j++) {
        if (c->rows > 0)
            c->rows--; /* a run torn by a kill: its first rows are there */
        else
            status = cmd_calibrate_row(c, index, j, &text, err);
    }
    if (status == ICL_OK) status = cmd_sink_add(&c->sink, text.bytes, text.length, err);
    cmd_text_free(&text);
    return status;
}

static enum icl_status run_jobs(struct calibrate *c, size_t first, struct icl_err *err) {
    const struct icl_pool_job job = {.first = first,
                                     .n = cmd_calibrate_jobs(c),
                                     .slot = sizeof(struct ending),
                                     .threads = c->line->params.ensemble.threads,
                                     .ordered = true,
                                     .compute = compute,
                                     .emit = emit,
                                     .context = c,
                                     .stop = c->stop};
    cmd_progress_start(&c->progress, c->line, "calibrate", job.n - first);
    const enum icl_status status = icl_pool_run(&job, err);
    cmd_progress_end(&c->progress);
    return status;
}

/* A finished table is not overwritten, and neither are runs. */
static enum icl_status name_runs(struct calibrate *c, struct icl_err *err) {
    const char *output = c->line->output;
    struct stat is;
    const bool exists = output && stat(output, &is) == 0;
    if (!output || (exists && !S_ISREG(is.st_mode))) return ICL_OK;
    if (exists && is.st_size > 0 && !c->line->resume)
        return ICL_ERR(err, ICL_EUSAGE, "%s: exists; --resume carries on with it, or remove it", output);
    const int length = snprintf(c->path, sizeof c->path, "%s.runs", output);
    return length >= 0 && length < CMD_PATH ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
}

static enum icl_status work(struct calibrate *c, struct icl_err *err) {
    struct cmd_text head = {0}, kept = {0};
    struct cmd_line line = *c->line;
    size_t first = 0;
    line.output = c->path;
    if (!c->path[0]) return run_jobs(c, 0, err);
    enum icl_status status = cmd_calibrate_opening(c, &head, err);
    if (status == ICL_OK) status = cmd_sink_open(&c->sink, &line, head.bytes, &kept, err);
    const bool opened = status == ICL_OK;
    if (status == ICL_OK && kept.bytes) status = cmd_calibrate_restore(c, kept.bytes, &first, err);
    if (status == ICL_OK) c->rows = c->sink.rows - first * c->clocks;
    cmd_text_free(&head);
    cmd_text_free(&kept);
    if (status == ICL_OK) status = run_jobs(c, first, err);
    if (!opened) return status;
    const enum icl_status closed = cmd_sink_close(&c->sink, status == ICL_OK ? err : NULL);
    if (status == ICL_ESTOPPED) cmd_remark(c->line, "stopped; --resume carries on");
    return status == ICL_OK ? closed : status;
}

enum icl_status cmd_calibrate(const struct cmd_line *line, struct icl_err *err) {
    struct calibrate c = {.line = line, .stop = cmd_stop_install()};
    enum icl_status status = plan(&c, err);
    if (status == ICL_OK) status = name_runs(&c, err);
    if (status == ICL_OK) status = work(&c, err);
    if (status == ICL_OK) status = cmd_calibrate_finish(&c, err);
    icl_mem_free(c.K);
    icl_mem_free(c.begin);
    icl_mem_free(c.offset);
    icl_mem_free(c.point);
    return status;
}
