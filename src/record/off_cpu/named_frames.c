/* SPDX-License-Identifier: Apache-2.0 */
#include "record/off_cpu/named_frames.h"

#include <stdio.h>

#include "calls/table.h"
#include "os/bpf/bpf_maps.h"

enum {
    KNOWN_MOST = 1 << 18, /* objects and wakers that are remembered */
    OUT_OF_LINE = 2,      /* PERF_RECORD_KSYMBOL_TYPE_OOL */
    NO_TEXT = UINT32_MAX - 1,
    FRAME_ROOM = RECORD_WAIT_NAME + WAITS_NAME_ROOM,
};

void record_named_frames_init(struct record_named_frames *f, struct os_bpf_object *object,
                              const struct os_proc *proc, const char *machine) {
    *f = (struct record_named_frames){.object = object, .machine = machine, .names = {.proc = proc}};
    struct bpf_off_cpu_rodata *rodata = os_bpf_data(object, OFF_CPU_MAP_RODATA);
    for (int32_t i = 0; i < BPF_OFF_CPU_CALLS; i++)
        rodata->calls[i] = waits_names_call(i);
}

void record_named_frames_fini(struct record_named_frames *f) {
    if (f->names.proc)
        waits_names_forget(&f->names);
    strpool_fini(&f->objects);
    strpool_fini(&f->frames);
    hash_map_fini(&f->by_object);
    hash_map_fini(&f->by_waker);
    vec_fini(&f->wakers);
    vec_fini(&f->seen);
    vec_fini(&f->told);
}

/* --- naming --- */

/* What was seen leaves the map, which has little room: the kernel puts it there again when it comes again,
 * and we know it then. */
static bool done_with(struct record_named_frames *f, uint64_t hash) {
    uint64_t *to = vec_push(&f->seen);
    f->failed |= !to;
    if (to)
        *to = hash;
    return to != NULL;
}

static bool take_object(void *ctx, const void *key, const void *value) {
    struct record_named_frames *f = ctx;
    struct bpf_off_cpu_object o;
    char name[WAITS_NAME_ROOM];
    uint64_t hash;
    memcpy(&hash, key, sizeof hash);
    memcpy(&o, value, sizeof o);
    if (hash_map_get(&f->by_object, hash) != HASH_ABSENT)
        return done_with(f, hash);
    if (!f->left) /* the next turn looks at it */
        return false;
    f->left--;
    enum waits_named named = waits_names_find(&f->names, &o, name);
    f->failed |= f->names.failed;
    if (named == WAITS_NOT_YET || f->by_object.count >= KNOWN_MOST)
        return done_with(f, hash);
    uint32_t text = *name && named == WAITS_NAMED ? strpool_add(&f->objects, name, strlen(name)) : NO_TEXT;
    f->failed |= text == STRPOOL_NONE || !hash_map_set(&f->by_object, hash, text);
    return done_with(f, hash);
}

/* The number of the frame of that name; STRPOOL_NONE: there are too many, or memory ran out. */
static uint32_t frame_of(struct record_named_frames *f, const char *name) {
    size_t n = strlen(name);
    uint32_t number = f->frames.entries.count < RECORD_NAMED_NUMBERS ? strpool_add(&f->frames, name, n)
                                                                     : strpool_find(&f->frames, name, n);
    f->failed |= number == STRPOOL_NONE && f->frames.entries.count < RECORD_NAMED_NUMBERS;
    return number;
}

static void waker_name(const struct record_named_frames *f, const struct bpf_off_cpu_waker *waker,
                       char *name) {
    const char *call =
        waker->call >= 0 ? calls_table_name(calls_table(f->machine, false), waker->call) : NULL;
    int n = (int)strnlen(waker->comm, sizeof waker->comm);
    if (waker->call == BPF_OFF_CPU_INTERRUPT)
        snprintf(name, FRAME_ROOM, RECORD_WAKER_WORDS "an interrupt");
    else if (call)
        snprintf(name, FRAME_ROOM, RECORD_WAKER_WORDS "%.*s in %s", n, waker->comm, call);
    else
        snprintf(name, FRAME_ROOM, RECORD_WAKER_WORDS "%.*s", n, waker->comm);
    waits_names_clean(name);
}

static bool take_waker(void *ctx, const void *key, const void *value) {
    struct record_named_frames *f = ctx;
    struct bpf_off_cpu_waker waker;
    char name[FRAME_ROOM];
    uint64_t hash;
    memcpy(&hash, key, sizeof hash);
    memcpy(&waker, value, sizeof waker);
    if (hash_map_get(&f->by_waker, hash) != HASH_ABSENT || f->wakers.count >= KNOWN_MOST)
        return done_with(f, hash);
    waker_name(f, &waker, name);
    struct record_waker *to = vec_push(&f->wakers);
    f->failed |= !to || !hash_map_set(&f->by_waker, hash, (uint32_t)f->wakers.count - 1);
    if (to)
        *to = (struct record_waker){waker.before, frame_of(f, name)};
    return !f->failed && done_with(f, hash);
}

