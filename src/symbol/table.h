/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one image, sorted by place; immutable once built,
 * so that any number of threads may look addresses up.
 *
 * Everything is keyed by *image offset*, a number that does not depend on where the image was mapped:
 *   files, modules, vdso, BPF     ip - map start + pgoff (model_hit.offset)
 *   kernels, memory without file  the recorded address itself
 *
 * There may be holes without a symbol. Where symbols overlap, the one that starts last names the place.
 */
#ifndef SONDE_SYMBOL_TABLE_H
#define SONDE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_NONE UINT32_MAX

enum symbol_bind { SYMBOL_LOCAL, SYMBOL_GLOBAL, SYMBOL_WEAK, SYMBOL_UNIQUE };

enum symbol_flag {
    SYMBOL_SIZE_GUESSED = 1, /* no size was given: ends where the next symbol begins ("inferred" at best) */
    SYMBOL_IFUNC = 2,        /* STT_GNU_IFUNC: the resolver */
    SYMBOL_PLT = 4,          /* a PLT stub, name@plt */
    SYMBOL_DYNAMIC = 8,      /* from .dynsym */
    SYMBOL_MINIDEBUG = 16,   /* from .gnu_debugdata */
    SYMBOL_LISTED = 32,      /* from a kernel's own list */
    SYMBOL_OBJECT = 64,      /* STT_OBJECT: data */
};

struct symbol_table;

/* The number of symbols; indices are 0 .. count-1, ascending by start. */
uint32_t symbol_table_count(const struct symbol_table *t);

/* The symbol that covers `offset`, or SYMBOL_NONE. */
uint32_t symbol_table_find(const struct symbol_table *t, uint64_t offset);

/* Prefetches what symbol_table_find(t, offset) reads: in step 0 the bucket where its search begins, and in
 * step 1, which reads that, the symbols where it ends. */
void symbol_table_expect(const struct symbol_table *t, uint64_t offset, unsigned step);

/* symbol_table_find for `n` ascending offsets, in about the time of one walk: out[i] for offsets[i]. */
void symbol_table_find_sorted(const struct symbol_table *t, const uint64_t *offsets, size_t n, uint32_t *out);

/* First offset of symbol i, and the first one after it. */
uint64_t symbol_table_start(const struct symbol_table *t, uint32_t i);
uint64_t symbol_table_end(const struct symbol_table *t, uint32_t i);

/* The name as in the image (mangled); NUL-terminated, never NULL, valid as long as the table. */
const char *symbol_table_name(const struct symbol_table *t, uint32_t i);

/*
 * The name for display: demangled unless the store's options forbid it, or it is not mangled. Valid as long
 * as the table. The first call for a symbol stores the text, so only one thread per table may call it at a
 * time; for symbols that symbol_table_show was given, any number of threads may. Falls back to the raw name
 * if memory runs out.
 */
const char *symbol_table_shown(const struct symbol_table *t, uint32_t i);

/* Demangles the `n` given symbols (any order, repetitions allowed, SYMBOL_NONE is skipped). One thread per
 * table at a time; tables are independent of each other. False: memory (what is missing stays raw). */
bool symbol_table_show(const struct symbol_table *t, const uint32_t *symbols, size_t n);

enum symbol_bind symbol_table_bind(const struct symbol_table *t, uint32_t i);
unsigned symbol_table_flags(const struct symbol_table *t, uint32_t i); /* enum symbol_flag, or-ed */

/* The address that the image's own file has for `offset` (as in ELF's st_value, objdump and DWARF), by its
 * load segments. Kernels: `offset` less the slide. Without a file: `offset`. */
uint64_t symbol_table_address(const struct symbol_table *t, uint64_t offset);

#endif
