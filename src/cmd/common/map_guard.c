/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/map_guard.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

bool map_guard_fill(const siginfo_t *info) {
    uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)info->si_addr & ~(bytes - 1);
    int was = errno;
    bool ok =
        info->si_signo == SIGBUS && info->si_code == BUS_ADRERR &&
        mmap((void *)page, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    errno = was;
    return ok;
}

/* Puts a page of zeros where nothing is any more; what else raised the signal ends us as ever. */
static void fill_in(int sig, siginfo_t *info, void *context) {
    (void)context;
    if (!map_guard_fill(info))
        signal(sig, SIG_DFL); /* it comes again at once */
}

void map_guard_install(void) {
    struct sigaction a = {.sa_sigaction = fill_in, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &a, NULL);
}
