/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/unwind.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "format/perfdata/header/feature.h"
#include "resolve/locate.h"
#include "unwind/cache.h"

/* An image's unwind tables. */
struct image_tables {
    bool asked;
    struct symbol_frames frames; /* cfi NULL: none */
};

struct resolve_unwind {
    struct resolve_names *names;
    const struct model *model;
    const struct perfdata_header *header;
    bool told; /* `machine` and `arch` are set */
    uint32_t machine;
    char arch[16];
    struct resolve_locator locator;
    struct unwind_cache cache;
    VEC(struct image_tables) images;
    VEC(uint64_t) chain;
    enum resolve_unwind_end end;   /* of `chain`, */
    struct unwind_frame outermost; /* its last frame; */
    uint32_t last_image;           /* where that lies; */
    unsigned places;               /* resolve_unwind_places */
    struct resolve_unwind_tally tally;
};

/* The state of unwinding one stack. */
struct walk {
    struct resolve_unwind *u;
    const struct unwind_cpu *cpu;
    const struct model_state *state;
    bool in_kernel; /* as in resolve_locate */
    struct unwind_stack stack;
    struct unwind_regs regs;
    struct unwind_frame frame;
    struct model_hit hit; /* of the frame */
    object_vaddr addr;    /* the address that is looked up in the image's tables */
    const struct unwind_row *row;
};

/* The row of code that no table covers. */
static const struct unwind_row NO_ROW = {.flags = UNWIND_ROW_NONE};

struct resolve_unwind *resolve_unwind_new(struct resolve_names *names, const struct perfdata_header *header,
                                          struct err *err) {
    struct resolve_unwind *u = calloc(1, sizeof *u);
    if (!u || !unwind_cache_init(&u->cache)) {
        free(u);
        err_memory(err, "unwinding");
        return NULL;
    }
    u->names = names;
    u->model = resolve_names_model(names);
    u->locator.model = u->model;
    u->header = header;
    return u;
}

void resolve_unwind_free(struct resolve_unwind *u) {
    if (!u)
        return;
    resolve_locator_fini(&u->locator);
    unwind_cache_fini(&u->cache);
    vec_fini(&u->images);
    vec_fini(&u->chain);
    vec_fini(&u->tally.images);
    free(u);
}

void resolve_unwind_set_cpu(struct resolve_unwind *u, const char *arch) {
    size_t len = strnlen(arch, sizeof u->arch - 1);
    memcpy(u->arch, arch, len);
    u->arch[len] = 0;
    u->told = true;
}

static void learn_cpu(struct resolve_unwind *u) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    if (perfdata_feature_get(u->header, PERFDATA_FEATURE_E_MACHINE, &arena, &v))
        u->machine = v.e_machine.machine;
    arena_fini(&arena);
    perfdata_feature_text(u->header, PERFDATA_FEATURE_ARCH, u->arch, sizeof u->arch);
    u->told = true;
}

/* ---- what lies at an address ---- */

static bool find(const struct walk *w, uint64_t address, struct model_hit *hit) {
    return resolve_locate(&w->u->locator, w->state, MODEL_SPACE_USER, w->in_kernel, address, hit);
}

/* Whether the address may be code; *hit is where it lies. */
static bool is_code(const struct walk *w, uint64_t address, struct model_hit *hit) {
    if (!find(w, address, hit) || hit->mapping == MODEL_NONE)
        return false;
    return model_mapping(w->u->model, hit->mapping).prot & PROT_EXEC ||
           model_image(w->u->model, hit->image)->kind == MODEL_IMAGE_CODE;
}

/* The image's tables; cfi is NULL if it has none. */
static struct symbol_frames tables_of(struct resolve_unwind *u, uint32_t image) {
    const struct symbol_frames none = {NULL, NULL};
    while (u->images.count <= image)
        if (!vec_push(&u->images))
            return none;
    struct image_tables *i = &u->images.items[image];
    if (!i->asked)
        resolve_names_frames(u->names, image, &i->frames);
    i->asked = true;
    return i->frames;
}

/* ---- rows ---- */

static bool table_address(const struct symbol_frames *f, uint64_t offset, object_vaddr *addr) {
    *addr = offset;
    return f->cfi && (!f->layout || object_layout_addr(f->layout, offset, addr));
}

