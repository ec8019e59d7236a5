/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/drain.h"

#include <time.h>

#include "base/log.h"
#include "base/threads/prefetch.h"
#include "os/poller.h"

void record_drain_fini(struct record_drain *d) {
    free(d->heads);
    writer_fini(&d->scratch);
    writer_fini(&d->patched);
    vec_fini(&d->patches);
    hash_map_fini(&d->settled);
    vec_fini(&d->programs);
}

void record_drain_restart(struct record_drain *d) {
    hash_map_fini(&d->settled);
    d->settled = (struct hash_map){0};
    d->has_time = false;
}

/* A record's body as one span; where it wraps, copied. Empty when memory ran out. */
static struct bytes body_of(struct record_drain *d, const struct os_ring *r, uint64_t at, uint32_t size) {
    struct bytes span[2];
    os_ring_spans(r, at + PERFDATA_HEADER_SIZE, at + size, span);
    if (!span[1].size)
        return span[0];
    writer_clear(&d->scratch);
    writer_bytes_put(&d->scratch, span[0]);
    writer_bytes_put(&d->scratch, span[1]);
    return writer_ok(&d->scratch) ? writer_bytes(&d->scratch) : (struct bytes){0};
}

static void count_time(struct record_drain *d, struct bytes body) {
    uint32_t event = perfdata_events_find(d->events, PERFDATA_RECORD_SAMPLE, body);
    uint64_t ns;
    if (event == PERFDATA_NO_EVENT ||
        !perfdata_record_time(&d->events->list.items[event].plan, PERFDATA_RECORD_SAMPLE, body, &ns))
        return;
    if (!d->has_time || ns < d->first_ns)
        d->first_ns = ns;
    if (!d->has_time || ns > d->last_ns)
        d->last_ns = ns;
    d->has_time = true;
}

/* What is known of a mapped file joins its record, between the name and the sample_id. True: of another such
 * record nothing is to be learned. */
static bool identify(struct record_drain *d, uint64_t at, uint16_t misc, struct bytes body) {
    if (!d->identities || body.size < d->id_bytes)
        return true;
    struct bytes fields = {body.data, body.size - d->id_bytes};
    d->identities->since_ns = d->since_ns;
    const struct perfdata_evidence *e = record_identities_note(d->identities, misc, fields);
    if (d->keep)
        d->keep->pass_ns = d->pass_ns;
    bool done = !d->keep || record_keep_note(d->keep, misc, fields, e);
    struct record_patch *p = e ? vec_push(&d->patches) : NULL;
    if (!p)
        return done;
    struct writer *w = &d->patched;
    size_t from = w->size;
    writer_u32(w, PERFDATA_RECORD_MMAP2);
    writer_u16(w, misc);
    writer_u16(w, 0);
    writer_bytes_put(w, fields);
    perfdata_evidence_encode(e, w);
    writer_put(w, fields.data + fields.size, d->id_bytes);
    size_t size = w->size - from;
    if (size > UINT16_MAX) {
        w->size = from;
        d->patches.count--;
        return done;
    }
    writer_patch16(w, from + 6, (uint16_t)size);
    *p = (struct record_patch){at, body.size + PERFDATA_HEADER_SIZE, from, w->size};
    return done;
}

/*
 * Nearly all map records say what others said before, of other processes: the same build-id (or none, and no
 * file), the same protection and name. The key of that; 0: of a file without a build-id, which may have
 * changed.
 */
static uint64_t key_of_map(const struct record_drain *d, uint16_t misc, struct bytes body) {
    enum { FILE_AT = 32, INO_AT = 40 }; /* after pid, tid, addr, len, pgoff; then prot, flags and the name */
    if (body.size <= INO_AT + 8 + d->id_bytes)
        return 0;
    if (!(misc & PERFDATA_MISC_MMAP_BUILD_ID) && bytes_load64(body.data + INO_AT, false))
        return 0;
    return hash_bytes(body.data + FILE_AT, body.size - FILE_AT - d->id_bytes) ^ misc;
}

