/* SPDX-License-Identifier: Apache-2.0 */
/* From a thread's system call to what it waits for, and for whom where that is proved. */
#ifndef SONDE_WAITS_EXPLAIN_H
#define SONDE_WAITS_EXPLAIN_H

#include "base/err.h"
#include "waits/ends.h"

/* Fills `wait` of all threads. What cannot be read is counted in *w and left unknown. `ends` is zeroed except
 * for holders that are known already (waits_ends_sort); the caller frees it. False: out of memory. */
bool waits_explain(struct waits *w, const struct os_proc *proc, struct waits_ends *ends, struct err *err);

#endif
