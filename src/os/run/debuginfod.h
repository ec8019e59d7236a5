/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files by build-id from debuginfod servers (debuginfod(8)), through libdebuginfod if that is installed: it
 * is loaded when the first file is asked for, so that nobody who does not want the network depends on it.
 * What it downloads stays in its own cache (debuginfod_find_debuginfo(3)).
 */
#ifndef SONDE_OS_DEBUGINFOD_H
#define SONDE_OS_DEBUGINFOD_H

#include "base/bytes.h"
#include "base/err.h"

struct os_debuginfod;

/* `urls`: separated by spaces. The library takes them from the environment, so this sets DEBUGINFOD_URLS of
 * our process: call it before other threads start. `total_ms`: for all files together, from the first one on.
 * NULL: out of memory. Nothing is loaded or asked yet. */
struct os_debuginfod *os_debuginfod_new(const char *urls, unsigned total_ms, struct err *err);
void os_debuginfod_free(struct os_debuginfod *d); /* NULL is allowed */

enum os_debuginfod_kind { OS_DEBUGINFOD_EXECUTABLE, OS_DEBUGINFOD_DEBUGINFO };

/* The path of the downloaded file; owned (free it). NULL and *err: ERR_ABSENT when no server has it,
 * ERR_UNSUPPORTED without the library, ERR_IO when the time is up or a server cannot be reached. Any number
 * of threads; one asks at a time. */
char *os_debuginfod_find(struct os_debuginfod *d, struct bytes build_id, enum os_debuginfod_kind kind,
                         struct err *err);

/* Why nothing could be asked for, or no more after the first failure: no library, no server that can be
 * reached, the time is up. NULL: all went well so far. Lives as long as `d`; while nobody else asks. */
const char *os_debuginfod_trouble(const struct os_debuginfod *d);

#endif
