/* SPDX-License-Identifier: Apache-2.0 */
/* GNU build-ids of ELF images (the note NT_GNU_BUILD_ID of the owner "GNU": elf(5), ld --build-id). */
#ifndef SONDE_OBJECT_BUILD_ID_H
#define SONDE_OBJECT_BUILD_ID_H

#include "base/bytes.h"

enum { OBJECT_BUILD_ID_MAX = 64 }; /* bytes; ld makes 8, 16 or 20, or as many as it is told */

struct object_build_id {
    uint8_t size; /* 0: none */
    uint8_t bytes[OBJECT_BUILD_ID_MAX];
};

/* True for bytes that begin like an ELF file. */
bool object_is_elf(struct bytes file);

/* The build-id of an ELF image of either class and byte order, from its note segments or, without any
 * (relocatable files), its note sections. False when there is none, or the file is no ELF. */
bool object_build_id_read(struct bytes elf, struct object_build_id *out);

/* The build-id among bare notes of this machine's byte order: /sys/kernel/notes,
 * /sys/module/NAME/notes/.note.gnu.build-id. */
bool object_build_id_in_notes(struct bytes notes, struct object_build_id *out);

#endif
