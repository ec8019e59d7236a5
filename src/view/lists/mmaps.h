/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a recording with their address spaces, as `report --mmaps` prints them. */
#ifndef SONDE_VIEW_LISTS_MMAPS_H
#define SONDE_VIEW_LISTS_MMAPS_H

#include "base/err.h"
#include "base/text/out.h"
#include "model/model.h"
#include "stream/stream.h"

/*
 * Prints the tree of task_tree.h and, below each thread, what its process had mapped when it, or the
 * recording, ended. `m` is frozen and follows tasks and maps; `s` is the stream that it was made from, whose
 * records say what the model does not keep. False: out of memory.
 *
 * Forks inherit mappings without records. To keep the output from growing with the square of the recording,
 * after a number of lines that no ordinary recording comes near, "..." is printed for a thread's mappings.
 * *left_out: for how many threads (not NULL).
 */
bool mmaps_print(const struct model *m, const struct stream *s, struct out *out, uint64_t *left_out,
                 struct err *err);

#endif
