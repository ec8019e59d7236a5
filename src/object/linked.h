/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relocatable file (a kernel module, a compiler's .o) with addresses: its sections one after the other,
 * from OBJECT_LINKED_START on, its symbols moved there, and what debugging information and unwind tables say
 * of addresses filled in. Code is left as it is. Files with the same sections in the same order, as a module
 * and its separate debug file, get the same addresses.
 */
#ifndef SONDE_OBJECT_LINKED_H
#define SONDE_OBJECT_LINKED_H

#include "object/elf.h"

enum { OBJECT_LINKED_START = 0x10000 };

/* The image of `file` (ET_REL), as an executable without segments; malloc()ed, the caller frees out->data.
 * ERR_BROKEN: damaged; ERR_UNSUPPORTED: no such file, one of 32 bits, or relocations of a kind or machine
 * that we do not know; ERR_MEMORY. */
bool object_linked_new(struct bytes file, struct bytes *out, struct err *err);

#endif
