/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image says about files that complete it: .gnu_debuglink (GDB manual, "Separate Debug Files"),
 * .gnu_debugaltlink (dwz(1)), and the symbol table that it carries compressed (.gnu_debugdata; GDB manual,
 * "MiniDebugInfo").
 */
#ifndef SONDE_OBJECT_LINKS_H
#define SONDE_OBJECT_LINKS_H

#include "object/build_id.h"
#include "object/elf.h"

struct object_debuglink {
    struct bytes name; /* a file's name without folders (not checked: it may hold slashes); borrowed, without
                          its NUL */
    uint32_t crc;      /* of the whole file */
};

/* False when there is none, or it is cut off or empty. */
bool object_debuglink_read(const struct object_elf *e, struct object_debuglink *out);

/* What .gnu_debuglink's crc is of: CRC-32 as in ISO 3309 and zlib. */
uint32_t object_debuglink_crc(struct bytes file);

struct object_altlink {
    struct bytes name;         /* a path, absolute or relative to the image; borrowed, without its NUL */
    struct object_build_id id; /* of the file it names */
};

/* False when there is none, or it is cut off or its build-id has no or too many bytes. */
bool object_altlink_read(const struct object_elf *e, struct object_altlink *out);

/* The ELF image in .gnu_debugdata, decompressed into `arena`. ERR_ABSENT: there is none; ERR_BROKEN: bad
 * data, or more than is sane; ERR_UNSUPPORTED: built without liblzma. */
bool object_minidebug_read(const struct object_elf *e, struct arena *arena, struct bytes *out,
                           struct err *err);

#endif
