/* version.h -- which iclkin this is, and where its data were installed.
 *
 * The three texts are fixed when the program is built, in one object only; they never change and need no freeing.
 */
#ifndef ICLKIN_VERSION_H
#define ICLKIN_VERSION_H

/* "0.1.0". */
const char *icl_version_text(void);
/* The git commit it was built from, with "-dirty" after it where files were changed since; "unknown" outside git. */
const char *icl_version_commit(void);
/* PREFIX/share/iclkin: where params/ and plots/ are if they are found neither beside the program nor in ../share. */
const char *icl_version_datadir(void);

#endif
