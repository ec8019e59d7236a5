/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/frames.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/threads/prefetch.h"
#include "resolve/callers.h"

enum { CACHE_BITS_MIN = 8, CACHE_BITS_MAX = 15, SPOT_WAYS = 4, SPOT_IMAGES = 1 << 24 };

/* How an address is looked up: 7 bits. */
enum how { HOW_BEFORE_EXEC = 1, HOW_RETURN = 2, HOW_CPUMODE_SHIFT = 2, HOW_KIND_SHIFT = 5 };

/* A frame's id and its `entry` in one word; 0: none. */
typedef uint32_t known_frame;
enum { FRAMES_MAX = INT32_MAX - 1 };
/* There is no function: each address has its own frame. */
#define KNOWN_NAMELESS UINT32_MAX

static known_frame known_of(uint32_t frame, bool entry) {
    return frame == RESOLVE_NO_FRAME ? 0 : (frame + 1) << 1 | entry;
}

/* Both tables are larger than the fast caches, so a lookup should touch one cache line: it holds four slots,
 * which are the ways of a set of spots. */
struct resolve_frame_slot {
    uint64_t key; /* address_key() */
    uint32_t state;
    known_frame known;
};

struct resolve_frame_spot {
    uint64_t offset;
    uint32_t key; /* image << 8 | how */
    known_frame known;
};
_Static_assert(SPOT_WAYS * sizeof(struct resolve_frame_spot) == 64, "one line");

bool resolve_frames_init(struct resolve_frames *f, struct resolve_places *places, struct resolve_names *names,
                         uint64_t addresses, struct err *err) {
    unsigned bits = CACHE_BITS_MIN;
    while (bits < CACHE_BITS_MAX && addresses >> bits)
        bits++;
    size_t slots = (size_t)1 << bits;
    *f = (struct resolve_frames){.places = places, .names = names, .cache_mask = slots - 1};
    f->recent = calloc(slots, sizeof *f->recent);
    f->spots = aligned_alloc(64, slots * SPOT_WAYS * sizeof *f->spots);
    if (f->recent && f->spots) {
        memset(f->spots, 0, slots * SPOT_WAYS * sizeof *f->spots);
        return true;
    }
    resolve_frames_fini(f);
    return err_memory(err, "frames");
}

void resolve_frames_fini(struct resolve_frames *f) {
    vec_fini(&f->list);
    resolve_frames_trim(f);
}

void resolve_frames_trim(struct resolve_frames *f) {
    idtable_fini(&f->by_identity);
    for (size_t i = 0; i < f->images.count; i++)
        for (unsigned k = 0; k < 2; k++)
            free(f->images.items[i].known[k]);
    vec_fini(&f->images);
    free(f->spots);
    f->spots = NULL;
    free(f->recent);
    f->recent = NULL;
}

/* ---- interning ---- */

/* What identifies a frame besides image, kind and cpumode: the symbol, or the address or offset. */
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

/* An address may be exact in one chain and a return address in another: that is one function, but two source
 * lines. */
static bool is_same_code(const struct resolve_frame *a, const struct resolve_frame *b) {
    return a->back == b->back || a->kind == RESOLVE_FUNCTION || a->kind == RESOLVE_PLACE;
}

static inline bool equal(const struct resolve_frame *a, const struct resolve_frame *b) {
    return a->image == b->image && a->symbol == b->symbol && a->kind == b->kind && a->cpumode == b->cpumode &&
           identity(a) == identity(b) && is_same_code(a, b);
}

static inline uint64_t hash_identity(uint32_t image, bool named, unsigned kind, unsigned cpumode,
                                     uint64_t identified_by) {
    uint64_t which = (uint64_t)image << 32 | named << 16 | kind << 8 | cpumode;
    return hash_fold(which * HASH_ODD ^ identified_by, HASH_ODD);
}

