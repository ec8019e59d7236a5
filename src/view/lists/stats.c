/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/stats.h"

#include "base/text/json.h"
#include "stream/skim.h"
#include "view/dump/dump.h"

#include <inttypes.h>
#include <stdio.h>

void stats_init(struct stats *t, bool detailed) {
    *t = (struct stats){.detailed = detailed, .first_time_ns = UINT64_MAX};
}

void stats_fini(struct stats *t) {
    vec_fini(&t->others);
    hash_map_fini(&t->other_at);
    vec_fini(&t->events);
    readings_fini(&t->readings);
}

/* --- counting --- */

/* Returns the counter of a type that is not counted by number; NULL: out of memory. Looked up by hash, as a
 * file may have as many types as records. */
static struct stats_type *other(struct stats *t, uint32_t type, bool legacy) {
    uint64_t key = (uint64_t)legacy << 32 | type;
    uint32_t i = hash_map_get(&t->other_at, key);
    if (i != HASH_ABSENT)
        return &t->others.items[i];
    i = (uint32_t)t->others.count;
    struct stats_type *slot = vec_push(&t->others);
    if (!slot || !hash_map_set(&t->other_at, key, i))
        return NULL;
    *slot = (struct stats_type){.type = type, .legacy = legacy};
    return slot;
}

static bool count_type(struct stats *t, uint32_t type, bool legacy, uint64_t n) {
    t->total += n;
    if (type < STATS_TYPES && !legacy) {
        t->by_type[type] += n;
        return true;
    }
    struct stats_type *o = other(t, type, legacy);
    if (o)
        o->count += n;
    return o;
}

/* Returns the event's counters; NULL: out of memory. */
static struct stats_event *event_at(struct stats *t, uint32_t event) {
    while (t->events.count <= event) {
        if (!vec_push(&t->events))
            return NULL;
    }
    return &t->events.items[event];
}

static bool has_readings(const struct perfdata_plan *plan) {
    return plan->sample_type & PERFDATA_SAMPLE_READ && plan->read_format & PERFDATA_FORMAT_ID;
}

/* Counts a sample once for each event whose reading changed. */
static bool count_readings(struct stats *t, const struct perfdata_events *events,
                           const struct perfdata_sample *s) {
    for (uint64_t i = 0; i < s->read.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&s->read, i);
        uint64_t period;
        uint32_t event = readings_take(&t->readings, events, s->tid, &v, &period);
        struct stats_event *e = event != PERFDATA_NO_EVENT && period ? event_at(t, event) : NULL;
        if (event != PERFDATA_NO_EVENT && period && !e)
            return false;
        if (e)
            e->samples++;
    }
    return true;
}

static void count_details(struct stats *t, const struct stream_record *r, const struct perfdata_sample *s) {
    unsigned mode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    if (s->have & PERFDATA_SAMPLE_PERIOD)
        t->period_sum += s->period;
    if (s->have & PERFDATA_SAMPLE_CALLCHAIN)
        t->callchain_entries += s->callchain.count;
    if (s->have & PERFDATA_SAMPLE_BRANCH_STACK)
        t->branch_entries += s->branch_count;
    t->user_stack_samples += s->have & PERFDATA_SAMPLE_STACK_USER && s->stack_user.size;
    t->raw_samples += !!(s->have & PERFDATA_SAMPLE_RAW);
    t->guest_samples += mode == PERFDATA_MISC_GUEST_KERNEL || mode == PERFDATA_MISC_GUEST_USER;
    if (s->have & PERFDATA_SAMPLE_TIME) {
        t->first_time_ns = s->time < t->first_time_ns ? s->time : t->first_time_ns;
        t->last_time_ns = s->time > t->last_time_ns ? s->time : t->last_time_ns;
    }
}

static const char *count_sample(struct stats *t, const struct perfdata_events *events,
                                const struct stream_record *r, bool *ok) {
    static const char short_sample[] = "it ends before its fields do";
    if (r->event >= events->list.count)
        return NULL;
    const struct perfdata_plan *plan = &events->list.items[r->event].plan;
    struct perfdata_sample s;
    bool readings = has_readings(plan);
    if (t->detailed || readings) {
        if (!perfdata_sample_decode(plan, r->raw.body, PERFDATA_SAMPLE_KNOWN, &s))
            return short_sample;
        if (t->detailed)
            count_details(t, r, &s);
        if (readings)
            *ok = count_readings(t, events, &s);
    } else if (!stream_sample_whole(plan, r->raw.body)) {
        return short_sample;
    }
    if (!readings) {
        struct stats_event *e = event_at(t, r->event);
        *ok = e;
        if (e)
            e->samples++;
    }
    return NULL;
}

