/* cmd_man.c -- the manual page, made from the tables that the program runs on. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "iclkin/version.h"

/* The date of the page's own words; what comes from the tables is as old as the program. */
#define PAGE_DATE "December 1, 2026"

enum { WIDTH = 72, PHRASE = 2048 };

/* One character of running text as mdoc has it; quoted toggles at each back quote. */
static const char *escape_of(char c, bool first, bool *quoted, char plain[2]) {
    switch (c) {
    case '\\':
        return "\\e";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    case '`':
        *quoted = !*quoted;
        return *quoted ? "\\(oq" : "\\(cq";
    case '-':
        return first || *quoted ? "\\-" : "-";
    case '.':
    case '\'':
        if (first) return c == '.' ? "\\&." : "\\&'"; /* would be a macro at the beginning of a line */
        break;
    default:
        break;
    }
    plain[0] = c;
    plain[1] = '\0';
    return plain;
}

/* Running text, filled to WIDTH, every sentence on a line of its own. */
static enum icl_status prose(struct cmd_text *text, const char *words, struct icl_err *err) {
    char plain[2];
    bool quoted = false;
    size_t column = 0;
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (column > 0) {
            const bool wrap = column + 1 + length > WIDTH;
            ICL_TRY(cmd_text_add(text, err, wrap ? "\n" : " "));
            column = wrap ? 0 : column + 1;
        }
        for (size_t i = 0; i < length; i++)
            ICL_TRY(cmd_text_add(text, err, "%s", escape_of(words[i], i == 0, &quoted, plain)));
        column += length;
        const bool ends = length > 0 && strchr(".?!", words[length - 1]) != NULL;
        words += length;
        words += strspn(words, " ");
        if (ends && *words) {
            ICL_TRY(cmd_text_add(text, err, "\n"));
            column = 0;
        }
    }
    return cmd_text_add(text, err, "\n");
}

/* "[PARAMS.ini]" and "NAME" as mdoc has them, each on a line of its own. */
static enum icl_status operands(struct cmd_text *text, const char *words, struct icl_err *err) {
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (*words == '[' && words[length - 1] == ']')
            ICL_TRY(cmd_text_add(text, err, ".Op Ar %.*s\n", (int)(length - 2), words + 1));
        else
            ICL_TRY(cmd_text_add(text, err, ".Ar %.*s\n", (int)length, words));
        words += length;
        words += strspn(words, " ");
    }
    return ICL_OK;
}

/* A meaning as a sentence; a symbol at its beginning (acc_icl) keeps its letters. */
static enum icl_status sentence(struct cmd_text *text, const char *meaning, struct icl_err *err) {
    char phrase[PHRASE];
    const char *word = meaning;
    while (islower((unsigned char)*word)) word++;
    const bool plain = word > meaning + 1 && strchr(" ,:;-", *word) != NULL;
    snprintf(phrase, sizeof phrase, "%c%s.", plain ? toupper((unsigned char)*meaning) : *meaning, meaning + 1);
    return prose(text, phrase, err);
}

/* Options every command takes are told once. */
static bool is_common(const struct cmd_option *option) {
    for (size_t i = 0; i < cmd_count(); i++)
        if (cmd_row(i)->brief && !cmd_takes(cmd_row(i), option)) return false;
    return true;
}

static enum icl_status synopsis(struct cmd_text *text, struct icl_err *err) {
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *cmd = cmd_row(i);
        if (!cmd->brief) continue;
        ICL_TRY(cmd_text_add(text, err, ".Nm\n.Cm %s\n", cmd->name));
        ICL_TRY(operands(text, cmd->operands, err));
        ICL_TRY(cmd_text_add(text, err, ".Op Ar options\n"));
    }
    return cmd_text_add(text, err, ".Nm\n.Cm help\n.Op Ar command\n");
}

static enum icl_status option_item(struct cmd_text *text, const struct cmd_option *option, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, ".It"));
    if (option->letter < 256) {
        ICL_TRY(cmd_text_add(text, err, " Fl %c", option->letter));
        if (option->argument) ICL_TRY(cmd_text_add(text, err, " Ar %s", option->argument));
        ICL_TRY(cmd_text_add(text, err, " ,"));
    }
    ICL_TRY(cmd_text_add(text, err, " Fl \\-%s", option->name));
    if (option->argument) ICL_TRY(cmd_text_add(text, err, " Ar %s", option->argument));
    ICL_TRY(cmd_text_add(text, err, "\n"));
    return sentence(text, option->meaning, err);
}

