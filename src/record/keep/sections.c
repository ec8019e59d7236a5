/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/sections.h"

#include <stdio.h>

static void put_text(struct writer *w, const char *text) {
    writer_put(w, text, strlen(text));
}

static void put_hex(struct writer *w, uint64_t v) {
    char text[20];
    snprintf(text, sizeof text, "\t%llx", (unsigned long long)v);
    put_text(w, text);
}

static void put_range(struct writer *w, const char *what, uint64_t start, uint64_t end,
                      const struct os_build_id *id) {
    put_text(w, what);
    put_hex(w, start);
    put_hex(w, end);
    put_text(w, id->size ? "\t" : "\t-");
    for (size_t i = 0; i < id->size; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", id->bytes[i]);
        put_text(w, two);
    }
    put_text(w, "\t");
}

/* Each file's content is one address; a second read(2) of it would fail. */
static void put_section(const struct os_proc *proc, const char *folder, const char *name,
                        struct writer *scratch, struct writer *w) {
    char path[512];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return;
    writer_clear(scratch);
    if (!proc->read_once(proc->ctx, path, scratch, NULL))
        return;
    writer_u8(scratch, 0);
    uint64_t address = writer_ok(scratch) ? strtoull((const char *)scratch->data, NULL, 16) : 0;
    if (!address)
        return;
    put_text(w, "section");
    put_hex(w, address);
    put_text(w, "\t");
    put_text(w, name);
    put_text(w, "\n");
}

void record_sections_module(const struct os_proc *proc, const struct sysfs *sys,
                            const struct record_module *m, struct writer *w) {
    struct writer scratch = writer_make(false);
    struct arena a = ARENA_INIT;
    struct sysfs_names names;
    char folder[160];
    put_range(w, "module", m->start, m->end, &m->build_id);
    put_text(w, m->name);
    put_text(w, "\t");
    put_text(w, m->path);
    put_text(w, "\n");
    snprintf(folder, sizeof folder, "/sys/module/%s/sections", m->name);
    if (sys->list(sys, folder, &a, &names, NULL))
        for (size_t i = 0; i < names.count; i++)
            put_section(proc, folder, names.items[i], &scratch, w);
    writer_fini(&scratch);
    arena_fini(&a);
}

bool record_sections_encode(const struct os_proc *proc, const struct sysfs *sys,
                            const struct record_modules *modules, struct writer *w) {
    for (size_t i = 0; i < modules->list.count; i++)
        record_sections_module(proc, sys, &modules->list.items[i], w);
    return writer_ok(w);
}
