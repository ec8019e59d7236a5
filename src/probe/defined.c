/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/defined.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/writer.h"
#include "object/build_id.h"
#include "os/files/map.h"
#include "os/files/own_cache.h"

enum { NOTES_MAX = 1 << 20 };

static const char NOTES[] = "probes";

bool probe_defined_read(const struct os_dynamic_events *sys, enum os_dynamic_kind kind, struct arena *a,
                        probe_events *out, struct err *err) {
    const char *text = sys->read(sys, kind, a, err);
    if (!text)
        return false;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        struct probe_event e;
        struct err why = ERR_INIT;
        if (!probe_event_parse(text, a, &e, &why)) {
            vec_fini(&e.args);
            if (why.code == ERR_MEMORY)
                return err_memory(err, "probes");
            continue;
        }
        struct probe_event *slot = vec_push(out);
        if (!slot) {
            vec_fini(&e.args);
            return err_memory(err, "probes");
        }
        *slot = e;
    }
    return true;
}

static enum os_dynamic_kind kind_of(const struct probe_event *e) {
    return e->path ? OS_DYNAMIC_UPROBES : OS_DYNAMIC_KPROBES;
}

bool probe_defined_add(const struct os_dynamic_events *sys, const struct probe_event *e, struct err *err) {
    struct out o;
    if (!out_init(&o, NULL, NULL))
        return err_memory(err, "probes");
    probe_event_print(&o, e);
    bool ok = o.failed ? err_memory(err, "probes") : sys->write(sys, kind_of(e), out_text(&o), err);
    out_fini(&o);
    return ok;
}

bool probe_defined_remove(const struct os_dynamic_events *sys, const struct probe_event *e, struct err *err) {
    char line[2 * PROBE_NAME_MAX + 8];
    int n = snprintf(line, sizeof line, "-:%s/%s", e->group, e->event);
    return n > 0 && n < (int)sizeof line ? sys->write(sys, kind_of(e), line, err)
                                         : err_set(err, ERR_USAGE, e->event, "has too long a name");
}

/* ---- notes ---- */

const char *probe_note_identity(const char *path, struct arena *a) {
    struct os_file file;
    struct os_map map;
    struct object_build_id id;
    const char *text = NULL;
    if (!os_file_open_regular(path, &file, NULL))
        return NULL;
    if (os_map_file(&file, path, &map, NULL)) {
        if (object_build_id_read(map.bytes, &id) && id.size) {
            char hex[2 * OBJECT_BUILD_ID_MAX + 1];
            for (unsigned i = 0; i < id.size; i++)
                snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
            text = arena_printf(a, "id:%s", hex);
        } else {
            text = arena_printf(a, "at:%" PRIu64 ":%" PRId64 ".%" PRId64, file.size, file.mtime_s,
                                file.mtime_ns);
        }
        os_map_fini(&map);
    }
    os_file_close(&file);
    return text;
}

/* How a note begins. */
static const char *note_key(const struct probe_event *e, struct arena *a) {
    return arena_printf(a, "%s/%s %s 0x%" PRIx64 " ", e->group, e->event, e->path, e->offset);
}

static bool is_of(const char *line, size_t size, const probe_events *events, struct arena *a) {
    for (size_t i = 0; i < events->count; i++) {
        if (!events->items[i].path)
            continue;
        const char *key = note_key(&events->items[i], a);
        if (key && strlen(key) <= size && !memcmp(line, key, strlen(key)))
            return true;
    }
    return false;
}

/* Maps the file of notes; empty if there is none. */
static bool open_notes(const char *folder, struct os_map *out) {
    return folder && os_own_cache_map(folder, NOTES, NOTES_MAX, out);
}

void probe_notes_update(const char *folder, const probe_events *added, const probe_events *removed) {
    struct arena a = ARENA_INIT;
    struct writer w = writer_make(false);
    struct os_map map;
    if (!folder)
        return;
    if (open_notes(folder, &map)) {
        const char *at = (const char *)map.bytes.data, *end = map.bytes.size ? at + map.bytes.size : at;
        for (size_t n; at < end; at += n) {
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            n = stop ? (size_t)(stop - at) + 1 : (size_t)(end - at);
            if (!is_of(at, n, added, &a) && !is_of(at, n, removed, &a))
                writer_put(&w, at, n);
        }
        os_map_fini(&map);
    }
    for (size_t i = 0; i < added->count; i++) {
        const char *key = added->items[i].path ? note_key(&added->items[i], &a) : NULL;
        const char *identity = key ? probe_note_identity(added->items[i].path, &a) : NULL;
        if (!identity)
            continue;
        writer_put(&w, key, strlen(key));
        writer_put(&w, identity, strlen(identity));
        writer_u8(&w, '\n');
    }
    if (writer_ok(&w))
        os_own_cache_put(folder, NOTES, writer_bytes(&w));
    writer_fini(&w);
    arena_fini(&a);
}

const char *probe_note_stale(const char *folder, const struct probe_event *e, struct arena *a) {
    struct os_map map;
    const char *now = e->path ? probe_note_identity(e->path, a) : "", *why = NULL;
    if (!now)
        return "there is no such file any more";
    const char *key = e->path ? note_key(e, a) : NULL;
    if (!key || !open_notes(folder, &map))
        return NULL;
    const char *at = map.bytes.size ? memmem(map.bytes.data, map.bytes.size, key, strlen(key)) : NULL;
    if (at) {
        at += strlen(key);
        size_t left = map.bytes.size - (size_t)(at - (const char *)map.bytes.data), n = strlen(now);
        if (left < n || memcmp(at, now, n) != 0 || (left > n && at[n] != '\n'))
            why = "another file has its path now: processes that run that one are not seen";
    }
    os_map_fini(&map);
    return why;
}
