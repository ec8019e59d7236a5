/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive --scrub: removes what tells of people and machines from a recording, and keeps the profile. No
 * change alters a size, so that offsets in the recording stay valid.
 *
 *   folders in paths   each becomes another word of its length, the same wherever it occurs; the last part
 *                      stays, and so do names that are no paths ([vdso], //anon) and the kernel's own
 *                      /lib/modules
 *   addresses          in user space from 64 GiB on all move by one random number of pages, in the kernel by
 *                      another of 2 MiB; lower ones, and the fixed pages at the top, stay; impossible ones
 *                      all become the same number
 *   registers, stacks  values that are no address of code or of a stack become 0
 */
#ifndef SONDE_EDIT_SCRUB_H
#define SONDE_EDIT_SCRUB_H

#include "edit/copy.h"

struct edit_scrub;

/* Makes the editor. `random` decides how far addresses move. `in` is borrowed, and in this machine's byte
 * order. NULL: out of memory. */
struct edit_scrub *edit_scrub_new(uint64_t random, struct stream *in, struct err *err);
void edit_scrub_free(struct edit_scrub *s); /* NULL is allowed */

/* Returns the editor, which is borrowed. It refuses (ERR_UNSUPPORTED) AUX records, whose addresses cannot be
 * found. */
const struct copy_editor *edit_scrub_editor(struct edit_scrub *s);

/* Returns how many records were left out so far, because their contents are not known: samples of no event or
 * shorter than their fields, records of unknown types, and malformed ones. */
uint64_t edit_scrub_left_out(const struct edit_scrub *s);

/* Returns the new value of an address of either space. */
uint64_t edit_scrub_address(const struct edit_scrub *s, uint64_t address);

/* Scrubs a path in place; if it is `whole`, the last part too. Text that does not begin with / stays. */
void edit_scrub_path(struct edit_scrub *s, uint8_t *text, size_t size, bool whole);

/* Scrubs lines that describe a kernel (docs/FORMAT.md): edit_scrub_digits, and the boot's id. */
void edit_scrub_lines(const struct edit_scrub *s, uint8_t *text, size_t size);

/* Moves the kernel addresses in a text, which have 16 hexadecimal digits there. */
void edit_scrub_digits(const struct edit_scrub *s, uint8_t *text, size_t size);

/* Scrubs the paths that end with a NUL in arbitrary bytes. */
void edit_scrub_strings(struct edit_scrub *s, uint8_t *bytes, size_t size);

#endif
