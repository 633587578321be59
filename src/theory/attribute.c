#include "iclkin/attribute.h"

#include <math.h>

#include "iclkin/memlaw.h"
#include "iclkin/predict.h"

static const struct {
    const char *name, *text;
} names[ICL_INGREDIENT_COUNT] = {
    [ICL_INGREDIENT_D] = {"finite_D", "finite D (T4)"},
    [ICL_INGREDIENT_COPIES] = {"copies", "copies drawn by chance (S2)"},
    [ICL_INGREDIENT_CORRELATION] = {"correlation", "mean label -1/(K-1) (S1)"},
    [ICL_INGREDIENT_BALANCED] = {"balanced", "balanced labels (S2)"},
    [ICL_INGREDIENT_SPREAD] = {"spread", "v on novel items (M1)"},
    [ICL_INGREDIENT_RESPONSE] = {"response", "response of the clock (M4)"},
    [ICL_INGREDIENT_CLOCK] = {"clock", "clock slowed by ICL (M3)"},
    [ICL_INGREDIENT_DAMPING] = {"c2", "damping by w a: c2 (T3), (T5)"},
};

const char *icl_attribute_name(enum icl_ingredient ingredient) {
    return names[ingredient].name;
}

const char *icl_attribute_text(enum icl_ingredient ingredient) {
    return names[ingredient].text;
}

void icl_attribute_leave(struct icl_params *params, enum icl_ingredient ingredient) {
    switch (ingredient) {
    case ICL_INGREDIENT_D:
        params->without |= ICL_WITHOUT_FINITE_D;
        break;
    case ICL_INGREDIENT_COPIES:
        params->without |= ICL_WITHOUT_COPIES;
        break;
    case ICL_INGREDIENT_CORRELATION:
        params->without |= ICL_WITHOUT_CORRELATION;
        break;
    case ICL_INGREDIENT_BALANCED:
        params->task.labels = ICL_LABELS_RANDOM;
        break;
    case ICL_INGREDIENT_SPREAD:
        params->without |= ICL_WITHOUT_SPREAD;
        break;
    case ICL_INGREDIENT_RESPONSE:
        params->memory.closure = ICL_CLOSURE_PLAIN;
        break;
    case ICL_INGREDIENT_CLOCK:
        params->without |= ICL_WITHOUT_CLOCK;
        break;
    case ICL_INGREDIENT_DAMPING:
        params->without |= ICL_WITHOUT_DAMPING;
        break;
    case ICL_INGREDIENT_COUNT:
        break;
    }
}

/* Of the contexts: whether theory.level, labels, copies and K let it be at work. */
static const char *absent_task(const struct icl_params *params, enum icl_ingredient ingredient) {
    const struct icl_task *task = &params->task;
    const bool balanced = task->labels == ICL_LABELS_BALANCED;
    if (ingredient == ICL_INGREDIENT_BALANCED) return balanced ? NULL : "task.labels = random";
    if (ingredient == ICL_INGREDIENT_D) {
        if (params->theory.level == ICL_LEVEL_ASYMPTOTIC) return "not in (T7)";
        return isinf(task->D) ? "task.D = inf" : NULL;
    }
    if (params->theory.level != ICL_LEVEL_MEANFIELD) return "in the mean field only";
    if (isinf(task->K)) return "task.K = inf";
    if (ingredient == ICL_INGREDIENT_CORRELATION) return balanced ? "balanced labels fix the sum" : NULL;
    return task->copies == (balanced ? task->N / 2 : task->N) ? "task.copies leaves nothing to chance" : NULL;
}

static const char *absent_memory(const struct icl_params *params, const struct icl_memlaw *law,
                                 enum icl_ingredient ingredient) {
    const enum icl_level level = params->theory.level;
    if (ingredient == ICL_INGREDIENT_SPREAD) {
        if (level == ICL_LEVEL_ASYMPTOTIC) return "not in (T7)";
        return icl_memlaw_alike(law) ? "v = 0: this memory law has none" : NULL;
    }
    if (level != ICL_LEVEL_MEANFIELD) return "in the mean field only; here s = t";
    if (ingredient == ICL_INGREDIENT_RESPONSE) return law->responds ? NULL : "memory has none, or closure = plain";
    return law->law == ICL_LAW_NONE || law->law == ICL_LAW_CONSTANT ? "c1 does not depend on s" : NULL;
}

static const char *absent(const struct icl_params *params, const struct icl_memlaw *law,
                          enum icl_ingredient ingredient) {
    switch (ingredient) {
    case ICL_INGREDIENT_SPREAD:
    case ICL_INGREDIENT_RESPONSE:
    case ICL_INGREDIENT_CLOCK:
        return absent_memory(params, law, ingredient);
    case ICL_INGREDIENT_DAMPING:
        return params->theory.level == ICL_LEVEL_ASYMPTOTIC ? "not in (T7)" : NULL;
    default:
        return absent_task(params, ingredient);
    }
}

/* A number that cannot be computed costs that number; the first reason is kept. */
static bool tolerable(struct icl_attribute *attribute, const char *without, const struct icl_err *own) {
    if (own->code != ICL_ENUMERIC && own->code != ICL_ERANGE) return false;
    if (attribute->trouble.code == ICL_OK)
        icl_err_set(&attribute->trouble, own->code, "without %s: %s", without, own->text);
    return true;
}

static enum icl_status solve(const struct icl_params *params, const char *without, struct icl_attribute *attribute,
                             struct icl_attribute_numbers *numbers, struct icl_err *err) {
    const enum icl_level level = params->theory.level;
    struct icl_traj_result result = {.t_icl = NAN, .t_loss = NAN};
    struct icl_err own = {ICL_OK, ""};
    enum icl_status status = icl_predict_times(params, level, ICL_TRAJ_TO_END, &result, &own);
    if (status != ICL_OK) {
        if (!tolerable(attribute, without, &own)) return icl_err_set(err, status, "%s", own.text);
        status = icl_predict_times(params, level, ICL_TRAJ_TO_ICL, &result, &own);
        if (status != ICL_OK) result.t_icl = NAN;
        result.t_loss = NAN;
    }
    numbers->t_icl = result.t_icl;
    numbers->t_loss = result.t_loss;
    status = icl_predict_items(params, level, &numbers->K_star, &own);
    if (status == ICL_OK) return ICL_OK;
    numbers->K_star = NAN;
    return tolerable(attribute, without, &own) ? ICL_OK : icl_err_set(err, status, "%s", own.text);
}

enum icl_status icl_attribute_run(const struct icl_params *params, struct icl_attribute *attribute,
                                  struct icl_err *err) {
    const double finer = 1000, least = 1e-9; /* of solver.K_tol */
    struct icl_params whole = *params;
    struct icl_memlaw law;
    *attribute = (struct icl_attribute){0};
    whole.solver.K_tol = fmax(whole.solver.K_tol / finer, least);
    ICL_TRY(icl_memlaw_init(params, params->task.K, &law, err));
    for (int i = 0; i < ICL_INGREDIENT_COUNT; i++) attribute->absent[i] = absent(params, &law, (enum icl_ingredient)i);
    icl_memlaw_free(&law);
    ICL_TRY(solve(&whole, "nothing", attribute, &attribute->with, err));
    for (int i = 0; i < ICL_INGREDIENT_COUNT; i++) {
        struct icl_params left = whole;
        if (attribute->absent[i]) continue;
        icl_attribute_leave(&left, (enum icl_ingredient)i);
        ICL_TRY(solve(&left, icl_attribute_name((enum icl_ingredient)i), attribute, &attribute->without[i], err));
    }
    return ICL_OK;
}
