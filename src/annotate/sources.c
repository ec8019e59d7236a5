/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/sources.h"

#include <stdio.h>

enum { PATH_ROOM = 8192, FILE_MAX = 256 << 20 };

void annotate_sources_fini(struct annotate_sources *s) {
    for (size_t i = 0; i < s->files.count; i++) {
        os_map_fini(&s->files.items[i].map);
        vec_fini(&s->files.items[i].starts);
    }
    vec_fini(&s->files);
    strpool_fini(&s->paths);
}

/* Where to look for a path. False: it is too long. */
static bool host_path(const struct annotate_sources *s, const char *path, char room[PATH_ROOM]) {
    const char *rest = path;
    for (unsigned i = 0; s->prefix && *path == '/' && i < s->strip; i++) {
        const char *slash = strchr(rest + 1, '/');
        if (!slash)
            break;
        rest = slash;
    }
    const char *before = s->symfs && *path == '/' ? s->symfs : "",
               *prefix = s->prefix && *path == '/' ? s->prefix : "";
    return snprintf(room, PATH_ROOM, "%s%s%s", before, prefix, rest) < PATH_ROOM;
}

/* Notes where lines begin. False: out of memory. */
static bool split(struct annotate_source *f) {
    const uint8_t *data = f->map.bytes.data;
    size_t size = f->map.bytes.size, at = 0;
    while (at < size) {
        uint32_t *start = vec_push(&f->starts);
        if (!start)
            return false;
        *start = (uint32_t)at;
        const uint8_t *end = memchr(data + at, '\n', size - at);
        at = end ? (size_t)(end - data) + 1 : size;
    }
    return true;
}

static bool read_file(const struct annotate_sources *s, const char *path, struct annotate_source *f) {
    char room[PATH_ROOM];
    struct os_file file;
    if (!host_path(s, path, room) || !os_file_open_regular(room, &file, NULL))
        return false;
    bool ok = file.size <= FILE_MAX && os_map_file(&file, room, &f->map, NULL) && split(f);
    os_file_close(&file);
    return ok;
}

bool annotate_sources_line(struct annotate_sources *s, const char *path, uint32_t line, struct bytes *out) {
    uint32_t id = strpool_add(&s->paths, path, strlen(path));
    if (id == STRPOOL_NONE)
        return false;
    if (id >= s->files.count) { /* ids are given in order */
        struct annotate_source *made = vec_push(&s->files);
        if (!made)
            return false;
        if (!read_file(s, path, made) && !s->absent++)
            s->first_absent = id;
    }
    const struct annotate_source *f = id < s->files.count ? &s->files.items[id] : NULL;
    if (!f || !line || line > f->starts.count)
        return false;
    size_t start = f->starts.items[line - 1],
           end = line < f->starts.count ? f->starts.items[line] : f->map.bytes.size;
    const uint8_t *text = f->map.bytes.data + start;
    while (end > start && (text[end - start - 1] == '\n' || text[end - start - 1] == '\r'))
        end--;
    *out = (struct bytes){text, end - start};
    return true;
}
