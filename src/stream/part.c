/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/header/feature.h"
#include "stream/stream.h"

struct bytes stream_box(const struct stream *s, bool preamble) {
    const struct perfdata_header *h = stream_header(s);
    struct bytes before = stream_input_bytes(s);
    if (stream_is_pipe(s) || !before.size || (preamble && h->data.offset > before.size))
        return (struct bytes){NULL, 0};
    if (preamble)
        before.size = (size_t)h->data.offset;
    uint64_t size = perfdata_box_size(before, h->swap);
    return (struct bytes){before.data + (before.size - size), (size_t)size};
}

struct bytes stream_part(const struct stream *s, bool preamble, uint32_t tag) {
    struct bytes box = stream_box(s, preamble);
    struct perfdata_part part;
    for (uint32_t i = 0; box.size && perfdata_box_part(box, stream_header(s)->swap, i, &part); i++)
        if (part.tag == tag)
            return part.content;
    return (struct bytes){NULL, 0};
}

static bool header_times(const struct stream *s, struct perfdata_sample_time *out) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    bool there = perfdata_feature_get(stream_header(s), PERFDATA_FEATURE_SAMPLE_TIME, &arena, &value);
    *out = there ? value.sample_time : (struct perfdata_sample_time){0};
    arena_fini(&arena);
    return there;
}

bool stream_header_times(const struct stream *s, uint64_t *first_ns, uint64_t *last_ns) {
    struct perfdata_sample_time t;
    if (!header_times(s, &t) || !t.last_ns)
        return false;
    *first_ns = t.first_ns;
    *last_ns = t.last_ns;
    return true;
}

/* Whether a recording without the ending mark ends at a checkpoint: its recorder wrote a preamble, then
 * checkpoints, and only at the end the times and a trailer. */
static bool ends_at_checkpoint(const struct stream *s) {
    struct perfdata_sample_time t;
    return stream_box(s, true).size && !stream_box(s, false).size && header_times(s, &t) && !t.last_ns &&
           stream_header(s)->data.size;
}

struct perfdata_ending stream_ending(const struct stream *s) {
    struct perfdata_ending e;
    if (!perfdata_ending_decode(stream_part(s, true, PERFDATA_PART_ENDING), stream_header(s)->swap, &e) &&
        (stream_header(s)->data_size_zero || ends_at_checkpoint(s)))
        e.how = PERFDATA_ENDING_OPEN;
    return e;
}
