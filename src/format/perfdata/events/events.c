/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/events/events.h"

#include <stdlib.h>

enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_NAME = 2, UPDATE_CPUS = 3 };

void perfdata_events_init(struct perfdata_events *set, bool swap) {
    *set = (struct perfdata_events){.arena = ARENA_INIT, .swap = swap, .same_layout = true};
}

void perfdata_events_fini(struct perfdata_events *set) {
    vec_fini(&set->list);
    hash_map_fini(&set->by_id);
    arena_fini(&set->arena);
    perfdata_events_init(set, set->swap);
}

static bool same_layout(const struct perfdata_plan *a, const struct perfdata_plan *b) {
    return a->sample_type == b->sample_type && a->sample_id_all == b->sample_id_all &&
           a->read_format == b->read_format;
}

/* Room for `want` ids; growth doubles, so that what the arena cannot give back stays within the ids' size. */
static bool reserve_ids(struct perfdata_events *set, struct perfdata_event *e, size_t want) {
    if (want <= e->id_cap)
        return true;
    size_t cap = e->id_cap * 2 > want ? e->id_cap * 2 : want;
    if (cap > SIZE_MAX / sizeof *e->ids)
        return false;
    uint64_t *ids = arena_alloc(&set->arena, cap * sizeof *ids);
    if (!ids)
        return false;
    if (e->id_count)
        memcpy(ids, e->ids, e->id_count * sizeof *ids);
    e->ids = ids;
    e->id_cap = cap;
    return true;
}

static bool add_id(struct perfdata_events *set, uint32_t index, uint64_t id) {
    struct perfdata_event *e = &set->list.items[index];
    /* The first event that has an id keeps it: only damaged or merged files give one to two. */
    if (hash_map_get(&set->by_id, id) == HASH_ABSENT && !hash_map_set(&set->by_id, id, index))
        return false;
    e->ids[e->id_count++] = id;
    return true;
}

bool perfdata_events_add_id(struct perfdata_events *set, uint32_t index, uint64_t id) {
    return reserve_ids(set, &set->list.items[index], set->list.items[index].id_count + 1) &&
           add_id(set, index, id);
}

uint32_t perfdata_events_add(struct perfdata_events *set, const struct perfdata_attr *attr,
                             const struct perfdata_u64s *ids) {
    if (set->list.count >= PERFDATA_NO_EVENT)
        return PERFDATA_NO_EVENT;
    struct perfdata_event *e = vec_push(&set->list);
    if (!e)
        return PERFDATA_NO_EVENT;
    uint32_t index = (uint32_t)(set->list.count - 1);
    e->attr = *attr;
    e->attr.tail = arena_copy(&set->arena, attr->tail);
    e->scale = 1.0;
    e->leader = index;
    e->group_members = 1;
    perfdata_plan_init(&e->plan, attr, set->swap);
    set->same_layout = set->same_layout && same_layout(&set->list.items[0].plan, &e->plan);
    /* On failure the event stays, as far as it got: by_id may point to it already. */
    bool ok = e->attr.tail.size == attr->tail.size && (!ids || reserve_ids(set, e, ids->count));
    for (uint64_t i = 0; ok && ids && i < ids->count; i++)
        ok = add_id(set, index, perfdata_u64_at(ids, i));
    return ok ? index : PERFDATA_NO_EVENT;
}

bool perfdata_events_name(struct perfdata_events *set, uint32_t index, const char *name, size_t len) {
    const char *copy = arena_strndup(&set->arena, name, len);
    if (copy)
        set->list.items[index].name = copy;
    return copy != NULL;
}

bool perfdata_events_update(struct perfdata_events *set, const struct perfdata_event_update *update) {
    uint32_t index = hash_map_get(&set->by_id, update->id);
    if (index == HASH_ABSENT)
        return true;
    struct perfdata_event *e = &set->list.items[index];
    struct bytes data = update->data;
    const char *text = data.size ? (const char *)data.data : "";
    switch (update->update_type) {
    case UPDATE_NAME:
        return perfdata_events_name(set, index, text, bytes_text_len(data));
    case UPDATE_UNIT: {
        const char *unit = arena_strndup(&set->arena, text, bytes_text_len(data));
        e->unit = unit ? unit : e->unit;
        return unit != NULL;
    }
    case UPDATE_SCALE:
        if (data.size >= sizeof e->scale) {
            uint64_t bits = bytes_load64(data.data, set->swap);
            memcpy(&e->scale, &bits, sizeof bits);
        }
        return true;
    case UPDATE_CPUS: {
        struct bytes cpus = arena_copy(&set->arena, data);
        if (data.size && !cpus.data)
            return false;
        e->own_cpus = cpus;
        return true;
    }
    default:
        return true;
    }
}

uint32_t perfdata_events_find_by_id(const struct perfdata_events *set, uint32_t type, struct bytes body) {
    const struct perfdata_plan *p = &set->list.items[0].plan;
    size_t at;
    if (type == PERFDATA_RECORD_SAMPLE) {
        at = p->identifier_at != PERFDATA_NO_FIELD ? p->identifier_at : p->id_at;
        if (at == PERFDATA_NO_FIELD)
            return 0;
        if (body.size < at + 8)
            return PERFDATA_NO_EVENT;
        uint32_t index = hash_map_get(&set->by_id, bytes_load64(body.data + at, set->swap));
        return index == HASH_ABSENT ? PERFDATA_NO_EVENT : index;
    }
    size_t back = p->tail_identifier_back ? p->tail_identifier_back : p->tail_id_back;
    if (!back || body.size < back)
        return 0;
    uint32_t index = hash_map_get(&set->by_id, bytes_load64(body.data + body.size - back, set->swap));
    return index == HASH_ABSENT ? 0 : index;
}

static bool is_dummy(const struct perfdata_event *e) {
    enum { SOFTWARE = 1, DUMMY = 9 }; /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY */
    return e->attr.type == SOFTWARE && e->attr.config == DUMMY;
}

size_t perfdata_events_group_all(struct perfdata_events *set) {
    size_t n = set->list.count;
    while (n > 1 && is_dummy(&set->list.items[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++) {
        set->list.items[i].leader = 0;
        set->list.items[i].group_members = i ? 1 : (uint32_t)n;
    }
    return n;
}
