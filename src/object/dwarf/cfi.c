/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of unwind rows: which CIE and FDE describe an address. */
#include "object/dwarf/cfi.h"

#include <elf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "object/dwarf/cfi_internal.h"

object_vaddr object_cfi_pointer(const struct object_cfi *t, struct cursor *c, unsigned encoding,
                                object_vaddr at, object_vaddr function) {
    uint64_t value, base = 0, place = at + cursor_pos(c);
    switch (encoding & CFI_PE_FORMAT) {
    case CFI_PE_ABSPTR:
        value = t->wide ? cursor_u64(c) : cursor_u32(c);
        break;
    case CFI_PE_SIGNED: /* as wide as an address */
        value = t->wide ? cursor_u64(c) : (uint64_t)(int32_t)cursor_u32(c);
        break;
    case CFI_PE_ULEB:
        value = cursor_uleb(c);
        break;
    case CFI_PE_SLEB:
        value = (uint64_t)cursor_sleb(c);
        break;
    case CFI_PE_UDATA2:
        value = cursor_u16(c);
        break;
    case CFI_PE_SDATA2:
        value = (uint64_t)(int16_t)cursor_u16(c);
        break;
    case CFI_PE_UDATA4:
        value = cursor_u32(c);
        break;
    case CFI_PE_SDATA4:
        value = (uint64_t)(int32_t)cursor_u32(c);
        break;
    case CFI_PE_UDATA8:
    case CFI_PE_SDATA8:
        value = cursor_u64(c);
        break;
    default:
        c->failed = true;
        return 0;
    }
    switch (encoding & CFI_PE_BASE) {
    case 0:
        break;
    case CFI_PE_PCREL:
        base = place;
        break;
    case CFI_PE_TEXTREL:
        base = t->text;
        break;
    case CFI_PE_DATAREL:
        base = t->data;
        break;
    case CFI_PE_FUNCREL:
        base = function;
        break;
    default: /* aligned: in no table that anybody makes */
        c->failed = true;
    }
    if (encoding & CFI_PE_INDIRECT)
        c->failed = true;
    return t->wide ? base + value : (uint32_t)(base + value);
}

/* ---- entries ---- */

/* A CIE or FDE: its body after the length. */
struct entry {
    uint64_t at, next; /* in the section: of its length field, and of the entry after it */
    uint64_t body_at;
    struct bytes body;
    bool long_form; /* the 64-bit format */
};

/* False: no entry begins there. */
static bool entry_at(const struct object_cfi *t, const struct cfi_section *s, uint64_t at,
                     struct entry *out) {
    if (at >= s->content.size)
        return false;
    struct cursor c =
        cursor_make((struct bytes){s->content.data + at, s->content.size - (size_t)at}, t->swap);
    uint64_t size = cursor_u32(&c);
    out->long_form = size == UINT32_MAX;
    if (out->long_form)
        size = cursor_u64(&c);
    out->at = at;
    out->body_at = at + cursor_pos(&c);
    out->body = cursor_bytes(&c, size);
    out->next = at + cursor_pos(&c);
    return cursor_ok(&c) && size;
}

/* The entry at `at` or the first after it: a length of 0, the end of one object's table, is stepped over. */
static bool entry_from(const struct object_cfi *t, const struct cfi_section *s, uint64_t at,
                       struct entry *out) {
    while (at < s->content.size && s->content.size - at >= 4 && !bytes_load32(s->content.data + at, t->swap))
        at += 4;
    return entry_at(t, s, at, out);
}

/* The entry's first field: in a CIE a constant, in an FDE where its CIE is. Of 4 bytes in .eh_frame always
 * (LSB Core 5.0, 10.6.1). False: it is a CIE, or senseless. */
static bool cie_of(const struct cfi_section *s, const struct entry *e, struct cursor *c, uint64_t *cie) {
    bool wide = s->debug && e->long_form;
    uint64_t id = wide ? cursor_u64(c) : cursor_u32(c);
    if (!cursor_ok(c) || id == (!s->debug ? 0 : wide ? UINT64_MAX : UINT32_MAX))
        return false;
    *cie = s->debug ? id : e->body_at - id;
    return s->debug || id <= e->body_at;
}

enum {
    AUGMENTATION_MAX = 32, /* letters; five are known */
    CIE_MAX = 4096,        /* bytes, of some 20: it is read anew for each of its FDEs */
};

struct cie {
    struct object_cfi_range *range; /* filled with what the CIE says */
    bool sized;                     /* FDEs have augmentation data */
};

