/* SPDX-License-Identifier: Apache-2.0 */
/* A listening socket that only this machine reaches, and bytes that nobody can guess. */
#ifndef SONDE_OS_LOOPBACK_H
#define SONDE_OS_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Listens on 127.0.0.1; *port 0: any that is free, which it becomes. Returns the descriptor (non-blocking,
 * close-on-exec); -1 with *err. */
int os_loopback_listen(uint16_t *port, struct err *err);

/* Accepts a connection (non-blocking, close-on-exec). -1: there is none now. */
int os_loopback_accept(int fd);

/* False with *err: the system has none. */
bool os_random(void *bytes, size_t n, struct err *err);

#endif
