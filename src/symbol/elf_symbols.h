/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols that an ELF file lists, as drafts of a table. */
#ifndef SONDE_SYMBOL_ELF_SYMBOLS_H
#define SONDE_SYMBOL_ELF_SYMBOLS_H

#include "object/elf.h"
#include "symbol/build.h"

/* Maps a symbol's value to its place in the table. False: it has no place. */
typedef bool elf_symbols_place_fn(const void *ctx, const struct object_symbol *s, uint64_t value,
                                  uint64_t *offset);

/* Places symbols at their file offsets; ctx: the struct object_layout of the mapped file. */
elf_symbols_place_fn elf_symbols_in_file;

/*
 * Adds the defined functions, objects and labels of the table of type SHT_SYMTAB or SHT_DYNSYM. Names live in
 * the image. False and *err: out of memory, or (ERR_ABSENT) there is no such table.
 */
bool elf_symbols_add(const struct object_elf *e, uint32_t type, elf_symbols_place_fn *place, const void *ctx,
                     struct symbol_drafts *d, struct err *err);

/* Adds the stubs through which the image calls others (object/plt.h), as name@plt. */
bool elf_symbols_add_plt(const struct object_elf *e, const struct object_layout *layout,
                         struct symbol_drafts *d, struct err *err);

/* Whether the file has a table of the given type that is not empty. */
bool elf_symbols_has(const struct object_elf *e, uint32_t type);

#endif
