/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/loaded_modules.h"

#include <stdio.h>

#include "base/hash.h"
#include "format/modules/modules.h"
#include "record/synth/kernel.h"

/* Names of modules and of their files differ in hyphens and underscores (modprobe(8)). */
static uint64_t name_key(const char *p, size_t n) {
    char name[64];
    n = n < sizeof name ? n : sizeof name;
    for (size_t i = 0; i < n; i++)
        name[i] = p[i] == '-' ? '_' : p[i];
    return hash_bytes(name, n);
}

static int by_address(const void *a, const void *b) {
    const struct record_module *x = a, *y = b;
    return (x->base > y->base) - (x->base < y->base);
}

/* The size of what stays of a module once it is loaded. 0: sysfs does not know the module. */
static uint64_t lasting_size(const struct os_proc *proc, const char *name) {
    char path[160];
    struct writer w = writer_make(false);
    snprintf(path, sizeof path, "/sys/module/%s/coresize", name);
    uint64_t size = 0;
    if (proc->read_once(proc->ctx, path, &w, NULL)) {
        writer_u8(&w, 0);
        size = writer_ok(&w) ? strtoull((const char *)w.data, NULL, 10) : 0;
    }
    writer_fini(&w);
    return size;
}

static bool read_list(const struct os_proc *proc, struct record_modules *m) {
    struct writer text = writer_make(false);
    bool ok = true;
    if (proc->read(proc->ctx, "/proc/modules", &text, NULL)) {
        struct bytes rest = writer_bytes(&text);
        for (struct modules_entry e; ok && modules_next(&rest, &e);) {
            if (!e.address || !e.size)
                continue;
            char *name = arena_strndup(&m->arena, (const char *)e.name.data, e.name.size);
            uint64_t lasting = name ? lasting_size(proc, name) : 0;
            if (name && !lasting && e.loading)
                continue; /* not in sysfs yet: its loading is told when it is */
            struct record_module *to = name ? vec_push(&m->list) : NULL;
            ok = to != NULL;
            if (!ok)
                break;
            to->base = to->start = e.address;
            to->name = name;
            uint64_t size = lasting && lasting < e.size ? lasting : e.size;
            to->end = size > UINT64_MAX - e.address ? UINT64_MAX : e.address + size;
        }
    }
    ok &= writer_ok(&text);
    writer_fini(&text);
    return ok;
}

/* One pass over modules.dep (depmod(8)): "kernel/fs/ext4/ext4.ko: kernel/..." below its folder. */
static bool find_paths(struct record_modules *m, const char *folder, struct bytes dep,
                       struct hash_map *names) {
    while (dep.data && dep.size) { /* gcc with sanitizers wonders about the one without the other */
        const uint8_t *nl = memchr(dep.data, '\n', dep.size);
        size_t line = nl ? (size_t)(nl - dep.data) + 1 : dep.size;
        const char *p = (const char *)dep.data, *colon = memchr(p, ':', line);
        const char *slash = colon ? memrchr(p, '/', (size_t)(colon - p)) : NULL;
        const char *file = slash ? slash + 1 : p;
        const char *dot = colon ? memchr(file, '.', (size_t)(colon - file)) : NULL;
        uint32_t at = dot ? hash_map_get(names, name_key(file, (size_t)(dot - file))) : HASH_ABSENT;
        if (at != HASH_ABSENT && !m->list.items[at].path) {
            char path[512];
            int n = snprintf(path, sizeof path, "%s%s%.*s", *p == '/' ? "" : folder, *p == '/' ? "" : "/",
                             (int)(colon - p), p);
            if (n > 0 && (size_t)n < sizeof path &&
                !(m->list.items[at].path = arena_strndup(&m->arena, path, (size_t)n)))
                return false;
        }
        dep = (struct bytes){dep.data + line, dep.size - line};
    }
    return true;
}

static bool read_paths(const struct os_proc *proc, struct record_modules *m) {
    struct writer release = writer_make(false), dep = writer_make(false);
    struct hash_map names = {0};
    char folder[128], path[160];
    bool ok = true;
    for (size_t i = 0; ok && i < m->list.count; i++)
        ok =
            hash_map_set(&names, name_key(m->list.items[i].name, strlen(m->list.items[i].name)), (uint32_t)i);
    if (ok && m->list.count && proc->read_once(proc->ctx, "/proc/sys/kernel/osrelease", &release, NULL) &&
        release.size) {
        const uint8_t *nl = memchr(release.data, '\n', release.size);
        int len = (int)(nl ? (size_t)(nl - release.data) : release.size);
        snprintf(folder, sizeof folder, "/lib/modules/%.*s", len, (const char *)release.data);
        snprintf(path, sizeof path, "%s/modules.dep", folder);
        if (proc->read(proc->ctx, path, &dep, NULL))
            ok = find_paths(m, folder, writer_bytes(&dep), &names);
    }
    hash_map_fini(&names);
    writer_fini(&release);
    writer_fini(&dep);
    return ok;
}

/*
 * s390x puts its global offset table and linkage stubs in front of a module's code, and perf's readers count
 * offsets from the beginning of .text there; elsewhere .text comes first.
 */
static void skip_tables(const struct os_proc *proc, struct record_module *m) {
#if defined(__s390x__)
    char path[160];
    struct writer w = writer_make(false);
    snprintf(path, sizeof path, "/sys/module/%s/sections/.text", m->name);
    if (proc->read_once(proc->ctx, path, &w, NULL)) {
        writer_u8(&w, 0);
        uint64_t text = writer_ok(&w) ? strtoull((const char *)w.data, NULL, 16) : 0;
        if (text > m->base && text < m->end)
            m->start = text;
    }
    writer_fini(&w);
#else
    (void)proc, (void)m;
#endif
}

bool record_modules_read(const struct os_proc *proc, struct record_modules *m) {
    char text[160];
    *m = (struct record_modules){.arena = ARENA_INIT};
    if (!read_list(proc, m))
        return false;
    if (m->list.count)
        qsort(m->list.items, m->list.count, sizeof *m->list.items, by_address);
    if (!read_paths(proc, m))
        return false;
    for (size_t i = 0; i < m->list.count; i++) {
        struct record_module *e = &m->list.items[i];
        if (i + 1 < m->list.count && e[1].base < e->end)
            e->end = e[1].base;
        skip_tables(proc, e);
        snprintf(text, sizeof text, "/sys/module/%s/notes/.note.gnu.build-id", e->name);
        record_kernel_notes(proc, text, &e->build_id);
        snprintf(text, sizeof text, "[%s]", e->name);
        if (!e->path && !(e->path = arena_strndup(&m->arena, text, strlen(text))))
            return false;
    }
    return true;
}

void record_modules_fini(struct record_modules *m) {
    vec_fini(&m->list);
    arena_fini(&m->arena);
}
