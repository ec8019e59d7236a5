/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_texts.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = SCRIPT_TEXT_CHUNK * SCRIPT_TEXT_UNIT, FIRST_SLOTS = 1 << 12 };
#define UNITS_MAX (SCRIPT_TEXT_BY_ADDRESS - 2)

void script_texts_fini(struct script_texts *t) {
    for (size_t i = 0; i < t->chunks.count; i++)
        free(t->chunks.items[i]);
    vec_fini(&t->chunks);
    free(t->slots);
    *t = (struct script_texts){0};
}

static void put(struct script_texts *t, struct script_text_slot slot) {
    size_t i = script_text_key_of(slot.offset, slot.place).hash & t->mask;
    while (t->slots[i].ref)
        i = (i + 1) & t->mask;
    t->slots[i] = slot;
}

/* Makes room for one more slot. False: out of memory. */
static bool make_room(struct script_texts *t) {
    struct script_texts old = *t;
    size_t slots = t->slots ? t->mask + 1 : 0;
    if (t->count + 1 <= slots / 4 * 3)
        return true;
    size_t more = slots ? 2 * slots : FIRST_SLOTS;
    t->slots = calloc(more, sizeof *t->slots);
    if (!t->slots) {
        t->slots = old.slots;
        return false;
    }
    t->mask = more - 1;
    for (size_t i = 0; i < slots; i++)
        if (old.slots[i].ref)
            put(t, old.slots[i]);
    free(old.slots);
    return true;
}

/* Makes room for this many consecutive units at t->used. */
static bool make_units(struct script_texts *t, uint32_t units) {
    size_t slack = SCRIPT_TEXT_SLACK;
    uint32_t rest = (uint32_t)(t->chunks.count * SCRIPT_TEXT_CHUNK) - t->used;
    if (units <= rest)
        return true;
    if (units > SCRIPT_TEXT_CHUNK || t->used > UNITS_MAX - rest - SCRIPT_TEXT_CHUNK ||
        !vec_reserve(&t->chunks, t->chunks.count + 1))
        return false;
    char *chunk = malloc(CHUNK_BYTES + slack);
    if (!chunk)
        return false;
    t->used += rest;
    t->chunks.items[t->chunks.count++] = chunk;
    return true;
}

bool script_texts_share(struct script_texts *t, struct script_text_key key, script_text_ref ref) {
    if (!make_room(t))
        return false;
    put(t, (struct script_text_slot){key.offset, key.place, ref});
    t->count++;
    return true;
}

script_text_ref script_texts_add(struct script_texts *t, struct script_text_key key, const char *text,
                                 uint32_t len, uint8_t grade, bool entry) {
    size_t size = offsetof(struct script_kept, text) + (size_t)len;
    uint32_t units = (uint32_t)((size + SCRIPT_TEXT_UNIT - 1) / SCRIPT_TEXT_UNIT);
    if (size > CHUNK_BYTES || !make_units(t, units))
        return 0;
    script_text_ref ref = t->used + 1;
    struct script_kept *kept = (struct script_kept *)script_texts_at(t, ref);
    kept->len = len;
    kept->grade = grade;
    kept->entry = entry;
    memcpy(kept->text, text, len);
    ref |= entry ? SCRIPT_TEXT_ENTRY : 0;
    if (!script_texts_share(t, key, ref))
        return 0;
    t->used += units;
    return ref;
}
