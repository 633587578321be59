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

static enum icl_status read_axis(struct calibrate *c, struct icl_err *err) {
    char kept[ICL_TEXT_SIZE];
    const char *spec = c->line->xaxis ? c->line->xaxis : cmd_header_value(c->line, "axis.x", kept);
    if (!spec) return ICL_ERR(err, ICL_EUSAGE, "-x task.K=LO:HI:n[:log] is missing: the K to measure");
    ICL_TRY(icl_axis_parse(&c->axis, spec, err));
    if (strcmp(c->axis.name, "task.K") != 0) return ICL_ERR(err, ICL_EUSAGE, "-x %s: must be task.K", spec);
    ICL_TRY(icl_mem_alloc(&c->K, c->axis.n, sizeof *c->K, err));
    for (size_t i = 0; i < c->axis.n; i++) {
        struct icl_params params = c->line->params;
        ICL_TRY(icl_axis_set(&c->axis, i, &params, &c->K[i], err));
        if (isinf(c->K[i])) return ICL_ERR(err, ICL_EUSAGE, "-x %s: K must be finite", spec);
    }
    qsort(c->K, c->axis.n, sizeof *c->K, rising);
    for (size_t i = 0; i < c->axis.n; i++) /* rounding may make neighbours equal */
        if (i == 0 || c->K[i] > c->K[c->sizes - 1]) c->K[c->sizes++] = c->K[i];
    return c->sizes > 1 ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-x %s: a law takes two K at least", spec);
}

static enum icl_status plan(struct calibrate *c, struct icl_err *err) {
    const struct icl_params *p = &c->line->params;
    const double total = fmax(1, round(p->train.t_max / p->train.lr));
    if (isinf(p->task.D)) return ICL_ERR(err, ICL_EUSAGE, "[task] D = inf: the MLP needs items of finite D");
    if (c->line->resume && !c->line->output) return ICL_ERR(err, ICL_EUSAGE, "--resume: needs -o FILE");
    ICL_TRY(read_axis(c, err));
    c->runs = p->ensemble.runs;
    ICL_TRY(icl_mem_alloc(&c->step, p->calibrate.clocks, sizeof *c->step, err));
    ICL_TRY(icl_mem_alloc(&c->s, p->calibrate.clocks, sizeof *c->s, err));
    c->clocks = icl_calibrate_clocks(p->calibrate.clocks, (uint64_t)total, c->step);
    if (c->clocks < 4) return ICL_ERR(err, ICL_EUSAGE, "[train] t_max = %g: too few steps for a law", p->train.t_max);
    for (size_t j = 0; j < c->clocks; j++) c->s[j] = p->train.lr * (double)c->step[j];
    ICL_TRY(icl_calibrate_weights(c->weight, err));
    return icl_mem_alloc(&c->point, c->sizes * c->runs * c->clocks, sizeof *c->point, err);
}

/* The network of a job. What a run evaluates on its own is not looked at: as little as can be. */
static struct icl_train_setup setup_of(const struct calibrate *c, size_t job) {
    const struct icl_params *p = &c->line->params;
    struct icl_train_setup setup = {.task = p->task,
                                    .init = p->init,
                                    .train = p->train,
                                    .observe = p->observe,
                                    .sim = p->sim,
                                    .model = ICL_TRAIN_MLP};
    setup.task.K = c->K[job / c->runs];
    setup.task.N = 2;
    setup.task.copies = 1;
    setup.sim.seed += job % c->runs;
    setup.sim.eval_items = 10;
    return setup;
}

static enum icl_status measure(const struct calibrate *c, size_t job, struct icl_train_run *run, float *phi,
                               size_t clock, struct icl_err *err) {
    const size_t K = (size_t)c->K[job / c->runs], novel = c->line->params.sim.eval_items;
    ICL_TRY(icl_train_logits(run, 0, K, phi, err));
    icl_train_novel(run, novel, phi + K);
    icl_calibrate_measure(K, phi, novel, phi + K, c->weight, &c->point[job * c->clocks + clock]);
    return ICL_OK;
}

static enum icl_status train(const struct calibrate *c, size_t job, struct icl_err *err) {
    const struct icl_train_setup setup = setup_of(c, job);
    const size_t room = (size_t)setup.task.K + c->line->params.sim.eval_items;
    struct icl_train_run *run = NULL;
    float *phi = NULL;
    uint64_t step = 0;
    enum icl_status status = icl_mem_alloc(&phi, room, sizeof *phi, err);
    if (status == ICL_OK) status = icl_train_alloc(&run, &setup, err);
    if (status == ICL_OK) status = icl_train_init(run, err);
    for (size_t j = 0; j < c->clocks && status == ICL_OK; j++) {
        for (; step < c->step[j] && status == ICL_OK; step++) {
            status = icl_train_step(run, err);
            if (status == ICL_OK && *c->stop) status = ICL_ERR(err, ICL_ESTOPPED, "stopped");
        }
        if (status == ICL_OK) status = measure(c, job, run, phi, j, err);
    }
    icl_train_free(run);
    icl_mem_free(phi);
    return status;
}

static void compute(size_t index, size_t worker, void *slot, void *context) {
    const struct calibrate *c = context;
    struct ending *ending = slot;
    (void)worker;
    *ending = (struct ending){.status = ICL_OK};
    ending->status = train(c, index, &ending->err);
    if (ending->status != ICL_OK && ending->status != ICL_ESTOPPED)
        icl_err_context(&ending->err, ending->status, "K = %g, seed %zu", c->K[index / c->runs],
                        c->line->params.sim.seed + index % c->runs);
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
                                     .n = c->sizes * c->runs,
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
    icl_mem_free(c.step);
    icl_mem_free(c.s);
    icl_mem_free(c.point);
    return status;
}
