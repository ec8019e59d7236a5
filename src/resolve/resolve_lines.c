/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/resolve_lines.h"

#include <stdlib.h>

#include "base/strpool.h"
#include "base/vec.h"
#include "symbol/demangle.h"

struct image_lines {
    bool asked;
    const struct symbol_table *table;
    struct object_lines *lines; /* NULL: none */
};

struct resolve_lines {
    struct resolve_names *names;
    struct symbol_store *store;
    VEC(struct image_lines) images;
    struct strpool names_shown; /* demangled ones */
    struct object_insns_kept insns;
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
    strpool_fini(&l->names_shown);
    object_insns_free(l->insns.insns);
    free(l);
}

/* Opens the image's debugging information, in the separate file or else in the mapped one: where both have
 * some, the separate one has all. */
static void ask(struct resolve_lines *l, uint32_t image, uint64_t offset, struct image_lines *i) {
    i->asked = true;
    resolve_names_find(l->names, image, offset); /* loads it */
    i->table = resolve_names_table(l->names, image);
    uint32_t id = i->table ? resolve_names_store_id(l->names, image) : UINT32_MAX;
    if (id == UINT32_MAX || (resolve_names_strict(l->names) && !symbol_store_source(l->store, id).proved))
        return;
    struct symbol_bytes bytes = symbol_store_bytes(l->store, id);
    if (bytes.debug.size)
        i->lines = object_lines_new(bytes.debug, symbol_store_dwz(l->store, id, bytes.debug), NULL);
    if (!i->lines && bytes.code.size)
        i->lines = object_lines_new(bytes.code, symbol_store_dwz(l->store, id, bytes.code), NULL);
}

/* The image's lines, opened if need be, or NULL if it has none. */
static const struct image_lines *lines_of(struct resolve_lines *l, uint32_t image, uint64_t offset) {
    if (image == MODEL_NONE)
        return NULL;
    while (l->images.count <= image)
        if (!vec_push(&l->images))
            return NULL;
    struct image_lines *i = &l->images.items[image];
    if (!i->asked)
        ask(l, image, offset, i);
    return i->lines ? i : NULL;
}

bool resolve_lines_find(struct resolve_lines *l, uint32_t image, uint64_t offset, struct object_line *out) {
    const struct image_lines *i = lines_of(l, image, offset);
    *out = (struct object_line){0};
    return i && object_lines_find(i->lines, symbol_table_address(i->table, offset), out);
}

/* The name for display, demangled if memory allows. */
static const char *shown(struct resolve_lines *l, const char *name) {
    struct arena arena = ARENA_INIT;
    const char *text = symbol_demangle(name, &arena);
    uint32_t id = text ? strpool_add(&l->names_shown, text, strlen(text)) : STRPOOL_NONE;
    arena_fini(&arena);
    return id == STRPOOL_NONE ? name : strpool_text(&l->names_shown, id);
}

size_t resolve_lines_inlined(struct resolve_lines *l, uint32_t image, uint64_t offset, bool raw_names,
                             struct object_inline *out, size_t max) {
    const struct image_lines *i = lines_of(l, image, offset);
    size_t n = i ? object_lines_inlined(i->lines, symbol_table_address(i->table, offset), out, max) : 0;
    for (size_t k = 0; k < n && !raw_names; k++)
        out[k].name = shown(l, out[k].name);
    return n;
}

enum resolve_access resolve_lines_type(struct resolve_lines *l, uint32_t image, uint64_t offset,
                                       struct object_type *out) {
    const struct image_lines *i = lines_of(l, image, offset); /* loads it */
    uint32_t id = image == MODEL_NONE ? UINT32_MAX : resolve_names_store_id(l->names, image);
    struct object_access access;
    if (id == UINT32_MAX)
        return RESOLVE_ACCESS_UNKNOWN;
    struct bytes code = symbol_store_bytes(l->store, id).code;
    const struct symbol_table *t = resolve_names_table(l->names, image);
    struct object_insns *insns = object_insns_for(&l->insns, code);
    if (!t || !insns || offset >= code.size)
        return RESOLVE_ACCESS_UNKNOWN;
    object_vaddr addr = symbol_table_address(t, offset);
    if (!object_insns_access(insns, (struct bytes){code.data + offset, code.size - offset}, addr, &access))
        return RESOLVE_ACCESS_UNKNOWN;
    if (access.stack || access.canary)
        return access.stack ? RESOLVE_ACCESS_STACK : RESOLVE_ACCESS_CANARY;
    return i && object_types_find(i->lines, addr, &access, out) ? RESOLVE_ACCESS_TYPE
                                                                : RESOLVE_ACCESS_UNKNOWN;
}

const char *resolve_lines_file(const struct object_line *line, bool full) {
    const char *slash = full ? NULL : strrchr(line->file, '/');
    return slash ? slash + 1 : line->file;
}
