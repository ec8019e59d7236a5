/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_feed.h"

#include "cmd/common/input.h"

enum { RETIRE_TURNS = 64, MORE_IMAGES = 4096, MORE_BYTES = 32 << 20 };

bool trace_feed_init(struct trace_feed *f, struct trace *trace, bool named, recording_seen_fn *seen,
                     void *ctx, struct err *err) {
    *f = (struct trace_feed){.trace = trace, .live = f->lives, .named = named, .seen = seen, .seen_ctx = ctx};
    bool ok = recording_live_init(f->live, named ? MODEL_NEED_ALL : 0, err);
    f->live->seen = seen;
    f->live->seen_ctx = ctx;
    return ok;
}

static void close_names(struct trace_feed *f) {
    if (f->trace->stacks)
        recording_stacks_fini(&f->stacks);
    f->trace->stacks = NULL;
    recording_names_close(&f->naming);
    f->naming = (struct recording_names){0};
}

void trace_feed_close(struct trace_feed *f) {
    if (!f->trace)
        return;
    close_names(f);
    for (size_t i = 0; i < sizeof f->lives / sizeof *f->lives; i++)
        recording_live_close(&f->lives[i]);
}

static bool open_names(struct trace_feed *f, struct err *err) {
    struct recording *r = &f->live->recording;
    f->trace->model = f->live->model;
    if (!f->named)
        return true;
    if (!input_names(&f->naming, f->trace->env, r, f->live->model, &f->symbols, err))
        return false;
    recording_stacks_init(&f->stacks, r, f->live->model, &f->naming);
    f->trace->stacks = &f->stacks;
    return true;
}

static size_t bytes_of(const struct recording_live *l) {
    return model_memory_bytes(l->model) + l->lasting.size;
}

static void note_beginning(struct trace_feed *f) {
    f->first_bytes = bytes_of(f->live);
    f->first_images = model_image_count(f->live->model);
}

bool trace_feed_begin(struct trace_feed *f, const char *machine, struct err *err) {
    if (f->begun)
        return true;
    if (!recording_live_open(f->live, NULL, err))
        return false;
    f->begun = true;
    return open_names(f, err) && trace_init(f->trace, &f->live->recording, machine, err);
}

bool trace_feed_show(struct trace_feed *f, struct err *err) {
    struct trace *t = f->trace;
    for (; f->taken < f->live->samples.count && !t->done; f->taken++) {
        const struct recording_live_sample *s = &f->live->samples.items[f->taken];
        struct stream_record r = stream_record_at(f->live->recording.stream, s->loc);
        r.time_ns = s->time_ns;
        if (trace_want(t, &r) && !trace_take(t, &r, err) && !t->done)
            return false;
    }
    return true;
}

bool trace_feed_take(struct trace_feed *f, bool all, struct err *err) {
    f->taken = 0;
    if (all && !recording_live_settle(f->live, err))
        return false;
    if (!recording_live_take(f->live, err) || !trace_feed_show(f, err))
        return false;
    recording_live_forget(f->live);
    f->taken = 0;
    return true;
}

static bool is_worn(const struct trace_feed *f) {
    return model_image_count(f->live->model) > 2 * f->first_images + MORE_IMAGES ||
           bytes_of(f->live) > 2 * f->first_bytes + MORE_BYTES;
}

/* What the fresh recording is told of whoever lives is known to the calls already: it is not `seen`. */
static bool renew(struct trace_feed *f, struct err *err) {
    struct recording_live *old = f->live, *fresh = f->live == f->lives ? f->lives + 1 : f->lives;
    if (!trace_feed_take(f, true, err) || !recording_live_renew(old, fresh, err) ||
        !recording_live_take(fresh, err))
        return false;
    close_names(f);
    f->live = fresh;
    fresh->seen = f->seen;
    fresh->seen_ctx = f->seen_ctx;
    if (!open_names(f, err) || !trace_follow(f->trace, &fresh->recording, err))
        return false;
    recording_live_close(old);
    note_beginning(f);
    f->rounds = f->live->rounds;
    f->epochs++;
    return true;
}

bool trace_feed_turn(struct trace_feed *f, bool *renewed, struct err *err) {
    *renewed = false;
    /* Without a round since the last turn nothing came, and nothing older will. */
    if (f->live->rounds == f->rounds && !trace_feed_take(f, true, err))
        return false;
    f->rounds = f->live->rounds;
    if (!f->first_bytes)
        note_beginning(f);
    if (++f->turns % RETIRE_TURNS || f->trace->done)
        return true;
    /* Names that were found are kept by numbers that this would change. */
    if (!f->named && !recording_live_retire(f->live, 0, err))
        return false;
    *renewed = is_worn(f);
    return !*renewed || renew(f, err);
}
