/* validate_settings.c -- which settings are validated, and of which ensembles they are made. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/validate.h"
#include "iclkin/memlaw.h"

/* ---- files ------------------------------------------------------------------------------------------------------ */

static const char ending[] = ".ini";

static bool is_setting(const char *name) {
    const size_t length = strlen(name), tail = sizeof ending - 1;
    return name[0] != '.' && length > tail && strcmp(name + length - tail, ending) == 0;
}

static enum icl_status add_setting(struct validate *validate, const char *path, struct icl_err *err) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t length = strlen(base) - (is_setting(base) ? sizeof ending - 1 : 0);
    if (length >= VALIDATE_NAME || strlen(path) >= CMD_PATH)
        return ICL_ERR(err, ICL_EUSAGE, "%.80s...: too long a name for a setting", path);
    ICL_TRY(
        icl_mem_grow(&validate->setting, validate->settings, validate->settings + 1, sizeof *validate->setting, err));
    struct validate_setting *setting = &validate->setting[validate->settings++];
    memset(setting, 0, sizeof *setting);
    snprintf(setting->name, sizeof setting->name, "%.*s", (int)length, base);
    snprintf(setting->path, sizeof setting->path, "%s", path);
    for (size_t i = 0; i + 1 < validate->settings; i++)
        if (strcmp(validate->setting[i].name, setting->name) == 0)
            return ICL_ERR(err, ICL_EUSAGE, "%s and %s: two settings of one name", validate->setting[i].path, path);
    return ICL_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct validate_setting *)a)->name, ((const struct validate_setting *)b)->name);
}

/* Every setting of params/validate, or of the quick list within, by name. */
static enum icl_status add_folder(struct validate *validate, struct icl_err *err) {
    char folder[CMD_PATH], path[2 * CMD_PATH];
    ICL_TRY(cmd_data_path("params", validate->line->quick ? "validate/quick" : "validate", folder, err));
    DIR *open = opendir(folder);
    if (!open) return ICL_ERR(err, ICL_EIO, "%s: %s", folder, strerror(errno));
    enum icl_status status = ICL_OK;
    for (struct dirent *entry; status == ICL_OK && (entry = readdir(open)) != NULL;) {
        if (!is_setting(entry->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        status = add_setting(validate, path, err);
    }
    closedir(open);
    if (status == ICL_OK && validate->settings == 0) status = ICL_ERR(err, ICL_EUSAGE, "%s: no setting in it", folder);
    if (status == ICL_OK) qsort(validate->setting, validate->settings, sizeof *validate->setting, by_name);
    return status;
}

/* ---- one setting ------------------------------------------------------------------------------------------------ */

/* A table's path may be given from where its setting lies. */
static void find_table(struct validate_setting *setting) {
    char beside[CMD_PATH + ICL_TEXT_SIZE];
    char *const table = setting->params.memory.table;
    const char *slash = strrchr(setting->path, '/');
    if (!slash || table[0] == '/' || strcmp(table, "default") == 0 || access(table, R_OK) == 0) return;
    const int length = snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - setting->path), setting->path, table);
    if (length < ICL_TEXT_SIZE && access(beside, R_OK) == 0) memcpy(table, beside, (size_t)length + 1);
}

static enum icl_status read_axis(const char *spec, struct icl_axis *axis, struct icl_err *err) {
    return strcmp(spec, "none") == 0 ? ICL_OK : icl_axis_parse(axis, spec, err);
}

/* What its quantities need. */
static enum icl_status check_list(const struct validate_setting *setting, struct icl_err *err) {
    const struct icl_param *K = icl_params_find("task.K");
    char label[ICL_QUANTITY_LABEL];
    for (size_t e = 0; e < setting->list.count; e++) {
        const struct icl_quantity_entry *entry = &setting->list.entry[e];
        const enum icl_quantity_kind kind = entry->row->kind;
        const char *const name = icl_quantity_label(entry, label);
        if ((kind == ICL_QUANTITY_ITEMS || kind == ICL_QUANTITY_SLOPE_Y) && setting->x.param != K)
            return ICL_ERR(err, ICL_EUSAGE, "%s: needs validate.xaxis = task.K=...", name);
        if (kind == ICL_QUANTITY_SLOPE_X && (!setting->x.param || setting->x.n < 2))
            return ICL_ERR(err, ICL_EUSAGE, "%s: needs a validate.xaxis of two points or more", name);
        if (kind == ICL_QUANTITY_SLOPE_Y && (!setting->y.param || setting->y.n < 2 || !(setting->y.lo > 0)))
            return ICL_ERR(err, ICL_EUSAGE, "%s: needs a validate.yaxis of two points or more, above 0", name);
        if (kind == ICL_QUANTITY_STATE && entry->t > setting->params.train.t_max)
            return ICL_ERR(err, ICL_EUSAGE, "%s: lies beyond train.t_max = %g", name, setting->params.train.t_max);
    }
    if (setting->params.validate.tilt != 0 && !(setting->x.param && setting->y.param && setting->y.lo > 0))
        return ICL_ERR(err, ICL_EUSAGE, "[validate] tilt = %g: needs an xaxis and a yaxis above 0",
                       setting->params.validate.tilt);
    return ICL_OK;
}

