/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for locks: every 8 bytes are one event, of few threads, CPUs and locks. However they contradict each
 * other, sums are those of the waits handed on. */
#include "fuzz.h"

#include "states/lock/lock_table.h"

enum { STEP = 8 };

struct sums {
    struct lock_table table;
    uint64_t waits, total_ns;
};

static bool add(void *ctx, const struct lock_wait *w) {
    struct sums *s = ctx;
    FUZZ_CHECK(w->since_ns <= w->until_ns && (w->contended || w->since_ns == w->until_ns));
    s->waits += w->contended;
    s->total_ns += w->until_ns - w->since_ns;
    return lock_table_add(&s->table, w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sums s = {.table = {.by = size ? (enum lock_by)(data[0] % 4) : LOCK_BY_SITE}};
    struct locks l;
    uint64_t time = 1000, waits = 0, total_ns = 0;
    locks_init(&l, add, &s);
    for (size_t at = 0; at + STEP <= size; at += STEP) {
        const uint8_t *p = data + at;
        time += p[1];
        const struct lock_event e = {
            .kind = (enum lock_event_kind)(p[0] % LOCK_EVENT_KINDS),
            .time_ns = p[2] & 0x80 ? time - (p[2] & 0x7f) : time,
            .cpu = p[3] % 4,
            .tid = p[4] % 8,
            .address = p[5] % 80,
            .flags = p[6],
            .site = p[7] % 4,
            .name = p[7] % 3,
            .ignored = p[3] & 0x80,
        };
        FUZZ_CHECK(locks_apply(&l, &e));
    }
    locks_finish(&l);
    lock_table_sort(&s.table, LOCK_TOTAL);
    for (size_t i = 0; i < s.table.rows.count; i++) {
        waits += s.table.rows.items[i].contended;
        total_ns += s.table.rows.items[i].total_ns;
    }
    FUZZ_CHECK(waits == s.waits && total_ns == s.total_ns);
    locks_fini(&l);
    lock_table_fini(&s.table);
    return 0;
}
