/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys about what a sample accessed. Those about the memory's source share one value, the whole word that was
 * recorded: perf groups by one field of it, and shows the words of the sample that came first, which tell of
 * other fields, too.
 */
#include "format/perfdata/data_src.h"
#include "profile/profile_internal.h"

typedef void put_fn(struct out *o, uint64_t v);

static const struct source {
    uint8_t id; /* enum profile_column_id */
    uint8_t field;
    put_fn *put;
} sources[] = {
    {PROFILE_MEM, PERFDATA_SRC_LVL, perfdata_src_level},
    {PROFILE_SNOOP, PERFDATA_SRC_SNOOP, perfdata_src_snoop},
    {PROFILE_TLB, PERFDATA_SRC_TLB, perfdata_src_tlb},
    {PROFILE_LOCKED, PERFDATA_SRC_LOCK, perfdata_src_locked},
    {PROFILE_BLOCKED, PERFDATA_SRC_BLK, perfdata_src_blocked},
};

static const struct source *source_of(enum profile_column_id id) {
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].id == id)
            return &sources[i];
    return NULL;
}

/* Where in its file it is; of memory without one, as stacks are, the address. */
static uint64_t line_of(const struct profile *p, const struct resolve_frame *f) {
    unsigned kind =
        f->image == MODEL_NONE ? MODEL_IMAGE_OTHER : model_image(p->plan.in->model, f->image)->kind;
    bool memory = kind == MODEL_IMAGE_ANON || kind == MODEL_IMAGE_HEAP || kind == MODEL_IMAGE_STACK ||
                  kind == MODEL_IMAGE_SYSV;
    return (memory ? f->address : f->offset) & ~(uint64_t)(PROFILE_CACHELINE_BYTES - 1);
}

unsigned profile_mem_words(const struct profile *p, enum profile_column_id id, uint32_t frame, uint64_t value,
                           uint64_t *words) {
    const struct source *source = source_of(id);
    if (source) {
        words[0] = perfdata_src_bits(value, (enum perfdata_src_field)source->field);
        return 1;
    }
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    switch (id) {
    case PROFILE_SYMBOL_DADDR:
    case PROFILE_SYMBOL_IADDR:
        words[0] = f->address;
        return 1;
    case PROFILE_DSO_DADDR:
        words[0] = p->places.items[frame].dso;
        return 1;
    case PROFILE_DCACHELINE: /* the line, then whose it is */
        words[0] = line_of(p, f);
        words[1] = (uint64_t)f->cpumode << 32 | f->image;
        return 2;
    default:
        return 0;
    }
}

static bool is_object(const struct profile *p, const struct resolve_frame *f) {
    const struct symbol_table *t = resolve_names_table(p->plan.in->names, f->image);
    return symbol_table_flags(t, f->symbol) & SYMBOL_OBJECT;
}

/* As "%#.16llx"; within an object how far. */
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

bool profile_mem_text(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                      uint64_t value, struct out *o) {
    const struct source *source = source_of(id);
    if (source) {
        source->put(o, value);
        return true;
    }
    bool line = id == PROFILE_DCACHELINE;
    if (!line && id != PROFILE_SYMBOL_DADDR && id != PROFILE_SYMBOL_IADDR)
        return false;
    uint32_t frame = profile_key_frame(p, id, row);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    profile_put_level(o, row->cpumode);
    if (line && f->image == MODEL_NONE) /* "[X]": in no mapping */
        o->buf[o->len - 3] = 'X';
    put_place(p, frame, line ? line_of(p, f) : f->address, line ? line_of(p, f) : f->offset, o);
    return true;
}

uint32_t profile_mem_width(const struct profile *p, const struct profile_row *row,
                           enum profile_column_id id) {
    enum { LEVEL = 4, ADDRESS = 18, LINE = 1 };
    const struct profile_name *name = profile_name_of(p, profile_key_frame(p, id, row));
    return LEVEL + ADDRESS + (name ? name->text_len + (id == PROFILE_DCACHELINE ? LINE : 0) : 0);
}
