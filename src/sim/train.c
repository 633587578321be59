#include "iclkin/train.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/net.h"
#include "sim/eval.h"
#include "sim/head.h"
#include "sim/lap.h"
#include "sim/net_work.h"
#include "sim/record.h"

/* All of a run that changes from step to step, the MLP aside: what a checkpoint holds. */
struct state {
    uint64_t step;
    double w, beta, w0, beta0, s;
    struct icl_record record;
};

struct icl_train_run {
    struct icl_train_setup setup;
    size_t B;
    struct icl_sample sample;
    struct icl_net net; /* block NULL where phi = 0 */
    struct icl_net_work *work;
    struct icl_targets targets;
    struct icl_contexts contexts;
    struct icl_eval eval;
    struct icl_lap *lap;
    float *a, *slope, *dphi; /* (B) */
    struct state state;
};

/* A batch's mean loss beyond which a run is lost, finite or not: at a far too large lr every unit of the MLP dies
 * within a few steps, and what is left would go on for ever. */
static const double loss_limit = 1e4;

/* A checkpoint opens with this; then the state, then the MLP's block. */
struct head {
    char magic[8];
    uint64_t version, fingerprint, size, sum;
};
static const char magic[8] = "iclkrun";
enum { VERSION = 3 };

const struct icl_column icl_train_columns[ICL_TRAIN_COLUMNS] = {
    [ICL_TRAIN_T] = {"t", "lr x steps"},
    [ICL_TRAIN_STEPS] = {"steps", "SGD steps"},
    [ICL_TRAIN_W] = {"w", "1"},
    [ICL_TRAIN_BETA] = {"beta", "1"},
    [ICL_TRAIN_S] = {"s", "lr x steps"},
    [ICL_TRAIN_C1] = {"c1", "1"},
    [ICL_TRAIN_C2] = {"c2", "1"},
    [ICL_TRAIN_C3] = {"c3", "1"},
    [ICL_TRAIN_LOSS_TRAIN] = {"loss_train", "nat"},
    [ICL_TRAIN_LOSS_ICL] = {"loss_icl", "nat"},
    [ICL_TRAIN_LOSS_IWL] = {"loss_iwl", "nat"},
    [ICL_TRAIN_ACC_ICL] = {"acc_icl", "1"},
    [ICL_TRAIN_ACC_IWL] = {"acc_iwl", "1"},
};

/* FNV-1a with its upper half folded into the lower, so that every bit of a word counts. */
static uint64_t hash_of(uint64_t h, uint64_t word) {
    h = (h ^ word) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}
static uint64_t hash_bytes(const void *bytes, size_t n) {
    const unsigned char *const p = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = hash_of(h, p[i]);
    return h;
}
static uint64_t hash_values(uint64_t h, size_t n, const double *value) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        h = hash_of(h, bits);
    }
    return h;
}

uint64_t icl_train_fingerprint(const struct icl_train_setup *u) {
    const struct icl_task *const k = &u->task;
    const struct icl_init *const i = &u->init;
    const struct icl_train *const t = &u->train;
    const struct icl_observe *const o = &u->observe;
    const struct icl_sim *const m = &u->sim;
    const double task[] = {k->K, k->D, (double)k->N, (double)k->copies, k->labels, k->items};
    const double start[] = {i->w,     i->beta,   i->w_sd, i->beta_sd,    u->member,
                            u->model, u->offset, u->rows, u->stop_at_icl};
    const double train[] = {t->lambda_w, t->lambda_beta, t->lambda_mlp, t->lr, (double)t->batch, t->t_max};
    const double level[] = {o->icl_threshold, o->loss_threshold, o->iwl_threshold, (double)o->samples, o->spacing};
    const double sim[] = {(double)m->hidden, m->input_scale, (double)m->seed, (double)m->eval_items};
    uint64_t h = hash_values(0, sizeof task / sizeof *task, task);
    h = hash_values(h, sizeof start / sizeof *start, start);
    h = hash_values(h, sizeof train / sizeof *train, train);
    h = hash_values(h, sizeof level / sizeof *level, level);
    return hash_values(h, sizeof sim / sizeof *sim, sim);
}

