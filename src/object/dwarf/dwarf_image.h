/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image's DWARF, ready for a library: in an ELF image of nothing but debug sections, decompressed, in
 * memory of its own. libelf decompresses in place, which a read-only map does not allow, and into as much
 * memory as a section claims, which nobody should.
 */
#ifndef SONDE_OBJECT_DWARF_IMAGE_H
#define SONDE_OBJECT_DWARF_IMAGE_H

#include "object/elf.h"

struct object_dwarf_image {
    struct bytes bytes; /* `own`, or, when nothing needs changing, the whole image that was given */
    uint8_t *own;       /* malloc()ed, or NULL */
};

/*
 * Checks every debug section of `e`, and copies them if one is compressed. Without `alt` the reference to a
 * dwz file
 * (.gnu_debugaltlink) is left out, so that no library goes and looks for it. ERR_ABSENT: it has none;
 * ERR_BROKEN: a section outside the file, bad compressed data, impossible sizes; ERR_UNSUPPORTED: built
 * without what decompresses them.
 */
bool object_dwarf_image_init(const struct object_elf *e, bool alt, struct object_dwarf_image *out,
                             struct err *err);
void object_dwarf_image_fini(struct object_dwarf_image *d);

#endif
