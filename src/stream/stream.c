/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/prefetch.h"
#include "stream/stream_internal.h"

#include <inttypes.h>

enum {
    LEGACY_FIRST = 69, /* the ChromeOS pipe headers: HOSTNAME .. NUMA_TOPOLOGY */
    LEGACY_LAST = 80,
    RESYNC_WINDOW = 1 << 20, /* bytes of a pipe looked at in one go when searching for good records */
    SPLIT_MAX = 16 << 20,    /* bytes of a simpleperf record that came in parts */
};

/* --- applying what a pipe's header records say --- */

/* A feature's content, kept beyond the pipe's spool. Only the first of a kind counts. */
static bool add_feature(struct stream *s, uint64_t id, struct bytes content, struct err *err) {
    if (id >= PERFDATA_FEATURE_BITS || perfdata_header_feature(&s->header, (uint32_t)id))
        return true;
    struct bytes copy = arena_copy(&s->events.arena, content);
    struct perfdata_feature *f = copy.size == content.size ? vec_push(&s->header.features) : NULL;
    if (!f)
        return err_memory(err, s->path);
    *f = (struct perfdata_feature){.id = (uint32_t)id, .content = copy};
    s->header.feature_bits[id / 64] |= 1ull << (id % 64);
    return true;
}

/* HEADER_EVENT_TYPE: names for the events of that config; only old pipes have them. */
static bool name_by_config(struct stream *s, const struct perfdata_event_type *t, struct err *err) {
    for (size_t i = 0; i < s->events.list.count; i++) {
        const struct perfdata_event *e = &s->events.list.items[i];
        if (e->name || e->attr.config != t->event_id || e->attr.type != PERFDATA_TYPE_TRACEPOINT)
            continue;
        if (!perfdata_events_name(&s->events, (uint32_t)i, (const char *)t->name.data,
                                  bytes_text_len(t->name)))
            return err_memory(err, s->path);
    }
    return true;
}

/* The payload, or (simpleperf) what the record itself holds after the size. */
static struct bytes tracing_data(const struct stream_record *r, bool swap) {
    struct cursor c = cursor_make(r->raw.body, swap);
    uint64_t size = cursor_u32(&c);
    if (r->raw.payload.size)
        return r->raw.payload;
    return cursor_bytes(&c, size < cursor_left(&c) ? size : cursor_left(&c));
}

/*
 * simpleperf's: the parts of a record that is larger than a header's 16-bit size can say. Put together they
 * are that record, its header first. Only tracing data are of use.
 */
static bool apply_split(struct stream *s, const struct stream_record *r, struct err *err) {
    bool end = r->raw.type == PERFDATA_RECORD_SIMPLEPERF_SPLIT_END;
    if (!end && s->split.size + r->raw.body.size > SPLIT_MAX)
        return true;
    if (!end) {
        writer_bytes_put(&s->split, r->raw.body);
        return writer_ok(&s->split) || err_memory(err, s->path);
    }
    struct cursor c = cursor_make(writer_bytes(&s->split), s->header.swap);
    uint32_t type = cursor_u32(&c);
    cursor_take(&c, PERFDATA_HEADER_SIZE - 4);
    uint32_t size = cursor_u32(&c);
    struct bytes data = cursor_bytes(&c, size < cursor_left(&c) ? size : cursor_left(&c));
    bool ok = type != PERFDATA_RECORD_SIMPLEPERF_TRACING_DATA ||
              add_feature(s, PERFDATA_FEATURE_TRACING_DATA, data, err);
    writer_fini(&s->split);
    return ok;
}

