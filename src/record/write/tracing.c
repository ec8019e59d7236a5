/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of the recorded tracepoints, from tracefs (Documentation/trace/events.rst) or our own. */
#include <stdio.h>

#include "format/tracefs/tracing_data.h"
#include "os/limits.h"
#include "record/write/facts_internal.h"

static const char *const ROOTS[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static struct bytes text_bytes(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}

/* A tracefs file with the newline it ends in, which readers of the format expect. */
static struct bytes file_bytes(struct record_facts *f, const char *path) {
    const char *text = record_facts_read(f, "%s", path);
    size_t n = text ? strlen(text) : 0;
    char *copy = text ? arena_alloc(&f->arena, n + 1) : NULL;
    if (!copy)
        return (struct bytes){0};
    memcpy(copy, text, n);
    copy[n] = '\n';
    return (struct bytes){(uint8_t *)copy, n + 1};
}

/* "system:event" of a name that may have modifiers after it; false when it is none. */
static bool split_name(const char *name, char *system, char *event, size_t room) {
    size_t a = strcspn(name, ":"), b = name[a] ? strcspn(name + a + 1, ":") : 0;
    if (!b || a >= room || b >= room)
        return false;
    snprintf(system, room, "%.*s", (int)a, name);
    snprintf(event, room, "%.*s", (int)b, name + a + 1);
    return true;
}

struct found {
    char system[128], event[128];
    struct bytes format;
};

static bool has_id(struct record_facts *f, const char *root, const struct found *t, uint64_t id) {
    const char *text = record_facts_read(f, "%s/events/%s/%s/id", root, t->system, t->event);
    return text && strtoull(text, NULL, 10) == id;
}

/* An event may have a name of the user's choice: then all ids are looked through. */
static bool search_id(struct record_facts *f, const char *root, uint64_t id, struct found *t) {
    char path[512];
    struct sysfs_names systems, events;
    snprintf(path, sizeof path, "%s/events", root);
    if (!f->sys->list(f->sys, path, &f->arena, &systems, NULL))
        return false;
    for (size_t i = 0; i < systems.count; i++) {
        snprintf(path, sizeof path, "%s/events/%s", root, systems.items[i]);
        if (!f->sys->list(f->sys, path, &f->arena, &events, NULL))
            continue;
        for (size_t k = 0; k < events.count; k++) {
            snprintf(t->system, sizeof t->system, "%s", systems.items[i]);
            snprintf(t->event, sizeof t->event, "%s", events.items[k]);
            if (has_id(f, root, t, id))
                return true;
        }
    }
    return false;
}

static bool find_event(struct record_facts *f, const char *root, const struct perfdata_event *e,
                       struct found *out) {
    char path[512];
    if ((!split_name(e->name, out->system, out->event, sizeof out->system) ||
         !has_id(f, root, out, e->attr.config)) &&
        !search_id(f, root, e->attr.config, out))
        return false;
    snprintf(path, sizeof path, "%s/events/%s/%s/format", root, out->system, out->event);
    out->format = file_bytes(f, path);
    return out->format.size != 0;
}

/* Events must lie together by system. */
static bool add_event(struct record_facts *f, struct tracing_data *td, const struct found *t) {
    struct tracing_system *s = NULL;
    size_t at;
    for (size_t i = 0; i < td->systems.count; i++)
        if (bytes_equal(td->systems.items[i].name, text_bytes(t->system)))
            s = &td->systems.items[i];
    if (!s) {
        char *name = arena_strndup(&f->arena, t->system, strlen(t->system));
        if (!name || !(s = vec_push(&td->systems)))
            return false;
        *s = (struct tracing_system){text_bytes(name), (uint32_t)td->events.count, 0};
    }
    at = s->first + s->count;
    for (size_t i = s->first; i < at; i++)
        if (bytes_equal(td->events.items[i].format, t->format))
            return true;
    if (!vec_push(&td->events))
        return false;
    memmove(&td->events.items[at + 1], &td->events.items[at],
            (td->events.count - 1 - at) * sizeof *td->events.items);
    td->events.items[at] = (struct tracing_event){.format = t->format, .system = s->name};
    s->count++;
    for (size_t i = 0; i < td->systems.count; i++)
        if (&td->systems.items[i] != s && td->systems.items[i].first >= at)
            td->systems.items[i].first++;
    return true;
}

static const char *find_root(struct record_facts *f) {
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++)
        if (record_facts_read(f, "%s/events/header_page", ROOTS[i]))
            return ROOTS[i];
    return NULL;
}

/* The contents of tracefs' header_page and header_event files, the same on every 64-bit kernel. Written when
 * tracefs cannot be read: readers require these sections, though they describe ftrace's ring buffers only. */
static const char HEADER_PAGE[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char HEADER_EVENT[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

static void add_headers(struct record_facts *f, const char *root, struct tracing_data *td) {
    char path[512];
    if (!root) {
        td->header_page = text_bytes(HEADER_PAGE);
        td->header_event = text_bytes(HEADER_EVENT);
        return;
    }
    snprintf(path, sizeof path, "%s/events/header_page", root);
    td->header_page = file_bytes(f, path);
    snprintf(path, sizeof path, "%s/events/header_event", root);
    td->header_event = file_bytes(f, path);
    snprintf(path, sizeof path, "%s/printk_formats", root);
    td->printk = file_bytes(f, path);
    snprintf(path, sizeof path, "%s/saved_cmdlines", root);
    td->cmdlines = file_bytes(f, path);
}

/* A format that we made ourselves, or tracefs'. */
static bool find_format(struct record_facts *f, const char *root, const struct perfdata_event *e,
                        const struct probe_program *p, struct found *out) {
    if (!p)
        return root && find_event(f, root, e, out);
    snprintf(out->system, sizeof out->system, "%s", p->group);
    out->format = text_bytes(p->format);
    return true;
}

void record_facts_tracing(struct record_facts *f, const struct perfdata_events *events,
                          const struct record_plan *plan) {
    const char *root = find_root(f);
    struct tracing_data td = {.version = text_bytes("0.6"),
                              .big_endian = BYTES_HOST_BIG,
                              .long_size = sizeof(long),
                              .page_size = (uint32_t)os_limits_page_bytes()};
    bool own = false;
    for (size_t i = 0; plan && i < plan->events.count; i++)
        own |= plan->events.items[i].probe != NULL;
    if (!root && !own)
        return;
    add_headers(f, root, &td);
    for (size_t i = 0; i < events->list.count; i++) {
        struct found t;
        const struct perfdata_event *e = &events->list.items[i];
        const struct perf_event *probe = plan && i < plan->events.count ? plan->events.items[i].probe : NULL;
        if (e->attr.type == PERFDATA_TYPE_TRACEPOINT &&
            find_format(f, root, e, probe ? probe->program : NULL, &t))
            f->failed |= !add_event(f, &td, &t);
    }
    struct writer w = writer_make(false);
    tracing_data_encode(&td, &w);
    struct perfdata_feature *p = writer_ok(&w) ? vec_push(&f->list) : NULL;
    if (p)
        *p = (struct perfdata_feature){.id = PERFDATA_FEATURE_TRACING_DATA,
                                       .content = arena_copy(&f->arena, writer_bytes(&w))};
    f->failed |= !p || !p->content.data;
    writer_fini(&w);
    tracing_data_fini(&td);
}
