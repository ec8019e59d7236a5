/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample whose stack was dumped, unwound: what is written instead has the callers in its callchain, no
 * registers (ABI 0) and an empty dump, so that any reader takes it for an ordinary sample.
 *
 *   taken    [KERNEL] k0 k1 [USER] f0 f1 ...       registers  8192 bytes of stack
 *   written  [KERNEL] k0 k1 [USER] u0 u1 ... uN                                      to the outermost
 * function [KERNEL] k0 k1 [USER] u0 u1 ... uN [USER]                               the dump was too short
 *            [KERNEL] k0 k1                        registers  8192 bytes of stack    it could not be unwound
 *
 * f: what the kernel found by frame pointers. It takes the place of callers that lie beyond the dump
 * (resolve_unwind_go_on), and is dropped.
 */
#ifndef SONDE_RECORD_UNWIND_UNWIND_SAMPLE_H
#define SONDE_RECORD_UNWIND_UNWIND_SAMPLE_H

#include "format/perfdata/events/events.h"
#include "resolve/unwind.h"

/* More frames than that are left to those who read the dump. */
enum { RECORD_UNWIND_FRAMES_MAX = 1024 };

struct record_unwind_counts {
    uint64_t stacks;  /* dumps that were looked at */
    uint64_t whole;   /* of them, unwound to the outermost function, */
    uint64_t cut;     /* to the end of the dump and no further, */
    uint64_t kept;    /* or left as they were */
    uint64_t lagging; /* left because the thread could not keep up, and there was no room to wait in */
};

/* What is needed to unwind samples; all zero at first but for the borrowed. */
struct record_unwind_sampler {
    struct resolve_unwind *unwind; /* borrowed */
    const struct hash_map *jits;   /* processes with a jitdump -> anything; borrowed */
    struct record_unwind_counts counts;
    VEC(uint64_t) words; /* of the callchain that is made */
    struct writer body;
};

void record_unwind_sampler_fini(struct record_unwind_sampler *x);

/* Whether samples of this event may have a dump. */
static inline bool record_unwind_wants(const struct perfdata_event *e) {
    const uint64_t need = PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER |
                          PERFDATA_SAMPLE_TID;
    return (e->attr.sample_type & need) == need;
}

/* Appends the sample's record, whole, in its new form to `w`; `raw` is what came from the ring. `unwind`: try
 * to; else its dump stays. Memory running out fails `w` or keeps the dump. */
void record_unwind_sample(struct record_unwind_sampler *x, const struct perfdata_event *event,
                          const struct perfdata_raw *raw, struct model_when when, bool unwind,
                          struct writer *w);

#endif