static bool apply_header_record(struct stream *s, const struct stream_record *r, struct err *err) {
    struct perfdata_record rec;
    const char *reason = NULL;
    if (r->legacy)
        return add_feature(s, r->raw.type - LEGACY_FIRST + PERFDATA_FEATURE_HOSTNAME, r->raw.body, err);
    if (!perfdata_record_decode(&r->raw, NULL, s->header.swap, &rec, &reason)) {
        stream_bad_record(s, r, reason);
        return true;
    }
    switch (r->raw.type) {
    case PERFDATA_RECORD_HEADER_ATTR:
        if (perfdata_events_add(&s->events, &rec.header_attr.attr, &rec.header_attr.ids) == PERFDATA_NO_EVENT)
            return err_memory(err, s->path);
        return true;
    case PERFDATA_RECORD_HEADER_EVENT_TYPE:
        return name_by_config(s, &rec.event_type, err);
    case PERFDATA_RECORD_SIMPLEPERF_SPLIT:
    case PERFDATA_RECORD_SIMPLEPERF_SPLIT_END:
        return apply_split(s, r, err);
    case PERFDATA_RECORD_SIMPLEPERF_TRACING_DATA:
    case PERFDATA_RECORD_HEADER_TRACING_DATA:
        return add_feature(s, PERFDATA_FEATURE_TRACING_DATA, tracing_data(r, s->header.swap), err);
    case PERFDATA_RECORD_HEADER_FEATURE:
        /* An empty one of the first id that the producer did not know marks the end of its features. */
        if (!rec.header_feature.data.size && rec.header_feature.id != PERFDATA_FEATURE_BRANCH_STACK &&
            rec.header_feature.id != PERFDATA_FEATURE_STAT)
            return true;
        return add_feature(s, rec.header_feature.id, rec.header_feature.data, err);
    case PERFDATA_RECORD_EVENT_UPDATE:
        return perfdata_events_update(&s->events, &rec.event_update) || err_memory(err, s->path);
    default:
        return true;
    }
}

/* --- losses --- */

/* Warnings name a record as perf's do, "MMAP2 (10)": that is what scripts look for. */
static const char *name_of(uint32_t type) {
    const char *name = perfdata_record_name(type);
    return name ? name : "unknown";
}

void stream_bad_record(struct stream *s, const struct stream_record *r, const char *reason) {
    /* Found by the stream itself first, then by the reader. */
    if (s->bad_end == r->loc + 1)
        return;
    s->bad_end = r->loc + 1;
    s->losses.bad_records++;
    s->losses.unread = true;
    stream_warn(s, r->file_offset, "%s (%u) record: %s", name_of(r->raw.type), r->raw.type, reason);
}

/* Counts what a record says or shows to be lost, and takes note of its time. */
static void account(struct stream *s, const struct stream_record *r) {
    if (r->raw.type == PERFDATA_RECORD_SAMPLE) {
        s->losses.unknown_ids += r->event == PERFDATA_NO_EVENT;
    } else if (r->raw.type == PERFDATA_RECORD_LOST) {
        struct cursor c = cursor_make(r->raw.body, s->header.swap);
        cursor_u64(&c);
        s->losses.lost_events += cursor_u64(&c);
        s->losses.lost_records++;
    } else if (r->raw.type == PERFDATA_RECORD_LOST_SAMPLES) {
        struct cursor c = cursor_make(r->raw.body, s->header.swap);
        s->losses.lost_samples += cursor_u64(&c);
    } else if (!perfdata_record_known(r->raw.type)) {
        s->losses.unknown_types++;
    }
}

/* --- the sequence --- */

/* Where a record is to be read: from the input (of a segment), or from the expansion. */
struct place {
    bool expanded;
    size_t segment;
    const uint8_t *base;
    uint64_t at, end; /* offsets from base; end is what is available now */
};

static struct place input_place(const struct stream *s, size_t segment, uint64_t at) {
    uint64_t end = s->input.segments.items[segment].end;
    return (struct place){false, segment, s->input.base, at, end < s->input.size ? end : s->input.size};
}

static struct place expanded_place(const struct stream *s, uint64_t at) {
    if (!s->expansion.active) /* nothing was expanded yet */
        return (struct place){true, 0, s->input.base, 0, 0};
    return (struct place){true, 0, s->expansion.spool.base, at, s->expansion.spool.size};
}

static struct place current_place(const struct stream *s) {
    if (s->in_expansion)
        return expanded_place(s, s->xpos);
    return input_place(s, s->segment, s->pos);
}

static uint64_t place_offset(const struct stream *s, const struct place *p) {
    if (p->expanded)
        return stream_expand_origin(s, p->at);
    const struct stream_segment *g = &s->input.segments.items[p->segment];
    return p->at - g->start + g->file_start;
}

/* A record's offset in its file. A record that several compressed ones hold in parts is said to come from the
 * one that completes it, as perf says. */
static uint64_t record_offset(const struct stream *s, const struct place *p, const struct perfdata_raw *raw) {
    struct place end = *p;
    if (p->expanded)
        end.at += raw->size - 1;
    return place_offset(s, &end);
}

static uint64_t place_loc(const struct place *p) {
    return p->expanded ? STREAM_EXPANDED_LOC + p->at : p->at;
}

