/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads DWARF 2 to 5 out of borrowed bytes: units, abbreviations, attributes, ranges and lines, of whole and
 * of split files, and of those that dwz made. Knows no paths and keeps nothing but what is said here.
 *
 *   file (sections) -> heads (one per unit) -> unit (its bases and abbreviations) -> entries -> attributes
 *
 * Numbers are those of DWARF 5, chapter 7, and of GCC's extensions (https://gcc.gnu.org/wiki/DebugFission).
 * Everything is safe on any bytes. A file is only read once it is open, by any number of threads; a unit is
 * for one thread.
 */
#ifndef SONDE_OBJECT_INDEX_DINFO_H
#define SONDE_OBJECT_INDEX_DINFO_H

#include "base/vec.h"
#include "object/elf.h"

enum dinfo_section {
    DINFO_INFO,
    DINFO_ABBREV,
    DINFO_LINE,
    DINFO_STR,
    DINFO_LINE_STR,
    DINFO_STR_OFFSETS,
    DINFO_ADDR,
    DINFO_RANGES,
    DINFO_RNGLISTS,
    DINFO_CU_INDEX, /* of a .dwp */
    DINFO_SECTIONS,
};

/* Where a unit lies in .debug_info. */
struct dinfo_head {
    uint64_t at, end;
    uint64_t dies, abbrevs; /* its first entry; .debug_abbrev's offset */
    uint64_t id;            /* of skeleton and split units in DWARF 5, or 0 */
    uint16_t version;
    uint8_t type, address_size, offset_size;
};

struct dinfo_file {
    struct bytes sections[DINFO_SECTIONS];
    struct arena arena; /* what was compressed */
    bool swap;
    VEC(struct dinfo_head) heads; /* in ascending order */
};

/* Opens the DWARF of an image, or with `split` that of a .dwo or .dwp. The image stays the caller's. False
 * and *err: ERR_ABSENT: there is none; ERR_BROKEN: sections outside the file, bad compressed data, impossible
 * sizes; ERR_UNSUPPORTED: a relocatable file that is not split, or built without what decompresses a section.
 */
bool dinfo_file_open(const struct object_elf *e, bool split, struct dinfo_file *out, struct err *err);
void dinfo_file_fini(struct dinfo_file *f);

/* The unit in which an offset of .debug_info lies, or NULL. */
const struct dinfo_head *dinfo_file_head(const struct dinfo_file *f, uint64_t offset);

/* --- Abbreviations ---------------------------------------------------------------------------------------
 */

struct dinfo_attr {
    uint16_t name, form;
    int64_t constant; /* of DW_FORM_implicit_const */
};

struct dinfo_abbrev {
    uint64_t code;
    uint16_t tag;
    bool children;
    bool fixed;            /* `size` is that of all attributes together */
    uint32_t first, count; /* attributes */
    uint32_t size;
};

struct dinfo_abbrevs {
    VEC(struct dinfo_abbrev) rows; /* in order of codes */
    VEC(struct dinfo_attr) attrs;
    uint64_t at; /* in .debug_abbrev; UINT64_MAX: not read yet */
    uint8_t address_size, offset_size, version;
};

/* --- Units -------------------------------------------------------------------------------------------------
 */

struct dinfo_unit {
    const struct dinfo_file *file, *alt; /* alt: the dwz file, or NULL */
    const struct dinfo_file *main;       /* the file with .debug_addr: of a split unit that of its skeleton */
    struct bytes abbrev, str_offsets, rnglists, line; /* of this unit: in a .dwp, parts of the sections */
    struct dinfo_head head;
    struct dinfo_abbrevs abbrevs;
    uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
    uint64_t low_pc; /* what ranges are relative to */
    /* Of its first entry. */
    uint16_t tag;
    uint64_t line_at; /* of .debug_line; UINT64_MAX: none */
    const char *folder, *name, *dwo_name;
    uint64_t dwo_id;
    struct dinfo_extent {
        uint64_t low, high, ranges;
        bool has_low, has_high, has_ranges, high_is_size, ranges_are_index;
    } extent; /* of an entry */
};

