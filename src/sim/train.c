#include "iclkin/train.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "iclkin/net.h"
#include "sim/eval.h"
#include "sim/lap.h"
#include "sim/learner.h"
#include "sim/record.h"

/* All of a run that changes from step to step, the learner aside: what a checkpoint holds. */
struct state {
    uint64_t step;
    double w0, beta0, s;
    struct icl_record record;
};

struct icl_train_run {
    struct icl_train_setup setup;
    struct icl_sample sample;
    struct icl_targets targets;
    struct icl_learner learner;
    struct icl_eval eval;
    struct icl_lap *lap;
    struct state state;
};

/* A batch's mean loss beyond which a run is lost, finite or not: at a far too large lr every unit of the MLP dies
 * within a few steps, and what is left would go on for ever. */
static const double loss_limit = 1e4;

/* A checkpoint opens with this; then the state, then the learner's parts. */
struct head {
    char magic[8];
    uint64_t version, fingerprint, size, sum;
};
static const char magic[8] = "iclkrun";
enum { VERSION = 4 };

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
    const double train[] = {t->lambda_w, t->lambda_beta,   t->lambda_mlp, t->lambda_attention,
                            t->lr,       (double)t->batch, t->t_max};
    const double level[] = {o->icl_threshold, o->loss_threshold, o->iwl_threshold, (double)o->samples, o->spacing};
    const double sim[] = {(double)m->hidden, m->input_scale, (double)m->seed, (double)m->eval_items, m->label_code};
    uint64_t h = hash_values(0, sizeof task / sizeof *task, task);
    h = hash_values(h, sizeof start / sizeof *start, start);
    h = hash_values(h, sizeof train / sizeof *train, train);
    h = hash_values(h, sizeof level / sizeof *level, level);
    return hash_values(h, sizeof sim / sizeof *sim, sim);
}

static enum icl_status alloc_parts(struct icl_train_run *run, struct icl_err *err) {
    const struct icl_train_setup *const u = &run->setup;
    ICL_TRY(icl_sample_alloc(&run->sample, &u->task, u->sim.seed, u->member, err));
    ICL_TRY(icl_sample_targets_alloc(&run->targets, &run->sample, u->train.batch, err));
    ICL_TRY(icl_learner_alloc(&run->learner, u, &run->sample, err));
    return icl_eval_alloc(&run->eval, &run->sample, &u->sim, err);
}

enum icl_status icl_train_alloc(struct icl_train_run **run, const struct icl_train_setup *setup, struct icl_err *err) {
    *run = NULL;
    if (setup->train.batch == 0 || !(setup->train.lr > 0) || !(setup->train.t_max >= setup->train.lr / 2))
        return ICL_ERR(err, ICL_ERANGE, "batch=%zu, lr=%g, t_max=%g: must be above 0, and t_max half a step or more",
                       setup->train.batch, setup->train.lr, setup->train.t_max);
    struct icl_train_run *r = NULL;
    ICL_TRY(icl_mem_alloc(&r, 1, sizeof *r, err));
    r->setup = *setup;
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
    icl_learner_free(&run->learner);
    icl_sample_targets_free(&run->targets);
    icl_sample_free(&run->sample);
    icl_mem_free(run);
}

static enum icl_status diverged(const struct icl_train_run *run, const char *what, double value, struct icl_err *err) {
    const struct icl_learner_head *const head = &run->learner.head;
    return ICL_ERR(err, ICL_ENUMERIC, "step %llu (t=%g): %s is %g (w=%g, beta=%g): SGD diverges at lr=%g",
                   (unsigned long long)run->state.step, run->setup.train.lr * (double)run->state.step, what, value,
                   head->w, head->beta, run->setup.train.lr);
}

static enum icl_status evaluate(struct icl_train_run *run, struct icl_err *err) {
    struct icl_learner *const learner = &run->learner;
    struct state *const y = &run->state;
    struct icl_train_row row = {0};
    if (!learner->kind->finite(learner)) return diverged(run, "a weight", NAN, err);
    row.value[ICL_TRAIN_T] = run->setup.train.lr * (double)y->step;
    row.value[ICL_TRAIN_STEPS] = (double)y->step;
    row.value[ICL_TRAIN_W] = learner->head.w;
    row.value[ICL_TRAIN_BETA] = learner->head.beta;
    row.value[ICL_TRAIN_S] = y->s;
    icl_lap_mark(run->lap, ICL_LAP_VECTOR);
    icl_learner_clock(learner, NULL);
    icl_eval_row(&run->eval, learner, &row);
    icl_learner_clock(learner, run->lap);
    icl_record_take(&run->setup, y->step, &row, &y->record);
    icl_lap_mark(run->lap, ICL_LAP_EVAL);
    return ICL_OK;
}

