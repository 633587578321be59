/* sink.c -- results that are appended row by row, and the signals that end such work. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"

static volatile sig_atomic_t stop;

static void on_signal(int number) {
    stop = number;
}

const volatile sig_atomic_t *cmd_stop_install(void) {
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND; /* the second one ends the program at once */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stop;
}

int cmd_stop_signal(void) {
    return stop;
}

static const char *name_of(const struct cmd_sink *sink) {
    return sink->path ? sink->path : "stdout";
}

enum icl_status cmd_sink_add(struct cmd_sink *sink, const char *text, size_t length, struct icl_err *err) {
    while (length > 0) {
        const ssize_t n = write(sink->fd, text, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ICL_ERR(err, ICL_EIO, "%s: %s", name_of(sink), strerror(errno));
        text += n;
        length -= (size_t)n;
    }
    return ICL_OK;
}

/* The text after the first line that both begin with; NULL where they differ. */
static const char *after_version(const char *text) {
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text;
}

/* How much of an existing file stays: whole rows after the same head. */
static enum icl_status match(struct cmd_sink *sink, const char *head, char *bytes, size_t *length, size_t *start,
                             struct icl_err *err) {
    static const char mark[] = "# iclkin = ";
    const size_t known = strnlen(bytes, sizeof mark - 1);
    if (strncmp(bytes, mark, known) != 0)
        return ICL_ERR(err, ICL_EUSAGE, "%s: no table of iclkin; --resume carries on with nothing else", sink->path);
    if (!strchr(bytes, '\n')) { /* killed in its first line */
        *length = *start = 0;
        return ICL_OK;
    }
    const char *head_rest = after_version(head), *rest = after_version(bytes);
    const size_t head_length = strlen(head_rest), rest_length = strlen(rest);
    if (rest_length < head_length && strncmp(rest, head_rest, rest_length) == 0) { /* killed while writing the head */
        *length = *start = 0;
        return ICL_OK;
    }
    if (strncmp(rest, head_rest, head_length) != 0)
        return ICL_ERR(err, ICL_EUSAGE,
                       "%s: its header differs from this command's parameters; --resume carries on only "
                       "with the same ones",
                       sink->path);
    *start = (size_t)(rest - bytes) + head_length;
    while (*length > *start && bytes[*length - 1] != '\n') (*length)--;
    while (*length > *start + 1 && bytes[*length - 1] == '\n' && bytes[*length - 2] == '\n') (*length)--;
    if (*length == *start + 1 && bytes[*start] == '\n') *length = *start;
    return ICL_OK;
}

static enum icl_status carry_on(struct cmd_sink *sink, const char *head, struct cmd_text *kept, struct icl_err *err) {
    char *bytes;
    size_t length, start = 0;
    ICL_TRY(icl_table_slurp(sink->path, &bytes, &length, err));
    enum icl_status status = ICL_OK;
    if (strlen(bytes) != length)
        status = ICL_ERR(err, ICL_EUSAGE, "%s: holds binary data; not a table to carry on with", sink->path);
    if (status == ICL_OK) status = match(sink, head, bytes, &length, &start, err);
    if (status == ICL_OK && ftruncate(sink->fd, (off_t)length) != 0)
        status = ICL_ERR(err, ICL_EIO, "%s: %s", sink->path, strerror(errno));
    if (status == ICL_OK && length == 0) status = cmd_sink_add(sink, head, strlen(head), err);
    for (size_t i = start; i < length; i++)
        if (bytes[i] == '\n' && i > start && bytes[i - 1] != '\n') sink->rows++;
    if (status == ICL_OK && kept && length > start)
        status = cmd_text_add(kept, err, "%.*s", (int)(length - start), bytes + start);
    icl_table_release(bytes);
    return status;
}

enum icl_status cmd_sink_open(struct cmd_sink *sink, const struct cmd_line *line, const char *head,
                              struct cmd_text *kept, struct icl_err *err) {
    struct stat is;
    *sink = (struct cmd_sink){.fd = STDOUT_FILENO, .path = line->output};
    if (line->resume && !line->output) return ICL_ERR(err, ICL_EUSAGE, "--resume: needs -o FILE");
    if (!line->output) return cmd_sink_add(sink, head, strlen(head), err);
    const bool exists = stat(line->output, &is) == 0, regular = exists && S_ISREG(is.st_mode);
    if (exists && regular && is.st_size > 0 && !line->resume)
        return ICL_ERR(err, ICL_EUSAGE, "%s: exists; --resume carries on with it, or remove it", line->output);
    const int mode = exists && !regular ? O_WRONLY : O_WRONLY | O_CREAT | O_APPEND;
    sink->fd = open(line->output, mode | O_CLOEXEC, 0666);
    if (sink->fd < 0) return ICL_ERR(err, ICL_EIO, "%s: %s", line->output, strerror(errno));
    const enum icl_status status =
        regular && is.st_size > 0 ? carry_on(sink, head, kept, err) : cmd_sink_add(sink, head, strlen(head), err);
    if (status != ICL_OK) close(sink->fd);
    return status;
}

enum icl_status cmd_sink_close(struct cmd_sink *sink, struct icl_err *err) {
    if (!sink->path) return ICL_OK;
    const bool bad = fsync(sink->fd) != 0 && errno != EINVAL && errno != EROFS;
    const int reason = errno;
    close(sink->fd);
    return bad ? ICL_ERR(err, ICL_EIO, "%s: %s", sink->path, strerror(reason)) : ICL_OK;
}
