/* figures_draw.c -- gnuplot as a child process: table in, picture out. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/figures.h"

extern char **environ;

enum { CAPTION = 1024 };

/* ---- the caption ------------------------------------------------------------------------------------------------ */

/* The template with every {section.key} replaced. */
static void expand(const char *template, const struct icl_params *params, char caption[CAPTION]) {
    size_t used = 0;
    for (const char *c = template; *c && used < CAPTION - ICL_TEXT_SIZE; c++) {
        char name[64], value[ICL_TEXT_SIZE];
        const size_t length = *c == '{' ? strcspn(c + 1, "}") : 0;
        snprintf(name, sizeof name, "%.*s", (int)length, c + 1);
        const struct icl_param *row = length > 0 ? icl_params_find(name) : NULL;
        if (!row) {
            caption[used++] = *c;
            continue;
        }
        icl_params_text(params, row, value);
        used += (size_t)snprintf(caption + used, CAPTION - used, "%s", strcmp(value, "inf") == 0 ? "∞" : value);
        c += length + 1;
    }
    caption[used] = '\0';
}

/* From the table's own header; a table without one has no caption. */
static void caption_of(const struct figure *figure, const char *table, char caption[CAPTION]) {
    struct icl_params params;
    icl_params_default(&params);
    caption[0] = '\0';
    if (icl_params_load(&params, table, NULL) == ICL_OK) expand(figure->caption, &params, caption);
}

/* ---- the child -------------------------------------------------------------------------------------------------- */

/* What a pipe has delivered. */
struct stream {
    int fd; /* -1: at its end */
    char *bytes;
    size_t length, room;
};

static enum icl_status take(struct stream *stream, struct icl_err *err) {
    enum { BLOCK = 1 << 16 };
    if (stream->room - stream->length < BLOCK) {
        const size_t room = 2 * stream->room + 2 * BLOCK;
        ICL_TRY(icl_mem_grow(&stream->bytes, stream->room, room, 1, err));
        stream->room = room;
    }
    const ssize_t n = read(stream->fd, stream->bytes + stream->length, BLOCK - 1);
    if (n < 0 && errno == EINTR) return ICL_OK;
    if (n < 0) return ICL_ERR(err, ICL_EIO, "gnuplot: its output could not be read: %s", strerror(errno));
    if (n == 0) {
        close(stream->fd);
        stream->fd = -1;
    }
    stream->length += (size_t)n;
    stream->bytes[stream->length] = '\0';
    return ICL_OK;
}

/* Reads both until both end: a child that waits for one of its pipes to be emptied never waits long. */
static enum icl_status take_all(struct stream *out, struct stream *complaint, struct icl_err *err) {
    while (out->fd >= 0 || complaint->fd >= 0) {
        struct pollfd wait[2] = {{out->fd, POLLIN, 0}, {complaint->fd, POLLIN, 0}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return ICL_ERR(err, ICL_EIO, "gnuplot: its output could not be read: %s", strerror(errno));
        if (wait[0].revents) ICL_TRY(take(out, err));
        if (wait[1].revents) ICL_TRY(take(complaint, err));
    }
    return ICL_OK;
}

static enum icl_status spawn(char *const argv[], const int out[2], const int complaint[2], pid_t *child,
                             struct icl_err *err) {
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return ICL_ERR(err, ICL_EIO, "gnuplot: cannot be started: %s", strerror(failed));
    failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, complaint[1], STDERR_FILENO);
    if (!failed) failed = setenv("LC_ALL", "C", 1) == 0 ? 0 : errno;
    if (!failed) failed = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return ICL_ERR(err, ICL_EIO, "gnuplot: not found on PATH; `make deps` installs it (Debian: gnuplot-nox)");
    return failed ? ICL_ERR(err, ICL_EIO, "gnuplot: cannot be started: %s", strerror(failed)) : ICL_OK;
}

/* The last line of what it complained about: there gnuplot names script, line and fault. */
static const char *last_line(char *text) {
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) text[--length] = '\0';
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    return line + strspn(line, " \t\r");
}

