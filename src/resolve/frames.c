/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/frames.h"

#include <stdlib.h>

#include "base/hash.h"

enum { RECENT_SLOTS = 1 << 15, SYMBOL_SLOTS = 1 << 15, FREE = UINT32_MAX };

/* An address that was asked for, and its frame. */
struct resolve_frame_slot {
    uint64_t address;
    uint32_t state, frame;
    uint8_t cpumode, kind;
    bool before_exec;
};

struct resolve_frame_symbol {
    uint64_t offset;
    uint32_t image; /* FREE: none */
    uint32_t symbol;
};

bool resolve_frames_init(struct resolve_frames *f, struct resolve_places *places, struct resolve_names *names,
                         struct err *err) {
    *f = (struct resolve_frames){.places = places, .names = names};
    f->recent = malloc(RECENT_SLOTS * sizeof *f->recent);
    f->symbols = malloc(SYMBOL_SLOTS * sizeof *f->symbols);
    if (!f->recent || !f->symbols) {
        resolve_frames_fini(f);
        return err_memory(err, "frames");
    }
    for (size_t i = 0; i < RECENT_SLOTS; i++)
        f->recent[i].frame = FREE;
    for (size_t i = 0; i < SYMBOL_SLOTS; i++)
        f->symbols[i].image = FREE;
    return true;
}

void resolve_frames_fini(struct resolve_frames *f) {
    vec_fini(&f->list);
    vec_fini(&f->tables);
    vec_fini(&f->asked);
    resolve_frames_trim(f);
}

void resolve_frames_trim(struct resolve_frames *f) {
    idtable_fini(&f->by_identity);
    free(f->symbols);
    f->symbols = NULL;
    free(f->recent);
    f->recent = NULL;
}

/* ---- interning ---- */

/* What makes frames equal besides image, kind and cpumode: the symbol, or the address or offset. */
static uint64_t identity(const struct resolve_frame *f) {
    switch (f->kind) {
    case RESOLVE_ADDRESS:
        return f->address;
    case RESOLVE_OFFSET:
        return f->offset;
    case RESOLVE_FUNCTION:
        return f->symbol != SYMBOL_NONE ? f->symbol : f->address;
    default:
        return f->symbol != SYMBOL_NONE ? f->symbol : f->offset;
    }
}

static bool equal(const struct resolve_frame *a, const struct resolve_frame *b) {
    return a->image == b->image && a->symbol == b->symbol && a->kind == b->kind && a->cpumode == b->cpumode &&
           identity(a) == identity(b);
}

static uint64_t hash_frame(const struct resolve_frame *f) {
    uint64_t which = (uint64_t)f->image << 32 | (f->symbol != SYMBOL_NONE) << 16 | f->kind << 8 | f->cpumode;
    return hash_u64(hash_u64(which) ^ identity(f));
}

uint32_t resolve_frames_add(struct resolve_frames *f, const struct resolve_frame *frame) {
    uint64_t hash = hash_frame(frame);
    struct idtable_at at = idtable_first(&f->by_identity, hash);
    for (uint32_t id; (id = idtable_next(&f->by_identity, &at)) != IDTABLE_NONE;)
        if (equal(&f->list.items[id], frame))
            return id;
    uint32_t id = (uint32_t)f->list.count;
    struct resolve_frame *made = id < RESOLVE_NO_FRAME ? vec_push(&f->list) : NULL;
    if (!made || !idtable_add(&f->by_identity, hash, id))
        return RESOLVE_NO_FRAME;
    *made = *frame;
    return id;
}

/* ---- addresses ---- */

static const struct symbol_table *table_of(struct resolve_frames *f, uint32_t image) {
    if (!f->names)
        return NULL;
    if (image >= f->asked.count) {
        size_t images = model_image_count(f->places->model);
        if (!vec_reserve(&f->asked, images) || !vec_reserve(&f->tables, images))
            return NULL;
        while (f->asked.count < images) {
            vec_push(&f->asked);
            vec_push(&f->tables);
        }
    }
    if (!f->asked.items[image]) {
        f->tables.items[image] = resolve_names_demand(f->names, image);
        f->asked.items[image] = true;
    }
    return f->tables.items[image];
}

static uint32_t symbol_of(struct resolve_frames *f, const struct model_hit *hit) {
    uint64_t which = hit->offset ^ (uint64_t)hit->image << 40;
    struct resolve_frame_symbol *slot = &f->symbols[hash_u64(which) % SYMBOL_SLOTS];
    if (slot->image == hit->image && slot->offset == hit->offset)
        return slot->symbol;
    const struct symbol_table *t = table_of(f, hit->image);
    uint32_t symbol = t ? symbol_table_find(t, hit->offset) : SYMBOL_NONE;
    symbol = t ? resolve_names_admit(f->names, hit->image, symbol) : SYMBOL_NONE;
    *slot = (struct resolve_frame_symbol){hit->offset, hit->image, symbol};
    return slot->symbol;
}

static uint32_t look_up(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                        uint64_t address, enum resolve_frame_kind kind, bool before_exec) {
    struct resolve_frame frame = {.address = address,
                                  .offset = address,
                                  .image = MODEL_NONE,
                                  .symbol = SYMBOL_NONE,
                                  .cpumode = (uint8_t)cpumode,
                                  .kind = (uint8_t)kind};
    struct model_hit hit;
    if (resolve_places_find(f->places, state, address, &hit) ||
        (before_exec && model_state_find_before_exec(f->places->model, state, address, &hit))) {
        frame.image = hit.image;
        frame.offset = hit.offset;
        frame.symbol = symbol_of(f, &hit);
    }
    return resolve_frames_add(f, &frame);
}

uint32_t resolve_frames_at(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                           uint64_t address, enum resolve_frame_kind kind, bool before_exec) {
    uint64_t which = (uint64_t)state->id << 16 | kind << 8 | cpumode << 4 | before_exec;
    struct resolve_frame_slot *slot = &f->recent[hash_u64(address ^ which << 20) % RECENT_SLOTS];
    if (slot->frame != FREE && slot->address == address && slot->state == state->id &&
        slot->cpumode == cpumode && slot->kind == kind && slot->before_exec == before_exec)
        return slot->frame;
    uint32_t frame = look_up(f, state, cpumode, address, kind, before_exec);
    *slot =
        (struct resolve_frame_slot){address, state->id, frame, (uint8_t)cpumode, (uint8_t)kind, before_exec};
    return frame;
}
