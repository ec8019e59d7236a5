/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/lines/resolve_lines.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "object/index/object_index.h"
#include "resolve/lines/lines_cache.h"
#include "symbol/demangle/demangle.h"

/* Whose split DWARF is asked for. */
struct image_split {
    struct symbol_store *store;
    uint32_t id; /* in the store */
};

struct image_lines {
    bool asked, types_asked;
    const struct symbol_table *table;
    struct bytes dwarf, dwz;
    struct image_split *split;  /* owned */
    struct object_index *index; /* NULL: none */
    struct lines_cache_key key;
    struct os_map kept;         /* of the key */
    struct object_lines *types; /* NULL: none, or not asked for yet */
};

struct resolve_lines {
    struct resolve_names *names;
    struct symbol_store *store;
    VEC(struct image_lines) images;
    struct strpool names_shown;    /* demangled ones */
    struct hash_map shown_by_name; /* by where the name lies */
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

/* Keeps what was made for the next time, too. */
static void close_index(struct resolve_lines *l, struct image_lines *i) {
    if (i->index)
        lines_cache_save(symbol_store_own_cache(l->store), &i->key, i->index);
    object_index_free(i->index);
    os_map_fini(&i->kept);
}

void resolve_lines_free(struct resolve_lines *l) {
    if (!l)
        return;
    for (size_t i = 0; i < l->images.count; i++) {
        close_index(l, &l->images.items[i]);
        object_lines_free(l->images.items[i].types);
        free(l->images.items[i].split);
    }
    vec_fini(&l->images);
    strpool_fini(&l->names_shown);
    hash_map_fini(&l->shown_by_name);
    object_insns_free(l->insns.insns);
    free(l);
}

static struct bytes ask_dwo(void *ctx, const char *folder, const char *name) {
    const struct image_split *split = ctx;
    return symbol_store_dwo(split->store, split->id, folder, name);
}

/* `announced`: the image is code that a JIT made, which the next run has anew. */
static bool open_index(struct resolve_lines *l, uint32_t id, bool announced, struct bytes dwarf,
                       struct image_lines *i) {
    const struct object_index_split split = {
        .dwp = symbol_store_dwp(l->store, id), .dwo = ask_dwo, .ctx = i->split};
    i->dwarf = dwarf;
    i->dwz = symbol_store_dwz(l->store, id, dwarf);
    const char *folder = announced ? NULL : symbol_store_own_cache(l->store);
    os_map_fini(&i->kept);
    i->key.size = 0;
    if (folder)
        i->key = lines_cache_key(dwarf, i->dwz, split.dwp);
    lines_cache_load(folder, &i->key, &i->kept);
    const struct object_index_kept kept = {{i->key.bytes, i->key.size}, i->kept.bytes};
    i->index = object_index_new(dwarf, i->dwz, &split, &kept, NULL);
    return i->index;
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
    i->split = malloc(sizeof *i->split);
    if (!i->split)
        return;
    *i->split = (struct image_split){l->store, id};
    bool announced = model_image(resolve_names_model(l->names), image)->kind == MODEL_IMAGE_CODE;
    if (!bytes.debug.size || !open_index(l, id, announced, bytes.debug, i))
        if (bytes.code.size)
            open_index(l, id, announced, bytes.code, i);
}

/* The image's lines, opened if need be, or NULL if it has none. */
static struct image_lines *lines_of(struct resolve_lines *l, uint32_t image, uint64_t offset) {
    if (image == MODEL_NONE)
        return NULL;
    while (l->images.count <= image)
        if (!vec_push(&l->images))
            return NULL;
    struct image_lines *i = &l->images.items[image];
    if (!i->asked)
        ask(l, image, offset, i);
    return i->index ? i : NULL;
}

bool resolve_lines_find(struct resolve_lines *l, uint32_t image, uint64_t offset, struct object_line *out) {
    struct image_lines *i = lines_of(l, image, offset);
    *out = (struct object_line){0};
    return i && object_index_find(i->index, symbol_table_address(i->table, offset), out);
}

bool resolve_lines_prepare(struct resolve_lines *l, uint32_t image, const uint64_t *offsets, size_t count,
                           struct pool *pool, struct err *err) {
    struct image_lines *i = count ? lines_of(l, image, offsets[0]) : NULL;
    if (!i)
        return true;
    object_vaddr *addrs = malloc(count * sizeof *addrs);
    for (size_t k = 0; addrs && k < count; k++)
        addrs[k] = symbol_table_address(i->table, offsets[k]);
    bool ok = addrs ? object_index_prepare(i->index, addrs, count, pool, err)
                    : err_memory(err, "index of source lines");
    free(addrs);
    return ok;
}

/* The name for display, demangled if memory allows. */
static const char *shown(struct resolve_lines *l, const char *name) {
    struct arena arena = ARENA_INIT;
    uint32_t id = hash_map_get(&l->shown_by_name, (uintptr_t)name);
    if (id != HASH_ABSENT)
        return strpool_text(&l->names_shown, id);
    const char *text = symbol_demangle(name, &arena);
    text = text ? text : name;
    id = strpool_add(&l->names_shown, text, strlen(text));
    if (id != STRPOOL_NONE && !hash_map_set(&l->shown_by_name, (uintptr_t)name, id))
        id = STRPOOL_NONE;
    arena_fini(&arena);
    return id == STRPOOL_NONE ? name : strpool_text(&l->names_shown, id);
}

size_t resolve_lines_inlined(struct resolve_lines *l, uint32_t image, uint64_t offset,
                             struct object_inline *out, size_t max) {
    struct image_lines *i = lines_of(l, image, offset);
    size_t n = i ? object_index_inlined(i->index, symbol_table_address(i->table, offset), out, max) : 0;
    for (size_t k = 0; k < n && !symbol_store_raw_names(l->store); k++)
        out[k].name = shown(l, out[k].name);
    return n;
}

enum resolve_access resolve_lines_type(struct resolve_lines *l, uint32_t image, uint64_t offset,
                                       struct object_type *out) {
    struct image_lines *i = lines_of(l, image, offset); /* loads it */
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
    if (i && !i->types_asked)
        i->types = object_lines_new(i->dwarf, i->dwz, NULL);
    if (i)
        i->types_asked = true;
    return i && i->types && object_types_find(i->types, addr, &access, out) ? RESOLVE_ACCESS_TYPE
                                                                            : RESOLVE_ACCESS_UNKNOWN;
}

const char *resolve_lines_file(const struct object_line *line, bool full) {
    const char *slash = full ? NULL : strrchr(line->file, '/');
    return slash ? slash + 1 : line->file;
}