static enum icl_status judge(int ended, const struct stream *out, struct stream *complaint, struct icl_err *err) {
    char *text = complaint->bytes;
    if (WIFSIGNALED(ended)) return ICL_ERR(err, ICL_EIO, "gnuplot: ended by signal %d", WTERMSIG(ended));
    if (WEXITSTATUS(ended) != 0)
        return ICL_ERR(err, ICL_EIO, "gnuplot: exit code %d: %.400s", WEXITSTATUS(ended), last_line(text));
    /* Without fonts it ends with 0, and the picture is ruined. */
    if (strstr(text, "Fontconfig error") || strstr(text, "Pango"))
        return ICL_ERR(err, ICL_EIO, "gnuplot: finds no fonts (Debian: fonts-dejavu-core): %.400s", last_line(text));
    if (out->length == 0) return ICL_ERR(err, ICL_EIO, "gnuplot: drew nothing: %.400s", last_line(text));
    return ICL_OK;
}

static enum icl_status open_pipe(int ends[2], struct icl_err *err) {
    if (pipe(ends) != 0) {
        ends[0] = ends[1] = -1;
        return ICL_ERR(err, ICL_EIO, "gnuplot: no pipe: %s", strerror(errno));
    }
    for (size_t i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return ICL_OK;
}

static void shut(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Runs it to its end; out and complaint hold what it wrote, and stay the caller's to free. */
static enum icl_status run(char *const argv[], struct stream *out, struct stream *complaint, struct icl_err *err) {
    int to_out[2] = {-1, -1}, to_complaint[2] = {-1, -1}, ended = 0;
    pid_t child = -1;
    enum icl_status status = open_pipe(to_out, err);
    if (status == ICL_OK) status = open_pipe(to_complaint, err);
    if (status == ICL_OK) status = icl_mem_grow(&complaint->bytes, 0, 1, 1, err); /* a text, if an empty one */
    if (status == ICL_OK) complaint->room = 1;
    if (status == ICL_OK) status = spawn(argv, to_out, to_complaint, &child, err);
    shut(&to_out[1]);
    shut(&to_complaint[1]);
    out->fd = to_out[0];
    complaint->fd = to_complaint[0];
    if (status == ICL_OK) status = take_all(out, complaint, err);
    shut(&out->fd);
    shut(&complaint->fd);
    if (child > 0) {
        while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
        if (status == ICL_OK) status = judge(ended, out, complaint, err);
    }
    return status;
}

/* ---- the picture ------------------------------------------------------------------------------------------------ */

enum icl_status figures_format(const char *output, const char **format, struct icl_err *err) {
    static const char *const formats[] = {"png", "svg", "pdf"};
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(dot + 1, formats[i]) == 0) {
            *format = formats[i];
            return ICL_OK;
        }
    return ICL_ERR(err, ICL_EUSAGE, "-o %s: the name of a picture ends in .png, .svg or .pdf", output);
}

enum icl_status figures_draw(const struct figure *figure, const char *table, const char *output, struct icl_err *err) {
    char script[CMD_PATH], name[64], caption[CAPTION];
    const char *format;
    struct stream out = {.fd = -1}, complaint = {.fd = -1};
    ICL_TRY(figures_format(output, &format, err));
    snprintf(name, sizeof name, "%s.gp", figure->name);
    ICL_TRY(cmd_data_path("plots", name, script, err));
    caption_of(figure, table, caption);
    /* -d: no start-up file of the user's changes the picture */
    const char *const argv[] = {"gnuplot", "-d", "-c", script, table, format, caption, NULL};
    enum icl_status status = run((char *const *)argv, &out, &complaint, err);
    if (status == ICL_OK) status = icl_table_save(output, out.bytes, out.length, err);
    if (status != ICL_OK) status = icl_err_context(err, status, "figure %s", figure->name);
    icl_mem_free(out.bytes);
    icl_mem_free(complaint.bytes);
    return status;
}
