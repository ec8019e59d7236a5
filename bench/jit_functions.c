/* SPDX-License-Identifier: Apache-2.0 */
/* Makes N functions, announces each in ./jit-PID.dump and runs it for some microseconds: jit_functions N.
 * x86-64. */
#include <stdlib.h>

#include <sonde/jitdump.h>

enum { PLACE = 256 };

/* push %rbp; mov %rsp, %rbp; mov $20000, %ecx; nops; dec %ecx; jnz; pop %rbp; ret */
static size_t emit(unsigned char *at, unsigned long i) {
    static const unsigned char head[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x20, 0x4e, 0, 0},
                               tail[] = {0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
    size_t nops = i % 200;
    memcpy(at, head, sizeof head);
    memset(at + sizeof head, 0x90, nops);
    memcpy(at + sizeof head + nops, tail, sizeof tail);
    return sizeof head + nops + sizeof tail;
}

int main(int argc, char **argv) {
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    struct sonde_jitdump dump;
    unsigned char *area =
        mmap(NULL, count * PLACE + 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!count || area == MAP_FAILED || sonde_jitdump_open(&dump, ".") != 0)
        return 1;
    for (unsigned long i = 0; i < count; i++) {
        unsigned char *code = area + i * PLACE;
        size_t size = emit(code, i);
        const struct sonde_jitdump_line lines[] = {{code, (unsigned)i % 5000 + 1, 1, "program.js"},
                                                   {code + 5, (unsigned)i % 5000 + 2, 9, "program.js"}};
        char name[64];
        void (*run)(void);
        snprintf(name, sizeof name, "JS:*function_%lu program.js:%lu:1", i, i % 5000 + 1);
        sonde_jitdump_load(&dump, code, size, name, lines, 2);
        memcpy(&run, &code, sizeof run);
        run();
    }
    sonde_jitdump_close(&dump);
    return 0;
}
