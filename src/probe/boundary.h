/* SPDX-License-Identifier: Apache-2.0 */
/* A probe within an instruction would change what the program does: the kernel writes a breakpoint there. */
#ifndef SONDE_PROBE_BOUNDARY_H
#define SONDE_PROBE_BOUNDARY_H

#include "probe/image.h"

/* Whether an instruction begins at `addr`, in the function that begins at `start`. False: `addr` is within an
 * instruction, which begins at *from. Also true where this is not known: no disassembler is built in, or it
 * does not know an earlier instruction. */
bool probe_boundary(const struct probe_image *i, object_vaddr start, object_vaddr addr, object_vaddr *from);

#endif
