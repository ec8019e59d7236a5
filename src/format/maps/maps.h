/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps: lines of "START-END PERMS OFFSET MAJ:MIN INODE   NAME" (proc_pid_maps(5)). */
#ifndef SONDE_FORMAT_MAPS_MAPS_H
#define SONDE_FORMAT_MAPS_MAPS_H

#include "base/bytes.h"

struct maps_entry {
    uint64_t start, end, offset, ino;
    uint32_t maj, min;
    bool read, write, execute, shared;
    struct bytes name; /* as written, newlines as "\012"; empty for anonymous memory */
};

/* The mappings of a text in its order: start with *rest = the text; false at the end. Lines of another form
 * are skipped, a last one without its newline too: it was cut. */
bool maps_next(struct bytes *rest, struct maps_entry *out);

/* The name as it is, NUL-terminated in `room` of `cap` bytes; cut when it is longer. */
void maps_name(const struct maps_entry *e, char *room, size_t cap);

#endif
