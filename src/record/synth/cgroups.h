/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that exist, as CGROUP records: the names of the ids in samples (--all-cgroups). */
#ifndef SONDE_RECORD_SYNTH_CGROUPS_H
#define SONDE_RECORD_SYNTH_CGROUPS_H

#include "os/proc.h"
#include "record/write/sink.h"

/* The folder where the hierarchy is mounted that perf events know groups from: version 1's with the
 * controller perf_event, else version 2's (cgroups(7)). False when there is none. */
bool record_cgroups_mount(const struct os_proc *proc, char *room, size_t cap);

/* All groups, parents before children; none where no hierarchy is mounted. False when memory ran out. */
bool record_cgroups_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w);

#endif
