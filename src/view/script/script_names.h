/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of an address, as text: " sym+0x1f (dso)". Each distinct place of an image is looked up and
 * put together once for each set of fields, and remembered: most frames of a recording were there before.
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_NAMES_H
#define SONDE_VIEW_SCRIPT_SCRIPT_NAMES_H

#include "base/out.h"
#include "base/vec.h"
#include "format/perfdata/perfdata_sample.h"
#include "model/model.h"
#include "resolve/locate.h"
#include "resolve/resolve_grade.h"
#include "resolve/resolve_lines.h"
#include "view/script/script_fields.h"
#include "view/script/script_texts.h"

/* A text, not NUL-terminated; SCRIPT_TEXT_SLACK bytes from its start can be read even if it is shorter. */
struct script_text {
    const char *text;
    uint32_t len;
    uint8_t grade; /* enum grade of the place; where no name was asked for GRADE_UNKNOWN */
    bool entry;    /* the next frame's address is exact; of frames where it matters */
};

static inline void script_text_put(struct out *o, struct script_text t) {
    /* Nearly all are short: copies of known sizes beat one of the right size. */
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

/* Kinds of events differ in their fields; so many sets are remembered, others are put together each time. */
enum { SCRIPT_STYLES_MAX = 16, SCRIPT_STYLE_BITS = 5 };

/* The numbers of two sets: of exact places' and of those with hit->back. */
struct script_styles {
    uint32_t exact, caller;
};

struct script_names {
    const struct model *model;   /* borrowed */
    struct resolve_names *names; /* borrowed; NULL: no functions are named */
    struct resolve_lines *lines; /* borrowed; NULL: no lines are named */
    bool full_paths;             /* --full-source-path */
    bool inlines;                /* --inline: callchains show what was inlined */
    bool raw_names;              /* --no-demangle, for those */
    bool kernel_path;            /* --show-kernel-path */
    struct symbol_store *store;  /* borrowed, may be NULL: knows what a kernel's image is called */

    VEC(uint64_t) styles; /* masks of SCRIPT_BIT that have texts */
    uint64_t styled;      /* the fields that script_names_styles was asked of last; 0: not yet */
    struct script_styles last_styles;
    struct script_texts texts;
    struct out scratch;
    uint64_t grades[GRADE_COUNT];   /* texts given out: frames and places */
    struct resolve_locator locator; /* where addresses lie */
};

/* Fields that say what is at an address. */
#define SCRIPT_NEWLINE (1ull << 63) /* beside the fields: a newline at the end */
#define SCRIPT_PLACE_FIELDS                                                                             \
    (SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE) | \
     SCRIPT_EVIDENCE)

/* Those that may show a number. */
#define SCRIPT_NUMBERED (SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE))

/* Beside them, what costs a single sample's frame its `exact`: it is the outermost one of a callchain that
 * was cut (resolve/resolve_grade.h). */
#define SCRIPT_DOUBT (1ull << 61)

/* False: memory. */
bool script_names_init(struct script_names *n, const struct model *model);
void script_names_fini(struct script_names *n);

/* Names changed (resolve_names_refresh): everything is asked for anew. */
void script_names_forget(struct script_names *n);

/* Whether the frame directly outside of a place, as resolve_locate_return gives it, holds an exact address.
 */
bool script_names_settled_entry(struct script_names *n, uint64_t fields, struct model_hit hit);

/* The function there; index is SYMBOL_NONE without one. */
struct resolve_symbol script_names_symbol_id(struct script_names *n, const struct model_hit *hit);

/* Its name, or NULL; *offset is the address's distance from its start. */
const char *script_names_symbol(struct script_names *n, const struct model_hit *hit, uint64_t *offset);

/* How sure the name there is; loads it. GRADE_UNKNOWN where functions are not named at all. */
enum grade script_names_grade(struct script_names *n, const struct model_hit *hit);

/* What stands in place of a name: "[unknown]", or "[stale] libc.so.6+0x1234" (docs/DESIGN.md, Evidence). */
void script_names_put_nameless(struct script_names *n, const struct model_hit *hit, struct out *o);

/* What perf calls the image; "[unknown]" without one. */
const char *script_names_dso(struct script_names *n, const struct model_hit *hit);

/* What tells the text of a place apart, for a set of fields. False: it cannot be kept. No key's `place` is
 * SCRIPT_PLACE_NONE. */
#define SCRIPT_PLACE_NONE UINT32_MAX
bool script_names_key(struct script_names *n, uint64_t fields, const struct model_hit *hit, uint64_t address,
                      struct script_text_key *key);

/* The same in two steps, where the fields show no number: once for all places, and for each. False: their
 * keys cannot be kept. */
bool script_names_styles(struct script_names *n, uint64_t fields, struct script_styles *out);
/* Whether keys have room for it, as they have for MODEL_NONE. */
static inline bool script_names_has_room(uint32_t image) {
    return image < UINT32_MAX >> SCRIPT_STYLE_BITS || image == MODEL_NONE;
}
/* `offset` is 0 without an image. */
static inline struct script_text_key script_names_key_of(uint32_t style, uint32_t image, uint64_t offset) {
    return script_text_key_of(offset, image << SCRIPT_STYLE_BITS | style);
}

/* Everything that follows an address, as far as the fields ask. Valid until the next call; what is kept by a
 * key until script_names_fini. */
struct script_text script_names_text(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                                     uint64_t address);

#endif
