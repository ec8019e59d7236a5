/* SPDX-License-Identifier: Apache-2.0 */
/* What threads did: every 8 bytes are one event, of few threads and CPUs. However they contradict each other,
 * the intervals of each thread partition its window. */
#include "fuzz.h"

#include "states/check_intervals.h"

enum { STEP = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct check_intervals check = {0};
    struct states s;
    uint64_t time = 1000;
    states_init(&s, check_intervals_add, &check);
    for (size_t at = 0; at + STEP <= size; at += STEP) {
        const uint8_t *p = data + at;
        time += p[1];
        const struct states_event e = {
            .kind = (enum states_event_kind)(p[0] % (STATES_LOST + 1)),
            .time_ns = p[2] & 0x80 ? time - (p[2] & 0x7f) : time,
            .cpu = p[3] == 0xff ? STATES_NONE : p[3] % 4,
            .tid = p[4] % 8,
            .other = p[5] == 0xff ? STATES_NONE : p[5] % 8,
            .state = (enum states_state)(p[6] % STATES_COUNT),
            .reason = p[6],
            .interrupt = p[7] & 1,
            .local = p[7] & 8,
            .ran_ns = p[7],
            .comm = {p, p[7] & 6},
        };
        FUZZ_CHECK(states_apply(&s, &e));
    }
    FUZZ_CHECK(states_finish(&s) && !check_intervals_end(&check, &s));
    states_fini(&s);
    vec_fini(&check.threads);
    return 0;
}