static uint64_t hash_frame(const struct resolve_frame *f) {
    return hash_identity(f->image, f->symbol != SYMBOL_NONE, f->kind, f->cpumode, identity(f));
}

static uint32_t add_hashed(struct resolve_frames *f, const struct resolve_frame *frame, uint64_t hash) {
    struct idtable_at at = idtable_first(&f->by_identity, hash);
    for (uint32_t id; (id = idtable_next(&f->by_identity, &at)) != IDTABLE_NONE;)
        if (equal(&f->list.items[id], frame))
            return id;
    uint32_t id = (uint32_t)f->list.count;
    struct resolve_frame *made = id < FRAMES_MAX ? vec_push(&f->list) : NULL;
    if (!made || !idtable_add_at(&f->by_identity, &at, hash, id))
        return RESOLVE_NO_FRAME;
    *made = *frame;
    made->place = RESOLVE_NO_FRAME;
    return id;
}

uint32_t resolve_frames_add(struct resolve_frames *f, const struct resolve_frame *frame) {
    return add_hashed(f, frame, hash_frame(frame));
}

/* Prefetches the frame that probably has this hash; it may lie in two cache lines. */
static inline void expect_frame(const struct resolve_frames *f, uint64_t hash) {
    struct idtable_at at = idtable_first(&f->by_identity, hash);
    uint32_t id = idtable_next(&f->by_identity, &at);
    if (id == IDTABLE_NONE)
        return;
    prefetch(&f->list.items[id]);
    prefetch(&f->list.items[id].kind);
}

/* Each step prefetches what the next one needs: the slot of the index, then the frame. */
bool resolve_frames_append(struct resolve_frames *f, const struct resolve_frames *from, uint32_t *map) {
    enum { AHEAD = 16, NEAR = AHEAD / 2 };
    uint64_t hashes[AHEAD];
    size_t count = from->list.count;
    for (size_t i = 0; i < count + AHEAD; i++) {
        if (i >= AHEAD && (map[i - AHEAD] = add_hashed(f, &from->list.items[i - AHEAD], hashes[i % AHEAD])) ==
                              RESOLVE_NO_FRAME)
            return false;
        if (i >= NEAR && i - NEAR < count)
            expect_frame(f, hashes[(i - NEAR) % AHEAD]);
        if (i >= count)
            continue;
        hashes[i % AHEAD] = hash_frame(&from->list.items[i]);
        idtable_prefetch(&f->by_identity, hashes[i % AHEAD]);
    }
    return true;
}

/* ---- addresses ---- */

static __attribute__((noinline)) struct resolve_frame_image *demand_image(struct resolve_frames *f,
                                                                          uint32_t image) {
    if (!f->names)
        return NULL;
    if (image >= f->images.count) {
        size_t images = model_image_count(f->places->model);
        if (!vec_reserve(&f->images, images))
            return NULL;
        while (f->images.count < images)
            vec_push(&f->images);
    }
    struct resolve_frame_image *of = &f->images.items[image];
    if (!of->asked)
        of->table = resolve_names_demand(f->names, image);
    if (!of->asked && f->inlines)
        of->lined = of->table && resolve_names_has_lines(f->names, image);
    of->asked = true;
    return of;
}

/* NULL: out of memory, or nothing has a name. */
static inline struct resolve_frame_image *image_of(struct resolve_frames *f, uint32_t image) {
    return image < f->images.count && f->images.items[image].asked ? &f->images.items[image]
                                                                   : demand_image(f, image);
}

/* Where the frame of a symbol is remembered, if all places in the symbol share one frame; else NULL. */
static known_frame *known_symbol(struct resolve_frame_image *of, const struct resolve_frame *frame) {
    unsigned which = frame->kind == RESOLVE_PLACE;
    if ((frame->kind != RESOLVE_PLACE && frame->kind != RESOLVE_FUNCTION) || frame->symbol == SYMBOL_NONE)
        return NULL;
    if (!of->known[which]) {
        of->known[which] = calloc(symbol_table_count(of->table), sizeof *of->known[which]);
        of->cpumode[which] = frame->cpumode;
    }
    return of->known[which] && of->cpumode[which] == frame->cpumode ? &of->known[which][frame->symbol] : NULL;
}

