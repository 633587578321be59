#include "iclkin/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "iclkin/counterpart.h"

#define TIME(name, part, meaning)                                                                                      \
    { name, ICL_QUANTITY_TIME, part, false, meaning }
#define STATE(name, part, meaning)                                                                                     \
    { name, ICL_QUANTITY_STATE, part, false, meaning }

static const struct icl_quantity rows[] = {
    TIME("t_icl", ICL_COUNTERPART_T_ICL, "when ICL is acquired (O2)"),
    TIME("t_iwl", ICL_COUNTERPART_T_IWL, "when the items are memorized (O2)"),
    TIME("t_loss", ICL_COUNTERPART_T_LOSS, "when ICL is lost again (O2)"),
    STATE("w", ICL_COUNTERPART_W, "attention weight w at t"),
    STATE("beta", ICL_COUNTERPART_BETA, "inverse temperature beta at t"),
    STATE("c1", ICL_COUNTERPART_C1, "c1 at t (T1)"),
    STATE("c2", ICL_COUNTERPART_C2, "c2 at t (T1)"),
    STATE("c3", ICL_COUNTERPART_C3, "c3 at t (T1)"),
    STATE("loss_train", ICL_COUNTERPART_LOSS_TRAIN, "training loss at t"),
    STATE("loss_icl", ICL_COUNTERPART_LOSS_ICL, "loss on novel items at t"),
    STATE("loss_iwl", ICL_COUNTERPART_LOSS_IWL, "loss without a copy in context at t"),
    STATE("acc_icl", ICL_COUNTERPART_ACC_ICL, "accuracy on novel items at t (O1)"),
    STATE("acc_iwl", ICL_COUNTERPART_ACC_IWL, "accuracy without a copy in context at t (O1)"),
    {"acquired", ICL_QUANTITY_SHARE, ICL_QUANTITY_ACQUIRED, true, "share of runs that acquire ICL by t_max (O5)"},
    {"outcome", ICL_QUANTITY_SHARE, ICL_QUANTITY_OUTCOME, true,
     "share of runs that end as theory says: never, kept, lost"},
    {"ks", ICL_QUANTITY_SPREAD, 0, true, "Kolmogorov-Smirnov distance of t_icl over runs, from the same starts (O5)"},
    {"K_star", ICL_QUANTITY_ITEMS, 0, false, "K at which half of the runs acquire ICL; x axis task.K (O4)"},
    {"t_icl_power", ICL_QUANTITY_SLOPE_X, ICL_QUANTITY_POWER, false,
     "slope of ln t_icl along x (ln x where it is log)"},
    {"K_star_power", ICL_QUANTITY_SLOPE_Y, ICL_QUANTITY_POWER, false, "slope of ln K* along ln y"},
    {"K_star_height", ICL_QUANTITY_SLOPE_Y, ICL_QUANTITY_HEIGHT, false, "that line's K* in the middle of ln y"},
};

size_t icl_quantity_count(void) {
    return sizeof rows / sizeof *rows;
}

const struct icl_quantity *icl_quantity_row(size_t index) {
    return &rows[index];
}

static enum icl_status find_row(const char *name, const struct icl_quantity **row, struct icl_err *err) {
    char names[ICL_ERR_TEXT / 2] = "";
    for (size_t i = 0; i < icl_quantity_count(); i++) {
        *row = &rows[i];
        if (strcmp(rows[i].name, name) == 0) return ICL_OK;
        strcat(strcat(names, i > 0 ? ", " : ""), rows[i].name);
    }
    return ICL_ERR(err, ICL_EUSAGE, "no such quantity; there are %s", names);
}

/* Cuts text at the first mark, and reads the number after it. */
static enum icl_status cut_number(char *text, char mark, double *value, struct icl_err *err) {
    char *at = strchr(text, mark);
    *value = NAN;
    if (!at) return ICL_OK;
    *at++ = '\0';
    at += strspn(at, " \t");
    if (icl_number_decimal(at, value) && isfinite(*value) && *value > 0) return ICL_OK;
    return ICL_ERR(err, ICL_EUSAGE, "%s after '%c' must be a number above 0", *at ? at : "what stands", mark);
}

static void trim(char *text) {
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) text[--length] = '\0';
}

static enum icl_status parse_entry(char *text, struct icl_quantity_entry *entry, struct icl_err *err) {
    ICL_TRY(cut_number(text, ':', &entry->bound, err));
    trim(text);
    ICL_TRY(cut_number(text, '@', &entry->t, err));
    trim(text);
    ICL_TRY(find_row(text, &entry->row, err));
    const bool state = entry->row->kind == ICL_QUANTITY_STATE;
    if (state && isnan(entry->t)) return ICL_ERR(err, ICL_EUSAGE, "needs a time: %s@t", text);
    if (!state && !isnan(entry->t)) return ICL_ERR(err, ICL_EUSAGE, "%s has no time", text);
    return ICL_OK;
}

enum icl_status icl_quantity_parse(const char *text, struct icl_quantity_list *list, struct icl_err *err) {
    list->count = 0;
    for (const char *at = text; *at;) {
        char copy[ICL_QUANTITY_LABEL];
        at += strspn(at, " \t,");
        const size_t length = strcspn(at, ",");
        if (length == 0) break;
        if (length >= sizeof copy) return ICL_ERR(err, ICL_EUSAGE, "%.*s: too long", (int)length, at);
        snprintf(copy, sizeof copy, "%.*s", (int)length, at);
        trim(copy);
        if (list->count == ICL_QUANTITY_LIST)
            return ICL_ERR(err, ICL_EUSAGE, "%s: more than %d quantities", copy, ICL_QUANTITY_LIST);
        const enum icl_status status = parse_entry(copy, &list->entry[list->count++], err);
        if (status != ICL_OK) return icl_err_context(err, status, "%.*s", (int)length, at);
        at += length;
    }
    return list->count > 0 ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "names no quantity");
}

const char *icl_quantity_label(const struct icl_quantity_entry *entry, char label[ICL_QUANTITY_LABEL]) {
    char number[ICL_NUMBER_SIZE];
    if (isnan(entry->t))
        snprintf(label, ICL_QUANTITY_LABEL, "%s", entry->row->name);
    else
        snprintf(label, ICL_QUANTITY_LABEL, "%s@%s", entry->row->name, icl_number_brief(entry->t, number));
    return label;
}