/* Where an earlier pass went on from a bad place. More times are known by now, so looking again might end
 * elsewhere. */
static bool jumped(const struct stream *s, uint64_t from, uint64_t *to) {
    size_t lo = 0, hi = s->jumps.count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->jumps.items[mid].from < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == s->jumps.count || s->jumps.items[lo].from != from)
        return false;
    *to = s->jumps.items[lo].to;
    return true;
}

/*
 * Finds where to go on after bytes that are no record: the next trustworthy place, or the end of what there
 * is. What could not be read is counted and said, once. p->end may grow.
 */
static bool skip_damage(struct stream *s, struct place *p, const struct perfdata_raw *raw, const char *reason,
                        bool cut, uint64_t *to, struct err *err) {
    /* Outer records after the first compressed one are read once only, however many passes there are. */
    bool outer = s->in_expansion && !p->expanded;
    if (!outer && place_loc(p) < s->counted_to && jumped(s, place_loc(p), to))
        return true;
    uint64_t from = p->at + 8 < p->end ? p->at + 8 : p->end;
    *to = stream_resync(s, p->base, from, p->end);
    while (*to == p->end && !p->expanded && s->input.growing) {
        uint64_t before = s->input.size;
        if (!stream_input_need(s, p->end + RESYNC_WINDOW, err))
            return false;
        if (s->input.size == before) /* a feed has whole records: nothing will complete these */
            break;
        from = p->end - from > RESYNC_WINDOW ? from + (p->end - from - RESYNC_WINDOW) / 8 * 8 : from;
        p->end = input_place(s, p->segment, p->at).end;
        *to = stream_resync(s, p->base, from, p->end);
    }
    if (!outer) {
        struct stream_jump *jump = vec_push(&s->jumps);
        if (!jump)
            return err_memory(err, s->path);
        *jump = (struct stream_jump){place_loc(p), *to};
    }
    uint64_t offset = place_offset(s, p), skipped = *to - p->at;
    bool at_end = *to == p->end;
    if (at_end && cut && (skipped < PERFDATA_HEADER_SIZE || perfdata_record_known(raw->type))) {
        /* The last record is not whole: in a recording that was never finished that is no damage. */
        s->losses.cut = true;
        s->losses.unread |= !s->header.data_size_zero;
        stream_warn(s, offset, "%s: the last %" PRIu64 " bytes are not read", reason, skipped);
        return true;
    }
    s->losses.bad_records++;
    s->losses.skipped_bytes += skipped;
    s->losses.unread = true;
    stream_warn(s, offset,
                at_end ? "%s (%u) record of size %u: %s; no good record follows in the last %" PRIu64 " bytes"
                       : "%s (%u) record of size %u: %s; going on %" PRIu64 " bytes further",
                name_of(raw->type), raw->type, raw->size, reason, skipped);
    return true;
}

/* Reads on in a pipe until `need` bytes are there after the place, or it ends. *more: something came. */
static bool read_on(struct stream *s, struct place *p, uint64_t need, bool *more, struct err *err) {
    uint64_t before = p->end;
    *more = false;
    if (!s->input.growing || p->expanded)
        return true;
    if (!stream_input_need(s, p->at + need, err))
        return false;
    p->end = input_place(s, p->segment, p->at).end;
    *more = p->end > before;
    return true;
}

/* Looks at the record at a place of the input, reading on in a pipe as needed. *reason: NULL when it is
 * whole. */
static bool look(struct stream *s, struct place *p, struct perfdata_raw *raw, const char **reason, bool *cut,
                 struct err *err) {
    for (bool more = true;;) {
        *reason = stream_peek(s, p->base + p->at, p->end - p->at, raw, cut);
        if (__builtin_expect(!*reason, 1) || !*cut || !more)
            return true;
        if (!read_on(s, p, p->end - p->at + 1, &more, err))
            return false;
        if (!more)
            return true;
    }
}

static bool next_segment(struct stream *s, size_t *segment, uint64_t *pos) {
    if (*segment + 1 >= s->input.segments.count)
        return false;
    ++*segment;
    *pos = s->input.segments.items[*segment].start;
    return true;
}

static bool is_compressed(const struct stream_record *r) {
    return r->raw.type == PERFDATA_RECORD_COMPRESSED || r->raw.type == PERFDATA_RECORD_COMPRESSED2;
}