/* The context of find_exact. */
struct question {
    struct resolve_frames *f;
    const struct model_state *state;
    unsigned how;
};

static bool find_exact(void *ctx, uint64_t address, struct model_hit *hit) {
    const struct question *q = ctx;
    struct resolve_places *places = q->f->places;
    return resolve_places_find(places, q->state, address, hit) ||
           (q->how & HOW_BEFORE_EXEC && resolve_places_in_exec(places, q->state) &&
            model_state_find_before_exec(places->model, q->state, address, hit));
}

static void find(struct resolve_frames *f, const struct model_state *state, unsigned how, uint64_t address,
                 struct model_hit *hit) {
    struct question q = {f, state, how};
    if (how & HOW_RETURN)
        resolve_callers_find(f->places->model, find_exact, &q, address, hit);
    else
        find_exact(&q, address, hit);
}

/* Whether the frame is the same wherever its image was mapped. */
static bool is_movable(const struct resolve_frame *f) {
    return f->kind == RESOLVE_PLACE || f->kind == RESOLVE_OFFSET ||
           (f->kind == RESOLVE_FUNCTION && f->symbol != SYMBOL_NONE);
}

static uint32_t spot_key(uint32_t image, unsigned how, unsigned back) {
    return image << 8 | (how & ~(HOW_RETURN | HOW_BEFORE_EXEC)) | (back ? HOW_RETURN : 0);
}

/* The first spot of a place's set, which does not depend on how the place is looked up. */
static struct resolve_frame_spot *spots_of(const struct resolve_frames *f, uint64_t offset, uint32_t image) {
    return &f->spots[(hash_fold(offset ^ (uint64_t)image << 40, HASH_ODD) & f->cache_mask) * SPOT_WAYS];
}

/* 0: not known. All ways are compared without branches: which one it is cannot be predicted. */
static inline known_frame spot_get(const struct resolve_frame_spot *set, uint64_t offset, uint32_t key) {
    unsigned like = 0;
    for (unsigned i = 0; i < SPOT_WAYS; i++)
        like |= (unsigned)(((set[i].offset ^ offset) | (set[i].key ^ key)) == 0) << i;
    return like ? set[__builtin_ctz(like)].known : 0;
}

/* Replaces the set's oldest spot. */
static void spot_put(struct resolve_frame_spot *set, uint64_t offset, uint32_t key, known_frame known) {
    memmove(set + 1, set, (SPOT_WAYS - 1) * sizeof *set);
    *set = (struct resolve_frame_spot){offset, key, known};
}

static struct resolve_frame frame_at_hit(unsigned how, uint64_t address, const struct model_hit *hit) {
    return (struct resolve_frame){.address = address,
                                  .offset = hit->image == MODEL_NONE ? address : hit->offset,
                                  .image = hit->image,
                                  .symbol = SYMBOL_NONE,
                                  .cpumode = how >> HOW_CPUMODE_SHIFT & PERFDATA_MISC_CPUMODE_MASK,
                                  .kind = (uint8_t)(how >> HOW_KIND_SHIFT),
                                  .back = hit->back};
}

static uint32_t symbol_at(const struct symbol_table *t, struct model_hit *hit) {
    return hit->back ? resolve_callers_symbol(t, hit) : symbol_table_find(t, hit->offset);
}

/* The frame of a place in `symbol` (or SYMBOL_NONE), made unless it is there. *memo becomes what is to be
 * remembered of the place, or 0. */
