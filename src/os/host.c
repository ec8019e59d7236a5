/* SPDX-License-Identifier: Apache-2.0 */
#include "os/host.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

void os_host_read(struct os_host *h) {
    struct utsname u;
    *h = (struct os_host){.program = "sonde"};
    if (uname(&u) == 0) {
        snprintf(h->name, sizeof h->name, "%s", u.nodename);
        snprintf(h->release, sizeof h->release, "%s", u.release);
        snprintf(h->machine, sizeof h->machine, "%s", u.machine);
    }
    ssize_t n = readlink("/proc/self/exe", h->program, sizeof h->program - 1);
    if (n > 0)
        h->program[n] = '\0';
    prctl(PR_GET_NAME, h->clone);
}

int os_host_pid(void) {
    return getpid();
}
