/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distinct frames of callchains and the distinct places of samples, each with one 32-bit id: a function
 * where there is a name, else an address. One thread each; what they know of names is shared.
 */
#ifndef SONDE_RESOLVE_FRAMES_H
#define SONDE_RESOLVE_FRAMES_H

#include "base/idtable.h"
#include "base/vec.h"
#include "resolve/names.h"
#include "resolve/places.h"

struct resolve_frame {
    uint64_t address; /* as recorded, where the frame is one address; a function's: of the one seen first */
    uint64_t offset;  /* of `address` in the image; `address` itself without an image */
    uint32_t image;   /* MODEL_NONE: nothing covers the address */
    uint32_t symbol;  /* in the image's table, or SYMBOL_NONE */
    uint8_t cpumode;  /* PERFDATA_MISC_* of the address */
    uint8_t kind;     /* enum resolve_frame_kind */
    uint8_t back;     /* as model_hit.back: symbol and source line are those of offset - back */
    bool entry;       /* the frame directly outside of it holds an exact address (resolve/callers.h) */
    uint32_t place;   /* resolve_frames_place's business */
};

enum resolve_frame_kind {
    RESOLVE_FUNCTION, /* frames of one symbol are one; without a symbol, of one recorded address */
    RESOLVE_ADDRESS,  /* of one recorded address */
    RESOLVE_PLACE,    /* of one symbol or, without one, of one offset in the image, wherever it was mapped */
    RESOLVE_OFFSET,   /* of one offset in the image */
};

struct resolve_frame_slot;
struct resolve_frame_spot;

/* An image's symbols, and the frames made of them. */
struct resolve_frame_image {
    const struct symbol_table *table; /* once asked; may be NULL */
    bool asked;
    uint8_t cpumode[2]; /* of the frames below */
    uint32_t *known[2]; /* of functions, of places; by symbol; NULL: none */
};

struct resolve_frames {
    struct resolve_places *places; /* borrowed */
    struct resolve_names *names;   /* borrowed; NULL: nothing has a name */
    VEC(struct resolve_frame) list;
    struct idtable by_identity;
    struct resolve_frame_slot *recent;
    struct resolve_frame_spot *spots;       /* places in images asked for lately */
    VEC(struct resolve_frame_image) images; /* as far as asked for */
};

#define RESOLVE_NO_FRAME UINT32_MAX

bool resolve_frames_init(struct resolve_frames *f, struct resolve_places *places, struct resolve_names *names,
                         struct err *err);
void resolve_frames_fini(struct resolve_frames *f);
/* Gives back what only resolve_frames_at and resolve_frames_add need: the list stays. */
void resolve_frames_trim(struct resolve_frames *f);

/* An exact address as recorded, in that state of its space; `before_exec`: of a callchain in which
 * model_find_before_exec may be asked. RESOLVE_NO_FRAME: memory. */
uint32_t resolve_frames_at(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                           uint64_t address, enum resolve_frame_kind kind, bool before_exec);

/*
 * The same in steps, for many addresses at a time: what each step needs is on its way to the cache since the
 * one before. First all are asked for, then their steps are made, then all are answered, and only then frames
 * are made: in the order of the answers. An answer makes the steps that its address has left. The state need
 * not be valid any more when steps are made.
 */
enum { RESOLVE_ASKS_MAX = 512 /* at a time */, RESOLVE_ASK_DONE = 0 };
struct resolve_ask {
    uint64_t address, offset, hash;
    uint32_t image, symbol, id; /* id: the answer, when `stage` says so */
    uint8_t how, back, stage;
    bool asked_back; /* `back` before the symbol was known */
    bool entry;      /* once answered: as resolve_frame.entry */
};
/* How addresses are asked for: of that cpumode and kind; `before_exec` as above. */
unsigned resolve_frames_how(unsigned cpumode, enum resolve_frame_kind kind, bool before_exec);
/* An exact address. False: this one is nothing for asking (while execve runs), resolve_frames_at is to be
 * called. */
bool resolve_frames_ask(struct resolve_frames *f, const struct model_state *state, unsigned how,
                        uint64_t address, struct resolve_ask *ask);
/* The same of one of which is known where it lies, not `before_exec`: any can be asked for. */
void resolve_frames_ask_at(struct resolve_frames *f, uint32_t image, uint64_t offset, unsigned how,
                           uint64_t address, struct resolve_ask *ask);
void resolve_frames_steps(struct resolve_frames *f, struct resolve_ask *asks, size_t count);
uint32_t resolve_frames_answer_slowly(struct resolve_frames *f, struct resolve_ask *ask);
/* RESOLVE_NO_FRAME: memory. */
static inline uint32_t resolve_frames_answer(struct resolve_frames *f, struct resolve_ask *ask) {
    return ask->stage == RESOLVE_ASK_DONE ? ask->id : resolve_frames_answer_slowly(f, ask);
}
/* The RESOLVE_PLACE frame of an exact address (not `before_exec`) whose RESOLVE_FUNCTION frame was the
 * answer. RESOLVE_NO_FRAME: memory. */
uint32_t resolve_frames_place(struct resolve_frames *f, const struct resolve_ask *ask);

/* Addresses of one context of a callchain (all between two PERF_CONTEXT_* markers), innermost first. */
struct resolve_run {
    const struct model_state *state; /* of their space */
    const uint8_t *at;               /* words as recorded */
    uint64_t count;
    bool swap; /* they are of the other byte order */
    bool cut;  /* at[-8] is an address of the same context, which is not asked for */
    uint8_t cpumode, kind;
    bool before_exec; /* as above */
};

/* All addresses of a run, which is not cut, if none but the last is an `entry`. False: they are nothing for
 * asking (at the edge of a mapping, while execve runs), resolve_frames_run is to be called. */
bool resolve_frames_ask_run(struct resolve_frames *f, const struct resolve_run *run,
                            struct resolve_ask *asks);
/* The frames of a run: ids[i] of address i. What an address means depends on the ones inside of it: the first
 * is exact, the others are return addresses unless an exception came between. False: memory. */
bool resolve_frames_run(struct resolve_frames *f, const struct resolve_run *run, uint32_t *ids);

/* The id of an equal frame (another list's). RESOLVE_NO_FRAME: memory. */
uint32_t resolve_frames_add(struct resolve_frames *f, const struct resolve_frame *frame);
/* map[id] becomes it of every frame of another list. False: memory. */
bool resolve_frames_append(struct resolve_frames *f, const struct resolve_frames *from, uint32_t *map);

#endif
