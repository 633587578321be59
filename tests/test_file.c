/* test_file.c -- a file is written whole or not at all, and says why not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "folder.h"
#include "iclkin/table.h"

static void saved_whole(void **state) {
    const size_t files = folder_count();
    struct icl_err err;
    struct stat seen;
    const mode_t mask = umask(027);

    (void)state;
    check_ok(icl_table_save(folder_path("new"), "one\n", 4, &err), &err);
    folder_holds(folder_path("new"), "one\n");
    assert_int_equal(stat(folder_path("new"), &seen), 0);
    assert_int_equal(seen.st_mode & 0777, 0640); /* what the umask leaves */
    assert_int_equal(chmod(folder_path("new"), 0604), 0);
    check_ok(icl_table_save(folder_path("new"), "two\n", 4, &err), &err);
    folder_holds(folder_path("new"), "two\n");
    assert_int_equal(stat(folder_path("new"), &seen), 0);
    assert_int_equal(seen.st_mode & 0777, 0604); /* a replaced file keeps its mode */
    check_ok(icl_table_save(folder_path("empty"), "", 0, &err), &err);
    folder_holds(folder_path("empty"), "");
    umask(mask);
    assert_int_equal(folder_count(), files + 2); /* nothing temporary stays */
}

/* A write that fails half way leaves the earlier file and nothing else. */
static void failed_half_way(void **state) {
    const struct rlimit small = {1000, RLIM_INFINITY};
    const size_t files = folder_count() + 1;
    struct rlimit before;
    struct icl_err err;
    char bytes[5000];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    folder_write(folder_path("kept"), "earlier");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){small.rlim_cur, before.rlim_max}), 0);
    check_fails(icl_table_save(folder_path("kept"), bytes, sizeof bytes, &err), ICL_EIO, &err, "kept: File too large");
    check_fails(icl_table_save(folder_path("fresh"), bytes, sizeof bytes, &err), ICL_EIO, &err,
                "fresh: File too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    folder_holds(folder_path("kept"), "earlier");
    assert_int_equal(access(folder_path("fresh"), F_OK), -1);
    assert_int_equal(folder_count(), files);
}

static void cannot_save(void **state) {
    const size_t files = folder_count();
    struct icl_err err;

    (void)state;
    check_fails(icl_table_save(folder_path("no/such"), "x", 1, &err), ICL_EIO, &err,
                "no/such: No such file or directory");
    check_fails(icl_table_save(folder_path(""), "x", 1, &err), ICL_EIO, &err, "Is a directory");
    check_fails(icl_table_save("", "x", 1, &err), ICL_EIO, &err, "No such file");
    check_fails(icl_table_save("/dev/full", "x", 1, &err), ICL_EIO, &err, "/dev/full: No space left on device");
    check_ok(icl_table_save("/dev/null", "x", 1, &err), &err);
    assert_int_equal(symlink("nowhere", folder_path("dangling")), 0);
    check_fails(icl_table_save(folder_path("dangling"), "x", 1, &err), ICL_EIO, &err, "a symbolic link to nothing");
    assert_int_equal(unlink(folder_path("dangling")), 0);
    assert_int_equal(folder_count(), files);
    if (geteuid() == 0) return; /* root may write anywhere */
    assert_int_equal(chmod(folder_path(""), 0500), 0);
    check_fails(icl_table_save(folder_path("denied"), "x", 1, &err), ICL_EIO, &err, "denied: Permission denied");
    assert_int_equal(chmod(folder_path(""), 0700), 0);
}

static void link_stays_link(void **state) {
    struct icl_err err;
    struct stat seen;

    (void)state;
    folder_write(folder_path("target"), "old");
    assert_int_equal(symlink("target", folder_path("link")), 0);
    check_ok(icl_table_save(folder_path("link"), "new", 3, &err), &err);
    assert_int_equal(lstat(folder_path("link"), &seen), 0);
    assert_true(S_ISLNK(seen.st_mode));
    folder_holds(folder_path("target"), "new");
}

/* A pipe is written in place; the reader is a process of its own. */
static void pipe_in_place(void **state) {
    struct icl_err err;
    char *bytes = NULL;
    size_t length;
    int code;
    pid_t child;

    (void)state;
    assert_int_equal(mkfifo(folder_path("fifo"), 0600), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char much[300000]; /* more than a pipe holds: short writes */

        memset(much, 'y', sizeof much);
        _exit(icl_table_save(folder_path("fifo"), much, sizeof much, NULL));
    }
    check_ok(icl_table_slurp(folder_path("fifo"), &bytes, &length, &err), &err);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_int_equal(length, 300000);
    assert_int_equal(strspn(bytes, "y"), length);
    icl_table_release(bytes);
}

/* Runs icl_table_save(NULL) with standard output set to path, in a process of its own; returns its status. */
static int save_to_stdout(const char *path, bool closed, char *text, size_t size) {
    struct icl_err err = {ICL_OK, ""};
    int back[2], code;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(back), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = closed ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int status;

        close(STDOUT_FILENO);
        if (fd >= 0) dup2(fd, STDOUT_FILENO);
        status = icl_table_save(NULL, "result\n", 7, &err);
        if (write(back[1], err.text, strlen(err.text)) < 0) status = 99;
        _exit(status);
    }
    close(back[1]);
    got = read(back[0], text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    close(back[0]);
    assert_int_equal(waitpid(child, &code, 0), child);
    return WEXITSTATUS(code);
}

static void standard_output(void **state) {
    char text[512];

    (void)state;
    fflush(stdout);
    assert_int_equal(save_to_stdout(folder_path("out"), false, text, sizeof text), ICL_OK);
    folder_holds(folder_path("out"), "result\n");
    assert_int_equal(save_to_stdout("/dev/full", false, text, sizeof text), ICL_EIO);
    assert_string_equal(text, "cannot write standard output: No space left on device");
    assert_int_equal(save_to_stdout(NULL, true, text, sizeof text), ICL_EIO);
    assert_string_equal(text, "cannot write standard output: Bad file descriptor");
}

static void slurp_any_size(void **state) {
    static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 65537, 131072, 1000000};
    static char data[1000001];
    struct icl_err err;

    (void)state;
    for (size_t i = 0; i < sizeof data - 1; i++) data[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *bytes;
        size_t length;

        check_ok(icl_table_save(folder_path("size"), data, sizes[i], &err), &err);
        check_ok(icl_table_slurp(folder_path("size"), &bytes, &length, &err), &err);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(bytes, data, length);
        assert_int_equal(bytes[length], 0);
        icl_table_release(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_whole),     cmocka_unit_test(failed_half_way), cmocka_unit_test(cannot_save),
        cmocka_unit_test(link_stays_link), cmocka_unit_test(pipe_in_place),   cmocka_unit_test(standard_output),
        cmocka_unit_test(slurp_any_size),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
