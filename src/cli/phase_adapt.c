/* phase_adapt.c -- a phase diagram from a fraction of its cells: solve corners, split what is not uniform, fill the
 * rest.
 *
 * A rectangle of the grid is a leaf if the outcomes of its corners agree and their times differ by less than `ripple`;
 * otherwise it is split in four, down to single cells. Its inner cells get the corners' outcome and times that are
 * bilinear in the grid's indices. The order in which cells are solved depends on results alone, never on threads, so
 * that a stopped run carries on with the cells its file holds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/phase.h"
#include "iclkin/pool.h"

static const double ripple = 0.1; /* relative difference of a time within a leaf */
enum { COARSE = 8 };

struct cell {
    double t_icl, t_iwl, t_loss;
    enum icl_outcome outcome;
    bool solved, failed;
};

struct rect {
    size_t x0, x1, y0, y1; /* corners, inclusive */
};

struct list {
    struct rect *rect;
    size_t n, size;
};

struct adapt {
    struct phase *phase;
    struct cell *cell;           /* shape (ny, nx) */
    size_t *wanted, count, size; /* cells to be solved in this round */
    char *kept;                  /* rows of the earlier run not used yet */
};

static enum icl_status push(struct list *list, struct rect rect, struct icl_err *err) {
    if (list->n == list->size) {
        const size_t size = 2 * list->size + 64;
        ICL_TRY(icl_mem_grow(&list->rect, list->size, size, sizeof *list->rect, err));
        list->size = size;
    }
    list->rect[list->n++] = rect;
    return ICL_OK;
}

static enum icl_status want(struct adapt *adapt, size_t x, size_t y, struct icl_err *err) {
    const size_t at = y * adapt->phase->axis[0].n + x;
    if (adapt->cell[at].solved) return ICL_OK;
    if (adapt->count == adapt->size) {
        const size_t size = 2 * adapt->size + 64;
        ICL_TRY(icl_mem_grow(&adapt->wanted, adapt->size, size, sizeof *adapt->wanted, err));
        adapt->size = size;
    }
    adapt->cell[at].solved = true; /* by the end of this round */
    adapt->wanted[adapt->count++] = at;
    return ICL_OK;
}

static void store(struct adapt *adapt, size_t at, const struct icl_phase_cell *from) {
    struct cell *cell = &adapt->cell[at];
    cell->t_icl = from->t_icl;
    cell->t_iwl = from->t_iwl;
    cell->t_loss = from->t_loss;
    cell->outcome = from->outcome;
    cell->failed = from->failed;
}

/* Takes the next row of the earlier run for the cell at; false where there is none left. */
static bool recall(struct adapt *adapt, size_t at) {
    if (!adapt->kept || !*adapt->kept) return false;
    char *end = strchr(adapt->kept, '\n'), *save = NULL, *field[ICL_PHASE_AXES + 5];
    struct icl_phase_cell cell = {.failed = false};
    size_t n = 0;
    if (!end) return false;
    *end = '\0';
    for (char *f = strtok_r(adapt->kept, "\t", &save); f && n < ICL_PHASE_AXES + 5; f = strtok_r(NULL, "\t", &save))
        field[n++] = f;
    adapt->kept = end + 1;
    if (n < ICL_PHASE_AXES + 5) return false;
    cell.t_icl = strtod(field[2], NULL);
    cell.t_iwl = strtod(field[3], NULL);
    cell.t_loss = strtod(field[4], NULL);
    cell.failed = true;
    for (int o = 0; o < ICL_OUTCOME_COUNT; o++)
        if (strcmp(field[5], icl_traj_outcome((enum icl_outcome)o)) == 0) {
            cell.outcome = (enum icl_outcome)o;
            cell.failed = false;
        }
    store(adapt, at, &cell);
    return true;
}

static void compute(size_t index, size_t worker, void *slot, void *context) {
    const struct adapt *adapt = context;
    const struct phase *phase = adapt->phase;
    const size_t at = adapt->wanted[index], nx = phase->axis[0].n, point[ICL_PHASE_AXES] = {at % nx, at / nx};
    (void)worker;
    icl_phase_cell(phase->params, phase->axis, phase->axes, point, slot);
}

