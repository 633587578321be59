/* main.c -- the table of commands, the command line, the exit codes. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "iclkin/memtable.h"
#include "iclkin/version.h"

enum { LETTERS_END = 256, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

#define FIELD(name) offsetof(struct cmd_line, name)

/* An option without a letter of its own has a number from LETTERS_END on; an option with an argument fills a text of
 * struct cmd_line, one without sets a bool. kind: which commands take it (struct cmd's options); 0: all. */
static const struct cmd_option options[] = {
    {'s', "set", "section.key=value", 0, FIELD(setting), "sets a parameter; may be given again for others"},
    {'o', "output", "FILE", 0, FIELD(output), "writes to FILE, whole or not at all, instead of to stdout"},
    {'q', "quiet", NULL, 0, FIELD(quiet), "no progress, no remarks"},
    {'h', "help", NULL, 0, 0, "prints help"},
    {'V', "version", NULL, 0, 0, "prints version and commit"},
    {'x', "xaxis", "AXIS", 'x', FIELD(xaxis), "first axis: section.key=LO:HI:n[:log]"},
    {'y', "yaxis", "AXIS", 'y', FIELD(yaxis), "second axis, as -x"},
    {LETTERS_END, "json", NULL, 'j', FIELD(json), "writes one JSON object"},
    {LETTERS_END + 1, "check", NULL, 'c', FIELD(check),
     "solves again at a tenth of the tolerances and with finer quadrature; prints the errors"},
    {LETTERS_END + 2, "ini", NULL, 'i', FIELD(ini), "writes a parameter file ready to edit"},
    {LETTERS_END + 3, "table", "FILE", 't', FIELD(table), "draws this table instead of computing one"},
    {LETTERS_END + 4, "boundary", NULL, 'b', FIELD(boundary),
     "finds the boundaries along -x by root finding, for every -y, instead of a grid"},
    {LETTERS_END + 5, "adapt", NULL, 'b', FIELD(adapt), "solves only near boundaries, and fills in the rest"},
    {LETTERS_END + 7, "at", "S", 'f', FIELD(at), "memorization frozen at the clock s = S (0)"},
    {LETTERS_END + 8, "window", "WLO:WHI:BETALO:BETAHI", 'f', FIELD(window), "where to look for fixed points (auto)"},
    {LETTERS_END + 9, "curves", "FILE", 'f', FIELD(curves), "writes nullclines and separatrices to FILE"},
    {LETTERS_END + 10, "shard", "i/n", 'n', FIELD(shard),
     "does the ith of n parts of the runs (by default the job array's, where SLURM_ARRAY_TASK_ID is set)"},
    {LETTERS_END + 11, "quick", NULL, 'q', FIELD(quick), "the small list, of two minutes at most"},
    {LETTERS_END + 12, "report", "DIR", 'q', FIELD(report),
     "writes DIR/index.html: the verdicts, a figure for each, how to run it again"},
    {LETTERS_END + 13, "attribute", NULL, 'a', FIELD(attribute),
     "also t_icl, K* and t_loss without each ingredient of the theory in turn"},
    {LETTERS_END + 14, "advise", NULL, 'a', FIELD(advise),
     "also what to change to acquire ICL and keep it, and how every parameter moves t_icl, t_loss and K*"},
    {LETTERS_END + 6, "resume", NULL, 'r', FIELD(resume), "carries on with the -o FILE of a run that was stopped"},
};