/* Reads a unit's first entry. False: nothing to be made of it, or memory. dinfo_unit_fini in any case. Bases
 * are those of `skeleton` where the unit is the split one of it (else NULL). */
bool dinfo_unit_open(const struct dinfo_file *f, const struct dinfo_file *alt, const struct dinfo_head *head,
                     const struct dinfo_unit *skeleton, struct dinfo_unit *out);
void dinfo_unit_fini(struct dinfo_unit *u);

/* Restricts a unit of a .dwp to its parts of the sections (DWARF 5, 7.3.5; GCC's version 2). */
void dinfo_unit_slice(struct dinfo_unit *u);

/* The abbreviations of the unit, read at the first call. False: out of memory, or they are broken. */
bool dinfo_unit_read_abbrevs(struct dinfo_unit *u);
const struct dinfo_abbrev *dinfo_abbrev_find(const struct dinfo_abbrevs *a, uint64_t code);

/* --- Attributes --------------------------------------------------------------------------------------------
 */

enum dinfo_kind {
    DINFO_NOTHING,
    DINFO_NUMBER,  /* constants and offsets */
    DINFO_ADDRESS, /* an address */
    DINFO_TEXT,
    DINFO_REF,     /* an offset in .debug_info */
    DINFO_REF_ALT, /* the same in the dwz file */
    DINFO_LIST,    /* an index of a list of ranges or locations */
};

struct dinfo_value {
    enum dinfo_kind kind;
    uint64_t number;
    const char *text; /* NUL-terminated, in a section; NULL: it is not there */
};

/* Reads a value, and moves the cursor to the next. A form that is not known fails the cursor. */
void dinfo_value_read(const struct dinfo_unit *u, struct cursor *c, const struct dinfo_attr *a,
                      struct dinfo_value *out);
void dinfo_value_skip(const struct dinfo_head *head, struct cursor *c, uint64_t form);
/* How many bytes a form takes, or UINT32_MAX if that depends on them. */
uint32_t dinfo_form_size(uint64_t form, unsigned version, unsigned address_size, unsigned offset_size);
/* A text at an offset of a section, or NULL. */
const char *dinfo_text(struct bytes section, uint64_t at);

/* Notes an attribute if it says what code the entry covers. */
void dinfo_extent_add(struct dinfo_extent *x, uint16_t name, const struct dinfo_value *v);

/* --- Ranges ------------------------------------------------------------------------------------------------
 */

struct dinfo_ranges {
    const struct dinfo_unit *unit;
    const struct dinfo_extent *extent;
    struct cursor at;
    uint64_t base;
    bool listed, done;
};

void dinfo_ranges_init(struct dinfo_ranges *r, const struct dinfo_unit *u, const struct dinfo_extent *x);
/* The next range that is not empty, nor of code that the linker left out. False: there are no more. */
bool dinfo_ranges_next(struct dinfo_ranges *r, uint64_t *start, uint64_t *end);

/* --- Lines -------------------------------------------------------------------------------------------------
 */

struct dinfo_line_file {
    const char *folder, *name; /* folder: NULL: none */
};

struct dinfo_line_row {
    uint64_t address;
    uint32_t file, line;
    bool end; /* the address is the first one that the sequence does not cover */
};

struct dinfo_lines {
    VEC(struct dinfo_line_file) files; /* by the number that rows and calls have */
    const char *folder;                /* what relative folders are relative to; NULL: not known */
    VEC(struct dinfo_line_row) rows;   /* as the program made them */
};

/* Runs the unit's line number program. Empty if it has none; false: out of memory. dinfo_lines_fini in any
 * case. */
bool dinfo_lines_read(const struct dinfo_unit *u, struct dinfo_lines *out);
void dinfo_lines_fini(struct dinfo_lines *l);

#endif
