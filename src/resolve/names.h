/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join of the model's images with their symbols: (image, offset) -> symbol.
 *
 *   script   resolve_names_find       per frame: an image's symbols are loaded at the first question, the
 *                                     answer to each distinct question is remembered
 *   report   resolve_names_load       many images at once on threads, then resolve_names_table
 */
#ifndef SONDE_RESOLVE_NAMES_H
#define SONDE_RESOLVE_NAMES_H

#include "base/err.h"
#include "model/model.h"
#include "resolve/jit.h"
#include "symbol/store.h"

/* A symbol of an image; index is SYMBOL_NONE for "no name". */
struct resolve_symbol {
    uint32_t image; /* of the model; MODEL_NONE: nothing covers the address */
    uint32_t index; /* in the image's symbol_table */
};

struct resolve_names;

/* `m` and `store` are borrowed and must live as long; `release` (NULL: not known) is the OSRELEASE feature.
 * NULL: memory. Nothing is opened yet. The model may grow (streaming). */
struct resolve_names *resolve_names_new(const struct model *m, struct symbol_store *store,
                                        const char *release, struct err *err);
void resolve_names_free(struct resolve_names *n); /* NULL is allowed */

/* From now on only what is exact has a name (symbol/grade.h): --strict. To be said before anything is asked.
 */
void resolve_names_be_strict(struct resolve_names *n);
bool resolve_names_strict(const struct resolve_names *n);

/* `symbol`, or SYMBOL_NONE where being strict forbids it. The image's table was asked for. */
uint32_t resolve_names_admit(const struct resolve_names *n, uint32_t image, uint32_t symbol);

/* Lets images of announced code have names; `jit` is borrowed (NULL: none). Before the first question. */
void resolve_names_use_jit(struct resolve_names *n, const struct resolve_jit *jit);

/* The symbol that covers model_hit.offset of an image, loading the image's symbols if need be. `image` may be
 * MODEL_NONE. One thread at a time. */
struct resolve_symbol resolve_names_find(struct resolve_names *n, uint32_t image, uint64_t offset);

/* resolve_names_find for an address that may be a return address: at hit->offset - hit->back, which
 * resolve_callers_symbol may set to 0. */
struct resolve_symbol resolve_names_find_caller(struct resolve_names *n, struct model_hit *hit);

/* Whether the frame directly outside of this function holds an exact address (resolve_callers_is_entry). `n`
 * may be NULL, nothing has a name then. */
bool resolve_names_is_entry(const struct resolve_names *n, struct resolve_symbol s, enum model_space space);

/* For streams: symbol_store_refresh. True: what was answered of memory without a file no longer holds. */
bool resolve_names_refresh(struct resolve_names *n);

/* Makes all the model's images known to the store; the model is frozen. Then resolve_names_demand may be
 * asked by any number of threads at once. False: memory. */
bool resolve_names_prepare(struct resolve_names *n, struct err *err);

/* The image's table, loaded at the first call (of threads that want it at the same time, one loads it), or
 * NULL when it has none. */
const struct symbol_table *resolve_names_demand(struct resolve_names *n, uint32_t image);

/* Loads the symbols of those images i for which wanted[i] (`count` of them), on up to `threads` threads.
 * False: memory. */
bool resolve_names_load(struct resolve_names *n, const bool *wanted, uint32_t count, unsigned threads,
                        struct err *err);

/* The table of an image that was loaded by either way, or NULL when it has none (or was not asked for). */
const struct symbol_table *resolve_names_table(const struct resolve_names *n, uint32_t image);

/* What it was made of. */
const struct model *resolve_names_model(const struct resolve_names *n);
const struct symbol_store *resolve_names_store(const struct resolve_names *n);

/* The unwind tables of an image (symbol_store_frames), loading it if need be. False: there are none. As
 * resolve_names_demand for threads; before resolve_names_prepare, one thread at a time. */
bool resolve_names_frames(struct resolve_names *n, uint32_t image, struct symbol_frames *out);

/* The image's number in the store, for symbol_store_source and its like; UINT32_MAX: it was not asked for. */
uint32_t resolve_names_store_id(const struct resolve_names *n, uint32_t image);

/* The name as people want to read it (demangled unless the store was told not to), or NULL without one. As
 * symbol_table_shown: one thread per image at a time. */
const char *resolve_names_text(const struct resolve_names *n, struct resolve_symbol s);

#endif
