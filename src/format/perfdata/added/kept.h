/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a recording keeps because they would be gone when it is read (docs/FORMAT.md, "Kept files"): the
 * content of PERFDATA_PART_KEPT, entries one after the other, each a multiple of 8 bytes. What was not kept
 * of a file reads as zeros, so that all offsets in it stay what they were.
 *
 *   | fields | name, NUL, padding | evidence | extents: offset, size ... | their bytes, packed; padding |
 */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_KEPT_H
#define SONDE_FORMAT_PERFDATA_ADDED_KEPT_H

#include "format/perfdata/added/evidence.h"

enum perfdata_kept_kind {
    PERFDATA_KEPT_TABLES = 1, /* an ELF file's headers, symbol tables, unwind tables and notes */
    PERFDATA_KEPT_WHOLE = 2,  /* an ELF file */
    PERFDATA_KEPT_MAP = 3,    /* perf-PID.map */
    PERFDATA_KEPT_JITDUMP = 4,
    PERFDATA_KEPT_KALLSYMS = 5, /* a kernel's list of its symbols; evidence: the kernel's build-id */
    PERFDATA_KEPT_DEBUG = 6,    /* likewise of the separate debug file of an image of that build-id */
};

struct perfdata_extent {
    uint64_t offset, size; /* in the file, bytes */
};

struct perfdata_kept {
    uint32_t kind, pid;                /* pid: whose file it was; of images, a process that mapped it */
    struct bytes name;                 /* as mapped, or the path of a map; without its NUL */
    struct perfdata_evidence evidence; /* of images: build-id, or the file's state; else empty */
    uint64_t file_size;
    uint32_t extent_count;
    uint64_t kept_size;   /* all extents' sizes together */
    struct bytes packed;  /* their bytes: one zstd frame, or as they are if packed.size == kept_size */
    struct bytes extents; /* encoded: perfdata_kept_extent */
};

/* No real program is larger; what claims to be is no entry. */
static const uint64_t PERFDATA_KEPT_FILE_MAX = (uint64_t)4 << 30;

/* Appends an entry; of `k`, extents and extent_count are ignored, all else is borrowed for the call. */
void perfdata_kept_encode(const struct perfdata_kept *k, const struct perfdata_extent *extents, size_t count,
                          struct writer *w);

/* The next entry of *rest, its spans pointing into it; false at the end, or when what is left makes no sense.
 * Extents ascend, do not overlap and lie inside file_size, which is at most PERFDATA_KEPT_FILE_MAX. */
bool perfdata_kept_next(struct bytes *rest, bool swap, struct perfdata_kept *out);

/* Extent `index` < extent_count of an entry. */
struct perfdata_extent perfdata_kept_extent(const struct perfdata_kept *k, bool swap, uint32_t index);

#endif
