#include "iclkin/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Messages quote what users and files gave us: a control byte is shown as \xNN, so that a message stays one line. */
static void copy_visible(char *to, size_t size, const char *from) {
    size_t used = 0;

    for (; *from != '\0'; from++) {
        const unsigned char byte = (unsigned char)*from;
        const int control = byte < 0x20 || byte == 0x7f;

        if (used + (control ? 4 : 1) >= size) break;
        if (control)
            used += (size_t)snprintf(to + used, size - used, "\\x%02x", byte);
        else
            to[used++] = (char)byte;
    }
    to[used] = '\0';
}

enum icl_status icl_err_set(struct icl_err *err, enum icl_status code, const char *format, ...) {
    char raw[ICL_ERR_TEXT];
    va_list args;

    if (err == NULL) return code;
    va_start(args, format);
    if (vsnprintf(raw, sizeof raw, format, args) < 0) raw[0] = '\0';
    va_end(args);
    err->code = code;
    copy_visible(err->text, sizeof err->text, raw);
    return code;
}

enum icl_status icl_err_context(struct icl_err *err, enum icl_status code, const char *format, ...) {
    char raw[ICL_ERR_TEXT], text[ICL_ERR_TEXT];
    size_t used;
    va_list args;

    if (err == NULL) return code;
    va_start(args, format);
    if (vsnprintf(raw, sizeof raw, format, args) < 0) raw[0] = '\0';
    va_end(args);
    copy_visible(text, sizeof text - 2, raw);
    strcat(text, ": ");
    used = strlen(text);
    memcpy(raw, err->text, sizeof raw);
    memcpy(err->text, text, used);
    copy_visible(err->text + used, sizeof err->text - used, raw);
    err->code = code;
    return code;
}

const char *icl_err_name(enum icl_status code) {
    static const char *const name[ICL_STATUS_COUNT] = {
        [ICL_OK] = "ok",           [ICL_EUSAGE] = "usage",     [ICL_ERANGE] = "range",
        [ICL_ENOMEM] = "memory",   [ICL_EIO] = "input/output", [ICL_ENUMERIC] = "numeric",
        [ICL_ENOROOT] = "no root", [ICL_ESTOPPED] = "stopped",
    };

    return (unsigned)code < ICL_STATUS_COUNT ? name[code] : "unknown";
}
