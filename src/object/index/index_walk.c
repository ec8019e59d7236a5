/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a unit's entries, in which only functions and what was inlined into them is looked at. */
#include "object/index/dwarf_numbers.h"
#include "object/index/index_build.h"

enum { DEPTH_MAX = 4096 };

/* What an open entry means for those below it. */
struct level {
    uint32_t instance; /* of the function or what was inlined; INDEX_NONE: none with code */
    uint16_t depth;    /* of the instance */
};

struct walk {
    struct index_build *b;
    struct cursor at;
    uint64_t start; /* of `at` in .debug_info */
    struct level levels[DEPTH_MAX];
    unsigned open;
};

/* What is read of a function's entry. */
struct entry {
    struct dinfo_extent extent;
    struct dinfo_value ref; /* abstract origin or specification */
    const char *linked, *name;
    uint64_t call_file, call_line;
};

static void read_entry(struct walk *w, const struct dinfo_abbrev *a, struct entry *e) {
    const struct dinfo_unit *u = w->b->unit;
    *e = (struct entry){0};
    for (uint32_t i = 0; i < a->count; i++) {
        const struct dinfo_attr *attr = &u->abbrevs.attrs.items[a->first + i];
        struct dinfo_value v;
        switch (attr->name) {
        case AT_LOW_PC:
        case AT_HIGH_PC:
        case AT_RANGES:
        case AT_ABSTRACT_ORIGIN:
        case AT_SPECIFICATION:
        case AT_LINKAGE_NAME:
        case AT_MIPS_LINKAGE_NAME:
        case AT_NAME:
        case AT_CALL_FILE:
        case AT_CALL_LINE:
            dinfo_value_read(u, &w->at, attr, &v);
            break;
        default:
            dinfo_value_skip(&u->head, &w->at, attr->form);
            continue;
        }
        if (v.kind == DINFO_REF || v.kind == DINFO_REF_ALT)
            e->ref = v;
        else if (attr->name == AT_NAME && v.kind == DINFO_TEXT)
            e->name = v.text;
        else if (v.kind == DINFO_TEXT)
            e->linked = v.text;
        else if (attr->name == AT_CALL_FILE)
            e->call_file = v.number;
        else if (attr->name == AT_CALL_LINE)
            e->call_line = v.number;
        else
            dinfo_extent_add(&e->extent, attr->name, &v);
    }
}

static uint32_t name_of(struct index_build *b, const struct entry *e) {
    if (e->linked)
        return index_text(b, e->linked);
    struct index_name from = index_name_of(b, b->unit, &e->ref, 0);
    return from.text && (from.linked || !e->name) ? from.text : e->name ? index_text(b, e->name) : 0;
}

/* Adds the entry's code as that of a new instance. INDEX_NONE: it has none. */
static uint32_t add_instance(struct walk *w, const struct entry *e, uint32_t parent) {
    struct index_build *b = w->b;
    struct dinfo_ranges r;
    uint64_t start, end;
    uint32_t id = (uint32_t)b->instances.count;
    bool any = false;
    dinfo_ranges_init(&r, b->unit, &e->extent);
    while (b->ranges_left && !b->failed && dinfo_ranges_next(&r, &start, &end)) {
        struct index_span *s = parent == INDEX_NONE ? vec_push(&b->functions) : vec_push(&b->inlined);
        b->failed = !s;
        b->ranges_left--;
        any = true;
        if (s)
            *s = (struct index_span){start, end, id};
    }
    struct index_instance *i = any && id < INDEX_NONE - 1 ? vec_push(&b->instances) : NULL;
    if (!i) {
        b->failed = b->failed || any;
        return INDEX_NONE;
    }
    *i = (struct index_instance){.parent = parent};
    if (parent != INDEX_NONE) {
        i->line = e->call_line <= UINT32_MAX ? (uint32_t)e->call_line : 0;
        i->file = index_file(b, e->call_file);
    }
    i->name = name_of(b, e);
    return id;
}

/* Skips an entry's attributes; true if its children were skipped too. */
static bool skip_entry(struct walk *w, const struct dinfo_abbrev *a, bool children_too) {
    const struct dinfo_unit *u = w->b->unit;
    if (a->fixed && !(children_too && a->children)) {
        cursor_take(&w->at, a->size);
        return false;
    }
    uint64_t next = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct dinfo_attr *attr = &u->abbrevs.attrs.items[a->first + i];
        struct dinfo_value v;
        if (attr->name != AT_SIBLING || !children_too) {
            dinfo_value_skip(&u->head, &w->at, attr->form);
            continue;
        }
        dinfo_value_read(u, &w->at, attr, &v);
        next = v.kind == DINFO_REF ? v.number : 0;
    }
    uint64_t here = w->start + cursor_pos(&w->at);
    if (!a->children || next < here || next - here > cursor_left(&w->at))
        return false;
    cursor_take(&w->at, next - here);
    return true;
}

/* True if there may be functions below an entry. */
static bool holds_functions(uint16_t tag) {
    switch (tag) {
    case TAG_COMPILE_UNIT:
    case TAG_NAMESPACE:
    case TAG_MODULE:
    case TAG_CLASS_TYPE:
    case TAG_STRUCTURE_TYPE:
    case TAG_UNION_TYPE:
    case TAG_ENUMERATION_TYPE:
        return true;
    default:
        return false;
    }
}

static void visit(struct walk *w, const struct dinfo_abbrev *a) {
    struct level up = w->open ? w->levels[w->open - 1] : (struct level){INDEX_NONE, 0},
                 down = {INDEX_NONE, 0};
    struct entry e;
    bool skipped = false;
    if (a->tag == TAG_SUBPROGRAM) {
        read_entry(w, a, &e);
        down = (struct level){add_instance(w, &e, INDEX_NONE), 1};
    } else if (a->tag == TAG_INLINED_SUBROUTINE && up.instance != INDEX_NONE && up.depth < INDEX_DEPTH_MAX) {
        read_entry(w, a, &e);
        down = (struct level){add_instance(w, &e, up.instance), (uint16_t)(up.depth + 1)};
    } else {
        bool block = a->tag == TAG_LEXICAL_BLOCK || a->tag == TAG_TRY_BLOCK || a->tag == TAG_CATCH_BLOCK;
        down = block ? up : down;
        skipped = skip_entry(w, a, !block && a->tag != TAG_INLINED_SUBROUTINE && !holds_functions(a->tag));
    }
    if (a->children && !skipped && w->open < DEPTH_MAX)
        w->levels[w->open++] = down;
    else if (a->children && !skipped)
        cursor_take(&w->at, UINT64_MAX); /* nobody writes such trees */
}

void index_walk(struct index_build *b) {
    struct walk *w = malloc(sizeof *w);
    const struct dinfo_head *h = &b->unit->head;
    if (!w) {
        b->failed = true;
        return;
    }
    *w = (struct walk){.b = b, .start = h->dies};
    w->at = cursor_make((struct bytes){b->unit->file->sections[DINFO_INFO].data + h->dies, h->end - h->dies},
                        b->unit->file->swap);
    while (cursor_left(&w->at) && !b->failed) {
        uint64_t code = cursor_uleb(&w->at);
        const struct dinfo_abbrev *a = code ? dinfo_abbrev_find(&b->unit->abbrevs, code) : NULL;
        if (a)
            visit(w, a);
        else if (code || !w->open || !--w->open)
            break;
    }
    free(w);
}