/* Expands one more outer record. *more: false when the input has none left. *given: it was put into *out. */
static bool feed_expansion(struct stream *s, bool *more, struct stream_record *out, bool *given,
                           struct err *err) {
    struct stream_record outer = {.event = PERFDATA_NO_EVENT};
    const char *reason;
    bool cut;
    struct place p = input_place(s, s->feed_segment, s->feed_pos);
    if (!look(s, &p, &outer.raw, &reason, &cut, err))
        return false;
    *more = true;
    if (p.at == p.end) {
        *more = next_segment(s, &s->feed_segment, &s->feed_pos);
        /* A record that the end of its file cut: its head must not grow together with the next file's bytes.
         */
        if (s->expansion.spool.size > s->xpos) {
            s->losses.cut = s->losses.unread = true;
            stream_warn(s, place_offset(s, &p), "the compressed data ends within a record");
            s->expansion.spool.size = s->xpos;
        }
        stream_expand_reset(s);
        return true;
    }
    if (reason)
        return skip_damage(s, &p, &outer.raw, reason, cut, &s->feed_pos, err);
    outer.loc = p.at;
    outer.file_offset = place_offset(s, &p);
    s->feed_pos = p.at + outer.raw.size + outer.raw.payload.size;
    if (s->options.give_compressed && is_compressed(&outer)) {
        *out = outer;
        *given = true;
    }
    return stream_expand(s, &outer, err);
}

/* A COMPRESSED record at a place of the input: from here on records come out of the expansion. */
static void enter_expansion(struct stream *s, const struct place *p) {
    if (!s->expansion.active) {
        s->feed_segment = p->segment;
        s->feed_pos = p->at;
    }
    s->in_expansion = true;
    s->xpos = 0;
}

/* The event that the id at `p` leads to. */
static inline uint32_t event_of_id(const struct stream *s, struct stream_memo *memo, const uint8_t *p,
                                   const struct perfdata_raw *raw) {
    uint64_t id = bytes_load64(p, s->header.swap);
    if (id != memo->id || memo->events != s->events.list.count)
        *memo = (struct stream_memo){id, s->events.list.count,
                                     perfdata_events_find(&s->events, raw->type, raw->body)};
    return memo->event;
}

/* The event of a kernel record. Those of one CPU come in runs: the id is compared before it is looked up. The
 * same id means something else in a sample, where it may be of no event, than in another record. */
static inline uint32_t find_event(const struct stream *s, struct stream_memos *memos,
                                  const struct perfdata_raw *raw) {
    if (s->events.list.count <= 1)
        return s->events.list.count ? 0 : PERFDATA_NO_EVENT;
    const struct perfdata_plan *first = &s->events.list.items[0].plan;
    if (raw->type == PERFDATA_RECORD_SAMPLE) {
        size_t at = first->identifier_at != PERFDATA_NO_FIELD ? first->identifier_at : first->id_at;
        if (at != PERFDATA_NO_FIELD && raw->body.size >= at + 8)
            return event_of_id(s, &memos->sample, raw->body.data + at, raw);
    } else {
        size_t back = first->tail_identifier_back ? first->tail_identifier_back : first->tail_id_back;
        if (back && raw->body.size >= back)
            return event_of_id(s, &memos->other, raw->body.data + raw->body.size - back, raw);
    }
    return perfdata_events_find(&s->events, raw->type, raw->body);
}

/* What the record has apart from its bytes and its place. */
static inline void fill_of(const struct stream *s, uint32_t event, struct stream_record *r) {
    r->event = event;
    r->has_time = false;
    r->time_ns = 0;
    r->legacy = s->legacy_pipe && r->raw.type >= LEGACY_FIRST && r->raw.type <= LEGACY_LAST;
    if (event != PERFDATA_NO_EVENT)
        r->has_time =
            perfdata_record_time(&s->events.list.items[event].plan, r->raw.type, r->raw.body, &r->time_ns);
}

static inline void fill(const struct stream *s, struct stream_memos *memos, struct stream_record *r) {
    bool user = r->raw.type >= PERFDATA_RECORD_USER_START;
    fill_of(s, user ? PERFDATA_NO_EVENT : find_event(s, memos, &r->raw), r);
}

/* Likewise, once the event is known; PERFDATA_NO_EVENT: it is not. */
static inline void fill_again(const struct stream *s, uint32_t event, struct stream_record *r) {
    if (event < s->events.list.count)
        fill_of(s, event, r);
    else
        fill(s, &(struct stream_memos){0}, r);
}

