/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds symbols of the model's images: (image, offset) -> symbol.
 *
 *   script   resolve_names_find       per frame: an image's symbols are loaded at its first lookup, and
 *                                     recent results are remembered
 *   report   resolve_names_load       many images at once on threads, then resolve_names_table
 */
#ifndef SONDE_RESOLVE_NAMES_H
#define SONDE_RESOLVE_NAMES_H

#include "base/err.h"
#include "model/model.h"
#include "resolve/jit/jit.h"
#include "symbol/store/store.h"

/* A symbol of an image; index is SYMBOL_NONE for "no name". */
struct resolve_symbol {
    uint32_t image; /* of the model; MODEL_NONE: nothing covers the address */
    uint32_t index; /* in the image's symbol_table */
};

struct resolve_names;

/* `m` and `store` are borrowed and must live as long; `release` (NULL: not known) is the OSRELEASE feature.
 * NULL: out of memory. Opens no file yet. The model may grow (streaming). */
struct resolve_names *resolve_names_new(const struct model *m, struct symbol_store *store,
                                        const char *release, struct err *err);
void resolve_names_free(struct resolve_names *n); /* NULL is allowed */

/* Gives names only to what is exact (symbol/grade.h): --strict. To be called before the first lookup. */
void resolve_names_be_strict(struct resolve_names *n);
bool resolve_names_strict(const struct resolve_names *n);

/* Returns `symbol`, or SYMBOL_NONE where being strict forbids it. The image's table must be loaded. */
uint32_t resolve_names_admit(const struct resolve_names *n, uint32_t image, uint32_t symbol);

/* Gives names to code from jitdumps; `jit` is borrowed (NULL: none). To be called before the first lookup. */
void resolve_names_use_jit(struct resolve_names *n, const struct resolve_jit *jit);

/* The symbol that covers model_hit.offset of an image, loading the image's symbols if need be. `image` may be
 * MODEL_NONE. One thread at a time. */
struct resolve_symbol resolve_names_find(struct resolve_names *n, uint32_t image, uint64_t offset);

/* resolve_names_find for an address that may be a return address: looks at hit->offset - hit->back;
 * resolve_callers_symbol may set hit->back to 0. */
struct resolve_symbol resolve_names_find_caller(struct resolve_names *n, struct model_hit *hit);

/* Whether the frame directly outside of this function holds an exact address (resolve_callers_is_entry).
 * Without a name (`n` may be NULL if nothing has one): no. */
bool resolve_names_is_entry(const struct resolve_names *n, struct resolve_symbol s, enum model_space space);

/* For streams: symbol_store_refresh. True: symbols found in memory without a file are no longer valid. */
bool resolve_names_refresh(struct resolve_names *n);

/* Adds all images of the model, which is frozen, to the store. Then any number of threads may call
 * resolve_names_demand at once. False: out of memory. */
bool resolve_names_prepare(struct resolve_names *n, struct err *err);

/* The image's table, loaded at the first call (one thread loads it, others wait), or NULL if it has none. */
const struct symbol_table *resolve_names_demand(struct resolve_names *n, uint32_t image);

/* Loads the symbols of each image i of `count` with wanted[i], on up to `threads` threads. False: out of
 * memory. */
bool resolve_names_load(struct resolve_names *n, const bool *wanted, uint32_t count, unsigned threads,
                        struct err *err);

/* The table of an image that was loaded in either way; NULL: it has none, or was not loaded. */
const struct symbol_table *resolve_names_table(const struct resolve_names *n, uint32_t image);

/* What resolve_names_new was given. */
const struct model *resolve_names_model(const struct resolve_names *n);
const struct symbol_store *resolve_names_store(const struct resolve_names *n);

/* The unwind tables of an image (symbol_store_frames), loading it if need be. False: there are none. Threads
 * as with resolve_names_demand; before resolve_names_prepare, one at a time. */
bool resolve_names_frames(struct resolve_names *n, uint32_t image, struct symbol_frames *out);

/* Whether the debugging information of an image whose names are loaded may tell source lines and inlined
 * functions, and may be used. Threads as with resolve_names_demand. */
bool resolve_names_has_lines(const struct resolve_names *n, uint32_t image);

/* The image's number in the store, for symbol_store_source and the like; UINT32_MAX: not added yet. */
uint32_t resolve_names_store_id(const struct resolve_names *n, uint32_t image);

/* The name for display (demangled unless the store's options forbid it), or NULL without one. As with
 * symbol_table_shown, one thread per image at a time. */
const char *resolve_names_text(const struct resolve_names *n, struct resolve_symbol s);

#endif
