/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own work: every 6 bytes are one event, of few works and CPUs. However they contradict each
 * other, runs lie within the time, after their raise, and contain what is nested in them. */
#include "fuzz.h"

#include "states/kwork/kwork_top.h"

enum { STEP = 6 };

static bool check_run(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct kwork_sums *sums = ctx;
    FUZZ_CHECK(run->work < k->works.count && run->until_ns == k->now_ns);
    FUZZ_CHECK(run->since_ns <= run->until_ns && run->since_ns >= k->begin_ns);
    FUZZ_CHECK(!run->raised || (run->raise_ns >= k->begin_ns && run->raise_ns <= run->since_ns));
    FUZZ_CHECK(run->inner_ns <= run->until_ns - run->since_ns);
    return kwork_sums_add(sums, k, run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kwork_choice choice = {.classes = {true, true, true}};
    struct kwork_sums sums = {.choice = &choice};
    struct kwork_order order = {{KWORK_RUNTIME, KWORK_MAX, KWORK_COUNT}, 3, false};
    struct kwork k;
    uint64_t time = 1000, events = 0;
    kwork_init(&k, check_run, &sums);
    for (size_t at = 0; at + STEP <= size; at += STEP) {
        const uint8_t *p = data + at;
        time += p[1];
        const struct kwork_event e = {
            .kind = (enum kwork_event_kind)(p[0] % (KWORK_LOST + 1)),
            .class = (enum kwork_class)(p[0] / 4 % KWORK_CLASSES),
            .time_ns = p[2] & 0x80 ? time - (p[2] & 0x7f) : time,
            .cpu = p[3] == 0xff ? KWORK_NONE : p[3] % 4,
            .id = p[4] % 32,
            .function = p[5],
            .name = {p, p[5] & 3},
        };
        events += e.kind != KWORK_LOST;
        FUZZ_CHECK(kwork_apply(&k, &e));
    }
    kwork_finish(&k);
    FUZZ_CHECK(k.faults.events == events && k.faults.raises + k.faults.entries + k.faults.exits <= events);
    kwork_sums_finish(&sums, &k, &order);
    kwork_sums_fini(&sums);
    kwork_fini(&k);
    return 0;
}
