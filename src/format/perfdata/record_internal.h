/* SPDX-License-Identifier: Apache-2.0 */
/* The table that says what each record type consists of (record_rows.c), for the engine (record.c). */
#ifndef SONDE_FORMAT_PERFDATA_RECORD_INTERNAL_H
#define SONDE_FORMAT_PERFDATA_RECORD_INTERNAL_H

#include "format/perfdata/record.h"

enum record_kind {
    RECORD_END,
    RECORD_UINT,        /* `arg` bytes wide */
    RECORD_ARRAY,       /* `arg` bytes copied into the struct */
    RECORD_TEXT,        /* struct bytes: all that is left; text to its NUL */
    RECORD_TEXT_MAX,    /* as TEXT, but `arg` bytes at most */
    RECORD_REST,        /* struct bytes: all that is left */
    RECORD_COUNTED,     /* struct bytes: `arg` bytes times the u64 at `other` */
    RECORD_LIST,        /* struct perfdata_u64s: `arg` words times the u64 at `other` */
    RECORD_LIST_IF,     /* as LIST, empty when that many are not there */
    RECORD_LIST_REST,   /* struct perfdata_u64s: all whole words that are left */
    RECORD_READ,        /* struct perfdata_read */
    RECORD_ATTR,        /* struct perfdata_attr, as many bytes as its own size says */
    RECORD_LEFT,        /* no bytes: the u64 is how many are left */
    RECORD_IF_MISC,     /* no bytes: the bool is misc bit `arg` */
    RECORD_IF_LEFT,     /* no bytes: the bool is whether `arg` bytes are left */
    RECORD_IF_AT_LEAST, /* no bytes: the bool is whether the u32 at `other` is at least `arg` */
    RECORD_WHEN,        /* no bytes: the next `arg` fields are there when the bool at `other` is true */
    RECORD_UNLESS,      /* likewise when it is false */
};

/* Offsets are within struct perfdata_record. */
struct record_field {
    const char *name;
    uint8_t kind; /* enum record_kind */
    uint8_t show; /* enum perfdata_value_kind, of numbers */
    uint8_t arg;
    uint16_t member, other;
};

struct record_row {
    const char *name;
    uint32_t min_body; /* bytes of the fields that are always there */
    const struct record_field *fields;
    /* What the fields alone cannot say; NULL, or the reason why the record is bad. May be NULL. */
    const char *(*check)(const struct perfdata_record *rec);
};

/* The row of a type, or NULL when it is unknown. */
const struct record_row *record_row(uint32_t type);

/* The row that unknown types are read by. */
extern const struct record_row RECORD_ROW_OPAQUE;

#endif
