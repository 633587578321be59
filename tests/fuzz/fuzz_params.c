/* fuzz_params.c -- whatever the bytes, the parameter reader answers with parameters that reproduce themselves or with
 * one line that says what is wrong. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iclkin/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int truth) {
    if (!truth) abort();
}

static void reproduce(const struct icl_params *params) {
    static const struct icl_column column = {"t", "t"};
    struct icl_params again;
    struct icl_table *table;
    const char *text;
    size_t length;

    need(icl_table_alloc(&table, 1, &column, NULL) == ICL_OK);
    need(icl_table_meta(table, NULL, "iclkin", "fuzz") == ICL_OK);
    need(icl_params_meta(params, table, NULL) == ICL_OK);
    need(icl_table_text(table, &text, &length, NULL) == ICL_OK);
    icl_params_default(&again);
    need(icl_params_parse(&again, "again", text, length, NULL) == ICL_OK);
    for (size_t i = 0; i < icl_params_count(); i++) {
        char one[ICL_TEXT_SIZE], other[ICL_TEXT_SIZE];
        const struct icl_param *row = icl_params_row(i);

        if (!icl_params_stated(row)) continue;
        need(strcmp(icl_params_text(params, row, one), icl_params_text(&again, row, other)) == 0);
    }
    icl_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct icl_params params;
    struct icl_err err = {ICL_OK, ""};
    enum icl_status status;

    icl_params_default(&params);
    status = icl_params_parse(&params, "fuzz", (const char *)data, size, &err);
    if (status == ICL_OK) {
        reproduce(&params);
        return 0;
    }
    need(status == ICL_EUSAGE && err.code == status);
    need(strncmp(err.text, "fuzz:", 5) == 0);
    for (const char *byte = err.text; *byte != '\0'; byte++) need((unsigned char)*byte >= 0x20 && *byte != 0x7f);
    return 0;
}
