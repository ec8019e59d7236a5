/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jitdump/jitdump.h"

#include <inttypes.h>

#include "base/cursor.h"

static const char where[] = "jitdump";

enum { PLACE_SIZE = 16, FRAME_SIZE = 8 };

static uint32_t type_of(uint32_t id) {
    return id == JITDUMP_INLINES_ID ? (uint32_t)JITDUMP_INLINES
           : id < JITDUMP_INLINES   ? id
                                    : (uint32_t)JITDUMP_TYPES;
}

bool jitdump_open(struct bytes file, struct jitdump_reader *r, struct jitdump_header *h, struct err *err) {
    struct cursor c = cursor_make(file, false);
    uint32_t magic = cursor_u32(&c);
    if (magic != JITDUMP_MAGIC && magic != __builtin_bswap32(JITDUMP_MAGIC))
        return err_set(err, ERR_BROKEN, where, "does not begin as a jitdump does");
    c.swap = magic != JITDUMP_MAGIC;
    *h = (struct jitdump_header){.version = cursor_u32(&c), .size = cursor_u32(&c)};
    h->machine = cursor_u32(&c);
    cursor_u32(&c); /* padding */
    h->pid = cursor_u32(&c);
    h->time = cursor_u64(&c);
    h->flags = cursor_u64(&c);
    if (!cursor_ok(&c) || h->size < JITDUMP_HEADER_SIZE || h->size > file.size)
        return err_set(err, ERR_BROKEN, where, "its header is cut off");
    /* The header grows by its size and records by theirs; a new version would mean something else. */
    if (h->version == 0 || h->version > 2)
        return err_set(err, ERR_UNSUPPORTED, where, "is of version %" PRIu32 ", which is not known",
                       h->version);
    *r = (struct jitdump_reader){file, h->size, c.swap};
    return true;
}

/* A text and the step past its NUL. */
static struct bytes take_text(struct cursor *c) {
    size_t left = cursor_left(c);
    const uint8_t *nul = left ? memchr(c->at, 0, left) : NULL;
    struct bytes text = cursor_bytes(c, nul ? (uint64_t)(nul - c->at) : left);
    cursor_take(c, 1);
    return text;
}

/* ---- one row for each type ---- */

static void load_decode(struct cursor *c, struct jitdump_record *rec) {
    struct jitdump_load *l = &rec->load;
    l->pid = cursor_u32(c);
    l->tid = cursor_u32(c);
    l->vma = cursor_u64(c);
    l->code_addr = cursor_u64(c);
    uint64_t size = cursor_u64(c);
    l->code_index = cursor_u64(c);
    l->name = take_text(c);
    l->code = cursor_bytes(c, size);
}

static void load_encode(const struct jitdump_record *rec, struct writer *w) {
    const struct jitdump_load *l = &rec->load;
    writer_u32(w, l->pid);
    writer_u32(w, l->tid);
    writer_u64(w, l->vma);
    writer_u64(w, l->code_addr);
    writer_u64(w, l->code.size);
    writer_u64(w, l->code_index);
    writer_bytes_put(w, l->name);
    writer_u8(w, 0);
    writer_bytes_put(w, l->code);
}

static void move_decode(struct cursor *c, struct jitdump_record *rec) {
    struct jitdump_move *m = &rec->move;
    m->pid = cursor_u32(c);
    m->tid = cursor_u32(c);
    m->vma = cursor_u64(c);
    m->old_code_addr = cursor_u64(c);
    m->new_code_addr = cursor_u64(c);
    m->code_size = cursor_u64(c);
    m->code_index = cursor_u64(c);
}

static void move_encode(const struct jitdump_record *rec, struct writer *w) {
    const struct jitdump_move *m = &rec->move;
    writer_u32(w, m->pid);
    writer_u32(w, m->tid);
    writer_u64(w, m->vma);
    writer_u64(w, m->old_code_addr);
    writer_u64(w, m->new_code_addr);
    writer_u64(w, m->code_size);
    writer_u64(w, m->code_index);
}