/* perf_event_open(2): type, flags, number, tag. */
static void note_program(struct record_drain *d, struct bytes body) {
    enum { LOADED = 1, WAITING_MAX = 1 << 16 };
    uint32_t *to =
        body.size >= 8 && bytes_load16(body.data, false) == LOADED && d->programs.count < WAITING_MAX
            ? vec_push(&d->programs)
            : NULL;
    if (to)
        *to = bytes_load32(body.data + 4, false);
}

/* What is not a sample: the few that concern us. Counts events lost. */
static uint64_t look_at(struct record_drain *d, uint64_t at, uint32_t type, uint16_t misc,
                        struct bytes body) {
    if (type == PERFDATA_RECORD_LOST && body.size >= 16)
        return bytes_load64(body.data + 8, false);
    if (type == PERFDATA_RECORD_BPF_EVENT)
        note_program(d, body);
    if (type != PERFDATA_RECORD_MMAP2)
        return 0;
    uint64_t key = key_of_map(d, misc, body);
    if (key && hash_map_get(&d->settled, key) != HASH_ABSENT)
        return 0;
    if (d->shared)
        pthread_mutex_lock(d->shared);
    if (d->build_ids)
        record_build_ids_mmap2(d->build_ids, misc, body);
    bool done = identify(d, at, misc, body);
    if (d->shared)
        pthread_mutex_unlock(d->shared);
    if (key && done)
        hash_map_set(&d->settled, key, 1); /* without memory the next one is looked at, too */
    return 0;
}

static void forget_patches(struct record_drain *d) {
    vec_clear(&d->patches);
    writer_clear(&d->patched);
}

/*
 * Another CPU wrote what is walked through here, and where the next header lies is known only when this one
 * has come: so all lines are asked for some time before. They are needed anyway, to be written.
 */
static uint64_t fetch_ahead(const struct os_ring *r, uint64_t fetched, uint64_t at, uint64_t end) {
    enum { LINE = 64, AHEAD = 24 * LINE };
    uint64_t to = at + AHEAD < end ? at + AHEAD : end;
    for (fetched = fetched > at ? fetched : at; fetched < to; fetched += LINE)
        prefetch(r->data + (fetched & (r->data_bytes - 1)));
    return fetched;
}

/* Whether a sample is within --max-size; if not it becomes a patch of nothing. All else goes on: what was
 * recorded until then wants names. */
static bool within_budget(struct record_drain *d, uint64_t at, uint16_t size) {
    struct record_patch *last = d->patches.count ? &d->patches.items[d->patches.count - 1] : NULL;
    if (size <= d->budget_bytes) {
        d->budget_bytes -= size;
        return true;
    }
    d->budget_bytes = 0;
    d->left_out++;
    if (last && last->from == last->to && last->at + last->size == at) {
        last->size += size;
        return false;
    }
    struct record_patch *p = vec_push(&d->patches);
    if (p)
        *p = (struct record_patch){at, size, d->patched.size, d->patched.size};
    return !p; /* without memory it goes out */
}

/* Walks the records of [at, end): their headers lie in one piece, as all sizes are multiples of 8. */
static void scan_ring(struct record_drain *d, struct record_ring *ring, uint64_t at, uint64_t end) {
    uint64_t mask = ring->map.data_bytes - 1, first = UINT64_MAX, last = 0, fetched = 0;
    while (end - at >= PERFDATA_HEADER_SIZE) {
        fetched = fetch_ahead(&ring->map, fetched, at, end);
        const uint8_t *h = ring->map.data + (at & mask);
        uint32_t type = bytes_load32(h, false);
        uint16_t misc = bytes_load16(h + 4, false), size = bytes_load16(h + 6, false);
        if (size < PERFDATA_HEADER_SIZE || size > end - at) {
            if (!d->damaged)
                log_line(LOG_WARN, "the ring of CPU %d holds a record of %u bytes that cannot be one",
                         (int)ring->cpu, size);
            d->damaged = true;
            break;
        }
        if (type == PERFDATA_RECORD_SAMPLE && d->limited && !within_budget(d, at, size)) {
            at += size;
            continue;
        }
        if (type == PERFDATA_RECORD_SAMPLE) {
            d->samples++;
            first = first == UINT64_MAX ? at : first;
            last = at;
        } else if (type == PERFDATA_RECORD_LOST || type == PERFDATA_RECORD_MMAP2 ||
                   type == PERFDATA_RECORD_BPF_EVENT) {
            ring->lost += look_at(d, at, type, misc, body_of(d, &ring->map, at, size));
        }
        at += size;
    }
    /* A ring is in order of time but for a few neighbours: its ends tell enough. */
    for (int i = 0; i < 2 && first != UINT64_MAX; i++) {
        uint64_t where = i ? last : first;
        count_time(d,
                   body_of(d, &ring->map, where, bytes_load16(ring->map.data + (where & mask) + 6, false)));
    }
}