/* Makes the row for the frame's place from its image's tables. */
static void make_row(struct walk *w, struct unwind_row *out) {
    struct symbol_frames f = tables_of(w->u, w->hit.image);
    struct object_cfi_range range;
    struct object_cfi_row row;
    memset(out, 0, sizeof *out);
    out->flags = UNWIND_ROW_NONE;
    if (table_address(&f, w->hit.offset, &w->addr) && object_cfi_find(f.cfi, w->addr, &range) &&
        object_cfi_row(f.cfi, &range, w->addr, &row))
        unwind_row_make(w->cpu, &range, &row, out);
}

/* Sets w->row for the frame's place. False: out of memory. */
static bool find_row(struct walk *w) {
    struct unwind_cache *cache = &w->u->cache;
    /* The key has no CPU: only in contrived files are the same bytes code of two CPUs. */
    const struct unwind_row *row = unwind_cache_find(cache, w->hit.image, w->hit.offset);
    if (!row) {
        struct unwind_row made;
        make_row(w, &made);
        row = unwind_cache_add(cache, w->hit.image, w->hit.offset, &made);
    }
    w->row = row;
    return row;
}

/* Steps by a row with expressions, which is not cached. */
static enum unwind_result step_general(struct walk *w) {
    struct symbol_frames f = tables_of(w->u, w->hit.image);
    struct object_cfi_range range;
    struct object_cfi_row row;
    if (!table_address(&f, w->hit.offset, &w->addr) || !object_cfi_find(f.cfi, w->addr, &range) ||
        !object_cfi_row(f.cfi, &range, w->addr, &row))
        return UNWIND_LOST;
    struct unwind_place place = {.cpu = w->cpu,
                                 .stack = &w->stack,
                                 .bias = unwind_frame_lookup(w->frame) - w->addr,
                                 .swap = w->stack.swap};
    return unwind_step_general(&place, &range, &row, !w->frame.returned, &w->regs);
}

/* ---- steps ---- */

/* Takes the step that `try` made if it leads to code. */
static bool take_if_plausible(struct walk *w, const struct unwind_regs *tried) {
    struct model_hit hit;
    uint64_t address = tried->value[UNWIND_IP];
    if (address && !is_code(w, address - 1, &hit))
        return false;
    w->regs = *tried;
    return true;
}

/* Whether the step leads to code with tables: the word on top of a stack is a return address by chance only,
 * so it needs that much proof. */
static bool leads_to_known(const struct walk *w, const struct unwind_regs *tried) {
    struct model_hit hit;
    return find(w, tried->value[UNWIND_IP] - 1, &hit) && tables_of(w->u, hit.image).cfi;
}

/* Steps without a row. */
static enum unwind_result step_blind(struct walk *w) {
    struct unwind_regs tried = w->regs;
    enum unwind_result r = unwind_step_frame(w->cpu, &w->stack, &tried);
    if (r == UNWIND_CALLER && take_if_plausible(w, &tried))
        return r;
    tried = w->regs;
    if (!w->frame.returned && unwind_step_leaf(w->cpu, &w->stack, &tried) == UNWIND_CALLER &&
        tried.value[UNWIND_IP] && leads_to_known(w, &tried) && take_if_plausible(w, &tried))
        return UNWIND_CALLER;
    return r == UNWIND_CUT || r == UNWIND_COMPLETE ? r : UNWIND_LOST;
}

/* Whether the frame lies in memory without a file, as JITs use it. */
static bool is_jit(const struct walk *w) {
    unsigned kind = model_image(w->u->model, w->hit.image)->kind;
    return kind != MODEL_IMAGE_FILE && kind != MODEL_IMAGE_VDSO;
}

/* Whether step_blind may be tried. Not in a file that is absent or not proved to be the recorded one: how its
 * code uses registers is unknown. Code of a file without any tables (Go's, stripped) may keep frame pointers.
 */
static bool may_step_blind(const struct walk *w) {
    if (w->hit.image == MODEL_NONE) /* a call through a bad pointer */
        return !w->frame.returned;
    struct symbol_frames f = tables_of(w->u, w->hit.image);
    return is_jit(w) || f.cfi || f.layout;
}

