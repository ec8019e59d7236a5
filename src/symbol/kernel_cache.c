/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel_cache.h"

#include <xxhash.h>

#include "base/cursor.h"
#include "os/files/own_cache.h"

static const char name[] = "kernel-symbols", magic[8] = "sondeks1";

enum { ORDER = 0x01020304, HEAD_BYTES = sizeof magic + sizeof(uint64_t), SYMBOL_BYTES = 16 };
enum { FILE_MAX_BYTES = 64 << 20 };

struct kernel_cache_key kernel_cache_key(struct bytes boot_id, struct bytes build_id) {
    struct kernel_cache_key key = {.size = 0};
    if (!boot_id.size || !build_id.size || boot_id.size + build_id.size > sizeof key.bytes)
        return key;
    memcpy(key.bytes, boot_id.data, boot_id.size);
    memcpy(key.bytes + boot_id.size, build_id.data, build_id.size);
    key.size = boot_id.size + build_id.size;
    return key;
}

struct encoding {
    struct writer *to, texts;
    uint64_t symbols;
};

static bool encode_symbol(void *ctx, uint64_t address, const char *text, char type) {
    struct encoding *e = ctx;
    writer_u64(e->to, address);
    writer_u32(e->to, (uint32_t)e->texts.size);
    writer_u32(e->to, (uint8_t)type);
    writer_put(&e->texts, text, strlen(text) + 1);
    e->symbols++;
    return writer_ok(e->to) && writer_ok(&e->texts) && e->to->size + e->texts.size <= FILE_MAX_BYTES;
}

bool kernel_cache_encode(const struct kernel_list *l, const struct kernel_cache_key *key, struct writer *to) {
    struct encoding e = {to, writer_make(false), 0};
    if (!key->size || kernel_list_hidden(l))
        return false;
    writer_put(to, magic, sizeof magic);
    writer_u64(to, 0);
    writer_u32(to, ORDER);
    writer_u32(to, (uint32_t)key->size);
    writer_put(to, key->bytes, key->size);
    writer_align(to, 8);
    size_t counts = to->size;
    writer_u64(to, 0);
    writer_u64(to, 0);
    bool ok = kernel_list_each(l, encode_symbol, &e) && e.symbols;
    if (ok) {
        writer_patch64(to, counts, e.symbols);
        writer_patch64(to, counts + 8, e.texts.size);
        writer_bytes_put(to, writer_bytes(&e.texts));
        ok = writer_ok(to);
    }
    if (ok)
        writer_patch64(to, sizeof magic, XXH3_64bits(to->data + HEAD_BYTES, to->size - HEAD_BYTES));
    writer_fini(&e.texts);
    return ok;
}

/* Reads the head. False: it is not for this key, or the checksum is wrong. */
static bool take_head(struct cursor *c, struct bytes file, const struct kernel_cache_key *key) {
    struct bytes found = cursor_bytes(c, sizeof magic);
    uint64_t checksum = cursor_u64(c);
    if (!key->size || !found.data || memcmp(found.data, magic, sizeof magic) != 0 || cursor_u32(c) != ORDER)
        return false;
    struct bytes of = cursor_bytes(c, cursor_u32(c));
    cursor_bytes(c, -of.size & 7);
    return bytes_equal(of, (struct bytes){key->bytes, key->size}) &&
           checksum == XXH3_64bits(file.data + HEAD_BYTES, file.size - HEAD_BYTES);
}

struct kernel_list *kernel_cache_decode(struct bytes file, const struct kernel_cache_key *key) {
    struct cursor c = cursor_make(file, false);
    if (!take_head(&c, file, key))
        return NULL;
    uint64_t symbols = cursor_u64(&c), texts_size = cursor_u64(&c);
    if (!cursor_ok(&c) || symbols > FILE_MAX_BYTES / SYMBOL_BYTES)
        return NULL;
    struct bytes list = cursor_bytes(&c, symbols * SYMBOL_BYTES), texts = cursor_bytes(&c, texts_size);
    if (!cursor_ok(&c) || !texts.size || texts.data[texts.size - 1])
        return NULL;
    if ((uintptr_t)list.data % _Alignof(struct kernel_list_entry))
        return NULL;
    return kernel_list_borrow(texts, (const void *)list.data, (uint32_t)symbols);
}

struct kernel_list *kernel_cache_load(const char *folder, const struct kernel_cache_key *key,
                                      struct os_map *map) {
    if (!folder || !key->size || !os_own_cache_map(folder, name, FILE_MAX_BYTES, map))
        return NULL;
    struct kernel_list *l = kernel_cache_decode(map->bytes, key);
    if (!l)
        os_map_fini(map);
    return l;
}

void kernel_cache_save(const char *folder, const struct kernel_cache_key *key, const struct kernel_list *l) {
    struct writer file = writer_make(false);
    if (folder && kernel_cache_encode(l, key, &file))
        os_own_cache_put(folder, name, writer_bytes(&file));
    writer_fini(&file);
}
