/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables. A JIT's are made for code in its place in memory; here each function's entries are written
 * anew for its place in the file, with the same instructions. Layout: Linux Standard Base, Core, "Exception
 * Frames"; DWARF 4, 6.4.
 */
#include "base/cursor.h"
#include "format/jitdump/jitelf_internal.h"

/* DW_EH_PE_*: what an encoded pointer is made of, and what it counts from. */
enum {
    PE_ABSPTR = 0,
    PE_UDATA4 = 3,
    PE_UDATA8 = 4,
    PE_SDATA4 = 0xb,
    PE_SDATA8 = 0xc,
    PE_PCREL = 0x10,
    PE_OMIT = 0xff
};

struct entry {
    struct bytes all, body; /* with its length; what follows its id */
    uint32_t id;
    size_t at; /* of `all` in the table */
};

/* The next CIE or FDE; false at the end. Only the 32-bit form. */
static bool entry_next(struct cursor *c, struct entry *e) {
    const uint8_t *start = c->at;
    e->at = cursor_pos(c);
    uint32_t size = cursor_u32(c);
    if (!cursor_ok(c) || size < 4 || size == UINT32_MAX)
        return false;
    struct bytes rest = cursor_bytes(c, size);
    if (!cursor_ok(c))
        return false;
    e->all = (struct bytes){start, rest.size + 4};
    e->id = bytes_load32(rest.data, c->swap);
    e->body = (struct bytes){rest.data + 4, rest.size - 4};
    return true;
}

/* The encoding of addresses in a CIE's FDEs, or -1 where it is none that can be written anew. */
static int cie_encoding(struct bytes body, bool swap, unsigned address_size) {
    struct cursor c = cursor_make(body, swap);
    uint8_t version = cursor_u8(&c);
    size_t left = cursor_left(&c);
    const uint8_t *text = c.at, *nul = left ? memchr(text, 0, left) : NULL;
    if (!nul || (version != 1 && version != 3))
        return -1;
    cursor_take(&c, (uint64_t)(nul - text) + 1);
    cursor_uleb(&c); /* code alignment */
    cursor_uleb(&c); /* data alignment: signed, of the same length */
    if (version == 1)
        cursor_u8(&c);
    else
        cursor_uleb(&c);
    if (*text != 'z')
        return *text ? -1 : address_size == 8 ? PE_UDATA8 : PE_UDATA4;
    cursor_uleb(&c);
    for (const uint8_t *a = text + 1; a < nul; a++) {
        if (*a == 'R')
            return cursor_ok(&c) ? cursor_u8(&c) : -1;
        /* Language-specific data that every FDE leaves out (V8's) is none. */
        if (*a == 'L' && cursor_u8(&c) == PE_OMIT)
            continue;
        if (*a != 'S') /* personalities and the like need memory that the file does not have */
            return -1;
    }
    return address_size == 8 ? PE_UDATA8 : PE_UDATA4;
}

static unsigned encoded_size(int encoding, unsigned address_size) {
    switch (encoding & 0xf) {
    case PE_ABSPTR:
        return address_size;
    case PE_UDATA4:
    case PE_SDATA4:
        return 4;
    case PE_UDATA8:
    case PE_SDATA8:
        return 8;
    default:
        return 0;
    }
}

static uint64_t load(const uint8_t *p, unsigned size, bool swap) {
    return size == 8 ? bytes_load64(p, swap) : bytes_load32(p, swap);
}

struct function_tables {
    const struct jitelf_part *part;
    uint64_t start, size;   /* of the function in the file */
    uint64_t frame_at;      /* of the section */
    bool any;               /* an FDE was written */
    uint64_t first_address; /* of the first FDE, as its writer put it: the function's start */
    struct writer *out;
};

