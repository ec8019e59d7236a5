/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/lazy.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "os/files/files.h"
#include "probe/points.h"

enum { LINE_MAX_BYTES = 1024, SOURCE_MAX = 64 << 20 };

static void squeeze(const char *from, char to[LINE_MAX_BYTES]) {
    size_t n = 0;
    for (; *from && n < LINE_MAX_BYTES - 1; from++)
        if (!isspace((unsigned char)*from))
            to[n++] = *from;
    to[n] = '\0';
}

bool lazy_matches(const char *line, const char *pattern) {
    char text[LINE_MAX_BYTES], glob[LINE_MAX_BYTES];
    squeeze(line, text);
    squeeze(pattern, glob);
    return fnmatch(glob, text, 0) == 0;
}

bool probe_source_read(const char *path, const char *source_dir, struct arena *a, probe_source *out,
                       struct err *err) {
    struct writer text = writer_make(false);
    char below[4096];
    struct err why = ERR_INIT;
    bool ok = false;
    /* The sources may have been moved: tries source_dir/a/b/c.c, then source_dir/b/c.c, then source_dir/c.c.
     */
    for (const char *at = path; source_dir && at && !ok; at = strchr(at + 1, '/')) {
        int n = snprintf(below, sizeof below, "%s%s%s", source_dir, *at == '/' ? "" : "/", at);
        ok = n > 0 && n < (int)sizeof below && os_files_read_regular(below, &text, &why);
    }
    if (!ok)
        ok = os_files_read_regular(path, &text, err);
    char *copy = ok ? arena_strndup(a, (const char *)text.data, text.size) : NULL;
    if (ok && !copy)
        ok = err_memory(err, path);
    for (char *rest = copy; ok && rest && *rest;) {
        char *end = strchr(rest, '\n');
        const char **slot = vec_push(out);
        if (!slot)
            ok = err_memory(err, path);
        else
            *slot = rest;
        if (end)
            *end = '\0';
        rest = end ? end + 1 : NULL;
    }
    writer_fini(&text);
    return ok;
}

bool lazy_find(struct object_debug *d, const struct lazy_query *q, struct arena *a, object_debug_lines *out,
               struct err *err) {
    const struct object_debug_span whole = {q->file, 1, INT32_MAX, q->within};
    object_debug_lines all = {0};
    probe_source source = {0};
    const char *read = NULL;
    bool ok = object_debug_statements(d, &whole, &all, err);
    for (size_t i = 0; ok && i < all.count; i++) {
        const struct object_debug_line *l = &all.items[i];
        if (!read || strcmp(read, l->file) != 0) {
            source.count = 0;
            ok = probe_source_read(l->file, q->source_dir, a, &source, err);
            read = l->file;
        }
        if (!ok || l->line > source.count || !lazy_matches(source.items[l->line - 1], q->pattern))
            continue;
        struct object_debug_line *slot = vec_push(out);
        if (slot)
            *slot = *l;
        else
            ok = err_memory(err, "lines");
    }
    vec_fini(&all);
    vec_fini(&source);
    return ok;
}
