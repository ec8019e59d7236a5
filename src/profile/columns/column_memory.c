/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys about what a sample accessed (--mem-mode). Those about the memory's source share one value, the whole
 * recorded word: perf groups by one field of it, but shows the text of the first sample's word, which depends
 * on other fields, too.
 */
#include "format/perfdata/data_src.h"
#include "profile/profile_internal.h"

/* ---- the source of the data ---- */

PROFILE_VALUE(source, x->s->data_src)

/* Defines words_NAME and put_NAME of the key of one field of the source. */
#define SOURCE_KEY(name, field, text)                                                              \
    PROFILE_WORD(name, perfdata_src_bits(x->value, field))                                         \
    static void put_##name(const struct profile *p, const struct profile_cell *x, struct out *o) { \
        (void)p;                                                                                   \
        text(o, x->value);                                                                         \
    }

SOURCE_KEY(level, PERFDATA_SRC_LVL, perfdata_src_level)
SOURCE_KEY(snoop, PERFDATA_SRC_SNOOP, perfdata_src_snoop)
SOURCE_KEY(tlb, PERFDATA_SRC_TLB, perfdata_src_tlb)
SOURCE_KEY(locked, PERFDATA_SRC_LOCK, perfdata_src_locked)
SOURCE_KEY(blocked, PERFDATA_SRC_BLK, perfdata_src_blocked)

/* ---- places ---- */

/* Returns the frame of one exact address. */
static uint64_t take_place(struct profile_builder *b, const struct profile_taken *x, uint64_t address) {
    const struct model_state *state = resolve_places_state(&b->places, x->cpumode, x->s->pid, x->when);
    uint32_t frame = resolve_frames_at(&b->frames, state, x->cpumode, address, RESOLVE_ADDRESS, false);
    b->failed |= frame == RESOLVE_NO_FRAME;
    return frame == RESOLVE_NO_FRAME ? 0 : frame;
}

PROFILE_VALUE(data, take_place(b, x, x->s->addr))

/* Returns the code's exact address. */
PROFILE_VALUE(code, take_place(b, x, x->s->ip))

PROFILE_WORD(address, p->b.frames.list.items[x->frame].address)

/* Returns a line as an offset in its file; of memory without one, such as stacks, as an address. */
static uint64_t line_of(const struct profile *p, const struct resolve_frame *f) {
    unsigned kind =
        f->image == MODEL_NONE ? MODEL_IMAGE_OTHER : model_image(p->plan.in->model, f->image)->kind;
    bool memory = kind == MODEL_IMAGE_ANON || kind == MODEL_IMAGE_HEAP || kind == MODEL_IMAGE_STACK ||
                  kind == MODEL_IMAGE_SYSV;
    return (memory ? f->address : f->offset) & ~(uint64_t)(PROFILE_CACHELINE_BYTES - 1);
}

/* By the line, then by its level and image. */
static unsigned words_cacheline(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    const struct resolve_frame *f = &p->b.frames.list.items[x->frame];
    words[0] = line_of(p, f);
    words[1] = (uint64_t)f->cpumode << 32 | f->image;
    return 2;
}

/* Ranks the kernel's lines first; then memory, then files', then those in no mapping. */
static uint64_t rank_cacheline(const struct profile *p, const uint64_t *words) {
    uint32_t image = (uint32_t)words[1];
    bool file = image != MODEL_NONE && model_image(p->plan.in->model, image)->ino;
    return words[1] >> 32 << 61 | (uint64_t)(image == MODEL_NONE) << 60 | (uint64_t)file << 59 |
           (words[0] & (UINT64_MAX >> 5));
}

static bool is_object(const struct profile *p, const struct resolve_frame *f) {
    const struct symbol_table *t = resolve_names_table(p->plan.in->names, f->image);
    return symbol_table_flags(t, f->symbol) & SYMBOL_OBJECT;
}

/* Appends a name, of a variable with the offset in it, or "%#.16llx". */
static void put_place(const struct profile *p, uint32_t frame, uint64_t address, uint64_t offset,
                      struct out *o) {
    const struct profile_name *name = profile_name_of(p, frame);
    if (!name) {
        profile_put_address(o, address, 16);
        return;
    }
    out_str(o, name->text);
    if (is_object(p, &p->b.frames.list.items[frame])) {
        out_str(o, "+0x");
        out_hex(o, offset - name->start, 0);
    }
}

static void put_symbol(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint32_t frame = x->frame;
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    profile_put_level(o, x->row->cpumode);
    put_place(p, frame, f->address, f->offset, o);
}

static void put_cacheline(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint32_t frame = x->frame;
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    profile_put_level(o, x->row->cpumode);
    if (f->image == MODEL_NONE) /* "[X]": in no mapping */
        o->buf[o->len - 3] = 'X';
    put_place(p, frame, line_of(p, f), line_of(p, f), o);
}

enum { LEVEL = 4, ADDRESS = 18 };

