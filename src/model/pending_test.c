/* SPDX-License-Identifier: Apache-2.0 */
/* More events than a block holds come out in time order, whatever order they came in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/pending.h"

enum { EVENTS = 5 * PENDING_BLOCK / 2 };

struct seen {
    struct model_when last;
    uint64_t sum;
    size_t count, stop_at;
};

static bool see(void *ctx, const struct model_event *e) {
    struct seen *s = ctx;
    if (s->count == s->stop_at)
        return false;
    if (s->count)
        assert_true(model_when_before(s->last, e->when));
    assert_int_equal(e->arg, e->when.order / 8);
    assert_int_equal(e->task, e->arg % 1000);
    assert_int_equal(e->kind, EVENT_CGROUP);
    s->last = e->when;
    s->sum += e->arg;
    s->count++;
    return true;
}

static uint64_t next_random(uint64_t *state) {
    return *state = *state * 6364136223846793005u + 1442695040888963407u;
}

enum form { ASCENDING, DESCENDING, EQUAL, ROUNDS, RANDOM, FORMS };

static uint64_t time_of(enum form form, uint32_t i, uint64_t *state) {
    enum { BUFFER = 300, CPUS = 3 };
    switch (form) {
    case ASCENDING:
        return i;
    case DESCENDING:
        return EVENTS - i;
    case ROUNDS: /* each buffer of a round covers the round's time and a little of the next */
        return i / (BUFFER * CPUS) * BUFFER + i % BUFFER * 5 / 4;
    case RANDOM:
        return next_random(state) >> 40;
    default:
        return 7;
    }
}

static void fill(struct pending *p, enum form form, uint32_t count, bool backwards) {
    uint64_t state = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = backwards ? count - 1 - i : i; /* order need not ascend */
        struct model_event e = {{time_of(form, i, &state), 8 * (uint64_t)n}, n % 1000, EVENT_CGROUP, n};
        assert_true(pending_push(p, &e));
        assert_int_equal(pending_at(p, i)->arg, n);
    }
}

static void test_time_order(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 3, PENDING_BLOCK, EVENTS};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned form = 0; form < 2 * FORMS; form++) {
            struct pending p = {{0}};
            struct seen seen = {.stop_at = SIZE_MAX};
            fill(&p, form / 2, counts[k], form % 2);
            assert_true(pending_play(&p, see, &seen));
            assert_int_equal(seen.count, counts[k]);
            assert_int_equal(seen.sum, counts[k] ? (uint64_t)counts[k] * (counts[k] - 1) / 2 : 0);
            assert_int_equal(p.count, 0);
            pending_fini(&p);
        }
}

/* Many blocks, whose memory goes back while they are played; and an end in between. */
static void test_many_blocks_and_an_end(void **state) {
    (void)state;
    enum { MANY = 70 * PENDING_BLOCK + 5 };
    for (int half = 0; half < 2; half++) {
        struct pending p = {{0}};
        struct seen seen = {.stop_at = half ? MANY / 2 : MANY};
        fill(&p, ROUNDS, MANY, false);
        assert_true(pending_memory_bytes(&p) >= MANY * sizeof(struct model_event));
        assert_int_equal(pending_play(&p, see, &seen), !half);
        assert_int_equal(seen.count, seen.stop_at);
        pending_fini(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_order),
        cmocka_unit_test(test_many_blocks_and_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
