#include "ini.h"

#include <ini.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

/* One line of a header or of JSON: longer than any value a parameter takes (ICL_TEXT_SIZE) with its key. */
enum { LINE_SIZE = 1024, SHOWN = 60 };

struct source {
    const char *name, *at, *end;
    size_t line;
    icl_ini_handler *handler;
    void *context;
    enum icl_status status;
    struct icl_err *err;
};

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

/* How many letters, digits and underscores text begins with. */
static size_t word_length(const char *text, size_t length) {
    size_t word = 0;

    while (word < length && (text[word] == '_' || (text[word] >= '0' && text[word] <= '9') ||
                             (text[word] >= 'a' && text[word] <= 'z') || (text[word] >= 'A' && text[word] <= 'Z')))
        word++;
    return word;
}

static enum icl_status refuse(const struct source *source, const char *text, size_t length, const char *rule) {
    return ICL_ERR(source->err, ICL_EUSAGE, "%s:%zu: %.*s%s: %s", source->name, source->line,
                   (int)(length < SHOWN ? length : SHOWN), text, length < SHOWN ? "" : "...", rule);
}

/* Gives the next physical line, trimmed; false at the end of the text or at a byte that no text holds. */
static bool next_line(struct source *source, const char **text, size_t *length) {
    const char *from = source->at, *stop, *last;

    if (source->status != ICL_OK || from == source->end) return false;
    source->line++;
    stop = memchr(from, '\n', (size_t)(source->end - from));
    source->at = stop != NULL ? stop + 1 : source->end;
    last = stop != NULL ? stop : source->end;
    if (last > from && last[-1] == '\r') last--;
    for (const char *byte = from; byte < last; byte++) {
        if (((unsigned char)*byte >= 0x20 && *byte != 0x7f) || *byte == '\t') continue;
        source->status = ICL_ERR(source->err, ICL_EUSAGE, "%s:%zu: binary junk (byte 0x%02x): not a text file",
                                 source->name, source->line, (unsigned char)*byte);
        return false;
    }
    while (from < last && is_blank(*from)) from++;
    while (last > from && is_blank(last[-1])) last--;
    *text = from;
    *length = (size_t)(last - from);
    return true;
}

static struct source open_source(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                                 void *context, struct icl_err *err) {
    struct source source = {name, bytes, bytes + length, 0, handler, context, ICL_OK, err};

    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) source.at += 3;
    return source;
}

/* The length without the comment that follows white space, and without that white space. */
static size_t before_comment(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if ((text[i] != ';' && text[i] != '#') || (i > 0 && !is_blank(text[i - 1]))) continue;
        while (i > 0 && is_blank(text[i - 1])) i--;
        return i;
    }
    return length;
}

/* Tells the handler of "[name]", and refuses what inih would cut short or read as another name. */
static enum icl_status begin_section(struct source *source, const char *text, size_t length) {
    char section[SHOWN + 1];
    const struct icl_ini_entry entry = {source->name, source->line, section, NULL, NULL};
    const size_t word = word_length(text + 1, length - 1);

    if (word == 0 || word + 2 != length || text[word + 1] != ']')
        return refuse(source, text, length, "a section is written [name]");
    if (word > 40) return refuse(source, text, length, "no such section"); /* inih keeps 49 bytes */
    memcpy(section, text + 1, word);
    section[word] = '\0';
    return source->handler(source->context, &entry, source->err);
}

/* inih's reader (as fgets): hands on only lines that it reads as we mean them. It continues a value on an indented
 * line, cuts a long line in two, takes ':' for '=', and says nothing of any of them. */
static char *read_line(char *line, int size, void *stream) {
    struct source *source = stream;
    const char *text;
    size_t length;

    while (next_line(source, &text, &length)) {
        length = before_comment(text, length);
        if (length == 0) continue;
        if (text[0] == '[') {
            source->status = begin_section(source, text, length);
        } else {
            const size_t word = word_length(text, length);
            size_t equals = word;

            while (equals < length && is_blank(text[equals])) equals++;
            if (word == 0 || equals == length || text[equals] != '=')
                source->status = refuse(source, text, length, "expected key = value");
        }
        if (source->status == ICL_OK && length + 3 > (size_t)size)
            source->status = refuse(source, text, length, "the line is too long");
        if (source->status != ICL_OK) return NULL;
        memcpy(line, text, length);
        line[length] = '\0';
        return line;
    }
    return NULL;
}

static int take_pair(void *user, const char *section, const char *key, const char *value) {
    struct source *source = user;
    const struct icl_ini_entry entry = {source->name, source->line, section, key, value};

    if (section[0] == '\0')
        source->status = ICL_ERR(source->err, ICL_EUSAGE, "%s:%zu: %s = %.60s: stands before the first [section]",
                                 source->name, source->line, key, value);
    else
        source->status = source->handler(source->context, &entry, source->err);
    return source->status == ICL_OK;
}