static inline void note_time(struct stream *s, const struct stream_record *r) {
    if (r->has_time)
        stream_note_time(s, r->time_ns);
}

/* Too short for its type? Its size is believed, so it costs only itself. */
static bool body_too_short(const struct stream *s, const struct stream_record *r) {
    if (r->legacy)
        return false;
    if (r->raw.type == PERFDATA_RECORD_SAMPLE && r->event != PERFDATA_NO_EVENT)
        return r->raw.body.size < s->events.list.items[r->event].plan.fixed_size;
    return r->raw.body.size < perfdata_record_min_body(r->raw.type);
}

/* A whole record at *p. *give: it is one for the reader. */
static bool take(struct stream *s, const struct place *p, struct stream_record *r, bool *give,
                 struct err *err) {
    *give = false;
    bool keep = s->options.keep_compressed && s->input.file.kind != OS_FILE_DIRECTORY;
    if (is_compressed(r) && !p->expanded && !keep) {
        enter_expansion(s, p);
        return true;
    }
    r->loc = place_loc(p);
    r->file = (uint32_t)(p->expanded ? s->feed_segment : p->segment);
    r->file_offset = record_offset(s, p, &r->raw);
    fill(s, &s->memos, r);
    uint64_t next = p->at + r->raw.size + r->raw.payload.size;
    if (p->expanded)
        s->xpos = next;
    else
        s->pos = next;
    bool counted = r->loc < s->counted_to;
    if (body_too_short(s, r)) {
        if (!counted)
            stream_bad_record(s, r, "it is too short for its type");
    } else {
        *give = true;
        stream_mark(s, r->loc, p->segment);
        note_time(s, r);
        if (!counted) {
            account(s, r);
            if (r->raw.type >= PERFDATA_RECORD_USER_START && !apply_header_record(s, r, err))
                return false;
        }
    }
    if (!counted)
        s->counted_to = r->loc + 1;
    return true;
}

/*
 * Nearly all records of nearly all files: whole ones that lie in the mapped file. Anything else, damage
 * included, is left to the long way, which starts again at the same place.
 */
static inline bool plain_record(const struct stream *s, const struct stream_segment *g, uint64_t pos,
                                struct perfdata_raw *raw) {
    const uint8_t *p = s->input.base + pos;
    const bool swap = s->header.swap;
    if (g->end - pos < PERFDATA_HEADER_SIZE)
        return false;
    uint32_t size = bytes_load16(p + 6, swap);
    if (size < PERFDATA_HEADER_SIZE || size > g->end - pos)
        return false;
    *raw = (struct perfdata_raw){bytes_load32(p, swap),
                                 bytes_load16(p + 4, swap),
                                 size,
                                 {p + PERFDATA_HEADER_SIZE, size - PERFDATA_HEADER_SIZE},
                                 {NULL, 0}};
    return true;
}

static inline bool plain_sample(const struct stream *s, const struct stream_segment *g, uint64_t pos,
                                struct perfdata_raw *raw) {
    return plain_record(s, g, pos, raw) && raw->type == PERFDATA_RECORD_SAMPLE;
}

/* The record at the stream's place is given. */
static inline void step_over(struct stream *s, const struct stream_segment *g, struct stream_record *r) {
    r->loc = s->pos;
    r->file = (uint32_t)s->segment;
    r->file_offset = s->pos - g->start + g->file_start;
    s->pos += r->raw.size;
    stream_mark(s, r->loc, s->segment);
    note_time(s, r);
    if (r->loc >= s->counted_to)
        s->counted_to = r->loc + 1;
}

/* The next record, if it is a plain one: a sample, or another one of the kernel that tells of no losses. */
static inline bool next_plain(struct stream *s, struct stream_record *r) {
    const struct stream_segment *g = &s->input.segments.items[s->segment];
    if (s->in_expansion || g->end > s->input.size || !plain_record(s, g, s->pos, &r->raw))
        return false;
    const uint32_t type = r->raw.type;
    const bool sample = type == PERFDATA_RECORD_SAMPLE;
    if (!sample && (type >= PERFDATA_RECORD_USER_START || type == PERFDATA_RECORD_LOST ||
                    type == PERFDATA_RECORD_LOST_SAMPLES || !perfdata_record_known(type) ||
                    r->raw.body.size < perfdata_record_min_body(type)))
        return false;
    fill(s, &s->memos, r);
    if (sample &&
        (r->event == PERFDATA_NO_EVENT || r->raw.body.size < s->events.list.items[r->event].plan.fixed_size))
        return false;
    step_over(s, g, r);
    return true;
}

