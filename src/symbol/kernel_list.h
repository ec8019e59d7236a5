/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's own list of its symbols (/proc/kallsyms or a copy), read once: tables of the kernel and of each
 * module are made from it. */
#ifndef SONDE_SYMBOL_KERNEL_LIST_H
#define SONDE_SYMBOL_KERNEL_LIST_H

#include "base/writer.h"
#include "symbol/build.h"

struct kernel_list;

/* Parses a list, and takes over its text, also on failure. NULL: out of memory, or (ERR_BROKEN) it has no
 * symbol. */
struct kernel_list *kernel_list_new(struct writer *text, struct err *err);
void kernel_list_free(struct kernel_list *l); /* NULL is allowed */

/* Whether all addresses are 0, as if the reader of /proc/kallsyms may not see them. */
bool kernel_list_hidden(const struct kernel_list *l);

/* Calls `each` for the kernel's own symbols, in the list's order, until it returns false. False: it did. */
typedef bool kernel_list_fn(void *ctx, uint64_t address, const char *name, char type);
bool kernel_list_each(const struct kernel_list *l, kernel_list_fn *each, void *ctx);

/* A symbol: `name` is the offset of a NUL-terminated text, `type` a letter as in nm(1). */
struct kernel_list_entry {
    uint64_t address;
    uint32_t name, type;
};

/* Makes a list of a kernel's own symbols from borrowed symbols and texts (the last byte is NUL). NULL:
 * memory, a name beyond the texts, or a type that lists do not keep. */
struct kernel_list *kernel_list_borrow(struct bytes texts, const struct kernel_list_entry *list,
                                       uint32_t count);

/* Finds the address of the kernel's own symbol of that name. False: it is not in the list. */
bool kernel_list_address(const struct kernel_list *l, const char *name, uint64_t *address);

/* Whether the kernel's own symbol of that name is at that address. */
bool kernel_list_has(const struct kernel_list *l, const char *name, uint64_t address);

/* Finds the lowest address of a module's symbols. False: the list has none. */
bool kernel_list_module_start(const struct kernel_list *l, struct bytes module, uint64_t *address);

/* Whether the list has code that the kernel made at run time (BPF programs, trampolines, copies of probed
 * instructions), of which there are KSYMBOL records, too; and whether it is at that address. */
enum kernel_list_made { KERNEL_LIST_UNLISTED, KERNEL_LIST_THERE, KERNEL_LIST_ELSEWHERE };
enum kernel_list_made kernel_list_made(const struct kernel_list *l, const char *name, uint64_t address);

/* Whether the list has symbols of this module. */
bool kernel_list_has_module(const struct kernel_list *l, struct bytes module);

/*
 * Whether the list's module can be the one that was mapped at [start, end): its first symbol of code lies in
 * the first page, and none directly before it. Modules are loaded at page boundaries, elsewhere at each boot,
 * so a list of another boot is at least a page off even if its kernel lies at the same place.
 */
bool kernel_list_module_fits(const struct kernel_list *l, struct bytes module, uint64_t start, uint64_t end);

/*
 * The addresses that a kernel's or module's symbols may have. A kernel's recorded map ends with its text; the
 * code that ran at boot lies beyond it, but can still be at the root of stacks.
 */
struct kernel_bounds {
    uint64_t from, end;           /* as mapped */
    uint64_t init_from, init_end; /* a kernel's _sinittext and _einittext; 0: none */
    const uint64_t *cuts;         /* where sections begin, ascending: no symbol extends across these */
    size_t cut_count;
    uint64_t slide; /* mapped address - the list's, which may be of another boot */
};

static inline bool kernel_bounds_have(const struct kernel_bounds *b, uint64_t address) {
    return (address >= b->from && address < b->end) || (address >= b->init_from && address < b->init_end);
}

/* The end of the part that contains the address; ctx: struct kernel_bounds. */
uint64_t kernel_bounds_end(const void *ctx, uint64_t address);

/*
 * Makes the table of the kernel itself (`module` empty: places are addresses) or of a module (offsets from
 * bounds->from). Has only symbols within the bounds, cut at their end. Names live in the list. NULL: out of
 * memory.
 */
struct symbol_table *kernel_list_table(const struct kernel_list *l, struct bytes module,
                                       const struct kernel_bounds *bounds, bool raw_names, struct err *err);

#endif
