/* SPDX-License-Identifier: Apache-2.0 */
/* Puts maps of kernel modules' sections into a recording: `inject --kmod-sections`. */
#ifndef SONDE_EDIT_KMOD_H
#define SONDE_EDIT_KMOD_H

#include "edit/copy.h"

struct edit_kmod;

/*
 * Makes the editor. `lines` say where sections are (format/perfdata/added/module_lines.h) and are borrowed
 * like `in`. `rfc`: adds the RFC's KMOD_SEC_MAP records; else MMAP records that any perf understands, one for
 * each section of code that stays loaded, in front of the module's own map. NULL: out of memory.
 */
struct edit_kmod *edit_kmod_new(struct bytes lines, bool rfc, struct stream *in, struct err *err);
void edit_kmod_free(struct edit_kmod *k); /* NULL is allowed */

/* Returns the editor for copy_recording; it belongs to `k`. */
const struct copy_editor *edit_kmod_editor(struct edit_kmod *k);

/* Returns how many records were added. */
uint64_t edit_kmod_count(const struct edit_kmod *k);

#endif
