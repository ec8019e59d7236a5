/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text made in pieces by several threads and written in order, without one waiting for the other as long as
 * there is room for pieces:
 *
 *   written    finished, being made         still to be taken
 *   0 1 2 3    4  .  6  .                   8 9 ...
 *              ^ the caller's thread writes this one as soon as it is finished, and makes pieces meanwhile
 */
#ifndef SONDE_BASE_RELAY_H
#define SONDE_BASE_RELAY_H

#include <stdint.h>

#include "base/err.h"
#include "base/text/out.h"
#include "base/threads/pool.h"

/* Appends the text of [from, end) to `text`, which is empty. `thread` is below pool_threads(): for scratch
 * that each thread has for itself. False with *err. */
typedef bool relay_fn(void *ctx, uint32_t from, uint32_t end, unsigned thread, struct out *text,
                      struct err *err);

/* The text of [0, n) goes to `to`, which only the caller's thread touches. No more is made once that has
 * failed, which is no error here. False with *err: out of memory, or a piece failed. Not from within a pool's
 * job.
 */
bool relay_run(struct pool *pool, uint32_t n, relay_fn *fn, void *ctx, struct out *to, struct err *err);

#endif
