/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/kernel/kernel_maps.h"

#include <stdio.h>

#include "format/kallsyms/kallsyms.h"
#include "format/modules/modules.h"

#define PATH_BYTES 4096

/* Finds the build-id among a file's notes; false and *err if the file cannot be read or has none. */
static bool read_id(const struct os_files *files, const char *path, struct object_build_id *out,
                    struct err *err) {
    struct writer notes = writer_make(false);
    bool ok = files->read(files->ctx, path, &notes, err) &&
              (object_build_id_in_notes(writer_bytes(&notes), out) ||
               err_set(err, ERR_ABSENT, path, "there is no build-id in it"));
    writer_fini(&notes);
    return ok;
}

bool kernel_maps_kernel_id(const struct os_files *files, struct object_build_id *out, struct err *err) {
    return read_id(files, "/sys/kernel/notes", out, err);
}

static bool text_is(struct bytes b, const char *s) {
    return b.size == strlen(s) && memcmp(b.data, s, b.size) == 0;
}

static bool add_kernel(struct kernel_maps *maps, const struct os_files *files, struct err *err) {
    struct writer text = writer_make(false);
    if (!files->read(files->ctx, "/proc/kallsyms", &text, err)) {
        writer_fini(&text);
        return false;
    }
    struct kernel_map *kernel = vec_push(&maps->list);
    if (!kernel) {
        writer_fini(&text);
        return err_memory(err, "the kernel's maps");
    }
    struct bytes rest = writer_bytes(&text);
    struct kallsyms_symbol symbol;
    while ((!kernel->start || !kernel->end) && kallsyms_next(&rest, &symbol)) {
        if (!kernel->start && (text_is(symbol.name, "_stext") || text_is(symbol.name, "_text")))
            kernel->start = symbol.address;
        else if (text_is(symbol.name, "_etext"))
            kernel->end = symbol.address;
    }
    writer_fini(&text);
    kernel->path = "[kernel.kallsyms]";
    struct err ignored;
    kernel_maps_kernel_id(files, &kernel->id, &ignored);
    return true;
}

static const char *module_path(struct kernel_maps *maps, struct bytes dep, const char *release,
                               struct bytes name) {
    char path[PATH_BYTES];
    struct bytes below = modules_dep_path(dep, name);
    int n = below.size ? snprintf(path, sizeof path, "/lib/modules/%s/%.*s", release, (int)below.size,
                                  (const char *)below.data)
                       : snprintf(path, sizeof path, "[%.*s]", (int)name.size, (const char *)name.data);
    return arena_strndup(&maps->arena, path, n < PATH_BYTES ? (size_t)n : PATH_BYTES - 1);
}

static bool add_modules(struct kernel_maps *maps, const struct os_files *files, const char *release) {
    struct writer modules = writer_make(false), dep = writer_make(false);
    char path[PATH_BYTES];
    struct err ignored;
    /* Errors are ignored: a kernel without modules has no such files. */
    files->read(files->ctx, "/proc/modules", &modules, &ignored);
    snprintf(path, sizeof path, "/lib/modules/%s/modules.dep", release);
    files->read(files->ctx, path, &dep, &ignored);
    struct bytes rest = writer_bytes(&modules);
    struct modules_entry entry;
    bool ok = true;
    while (ok && modules_next(&rest, &entry)) {
        struct kernel_map *map = vec_push(&maps->list);
        ok = map != NULL;
        if (!ok)
            break;
        map->start = entry.address;
        map->end = entry.address + (entry.address ? entry.size : 0);
        map->path = module_path(maps, writer_bytes(&dep), release, entry.name);
        ok = map->path != NULL;
        snprintf(path, sizeof path, "/sys/module/%.*s/notes/.note.gnu.build-id", (int)entry.name.size,
                 (const char *)entry.name.data);
        read_id(files, path, &map->id, &ignored);
    }
    writer_fini(&modules);
    writer_fini(&dep);
    return ok;
}

static int compare_maps(const void *x, const void *y) {
    const struct kernel_map *a = x, *b = y;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return strcmp(a->path, b->path);
}

bool kernel_maps_read(struct kernel_maps *maps, const struct os_files *files, const char *release,
                      struct err *err) {
    *maps = (struct kernel_maps){0};
    if (!add_kernel(maps, files, err))
        return false;
    if (!add_modules(maps, files, release))
        return err_memory(err, "the kernel's maps");
    qsort(maps->list.items, maps->list.count, sizeof *maps->list.items, compare_maps);
    return true;
}

void kernel_maps_fini(struct kernel_maps *maps) {
    vec_fini(&maps->list);
    arena_fini(&maps->arena);
}
