/* SPDX-License-Identifier: Apache-2.0 */
/* For commands that look into others' files for a long time, which may be written anew meanwhile. */
#ifndef SONDE_CMD_COMMON_MAP_GUARD_H
#define SONDE_CMD_COMMON_MAP_GUARD_H

#include <signal.h>
#include <stdbool.h>

/* From now on, a page of a mapped file that is gone because the file was cut short reads as zeros, where it
 * would end this process (SIGBUS). */
void map_guard_install(void);
/* For another handler of SIGBUS: whether that is why it was raised, and the page is there now. */
bool map_guard_fill(const siginfo_t *info);

#endif
