/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: samples whose last branches went the same way, for comparisons of what ran hot.
 *
 *   newest:  alpha+16 -> beta+0     stream:  beta code.c:7     where it went
 *            beta+12 -> alpha+4              alpha code.c:3    from where
 *                                            alpha code.c:2
 *                                            beta code.c:9
 *
 * While samples are read these are frames, by address; at the end those with equal texts become one.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"

/* ---- while reading ---- */

bool profile_streams_add(struct profile_streams *s, const struct profile_stream *one) {
    size_t size = one->count * sizeof *s->frames.items;
    const uint32_t *frames = s->frames.items + one->first;
    uint64_t hash = hash_bytes(frames, size) ^ hash_u64(one->event);
    struct idtable_at at = idtable_first(&s->index, hash);
    for (uint32_t id; (id = idtable_next(&s->index, &at)) != IDTABLE_NONE;) {
        struct profile_stream *have = &s->list.items[id];
        if (have->event != one->event || have->count != one->count ||
            memcmp(s->frames.items + have->first, frames, size) != 0)
            continue;
        have->period += one->period;
        have->samples += one->samples;
        have->cycles += one->cycles;
        s->frames.count = one->first;
        return true;
    }
    uint32_t id = (uint32_t)s->list.count;
    struct profile_stream *made = vec_push(&s->list);
    if (made)
        *made = *one;
    return made && idtable_add(&s->index, hash, id);
}

bool profile_streams_merge(struct profile_streams *to, const struct profile_streams *from,
                           const uint32_t *frames) {
    for (size_t i = 0; i < from->list.count; i++) {
        struct profile_stream one = from->list.items[i];
        const uint32_t *theirs = from->frames.items + one.first;
        one.first = to->frames.count;
        if (!vec_reserve(&to->frames, one.first + one.count))
            return false;
        for (uint32_t k = 0; k < one.count; k++)
            to->frames.items[to->frames.count++] = frames[theirs[k]];
        if (!profile_streams_add(to, &one))
            return false;
    }
    return true;
}

void profile_streams_fini(struct profile_streams *s) {
    vec_fini(&s->list);
    vec_fini(&s->frames);
    idtable_fini(&s->index);
}

/* ---- at the end ---- */

/* Appends a line for a frame; without a name its address. */
static void put_end(const struct profile *p, uint32_t frame, bool lined, struct out *o) {
    const struct profile_name *name = profile_name_of(p, frame);
    struct object_line line;
    if (!name) {
        profile_put_address(o, p->b.frames.list.items[frame].address, 0);
    } else {
        out_mem(o, name->text, name->text_len);
        if (lined && profile_frame_source(p, frame, &line)) {
            out_printf(o, " %s:", resolve_lines_file(&line, p->plan.o->full_source_path));
            out_dec(o, line.line, 0);
        } else if (lined) {
            out_str(o, " ??:0");
        }
    }
    out_char(o, '\n');
}

/* Returns the id of a stream's text. STRPOOL_NONE: out of memory. */
static uint32_t text_of(const struct profile *p, const struct profile_stream *s, bool lined,
                        struct strpool *texts, struct out *o) {
    o->len = 0;
    for (uint32_t i = 0; i < s->count; i++)
        put_end(p, p->b.streams.frames.items[s->first + i], lined, o);
    return o->failed ? STRPOOL_NONE : strpool_add(texts, o->buf, o->len);
}

static int compare_sums(const void *a, const void *b) {
    const struct profile_stream_sum *x = a, *y = b;
    if (x->period != y->period)
        return x->period > y->period ? -1 : 1;
    return strcmp(x->lines, y->lines);
}

/* Adds a stream to the sum with its text. False: out of memory. */
static bool add_sum(const struct profile *p, const struct profile_stream *s, struct hash_map *known,
                    struct profile_stream_sums *out, struct out *text) {
    uint32_t lines = text_of(p, s, true, &out->texts, text),
             functions = text_of(p, s, false, &out->texts, text);
    if (lines == STRPOOL_NONE || functions == STRPOOL_NONE)
        return false;
    uint32_t at = hash_map_get(known, lines);
    if (at == HASH_ABSENT) {
        at = (uint32_t)out->list.count;
        struct profile_stream_sum *made = vec_push(&out->list);
        if (!made || !hash_map_set(known, lines, at))
            return false;
        *made = (struct profile_stream_sum){.lines = strpool_text(&out->texts, lines),
                                            .functions = strpool_text(&out->texts, functions)};
    }
    struct profile_stream_sum *sum = &out->list.items[at];
    sum->period += s->period;
    sum->samples += s->samples;
    sum->cycles += s->cycles;
    out->period += s->period;
    return true;
}

bool profile_streams_find(const struct profile *p, const struct profile_event *e,
                          struct profile_stream_sums *out, struct err *err) {
    struct hash_map known = {0};
    struct out text;
    *out = (struct profile_stream_sums){0};
    bool ok = out_init(&text, NULL, NULL);
    for (size_t i = 0; ok && i < p->b.streams.list.count; i++)
        if (p->b.streams.list.items[i].event == e->event)
            ok = add_sum(p, &p->b.streams.list.items[i], &known, out, &text);
    if (ok && out->list.count)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_sums);
    hash_map_fini(&known);
    out_fini(&text);
    return ok || err_memory(err, "streams of branches");
}

void profile_stream_sums_fini(struct profile_stream_sums *s) {
    vec_fini(&s->list);
    strpool_fini(&s->texts);
}
