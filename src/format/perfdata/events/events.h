/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events (attrs with their ids and names) of one recording, and which of
 * them a record belongs to.
 */
#ifndef SONDE_FORMAT_PERFDATA_EVENTS_EVENTS_H
#define SONDE_FORMAT_PERFDATA_EVENTS_EVENTS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/events/attr.h"
#include "format/perfdata/perfdata_sample.h"
#include "format/perfdata/record.h"

enum { PERFDATA_NO_EVENT = 0xffffffff };

struct perfdata_event {
    struct perfdata_attr attr;
    struct perfdata_plan plan;
    uint64_t *ids; /* owned by the set's arena */
    size_t id_count, id_cap;
    const char *name;       /* NULL until something names it; owned by the set's arena */
    const char *unit;       /* EVENT_UPDATE; NULL without */
    double scale;           /* EVENT_UPDATE; 1.0 without */
    struct bytes own_cpus;  /* EVENT_UPDATE's cpu map; empty without */
    uint32_t leader;        /* index of the group's leader (GROUP_DESC); its own without */
    uint32_t group_members; /* of a leader: how many, itself included; 1 without */
    const char *group_name; /* GROUP_DESC's; NULL without */
};

struct perfdata_events {
    struct arena arena;
    VEC(struct perfdata_event) list;
    struct hash_map by_id; /* event id -> index in list */
    bool swap;
    bool same_layout; /* every event has the same sample_type, sample_id_all and read_format */
};

void perfdata_events_init(struct perfdata_events *set, bool swap);
void perfdata_events_fini(struct perfdata_events *set);

/* Appends an event; attr.tail and ids (NULL: none) are copied. The new index, or PERFDATA_NO_EVENT when
 * memory ran out; the set is usable then, too. */
uint32_t perfdata_events_add(struct perfdata_events *set, const struct perfdata_attr *attr,
                             const struct perfdata_u64s *ids);
/* Gives event `index` one more id; an id that another event has stays that event's, too. False when memory
 * ran out. */
bool perfdata_events_add_id(struct perfdata_events *set, uint32_t index, uint64_t id);
/* Names an event (copied). False when memory ran out. */
bool perfdata_events_name(struct perfdata_events *set, uint32_t index, const char *name, size_t len);
/* Applies an EVENT_UPDATE record. False when memory ran out; an unknown id is ignored. */
bool perfdata_events_update(struct perfdata_events *set, const struct perfdata_event_update *update);

/* Makes one group of all events, but for dummies at the end (software events that count nothing, but bring
 * the records about tasks and maps). Returns how many are in it. */
size_t perfdata_events_group_all(struct perfdata_events *set);

/*
 * The event a kernel record belongs to. With one event: that one. With several: by id where the layout has
 * one (IDENTIFIER first, then ID at the first event's position), else the first event. PERFDATA_NO_EVENT when
 * there is no event at all, or the id is unknown (a sample of an unknown id must be counted, not guessed).
 * Non-samples with id 0 or an unknown id belong to the first event.
 */
uint32_t perfdata_events_find_by_id(const struct perfdata_events *set, uint32_t type, struct bytes body);

static inline uint32_t perfdata_events_find(const struct perfdata_events *set, uint32_t type,
                                            struct bytes body) {
    if (set->list.count <= 1)
        return set->list.count ? 0 : PERFDATA_NO_EVENT;
    return perfdata_events_find_by_id(set, type, body);
}

#endif
