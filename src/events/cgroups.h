/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control groups lie that events can be opened for (-G). */
#ifndef SONDE_EVENTS_CGROUPS_H
#define SONDE_EVENTS_CGROUPS_H

#include "os/proc/proc.h"

/* The folder where the hierarchy is mounted that perf events know groups from: version 1's with the
 * controller perf_event, else version 2's (cgroups(7)). False when there is none. */
bool perf_cgroups_mount(const struct os_proc *proc, char *room, size_t cap);

#endif