static known_frame name_frame(struct resolve_frames *f, struct resolve_frame_image *of, uint32_t symbol,
                              const struct model_hit *hit, struct resolve_frame *frame, known_frame *memo) {
    frame->symbol = resolve_names_admit(f->names, hit->image, symbol);
    frame->back = hit->back;
    bool in_chains = frame->kind == RESOLVE_FUNCTION || frame->kind == RESOLVE_ADDRESS;
    if (of->lined && frame->kind == RESOLVE_FUNCTION && frame->symbol != SYMBOL_NONE)
        frame->kind = RESOLVE_OFFSET;
    known_frame *known = known_symbol(of, frame);
    if (known && *known)
        return *memo = *known;
    frame->entry = in_chains && symbol != SYMBOL_NONE &&
                   resolve_callers_is_entry(symbol_table_name(of->table, symbol), hit->space);
    known_frame made = known_of(resolve_frames_add(f, frame), frame->entry);
    if (known)
        *known = made;
    *memo = is_movable(frame)                                                  ? made
            : frame->kind == RESOLVE_FUNCTION && symbol == SYMBOL_NONE && made ? KNOWN_NAMELESS
                                                                               : 0;
    return made;
}

/* The frame of an address that lies at `hit` (which may be MODEL_NOTHING); *memo as above. */
static known_frame make_frame(struct resolve_frames *f, unsigned how, uint64_t address, struct model_hit *hit,
                              known_frame *memo) {
    struct resolve_frame frame = frame_at_hit(how, address, hit);
    struct resolve_frame_image *of = hit->image == MODEL_NONE ? NULL : image_of(f, hit->image);
    if (of && of->table)
        return name_frame(f, of, symbol_at(of->table, hit), hit, &frame, memo);
    known_frame known = known_of(resolve_frames_add(f, &frame), false);
    *memo = is_movable(&frame) ? known : 0;
    return known;
}

static known_frame frame_of(struct resolve_frames *f, unsigned how, uint64_t address, struct model_hit *hit) {
    known_frame memo;
    if (hit->image >= SPOT_IMAGES) /* MODEL_NONE too */
        return make_frame(f, how, address, hit, &memo);
    uint64_t offset = hit->offset;
    uint32_t key = spot_key(hit->image, how, hit->back);
    struct resolve_frame_spot *set = spots_of(f, offset, hit->image);
    known_frame known = spot_get(set, offset, key);
    if (known == KNOWN_NAMELESS) {
        struct resolve_frame frame = frame_at_hit(how, address, hit);
        return known_of(resolve_frames_add(f, &frame), false);
    }
    if (known)
        return known;
    known = make_frame(f, how, address, hit, &memo);
    if (memo)
        spot_put(set, offset, key, memo);
    return known;
}

static known_frame look_up(struct resolve_frames *f, const struct model_state *state, unsigned how,
                           uint64_t address) {
    struct model_hit hit;
    find(f, state, how, address, &hit);
    return frame_of(f, how, address, &hit);
}

/* Packs an address and how it is looked up into one word. False: not possible, the bits of its uppermost byte
 * differ, as only garbage's do. */
static bool address_key(uint64_t address, unsigned how, uint64_t *key) {
    *key = (address & UINT64_MAX >> 7) | (uint64_t)how << 57;
    return address >> 56 == 0 || address >> 56 == 0xff;
}

static struct resolve_frame_slot *slot_of(const struct resolve_frames *f, uint32_t state, uint64_t address) {
    return &f->recent[hash_fold(address ^ (uint64_t)state << 36, HASH_ODD) & f->cache_mask];
}

static __attribute__((noinline)) known_frame
new_frame_at(struct resolve_frames *f, const struct model_state *state, unsigned how, uint64_t address) {
    uint64_t key;
    bool keeps = address_key(address, how, &key);
    known_frame known = look_up(f, state, how, address);
    if (keeps)
        *slot_of(f, state->id, address) = (struct resolve_frame_slot){key, state->id, known};
    return known;
}

