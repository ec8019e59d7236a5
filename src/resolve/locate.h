/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an address of a sample lies: in which mapping and image, and, for a return address, where the call
 * is. Works on a frozen model, for which results are remembered, and on one that still grows (a pipe).
 */
#ifndef SONDE_RESOLVE_LOCATE_H
#define SONDE_RESOLVE_LOCATE_H

#include "resolve/names.h"
#include "resolve/places.h"

/* Zeroed at first, `model` set; one thread each. */
struct resolve_locator {
    const struct model *model;    /* borrowed */
    struct resolve_places places; /* for a model that is frozen */
    bool placed;                  /* `places` is initialised */
    struct model_state live;      /* for one that is not: the state found last */
};

void resolve_locator_fini(struct resolve_locator *l);

/* As model_state_at. Valid until the next call; for the functions below. */
const struct model_state *resolve_locator_state(struct resolve_locator *l, enum model_space space,
                                                uint32_t pid, struct model_when when);

/* Finds where an exact address of that space lies. `in_kernel`: the sample was taken in the kernel, so its
 * user addresses may be those of a program that an exec is replacing. */
bool resolve_locate(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                    bool in_kernel, uint64_t address, struct model_hit *hit);

/* As resolve_locate for a return address: hit->back is set if the call is at the byte before it
 * (resolve/callers.h), as far as is known without names; a name may show that it is 0. */
bool resolve_locate_return(struct resolve_locator *l, const struct model_state *state, enum model_space space,
                           bool in_kernel, uint64_t address, struct model_hit *hit);

/* Finds where an address in a sample lies whose space is not recorded (a branch's ends, data): in the
 * sample's own space (`cpumode`), else the user's, else the kernel's. */
bool resolve_locate_anywhere(struct resolve_locator *l, unsigned cpumode, uint32_t pid,
                             struct model_when when, uint64_t address, struct model_hit *hit);

/* Whether a place lies in a mapping whose record arrived in a later round than it belongs to (pipes only), so
 * that earlier samples may have another name. */
bool resolve_locator_is_late(const struct resolve_locator *l, const struct model_hit *hit);

#endif