static enum icl_status read_setting(const struct cmd_line *line, struct validate_setting *setting,
                                    struct icl_err *err) {
    struct icl_params *params = &setting->params;
    icl_params_default(params);
    const enum icl_status status = icl_params_load(params, setting->path, err);
    if (status != ICL_OK) return err->code = status == ICL_EIO ? ICL_EUSAGE : status;
    ICL_TRY(icl_params_apply(params, line->setting, line->settings, err));
    ICL_TRY(icl_params_check(params, err));
    ICL_TRY(icl_quantity_parse(params->validate.compare, &setting->list, err));
    ICL_TRY(read_axis(params->validate.xaxis, &setting->x, err));
    ICL_TRY(read_axis(params->validate.yaxis, &setting->y, err));
    ICL_TRY(check_list(setting, err));
    setting->parts = setting->y.param ? setting->y.n : 1;
    find_table(setting);
    return cmd_memory_read(params, &setting->table, err);
}

/* ---- its ensembles ---------------------------------------------------------------------------------------------- */

/* What is simulated does not depend on the theory. */
static struct icl_params simulated(const struct icl_params *params, const struct icl_quantity_list *list) {
    struct icl_params only = *params, preset;
    icl_params_default(&preset);
    only.theory = preset.theory;
    only.memory = preset.memory;
    if (params->memory.law == ICL_LAW_NONE) only.memory.law = ICL_LAW_NONE; /* attention alone */
    only.solver = preset.solver;
    only.calibrate = preset.calibrate;
    only.validate = preset.validate;
    only.memtable = NULL;
    for (size_t e = 0; e < list->count; e++) {
        const struct icl_quantity *row = list->entry[e].row;
        if ((row->kind == ICL_QUANTITY_TIME && row->part != ICL_COUNTERPART_T_ICL) || row->kind == ICL_QUANTITY_STATE ||
            (row->kind == ICL_QUANTITY_SHARE && row->part == ICL_QUANTITY_OUTCOME))
            only.ensemble.stop = ICL_STOP_END;
    }
    return only;
}

/* The columns of a row that the list's states are. */
static const enum icl_train_column column_of[ICL_COUNTERPART_STATES] = {
    [ICL_COUNTERPART_W] = ICL_TRAIN_W,
    [ICL_COUNTERPART_BETA] = ICL_TRAIN_BETA,
    [ICL_COUNTERPART_C1] = ICL_TRAIN_C1,
    [ICL_COUNTERPART_C2] = ICL_TRAIN_C2,
    [ICL_COUNTERPART_C3] = ICL_TRAIN_C3,
    [ICL_COUNTERPART_LOSS_TRAIN] = ICL_TRAIN_LOSS_TRAIN,
    [ICL_COUNTERPART_LOSS_ICL] = ICL_TRAIN_LOSS_ICL,
    [ICL_COUNTERPART_LOSS_IWL] = ICL_TRAIN_LOSS_IWL,
    [ICL_COUNTERPART_ACC_ICL] = ICL_TRAIN_ACC_ICL,
    [ICL_COUNTERPART_ACC_IWL] = ICL_TRAIN_ACC_IWL,
};

static void tilt_axis(const struct validate_part *part, struct icl_axis *axis) {
    const struct validate_setting *setting = part->setting;
    const double factor = pow(part->y / setting->y.lo, setting->params.validate.tilt);
    *axis = setting->x;
    if (isnan(factor)) return;
    axis->lo *= factor;
    axis->hi *= factor;
}