/* ---- samples in runs ---- */

/* The processor reads ahead within a page at most: the next one is asked for in time, two lines a sample,
 * which most have no more of. */
enum { AHEAD_BYTES = 2048, LINE_BYTES = 64 };

/* The event of a run's samples, as far as it was looked at. */
struct run_event {
    uint64_t id;
    uint32_t event, least; /* least: bytes of a record; UINT32_MAX: there is no such event */
    uint32_t time_at;      /* in a record; 0: they have no time */
};

/* Where all samples have the id of their event; PERFDATA_NO_FIELD: nowhere. */
static size_t sample_id_at(const struct stream *s) {
    const struct perfdata_plan *first = &s->events.list.items[0].plan;
    return first->identifier_at != PERFDATA_NO_FIELD ? first->identifier_at : first->id_at;
}

static struct run_event run_event(const struct stream *s, uint32_t event, uint64_t id, size_t id_at) {
    const struct perfdata_plan *plan = &s->events.list.items[event].plan;
    struct run_event e = {.id = id, .event = event, .least = PERFDATA_HEADER_SIZE + plan->fixed_size};
    if (id_at != PERFDATA_NO_FIELD && plan->fixed_size < id_at + 8)
        e.least = (uint32_t)(PERFDATA_HEADER_SIZE + id_at + 8);
    if (plan->time_at != PERFDATA_NO_FIELD)
        e.time_at = PERFDATA_HEADER_SIZE + (uint32_t)plan->time_at;
    return e;
}

static const struct run_event NO_RUN_EVENT = {.event = PERFDATA_NO_EVENT, .least = UINT32_MAX};

/* Of the last sample that was looked at: of many runs the first one is of the same. */
static struct run_event last_run_event(const struct stream *s, bool one, size_t id_at) {
    const struct stream_memo *memo = &s->memos.sample;
    if (one)
        return run_event(s, 0, 0, PERFDATA_NO_FIELD);
    bool known = id_at != PERFDATA_NO_FIELD && memo->events == s->events.list.count &&
                 memo->event != PERFDATA_NO_EVENT;
    return known ? run_event(s, memo->event, memo->id, id_at) : NO_RUN_EVENT;
}

static __attribute__((noinline)) struct run_event look_at_event(struct stream *s, uint64_t pos,
                                                                size_t id_at) {
    const struct stream_segment *g = &s->input.segments.items[s->segment];
    struct perfdata_raw raw;
    uint32_t event = plain_sample(s, g, pos, &raw) ? find_event(s, &s->memos, &raw) : PERFDATA_NO_EVENT;
    if (event == PERFDATA_NO_EVENT)
        return NO_RUN_EVENT;
    struct run_event e = run_event(s, event, 0, id_at);
    if (raw.size < e.least)
        return NO_RUN_EVENT;
    if (id_at != PERFDATA_NO_FIELD)
        e.id = bytes_load64(raw.body.data + id_at, s->header.swap);
    return e;
}

/* Whether nothing is guessed of a sample's time from the records before it. */
static bool samples_have_time(struct stream *s) {
    const struct perfdata_events *all = &s->events;
    while (s->timed_events < all->list.count &&
           all->list.items[s->timed_events].plan.time_at != PERFDATA_NO_FIELD)
        s->timed_events++;
    return s->timed_events == all->list.count;
}

/* The size of another record of the kernel that an earlier pass has counted; 0: it needs a look. */
static uint32_t idle_size(const struct stream *s, const uint8_t *p, uint64_t pos, uint64_t left) {
    const bool swap = s->header.swap;
    uint32_t type = bytes_load32(p, swap),
             size = perfdata_record_size(type, bytes_load16(p + 4, swap), bytes_load16(p + 6, swap));
    bool idle = pos < s->counted_to && type < PERFDATA_RECORD_USER_START && type != PERFDATA_RECORD_SAMPLE;
    return idle && size >= PERFDATA_HEADER_SIZE && size <= left ? size : 0;
}

/* The times of a run's samples, but for those that are none. */
struct run_times {
    uint64_t first_ns, last_ns; /* UINT64_MAX and 0 at first */
};