/* Says what is wrong with a record that is no sample. */
static const char *check_record(const struct perfdata_events *events, const struct stream_record *r) {
    struct perfdata_record rec;
    const char *reason = NULL;
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    if (r->legacy || perfdata_record_decode(&r->raw, plan, events->swap, &rec, &reason))
        return NULL;
    return reason;
}

const char *stats_add(struct stats *t, const struct perfdata_events *events, const struct stream_record *r,
                      bool *ok) {
    const char *reason;
    *ok = true;
    if (r->raw.type == PERFDATA_RECORD_SAMPLE)
        reason = count_sample(t, events, r, ok);
    else
        reason = check_record(events, r);
    if (reason)
        return reason;
    *ok = *ok && count_type(t, r->raw.type, r->legacy, 1);
    if (r->raw.type == PERFDATA_RECORD_LOST_SAMPLES && r->event < events->list.count) {
        struct stats_event *e = event_at(t, r->event);
        *ok = *ok && e;
        if (e)
            e->lost_samples++;
    }
    return NULL;
}

/* Returns the types that stream_skim may count: not those with fields that give the length of another, which
 * must be checked, nor samples that must be decoded. */
static uint64_t plain_types(const struct stats *t, const struct perfdata_events *events) {
    uint64_t counted = 1ull << PERFDATA_RECORD_READ | 1ull << PERFDATA_RECORD_NAMESPACES |
                       1ull << PERFDATA_RECORD_TEXT_POKE | 1ull << PERFDATA_RECORD_CALLCHAIN_DEFERRED;
    bool decode = t->detailed;
    for (size_t i = 0; i < events->list.count; i++)
        decode |= has_readings(&events->list.items[i].plan);
    if (decode)
        counted |= 1ull << PERFDATA_RECORD_SAMPLE;
    return ~counted;
}

static bool add_skimmed(struct stats *t, const struct stream_skim *k) {
    bool ok = true;
    for (uint32_t type = 0; type < STREAM_SKIM_TYPES; type++)
        ok &= count_type(t, type, false, k->by_type[type]);
    for (uint32_t i = 0; i < k->event_count; i++) {
        struct stats_event *e = event_at(t, i);
        if (e)
            e->samples += k->samples[i];
        ok &= e != NULL;
    }
    return ok;
}

bool stats_read(struct stats *t, struct stream *s, struct err *err) {
    const struct perfdata_events *events = stream_events(s);
    struct stream_skim k;
    struct stream_record r;
    enum stream_status status = STREAM_FAILED;
    bool ok = true;
    stream_skim_init(&k, plain_types(t, events));
    while (ok && stream_skim(s, &k, err) && (status = stream_next(s, &r, err)) == STREAM_RECORD) {
        const char *reason = stats_add(t, events, &r, &ok);
        if (reason)
            stream_bad_record(s, &r, reason);
        else if (!ok)
            err_memory(err, stream_path(s));
    }
    if (!add_skimmed(t, &k))
        ok = err_memory(err, stream_path(s));
    stream_skim_fini(&k);
    return ok && status == STREAM_END;
}

/* --- text --- */

static void type_line(struct out *out, const char *name, uint64_t count, uint64_t total) {
    out_printf(out, "%20s events: %10" PRIu64, name, count);
    if (total)
        out_printf(out, "  (%4.1f%%)", 100.0 * (double)count / (double)total);
    out_char(out, '\n');
}

/* Returns a type's name, made in `room` if there is no static text. */
static const char *type_name(uint32_t type, bool legacy, const char *(*name_of)(uint32_t), char *room,
                             size_t n) {
    const char *name = legacy ? dump_legacy_name(type) : name_of(type);
    if (name && !legacy)
        return name;
    if (name)
        snprintf(room, n, "LEGACY_%s", name);
    else
        snprintf(room, n, "type%" PRIu32, type);
    return room;
}

static bool perf_counts(uint32_t type) {
    return type > 0 && type < PERFDATA_RECORD_USER_END && perfdata_record_known(type);
}

/* Prints types that perf ignores, and what could not be read. */
static void print_beyond_perf(const struct stats *t, const struct stream_losses *l, struct out *out) {
    const struct {
        const char *what;
        uint64_t count;
    } losses[] = {
        {"samples of unknown ids", l->unknown_ids},
        {"bad records", l->bad_records},
        {"skipped bytes", l->skipped_bytes},
    };
    static const char title[] = "\nNot in perf's count:\n";
    char room[32];
    bool titled = false;
    for (uint32_t i = 0; i < STATS_TYPES; i++) {
        if (!t->by_type[i] || perf_counts(i))
            continue;
        out_str(out, titled ? "" : title);
        titled = true;
        type_line(out, type_name(i, false, dump_type_name, room, sizeof room), t->by_type[i], 0);
    }
    for (size_t i = 0; i < t->others.count; i++) {
        const struct stats_type *o = &t->others.items[i];
        out_str(out, titled ? "" : title);
        titled = true;
        type_line(out, type_name(o->type, o->legacy, dump_type_name, room, sizeof room), o->count, 0);
    }
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].count)
            continue;
        out_str(out, titled ? "" : title);
        titled = true;
        out_printf(out, "%27s: %10" PRIu64 "\n", losses[i].what, losses[i].count);
    }
}

