/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symfile.h"

#include "object/compressed.h"
#include "os/files/files.h"

/* No module is nearly as large as this; a decompression bomb is. */
enum { UNPACKED_MAX_BYTES = 1 << 30 };

bool symfile_cache_init(struct symfile_cache *c, struct err *err) {
    *c = (struct symfile_cache){0};
    return pthread_mutex_init(&c->lock, NULL) == 0 || err_memory(err, "files");
}

static void symfile_free(struct symfile *f) {
    if (!f)
        return;
    symbol_table_free(f->table);
    object_cfi_free(f->frames);
    kernel_list_free(f->list);
    object_layout_fini(&f->layout);
    arena_fini(&f->unpacked);
    os_map_fini(&f->map);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void symfile_cache_rest(struct symfile_cache *c) {
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->files.count; i++)
        if (c->files.items[i] && c->files.items[i]->map.bytes.size)
            os_map_forget(&c->files.items[i]->map, 0, c->files.items[i]->map.bytes.size);
    pthread_mutex_unlock(&c->lock);
}

void symfile_cache_fini(struct symfile_cache *c) {
    for (size_t i = 0; i < c->files.count; i++)
        symfile_free(c->files.items[i]);
    vec_fini(&c->files);
    strpool_fini(&c->paths);
    pthread_mutex_destroy(&c->lock);
}

/* The entry of a path, made if need be; NULL: out of memory. The cache is locked. */
static struct symfile *entry(struct symfile_cache *c, const char *path) {
    uint32_t id = strpool_add(&c->paths, path, strlen(path));
    if (id == STRPOOL_NONE)
        return NULL;
    /* Entries that could not be allocated stay NULL. */
    while (c->files.count <= id)
        if (!vec_push(&c->files))
            return NULL;
    if (c->files.items[id])
        return c->files.items[id];
    struct symfile *f = calloc(1, sizeof *f);
    if (f && pthread_mutex_init(&f->lock, NULL) != 0) {
        free(f);
        f = NULL;
    }
    if (f)
        f->path = strpool_text(&c->paths, id);
    c->files.items[id] = f;
    return f;
}

static struct symfile *locked_entry(struct symfile_cache *c, const char *path) {
    pthread_mutex_lock(&c->lock);
    struct symfile *f = entry(c, path);
    pthread_mutex_unlock(&c->lock);
    if (f)
        pthread_mutex_lock(&f->lock);
    return f;
}

/* Whether the name says that the file is compressed: modules may be, and a vmlinux that somebody keeps. */
static bool has_packed_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".xz") == 0 || strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0);
}

static bool examine(struct symfile *f) {
    struct err err = ERR_INIT;
    enum object_compression kind = has_packed_name(f->path) ? object_compression_of(f->bytes) : OBJECT_PLAIN;
    if (kind != OBJECT_PLAIN) {
        struct bytes packed = f->bytes;
        if (!object_decompress(kind, packed, UNPACKED_MAX_BYTES, &f->unpacked, &f->bytes, &f->err))
            return false;
    }
    f->is_elf = object_elf_open(f->bytes, &f->elf, &err);
    if (!f->is_elf)
        return true;
    object_build_id_read(f->bytes, &f->id);
    return object_layout_init(&f->elf, &f->layout, &f->err);
}

static void read_file(struct symfile *f) {
    struct os_file file;
    if (!os_file_open_regular(f->path, &file, &f->err))
        return;
    if (os_map_file(&file, f->path, &f->map, &f->err)) {
        f->bytes = f->map.bytes;
        examine(f);
    }
    os_file_close(&file);
}

struct symfile *symfile_open(struct symfile_cache *c, const char *path) {
    struct symfile *f = locked_entry(c, path);
    if (!f)
        return NULL;
    if (!f->opened)
        read_file(f);
    f->opened = true;
    pthread_mutex_unlock(&f->lock);
    return f;
}