static inline uint64_t run_latest(const struct stream *s, const struct run_times *t) {
    return t->last_ns > s->pass_max_ns ? t->last_ns : s->pass_max_ns;
}

static inline void widen(struct stream_passed *passed, uint64_t first_ns, uint64_t last_ns) {
    passed->first_ns = first_ns < passed->first_ns ? first_ns : passed->first_ns;
    passed->last_ns = last_ns > passed->last_ns ? last_ns : passed->last_ns;
}

/* As stream_note_time of each. */
static inline void note_times(struct stream *s, const struct run_times *t) {
    if (!t->last_ns)
        return;
    stream_note_time(s, t->first_ns);
    stream_note_time(s, t->last_ns);
}

/* Steps over up to `max` plain samples: into out[], and their times into *passed, unless these are NULL. With
 * out[] over what is idle, too. `swap`, which is the stream's, is known where this is compiled. */
static inline __attribute__((always_inline)) uint64_t
run(struct stream *s, uint64_t max, struct stream_sample *out, struct stream_passed *passed, bool swap) {
    const struct stream_segment *g = &s->input.segments.items[s->segment];
    if (s->in_expansion || g->end > s->input.size || !s->events.list.count)
        return 0;
    const bool one = s->events.list.count == 1;
    const size_t id_at = one ? PERFDATA_NO_FIELD : sample_id_at(s);
    const bool has_id = id_at != PERFDATA_NO_FIELD, skips = out && samples_have_time(s);
    const uint8_t *base = s->input.base;
    const uint64_t end = g->end;
    uint64_t n = 0, pos = s->pos, last = pos, mark = s->next_mark, time_ns;
    struct run_times times = {UINT64_MAX, 0};
    struct run_event e = last_run_event(s, one, id_at);
    while (n < max && end - pos >= PERFDATA_HEADER_SIZE) {
        const uint8_t *p = base + pos, *body = p + PERFDATA_HEADER_SIZE;
        uint32_t size = bytes_load16(p + 6, swap);
        prefetch(p + AHEAD_BYTES);
        prefetch(p + AHEAD_BYTES + LINE_BYTES);
        if (bytes_load32(p, swap) != PERFDATA_RECORD_SAMPLE || size > end - pos) {
            if (!skips || !(size = idle_size(s, p, pos, end - pos)))
                break;
            pos += size;
            continue;
        }
        bool known = size >= e.least && (one || (has_id && bytes_load64(body + id_at, swap) == e.id));
        if (__builtin_expect(!known, 0)) {
            e = look_at_event(s, pos, id_at);
            if (size < e.least)
                break;
        }
        if (__builtin_expect(pos >= mark, 0)) {
            s->pass_max_ns = run_latest(s, &times);
            stream_add_mark(s, pos, s->segment);
            mark = s->next_mark;
        }
        if (e.time_at) {
            time_ns = bytes_load64(p + e.time_at, swap);
            if (__builtin_expect(time_ns - 1 < UINT64_MAX - 1, 1)) {
                times.first_ns = time_ns < times.first_ns ? time_ns : times.first_ns;
                times.last_ns = time_ns > times.last_ns ? time_ns : times.last_ns;
            } else if (passed) {
                widen(passed, time_ns, time_ns);
            }
        }
        if (out)
            out[n] = (struct stream_sample){{body, size - PERFDATA_HEADER_SIZE},
                                            pos,
                                            e.time_at ? time_ns : run_latest(s, &times),
                                            e.event,
                                            bytes_load16(p + 4, swap)};
        last = pos;
        pos += size;
        n++;
    }
    s->pos = pos;
    note_times(s, &times);
    if (passed)
        widen(passed, times.first_ns, times.last_ns);
    if (n && last >= s->counted_to)
        s->counted_to = last + 1;
    return n;
}

uint64_t stream_pass_samples(struct stream *s, uint64_t max, struct stream_passed *passed) {
    if (s->pos < s->counted_to)
        return 0;
    return s->header.swap ? run(s, max, NULL, passed, true) : run(s, max, NULL, passed, false);
}

size_t stream_take_samples(struct stream *s, struct stream_sample *out, size_t max) {
    return s->header.swap ? run(s, max, out, NULL, true) : run(s, max, out, NULL, false);
}