static const struct cmd commands[] = {
    {"trajectory", "[PARAMS.ini]", "c", "integrates one parameter set; TSV, one row a sample",
     "Integrates the learning dynamics at theory.level from t = 0 to train.t_max and writes w, beta, the memorization "
     "clock s, c1, c2, c3, losses and accuracies at observe.samples times and at every event. A reduced trajectory "
     "that "
     "blows up ends there.",
     cmd_trajectory, true},
    {"predict", "[PARAMS.ini]", "jca", "t_icl by every level, K*, I_K(inf), t_iwl, t_loss, outcome",
     "Predicts when in-context learning is acquired, how many distinct items it takes, and whether it is lost again, "
     "by "
     "three levels of theory, and says why. --attribute says which ingredient of the theory moves these numbers, "
     "--advise which parameters do, and how far one must be changed for ICL to be acquired and kept.",
     cmd_predict, true},
    {"phase", "[PARAMS.ini]", "xybr", "a grid, or the exact boundaries, over any two parameters",
     "Solves theory.level at every point of the grid of -x and -y: t_icl, t_iwl, t_loss and outcome, with a status for "
     "each cell. With --boundary it finds the values of -x at which the outcome changes (none, kept, transient), for "
     "every "
     "value of -y: K*(N), lambda_c(beta), or the threshold of any other parameter; -x's n points are the first scan. "
     "With "
     "-o FILE rows are appended as they come, and --resume carries on.",
     cmd_phase, true},
    {"fixedpoints", "[PARAMS.ini]", "xf", "at frozen memorization: fixed points, stability, folds, nullclines",
     "Freezes memorization at the clock S of --at and finds every fixed point of w and beta at theory.level: "
     "eigenvalues "
     "and type (stable, saddle, unstable). With -x it follows the branches of fixed points through their folds as "
     "train.lambda, train.lambda_w, train.lambda_beta or a number of the memory law varies. --curves writes nullclines "
     "and separatrices, at the parameters as they stand.",
     cmd_fixedpoints, true},
    {"simulate", "[PARAMS.ini]", "r", "one SGD run; the same columns as trajectory",
     "Trains the minimal model by SGD to train.t_max and writes the columns of `trajectory`, measured; t_icl, t_iwl "
     "and "
     "t_loss stand in the header with their errors. With memory.law = none there is no MLP: w and beta are alone; the "
     "other laws are the theory's and change nothing here. With -o FILE the run's state is kept in FILE.checkpoint, "
     "and "
     "--resume carries on with it.",
     cmd_simulate, false},
    {"ensemble", "[PARAMS.ini]", "xyrn", "many runs, on threads and over MPI; one row a finished run",
     "Trains ensemble.runs networks, with the seeds sim.seed, sim.seed + 1, ..., at every point of -x and -y, one a "
     "thread, and writes one row a run as it ends: `iclkin simulate` with its seed is the same run. A run that "
     "diverges "
     "is a row too (outcome failed). With -o FILE rows are appended, the states of long runs are kept in "
     "FILE.checkpoints, and --resume carries on, even after kill -9. --shard splits the runs over a job array; a "
     "program "
     "built by `make MPI=1` shares them between the ranks of mpirun.",
     cmd_ensemble, false},
    {"calibrate", "[PARAMS.ini]", "xyr", "MLP-only runs at several K: the memorization table, nu and A with errors",
     "Trains the MLP alone (no context) on every K of -x task.K=LO:HI:n:log, with ensemble.runs seeds from sim.seed "
     "on, "
     "one network a thread, measures it at calibrate.clocks clocks up to train.t_max, extrapolates I_K(inf), fits A "
     "and "
     "nu, and writes the table that memory.law = table reads with memory.table = FILE. -y calibrate.offset=0:HI:n "
     "measures beside it the pace of memorization under logit offsets, the closure's response (M4). With -o FILE rows "
     "are appended "
     "to FILE.runs run by run, --resume carries on with them, and FILE is made of them in the end.",
     cmd_calibrate, false},
    {"validate", "[LIST.ini...]", "q", "theory and simulation side by side: differences, their errors, verdicts",
     "Runs the ensembles that each setting asks for (a parameter file with a section [validate]; without LIST.ini "
     "every "
     "one of params/validate), keeps their rows in the folder of -o (out/validate), so that the same command carries "
     "on after a stop, holds them against every level of theory, and writes FOLDER/validate.tsv. The verdict goes by "
     "the interval of validate.confidence around the difference: it holds within the bound, differs outside of it, and "
     "is open otherwise. Exit code 1 where any differs.",
     cmd_validate, false},
    {"plot", "NAME [PARAMS.ini]", "t", "draws a figure with gnuplot (PNG, SVG or PDF)",
     "Computes the figure's table, writes it beside the picture (same name, .tsv), and draws it with gnuplot; the "
     "ending of -o (.png, .svg, .pdf) chooses the format, NAME.png the default. Without PARAMS.ini the figure's own "
     "file params/NAME.ini serves. `plot list` lists the figures.",
     cmd_plot, true},
    {"params", "[PARAMS.ini]", "i", "every parameter: section, key, unit, default, range, meaning",
     "Prints the table of parameters, or with --ini a parameter file (of PARAMS.ini and -s, where given).", cmd_params,
     false},
    {"_man", "", "", NULL, NULL, cmd_man, false},
    {"_completion", "", "", NULL, NULL, cmd_completion, false},
};

size_t cmd_count(void) {
    return sizeof commands / sizeof *commands;
}

const struct cmd *cmd_row(size_t index) {
    return &commands[index];
}

size_t cmd_option_count(void) {
    return sizeof options / sizeof *options;
}

