/* progress.c -- a bar on a terminal, for work that takes more than a second. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void cmd_progress_start(struct cmd_progress *progress, const struct cmd_line *line, const char *what, size_t total) {
    *progress = (struct cmd_progress){.on = !line->quiet && isatty(STDERR_FILENO), .what = what, .total = total};
    progress->next = now() + 1;
}

void cmd_progress_step(struct cmd_progress *progress) {
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    progress->done++;
    if (!progress->on || now() < progress->next) return;
    const double share = progress->done < progress->total ? (double)progress->done / (double)progress->total : 1;
    for (int i = 0; i < WIDTH; i++) bar[i] = i < share * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%", progress->what, bar, 100 * share);
    progress->drawn = true;
    progress->next = now() + 0.1;
}

void cmd_progress_end(struct cmd_progress *progress) {
    if (progress->drawn) fprintf(stderr, "\r\033[K");
    progress->drawn = false;
}
