/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the entries of files that a recording keeps (format/perfdata/added/kept.h), with those bytes of an
 * ELF file that are needed to name functions and to walk stacks. The store reads them (symbol/store/store.h).
 */
#ifndef SONDE_SYMBOL_SYMBOL_KEPT_H
#define SONDE_SYMBOL_SYMBOL_KEPT_H

#include "base/vec.h"
#include "base/writer.h"
#include "format/perfdata/added/kept.h"

typedef VEC(struct perfdata_extent) symbol_extents;

/* Appends the extents to keep, ascending and without overlaps: headers, symbols and their names, notes,
 * unwind tables, PLT stubs and what names them; with `lines` the DWARF of source lines and inlined functions,
 * too. False: `file` is no ELF file, has no symbols (unless `lines`), or memory ran out. */
bool symbol_kept_tables(struct bytes file, bool lines, symbol_extents *out);

/*
 * Appends an entry for a file: its tables (kinds TABLES and DEBUG; with source lines and inlined functions,
 * if `lines`) or all of it. Fills in the sizes and bytes of `is`. False: nothing was appended, because the
 * file has no tables, memory ran out, or it is larger than `most` bytes unpacked (is->kept_size has the size,
 * else 0).
 */
bool symbol_kept_encode(struct perfdata_kept *is, struct bytes file, bool lines, uint64_t most,
                        struct writer *entries);

#endif
