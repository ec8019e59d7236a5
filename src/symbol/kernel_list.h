/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's own list of its symbols (/proc/kallsyms or a copy): read once, tables of the kernel and of each
 * module made of it. */
#ifndef SONDE_SYMBOL_KERNEL_LIST_H
#define SONDE_SYMBOL_KERNEL_LIST_H

#include "base/writer.h"
#include "symbol/build.h"

struct kernel_list;

/* Takes the text over, also on failure. NULL: memory, or (ERR_BROKEN) no line of it is a symbol. */
struct kernel_list *kernel_list_new(struct writer *text, struct err *err);
void kernel_list_free(struct kernel_list *l); /* NULL is allowed */

/* All addresses are 0: the reader of /proc/kallsyms may not see them. */
bool kernel_list_hidden(const struct kernel_list *l);

/* Calls `each` for the kernel's own symbols, in order of the list, until it says false. Whether it never did.
 */
typedef bool kernel_list_fn(void *ctx, uint64_t address, const char *name, char type);
bool kernel_list_each(const struct kernel_list *l, kernel_list_fn *each, void *ctx);

/* A symbol: its name is the NUL-terminated text at that offset, its type a letter of nm(1)'s. */
struct kernel_list_entry {
    uint64_t address;
    uint32_t name, type;
};

/* A list of a kernel's own symbols; both it and the texts, which end in NUL, are borrowed. NULL: memory, or a
 * name beyond the texts, or a type that no list keeps. */
struct kernel_list *kernel_list_borrow(struct bytes texts, const struct kernel_list_entry *list,
                                       uint32_t count);

/* The address of the kernel's own symbol of that name; false when it is not in the list. */
bool kernel_list_address(const struct kernel_list *l, const char *name, uint64_t *address);

/* True when a symbol of the kernel's own of that name is at that address. */
bool kernel_list_has(const struct kernel_list *l, const char *name, uint64_t address);

/* The lowest address of a module's symbols; false when the list has none of it. */
bool kernel_list_module_start(const struct kernel_list *l, struct bytes module, uint64_t *address);

/* What the list says of code that the kernel made at run time (BPF programs, trampolines, copies of probed
 * instructions), which KSYMBOL records tell of, too. */
enum kernel_list_made { KERNEL_LIST_UNLISTED, KERNEL_LIST_THERE, KERNEL_LIST_ELSEWHERE };
enum kernel_list_made kernel_list_made(const struct kernel_list *l, const char *name, uint64_t address);

/* True when some symbol of the list is this module's. */
bool kernel_list_has_module(const struct kernel_list *l, struct bytes module);

/*
 * True when the list's module can be the one that was mapped at [start, end): its code's first symbol lies in
 * the map's first page, and none right before it. Modules are loaded at whole pages, to another place at each
 * boot, so a list of another boot is at least a page off even where its kernel lies at the same place.
 */
bool kernel_list_module_fits(const struct kernel_list *l, struct bytes module, uint64_t start, uint64_t end);

/*
 * The addresses that a kernel's or module's symbols may have. A kernel's recorded map ends with its text; the
 * code that runs at boot lies further on, and stacks that began there still show it.
 */
struct kernel_bounds {
    uint64_t from, end;           /* as mapped */
    uint64_t init_from, init_end; /* a kernel's _sinittext and _einittext; 0 without */
    const uint64_t *cuts;         /* ascending addresses that no symbol reaches over: where sections begin */
    size_t cut_count;
    uint64_t slide; /* where a symbol is as mapped, less what the list says: the list is another boot's */
};

static inline bool kernel_bounds_have(const struct kernel_bounds *b, uint64_t address) {
    return (address >= b->from && address < b->end) || (address >= b->init_from && address < b->init_end);
}

/* Where the part that holds the address ends; ctx: struct kernel_bounds. */
uint64_t kernel_bounds_end(const void *ctx, uint64_t address);

/*
 * The table of the kernel itself (`module` empty: places are addresses) or of a module (offsets from
 * bounds->from). Only symbols within the bounds count, none reaches beyond. Names live in the list. NULL:
 * memory.
 */
struct symbol_table *kernel_list_table(const struct kernel_list *l, struct bytes module,
                                       const struct kernel_bounds *bounds, bool raw_names, struct err *err);

#endif
