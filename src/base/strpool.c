/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strpool.h"

#include "base/bytes.h"
#include "base/hash.h"

void strpool_fini(struct strpool *p) {
    arena_fini(&p->arena);
    vec_fini(&p->entries);
    free(p->slots);
    *p = (struct strpool){0};
}

/* The words of fewer than 16 bytes, the last ones twice if need be. */
static inline void load_rest(const uint8_t *p, size_t n, uint64_t words[2]) {
    words[0] = words[1] = 0;
    if (n >= 8) {
        words[0] = bytes_load64(p, false);
        words[1] = bytes_load64(p + n - 8, false);
    } else if (n >= 4) {
        words[0] = bytes_load32(p, false);
        words[1] = bytes_load32(p + n - 4, false);
    } else if (n) {
        words[0] = p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16;
    }
}

/* Names and paths: a few words, which are asked for once a record. */
static uint32_t hash_text(const char *s, size_t len) {
    const uint8_t *p = (const uint8_t *)s;
    uint64_t rest[2], h = hash_words(p, len / 16 * 2, len);
    load_rest(p + len / 16 * 16, len % 16, rest);
    return (uint32_t)hash_fold(rest[0] ^ h, rest[1] ^ HASH_ODD);
}

/* The slot that holds the text or, if it is not there, the free one where it belongs. */
static size_t find_slot(const struct strpool *p, const char *s, size_t len, uint32_t hash) {
    size_t i = hash & p->mask;
    for (; p->slots[i] != UINT32_MAX; i = (i + 1) & p->mask) {
        const struct strpool_entry *e = &p->entries.items[p->slots[i]];
        if (e->hash == hash && e->len == len && memcmp(e->text, s, len) == 0)
            break;
    }
    return i;
}

static bool grow(struct strpool *p) {
    size_t n = p->slots ? (p->mask + 1) * 2 : 64;
    uint32_t *slots = malloc(n * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, n * sizeof *slots);
    for (size_t id = 0; id < p->entries.count; id++) {
        size_t i = p->entries.items[id].hash & (n - 1);
        while (slots[i] != UINT32_MAX)
            i = (i + 1) & (n - 1);
        slots[i] = (uint32_t)id;
    }
    free(p->slots);
    p->slots = slots;
    p->mask = n - 1;
    return true;
}

uint32_t strpool_find(const struct strpool *p, const char *s, size_t len) {
    return p->slots ? p->slots[find_slot(p, s, len, hash_text(s, len))] : STRPOOL_NONE;
}

uint32_t strpool_add(struct strpool *p, const char *s, size_t len) {
    uint32_t hash = hash_text(s, len);
    if (p->slots) {
        uint32_t id = p->slots[find_slot(p, s, len, hash)];
        if (id != UINT32_MAX)
            return id;
    }
    if (len > UINT32_MAX || p->entries.count >= UINT32_MAX - 1)
        return STRPOOL_NONE;
    if ((!p->slots || (p->entries.count + 1) * 4 > (p->mask + 1) * 3) && !grow(p))
        return STRPOOL_NONE;
    char *text = arena_strndup(&p->arena, s, len);
    struct strpool_entry *e = text ? vec_push(&p->entries) : NULL;
    if (!e)
        return STRPOOL_NONE;
    *e = (struct strpool_entry){text, (uint32_t)len, hash};
    uint32_t id = (uint32_t)(p->entries.count - 1);
    p->slots[find_slot(p, s, len, hash)] = id;
    return id;
}
