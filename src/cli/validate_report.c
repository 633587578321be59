/* validate_report.c -- one HTML page that needs nothing else: verdicts, figures, parameters, how to run it again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/validate.h"
#include "iclkin/version.h"

static const char style[] =
    "body{font:16px/1.5 \"DejaVu Sans\",Verdana,sans-serif;color:#1a1a1a;max-width:72rem;margin:2rem auto;padding:0 "
    "1rem}"
    "h1{font-size:1.7rem}h2{font-size:1.25rem;margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;margin:1rem 0}"
    "th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #e4e4e4;white-space:nowrap}"
    "th{border-bottom:2px solid #888}td.word,th.word{text-align:left}tr.shown{color:#707070}"
    ".holds{color:#00427a;font-weight:bold}.differs{color:#b34700;font-weight:bold}.open{color:#5a5a5a;font-weight:"
    "bold}"
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto}figcaption{font-size:.85rem;color:#505050}"
    "pre{background:#f4f4f4;padding:.7rem;overflow-x:auto;font-size:.85rem}.scroll{overflow-x:auto}";

/* Text as HTML has it. */
static enum icl_status escape(struct cmd_text *page, const char *text, struct icl_err *err) {
    for (const char *c = text; *c; c++) {
        const char *word = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
        if (word)
            ICL_TRY(cmd_text_add(page, err, "%s", word));
        else
            ICL_TRY(cmd_text_add(page, err, "%c", *c));
    }
    return ICL_OK;
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* The page as it grows. */
struct page {
    struct cmd_text text;
    size_t pictures;
};

/* The drawing, its names made this picture's own: all pictures are one document. */
static enum icl_status add_drawing(struct page *page, const char *svg, struct icl_err *err) {
    static const char *const before[] = {"id=\"", "id='", "href='#", "href=\"#", "url(#"};
    for (const char *at = svg; *at;) {
        size_t length = 1, kind = 0;
        while (kind < sizeof before / sizeof *before && strncmp(at, before[kind], strlen(before[kind])) != 0) kind++;
        const bool named = kind < sizeof before / sizeof *before;
        if (named)
            length = strlen(before[kind]);
        else
            length += strcspn(at + 1, "ihu");
        ICL_TRY(cmd_text_add(&page->text, err, "%.*s", (int)length, at));
        if (named) ICL_TRY(cmd_text_add(&page->text, err, "picture%zu-", page->pictures));
        at += length;
    }
    return ICL_OK;
}

/* The picture itself stands in the page: without what goes before <svg, and with its own title. */
static enum icl_status add_picture(const char *picture, const char *caption, void *context, struct icl_err *err) {
    static const char title[] = "<title>", end[] = "</desc>";
    struct page *page = context;
    char *bytes;
    size_t length;
    ICL_TRY(icl_table_slurp(picture, &bytes, &length, err));
    const char *svg = strstr(bytes, "<svg"), *name = svg ? strstr(svg, title) : NULL;
    const char *rest = name ? strstr(name, end) : NULL;
    enum icl_status status = rest ? ICL_OK : ICL_ERR(err, ICL_EIO, "%s: gnuplot wrote no SVG", picture);
    page->pictures++;
    if (status == ICL_OK) status = cmd_text_add(&page->text, err, "<figure>\n%.*s%s", (int)(name - svg), svg, title);
    if (status == ICL_OK) status = escape(&page->text, caption, err);
    if (status == ICL_OK) status = cmd_text_add(&page->text, err, "</title>");
    if (status == ICL_OK) status = add_drawing(page, rest + sizeof end - 1, err);
    if (status == ICL_OK) status = cmd_text_add(&page->text, err, "<figcaption>");
    if (status == ICL_OK) status = escape(&page->text, caption, err);
    if (status == ICL_OK) status = cmd_text_add(&page->text, err, "</figcaption></figure>\n");
    icl_table_release(bytes);
    return status;
}

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

static enum icl_status add_number(struct cmd_text *page, double value, double error, struct icl_err *err) {
    if (isnan(value)) return cmd_text_add(page, err, "<td>&ndash;</td>");
    if (isinf(value)) return cmd_text_add(page, err, "<td>never</td>");
    if (isnan(error) || error == 0) return cmd_text_add(page, err, "<td>%.5g</td>", value);
    return cmd_text_add(page, err, "<td>%.5g &plusmn; %.2g</td>", value, error);
}

static enum icl_status add_row(struct cmd_text *page, const struct validate_row *compared, struct icl_err *err) {
    const struct icl_validate_row *row = &compared->row;
    const bool absolute = row->entry->row->absolute;
    const double scale = absolute ? 1 : 100;
    const char *unit = absolute ? "" : " %";
    const double width = icl_stats_width(&row->stats, compared->setting->params.validate.confidence);
    char place[VALIDATE_NAME], label[ICL_QUANTITY_LABEL];
    ICL_TRY(cmd_text_add(page, err, "<tr%s><td class=word>%s</td><td class=word>%s</td><td class=word>%s</td>",
                         row->judged ? "" : " class=shown", cmd_validate_place(compared, place),
                         icl_quantity_label(row->entry, label), icl_traj_level(row->level)));
    ICL_TRY(add_number(page, row->stats.simulation, row->stats.simulation_error, err));
    ICL_TRY(cmd_text_add(page, err, "<td>%zu of %zu</td>", row->runs - row->censored, row->runs));
    ICL_TRY(add_number(page, row->stats.theory, NAN, err));
    if (isnan(row->stats.difference))
        ICL_TRY(cmd_text_add(page, err, "<td>&ndash;</td>"));
    else if (isinf(row->stats.simulation) && isinf(row->stats.theory))
        ICL_TRY(cmd_text_add(page, err, "<td>neither does</td>"));
    else if (isinf(row->stats.difference))
        ICL_TRY(cmd_text_add(page, err, "<td>only one does</td>"));
    else if (isinf(width))
        ICL_TRY(cmd_text_add(page, err, "<td>%+.3g%s</td>", scale * row->stats.difference, unit));
    else
        ICL_TRY(cmd_text_add(page, err, "<td>%+.3g &plusmn; %.2g%s</td>", scale * row->stats.difference, scale * width,
                             unit));
    if (!row->judged) return cmd_text_add(page, err, "<td></td><td></td></tr>\n");
    const char *verdict = icl_stats_name(row->verdict);
    return cmd_text_add(page, err, "<td>%.3g%s</td><td class=\"word %s\">%s</td></tr>\n", scale * row->entry->bound,
                        unit, verdict, verdict);
}

static enum icl_status add_rows(struct cmd_text *page, const struct validate *validate,
                                const struct validate_setting *setting, struct icl_err *err) {
    ICL_TRY(cmd_text_add(page, err,
                         "<div class=scroll><table>\n<tr><th class=word>at</th><th class=word>quantity</th><th "
                         "class=word>level</th><th>simulation</th><th>reach it</th><th>theory</th><th>difference, "
                         "%g %% interval</th><th>bound</th><th class=word>verdict</th></tr>\n",
                         100 * setting->params.validate.confidence));
    for (size_t i = 0; i < validate->rows; i++)
        if (validate->row[i].setting == setting) ICL_TRY(add_row(page, &validate->row[i], err));
    return cmd_text_add(page, err, "</table></div>\n");
}

/* ---- one setting ------------------------------------------------------------------------------------------------ */

/* Its first comment says what it is about. */
static enum icl_status add_title(struct cmd_text *page, const struct validate_setting *setting, struct icl_err *err) {
    char *bytes;
    size_t length;
    ICL_TRY(icl_table_slurp(setting->path, &bytes, &length, err));
    bytes[strcspn(bytes, "\r\n")] = '\0';
    enum icl_status status = cmd_text_add(page, err, "<h2 id=\"%s\">%s</h2>\n<p>", setting->name, setting->name);
    if (status == ICL_OK && (bytes[0] == ';' || bytes[0] == '#'))
        status = escape(page, bytes + 1 + strspn(bytes + 1, " "), err);
    if (status == ICL_OK) status = cmd_text_add(page, err, "</p>\n");
    icl_table_release(bytes);
    return status;
}

/* What differs from the defaults, as a parameter file. */
static enum icl_status add_params(struct cmd_text *page, const struct validate_setting *setting, struct icl_err *err) {
    struct icl_params preset;
    const char *section = "";
    icl_params_default(&preset);
    ICL_TRY(cmd_text_add(page, err, "<details><summary>Parameters that differ from the defaults</summary><pre>"));
    for (size_t k = 0; k < icl_params_count(); k++) {
        const struct icl_param *row = icl_params_row(k);
        char value[ICL_TEXT_SIZE], usual[ICL_TEXT_SIZE];
        if (row->type == ICL_PARAM_BOTH || row->flags & ICL_P_SPEED) continue;
        icl_params_text(&setting->params, row, value);
        if (strcmp(value, icl_params_text(&preset, row, usual)) == 0) continue;
        if (strcmp(section, row->section) != 0) ICL_TRY(cmd_text_add(page, err, "[%s]\n", row->section));
        section = row->section;
        ICL_TRY(cmd_text_add(page, err, "%s = ", row->key));
        ICL_TRY(escape(page, value, err));
        ICL_TRY(cmd_text_add(page, err, "\n"));
    }
    return cmd_text_add(page, err, "</pre></details>\n");
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static enum icl_status add_command(struct cmd_text *page, const struct validate *validate, struct icl_err *err) {
    const struct cmd_line *line = validate->line;
    ICL_TRY(
        cmd_text_add(page, err, "<h2>How to run it again</h2>\n<pre>iclkin validate%s", line->quick ? " --quick" : ""));
    for (size_t i = 0; i < line->lists; i++) {
        ICL_TRY(cmd_text_add(page, err, " "));
        ICL_TRY(escape(page, line->list[i], err));
    }
    for (size_t i = 0; i < line->settings; i++) {
        ICL_TRY(cmd_text_add(page, err, " -s '"));
        ICL_TRY(escape(page, line->setting[i], err));
        ICL_TRY(cmd_text_add(page, err, "'"));
    }
    ICL_TRY(cmd_text_add(page, err, " -o "));
    ICL_TRY(escape(page, validate->folder, err));
    ICL_TRY(cmd_text_add(page, err, " --report "));
    ICL_TRY(escape(page, line->report, err));
    return cmd_text_add(page, err,
                        "</pre>\n<p>Version %s, commit %s. Runs that lie in the folder of -o already are not made "
                        "again; the same seeds give the same table on any number of threads.</p>\n",
                        icl_version_text(), icl_version_commit());
}

static enum icl_status add_summary(struct page *page, const struct validate *validate, struct icl_err *err) {
    const size_t *count = validate->count;
    char picture[CMD_PATH];
    ICL_TRY(cmd_text_add(&page->text, err,
                         "<h1>iclkin: theory against simulation</h1>\n<p>Of %zu comparisons <span class=holds>%zu "
                         "hold</span>, <span class=differs>%zu differ</span>, <span class=open>%zu are open</span>. "
                         "A difference holds where the whole interval around it lies within its bound, differs where "
                         "the whole of it lies outside, and is open otherwise. Grey rows are shown, not judged.</p>\n",
                         count[0] + count[1] + count[2], count[ICL_STATS_HOLDS], count[ICL_STATS_DIFFERS],
                         count[ICL_STATS_OPEN]));
    ICL_TRY(cmd_validate_overview(validate, picture, err));
    if (picture[0]) ICL_TRY(add_picture(picture, "Every judged difference, in units of its bound.", page, err));
    return ICL_OK;
}

static enum icl_status fill(struct page *page, const struct validate *validate, struct icl_err *err) {
    struct cmd_text *const text = &page->text;
    ICL_TRY(cmd_text_add(text, err,
                         "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
                         "content=\"width=device-width\"><title>iclkin: theory against simulation</title>"
                         "<style>%s</style></head><body>\n",
                         style));
    ICL_TRY(add_summary(page, validate, err));
    for (size_t i = 0; i < validate->settings; i++) {
        const struct validate_setting *setting = &validate->setting[i];
        ICL_TRY(add_title(text, setting, err));
        ICL_TRY(add_rows(text, validate, setting, err));
        ICL_TRY(cmd_validate_figures(validate, setting, add_picture, page, err));
        ICL_TRY(add_params(text, setting, err));
    }
    ICL_TRY(add_command(text, validate, err));
    return cmd_text_add(text, err, "</body></html>\n");
}

enum icl_status cmd_validate_report(const struct validate *validate, struct icl_err *err) {
    char path[CMD_PATH];
    struct page page = {.pictures = 0};
    ICL_TRY(cmd_validate_folder(validate->line->report, err));
    if (snprintf(path, sizeof path, "%s/index.html", validate->line->report) >= CMD_PATH)
        return ICL_ERR(err, ICL_EUSAGE, "--report: too long a path");
    enum icl_status status = fill(&page, validate, err);
    if (status == ICL_OK) status = icl_table_save(path, page.text.bytes, page.text.length, err);
    cmd_text_free(&page.text);
    return status;
}