struct symfile *symfile_borrow(struct symfile_cache *c, const char *name, struct bytes content) {
    struct symfile *f = locked_entry(c, name);
    if (!f)
        return NULL;
    if (!f->opened) {
        f->bytes = content;
        examine(f);
    }
    f->opened = true;
    pthread_mutex_unlock(&f->lock);
    return f;
}

/* Decompresses a text, if it is compressed. */
static bool unpack(struct symfile *f, struct writer *text) {
    enum object_compression kind =
        has_packed_name(f->path) ? object_compression_of(writer_bytes(text)) : OBJECT_PLAIN;
    struct arena arena = ARENA_INIT;
    struct bytes content;
    if (kind == OBJECT_PLAIN)
        return true;
    bool ok = object_decompress(kind, writer_bytes(text), UNPACKED_MAX_BYTES, &arena, &content, &f->list_err);
    writer_clear(text);
    if (ok)
        writer_bytes_put(text, content);
    arena_fini(&arena);
    return ok && (writer_ok(text) || err_memory(&f->list_err, f->path));
}

static void read_list(struct symfile *f) {
    struct writer text = writer_make(false);
    if (os_files_real.read(os_files_real.ctx, f->path, &text, &f->list_err) && unpack(f, &text))
        f->list = kernel_list_new(&text, &f->list_err);
    writer_fini(&text);
}

const struct kernel_list *symfile_kernel_list(struct symfile_cache *c, const char *path, struct err *err) {
    struct symfile *f = locked_entry(c, path);
    if (!f) {
        err_memory(err, path);
        return NULL;
    }
    if (!f->listed)
        read_list(f);
    f->listed = true;
    const struct kernel_list *list = f->list;
    if (!list)
        *err = f->list_err;
    pthread_mutex_unlock(&f->lock);
    return list;
}

static struct os_identity identity_of(const char *path) {
    struct os_identity id;
    return os_proc_system.identity(NULL, path, &id, NULL) ? id : (struct os_identity){0};
}

bool symfile_forget_changed(struct symfile_cache *c) {
    bool any = false;
    for (size_t i = 0; i < c->files.count; i++) {
        struct symfile *f = c->files.items[i];
        if (!f || !f->is_text || !f->listed)
            continue;
        struct os_identity now = identity_of(f->path);
        if (now.ino == f->text_at.ino && now.size == f->text_at.size && now.mtime_ns == f->text_at.mtime_ns)
            continue;
        symbol_table_free(f->table);
        f->table = NULL;
        f->listed = false;
        f->list_err = ERR_INIT;
        any = true;
    }
    return any;
}

const struct symbol_table *symfile_text_table(struct symfile_cache *c, const char *path,
                                              symfile_build_fn *build, struct err *err) {
    struct symfile *f = locked_entry(c, path);
    if (!f) {
        err_memory(err, path);
        return NULL;
    }
    if (!f->listed) {
        struct writer text = writer_make(false);
        f->is_text = true;
        f->text_at = identity_of(path);
        if (os_files_read_regular(path, &text, &f->list_err))
            f->table = build(&text, &f->list_err);
        writer_fini(&text);
    }
    f->listed = true;
    const struct symbol_table *table = f->table;
    if (!table)
        *err = f->list_err;
    pthread_mutex_unlock(&f->lock);
    return table;
}

const struct object_cfi *symfile_frames(struct symfile *f, const struct symfile *debug) {
    struct bytes none = {NULL, 0};
    pthread_mutex_lock(&f->lock);
    if (!f->framed)
        f->frames = object_cfi_new(f->bytes, debug ? debug->bytes : none, NULL);
    f->framed = true;
    const struct object_cfi *frames = f->frames;
    pthread_mutex_unlock(&f->lock);
    return frames;
}

bool symfile_has_id(const struct symfile *f, struct bytes build_id) {
    return bytes_equal((struct bytes){f->id.bytes, f->id.size}, build_id);
}
