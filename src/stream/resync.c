/* SPDX-License-Identifier: Apache-2.0 */
/* Checks record headers, and finds where to continue after a bad one. */
#include "stream/stream_internal.h"

#include "base/cursor.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    RESYNC_RECORDS = 8, /* this many good records in a row are trusted */
    WARNINGS_SHOWN = 20,
};

/* How far after the last known time a record found by resynchronising may be. */
static const uint64_t AHEAD_NS = 3600ull * 1000 * 1000 * 1000;

void stream_warn(struct stream *s, uint64_t file_offset, const char *fmt, ...) {
    if (s->warnings++ > WARNINGS_SHOWN)
        return;
    if (s->warnings > WARNINGS_SHOWN) {
        log_line(LOG_WARN, "%s: more damage is counted, not shown", s->path);
        return;
    }
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t i = s->in_expansion ? s->feed_segment : s->segment;
    const struct stream_segment *g = i < s->input.segments.count ? &s->input.segments.items[i] : NULL;
    log_line(LOG_WARN, "%s: at offset 0x%" PRIx64 ": %s", g ? g->name : s->path, file_offset, text);
}

const char *stream_peek(const struct stream *s, const uint8_t *p, uint64_t left, struct perfdata_raw *raw,
                        bool *cut) {
    bool swap = s->header.swap;
    *cut = true;
    raw->type = 0;
    raw->misc = 0;
    raw->size = 0;
    if (left < PERFDATA_HEADER_SIZE)
        return "the recording ends within a record header";
    raw->type = bytes_load32(p, swap);
    raw->misc = bytes_load16(p + 4, swap);
    raw->size = perfdata_record_size(raw->type, raw->misc, bytes_load16(p + 6, swap));
    raw->payload = (struct bytes){NULL, 0};
    if (raw->size < PERFDATA_HEADER_SIZE) {
        *cut = false;
        return "its size is less than its header";
    }
    if (raw->size > left)
        return "the recording ends within it";
    raw->body = (struct bytes){p + PERFDATA_HEADER_SIZE, raw->size - PERFDATA_HEADER_SIZE};
    if (__builtin_expect(raw->type == PERFDATA_RECORD_COMPRESSED2, 0) && !s->legacy_pipe &&
        perfdata_is_kmod_sec_map(raw->body, swap))
        raw->type = PERFDATA_RECORD_KMOD_SEC_MAP;
    bool has_payload =
        raw->type == PERFDATA_RECORD_AUXTRACE || raw->type == PERFDATA_RECORD_HEADER_TRACING_DATA;
    if (__builtin_expect(!has_payload, 1) || s->legacy_pipe)
        return NULL;
    uint64_t payload = 0;
    if (!perfdata_record_payload_size(raw, swap, &payload)) {
        *cut = false;
        return "it is too short for the size of its payload";
    }
    if (payload > left - raw->size)
        return "the recording ends within its payload";
    raw->payload = (struct bytes){p + raw->size, (size_t)payload};
    return NULL;
}

/* Whether a time is near those known. *first_seen (0 at first) is the reference if none is known. */
static bool time_plausible(const struct stream *s, uint64_t t, uint64_t *first_seen) {
    if (t == 0)
        return true; /* synthesized */
    uint64_t lo = s->min_time_ns, hi = s->max_time_ns;
    const struct perfdata_feature *f = perfdata_header_feature(&s->header, PERFDATA_FEATURE_SAMPLE_TIME);
    if (f && f->content.size >= 16) {
        uint64_t first = bytes_load64(f->content.data, s->header.swap);
        uint64_t last = bytes_load64(f->content.data + 8, s->header.swap);
        if (first && first < lo)
            lo = first;
        if (last >= hi)
            return t >= lo && t <= last;
    }
    if (hi == 0) { /* nothing is known: the records must at least agree with each other */
        if (*first_seen == 0)
            *first_seen = t;
        lo = *first_seen;
        return t < lo ? lo - t <= AHEAD_NS : t - lo <= AHEAD_NS;
    }
    return t >= lo && (t <= hi || t - hi <= AHEAD_NS);
}

static bool record_plausible(const struct stream *s, const struct perfdata_raw *raw, uint64_t *first_seen) {
    if (!perfdata_record_known(raw->type) || raw->size % 8 ||
        raw->body.size < perfdata_record_min_body(raw->type))
        return false;
    if (raw->type >= PERFDATA_RECORD_USER_START)
        return true;
    uint32_t event = perfdata_events_find(&s->events, raw->type, raw->body);
    if (event == PERFDATA_NO_EVENT)
        return false;
    const struct perfdata_plan *plan = &s->events.list.items[event].plan;
    uint64_t t;
    if (raw->type == PERFDATA_RECORD_SAMPLE && raw->body.size < plan->fixed_size)
        return false;
    return !perfdata_record_time(plan, raw->type, raw->body, &t) || time_plausible(s, t, first_seen);
}

static bool trustworthy(const struct stream *s, const uint8_t *p, uint64_t left) {
    uint64_t first_seen = 0;
    for (int i = 0; i < RESYNC_RECORDS; i++) {
        struct perfdata_raw raw;
        bool cut;
        if (stream_peek(s, p, left, &raw, &cut))
            return false;
        if (i == 0 && raw.type == PERFDATA_RECORD_FINISHED_ROUND && raw.size == PERFDATA_HEADER_SIZE &&
            raw.misc == 0)
            return true;
        if (!record_plausible(s, &raw, &first_seen))
            return false;
        uint64_t n = raw.size + raw.payload.size;
        p += n;
        left -= n;
    }
    return true;
}

uint64_t stream_resync(const struct stream *s, const uint8_t *base, uint64_t from, uint64_t end) {
    for (uint64_t at = from; end > at && end - at >= PERFDATA_HEADER_SIZE; at += 8)
        if (trustworthy(s, base + at, end - at))
            return at;
    return end;
}
