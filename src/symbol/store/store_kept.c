/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the recording keeps because they were gone when it ended. */
#include "object/compressed.h"
#include "symbol/store/store_internal.h"

enum { ENTRIES_MAX = 1 << 16 };
static const uint64_t MAP_KEY = (uint64_t)1 << 62; /* set in keys that are pids, not hashes */
static const uint64_t DEBUG_KEY = (uint64_t)1 << 61;

static uint64_t key_of(const struct perfdata_evidence *e) {
    uint64_t key =
        e->build_id_size ? hash_bytes(e->build_id, e->build_id_size) : hash_bytes(&e->state, sizeof e->state);
    return key & ~(MAP_KEY | DEBUG_KEY);
}

static uint64_t key_of_entry(const struct perfdata_kept *k) {
    if (k->kind == PERFDATA_KEPT_MAP)
        return MAP_KEY | k->pid;
    return key_of(&k->evidence) | (k->kind == PERFDATA_KEPT_DEBUG ? DEBUG_KEY : 0);
}

bool store_kept_init(struct symbol_store *s) {
    struct bytes rest = s->options.kept;
    struct perfdata_kept k;
    while (s->kept.list.count < ENTRIES_MAX && perfdata_kept_next(&rest, s->options.kept_swap, &k)) {
        bool map = k.kind == PERFDATA_KEPT_MAP;
        bool image =
            ((k.kind == PERFDATA_KEPT_TABLES || k.kind == PERFDATA_KEPT_WHOLE) &&
             (k.evidence.build_id_size || k.evidence.has_state)) ||
            ((k.kind == PERFDATA_KEPT_KALLSYMS || k.kind == PERFDATA_KEPT_DEBUG) && k.evidence.build_id_size);
        struct perfdata_kept *to = map || image ? vec_push(&s->kept.list) : NULL;
        if (to)
            *to = k;
        if ((map || image) &&
            (!to || !hash_map_set(&s->kept.by_key, key_of_entry(&k), (uint32_t)s->kept.list.count - 1)))
            return false;
    }
    s->kept.opened = calloc(s->kept.list.count + 1, sizeof(struct symfile *));
    return s->kept.opened;
}

void store_kept_fini(struct symbol_store *s) {
    for (size_t i = 0; i < s->kept.files.count; i++)
        free(s->kept.files.items[i]);
    vec_fini(&s->kept.files);
    free(s->kept.opened);
    vec_fini(&s->kept.list);
    hash_map_fini(&s->kept.by_key);
    kernel_list_free(s->kept.symbols);
}

/* Unpacks the bytes of all extents, into `arena` unless they are stored uncompressed. */
static bool unpack(const struct perfdata_kept *k, struct arena *arena, struct bytes *out) {
    *out = k->packed;
    return k->packed.size == k->kept_size ||
           object_decompress_sized(OBJECT_ZSTD, k->packed, k->kept_size, arena, out, NULL);
}

/* Rebuilds the file, with zeros where nothing was kept. NULL: damaged, or memory. */
static uint8_t *expand(const struct symbol_store *s, const struct perfdata_kept *k) {
    struct arena arena = ARENA_INIT;
    struct bytes plain;
    uint8_t *file = k->file_size && unpack(k, &arena, &plain) ? calloc(1, (size_t)k->file_size) : NULL;
    size_t at = 0;
    for (uint32_t i = 0; file && i < k->extent_count; i++) {
        struct perfdata_extent x = perfdata_kept_extent(k, s->options.kept_swap, i);
        memcpy(file + x.offset, plain.data + at, (size_t)x.size);
        at += (size_t)x.size;
    }
    arena_fini(&arena);
    return file;
}