static bool read_augmentation(const struct object_cfi *t, struct cursor *c, const uint8_t *text,
                              object_vaddr at, struct object_cfi_range *r) {
    uint64_t size = cursor_uleb(c);
    struct bytes data = cursor_bytes(c, size);
    if (!cursor_ok(c))
        return false;
    object_vaddr data_at = at + cursor_pos(c) - size;
    struct cursor d = cursor_make(data, t->swap);
    for (const uint8_t *a = text + 1; *a; a++) {
        unsigned encoding;
        switch (*a) {
        case 'R':
            r->encoding = cursor_u8(&d);
            break;
        case 'P': /* the personality routine may be named by any kind of pointer */
            encoding = cursor_u8(&d);
            object_cfi_pointer(t, &d, encoding & ~(unsigned)CFI_PE_INDIRECT, data_at, 0);
            break;
        case 'L':
            cursor_u8(&d);
            break;
        case 'S':
            r->signal = true;
            break;
        case 'B': /* return addresses are signed with the other key (Arm, DWARF for AArch64) */
        case 'G': /* tagged stack memory: of no use here */
            break;
        default: /* the rest is unknown, and skipped by its size */
            return cursor_ok(&d);
        }
    }
    return cursor_ok(&d);
}

/* Reads the CIE at `at`: DWARF 5, 6.4.1; LSB Core 5.0, 10.6.1.1. */
static bool read_cie(const struct object_cfi *t, const struct cfi_section *s, uint64_t at, struct cie *out) {
    struct entry e;
    struct object_cfi_range *r = out->range;
    uint64_t none;
    if (!entry_at(t, s, at, &e) || e.body.size > CIE_MAX)
        return false;
    struct cursor c = cursor_make(e.body, t->swap);
    if (cie_of(s, &e, &c, &none) || !cursor_ok(&c))
        return false;
    uint8_t version = cursor_u8(&c);
    size_t left = cursor_left(&c) < AUGMENTATION_MAX ? cursor_left(&c) : AUGMENTATION_MAX;
    const uint8_t *text = c.at, *nul = left ? memchr(text, 0, left) : NULL;
    if (!nul || (version != 1 && version != 3 && version != 4))
        return false;
    cursor_take(&c, (uint64_t)(nul - text) + 1);
    if (version == 4 && (cursor_u8(&c) != (t->wide ? 8 : 4) || cursor_u8(&c) != 0)) /* no segments */
        return false;
    r->code_align = cursor_uleb(&c);
    r->data_align = cursor_sleb(&c);
    uint64_t column = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
    r->return_column = column < OBJECT_CFI_COLUMNS ? (uint32_t)column : OBJECT_CFI_COLUMNS;
    r->encoding = CFI_PE_ABSPTR;
    r->signal = false;
    out->sized = *text == 'z';
    if (out->sized ? !read_augmentation(t, &c, text, s->addr + e.body_at, r) : *text)
        return false;
    r->initial = cursor_rest(&c);
    return cursor_ok(&c) && r->return_column < OBJECT_CFI_COLUMNS;
}

/* The longest of a big program (a compiler) have some 20 KB. */
enum { PROGRAM_MAX = 1 << 17 };

/* Reads an entry as an FDE. False: it is none. */
static bool read_fde(const struct object_cfi *t, const struct cfi_section *s, const struct entry *e,
                     struct object_cfi_range *out) {
    struct cursor c = cursor_make(e->body, t->swap);
    struct cie cie = {out, false};
    uint64_t cie_at;
    if (!cie_of(s, e, &c, &cie_at) || !read_cie(t, s, cie_at, &cie))
        return false;
    object_vaddr at = s->addr + e->body_at;
    out->start = object_cfi_pointer(t, &c, out->encoding, at, 0);
    /* The size has the format of the address, but counts from nothing. */
    uint64_t size =
        object_cfi_pointer(t, &c, out->encoding & CFI_PE_FORMAT & ~(unsigned)CFI_PE_SIGNED, at, 0);
    out->end = out->start + size;
    if (out->end < out->start)
        return false;
    if (cie.sized)
        cursor_take(&c, cursor_uleb(&c));
    out->program_addr = at + cursor_pos(&c);
    out->program = cursor_rest(&c);
    return cursor_ok(&c) && out->initial.size + out->program.size <= PROGRAM_MAX;
}

/* ---- finding ---- */

