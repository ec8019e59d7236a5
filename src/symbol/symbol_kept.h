/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of files that a recording keeps (format/perfdata/added/kept.h), made of the files: which bytes of
 * an ELF file are needed to name functions and to walk stacks. The store reads them (symbol/store.h).
 */
#ifndef SONDE_SYMBOL_SYMBOL_KEPT_H
#define SONDE_SYMBOL_SYMBOL_KEPT_H

#include "base/vec.h"
#include "base/writer.h"
#include "format/perfdata/added/kept.h"

typedef VEC(struct perfdata_extent) symbol_extents;

/* Appends them, ascending and without overlaps: headers, symbols and their names, notes, unwind tables, stubs
 * of the PLT and what names them; with `lines` what tells of source lines and inlined functions, too. False
 * when `file` is no ELF file, has no symbols (unless `lines`), or memory ran out. */
bool symbol_kept_tables(struct bytes file, bool lines, symbol_extents *out);

/*
 * Appends an entry of a file with those bytes: its tables (kinds TABLES and DEBUG; with source lines and what
 * was inlined, if `lines`) or all of it. Of `is`, sizes and bytes are filled in. False: nothing was appended,
 * because the file has no tables, or memory ran out, or it is larger than `most` bytes unpacked
 * (is->kept_size says how large, else 0).
 */
bool symbol_kept_encode(struct perfdata_kept *is, struct bytes file, bool lines, uint64_t most,
                        struct writer *entries);

#endif
