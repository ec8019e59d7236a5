/* SPDX-License-Identifier: Apache-2.0 */
/* Whether code made for one kind of processor can have run on another. */
#ifndef SONDE_SYMBOL_MACHINE_H
#define SONDE_SYMBOL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `arch`: the machine's name from uname(2) (a recording's ARCH); NULL: not known. `machine`: EM_*, elf(5).
 * False only if both are known and of different families: a 64-bit kernel also runs 32-bit programs, and uses
 * the 32-bit name for those that want it (personality(2)).
 */
bool symbol_machine_fits(const char *arch, uint16_t machine);

#endif
