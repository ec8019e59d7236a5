/* SPDX-License-Identifier: Apache-2.0 */
/* Puts maps of kernel modules' sections into a recording: `inject --kmod-sections`. */
#ifndef SONDE_EDIT_KMOD_H
#define SONDE_EDIT_KMOD_H

#include "edit/copy.h"

struct edit_kmod;

/*
 * `lines`: where sections lie (format/perfdata/added/module_lines.h), borrowed like `in`. As the RFC's
 * KMOD_SEC_MAP records, or else as MMAP records that any perf understands, one for each section of code that
 * stays, in front of the module's own map. NULL: memory.
 */
struct edit_kmod *edit_kmod_new(struct bytes lines, bool rfc, struct stream *in, struct err *err);
void edit_kmod_free(struct edit_kmod *k); /* NULL is allowed */

/* To copy with; lives as long. */
const struct copy_editor *edit_kmod_editor(struct edit_kmod *k);

/* How many records were put in. */
uint64_t edit_kmod_count(const struct edit_kmod *k);

#endif
