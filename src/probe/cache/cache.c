/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/cache/cache.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/sdt.h"
#include "probe/points.h"

enum { MARKERS_MAX = 4096 };

void probe_cache_fini(struct probe_cache *c) {
    for (size_t i = 0; i < c->list.count; i++)
        probe_events_fini(&c->list.items[i].events);
    vec_fini(&c->list);
    arena_fini(&c->texts);
}

void probe_cache_remove(struct probe_cache *c, size_t index) {
    probe_events_fini(&c->list.items[index].events);
    c->list.count--;
    memmove(&c->list.items[index], &c->list.items[index + 1],
            (c->list.count - index) * sizeof *c->list.items);
}

/* ---- reading ---- */

static size_t name_length(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

/* Takes the heading apart. False: it is none; or out of memory. */
static bool read_heading(struct probe_cached *p, const char *text, struct arena *a) {
    size_t group = name_length(text + 1);
    const char *event = text + 1 + group + 1;
    size_t n = text[1 + group] == ':' ? name_length(event) : 0;
    *p = (struct probe_cached){.marker = *text == '%', .heading = text + 1, .place = text + 1};
    if (group && n && event[n] == '=' && event[n + 1]) {
        p->group = arena_strndup(a, text + 1, group);
        p->event = arena_strndup(a, event, n);
        p->place = event + n + 1;
        return p->group && p->event;
    }
    return *p->place && !p->marker;
}

static bool is_kernel_name(const char *s) {
    return *s && !isdigit((unsigned char)*s) && strlen(s) < PROBE_NAME_MAX && s[name_length(s)] == '\0';
}

static bool is_printable(struct bytes line) {
    for (size_t i = 0; i < line.size; i++)
        if (line.data[i] < ' ' || line.data[i] == 0x7f)
            return false;
    return line.size > 0;
}

/* Whether the line was understood. *open: its probe, NULL: there is none. False and *err: out of memory. */
static bool read_line(struct probe_cache *c, struct bytes line, bool *open, struct err *err) {
    const char *text = arena_strndup(&c->texts, (const char *)line.data, line.size);
    struct err why = ERR_INIT;
    if (!text)
        return err_memory(err, "cached probes");
    if (*text == '#' || *text == '%') {
        struct probe_cached p;
        *open = read_heading(&p, text, &c->texts);
        struct probe_cached *slot = *open ? vec_push(&c->list) : NULL;
        if (slot)
            *slot = p;
        c->bad_lines += !*open;
        return slot || !*open || err_memory(err, "cached probes");
    }
    struct probe_event e = {.path = NULL};
    bool good = *open && probe_event_parse(text, &c->texts, &e, &why) && is_kernel_name(e.group) &&
                is_kernel_name(e.event);
    struct probe_event *slot = good ? vec_push(&c->list.items[c->list.count - 1].events) : NULL;
    if (slot)
        *slot = e;
    else
        vec_fini(&e.args);
    c->bad_lines += !good;
    return why.code != ERR_MEMORY && (slot || !good) ? true : err_memory(err, "cached probes");
}

bool probe_cache_read(struct probe_cache *c, struct bytes file, struct err *err) {
    bool ok = true, open = false;
    for (size_t at = 0, n; ok && at < file.size; at += n + 1) {
        const uint8_t *end = memchr(file.data + at, '\n', file.size - at);
        n = end ? (size_t)(end - file.data) - at : file.size - at;
        struct bytes line = {file.data + at, n};
        if (is_printable(line))
            ok = read_line(c, line, &open, err);
        else
            c->bad_lines++;
    }
    for (size_t i = c->list.count; i-- > 0;) {
        if (c->list.items[i].events.count)
            continue;
        c->bad_lines++;
        probe_cache_remove(c, i);
    }
    return ok;
}

void probe_cache_print(const struct probe_cache *c, struct out *o) {
    for (size_t i = 0; i < c->list.count; i++) {
        const struct probe_cached *p = &c->list.items[i];
        out_printf(o, "%c%s\n", p->marker ? '%' : '#', p->heading);
        for (size_t k = 0; k < p->events.count; k++) {
            probe_event_print(o, &p->events.items[k]);
            out_char(o, '\n');
        }
    }
}

/* ---- keeping ---- */

/* The name that an argument gets from its last member, or its variable; NULL: its text says it. */
static const char *argument_name(const struct probe_arg *arg) {
    const char *name = arg->text;
    if (arg->kind != PROBE_ARG_VARIABLE || arg->name || !arg->steps.count)
        return NULL;
    for (size_t i = 0; i < arg->steps.count; i++)
        if (arg->steps.items[i].name)
            name = arg->steps.items[i].name;
    return name;
}

/* PLACE ARG ..., as headings have it. NULL: out of memory. */
static const char *written(const struct probe_spec *spec, struct arena *a) {
    struct out o;
    if (!out_init(&o, NULL, NULL))
        return NULL;
    out_printf(&o, "%s%s", spec->file && !spec->function ? "@" : "", spec->place);
    const char *word = spec->args_text;
    for (size_t i = 0; i < spec->args.count; i++) {
        size_t n = strcspn(word, " ");
        const char *name = argument_name(&spec->args.items[i]);
        out_printf(&o, " %s%s%.*s", name ? name : "", name ? "=" : "", (int)n, word);
        word += n + (word[n] == ' ');
    }
    const char *text = o.failed ? NULL : arena_strndup(a, out_text(&o), strlen(out_text(&o)));
    out_fini(&o);
    return text;
}

static bool same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static const char *copy(struct arena *a, const char *s, bool *ok) {
    const char *made = s ? arena_strndup(a, s, strlen(s)) : NULL;
    *ok &= !s || made;
    return made;
}

/* A copy of `e` with texts of its own. False: out of memory. */
static bool copy_event(struct arena *a, const struct probe_event *e, probe_events *out) {
    struct probe_event *to = vec_push(out);
    bool ok = to != NULL;
    if (!ok)
        return false;
    *to = (struct probe_event){
        .returns = e->returns, .offset = e->offset, .semaphore = e->semaphore, .addr = e->addr};
    to->group = copy(a, e->group, &ok);
    to->event = copy(a, e->event, &ok);
    to->path = copy(a, e->path, &ok);
    to->symbol = copy(a, e->symbol, &ok);
    to->module = copy(a, e->module, &ok);
    for (size_t i = 0; ok && i < e->args.count; i++) {
        struct probe_fetch *f = vec_push(&to->args);
        ok = f != NULL;
        if (!ok)
            break;
        f->name = copy(a, e->args.items[i].name, &ok);
        f->fetch = copy(a, e->args.items[i].fetch, &ok);
        f->type = copy(a, e->args.items[i].type, &ok);
    }
    return ok;
}

static bool make_heading(struct probe_cache *c, const struct probe_spec *spec,
                         const struct probe_event *first, struct probe_cached *p) {
    struct arena *a = &c->texts;
    bool marker = spec->sdt_name != NULL, ok = true;
    bool named = spec->event || marker || (spec->has_line && spec->function);
    *p = (struct probe_cached){.marker = marker && !spec->event};
    p->place = marker ? copy(a, spec->sdt_name, &ok) : written(spec, a);
    p->heading = p->place;
    if (named && ok && p->place) {
        p->group = copy(a, first->group, &ok);
        p->event = copy(a, first->event, &ok);
        p->heading = arena_printf(a, "%s:%s=%s%s", first->group, first->event,
                                  marker && !p->marker ? "%" : "", p->place);
    }
    return ok && p->place && p->heading;
}

bool probe_cache_put(struct probe_cache *c, const struct probe_spec *spec, const probe_events *events,
                     size_t from, size_t to, struct err *err) {
    struct probe_cached p;
    if (from == to)
        return true;
    bool ok = make_heading(c, spec, &events->items[from], &p);
    for (size_t i = from; ok && i < to; i++)
        ok = copy_event(&c->texts, &events->items[i], &p.events);
    for (size_t i = c->list.count; ok && i-- > 0;) {
        const struct probe_cached *old = &c->list.items[i];
        if (same(old->heading, p.heading) || (same(old->event, p.event) && same(old->group, p.group)))
            probe_cache_remove(c, i);
    }
    struct probe_cached *slot = ok ? vec_push(&c->list) : NULL;
    if (!slot) {
        probe_events_fini(&p.events);
        return err_memory(err, "cached probes");
    }
    *slot = p;
    return true;
}

static bool has_heading(const struct probe_cache *c, const char *text) {
    for (size_t i = 0; i < c->list.count; i++)
        if (c->list.items[i].marker && strncmp(c->list.items[i].heading, text + 1, strlen(text + 1)) == 0 &&
            c->list.items[i].heading[strlen(text + 1)] == '=')
            return true;
    return false;
}

bool probe_cache_put_markers(struct probe_cache *c, struct probe_image *i, struct err *err) {
    struct object_sdts walk;
    struct object_sdt m;
    bool ok = true;
    if (!object_sdts_open(&i->elf, &walk))
        return true;
    for (size_t n = 0; ok && n < MARKERS_MAX && object_sdts_next(&walk, &m); n++) {
        struct arena a = ARENA_INIT;
        struct probe_spec spec = {.text = NULL};
        probe_events events = {0};
        const struct probe_options o = {.max_probes = UINT32_MAX};
        const char *text =
            arena_printf(&a, "%%sdt_%.*s:%.*s", (int)m.provider.size, (const char *)m.provider.data,
                         (int)m.name.size, (const char *)m.name.data);
        struct err why = ERR_INIT;
        ok = text || err_memory(err, "cached probes");
        if (ok && text[strcspn(text, " \t\n\\=")] == '\0' && !has_heading(c, text) &&
            probe_spec_parse(text, &a, &spec, &why) && (spec.quiet = true) &&
            probe_events_make(i, &spec, &o, &a, &events, &why))
            ok = probe_cache_put(c, &spec, &events, 0, events.count, err);
        if (why.code == ERR_MEMORY)
            ok = err_memory(err, "cached probes");
        probe_events_fini(&events);
        probe_spec_fini(&spec);
        arena_fini(&a);
    }
    return ok;
}

/* ---- finding ---- */

static bool name_matches(const char *pattern, const char *group, const char *event) {
    char name[2 * PROBE_NAME_MAX + 2];
    if (!strchr(pattern, ':'))
        return fnmatch(pattern, event, 0) == 0;
    int n = snprintf(name, sizeof name, "%s:%s", group, event);
    return n < (int)sizeof name && fnmatch(pattern, name, 0) == 0;
}

bool probe_cached_matches(const struct probe_cached *p, const char *pattern) {
    const struct probe_event *first = &p->events.items[0];
    return (p->event && name_matches(pattern, p->group, p->event)) ||
           name_matches(pattern, first->group, first->event);
}

static bool is_meant(const struct probe_cached *p, const struct probe_spec *spec, const char *text) {
    const char *group = p->group ? p->group : p->events.items[0].group;
    const char *event = p->event ? p->event : p->events.items[0].event;
    if (spec->sdt_name)
        return (!spec->cached_group || fnmatch(spec->cached_group, group, 0) == 0) &&
               fnmatch(spec->sdt_name, event, 0) == 0;
    if (p->marker || strcmp(p->place, text) != 0)
        return false;
    if (!spec->event)
        return !p->event || spec->has_line;
    return same(spec->event, p->event) && (!spec->group || same(spec->group, p->group));
}

static bool is_code(const struct object_layout *l, uint64_t offset, object_vaddr *addr) {
    if (!object_layout_addr(l, offset, addr))
        return false;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->by_addr[i].executable && *addr - l->by_addr[i].addr < l->by_addr[i].size)
            return true;
    return false;
}