static enum icl_status plan_part(struct validate *validate, struct validate_part *part, size_t place,
                                 struct icl_err *err) {
    const struct validate_setting *setting = part->setting;
    char number[ICL_NUMBER_SIZE], point[VALIDATE_NAME] = "";
    part->y = NAN;
    part->params = setting->params;
    if (setting->y.param) {
        ICL_TRY(icl_axis_set(&setting->y, place, &part->params, &part->y, err));
        snprintf(point, sizeof point, ".%.20s=%s", setting->y.param->key, icl_table_number(part->y, number));
    }
    const int length =
        snprintf(part->output, sizeof part->output, "%s/%s%s.tsv", validate->folder, setting->name, point);
    if (length < 0 || length >= CMD_PATH) return ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
    if (setting->x.param) {
        struct icl_axis axis;
        tilt_axis(part, &axis);
        icl_axis_text(&axis, part->xaxis);
    }
    part->line = (struct cmd_line){.command = validate->line->command,
                                   .output = part->output,
                                   .xaxis = setting->x.param ? part->xaxis : NULL,
                                   .shard = "1/1",
                                   .quiet = validate->line->quiet,
                                   .resume = true,
                                   .params = simulated(&part->params, &setting->list)};
    part->ensemble =
        (struct ensemble){.line = &part->line, .board = &validate->board, .watch = part->watch, .bare = true};
    for (size_t e = 0; e < setting->list.count; e++) {
        const struct icl_quantity_entry *entry = &setting->list.entry[e];
        if (entry->row->kind != ICL_QUANTITY_STATE) continue;
        part->watch[part->ensemble.watches++] = (struct ensemble_watch){column_of[entry->row->part], entry->t};
    }
    snprintf(part->ensemble.prefix, sizeof part->ensemble.prefix, "%zu\t", (size_t)(part - validate->part));
    ICL_TRY(cmd_ensemble_plan(&part->ensemble, err));
    return cmd_ensemble_folder(&part->ensemble, err);
}

enum icl_status cmd_validate_params(const struct validate_part *part, size_t job, struct icl_params *params,
                                    struct icl_err *err) {
    struct icl_params simulated_ones;
    *params = part->params;
    ICL_TRY(cmd_ensemble_params(&part->ensemble, job, &simulated_ones, err));
    params->task = simulated_ones.task;
    params->init = simulated_ones.init;
    params->train = simulated_ones.train;
    params->observe = simulated_ones.observe;
    params->sim = simulated_ones.sim;
    return ICL_OK;
}

/* What cannot be simulated, or where theory's memory says nothing, is refused before the first run. */
static enum icl_status check_points(const struct validate_part *part, struct icl_err *err) {
    struct icl_params params;
    struct icl_memlaw law;
    for (size_t point = 0; point < part->ensemble.points; point++) {
        ICL_TRY(cmd_validate_params(part, point * part->ensemble.runs, &params, err));
        ICL_TRY(icl_memlaw_init(&params, params.task.K, &law, err));
    }
    return ICL_OK;
}

static enum icl_status plan_parts(struct validate *validate, struct icl_err *err) {
    for (size_t i = 0; i < validate->settings; i++) validate->parts += validate->setting[i].parts;
    ICL_TRY(icl_mem_alloc(&validate->part, validate->parts, sizeof *validate->part, err));
    ICL_TRY(icl_mem_alloc(&validate->items, validate->parts, sizeof *validate->items, err));
    struct validate_part *part = validate->part;
    for (size_t i = 0; i < validate->settings; i++)
        for (size_t place = 0; place < validate->setting[i].parts; place++, part++) {
            part->setting = &validate->setting[i];
            enum icl_status status = plan_part(validate, part, place, err);
            if (status == ICL_OK) status = check_points(part, err);
            if (status != ICL_OK) return icl_err_context(err, status, "setting %s", part->setting->name);
        }
    return ICL_OK;
}

enum icl_status cmd_validate_settings(struct validate *validate, struct icl_err *err) {
    const struct cmd_line *line = validate->line;
    if (line->quick && line->lists > 0) return ICL_ERR(err, ICL_EUSAGE, "--quick: has its own list of settings");
    for (size_t i = 0; i < line->lists; i++) ICL_TRY(add_setting(validate, line->list[i], err));
    if (line->lists == 0) ICL_TRY(add_folder(validate, err));
    for (size_t i = 0; i < validate->settings; i++) {
        const enum icl_status status = read_setting(line, &validate->setting[i], err);
        if (status != ICL_OK && strstr(err->text, validate->setting[i].path) != err->text)
            return icl_err_context(err, status, "%s", validate->setting[i].path);
        ICL_TRY(status);
    }
    return plan_parts(validate, err);
}

void cmd_validate_free(struct validate *validate) {
    for (size_t i = 0; validate->part && i < validate->parts; i++) cmd_ensemble_free(&validate->part[i].ensemble);
    for (size_t i = 0; i < validate->settings; i++) icl_memtable_free(validate->setting[i].table);
    icl_mem_free(validate->items);
    icl_mem_free(validate->sample);
    icl_mem_free(validate->row);
    icl_mem_free(validate->part);
    icl_mem_free(validate->setting);
}
