/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPUs of a CPU_MAP record, or of an EVENT_UPDATE's cpus: a list, a mask or a range, written as perf's
 * packed struct perf_record_cpu_map_data. The layouts were learned from recordings and from perf's dump of
 * them.
 */
#ifndef SONDE_FORMAT_PERFDATA_CPU_MAP_H
#define SONDE_FORMAT_PERFDATA_CPU_MAP_H

#include "format/perfdata/record.h"

enum {
    PERFDATA_CPU_MAP_LIST = 0,  /* u16 nr, u16 cpu[nr] */
    PERFDATA_CPU_MAP_MASK = 1,  /* u16 nr, u16 long_size (4 or 8), padding of 8-byte words, words[nr] */
    PERFDATA_CPU_MAP_RANGE = 2, /* u8 any_cpu, u8 pad, u16 first, u16 last, both included */
};

enum { PERFDATA_CPU_ANY = 0xffff }; /* "any CPU": -1 in a list, any_cpu of a range */

/* Walks a map's CPUs. No allocation; borrows the map's bytes. */
struct perfdata_cpu_iter {
    uint16_t map_type;
    bool swap, any;
    uint8_t long_size;
    uint32_t next, end; /* entries of a list, bits of a mask, CPUs of a range */
    const uint8_t *entries;
};

/* Starts at the first CPU; false when the bytes are too short for what they claim (there are no CPUs then).
 */
bool perfdata_cpu_iter_init(struct perfdata_cpu_iter *it, const struct perfdata_cpu_map *map, bool swap);
/* The next CPU's number, or PERFDATA_CPU_ANY; false after the last one. */
bool perfdata_cpu_iter_next(struct perfdata_cpu_iter *it, uint32_t *cpu);

/* A map from the data of an EVENT_UPDATE of type cpus (perfdata_event.own_cpus); false when it is too short.
 */
bool perfdata_cpu_map_decode(struct bytes data, bool swap, struct perfdata_cpu_map *out);

#endif
