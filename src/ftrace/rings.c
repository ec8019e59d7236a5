/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/limits.h"
#include "os/poller.h"

enum { PAGES_AT_ONCE = 1024 /* of a CPU */ };

static bool read_layout(struct ftrace_rings *r, struct ftrace_setup *s, struct err *err) {
    struct writer w = writer_make(false);
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    bool ok =
        s->fs->read(s->fs->ctx, "events/header_page", &w, err) && (writer_ok(&w) || err_memory(err, "rings"));
    if (ok && !ring_page_layout_parse(writer_bytes(&w), big, &r->layout))
        ok =
            err_set(err, ERR_UNSUPPORTED, "events/header_page", "this kernel's trace ring is not understood");
    writer_fini(&w);
    return ok;
}

bool ftrace_rings_open(struct ftrace_rings *r, struct ftrace_setup *s, struct err *err) {
    struct sysfs_names names;
    const char *folder = ftrace_setup_path(s, "per_cpu");
    *r = (struct ftrace_rings){.page_bytes = os_limits_page_bytes(), .bytes = writer_make(false)};
    if (!folder)
        return err_memory(err, "rings");
    if (!read_layout(r, s, err) || !s->fs->list(s->fs->ctx, folder, &s->arena, &names, err))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        char path[160], *end;
        if (strncmp(names.items[i], "cpu", 3) != 0)
            continue;
        unsigned long cpu = strtoul(names.items[i] + 3, &end, 10);
        snprintf(path, sizeof path, "%.64s/%.32s/trace_pipe_raw", folder, names.items[i]);
        int fd = *end ? -ENOENT : s->fs->open_ring(s->fs->ctx, path);
        if (fd == -ENODEV || fd == -ENXIO || fd == -ENOENT)
            continue; /* a CPU that is offline */
        if (fd < 0)
            return err_errno(err, -fd, path, "cannot read the trace");
        struct ftrace_ring *ring = vec_push(&r->rings);
        if (!ring) {
            os_close(fd);
            return err_memory(err, "rings");
        }
        *ring = (struct ftrace_ring){fd, (uint32_t)cpu};
    }
    return true;
}

void ftrace_rings_close(struct ftrace_rings *r) {
    for (size_t i = 0; i < r->rings.count; i++)
        os_close(r->rings.items[i].fd);
    vec_fini(&r->rings);
    vec_fini(&r->waiting);
    writer_fini(&r->bytes);
}

bool ftrace_rings_add_page(struct ftrace_rings *r, uint32_t cpu, struct bytes page, uint64_t *last,
                           struct err *err) {
    struct ring_page p;
    struct ring_page_record rec;
    if (!ring_page_open(&p, &r->layout, page)) {
        r->broken++;
        return true;
    }
    r->lost += p.missed == UINT64_MAX ? 0 : p.missed;
    r->lost_more |= p.missed == UINT64_MAX;
    while (ring_page_next(&p, &rec)) {
        struct ftrace_waiting *w = vec_push(&r->waiting);
        if (!w)
            return err_memory(err, "trace");
        *w = (struct ftrace_waiting){rec.time, r->order++, cpu, (uint32_t)rec.data.size, r->bytes.size};
        writer_bytes_put(&r->bytes, rec.data);
        *last = rec.time;
    }
    r->broken += p.broken;
    return writer_ok(&r->bytes) || err_memory(err, "trace");
}

/* True: all was read. *last: the time of the newest record. */
static bool read_ring(struct ftrace_rings *r, const struct ftrace_ring *ring, uint8_t *page, uint64_t *last,
                      bool *all, struct err *err) {
    *all = false;
    for (unsigned i = 0; i < PAGES_AT_ONCE; i++) {
        ssize_t n = read(ring->fd, page, r->page_bytes);
        if (n <= 0) { /* EAGAIN: the ring is empty */
            *all = true;
            return true;
        }
        if (!ftrace_rings_add_page(r, ring->cpu, (struct bytes){page, (size_t)n}, last, err))
            return false;
    }
    return true;
}

static int by_time(const void *a, const void *b) {
    const struct ftrace_waiting *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Hands on the records that are not newer than `until`, and moves the rest to the front. */
static bool hand_on(struct ftrace_rings *r, uint64_t until, ftrace_record_fn *fn, void *ctx,
                    struct err *err) {
    struct writer rest = writer_make(false);
    size_t kept = 0;
    bool ok = true;
    if (r->waiting.count)
        qsort(r->waiting.items, r->waiting.count, sizeof *r->waiting.items, by_time);
    for (size_t i = 0; i < r->waiting.count && ok; i++) {
        struct ftrace_waiting w = r->waiting.items[i];
        struct bytes data = {w.size ? r->bytes.data + w.at : NULL, w.size};
        if (w.time <= until) {
            ok = fn(ctx, &(struct ftrace_record){w.time, w.cpu, data}, err);
            continue;
        }
        w.at = rest.size;
        writer_bytes_put(&rest, data);
        r->waiting.items[kept++] = w;
    }
    r->waiting.count = kept;
    writer_fini(&r->bytes);
    r->bytes = rest;
    return ok && (writer_ok(&r->bytes) || err_memory(err, "trace"));
}

bool ftrace_rings_take(struct ftrace_rings *r, uint64_t until, ftrace_record_fn *fn, void *ctx,
                       struct err *err) {
    uint8_t *page = malloc(r->page_bytes);
    bool ok = page || err_memory(err, "trace"), more = true;
    while (ok && more) {
        uint64_t bound = until;
        more = false;
        for (size_t i = 0; i < r->rings.count && ok; i++) {
            uint64_t last = 0;
            bool all;
            ok = read_ring(r, &r->rings.items[i], page, &last, &all, err);
            if (ok && !all) { /* records still in the ring are not older than this one */
                more = true;
                bound = last < bound ? last : bound;
            }
        }
        ok = ok && hand_on(r, bound, fn, ctx, err);
    }
    free(page);
    return ok;
}
