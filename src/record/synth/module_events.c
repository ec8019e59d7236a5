/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/module_events.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "events/tracepoint.h"
#include "format/perfdata/events/attr.h"
#include "format/perfdata/record.h"
#include "format/tracefs/tracing_data.h"

enum {
    TRACEPOINT = 2,   /* PERF_TYPE_TRACEPOINT */
    ATTR_SIZE = 112,  /* PERF_ATTR_SIZE_VER5, with clockid */
    RECORD_MAX = 256, /* ours are much shorter */
};

/* Indexed by "load". */
static const char *const NAMES[] = {"module_free", "module_load"};

/* Where the field "name" lies: its declaration is "__data_loc char[] name". */
static bool find_name(const struct tracepoint_set *set, const char *event, uint32_t *at) {
    struct arena a = ARENA_INIT;
    char path[256];
    snprintf(path, sizeof path, "%s/module/%s/format", set->root, event);
    const char *text = set->sys->read(set->sys, path, &a, NULL);
    struct bytes rest = {(const uint8_t *)text, text ? strlen(text) : 0};
    bool found = false;
    for (struct tracing_field f; !found && tracing_field_next(&rest, &f);) {
        found = f.name.size == 4 && memcmp(f.name.data, "name", 4) == 0 && f.size == 4;
        *at = f.offset;
    }
    arena_fini(&a);
    return found;
}

static int open_one(struct record_module_events *e, uint64_t id, int32_t cpu,
                    const struct record_options *o) {
    struct perfdata_attr a = {
        .type = TRACEPOINT,
        .size = ATTR_SIZE,
        .known_size = ATTR_SIZE,
        .config = id,
        .sample_period = 1,
        .sample_type = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_RAW,
        .wakeup = 1,
    };
    if (o->use_clockid) {
        a.flags |= PERFDATA_ATTR_USE_CLOCKID;
        a.clockid = o->clockid;
    }
    struct writer w = writer_make(false);
    perfdata_attr_encode(&a, &w);
    int fd = writer_ok(&w) ? e->perf->open(e->perf->ctx, writer_bytes(&w), -1, cpu, -1) : -1;
    writer_fini(&w);
    return fd;
}

static bool open_cpu(struct record_module_events *e, int32_t cpu, const struct record_options *o) {
    const struct os_perf *p = e->perf;
    struct record_module_ring *r = vec_push(&e->rings);
    if (!r)
        return false;
    *r = (struct record_module_ring){.free_fd = -1};
    r->load_fd = open_one(e, e->ids[1], cpu, o);
    r->free_fd = r->load_fd >= 0 ? open_one(e, e->ids[0], cpu, o) : -1;
    return r->free_fd >= 0 && p->map(p->ctx, r->load_fd, 1, false, &r->map) == 0 &&
           p->control(p->ctx, r->free_fd, OS_PERF_SET_OUTPUT, r->load_fd) == 0;
}

bool record_module_events_open(struct record_module_events *e, const struct os_perf *perf,
                               const struct sysfs *sys, const struct perf_target *t,
                               const struct record_options *o) {
    struct tracepoint_set set;
    *e = (struct record_module_events){.perf = perf};
    tracepoint_set_init(&set, sys);
    bool ok = tracepoint_systems(&set, NULL);
    for (int i = 0; i < 2 && ok; i++)
        ok = tracepoint_id(&set, "module", NAMES[i], &e->ids[i], NULL) &&
             find_name(&set, NAMES[i], &e->name_at[i]);
    tracepoint_set_fini(&set);
    for (size_t i = 0; i < t->online.count && ok; i++)
        ok = open_cpu(e, t->online.items[i], o);
    if (!ok)
        record_module_events_close(e);
    return ok;
}

void record_module_events_close(struct record_module_events *e) {
    for (size_t i = 0; i < e->rings.count; i++) {
        struct record_module_ring *r = &e->rings.items[i];
        if (r->map.data)
            e->perf->unmap(e->perf->ctx, &r->map);
        if (r->free_fd >= 0)
            e->perf->close(e->perf->ctx, r->free_fd);
        if (r->load_fd >= 0)
            e->perf->close(e->perf->ctx, r->load_fd);
    }
    vec_fini(&e->rings);
    vec_fini(&e->list);
}

/*
 * A sample's body: u64 time, u32 size, the tracepoint's data. These begin with its id in 16 bits, and say in
 * 32 bits where the name lies in them: its offset in the lower half, its length with the NUL in the upper.
 */
static void take_sample(struct record_module_events *e, struct bytes body) {
    struct cursor c = cursor_make(body, false);
    uint64_t ns = cursor_u64(&c);
    struct bytes raw = cursor_bytes(&c, cursor_u32(&c));
    if (!cursor_ok(&c) || raw.size < 2)
        return;
    uint16_t id = bytes_load16(raw.data, false);
    bool load = id == e->ids[1];
    uint32_t at = e->name_at[load];
    if ((!load && id != e->ids[0]) || at > raw.size || raw.size - at < 4)
        return;
    uint32_t where = bytes_load32(raw.data + at, false), offset = where & 0xffff, length = where >> 16;
    struct record_module_event *to;
    if (offset > raw.size || length > raw.size - offset || !(to = vec_push(&e->list)))
        return;
    *to = (struct record_module_event){.ns = ns, .load = load};
    length = length < sizeof to->name ? length : sizeof to->name - 1;
    memcpy(to->name, raw.data + offset, length);
}

static void take_ring(struct record_module_events *e, struct os_ring *r) {
    uint64_t at = os_ring_tail(r), end = os_ring_head(r);
    while (end - at >= PERFDATA_HEADER_SIZE) {
        uint8_t record[RECORD_MAX];
        os_ring_copy(r, at, record, PERFDATA_HEADER_SIZE);
        uint32_t type = bytes_load32(record, false);
        uint16_t size = bytes_load16(record + 6, false);
        if (size < PERFDATA_HEADER_SIZE || size > end - at)
            break;
        if (type == PERFDATA_RECORD_SAMPLE && size <= sizeof record) {
            os_ring_copy(r, at, record, size);
            take_sample(e, (struct bytes){record + PERFDATA_HEADER_SIZE, size - PERFDATA_HEADER_SIZE});
        }
        at += size;
    }
    os_ring_consume(r, end);
}

static int by_time(const void *a, const void *b) {
    const struct record_module_event *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

bool record_module_events_take(struct record_module_events *e) {
    for (size_t i = 0; i < e->rings.count; i++)
        take_ring(e, &e->rings.items[i].map);
    if (e->list.count)
        qsort(e->list.items, e->list.count, sizeof *e->list.items, by_time);
    return e->list.count != 0;
}

const struct record_module_event *record_module_events_find(const struct record_module_events *e, bool load,
                                                            const char *name) {
    for (size_t i = e->list.count; i-- > 0;)
        if (e->list.items[i].load == load && strcmp(e->list.items[i].name, name) == 0)
            return &e->list.items[i];
    return NULL;
}
