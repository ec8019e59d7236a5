/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of time: every 8 bytes are an interval of a few threads and CPUs, or a change of a CPU's state.
 * Each ns within the span is in one column. */
#include "fuzz.h"

#include "states/timechart/timechart.h"

enum { STEP = 8, THREADS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timechart t;
    uint64_t sum = 0, seen = 0;
    if (size < STEP)
        return 0;
    timechart_init(&t, data[0], (uint64_t)data[1] << 8 | data[2], data[3]);
    for (uint32_t i = 0; i < THREADS; i++)
        FUZZ_CHECK(timechart_choose(&t, i));
    for (size_t at = STEP; at + STEP <= size; at += STEP) {
        const uint8_t *p = data + at;
        uint64_t since = (uint64_t)p[1] << 8 | p[2], until = since + ((uint64_t)p[3] << 4);
        const struct states_interval i = {
            .thread = p[4] % (THREADS + 1), .since_ns = since, .until_ns = until, .state = STATES_RUNNING};
        if (p[0] & 1) {
            FUZZ_CHECK(timechart_add(&t, &i) && timechart_busy(&t, since, until, p[5]));
            since = since < t.begin_ns ? t.begin_ns : since;
            until = until > t.end_ns ? t.end_ns : until;
            sum += i.thread < THREADS && until > since ? until - since : 0;
        } else {
            FUZZ_CHECK(timechart_idle(&t, since, p[5], p[6] == 0xff ? TIMECHART_AWAKE : p[6]));
            FUZZ_CHECK(timechart_speed(&t, since, p[5], p[7]));
        }
    }
    timechart_finish(&t);
    for (size_t i = 0; i < t.threads.count; i++)
        for (uint32_t c = 0; c < t.columns; c++)
            seen += t.threads.items[i].cells[c].run_ns;
    FUZZ_CHECK(seen == sum);
    timechart_fini(&t);
    return 0;
}
