/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of an ELF image that has no build-id: XXH3-128 (xxHash, seed 0, canonical form) over its
 * executable PT_LOADs in the order of the program headers; of each p_offset, p_vaddr and p_filesz as 64-bit
 * little-endian numbers, then its bytes in the file. Section headers and what only they lead to are not part
 * of it: stripping keeps it.
 */
#ifndef SONDE_OBJECT_COOKIE_H
#define SONDE_OBJECT_COOKIE_H

#include "base/bytes.h"

enum { OBJECT_COOKIE_BYTES = 16 };

/* False when `file` is no ELF image, has no executable PT_LOAD, one that is not all in the file, or so many
 * that they have more than four times its bytes. */
bool object_cookie_read(struct bytes file, uint8_t out[OBJECT_COOKIE_BYTES]);

#endif