enum icl_status icl_ini_parse(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                              void *context, struct icl_err *err) {
    struct source source = open_source(name, bytes, length, handler, context, err);
    const int code = ini_parse_stream(read_line, &source, take_pair, &source);

    if (source.status == ICL_OK && code == -2) return ICL_ERR(err, ICL_ENOMEM, "%s: out of memory", name);
    if (source.status == ICL_OK && code != 0)
        return ICL_ERR(err, ICL_EUSAGE, "%s:%d: expected key = value", name, code);
    return source.status;
}

/* Cuts "section.key" at its first dot; NULL where there is none. */
static char *cut_name(char *name) {
    char *dot = strchr(name, '.');

    if (dot == NULL || dot == name || dot[1] == '\0') return NULL;
    *dot = '\0';
    return dot + 1;
}

/* "section.key = value", with the "# " gone. */
static enum icl_status header_line(struct source *source, const char *text, size_t length) {
    char line[LINE_SIZE], *value, *key, *end;
    struct icl_ini_entry entry = {source->name, source->line, line, NULL, NULL};

    if (length >= sizeof line) return ICL_OK; /* a note: no parameter is as long */
    memcpy(line, text, length);
    line[length] = '\0';
    value = strchr(line, '=');
    if (value == NULL) return ICL_OK;
    for (end = value; end > line && is_blank(end[-1]); end--) continue;
    *end = '\0';
    value += 1 + strspn(value + 1, " \t");
    key = cut_name(line);
    if (key == NULL) return ICL_OK;
    entry.key = key;
    entry.value = value;
    return source->handler(source->context, &entry, source->err);
}

enum icl_status icl_ini_header(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                               void *context, struct icl_err *err) {
    struct source source = open_source(name, bytes, length, handler, context, err);
    const char *text;
    size_t size;

    while (next_line(&source, &text, &size) && size > 0 && text[0] == '#') {
        for (text++, size--; size > 0 && is_blank(*text);) text++, size--;
        source.status = header_line(&source, text, size);
    }
    return source.status;
}

/* Reads a JSON string at *at into out, and steps past it. The escapes are those that a path needs. */
static bool json_string(const char **at, const char *end, char *out, size_t size) {
    const char *byte = *at;
    size_t used = 0;

    if (byte == end || *byte++ != '"') return false;
    for (; byte < end && *byte != '"'; byte++) {
        if (*byte == '\\' && ++byte < end && *byte != '"' && *byte != '\\' && *byte != '/') return false;
        if (byte == end || used + 1 >= size) return false;
        out[used++] = *byte;
    }
    out[used] = '\0';
    *at = byte + 1;
    return byte < end;
}

/* A line `"section.key": value[,]`; *more tells whether a comma follows. */
static enum icl_status json_line(struct source *source, const char *text, size_t length, bool *more) {
    const char *at = text, *const end = text + length;
    char name[LINE_SIZE], value[LINE_SIZE], *key;
    struct icl_ini_entry entry = {source->name, source->line, name, NULL, value};
    double number;

    if (!json_string(&at, end, name, sizeof name) || at == end || *at++ != ':') goto malformed;
    while (at < end && is_blank(*at)) at++;
    if (at < end && *at == '"') {
        if (!json_string(&at, end, value, sizeof value)) goto malformed;
    } else {
        const size_t word = (size_t)(end - at) - (end > at && end[-1] == ',');

        if (word >= sizeof value) goto malformed;
        memcpy(value, at, word);
        value[word] = '\0';
        if (!icl_number_decimal(value, &number)) goto malformed;
        at += word;
    }
    *more = at < end && *at == ',';
    if (at + *more != end) goto malformed;
    key = cut_name(name);
    if (key == NULL) goto malformed;
    entry.key = key;
    return source->handler(source->context, &entry, source->err);
malformed:
    return refuse(source, text, length, "expected \"section.key\": value, as predict --json writes it");
}

static bool is_line(const char *text, size_t length, const char *expected) {
    return length == strlen(expected) && memcmp(text, expected, length) == 0;
}

enum icl_status icl_ini_json(const char *name, const char *bytes, size_t length, icl_ini_handler *handler,
                             void *context, struct icl_err *err) {
    struct source source = open_source(name, bytes, length, handler, context, err);
    bool inside = false, more = true;
    const char *text;
    size_t size;

    while (next_line(&source, &text, &size)) {
        if (!inside) {
            inside = is_line(text, size, "\"params\": {");
        } else if (is_line(text, size, "}") || is_line(text, size, "},")) {
            return more ? refuse(&source, text, size, "a comma before the end of \"params\"") : ICL_OK;
        } else if (!more) {
            source.status = refuse(&source, text, size, "expected a comma on the line before");
        } else {
            source.status = json_line(&source, text, size, &more);
        }
    }
    if (source.status != ICL_OK) return source.status;
    return ICL_ERR(err, ICL_EUSAGE, "%s:%zu: %s, as predict --json writes it", name, source.line,
                   inside ? "the file ends before the end of \"params\"" : "no line with \"params\": {");
}