static struct icl_eval_of eval_of(struct icl_train_run *run) {
    return (struct icl_eval_of){.sample = &run->sample,
                                .net = run->net.block ? &run->net : NULL,
                                .work = run->work,
                                .contexts = &run->contexts,
                                .model = run->setup.model,
                                .w = run->state.w,
                                .beta = run->state.beta,
                                .offset = run->setup.offset,
                                .input_scale = (float)run->setup.sim.input_scale};
}

/* Contexts are drawn in groups that stay in the cache. */
static size_t group_of(size_t N, size_t B) {
    const size_t group = 8192 / N > 1 ? 8192 / N : 1;
    return group < B ? group : B;
}

static enum icl_status alloc_parts(struct icl_train_run *run, struct icl_err *err) {
    const struct icl_train_setup *const u = &run->setup;
    const size_t B = run->B, rows = B > ICL_EVAL_ROWS ? B : ICL_EVAL_ROWS;
    ICL_TRY(icl_sample_alloc(&run->sample, &u->task, u->sim.seed, u->member, err));
    if (u->model != ICL_TRAIN_ATTENTION) {
        ICL_TRY(icl_net_alloc(&run->net, run->sample.D, u->sim.hidden, err));
        ICL_TRY(icl_net_work_alloc(&run->work, &run->net, rows, err));
    }
    ICL_TRY(icl_sample_targets_alloc(&run->targets, &run->sample, B, err));
    ICL_TRY(icl_sample_contexts_alloc(&run->contexts, &run->sample, group_of(u->task.N, B), err));
    ICL_TRY(icl_mem_alloc(&run->a, B, sizeof *run->a, err));
    ICL_TRY(icl_mem_alloc(&run->slope, B, sizeof *run->slope, err));
    ICL_TRY(icl_mem_alloc(&run->dphi, B, sizeof *run->dphi, err));
    const struct icl_eval_of of = eval_of(run);
    return icl_eval_alloc(&run->eval, &of, u->sim.eval_items, err);
}

enum icl_status icl_train_alloc(struct icl_train_run **run, const struct icl_train_setup *setup, struct icl_err *err) {
    *run = NULL;
    if (setup->train.batch == 0 || !(setup->train.lr > 0) || !(setup->train.t_max >= setup->train.lr / 2))
        return ICL_ERR(err, ICL_ERANGE, "batch=%zu, lr=%g, t_max=%g: must be above 0, and t_max half a step or more",
                       setup->train.batch, setup->train.lr, setup->train.t_max);
    struct icl_train_run *r = NULL;
    ICL_TRY(icl_mem_alloc(&r, 1, sizeof *r, err));
    r->setup = *setup;
    r->B = setup->train.batch;
    const enum icl_status status = alloc_parts(r, err);
    if (status == ICL_OK)
        *run = r;
    else
        icl_train_free(r);
    return status;
}

void icl_train_free(struct icl_train_run *run) {
    if (!run) return;
    icl_eval_free(&run->eval);
    icl_mem_free(run->dphi);
    icl_mem_free(run->slope);
    icl_mem_free(run->a);
    icl_sample_contexts_free(&run->contexts);
    icl_sample_targets_free(&run->targets);
    icl_net_work_free(run->work);
    icl_net_free(&run->net);
    icl_sample_free(&run->sample);
    icl_mem_free(run);
}

static enum icl_status diverged(const struct icl_train_run *run, const char *what, double value, struct icl_err *err) {
    const struct state *const y = &run->state;
    return ICL_ERR(err, ICL_ENUMERIC, "step %llu (t=%g): %s is %g (w=%g, beta=%g): SGD diverges at lr=%g",
                   (unsigned long long)y->step, run->setup.train.lr * (double)y->step, what, value, y->w, y->beta,
                   run->setup.train.lr);
}

