/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an image's table from the symbols that it lists, in any order and with several at one place. */
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
    uint64_t target;     /* with SYMBOL_PLT and an empty name: where the symbol is that it is named after */
};

/* Which of several symbols at the same place names it. */
enum symbol_choice {
    SYMBOL_CHOOSE_BEST, /* one with a size, a type, not weak, global, few leading underscores, the longest */
    SYMBOL_CHOOSE_LAST, /* the one listed last */
    SYMBOL_CHOOSE_NEWEST, /* likewise, and it removes all earlier ones that it overlaps: their memory was
                             reused */
};

/* Zeroed at first. The table takes over `texts`. */
struct symbol_drafts {
    VEC(struct symbol_draft) list;
    struct arena texts; /* names that are in no file: memcpy@plt */
    char *text;         /* malloc()ed text that names point into, or NULL */
};

void symbol_drafts_fini(struct symbol_drafts *d);

struct symbol_rules {
    enum symbol_choice choice;
    bool complete; /* the list leaves no function out: a symbol certainly ends where the next one begins */
    /* The latest end of a symbol without a size that starts at `start` (the end of its segment); NULL: the
     * next symbol, or for the last one its own start. */
    uint64_t (*limit)(const void *ctx, uint64_t start);
    const void *ctx; /* of limit */
    /* For symbol_table_address: the layout of the file (must live as long as the table), or the slide. */
    const struct object_layout *layout;
    uint64_t slide;
    bool raw_names;
};

/*
 * Makes a table of `d`, and empties it, also on failure. NULL: out of memory. Symbols without a size end
 * where the next one starts; local labels without a size inside of a function with one are left out. `rules`
 * is copied. symbol_table_free also takes NULL.
 */
struct symbol_table *symbol_table_build(struct symbol_drafts *d, const struct symbol_rules *rules,
                                        struct err *err);
void symbol_table_free(struct symbol_table *t);

/*
 * The same for symbols without sizes that come in order, without drafts and by SYMBOL_CHOOSE_LAST. Open a
 * table with room for `most` symbols (NULL: out of memory), append them (false: out of order, and the table
 * can only be freed), and finish it (false: out of memory).
 */
struct symbol_table *symbol_table_open(size_t most, const struct symbol_rules *rules);
bool symbol_table_append(struct symbol_table *t, uint64_t start, const char *name, enum symbol_bind bind,
                         unsigned flags);
bool symbol_table_finish(struct symbol_table *t);

#endif