/* Notes where frame pointers are trusted for want of tables. */
static void note_place(const struct walk *w) {
    unsigned kind =
        w->hit.image == MODEL_NONE ? MODEL_IMAGE_FILE : model_image(w->u->model, w->hit.image)->kind;
    if (kind != MODEL_IMAGE_FILE && kind != MODEL_IMAGE_VDSO)
        w->u->places |= kind == MODEL_IMAGE_MEMFD ? RESOLVE_UNWIND_IN_MEMFD : RESOLVE_UNWIND_IN_MEMORY;
}

static enum unwind_result step(struct walk *w) {
    if (w->row->flags & UNWIND_ROW_NONE) {
        note_place(w);
        return may_step_blind(w) ? step_blind(w) : UNWIND_LOST;
    }
    if (w->row->flags & UNWIND_ROW_GENERAL)
        return step_general(w);
    return unwind_step_row(w->cpu, w->row, &w->stack, !w->frame.returned, &w->regs);
}

/* Removes the signature of a signed return address: of the address widths in use, the one that leads to code
 * is taken. */
static uint64_t strip(const struct walk *w, uint64_t address) {
    struct model_hit hit;
    const uint8_t *bits = w->cpu->address_bits;
    uint64_t first = bits[0] ? address & ((1ull << bits[0]) - 1) : address;
    if (!bits[1] || first >> bits[1] == 0 || find(w, first - 1, &hit))
        return first;
    uint64_t second = address & ((1ull << bits[1]) - 1);
    return find(w, second - 1, &hit) ? second : first;
}

/* Finds the frame's place and row. What a signal handler returns to was not called, so its address is exact,
 * as it is in perf. False: out of memory. */
static bool locate(struct walk *w) {
    struct model_hit at;
    if (!find(w, unwind_frame_lookup(w->frame), &w->hit)) {
        w->hit = MODEL_NOTHING;
        w->row = &NO_ROW;
        return true;
    }
    if (!find_row(w))
        return false;
    /* A table may begin with the signal trampoline itself, to which handlers return; and code may end with
     * the system call that it is in. */
    uint64_t beside = w->frame.returned ? w->frame.address : w->frame.address - 1;
    if (w->row->flags & UNWIND_ROW_NONE && find(w, beside, &at)) {
        struct model_hit before = w->hit;
        w->hit = at;
        if (!find_row(w))
            return false;
        if (!(w->row->flags & UNWIND_ROW_SIGNAL)) {
            w->hit = before;
            w->row = &NO_ROW;
        }
    }
    if (w->row->flags & UNWIND_ROW_SIGNAL)
        w->frame.returned = false;
    return true;
}

static enum resolve_unwind_end end_of(const struct walk *w, enum unwind_result r) {
    switch (r) {
    case UNWIND_COMPLETE:
        return RESOLVE_UNWIND_COMPLETE;
    case UNWIND_CUT:
        return RESOLVE_UNWIND_CUT;
    case UNWIND_LOST:
        return w->hit.image == MODEL_NONE        ? RESOLVE_UNWIND_UNMAPPED
               : w->row->flags & UNWIND_ROW_NONE ? RESOLVE_UNWIND_NO_TABLE
                                                 : RESOLVE_UNWIND_BROKEN;
    default:
        return RESOLVE_UNWIND_BROKEN;
    }
}

/* Appends the frames from w->regs outwards. */
static enum resolve_unwind_end walk(struct walk *w, uint64_t most) {
    w->frame = (struct unwind_frame){w->regs.value[UNWIND_IP], false};
    for (;;) {
        if (w->u->chain.count >= most)
            return RESOLVE_UNWIND_LIMIT;
        uint64_t *to = locate(w) ? vec_push(&w->u->chain) : NULL;
        if (!to)
            return RESOLVE_UNWIND_LIMIT;
        *to = unwind_frame_lookup(w->frame);
        w->u->outermost = w->frame;
        w->u->tally.frames++;
        bool signal = w->row->flags & UNWIND_ROW_SIGNAL;
        enum unwind_result r = step(w);
        if (r != UNWIND_CALLER)
            return end_of(w, r);
        uint64_t address = strip(w, w->regs.value[UNWIND_IP]);
        w->regs.value[UNWIND_IP] = address;
        if (!address)
            return RESOLVE_UNWIND_COMPLETE;
        /* Only code can have called. */
        struct model_hit hit;
        if (!signal && !is_code(w, address - 1, &hit))
            return RESOLVE_UNWIND_UNMAPPED;
        w->frame = (struct unwind_frame){address, !signal};
    }
}

