/* SPDX-License-Identifier: Apache-2.0 */
/* What uname(2) and /proc/self say. */
#ifndef SONDE_OS_HOST_H
#define SONDE_OS_HOST_H

#include <stdbool.h>

#include "base/bytes.h"

struct os_host {
    char name[65], release[65], machine[65];
    char program[1024]; /* our own executable, or "sonde" when that cannot be told */
    char clone[16];     /* our comm, which a forked child starts with */
};

void os_host_read(struct os_host *h);

/* Our own process. */
int os_host_pid(void);

/* Whether we act as root. That need not mean all rights: containers take some away. */
bool os_host_root(void);

/* The vdso that the kernel mapped into our own process (vdso(7)): an ELF image, there as long as we are.
 * Empty when there is none. */
struct bytes os_host_vdso(void);

#endif
