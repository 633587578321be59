/* cmd.h -- what every subcommand gets, and the tables from which help, man page and completion are made. */
#ifndef ICLKIN_CMD_H
#define ICLKIN_CMD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "iclkin/axis.h"
#include "iclkin/err.h"
#include "iclkin/params.h"
#include "iclkin/table.h"

enum { CMD_PATH = 4096, CMD_SETTINGS = 256, CMD_RANGE = 256, CMD_LIST = 256 };

/* Everything the command line said. */
struct cmd_line {
    const char *command;
    const char *file;           /* PARAMS.ini, or NULL */
    const char *list[CMD_LIST]; /* validate: LIST.ini... */
    size_t lists;
    const char *figure;                /* plot: NAME */
    const char *output;                /* -o, or NULL */
    const char *table;                 /* plot --table, or NULL */
    const char *setting[CMD_SETTINGS]; /* -s, in order */
    size_t settings;
    const char *xaxis, *yaxis;        /* -x, -y, or NULL */
    const char *at, *window, *curves; /* fixedpoints, or NULL */
    const char *shard;                /* ensemble: i/n, or NULL */
    const char *report;               /* validate: a folder, or NULL */
    bool quiet, json, check, ini, boundary, adapt, resume, quick, attribute, advise;
    struct icl_params params; /* defaults, then the file, then the settings; checked */
};

/* One option. */
struct cmd_option {
    int letter;           /* or a number above 255 */
    const char *name;     /* --name */
    const char *argument; /* how help names its argument; NULL: none */
    char kind;            /* taken by the commands whose options hold it; 0: by all */
    size_t offset;        /* of its field in struct cmd_line: const char * with an argument, else bool */
    const char *meaning;
};

struct cmd {
    const char *name;
    const char *operands; /* after the name, as help shows them */
    const char *options;  /* the kinds of option it takes beside those of all */
    const char *brief;    /* one line */
    const char *text;     /* a paragraph, for the man page and `help COMMAND` */
    enum icl_status (*run)(const struct cmd_line *line, struct icl_err *err);
    bool theory; /* whether it asks the memory law: a table is read before it runs */
};

size_t cmd_count(void);
const struct cmd *cmd_row(size_t index);
size_t cmd_option_count(void);
const struct cmd_option *cmd_option_row(size_t index);
/* Whether a command takes an option. */
bool cmd_takes(const struct cmd *cmd, const struct cmd_option *option);

enum icl_status cmd_trajectory(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_predict(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_phase(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_fixedpoints(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_simulate(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_ensemble(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_calibrate(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_validate(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_plot(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_params(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_man(const struct cmd_line *line, struct icl_err *err);
enum icl_status cmd_completion(const struct cmd_line *line, struct icl_err *err);

/* Opens a table's header: iclkin, command, then what the command adds, then the parameters (cmd_head, cmd_params_head).
 */
enum icl_status cmd_head(struct icl_table *table, const char *command, struct icl_err *err);

/* The value of a key in the header of the table given as PARAMS.ini. Returns buffer, or NULL where there is none. */
const char *cmd_header_value(const struct cmd_line *line, const char *key, char buffer[ICL_TEXT_SIZE]);

/* Refuses the same parameter on both axes, and train.lambda with one of the two that it sets: on the other axis or by
 * -s. */
enum icl_status cmd_axes_check(const struct cmd_line *line, const struct icl_axis *axis, size_t axes,
                               struct icl_err *err);

/* The path of params/NAME or plots/NAME: beside the program, in ../share/iclkin, or where it was installed. */
enum icl_status cmd_data_path(const char *folder, const char *name, char path[CMD_PATH], struct icl_err *err);

/* Where memory.law = table: reads memory.table (default: params/memory/default.tsv) into *table, which the caller
 * frees, and shows it to params. */
enum icl_status cmd_memory_read(struct icl_params *params, struct icl_memtable **table, struct icl_err *err);
/* `# extrapolated = ...` into a header, where K or a clock s lies outside the table. */
enum icl_status cmd_memory_mark(const struct icl_params *params, double s, struct icl_table *table,
                                struct icl_err *err);

/* What a parameter may be, as `iclkin params` prints it. Returns range. */
const char *cmd_params_range(const struct icl_param *row, char range[CMD_RANGE]);

/* A warning or remark on stderr, unless -q. */
void cmd_remark(const struct cmd_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A bar on a terminal's stderr, with the time left, once the work has taken a second; silent otherwise and with -q.
 * Work that an earlier run did is set in done and first after the start. */
struct cmd_progress {
    bool on, drawn;
    const char *what;
    size_t done, total, first;
    double start, next; /* when it began, when to draw again [s] */
};
void cmd_progress_start(struct cmd_progress *progress, const struct cmd_line *line, const char *what, size_t total);
void cmd_progress_step(struct cmd_progress *progress);
void cmd_progress_to(struct cmd_progress *progress, size_t done);
void cmd_progress_end(struct cmd_progress *progress);
/* Seconds on a clock that never jumps. */
double cmd_now(void);

/* Text that grows; results are built in memory, so that a failure writes nothing. */
struct cmd_text {
    char *bytes;
    size_t length, size;
};
enum icl_status cmd_text_add(struct cmd_text *text, struct icl_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cmd_text_free(struct cmd_text *text);

/* Ctrl-C and SIGTERM from now on set a flag instead of ending the program; a second one ends it. */
const volatile sig_atomic_t *cmd_stop_install(void);
/* The signal that came, or 0. */
int cmd_stop_signal(void);

/* A file (or stdout) to which rows are appended as they come, and which a later run carries on with. */
struct cmd_sink {
    int fd;
    const char *path; /* NULL: stdout */
    size_t rows;      /* rows that were there already, to be skipped */
};
/* Opens line->output. head is the whole text before the first row. An existing file is refused, or, with --resume, must
 * begin with the same head (but for the iclkin version's line); a row torn by a kill is cut off. kept receives the text
 * of the rows that were there (NULL: not wanted). */
enum icl_status cmd_sink_open(struct cmd_sink *sink, const struct cmd_line *line, const char *head,
                              struct cmd_text *kept, struct icl_err *err);
/* Appends text in one write. */
enum icl_status cmd_sink_add(struct cmd_sink *sink, const char *text, size_t length, struct icl_err *err);
/* Flushes to the disk and closes. */
enum icl_status cmd_sink_close(struct cmd_sink *sink, struct icl_err *err);

#endif
