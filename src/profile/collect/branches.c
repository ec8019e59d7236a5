/* SPDX-License-Identifier: Apache-2.0 */
/* What samples' last branches say of the code between them, whatever rows the samples are counted in. */
#include "profile/profile_internal.h"

/* Takes branches out that repeat the one before, as those of a loop do: how often it ran makes no other
 * stream. Returns how many frames are left. */
static uint32_t drop_repeats(uint32_t *frames, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i += 2) {
        if (kept && frames[kept - 2] == frames[i] && frames[kept - 1] == frames[i + 1])
            continue;
        frames[kept++] = frames[i];
        frames[kept++] = frames[i + 1];
    }
    return kept;
}

bool profile_branches_add(struct profile_builder *b, const struct profile_taken *x) {
    const struct profile_options *o = b->plan->o;
    const struct perfdata_sample *s = x->s;
    if (!s->branch_count || (!o->blocks && !o->streams))
        return true;
    /* perf leaves out the blocks of a sample whose newest branch has no cycles. */
    bool ok = true, blocks = o->blocks && perfdata_branch_at(s, 0).cycles;
    const struct model_when *at = o->block_values ? &x->when : NULL;
    struct profile_streams *streams = &b->streams;
    struct profile_stream stream = {.event = x->event,
                                    .first = streams->frames.count,
                                    .count = (uint32_t)s->branch_count * 2,
                                    .period = s->period,
                                    .samples = 1};
    if (o->streams && !vec_reserve(&streams->frames, stream.first + stream.count))
        return false;
    uint32_t start = RESOLVE_NO_FRAME; /* where the older branch, which is stored after this one, went */
    for (uint64_t i = s->branch_count; ok && i-- > 0;) {
        struct perfdata_branch branch = perfdata_branch_at(s, i);
        uint32_t from = profile_branch_end(b, s->pid, x->when, branch.from, RESOLVE_ADDRESS),
                 to = profile_branch_end(b, s->pid, x->when, branch.to, RESOLVE_ADDRESS);
        ok = from != RESOLVE_NO_FRAME && to != RESOLVE_NO_FRAME &&
             (!blocks || profile_runs_add(&b->runs, start, from, branch.cycles, at));
        if (o->streams) {
            streams->frames.items[stream.first + 2 * i] = to;
            streams->frames.items[stream.first + 2 * i + 1] = from;
        }
        start = to;
        stream.cycles += branch.cycles;
    }
    if (ok && o->streams) {
        stream.count = drop_repeats(streams->frames.items + stream.first, stream.count);
        streams->frames.count = stream.first + stream.count;
    }
    return ok && (!o->streams || profile_streams_add(streams, &stream));
}
