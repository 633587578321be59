/* cmd_completion.c -- bash completion, made from the tables that the program runs on. */
#include <string.h>

#include "cli/cmd.h"

/* The options, as a pattern of `case`, after which a file stands, or (files false) the name of a parameter. */
static enum icl_status arguments(struct cmd_text *text, bool files, struct icl_err *err) {
    const char *separator = "";
    for (size_t i = 0; i < cmd_option_count(); i++) {
        const struct cmd_option *option = cmd_option_row(i);
        if (!option->argument) continue;
        const bool file = strcmp(option->argument, "FILE") == 0;
        const bool name = strcmp(option->argument, "AXIS") == 0 || strncmp(option->argument, "section.key", 11) == 0;
        if (!(files ? file : name)) continue;
        if (option->letter < 256) ICL_TRY(cmd_text_add(text, err, "%s-%c", separator, option->letter));
        ICL_TRY(cmd_text_add(text, err, "%s--%s", option->letter < 256 || *separator ? " | " : "", option->name));
        separator = " | ";
    }
    return ICL_OK;
}

static enum icl_status option_words(struct cmd_text *text, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, "_iclkin_options() {\n    case $1 in\n"));
    for (size_t i = 0; i < cmd_count(); i++) {
        if (!cmd_row(i)->brief) continue;
        ICL_TRY(cmd_text_add(text, err, "    %s) echo '", cmd_row(i)->name));
        for (size_t j = 0; j < cmd_option_count(); j++) {
            const struct cmd_option *option = cmd_option_row(j);
            if (!cmd_takes(cmd_row(i), option)) continue;
            if (option->letter < 256) ICL_TRY(cmd_text_add(text, err, "-%c ", option->letter));
            ICL_TRY(cmd_text_add(text, err, "--%s ", option->name));
        }
        ICL_TRY(cmd_text_add(text, err, "' ;;\n"));
    }
    return cmd_text_add(text, err, "    esac\n}\n");
}

/* What may stand after `section.key=`: the choices, or the default and, where allowed, inf. */
static enum icl_status value_words(struct cmd_text *text, struct icl_err *err) {
    struct icl_params preset;
    char value[ICL_TEXT_SIZE];
    icl_params_default(&preset);
    ICL_TRY(cmd_text_add(text, err, "_iclkin_values() {\n    case $1 in\n"));
    for (size_t i = 0; i < icl_params_count(); i++) {
        const struct icl_param *row = icl_params_row(i);
        if (row->type == ICL_PARAM_BOTH) continue;
        ICL_TRY(cmd_text_add(text, err, "    %s.%s) echo '", row->section, row->key));
        icl_params_text(&preset, row, value);
        if (row->type == ICL_PARAM_CHOICE)
            for (const char *c = row->names; *c; c++) ICL_TRY(cmd_text_add(text, err, "%c", *c == '|' ? ' ' : *c));
        else
            ICL_TRY(cmd_text_add(text, err, "%s%s", value, row->flags & ICL_P_INF ? " inf" : ""));
        ICL_TRY(cmd_text_add(text, err, "' ;;\n"));
    }
    return cmd_text_add(text, err, "    esac\n}\n");
}

static const char script_helpers[] = "_iclkin_reply() {\n"
                                     "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
                                     "}\n"
                                     "_iclkin_files() {\n"
                                     "    compopt -o filenames 2>/dev/null\n"
                                     "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                                     "}\n";

/* Readline splits words at `=` (unless told otherwise): first put together again what stands around the cursor. */
static const char script_setting[] =
    "_iclkin() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev='' key='' glue='' at=$COMP_CWORD figure i\n"
    "    COMPREPLY=()\n"
    "    if [ \"$at\" -le 1 ]; then\n"
    "        _iclkin_reply \"$_iclkin_commands help --help --version\"\n"
    "        return\n"
    "    fi\n"
    "    if [ \"$cur\" = = ]; then\n"
    "        key=${COMP_WORDS[at - 1]} cur='' at=$((at - 1))\n"
    "    elif [ \"${COMP_WORDS[at - 1]}\" = = ]; then\n"
    "        key=${COMP_WORDS[at - 2]} at=$((at - 2))\n"
    "    elif [[ $cur == [a-z]*.*=* ]]; then\n"
    "        key=${cur%%=*} glue=$key= cur=${cur#*=}\n"
    "    fi\n"
    "    if [ -n \"$key\" ]; then\n"
    "        _iclkin_reply \"$(_iclkin_values \"$key\")\"\n"
    "        if [ \"$key\" = memory.table ]; then\n"
    "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        fi\n"
    "        for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=$glue${COMPREPLY[i]}; done\n"
    "        return\n"
    "    fi\n"
    "    prev=${COMP_WORDS[at - 1]}\n"
    "    case $prev in\n";

static const char script_end[] =
    "    esac\n"
    "    if [ \"${COMP_WORDS[1]}\" = help ]; then\n"
    "        _iclkin_reply \"$_iclkin_commands\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _iclkin_reply \"$(_iclkin_options \"${COMP_WORDS[1]}\")\"\n"
    "    elif [ \"${COMP_WORDS[1]}\" = plot ] && [ \"$at\" -eq 2 ]; then\n"
    "        figure=$(\"${COMP_WORDS[0]}\" plot list 2>/dev/null | awk '!/^#/ { print $1 }')\n"
    "        _iclkin_reply \"$figure list\"\n"
    "    else\n"
    "        _iclkin_files\n"
    "    fi\n"
    "}\n"
    "complete -F _iclkin iclkin\n";

static enum icl_status whole_script(struct cmd_text *text, struct icl_err *err) {
    ICL_TRY(cmd_text_add(text, err, "# bash completion for iclkin(1), made by `iclkin _completion`.\n"));
    ICL_TRY(cmd_text_add(text, err, "_iclkin_commands='"));
    for (size_t i = 0; i < cmd_count(); i++)
        if (cmd_row(i)->brief) ICL_TRY(cmd_text_add(text, err, "%s ", cmd_row(i)->name));
    ICL_TRY(cmd_text_add(text, err, "'\n_iclkin_parameters='"));
    for (size_t i = 0; i < icl_params_count(); i++)
        ICL_TRY(cmd_text_add(text, err, "%s.%s= ", icl_params_row(i)->section, icl_params_row(i)->key));
    ICL_TRY(cmd_text_add(text, err, "'\n"));
    ICL_TRY(option_words(text, err));
    ICL_TRY(value_words(text, err));
    ICL_TRY(cmd_text_add(text, err, "%s%s    ", script_helpers, script_setting));
    ICL_TRY(arguments(text, false, err));
    ICL_TRY(cmd_text_add(text, err,
                         ")\n        compopt -o nospace 2>/dev/null\n"
                         "        _iclkin_reply \"$_iclkin_parameters\"\n        return\n        ;;\n    "));
    ICL_TRY(arguments(text, true, err));
    return cmd_text_add(text, err, ")\n        _iclkin_files\n        return\n        ;;\n%s", script_end);
}

enum icl_status cmd_completion(const struct cmd_line *line, struct icl_err *err) {
    struct cmd_text text = {0};
    enum icl_status status = whole_script(&text, err);
    if (status == ICL_OK) status = icl_table_save(line->output, text.bytes, text.length, err);
    cmd_text_free(&text);
    return status;
}
