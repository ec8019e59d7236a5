/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/travel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A machine on which ways take as long as the test says. */
struct fake {
    uint64_t now_ns, way_ns;
    bool crowded, refused;
    int at;              /* the CPU; -1: home */
    int trips, to_nodes; /* how often it went */
};

static bool to_cpu(void *ctx, int32_t cpu) {
    struct fake *f = ctx;
    f->now_ns += f->way_ns;
    f->trips++;
    f->at = f->refused ? f->at : cpu;
    return !f->refused;
}

static bool to_node(void *ctx, int32_t cpu) {
    ((struct fake *)ctx)->to_nodes++;
    return to_cpu(ctx, cpu);
}

static bool crowded(void *ctx) {
    return ((struct fake *)ctx)->crowded;
}

static void home(void *ctx) {
    ((struct fake *)ctx)->at = -1;
}

static uint64_t clock_ns(void *ctx) {
    return ((struct fake *)ctx)->now_ns;
}

static struct record_travel begin(struct fake *f, bool cautious) {
    *f = (struct fake){.now_ns = 5000000000, .at = -1};
    return (struct record_travel){.mover = {f, to_cpu, to_node, crowded, home, clock_ns},
                                  .cautious = cautious};
}

static void much_is_worth_the_way(void **state) {
    (void)state;
    struct fake f;
    struct record_travel t = begin(&f, true);
    assert_false(record_travel_to(&t, 3, RECORD_TRAVEL_BYTES - 1));
    assert_int_equal(f.trips, 0);
    for (int i = 0; i < 5; i++) {
        f.way_ns = 1000000;
        assert_true(record_travel_to(&t, i, RECORD_TRAVEL_BYTES));
        assert_int_equal(f.at, i);
        record_travel_home(&t);
        assert_int_equal(f.at, -1);
    }
    assert_int_equal(f.trips, 5);
    assert_int_equal(f.to_nodes, 0);
    t.near = true;
    assert_true(record_travel_to(&t, 1, RECORD_TRAVEL_BYTES));
    assert_int_equal(f.to_nodes, 1);
    t.mover.ctx = NULL;
    assert_false(record_travel_to(&t, 1, 1 << 30));
}

/* A long way counts, but is the last one for a second; then for two, four, up to five minutes. */
static void long_ways_are_avoided(void **state) {
    (void)state;
    struct fake f;
    struct record_travel t = begin(&f, true);
    f.way_ns = 40000000;
    for (uint64_t stay_ns = 1000000000; f.trips < 14;
         stay_ns = stay_ns < 150000000000 ? 2 * stay_ns : 300000000000) {
        uint64_t start_ns = f.now_ns;
        int before = f.trips;
        assert_true(record_travel_to(&t, 1, 1 << 20));
        assert_int_equal(f.trips, before + 1);
        f.now_ns = start_ns + stay_ns - 1;
        assert_false(record_travel_to(&t, 1, 1 << 20));
        assert_int_equal(f.trips, before + 1);
        f.now_ns = start_ns + stay_ns;
    }
    /* Whoever asked for it goes in any case. */
    t.cautious = false;
    t.stay_until_ns = UINT64_MAX;
    assert_true(record_travel_to(&t, 1, 1 << 20));
}

static void crowds_are_avoided(void **state) {
    (void)state;
    struct fake f;
    struct record_travel t = begin(&f, true);
    f.crowded = true;
    assert_false(record_travel_to(&t, 1, 1 << 20));
    assert_int_equal(f.trips, 0);
    f.crowded = false;
    assert_false(record_travel_to(&t, 1, 1 << 20)); /* not at once */
    f.now_ns += 1000000000;
    assert_true(record_travel_to(&t, 1, 1 << 20));
    f.now_ns += 1;
    f.refused = true; /* an isolated CPU */
    assert_false(record_travel_to(&t, 2, 1 << 20));
    f.refused = false;
    assert_false(record_travel_to(&t, 1, 1 << 20));
    assert_int_equal(f.trips, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_is_worth_the_way),
        cmocka_unit_test(long_ways_are_avoided),
        cmocka_unit_test(crowds_are_avoided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
