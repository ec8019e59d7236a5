/* SPDX-License-Identifier: Apache-2.0 */
/* Whether code made for one kind of processor can have run on another. */
#ifndef SONDE_SYMBOL_MACHINE_H
#define SONDE_SYMBOL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `arch`: what uname(2) called the machine (a recording's ARCH); NULL: not known. `machine`: EM_*, elf(5).
 * False only when both are known and of different families: a 64-bit kernel runs programs of 32 bits, and
 * calls itself by the smaller name for those that want it to (personality(2)).
 */
bool symbol_machine_fits(const char *arch, uint16_t machine);

#endif
