/* number.h -- decimal numbers, the same in every locale; private to src/.
 *
 * Threads  no shared state.
 */
#ifndef ICLKIN_NUMBER_H
#define ICLKIN_NUMBER_H

#include <stdbool.h>

#include "iclkin/table.h"

/* The shortest of 15, 16 or 17 digits that reads back to x; "inf", "-inf" or "nan" for the others. Returns buffer. */
const char *icl_number_print(double x, char buffer[ICL_NUMBER_SIZE]);
/* The same from 6 digits on ("1e+06"): for messages. */
const char *icl_number_brief(double x, char buffer[ICL_NUMBER_SIZE]);

/* True if the whole text is a plain decimal number ([+-]digits[.digits][e[+-]digits]; no hexadecimal, no spaces): then
 * *x is its nearest double (infinite where it overflows). */
bool icl_number_decimal(const char *text, double *x);
/* The same, and inf and nan in any case, with a sign. */
bool icl_number_parse(const char *text, double *x);

#endif
