/* params.h -- the parameters: structs grown from params.def, and the ways in and out of them.
 *
 * Sources are applied in order (defaults, then a file, then the -s options); a later source overrides an earlier one,
 * a key given twice in one source is an error, and so is train.lambda with train.lambda_w or train.lambda_beta in one.
 *
 * Fails    ICL_EUSAGE with one line: source (file:line or -s), [section] key = value, the rule. The struct is then
 *          unspecified. ICL_EIO where a file cannot be read.
 * Threads  no shared state.
 */
#ifndef ICLKIN_PARAMS_H
#define ICLKIN_PARAMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "iclkin/err.h"
#include "iclkin/table.h"

enum icl_labels { ICL_LABELS_RANDOM, ICL_LABELS_BALANCED };
enum icl_items { ICL_ITEMS_GAUSSIAN, ICL_ITEMS_UNIT };
enum icl_level { ICL_LEVEL_ASYMPTOTIC, ICL_LEVEL_REDUCED, ICL_LEVEL_MEANFIELD, ICL_LEVEL_COUNT };
enum icl_law { ICL_LAW_NONE, ICL_LAW_CONSTANT, ICL_LAW_POWERLAW, ICL_LAW_TABLE };
enum icl_closure { ICL_CLOSURE_AUTO, ICL_CLOSURE_PLAIN, ICL_CLOSURE_RESPONSE };
enum icl_extrapolate { ICL_EXTRAPOLATE_NO, ICL_EXTRAPOLATE_YES };
enum icl_spacing { ICL_SPACING_LINEAR, ICL_SPACING_LOG };
enum icl_sim_model { ICL_SIM_MINIMAL, ICL_SIM_TRANSFORMER };
enum icl_label_code { ICL_CODE_SIGN, ICL_CODE_ONEHOT };
enum icl_stop { ICL_STOP_AUTO, ICL_STOP_ICL, ICL_STOP_END };

/* The steppers of GSL's odeiv2, in the order of the const table in src/num/steppers.c. */
#define ICL_STEPPER_NAMES "rk2|rk4|rkf45|rkck|rk8pd|rk1imp|rk2imp|rk4imp|bsimp|msadams|msbdf"
enum icl_stepper {
    ICL_STEPPER_RK2,
    ICL_STEPPER_RK4,
    ICL_STEPPER_RKF45,
    ICL_STEPPER_RKCK,
    ICL_STEPPER_RK8PD,
    ICL_STEPPER_RK1IMP,
    ICL_STEPPER_RK2IMP,
    ICL_STEPPER_RK4IMP,
    ICL_STEPPER_BSIMP,
    ICL_STEPPER_MSADAMS,
    ICL_STEPPER_MSBDF,
    ICL_STEPPER_COUNT,
    ICL_STEPPER_DEFAULT = ICL_STEPPER_RK8PD
};

enum { ICL_TEXT_SIZE = 512 };

enum icl_param_flag {
    ICL_P_INTEGER = 1,
    ICL_P_EVEN = 2,
    ICL_P_INF = 4,
    ICL_P_AUTO = 8,
    ICL_P_ABOVE = 16,
    ICL_P_BELOW = 32,
    ICL_P_SPEED = 64,
    ICL_P_LIST = 128
};

#define SECTION(name, meaning) struct icl_##name {
#define END(name)                                                                                                      \
    }                                                                                                                  \
    ;
#define REAL(section, key, preset, lo, hi, flags, unit, meaning) double key;
#define COUNT(section, key, preset, lo, hi, flags, unit, meaning) size_t key;
#define CHOICE(section, key, preset, tag, names, meaning) enum tag key;
#define TEXT(section, key, preset, flags, meaning) char key[ICL_TEXT_SIZE];
#define BOTH(section, key, first, second, unit, meaning)
#include "iclkin/params.def"
#undef SECTION
#undef END
#undef REAL
#undef COUNT
#undef CHOICE
#undef TEXT
#undef BOTH

struct icl_memtable;

