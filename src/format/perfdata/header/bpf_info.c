/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/bpf_info.h"

#include <stdio.h>

#include "base/cursor.h"

/* --- BTF --- */

enum { BTF_MAGIC = 0xeb9f, BTF_HEADER_SIZE = 24, BTF_TYPE_SIZE = 12, BTF_KIND_ENUM64 = 19 };

/* Where the names of the types are; type ids count from 1. */
struct perfdata_btf_table {
    bool built;
    uint32_t *name_offsets;
    uint32_t count;
    struct bytes strings;
};

/* Bytes after a type's common part: `each` times the number of members, and `fixed`. */
static const struct {
    uint8_t fixed, each;
} BTF_KINDS[BTF_KIND_ENUM64 + 1] = {
    [1] = {4, 0},   /* INT */
    [3] = {12, 0},  /* ARRAY */
    [4] = {0, 12},  /* STRUCT */
    [5] = {0, 12},  /* UNION */
    [6] = {0, 8},   /* ENUM */
    [13] = {0, 8},  /* FUNC_PROTO */
    [14] = {4, 0},  /* VAR */
    [15] = {0, 12}, /* DATASEC */
    [17] = {4, 0},  /* DECL_TAG */
    [19] = {0, 12}, /* ENUM64 */
};

/* A type that is not whole, or of an unknown kind, ends the table. */
static void build_table(struct perfdata_btf_table *t, struct bytes btf, bool swap, struct arena *arena) {
    struct cursor c = cursor_make(btf, swap);
    uint16_t magic = cursor_u16(&c);
    cursor_take(&c, 2); /* version, flags */
    uint32_t header = cursor_u32(&c), types_at = cursor_u32(&c), types_size = cursor_u32(&c);
    uint32_t strings_at = cursor_u32(&c), strings_size = cursor_u32(&c);
    if (!cursor_ok(&c) || magic != BTF_MAGIC || header < BTF_HEADER_SIZE || header > btf.size)
        return;
    struct bytes body = {btf.data + header, btf.size - header};
    if ((uint64_t)types_at + types_size > body.size || (uint64_t)strings_at + strings_size > body.size)
        return;
    uint32_t most = types_size / BTF_TYPE_SIZE;
    t->name_offsets = arena_alloc(arena, most * sizeof *t->name_offsets);
    if (!t->name_offsets)
        return;
    t->strings = (struct bytes){body.data + strings_at, strings_size};
    c = cursor_make((struct bytes){body.data + types_at, types_size}, swap);
    while (cursor_left(&c) >= BTF_TYPE_SIZE) {
        uint32_t name = cursor_u32(&c), info = cursor_u32(&c);
        uint32_t kind = info >> 24 & 0x1f, members = info & 0xffff;
        cursor_take(&c, 4); /* size or type */
        if (kind > BTF_KIND_ENUM64)
            return;
        cursor_take(&c, BTF_KINDS[kind].fixed + (uint64_t)BTF_KINDS[kind].each * members);
        if (!cursor_ok(&c))
            return;
        t->name_offsets[t->count++] = name;
    }
}

bool perfdata_btf_names_init(struct perfdata_btf_names *n, const struct perfdata_btfs *btfs, bool swap) {
    *n = (struct perfdata_btf_names){.btfs = *btfs, .swap = swap};
    n->tables = btfs->count ? arena_zalloc(&n->arena, btfs->count * sizeof *n->tables) : NULL;
    bool ok = n->tables || !btfs->count;
    for (uint32_t i = 0; ok && i < btfs->count; i++)
        ok = hash_map_set(&n->by_id, btfs->items[i].id, i);
    return ok;
}

void perfdata_btf_names_fini(struct perfdata_btf_names *n) {
    hash_map_fini(&n->by_id);
    arena_fini(&n->arena);
}

struct bytes perfdata_btf_name(struct perfdata_btf_names *n, uint32_t id, uint32_t type) {
    const struct bytes none = {NULL, 0};
    uint32_t i = hash_map_get(&n->by_id, id);
    if (i == HASH_ABSENT)
        return none;
    struct perfdata_btf_table *t = &n->tables[i];
    if (!t->built) {
        build_table(t, n->btfs.items[i].data, n->swap, &n->arena);
        t->built = true;
    }
    if (type == 0 || type > t->count || t->name_offsets[type - 1] >= t->strings.size)
        return none;
    uint32_t at = t->name_offsets[type - 1];
    struct bytes rest = {t->strings.data + at, t->strings.size - at};
    return (struct bytes){rest.data, bytes_text_len(rest)};
}

/* --- struct bpf_prog_info --- */

/* Offsets in struct bpf_prog_info. */
enum {
    AT_ID = 4,
    AT_TAG = 8,
    AT_CODE_SIZE = 16,
    AT_CODE = 24,
    AT_NAME = 64,
    NAME_ROOM = 16,
    AT_KSYM_COUNT = 104,
    AT_LENGTH_COUNT = 108,
    AT_KSYMS = 112,
    AT_LENGTHS = 120,
    AT_BTF_ID = 128,
    AT_FUNC_INFO_SIZE = 132,
    AT_FUNC_INFO = 136,
    AT_FUNC_INFO_COUNT = 144,
    AT_TAG_COUNT = 180,
    AT_TAGS = 184,
    TAG_SIZE = 8,
};