/* The last of the search table's entries that begins at or before `addr`: where its FDE is. */
static bool search(const struct object_cfi *t, object_vaddr addr, uint64_t *fde) {
    const unsigned word = t->search_word;
    size_t low = 0, high = t->search.size / (2 * word);
    int64_t want = (int64_t)(addr - t->search_base);
    const uint8_t *p = t->search.data;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const uint8_t *at = p + 2 * word * mid;
        int64_t start = word == 4 ? (int32_t)bytes_load32(at, t->swap) : (int64_t)bytes_load64(at, t->swap);
        if (start <= want)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return false;
    const uint8_t *at = p + 2 * word * (low - 1) + word;
    int64_t offset = word == 4 ? (int32_t)bytes_load32(at, t->swap) : (int64_t)bytes_load64(at, t->swap);
    *fde = t->search_base + (uint64_t)offset - t->eh.addr;
    return true;
}

static bool search_index(const struct cfi_index *x, object_vaddr addr, uint64_t *fde) {
    size_t n = sorted_up_to(&x->list, start, addr);
    if (!n || addr >= x->list.items[n - 1].end)
        return false;
    *fde = x->list.items[n - 1].at;
    return true;
}

static bool covers(const struct object_cfi *t, const struct cfi_section *s, uint64_t fde, object_vaddr addr,
                   struct object_cfi_range *out) {
    struct entry e;
    return entry_at(t, s, fde, &e) && read_fde(t, s, &e, out) && addr >= out->start && addr < out->end;
}

bool object_cfi_find(const struct object_cfi *t, object_vaddr addr, struct object_cfi_range *out) {
    uint64_t fde;
    bool found = t->search.size ? search(t, addr, &fde) : search_index(&t->eh_index, addr, &fde);
    if (found && covers(t, &t->eh, fde, addr, out))
        return true;
    return search_index(&t->debug_index, addr, &fde) && covers(t, &t->debug, fde, addr, out);
}

bool object_cfi_next(const struct object_cfi *t, uint64_t *at, struct object_cfi_range *out) {
    struct entry e;
    /* Offsets of the second section follow those of the first. */
    const struct cfi_section *sections[] = {&t->eh, &t->debug};
    uint64_t base = 0;
    for (int i = 0; i < 2; base += sections[i]->content.size, i++) {
        if (*at < base)
            *at = base;
        while (entry_from(t, sections[i], *at - base, &e)) {
            *at = base + e.next;
            if (read_fde(t, sections[i], &e, out))
                return true;
        }
    }
    return false;
}

/* ---- opening ---- */

