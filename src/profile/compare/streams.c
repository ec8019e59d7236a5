/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare/streams.h"

#include <string.h>

bool compare_streams_taken(const struct compare_streams *s, uint32_t now) {
    for (uint32_t i = 0; i < s->counts[0]; i++)
        if (s->partners[i] == now)
            return true;
    return false;
}

static void match(struct compare_streams *s, bool lined) {
    for (uint32_t i = 0; i < s->counts[0]; i++)
        for (uint32_t k = 0; k < s->counts[1] && s->partners[i] == COMPARE_STREAM_NONE; k++) {
            const struct profile_stream_sum *a = &s->sides[0].list.items[i], *b = &s->sides[1].list.items[k];
            bool same = !strcmp(lined ? a->lines : a->functions, lined ? b->lines : b->functions);
            if (same && !compare_streams_taken(s, k))
                s->partners[i] = k;
        }
}

bool compare_streams_find(const struct profile *const *profiles, const struct profile_event *const *events,
                          struct compare_streams *out, struct err *err) {
    for (int side = 0; side < 2; side++) {
        if (!profile_streams_find(profiles[side], events[side], &out->sides[side], err))
            return false;
        size_t n = out->sides[side].list.count;
        out->counts[side] = n < COMPARE_STREAMS ? (uint32_t)n : COMPARE_STREAMS;
    }
    for (int i = 0; i < COMPARE_STREAMS; i++)
        out->partners[i] = COMPARE_STREAM_NONE;
    match(out, true);
    match(out, false);
    return true;
}

void compare_streams_fini(struct compare_streams *s) {
    profile_stream_sums_fini(&s->sides[0]);
    profile_stream_sums_fini(&s->sides[1]);
}
