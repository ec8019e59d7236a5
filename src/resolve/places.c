/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/places.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/threads/prefetch.h"

enum { PROCESS_SLOTS = 1 << 10 };

static void forget_pieces(struct resolve_place_space *s) {
    for (unsigned i = 0; i < RESOLVE_PIECES; i++)
        s->pieces[i].size = 0;
    s->exec_asked = false;
}

static void space_init(struct resolve_place_space *s, enum model_space space) {
    *s = (struct resolve_place_space){
        .state = {MODEL_NONE, MODEL_NONE, {0, 0}, MODEL_WHEN_END, MODEL_NONE, MODEL_NONE}, .space = space};
    forget_pieces(s);
}

bool resolve_places_init(struct resolve_places *p, const struct model *m, struct err *err) {
    *p = (struct resolve_places){.model = m};
    space_init(&p->none, MODEL_SPACE_NONE);
    space_init(&p->host_kernel, MODEL_SPACE_KERNEL);
    p->host_kernel.state.until = (struct model_when){0, 0}; /* not looked up yet */
    p->processes = calloc(PROCESS_SLOTS, sizeof *p->processes);
    return p->processes || err_memory(err, "places");
}

void resolve_places_fini(struct resolve_places *p) {
    free(p->processes);
    p->processes = NULL;
}

static bool holds(const struct model_state *s, struct model_when when) {
    return !model_when_before(when, s->from) && model_when_before(when, s->until);
}

/* The state also ends at the next process with this pid, whose start need not change the space: its parent
 * may be unknown. */
void resolve_places_keep_after_exit(const struct model *m, struct model_when when,
                                    struct model_state *state) {
    struct model_when next;
    uint32_t id = model_state_process(m, state, when, &next);
    const struct model_process *process = id == MODEL_NONE ? NULL : model_process(m, id);
    if (!process)
        return;
    if (!process->exited || model_when_before(when, process->ended)) {
        if (model_when_before(state->from, process->born) && !model_when_before(when, process->born))
            state->from = process->born;
        return;
    }
    struct model_state after = *state;
    model_state_advance(m, model_when_prior(process->ended), state);
    state->from = model_when_before(after.from, process->ended) ? process->ended : after.from;
    state->until = model_when_before(next, after.until) ? next : after.until;
}

static void find_state(const struct resolve_places *p, struct resolve_place_space *s, enum model_space space,
                       uint32_t pid, struct model_when when) {
    const struct model *m = p->model;
    if (s->pid == pid && s->space == space && s->state.owner != MODEL_NONE)
        model_state_advance(m, when, &s->state);
    else
        model_state_at(m, space, pid, when, &s->state);
    s->pid = pid;
    s->space = space;
    if (space == MODEL_SPACE_USER)
        resolve_places_keep_after_exit(m, when, &s->state);
    forget_pieces(s);
}

static inline struct resolve_place_space *slot_of(const struct resolve_places *p, enum model_space space,
                                                  uint32_t pid) {
    return &p->processes[hash_u64(pid ^ (uint64_t)space << 32) % PROCESS_SLOTS];
}

const struct model_state *resolve_places_seek(struct resolve_places *p, enum model_space space, uint32_t pid,
                                              struct model_when when) {
    struct resolve_place_space *s = p->last;
    if (space == MODEL_SPACE_KERNEL) {
        s = &p->host_kernel;
        pid = 0; /* one for all */
    } else if (space == MODEL_SPACE_NONE) {
        return &p->none.state;
    } else if (!s || s->pid != pid || s->space != space) {
        p->last = s = slot_of(p, space, pid);
    }
    if (s->pid != pid || s->space != space || !holds(&s->state, when))
        find_state(p, s, space, pid, when);
    return &s->state;
}

/* Looks the address up in the model and remembers the piece. */
__attribute__((noinline)) const struct resolve_place_piece *
resolve_places_new_piece(struct resolve_places *p, struct resolve_place_space *s, uint64_t address) {
    struct model_piece piece;
    struct model_hit hit;
    bool found = model_state_find_piece(p->model, &s->state, address, &hit, &piece);
    struct resolve_place_piece *to = &s->pieces[s->next];
    uint64_t size = piece.last - piece.start + 1;
    *to = (struct resolve_place_piece){piece.start, size ? size : UINT64_MAX /* all but the last one */,
                                       found ? hit.offset - address : 0, hit.mapping, hit.image};
    s->next = (s->next + 1) % RESOLVE_PIECES;
    return to;
}

bool resolve_places_find(struct resolve_places *p, const struct model_state *state, uint64_t address,
                         struct model_hit *out) {
    const struct resolve_place_piece *piece = resolve_places_piece(p, state, address);
    *out = MODEL_NOTHING;
    out->space = (enum model_space)((const struct resolve_place_space *)state)->space;
    if (piece->mapping == MODEL_NONE)
        return false;
    out->mapping = piece->mapping;
    out->image = piece->image;
    out->offset = address + piece->slide;
    return true;
}

bool resolve_places_in_exec(struct resolve_places *p, const struct model_state *state) {
    struct resolve_place_space *s = (struct resolve_place_space *)state;
    if (!s->exec_asked)
        s->in_exec = model_state_in_exec(p->model, state);
    s->exec_asked = true;
    return s->in_exec;
}
