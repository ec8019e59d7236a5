/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of an address, as text: " sym+0x1f (dso)". The text of each place of an image is made once
 * for each set of fields and kept, as most frames of a recording occur many times.
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_NAMES_H
#define SONDE_VIEW_SCRIPT_SCRIPT_NAMES_H

#include "base/text/out.h"
#include "base/vec.h"
#include "format/perfdata/perfdata_sample.h"
#include "model/model.h"
#include "resolve/lines/resolve_lines.h"
#include "resolve/locate.h"
#include "resolve/resolve_grade.h"
#include "view/script/script_fields.h"
#include "view/script/script_texts.h"

/* A text, not NUL-terminated; SCRIPT_TEXT_SLACK bytes from its start can be read even if it is shorter. */
struct script_text {
    const char *text;
    uint32_t len;
    uint8_t grade; /* enum grade of the place; GRADE_UNKNOWN if no name was wanted */
    bool entry;    /* the next frame's address is exact; set only where it matters */
};

static inline void script_text_put(struct out *o, struct script_text t) {
    /* Nearly all are short: fixed-size copies are faster than ones of the exact size. */
    enum { HALF = SCRIPT_TEXT_SLACK / 2 };
    char *to = out_room(o, SCRIPT_TEXT_SLACK);
    memcpy(to, t.text, HALF);
    if (t.len > HALF)
        memcpy(to + HALF, t.text + HALF, HALF);
    if (__builtin_expect(t.len <= SCRIPT_TEXT_SLACK, 1))
        o->len += t.len;
    else
        out_mem(o, t.text, t.len);
}

/* Kinds of events differ in their fields; this many sets of fields have texts that are kept. */
enum { SCRIPT_STYLES_MAX = 16, SCRIPT_STYLE_BITS = 5 };

/* The numbers of two sets: for exact places and for those with hit->back. */
struct script_styles {
    uint32_t exact, caller;
};

struct script_names {
    const struct model *model;   /* borrowed */
    struct resolve_names *names; /* borrowed; NULL: no functions are named */
    struct resolve_lines *lines; /* borrowed; NULL: no lines are named */
    bool full_paths;             /* --full-source-path */
    bool inlines;                /* callchains show what was inlined */
    bool kernel_path;            /* --show-kernel-path */
    struct symbol_store *store;  /* borrowed, may be NULL: knows the paths of kernel images */

    VEC(uint64_t) styles; /* masks of SCRIPT_BIT whose texts are kept */
    uint64_t styled;      /* the fields of the last call of script_names_styles; 0: none yet */
    struct script_styles last_styles;
    struct script_texts texts;
    struct out scratch;
    uint64_t grades[GRADE_COUNT];   /* number of texts printed for frames and places */
    struct resolve_locator locator; /* finds what is mapped at addresses */
};

/* Fields that say what is at an address. */
#define SCRIPT_NEWLINE (1ull << 63) /* extra bit of a field mask: a newline at the end */
#define SCRIPT_PLACE_FIELDS                                                                             \
    (SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE) | \
     SCRIPT_EVIDENCE)

/* Fields that may show a number. */
#define SCRIPT_NUMBERED (SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE))

/* Another such bit: a single sample's frame cannot be `exact`, since it is the outermost one of a callchain
 * that was cut (resolve/resolve_grade.h). */
#define SCRIPT_DOUBT (1ull << 61)

/* Prepares `n`. False: out of memory. */
bool script_names_init(struct script_names *n, const struct model *model);
void script_names_fini(struct script_names *n);

/* Drops all texts, after names have changed (resolve_names_refresh). */
void script_names_forget(struct script_names *n);

/* Whether the caller of the frame at a place, as resolve_locate_return gives it, has an exact address. */
bool script_names_settled_entry(struct script_names *n, uint64_t fields, struct model_hit hit);

/* Returns the function there; index is SYMBOL_NONE without one. */
struct resolve_symbol script_names_symbol_id(struct script_names *n, const struct model_hit *hit);

/* Returns its name, or NULL; *offset is the address's distance from its start. */
const char *script_names_symbol(struct script_names *n, const struct model_hit *hit, uint64_t *offset);

/* Returns the grade of the name there, which is loaded. GRADE_UNKNOWN if functions are not named at all. */
enum grade script_names_grade(struct script_names *n, const struct model_hit *hit);

/* Prints what replaces a name: "[unknown]", or "[stale] libc.so.6+0x1234" (docs/DESIGN.md, Evidence). */
void script_names_put_nameless(struct script_names *n, const struct model_hit *hit, struct out *o);

/* Returns perf's name of the image; "[unknown]" without one. */
const char *script_names_dso(struct script_names *n, const struct model_hit *hit);

/* Makes the key of a place's text for a set of fields. False: it cannot be kept. No key's `place` is
 * SCRIPT_PLACE_NONE. */
#define SCRIPT_PLACE_NONE UINT32_MAX
bool script_names_key(struct script_names *n, uint64_t fields, const struct model_hit *hit, uint64_t address,
                      struct script_text_key *key);

/* Does the same in two steps, for fields that show no number: this one once for all places,
 * script_names_key_of for each. False: their texts cannot be kept. */
bool script_names_styles(struct script_names *n, uint64_t fields, struct script_styles *out);
/* Whether keys have room for the image, as they have for MODEL_NONE. */
static inline bool script_names_has_room(uint32_t image) {
    return image < UINT32_MAX >> SCRIPT_STYLE_BITS || image == MODEL_NONE;
}
/* `offset` is 0 without an image. */
static inline struct script_text_key script_names_key_of(uint32_t style, uint32_t image, uint64_t offset) {
    return script_text_key_of(offset, image << SCRIPT_STYLE_BITS | style);
}

/* Returns the kept text of a place by its key; 0: there is none. The text of a place where something is
 * inlined has the address in it, and is kept for that. */
static inline struct script_text_key script_names_address_key(struct script_text_key key, uint64_t address) {
    return script_text_key_of(~address, key.place | SCRIPT_STYLES_MAX);
}
static inline script_text_ref script_names_find(const struct script_names *n, struct script_text_key key,
                                                uint64_t address) {
    script_text_ref ref = script_texts_find(&n->texts, key);
    if (__builtin_expect(ref == SCRIPT_TEXT_BY_ADDRESS, 0))
        ref = script_texts_find(&n->texts, script_names_address_key(key, address));
    return ref;
}

/* Returns everything that follows an address, as the fields say. Valid until the next call; if it is kept by
 * a key, until script_names_fini. */
struct script_text script_names_text(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                                     uint64_t address);

#endif