static inline known_frame frame_at(struct resolve_frames *f, const struct model_state *state, unsigned how,
                                   uint64_t address) {
    uint64_t key;
    const struct resolve_frame_slot *slot = slot_of(f, state->id, address);
    if (address_key(address, how, &key) && slot->known && slot->key == key && slot->state == state->id)
        return slot->known;
    return new_frame_at(f, state, how, address);
}

static uint32_t id_of(known_frame known) {
    return known ? (known >> 1) - 1 : RESOLVE_NO_FRAME;
}

unsigned resolve_frames_how(unsigned cpumode, enum resolve_frame_kind kind, bool before_exec) {
    return kind << HOW_KIND_SHIFT | cpumode << HOW_CPUMODE_SHIFT | (before_exec ? HOW_BEFORE_EXEC : 0);
}

uint32_t resolve_frames_at(struct resolve_frames *f, const struct model_state *state, unsigned cpumode,
                           uint64_t address, enum resolve_frame_kind kind, bool before_exec) {
    return id_of(frame_at(f, state, resolve_frames_how(cpumode, kind, before_exec), address));
}

/* ---- in steps ---- */

enum stage {
    ASK_DONE = RESOLVE_ASK_DONE,
    ASK_SPOT,     /* a place in an image with symbols; its set of spots was prefetched */
    ASK_BUCKET,   /* it has no spot; the symbol table's bucket was prefetched */
    ASK_SYMBOL,   /* the symbol was prefetched, too */
    ASK_NAMELESS, /* a frame without a name; its slot in by_identity was prefetched */
    /* No step is left. */
    ASK_NAME,  /* the symbol is known, its frame is not; where that is remembered was prefetched */
    ASK_FOUND, /* `id` is the first frame of the slot, and was prefetched */
};

static void settle(struct resolve_ask *ask, known_frame known) {
    ask->stage = ASK_DONE;
    ask->id = id_of(known);
    ask->entry = known & 1;
}

static struct model_hit hit_of(const struct resolve_ask *ask) {
    enum model_space space = model_space_of(ask->how >> HOW_CPUMODE_SHIFT);
    return (struct model_hit){MODEL_NONE, ask->image, ask->offset, space, ask->back};
}

static inline bool is_by_offset(unsigned how) {
    return how >> HOW_KIND_SHIFT == RESOLVE_PLACE || how >> HOW_KIND_SHIFT == RESOLVE_OFFSET;
}

/* Prefetches the slot in by_identity of a frame without a name. */
static inline void want_identity(struct resolve_frames *f, struct resolve_ask *ask) {
    unsigned cpumode = ask->how >> HOW_CPUMODE_SHIFT & PERFDATA_MISC_CPUMODE_MASK;
    uint64_t place = is_by_offset(ask->how) && ask->image != MODEL_NONE ? ask->offset : ask->address;
    ask->hash = hash_identity(ask->image, false, ask->how >> HOW_KIND_SHIFT, cpumode, place);
    idtable_prefetch(&f->by_identity, ask->hash);
}

static inline void want_nameless(struct resolve_frames *f, struct resolve_ask *ask) {
    ask->stage = ASK_NAMELESS;
    want_identity(f, ask);
}

/* Begins the lookup of an address that lies there; `back`: it returns to a call at the byte before. */
static inline void ask_at(struct resolve_frames *f, uint32_t image, uint64_t offset, unsigned how,
                          uint64_t address, bool back, struct resolve_ask *ask) {
    ask->address = address;
    ask->offset = offset;
    ask->image = image;
    ask->how = (uint8_t)how;
    ask->back = ask->asked_back = back;
    ask->entry = false;
    const struct resolve_frame_image *of = image == MODEL_NONE ? NULL : image_of(f, image);
    if (of && of->table) {
        ask->stage = ASK_SPOT;
        prefetch(spots_of(f, offset, image));
    } else {
        want_nameless(f, ask);
    }
}

