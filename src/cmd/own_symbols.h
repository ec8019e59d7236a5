/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of an ELF file of this machine's class and byte order, for `test Symbols`. */
#ifndef SONDE_CMD_OWN_SYMBOLS_H
#define SONDE_CMD_OWN_SYMBOLS_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/text/out.h"

/* Prints " START-END g NAME" (g, l or w: global, local, weak) for each defined function and object, by
 * address, to `o` (NULL: nowhere), from .symtab or, in a stripped file, .dynsym. Counts them in *count. False
 * and *err: not such an ELF file, or `must_have` (if not NULL) is missing. */
bool own_symbols_list(struct bytes elf, struct out *o, const char *must_have, size_t *count, struct err *err);

#endif
