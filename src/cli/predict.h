/* predict.h -- what `predict` adds where it is asked to; private to cli. */
#ifndef CLI_PREDICT_H
#define CLI_PREDICT_H

#include "cli/cmd.h"

/* A number as JSON has it: what is infinite or not there is null. */
const char *cmd_predict_number(double x, char buffer[ICL_NUMBER_SIZE]);

/* --attribute: a table for a person, or the members of the JSON object, "attribution": {...} with its comma. */
enum icl_status cmd_predict_attribute(struct cmd_text *text, const struct cmd_line *line,
                                      struct icl_err *err) ICL_MUST_CHECK;

/* --advise: the same with "advice": {...}. */
enum icl_status cmd_predict_advise(struct cmd_text *text, const struct cmd_line *line,
                                   struct icl_err *err) ICL_MUST_CHECK;

#endif