static enum icl_status evaluate(struct icl_train_run *run, struct icl_err *err) {
    struct state *const y = &run->state;
    struct icl_train_row row = {0};
    const struct icl_eval_of of = eval_of(run);
    if (of.net && !icl_net_finite(of.net)) return diverged(run, "a weight of the MLP", NAN, err);
    row.value[ICL_TRAIN_T] = run->setup.train.lr * (double)y->step;
    row.value[ICL_TRAIN_STEPS] = (double)y->step;
    row.value[ICL_TRAIN_W] = y->w;
    row.value[ICL_TRAIN_BETA] = y->beta;
    row.value[ICL_TRAIN_S] = y->s;
    icl_lap_mark(run->lap, ICL_LAP_VECTOR);
    if (run->work) run->work->lap = NULL;
    icl_eval_row(&run->eval, &of, &row);
    if (run->work) run->work->lap = run->lap;
    icl_record_take(&run->setup, y->step, &row, &y->record);
    icl_lap_mark(run->lap, ICL_LAP_EVAL);
    return ICL_OK;
}

enum icl_status icl_train_init(struct icl_train_run *run, struct icl_err *err) {
    const struct icl_init *const init = &run->setup.init;
    struct icl_rng rng;
    icl_rng_seek(&rng, run->setup.sim.seed, run->setup.member, ICL_RNG_INIT, 0);
    memset(&run->state, 0, sizeof run->state);
    run->state.w = run->state.w0 = init->w + init->w_sd * icl_rng_normal(&rng);
    run->state.beta = run->state.beta0 = init->beta + init->beta_sd * icl_rng_normal(&rng);
    icl_record_init(&run->setup, &run->state.record);
    if (run->net.block) icl_net_init(&run->net, run->setup.sim.seed, run->setup.member);
    return evaluate(run, err);
}

/* a and its slope in beta for the batch's targets. */
static void attend(struct icl_train_run *run, struct icl_draws *draws) {
    if (run->setup.model == ICL_TRAIN_MLP) return;
    for (size_t first = 0; first < run->B; first += run->contexts.capacity) {
        const size_t left = run->B - first, n = left < run->contexts.capacity ? left : run->contexts.capacity;
        icl_sample_contexts(&run->sample, ICL_CONTEXT_TRAIN, &run->targets, first, n, draws, &run->contexts, run->lap);
        icl_head_attend(&run->sample, &run->contexts, n, run->state.beta, run->a + first, run->slope + first);
        icl_lap_mark(run->lap, ICL_LAP_SOFTMAX);
    }
}

static const float *forward(struct icl_train_run *run) {
    if (!run->net.block) return NULL;
    for (size_t b = 0; b < run->B; b++)
        icl_net_load(run->work, run->B, b, icl_sample_item(&run->sample, &run->targets, b),
                     (float)run->setup.sim.input_scale);
    return icl_net_forward(&run->net, run->work, run->B);
}

/* Sums over a batch. */
struct sums {
    double loss, w, beta, miss, miss_phi;
};

/* The loss, its slopes in w and beta, and in phi of each target, divided by the batch. */
static struct sums differentiate(struct icl_train_run *run, const float *phi) {
    const bool mlp = run->setup.model == ICL_TRAIN_MLP;
    const double w = run->state.w, part = 1 / (double)run->B;
    struct sums sum = {0};
    for (size_t b = 0; b < run->B; b++) {
        const double label = (double)run->targets.label[b], f = phi ? (double)phi[b] : 0;
        const double a = mlp ? label : (double)run->a[b], scale = mlp ? run->setup.offset : w;
        const double y = label * (f + scale * a), miss = icl_head_miss(y), slope = -label * miss * part;
        sum.loss += icl_head_loss(y) * part;
        sum.miss += miss;
        sum.miss_phi += icl_head_miss(label * f);
        run->dphi[b] = (float)slope;
        if (mlp) continue;
        sum.w += slope * a;
        sum.beta += slope * w * (double)run->slope[b];
    }
    return sum;
}

