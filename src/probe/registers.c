/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/registers.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

const char *probe_register(uint16_t machine, int number, char room[PROBE_REGISTER_ROOM]) {
    static const char *const WIDE[] = {"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",  "sp",
                                       "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const NARROW[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    static const char *const RISCV[] = {"",   "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                        "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                        "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    const char *name = NULL;
    if (number < 0)
        return NULL;
    if (machine == EM_X86_64 && number < 16)
        name = WIDE[number];
    else if (machine == EM_386 && number < 8)
        name = NARROW[number];
    else if (machine == EM_RISCV && number > 0 && number < 32)
        name = RISCV[number];
    else if (machine == EM_AARCH64 && number == 31)
        name = "sp";
    else if ((machine == EM_AARCH64 && number < 31) || (machine == EM_S390 && number < 16)) {
        snprintf(room, PROBE_REGISTER_ROOM, "%%%c%d", machine == EM_AARCH64 ? 'x' : 'r', number);
        return room;
    }
    if (!name)
        return NULL;
    snprintf(room, PROBE_REGISTER_ROOM, "%%%s", name);
    return room;
}
