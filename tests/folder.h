/* folder.h -- a folder of a test program's own, made before its tests and removed after them. */
#ifndef ICLKIN_FOLDER_H
#define ICLKIN_FOLDER_H

#include <stddef.h>

/* For cmocka_run_group_tests. */
int folder_make(void **state);
int folder_remove(void **state);

/* The path of a file in it ("": the folder itself); two results are valid at a time. */
const char *folder_path(const char *name);
/* How many files it holds. */
size_t folder_count(void);
/* Writes a text file, and asserts what one holds. */
void folder_write(const char *path, const char *text);
void folder_holds(const char *path, const char *expected);

#endif
