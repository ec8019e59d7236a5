/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes streams, and has what is known of one as a whole. stream.c reads its records. */
#include "stream/stream_internal.h"

#include "base/log.h"
#include "base/text/plural.h"
#include "format/perfdata/header/feature.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LEGACY_FIRST = 69, /* the ChromeOS pipe headers: HOSTNAME .. NUMA_TOPOLOGY */
};

/* Whether it is a pipe with the old ChromeOS headers, which begin with a HOSTNAME of type 69: u32 length,
 * that many characters, and nothing else. */
static bool is_legacy_pipe(const struct stream *s) {
    const struct stream_input *in = &s->input;
    uint64_t at = s->header.data.offset;
    struct perfdata_raw raw;
    bool cut;
    /* Only the first record is read: before legacy_pipe is set, a type 71 would be taken for an AUXTRACE. */
    if (in->size < at || stream_peek(s, in->base + at, in->size - at, &raw, &cut) || raw.type != LEGACY_FIRST)
        return false;
    struct cursor c = cursor_make(raw.body, s->header.swap);
    uint32_t len = cursor_u32(&c);
    return cursor_ok(&c) && len == cursor_left(&c);
}

static struct stream *new_stream(const char *path, const struct stream_options *opts, struct err *err) {
    struct stream *s = calloc(1, sizeof *s);
    char *name = strdup(path);
    if (!s || !name) {
        free(s);
        free(name);
        err_memory(err, path);
        return NULL;
    }
    s->path = name;
    if (opts)
        s->options = *opts;
    s->input.file.fd = -1;
    s->min_time_ns = UINT64_MAX;
    s->forgotten = UINT64_MAX;
    return s;
}

/* Reads header, events and segments of an opened input. */
static bool start(struct stream *s, struct err *err) {
    struct stream_input *in = &s->input;
    if (!stream_input_need(s, 16, err))
        return false;
    /* A file that comes through a pipe (cat perf.data | ...) must be read whole first. */
    if (in->growing && perfdata_header_is_file((struct bytes){in->base, (size_t)in->size}) &&
        !stream_input_need(s, UINT64_MAX, err))
        return false;
    /* Of a directory only its first file has a header. */
    uint64_t size = in->segments.count ? in->segments.items[0].end : in->size;
    struct bytes head = {in->base, (size_t)size};
    uint32_t problems = 0;
    if (!perfdata_header_parse(head, &s->header, &s->events, &problems, err)) {
        if (err && !err->where[0])
            err_set(err, err->code, s->path, "%s", strdupa(err->message));
        return false;
    }
    s->losses.problems = problems;
    s->losses.unread = problems > 0 || s->header.data_cut;
    s->losses.cut = s->header.data_cut;
    s->losses.unfinished = s->header.data_size_zero;
    if (s->header.data_cut)
        log_line(LOG_WARN,
                 "%s: the recording is cut: its header promises %" PRIu64
                 " bytes of data, the file has %" PRIu64,
                 s->path, s->header.data.size,
                 head.size > s->header.data.offset ? head.size - s->header.data.offset : 0);
    if (!perfdata_feature_apply_names(&s->header, &s->events))
        return err_memory(err, s->path);
    if (!stream_input_segments(s, err))
        return false;
    if (s->header.container == PERFDATA_CONTAINER_PIPE) {
        if (!stream_input_need(s, s->header.data.offset + UINT16_MAX, err))
            return false;
        s->legacy_pipe = is_legacy_pipe(s);
    }
    char text[PERFDATA_ENDING_TEXT];
    const struct perfdata_ending ending = stream_ending(s);
    if (perfdata_ending_text(&ending, text))
        log_line(LOG_WARN, "%s: the recording %s", s->path, text);
    stream_rewind(s);
    return true;
}

struct stream *stream_open(const char *path, const struct stream_options *opts, struct err *err) {
    struct stream *s = new_stream(path, opts, err);
    if (s && stream_input_open(s, err) && start(s, err))
        return s;
    stream_close(s);
    return NULL;
}

struct stream *stream_open_memory(struct bytes file, const struct stream_options *opts, struct err *err) {
    struct stream *s = new_stream("memory", opts, err);
    if (!s)
        return NULL;
    s->input.base = file.data;
    s->input.size = file.size;
    if (start(s, err))
        return s;
    stream_close(s);
    return NULL;
}

struct stream *stream_open_feed(struct stream_feed *feed, const struct stream_options *opts,
                                struct err *err) {
    struct stream *s = new_stream("memory", opts, err);
    if (!s)
        return NULL;
    s->input.feed = feed;
    s->input.base = stream_feed_base(feed);
    s->input.growing = true;
    if (start(s, err))
        return s;
    stream_close(s);
    return NULL;
}

void stream_close(struct stream *s) {
    if (!s)
        return;
    perfdata_header_fini(&s->header);
    perfdata_events_fini(&s->events);
    writer_fini(&s->split);
    stream_input_close(&s->input);
    stream_expansion_close(&s->expansion);
    vec_fini(&s->jumps);
    vec_fini(&s->marks);
    free(s->path);
    free(s);
}

const struct perfdata_header *stream_header(const struct stream *s) {
    return &s->header;
}
struct perfdata_events *stream_events(struct stream *s) {
    return &s->events;
}
const char *stream_lost_text(const struct stream_losses *l, char room[STREAM_LOST_ROOM]) {
    char events[32] = "", samples[32] = "";
    if (l->lost_events || !l->lost_samples)
        snprintf(events, sizeof events, "%" PRIu64 " event%s", l->lost_events, plural(l->lost_events));
    if (l->lost_samples)
        snprintf(samples, sizeof samples, "%" PRIu64 " sample%s", l->lost_samples, plural(l->lost_samples));
    snprintf(room, STREAM_LOST_ROOM, "%s%s%s", events, *events && *samples ? " and " : "", samples);
    return room;
}

const struct stream_losses *stream_losses(const struct stream *s) {
    return &s->losses;
}
bool stream_is_pipe(const struct stream *s) {
    return (s->input.has_spool || s->input.feed) && s->header.container == PERFDATA_CONTAINER_PIPE;
}
bool stream_goes_on(const struct stream *s) {
    return s->input.feed && s->input.growing;
}
const char *stream_path(const struct stream *s) {
    return s->path;
}
const struct os_file *stream_file(const struct stream *s) {
    return &s->input.file;
}

struct bytes stream_input_bytes(const struct stream *s) {
    const struct stream_input *in = &s->input;
    return (struct bytes){in->base, (size_t)(in->multimap.size ? in->main_size : in->size)};
}

uint64_t stream_file_size(const struct stream *s) {
    if (s->input.multimap.size) {
        uint64_t sum = 0;
        for (size_t i = 0; i < s->input.segments.count; i++) {
            const struct stream_segment *g = &s->input.segments.items[i];
            sum += g->end - g->start + g->file_start;
        }
        return sum;
    }
    return s->input.has_spool ? 0 : s->input.size;
}

void stream_rewind(struct stream *s) {
    s->segment = 0;
    s->pos = s->input.segments.items[0].start;
    s->xpos = 0;
    s->in_expansion = false;
    s->pass_max_ns = 0;
}
