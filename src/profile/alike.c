/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"

void alike_fini(struct alike *a) {
    vec_fini(&a->keys);
    idtable_fini(&a->index);
    a->count = 0;
}

/* What alike_number has not found. */
uint32_t alike_add(struct alike *a, const uint64_t *key, const struct idtable_at *at, uint64_t hash) {
    if (!vec_reserve(&a->keys, a->keys.count + a->width) || !idtable_add_at(&a->index, at, hash, a->count))
        return ALIKE_NONE;
    memcpy(&a->keys.items[a->keys.count], key, a->width * sizeof *key);
    a->keys.count += a->width;
    return a->count++;
}

uint32_t *alike_sort(const struct alike *a) {
    size_t n = a->count;
    struct radix_item *items = malloc((n + 1) * sizeof *items), *room = malloc((n + 1) * sizeof *room);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    bool ok = items && room && order;
    for (uint32_t i = 0; ok && i < n; i++)
        items[i].value = i;
    for (uint32_t w = a->width; ok && w-- > 0;) { /* by the last word first: sorting is stable */
        for (uint32_t i = 0; i < n; i++)
            items[i].key = a->keys.items[(size_t)items[i].value * a->width + w];
        radix_sort(items, room, n);
    }
    for (uint32_t i = 0; ok && i < n; i++)
        order[i] = items[i].value;
    free(items);
    free(room);
    if (ok)
        return order;
    free(order);
    return NULL;
}
