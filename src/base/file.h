/* file.h -- whole files in and out; private to src/. Contracts as icl_table_save and icl_table_slurp in table.h. */
#ifndef ICLKIN_FILE_H
#define ICLKIN_FILE_H

#include <stddef.h>

#include "iclkin/err.h"

enum icl_status icl_file_write(const char *path, const char *bytes, size_t length, struct icl_err *err) ICL_MUST_CHECK;
enum icl_status icl_file_read(const char *path, char **bytes, size_t *length, struct icl_err *err) ICL_MUST_CHECK;

#endif
