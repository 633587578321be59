#include "cli/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { FIRST_ROOM = 64, KERNEL = 24, VERSION = 2 };

/* A checkpoint opens with this; then the rows, then icl_train_save's block. */
struct head {
    char magic[8], kernel[KERNEL];
    uint64_t version, rows;
    double seconds;
    uint64_t sum; /* of the rows */
};
static const char magic[8] = "iclksim";
static const double tick_every = 0.1;

struct icl_train_setup cmd_drive_setup(const struct icl_params *params, bool rows) {
    const struct icl_train *train = &params->train;
    const bool transformer = params->sim.model == ICL_SIM_TRANSFORMER;
    const double head = transformer ? train->lambda_attention : fmax(train->lambda_w, train->lambda_beta);
    const bool decays = head > 0 || train->lambda_mlp > 0;
    const enum icl_stop stop = params->ensemble.stop;
    return (struct icl_train_setup){.task = params->task,
                                    .init = params->init,
                                    .train = params->train,
                                    .observe = params->observe,
                                    .sim = params->sim,
                                    .model = transformer                          ? ICL_TRAIN_TRANSFORMER
                                             : params->memory.law == ICL_LAW_NONE ? ICL_TRAIN_ATTENTION
                                                                                  : ICL_TRAIN_MINIMAL,
                                    .rows = rows,
                                    .stop_at_icl =
                                        !rows && (stop == ICL_STOP_ICL || (stop == ICL_STOP_AUTO && !decays))};
}

static enum icl_status grow(struct drive *drive, size_t rows, struct icl_err *err) {
    if (rows <= drive->room) return ICL_OK;
    const size_t twice = 2 * drive->room, least = rows > FIRST_ROOM ? rows : FIRST_ROOM;
    const size_t room = twice > least ? twice : least;
    ICL_TRY(icl_mem_grow(&drive->row, drive->room, room, ICL_TRAIN_COLUMNS * sizeof *drive->row, err));
    drive->room = room;
    return ICL_OK;
}

static enum icl_status take_row(struct drive *drive, struct icl_err *err) {
    struct icl_train_row row;
    if (!icl_train_row(drive->run, &row)) return ICL_OK;
    ICL_TRY(grow(drive, drive->rows + 1, err));
    memcpy(drive->row + drive->rows++ * ICL_TRAIN_COLUMNS, row.value, sizeof row.value);
    return ICL_OK;
}

enum icl_status cmd_drive_start(struct drive *drive, const struct icl_train_setup *setup, struct icl_err *err) {
    ICL_TRY(icl_train_alloc(&drive->run, setup, err));
    ICL_TRY(icl_train_init(drive->run, err));
    return take_row(drive, err);
}

/* FNV-1a. */
static uint64_t sum_of(const void *bytes, size_t n) {
    const unsigned char *const p = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static struct head head_of(const struct drive *drive) {
    struct head head = {.version = VERSION, .rows = drive->rows, .seconds = drive->seconds};
    head.sum = sum_of(drive->row, drive->rows * ICL_TRAIN_COLUMNS * sizeof *drive->row);
    const char *kernel = icl_train_kernel(drive->run);
    memcpy(head.magic, magic, sizeof magic);
    for (size_t i = 0; i + 1 < KERNEL && kernel[i]; i++) head.kernel[i] = kernel[i];
    return head;
}

/* The temporary name is always the same, so that a kill in between leaves nothing that the next checkpoint does not
 * take away. */
static enum icl_status replace(const char *path, const char *bytes, size_t length, struct icl_err *err) {
    char temporary[CMD_PATH + sizeof ".tmp"];
    size_t done = 0;
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool bad = fd < 0;
    while (!bad && done < length) {
        const ssize_t n = write(fd, bytes + done, length - done);
        if (n > 0) done += (size_t)n;
        bad = n < 0 && errno != EINTR;
    }
    bad = bad || fsync(fd) != 0;
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && !bad) {
        bad = true;
        reason = errno;
    }
    if (!bad && rename(temporary, path) == 0) return ICL_OK;
    if (!bad) reason = errno;
    unlink(temporary);
    return ICL_ERR(err, ICL_EIO, "cannot write %s: %s", path, strerror(reason));
}