enum icl_status icl_train_init(struct icl_train_run *run, struct icl_err *err) {
    struct icl_learner *const learner = &run->learner;
    memset(&run->state, 0, sizeof run->state);
    learner->kind->init(learner);
    icl_record_init(&run->setup, &run->state.record);
    ICL_TRY(evaluate(run, err));
    run->state.w0 = learner->head.w;
    run->state.beta0 = learner->head.beta;
    return ICL_OK;
}

void icl_train_offset(struct icl_train_run *run, double offset) {
    run->setup.offset = offset;
}

enum icl_status icl_train_step(struct icl_train_run *run, struct icl_err *err) {
    const struct icl_train *const train = &run->setup.train;
    const struct icl_learner_head *const head = &run->learner.head;
    struct state *const y = &run->state;
    struct icl_draws draws;
    if (run->lap) run->lap->last = icl_lap_now();
    icl_sample_seek(&run->sample, ICL_RNG_BATCH, y->step, &draws);
    icl_sample_targets(&run->sample, train->batch, false, &draws, &run->targets);
    icl_lap_mark(run->lap, ICL_LAP_SAMPLE);
    const struct icl_learner_sums sums = run->learner.kind->step(&run->learner, &run->targets, &draws, loss_limit);
    if (!(sums.loss <= loss_limit)) return diverged(run, "the loss", sums.loss, err);
    /* (M3); where every item of a batch is known beyond doubt the ratio is 0/0, and the clock stands still. */
    if (sums.miss_phi > 0) y->s += train->lr * sums.miss / sums.miss_phi;
    y->step++;
    if (!isfinite(head->w) || !isfinite(head->beta))
        return diverged(run, "w or beta", isfinite(head->w) ? head->beta : head->w, err);
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
                                        .w = run->learner.head.w,
                                        .beta = run->learner.head.beta};
}

uint64_t icl_train_total(const struct icl_train_run *run) {
    return run->state.record.total;
}

const char *icl_train_outcome_name(enum icl_train_outcome outcome) {
    static const char *const name[] = {"none", "iwl", "icl", "transient"};
    return name[outcome];
}

const char *icl_train_kernel(const struct icl_train_run *run) {
    return run->learner.work ? icl_net_kernel(run->learner.work) : "none";
}

void icl_train_clock(struct icl_train_run *run, struct icl_lap *lap) {
    run->lap = lap;
    icl_learner_clock(&run->learner, lap);
}

/* The novel items' step of the evaluation's stream, beyond those that eval.c takes. */
static const uint64_t novel_step = 16;

/* phi of n items: the training items from first on, or novel ones. */
static void phi_of(struct icl_train_run *run, bool novel, size_t first, size_t n, float *phi) {
    struct icl_targets *const targets = &run->eval.targets;
    struct icl_draws draws;
    icl_sample_seek(&run->sample, ICL_RNG_EVAL, novel_step, &draws);
    for (size_t done = 0; done < n;) {
        const size_t left = n - done, count = left < ICL_LEARNER_ROWS ? left : ICL_LEARNER_ROWS;
        if (novel) icl_sample_targets(&run->sample, count, true, &draws, targets);
        targets->novel = novel;
        for (size_t i = 0; i < count && !novel; i++) targets->id[i] = (uint32_t)(first + done + i);
        run->learner.kind->phi(&run->learner, targets, count, phi + done);
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

size_t icl_train_save_size(const struct icl_train_run *run) {
    return sizeof(struct head) + sizeof(struct state) + icl_learner_bytes(&run->learner);
}

void icl_train_save(const struct icl_train_run *run, void *block) {
    unsigned char *const state = (unsigned char *)block + sizeof(struct head);
    struct head head = {
        .version = VERSION, .fingerprint = icl_train_fingerprint(&run->setup), .size = icl_train_save_size(run)};
    memcpy(head.magic, magic, sizeof head.magic);
    memcpy(state, &run->state, sizeof run->state);
    icl_learner_save(&run->learner, state + sizeof run->state);
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
    icl_learner_restore(&run->learner, state + sizeof run->state);
    return ICL_OK;
}
