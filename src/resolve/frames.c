/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/frames.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "resolve/callers.h"

enum { RECENT_SLOTS = 1 << 15, SYMBOL_SLOTS = 1 << 15, FREE = UINT32_MAX };

/* How an address is asked for. */
enum how { HOW_BEFORE_EXEC = 1, HOW_RETURN = 2, HOW_CPUMODE_SHIFT = 2, HOW_KIND_SHIFT = 5 };

/* An address that was asked for, and its frame. */
struct resolve_frame_slot {
    uint64_t address;
    uint32_t state, frame;
    uint8_t how;
    bool entry; /* the frame's */
};

struct resolve_frame_symbol {
    uint64_t offset;
    uint32_t image; /* FREE: none */
    uint32_t symbol;
    uint8_t back, settled; /* the hit's before and after the symbol was looked up */
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

/* An address may be exact in one chain and a return address in another: that is one function, but two lines.
 */
static bool is_same_code(const struct resolve_frame *a, const struct resolve_frame *b) {
    return a->back == b->back || a->kind == RESOLVE_FUNCTION || a->kind == RESOLVE_PLACE;
}

static bool equal(const struct resolve_frame *a, const struct resolve_frame *b) {
    return a->image == b->image && a->symbol == b->symbol && a->kind == b->kind && a->cpumode == b->cpumode &&
           identity(a) == identity(b) && is_same_code(a, b);
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

static uint32_t symbol_of(struct resolve_frames *f, struct model_hit *hit) {
    uint64_t which = hit->offset ^ (uint64_t)hit->image << 40;
    struct resolve_frame_symbol *slot = &f->symbols[hash_u64(which) % SYMBOL_SLOTS];
    if (slot->image != hit->image || slot->offset != hit->offset || slot->back != hit->back) {
        const struct symbol_table *t = table_of(f, hit->image);
        *slot = (struct resolve_frame_symbol){hit->offset, hit->image, SYMBOL_NONE, hit->back, hit->back};
        if (t)
            slot->symbol = resolve_names_admit(f->names, hit->image,
                                               hit->back ? resolve_callers_symbol(t, hit)
                                                         : symbol_table_find(t, hit->offset));
        slot->settled = hit->back;
    }
    hit->back = slot->settled;
    return slot->symbol;
}

static bool find_exact(struct resolve_frames *f, const struct model_state *state, unsigned how,
                       uint64_t address, struct model_hit *hit) {
    return resolve_places_find(f->places, state, address, hit) ||
           (how & HOW_BEFORE_EXEC && model_state_find_before_exec(f->places->model, state, address, hit));
}

static void find(struct resolve_frames *f, const struct model_state *state, unsigned how, uint64_t address,
                 struct model_hit *hit) {
    struct model_hit prior;
    find_exact(f, state, how, address, hit);
    if (!(how & HOW_RETURN))
        return;
    find_exact(f, state, how, address - 1, &prior);
    resolve_callers_join(f->places->model, hit, &prior);
}

static uint32_t look_up(struct resolve_frames *f, const struct model_state *state, unsigned how,
                        uint64_t address, bool *entry) {
    struct model_hit hit;
    find(f, state, how, address, &hit);
    struct resolve_frame frame = {.address = address,
                                  .offset = address,
                                  .image = hit.image,
                                  .symbol = SYMBOL_NONE,
                                  .cpumode = how >> HOW_CPUMODE_SHIFT & PERFDATA_MISC_CPUMODE_MASK,
                                  .kind = (uint8_t)(how >> HOW_KIND_SHIFT)};
    if (hit.image != MODEL_NONE) {
        frame.symbol = symbol_of(f, &hit);
        frame.offset = hit.offset;
        frame.back = hit.back;
    }
    if (frame.symbol != SYMBOL_NONE)
        frame.entry =
            resolve_callers_is_entry(symbol_table_name(f->tables.items[hit.image], frame.symbol), hit.space);
    *entry = frame.entry;
    return resolve_frames_add(f, &frame);
}

static struct resolve_frame_slot *slot_of(const struct resolve_frames *f, uint32_t state, uint64_t address) {
    return &f->recent[hash_u64(address ^ (uint64_t)state << 36) % RECENT_SLOTS];
}

static uint32_t frame_at(struct resolve_frames *f, const struct model_state *state, unsigned how,
                         uint64_t address, bool *entry) {
    struct resolve_frame_slot *slot = slot_of(f, state->id, address);
    if (slot->frame != FREE && slot->address == address && slot->state == state->id && slot->how == how) {
        *entry = slot->entry;
        return slot->frame;
    }
    uint32_t frame = look_up(f, state, how, address, entry);
    *slot = (struct resolve_frame_slot){address, state->id, frame, (uint8_t)how, *entry};
    return frame;
}

static unsigned how_of(unsigned cpumode, unsigned kind, bool before_exec) {
    return kind << HOW_KIND_SHIFT | cpumode << HOW_CPUMODE_SHIFT | (before_exec ? HOW_BEFORE_EXEC : 0);
}

uint32_t resolve_frames_at(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                           uint64_t address, enum resolve_frame_kind kind, bool before_exec) {
    bool entry;
    return frame_at(f, state, how_of(cpumode, kind, before_exec), address, &entry);
}

bool resolve_frames_run(struct resolve_frames *f, const struct resolve_run *run, uint32_t *ids) {
    enum { AHEAD = 8 };
    unsigned how = how_of(run->cpumode, run->kind, run->before_exec);
    bool exact = !run->cut;
    if (run->cut && frame_at(f, run->state, how | HOW_RETURN, bytes_load64(run->at - 8, run->swap), &exact) ==
                        RESOLVE_NO_FRAME)
        return false;
    for (uint64_t i = 0; i < run->count; i++) {
        if (i + AHEAD < run->count) /* the slots are larger than the nearest caches */
            __builtin_prefetch(
                slot_of(f, run->state->id, bytes_load64(run->at + 8 * (i + AHEAD), run->swap)));
        ids[i] = frame_at(f, run->state, how | (exact ? 0 : HOW_RETURN),
                          bytes_load64(run->at + 8 * i, run->swap), &exact);
        if (ids[i] == RESOLVE_NO_FRAME)
            return false;
    }
    return true;
}
