/* progress.c -- a bar on a terminal, for work that takes more than a second. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"

enum { WIDTH = 40, TEXT = 32 };

double cmd_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* "1:05 left", or "2:03:10 left". Returns buffer. */
static const char *left_text(const struct cmd_progress *progress, char buffer[TEXT]) {
    enum { MINUTE = 60, HOUR = 3600, DAYS = 8640000 };
    const double made = (double)(progress->done - progress->first), spent = cmd_now() - progress->start;
    const double left = made > 0 ? spent * (double)(progress->total - progress->done) / made : DAYS;
    const int s = left < DAYS ? (int)left : DAYS;
    buffer[0] = '\0';
    if (s >= HOUR && s < DAYS)
        snprintf(buffer, TEXT, " %d:%02d:%02d left", s / HOUR, s % HOUR / MINUTE, s % MINUTE);
    else if (s < HOUR)
        snprintf(buffer, TEXT, " %d:%02d left", s / MINUTE, s % MINUTE);
    return buffer;
}

void cmd_progress_start(struct cmd_progress *progress, const struct cmd_line *line, const char *what, size_t total) {
    *progress = (struct cmd_progress){.on = !line->quiet && isatty(STDERR_FILENO), .what = what, .total = total};
    progress->start = cmd_now();
    progress->next = progress->start + 1;
}

void cmd_progress_to(struct cmd_progress *progress, size_t done) {
    char bar[WIDTH + 1], left[TEXT];
    progress->done = done < progress->total ? done : progress->total;
    if (!progress->on || cmd_now() < progress->next) return;
    const double share = progress->total > 0 ? (double)progress->done / (double)progress->total : 1;
    for (int i = 0; i < WIDTH; i++) bar[i] = i < share * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%%s\033[K", progress->what, bar, 100 * share, left_text(progress, left));
    progress->drawn = true;
    progress->next = cmd_now() + 0.1;
}

void cmd_progress_step(struct cmd_progress *progress) {
    cmd_progress_to(progress, progress->done + 1);
}

void cmd_progress_end(struct cmd_progress *progress) {
    if (progress->drawn) fprintf(stderr, "\r\033[K");
    progress->drawn = false;
}