static void look_at(struct record_named_frames *f, uint32_t map, size_t value_bytes, os_bpf_entry_fn *take) {
    const struct os_bpf *bpf = f->object->bpf;
    int fd = f->object->maps[map].fd;
    vec_clear(&f->seen);
    os_bpf_each(bpf, fd, sizeof(uint64_t), value_bytes, take, f); /* what it cannot read stays unnamed */
    for (size_t i = 0; i < f->seen.count; i++)
        os_bpf_delete(bpf, fd, &f->seen.items[i]);
}

bool record_named_frames_look(struct record_named_frames *f, uint32_t most) {
    f->left = most;
    look_at(f, OFF_CPU_MAP_WAKERS, sizeof(struct bpf_off_cpu_waker), take_waker);
    look_at(f, OFF_CPU_MAP_OBJECTS, sizeof(struct bpf_off_cpu_object), take_object);
    waits_names_forget(&f->names);
    return f->left;
}

/* --- frames --- */

static void put_name(uint64_t address, const char *name, const struct record_sink *sink, struct writer *w) {
    char room[FRAME_ROOM + 8] = {0};
    size_t n = strlen(name);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_KSYMBOL,
                                  .ksymbol = {address, RECORD_WAIT_BYTES, OUT_OF_LINE, 0, {NULL, 0}}};
    memcpy(room, name, n);
    rec.ksymbol.name = (struct bytes){(const uint8_t *)room, (n + 8) & ~(size_t)7};
    record_sink_encode(sink, &rec, w);
}

static uint64_t named_frame(struct record_named_frames *f, uint32_t number, const struct record_sink *sink,
                            struct writer *w) {
    uint64_t address = RECORD_NAMED_BASE + (uint64_t)number * RECORD_WAIT_BYTES;
    while (f->told.count <= number) {
        uint8_t *to = vec_push(&f->told);
        if (!to) {
            f->failed = true;
            return address;
        }
        *to = 0;
    }
    if (!f->told.items[number])
        put_name(address, strpool_text(&f->frames, number), sink, w);
    f->told.items[number] = 1;
    return address;
}

/* What the thread waits for, as far as the system call tells. */
static uint64_t plain_frame(struct record_named_frames *f, uint32_t number, const char *name,
                            const struct record_sink *sink, struct writer *w) {
    uint64_t address = RECORD_WAIT_BASE + (uint64_t)number * RECORD_WAIT_BYTES;
    uint8_t *bits = &f->plain_told[number / 8], bit = (uint8_t)(1u << number % 8);
    if (!(*bits & bit))
        put_name(address, name, sink, w);
    *bits |= bit;
    return address;
}

static uint64_t wait_frame(struct record_named_frames *f, const struct bpf_off_cpu_key *key,
                           const struct record_sink *sink, struct writer *w) {
    char plain[RECORD_WAIT_NAME], name[FRAME_ROOM];
    uint32_t number = record_wait_number(key);
    uint32_t text = key->object ? hash_map_get(&f->by_object, key->object) : HASH_ABSENT;
    record_wait_name(number, f->machine, plain);
    if (text < f->objects.entries.count) {
        snprintf(name, sizeof name, "%s: %s", plain, strpool_text(&f->objects, text));
        uint32_t frame = frame_of(f, name);
        if (frame != STRPOOL_NONE)
            return named_frame(f, frame, sink, w);
    }
    f->unnamed += key->object && text != NO_TEXT;
    return plain_frame(f, number, plain, sink, w);
}

uint32_t record_named_frames_of(struct record_named_frames *f, const struct bpf_off_cpu_key *key,
                                uint64_t chain[RECORD_NAMED_FRAMES_MOST], const struct record_sink *sink,
                                struct writer *w) {
    uint32_t frames[BPF_OFF_CPU_WAKERS], n = 0, count = 0;
    for (uint64_t hash = key->waker; hash && n < BPF_OFF_CPU_WAKERS;) {
        uint32_t i = hash_map_get(&f->by_waker, hash);
        if (i == HASH_ABSENT || f->wakers.items[i].frame == STRPOOL_NONE)
            break;
        frames[n++] = f->wakers.items[i].frame;
        hash = f->wakers.items[i].before;
    }
    while (n)
        chain[count++] = named_frame(f, frames[--n], sink, w);
    chain[count++] = wait_frame(f, key, sink, w);
    return count;
}

void record_named_frames_forget(struct record_named_frames *f) {
    memset(f->plain_told, 0, sizeof f->plain_told);
    vec_clear(&f->told);
}
