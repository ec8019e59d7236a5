/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
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

bool os_host_root(void) {
    return geteuid() == 0;
}

int os_host_pid(void) {
    return getpid();
}

/* getauxval(3) says where it begins, proc_pid_maps(5) how long the map is. */
struct bytes os_host_vdso(void) {
    uintptr_t at = getauxval(AT_SYSINFO_EHDR);
    FILE *maps = at ? fopen("/proc/self/maps", "re") : NULL;
    struct bytes vdso = {0};
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t start, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 && start == at && end > start)
            vdso = (struct bytes){(const uint8_t *)at, end - start};
    }
    if (maps)
        fclose(maps);
    return vdso;
}