enum stream_status stream_next(struct stream *s, struct stream_record *out, struct err *err) {
    if (__builtin_expect(next_plain(s, out), 1))
        return STREAM_RECORD;
    for (;;) {
        struct place p = current_place(s);
        const char *reason;
        bool cut, more = false, give, given = false;
        if (!look(s, &p, &out->raw, &reason, &cut, err))
            return STREAM_FAILED;
        if (!reason) {
            if (!take(s, &p, out, &give, err))
                return STREAM_FAILED;
            if (give)
                return STREAM_RECORD;
            continue;
        }
        if (p.expanded && cut && !s->is_share) {
            if (!feed_expansion(s, &more, out, &given, err))
                return STREAM_FAILED;
            if (given)
                return STREAM_RECORD;
            if (more)
                continue;
            p = current_place(s);
        }
        if (p.at == p.end) {
            if (p.expanded || !next_segment(s, &s->segment, &s->pos))
                return STREAM_END;
            continue;
        }
        if (!skip_damage(s, &p, &out->raw, reason, cut, p.expanded ? &s->xpos : &s->pos, err))
            return STREAM_FAILED;
        if (s->counted_to <= place_loc(&p))
            s->counted_to = place_loc(&p) + 1;
    }
}

static inline bool sample_again(const struct stream *s, uint64_t loc, uint32_t event,
                                struct stream_record *r) {
    const struct stream_segment *g = &s->input.segments.items[0];
    if (s->input.segments.count != 1 || loc < g->start || loc >= g->end || g->end > s->input.size ||
        !plain_sample(s, g, loc, &r->raw))
        return false;
    r->loc = loc;
    r->file = 0;
    r->file_offset = loc - g->start + g->file_start;
    fill_again(s, event, r);
    return true;
}

struct stream_record stream_record_at(const struct stream *s, uint64_t loc) {
    struct stream_record r;
    stream_record_again(s, loc, PERFDATA_NO_EVENT, &r);
    return r;
}

void stream_record_again(const struct stream *s, uint64_t loc, uint32_t event, struct stream_record *r) {
    bool cut;
    struct place p;
    if (sample_again(s, loc, event, r))
        return;
    *r = (struct stream_record){.loc = loc};
    if (loc >= STREAM_EXPANDED_LOC) {
        p = expanded_place(s, loc - STREAM_EXPANDED_LOC);
    } else {
        size_t i = 0;
        while (i + 1 < s->input.segments.count && loc >= s->input.segments.items[i + 1].start)
            i++;
        p = input_place(s, i, loc);
    }
    stream_peek(s, p.base + p.at, p.end - p.at, &r->raw, &cut);
    r->file = (uint32_t)p.segment;
    r->file_offset = record_offset(s, &p, &r->raw);
    fill_again(s, event, r);
}

void stream_prefetch(const struct stream *s, uint64_t loc) {
    const uint8_t *p = loc < s->input.size ? s->input.base + loc : NULL; /* not of what was compressed */
    if (p) {
        prefetch(p);
        prefetch(p + 64);
    }
}

void stream_release(struct stream *s, uint64_t loc) {
    vec_fini(&s->marks); /* what is gone cannot be read in pieces */
    s->next_mark = UINT64_MAX;
    if (loc >= STREAM_EXPANDED_LOC) {
        if (s->expansion.active)
            os_spool_release(&s->expansion.spool, loc - STREAM_EXPANDED_LOC);
        if (s->input.has_spool)
            os_spool_release(&s->input.spool, s->feed_pos);
        if (s->input.feed)
            stream_feed_release(s->input.feed, s->feed_pos);
    } else if (s->input.has_spool) {
        os_spool_release(&s->input.spool, loc);
    } else if (s->input.feed) {
        stream_feed_release(s->input.feed, loc);
    }
}

void stream_forget(const struct stream *s, uint64_t from, uint64_t to) {
    if (s->input.map.bytes.data && from < to && to <= s->input.map.bytes.size)
        os_map_forget(&s->input.map, from, to - from);
}

void stream_forget_behind(struct stream *s, uint64_t loc) {
    s->forgotten = loc;
}

bool stream_expect(const struct stream *s, uint64_t from, uint64_t to) {
    if (from >= s->input.map.bytes.size || from >= to)
        return false;
    os_map_expect(&s->input.map, from, to - from);
    return true;
}

uint64_t stream_when_ns(const struct stream *s, const struct stream_record *r) {
    return r->has_time ? r->time_ns : s->pass_max_ns;
}

bool stream_all_read(const struct stream *s) {
    return !s->losses.unread;
}
