/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fail_alloc.h"
#include "waits/over_time.h"

static const char *const stack_a[] = {"inner", "outer"}, *const stack_b[] = {"other", "outer"};

static void add(struct waits *w, const char *process, const char *what, const char *const *stack) {
    struct waits_thread *t = vec_push(&w->threads);
    assert_non_null(t);
    *t = (struct waits_thread){.pid = 1,
                               .tid = (int32_t)w->threads.count,
                               .comm = "c",
                               .process = process,
                               .stack = (const char **)stack,
                               .depth = stack ? 2 : 0};
    t->wait = (struct waits_wait){.kind = WAITS_SLEEP, .what = what, .on = WAITS_NOBODY};
}

static void check_node(const struct waits_over_time *t, const waits_node_order *o, size_t i, const char *name,
                       uint64_t ns, uint32_t depth) {
    assert_true(i < o->count);
    const struct waits_node *n = &t->nodes.items[o->items[i]];
    assert_string_equal(strpool_text(&t->names, n->name), name);
    assert_int_equal(n->ns, ns);
    assert_int_equal(n->depth, depth);
}

static void tree(void **state) {
    (void)state;
    struct waits w;
    struct waits_over_time t = {0};
    waits_node_order o = {0};
    const struct waits_choice all = {0};
    waits_init(&w);
    add(&w, "p", "sleep", NULL);
    add(&w, "q", "lock", stack_a);
    add(&w, "q", "lock", stack_b);
    assert_true(waits_over_time_add(&t, &w, &all, true, 10));
    w.threads.items[0].wait.what = "lock";
    w.threads.count = 1;
    assert_true(waits_over_time_add(&t, &w, &all, true, 5));
    assert_true(waits_over_time_order(&t, &o));
    assert_int_equal(t.nodes.items[WAITS_NODE_ROOT].ns, 35);
    assert_int_equal(t.elapsed_ns, 15);
    assert_int_equal(t.turns, 2);
    assert_int_equal(o.count, 8);
    check_node(&t, &o, 0, "q", 20, 1);
    check_node(&t, &o, 1, "lock", 20, 2);
    check_node(&t, &o, 2, "outer", 20, 3);
    check_node(&t, &o, 3, "inner", 10, 4);
    check_node(&t, &o, 4, "other", 10, 4);
    check_node(&t, &o, 5, "p", 15, 1);
    check_node(&t, &o, 6, "sleep", 10, 2);
    check_node(&t, &o, 7, "lock", 5, 2);
    vec_fini(&o);
    waits_over_time_fini(&t);
    waits_fini(&w);
}

/* What is below a node adds up to it, whatever comes; and nothing is printed twice. */
static void adds_up(void **state) {
    enum { ROUNDS = 200, TURNS = 20, THREADS = 30 };
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)state;
    uint64_t seed = 7;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct waits_over_time t = {0};
        waits_node_order o = {0};
        uint64_t below[1 << 12] = {0}, total = 0;
        for (unsigned turn = 0; turn < TURNS; turn++) {
            struct waits w;
            waits_init(&w);
            uint64_t n = hash_u64(seed++) % THREADS, ns = hash_u64(seed++) % 1000;
            for (uint64_t i = 0; i < n; i++) {
                uint64_t which = hash_u64(seed++);
                add(&w, names[which % 4], names[which / 4 % 4], i % 3 ? i % 2 ? stack_a : stack_b : NULL);
            }
            assert_true(waits_over_time_add(&t, &w, &(struct waits_choice){0}, true, ns));
            total += n * ns;
            waits_fini(&w);
        }
        assert_true(waits_over_time_order(&t, &o));
        assert_int_equal(t.nodes.items[WAITS_NODE_ROOT].ns, total);
        assert_int_equal(o.count + 1, t.nodes.count);
        for (size_t i = 0; i < o.count; i++)
            below[t.nodes.items[o.items[i]].parent] += t.nodes.items[o.items[i]].ns;
        for (size_t i = 0; i < t.nodes.count; i++)
            assert_true(below[i] <= t.nodes.items[i].ns);
        assert_int_equal(below[WAITS_NODE_ROOT], total);
        vec_fini(&o);
        waits_over_time_fini(&t);
    }
}

/* Paths that come from elsewhere. */
static void paths(void **state) {
    (void)state;
    static const char *const WORK[] = {"app", "main", "work"}, *const LOCK[] = {"app", "main", "mutex"},
                             *const OTHER[] = {"sh"};
    static const char *const WANTED[] = {"app", "main", "mutex", "work", "sh"};
    static const uint64_t NS[] = {12, 12, 7, 5, 1};
    struct waits_over_time t = {0};
    waits_node_order o = {0};
    assert_true(waits_over_time_add_path(&t, WORK, 3, 5) && waits_over_time_add_path(&t, OTHER, 1, 1) &&
                waits_over_time_add_path(&t, LOCK, 3, 7) && waits_over_time_add_path(&t, LOCK, 0, 0));
    assert_true(waits_over_time_order(&t, &o));
    assert_int_equal(o.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(strpool_text(&t.names, t.nodes.items[o.items[i]].name), WANTED[i]);
        assert_int_equal(t.nodes.items[o.items[i]].ns, NS[i]);
    }
    assert_true(t.nodes.items[WAITS_NODE_ROOT].ns == 13 && !t.turns);
    vec_fini(&o);
    waits_over_time_fini(&t);
}

static void path_once(void) {
    static const char *const PATH[] = {"app", "main", "work"};
    struct waits_over_time t = {0};
    bool ok = waits_over_time_add_path(&t, PATH, 3, 5);
    assert_true(!ok || (t.nodes.count == 4 && t.nodes.items[3].ns == 5));
    waits_over_time_fini(&t);
}

static void once(const struct waits *w) {
    struct waits_over_time t = {0};
    waits_node_order o = {0};
    bool ok =
        waits_over_time_add(&t, w, &(struct waits_choice){0}, true, 10) && waits_over_time_order(&t, &o);
    assert_true(!ok || (o.count == 5 && t.nodes.items[WAITS_NODE_ROOT].ns == 20));
    vec_fini(&o);
    waits_over_time_fini(&t);
}

static void memory(void **state) {
    (void)state;
    struct waits w;
    waits_init(&w);
    add(&w, "q", "lock", stack_a);
    add(&w, "q", "lock", stack_b);
    FAIL_EACH_ALLOC(once(&w));
    FAIL_EACH_ALLOC(path_once());
    waits_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tree), cmocka_unit_test(adds_up),
                                       cmocka_unit_test(paths), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
