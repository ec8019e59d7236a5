/* SPDX-License-Identifier: Apache-2.0 */
/* Adds samples' last branches to callchains, when they are no call stacks (resolve/chain.h). */
#include "profile/profile_internal.h"

/* Adds a frame to b->path unless it is hidden. False: out of memory. */
static bool add_frame(struct profile_builder *b, uint32_t frame) {
    if (frame == RESOLVE_NO_FRAME || profile_is_hidden(b, frame))
        return frame != RESOLVE_NO_FRAME;
    uint32_t *made = vec_push(&b->path);
    if (made)
        *made = frame;
    return made;
}

/* Nothing says which address space a branch's end is in, so all are tried. Unknown: an address of the
 * hypervisor's, as perf shows it. */
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

/* As in perf, a branch's target comes before its source in either order of a graph, although the branches
 * themselves are reversed with it. Here the outermost frame is first. */
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
