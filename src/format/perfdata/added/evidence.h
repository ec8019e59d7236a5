/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sonde adds to recordings where perf does not look (docs/FORMAT.md, "What sonde adds"): what is known
 * of a mapped file, in the tail of its MMAP2 record; and boxes of tagged parts in front of and after what
 * perf knows of a file. In the recording's byte order.
 *
 *   MMAP2:  | fields | name, NUL, padding to 8 | tail: magic, version, size, items | sample_id |
 *   box:    | parts, each padded to 8 | table: tag, flags, offset, size | footer |
 */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_EVIDENCE_H
#define SONDE_FORMAT_PERFDATA_ADDED_EVIDENCE_H

#include "base/writer.h"

enum { PERFDATA_COOKIE_BYTES = 16 };

/* fstat(2) of a file when the record of its mapping was taken. */
struct perfdata_file_state {
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
};

struct perfdata_evidence {
    bool has_state;
    struct perfdata_file_state state;
    uint8_t build_id_size; /* 0: none; not in the record's own fields */
    uint8_t build_id[20];
    bool has_cookie;
    uint8_t cookie[PERFDATA_COOKIE_BYTES]; /* object/cookie.h */
    bool id_later; /* the record's build-id was put in when the recording was over: that of whatever had the
                      name then */
    struct bytes kernel; /* of a kernel's own map: the lines of kernel_facts.h; borrowed; empty: none */
};

/* Appends a tail. */
void perfdata_evidence_encode(const struct perfdata_evidence *e, struct writer *w);

/* Where a tail lies in an MMAP2's filename area: after a name of `name_size` bytes, its NUL and padding.
 * Empty: there is nothing. */
static inline struct bytes perfdata_evidence_area(struct bytes filename_area, size_t name_size) {
    /* A name without a NUL fills the area. */
    size_t at = (name_size + 8) & ~(size_t)7;
    return at < filename_area.size ? (struct bytes){filename_area.data + at, filename_area.size - at}
                                   : (struct bytes){NULL, 0};
}

/* Reads the tail out of an MMAP2's filename area (perfdata_mmap2.filename). False when there is none. Items
 * that nobody knows are stepped over. */
bool perfdata_evidence_decode(struct bytes filename_area, bool swap, struct perfdata_evidence *out);
/* The same of a tail that stands at the beginning of `b`. */
bool perfdata_evidence_read(struct bytes b, bool swap, struct perfdata_evidence *out);

/* --- boxes --- */

enum perfdata_part_tag {
    PERFDATA_PART_IMAGES = 1,   /* trailer: perfdata_image_evidence, one after the other */
    PERFDATA_PART_SECTIONS = 2, /* preamble: where modules' sections lie; text */
    PERFDATA_PART_MODULES = 3,  /* trailer: modules that came and went while recording; text */
    PERFDATA_PART_KEPT = 4,     /* trailer: files that may be gone: format/perfdata/added/kept.h */
    PERFDATA_PART_KERNEL = 5,  /* trailer: which boot of which kernel: format/perfdata/added/kernel_facts.h */
    PERFDATA_PART_CLOCK = 6,   /* preamble, trailer: format/perfdata/added/clock_pair.h */
    PERFDATA_PART_ENDING = 7,  /* preamble: format/perfdata/added/ending.h */
    PERFDATA_PART_UNWOUND = 8, /* trailer: format/perfdata/added/unwound.h */
};

struct perfdata_part {
    uint32_t tag;
    struct bytes content; /* borrowed */
};

/* Appends a box; a multiple of 8 bytes when w->size is one. Nothing for no parts. */
void perfdata_box_encode(const struct perfdata_part *parts, size_t count, struct writer *w);

/* The size of the box that ends with `before`'s last byte, 0 when there is none or it is damaged (its
 * checksum is wrong). */
uint64_t perfdata_box_size(struct bytes before, bool swap);

/* Part `index` of a whole box; false when there is none. */
bool perfdata_box_part(struct bytes box, bool swap, uint32_t index, struct perfdata_part *out);

/* Puts another content, as long as the old one, into a box of this machine's byte order. Where the content
 * lies: in front of it nothing has changed; `size` when the box has no such part. */
size_t perfdata_box_replace(uint8_t *box, size_t size, uint32_t tag, struct bytes content);

/* An image's name and evidence, as a record of PERFDATA_PART_IMAGES. */
void perfdata_image_evidence_encode(struct bytes name, const struct perfdata_evidence *e, struct writer *w);
/* The next one of *rest; false at the end, or when what is left makes no sense. */
bool perfdata_image_evidence_next(struct bytes *rest, bool swap, struct bytes *name,
                                  struct perfdata_evidence *out);

#endif
