/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/config/config_edit.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cmd/common/options/perfconfig.h"

static void out_span(struct out *o, struct bytes text, size_t from, size_t to) {
    if (to > from)
        out_mem(o, (const char *)text.data + from, to - from);
}

/* Behind the end of the line that `at` lies in, or stands directly behind. */
static size_t line_end(struct bytes text, size_t at) {
    while (at < text.size && (at == 0 || text.data[at - 1] != '\n'))
        at++;
    return at;
}

static size_t line_start(struct bytes text, size_t at) {
    while (at > 0 && text.data[at - 1] != '\n')
        at--;
    return at;
}

/* In quotes where it would not be read back as it is. */
static void out_value(struct out *o, const char *value) {
    size_t n = strlen(value);
    bool quote = n && (isspace((unsigned char)value[0]) || isspace((unsigned char)value[n - 1]));
    quote = quote || strpbrk(value, "#;");
    if (quote)
        out_char(o, '"');
    for (const char *p = value; *p; p++) {
        const char *special = strchr("\n\t\b\"\\", *p);
        if (special)
            out_char(o, '\\');
        out_char(o, special ? "ntb\"\\"[special - "\n\t\b\"\\"] : *p);
    }
    if (quote)
        out_char(o, '"');
}

static void out_variable(struct out *o, const char *name, const char *value) {
    out_printf(o, "%s = ", name);
    out_value(o, value);
}

/* A name is letters, digits, - and _; a section anything but the end of a line. */
static bool can_be_read(const char *key, const char *dot, const char *value, struct err *err) {
    const char *name = dot ? dot + 1 : "";
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    if (!dot || dot == key)
        return err_set(err, ERR_USAGE, "", "The config variable does not contain a section name: %s", key);
    if (!*name)
        return err_set(err, ERR_USAGE, "", "The config variable does not contain a variable name: %s", key);
    if (name[n] || !isalpha((unsigned char)*name))
        return err_set(err, ERR_USAGE, "", "'%s' is no name of a variable: letters, digits, - and _ make one",
                       name);
    if ((size_t)(dot - key) >= PERFCONFIG_NAME_BYTES - 2 || n >= PERFCONFIG_NAME_BYTES - 1 ||
        strchr(key, '\n'))
        return err_set(err, ERR_USAGE, "", "the name of the variable is too long, or has a line end in it");
    if (value && strlen(value) >= PERFCONFIG_VALUE_BYTES - 1)
        return err_set(err, ERR_USAGE, "", "%s: the value is longer than %d bytes", key,
                       PERFCONFIG_VALUE_BYTES - 2);
    return true;
}

/* A section's name that is not plain goes into quotes: its first part before them, as git does it, or all of
 * it. */
static void out_section(struct out *o, const char *key, size_t n) {
    static const char special[] = "\"]\\ \t\r\v\f";
    const char *dot = memchr(key, '.', n);
    bool plain = strcspn(key, special) >= n;
    bool two = !plain && dot && dot > key && strcspn(key, special) > (size_t)(dot - key);
    size_t from = plain ? n : two ? (size_t)(dot - key) + 1 : 0;
    out_char(o, '[');
    out_mem(o, key, two ? from - 1 : from);
    out_str(o, plain ? "" : two ? " \"" : "\"");
    for (size_t i = from; i < n; i++) {
        if (key[i] == '"' || key[i] == '\\')
            out_char(o, '\\');
        out_char(o, key[i]);
    }
    out_str(o, plain ? "]\n" : "\"]\n");
}

static bool is_key(const struct perfconfig_entry *e, const char *key) {
    return strcasecmp(e->key, key) == 0;
}

/* Leaves out the variable's lines; what shares a line with it stays. */
static void remove_key(struct out *o, struct bytes text, const struct perfconfig *c, const char *key) {
    size_t done = 0;
    for (size_t i = 0; i < c->entries.count; i++) {
        const struct perfconfig_entry *e = &c->entries.items[i];
        if (!is_key(e, key))
            continue;
        size_t from = line_start(text, e->at);
        bool shares = false; /* with its section's name */
        for (size_t at = from; at < e->at; at++)
            shares = shares || !isblank(text.data[at]);
        out_span(o, text, done, shares ? e->at : from);
        done = line_end(text, e->end);
        if (shares && text.data[done - 1] == '\n')
            done--;
    }
    out_span(o, text, done, text.size);
}

static void put_key(struct out *o, struct bytes text, const struct perfconfig *c, const char *key,
                    const char *value) {
    const char *dot = strrchr(key, '.');
    size_t n = (size_t)(dot - key), place = 0;
    for (size_t i = c->entries.count; i-- > 0;) {
        const struct perfconfig_entry *e = &c->entries.items[i];
        if (!is_key(e, key))
            continue;
        out_span(o, text, 0, e->at);
        out_variable(o, strrchr(e->key, '.') + 1, value);
        out_span(o, text, e->end, text.size);
        return;
    }
    for (size_t i = 0; i < c->sections.count; i++) {
        const struct perfconfig_section *s = &c->sections.items[i];
        if (strlen(s->name) == n && strncasecmp(s->name, key, n) == 0)
            place = line_end(text, s->end);
    }
    bool new_section = place == 0;
    place = new_section ? text.size : place;
    out_span(o, text, 0, place);
    if (place && text.data[place - 1] != '\n')
        out_char(o, '\n');
    if (new_section)
        out_section(o, key, n);
    out_char(o, '\t');
    out_variable(o, dot + 1, value);
    out_char(o, '\n');
    out_span(o, text, place, text.size);
}

bool config_edit(struct out *o, struct bytes text, const char *key, const char *value, const char *path,
                 struct err *err) {
    struct perfconfig c = PERFCONFIG_INIT;
    bool ok = can_be_read(key, strrchr(key, '.'), value, err) && perfconfig_parse(&c, text, path, err);
    if (ok && value)
        put_key(o, text, &c, key, value);
    else if (ok)
        remove_key(o, text, &c, key);
    perfconfig_fini(&c);
    return ok && (!o->failed || err_memory(err, path));
}
