/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What branch records add to callchains.
 *
 * Call stacks that the processor recorded (perf_event.h, PERF_SAMPLE_BRANCH_CALL_STACK): the branches are the
 * calls that have not returned yet, innermost first. They take the place of the user part of the callchain.
 *
 *   callchain  [KERNEL] k0 k1 [USER] u0 ...       branches  main+8 -> outer, outer+4 -> leaf (first)
 *   together   k0 k1 u0 outer+4 main+8            innermost first
 */
#include "profile/profile_internal.h"

/* Where the marker of the user part is; the count where there is none. */
static uint64_t user_at(const struct perfdata_u64s *chain) {
    uint64_t i = 0;
    while (i < chain->count && perfdata_u64_at(chain, i) != PERFDATA_CONTEXT_USER)
        i++;
    return i;
}

/* Adds a frame to b->path unless it is hidden. False: memory. */
static bool add_frame(struct profile_builder *b, uint32_t frame) {
    if (frame == RESOLVE_NO_FRAME || profile_is_hidden(b, frame))
        return frame != RESOLVE_NO_FRAME;
    uint32_t *made = vec_push(&b->path);
    if (made)
        *made = frame;
    return made;
}

static bool add_call(struct profile_builder *b, const struct model_state *state, uint64_t address) {
    return add_frame(b, resolve_frames_at(&b->frames, state, PERFDATA_MISC_USER, address,
                                          (enum resolve_frame_kind)b->plan->frame_kind, false));
}

bool profile_lbr_chain(struct profile_builder *b, const struct perfdata_sample *s, unsigned cpumode,
                       struct model_when when, struct perfdata_u64s *kernel, uint32_t *user) {
    uint64_t at = user_at(&s->callchain);
    if (at == s->callchain.count)
        return false;
    const struct model_state *state = resolve_places_state(&b->places, PERFDATA_MISC_USER, s->pid, when);
    bool ok = true;
    vec_clear(&b->path);
    for (uint64_t i = s->branch_count; ok && i-- > 0;)
        ok = add_call(b, state, perfdata_branch_at(s, i).from);
    /* Where the user's code was left: as the callchain says, or at the target of the last call. */
    uint64_t leaf = s->ip;
    if (cpumode != PERFDATA_MISC_USER && at + 1 < s->callchain.count)
        leaf = perfdata_u64_at(&s->callchain, at + 1);
    else if (cpumode != PERFDATA_MISC_USER && s->branch_count)
        leaf = perfdata_branch_at(s, 0).to;
    /* Callers first, perf shows nothing of the user part without a call. */
    bool none = !s->branch_count && b->plan->o->chain_order == PROFILE_CALLER;
    ok = ok && (none || add_call(b, state, leaf));
    *user = ok ? profile_parts_add(&b->parts, b->path.items, b->path.count) : PROFILE_NO_PART;
    *kernel = s->callchain;
    kernel->count = at;
    return true;
}

/* ---- other branches ---- */

/* An end of a branch: nothing says which space it is in. Unknown: an address of the hypervisor's, as perf
 * shows it. */
uint32_t profile_branch_end(struct profile_builder *b, uint32_t pid, struct model_when when, uint64_t address,
                            enum resolve_frame_kind kind) {
    const unsigned modes[] = {PERFDATA_MISC_USER, PERFDATA_MISC_KERNEL, PERFDATA_MISC_GUEST_USER,
                              PERFDATA_MISC_GUEST_KERNEL};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct model_hit hit;
        const struct model_state *state = resolve_places_state(&b->places, modes[i], pid, when);
        if (resolve_places_find(&b->places, state, address, &hit))
            return resolve_frames_at(&b->frames, state, modes[i], address, kind, false);
    }
    const struct model_state *none = resolve_places_state(&b->places, PERFDATA_MISC_HYPERVISOR, pid, when);
    return resolve_frames_at(&b->frames, none, PERFDATA_MISC_HYPERVISOR, address, kind, false);
}

/* As perf has it a branch's target stands before where it came from in either order of a graph, although it
 * is the branches that are the other way round. Here the outermost frame is first. */
bool profile_history_add(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when) {
    const struct profile_options *o = b->plan->o;
    bool caller = o->chain_order == PROFILE_CALLER, ok = true;
    uint64_t most = o->max_stack / 2, count = s->branch_count < most ? s->branch_count : most;
    for (uint64_t i = count; ok && i-- > 0;) {
        struct perfdata_branch branch = perfdata_branch_at(s, i);
        uint64_t ends[] = {caller ? branch.to : branch.from, caller ? branch.from : branch.to};
        for (unsigned k = 0; ok && k < 2; k++)
            ok = add_frame(b, profile_branch_end(b, s->pid, when, ends[k],
                                                 (enum resolve_frame_kind)b->plan->frame_kind));
    }
    return ok;
}
