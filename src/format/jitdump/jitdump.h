/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump files, jit-PID.dump: what a JIT says of the code it makes, as it makes it. A header, then records
 * in either byte order (JITDUMP specification version 2, tools/perf/Documentation of the kernel). Damage ends
 * a file at the record it is in: nothing after a wrong size can be found again.
 */
#ifndef SONDE_FORMAT_JITDUMP_JITDUMP_H
#define SONDE_FORMAT_JITDUMP_JITDUMP_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/writer.h"

#define JITDUMP_MAGIC      0x4a695444u /* "JiTD" */
#define JITDUMP_INLINES_ID 0x534f4e31u /* other readers skip it: docs/FORMAT.md, "Jitdumps" */

enum {
    JITDUMP_VERSION = 1, /* of the header; what the specification calls version 2 kept it */
    JITDUMP_HEADER_SIZE = 40,
    JITDUMP_RECORD_SIZE = 16, /* of a record's own header */
    JITDUMP_FLAG_ARCH_TIMESTAMP = 1,
};

struct jitdump_header {
    uint32_t version, size, machine; /* size: up to the first record; machine: EM_* */
    uint32_t pid;                    /* as the process sees itself, so in its own pid namespace */
    uint64_t time, flags;            /* ns of CLOCK_MONOTONIC, if it follows the advice; JITDUMP_FLAG_* */
};

enum jitdump_type {
    JITDUMP_LOAD,
    JITDUMP_MOVE,
    JITDUMP_DEBUG_INFO,
    JITDUMP_CLOSE,
    JITDUMP_UNWINDING_INFO,
    JITDUMP_INLINES, /* sonde's own, JITDUMP_INLINES_ID in files: what calls were inlined where */
    JITDUMP_TYPES,   /* records of other types are skipped by their size */
};

struct jitdump_load {
    uint32_t pid, tid;
    uint64_t vma, code_addr, code_index;
    struct bytes name, code; /* the name without its NUL */
};

struct jitdump_move {
    uint32_t pid, tid;
    uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

struct jitdump_debug_info {
    uint64_t code_addr, count;
    struct bytes entries; /* for jitdump_line_next */
};

struct jitdump_unwinding {
    struct bytes frame_hdr, frame; /* what .eh_frame_hdr and .eh_frame would hold */
    uint64_t mapped_size;          /* 0: the process itself does not map them */
};

/* Each place has the calls that lie in each other from its address on, up to the next place's. */
struct jitdump_inlines {
    uint64_t code_addr;
    uint32_t sources, places, frames; /* how many: for jitdump_source_next, jitdump_place, jitdump_frame */
    struct bytes source_texts, place_bytes, frame_bytes;
    struct bytes body; /* all of it, for jitdump_inlines_open */
};

struct jitdump_record {
    uint32_t type, size;
    uint64_t time;
    union {
        struct jitdump_load load;
        struct jitdump_move move;
        struct jitdump_debug_info debug_info;
        struct jitdump_unwinding unwinding;
        struct jitdump_inlines inlines;
    };
};

struct jitdump_reader {
    struct bytes file;
    uint64_t at; /* of the next record */
    bool swap;
};

enum jitdump_status { JITDUMP_RECORD, JITDUMP_REFUSED, JITDUMP_END, JITDUMP_BROKEN };

/* Reads the header; the file is borrowed by the reader and all that it gives out. False: this is no jitdump.
 */
bool jitdump_open(struct bytes file, struct jitdump_reader *r, struct jitdump_header *h, struct err *err);

/*
 * The next record. JITDUMP_REFUSED: its contents do not fit into it, *err says so and the next call goes on
 * after it. JITDUMP_BROKEN: it is cut off or its size is impossible, and so the last; *err says where.
 */
enum jitdump_status jitdump_next(struct jitdump_reader *r, struct jitdump_record *rec, struct err *err);

struct jitdump_line {
    uint64_t address;
    uint32_t line, column;
    struct bytes file; /* without its NUL. Writers may shorten the name of the entry before to "\xff" */
};

/* The lines of a DEBUG_INFO record in its order: start with *rest = its entries; false at the end, or where
 * they are cut off. */
bool jitdump_line_next(struct bytes *rest, bool swap, struct jitdump_line *out);

struct jitdump_place {
    uint64_t address;
    uint32_t first, depth; /* frames, innermost first; the last one is the function itself */
};
struct jitdump_frame {
    uint32_t source, line; /* where in it; of all but the innermost, the line of the call */
};
struct jitdump_source {
    struct bytes name, file; /* each with a NUL after it */
};

/* False: they are not as long as they say. */
bool jitdump_inlines_open(struct bytes body, bool swap, struct jitdump_inlines *out);
/* Number `i` < places, and `i` < frames; what they refer to may be senseless. */
struct jitdump_place jitdump_place(const struct jitdump_inlines *in, bool swap, uint32_t i);
struct jitdump_frame jitdump_frame(const struct jitdump_inlines *in, bool swap, uint32_t i);
/* Start with *rest = source_texts; false at the end. */
bool jitdump_source_next(struct bytes *rest, struct jitdump_source *out);

/* Appends what jitdump_open and jitdump_next read, in the writer's byte order. h->size and rec->size are
 * ignored; lines are what jitdump_line_put appended to another writer. */
void jitdump_header_encode(const struct jitdump_header *h, struct writer *w);
void jitdump_record_encode(const struct jitdump_record *rec, struct writer *w);
void jitdump_line_put(const struct jitdump_line *line, struct writer *w);

#endif
