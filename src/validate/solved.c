#include "validate/solved.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static size_t at_state(const struct icl_solved *solved, int level, size_t run) {
    return ((size_t)level * solved->runs + run) * solved->states * ICL_COUNTERPART_STATES;
}

const struct icl_solved_run *icl_solved_of(const struct icl_solved *solved, enum icl_level level, size_t run) {
    return &solved->run[(size_t)level * solved->runs + run];
}

const double *icl_solved_state(const struct icl_solved *solved, enum icl_level level, size_t run, size_t state) {
    return solved->state + at_state(solved, (int)level, run) + state * ICL_COUNTERPART_STATES;
}

static void forget(struct icl_solved *solved, int level, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        struct icl_solved_run *run = &solved->run[(size_t)level * solved->runs + i];
        for (int k = 0; k < ICL_COUNTERPART_TIMES; k++) run->times[k] = NAN;
        double *const state = solved->state + at_state(solved, level, i);
        for (size_t k = 0; k < solved->states * ICL_COUNTERPART_STATES; k++) state[k] = NAN;
    }
}

/* Runs that start alike are solved once. */
static enum icl_status solve_runs(struct icl_solved *solved, const struct icl_validate_ensemble *of, int level,
                                  size_t first, size_t end, struct icl_counterpart *counterpart, struct icl_err *err) {
    const size_t width = solved->states * ICL_COUNTERPART_STATES;
    for (size_t i = first; i < end; i++) {
        const struct icl_validate_run *run = &of->run[i];
        struct icl_solved_run *out = &solved->run[(size_t)level * solved->runs + i];
        double *const state = solved->state + at_state(solved, level, i);
        if (i > first && run->w0 == run[-1].w0 && run->beta0 == run[-1].beta0) {
            *out = out[-1];
            memcpy(state, state - width, width * sizeof *state);
            continue;
        }
        ICL_TRY(icl_counterpart_run(counterpart, run->w0, run->beta0, out->times, &out->outcome, state, err));
    }
    return ICL_OK;
}

static enum icl_status solve_point(struct icl_solved *solved, const struct icl_validate_ensemble *of, int level,
                                   size_t first, size_t end, struct icl_err *trouble, struct icl_err *err) {
    struct icl_params params = *of->params;
    struct icl_counterpart *counterpart = NULL;
    struct icl_err own = {ICL_OK, ""};
    double t[ICL_QUANTITY_LIST];
    size_t n = 0;
    for (size_t e = 0; e < of->list->count; e++)
        if (of->list->entry[e].row->kind == ICL_QUANTITY_STATE) t[n++] = of->list->entry[e].t;
    if (of->axis) ICL_TRY(icl_params_put(&params, of->axis, of->run[first].x, err));
    enum icl_status status = icl_counterpart_alloc(&counterpart, &params, (enum icl_level)level, n, t, &own);
    if (status == ICL_OK) status = solve_runs(solved, of, level, first, end, counterpart, &own);
    icl_counterpart_free(counterpart);
    if (status == ICL_OK) return ICL_OK;
    if (status == ICL_ENOMEM || status == ICL_EUSAGE) return icl_err_set(err, status, "%s", own.text);
    if (trouble->code == ICL_OK) *trouble = own;
    forget(solved, level, first, end);
    return ICL_OK;
}

enum icl_status icl_solved_init(struct icl_solved *solved, const struct icl_validate_ensemble *of,
                                struct icl_err *trouble, struct icl_err *err) {
    *solved = (struct icl_solved){.runs = of->runs, .states = of->states};
    ICL_TRY(icl_mem_alloc(&solved->run, ICL_LEVEL_COUNT * of->runs + 1, sizeof *solved->run, err));
    ICL_TRY(icl_mem_alloc(&solved->state, ICL_LEVEL_COUNT * of->runs * of->states * ICL_COUNTERPART_STATES + 1,
                          sizeof *solved->state, err));
    for (size_t first = 0, end; first < of->runs; first = end) {
        for (end = first + 1; end < of->runs && !(of->run[end].x > of->run[first].x);) end++;
        for (int level = 0; level < ICL_LEVEL_COUNT; level++)
            ICL_TRY(solve_point(solved, of, level, first, end, trouble, err));
    }
    return ICL_OK;
}

void icl_solved_free(struct icl_solved *solved) {
    icl_mem_free(solved->run);
    icl_mem_free(solved->state);
    *solved = (struct icl_solved){0};
}