void icl_train_offset(struct icl_train_run *run, double offset) {
    run->setup.offset = offset;
}

enum icl_status icl_train_step(struct icl_train_run *run, struct icl_err *err) {
    const struct icl_train *const train = &run->setup.train;
    struct state *const y = &run->state;
    struct icl_draws draws;
    if (run->lap) run->lap->last = icl_lap_now();
    icl_sample_seek(&run->sample, ICL_RNG_BATCH, y->step, &draws);
    icl_sample_targets(&run->sample, run->B, false, &draws, &run->targets);
    icl_lap_mark(run->lap, ICL_LAP_SAMPLE);
    attend(run, &draws);
    const float *const phi = forward(run);
    const struct sums sum = differentiate(run, phi);
    icl_lap_mark(run->lap, ICL_LAP_VECTOR);
    if (!(sum.loss <= loss_limit)) return diverged(run, "the loss", sum.loss, err);
    if (phi)
        icl_net_backward(&run->net, run->work, run->B, run->dphi, (float)-train->lr,
                         (float)(1 - train->lr * train->lambda_mlp), &run->net);
    if (run->setup.model != ICL_TRAIN_MLP) {
        y->w -= train->lr * (sum.w + train->lambda_w * y->w);
        y->beta -= train->lr * (sum.beta + train->lambda_beta * y->beta);
    }
    /* (M3); where every item of a batch is known beyond doubt the ratio is 0/0, and the clock stands still. */
    if (sum.miss_phi > 0) y->s += train->lr * sum.miss / sum.miss_phi;
    y->step++;
    if (!isfinite(y->w) || !isfinite(y->beta)) return diverged(run, "w or beta", isfinite(y->w) ? y->beta : y->w, err);
    return y->step == y->record.next ? evaluate(run, err) : ICL_OK;
}

bool icl_train_done(const struct icl_train_run *run) {
    return run->state.step >= run->state.record.total ||
           (run->setup.stop_at_icl && isfinite(run->state.record.t_icl.t));
}

bool icl_train_row(const struct icl_train_run *run, struct icl_train_row *row) {
    const struct icl_record *const record = &run->state.record;
    const bool due = record->is_row && record->row.value[ICL_TRAIN_STEPS] == (double)run->state.step;
    if (due) *row = record->row;
    return due;
}

static enum icl_train_outcome outcome_of(const struct icl_record *record) {
    if (isfinite(record->t_loss.t)) return ICL_TRAIN_TRANSIENT;
    if (isfinite(record->t_icl.t)) return ICL_TRAIN_ICL;
    return isfinite(record->t_iwl.t) ? ICL_TRAIN_IWL : ICL_TRAIN_NONE;
}

void icl_train_result(const struct icl_train_run *run, struct icl_train_result *result) {
    const struct state *const y = &run->state;
    *result = (struct icl_train_result){.t_icl = y->record.t_icl,
                                        .t_iwl = y->record.t_iwl,
                                        .t_loss = y->record.t_loss,
                                        .outcome = outcome_of(&y->record),
                                        .stopped = icl_train_done(run) && y->step < y->record.total,
                                        .steps = y->step,
                                        .t = run->setup.train.lr * (double)y->step,
                                        .w0 = y->w0,
                                        .beta0 = y->beta0,
                                        .w = y->w,
                                        .beta = y->beta};
}

uint64_t icl_train_total(const struct icl_train_run *run) {
    return run->state.record.total;
}

const char *icl_train_outcome_name(enum icl_train_outcome outcome) {
    static const char *const name[] = {"none", "iwl", "icl", "transient"};
    return name[outcome];
}

const char *icl_train_kernel(const struct icl_train_run *run) {
    return run->work ? icl_net_kernel(run->work) : "none";
}

