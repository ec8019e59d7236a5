/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void traploop_trap(volatile char *page, size_t size);

/* A trap into the kernel at a known instruction: the store faults, for the page has just been given back. */
WORKLOAD_FUNCTION void traploop_trap(volatile char *page, size_t size) {
    WORKLOAD_FRAME();
    madvise((void *)page, size, MADV_DONTNEED);
    *page = 1;
}

static int run(int argc, char **argv) {
    unsigned loops = workload_number(argc, argv, 0, 20000);
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!loops || page == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < loops; i++)
        traploop_trap(page, size);
    return 0;
}

const struct workload workload_traploop = {"traploop", "[loops=20000]", "page faults, one after another", run,
                                           NULL};
