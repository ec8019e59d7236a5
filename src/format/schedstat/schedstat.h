/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's counters: /proc/schedstat (Documentation/scheduler/sched-stats.rst, versions 15 to 17), and
 * the records that hold them in a perf.data file, one for each line (layout: docs/FORMAT.md).
 */
#ifndef SONDE_FORMAT_SCHEDSTAT_SCHEDSTAT_H
#define SONDE_FORMAT_SCHEDSTAT_SCHEDSTAT_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/writer.h"
#include "format/perfdata/record.h"

enum {
    SCHEDSTAT_CPU_FIELDS = 9, /* the last three are 64 bits wide */
    SCHEDSTAT_CPU_NARROW = 6,
    SCHEDSTAT_DOMAIN_FIELDS = 45, /* of version 17; 36 before */
    SCHEDSTAT_KINDS = 3,          /* of load balancing: idle, busy, newly idle */
};

/* How many fields a domain has: for each kind of load balancing, and in all. 0: no such version. */
static inline unsigned schedstat_kind_fields(unsigned version) {
    return version == 17 ? 11 : version == 15 || version == 16 ? 8 : 0;
}
static inline unsigned schedstat_domain_fields(unsigned version) {
    return schedstat_kind_fields(version) ? SCHEDSTAT_KINDS * schedstat_kind_fields(version) + 12 : 0;
}

/* A CPU, or one of its domains, with the values in the kernel's order. */
struct schedstat_line {
    uint32_t cpu;
    bool is_domain;
    uint16_t domain;
    uint16_t version;
    uint64_t timestamp;      /* jiffies */
    struct bytes name, mask; /* of a domain in text; name: of version 17. Borrowed; else empty. */
    struct bytes list;       /* its CPUs as a list; set by whoever knows it. Borrowed; else empty. */
    uint64_t values[SCHEDSTAT_DOMAIN_FIELDS];
};

struct schedstat {
    VEC(struct schedstat_line) lines; /* each CPU's domains follow it */
};
void schedstat_fini(struct schedstat *s);

/* Adds the lines of a text, which is borrowed. False with *err: it is no such text, another version, or out
 * of memory. */
bool schedstat_parse(struct bytes text, struct schedstat *s, struct err *err);

/* Appends the records of all lines. */
void schedstat_encode(const struct schedstat *s, struct writer *w);

/* A record (PERFDATA_RECORD_SCHEDSTAT_*) as a line without name and mask. False: another type or version, or
 * too short. */
bool schedstat_decode(const struct perfdata_raw *raw, bool swap, struct schedstat_line *out);

/* What each line of `all`, snapshots one after the other, counted from its first to its last. False: out of
 * memory.
 */
bool schedstat_span(const struct schedstat *all, struct schedstat *out);

enum { SCHEDSTAT_LIST_ROOM = 256 };
/* A mask of CPUs ("00000000,00000003") as a list ("0-1"); one that does not fit ends in "...". */
void schedstat_mask_list(struct bytes mask, char room[SCHEDSTAT_LIST_ROOM]);

#endif
