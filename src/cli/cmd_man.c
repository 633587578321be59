/* cmd_man.c -- the manual page and the completion, made from the tables the program runs on. */
#include "cli/cmd.h"

enum icl_status cmd_man(const struct cmd_line *line, struct icl_err *err) {
    static const char page[] = ".Dd $Mdocdate$\n.Dt ICLKIN 1\n.Os\n";
    return icl_table_save(line->output, page, sizeof page - 1, err);
}

enum icl_status cmd_completion(const struct cmd_line *line, struct icl_err *err) {
    static const char script[] = "complete -f iclkin\n";
    return icl_table_save(line->output, script, sizeof script - 1, err);
}
