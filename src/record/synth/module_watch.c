/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/module_watch.h"

#include <stdio.h>

#include "record/keep/sections.h"
#include "record/synth/kernel.h"

bool record_module_watch_init(struct record_module_watch *m, const struct os_proc *proc,
                              const struct sysfs *sys, bool ids) {
    *m = (struct record_module_watch){.proc = proc, .sys = sys, .ids = ids};
    return record_modules_read(proc, &m->known);
}

void record_module_watch_fini(struct record_module_watch *m) {
    record_module_events_close(&m->events);
    record_modules_fini(&m->known);
    writer_fini(&m->log);
}

static bool among(const struct record_modules *list, const struct record_module *m) {
    for (size_t i = 0; i < list->list.count; i++)
        if (list->list.items[i].base == m->base && strcmp(list->list.items[i].name, m->name) == 0)
            return true;
    return false;
}

static uint64_t time_of(const struct record_module_event *e, uint64_t otherwise_ns) {
    return e ? e->ns : otherwise_ns;
}

/* Drops those that are listed still, but were freed and not loaded again. */
static void drop_going(const struct record_module_events *e, struct record_modules *now) {
    size_t kept = 0;
    for (size_t i = 0; i < now->list.count; i++) {
        const char *name = now->list.items[i].name;
        const struct record_module_event *freed = record_module_events_find(e, false, name),
                                         *loaded = record_module_events_find(e, true, name);
        if (!freed || (loaded && loaded->ns > freed->ns))
            now->list.items[kept++] = now->list.items[i];
    }
    now->list.count = kept;
}

/* When a module of before went away, in *ns; false: it is still there. One that was loaded again, even to the
 * same place, has been away. */
static bool gone(const struct record_module_watch *m, const struct record_modules *now,
                 const struct record_module *old, uint64_t since_ns, uint64_t *ns) {
    const struct record_module_event *e = record_module_events_find(&m->events, false, old->name);
    *ns = time_of(e, since_ns);
    return e || !among(now, old);
}

static void log_text(struct record_module_watch *m, const char *what, uint64_t ns) {
    char text[48];
    int n = snprintf(text, sizeof text, "%s\t%llu", what, (unsigned long long)ns);
    writer_put(&m->log, text, (size_t)n);
}

static void log_unloaded(struct record_module_watch *m, const struct record_module *gone, uint64_t ns) {
    char text[48];
    int n = snprintf(text, sizeof text, "\t%llx\t%llx\t", (unsigned long long)gone->start,
                     (unsigned long long)gone->end);
    log_text(m, "unloaded", ns);
    writer_put(&m->log, text, (size_t)n);
    writer_put(&m->log, gone->name, strlen(gone->name));
    writer_put(&m->log, "\n", 1);
}

/* Puts the new module's map, and its sections into the log. */
static void tell_loaded(struct record_module_watch *m, const struct record_sink *sink,
                        const struct record_module *new, uint64_t since_ns, struct writer *w) {
    struct record_sink at = *sink;
    at.id.time = time_of(record_module_events_find(&m->events, true, new->name), since_ns);
    record_kernel_put_module(&at, new, m->ids, w);
    log_text(m, "loaded", at.id.time);
    writer_put(&m->log, "\n", 1);
    record_sections_module(m->proc, m->sys, new, &m->log);
}

static bool is_listed(const struct record_modules *list, const char *name) {
    for (size_t i = 0; i < list->list.count; i++)
        if (strcmp(list->list.items[i].name, name) == 0)
            return true;
    return false;
}

/* Forgets the events, but, for one more look, those of modules that came after the list was read. */
static void forget_events(struct record_module_events *e, const struct record_modules *now) {
    size_t kept = 0;
    for (size_t i = 0; i < e->list.count; i++) {
        struct record_module_event *x = &e->list.items[i];
        const struct record_module_event *freed = record_module_events_find(e, false, x->name);
        bool wanted = x->load && !x->kept && !is_listed(now, x->name) && (!freed || freed->ns < x->ns);
        x->kept = true;
        if (wanted)
            e->list.items[kept++] = *x;
    }
    e->list.count = kept;
}

bool record_module_watch_look(struct record_module_watch *m, const struct record_sink *sink,
                              uint64_t since_ns, struct err *err) {
    struct record_modules now;
    struct writer w = writer_make(false);
    bool ok = record_modules_read(m->proc, &now) || err_memory(err, "modules");
    uint64_t ns;
    record_module_events_take(&m->events); /* of what is listed already */
    if (ok)
        drop_going(&m->events, &now);
    for (size_t i = 0; ok && i < m->known.list.count; i++)
        if (gone(m, &now, &m->known.list.items[i], since_ns, &ns))
            log_unloaded(m, &m->known.list.items[i], ns);
    for (size_t i = 0; ok && i < now.list.count; i++) {
        const struct record_module *new = &now.list.items[i];
        if (!among(&m->known, new) || gone(m, &now, new, since_ns, &ns))
            tell_loaded(m, sink, new, since_ns, &w);
    }
    if (ok)
        forget_events(&m->events, &now);
    else
        vec_clear(&m->events.list);
    ok = ok && (writer_ok(&w) || err_memory(err, "modules"));
    ok = ok && (!w.size || sink->put(sink->ctx, writer_bytes(&w), err));
    writer_fini(&w);
    struct record_modules old = ok ? m->known : now;
    if (ok)
        m->known = now;
    record_modules_fini(&old);
    return ok;
}
