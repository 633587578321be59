/* ini.h -- the three forms in which parameters are read, as (section, key, value, line); private to src/.
 *
 * bytes    copied line by line, never changed; need not end with a zero byte
 * Fails    at the first error, the reader's own ("FILE:LINE: ...", ICL_EUSAGE) or its handler's.
 */
#ifndef ICLKIN_INI_H
#define ICLKIN_INI_H

#include <stddef.h>

#include "iclkin/err.h"

struct icl_ini_entry {
    const char *file;
    size_t line; /* from 1 */
    const char *section;
    const char *key, *value; /* both NULL: a section begins */
};

typedef enum icl_status icl_ini_handler(void *context, const struct icl_ini_entry *entry, struct icl_err *err);

/* An INI file: [section], key = value, comments after ; or # on a line of their own or after white space; CRLF and a
 * byte-order mark are taken. No continuation lines, no key before the first section, no key without a value. */
enum icl_status icl_ini_parse(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                              void *context, struct icl_err *err) ICL_MUST_CHECK;

/* The `# section.key = value` lines at the head of a table; lines of another form are passed over. */
enum icl_status icl_ini_header(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                               void *context, struct icl_err *err) ICL_MUST_CHECK;

/* The object "params" of `predict --json`, in the very form in which it is written: `"params": {` on a line, then one
 * `"section.key": value` a line, then `}`. */
enum icl_status icl_ini_json(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                             void *context, struct icl_err *err) ICL_MUST_CHECK;

#endif
