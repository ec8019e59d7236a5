/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of which functions are inlined where, and of source lines, of an image with DWARF 2 to 5.
 *
 *   units      [start, end) -> unit                    all of them, at the first question
 *   a unit     [start, end) -> instance -> instance    made when an address in it is asked for (or all at
 * once, [start, end) -> file, line              in parallel: object_index_prepare)
 *
 * A finished unit is one block of bytes, for a file too; nothing of the DWARF that it was made of is kept.
 * The answers are those of object/dwarf/lines.h, at a fraction of the cost where many addresses are asked
 * for.
 */
#ifndef SONDE_OBJECT_INDEX_OBJECT_INDEX_H
#define SONDE_OBJECT_INDEX_OBJECT_INDEX_H

#include "base/threads/pool.h"
#include "base/writer.h"
#include "object/dwarf/lines.h"

struct object_index;

/* A file of what was made of the same image before, and what identifies the image in it (symbol files change;
 * what cannot be identified has no key). Damage costs what is damaged. */
struct object_index_kept {
    struct bytes key;
    struct bytes file; /* at a multiple of 8, or empty; must live as long as the index */
};

/* Where split DWARF is (.dwo, .dwp); no file is opened here. */
struct object_index_split {
    struct bytes dwp; /* the image's .dwp, or empty */
    /* The .dwo file that a unit names, relative to `folder` (NULL: not known): it must live as long as the
     * index. Empty: there is none. Only asked if .dwp does not have the unit; one call at a time. */
    struct bytes (*dwo)(void *ctx, const char *folder, const char *name);
    void *ctx;
};

/*
 * As object_lines_new: `image` and `alt` (dwz's file, or empty) are ELF images that must live as long as the
 * index. `split` and `kept` (copied) may be NULL: with a file, DWARF is opened for what is not in it. NULL
 * and *err: ERR_ABSENT: no DWARF in it; ERR_BROKEN; ERR_UNSUPPORTED: a relocatable file, or built without
 * what decompresses a section.
 */
struct object_index *object_index_new(struct bytes image, struct bytes alt,
                                      const struct object_index_split *split,
                                      const struct object_index_kept *kept, struct err *err);
void object_index_free(struct object_index *x); /* NULL is allowed */

/* Makes the units in which `count` addresses lie, on the threads of a pool (NULL: this one). False: memory:
 * some are missing, which later questions try again. */
bool object_index_prepare(struct object_index *x, const object_vaddr *addrs, size_t count, struct pool *pool,
                          struct err *err);

/* As object_lines_find and object_lines_inlined, with texts that live as long as the index. A unit that was
 * not prepared is made first: one thread at a time then; once all that is asked for is there, any number. */
bool object_index_find(struct object_index *x, object_vaddr addr, struct object_line *out);
size_t object_index_inlined(struct object_index *x, object_vaddr addr, struct object_inline *out, size_t max);

/* The content of a file as parts, one after the other, which live as long as the index; the first is *head's.
 * 0: there is nothing that the file does not have yet, no key, or memory. */
size_t object_index_encode(struct object_index *x, struct bytes key, struct writer *head,
                           struct bytes **parts /* to be freed */);

#endif