static inline bool ask_one(struct resolve_frames *f, const struct model_state *state, unsigned how,
                           uint64_t address, bool is_return, struct resolve_ask *ask) {
    const struct resolve_place_piece *piece = resolve_places_piece(f->places, state, address);
    bool nowhere = piece->image == MODEL_NONE;
    is_return &= address != 0; /* nothing lies before it */
    if ((is_return && address == piece->start) || (!nowhere && piece->image >= SPOT_IMAGES) ||
        (nowhere && how & HOW_BEFORE_EXEC && resolve_places_in_exec(f->places, state)))
        return false;
    bool back = is_return && !nowhere; /* the byte before it is in the piece, too */
    ask_at(f, piece->image, address + piece->slide, how, address, back, ask);
    return true;
}

bool resolve_frames_ask(struct resolve_frames *f, const struct model_state *state, unsigned how,
                        uint64_t address, struct resolve_ask *ask) {
    return ask_one(f, state, how, address, false, ask);
}

void resolve_frames_ask_at(struct resolve_frames *f, uint32_t image, uint64_t offset, unsigned how,
                           uint64_t address, struct resolve_ask *ask) {
    if (image == MODEL_NONE || image < SPOT_IMAGES) {
        ask_at(f, image, offset, how, address, false, ask);
        return;
    }
    *ask = (struct resolve_ask){.address = address, .offset = offset, .image = image, .how = (uint8_t)how};
    struct model_hit hit = hit_of(ask);
    ask->stage = ASK_DONE;
    ask->id = id_of(frame_of(f, how, address, &hit));
}

bool resolve_frames_ask_run(struct resolve_frames *f, const struct resolve_run *run,
                            struct resolve_ask *asks) {
    unsigned how = resolve_frames_how(run->cpumode, (enum resolve_frame_kind)run->kind, run->before_exec);
    for (uint64_t i = 0; i < run->count; i++)
        if (!ask_one(f, run->state, how, bytes_load64(run->at + 8 * i, run->swap), i, &asks[i]))
            return false;
    return true;
}

/* Makes the first step for a place in an image with symbols. */
static inline void look_at_spot(struct resolve_frames *f, struct resolve_ask *ask) {
    uint32_t key = spot_key(ask->image, ask->how, ask->asked_back);
    known_frame known = spot_get(spots_of(f, ask->offset, ask->image), ask->offset, key);
    if (known == KNOWN_NAMELESS) {
        want_nameless(f, ask);
    } else if (known) {
        settle(ask, known);
        prefetch(&f->list.items[ask->id]); /* for resolve_frames_place */
    } else {
        ask->stage = ASK_BUCKET;
        symbol_table_expect(f->images.items[ask->image].table, ask->offset - ask->asked_back, 0);
    }
}

/* Finds the symbol of a place that has no spot. */
static __attribute__((noinline)) void look_for_symbol(struct resolve_frames *f, struct resolve_ask *ask) {
    const struct resolve_frame_image *of = &f->images.items[ask->image];
    unsigned kind = ask->how >> HOW_KIND_SHIFT;
    struct model_hit hit = hit_of(ask);
    ask->symbol = symbol_at(of->table, &hit);
    ask->back = hit.back;
    ask->stage = ASK_NAME;
    if (ask->symbol == SYMBOL_NONE && kind == RESOLVE_FUNCTION) {
        spot_put(spots_of(f, ask->offset, ask->image), ask->offset,
                 spot_key(ask->image, ask->how, ask->asked_back), KNOWN_NAMELESS);
        want_nameless(f, ask);
    } else if (ask->symbol == SYMBOL_NONE) {
        want_identity(f, ask);
    } else if (of->known[kind == RESOLVE_PLACE]) {
        prefetch(&of->known[kind == RESOLVE_PLACE][ask->symbol]);
    }
}

