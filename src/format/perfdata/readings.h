/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with PERF_SAMPLE_READ hold the running totals of their event or, with
 * PERF_FORMAT_GROUP, of each event of the group. perf takes such a sample as
 * one of every event whose total moved since its last reading, with the
 * difference as its period. With attr.inherit every thread counts for itself.
 */
#ifndef SONDE_FORMAT_PERFDATA_READINGS_H
#define SONDE_FORMAT_PERFDATA_READINGS_H

#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"

struct readings {
    struct hash_map index; /* key of (id, thread) -> index in last */
    VEC(uint64_t) last;
};

/* A zeroed struct is ready for use; nothing is allocated before the first reading. */
void readings_fini(struct readings *r);

/*
 * The event that a reading belongs to, and in *period how far it has moved since the reading before (modulo
 * 2^64); PERFDATA_NO_EVENT when its id is unknown or, with several events, absent. When memory runs out the
 * whole total counts as moved.
 */
uint32_t readings_take(struct readings *r, const struct perfdata_events *events, uint32_t tid,
                       const struct perfdata_read_value *value, uint64_t *period);

#endif