void icl_train_clock(struct icl_train_run *run, struct icl_lap *lap) {
    run->lap = lap;
    if (run->work) run->work->lap = lap;
}

/* The novel items' step of the evaluation's stream, beyond those that eval.c takes. */
static const uint64_t novel_step = 16;

/* phi of n items: the training items from first on, or novel ones. */
static void phi_of(struct icl_train_run *run, bool novel, size_t first, size_t n, float *phi) {
    struct icl_targets *const targets = &run->eval.targets;
    const struct icl_eval_of of = eval_of(run);
    struct icl_draws draws;
    icl_sample_seek(&run->sample, ICL_RNG_EVAL, novel_step, &draws);
    for (size_t done = 0; done < n;) {
        const size_t left = n - done, count = left < ICL_EVAL_ROWS ? left : ICL_EVAL_ROWS;
        if (novel) icl_sample_targets(&run->sample, count, true, &draws, targets);
        targets->novel = novel;
        for (size_t i = 0; i < count && !novel; i++) targets->id[i] = (uint32_t)(first + done + i);
        icl_eval_phi(&of, targets, count, phi + done);
        done += count;
    }
}

enum icl_status icl_train_logits(struct icl_train_run *run, size_t first, size_t n, float *phi, struct icl_err *err) {
    const size_t K = run->sample.K;
    if (first > K || n > K - first)
        return ICL_ERR(err, ICL_ERANGE, "training items %zu to %zu: there are %zu", first, first + n, K);
    phi_of(run, false, first, n, phi);
    for (size_t i = 0; i < n; i++) {
        if (first + i >= K / 2) phi[i] = -phi[i];
    }
    return ICL_OK;
}

void icl_train_novel(struct icl_train_run *run, size_t n, float *phi) {
    phi_of(run, true, 0, n, phi);
}

static size_t net_bytes(const struct icl_train_run *run) {
    return run->net.block ? run->net.floats * sizeof *run->net.block : 0;
}

size_t icl_train_save_size(const struct icl_train_run *run) {
    return sizeof(struct head) + sizeof(struct state) + net_bytes(run);
}

void icl_train_save(const struct icl_train_run *run, void *block) {
    unsigned char *const state = (unsigned char *)block + sizeof(struct head);
    struct head head = {
        .version = VERSION, .fingerprint = icl_train_fingerprint(&run->setup), .size = icl_train_save_size(run)};
    memcpy(head.magic, magic, sizeof head.magic);
    memcpy(state, &run->state, sizeof run->state);
    if (net_bytes(run) != 0) memcpy(state + sizeof run->state, run->net.block, net_bytes(run));
    head.sum = hash_bytes(state, icl_train_save_size(run) - sizeof head);
    memcpy(block, &head, sizeof head);
}

enum icl_status icl_train_restore(struct icl_train_run *run, const void *block, size_t size, struct icl_err *err) {
    const unsigned char *const state = (const unsigned char *)block + sizeof(struct head);
    struct head head = {0};
    if (size >= sizeof head) memcpy(&head, block, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0) return ICL_ERR(err, ICL_EUSAGE, "no checkpoint of a run");
    if (head.version != VERSION)
        return ICL_ERR(err, ICL_EUSAGE, "checkpoint of version %llu: this program writes and reads %d",
                       (unsigned long long)head.version, VERSION);
    if (head.fingerprint != icl_train_fingerprint(&run->setup))
        return ICL_ERR(err, ICL_EUSAGE, "checkpoint of a run with other parameters");
    if (head.size != size || size != icl_train_save_size(run) || head.sum != hash_bytes(state, size - sizeof head))
        return ICL_ERR(err, ICL_EUSAGE, "damaged checkpoint");
    memcpy(&run->state, state, sizeof run->state);
    if (net_bytes(run) != 0) memcpy(run->net.block, state + sizeof run->state, net_bytes(run));
    return ICL_OK;
}
