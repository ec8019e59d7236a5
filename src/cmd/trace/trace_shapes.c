/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_shapes.h"

#include <string.h>

#include "base/writer.h"

enum { MEMBERS_MAX = 128, BYTES_MAX = 4096, WORD = 8, BITS = 8 };

struct reading {
    struct trace_shapes *s;
    const struct btf *btf;
};

static const struct calls_field *known(const struct calls_shape *shape, const char *name) {
    for (size_t i = 0; i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0)
            return &shape->fields[i];
    return NULL;
}

static bool is_padding(const char *name) {
    static const char *const WORDS[] = {"pad", "unused", "reserved", "spare"};
    if (!*name)
        return true;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strstr(name, WORDS[i]))
            return true;
    return false;
}

static uint8_t kind_of(const struct btf_type *type) {
    return type->kind == BTF_POINTER ? CALLS_HEX : type->is_signed ? CALLS_DEC : CALLS_UNSIGNED;
}

/* A member that we do not know has the kind that its type says. False: it is not shown. */
static bool read_member(const struct reading *r, const struct calls_shape *shape, uint32_t id, uint32_t i,
                        struct calls_field *f) {
    struct btf_member m;
    struct btf_type type;
    if (!btf_member(r->btf, id, i, &m) || m.is_bitfield || m.bit % BITS || m.bit / BITS > BYTES_MAX ||
        !btf_type(r->btf, m.type, &type))
        return false;
    const struct calls_field *before = known(shape, m.name);
    bool scalar = type.kind == BTF_INT || type.kind == BTF_ENUM || type.kind == BTF_POINTER;
    uint32_t size = type.kind == BTF_POINTER ? sizeof(void *) : type.size;
    if (before && (!scalar || size > WORD)) /* texts, structs and masks are as large as we know them */
        size = before->size;
    if ((!before && (!scalar || is_padding(m.name))) || !size || size > BYTES_MAX)
        return false;
    *f = before ? *before : (struct calls_field){.name = m.name, .kind = kind_of(&type), .minor = true};
    f->offset = (uint16_t)(m.bit / BITS);
    f->size = (uint16_t)size;
    f->is_signed = scalar && type.kind != BTF_POINTER ? type.is_signed : f->is_signed;
    return true;
}

/* Whether another struct has only the name in common. */
static bool is_the_same(const struct calls_shape *old, const struct calls_shape *fresh) {
    for (size_t i = 0; i < old->count; i++)
        if (old->fields[i].always && !known(fresh, old->fields[i].name))
            return false;
    return true;
}

/* Names are kept: those of BTF go with it. */
static bool keep_names(struct arena *a, struct calls_field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fields[i].name = arena_strndup(a, fields[i].name, strlen(fields[i].name))))
            return false;
    return true;
}

static void take_struct(const struct reading *r, size_t index, uint32_t id) {
    struct trace_shapes *s = r->s;
    struct calls_shape *shape = &s->items[index];
    struct btf_type type;
    if (s->read[index] || !btf_type(r->btf, id, &type) || !type.size || type.size > BYTES_MAX ||
        type.count > MEMBERS_MAX)
        return;
    struct calls_field *fields = arena_alloc(&s->memory, (type.count + 1) * sizeof *fields);
    struct calls_shape fresh = {.kernel = shape->kernel, .size = (uint16_t)type.size, .fields = fields};
    for (uint32_t i = 0; fields && i < type.count; i++)
        fresh.count += read_member(r, shape, id, i, &fields[fresh.count]);
    if (fields && is_the_same(shape, &fresh) && keep_names(&s->memory, fields, fresh.count)) {
        s->read[index] = true;
        *shape = fresh;
    }
}

static bool find_struct(void *ctx, const char *name, uint32_t id) {
    struct reading *r = ctx;
    for (size_t i = 0; i < CALLS_SHAPE_COUNT; i++)
        if (r->s->items[i].kernel && strcmp(r->s->items[i].kernel, name) == 0)
            take_struct(r, i, id);
    return true;
}

void trace_shapes_read(struct trace_shapes *s, const struct os_files *files) {
    struct writer all = writer_make(false);
    struct btf btf = {0};
    struct err err = ERR_INIT;
    *s = (struct trace_shapes){0};
    memcpy(s->items, calls_shapes, sizeof s->items);
    if (sizeof(void *) == WORD && files->read(files->ctx, "/sys/kernel/btf/vmlinux", &all, &err) &&
        writer_ok(&all) && btf_open(&btf, writer_bytes(&all), &err))
        btf_each_struct(&btf, find_struct, &(struct reading){s, &btf});
    btf_close(&btf);
    writer_fini(&all);
}

void trace_shapes_fini(struct trace_shapes *s) {
    arena_fini(&s->memory);
}