/* Ingredients of the theory that can be left out, and no parameter does it (attribute.h). */
enum icl_without {
    ICL_WITHOUT_FINITE_D = 1,    /* that D is finite: scores are 0 and 1 (T2), while memory is that of task.D */
    ICL_WITHOUT_COPIES = 2,      /* the target's further copies, drawn by chance (S2) */
    ICL_WITHOUT_CORRELATION = 4, /* the other items' mean label, -1/(K - 1) (S1) */
    ICL_WITHOUT_SPREAD = 8,      /* the variance v of phi on novel items (M1) */
    ICL_WITHOUT_CLOCK = 16,      /* that ICL slows memorization: s = t (M3) */
    ICL_WITHOUT_DAMPING = 32     /* that w a lowers the error signal: c2 (T5), sigma(-z) for sigma(-phi_+) (T3) */
};

struct icl_params {
    struct icl_task task;
    struct icl_init init;
    struct icl_train train;
    struct icl_theory theory;
    struct icl_memory memory;
    struct icl_solver solver;
    struct icl_observe observe;
    struct icl_sim sim;
    struct icl_calibrate calibrate;
    struct icl_ensemble ensemble;
    struct icl_validate validate;
    const struct icl_memtable *memtable; /* law table: the file of memory.table, loaded by the caller (memtable.h) */
    unsigned without;                    /* of enum icl_without; 0, as by default: the whole theory */
};

enum icl_param_type { ICL_PARAM_REAL, ICL_PARAM_COUNT, ICL_PARAM_CHOICE, ICL_PARAM_TEXT, ICL_PARAM_BOTH };

/* One row of the table, for help, completion, axes and tests. */
struct icl_param {
    const char *section, *key;
    enum icl_param_type type;
    unsigned flags;        /* of enum icl_param_flag */
    double preset, lo, hi; /* REAL and COUNT */
    const char *names;     /* CHOICE: "a|b|c"; TEXT: the default; BOTH: "first|second" */
    const char *unit;      /* "" for CHOICE and TEXT */
    const char *meaning;   /* one line */
    size_t offset;         /* within struct icl_params (BOTH: of the first) */
    size_t offset2;        /* BOTH: of the second; else 0 */
};

size_t icl_params_count(void);
const struct icl_param *icl_params_row(size_t index);
/* The row of "section.key", or NULL. */
const struct icl_param *icl_params_find(const char *name);
/* Whether headers state it: it is stored, and can change a result. */
bool icl_params_stated(const struct icl_param *row);
/* The meaning of a section, or NULL. */
const char *icl_params_section(const char *section);

void icl_params_default(struct icl_params *params);

/* Reads a parameter file: an INI file, any table that iclkin wrote, or the JSON of `predict --json`. */
enum icl_status icl_params_load(struct icl_params *params, const char *path, struct icl_err *err) ICL_MUST_CHECK;
/* The same from memory; name stands for the file in messages. */
enum icl_status icl_params_parse(struct icl_params *params, const char *name, const char *bytes, size_t length,
                                 struct icl_err *err) ICL_MUST_CHECK;
/* Applies the n "section.key=value" of the -s options, as one source. */
enum icl_status icl_params_apply(struct icl_params *params, const char *const *assignment, size_t n,
                                 struct icl_err *err) ICL_MUST_CHECK;
/* The rules that join several keys (N even where balanced, copies <= N or N/2, ...). Call once all sources are in. */
enum icl_status icl_params_check(const struct icl_params *params, struct icl_err *err) ICL_MUST_CHECK;

/* A numeric parameter (REAL, COUNT, BOTH) as a number. put rounds whole-number parameters to the nearest (even) one
 * and checks the range: what an axis does. */
double icl_params_get(const struct icl_params *params, const struct icl_param *row);
enum icl_status icl_params_put(struct icl_params *params, const struct icl_param *row, double value,
                               struct icl_err *err) ICL_MUST_CHECK;
/* Any stored parameter's value as the text that reads back to it. Returns buffer. */
const char *icl_params_text(const struct icl_params *params, const struct icl_param *row, char buffer[ICL_TEXT_SIZE]);

/* What sim.eval_items buys of an evaluation of acc_icl (O1): novel items, and contexts of each, every one taken twice.
 */
void icl_params_novel(const struct icl_sim *sim, size_t *items, size_t *contexts);

/* `# section.key = value` for every parameter that is stated, into the header of table. */
enum icl_status icl_params_meta(const struct icl_params *params, struct icl_table *table,
                                struct icl_err *err) ICL_MUST_CHECK;

#endif
