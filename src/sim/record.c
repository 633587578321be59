#include "sim/record.h"

#include <math.h>

/* An evaluation each 1/16 of the steps past, down to 1/40 while acc_icl is within NEAR of its next crossing or beta
 * runs away. FLOOR, a part of the whole run, is added to what is past, so that the start is not crowded. */
static const double far_spacing = 1.0 / 16, near_spacing = 1.0 / 40, floor_part = 1.0 / 25;
static const double near_icl = 0.3, near_loss = 0.06;

/* Row i's step; the same times as a theory's trajectory has, to the nearest step. */
static uint64_t sample_step(const struct icl_train_setup *setup, uint64_t total, uint64_t i) {
    const double t_max = setup->train.t_max, lr = setup->train.lr, last = (double)setup->observe.samples - 1;
    if (i == 0) return 0;
    if ((double)i >= last) return total;
    if (setup->observe.spacing == ICL_SPACING_LINEAR) return (uint64_t)llround((double)total * ((double)i / last));
    const double first = fmin(lr, t_max * 1e-3);
    const uint64_t step = (uint64_t)llround(first * pow(t_max / first, ((double)i - 1) / (last - 1)) / lr);
    return step < total ? step : total;
}

/* The next row after a step. */
static void advance_row(const struct icl_train_setup *setup, uint64_t step, struct icl_record *record) {
    while (record->next_row <= step) {
        record->samples++;
        record->next_row =
            record->samples < setup->observe.samples ? sample_step(setup, record->total, record->samples) : UINT64_MAX;
    }
}

void icl_record_init(const struct icl_train_setup *setup, struct icl_record *record) {
    const double steps = fmax(round(setup->train.t_max / setup->train.lr), 1);
    const struct icl_train_time never = {INFINITY, 0};
    *record = (struct icl_record){.total = steps < 9e15 ? (uint64_t)steps : UINT64_C(9000000000000000),
                                  .next_row = setup->rows ? 0 : UINT64_MAX,
                                  .t_icl = never,
                                  .t_iwl = never,
                                  .t_loss = never};
}

/* An accuracy of 1 is one whose misses the sample is too small to show. */
static double logit(double p) {
    const double least = 5e-4, x = fmin(fmax(p, least), 1 - least);
    return log(x / (1 - x));
}

/* The crossing of a level between two evaluations: linear in the accuracy's logit, which an acquisition is closely. Its
 * error is the sample's, divided by the slope, and the distance to where a line in the accuracy would cross. */
static void cross(const struct icl_record *record, const struct icl_train_row *row, enum icl_train_column column,
                  double level, bool upward, struct icl_train_time *time) {
    const double a1 = row->value[column], t1 = row->value[ICL_TRAIN_T];
    if (isfinite(time->t) || !(upward ? a1 >= level : a1 < level)) return;
    if (record->evaluated == 0) {
        *time = (struct icl_train_time){t1, 0};
        return;
    }
    const double a0 = record->last.value[column], t0 = record->last.value[ICL_TRAIN_T];
    const double rise = a1 - a0, bend = logit(a1) - logit(a0);
    const double line = rise != 0 ? fmin(fmax((level - a0) / rise, 0), 1) : 1;
    const double part = bend != 0 ? fmin(fmax((logit(level) - logit(a0)) / bend, 0), 1) : line;
    const double sampled = part * row->error[column] + (1 - part) * record->last.error[column];
    time->t = t0 + part * (t1 - t0);
    time->error = hypot(rise != 0 ? sampled / fabs(rise) * (t1 - t0) : t1 - t0, (line - part) * (t1 - t0));
}

/* Steps to the next evaluation after `past` ones. On its way to acquisition e^-beta falls faster and faster to 0, so
 * that 1/(dbeta/dt) bounds the time left; a quarter of that is not stepped over. */
static double spacing(const struct icl_train_setup *setup, const struct icl_record *record,
                      const struct icl_train_row *row, double past) {
    const double acc = row->value[ICL_TRAIN_ACC_ICL];
    const double climbed = row->value[ICL_TRAIN_BETA] - record->last.value[ICL_TRAIN_BETA];
    const double steps = row->value[ICL_TRAIN_STEPS] - record->last.value[ICL_TRAIN_STEPS];
    if (isfinite(record->t_loss.t)) return past * far_spacing;
    if (isfinite(record->t_icl.t))
        return past * (acc < setup->observe.loss_threshold + near_loss ? near_spacing : far_spacing);
    if (acc > setup->observe.icl_threshold - near_icl) return past * near_spacing;
    return climbed > 0 ? fmax(past * near_spacing, fmin(past * far_spacing, steps / (4 * climbed)))
                       : past * far_spacing;
}

/* Takes an evaluation for the times. */
static void time_it(const struct icl_train_setup *setup, uint64_t step, const struct icl_train_row *row,
                    struct icl_record *record) {
    const bool had_icl = isfinite(record->t_icl.t);
    cross(record, row, ICL_TRAIN_ACC_IWL, setup->observe.iwl_threshold, true, &record->t_iwl);
    cross(record, row, ICL_TRAIN_ACC_ICL, setup->observe.icl_threshold, true, &record->t_icl);
    if (had_icl) cross(record, row, ICL_TRAIN_ACC_ICL, setup->observe.loss_threshold, false, &record->t_loss);
    const double past = (double)step + floor_part * (double)record->total;
    record->due = step + (uint64_t)fmax(1, floor(spacing(setup, record, row, past)));
    record->last = *row;
    record->evaluated++;
    if (record->due > record->total) record->due = record->total;
}

void icl_record_take(const struct icl_train_setup *setup, uint64_t step, const struct icl_train_row *row,
                     struct icl_record *record) {
    record->is_row = record->next_row == step;
    if (record->is_row) record->row = *row;
    if (record->due == step) time_it(setup, step, row, record);
    advance_row(setup, step, record);
    record->next = record->due < record->next_row ? record->due : record->next_row;
}