enum icl_status cmd_drive_save(struct drive *drive, struct icl_err *err) {
    const struct head head = head_of(drive);
    const size_t rows = drive->rows * ICL_TRAIN_COLUMNS * sizeof *drive->row;
    const size_t length = sizeof head + rows + icl_train_save_size(drive->run);
    char *bytes = NULL;
    ICL_TRY(icl_mem_alloc(&bytes, length, 1, err));
    memcpy(bytes, &head, sizeof head);
    if (rows > 0) memcpy(bytes + sizeof head, drive->row, rows);
    icl_train_save(drive->run, bytes + sizeof head + rows);
    const enum icl_status status = replace(drive->path, bytes, length, err);
    icl_mem_free(bytes);
    return status;
}

/* Another machine's kernels round differently: the result would be neither's. */
static enum icl_status check_head(const struct drive *drive, const struct head *head, struct icl_err *err) {
    const struct head own = head_of(drive);
    if (memcmp(head->magic, magic, sizeof magic) != 0) return ICL_ERR(err, ICL_EUSAGE, "no checkpoint of a run");
    if (head->version != VERSION)
        return ICL_ERR(err, ICL_EUSAGE, "checkpoint of version %llu: this program writes and reads %d",
                       (unsigned long long)head->version, VERSION);
    if (memcmp(head->kernel, own.kernel, KERNEL) != 0)
        return ICL_ERR(err, ICL_EUSAGE, "checkpoint of a run with the kernels %.*s; here they are %s", KERNEL - 1,
                       head->kernel, own.kernel);
    return ICL_OK;
}

static enum icl_status take_bytes(struct drive *drive, const char *bytes, size_t length, struct icl_err *err) {
    const size_t row = ICL_TRAIN_COLUMNS * sizeof *drive->row;
    struct head head = {.version = 0};
    if (length >= sizeof head) memcpy(&head, bytes, sizeof head);
    ICL_TRY(check_head(drive, &head, err));
    if (head.rows > (length - sizeof head) / row) return ICL_ERR(err, ICL_EUSAGE, "damaged checkpoint");
    const size_t before = sizeof head + (size_t)head.rows * row;
    if (sum_of(bytes + sizeof head, before - sizeof head) != head.sum)
        return ICL_ERR(err, ICL_EUSAGE, "damaged checkpoint");
    ICL_TRY(grow(drive, (size_t)head.rows, err));
    ICL_TRY(icl_train_restore(drive->run, bytes + before, length - before, err));
    if (head.rows > 0) memcpy(drive->row, bytes + sizeof head, before - sizeof head);
    drive->rows = (size_t)head.rows;
    drive->seconds = head.seconds;
    return ICL_OK;
}

enum icl_status cmd_drive_load(struct drive *drive, struct icl_err *err) {
    char *bytes;
    size_t length;
    ICL_TRY(icl_table_slurp(drive->path, &bytes, &length, err));
    const enum icl_status status = take_bytes(drive, bytes, length, err);
    icl_table_release(bytes);
    return status == ICL_OK ? ICL_OK : icl_err_context(err, status, "%s", drive->path);
}

enum icl_status cmd_drive_run(struct drive *drive, struct icl_err *err) {
    const double before = drive->seconds, start = cmd_now();
    double save = start + drive->every, tick = start;
    struct icl_train_result at;
    enum icl_status status = ICL_OK;
    while (status == ICL_OK && !icl_train_done(drive->run)) {
        const double now = cmd_now();
        drive->seconds = before + now - start;
        if (now >= tick && drive->tick) {
            icl_train_result(drive->run, &at);
            drive->tick(at.steps, drive->context);
            tick = now + tick_every;
        }
        const bool stopped = drive->stop && *drive->stop;
        if (drive->path && (stopped || now >= save)) {
            status = cmd_drive_save(drive, err);
            save = cmd_now() + drive->every;
        }
        if (status == ICL_OK && stopped) status = ICL_ERR(err, ICL_ESTOPPED, "stopped");
        if (status == ICL_OK) status = icl_train_step(drive->run, err);
        if (status == ICL_OK) status = take_row(drive, err);
    }
    drive->seconds = before + cmd_now() - start;
    return status;
}

void cmd_drive_free(struct drive *drive) {
    icl_train_free(drive->run);
    icl_mem_free(drive->row);
    drive->run = NULL;
    drive->row = NULL;
}
