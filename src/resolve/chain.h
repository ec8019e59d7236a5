/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses the callchain of a sample consists of, whatever they were recorded as: the only place that
 * reads context markers. The rules are written down in docs/FRAMES.md.
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
    RESOLVE_SEGMENT_COOKIE,   /* one word, no address: it stands for a callchain that is not there */
};

/* Addresses of one space, innermost first. */
struct resolve_segment {
    const uint8_t *at; /* 8-byte words, none of them a marker */
    uint64_t count;    /* never 0 */
    uint8_t cpumode;   /* PERFDATA_MISC_*: whose addresses they are */
    uint8_t kind;      /* enum resolve_segment_kind */
    bool swap;         /* the words are of the other byte order */
    bool inner;        /* the word before `at` belongs to the segment too; the limit left it out */
    bool ends_early;   /* its last address is the outermost one that there was room for
                          (resolve/resolve_grade.h) */
};

static inline uint64_t resolve_segment_at(const struct resolve_segment *s, uint64_t i) {
    return bytes_load64(s->at + 8 * i, s->swap);
}

/* As many addresses as the kernel records of a callchain by default, and as `script` and its like show. */
enum { RESOLVE_CHAIN_USUAL = 127 };

/* Where callchains come from besides their samples, and how much of them is wanted. All is borrowed. */
struct resolve_chain_options {
    uint64_t most;  /* addresses in all; a chain with more is cut */
    bool outermost; /* it keeps its outermost addresses, else its innermost */
    bool no_calls;  /* branch stacks are no call stacks here */
    /* Callchains that were recorded later, sorted; NULL: their cookies stand for themselves. `stream` and
     * `events` are for these. */
    const struct resolve_deferred *deferred;
    const struct stream *stream;
    const struct perfdata_events *events;
    /* Unwinds dumped stacks; NULL: only what was recorded as a callchain counts. `header` is for this. */
    struct resolve_names *names;
    const struct perfdata_header *header;
};

/* Zeroed at first, `o` set; freed with resolve_chain_fini. One thread each. */
struct resolve_chain {
    struct resolve_chain_options o;
    VEC(struct resolve_segment) segments; /* of the sample read last */
    bool own_memory;                      /* they lie in this struct's memory, not only in the recording's */
    bool cut; /* the stack was dumped, and unwound as far as the dump goes, which is not its end */
    VEC(uint64_t) calls;
    struct resolve_unwind *unwind; /* NULL: no dumped stack was met yet */
    const uint8_t
        *known; /* the callchain that was read last, and of the sample that lies there; NULL: none */
    uint64_t known_order;
};

void resolve_chain_fini(struct resolve_chain *c);

/* What a sample must be decoded with for this. */
#define RESOLVE_CHAIN_FIELDS (RESOLVE_UNWIND_FIELDS | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_BRANCH_STACK)

/*
 * The segments of a sample's callchain, valid until the next call: none if it has no callchain, or one of
 * which nothing can be believed. `attr` is its event's, `cpumode` the sample's own, when.order where it lies
 * in the recording. Asked again of the same place, it is the same answer. False: memory.
 */
bool resolve_chain_read(struct resolve_chain *c, const struct perfdata_sample *s,
                        const struct perfdata_attr *attr, unsigned cpumode, struct model_when when);

/* The segments of addresses with markers that are not a sample's own: of a CALLCHAIN_DEFERRED record, which
 * has the user's. False: memory. */
bool resolve_chain_read_words(struct resolve_chain *c, const struct perfdata_u64s *words);

/* Whether an event's branch stacks are call stacks. */
static inline bool resolve_chain_has_calls(const struct perfdata_attr *attr) {
    return attr->sample_type & PERFDATA_SAMPLE_BRANCH_STACK &&
           attr->branch_sample_type & PERFDATA_BRANCH_CALL_STACK;
}

/* How many addresses a callchain of such an event can have: sample_max_stack, or RESOLVE_CHAIN_USUAL, which
 * /proc/sys/kernel/perf_event_max_stack is unless it was changed (perf_event_open(2)). UINT32_MAX: the user's
 * stack was recorded instead, and how it ended is for who unwound it to say. */
unsigned resolve_chain_limit(const struct perfdata_attr *attr);

#endif