static enum icl_status emit(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct adapt *adapt = context;
    const struct icl_phase_cell *cell = slot;
    struct cmd_text text = {0};
    store(adapt, adapt->wanted[index], cell);
    adapt->phase->failed += cell->failed;
    enum icl_status status = cmd_phase_row(adapt->phase, cell, cell->status, &text, err);
    if (status == ICL_OK) status = cmd_sink_add(&adapt->phase->sink, text.bytes, text.length, err);
    cmd_text_free(&text);
    cmd_progress_step(&adapt->phase->progress);
    return status;
}

/* Solves what this round wants: first from the file of a stopped run, then by the pool. */
static enum icl_status solve(struct adapt *adapt, struct icl_err *err) {
    size_t known = 0;
    adapt->phase->solves += adapt->count;
    while (known < adapt->count && recall(adapt, adapt->wanted[known])) known++;
    memmove(adapt->wanted, adapt->wanted + known, (adapt->count - known) * sizeof *adapt->wanted);
    const struct icl_pool_job job = {.n = adapt->count - known,
                                     .slot = sizeof(struct icl_phase_cell),
                                     .threads = adapt->phase->params->ensemble.threads,
                                     .ordered = true,
                                     .compute = compute,
                                     .emit = emit,
                                     .context = adapt,
                                     .stop = adapt->phase->stop};
    adapt->count = 0;
    return icl_pool_run(&job, err);
}

static const struct cell *corner(const struct adapt *adapt, const struct rect *r, int i) {
    return &adapt->cell[(i & 2 ? r->y1 : r->y0) * adapt->phase->axis[0].n + (i & 1 ? r->x1 : r->x0)];
}

/* Whether corners' times are alike: all infinite, or within the ripple of each other. */
static bool alike(double a, double b) {
    return isinf(a) || isinf(b) ? a == b : fabs(a - b) <= ripple * fmin(a, b);
}

static bool uniform(const struct adapt *adapt, const struct rect *r) {
    const struct cell *first = corner(adapt, r, 0);
    for (int i = 1; i < 4; i++) {
        const struct cell *c = corner(adapt, r, i);
        if (c->failed != first->failed) return false;
        if (first->failed) continue;
        if (c->outcome != first->outcome || !alike(c->t_icl, first->t_icl) || !alike(c->t_loss, first->t_loss) ||
            !alike(c->t_iwl, first->t_iwl))
            return false;
    }
    return true;
}

/* The pieces of a rectangle, cut at mx and my (equal to an end: not cut that way). */
static enum icl_status split(struct adapt *adapt, const struct rect *r, struct list *next, struct icl_err *err) {
    const size_t mx = (r->x0 + r->x1) / 2, my = (r->y0 + r->y1) / 2;
    const size_t xs[] = {r->x0, mx, r->x1}, ys[] = {r->y0, my, r->y1};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const struct rect piece = {xs[i], xs[i + 1], ys[j], ys[j + 1]};
            const bool thin_x = piece.x0 == piece.x1 && r->x0 != r->x1, thin_y = piece.y0 == piece.y1 && r->y0 != r->y1;
            if (thin_x || thin_y) continue;
            ICL_TRY(push(next, piece, err));
            for (int k = 0; k < 4; k++)
                ICL_TRY(want(adapt, k & 1 ? piece.x1 : piece.x0, k & 2 ? piece.y1 : piece.y0, err));
        }
    return ICL_OK;
}

static double blend(double a, double b, double share) {
    return a == b ? a : a + share * (b - a);
}

