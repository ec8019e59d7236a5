/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of system calls as the running kernel has them. */
#ifndef SONDE_CMD_TRACE_TRACE_SHAPES_H
#define SONDE_CMD_TRACE_TRACE_SHAPES_H

#include "base/arena.h"
#include "calls/table.h"
#include "format/btf/btf.h"
#include "os/files/files.h"

struct trace_shapes {
    struct calls_shape items[CALLS_SHAPE_COUNT];
    bool read[CALLS_SHAPE_COUNT]; /* it is the kernel's; else the built-in one */
    struct arena memory;
};

/* As the kernel's BTF has them; where that is missing, or has not what we know, as we were built. Never
 * fails.
 */
void trace_shapes_read(struct trace_shapes *s, const struct os_files *files);
void trace_shapes_fini(struct trace_shapes *s); /* s may be all zero */

#endif
