/* SPDX-License-Identifier: Apache-2.0 */
/* For commands that look into others' files for a long time, which may be written anew meanwhile. */
#ifndef SONDE_CMD_RECORD_MAP_GUARD_H
#define SONDE_CMD_RECORD_MAP_GUARD_H

/* From now on, a page of a mapped file that is gone because the file was cut short reads as zeros, where it
 * would end this process (SIGBUS). */
void map_guard_install(void);

#endif
