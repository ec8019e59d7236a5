/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_ELF_INTERNAL_H
#define SONDE_OBJECT_ELF_INTERNAL_H

#include "base/cursor.h"

/* A number as wide as the class: Elf32_Addr, Elf64_Off, Elf64_Xword... */
static inline uint64_t object_elf_word(struct cursor *c, bool wide) {
    return wide ? cursor_u64(c) : cursor_u32(c);
}

#endif
