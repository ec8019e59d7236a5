/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/readings.h"

void readings_fini(struct readings *r) {
    hash_map_fini(&r->index);
    vec_fini(&r->last);
}

static uint64_t *find(struct readings *r, uint64_t key) {
    uint32_t at = hash_map_get(&r->index, key);
    if (at != HASH_ABSENT)
        return &r->last.items[at];
    /* Room first: an entry of the map must never point after the list. */
    if (r->last.count == HASH_ABSENT || !vec_reserve(&r->last, r->last.count + 1) ||
        !hash_map_set(&r->index, key, (uint32_t)r->last.count))
        return NULL;
    return vec_push(&r->last);
}

uint32_t readings_take(struct readings *r, const struct perfdata_events *events, uint32_t tid,
                       const struct perfdata_read_value *value, uint64_t *period) {
    uint32_t event = hash_map_get(&events->by_id, value->id);
    *period = 0;
    if (event == HASH_ABSENT)
        return PERFDATA_NO_EVENT;
    bool own = events->list.items[event].attr.flags & PERFDATA_ATTR_INHERIT;
    uint64_t *last = find(r, own ? value->id ^ hash_u64(~(uint64_t)tid) : value->id);
    *period = value->value;
    if (last) {
        *period -= *last;
        *last = value->value;
    }
    return event;
}
