/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of a recording as a tree, as `report --tasks` prints it: for every tid the last thread that had
 * it, below the thread that forked it, sorted by tid.
 *
 *     #      pid      tid     ppid  comm
 *              0        0       -1 |swapper
 *              1        1        0 | init
 *            122      122        1 |  sh
 */
#ifndef SONDE_VIEW_LISTS_TASK_TREE_H
#define SONDE_VIEW_LISTS_TASK_TREE_H

#include "base/err.h"
#include "base/text/out.h"
#include "model/model.h"

/* Called after a thread's line; `level` is its depth in the tree. If only other threads of a process are
 * known, it is called with one of those for the leader. False stops with an error. */
typedef bool tasks_each_fn(void *ctx, const struct model_thread *thread, unsigned level, struct out *out,
                           struct err *err);

/*
 * Prints the tree of a frozen model that follows tasks. `each` may be NULL; it is not called for a swapper
 * that no record mentions. False: out of memory, or `each` failed.
 */
bool tasks_print(const struct model *m, tasks_each_fn *each, void *ctx, struct out *out, struct err *err);

#endif