static void debug_decode(struct cursor *c, struct jitdump_record *rec) {
    rec->debug_info.code_addr = cursor_u64(c);
    rec->debug_info.count = cursor_u64(c);
    rec->debug_info.entries = cursor_rest(c);
}

static void debug_encode(const struct jitdump_record *rec, struct writer *w) {
    writer_u64(w, rec->debug_info.code_addr);
    writer_u64(w, rec->debug_info.count);
    writer_bytes_put(w, rec->debug_info.entries);
}

static void unwinding_decode(struct cursor *c, struct jitdump_record *rec) {
    struct jitdump_unwinding *u = &rec->unwinding;
    uint64_t size = cursor_u64(c), hdr_size = cursor_u64(c);
    u->mapped_size = cursor_u64(c);
    struct bytes all = cursor_bytes(c, size);
    struct cursor parts = cursor_make(all, c->swap);
    u->frame_hdr = cursor_bytes(&parts, hdr_size);
    u->frame = cursor_rest(&parts);
    c->failed |= parts.failed;
}

static void unwinding_encode(const struct jitdump_record *rec, struct writer *w) {
    const struct jitdump_unwinding *u = &rec->unwinding;
    writer_u64(w, u->frame_hdr.size + u->frame.size);
    writer_u64(w, u->frame_hdr.size);
    writer_u64(w, u->mapped_size);
    writer_bytes_put(w, u->frame_hdr);
    writer_bytes_put(w, u->frame);
}

bool jitdump_inlines_open(struct bytes body, bool swap, struct jitdump_inlines *out) {
    struct cursor c = cursor_make(body, swap);
    *out = (struct jitdump_inlines){.code_addr = cursor_u64(&c), .body = body};
    out->sources = cursor_u32(&c);
    out->places = cursor_u32(&c);
    out->frames = cursor_u32(&c);
    cursor_u32(&c); /* padding */
    out->place_bytes = cursor_bytes(&c, PLACE_SIZE * (uint64_t)out->places);
    out->frame_bytes = cursor_bytes(&c, FRAME_SIZE * (uint64_t)out->frames);
    out->source_texts = cursor_rest(&c);
    return cursor_ok(&c);
}

struct jitdump_place jitdump_place(const struct jitdump_inlines *in, bool swap, uint32_t i) {
    const uint8_t *p = in->place_bytes.data + PLACE_SIZE * (size_t)i;
    return (struct jitdump_place){bytes_load64(p, swap), bytes_load32(p + 8, swap),
                                  bytes_load32(p + 12, swap)};
}

struct jitdump_frame jitdump_frame(const struct jitdump_inlines *in, bool swap, uint32_t i) {
    const uint8_t *p = in->frame_bytes.data + FRAME_SIZE * (size_t)i;
    return (struct jitdump_frame){bytes_load32(p, swap), bytes_load32(p + 4, swap)};
}

bool jitdump_source_next(struct bytes *rest, struct jitdump_source *out) {
    struct cursor c = cursor_make(*rest, false);
    out->name = take_text(&c);
    out->file = take_text(&c);
    if (!cursor_ok(&c))
        return false;
    *rest = cursor_rest(&c);
    return true;
}

static void inlines_decode(struct cursor *c, struct jitdump_record *rec) {
    c->failed |= !jitdump_inlines_open(cursor_rest(c), c->swap, &rec->inlines);
}

static void inlines_encode(const struct jitdump_record *rec, struct writer *w) {
    const struct jitdump_inlines *in = &rec->inlines;
    writer_u64(w, in->code_addr);
    writer_u32(w, in->sources);
    writer_u32(w, in->places);
    writer_u32(w, in->frames);
    writer_u32(w, 0);
    writer_bytes_put(w, in->place_bytes);
    writer_bytes_put(w, in->frame_bytes);
    writer_bytes_put(w, in->source_texts);
}

static void close_decode(struct cursor *c, struct jitdump_record *rec) {
    (void)c;
    (void)rec;
}