/* ---- samples ---- */

static void count_end(struct resolve_unwind *u, enum resolve_unwind_end end, uint32_t image, int by) {
    u->tally.ends[end] += (uint64_t)by;
    u->last_image = image;
    while (image != MODEL_NONE && u->tally.images.count <= image)
        if (!vec_push(&u->tally.images))
            return;
    if (image != MODEL_NONE)
        u->tally.images.items[image].of[end] += (uint64_t)by;
}

/* Whether the stack's first address lies in no file that is available: perf then shows nothing of it, not
 * even this address. */
static bool is_unknown(const struct walk *w, enum resolve_unwind_end end) {
    return w->hit.image == MODEL_NONE || (end == RESOLVE_UNWIND_NO_TABLE && !may_step_blind(w));
}

/* Prepares for walking up the sample's stack. False: code of its CPU cannot be unwound. */
static bool begin(struct resolve_unwind *u, const struct perfdata_sample *s, unsigned cpumode,
                  struct model_when when, struct walk *w) {
    uint64_t size = s->stack_dyn_size < s->stack_user.size ? s->stack_dyn_size : s->stack_user.size;
    *w = (struct walk){.u = u, .in_kernel = cpumode == PERFDATA_MISC_KERNEL};
    w->cpu = unwind_cpu_find(u->machine, u->arch, (unsigned)s->regs_user.abi);
    if (!w->cpu || !unwind_regs_load(w->cpu, &s->regs_user, &w->regs))
        return false;
    w->state = resolve_locator_state(&u->locator, MODEL_SPACE_USER, s->pid, when);
    w->stack = (struct unwind_stack){s->stack_user.data, w->regs.value[w->cpu->sp], size, s->swap};
    return true;
}

static struct perfdata_u64s chain_of(const struct resolve_unwind *u) {
    return (struct perfdata_u64s){(const uint8_t *)u->chain.items, u->chain.count, false};
}

/* As `begin`, and counts the stack. False: there is none, or it cannot be unwound. */
static bool begin_stack(struct resolve_unwind *u, const struct perfdata_sample *s, unsigned cpumode,
                        struct model_when when, struct walk *w) {
    u->end = RESOLVE_UNWIND_CPU;
    u->last_image = MODEL_NONE;
    u->places = 0;
    vec_clear(&u->chain);
    if (!resolve_unwind_has(s) || !s->stack_dyn_size)
        return false;
    if (!u->told)
        learn_cpu(u);
    u->tally.stacks++;
    if (begin(u, s, cpumode, when, w))
        return true;
    count_end(u, RESOLVE_UNWIND_CPU, MODEL_NONE, 1);
    return false;
}

struct perfdata_u64s resolve_unwind_stack(struct resolve_unwind *u, const struct perfdata_sample *s,
                                          unsigned cpumode, struct model_when when, uint64_t most) {
    const struct perfdata_u64s none = {0};
    struct walk w;
    if (!begin_stack(u, s, cpumode, when, &w))
        return none;
    u->end = walk(&w, most);
    count_end(u, u->end, w.hit.image, 1);
    return u->chain.count == 1 && is_unknown(&w, u->end) ? none : chain_of(u);
}

struct perfdata_u64s resolve_unwind_leaf(struct resolve_unwind *u, const struct perfdata_sample *s,
                                         unsigned cpumode, struct model_when when) {
    const struct perfdata_u64s none = {0};
    struct walk w;
    if (!begin_stack(u, s, cpumode, when, &w))
        return none;
    u->end = RESOLVE_UNWIND_LIMIT;
    u->tally.skipped++;
    uint64_t address = w.regs.value[UNWIND_IP];
    uint64_t *to = find(&w, address, &w.hit) ? vec_push(&u->chain) : NULL;
    if (!to)
        return none;
    *to = address;
    u->tally.frames++;
    return chain_of(u);
}

enum resolve_unwind_end resolve_unwind_ended(const struct resolve_unwind *u) {
    return u->end;
}

