/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of texts that are printed many times, each kept once and found by two numbers: an index with 16
 * bytes a slot, which says where in the chunks the text is.
 *
 *   slots   | offset, place, ref | ...        chunks[ref / CHUNK] + ref % CHUNK:
 *                           `-------------->    len grade entry "text\n"   (at a multiple of 16 bytes)
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_TEXTS_H
#define SONDE_VIEW_SCRIPT_SCRIPT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/threads/prefetch.h"
#include "base/vec.h"

/* SCRIPT_TEXT_SLACK bytes from a text's start can be read even if the text is shorter. */
enum { SCRIPT_TEXT_SLACK = 128, SCRIPT_TEXT_UNIT = 16, SCRIPT_TEXT_CHUNK = 1 << 14 /* units */ };

struct script_kept {
    uint32_t len;
    uint8_t grade;
    bool entry;
    char text[]; /* not NUL-terminated */
};

struct script_text_key {
    uint64_t offset;
    uint32_t place;
    uint32_t hash; /* of offset and place */
};

static inline struct script_text_key script_text_key_of(uint64_t offset, uint32_t place) {
    return (struct script_text_key){offset, place, (uint32_t)hash_u64(offset ^ (uint64_t)place << 32)};
}

/* A text's reference. 0: none. The highest bit is script_kept.entry; the lower ones are its first unit,
 * counted from 1. Or the one value for a key that has no text of its own, but one for each address. */
typedef uint32_t script_text_ref;
#define SCRIPT_TEXT_ENTRY      (1u << 31)
#define SCRIPT_TEXT_BY_ADDRESS (1u << 30)

struct script_text_slot {
    uint64_t offset;
    uint32_t place;
    script_text_ref ref; /* 0: the slot is free */
};

/* Zeroed at first. */
struct script_texts {
    struct script_text_slot *slots; /* open addressing, at most three quarters full */
    size_t count, mask;             /* mask + 1 slots when slots is not NULL */
    VEC(char *) chunks;
    uint32_t used; /* units, in all chunks */
};

void script_texts_fini(struct script_texts *t);

/* Prefetches the slot of a key that will soon be looked up. */
static inline void script_texts_prefetch(const struct script_texts *t, struct script_text_key key) {
    if (t->slots)
        prefetch(&t->slots[key.hash & t->mask]);
}

static inline script_text_ref script_texts_find(const struct script_texts *t, struct script_text_key key) {
    if (!t->slots)
        return 0;
    for (size_t i = key.hash & t->mask;; i = (i + 1) & t->mask) {
        const struct script_text_slot *s = &t->slots[i];
        if (!s->ref || (s->offset == key.offset && s->place == key.place))
            return s->ref;
    }
}

/* Returns the text of a ref that is not 0; valid until script_texts_fini. */
static inline const struct script_kept *script_texts_at(const struct script_texts *t, script_text_ref ref) {
    uint32_t unit = (ref & ~SCRIPT_TEXT_ENTRY) - 1;
    return (const struct script_kept *)(t->chunks.items[unit / SCRIPT_TEXT_CHUNK] +
                                        (size_t)(unit % SCRIPT_TEXT_CHUNK) * SCRIPT_TEXT_UNIT);
}

/* Adds the text of a key that is not there yet. 0: it is too long, or memory; nothing has changed. */
script_text_ref script_texts_add(struct script_texts *t, struct script_text_key key, const char *text,
                                 uint32_t len, uint8_t grade, bool entry);
/* Adds another key, not there yet, for the text of a ref. False: out of memory; nothing has changed. */
bool script_texts_share(struct script_texts *t, struct script_text_key key, script_text_ref ref);

#endif
