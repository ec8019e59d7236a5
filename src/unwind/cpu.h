/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unwinding must know of a CPU, as data: one file per CPU. Registers have slots: 0 is the instruction
 * pointer, n + 1 that of DWARF column n.
 */
#ifndef SONDE_UNWIND_CPU_H
#define SONDE_UNWIND_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNWIND_IP = 0, UNWIND_SLOTS = 34, UNWIND_NO_SLOT = 0xff, UNWIND_NO_BIT = 0xff };

struct unwind_cpu {
    const char *name;
    uint16_t machine; /* EM_ */
    uint8_t word;     /* bytes: 4 or 8 */
    uint8_t count;    /* slots, the instruction pointer's among them */
    uint8_t sp;       /* the stack pointer's slot */
    /* The one column beyond the contiguous ones that matters, and its slot; 0: none. */
    uint8_t extra_column, extra_slot;
    /* By slot: the register's bit in a sample's mask (enum perf_event_*_regs of
     * arch/ARCH/include/uapi/asm/perf_regs.h), or UNWIND_NO_BIT. */
    const uint8_t *bits;
    uint8_t cfa_above_sp; /* bytes between the caller's stack pointer and the CFA */
    /* Where code keeps frame pointers: the slot, and where from what it points to the caller's is, the return
     * address (0: code for this CPU keeps none), and where the caller's stack pointer pointed. */
    uint8_t fp;
    int8_t fp_at, return_at, sp_at;
    /* A function that calls nothing has its return address there: on top of the stack, or in a register
     * (UNWIND_NO_SLOT: not). */
    bool return_on_stack;
    uint8_t link;
    /* How many bits of a return address are an address, most likely first: signed pointers have more. 0: all.
     */
    uint8_t address_bits[2];
};

/* `bits` of CPUs that have 32 registers, the first of which is always 0, and nothing else. */
enum { UNWIND_NUMBERED_SLOTS = 33 };
extern const uint8_t unwind_numbered_bits[UNWIND_NUMBERED_SLOTS];

extern const struct unwind_cpu unwind_x86_64, unwind_i386, unwind_arm64, unwind_s390x, unwind_ppc64,
    unwind_riscv64, unwind_loongarch64;

/* By the ELF machine of a recording (the E_MACHINE feature) or, when that is 0, by its architecture (as uname
 * -m says, the ARCH feature; may be NULL); `abi` as in perfdata_regs: 1 for 32-bit code. NULL: none that is
 * known. */
const struct unwind_cpu *unwind_cpu_find(uint32_t machine, const char *arch, unsigned abi);

/* The slot of a DWARF column, or UNWIND_NO_SLOT. */
static inline unsigned unwind_cpu_slot(const struct unwind_cpu *cpu, uint64_t column) {
    unsigned contiguous = cpu->count - 1u - (cpu->extra_slot != UNWIND_IP);
    if (column < contiguous)
        return (unsigned)column + 1;
    return column == cpu->extra_column && cpu->extra_column ? cpu->extra_slot : (unsigned)UNWIND_NO_SLOT;
}

#endif
