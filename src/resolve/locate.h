/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an address of a sample lies: in which mapping and image, and, for a return address, where the call
 * is. The same questions for a frozen model, whose answers are remembered, and for one that still grows (a
 * pipe).
 */
#ifndef SONDE_RESOLVE_LOCATE_H
#define SONDE_RESOLVE_LOCATE_H

#include "resolve/names.h"
#include "resolve/places.h"

/* Zeroed at first, `model` set; one thread each. */
struct resolve_locator {
    const struct model *model;    /* borrowed */
    struct resolve_places places; /* of a model that is frozen */
    bool placed;                  /* `places` is initialised */
    struct model_state live;      /* else: the state that was asked for last */
};

void resolve_locator_fini(struct resolve_locator *l);

/* As model_state_at. Valid until the next call; the functions below take this one. */
const struct model_state *resolve_locator_state(struct resolve_locator *l, enum model_space space,
                                                uint32_t pid, struct model_when when);

/* Where an exact address of that space lies. `in_kernel`: the sample was taken in the kernel, so that its
 * user addresses may be those of a program that an exec is replacing. */
bool resolve_locate(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                    bool in_kernel, uint64_t address, struct model_hit *hit);

/* As resolve_locate for a return address: hit->back is set where the call is that of the byte before it
 * (resolve/callers.h), as far as that can be told without names: these may set it to 0. */
bool resolve_locate_return(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                           bool in_kernel, uint64_t address, struct model_hit *hit);

/* Where an address lies that the sample speaks of when nothing says in which space (the ends of branches,
 * data): in the sample's own (`cpumode`), else the user's, else the kernel's. */
bool resolve_locate_anywhere(struct resolve_locator *l, unsigned cpumode, uint32_t pid,
                             struct model_when when, uint64_t address, struct model_hit *hit);

/* Whether a place lies in a mapping whose record arrived in a later round than it belongs to (pipes only):
 * earlier samples may have got another name. */
bool resolve_locator_is_late(const struct resolve_locator *l, const struct model_hit *hit);

#endif