/* One event, as it is for this image. False and *err. */
static bool take(const struct probe_image *i, const struct probe_spec *spec, const struct probe_event *e,
                 struct arena *a, probe_events *out, struct err *err) {
    object_vaddr addr = 0;
    if (!e->path != !i || (i && !is_code(&i->layout, e->offset, &addr)))
        return err_set(err, ERR_BROKEN, spec->text,
                       "the cached probe %s:%s is not in the code of %s: remove it with --del --cache",
                       e->group, e->event, i ? i->path : "the kernel");
    if (!copy_event(a, e, out))
        return err_memory(err, "probes");
    struct probe_event *to = &out->items[out->count - 1];
    to->addr = addr;
    to->path = i ? i->path : NULL;
    to->group = spec->group ? spec->group : to->group;
    to->event = spec->event ? spec->event : to->event;
    to->given = spec->text;
    to->given_args = spec->args_text;
    return probe_event_check(to, err);
}

bool probe_cache_take(const struct probe_cache *c, const struct probe_image *i, const struct probe_spec *spec,
                      struct arena *a, probe_events *out, struct err *err) {
    const char *text = written(spec, a);
    size_t before = out->count;
    if (!text)
        return err_memory(err, "probes");
    for (size_t k = 0; k < c->list.count; k++) {
        const struct probe_cached *p = &c->list.items[k];
        if (!is_meant(p, spec, text))
            continue;
        if (spec->sdt_name && spec->args.count)
            return err_set(err, ERR_USAGE, spec->text,
                           "is a cached probe, which has its arguments already: leave them out");
        for (size_t n = 0; n < p->events.count; n++)
            if (!take(i, spec, &p->events.items[n], a, out, err))
                return false;
    }
    return out->count > before || err_set(err, ERR_ABSENT, spec->text, "is not in the cache of probes");
}
