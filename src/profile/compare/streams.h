/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest streams of branches (profile_streams_find) of two recordings, matched. */
#ifndef SONDE_PROFILE_COMPARE_STREAMS_H
#define SONDE_PROFILE_COMPARE_STREAMS_H

#include "profile/profile.h"

enum { COMPARE_STREAMS = 5, COMPARE_STREAM_NONE = COMPARE_STREAMS }; /* of each side */

struct compare_streams {
    struct profile_stream_sums sides[2];
    uint32_t counts[2];                 /* of these, from the first on, are hot */
    uint32_t partners[COMPARE_STREAMS]; /* of the base's: the new side's, or COMPARE_STREAM_NONE */
};

/* Matches the streams of two profiles' events, base first, into `out` (zeroed; compare_streams_fini in any
 * case): those with the same functions and source lines, then, as another build moves lines, those with the
 * same functions. False and *err: out of memory. */
bool compare_streams_find(const struct profile *const *profiles, const struct profile_event *const *events,
                          struct compare_streams *out, struct err *err);
void compare_streams_fini(struct compare_streams *s);

/* Returns whether a stream of the new side, below counts[1], has a partner. */
bool compare_streams_taken(const struct compare_streams *s, uint32_t now);

#endif
