/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How certain a name is: its grade, and the evidence for that (docs/DESIGN.md, Evidence).
 *
 * Both follow from (image, symbol) alone, so that they are determined once per distinct place, not per
 * sample. What lowers the grade in a single sample (an event that came later than its round, the last frame
 * of a callchain that was cut) is up to the callers.
 *
 *                 the image has names                                it has none
 *   proved            not proved         size guessed         refused as another's     anything else
 *   exact              inferred            inferred                  stale                unknown
 */
#ifndef SONDE_SYMBOL_GRADE_H
#define SONDE_SYMBOL_GRADE_H

#include "symbol/store/store.h"

enum grade {
    GRADE_EXACT,    /* the bytes that gave the name have the identity that was recorded */
    GRADE_INFERRED, /* consistent with all that was recorded, but not proved by it */
    GRADE_STALE,    /* the only candidate is provably not what ran: there is no name */
    GRADE_UNKNOWN,  /* nothing covers the address, or nothing has a name for it */
    GRADE_COUNT
};

/* The grade in words: "exact". */
const char *grade_name(enum grade g);

/* What proves that the bytes that gave the name are those that ran. */
enum symbol_identity {
    SYMBOL_BY_NOTHING,
    SYMBOL_BY_BUILD_ID,
    SYMBOL_BY_COOKIE, /* docs/FORMAT.md */
    SYMBOL_BY_FSTAT,  /* size, times, device and inode are the same as when it was mapped */
    SYMBOL_BY_KERNEL, /* the kernel that it belongs to is proved: lists of symbols, modules, the vdso */
    SYMBOL_BY_RECORD, /* the recording itself has the name */
    SYMBOL_IDENTITY_COUNT
};

/* The identity in words: "build-id", "none". */
const char *symbol_identity_text(enum symbol_identity identity);

/* The list that the name is from. */
enum symbol_list {
    SYMBOL_IN_NONE,
    SYMBOL_IN_SYMTAB,
    SYMBOL_IN_DYNSYM,
    SYMBOL_IN_MINIDEBUG, /* .gnu_debugdata */
    SYMBOL_IN_PLT,       /* made from relocations */
    SYMBOL_IN_DWARF,     /* inlined functions */
    SYMBOL_IN_KALLSYMS,
    SYMBOL_IN_JITDUMP,
    SYMBOL_IN_MAP,     /* perf-PID.map */
    SYMBOL_IN_KSYMBOL, /* the kernel's record of code that it made */
    SYMBOL_LIST_COUNT
};

/* The list in words: "symtab", "perf map"; "none". */
const char *symbol_list_text(enum symbol_list list);

/* Where the names of an image come from, for people: "the build-id cache". */
const char *symbol_origin_text(enum symbol_origin origin);

struct symbol_provenance {
    enum grade grade;
    enum symbol_origin origin;     /* of the image's names; FROM_NOTHING without any */
    enum symbol_identity identity; /* BY_NOTHING for all but exact names and those of guessed size */
    enum symbol_list list;
    const char *path;    /* the file that gave the name, or that was refused; may be NULL */
    const char *why;     /* for people: why the grade is no better; NULL: it is exact */
    const char *support; /* as in struct symbol_source */
    bool has_slide;      /* likewise */
    int64_t slide;
};

/*
 * The grade of a place in an image, after symbol_store_table: `symbol` of its table, SYMBOL_NONE where none
 * covers the place or there is no table. Any number of threads.
 */
enum grade symbol_store_grade(const struct symbol_store *s, uint32_t image, uint32_t symbol);

/* Likewise, with the evidence. Texts live until symbol_store_free. */
struct symbol_provenance symbol_store_provenance(const struct symbol_store *s, uint32_t image,
                                                 uint32_t symbol);

#endif
