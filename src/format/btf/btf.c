/* SPDX-License-Identifier: Apache-2.0 */
#include "format/btf/btf.h"

#include "base/cursor.h"

enum {
    MAGIC = 0xeb9f,
    TYPE_BYTES = 12,
    HEADER_BYTES = 24,
    MEMBER_BYTES = 12,
    CHAIN_MAX = 32, /* of typedefs and qualifiers */
    TYPES_MAX = 1 << 24,
};

/* btf.rst, "2.2 Type Encoding". */
enum kind {
    KIND_INT = 1,
    KIND_PTR,
    KIND_ARRAY,
    KIND_STRUCT,
    KIND_UNION,
    KIND_ENUM,
    KIND_FWD,
    KIND_TYPEDEF,
    KIND_VOLATILE,
    KIND_CONST,
    KIND_RESTRICT,
    KIND_FUNC,
    KIND_FUNC_PROTO,
    KIND_VAR,
    KIND_DATASEC,
    KIND_FLOAT,
    KIND_DECL_TAG,
    KIND_TYPE_TAG,
    KIND_ENUM64,
    KIND_COUNT,
};

struct head {
    uint32_t name, count, kind, size; /* size: or another type */
    bool flag;
};

static struct head read_head(struct cursor *c) {
    struct head h = {.name = cursor_u32(c)};
    uint32_t info = cursor_u32(c);
    h.count = info & 0xffff;
    h.kind = info >> 24 & 0x1f;
    h.flag = info >> 31;
    h.size = cursor_u32(c);
    return h;
}

/* Bytes that follow a type's first twelve. */
static uint64_t more_bytes(const struct head *h) {
    static const uint8_t EACH[KIND_COUNT] = {
        [KIND_STRUCT] = MEMBER_BYTES, [KIND_UNION] = MEMBER_BYTES, [KIND_ENUM] = 8,
        [KIND_FUNC_PROTO] = 8,        [KIND_DATASEC] = 12,         [KIND_ENUM64] = 12};
    static const uint8_t ONCE[KIND_COUNT] = {
        [KIND_INT] = 4, [KIND_ARRAY] = 12, [KIND_VAR] = 4, [KIND_DECL_TAG] = 4};
    return (uint64_t)EACH[h->kind] * h->count + ONCE[h->kind];
}

static bool find_types(struct btf *b, struct err *err) {
    struct cursor c = cursor_make(b->types, b->swap);
    while (cursor_left(&c)) {
        uint32_t at = (uint32_t)cursor_pos(&c);
        struct head h = read_head(&c);
        if (!cursor_ok(&c) || !h.kind || h.kind >= KIND_COUNT || b->at.count >= TYPES_MAX)
            return err_set(err, ERR_BROKEN, "BTF", "type %zu is damaged, or newer than sonde",
                           b->at.count + 1);
        cursor_take(&c, more_bytes(&h));
        if (!cursor_ok(&c))
            return err_set(err, ERR_BROKEN, "BTF", "type %zu is truncated", b->at.count + 1);
        uint32_t *to = vec_push(&b->at);
        if (!to)
            return err_memory(err, "BTF");
        *to = at;
    }
    return true;
}

static bool cut_out(struct bytes all, uint64_t from, uint64_t size, struct bytes *part) {
    if (from > all.size || size > all.size - from)
        return false;
    *part = (struct bytes){size ? all.data + from : NULL, (size_t)size};
    return true;
}

bool btf_open(struct btf *b, struct bytes all, struct err *err) {
    *b = (struct btf){0};
    struct cursor c = cursor_make(all, false);
    uint16_t magic = cursor_u16(&c);
    b->swap = magic == __builtin_bswap16(MAGIC);
    c.swap = b->swap;
    if (magic != MAGIC && !b->swap)
        return err_set(err, ERR_BROKEN, "BTF", "there are no types in it");
    cursor_u16(&c); /* version and flags: the header's size says what is there */
    uint64_t header = cursor_u32(&c), types_at = cursor_u32(&c), types_size = cursor_u32(&c);
    uint64_t strings_at = cursor_u32(&c), strings_size = cursor_u32(&c);
    if (!cursor_ok(&c) || header < HEADER_BYTES || !cut_out(all, header + types_at, types_size, &b->types) ||
        !cut_out(all, header + strings_at, strings_size, &b->strings) || !b->strings.size ||
        b->strings.data[b->strings.size - 1])
        return err_set(err, ERR_BROKEN, "BTF", "its parts lie outside of it");
    return find_types(b, err);
}

void btf_close(struct btf *b) {
    vec_fini(&b->at);
}

static const char *text_at(const struct btf *b, uint32_t offset) {
    return offset < b->strings.size ? (const char *)b->strings.data + offset : "";
}

/* *c is then behind the type's first bytes. */
static bool head_of(const struct btf *b, uint32_t id, struct head *h, struct cursor *c) {
    if (!id || id > b->at.count)
        return false;
    *c = cursor_make(b->types, b->swap);
    cursor_take(c, b->at.items[id - 1]);
    *h = read_head(c);
    return cursor_ok(c);
}

bool btf_each_struct(const struct btf *b, bool (*fn)(void *ctx, const char *name, uint32_t id), void *ctx) {
    struct head h;
    struct cursor c;
    for (uint32_t id = 1; id <= b->at.count; id++)
        if (head_of(b, id, &h, &c) && h.kind == KIND_STRUCT && *text_at(b, h.name) &&
            !fn(ctx, text_at(b, h.name), id))
            return false;
    return true;
}

static bool is_alias(uint32_t kind) {
    return kind == KIND_TYPEDEF || kind == KIND_VOLATILE || kind == KIND_CONST || kind == KIND_RESTRICT ||
           kind == KIND_TYPE_TAG;
}

bool btf_type(const struct btf *b, uint32_t id, struct btf_type *out) {
    enum { SIGNED = 1 << 24 };
    struct head h;
    struct cursor c;
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        if (!head_of(b, id, &h, &c))
            return false;
        if (!is_alias(h.kind))
            break;
        id = h.size;
    }
    if (is_alias(h.kind))
        return false;
    *out = (struct btf_type){.id = id, .size = h.size};
    switch (h.kind) {
    case KIND_INT:
        out->kind = BTF_INT;
        out->is_signed = cursor_u32(&c) & SIGNED;
        break;
    case KIND_ENUM:
    case KIND_ENUM64:
        out->kind = BTF_ENUM;
        out->is_signed = h.flag;
        break;
    case KIND_STRUCT:
    case KIND_UNION:
        out->kind = BTF_STRUCT;
        out->count = h.count;
        out->is_union = h.kind == KIND_UNION;
        break;
    default:
        out->kind = h.kind == KIND_PTR ? BTF_POINTER : h.kind == KIND_ARRAY ? BTF_ARRAY : BTF_OTHER;
        out->size = 0;
    }
    return true;
}

bool btf_member(const struct btf *b, uint32_t id, uint32_t i, struct btf_member *out) {
    enum { BITS_AT = 24, OFFSET = 0xffffff };
    struct head h;
    struct cursor c;
    if (!head_of(b, id, &h, &c) || (h.kind != KIND_STRUCT && h.kind != KIND_UNION) || i >= h.count)
        return false;
    cursor_take(&c, (uint64_t)i * MEMBER_BYTES);
    *out = (struct btf_member){.name = text_at(b, cursor_u32(&c))};
    out->type = cursor_u32(&c);
    uint32_t where = cursor_u32(&c);
    out->bit = h.flag ? where & OFFSET : where;
    out->is_bitfield = h.flag && where >> BITS_AT;
    return cursor_ok(&c);
}
