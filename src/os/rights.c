/* SPDX-License-Identifier: Apache-2.0 */
#include "os/rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number_at(const struct sysfs *s, const char *path, struct arena *a) {
    const char *text = s->read(s, path, a, NULL);
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && end != text ? value : OS_RIGHTS_UNKNOWN;
}

/* What follows NAME in a line of proc_pid_status(5); "" when there is none. */
static const char *status_value(const char *status, const char *name) {
    const char *line = status ? strstr(status, name) : NULL;
    return line ? line + strlen(name) : "";
}

void os_rights_read(const struct sysfs *s, struct os_rights *out) {
    enum { IPC_LOCK = 14, SYS_ADMIN = 21, SYSLOG = 34, PERFMON = 38, SECCOMP_FILTER = 2 };
    struct arena texts = ARENA_INIT;
    const char *status = s->read(s, "/proc/self/status", &texts, NULL);
    unsigned long long caps = strtoull(status_value(status, "\nCapEff:"), NULL, 16);
    *out = (struct os_rights){
        .perfmon = caps >> PERFMON & 1 || caps >> SYS_ADMIN & 1,
        .syslog = caps >> SYSLOG & 1,
        .ipc_lock = caps >> IPC_LOCK & 1,
        .filtered = strtol(status_value(status, "\nSeccomp:"), NULL, 10) == SECCOMP_FILTER,
        .paranoid = number_at(s, "/proc/sys/kernel/perf_event_paranoid", &texts),
        .kptr = number_at(s, "/proc/sys/kernel/kptr_restrict", &texts),
    };
    arena_fini(&texts);
}

const char *os_rights_show_addresses(const struct os_rights *r, char room[OS_RIGHTS_ROOM]) {
    const char *level = r->paranoid > 1 ? " kernel.perf_event_paranoid=1" : "";
    if (r->kptr >= 2 && r->syslog) /* from everybody */
        snprintf(room, OS_RIGHTS_ROOM, "sudo sysctl kernel.kptr_restrict=1");
    else if (r->kptr >= 2)
        snprintf(room, OS_RIGHTS_ROOM, "sudo sysctl kernel.kptr_restrict=0%s", level);
    else if (r->syslog)
        snprintf(room, OS_RIGHTS_ROOM, "run outside of this container, whose rights do not count for that");
    else if (r->kptr == 1)
        snprintf(room, OS_RIGHTS_ROOM, "run as root, or sudo sysctl kernel.kptr_restrict=0%s", level);
    else if (r->kptr == 0 && r->paranoid > 1)
        snprintf(room, OS_RIGHTS_ROOM, "run as root, or sudo sysctl%s", level);
    else
        snprintf(room, OS_RIGHTS_ROOM, "run as root");
    return room;
}

const char *os_rights_show_addresses_here(char room[OS_RIGHTS_ROOM]) {
    struct os_rights r;
    os_rights_read(&sysfs_system, &r);
    return os_rights_show_addresses(&r, room);
}
