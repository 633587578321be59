/* near.h -- what somebody may have meant; private to src/. */
#ifndef ICLKIN_NEAR_H
#define ICLKIN_NEAR_H

#include <stdbool.h>

/* True if written becomes meant by few changes: one letter (two in words of six letters and more) put in, left out or
 * replaced, letters' case apart. */
bool icl_near_match(const char *written, const char *meant);

#endif