/* Hands on spans of which the first `packed` may be compressed. `round`: one ends with them. */
static bool hand_on(struct record_drain *d, const struct bytes *spans, size_t count, size_t packed,
                    bool round, struct err *err) {
    return d->unwind ? record_unwind_put(d->unwind, spans, count, packed, round, err)
                     : record_outlet_put(&d->outlet, spans, count, packed, err);
}

static bool write_spans(struct record_drain *d, const struct bytes *spans, size_t count, bool round,
                        struct err *err) {
    static const uint8_t ROUND[2][PERFDATA_HEADER_SIZE] = {
        {PERFDATA_RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, PERFDATA_HEADER_SIZE, 0}, /* little-endian */
        {0, 0, 0, PERFDATA_RECORD_FINISHED_ROUND, 0, 0, 0, PERFDATA_HEADER_SIZE},
    };
    struct bytes all[OS_OUTPUT_SPANS];
    size_t n = count;
    if (count)
        memcpy(all, spans, count * sizeof *spans);
    round = round && !d->no_rounds;
    if (round)
        all[n++] = (struct bytes){ROUND[BYTES_HOST_BIG], PERFDATA_HEADER_SIZE};
    return hand_on(d, all, n, count, round, err);
}

/* *left: a ring holds something that was not worth taking. */
static bool read_heads(struct record_drain *d, const struct record_opened *opened, bool *any, bool *left,
                       struct err *err) {
    if (d->head_count != opened->rings.count) {
        uint64_t *heads = realloc(d->heads, opened->rings.count * sizeof *heads);
        if (!heads)
            return err_memory(err, "rings");
        d->heads = heads;
        d->head_count = opened->rings.count;
    }
    *any = *left = false;
    for (size_t i = 0; i < opened->rings.count; i++) {
        const struct record_ring *ring = &opened->rings.items[i];
        uint64_t tail = os_ring_tail(&ring->map);
        d->heads[i] = ring->backward ? tail : os_ring_head(&ring->map);
        if (d->heads[i] != tail && d->heads[i] - tail < d->flush_bytes) {
            d->heads[i] = tail;
            *left = true;
        }
        *any |= d->heads[i] != tail;
    }
    return true;
}

/* Spans on their way out; at most so many at once. */
enum { SPANS = OS_OUTPUT_SPANS - 4 };
struct outgoing {
    struct bytes spans[SPANS];
    size_t count;
};

static bool flush(struct record_drain *d, struct outgoing *o, bool round, struct err *err) {
    size_t n = o->count;
    o->count = 0;
    return (!n && !round) || write_spans(d, o->spans, n, round, err);
}

/* The next patch of what lies in [from, end), or NULL. */
static const struct record_patch *patch_after(const struct record_drain *d, size_t *next) {
    return *next < d->patches.count ? &d->patches.items[(*next)++] : NULL;
}

/* A ring's bytes [from, end), some of its records in their new form. What was patched lives until the next
 * ring is looked at, so with patches everything goes out at once. */
