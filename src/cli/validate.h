/* validate.h -- the state of one `validate` command: settings, their ensembles, and the rows of the comparison.
 *
 * A setting is a parameter file with a section [validate]. For each point of its y axis there is an ensemble (a part)
 * over its x axis, whose rows are cached in FOLDER/SETTING.tsv (SETTING.K=V.tsv where there is a y axis). The cache
 * depends on what the simulation is, not on the theory it is held against.
 */
#ifndef ICLKIN_CLI_VALIDATE_H
#define ICLKIN_CLI_VALIDATE_H

#include "cli/ensemble.h"
#include "iclkin/memtable.h"
#include "iclkin/validate.h"

enum { VALIDATE_NAME = 64 };

struct validate_setting {
    char name[VALIDATE_NAME]; /* of its file, without .ini */
    char path[CMD_PATH];
    struct icl_params params;
    struct icl_memtable *table; /* of memory.table, or NULL */
    struct icl_quantity_list list;
    struct icl_axis x, y; /* param NULL: none */
    size_t parts;
};

struct validate_part {
    const struct validate_setting *setting;
    double y;                 /* NaN without a y axis */
    struct icl_params params; /* at y: what theory is asked */
    struct cmd_line line;     /* of its ensemble: what is simulated */
    char output[CMD_PATH], xaxis[ICL_TEXT_SIZE];
    struct ensemble_watch watch[ENSEMBLE_WATCHES];
    struct ensemble ensemble;
    bool opened;
    size_t base;  /* its first job in the list of all */
    double steps; /* SGD steps that it lacks, as theory expects them */
};

/* A compared number; of kind SPREAD with its 2 x runs numbers, kept from sample on. */
struct validate_row {
    const struct validate_setting *setting;
    struct icl_validate_row row;
    size_t sample;
};

struct validate {
    const struct cmd_line *line;
    const char *folder;
    struct validate_setting *setting;
    size_t settings;
    struct validate_part *part;
    size_t parts;
    struct ensemble_board board;
    struct validate_row *row;
    size_t rows, room;
    double *sample; /* shape (samples) */
    size_t samples;
    struct icl_validate_items *items; /* K* of the parts of one setting, as they come */
    size_t count[3];                  /* of judged rows, by enum icl_stats_verdict */
    size_t lost;                      /* points of which every run failed */
};

/* The settings of the command line, or of --quick's or the full list, and their parts. */
enum icl_status cmd_validate_settings(struct validate *validate, struct icl_err *err);
void cmd_validate_free(struct validate *validate);
/* What theory is asked for a job of a part. */
enum icl_status cmd_validate_params(const struct validate_part *part, size_t job, struct icl_params *params,
                                    struct icl_err *err);
/* Runs what the cache lacks. *root: whether this process is to go on (rank 0). */
enum icl_status cmd_validate_simulate(struct validate *validate, bool *root, struct icl_err *err);
/* Holds every setting against theory: fills validate->row. */
enum icl_status cmd_validate_compare(struct validate *validate, struct icl_err *err);
/* The page and its figures, in the folder line->report. */
enum icl_status cmd_validate_report(const struct validate *validate, struct icl_err *err);
/* The figures that a setting has, drawn in the folder of the report: calls give for each, in order. */
enum icl_status cmd_validate_figures(const struct validate *validate, const struct validate_setting *setting,
                                     enum icl_status (*give)(const char *picture, const char *caption, void *context,
                                                             struct icl_err *err),
                                     void *context, struct icl_err *err);
/* That of all judged rows. */
enum icl_status cmd_validate_overview(const struct validate *validate, char picture[CMD_PATH], struct icl_err *err);
/* Makes a folder and those above it. */
enum icl_status cmd_validate_folder(const char *path, struct icl_err *err);
/* Where a row belongs: "N=50 K=1000", or "" without axes. Returns place. */
const char *cmd_validate_place(const struct validate_row *row, char place[VALIDATE_NAME]);

#endif
