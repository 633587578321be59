/* main.c -- the table of commands, the command line, the exit codes. SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "iclkin/version.h"

enum { OPTION_JSON = 256, OPTION_CHECK, OPTION_INI, OPTION_TABLE, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const struct cmd_option options[] = {
    {'s', "set", "section.key=value", "sets a parameter; may be given again for others"},
    {'o', "output", "FILE", "writes to FILE, whole or not at all, instead of to stdout"},
    {'q', "quiet", NULL, "no progress, no remarks"},
    {'h', "help", NULL, "prints help"},
    {'V', "version", NULL, "prints version and commit"},
    {OPTION_JSON, "json", NULL, "writes one JSON object"},
    {OPTION_CHECK, "check", NULL,
     "solves again at a tenth of the tolerances and with finer quadrature; prints the errors"},
    {OPTION_INI, "ini", NULL, "writes a parameter file ready to edit"},
    {OPTION_TABLE, "table", "FILE", "draws this table instead of computing one"},
};

static const struct cmd commands[] = {
    {"trajectory", "[PARAMS.ini]", "c", "integrates one parameter set; TSV, one row a sample",
     "Integrates the learning dynamics at theory.level from t = 0 to train.t_max and writes w, beta, the memorization "
     "clock s, c1, c2, c3, losses and accuracies at observe.samples times and at every event. A reduced trajectory "
     "that "
     "blows up ends there.",
     cmd_trajectory},
    {"predict", "[PARAMS.ini]", "jc", "t_icl by every level, K*, I_K(inf), t_iwl, t_loss, outcome",
     "Predicts when in-context learning is acquired, how many distinct items it takes, and whether it is lost again, "
     "by "
     "three levels of theory, and says why.",
     cmd_predict},
    {"plot", "NAME [PARAMS.ini]", "t", "draws a figure with gnuplot (PNG, SVG or PDF)",
     "Computes the figure's table, writes it beside the picture (same name, .tsv), and draws it with gnuplot; the "
     "ending of -o (.png, .svg, .pdf) chooses the format, NAME.png the default. Without PARAMS.ini the figure's own "
     "file params/NAME.ini serves. `plot list` lists the figures.",
     cmd_plot},
    {"params", "[PARAMS.ini]", "i", "every parameter: section, key, unit, default, range, meaning",
     "Prints the table of parameters, or with --ini a parameter file (of PARAMS.ini and -s, where given).", cmd_params},
    {"_man", "", "", NULL, NULL, cmd_man},
    {"_completion", "", "", NULL, NULL, cmd_completion},
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
    switch (option->letter) {
    case OPTION_JSON:
        return strchr(cmd->options, 'j') != NULL;
    case OPTION_CHECK:
        return strchr(cmd->options, 'c') != NULL;
    case OPTION_INI:
        return strchr(cmd->options, 'i') != NULL;
    case OPTION_TABLE:
        return strchr(cmd->options, 't') != NULL;
    default:
        return true;
    }
}

static const struct cmd *find_command(const char *name) {
    for (size_t i = 0; i < cmd_count(); i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_option(const struct cmd_option *option) {
    char left[64];
    const int short_form = option->letter < 256;
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

static enum icl_status take_option(struct cmd_line *line, const struct cmd *cmd, int letter, struct icl_err *err) {
    for (size_t i = 0; i < cmd_option_count(); i++)
        if (options[i].letter == letter && !cmd_takes(cmd, &options[i]))
            return ICL_ERR(err, ICL_EUSAGE, "--%s: not an option of this command; see `iclkin %s --help`",
                           options[i].name, cmd->name);
    switch (letter) {
    case 's':
        if (line->settings == CMD_SETTINGS) return ICL_ERR(err, ICL_EUSAGE, "-s: more than %d of them", CMD_SETTINGS);
        line->setting[line->settings++] = optarg;
        break;
    case 'o':
        if (line->output) return ICL_ERR(err, ICL_EUSAGE, "-o %s: given twice", optarg);
        line->output = optarg;
        break;
    case 'q':
        line->quiet = true;
        break;
    case OPTION_JSON:
        line->json = true;
        break;
    case OPTION_CHECK:
        line->check = true;
        break;
    case OPTION_INI:
        line->ini = true;
        break;
    case OPTION_TABLE:
        line->table = optarg;
        break;
    default:
        return ICL_ERR(err, ICL_EUSAGE, "option %c: not known", letter);
    }
    return ICL_OK;
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
    while ((letter = getopt_long(argc, argv, ":s:o:qhV", longs, NULL)) != -1) {
        if (letter == ':') return ICL_ERR(err, ICL_EUSAGE, "%s: needs an argument", argv[optind - 1]);
        if (letter == '?')
            return ICL_ERR(err, ICL_EUSAGE, "%s: unknown or ambiguous option; see `iclkin %s --help`", argv[optind - 1],
                           cmd->name);
        if (letter == 'h' || letter == 'V') {
            *wants = letter;
            return ICL_OK;
        }
        ICL_TRY(take_option(line, cmd, letter, err));
    }
    return ICL_OK;
}

static enum icl_status read_operands(struct cmd_line *line, const struct cmd *cmd, int argc, char **argv,
                                     struct icl_err *err) {
    const bool figure = strncmp(cmd->operands, "NAME", 4) == 0;
    int next = optind;
    if (figure) {
        if (next == argc) return ICL_ERR(err, ICL_EUSAGE, "NAME of a figure is missing; `iclkin plot list` lists them");
        line->figure = argv[next++];
    }
    if (next < argc && *cmd->operands) line->file = argv[next++];
    if (next < argc) return ICL_ERR(err, ICL_EUSAGE, "%s: one operand too many", argv[next]);
    return ICL_OK;
}

static enum icl_status read_params(struct cmd_line *line, struct icl_err *err) {
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
    return icl_params_check(&line->params, err);
}

int main(int argc, char **argv) {
    struct icl_err err = {ICL_OK, ""};
    struct cmd_line line = {0};
    int wants = 0;
    enum icl_status status;
    gsl_set_error_handler_off();
    if (argc < 2) {
        print_help(NULL);
        return EXIT_USAGE;
    }
    const bool help = strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    if (help) {
        print_help(argc > 2 ? find_command(argv[2]) : NULL);
        return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
    }
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
    if (status == ICL_OK && wants) return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
    if (status == ICL_OK) status = read_operands(&line, cmd, argc - 1, argv + 1, &err);
    if (status == ICL_OK) status = read_params(&line, &err);
    if (status == ICL_OK) status = cmd->run(&line, &err);
    return status == ICL_OK ? 0 : complain(line.command, status, &err);
}
