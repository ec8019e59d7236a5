/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive --scrub: takes from a recording what tells of people and machines, and leaves what the profile is
 * made of. All changes keep sizes, so that whatever points into the recording still does.
 *
 *   folders in paths   each becomes another word of its length, the same wherever it stands; the last part
 *                      stays, and so does what is no path ([vdso], //anon) and the kernel's own /lib/modules
 *   addresses          all of user space from 64 GiB on move by one random number of pages, all of the kernel
 *                      by another of 2 MiB; what is lower, and the fixed pages at the top, stay; what no CPU
 *                      has for an address becomes one number
 *   registers, stacks  what is no address of code or of a stack becomes 0
 */
#ifndef SONDE_EDIT_SCRUB_H
#define SONDE_EDIT_SCRUB_H

#include "edit/copy.h"

struct edit_scrub;

/* `random`: decides where addresses move to. `in` is borrowed, and of this machine's byte order. NULL:
 * memory.
 */
struct edit_scrub *edit_scrub_new(uint64_t random, struct stream *in, struct err *err);
void edit_scrub_free(struct edit_scrub *s); /* NULL is allowed */

/* Borrowed. Refuses (ERR_UNSUPPORTED) records whose addresses it does not find: of AUX data. */
const struct copy_editor *edit_scrub_editor(struct edit_scrub *s);

/* How many records were left out so far: samples of no event or shorter than their fields, records of unknown
 * types and such as do not hold what their type has. What stands in them cannot be found. */
uint64_t edit_scrub_left_out(const struct edit_scrub *s);

/* Where an address of either space moves to. */
uint64_t edit_scrub_address(const struct edit_scrub *s, uint64_t address);

/* A path in place; of a `whole` one the last part too. Anything that does not begin with / stays. */
void edit_scrub_path(struct edit_scrub *s, uint8_t *text, size_t size, bool whole);

/* Of the lines that tell of a kernel (docs/FORMAT.md): edit_scrub_digits, and the boot's id. */
void edit_scrub_lines(const struct edit_scrub *s, uint8_t *text, size_t size);

/* Of a text: addresses of the kernel, which have 16 hexadecimal digits there. */
void edit_scrub_digits(const struct edit_scrub *s, uint8_t *text, size_t size);

/* Paths that end with a NUL, in bytes of any kind. */
void edit_scrub_strings(struct edit_scrub *s, uint8_t *bytes, size_t size);

#endif
