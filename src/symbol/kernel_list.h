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

/* The address of the kernel's own symbol of that name; false when it is not in the list. */
bool kernel_list_address(const struct kernel_list *l, const char *name, uint64_t *address);

/* True when some symbol of the list is this module's. */
bool kernel_list_has_module(const struct kernel_list *l, struct bytes module);

/*
 * The table of the kernel itself (`module` empty) or of a module. Only symbols in [from, end) count, none
 * reaches beyond, and `base` is taken off their addresses. Names live in the list. NULL: memory.
 */
struct kernel_list_part {
    struct bytes module;
    uint64_t from, end, base;
};
struct symbol_table *kernel_list_table(const struct kernel_list *l, const struct kernel_list_part *part,
                                       const struct symbol_rules *rules, struct err *err);

#endif