unsigned resolve_unwind_places(const struct resolve_unwind *u) {
    return u->places;
}

/* ---- beyond the dump ---- */

/* Whether the function in which the frame is keeps a frame pointer there, so that the kernel's next address
 * is its caller's and none is left out. */
static bool keeps_frame(const struct walk *w) {
    if (w->row->flags & UNWIND_ROW_NONE)
        return w->hit.image != MODEL_NONE && is_jit(w);
    return !(w->row->flags & (UNWIND_ROW_GENERAL | UNWIND_ROW_SIGNAL)) && w->row->cfa_slot == w->cpu->fp;
}

/* Appends what the kernel's chain has from word i on, where it is at the walk's frame. */
static enum resolve_unwind_end follow(struct walk *w, const struct perfdata_u64s *kernel, uint64_t i,
                                      uint64_t most) {
    for (;; i++) {
        struct model_hit hit;
        if (!locate(w))
            return RESOLVE_UNWIND_CUT;
        if (w->row->flags & UNWIND_ROW_LAST)
            return RESOLVE_UNWIND_COMPLETE;
        uint64_t next = i + 1 < kernel->count ? strip(w, perfdata_u64_at(kernel, i + 1)) : 0;
        if (!next || !keeps_frame(w) || !is_code(w, next - 1, &hit))
            return RESOLVE_UNWIND_CUT;
        uint64_t *to = w->u->chain.count < most ? vec_push(&w->u->chain) : NULL;
        if (!to)
            return RESOLVE_UNWIND_LIMIT;
        *to = next - 1;
        w->u->tally.frames++;
        w->frame = w->u->outermost = (struct unwind_frame){next, true};
    }
}

struct perfdata_u64s resolve_unwind_go_on(struct resolve_unwind *u, const struct perfdata_sample *s,
                                          unsigned cpumode, struct model_when when,
                                          const struct perfdata_u64s *kernel, uint64_t most) {
    struct walk w;
    uint64_t i = 1;
    if (u->end != RESOLVE_UNWIND_CUT || !u->outermost.returned || !begin(u, s, cpumode, when, &w))
        return chain_of(u);
    w.frame = u->outermost;
    while (i < kernel->count && strip(&w, perfdata_u64_at(kernel, i)) != w.frame.address)
        i++;
    if (i >= kernel->count)
        return chain_of(u);
    count_end(u, RESOLVE_UNWIND_CUT, u->last_image, -1);
    u->end = follow(&w, kernel, i, most);
    count_end(u, u->end, w.hit.image, 1);
    return chain_of(u);
}

/* ---- statistics ---- */

const char *resolve_unwind_end_text(enum resolve_unwind_end end) {
    static const char *const texts[RESOLVE_UNWIND_ENDS] = {
        [RESOLVE_UNWIND_COMPLETE] = "complete",
        [RESOLVE_UNWIND_CUT] = "the dump is too short",
        [RESOLVE_UNWIND_NO_TABLE] = "code without unwind tables",
        [RESOLVE_UNWIND_UNMAPPED] = "an address where nothing is mapped",
        [RESOLVE_UNWIND_BROKEN] = "tables and stack do not fit together",
        [RESOLVE_UNWIND_LIMIT] = "more frames than asked for (--max-stack)",
        [RESOLVE_UNWIND_CPU] =
            "a CPU that is not unwound here (x86, arm64, s390x, ppc64, riscv64 and loongarch64 are)",
    };
    return texts[end];
}

const struct resolve_unwind_tally *resolve_unwind_tally(const struct resolve_unwind *u) {
    return &u->tally;
}

bool resolve_unwind_tally_add(struct resolve_unwind_tally *to, const struct resolve_unwind_tally *more) {
    to->stacks += more->stacks;
    to->frames += more->frames;
    to->skipped += more->skipped;
    for (int i = 0; i < RESOLVE_UNWIND_ENDS; i++)
        to->ends[i] += more->ends[i];
    while (to->images.count < more->images.count)
        if (!vec_push(&to->images))
            return false;
    for (size_t i = 0; i < more->images.count; i++)
        for (int k = 0; k < RESOLVE_UNWIND_ENDS; k++)
            to->images.items[i].of[k] += more->images.items[i].of[k];
    return true;
}
