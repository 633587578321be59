/* ensemble_file.c -- the file of an ensemble's rows, and the folder of its checkpoints. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ensemble.h"

enum { NAME = 64 };

/* Two processes must not append to one file: each would do the other's runs again. */
static enum icl_status lock_file(const struct ensemble *ensemble, struct icl_err *err) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!ensemble->folder[0] || fcntl(ensemble->sink.fd, F_SETLK, &lock) == 0) return ICL_OK;
    if (errno != EACCES && errno != EAGAIN) return ICL_OK; /* a file system without locks */
    return ICL_ERR(err, ICL_EUSAGE, "%s: another process is appending to it", ensemble->line->output);
}

enum icl_status cmd_ensemble_open(struct ensemble *ensemble, struct icl_err *err) {
    struct cmd_text head = {0}, kept = {0};
    enum icl_status status = cmd_ensemble_head(ensemble, &head, err);
    if (status == ICL_OK) status = cmd_sink_open(&ensemble->sink, ensemble->line, head.bytes, &kept, err);
    const bool opened = status == ICL_OK;
    if (status == ICL_OK) status = lock_file(ensemble, err);
    if (status == ICL_OK) status = cmd_ensemble_jobs(ensemble, kept.bytes, err);
    if (opened && status != ICL_OK) (void)!cmd_sink_close(&ensemble->sink, NULL);
    cmd_text_free(&kept);
    cmd_text_free(&head);
    return status;
}

enum icl_status cmd_ensemble_folder(struct ensemble *ensemble, struct icl_err *err) {
    const char *output = ensemble->line->output;
    struct stat is;
    if (!output || (stat(output, &is) == 0 && !S_ISREG(is.st_mode))) return ICL_OK;
    const int length = snprintf(ensemble->folder, sizeof ensemble->folder, "%s.checkpoints", output);
    return length >= 0 && length < CMD_PATH ? ICL_OK : ICL_ERR(err, ICL_EUSAGE, "-o: too long a path");
}

void cmd_ensemble_tidy(const struct ensemble *ensemble) {
    char path[CMD_PATH + NAME];
    DIR *folder = ensemble->folder[0] ? opendir(ensemble->folder) : NULL;
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *ending = entry->d_name + strspn(entry->d_name, "0123456789");
        if (ending == entry->d_name || (*ending && strcmp(ending, ".tmp") != 0)) continue;
        snprintf(path, sizeof path, "%s/%.*s", ensemble->folder, NAME - 2, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    rmdir(ensemble->folder);
}

enum icl_status cmd_ensemble_take(struct ensemble *ensemble, const char *row, size_t length, struct icl_err *err) {
    struct ensemble_board *board = ensemble->board;
    ICL_TRY(cmd_sink_add(&ensemble->sink, row, length, err));
    (void)!cmd_ensemble_count(&ensemble->tally, row);
    pthread_mutex_lock(&board->lock);
    board->progressed += ENSEMBLE_PARTS;
    cmd_progress_to(&board->progress, board->progressed);
    pthread_mutex_unlock(&board->lock);
    return ICL_OK;
}
