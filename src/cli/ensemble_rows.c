/* ensemble_rows.c -- which runs a file holds already, and what its rows say. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ensemble.h"

enum { AFTER_T_ICL = 5, AFTER_OUTCOME = 2 };

/* A cell, counted from the end of a row. */
static const char *cell(const char *row, size_t after) {
    const char *at = row + strcspn(row, "\n");
    for (size_t tabs = 0; at > row; at--) {
        if (at[-1] != '\t') continue;
        if (tabs++ == after) break;
    }
    return at;
}

static bool is(const char *text, const char *word) {
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && (text[n] == '\t' || text[n] == '\n' || text[n] == '\0');
}

bool cmd_ensemble_count(struct ensemble_tally *tally, const char *row) {
    const char *outcome = cell(row, AFTER_OUTCOME);
    int known = ENSEMBLE_OUTCOMES;
    if (is(outcome, "failed")) known = ENSEMBLE_FAILED;
    for (int i = ICL_TRAIN_NONE; i <= ICL_TRAIN_TRANSIENT; i++)
        if (is(outcome, icl_train_outcome_name((enum icl_train_outcome)i))) known = i;
    if (known == ENSEMBLE_OUTCOMES) return false;
    tally->outcome[known]++;
    if (is(cell(row, AFTER_T_ICL), "inf")) tally->never++;
    return true;
}

static int compare_rows(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_key(const void *key, const void *row) {
    return strncmp(key, *(char *const *)row, strlen(key));
}

/* Cuts the text into lines and sorts them. */
static enum icl_status sort_rows(char *text, char ***row, size_t *n, struct icl_err *err) {
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) lines++;
    ICL_TRY(icl_mem_alloc(row, lines, sizeof **row, err));
    char *save = NULL;
    *n = 0;
    for (char *at = strtok_r(text, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) (*row)[(*n)++] = at;
    qsort(*row, *n, sizeof **row, compare_rows);
    return ICL_OK;
}

enum icl_status cmd_ensemble_jobs(struct ensemble *ensemble, char *rows, struct icl_err *err) {
    const size_t all = ensemble->points * ensemble->runs;
    char **row = NULL, key[ENSEMBLE_KEY];
    size_t kept = 0, matched = 0;
    if (rows) ICL_TRY(sort_rows(rows, &row, &kept, err));
    enum icl_status status = icl_mem_alloc(&ensemble->job, all / ensemble->shards + 1, sizeof *ensemble->job, err);
    for (size_t job = ensemble->shard; status == ICL_OK && job < all; job += ensemble->shards) {
        cmd_ensemble_key(ensemble, job, key);
        char **found = kept > 0 ? bsearch(key, row, kept, sizeof *row, compare_key) : NULL;
        if (!found) {
            ensemble->job[ensemble->jobs++] = job;
            continue;
        }
        matched++;
        if (!cmd_ensemble_count(&ensemble->tally, *found))
            status = ICL_ERR(err, ICL_EUSAGE, "%s: damaged row: %.200s", ensemble->line->output, *found);
    }
    if (status == ICL_OK && matched != kept)
        status =
            ICL_ERR(err, ICL_EUSAGE, "%s: %zu of its %zu rows are no runs of this ensemble or shard, or twice there",
                    ensemble->line->output, kept - matched, kept);
    icl_mem_free(row);
    return status;
}
