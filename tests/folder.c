/* folder.c -- see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "iclkin/table.h"

static char folder[256];

const char *folder_path(const char *name) {
    static char path[2][512];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

void folder_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

void folder_holds(const char *path, const char *expected) {
    struct icl_err err;
    char *bytes;
    size_t length;

    check_ok(icl_table_slurp(path, &bytes, &length, &err), &err);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(bytes, expected);
    icl_table_release(bytes);
}

size_t folder_count(void) {
    DIR *dir = opendir(folder);
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL) count++;
    closedir(dir);
    return count - 2;
}

int folder_make(void **state) {
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof folder, "%s/iclkin-table-XXXXXX", tmp != NULL ? tmp : "/tmp");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static void remove_tree(const char *path) {
    struct stat seen;
    struct dirent *entry;
    DIR *dir;

    if (lstat(path, &seen) != 0) return;
    if (S_ISDIR(seen.st_mode) && (dir = opendir(path)) != NULL) {
        while ((entry = readdir(dir)) != NULL) {
            char inside[1024];

            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
            snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
            remove_tree(inside);
        }
        closedir(dir);
    }
    remove(path);
}

int folder_remove(void **state) {
    (void)state;
    remove_tree(folder);
    return 0;
}
