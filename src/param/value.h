/* value.h -- one parameter's value: text to number and back, and the rule it must keep; private to src/.
 *
 * slot     where the parameter lives within a struct icl_params
 * Fails    ICL_EUSAGE with the rule alone ("must be in (0, 1e+06]"): the caller knows where the value came from.
 */
#ifndef ICLKIN_VALUE_H
#define ICLKIN_VALUE_H

#include "iclkin/params.h"

enum icl_status icl_value_read(void *slot, const struct icl_param *row, const char *text,
                               struct icl_err *err) ICL_MUST_CHECK;
/* A number for a REAL or a COUNT. */
enum icl_status icl_value_store(void *slot, const struct icl_param *row, double x, struct icl_err *err) ICL_MUST_CHECK;
/* A REAL or a COUNT as a number. */
double icl_value_number(const void *slot, const struct icl_param *row);
/* As icl_params_text. */
const char *icl_value_text(const void *slot, const struct icl_param *row, char buffer[ICL_TEXT_SIZE]);

#endif