/* Takes the first frame of the slot, which is in the cache by now. */
static inline void look_at_identity(struct resolve_frames *f, struct resolve_ask *ask) {
    struct idtable_at at = idtable_first(&f->by_identity, ask->hash);
    ask->stage = ASK_FOUND;
    ask->id = idtable_next(&f->by_identity, &at);
    if (ask->id != IDTABLE_NONE)
        prefetch(&f->list.items[ask->id]);
}

static known_frame answer_name(struct resolve_frames *f, const struct resolve_ask *ask) {
    struct model_hit hit = hit_of(ask);
    struct resolve_frame frame = frame_at_hit(ask->how, ask->address, &hit);
    known_frame memo, known = name_frame(f, &f->images.items[ask->image], ask->symbol, &hit, &frame, &memo);
    if (memo)
        spot_put(spots_of(f, ask->offset, ask->image), ask->offset,
                 spot_key(ask->image, ask->how, ask->asked_back), memo);
    return known;
}

static inline void step(struct resolve_frames *f, struct resolve_ask *ask) {
    switch (ask->stage) {
    case ASK_SPOT:
        look_at_spot(f, ask);
        break;
    case ASK_BUCKET:
        ask->stage = ASK_SYMBOL;
        symbol_table_expect(f->images.items[ask->image].table, ask->offset - ask->asked_back, 1);
        break;
    case ASK_SYMBOL:
        look_for_symbol(f, ask);
        break;
    case ASK_NAMELESS:
        look_at_identity(f, ask);
        break;
    default:
        break;
    }
}

/* Whether there is a step to make before the answer. */
static inline bool has_step(const struct resolve_ask *ask) {
    return ask->stage >= ASK_SPOT && ask->stage <= ASK_NAMELESS;
}

void resolve_frames_steps(struct resolve_frames *f, struct resolve_ask *asks, size_t count) {
    uint16_t left[RESOLVE_ASKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        step(f, &asks[i]);
        left[n] = (uint16_t)i;
        n += has_step(&asks[i]);
    }
    while (n) {
        size_t still = 0;
        for (size_t k = 0; k < n; k++) {
            struct resolve_ask *ask = &asks[left[k]];
            step(f, ask);
            left[still] = left[k];
            still += has_step(ask);
        }
        n = still;
    }
}

uint32_t resolve_frames_answer_slowly(struct resolve_frames *f, struct resolve_ask *ask) {
    if (has_step(ask)) /* the caller did not make the steps */
        resolve_frames_steps(f, ask, 1);
    if (ask->stage == ASK_NAME) {
        settle(ask, answer_name(f, ask));
    } else if (ask->stage == ASK_FOUND) {
        struct model_hit hit = hit_of(ask);
        struct resolve_frame frame = frame_at_hit(ask->how, ask->address, &hit);
        ask->stage = ASK_DONE;
        if (ask->id == IDTABLE_NONE || !equal(&f->list.items[ask->id], &frame))
            ask->id = add_hashed(f, &frame, ask->hash);
    }
    return ask->id;
}

uint32_t resolve_frames_place(struct resolve_frames *f, const struct resolve_ask *ask) {
    const struct resolve_frame *of = &f->list.items[ask->id];
    bool one = of->symbol != SYMBOL_NONE || (of->image == ask->image && of->offset == ask->offset);
    if (one && of->place != RESOLVE_NO_FRAME)
        return of->place;
    struct model_hit hit = hit_of(ask);
    unsigned how = (ask->how & ((1u << HOW_KIND_SHIFT) - 1)) | RESOLVE_PLACE << HOW_KIND_SHIFT;
    uint32_t place = id_of(frame_of(f, how, ask->address, &hit));
    if (one)
        f->list.items[ask->id].place = place;
    return place;
}

/* ---- frames of another time ---- */

