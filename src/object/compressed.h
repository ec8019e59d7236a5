/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed bytes in memory -> bytes in an arena, with every size bounded before it is believed; and back.
 */
#ifndef SONDE_OBJECT_COMPRESSED_H
#define SONDE_OBJECT_COMPRESSED_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/writer.h"

enum object_compression {
    OBJECT_PLAIN,
    OBJECT_ZLIB, /* RFC 1950: ELF sections */
    OBJECT_GZIP, /* RFC 1952: .ko.gz */
    OBJECT_XZ,   /* .ko.xz, .gnu_debugdata; and .lzma files */
    OBJECT_ZSTD, /* RFC 8878 */
};

/* By the first bytes. OBJECT_PLAIN for anything else. Never OBJECT_ZLIB, which has no magic. */
enum object_compression object_compression_of(struct bytes b);

/* Whether `packed` bytes may become `size`: zlib's limit is 1032 bytes for one, and no section is over 4 GiB.
 */
bool object_decompressed_size_sane(uint64_t packed, uint64_t size);

/*
 * Exactly `size` bytes out of `packed`, in `arena` (out->data NULL when size is 0). ERR_BROKEN: the data are
 * bad, or make another size, or `size` is more than such data can hold or than a real section has;
 * ERR_UNSUPPORTED: built without the library, which the message names.
 */
bool object_decompress_sized(enum object_compression kind, struct bytes packed, uint64_t size,
                             struct arena *arena, struct bytes *out, struct err *err);

/* The same into `size` bytes at `out`, of which some are written also on failure. */
bool object_decompress_into(enum object_compression kind, struct bytes packed, uint8_t *out, size_t size,
                            struct err *err);

/* As much as `packed` makes, one or more frames or members up to its end; at most `max` bytes, more is
 * ERR_BROKEN. Memory is taken as the data come, not as they claim. Not for OBJECT_PLAIN. */
bool object_decompress(enum object_compression kind, struct bytes packed, uint64_t max, struct arena *arena,
                       struct bytes *out, struct err *err);

/* Appends `plain` as a zstd frame of its own or, in a build without zstd or where that is no shorter, as it
 * is. False when memory ran out. */
bool object_compress(struct bytes plain, struct writer *w);

#endif
