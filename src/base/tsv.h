/* tsv.h -- the reader behind icl_table_read (contract there); private to src/. */
#ifndef ICLKIN_TSV_H
#define ICLKIN_TSV_H

#include "iclkin/table.h"

enum icl_status icl_tsv_read(struct icl_table **table, const char *path, struct icl_err *err) ICL_MUST_CHECK;

#endif
