/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way from a sample to its frames, in whatever form they were recorded: callchains, deferred
 * callchains, call stacks of the processor, dumped stacks. docs/FRAMES.md has the rules.
 *
 *   resolve_sample_read     the addresses, and where each one lies (resolve/chain.h, resolve/locate.h)
 *   resolve_sample_symbol   on demand: the function; which frames hold return addresses (resolve/callers.h)
 *   resolve_sample_grade, ..._evidence, ..._line, ..._inlined   on demand: the rest
 *
 * For one sample at a time. To resolve very many, go by segments (resolve/chain.h) and in batches:
 * resolve/frames.h for profiles, view/script/script_frames.h for text.
 */
#ifndef SONDE_RESOLVE_SAMPLE_H
#define SONDE_RESOLVE_SAMPLE_H

#include "resolve/chain.h"
#include "resolve/lines/resolve_lines.h"
#include "resolve/locate.h"
#include "resolve/resolve_grade.h"

/* What the address of a frame is. */
enum resolve_address_kind {
    RESOLVE_AT_OWN,         /* where the space was left: the sample's own address, or a system call's */
    RESOLVE_AT_RETURN,      /* what the frame inside of it returns to: the call is the byte before */
    RESOLVE_AT_INTERRUPTED, /* what an exception or a signal interrupted */
    RESOLVE_AT_CALL,        /* a call that has not returned, as the processor recorded it */
    RESOLVE_AT_NOTHING,     /* no address: the cookie of a callchain that is not in the recording */
};

struct resolve_sample_frame {
    uint64_t address; /* as recorded */
    struct model_hit hit;
    struct resolve_symbol symbol; /* set by resolve_sample_symbol */
    uint8_t cpumode;              /* PERFDATA_MISC_* */
    uint8_t kind;                 /* enum resolve_address_kind; final once the symbol is known */
    bool named;                   /* `symbol` is set */
    bool inner;                   /* the frame before this one is of the same segment */
    bool ends_early;              /* there was no room for its callers (resolve/resolve_grade.h) */
};

/* A decoded sample, and where it lies in the recording. */
struct resolve_sample_at {
    const struct perfdata_sample *s;
    const struct perfdata_attr *attr; /* its event's */
    unsigned cpumode;                 /* its own */
    struct model_when when;           /* when.order: where it lies in the recording */
};

/* Zeroed at first; the owner sets the borrowed fields and chain.o. One thread each. */
struct resolve_samples {
    struct resolve_locator *locator; /* borrowed, as the next two */
    struct resolve_names *names;     /* NULL: nothing has a name */
    struct resolve_lines *lines;     /* NULL: nothing has a line */
    struct resolve_chain chain;
    VEC(struct resolve_sample_frame) frames; /* of the sample read last, innermost first */
    uint32_t pid;                            /* that sample's */
    struct model_when when;
    bool in_kernel;
};

void resolve_samples_fini(struct resolve_samples *r);

/* Reads the frames of a sample's callchain into r->frames: none without a callchain or with an unusable one.
 * Valid until the next call. False: out of memory. */
bool resolve_sample_read(struct resolve_samples *r, const struct resolve_sample_at *at);

/* The same, but a sample without any gets one frame: its own address, if it has one. */
bool resolve_sample_read_all(struct resolve_samples *r, const struct resolve_sample_at *at);

/* Calls `see` with the id of the image of the sample's own address and of each of its frames, however often
 * the same. r->frames are as after resolve_sample_read. False: out of memory. */
bool resolve_sample_images(struct resolve_samples *r, const struct resolve_sample_at *at,
                           void (*see)(void *ctx, uint32_t image), void *ctx);

/* Makes one address that is not part of a sample, in the space of a cpumode, the only one of r->frames. */
bool resolve_sample_read_address(struct resolve_samples *r, unsigned cpumode, uint32_t pid,
                                 struct model_when when, uint64_t address);

/* The function of a frame, one of r->frames; index is SYMBOL_NONE without one. Makes the frame's hit and kind
 * final, which depend on the frames inside of it. */
struct resolve_symbol resolve_sample_symbol(struct resolve_samples *r, struct resolve_sample_frame *f);

/* The function's name for display, or NULL; *offset (NULL is allowed) is the address's distance from its
 * start. Lives as long as the names, but see resolve_names_text. */
const char *resolve_sample_name(struct resolve_samples *r, struct resolve_sample_frame *f, uint64_t *offset);

/* How certain the name is in this sample. GRADE_UNKNOWN without r->names. */
enum grade resolve_sample_grade(struct resolve_samples *r, struct resolve_sample_frame *f);

/* The evidence for the name. Needs r->names. */
struct resolve_provenance resolve_sample_evidence(struct resolve_samples *r, struct resolve_sample_frame *f);

/* The frame's source line and inlined functions: as resolve_lines_find, resolve_lines_inlined. */
bool resolve_sample_line(struct resolve_samples *r, struct resolve_sample_frame *f, struct object_line *out);
size_t resolve_sample_inlined(struct resolve_samples *r, struct resolve_sample_frame *f,
                              struct object_inline *out, size_t max);

#endif
