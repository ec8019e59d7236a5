/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>

#include "base/text/json_read.h"
#include "count/metric/table.h"

enum { ALIASES_MAX = 64 };

struct reading {
    struct metric_table *table;
    struct json_reader json;
    struct out text; /* of the value in work */
    bool no_memory;
};

/* What an object says of a metric. Texts are in the table's arena; NULL: nothing. */
struct said {
    const char *name, *expr, *formula, *unit, *measure, *groups, *text, *title;
    struct alias {
        const char *alias, *name;
    } aliases[ALIASES_MAX];
    size_t alias_count;
};

static const char *take_text(struct reading *r) {
    r->text.len = 0;
    json_read_text(&r->json, &r->text);
    const char *copy = arena_strndup(&r->table->arena, out_text(&r->text), r->text.len);
    r->no_memory |= !copy;
    return copy ? copy : "";
}

static bool is(struct bytes key, const char *name) {
    return key.size == strlen(name) && memcmp(key.data, name, key.size) == 0;
}

static bool at_text(const struct reading *r) {
    const char *p = r->json.at;
    while (p < r->json.end && (isspace((unsigned char)*p) || *p == ':'))
        p++;
    return p < r->json.end && *p == '"';
}

/* [{"Name": "INST_RETIRED.ANY", "Alias": "a"}, ...] */
static void take_aliases(struct reading *r, struct said *s) {
    json_enter(&r->json, '[');
    while (json_element(&r->json)) {
        struct alias a = {0};
        struct bytes key;
        json_enter(&r->json, '{');
        while (json_member(&r->json, &key)) {
            if (is(key, "Name") && at_text(r))
                a.name = take_text(r);
            else if (is(key, "Alias") && at_text(r))
                a.alias = take_text(r);
            else
                json_skip(&r->json);
        }
        if (a.name && a.alias && *a.alias && s->alias_count < ALIASES_MAX)
            s->aliases[s->alias_count++] = a;
    }
}

/* An event's name as expressions have it: what would be an operator has a backslash before it. */
static void put_name(struct out *o, const char *name) {
    for (; *name; name++) {
        if (*name == '/') {
            out_char(o, '@');
            continue;
        }
        if (!isalnum((unsigned char)*name) && !strchr("_.:#", *name))
            out_char(o, '\\');
        out_char(o, *name);
    }
}

/* A formula with its aliases replaced by what they stand for. */
static const char *expand(struct reading *r, const struct said *s) {
    r->text.len = 0;
    for (const char *p = s->formula; *p;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || (n && (p[n] == '_' || p[n] == '.')) || p[n] == '_')
            n++;
        const char *name = NULL;
        for (size_t i = 0; i < s->alias_count && n && !name; i++)
            if (strlen(s->aliases[i].alias) == n && memcmp(s->aliases[i].alias, p, n) == 0)
                name = s->aliases[i].name;
        n = n ? n : 1;
        if (name)
            put_name(&r->text, name);
        else if (*p != '[' && *p != ']')
            out_mem(&r->text, p, n);
        p += n;
    }
    const char *copy = arena_strndup(&r->table->arena, out_text(&r->text), r->text.len);
    r->no_memory |= !copy;
    return copy ? copy : "";
}

/* "1insn", from what a formula's unit is called; percentages are computed as such. */
static const char *unit_of(struct reading *r, const char *measure) {
    bool percent = strncmp(measure, "percent", 7) == 0;
    char *text = arena_printf(&r->table->arena, "1%s", percent ? "%" : measure);
    r->no_memory |= !text;
    return text ? text : "";
}

static void keep(struct reading *r, const struct said *s) {
    const char *expr = s->expr ? s->expr : s->formula ? expand(r, s) : NULL;
    if (!s->name || !*s->name || !expr)
        return;
    struct metric *m = vec_push(&r->table->items);
    if (!m) {
        r->no_memory = true;
        return;
    }
    *m = (struct metric){
        .name = s->name,
        .groups = s->groups ? s->groups : "",
        .expr = expr,
        .unit = s->unit      ? s->unit
                : s->measure ? unit_of(r, s->measure)
                             : "",
        .text = s->text    ? s->text
                : s->title ? s->title
                           : "",
    };
}

/* An object that may be a metric; `name`: what it is called, if its key says so. */
static void take_metric(struct reading *r, const char *name) {
    struct said s = {.name = name};
    const struct {
        const char *key;
        const char **field;
    } TEXTS[] = {{"MetricName", &s.name},  {"MetricExpr", &s.expr},    {"Formula", &s.formula},
                 {"formula", &s.formula},  {"ScaleUnit", &s.unit},     {"UnitOfMeasure", &s.measure},
                 {"units", &s.measure},    {"MetricGroup", &s.groups}, {"BriefDescription", &s.text},
                 {"description", &s.text}, {"title", &s.title}};
    struct bytes key;
    json_enter(&r->json, '{');
    while (json_member(&r->json, &key)) {
        const char **field = NULL;
        for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
            if (is(key, TEXTS[i].key))
                field = TEXTS[i].field;
        if (field && at_text(r))
            *field = take_text(r);
        else if (is(key, "Events") || is(key, "Constants"))
            take_aliases(r, &s);
        else
            json_skip(&r->json);
    }
    if (!r->json.failed)
        keep(r, &s);
}

static void take_list(struct reading *r) {
    json_enter(&r->json, '[');
    while (json_element(&r->json))
        take_metric(r, NULL);
}

/* {"metrics": {NAME: {...}}}, {"Metrics": [...]} */
static void take_file(struct reading *r) {
    struct bytes key, name;
    json_enter(&r->json, '{');
    while (json_member(&r->json, &key)) {
        if (is(key, "Metrics")) {
            take_list(r);
        } else if (is(key, "metrics")) {
            json_enter(&r->json, '{');
            while (json_member(&r->json, &name)) {
                const char *copy = arena_strndup(&r->table->arena, (const char *)name.data, name.size);
                r->no_memory |= !copy;
                take_metric(r, copy ? copy : "");
            }
        } else {
            json_skip(&r->json);
        }
    }
}

bool metric_table_read(struct metric_table *t, struct bytes json, const char *path, struct err *err) {
    struct reading r = {.table = t, .json = json_reader_make(json)};
    size_t at = 0;
    if (!out_init(&r.text, NULL, NULL))
        return err_memory(err, path);
    while (at < json.size && isspace(json.data[at]))
        at++;
    if (at < json.size && json.data[at] == '[')
        take_list(&r);
    else
        take_file(&r);
    const char *last = r.json.at;
    bool whole = !r.json.failed && last > r.json.start && (last[-1] == ']' || last[-1] == '}');
    bool memory = r.no_memory || r.text.failed;
    out_fini(&r.text);
    if (memory)
        return err_memory(err, path);
    return whole || err_set(err, ERR_BROKEN, path, "it is not JSON, or no list of metrics: at byte %zu",
                            (size_t)(r.json.at - r.json.start));
}