/* Returns the count of a type, with compressed records, which the stream does not return but perf counts,
 * too. */
static uint64_t count_of(const struct stats *t, const struct stream *s, uint32_t type) {
    return t->by_type[type] + stream_expanded(s, type);
}

void stats_print(const struct stats *t, struct stream *s, struct out *out) {
    const struct perfdata_events *events = stream_events(s);
    uint64_t total = 0;
    for (uint32_t i = 0; i < STATS_TYPES; i++)
        total += perf_counts(i) ? count_of(t, s, i) : 0;
    if (total) {
        out_str(out, "\nAggregated stats:\n");
        type_line(out, "TOTAL", total, 0);
    }
    for (uint32_t i = 0; i < STATS_TYPES; i++) {
        uint64_t count = perf_counts(i) ? count_of(t, s, i) : 0;
        if (count)
            type_line(out, dump_type_name(i), count, total);
    }
    for (uint32_t i = 0; i < t->events.count && i < events->list.count; i++) {
        const struct stats_event *e = &t->events.items[i];
        if (!e->samples)
            continue;
        const char *name = events->list.items[i].name;
        out_printf(out, "%s stats:\n", name ? name : "unknown");
        type_line(out, "SAMPLE", e->samples, 0);
        if (e->lost_samples && !t->samples_only)
            type_line(out, "LOST_SAMPLES", e->lost_samples, 0);
    }
    print_beyond_perf(t, stream_losses(s), out);
}

/* --- JSON --- */

static void json_types(const struct stats *t, const struct stream *s, struct json *j) {
    char room[32];
    json_open(j, "records", '{');
    for (uint32_t i = 0; i < STATS_TYPES; i++) {
        uint64_t count = count_of(t, s, i);
        if (count)
            json_number(j, type_name(i, false, perfdata_record_name, room, sizeof room), count);
    }
    for (size_t i = 0; i < t->others.count; i++) {
        const struct stats_type *o = &t->others.items[i];
        json_number(j, type_name(o->type, o->legacy, perfdata_record_name, room, sizeof room), o->count);
    }
    json_close(j, '}');
}

static void json_events(const struct stats *t, const struct perfdata_events *events, struct json *j) {
    json_open(j, "events", '[');
    for (uint32_t i = 0; i < events->list.count; i++) {
        const char *name = events->list.items[i].name;
        json_open(j, NULL, '{');
        json_text(j, "name", name ? name : "");
        json_number(j, "samples", i < t->events.count ? t->events.items[i].samples : 0);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_losses(const struct stream *s, struct json *j) {
    const struct stream_losses *l = stream_losses(s);
    json_open(j, "losses", '{');
    json_number(j, "lost_records", l->lost_records);
    json_number(j, "unknown_ids", l->unknown_ids);
    json_number(j, "unknown_types", l->unknown_types);
    json_number(j, "bad_records", l->bad_records);
    json_number(j, "skipped_bytes", l->skipped_bytes);
    json_number(j, "problems", l->problems);
    json_bool(j, "cut", l->cut);
    json_bool(j, "unfinished", stream_ending(s).how == PERFDATA_ENDING_OPEN);
    json_bool(j, "unread", l->unread);
    json_close(j, '}');
}

void stats_print_json(const struct stats *t, struct stream *s, struct out *out) {
    const struct stream_losses *l = stream_losses(s);
    struct json *j = &(struct json){.out = out};
    json_open(j, NULL, '{');
    json_number(j, "samples", t->by_type[PERFDATA_RECORD_SAMPLE]);
    json_number(j, "period_sum", t->period_sum);
    json_types(t, s, j);
    json_number(j, "callchain_entries", t->callchain_entries);
    json_number(j, "branch_entries", t->branch_entries);
    json_number(j, "user_stack_samples", t->user_stack_samples);
    json_number(j, "raw_samples", t->raw_samples);
    json_number(j, "lost", l->lost_events);
    json_number(j, "lost_samples", l->lost_samples);
    json_number(j, "guest_samples", t->guest_samples);
    if (t->first_time_ns <= t->last_time_ns) {
        json_number(j, "first_time_ns", t->first_time_ns);
        json_number(j, "last_time_ns", t->last_time_ns);
    } else {
        json_null(j, "first_time_ns");
        json_null(j, "last_time_ns");
    }
    json_events(t, stream_events(s), j);
    json_losses(s, j);
    json_close(j, '}');
}