static bool take_ring(struct record_drain *d, const struct os_ring *map, uint64_t from, uint64_t end,
                      struct outgoing *o, struct err *err) {
    enum { PER_PATCH = 5 };
    const struct record_patch *p;
    size_t next = 0;
    if (!writer_ok(&d->patched))
        return err_memory(err, "records");
    do {
        struct bytes two[2];
        if (o->count + PER_PATCH > SPANS && !flush(d, o, false, err))
            return false;
        p = patch_after(d, &next);
        os_ring_spans(map, from, p ? p->at : end, two);
        for (int i = 0; i < 2; i++)
            if (two[i].size)
                o->spans[o->count++] = two[i];
        if (p) {
            if (p->to > p->from)
                o->spans[o->count++] = (struct bytes){d->patched.data + p->from, p->to - p->from};
            from = p->at + p->size;
        }
    } while (p);
    bool ok = !d->patches.count || flush(d, o, false, err);
    forget_patches(d);
    return ok;
}

bool record_drain_pass(struct record_drain *d, struct record_opened *opened, bool *wrote, struct err *err) {
    struct outgoing out = {.count = 0};
    size_t from = 0;
    bool ok = true, moved = false, left = false;
    /* What is in the rings came after the last pass looked at their heads. */
    uint64_t now_ns, unused;
    if (d->identities && os_clock_read(CLOCK_REALTIME, &now_ns, &unused)) {
        d->since_ns = d->pass_ns;
        d->pass_ns = (int64_t)now_ns;
    }
    if (!read_heads(d, opened, wrote, &left, err))
        return false;
    if (!*wrote && !left && d->unwind && !d->no_rounds) /* a round of nothing, which the file needs not */
        return hand_on(d, NULL, 0, 0, true, err);
    for (size_t i = 0; i < opened->rings.count && *wrote && ok; i++) {
        struct record_ring *ring = &opened->rings.items[i];
        uint64_t tail = os_ring_tail(&ring->map), lost = ring->lost;
        bool there = record_travel_to(&d->travel, ring->cpu, d->heads[i] - tail);
        moved |= there;
        if (d->heads[i] != tail) {
            scan_ring(d, ring, tail, d->heads[i]);
            d->lost += ring->lost - lost;
            d->bytes += d->heads[i] - tail;
            ok = take_ring(d, &ring->map, tail, d->heads[i], &out, err);
        }
        bool last = i + 1 == opened->rings.count;
        if (!ok || (out.count + 2 <= SPANS && !last && !there))
            continue;
        ok = flush(d, &out, last && !left, err); /* what was left belongs to this round too */
        for (; ok && from <= i; from++)
            if (!opened->rings.items[from].backward)
                os_ring_consume(&opened->rings.items[from].map, d->heads[from]);
    }
    if (moved)
        record_travel_home(&d->travel);
    return ok;
}

/*
 * Where the whole records end in a ring that is written backward: the kernel puts each record in front of the
 * one before, so the newest lies at the head (perf_event_open(2), write_backward), and the oldest are cut by
 * newer ones.
 *
 *     0 ... | newest | ... | older | old| <- cut by what was written over it ... data_bytes
 *             head                      end
 */
static uint64_t backward_end(const struct os_ring *r, uint64_t head) {
    uint64_t written = -head, at = head, mask = r->data_bytes - 1;
    uint64_t end = head + (written < r->data_bytes ? written : r->data_bytes);
    while (end - at >= PERFDATA_HEADER_SIZE) {
        uint16_t size = bytes_load16(r->data + (at & mask) + 6, false);
        if (size < PERFDATA_HEADER_SIZE || size > end - at)
            break;
        at += size;
    }
    return at;
}

bool record_drain_backward(struct record_drain *d, struct record_opened *opened, struct err *err) {
    struct outgoing out = {.count = 0};
    bool ok = true;
    for (size_t i = 0; i < opened->rings.count; i++) {
        struct record_ring *ring = &opened->rings.items[i];
        if (!ring->backward)
            continue;
        opened->perf->control(opened->perf->ctx, ring->fd, OS_PERF_PAUSE_OUTPUT, 1);
        uint64_t head = os_ring_head(&ring->map), end = backward_end(&ring->map, head);
        if (ok && end != head) {
            scan_ring(d, ring, head, end);
            d->bytes += end - head;
            /* Written before it goes on: nothing else keeps the ring from being overwritten. */
            ok = take_ring(d, &ring->map, head, end, &out, err) && flush(d, &out, false, err);
        }
        opened->perf->control(opened->perf->ctx, ring->fd, OS_PERF_PAUSE_OUTPUT, 0);
    }
    return ok;
}

