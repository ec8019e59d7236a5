/* SPDX-License-Identifier: Apache-2.0 */
/* From the symbols that an image lists, in any order and with several at one place, to its table. */
#ifndef SONDE_SYMBOL_BUILD_H
#define SONDE_SYMBOL_BUILD_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "object/elf.h"
#include "symbol/table.h"

struct symbol_draft {
    uint64_t start, end; /* image offsets; end <= start: no size was given */
    const char *name;    /* NUL-terminated */
    uint8_t bind;        /* enum symbol_bind */
    uint8_t flags;       /* enum symbol_flag */
    bool untyped;        /* STT_NOTYPE: a label */
    uint64_t target;     /* with an empty name and SYMBOL_PLT: it is named after the symbol there */
};

/* Which of several symbols at the same place names it. */
enum symbol_choice {
    SYMBOL_CHOOSE_BEST, /* one with a size, a type, not weak, global, few leading underscores, the longest */
    SYMBOL_CHOOSE_LAST, /* in order of the list */
    SYMBOL_CHOOSE_NEWEST, /* likewise, and what overlaps a symbol listed later is gone: its memory was reused
                           */
};

/* Zeroed at first. What `texts` holds the table takes over. */
struct symbol_drafts {
    VEC(struct symbol_draft) list;
    struct arena texts; /* names that are in no file: memcpy@plt */
    char *text;         /* malloc()ed text that names point into, or NULL */
};

void symbol_drafts_fini(struct symbol_drafts *d);

struct symbol_rules {
    enum symbol_choice choice;
    bool complete; /* the list leaves no function out: that a symbol ends where the next one begins is no
                      guess */
    /* Where a symbol without a size that starts at `start` ends at the latest (the end of its segment); NULL:
     * at the next symbol, the last one where it starts. */
    uint64_t (*limit)(const void *ctx, uint64_t start);
    const void *ctx; /* of limit */
    /* For symbol_table_address: the layout of the file (must live as long as the table), or the slide. */
    const struct object_layout *layout;
    uint64_t slide;
    bool raw_names;
};

/*
 * The table of what `d` holds, and d emptied, also on failure. NULL: memory. Symbols without a size end where
 * the next one starts; local labels without one inside of a function that has a size are left out.
 * `rules` is copied. symbol_table_free also takes NULL.
 */
struct symbol_table *symbol_table_build(struct symbol_drafts *d, const struct symbol_rules *rules,
                                        struct err *err);
void symbol_table_free(struct symbol_table *t);

/*
 * The same of symbols without sizes that come in order, by SYMBOL_CHOOSE_LAST and without drafts: a table
 * with room for so many (NULL: memory), the symbols (false: this one is not in order, and the table can only
 * be freed), and what is to be known of all of them (false: memory).
 */
struct symbol_table *symbol_table_open(size_t most, const struct symbol_rules *rules);
bool symbol_table_append(struct symbol_table *t, uint64_t start, const char *name, enum symbol_bind bind,
                         unsigned flags);
bool symbol_table_finish(struct symbol_table *t);

#endif
