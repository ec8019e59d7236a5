/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/skim.h"

#include "stream/stream_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE_BYTES = 256 * 1024, /* fits in any recent second-level cache */
    RECORD_MAX = UINT16_MAX,  /* largest plain record: its size field has 16 bits */
};

void stream_skim_init(struct stream_skim *k, uint64_t plain) {
    *k = (struct stream_skim){
        .plain = plain & ~(1ull << PERFDATA_RECORD_LOST | 1ull << PERFDATA_RECORD_LOST_SAMPLES)};
}

void stream_skim_fini(struct stream_skim *k) {
    free(k->samples);
    free(k->buffer);
}

/* What is the same for all records. */
struct rules {
    uint32_t min_size[STREAM_SKIM_TYPES]; /* header included; UINT32_MAX: not plain */
    bool swap;
};

static void make_rules(const struct stream *s, const struct stream_skim *k, struct rules *r) {
    r->swap = s->header.swap;
    for (uint32_t type = 0; type < STREAM_SKIM_TYPES; type++) {
        bool plain = k->plain >> type & 1 && perfdata_record_known(type);
        r->min_size[type] = plain ? PERFDATA_HEADER_SIZE + perfdata_record_min_body(type) : UINT32_MAX;
    }
}

static bool make_room(struct stream *s, struct stream_skim *k, struct err *err) {
    size_t n = s->events.list.count;
    if (!k->buffer && !(k->buffer = malloc(PIECE_BYTES + RECORD_MAX)))
        return err_memory(err, s->path);
    if (n > k->event_count) {
        uint64_t *more = realloc(k->samples, n * sizeof *more);
        if (!more)
            return err_memory(err, s->path);
        memset(more + k->event_count, 0, (n - k->event_count) * sizeof *more);
        k->samples = more;
        k->event_count = n;
    }
    return true;
}

/* Moves the buffer's start to `at`, which lies in it, and reads on up to `end`. Unless more than a record is
 * left, in which case it reads nothing. */
static bool fill(struct stream *s, struct stream_skim *k, uint64_t at, uint64_t end, struct err *err) {
    size_t kept = (size_t)(k->start + k->size - at);
    memmove(k->buffer, k->buffer + (at - k->start), kept);
    k->start = at;
    k->size = kept;
    uint64_t from = at + kept;
    if (kept > RECORD_MAX || from >= end)
        return true;
    size_t want = end - from < PIECE_BYTES ? (size_t)(end - from) : PIECE_BYTES;
    int64_t got = os_file_read_at(&s->input.file, from, k->buffer + kept, want, s->path, err);
    if (got < 0)
        return false;
    k->size += (size_t)got;
    return true;
}

bool stream_sample_whole(const struct perfdata_plan *plan, struct bytes body) {
    const uint64_t counted = PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_BRANCH_STACK |
                             PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER |
                             PERFDATA_SAMPLE_REGS_INTR | PERFDATA_SAMPLE_AUX;
    const uint64_t last = PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT | PERFDATA_SAMPLE_DATA_SRC |
                          PERFDATA_SAMPLE_TRANSACTION | PERFDATA_SAMPLE_PHYS_ADDR | PERFDATA_SAMPLE_CGROUP |
                          PERFDATA_SAMPLE_DATA_PAGE_SIZE | PERFDATA_SAMPLE_CODE_PAGE_SIZE;
    if (plan->sample_type & (counted | last)) {
        struct perfdata_sample s;
        return perfdata_sample_decode(plan, body, PERFDATA_SAMPLE_KNOWN, &s);
    }
    if (body.size < plan->fixed_size)
        return false;
    if (!(plan->sample_type & PERFDATA_SAMPLE_CALLCHAIN))
        return true;
    size_t left = body.size - plan->fixed_size;
    return left >= 8 && bytes_load64(body.data + plan->fixed_size, plan->swap) <= left / 8 - 1;
}

/* Counts the plain records that lie in p[0, n). Returns how many bytes they have. *look: the next one is not
 * plain. */
static size_t count(struct stream *s, struct stream_skim *k, const struct rules *r, const uint8_t *p,
                    size_t n, bool *look) {
    size_t at = 0;
    *look = false;
    while (n - at >= PERFDATA_HEADER_SIZE) {
        uint32_t type = bytes_load32(p + at, r->swap);
        uint32_t size = bytes_load16(p + at + 6, r->swap);
        if (type >= STREAM_SKIM_TYPES || size < r->min_size[type]) {
            *look = true;
            break;
        }
        if (size > n - at)
            break;
        struct bytes body = {p + at + PERFDATA_HEADER_SIZE, size - PERFDATA_HEADER_SIZE};
        uint32_t event = perfdata_events_find(&s->events, type, body);
        if (event >= k->event_count) {
            *look = true;
            break;
        }
        const struct perfdata_plan *plan = &s->events.list.items[event].plan;
        uint64_t time_ns;
        if (type == PERFDATA_RECORD_SAMPLE) {
            if (!stream_sample_whole(plan, body)) {
                *look = true;
                break;
            }
            k->samples[event]++;
        }
        k->by_type[type]++;
        if (perfdata_record_time(plan, type, body, &time_ns))
            stream_note_time(s, time_ns);
        at += size;
    }
    return at;
}

bool stream_skim(struct stream *s, struct stream_skim *k, struct err *err) {
    const struct stream_input *in = &s->input;
    if (!in->map.bytes.data || s->in_expansion || s->header.container != PERFDATA_CONTAINER_FILE ||
        s->events.list.count == 0 || s->pos < s->counted_to)
        return true;
    struct rules rules;
    make_rules(s, k, &rules);
    if (!make_room(s, k, err))
        return false;
    uint64_t end = in->segments.items[s->segment].end;
    if (end > in->size)
        end = in->size;
    if (s->pos < k->start || s->pos > k->start + k->size) {
        k->start = s->pos;
        k->size = 0;
    }
    for (;;) {
        size_t before = (size_t)(s->pos - k->start), have = k->size - before;
        bool look;
        size_t stepped = count(s, k, &rules, k->buffer + before, have, &look);
        if (stepped)
            s->counted_to = s->pos += stepped;
        if (look || s->pos >= end)
            return true;
        if (!fill(s, k, s->pos, end, err))
            return false;
        if (k->size == have - stepped) /* nothing more: the file ends within a record */
            return true;
    }
}
