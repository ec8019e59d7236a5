/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/print_short.h"

/* The end of a string literal that begins at `at`, behind its quote; print.size: it does not end. */
static size_t literal_end(struct bytes print, size_t at) {
    for (at++; at < print.size; at++) {
        if (print.data[at] == '\\')
            at++;
        else if (print.data[at] == '"')
            return at + 1;
    }
    return print.size;
}

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n';
}

static size_t skip_blanks(struct bytes print, size_t at) {
    while (at < print.size && is_blank(print.data[at]))
        at++;
    return at;
}

/* The argument that begins at *at, less blanks around it; *at becomes what follows its comma. */
static struct bytes take_argument(struct bytes print, size_t *at) {
    size_t begin = skip_blanks(print, *at), end = begin, depth = 0;
    while (end < print.size) {
        uint8_t c = print.data[end];
        if (c == '"') {
            end = literal_end(print, end);
            continue;
        }
        if (c == ',' && !depth)
            break;
        depth += c == '(' || c == '{' || c == '[';
        depth -= depth && (c == ')' || c == '}' || c == ']');
        end++;
    }
    *at = end < print.size ? end + 1 : end;
    while (end > begin && is_blank(print.data[end - 1]))
        end--;
    return (struct bytes){print.data + begin, end - begin};
}

static bool begins(struct bytes b, const char *text) {
    return b.size >= strlen(text) && memcmp(b.data, text, strlen(text)) == 0;
}

/* The size in bytes of a signed field, or with `element` of an element of a probe's array, whose type gives
 * it ("s16 name[]"). 0: the field is anything else. */
static uint32_t signed_size(const struct tracing_field *f, bool element) {
    const struct bytes *d = &f->declaration;
    bool array = d->size && d->data[d->size - 1] == ']';
    if (!f->is_signed || array != element)
        return 0;
    return !array ? f->size : begins(*d, "s8 ") ? 1 : begins(*d, "s16 ") ? 2 : 0;
}

/* "h", "hh", or NULL if the argument is not just a signed number of one or two bytes. */
static const char *modifier_of(struct bytes argument, const struct tracing_field *fields, size_t count) {
    static const char REC[] = "REC->";
    if (!begins(argument, REC))
        return NULL;
    struct bytes name = {argument.data + sizeof REC - 1, argument.size - (sizeof REC - 1)};
    const uint8_t *bracket = name.size ? memchr(name.data, '[', name.size) : NULL;
    if (bracket && name.data[name.size - 1] != ']')
        return NULL;
    name.size = bracket ? (size_t)(bracket - name.data) : name.size;
    for (size_t i = 0; i < count; i++)
        if (bytes_equal(fields[i].name, name)) {
            uint32_t size = signed_size(&fields[i], bracket != NULL);
            return size == 1 ? "hh" : size == 2 ? "h" : NULL;
        }
    return NULL;
}

void print_short_init(struct print_short *s, struct bytes print, const struct tracing_field *fields,
                      size_t field_count) {
    *s = (struct print_short){.print = print, .fields = fields, .field_count = field_count};
    size_t begin = skip_blanks(print, 0);
    if (begin >= print.size || print.data[begin] != '"')
        return;
    size_t end = literal_end(print, begin), comma = skip_blanks(print, end);
    if (comma >= print.size || print.data[comma] != ',')
        return; /* no arguments, or a text in several literals */
    s->next = begin + 1;
    s->end = end - 1; /* the quote */
    s->argument = comma + 1;
}

bool print_short_next(struct print_short *s) {
    const uint8_t *text = s->print.data;
    while (s->next < s->end) {
        size_t i = s->next++;
        if (text[i] == '\\')
            s->next++;
        if (text[i] != '%')
            continue;
        for (; s->next < s->end && strchr("-+ #0123456789.*", text[s->next]); s->next++)
            if (text[s->next] == '*')
                take_argument(s->print, &s->argument);
        if (s->next >= s->end)
            return false;
        char letter = (char)text[s->next++];
        if (letter == '%')
            continue;
        s->modifier = modifier_of(take_argument(s->print, &s->argument), s->fields, s->field_count);
        s->at = s->next - 1;
        if (s->modifier && (letter == 'd' || letter == 'i'))
            return true;
    }
    return false;
}