static bool same_state(const struct perfdata_file_state *a, const struct perfdata_file_state *b) {
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

/* Finds the kept file by build-id (the record's rather than the evidence's) or, without one, by file state.
 */
static const struct perfdata_kept *find(const struct symbol_store *s, const struct store_image *im) {
    struct perfdata_evidence want = im->known.evidence ? *im->known.evidence : (struct perfdata_evidence){0};
    struct bytes id = im->known.build_id;
    if (id.size > sizeof want.build_id)
        return NULL;
    if (id.size) {
        want.build_id_size = (uint8_t)id.size;
        memcpy(want.build_id, id.data, id.size);
    }
    if (!want.build_id_size && !want.has_state)
        return NULL;
    uint32_t at = hash_map_get(&s->kept.by_key, key_of(&want));
    const struct perfdata_kept *k = at == HASH_ABSENT ? NULL : &s->kept.list.items[at];
    if (!k)
        return NULL;
    bool same = want.build_id_size
                    ? bytes_equal((struct bytes){want.build_id, want.build_id_size},
                                  (struct bytes){k->evidence.build_id, k->evidence.build_id_size})
                    : k->evidence.has_state && same_state(&want.state, &k->evidence.state);
    return same ? k : NULL;
}

/* Opens a kept file, unpacked once. It gets a unique name, as several may have had the same. */
static struct symfile *open_entry(struct symbol_store *s, struct store_image *im,
                                  const struct perfdata_kept *k, const char *what) {
    struct symfile **opened = &s->kept.opened[k - s->kept.list.items];
    pthread_mutex_lock(&s->lock);
    struct symfile *f = *opened;
    pthread_mutex_unlock(&s->lock);
    if (f)
        return f;
    size_t before = 0;
    for (const struct perfdata_kept *other = s->kept.list.items; other < k; other++)
        before += other->kind == k->kind && bytes_equal(other->name, k->name);
    const char *name =
        store_text(im, before ? "%.*s (%skept in the recording, %zu)" : "%.*s (%skept in the recording)",
                   (int)k->name.size, (const char *)k->name.data, what, before + 1);
    uint8_t *file = expand(s, k);
    if (!file) {
        store_tried(im, name, "it cannot be unpacked");
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    uint8_t **slot = vec_push(&s->kept.files);
    if (slot)
        *slot = file;
    pthread_mutex_unlock(&s->lock);
    if (!slot) {
        free(file);
        return NULL;
    }
    f = symfile_borrow(&s->files, name, (struct bytes){file, (size_t)k->file_size});
    pthread_mutex_lock(&s->lock);
    *opened = f;
    pthread_mutex_unlock(&s->lock);
    return f;
}

struct symfile *store_kept_image(struct symbol_store *s, struct store_image *im, bool *whole) {
    const struct perfdata_kept *k = find(s, im);
    if (!k || k->kind == PERFDATA_KEPT_KALLSYMS)
        return NULL;
    *whole = k->kind == PERFDATA_KEPT_WHOLE;
    return open_entry(s, im, k, "");
}

struct symfile *store_kept_debug(struct symbol_store *s, struct store_image *im, struct bytes id) {
    struct perfdata_evidence want = {.build_id_size = (uint8_t)id.size};
    if (!id.size || id.size > sizeof want.build_id)
        return NULL;
    memcpy(want.build_id, id.data, id.size);
    uint32_t at = hash_map_get(&s->kept.by_key, key_of(&want) | DEBUG_KEY);
    const struct perfdata_kept *k = at == HASH_ABSENT ? NULL : &s->kept.list.items[at];
    bool same = k && bytes_equal((struct bytes){k->evidence.build_id, k->evidence.build_id_size}, id);
    return same ? open_entry(s, im, k, "debug information ") : NULL;
}

bool store_kept_map(struct symbol_store *s, uint32_t pid, struct writer *text) {
    struct arena arena = ARENA_INIT;
    struct bytes plain;
    uint32_t at = hash_map_get(&s->kept.by_key, MAP_KEY | pid);
    bool ok = at != HASH_ABSENT && unpack(&s->kept.list.items[at], &arena, &plain);
    if (ok)
        writer_bytes_put(text, plain);
    arena_fini(&arena);
    return ok && writer_ok(text);
}

static struct kernel_list *read_symbols(const struct perfdata_kept *k) {
    struct arena arena = ARENA_INIT;
    struct writer text = writer_make(false);
    struct bytes plain;
    if (unpack(k, &arena, &plain))
        writer_bytes_put(&text, plain);
    arena_fini(&arena);
    struct kernel_list *list = text.size ? kernel_list_new(&text, NULL) : NULL;
    writer_fini(&text);
    return list;
}

const struct kernel_list *store_kept_list(struct symbol_store *s, struct bytes build_id) {
    struct perfdata_evidence want = {.build_id_size = (uint8_t)build_id.size};
    if (!build_id.size || build_id.size > sizeof want.build_id)
        return NULL;
    memcpy(want.build_id, build_id.data, build_id.size);
    uint32_t at = hash_map_get(&s->kept.by_key, key_of(&want));
    const struct perfdata_kept *k = at == HASH_ABSENT ? NULL : &s->kept.list.items[at];
    if (!k || k->kind != PERFDATA_KEPT_KALLSYMS ||
        !bytes_equal((struct bytes){k->evidence.build_id, k->evidence.build_id_size}, build_id))
        return NULL;
    pthread_mutex_lock(&s->lock);
    if (!s->kept.asked)
        s->kept.symbols = read_symbols(k);
    s->kept.asked = true;
    const struct kernel_list *list = s->kept.symbols;
    pthread_mutex_unlock(&s->lock);
    return list;
}
