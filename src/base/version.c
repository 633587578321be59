/* version.c -- the only object that knows what the Makefile says; it alone is rebuilt when the commit changes. */
#include "iclkin/version.h"

const char *icl_version_text(void) {
    return ICL_VERSION;
}

const char *icl_version_commit(void) {
    return ICL_COMMIT;
}

const char *icl_version_datadir(void) {
    return ICL_DATADIR;
}
