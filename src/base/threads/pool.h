/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbered jobs on a few threads that stay: what is done must not depend on which thread does a job, nor on
 * how many there are.
 *
 *   struct pool *pool = pool_new(threads);
 *   pool_run(pool, chunks, read_chunk, ctx, err)      read_chunk(ctx, 0 .. chunks - 1, which thread, err)
 *   pool_run(pool, tables, sort_table, ctx, err)
 *   pool_free(pool);
 *
 * The caller's thread takes jobs too. NULL is a pool of one thread, as is one whose threads could not be
 * started: everything then happens in the caller, in order.
 */
#ifndef SONDE_BASE_POOL_H
#define SONDE_BASE_POOL_H

#include <stddef.h>

#include "base/err.h"

enum { POOL_THREADS_MAX = 64 };

struct pool;

/* One job. `thread` is below pool_threads(): for scratch that each thread has for itself. False with *err. */
typedef bool pool_job_fn(void *ctx, size_t job, unsigned thread, struct err *err);

/* A pool of `threads` (POOL_THREADS_MAX at most) with the caller's, which are started at the first run that
 * has more than one job. NULL: out of memory, or 1 thread, which needs no pool. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *pool); /* NULL is allowed */

/* How many threads jobs may run on at once: 1 or more. */
unsigned pool_threads(const struct pool *pool);

/*
 * Runs all jobs, handed out in ascending order, and returns when they are done. What jobs wrote may be read
 * then. When a job fails no more are handed out; false, and *err (which may be NULL) is that of the failed
 * job with the lowest number, which is the same for any number of threads. Not from within a job.
 */
bool pool_run(struct pool *pool, size_t jobs, pool_job_fn *job, void *ctx, struct err *err);

#endif
