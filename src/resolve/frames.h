/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distinct frames of callchains and the distinct places of samples, each with one 32-bit id: a function
 * where there is a name, else an address. One thread each; the names are shared.
 */
#ifndef SONDE_RESOLVE_FRAMES_H
#define SONDE_RESOLVE_FRAMES_H

#include "base/idtable.h"
#include "base/vec.h"
#include "resolve/names.h"
#include "resolve/places.h"

struct resolve_frame {
    uint64_t address; /* as recorded; a function's: the one seen first */
    uint64_t offset;  /* of `address` in the image; `address` itself without an image */
    uint32_t image;   /* MODEL_NONE: nothing covers the address */
    uint32_t symbol;  /* in the image's table, or SYMBOL_NONE */
    uint8_t cpumode;  /* PERFDATA_MISC_* of the address */
    uint8_t kind;     /* enum resolve_frame_kind */
    uint8_t back;     /* as model_hit.back: symbol and source line are found at offset - back */
    bool entry;       /* the frame directly outside of it holds an exact address (resolve/callers.h) */
    uint32_t place;   /* what resolve_frames_place found, or RESOLVE_NO_FRAME */
};

enum resolve_frame_kind {
    RESOLVE_FUNCTION, /* one per symbol; without a symbol, one per recorded address; see also `inlines` */
    RESOLVE_ADDRESS,  /* one per recorded address */
    RESOLVE_PLACE,    /* one per symbol; without a symbol, one per offset in the image, wherever mapped */
    RESOLVE_OFFSET,   /* one per offset in the image */
};

struct resolve_frame_slot;
struct resolve_frame_spot;

/* An image's symbols, and the frames made of them. */
struct resolve_frame_image {
    const struct symbol_table *table; /* valid once `asked`; NULL: none */
    bool asked;
    bool lined;         /* its functions may have others inlined: RESOLVE_FUNCTION means RESOLVE_OFFSET */
    uint8_t cpumode[2]; /* of the frames in `known` */
    uint32_t *known[2]; /* frames of functions and of places, by symbol; NULL: none yet */
};

struct resolve_frames {
    struct resolve_places *places; /* borrowed */
    struct resolve_names *names;   /* borrowed; NULL: nothing has a name */
    bool inlines; /* set by the owner after resolve_frames_init: what is inlined will be asked for, so named
                     places of images with debugging information have one frame per offset instead of function
                   */
    VEC(struct resolve_frame) list;
    struct idtable by_identity;
    size_t cache_mask; /* of `recent` and the sets of `spots` */
    struct resolve_frame_slot *recent;
    struct resolve_frame_spot *spots;       /* places in images that were looked up lately */
    VEC(struct resolve_frame_image) images; /* up to the highest one looked up */
};

#define RESOLVE_NO_FRAME UINT32_MAX

/* `addresses`: about how many will be looked up, by which caches are made large or small. */
bool resolve_frames_init(struct resolve_frames *f, struct resolve_places *places, struct resolve_names *names,
                         uint64_t addresses, struct err *err);
void resolve_frames_fini(struct resolve_frames *f);
/* Frees all but the list: no more frames are looked up or added. */
void resolve_frames_trim(struct resolve_frames *f);

/* The frame of an exact address as recorded, in the given state of its space. `before_exec`: it may be found
 * with model_find_before_exec too. RESOLVE_NO_FRAME: out of memory. */
uint32_t resolve_frames_at(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                           uint64_t address, enum resolve_frame_kind kind, bool before_exec);

/*
 * The same for many addresses at a time, in steps that prefetch what the next step needs:
 *
 *   resolve_frames_ask      for each address: begins its lookup; `state` is not needed after that
 *   resolve_frames_steps    advances all lookups
 *   resolve_frames_answer   for each address: finishes its lookup and returns the frame
 *
 * New frames are numbered in the order of the answers.
 */
enum { RESOLVE_ASKS_MAX = 512 /* at a time */, RESOLVE_ASK_DONE = 0 };
struct resolve_ask {
    uint64_t address, offset, hash;
    uint32_t image, symbol, id; /* id: the answer, once `stage` is RESOLVE_ASK_DONE */
    uint8_t how, back, stage;
    bool asked_back; /* `back` before the symbol was known */
    bool entry;      /* once answered: as resolve_frame.entry */
};
/* How addresses are looked up, in one number for the functions below; `before_exec` as above. */
unsigned resolve_frames_how(unsigned cpumode, enum resolve_frame_kind kind, bool before_exec);
/* Begins the lookup of an exact address. False: it cannot be made in steps (while execve runs): call
 * resolve_frames_at. */
bool resolve_frames_ask(struct resolve_frames *f, const struct model_state *state, unsigned how,
                        uint64_t address, struct resolve_ask *ask);
/* The same if it is known where the address lies, without `before_exec`: always possible. */
void resolve_frames_ask_at(struct resolve_frames *f, uint32_t image, uint64_t offset, unsigned how,
                           uint64_t address, struct resolve_ask *ask);
void resolve_frames_steps(struct resolve_frames *f, struct resolve_ask *asks, size_t count);
uint32_t resolve_frames_answer_slowly(struct resolve_frames *f, struct resolve_ask *ask);
/* RESOLVE_NO_FRAME: out of memory. */
static inline uint32_t resolve_frames_answer(struct resolve_frames *f, struct resolve_ask *ask) {
    return ask->stage == RESOLVE_ASK_DONE ? ask->id : resolve_frames_answer_slowly(f, ask);
}
/* The RESOLVE_PLACE frame of an exact address (without `before_exec`) for which `ask` found the
 * RESOLVE_FUNCTION frame. RESOLVE_NO_FRAME: out of memory. */
uint32_t resolve_frames_place(struct resolve_frames *f, const struct resolve_ask *ask);

/* Addresses of one context of a callchain (all between two PERF_CONTEXT_* markers), innermost first. */
struct resolve_run {
    const struct model_state *state; /* of their space */
    const uint8_t *at;               /* words as recorded */
    uint64_t count;
    bool swap; /* the words have the other byte order */
    bool cut;  /* at[-8] is an address of the same context whose frame is not wanted */
    uint8_t cpumode, kind;
    bool before_exec; /* as above */
};

/* Begins the lookup of all addresses of a run that is not cut; only right if no frame but the last turns out
 * an `entry`. False: not possible in steps (at a mapping's edge, while execve runs): call
 * resolve_frames_run. */
bool resolve_frames_ask_run(struct resolve_frames *f, const struct resolve_run *run,
                            struct resolve_ask *asks);
/* Finds the frames of a run: ids[i] of address i. What an address means depends on those inside of it: the
 * first is exact, the others are return addresses unless an exception came between. False: out of memory. */
bool resolve_frames_run(struct resolve_frames *f, const struct resolve_run *run, uint32_t *ids);

/* The id of a frame from another list, added unless an equal one is there. RESOLVE_NO_FRAME: out of memory.
 */
uint32_t resolve_frames_add(struct resolve_frames *f, const struct resolve_frame *frame);
/* The same for a frame that was found at another time: its symbol is looked up again where the image's table
 * may be another one by now (`moved`, or memory without a file, whose names may change). */
uint32_t resolve_frames_carry(struct resolve_frames *f, const struct resolve_frame *frame, bool moved);
/* Adds all frames of another list; map[its id] becomes the id here. False: out of memory. */
bool resolve_frames_append(struct resolve_frames *f, const struct resolve_frames *from, uint32_t *map);

#endif