static void close_encode(const struct jitdump_record *rec, struct writer *w) {
    (void)rec;
    (void)w;
}

static const struct row {
    const char *name;
    void (*decode)(struct cursor *c, struct jitdump_record *rec);
    void (*encode)(const struct jitdump_record *rec, struct writer *w);
} rows[JITDUMP_TYPES] = {
    [JITDUMP_LOAD] = {"CODE_LOAD", load_decode, load_encode},
    [JITDUMP_MOVE] = {"CODE_MOVE", move_decode, move_encode},
    [JITDUMP_DEBUG_INFO] = {"DEBUG_INFO", debug_decode, debug_encode},
    [JITDUMP_CLOSE] = {"CODE_CLOSE", close_decode, close_encode},
    [JITDUMP_UNWINDING_INFO] = {"UNWINDING_INFO", unwinding_decode, unwinding_encode},
    [JITDUMP_INLINES] = {"inlined calls'", inlines_decode, inlines_encode},
};

enum jitdump_status jitdump_next(struct jitdump_reader *r, struct jitdump_record *rec, struct err *err) {
    for (;;) {
        uint64_t at = r->at, left = r->file.size - at;
        if (left == 0)
            return JITDUMP_END;
        struct cursor c = cursor_make((struct bytes){r->file.data + at, (size_t)left}, r->swap);
        *rec = (struct jitdump_record){.type = type_of(cursor_u32(&c)), .size = cursor_u32(&c)};
        rec->time = cursor_u64(&c);
        if (!cursor_ok(&c) || rec->size < JITDUMP_RECORD_SIZE || rec->size > left) {
            err_set(err, ERR_BROKEN, where,
                    "ends at offset %" PRIu64 ": a record of %" PRIu32 " bytes where %" PRIu64 " are left",
                    at, rec->size, left);
            r->at = r->file.size;
            return JITDUMP_BROKEN;
        }
        r->at += rec->size;
        if (rec->type >= JITDUMP_TYPES)
            continue;
        c.end = c.start + rec->size;
        rows[rec->type].decode(&c, rec);
        if (cursor_ok(&c))
            return JITDUMP_RECORD;
        err_set(err, ERR_BROKEN, where,
                "the %s record at offset %" PRIu64 " says more than its %" PRIu32 " bytes hold",
                rows[rec->type].name, at, rec->size);
        return JITDUMP_REFUSED;
    }
}

bool jitdump_line_next(struct bytes *rest, bool swap, struct jitdump_line *out) {
    struct cursor c = cursor_make(*rest, swap);
    out->address = cursor_u64(&c);
    out->line = cursor_u32(&c);
    out->column = cursor_u32(&c);
    out->file = take_text(&c);
    if (!cursor_ok(&c))
        return false;
    *rest = cursor_rest(&c);
    return true;
}

void jitdump_header_encode(const struct jitdump_header *h, struct writer *w) {
    writer_u32(w, JITDUMP_MAGIC);
    writer_u32(w, h->version);
    writer_u32(w, JITDUMP_HEADER_SIZE);
    writer_u32(w, h->machine);
    writer_u32(w, 0);
    writer_u32(w, h->pid);
    writer_u64(w, h->time);
    writer_u64(w, h->flags);
}

void jitdump_record_encode(const struct jitdump_record *rec, struct writer *w) {
    size_t at = w->size;
    writer_u32(w, rec->type == JITDUMP_INLINES ? JITDUMP_INLINES_ID : rec->type);
    writer_u32(w, 0);
    writer_u64(w, rec->time);
    rows[rec->type].encode(rec, w);
    writer_patch32(w, at + 4, (uint32_t)(w->size - at));
}

void jitdump_line_put(const struct jitdump_line *line, struct writer *w) {
    writer_u64(w, line->address);
    writer_u32(w, line->line);
    writer_u32(w, line->column);
    writer_bytes_put(w, line->file);
    writer_u8(w, 0);
}
