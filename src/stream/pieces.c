/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/pieces.h"

#include <stdlib.h>

#include "stream/stream_internal.h"

/* stream_forget_behind forgets in steps of this size. */
enum { WINDOW_BYTES = 4 << 20 };

void stream_watch(struct stream *s, stream_watch_fn *fn, void *ctx) {
    s->watch = fn;
    s->watch_ctx = ctx;
    s->told = 0;
}

void stream_tell(struct stream *s, uint64_t loc) {
    enum { STEP_BYTES = 1 << 20 };
    if (!s->watch)
        return;
    uint64_t at = loc >= STREAM_EXPANDED_LOC ? stream_expand_origin(s, loc - STREAM_EXPANDED_LOC) : loc;
    if (at >= s->told && at - s->told < STEP_BYTES)
        return;
    s->told = at;
    s->watch(s->watch_ctx, at, stream_file_size(s));
}

void stream_add_mark(struct stream *s, uint64_t loc, size_t segment) {
    stream_tell(s, loc);
    struct stream_mark *m = vec_push(&s->marks);
    if (m)
        *m = (struct stream_mark){loc, s->pass_max_ns, (uint32_t)segment};
    s->next_mark = m ? loc + STREAM_PIECE_BYTES : UINT64_MAX;
    if (loc >= s->forgotten && loc - s->forgotten >= WINDOW_BYTES) {
        stream_forget(s, s->forgotten, loc);
        s->forgotten = loc;
    }
}

uint32_t stream_piece_count(const struct stream *s) {
    return s->input.growing ? 0 : (uint32_t)s->marks.count;
}

uint32_t stream_pieces_expected(const struct stream *s) {
    bool plain = s->input.map.bytes.data && !s->input.growing;
    return plain ? (uint32_t)(s->input.map.bytes.size / STREAM_PIECE_BYTES) : 0;
}

/* Makes the share end at `end`, where another one begins. */
static void end_at(struct stream *s, const struct stream_mark *end) {
    if (end->loc >= STREAM_EXPANDED_LOC) {
        s->expansion.spool.size = end->loc - STREAM_EXPANDED_LOC;
        return;
    }
    s->input.segments.count = (size_t)end->segment + 1;
    s->input.segments.items[end->segment].end = end->loc;
}

/* The share borrows all that the stream owns, except the segments, which end where the share does. */
struct stream *stream_pieces_open(const struct stream *s, uint32_t from, uint32_t to, struct err *err) {
    const struct stream_mark *first = &s->marks.items[from];
    size_t count = s->input.segments.count;
    struct stream *share = malloc(sizeof *share);
    struct stream_segment *segments = malloc(count * sizeof *segments);
    if (!share || !segments) {
        free(share);
        free(segments);
        err_memory(err, s->path);
        return NULL;
    }
    *share = *s;
    memcpy(segments, s->input.segments.items, count * sizeof *segments);
    share->input.segments.items = segments;
    share->split = writer_make(false);
    share->memos = (struct stream_memos){0};
    share->next_mark = UINT64_MAX;
    share->is_share = true;
    share->watch = NULL;
    share->pass_max_ns = first->pass_max_ns;
    share->segment = first->segment;
    share->in_expansion = first->loc >= STREAM_EXPANDED_LOC;
    if (share->in_expansion)
        share->xpos = first->loc - STREAM_EXPANDED_LOC;
    else
        share->pos = first->loc;
    if (to < s->marks.count)
        end_at(share, &s->marks.items[to]);
    return share;
}

void stream_pieces_close(struct stream *s) {
    if (!s)
        return;
    free(s->input.segments.items);
    free(s);
}
