/* SPDX-License-Identifier: Apache-2.0 */
#include "os/limits.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

bool os_limits_raise_files(void) {
    struct rlimit now, more;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0)
        return false;
    more = (struct rlimit){now.rlim_max + 65536, now.rlim_max + 65536};
    if (now.rlim_max != RLIM_INFINITY && now.rlim_cur >= 4096 && setrlimit(RLIMIT_NOFILE, &more) == 0)
        return true; /* root may */
    more = (struct rlimit){now.rlim_max, now.rlim_max};
    return now.rlim_cur < now.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0;
}

void os_limits_be_patient(void) {
    enum { NICE = 5 }; /* a third of what others get, where there is not enough for all */
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
}

uint64_t os_limits_page_bytes(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool os_limits_realtime(int priority, struct err *err) {
    const struct sched_param p = {.sched_priority = priority};
    return sched_setscheduler(0, SCHED_FIFO, &p) == 0 ||
           err_errno(err, errno, "-r", "cannot run at real-time priority %d", priority);
}

double os_limits_tick_ns(void) {
    long hz = sysconf(_SC_CLK_TCK);
    return 1e9 / (double)(hz > 0 ? hz : 100);
}
