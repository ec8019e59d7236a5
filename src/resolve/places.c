/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/places.h"

#include <stdlib.h>

#include "base/hash.h"

enum { PROCESS_SLOTS = 1 << 10, PAGE_SLOTS = 1 << 14, PAGE_SHIFT = 12, PAGE_MASK = (1 << PAGE_SHIFT) - 1 };

struct resolve_place_process {
    uint32_t pid;
    uint32_t space; /* MODEL_SPACE_NONE: the slot is free */
    struct model_state state;
};

struct resolve_place_page {
    uint64_t page;
    uint32_t state; /* MODEL_NONE: the slot is free */
    uint32_t mapping;
};

/* Pages can only be remembered where no mapping ends within one: jitdumps' maps do. */
static bool whole_pages(const struct model *m) {
    for (uint32_t i = 0; i < model_mapping_count(m); i++) {
        const struct model_mapping *map = model_mapping(m, i);
        /* Announced code is asked for by state, see below. */
        if (map->image == MODEL_NONE || model_image(m, map->image)->kind == MODEL_IMAGE_CODE)
            continue;
        unsigned space = model_image(m, map->image)->space;
        bool user = space == MODEL_SPACE_USER || space == MODEL_SPACE_GUEST_USER;
        if (user && (map->start & PAGE_MASK || (map->last & PAGE_MASK) != PAGE_MASK))
            return false;
    }
    return true;
}

bool resolve_places_init(struct resolve_places *p, const struct model *m, struct err *err) {
    *p = (struct resolve_places){.model = m, .by_page = whole_pages(m)};
    p->processes = calloc(PROCESS_SLOTS, sizeof *p->processes);
    p->pages = malloc(PAGE_SLOTS * sizeof *p->pages);
    if (!p->processes || !p->pages) {
        resolve_places_fini(p);
        return err_memory(err, "places");
    }
    for (size_t i = 0; i < PAGE_SLOTS; i++)
        p->pages[i].state = MODEL_NONE;
    p->none = (struct model_state){MODEL_NONE, MODEL_NONE, {0, 0}, MODEL_WHEN_END, MODEL_NONE, MODEL_NONE};
    return true;
}

void resolve_places_fini(struct resolve_places *p) {
    free(p->processes);
    free(p->pages);
    p->processes = NULL;
    p->pages = NULL;
}

static bool holds(const struct model_state *s, struct model_when when) {
    return !model_when_before(when, s->from) && model_when_before(when, s->until);
}

/* Behind its EXIT record a process still runs in the kernel, and the callers that its last system call has in
 * user space lie where they lay. The next process with its pid need not change the space: its parent may be
 * unknown. */
static void keep_after_exit(const struct model *m, uint32_t pid, struct model_when when,
                            struct model_state *state) {
    uint32_t id = model_process_at(m, pid, when);
    const struct model_process *process = id == MODEL_NONE ? NULL : model_process(m, id);
    if (!process)
        return;
    if (!process->exited || model_when_before(when, process->ended)) {
        if (model_when_before(state->from, process->born) && !model_when_before(when, process->born))
            state->from = process->born;
        return;
    }
    model_state_at(m, MODEL_SPACE_USER, pid, model_when_prior(process->ended), state);
    state->from = when;
    state->until = when.order == UINT64_MAX ? (struct model_when){when.time_ns + 1, 0}
                                            : (struct model_when){when.time_ns, when.order + 1};
}

const struct model_state *resolve_places_state(struct resolve_places *p, unsigned cpumode, uint32_t pid,
                                               struct model_when when) {
    enum model_space space = model_space_of(cpumode);
    if (space == MODEL_SPACE_KERNEL) {
        if (!holds(&p->host_kernel, when))
            model_state_at(p->model, space, pid, when, &p->host_kernel);
        return &p->host_kernel;
    }
    if (space == MODEL_SPACE_NONE)
        return &p->none;
    struct resolve_place_process *slot = &p->processes[hash_u64(pid ^ (uint64_t)space << 32) % PROCESS_SLOTS];
    if (slot->pid != pid || slot->space != space || !holds(&slot->state, when)) {
        slot->pid = pid;
        slot->space = space;
        model_state_at(p->model, space, pid, when, &slot->state);
        if (space == MODEL_SPACE_USER)
            keep_after_exit(p->model, pid, when, &slot->state);
    }
    return &slot->state;
}

bool resolve_places_find(struct resolve_places *p, const struct model_state *state, uint64_t address,
                         struct model_hit *out) {
    if (!p->by_page || state->id == MODEL_NONE || state->code != MODEL_NONE || state == &p->host_kernel)
        return model_state_find(p->model, state, address, out);
    uint64_t page = address >> PAGE_SHIFT;
    struct resolve_place_page *slot = &p->pages[hash_u64(page ^ (uint64_t)state->id << 40) % PAGE_SLOTS];
    if (slot->page == page && slot->state == state->id && slot->mapping != MODEL_NONE) {
        const struct model_mapping *map = model_mapping(p->model, slot->mapping);
        out->mapping = slot->mapping;
        out->image = map->image;
        out->offset = model_mapping_offset(p->model, slot->mapping, address);
        out->space = model_image(p->model, map->image)->space;
        out->back = 0;
        return true;
    }
    bool found = model_state_find(p->model, state, address, out);
    /* A guest's kernel lies in a space of processes too, and has offsets and limits of its own. */
    if (found && (out->space == MODEL_SPACE_USER || out->space == MODEL_SPACE_GUEST_USER))
        *slot = (struct resolve_place_page){page, state->id, out->mapping};
    return found;
}