const struct cmd_option *cmd_option_row(size_t index) {
    return &options[index];
}

bool cmd_takes(const struct cmd *cmd, const struct cmd_option *option) {
    return option->kind == 0 || strchr(cmd->options, option->kind) != NULL;
}

static const struct cmd *find_command(const char *name) {
    for (size_t i = 0; i < cmd_count(); i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_option(const struct cmd_option *option) {
    char left[64];
    const int short_form = option->letter < LETTERS_END;
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", short_form ? '-' : ' ', short_form ? option->letter : ' ',
             short_form ? ", " : "  ", option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    printf("  %-30s %s\n", left, option->meaning);
}

static void print_help(const struct cmd *cmd) {
    if (cmd) {
        printf("usage: iclkin %s%s%s [options]\n\n%s\n\noptions:\n", cmd->name, *cmd->operands ? " " : "",
               cmd->operands, cmd->text ? cmd->text : "Used by the build.");
    } else {
        printf("iclkin %s: when in-context learning is acquired, and when it is lost\n\n"
               "usage: iclkin COMMAND [PARAMS.ini] [-s section.key=value]... [-o FILE] [-q]\n\ncommands:\n",
               icl_version_text());
        for (size_t i = 0; i < cmd_count(); i++)
            if (commands[i].brief) printf("  %-12s %s\n", commands[i].name, commands[i].brief);
        printf("\noptions:\n");
    }
    for (size_t i = 0; i < cmd_option_count(); i++)
        if (!cmd || cmd_takes(cmd, &options[i])) print_option(&options[i]);
    if (!cmd) printf("\n`iclkin params` lists the parameters, `iclkin COMMAND --help` says more of a command.\n");
}

/* One line on stderr, whatever went wrong. */
static int complain(const char *command, enum icl_status status, const struct icl_err *err) {
    fprintf(stderr, "iclkin%s%s: %s\n", command ? " " : "", command ? command : "", err->text);
    return status == ICL_EUSAGE ? EXIT_USAGE : EXIT_FAILED;
}

/* What was printed must have arrived. */
static int delivered(const char *command) {
    struct icl_err err;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    icl_err_set(&err, ICL_EIO, "cannot write standard output: %s", strerror(errno));
    return complain(command, err.code, &err);
}

/* `iclkin help [COMMAND]` */
static int help_on(const char *name) {
    struct icl_err err;
    const struct cmd *cmd = name ? find_command(name) : NULL;
    if (name && !cmd) {
        icl_err_set(&err, ICL_EUSAGE, "no command \"%.64s\"; `iclkin help` lists them", name);
        return complain("help", err.code, &err);
    }
    print_help(cmd);
    return delivered("help");
}

static enum icl_status take_option(struct cmd_line *line, const struct cmd *cmd, const struct cmd_option *option,
                                   const char *argument, struct icl_err *err) {
    void *field = (char *)line + option->offset;
    if (!cmd_takes(cmd, option))
        return ICL_ERR(err, ICL_EUSAGE, "--%s: not an option of this command; see `iclkin %s --help`", option->name,
                       cmd->name);
    if (option->letter == 's') {
        if (line->settings == CMD_SETTINGS) return ICL_ERR(err, ICL_EUSAGE, "-s: more than %d of them", CMD_SETTINGS);
        line->setting[line->settings++] = argument;
        return ICL_OK;
    }
    if (!option->argument) {
        *(bool *)field = true;
        return ICL_OK;
    }
    if (option->letter == 'o' && strcmp(argument, "-") == 0) return ICL_OK; /* stdout, as without it */
    if (*(const char **)field) return ICL_ERR(err, ICL_EUSAGE, "--%s %s: given twice", option->name, argument);
    *(const char **)field = argument;
    return ICL_OK;
}

static const struct cmd_option *find_option(int letter) {
    for (size_t i = 0; i < cmd_option_count(); i++)
        if (options[i].letter == letter) return &options[i];
    return NULL;
}

/* Reads the options; wants is set to 'h' or 'V' where one of these was among them. */
static enum icl_status read_options(struct cmd_line *line, const struct cmd *cmd, int argc, char **argv, int *wants,
                                    struct icl_err *err) {
    struct option longs[sizeof options / sizeof *options + 1] = {{0}};
    for (size_t i = 0; i < cmd_option_count(); i++)
        longs[i] = (struct option){options[i].name, options[i].argument ? required_argument : no_argument, NULL,
                                   options[i].letter};
    opterr = 0;
    int letter;
    while ((letter = getopt_long(argc, argv, ":s:o:x:y:qhV", longs, NULL)) != -1) {
        if (letter == ':') return ICL_ERR(err, ICL_EUSAGE, "%s: needs an argument", argv[optind - 1]);
        if (letter == '?')
            return ICL_ERR(err, ICL_EUSAGE, "%s: unknown or ambiguous option; see `iclkin %s --help`", argv[optind - 1],
                           cmd->name);
        if (letter == 'h' || letter == 'V') {
            *wants = letter;
            return ICL_OK;
        }
        ICL_TRY(take_option(line, cmd, find_option(letter), optarg, err));
    }
    return ICL_OK;
}

/* Whether its operands are files of which each has its own parameters. */
static bool takes_list(const struct cmd *cmd) {
    return strstr(cmd->operands, "...") != NULL;
}

static enum icl_status read_operands(struct cmd_line *line, const struct cmd *cmd, int argc, char **argv,
                                     struct icl_err *err) {
    const bool figure = strncmp(cmd->operands, "NAME", 4) == 0;
    int next = optind;
    if (figure) {
        if (next == argc) return ICL_ERR(err, ICL_EUSAGE, "NAME of a figure is missing; `iclkin plot list` lists them");
        line->figure = argv[next++];
    }
    while (next < argc && takes_list(cmd)) {
        if (line->lists == CMD_LIST) return ICL_ERR(err, ICL_EUSAGE, "%s: more than %d files", argv[next], CMD_LIST);
        line->list[line->lists++] = argv[next++];
    }
    if (next < argc && *cmd->operands) line->file = argv[next++];
    if (next < argc) return ICL_ERR(err, ICL_EUSAGE, "%s: one operand too many", argv[next]);
    return ICL_OK;
}

static enum icl_status read_params(struct cmd_line *line, const struct cmd *cmd, struct icl_err *err) {
    char own[CMD_PATH], name[256];
    const char *file = line->file;
    icl_params_default(&line->params);
    if (!file && line->figure && strcmp(line->figure, "list") != 0 && !strchr(line->figure, '/')) {
        snprintf(name, sizeof name, "%s.ini", line->figure);
        if (cmd_data_path("params", name, own, NULL) == ICL_OK) file = own;
    }
    if (file) {
        const enum icl_status status = icl_params_load(&line->params, file, err);
        /* a parameter file that cannot be read is bad usage */
        if (status != ICL_OK) return err->code = status == ICL_EIO ? ICL_EUSAGE : status;
    }
    ICL_TRY(icl_params_apply(&line->params, line->setting, line->settings, err));
    if (takes_list(cmd)) return ICL_OK; /* checked with each of its files */
    return icl_params_check(&line->params, err);
}

int main(int argc, char **argv) {
    struct icl_err err = {ICL_OK, ""};
    struct cmd_line line = {0};
    struct icl_memtable *table = NULL;
    int wants = 0;
    enum icl_status status;
    gsl_set_error_handler_off();
    if (argc < 2) {
        icl_err_set(&err, ICL_EUSAGE, "a command is missing; `iclkin help` lists them");
        return complain(NULL, err.code, &err);
    }
    const bool help = strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    if (help) return help_on(argc > 2 ? argv[2] : NULL);
    const struct cmd *cmd = find_command(argv[1]);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) wants = 'V';
    if (!cmd && !wants) {
        icl_err_set(&err, ICL_EUSAGE, "no command \"%.64s\"; `iclkin help` lists them", argv[1]);
        return complain(NULL, err.code, &err);
    }
    line.command = argv[1];
    status = wants ? ICL_OK : read_options(&line, cmd, argc - 1, argv + 1, &wants, &err);
    if (status == ICL_OK && wants == 'h') print_help(cmd);
    if (status == ICL_OK && wants == 'V') printf("iclkin %s (%s)\n", icl_version_text(), icl_version_commit());
    if (status == ICL_OK && wants) return delivered(line.command);
    if (status == ICL_OK) status = read_operands(&line, cmd, argc - 1, argv + 1, &err);
    if (status == ICL_OK) status = read_params(&line, cmd, &err);
    if (status == ICL_OK && cmd->theory) status = cmd_memory_read(&line.params, &table, &err);
    if (status == ICL_OK) status = cmd->run(&line, &err);
    icl_memtable_free(table);
    if (status == ICL_ESTOPPED) return EXIT_SIGNAL + cmd_stop_signal();
    return status == ICL_OK ? 0 : complain(line.command, status, &err);
}
