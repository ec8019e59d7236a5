/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that exist, as CGROUP records: the names of the ids in samples (--all-cgroups). */
#ifndef SONDE_RECORD_SYNTH_CGROUPS_H
#define SONDE_RECORD_SYNTH_CGROUPS_H

#include "os/proc/proc.h"
#include "record/write/sink.h"

/* All groups, parents before children; none where no hierarchy is mounted. False when memory ran out. */
bool record_cgroups_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w);

#endif
