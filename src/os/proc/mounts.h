/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems that may not answer. Behind a FUSE mount stands a process, which may be stopped, stuck, or one
 * of those that are recorded; whoever asks it for a file's state waits for it, for ever if need be. A
 * recorder asks for many files that are not its own, and must not wait for any of them.
 */
#ifndef SONDE_OS_MOUNTS_H
#define SONDE_OS_MOUNTS_H

#include "os/proc/proc.h"

struct os_mounts;

struct os_mounts *os_mounts_new(void);    /* NULL: out of memory */
void os_mounts_free(struct os_mounts *m); /* NULL is allowed */

/*
 * Whether looking at the file may take for ever: the innermost mount that `path` lies in is of that kind, as
 * /proc/self/mountinfo says (proc(5)). Paths below /proc/PID/root, and what /proc/PID/map_files and
 * /proc/PID/exe lead to, are looked up in the mounts of that process. Our own list is read
 * again when it has changed, others when they are older than a second. May be called by several threads at
 * once.
 */
bool os_mounts_stall(struct os_mounts *m, const char *path);

/* The same for a list that is given: the text of a mountinfo file. For tests. */
bool os_mounts_stall_in(struct bytes mountinfo, struct bytes path);

/* os_proc_system, but identity, image and hold refuse (ERR_UNSUPPORTED) what may stall, and maps_build_id
 * knows nothing of it. `m` is borrowed. */
struct os_proc os_proc_wary(struct os_mounts *m);

#endif
