/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of single samples, found again by where they lie in the recording: for commands that tell what
 * happened (sched, lock, kwork) and show the stack of it. After recording_first_pass only.
 *
 *   recording_stacks_init -> recording_stacks_read -> resolve_sample_name(&s->samples, frame) ... -> _fini
 */
#ifndef SONDE_RECORDING_STACKS_AT_H
#define SONDE_RECORDING_STACKS_AT_H

#include "recording/naming.h"
#include "resolve/sample.h"

struct recording_stacks {
    struct recording *r; /* borrowed */
    struct resolve_locator locator;
    struct resolve_samples samples; /* .frames: of the sample read last */
};

/* The names and the model are borrowed. */
void recording_stacks_init(struct recording_stacks *s, struct recording *r, const struct model *m,
                           const struct recording_names *naming);
void recording_stacks_fini(struct recording_stacks *s);

/* Reads the frames of the sample at a loc, innermost first, into s->samples.frames: none if it has no
 * callchain, or is damaged. False: out of memory. */
bool recording_stacks_read(struct recording_stacks *s, uint64_t loc);

#endif
