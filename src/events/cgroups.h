/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that perf events know: where they lie (-G), and which there are. */
#ifndef SONDE_EVENTS_CGROUPS_H
#define SONDE_EVENTS_CGROUPS_H

#include "os/proc/proc.h"

/* The folder where the hierarchy is mounted that perf events know groups from: version 1's with the
 * controller perf_event, else version 2's (cgroups(7)). False when there is none. */
bool perf_cgroups_mount(const struct os_proc *proc, char *room, size_t cap);

/* A group's id, which is its folder's inode number (cgroups(7), bpf_get_current_cgroup_id of bpf-helpers(7)),
 * and its path below the mount: "/", "/a/b"; valid during the call. False ends the walk. */
typedef bool cgroups_fn(void *ctx, uint64_t id, const char *path);

/* All groups, parents before children; none where no hierarchy is mounted. False: `fn` said so, or memory
 * ran out. */
bool perf_cgroups_each(const struct os_proc *proc, cgroups_fn *fn, void *ctx);

/* The id of the group of that path, with or without a slash at its beginning. False: there is none. */
bool perf_cgroups_find(const struct os_proc *proc, const char *path, uint64_t *id);

#endif
