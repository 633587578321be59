#define _XOPEN_SOURCE 700 /* realpath */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"

enum { FIRST_READ = 1 << 16, READ_LIMIT = 1 << 30, TEMPORARY_TRIES = 100 };

static enum icl_status failed(const char *verb, const char *path, int number, struct icl_err *err) {
    char reason[128];

    if (strerror_r(number, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", number);
    return ICL_ERR(err, ICL_EIO, "cannot %s %s: %s", verb, path, reason);
}

/* Returns 0 or an errno. */
static int write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        const ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static enum icl_status write_stdout(const char *bytes, size_t length, struct icl_err *err) {
    errno = 0;
    if (fwrite(bytes, 1, length, stdout) != length || fflush(stdout) != 0) {
        const int number = errno != 0 ? errno : EIO;

        clearerr(stdout);
        return failed("write", "standard output", number, err);
    }
    return ICL_OK;
}

static enum icl_status write_in_place(const char *path, const char *bytes, size_t length, struct icl_err *err) {
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    int number;

    if (fd < 0) return failed("write", path, errno, err);
    number = write_all(fd, bytes, length);
    if (close(fd) != 0 && number == 0) number = errno;
    return number != 0 ? failed("write", path, number, err) : ICL_OK;
}

/* Opens a file that did not exist, named after target, for which the umask holds. */
static int open_temporary(const char *target, char *name, size_t size) {
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        int fd;

        if ((size_t)snprintf(name, size, "%s.tmp.%ld.%d", target, (long)getpid(), i) >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* mode: of the file to be replaced, or 0. */
static enum icl_status write_and_rename(const char *target, mode_t mode, const char *bytes, size_t length,
                                        struct icl_err *err) {
    char temporary[PATH_MAX];
    const int fd = open_temporary(target, temporary, sizeof temporary);
    int number;

    if (fd < 0) return failed("write", target, errno, err);
    number = write_all(fd, bytes, length);
    if (number == 0 && mode != 0 && fchmod(fd, mode & 07777) != 0) number = errno;
    if (number == 0 && fsync(fd) != 0) number = errno;
    if (close(fd) != 0 && number == 0) number = errno;
    if (number == 0 && rename(temporary, target) != 0) number = errno;
    if (number == 0) return ICL_OK;
    unlink(temporary);
    return failed("write", target, number, err);
}

enum icl_status icl_file_write(const char *path, const char *bytes, size_t length, struct icl_err *err) {
    char target[PATH_MAX];
    struct stat seen;

    if (path == NULL) return write_stdout(bytes, length, err);
    if (stat(path, &seen) != 0) {
        if (errno != ENOENT) return failed("write", path, errno, err);
        if (lstat(path, &seen) == 0) return ICL_ERR(err, ICL_EIO, "cannot write %s: a symbolic link to nothing", path);
        return write_and_rename(path, 0, bytes, length, err);
    }
    if (!S_ISREG(seen.st_mode)) return write_in_place(path, bytes, length, err);
    /* The file behind a symbolic link is replaced, not the link. */
    if (realpath(path, target) == NULL) return failed("write", path, errno, err);
    return write_and_rename(target, seen.st_mode, bytes, length, err);
}

/* Returns 0 or an errno; *bytes ends with a zero byte. */
static int read_all(int fd, char **bytes, size_t *length, enum icl_status *status, struct icl_err *err) {
    size_t room = FIRST_READ;

    *status = icl_mem_alloc(bytes, room, 1, err);
    while (*status == ICL_OK) {
        const ssize_t got = read(fd, *bytes + *length, room - 1 - *length);

        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        *length += (size_t)got;
        if (*length >= READ_LIMIT) return EFBIG;
        if (*length + 1 < room) continue;
        *status = icl_mem_grow(bytes, room, 2 * room, 1, err);
        room *= 2;
    }
    return 0;
}

enum icl_status icl_file_read(const char *path, char **bytes, size_t *length, struct icl_err *err) {
    enum icl_status status = ICL_OK;
    int fd, number;

    *bytes = NULL;
    *length = 0;
    fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return failed("read", path, errno, err);
    number = read_all(fd, bytes, length, &status, err);
    close(fd);
    if (number != 0) status = failed("read", path, number, err);
    if (status != ICL_OK) {
        icl_mem_free(*bytes);
        *bytes = NULL;
        *length = 0;
    }
    return status;
}