static enum icl_status commands(struct cmd_text *text, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, ".Sh COMMANDS\n.Bl -tag -width Ds\n"));
    for (size_t i = 0; i < cmd_count(); i++) {
        const struct cmd *cmd = cmd_row(i);
        if (!cmd->brief) continue;
        ICL_TRY(cmd_text_add(text, err, ".It Cm %s\n", cmd->name));
        ICL_TRY(prose(text, cmd->text, err));
        bool own = false;
        for (size_t j = 0; j < cmd_option_count(); j++) {
            const struct cmd_option *option = cmd_option_row(j);
            if (is_common(option) || !cmd_takes(cmd, option)) continue;
            if (!own) ICL_TRY(cmd_text_add(text, err, ".Bl -tag -width Ds\n"));
            own = true;
            ICL_TRY(option_item(text, option, err));
        }
        if (own) ICL_TRY(cmd_text_add(text, err, ".El\n"));
    }
    ICL_TRY(cmd_text_add(text, err, ".El\n.Sh OPTIONS\nEvery command takes these.\n.Bl -tag -width Ds\n"));
    for (size_t j = 0; j < cmd_option_count(); j++)
        if (is_common(cmd_option_row(j))) ICL_TRY(option_item(text, cmd_option_row(j), err));
    return cmd_text_add(text, err, ".El\n");
}

/* "Unit t. Default 1000. Range (0, 1e+15]." */
static enum icl_status parameter_item(struct cmd_text *text, const struct icl_params *preset,
                                      const struct icl_param *row, struct icl_err *err) {
    char value[ICL_TEXT_SIZE], range[CMD_RANGE], phrase[PHRASE];
    ICL_TRY(cmd_text_add(text, err, ".It Va %s.%s\n", row->section, row->key));
    ICL_TRY(sentence(text, row->meaning, err));
    if (strcmp(row->unit, "1") != 0 && *row->unit) {
        snprintf(phrase, sizeof phrase, "Unit %s.", row->unit);
        ICL_TRY(prose(text, phrase, err));
    }
    if (row->type == ICL_PARAM_BOTH) return ICL_OK;
    snprintf(phrase, sizeof phrase, "Default %s.", icl_params_text(preset, row, value));
    ICL_TRY(prose(text, phrase, err));
    if (row->type == ICL_PARAM_TEXT) return ICL_OK;
    cmd_params_range(row, range);
    for (char *c = range; row->type == ICL_PARAM_CHOICE && *c; c++)
        if (*c == '|') *c = ' ';
    snprintf(phrase, sizeof phrase, "%s %s.", row->type == ICL_PARAM_CHOICE ? "One of" : "Range", range);
    return prose(text, phrase, err);
}

static enum icl_status parameters(struct cmd_text *text, struct icl_err *err) {
    static const char intro[] =
        "A parameter file is an INI file, any table that iclkin wrote, or the JSON of `predict --json`. Defaults come "
        "first, then the file, then the settings given with -s; what comes later overrides. A key given twice in one "
        "of these is an error. Ranges exclude the ends that stand beside a round bracket; `inf` and `auto` after a "
        "range are allowed too. Tags such as (T5) name the equations in notes/model.md. Time t is learning rate times "
        "SGD steps.";
    struct icl_params preset;
    const char *section = "";
    icl_params_default(&preset);
    ICL_TRY(cmd_text_add(text, err, ".Sh PARAMETERS\n"));
    ICL_TRY(prose(text, intro, err));
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        if (strcmp(section, row->section) != 0)
            ICL_TRY(cmd_text_add(text, err, "%s.Ss [%s] %s\n.Bl -tag -width Ds\n", *section ? ".El\n" : "",
                                 row->section, icl_params_section(row->section)));
        section = row->section;
        ICL_TRY(parameter_item(text, &preset, row, err));
    }
    return cmd_text_add(text, err, ".El\n");
}

