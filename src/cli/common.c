/* common.c -- what several commands need: the opening of a table, the data files, text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "iclkin/memlaw.h"
#include "iclkin/version.h"

enum icl_status cmd_head(struct icl_table *table, const char *command, struct icl_err *err) {
    ICL_TRY(icl_table_meta(table, err, "iclkin", "%s (%s)", icl_version_text(), icl_version_commit()));
    return icl_table_meta(table, err, "command", "%s", command);
}

const char *cmd_header_value(const struct cmd_line *line, const char *key, char buffer[ICL_TEXT_SIZE]) {
    char *bytes, *save = NULL;
    size_t length;
    const char *found = NULL;
    if (!line->file || icl_table_slurp(line->file, &bytes, &length, NULL) != ICL_OK) return NULL;
    for (char *at = strtok_r(bytes, "\n", &save); at && at[0] == '#' && !found; at = strtok_r(NULL, "\n", &save)) {
        const size_t n = strlen(key);
        if (strncmp(at + 2, key, n) != 0 || strncmp(at + 2 + n, " = ", 3) != 0) continue;
        snprintf(buffer, ICL_TEXT_SIZE, "%s", at + n + 5);
        found = buffer;
    }
    icl_table_release(bytes);
    return found;
}

/* Whether two rows set the same value, one of them with another. */
static bool clash(const struct icl_param *a, const struct icl_param *b) {
    const struct icl_param *both = a->type == ICL_PARAM_BOTH ? a : b, *one = both == a ? b : a;
    return a != b && both->type == ICL_PARAM_BOTH && (one->offset == both->offset || one->offset == both->offset2);
}

enum icl_status cmd_axes_check(const struct cmd_line *line, const struct icl_axis *axis, size_t axes,
                               struct icl_err *err) {
    if (axes > 1 && axis[0].param == axis[1].param)
        return ICL_ERR(err, ICL_EUSAGE, "-x and -y: %s on both", axis[0].name);
    if (axes > 1 && clash(axis[0].param, axis[1].param))
        return ICL_ERR(err, ICL_EUSAGE, "-x %s: given with -y %s", axis[0].name, axis[1].name);
    for (size_t i = 0; i < line->settings; i++) {
        char name[ICL_AXIS_NAME];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line->setting[i], "="), line->setting[i]);
        const struct icl_param *set = icl_params_find(name);
        for (size_t k = 0; k < axes && set; k++)
            if (axis[k].param->type == ICL_PARAM_BOTH && clash(axis[k].param, set))
                return ICL_ERR(err, ICL_EUSAGE, "axis %s: given with -s %s", axis[k].name, name);
    }
    return ICL_OK;
}

enum icl_status cmd_data_path(const char *folder, const char *name, char path[CMD_PATH], struct icl_err *err) {
    char program[CMD_PATH];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    const char *const root[] = {program, program, icl_version_datadir()};
    const char *const below[] = {"", "/../share/iclkin", ""};
    for (size_t i = 0; i < sizeof root / sizeof *root; i++) {
        const int length = snprintf(path, CMD_PATH, "%s%s/%s/%s", root[i], below[i], folder, name);
        if (length > 0 && length < CMD_PATH && access(path, R_OK) == 0) return ICL_OK;
    }
    return ICL_ERR(err, ICL_EIO, "%s/%s: not found beside the program, nor in %s", folder, name, icl_version_datadir());
}

enum icl_status cmd_memory_read(struct icl_params *params, struct icl_memtable **table, struct icl_err *err) {
    char path[CMD_PATH];
    *table = NULL;
    if (params->memory.law != ICL_LAW_TABLE) return ICL_OK;
    const char *const named = params->memory.table;
    snprintf(path, sizeof path, "%s", named);
    if (!strpbrk(named, "/.")) { /* a name: of a shipped table */
        char file[ICL_TEXT_SIZE + 8];
        snprintf(file, sizeof file, "%s.tsv", named);
        const enum icl_status status = cmd_data_path("params/memory", file, path, err);
        if (status != ICL_OK) return icl_err_context(err, ICL_EUSAGE, "memory.table = %s", named);
    }
    const enum icl_status status = icl_memtable_read(table, path, err);
    params->memtable = *table;
    return status == ICL_EIO ? (err->code = ICL_EUSAGE) : status; /* as a parameter file that cannot be read */
}

enum icl_status cmd_memory_mark(const struct icl_params *params, double s, struct icl_table *table,
                                struct icl_err *err) {
    struct icl_memlaw law;
    char text[ICL_TEXT_SIZE];
    if (params->memory.law != ICL_LAW_TABLE || isinf(params->task.K)) return ICL_OK;
    ICL_TRY(icl_memlaw_init(params, params->task.K, &law, err));
    const char *const beyond = icl_memlaw_beyond(&law, params->task.K, s, text);
    icl_memlaw_free(&law);
    return beyond ? icl_table_meta(table, err, "extrapolated", "%s", beyond) : ICL_OK;
}

void cmd_remark(const struct cmd_line *line, const char *format, ...) {
    if (line->quiet) return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "iclkin %s: ", line->command);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

enum icl_status cmd_text_add(struct cmd_text *text, struct icl_err *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) return ICL_ERR(err, ICL_EIO, "text could not be formatted");
    const size_t need = text->length + (size_t)length + 1;
    if (need > text->size) {
        const size_t size = need < 2 * text->size ? 2 * text->size : need + 1024;
        ICL_TRY(icl_mem_grow(&text->bytes, text->size, size, 1, err));
        text->size = size;
    }
    va_start(arguments, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
    return ICL_OK;
}

void cmd_text_free(struct cmd_text *text) {
    icl_mem_free(text->bytes);
    *text = (struct cmd_text){0};
}
