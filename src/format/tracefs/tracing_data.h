/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording says about its tracepoints: the content of the header
 * feature TRACING_DATA, or the payload after a HEADER_TRACING_DATA record.
 * The layout is the opening part of a trace.dat file, versions 0.5 and 0.6
 * (trace-cmd.dat(5)), less its file header's later sections:
 *
 *   17 08 44 "tracing"  version NUL  endian:u8  long size:u8  page size:u32
 *   "header_page" NUL   size:u64 text      "header_event" NUL size:u64 text
 *   count:u32 x { size:u64 text }                                  ftrace's own events
 *   count:u32 x { system NUL count:u32 x { size:u64 text } }       events by system
 *   size:u32 kallsyms   size:u32 printk formats
 *   size:u64 saved command lines                                   0.6 only
 *
 * Numbers are in the byte order that the endian byte names, whatever the
 * recording's own. Each text is the event's "format" file of tracefs.
 */
#ifndef SONDE_FORMAT_TRACEFS_TRACING_DATA_H
#define SONDE_FORMAT_TRACEFS_TRACING_DATA_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "base/writer.h"

/* All spans are borrowed from the bytes given to tracing_data_parse; names are not NUL-terminated. */
struct tracing_event {
    struct bytes format; /* the whole text */
    struct bytes system; /* "ftrace" for ftrace's own */
    struct bytes name;   /* empty when the text has no "name:" line */
    uint64_t id;         /* attr.config of the event */
    bool has_id;
};

struct tracing_system {
    struct bytes name;
    uint32_t first, count; /* in tracing_data.events */
};

struct tracing_data {
    struct bytes version; /* "0.5", "0.6" */
    bool big_endian;
    uint8_t long_size;  /* bytes of the recorded kernel's long */
    uint32_t page_size; /* bytes */
    struct bytes header_page, header_event;
    uint32_t ftrace_count; /* the first so many events are ftrace's own */
    VEC(struct tracing_event) events;
    VEC(struct tracing_system) systems;
    struct bytes kallsyms, printk, cmdlines;
    size_t size; /* bytes that all of this took; padding may follow */
    bool cut;    /* the bytes end before the layout does; what is above was whole */
    struct hash_map by_id;
};

/*
 * Reads what is there: a blob that ends early, or claims more than it holds, gives the whole parts before
 * that and `cut`. False when the magic is missing (ERR_BROKEN) or memory ran out. Free with
 * tracing_data_fini, also after a failure.
 */
bool tracing_data_parse(struct bytes blob, struct tracing_data *out, struct err *err);
void tracing_data_fini(struct tracing_data *td);

/* The event with this id, or NULL. */
const struct tracing_event *tracing_data_find(const struct tracing_data *td, uint64_t id);

/* The next line of a text, without its newline; *rest becomes what follows. False at the end. */
bool tracing_line_next(struct bytes *rest, struct bytes *line);

/* A "field:" line of a format text. */
struct tracing_field {
    struct bytes declaration; /* "char prev_comm[16]" */
    struct bytes name;        /* "prev_comm" */
    uint32_t offset, size;    /* bytes, in the raw data */
    bool is_signed, has_sign; /* has_sign: the line says so; old kernels' do not */
    bool common;              /* one of the fields that every event starts with (common_type...) */
};

/* The fields of a format text in their order: start with *rest = event->format; false at the end. A line that
 * is no field, or whose numbers do not fit, is skipped. */
bool tracing_field_next(struct bytes *rest, struct tracing_field *out);

/* Writes the blob again, byte for byte when it was whole (w->swap is ignored: big_endian decides). */
void tracing_data_encode(const struct tracing_data *td, struct writer *w);

#endif