static const char page_description[] = ".Sh DESCRIPTION\n"
                                       ".Nm\n"
                                       "predicts how the two halves of a small transformer race: the attention\n"
                                       "head, which generalizes in context (ICL), and the MLP, which memorizes the\n"
                                       "training items in its weights (IWL).\n"
                                       "It integrates the reduced learning dynamics and says when in-context\n"
                                       "learning is acquired, how many distinct items the data must hold, and when\n"
                                       "in-context learning is lost again.\n"
                                       ".Pp\n"
                                       "Results go to the standard output or to the file named by\n"
                                       ".Fl o ;\n"
                                       "remarks and errors go to the standard error, one line each.\n"
                                       "Options may stand before and after operands.\n";

static const char page_files[] = ".Sh FILES\n"
                                 ".Bl -tag -width Ds\n"
                                 ".It Pa params/ Ns Ar NAME Ns Pa .ini\n"
                                 "The parameters of the figure\n"
                                 ".Ar NAME .\n"
                                 ".It Pa plots/ Ns Ar NAME Ns Pa .gp\n"
                                 "The gnuplot script that draws it.\n"
                                 ".El\n"
                                 ".Pp\n"
                                 "Both folders are looked for beside the program, then in\n"
                                 ".Pa ../share/iclkin\n"
                                 "from there, then where\n"
                                 ".Nm\n"
                                 "was installed.\n"
                                 ".Pp\n"
                                 "Tables are tab-separated: lines\n"
                                 ".Ql # key = value\n"
                                 "with version, command, results, every parameter and the unit of every\n"
                                 "column, then one line of column names, then rows.\n"
                                 "Numbers read back to the same double; a time never reached is\n"
                                 ".Ql inf .\n"
                                 ".Sh EXIT STATUS\n"
                                 ".Bl -tag -width Ds\n"
                                 ".It 0\n"
                                 "Done.\n"
                                 ".It 1\n"
                                 "It could not be computed or written, or a check failed.\n"
                                 ".It 2\n"
                                 "Bad usage or parameters; nothing was written.\n"
                                 ".It 128 + signal\n"
                                 "Ended by a signal.\n"
                                 ".El\n";

/* Each is run by tests/test_docs.sh. */
static const char page_examples[] =
    ".Sh EXAMPLES\n"
    "When is in-context learning acquired, and how many items does it take?\n"
    ".Pp\n"
    ".Dl $ iclkin predict\n"
    ".Pp\n"
    "The same with unlimited items and half the context:\n"
    ".Pp\n"
    ".Dl $ iclkin predict -s task.K=inf -s task.N=50\n"
    ".Pp\n"
    "A parameter file to edit, and a trajectory from it:\n"
    ".Pp\n"
    ".Dl $ iclkin params --ini -o mine.ini\n"
    ".Dl $ iclkin trajectory mine.ini -s train.lambda=3e-3 -o run.tsv\n"
    ".Pp\n"
    "A table is a parameter file, too:\n"
    ".Pp\n"
    ".Dl $ iclkin predict run.tsv --json\n"
    ".Sh SEE ALSO\n"
    ".Xr gnuplot 1\n"
    ".Rs\n"
    ".%A Alex Nguyen\n"
    ".%A Gautam Reddy\n"
    ".%T Differential learning kinetics govern the transition from memorization to generalization during in-context "
    "learning\n"
    ".%D 2025\n"
    ".%O arXiv 2412.00104\n"
    ".Re\n";

static enum icl_status whole_page(struct cmd_text *text, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err,
                         ".\\\" Made by `iclkin _man`, version %s.\n.Dd %s\n.Dt ICLKIN 1\n.Os\n.Sh NAME\n.Nm iclkin\n"
                         ".Nd when in-context learning is acquired, and when it is lost\n.Sh SYNOPSIS\n",
                         icl_version_text(), PAGE_DATE));
    ICL_TRY(synopsis(text, err));
    ICL_TRY(cmd_text_add(text, err, "%s", page_description));
    ICL_TRY(commands(text, err));
    ICL_TRY(parameters(text, err));
    return cmd_text_add(text, err, "%s%s", page_files, page_examples);
}

enum icl_status cmd_man(const struct cmd_line *line, struct icl_err *err) {
    struct cmd_text text = {0};
    enum icl_status status = whole_page(&text, err);
    if (status == ICL_OK) status = icl_table_save(line->output, text.bytes, text.length, err);
    cmd_text_free(&text);
    return status;
}