bool record_drain_execs(struct record_drain *d, const struct record_opened *opened, struct hash_map *pids) {
    for (size_t i = 0; i < opened->rings.count; i++) {
        const struct os_ring *r = &opened->rings.items[i].map;
        if (opened->rings.items[i].backward)
            continue;
        uint64_t mask = r->data_bytes - 1, at = os_ring_tail(r), end = os_ring_head(r);
        while (end - at >= PERFDATA_HEADER_SIZE) {
            const uint8_t *h = r->data + (at & mask);
            uint16_t misc = bytes_load16(h + 4, false), size = bytes_load16(h + 6, false);
            if (size < PERFDATA_HEADER_SIZE || size > end - at)
                break; /* the next pass tells of it */
            if (bytes_load32(h, false) == PERFDATA_RECORD_COMM && misc & PERFDATA_MISC_COMM_EXEC) {
                struct bytes body = body_of(d, r, at, size);
                if (body.size < 8 || !hash_map_set(pids, bytes_load32(body.data, false), 1))
                    return false;
            }
            at += size;
        }
    }
    return true;
}

void record_drain_forget(struct writer *records, const struct hash_map *pids) {
    size_t to = 0;
    for (size_t at = 0, size; records->size - at >= PERFDATA_HEADER_SIZE; at += size) {
        const uint8_t *h = records->data + at;
        uint32_t type = bytes_load32(h, false);
        size = bytes_load16(h + 6, false);
        if (size < PERFDATA_HEADER_SIZE + 8 || size > records->size - at)
            size = size >= PERFDATA_HEADER_SIZE && size <= records->size - at ? size : records->size - at;
        else if ((type == PERFDATA_RECORD_COMM || type == PERFDATA_RECORD_MMAP2) &&
                 hash_map_get(pids, bytes_load32(h + PERFDATA_HEADER_SIZE, false)) != HASH_ABSENT)
            continue;
        memmove(records->data + to, h, size);
        to += size;
    }
    records->size = to;
}

/* Not compressed: a reader that cannot decompress knows at least who was there. */
static bool append_plain(struct record_drain *d, struct bytes records, struct err *err) {
    return hand_on(d, &records, 1, 0, false, err);
}

/* Records that were put, some of them in their new form. */
static bool append_patched(struct record_drain *d, struct bytes records, struct err *err) {
    struct writer w = writer_make(false);
    const struct record_patch *p;
    size_t next = 0;
    uint64_t from = 0;
    do {
        p = patch_after(d, &next);
        uint64_t to = p ? p->at : records.size;
        writer_put(&w, records.data + from, to - from);
        if (p) {
            writer_put(&w, d->patched.data + p->from, p->to - p->from);
            from = p->at + p->size;
        }
    } while (p);
    bool ok = writer_ok(&w) && writer_ok(&d->patched) ? append_plain(d, writer_bytes(&w), err)
                                                      : err_memory(err, "records");
    writer_fini(&w);
    forget_patches(d);
    return ok;
}

bool record_drain_put(struct record_drain *d, struct bytes records, struct err *err) {
    for (size_t at = 0; records.size - at >= PERFDATA_HEADER_SIZE;) {
        const uint8_t *h = records.data + at;
        uint16_t size = bytes_load16(h + 6, false);
        if (size < PERFDATA_HEADER_SIZE || size > records.size - at)
            break;
        look_at(d, at, bytes_load32(h, false), bytes_load16(h + 4, false),
                (struct bytes){h + PERFDATA_HEADER_SIZE, size - PERFDATA_HEADER_SIZE});
        at += size;
    }
    return d->patches.count ? append_patched(d, records, err) : append_plain(d, records, err);
}
