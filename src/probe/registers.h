/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel calls a register in a probe's arguments (its regs_query_register_offset), by the number
 * that DWARF has for it (psABI supplements of x86-64, i386, AArch64, RISC-V, s390x). */
#ifndef SONDE_PROBE_REGISTERS_H
#define SONDE_PROBE_REGISTERS_H

#include <stdint.h>

enum { PROBE_REGISTER_ROOM = 16 };

/* The name with its '%', in `room`; NULL: the kernel cannot fetch it (vector and floating point registers),
 * or the machine (EM_) is not known. */
const char *probe_register(uint16_t machine, int number, char room[PROBE_REGISTER_ROOM]);

#endif
