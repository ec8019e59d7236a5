/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/lines/lines_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "object/build_id.h"
#include "object/cookie.h"
#include "os/files/own_cache.h"

#define PREFIX "lines-"

enum { NAME_BYTES = sizeof PREFIX + 32 };

static void add(struct lines_cache_key *key, const void *bytes, size_t size) {
    if (size > sizeof key->bytes - key->size)
        return;
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

/* Hashes some of a section: enough to tell whether its content was taken out of a copy that is otherwise the
 * same (symbol/symbol_kept.h). */
static uint64_t sample_of(struct bytes file, const struct object_section *s) {
    enum { SAMPLES = 16, SAMPLE_BYTES = 64 };
    uint64_t hash = s->size, step = s->size / SAMPLES;
    if (s->offset > file.size || s->size > file.size - s->offset)
        return 0;
    for (uint64_t i = 0; i < SAMPLES && s->size >= SAMPLE_BYTES; i++) {
        uint64_t at = i * step;
        at = at > s->size - SAMPLE_BYTES ? s->size - SAMPLE_BYTES : at;
        hash = hash_u64(hash ^ hash_bytes(file.data + s->offset + at, SAMPLE_BYTES));
    }
    return hash;
}

/* Adds what identifies a file, which must have DWARF now: what is shown never depends on what was kept.
 * False: nothing does, or there is none. */
static bool add_file(struct lines_cache_key *key, struct bytes file) {
    struct object_elf e;
    struct object_section s;
    struct object_build_id id;
    uint8_t cookie[OBJECT_COOKIE_BYTES];
    uint64_t size = file.size, sample;
    if (!size)
        return true;
    if (!object_elf_open(file, &e, NULL) || (!object_elf_section_named(&e, ".debug_info", &s) &&
                                             !object_elf_section_named(&e, ".zdebug_info", &s)))
        return false;
    add(key, &size, sizeof size);
    add(key, &s.offset, sizeof s.offset);
    add(key, &s.size, sizeof s.size);
    sample = sample_of(file, &s);
    add(key, &sample, sizeof sample);
    if (object_build_id_read(file, &id) && id.size && id.size <= 32) {
        add(key, id.bytes, id.size);
        return true;
    }
    if (!object_cookie_read(file, cookie))
        return false;
    add(key, cookie, sizeof cookie);
    return true;
}

struct lines_cache_key lines_cache_key(struct bytes dwarf, struct bytes dwz, struct bytes dwp) {
    struct lines_cache_key key = {.size = 0};
    uint64_t package = dwp.size; /* its units are found by ids that the image has */
    if (!dwarf.size || !add_file(&key, dwarf) || !add_file(&key, dwz))
        return (struct lines_cache_key){.size = 0};
    add(&key, &package, sizeof package);
    return key;
}

static void name_of(const struct lines_cache_key *key, char name[NAME_BYTES]) {
    uint64_t low = hash_bytes(key->bytes, key->size), high = hash_u64(low ^ key->size);
    snprintf(name, NAME_BYTES, PREFIX "%016" PRIx64 "%08" PRIx32, low, (uint32_t)high);
}

bool lines_cache_load(const char *folder, const struct lines_cache_key *key, struct os_map *map) {
    char name[NAME_BYTES];
    if (!folder || !key->size)
        return false;
    name_of(key, name);
    if (!os_own_cache_map(folder, name, LINES_CACHE_FILE_MAX, map))
        return false;
    os_own_cache_touch(folder, name);
    return true;
}

void lines_cache_save(const char *folder, const struct lines_cache_key *key, struct object_index *x) {
    struct writer head = writer_make(false);
    struct bytes *parts = NULL;
    size_t count = folder && key->size
                       ? object_index_encode(x, (struct bytes){key->bytes, key->size}, &head, &parts)
                       : 0;
    uint64_t bytes = 0;
    char name[NAME_BYTES];
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].size;
    if (count && bytes <= LINES_CACHE_FILE_MAX) {
        name_of(key, name);
        if (os_own_cache_put_parts(folder, name, parts, count))
            os_own_cache_trim(folder, PREFIX, LINES_CACHE_MAX);
    }
    free(parts);
    writer_fini(&head);
}
