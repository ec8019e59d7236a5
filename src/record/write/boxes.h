/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of a recording (docs/FORMAT.md): what only sonde tells, in front of the data and after it. */
#ifndef SONDE_RECORD_WRITE_BOXES_H
#define SONDE_RECORD_WRITE_BOXES_H

#include "format/perfdata/added/ending.h"
#include "format/perfdata/added/kernel_facts.h"
#include "record/keep/identity.h"
#include "record/rings/open.h"
#include "record/synth/module_watch.h"

/* Where it comes from; all borrowed. */
struct record_box_sources {
    const struct record_options *options;
    const struct os_perf *perf;
    const struct os_proc *proc; /* NULL: nothing is known of this machine, but how the recording ended */
    const struct sysfs *sys;
    const struct record_opened *opened;
    const struct record_module_watch *modules;
    struct perfdata_kernel_facts *kernel_facts; /* no boot id: they are found out */
    struct record_identities *identities;
    struct record_keep *keep;
    struct bytes unwound; /* the part of that name; empty: nothing was */
    unsigned buffers;     /* of a thread that writes; 0: there is none */
    uint64_t interval_ns; /* what is in the rings is written at least so often */
};

/* Where modules lie, how clocks stand at the start, and the mark of how the recording ended. False when
 * memory ran out. */
bool record_boxes_preamble(const struct record_box_sources *from, struct writer *w);

/* What is known only at the end. Empty when memory ran out: nothing else needs it. */
void record_boxes_trailer(const struct record_box_sources *from, struct writer *w);

#endif
