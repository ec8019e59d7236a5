/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sonde/jitdump.h>

/* A loop of 65535 turns that calls nobody; it runs wherever it lies. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x55,                         /* push %rbp */
                               0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
                               0xb9, 0xff, 0xff, 0x00, 0x00, /* mov $65535, %ecx */
                               0xff, 0xc9,                   /* dec %ecx */
                               0x75, 0xfc,                   /* jnz back */
                               0x5d, 0xc3};                  /* pop %rbp; ret */
#elif defined(__aarch64__)
static const uint32_t code[] = {0xa9bf7bfd,  /* stp x29, x30, [sp, #-16]! */
                                0x910003fd,  /* mov x29, sp */
                                0x529fffe0,  /* mov w0, #65535 */
                                0x71000400,  /* subs w0, w0, #1 */
                                0x54ffffe1,  /* b.ne back */
                                0xa8c17bfd,  /* ldp x29, x30, [sp], #16 */
                                0xd65f03c0}; /* ret */
#else
static const uint8_t code[1]; /* none is made */
#endif

static void *make_code(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sizeof code == 1 || page == MAP_FAILED)
        return NULL;
    memcpy(page, code, sizeof code);
    __builtin___clear_cache((char *)page, (char *)page + sizeof code);
    return mprotect(page, size, PROT_READ | PROT_EXEC) == 0 ? page : NULL;
}

static int run(int argc, char **argv) {
    struct sonde_jitdump dump;
    void (*function)(void);
    void *made = make_code();
    if (!made) {
        fprintf(stderr, "no code can be made here\n");
        return 1;
    }
    memcpy(&function, &made, sizeof function); /* C has no cast from data to code */
    int error = sonde_jitdump_open(&dump, ".");
    if (error) {
        fprintf(stderr, "cannot write jit-%ld.dump: %s\n", (long)getpid(), strerror(error));
        return 1;
    }
    bool ok =
        sonde_jitdump_load(&dump, made, sizeof code, "jit_workload", NULL, 0) && workload_timer(argc, argv);
    while (ok && !workload_done)
        function();
    sonde_jitdump_close(&dump);
    return ok ? 0 : 1;
}

const struct workload workload_jitdump = {"jitdump", "[seconds=1]",
                                          "jit_workload, made at run time; writes jit-PID.dump here", run};
