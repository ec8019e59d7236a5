/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of where addresses lie in the model: most samples lie where samples of the same process lay before.
 * One thread each; the frozen model is shared.
 *
 *   process  |- state of its space -|  pieces of it that were hit last
 *    4711    |  from .. until       |  [7f12000, 7f13fff] libc.so.6   [400000, 40ffff] cc1  ...
 */
#ifndef SONDE_RESOLVE_PLACES_H
#define SONDE_RESOLVE_PLACES_H

#include "base/err.h"
#include "model/model.h"

enum { RESOLVE_PIECES = 8 };

/* A range of addresses that share one result. */
struct resolve_place_piece {
    uint64_t start, size;    /* size 0: the piece is free */
    uint64_t slide;          /* image offset - address */
    uint32_t mapping, image; /* MODEL_NONE: a hole */
};

/* A space in one state. */
struct resolve_place_space {
    struct model_state state; /* the first member: pointers to it are cast (resolve_places_piece) */
    uint32_t pid;
    uint32_t space; /* MODEL_SPACE_NONE: the slot is free */
    uint8_t next;   /* the piece to replace next */
    bool in_exec;   /* model_state_in_exec of the state; valid once exec_asked */
    bool exec_asked;
    struct resolve_place_piece pieces[RESOLVE_PIECES];
};

struct resolve_places {
    const struct model *model;
    struct resolve_place_space host_kernel, none;
    struct resolve_place_space *processes, *last; /* last: the one of `processes` used last, or NULL */
};

/* False: out of memory. `m` is borrowed. */
bool resolve_places_init(struct resolve_places *p, const struct model *m, struct err *err);
void resolve_places_fini(struct resolve_places *p);

/* Replaces the state of an exited process's user space (from model_state_at) by the one before the exit:
 * after its EXIT record a process still runs kernel code for a while, and the user frames of those callchains
 * are at addresses of the old mappings. */
void resolve_places_keep_after_exit(const struct model *m, struct model_when when, struct model_state *state);

/* As resolve_places_space, for states that were not used last. */
const struct model_state *resolve_places_seek(struct resolve_places *p, enum model_space space, uint32_t pid,
                                              struct model_when when);
/* The state of a space. Never NULL; valid until the next call. */
static inline const struct model_state *resolve_places_space(struct resolve_places *p, enum model_space space,
                                                             uint32_t pid, struct model_when when) {
    const struct resolve_place_space *s = space == MODEL_SPACE_KERNEL ? &p->host_kernel : p->last;
    if (s && s->space == space && (s->pid == pid || space == MODEL_SPACE_KERNEL) &&
        s->state.from.time_ns < when.time_ns && when.time_ns < s->state.until.time_ns)
        return &s->state;
    return resolve_places_seek(p, space, pid, when);
}
/* The state of the space that a cpumode (PERFDATA_MISC_*) means. */
static inline const struct model_state *resolve_places_state(struct resolve_places *p, unsigned cpumode,
                                                             uint32_t pid, struct model_when when) {
    return resolve_places_space(p, model_space_of(cpumode), pid, when);
}

/* As resolve_places_piece, for an address in none of the remembered pieces. */
const struct resolve_place_piece *resolve_places_new_piece(struct resolve_places *p,
                                                           struct resolve_place_space *s, uint64_t address);
/* The piece that holds an address, or the hole. Never NULL; valid until the next call. The state must be the
 * one that resolve_places_state returned last for its cpumode. */
static inline const struct resolve_place_piece *
resolve_places_piece(struct resolve_places *p, const struct model_state *state, uint64_t address) {
    struct resolve_place_space *s = (struct resolve_place_space *)state;
    unsigned in = 0;
    for (unsigned i = 0; i < RESOLVE_PIECES; i++) /* no early exit: which one it is cannot be predicted */
        in |= (unsigned)(address - s->pieces[i].start < s->pieces[i].size) << i;
    return __builtin_expect(in, 1) ? &s->pieces[__builtin_ctz(in)] : resolve_places_new_piece(p, s, address);
}
/* As model_state_find, model_state_in_exec. */
bool resolve_places_find(struct resolve_places *p, const struct model_state *state, uint64_t address,
                         struct model_hit *out);
bool resolve_places_in_exec(struct resolve_places *p, const struct model_state *state);

#endif
