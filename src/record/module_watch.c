/* SPDX-License-Identifier: Apache-2.0 */
#include "record/module_watch.h"

#include <stdio.h>

#include "record/kernel.h"
#include "record/sections.h"

bool record_module_watch_init(struct record_module_watch *m, const struct os_proc *proc,
                              const struct sysfs *sys, bool ids) {
    *m = (struct record_module_watch){.proc = proc, .sys = sys, .ids = ids};
    return record_modules_read(proc, &m->known);
}

void record_module_watch_fini(struct record_module_watch *m) {
    record_modules_fini(&m->known);
    writer_fini(&m->log);
}

static bool among(const struct record_modules *list, const struct record_module *m) {
    for (size_t i = 0; i < list->list.count; i++)
        if (list->list.items[i].base == m->base && strcmp(list->list.items[i].name, m->name) == 0)
            return true;
    return false;
}

static void log_text(struct record_module_watch *m, const char *what, uint64_t ns) {
    char text[48];
    int n = snprintf(text, sizeof text, "%s\t%llu", what, (unsigned long long)ns);
    writer_put(&m->log, text, (size_t)n);
}

static void log_unloaded(struct record_module_watch *m, const struct record_module *gone, uint64_t ns) {
    char text[32];
    int n = snprintf(text, sizeof text, "\t%llx\t", (unsigned long long)gone->start);
    log_text(m, "unloaded", ns);
    writer_put(&m->log, text, (size_t)n);
    writer_put(&m->log, gone->name, strlen(gone->name));
    writer_put(&m->log, "\n", 1);
}

bool record_module_watch_look(struct record_module_watch *m, const struct record_sink *sink,
                              uint64_t since_ns, struct err *err) {
    struct record_modules now;
    struct record_sink at = *sink;
    struct writer w = writer_make(false);
    at.id.time = since_ns;
    bool ok = record_modules_read(m->proc, &now) || err_memory(err, "modules");
    for (size_t i = 0; ok && i < m->known.list.count; i++)
        if (!among(&now, &m->known.list.items[i]))
            log_unloaded(m, &m->known.list.items[i], since_ns);
    for (size_t i = 0; ok && i < now.list.count; i++) {
        const struct record_module *new = &now.list.items[i];
        if (among(&m->known, new))
            continue;
        record_kernel_put_module(&at, new, m->ids, &w);
        log_text(m, "loaded", since_ns);
        writer_put(&m->log, "\n", 1);
        record_sections_module(m->proc, m->sys, new, &m->log);
    }
    ok = ok && (writer_ok(&w) || err_memory(err, "modules"));
    ok = ok && (!w.size || sink->put(sink->ctx, writer_bytes(&w), err));
    writer_fini(&w);
    struct record_modules old = ok ? m->known : now;
    if (ok)
        m->known = now;
    record_modules_fini(&old);
    return ok;
}
