/* SPDX-License-Identifier: Apache-2.0 */
#include "os/bpf/bpf_maps.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

static int element(const struct os_bpf *bpf, int command, int map, const void *key, const void *value) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)map;
    attr.key = (uintptr_t)key;
    attr.value = (uintptr_t)value;
    int status = bpf->call(bpf->ctx, command, &attr, sizeof attr);
    return status < 0 ? status : 0;
}

int os_bpf_lookup(const struct os_bpf *bpf, int map, const void *key, void *value) {
    return element(bpf, BPF_MAP_LOOKUP_ELEM, map, key, value);
}

int os_bpf_update(const struct os_bpf *bpf, int map, const void *key, const void *value) {
    return element(bpf, BPF_MAP_UPDATE_ELEM, map, key, value);
}

int os_bpf_delete(const struct os_bpf *bpf, int map, const void *key) {
    return element(bpf, BPF_MAP_DELETE_ELEM, map, key, NULL);
}

int os_bpf_make_map(const struct os_bpf *bpf, const struct os_bpf_map_kind *kind) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_type = kind->type;
    attr.map_flags = kind->flags;
    attr.key_size = kind->key_bytes;
    attr.value_size = kind->value_bytes;
    attr.max_entries = kind->entries;
    memcpy(attr.map_name, kind->name, strnlen(kind->name, sizeof attr.map_name - 1));
    return bpf->call(bpf->ctx, BPF_MAP_CREATE, &attr, sizeof attr);
}

int os_bpf_put_inner(const struct os_bpf *bpf, int outer, uint32_t index, int inner) {
    return os_bpf_update(bpf, outer, &index, &inner);
}

/* --- whole maps --- */

enum { BATCH = 512, BATCH_MAX = 1 << 20 };

/* Room for a batch: keys, then values; a cursor the size of a key, at least 4 bytes, twice. */
struct batch {
    uint32_t room; /* entries */
    uint8_t *keys, *values, *cursor;
};

static bool batch_grow(struct batch *b, uint32_t room, size_t key_bytes, size_t value_bytes) {
    uint8_t *keys = realloc(b->keys, room * key_bytes);
    if (keys)
        b->keys = keys;
    uint8_t *values = realloc(b->values, room * value_bytes);
    if (values)
        b->values = values;
    b->room = keys && values ? room : b->room;
    return keys && values;
}

int os_bpf_each(const struct os_bpf *bpf, int map, size_t key_bytes, size_t value_bytes, os_bpf_entry_fn *fn,
                void *ctx) {
    struct batch b = {0};
    size_t cursor_bytes = key_bytes < 8 ? 8 : key_bytes;
    bool first = true, more = true;
    int status = -ENOMEM;
    if (!(b.cursor = calloc(1, cursor_bytes)) || !batch_grow(&b, BATCH, key_bytes, value_bytes))
        goto out;
    status = 0;
    while (more) {
        union bpf_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.batch.map_fd = (uint32_t)map;
        attr.batch.in_batch = first ? 0 : (uintptr_t)b.cursor;
        attr.batch.out_batch = (uintptr_t)b.cursor;
        attr.batch.keys = (uintptr_t)b.keys;
        attr.batch.values = (uintptr_t)b.values;
        attr.batch.count = b.room;
        status = bpf->call(bpf->ctx, BPF_MAP_LOOKUP_BATCH, &attr, sizeof attr);
        if (status == -ENOSPC && b.room < BATCH_MAX) { /* one bucket has more than that */
            if (!batch_grow(&b, b.room * 2, key_bytes, value_bytes)) {
                status = -ENOMEM;
                break;
            }
            continue;
        }
        if (status < 0 && status != -ENOENT) /* ENOENT: these were the last */
            break;
        more = status != -ENOENT;
        status = 0;
        first = false;
        for (uint32_t i = 0; i < attr.batch.count && i < b.room; i++)
            if (!fn(ctx, b.keys + i * key_bytes, b.values + i * value_bytes)) {
                more = false;
                break;
            }
    }
out:
    free(b.keys);
    free(b.values);
    free(b.cursor);
    return status;
}

/* --- iterators --- */

enum { READ_BYTES = 1 << 16 };

/* Hands on the whole rows in `buffer`, and moves what is left of one to its start. False: `fn` returned
 * false. */
static bool take_rows(uint8_t *buffer, size_t *used, size_t row_bytes, os_bpf_entry_fn *fn, void *ctx) {
    size_t at = 0;
    for (; *used - at >= row_bytes; at += row_bytes)
        if (!fn(ctx, NULL, buffer + at))
            return false;
    memmove(buffer, buffer + at, *used - at);
    *used -= at;
    return true;
}

bool os_bpf_iterate(struct os_bpf_object *o, uint32_t program, size_t row_bytes, os_bpf_entry_fn *fn,
                    void *ctx, struct err *e) {
    const struct os_bpf *bpf = o->bpf;
    union bpf_attr attr;
    if (o->programs[program].link < 0 && !os_bpf_attach_one(o, program, e))
        return false;
    memset(&attr, 0, sizeof attr);
    attr.iter_create.link_fd = (uint32_t)o->programs[program].link;
    int fd = bpf->call(bpf->ctx, BPF_ITER_CREATE, &attr, sizeof attr);
    if (fd < 0)
        return err_errno(e, -fd, o->code->name, "the BPF iterator cannot be opened");
    size_t room = READ_BYTES + row_bytes, used = 0;
    uint8_t *buffer = malloc(room);
    int64_t got = buffer ? 1 : -ENOMEM;
    while (got > 0) {
        got = bpf->read(bpf->ctx, fd, buffer + used, room - used);
        if (got == -EINTR || got == -EAGAIN) { /* the kernel pauses between two tasks: read on */
            got = 1;
            continue;
        }
        if (got <= 0)
            break;
        used += (size_t)got;
        if (!take_rows(buffer, &used, row_bytes, fn, ctx))
            got = 0;
    }
    free(buffer);
    bpf->close(bpf->ctx, fd);
    return got >= 0 || err_errno(e, (int)-got, o->code->name, "the BPF iterator cannot be read");
}