/* Whether its names may change while it is there: perf maps grow. */
static bool is_memory(const struct resolve_frames *f, uint32_t image) {
    switch (model_image(f->places->model, image)->kind) {
    case MODEL_IMAGE_ANON:
    case MODEL_IMAGE_HEAP:
    case MODEL_IMAGE_STACK:
    case MODEL_IMAGE_MEMFD:
        return true;
    default:
        return false;
    }
}

uint32_t resolve_frames_carry(struct resolve_frames *f, const struct resolve_frame *frame, bool moved) {
    struct resolve_frame now = *frame;
    if (frame->image == MODEL_NONE)
        now.symbol = SYMBOL_NONE;
    if (frame->image != MODEL_NONE && (moved || is_memory(f, frame->image))) {
        const struct resolve_frame_image *of = image_of(f, frame->image);
        now.symbol =
            of && of->table ? symbol_table_find(of->table, frame->offset - frame->back) : SYMBOL_NONE;
        now.symbol = resolve_names_admit(f->names, frame->image, now.symbol);
    }
    return resolve_frames_add(f, &now);
}

/* ---- runs ---- */

enum { RUN_ASKS = 64 };

/* Finds the frames of a run of user space, in steps for addresses that were not looked up lately. False: the
 * slow way is needed, as when frames lie outside of an `entry`. */
static bool run_in_steps(struct resolve_frames *f, const struct resolve_run *run, unsigned how,
                         uint32_t *ids) {
    struct resolve_ask asks[RUN_ASKS];
    uint8_t of[RUN_ASKS];
    uint64_t key;
    size_t n = 0;
    if (run->cpumode != PERFDATA_MISC_USER || run->cut || run->count > RUN_ASKS)
        return false;
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t address = bytes_load64(run->at + 8 * i, run->swap);
        const struct resolve_frame_slot *slot = slot_of(f, run->state->id, address);
        bool is_key = address_key(address, how | (i ? HOW_RETURN : 0), &key);
        if (is_key && slot->known && slot->key == key && slot->state == run->state->id) {
            if (slot->known & 1 && i + 1 < run->count)
                return false;
            ids[i] = id_of(slot->known);
        } else if (ask_one(f, run->state, how, address, i, &asks[n])) {
            of[n++] = (uint8_t)i;
        } else {
            return false;
        }
    }
    resolve_frames_steps(f, asks, n);
    for (size_t k = 0; k < n; k++) {
        uint32_t id = resolve_frames_answer(f, &asks[k]);
        if (id == RESOLVE_NO_FRAME)
            return false;
        ids[of[k]] = id;
        if (address_key(asks[k].address, how | (of[k] ? HOW_RETURN : 0), &key))
            *slot_of(f, run->state->id, asks[k].address) =
                (struct resolve_frame_slot){key, run->state->id, known_of(id, asks[k].entry)};
        if (asks[k].entry && of[k] + 1u < run->count)
            return false;
    }
    return true;
}

bool resolve_frames_run(struct resolve_frames *f, const struct resolve_run *run, uint32_t *ids) {
    for (uint64_t i = 0; i < run->count; i++)
        prefetch(slot_of(f, run->state->id, bytes_load64(run->at + 8 * i, run->swap)));
    unsigned how = resolve_frames_how(run->cpumode, (enum resolve_frame_kind)run->kind, run->before_exec);
    if (run_in_steps(f, run, how, ids))
        return true;
    bool exact = !run->cut;
    if (run->cut) {
        known_frame inner = frame_at(f, run->state, how | HOW_RETURN, bytes_load64(run->at - 8, run->swap));
        if (!inner)
            return false;
        exact = inner & 1;
    }
    for (uint64_t i = 0; i < run->count; i++) {
        known_frame known =
            frame_at(f, run->state, how | (exact ? 0 : HOW_RETURN), bytes_load64(run->at + 8 * i, run->swap));
        if (!known)
            return false;
        ids[i] = id_of(known);
        exact = known & 1;
    }
    return true;
}
