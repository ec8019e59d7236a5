/* SPDX-License-Identifier: Apache-2.0 */
#include "base/idtable.h"

#include <stdlib.h>

enum { FEWEST = 64 }; /* slots */

static void put(struct idtable *t, struct idtable_slot s) {
    size_t i = s.tag & t->mask;
    while (t->slots[i].id != IDTABLE_NONE)
        i = (i + 1) & t->mask;
    t->slots[i] = s;
}

static bool grow(struct idtable *t, size_t n) {
    struct idtable bigger = {malloc(n * sizeof *bigger.slots), n - 1, t->count};
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < n; i++)
        bigger.slots[i].id = IDTABLE_NONE;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].id != IDTABLE_NONE)
            put(&bigger, t->slots[i]);
    free(t->slots);
    *t = bigger;
    return true;
}

bool idtable_reserve(struct idtable *t, size_t n) {
    size_t slots = t->slots ? t->mask + 1 : FEWEST;
    while (idtable_room(slots) < n)
        slots *= 2;
    return (t->slots && slots == t->mask + 1) || grow(t, slots);
}

bool idtable_add(struct idtable *t, uint64_t hash, uint32_t id) {
    if ((!t->slots || t->count >= idtable_room(t->mask + 1)) &&
        !grow(t, t->slots ? (t->mask + 1) * 2 : FEWEST))
        return false;
    put(t, (struct idtable_slot){id, (uint32_t)(hash >> 32)});
    t->count++;
    return true;
}

void idtable_fini(struct idtable *t) {
    free(t->slots);
    *t = (struct idtable){0};
}
