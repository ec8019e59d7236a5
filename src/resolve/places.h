/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where addresses lie, asked often: model_find with a memory of the processes and pages asked about last. One
 * thread each; the model is frozen and shared.
 */
#ifndef SONDE_RESOLVE_PLACES_H
#define SONDE_RESOLVE_PLACES_H

#include "base/err.h"
#include "model/model.h"

struct resolve_place_process;
struct resolve_place_page;

struct resolve_places {
    const struct model *model;
    bool by_page;                   /* every mapping of user space begins and ends with a page */
    struct model_state host_kernel; /* the last one asked for */
    struct model_state none;
    struct resolve_place_process *processes;
    struct resolve_place_page *pages;
};

/* False: memory. `m` is borrowed. */
bool resolve_places_init(struct resolve_places *p, const struct model *m, struct err *err);
void resolve_places_fini(struct resolve_places *p);

/* The state of the space that a cpumode (PERFDATA_MISC_*) means. Never NULL; valid until the next call. */
const struct model_state *resolve_places_state(struct resolve_places *p, unsigned cpumode, uint32_t pid,
                                               struct model_when when);

/* As model_state_find. */
bool resolve_places_find(struct resolve_places *p, const struct model_state *state, uint64_t address,
                         struct model_hit *out);

#endif