static enum icl_status fill(struct adapt *adapt, const struct rect *r, struct icl_err *err) {
    const struct cell *c[4];
    for (int i = 0; i < 4; i++) c[i] = corner(adapt, r, i);
    for (size_t y = r->y0; y <= r->y1; y++)
        for (size_t x = r->x0; x <= r->x1; x++) {
            struct cell *cell = &adapt->cell[y * adapt->phase->axis[0].n + x];
            if (cell->solved) continue;
            const double u = r->x1 > r->x0 ? (double)(x - r->x0) / (double)(r->x1 - r->x0) : 0;
            const double v = r->y1 > r->y0 ? (double)(y - r->y0) / (double)(r->y1 - r->y0) : 0;
            struct icl_phase_cell row = {.outcome = c[0]->outcome, .failed = c[0]->failed};
            row.t_icl = blend(blend(c[0]->t_icl, c[1]->t_icl, u), blend(c[2]->t_icl, c[3]->t_icl, u), v);
            row.t_iwl = blend(blend(c[0]->t_iwl, c[1]->t_iwl, u), blend(c[2]->t_iwl, c[3]->t_iwl, u), v);
            row.t_loss = blend(blend(c[0]->t_loss, c[1]->t_loss, u), blend(c[2]->t_loss, c[3]->t_loss, u), v);
            struct icl_params scratch = *adapt->phase->params;
            const size_t point[ICL_PHASE_AXES] = {x, y};
            struct cmd_text text = {0};
            for (size_t k = 0; k < ICL_PHASE_AXES; k++)
                ICL_TRY(icl_axis_set(&adapt->phase->axis[k], point[k], &scratch, &row.value[k], err));
            cell->solved = true;
            enum icl_status status = cmd_phase_row(adapt->phase, &row, "filled", &text, err);
            if (status == ICL_OK && adapt->phase->skip > 0)
                adapt->phase->skip--;
            else if (status == ICL_OK)
                status = cmd_sink_add(&adapt->phase->sink, text.bytes, text.length, err);
            cmd_text_free(&text);
            if (status != ICL_OK) return status;
        }
    return ICL_OK;
}

static enum icl_status rounds(struct adapt *adapt, struct list *leaves, struct list *now, struct list *next,
                              struct icl_err *err) {
    while (now->n > 0) {
        ICL_TRY(solve(adapt, err));
        next->n = 0;
        for (size_t i = 0; i < now->n; i++) {
            const struct rect *r = &now->rect[i];
            const bool single = r->x1 - r->x0 <= 1 && r->y1 - r->y0 <= 1;
            if (single) continue;
            if (uniform(adapt, r))
                ICL_TRY(push(leaves, *r, err));
            else
                ICL_TRY(split(adapt, r, next, err));
        }
        const struct list swap = *now;
        *now = *next;
        *next = swap;
    }
    for (const char *c = adapt->kept; c && *c; c++) adapt->phase->skip += *c == '\n'; /* filled by the earlier run */
    for (size_t i = 0; i < leaves->n; i++) ICL_TRY(fill(adapt, &leaves->rect[i], err));
    return ICL_OK;
}

static enum icl_status start(struct adapt *adapt, struct list *now, struct icl_err *err) {
    const size_t nx = adapt->phase->axis[0].n, ny = adapt->phase->axis[1].n;
    for (size_t j = 0; j < COARSE; j++)
        for (size_t i = 0; i < COARSE; i++) {
            const struct rect r = {(nx - 1) * i / COARSE, (nx - 1) * (i + 1) / COARSE, (ny - 1) * j / COARSE,
                                   (ny - 1) * (j + 1) / COARSE};
            if ((r.x0 == r.x1 && nx > 1) || (r.y0 == r.y1 && ny > 1)) continue;
            ICL_TRY(push(now, r, err));
            for (int k = 0; k < 4; k++) ICL_TRY(want(adapt, k & 1 ? r.x1 : r.x0, k & 2 ? r.y1 : r.y0, err));
        }
    return ICL_OK;
}

enum icl_status cmd_phase_adapt(struct phase *phase, char *kept, struct icl_err *err) {
    struct adapt adapt = {.phase = phase, .kept = kept};
    struct list leaves = {0}, now = {0}, next = {0};
    ICL_TRY(icl_mem_alloc(&adapt.cell, phase->axis[0].n * phase->axis[1].n, sizeof *adapt.cell, err));
    enum icl_status status = start(&adapt, &now, err);
    if (status == ICL_OK) status = rounds(&adapt, &leaves, &now, &next, err);
    icl_mem_free(adapt.cell);
    icl_mem_free(adapt.wanted);
    icl_mem_free(leaves.rect);
    icl_mem_free(now.rect);
    icl_mem_free(next.rect);
    return status;
}
