/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process has been given, and what would give it more. What it may do can only be tried
 * (events/allowed.h); this is for the advice after that.
 */
#ifndef SONDE_OS_RIGHTS_H
#define SONDE_OS_RIGHTS_H

#include "os/sysfs.h"

struct os_rights {
    /* Effective capabilities (capabilities(7)). In a container they need not count. */
    bool perfmon; /* CAP_PERFMON or CAP_SYS_ADMIN */
    bool syslog, ipc_lock;
    bool filtered; /* a seccomp filter judges our system calls, as containers have it */
    /* kernel.perf_event_paranoid and kernel.kptr_restrict; OS_RIGHTS_UNKNOWN: they cannot be read */
    long paranoid, kptr;
};

enum { OS_RIGHTS_UNKNOWN = -1000, OS_RIGHTS_ROOM = 160 };

void os_rights_read(const struct sysfs *s, struct os_rights *out);

/*
 * What would show the addresses of kernel symbols, which are hidden, to this process: "run as root, or sudo
 * sysctl kernel.kptr_restrict=0". Returns `room`. The rule is kallsyms_show_value's, as
 * Documentation/admin-guide/sysctl/kernel.rst has it for kptr_restrict, and perf_event_paranoid up to 1 for
 * those without CAP_SYSLOG.
 */
const char *os_rights_show_addresses(const struct os_rights *r, char room[OS_RIGHTS_ROOM]);

/* The same for this process on this machine. */
const char *os_rights_show_addresses_here(char room[OS_RIGHTS_ROOM]);

#endif
