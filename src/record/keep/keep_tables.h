/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of an ELF file are needed to name functions and to walk stacks. */
#ifndef SONDE_RECORD_KEEP_KEEP_TABLES_H
#define SONDE_RECORD_KEEP_KEEP_TABLES_H

#include "base/vec.h"
#include "format/perfdata/kept.h"

typedef VEC(struct perfdata_extent) record_extents;

/* Appends them, ascending and without overlaps: headers, symbols and their names, notes, unwind tables, stubs
 * of the PLT and what names them; with `lines` what tells of source lines and inlined functions, too. False
 * when `file` is no ELF file, has no symbols (unless `lines`), or memory ran out. */
bool record_keep_tables(struct bytes file, bool lines, record_extents *out);

#endif
