/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/lines.h"

#include <stdlib.h>

#include "base/vec.h"

struct image_lines {
    bool asked;
    const struct symbol_table *table;
    struct object_lines *lines; /* NULL: none */
};

struct resolve_lines {
    struct resolve_names *names;
    struct symbol_store *store;
    VEC(struct image_lines) images;
};

struct resolve_lines *resolve_lines_new(struct resolve_names *names, struct symbol_store *store,
                                        struct err *err) {
    struct resolve_lines *l = calloc(1, sizeof *l);
    if (!l) {
        err_memory(err, "source lines");
        return NULL;
    }
    l->names = names;
    l->store = store;
    return l;
}

void resolve_lines_free(struct resolve_lines *l) {
    if (!l)
        return;
    for (size_t i = 0; i < l->images.count; i++)
        object_lines_free(l->images.items[i].lines);
    vec_fini(&l->images);
    free(l);
}

/* Debugging information is in the mapped file or in the separate one; where both have some, the separate one
 * was made to have all. */
static void ask(struct resolve_lines *l, uint32_t image, uint64_t offset, struct image_lines *i) {
    i->asked = true;
    resolve_names_find(l->names, image, offset); /* loads it */
    i->table = resolve_names_table(l->names, image);
    uint32_t id = i->table ? resolve_names_store_id(l->names, image) : UINT32_MAX;
    if (id == UINT32_MAX)
        return;
    struct symbol_bytes bytes = symbol_store_bytes(l->store, id);
    const struct bytes no_alt = {NULL, 0};
    if (bytes.debug.size)
        i->lines = object_lines_new(bytes.debug, no_alt, NULL);
    if (!i->lines && bytes.code.size)
        i->lines = object_lines_new(bytes.code, no_alt, NULL);
}

bool resolve_lines_find(struct resolve_lines *l, uint32_t image, uint64_t offset, struct object_line *out) {
    *out = (struct object_line){0};
    if (image == MODEL_NONE)
        return false;
    while (l->images.count <= image)
        if (!vec_push(&l->images))
            return false;
    struct image_lines *i = &l->images.items[image];
    if (!i->asked)
        ask(l, image, offset, i);
    return i->lines && object_lines_find(i->lines, symbol_table_address(i->table, offset), out);
}

const char *resolve_lines_file(const struct object_line *line, bool full) {
    const char *slash = full ? NULL : strrchr(line->file, '/');
    return slash ? slash + 1 : line->file;
}