/* Writes an FDE for the CIE at cie_at in the section. False: not of a form that can be. */
static bool put_fde(struct function_tables *t, const struct entry *e, uint64_t cie_at, int encoding) {
    bool swap = t->part->code->swap;
    unsigned size = encoded_size(encoding, 8);
    if (!size || encoding & 0x60 || e->body.size < 2 * size)
        return false;
    uint64_t address = load(e->body.data, size, swap);
    if (encoding & PE_PCREL)
        address += (uint64_t)(e->body.data - t->part->code->functions.items[0].code.data);
    if (!t->any)
        t->first_address = address;
    uint64_t at = address - t->first_address;
    if (size == 4)
        at = (uint32_t)at;
    uint64_t range = load(e->body.data + size, size, swap);
    if (at >= t->size)
        return false;
    range = range > t->size - at ? t->size - at : range;
    struct writer *w = t->out;
    size_t begins = w->size;
    writer_u32(w, 0);
    writer_u32(w, (uint32_t)(w->size - cie_at));
    uint64_t from = encoding & PE_PCREL ? t->frame_at + w->size : 0;
    for (int i = 0; i < 2; i++) {
        uint64_t v = i ? range : t->start + at - from;
        if (size == 8)
            writer_u64(w, v);
        else
            writer_u32(w, (uint32_t)v);
    }
    writer_bytes_put(w, (struct bytes){e->body.data + 2 * size, e->body.size - 2 * size});
    writer_align(w, 4); /* zeros are DW_CFA_nop */
    writer_patch32(w, begins, (uint32_t)(w->size - begins - 4));
    t->any = true;
    return true;
}

/* A CIE and what refers to it. CIEs are many and the same: the last one written is used again. */
struct last_cie {
    struct bytes body;
    uint64_t at;
};

static void put_tables(struct function_tables *t, struct bytes frame, struct last_cie *last) {
    struct cursor c = cursor_make(frame, t->part->code->swap);
    struct entry e, cie = {{NULL, 0}, {NULL, 0}, 0, 0};
    int encoding = -1;
    bool same = false; /* it is the last one written */
    while (entry_next(&c, &e)) {
        if (e.id == 0) {
            cie = e;
            encoding = cie_encoding(cie.body, t->part->code->swap, 8);
            same = last->body.size && bytes_equal(last->body, cie.body);
            continue;
        }
        /* An FDE's id is its distance from its CIE. */
        if (encoding < 0 || e.at + 4 - e.id != cie.at)
            continue;
        if (!same) {
            *last = (struct last_cie){cie.body, t->out->size};
            writer_bytes_put(t->out, cie.all);
            same = true;
        }
        put_fde(t, &e, last->at, encoding);
    }
}

void jitelf_put_frame(const struct jitelf_part *p, uint64_t frame_at, struct writer *w) {
    struct last_cie last = {{NULL, 0}, 0};
    for (size_t i = p->first; i < p->last; i++) {
        const struct jitcode_function *f = &p->code->functions.items[i];
        if (!f->unwinding.frame.size)
            continue;
        struct function_tables t = {
            .part = p, .start = jitelf_offset(p, i), .size = f->code.size, .frame_at = frame_at, .out = w};
        put_tables(&t, f->unwinding.frame, &last);
        if (!t.any) { /* some writers put the search table after the tables and not in front */
            struct bytes all = {f->unwinding.frame_hdr.data,
                                f->unwinding.frame_hdr.size + f->unwinding.frame.size};
            if (f->unwinding.frame_hdr.size)
                put_tables(&t, all, &last);
        }
    }
    if (w->size)
        writer_u32(w, 0); /* the end */
}

/* Walks what jitelf_put_frame wrote, in which functions ascend. */
void jitelf_put_frame_hdr(const struct writer *frame, uint64_t frame_at, uint64_t hdr_at, struct writer *w) {
    struct cursor c = cursor_make(writer_bytes(frame), frame->swap);
    struct entry e;
    int encoding = PE_UDATA8;
    uint32_t count = 0;
    if (!frame->size)
        return;
    writer_u8(w, 1);
    writer_u8(w, PE_PCREL | PE_SDATA4);
    writer_u8(w, PE_UDATA4);
    writer_u8(w, 0x30 | PE_SDATA4); /* DW_EH_PE_datarel: from the start of this section */
    writer_u32(w, (uint32_t)(frame_at - (hdr_at + 4)));
    writer_u32(w, 0);
    while (entry_next(&c, &e)) {
        if (e.id == 0) {
            encoding = cie_encoding(e.body, frame->swap, 8);
            continue;
        }
        unsigned size = encoded_size(encoding, 8);
        uint64_t address = load(e.body.data, size, frame->swap);
        if (encoding & PE_PCREL)
            address =
                (uint64_t)(size == 4 ? (int64_t)(int32_t)address : (int64_t)address) + frame_at + e.at + 8;
        writer_u32(w, (uint32_t)(address - hdr_at));
        writer_u32(w, (uint32_t)(frame_at + e.at - hdr_at));
        count++;
    }
    writer_patch32(w, 8, count);
}
