/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a sample's callchain into segments of addresses, in whatever form it was recorded: the only place
 * that reads context markers. docs/FRAMES.md has the rules.
 *
 *   sample    [KERNEL] k0 k1 [USER_DEFERRED] cookie      deferred  u0 u1
 *   segments  {kernel: k0 k1} {user: u0 u1}              innermost first
 *
 * No names and no mappings here: resolve/sample.h has frames.
 */
#ifndef SONDE_RESOLVE_CHAIN_H
#define SONDE_RESOLVE_CHAIN_H

#include "format/perfdata/events/attr.h"
#include "format/perfdata/header/header.h"
#include "format/perfdata/perfdata_sample.h"
#include "resolve/deferred.h"
#include "resolve/names.h"
#include "resolve/unwind.h"

enum resolve_segment_kind {
    RESOLVE_SEGMENT_CALLS,    /* the first address is exact, the others are return addresses */
    RESOLVE_SEGMENT_BRANCHES, /* all are exact: the calls of a call stack that the processor recorded */
    RESOLVE_SEGMENT_COOKIE,   /* one word, no address: it stands for a callchain that is missing */
};

/* Addresses of one space, innermost first. */
struct resolve_segment {
    const uint8_t *at; /* 8-byte words, none of them a marker */
    uint64_t count;    /* never 0 */
    uint8_t cpumode;   /* PERFDATA_MISC_* of the addresses */
    uint8_t kind;      /* enum resolve_segment_kind */
    bool swap;         /* the words have the other byte order */
    bool inner;        /* the word before `at` belongs to the segment too, but exceeds the limit */
    bool ends_early;   /* the recording had no room for callers of its last address
                          (resolve/resolve_grade.h) */
};

static inline uint64_t resolve_segment_at(const struct resolve_segment *s, uint64_t i) {
    return bytes_load64(s->at + 8 * i, s->swap);
}

/* How many addresses of a callchain the kernel records by default, and `script` and the like show. */
enum { RESOLVE_CHAIN_USUAL = 127 };

/* Where callchains come from besides their samples, and how much of them is wanted. All pointers are
 * borrowed. */
struct resolve_chain_options {
    uint64_t most;  /* addresses per chain; a longer chain is cut */
    bool outermost; /* a cut chain keeps its outermost addresses, else its innermost */
    bool no_calls;  /* branch stacks are not used as call stacks */
    /* Callchains that were recorded later, sorted; NULL: their cookies become segments. Needs `stream` and
     * `events`. */
    const struct resolve_deferred *deferred;
    const struct stream *stream;
    const struct perfdata_events *events;
    /* For unwinding dumped stacks, with `header`; NULL: these are not unwound. */
    struct resolve_names *names;
    const struct perfdata_header *header;
    /* Of unwind_of dumped stacks unwind_most are unwound, spread evenly; of the others the user's part is the
     * innermost address alone, and ends early. unwind_of 0: all are unwound. */
    uint64_t unwind_most, unwind_of;
};

/* Zeroed at first, `o` set; freed with resolve_chain_fini. One thread each. */
struct resolve_chain {
    struct resolve_chain_options o;
    VEC(struct resolve_segment) segments; /* of the sample read last */
    bool own_memory; /* some of them lie in this struct's memory, not in the recording's */
    bool cut;        /* the stack's dump ends before the stack does, or it was not unwound (unwind_most) */
    VEC(uint64_t) calls;
    struct resolve_unwind *unwind; /* NULL: there was no dumped stack yet */
    uint64_t unwind_due;           /* in parts of o.unwind_of: what is left over for the next stack */
    /* The callchain that was read last (NULL: none), and where its sample lies. */
    const uint8_t *known;
    uint64_t known_order;
};

void resolve_chain_fini(struct resolve_chain *c);

/* The fields that a sample must be decoded with. */
#define RESOLVE_CHAIN_FIELDS (RESOLVE_UNWIND_FIELDS | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_BRANCH_STACK)

/*
 * Reads a sample's callchain into c->segments, valid until the next call: none if it has no callchain or an
 * unusable one. `attr` is its event's, `cpumode` the sample's own, when.order where it lies in the recording.
 * Reading the same sample again at once costs nothing. False: out of memory.
 */
bool resolve_chain_read(struct resolve_chain *c, const struct perfdata_sample *s,
                        const struct perfdata_attr *attr, unsigned cpumode, struct model_when when);

/* Reads a callchain that is not a sample's own: a CALLCHAIN_DEFERRED record's, which has the user's part.
 * False: out of memory. */
bool resolve_chain_read_words(struct resolve_chain *c, const struct perfdata_u64s *words);

/* Whether an event's branch stacks are call stacks. */
static inline bool resolve_chain_has_calls(const struct perfdata_attr *attr) {
    return attr->sample_type & PERFDATA_SAMPLE_BRANCH_STACK &&
           attr->branch_sample_type & PERFDATA_BRANCH_CALL_STACK;
}

/* How many addresses a callchain of this event can have: sample_max_stack, or RESOLVE_CHAIN_USUAL, the
 * default of /proc/sys/kernel/perf_event_max_stack (perf_event_open(2)). UINT32_MAX: the user's stack was
 * dumped instead, and only unwinding it shows where it ends. */
unsigned resolve_chain_limit(const struct perfdata_attr *attr);

#endif