static int by_start(const void *a, const void *b) {
    const struct cfi_entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* All FDEs of a section, sorted. Empty ranges, as linkers leave for functions they dropped, are left out. */
static bool build_index(const struct object_cfi *t, const struct cfi_section *s, struct cfi_index *x) {
    struct entry e;
    struct object_cfi_range r;
    bool sorted = true;
    for (uint64_t at = 0; entry_from(t, s, at, &e); at = e.next) {
        if (!read_fde(t, s, &e, &r) || r.start == r.end || !r.start)
            continue;
        struct cfi_entry *to = vec_push(&x->list);
        if (!to)
            return false;
        *to = (struct cfi_entry){r.start, r.end, e.at};
        sorted &= x->list.count == 1 || by_start(to - 1, to) < 0;
    }
    if (!sorted)
        qsort(x->list.items, x->list.count, sizeof *x->list.items, by_start);
    return true;
}

/* .eh_frame_hdr's search table, if it has one of the kind that all linkers make: version 1, sorted pairs that
 * count from the header. The frames' address goes to *frames. */
static void read_header(struct object_cfi *t, struct bytes header, object_vaddr addr, object_vaddr *frames) {
    struct cursor c = cursor_make(header, t->swap);
    uint8_t version = cursor_u8(&c), frames_encoding = cursor_u8(&c), count_encoding = cursor_u8(&c),
            table_encoding = cursor_u8(&c);
    if (!cursor_ok(&c) || version != 1)
        return;
    t->data = addr;
    *frames = object_cfi_pointer(t, &c, frames_encoding, addr, 0);
    if (!cursor_ok(&c))
        *frames = 0;
    if (count_encoding == CFI_PE_OMIT)
        return;
    uint64_t count = object_cfi_pointer(t, &c, count_encoding, addr, 0);
    unsigned format = table_encoding & CFI_PE_FORMAT;
    unsigned word = format == CFI_PE_SDATA4 ? 4 : format == CFI_PE_SDATA8 ? 8 : 0;
    if (!cursor_ok(&c) || !word || (table_encoding & CFI_PE_BASE) != CFI_PE_DATAREL ||
        count > cursor_left(&c) / (2 * word))
        return;
    t->search = cursor_bytes(&c, count * 2 * word);
    t->search_base = addr;
    t->search_word = word;
}

/* The content from an address on, of the segment that holds it. */
static struct bytes segment_from(const struct object_elf *e, object_vaddr addr) {
    struct object_segment p;
    for (uint32_t i = 0; object_elf_segment(e, i, &p); i++) {
        uint64_t skip = addr - p.vaddr;
        if (p.type == PT_LOAD && addr >= p.vaddr && skip < p.file_size && p.offset <= e->file.size &&
            p.file_size <= e->file.size - p.offset)
            return (struct bytes){e->file.data + p.offset + skip, (size_t)(p.file_size - skip)};
    }
    return (struct bytes){NULL, 0};
}

static object_vaddr section_addr(const struct object_elf *e, const char *name) {
    struct object_section s;
    return object_elf_section_named(e, name, &s) ? s.addr : 0;
}

/* By its sections or, where those are gone, by the segment that leads the program's own unwinder there. */
static void find_eh_frame(struct object_cfi *t, const struct object_elf *e) {
    struct object_section s;
    struct object_segment p = {0};
    struct bytes header = {NULL, 0};
    object_vaddr header_addr = 0, frames = 0;
    t->text = section_addr(e, ".text");
    if (object_elf_section_named(e, ".eh_frame", &s) &&
        object_elf_section_bytes(e, &s, NULL, &t->eh.content, NULL))
        t->eh.addr = s.addr;
    if (object_elf_section_named(e, ".eh_frame_hdr", &s) &&
        object_elf_section_bytes(e, &s, NULL, &header, NULL))
        header_addr = s.addr;
    for (uint32_t i = 0; !header.size && object_elf_segment(e, i, &p); i++)
        if (p.type == PT_GNU_EH_FRAME) {
            header = segment_from(e, p.vaddr);
            header_addr = p.vaddr;
        }
    if (header.size)
        read_header(t, header, header_addr, &frames);
    if (!t->eh.content.size && frames) {
        t->eh.content = segment_from(e, frames);
        t->eh.addr = frames;
    }
    /* A kept file has what is outside of its tables as zeros: then so is the search table. */
    if (!t->eh.content.size)
        t->search = (struct bytes){NULL, 0};
}

static bool find_debug_frame(struct object_cfi *t, const struct object_elf *e, struct err *err) {
    struct object_section s;
    struct err why = ERR_INIT;
    t->debug.debug = true;
    if (!object_elf_section_named(e, ".debug_frame", &s) && !object_elf_section_named(e, ".zdebug_frame", &s))
        return true;
    if (object_elf_section_bytes(e, &s, &t->arena, &t->debug.content, &why))
        return true;
    t->debug.content = (struct bytes){NULL, 0};
    return why.code != ERR_MEMORY || err_memory(err, "unwind tables");
}

static bool open_tables(struct object_cfi *t, const struct object_elf *e, struct bytes debug,
                        struct err *err) {
    struct object_elf other;
    find_eh_frame(t, e);
    if (!find_debug_frame(t, e, err))
        return false;
    if (!t->debug.content.size && object_elf_open(debug, &other, NULL) && other.wide == e->wide &&
        other.swap == e->swap && !find_debug_frame(t, &other, err))
        return false;
    if ((!t->search.size && !build_index(t, &t->eh, &t->eh_index)) ||
        !build_index(t, &t->debug, &t->debug_index))
        return err_memory(err, "unwind tables");
    if (!t->search.size && !t->eh_index.list.count && !t->debug_index.list.count)
        return err_set(err, ERR_ABSENT, "", "no unwind tables");
    return true;
}

struct object_cfi *object_cfi_new(struct bytes image, struct bytes debug, struct err *err) {
    struct object_elf e;
    if (!object_elf_open(image, &e, err))
        return NULL;
    if (e.type == ET_REL) {
        err_set(err, ERR_UNSUPPORTED, "", "unwind tables of a relocatable file");
        return NULL;
    }
    struct object_cfi *t = calloc(1, sizeof *t);
    if (!t) {
        err_memory(err, "unwind tables");
        return NULL;
    }
    t->wide = e.wide;
    t->swap = e.swap;
    t->machine = e.machine;
    if (!open_tables(t, &e, debug, err)) {
        object_cfi_free(t);
        return NULL;
    }
    return t;
}

void object_cfi_free(struct object_cfi *t) {
    if (!t)
        return;
    vec_fini(&t->eh_index.list);
    vec_fini(&t->debug_index.list);
    arena_fini(&t->arena);
    free(t);
}

uint16_t object_cfi_machine(const struct object_cfi *t) {
    return t->machine;
}