static uint32_t room_symbol(const struct profile *p, const struct profile_cell *x) {
    const struct profile_name *name = profile_name_of(p, x->frame);
    return LEVEL + ADDRESS + (name ? name->text_len : 0);
}

static uint32_t room_cacheline(const struct profile *p, const struct profile_cell *x) {
    return room_symbol(p, x) + (profile_name_of(p, x->frame) != NULL);
}

static uint32_t room_dso(const struct profile *p, const struct profile_cell *x) {
    bool nowhere = p->b.frames.list.items[x->frame].image == MODEL_NONE;
    return nowhere && !p->plan.o->tight && !p->plan.o->dsos ? PROFILE_NAMELESS_WIDTH : 0;
}

/* ---- other values ---- */

PROFILE_VALUE(phys, x->s->phys_addr)

static void put_phys(const struct profile *p, const struct profile_cell *x, struct out *o) {
    profile_put_level(o, x->row->cpumode);
    profile_put_address(o, profile_cell_word(p, x), 16);
}

PROFILE_VALUE(page_size, x->s->data_page_size)

#define OF_SOURCE                                                                                \
    .need = PROFILE_NEEDS_MEMORY, .kind = PROFILE_KEY_NUMBER, .wants = PERFDATA_SAMPLE_DATA_SRC, \
    .value = value_source
#define OF_DATA                                                                               \
    .need = PROFILE_NEEDS_MEMORY, .kind = PROFILE_KEY_ADDRESS, .wants = PERFDATA_SAMPLE_ADDR, \
    .value = value_data

static const struct profile_key rows[] = {
    {PROFILE_NAMES("symbol_daddr", "Data Symbol", "the variable that was accessed, or the address"), OF_DATA,
     .layout = PROFILE_RAGGED, .width = 22, .cut_from = PROFILE_NEVER_CUT, .words = words_address,
     .rank = profile_rank_signed, .put = put_symbol, .room = room_symbol},
    {PROFILE_NAMES("dso_daddr", "Data Object", "the object that the accessed data belongs to"), OF_DATA,
     .words = profile_words_dso, .rank = profile_rank_dso_backwards, .put = profile_put_text,
     .room = room_dso},
    {PROFILE_NAMES("locked", "Locked", "whether the bus was locked"), OF_SOURCE,
     .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .width = 6, .words = words_locked, .put = put_locked},
    {PROFILE_NAMES("tlb", "TLB access", "which TLB knew the page, if any"), OF_SOURCE,
     .layout = PROFILE_TITLE_WIDE, .width = 22, .cut_from = PROFILE_NEVER_CUT, .words = words_tlb,
     .put = put_tlb},
    {PROFILE_NAMES("mem", "Memory access", "the cache or memory that had the data"), OF_SOURCE,
     .layout = PROFILE_TITLE_WIDE, .width = 39, .cut_from = PROFILE_NEVER_CUT, .words = words_level,
     .put = put_level},
    {PROFILE_NAMES("snoop", "Snoop", "what asking other caches found"), OF_SOURCE,
     .layout = PROFILE_TITLE_WIDE, .width = 12, .cut_from = PROFILE_NEVER_CUT, .words = words_snoop,
     .put = put_snoop},
    {PROFILE_NAMES("dcacheline", "Data Cacheline", "the cache line of the accessed data"), OF_DATA,
     .layout = PROFILE_RAGGED, .width = 22, .words = words_cacheline, .rank = rank_cacheline,
     .word_decides = true, .put = put_cacheline, .room = room_cacheline},
    {PROFILE_NAMES("symbol_iaddr", "Code Symbol", "the function of the instruction, to the byte"),
     .need = PROFILE_NEEDS_MEMORY, .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_RAGGED | PROFILE_LEVEL,
     .width = 22, .value = value_code, .words = words_address, .rank = profile_rank_signed, .put = put_symbol,
     .room = room_symbol},
    {PROFILE_NAMES("phys_daddr", "Data Physical Address", "the physical address that was accessed"),
     .need = PROFILE_NEEDS_MEMORY, .kind = PROFILE_KEY_NUMBER, .wants = PERFDATA_SAMPLE_PHYS_ADDR,
     .layout = PROFILE_TITLE_WIDE, .width = 22, .value = value_phys, .put = put_phys},
    {PROFILE_NAMES("data_page_size", "Data Page Size", "the size of the page that was accessed"),
     .need = PROFILE_NEEDS_MEMORY, .kind = PROFILE_KEY_NUMBER, .wants = PERFDATA_SAMPLE_DATA_PAGE_SIZE,
     .layout = PROFILE_TITLE_WIDE, .width = 22, .value = value_page_size, .put = profile_put_page_size},
    {PROFILE_NAMES("blocked", "Blocked", "what a load had to wait for"), OF_SOURCE,
     .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .width = 10, .words = words_blocked, .put = put_blocked},
};

const struct profile_key_list profile_memory_keys = {rows, sizeof rows / sizeof *rows};