static uint32_t info32(const struct perfdata_bpf_prog *p, uint32_t at, bool swap) {
    return at + 4 <= p->info.size ? bytes_load32(p->info.data + at, swap) : 0;
}

/* The array that a count and an offset speak of; empty when it is not inside the data. */
static struct bytes array(const struct perfdata_bpf_prog *p, uint32_t offset_at, uint64_t count,
                          uint32_t item, bool swap) {
    if (offset_at + 8 > p->info.size)
        return (struct bytes){NULL, 0};
    uint64_t offset = bytes_load64(p->info.data + offset_at, swap);
    if (offset > p->data.size || count * item > p->data.size - offset)
        return (struct bytes){NULL, 0};
    return (struct bytes){p->data.data + offset, (size_t)(count * item)};
}

bool perfdata_bpf_info_decode(const struct perfdata_bpf_prog *prog, bool swap,
                              struct perfdata_bpf_info *out) {
    *out = (struct perfdata_bpf_info){.swap = swap};
    uint32_t count = info32(prog, AT_KSYM_COUNT, swap);
    struct bytes addresses = array(prog, AT_KSYMS, count, 8, swap);
    if (!count || !addresses.size)
        return false;
    out->id = info32(prog, AT_ID, swap);
    memcpy(out->tag, prog->info.data + AT_TAG, sizeof out->tag);
    struct bytes name = {prog->info.data + AT_NAME, NAME_ROOM};
    out->name = (struct bytes){name.data, bytes_text_len(name)};
    out->function_count = count;
    out->addresses = (struct perfdata_u64s){addresses.data, count, swap};
    out->sizes = array(prog, AT_LENGTHS, info32(prog, AT_LENGTH_COUNT, swap), 4, swap);
    out->tags = array(prog, AT_TAGS, info32(prog, AT_TAG_COUNT, swap), TAG_SIZE, swap);
    out->code = array(prog, AT_CODE, info32(prog, AT_CODE_SIZE, swap), 1, swap);
    out->btf_id = info32(prog, AT_BTF_ID, swap);
    out->func_info_size = info32(prog, AT_FUNC_INFO_SIZE, swap);
    if (out->func_info_size >= 8)
        out->func_info =
            array(prog, AT_FUNC_INFO, info32(prog, AT_FUNC_INFO_COUNT, swap), out->func_info_size, swap);
    return true;
}

/* BTF's name, else the program's if it is the only function; the kernel calls the others F. */
static struct bytes function_name(const struct perfdata_bpf_info *info, struct perfdata_btf_names *names,
                                  uint32_t i) {
    struct bytes name = {NULL, 0};
    if (info->func_info.size && i < info->func_info.size / info->func_info_size) {
        const uint8_t *entry = info->func_info.data + (size_t)i * info->func_info_size;
        name = perfdata_btf_name(names, info->btf_id, bytes_load32(entry + 4, info->swap));
    }
    if (name.size)
        return name;
    return info->function_count == 1 ? info->name : (struct bytes){(const uint8_t *)"F", 1};
}

struct perfdata_bpf_function perfdata_bpf_info_function(const struct perfdata_bpf_info *info,
                                                        struct perfdata_btf_names *names, uint32_t i) {
    struct perfdata_bpf_function f = {.address = perfdata_u64_at(&info->addresses, i)};
    if (i < info->sizes.size / 4)
        f.size = bytes_load32(info->sizes.data + 4 * (size_t)i, info->swap);
    const uint8_t *tag = i < info->tags.size / TAG_SIZE ? info->tags.data + TAG_SIZE * (size_t)i : info->tag;
    int n = snprintf(f.name, sizeof f.name, "bpf_prog_");
    for (int k = 0; k < TAG_SIZE; k++)
        n += snprintf(f.name + n, sizeof f.name - (size_t)n, "%02x", tag[k]);
    struct bytes name = function_name(info, names, i);
    if (name.size)
        snprintf(f.name + n, sizeof f.name - (size_t)n, "_%.*s", (int)(name.size < 128 ? name.size : 128),
                 (const char *)name.data);
    return f;
}

struct bytes perfdata_bpf_info_code(const struct perfdata_bpf_info *info, uint32_t i) {
    const struct bytes none = {NULL, 0};
    uint64_t at = 0, size = 0;
    if (info->function_count == 1)
        return info->code;
    if (i >= info->sizes.size / 4)
        return none;
    for (uint32_t k = 0; k <= i; k++) {
        at += size;
        size = bytes_load32(info->sizes.data + 4 * (size_t)k, info->swap);
    }
    return at <= info->code.size && size <= info->code.size - at
               ? (struct bytes){info->code.data + at, (size_t)size}
               : none;
}
