/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "waits/check_waits.h"

/* Thread i waits for on[i]; -1: for nobody. */
static void make(struct waits *w, const int *on, size_t n) {
    waits_init(w);
    for (size_t i = 0; i < n; i++) {
        struct waits_thread *t = vec_push(&w->threads);
        assert_non_null(t);
        *t = (struct waits_thread){.pid = 1,
                                   .tid = (int32_t)i + 1,
                                   .inner_tid = (int32_t)i + 1,
                                   .state = 'S',
                                   .since_ns = (int64_t)i,
                                   .comm = "c",
                                   .process = "p"};
        t->wait = (struct waits_wait){.kind = on[i] < 0 ? WAITS_SLEEP : WAITS_LOCK,
                                      .what = on[i] < 0 ? "sleep" : "lock",
                                      .on = on[i] < 0 ? WAITS_NOBODY : (uint32_t)on[i],
                                      .certain = true};
    }
    assert_true(waits_index(w));
}

static void tree(void **state) {
    (void)state;
    /* 0 <- 1 <- 2, 1 <- 3, 4 alone */
    static const int on[] = {-1, 0, 1, 1, -1};
    struct waits w;
    struct waits_chains c = {0};
    make(&w, on, 5);
    assert_true(waits_chains_find(&c, &w));
    assert_null(check_chains(&w, &c));
    assert_int_equal(c.rings.count, 0);
    assert_int_equal(c.roots.count, 1);
    assert_int_equal(c.roots.items[0].thread, 0);
    assert_int_equal(c.roots.items[0].behind, 3);
    assert_int_equal(c.roots.items[0].depth, 2);
    assert_true(c.roots.items[0].locks);
    assert_int_equal(c.first[2] - c.first[1], 2);
    waits_chains_fini(&c);
    static const struct {
        enum waits_kind kind;
        bool locks;
    } KINDS[] = {{WAITS_JOIN, true}, {WAITS_PIPE, false}};
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
        for (size_t i = 1; i < 4; i++)
            w.threads.items[i].wait.kind = KINDS[k].kind;
        c = (struct waits_chains){0};
        assert_true(waits_chains_find(&c, &w));
        assert_true(c.roots.items[0].locks == KINDS[k].locks);
        waits_chains_fini(&c);
    }
    waits_fini(&w);
}

static void rings(void **state) {
    (void)state;
    /* Threads 1, 2 and 3 wait for each other in a ring, and 0 and 4 for threads of the ring; 5 waits for
     * itself. 6 and 7 wait for each other, but that is no deadlock. */
    static const int on[] = {1, 2, 3, 1, 0, 5, 7, 6};
    struct waits w;
    struct waits_chains c = {0};
    make(&w, on, 8);
    w.threads.items[7].wait.certain = false;
    assert_true(waits_chains_find(&c, &w));
    assert_null(check_chains(&w, &c));
    assert_int_equal(c.rings.count, 3);
    assert_int_equal(c.rings.items[0].count, 3);
    assert_int_equal(c.rings.items[0].behind, 2);
    assert_true(c.rings.items[0].certain);
    assert_int_equal(c.ring_threads.items[c.rings.items[0].first], 1);
    assert_int_equal(c.rings.items[1].count, 1);
    assert_int_equal(c.rings.items[2].count, 2);
    assert_false(c.rings.items[2].certain);
    assert_int_equal(c.roots.count, 0);
    waits_chains_fini(&c);
    waits_fini(&w);
}

/* The ring that holds up most comes first, however few are in it. */
static void rings_in_order(void **state) {
    (void)state;
    static const int on[] = {1, 0, 2, 2, 3, 6, 5};
    struct waits w;
    struct waits_chains c = {0};
    make(&w, on, 7);
    assert_true(waits_chains_find(&c, &w));
    assert_int_equal(c.rings.count, 3);
    assert_int_equal(c.rings.items[0].lowest, 2);
    assert_int_equal(c.rings.items[0].behind, 2);
    assert_int_equal(c.rings.items[1].lowest, 0);
    assert_int_equal(c.rings.items[2].lowest, 5);
    waits_chains_fini(&c);
    waits_fini(&w);
}

/* Any function of threads to threads. */
static void anything(void **state) {
    enum { ROUNDS = 3000, MOST = 40 };
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int on[MOST];
        size_t n = hash_u64(seed++) % (MOST + 1);
        for (size_t i = 0; i < n; i++) /* sometimes for nobody, sometimes for one that is not there */
            on[i] = (int)(hash_u64(seed++) % (n + 3)) - 1;
        struct waits w;
        struct waits_chains c = {0};
        struct waits_groups g = {0};
        make(&w, on, n);
        for (size_t i = 0; i < n; i++) {
            struct waits_thread *t = &w.threads.items[i];
            t->since_ns = (int64_t)(hash_u64(seed++) % 4) - 1;
            t->process = hash_u64(seed++) % 2 ? "p" : "q";
        }
        assert_true(waits_chains_find(&c, &w));
        assert_null(check_chains(&w, &c));
        assert_true(waits_groups_find(&g, &w, &(struct waits_choice){0}, false));
        assert_null(check_groups(&w, &g));
        assert_int_equal(g.order.count, n);
        waits_groups_fini(&g);
        waits_chains_fini(&c);
        waits_fini(&w);
    }
}

static void deep(void **state) {
    enum { DEEP = 100000 };
    (void)state;
    int *on = calloc(DEEP, sizeof *on);
    assert_non_null(on);
    for (int i = 0; i < DEEP; i++)
        on[i] = i - 1;
    struct waits w;
    struct waits_chains c = {0};
    make(&w, on, DEEP);
    assert_true(waits_chains_find(&c, &w));
    assert_null(check_chains(&w, &c));
    assert_int_equal(c.roots.items[0].depth, DEEP - 1);
    waits_chains_fini(&c);
    waits_fini(&w);
    free(on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree),     cmocka_unit_test(rings), cmocka_unit_test(rings_in_order),
        cmocka_unit_test(anything), cmocka_unit_test(deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
