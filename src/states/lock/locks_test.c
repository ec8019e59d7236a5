/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "states/call_sites.h"
#include "states/lock/lock_table.h"
#include "tests/support/fail_alloc.h"

enum { A = 101, B = 102, LOCK = 0x1000, OTHER = 0x2000 };

static struct lock_event event(enum lock_event_kind kind, uint64_t time, uint32_t tid, uint64_t address,
                               unsigned flags) {
    return (struct lock_event){
        .kind = kind, .time_ns = time, .tid = tid, .pid = tid, .address = address, .flags = flags};
}

static void at(struct locks *l, enum lock_event_kind kind, uint64_t time, uint32_t tid, uint64_t address,
               unsigned flags) {
    struct lock_event e = event(kind, time, tid, address, flags);
    assert_true(locks_apply(l, &e));
}

static void test_waits(void **state) {
    struct lock_table t = {.by = LOCK_BY_ADDRESS};
    struct locks l;
    (void)state;
    locks_init(&l, lock_table_add, &t);
    at(&l, LOCK_EVENT_END, 5, A, LOCK, 0); /* it began before */
    at(&l, LOCK_EVENT_BEGIN, 10, A, LOCK, LOCK_WRITE);
    at(&l, LOCK_EVENT_BEGIN, 12, B, LOCK, LOCK_WRITE);
    at(&l, LOCK_EVENT_BEGIN, 14, A, OTHER, LOCK_SPIN); /* in an interrupt */
    at(&l, LOCK_EVENT_END, 15, A, OTHER, 0);
    at(&l, LOCK_EVENT_END, 20, A, LOCK, 0);
    at(&l, LOCK_EVENT_END, 32, B, LOCK, 0);
    at(&l, LOCK_EVENT_BEGIN, 40, A, LOCK, LOCK_WRITE); /* does not end */
    locks_finish(&l);
    lock_table_sort(&t, LOCK_TOTAL);
    assert_int_equal(t.rows.count, 2);
    assert_int_equal(t.rows.items[0].address, LOCK);
    assert_int_equal(t.rows.items[0].contended, 2);
    assert_int_equal(t.rows.items[0].total_ns, 30);
    assert_int_equal(t.rows.items[0].max_ns, 20);
    assert_int_equal(t.rows.items[0].min_ns, 10);
    assert_int_equal(lock_row_value(&t.rows.items[0], LOCK_AVG), 15);
    assert_int_equal(t.rows.items[1].total_ns, 1);
    assert_int_equal(l.faults.unbegun, 1);
    assert_int_equal(l.faults.unended, 1);
    locks_fini(&l);
    lock_table_fini(&t);
}

/* Waits of two threads by their control groups; what was begun in one group counts for it. */
static void test_groups(void **state) {
    static const struct lock_event EVENTS[] = {
        {.kind = LOCK_EVENT_BEGIN, .time_ns = 10, .tid = A, .address = LOCK, .flags = LOCK_SPIN, .group = 7},
        {.kind = LOCK_EVENT_BEGIN, .time_ns = 11, .tid = B, .address = LOCK, .flags = LOCK_SPIN, .group = 8},
        {.kind = LOCK_EVENT_END, .time_ns = 20, .tid = A, .address = LOCK, .group = 8},
        {.kind = LOCK_EVENT_END, .time_ns = 31, .tid = B, .address = LOCK, .group = 8},
    };
    struct lock_table t = {.by = LOCK_BY_GROUP};
    struct locks l;
    (void)state;
    locks_init(&l, lock_table_add, &t);
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++)
        assert_true(locks_apply(&l, &EVENTS[i]));
    lock_table_sort(&t, LOCK_TOTAL);
    assert_int_equal(t.rows.count, 2);
    assert_true(t.rows.items[0].group == 8 && t.rows.items[0].total_ns == 20);
    assert_true(t.rows.items[1].group == 7 && t.rows.items[1].total_ns == 10);
    locks_fini(&l);
    lock_table_fini(&t);
}

/* A mutex that stops spinning says so by another BEGIN: one wait. */
static void test_mutex(void **state) {
    struct lock_table t = {.by = LOCK_BY_SITE};
    struct locks l;
    (void)state;
    locks_init(&l, lock_table_add, &t);
    at(&l, LOCK_EVENT_BEGIN, 10, A, LOCK, LOCK_MUTEX | LOCK_SPIN);
    at(&l, LOCK_EVENT_BEGIN, 30, A, LOCK, LOCK_MUTEX);
    at(&l, LOCK_EVENT_END, 100, A, LOCK, 0);
    assert_int_equal(t.rows.count, 1);
    assert_int_equal(t.rows.items[0].total_ns, 90);
    assert_string_equal(lock_type_name(t.rows.items[0].type, false), "mutex");
    at(&l, LOCK_EVENT_BEGIN, 110, A, LOCK, LOCK_SPIN); /* another lock, at this address now */
    at(&l, LOCK_EVENT_BEGIN, 120, A, LOCK, LOCK_MUTEX);
    at(&l, LOCK_EVENT_END, 119, A, LOCK, 0);
    assert_int_equal(l.faults.repeated, 1);
    assert_int_equal(l.faults.backwards, 1);
    assert_int_equal(t.rows.count, 1);
    locks_fini(&l);
    lock_table_fini(&t);
}

/* Idle threads are told apart by CPU; waits that are open when events are lost do not count. */
static void test_idle_and_losses(void **state) {
    struct lock_table t = {.by = LOCK_BY_THREAD};
    struct locks l;
    struct lock_event e = event(LOCK_EVENT_BEGIN, 10, 0, LOCK, LOCK_SPIN);
    (void)state;
    locks_init(&l, lock_table_add, &t);
    assert_true(locks_apply(&l, &e));
    e.cpu = 1;
    e.time_ns = 20;
    assert_true(locks_apply(&l, &e));
    e.kind = LOCK_EVENT_END;
    e.time_ns = 25;
    assert_true(locks_apply(&l, &e));
    e.cpu = 0;
    assert_true(locks_apply(&l, &e));
    assert_int_equal(t.rows.count, 1);
    assert_int_equal(t.rows.items[0].total_ns, 20);
    at(&l, LOCK_EVENT_BEGIN, 30, A, LOCK, LOCK_SPIN);
    at(&l, LOCK_EVENT_LOST, 40, 0, 0, 0);
    at(&l, LOCK_EVENT_END, 50, A, LOCK, 0);
    locks_finish(&l);
    assert_int_equal(l.faults.lost, 1);
    assert_int_equal(l.faults.unbegun, 1);
    assert_int_equal(t.rows.count, 1);
    locks_fini(&l);
    lock_table_fini(&t);
}

static void test_lockdep(void **state) {
    struct lock_table t = {.by = LOCK_BY_ADDRESS};
    struct locks l;
    (void)state;
    locks_init(&l, lock_table_add, &t);
    at(&l, LOCK_EVENT_ACQUIRE, 10, A, LOCK, 0);
    at(&l, LOCK_EVENT_ACQUIRED, 10, A, LOCK, 0); /* at once */
    at(&l, LOCK_EVENT_RELEASE, 12, A, LOCK, 0);
    at(&l, LOCK_EVENT_ACQUIRE, 20, A, LOCK, LOCK_ACQUIRE_TRY);
    at(&l, LOCK_EVENT_ACQUIRE, 30, B, LOCK, 0);
    at(&l, LOCK_EVENT_CONTENDED, 31, B, LOCK, 0);
    at(&l, LOCK_EVENT_ACQUIRED, 38, B, LOCK, 0);
    assert_int_equal(t.rows.items[0].acquired, 3);
    assert_int_equal(t.rows.items[0].contended, 1);
    assert_int_equal(t.rows.items[0].total_ns, 7);
    locks_fini(&l);
    lock_table_fini(&t);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(lock_type_name(lock_type(LOCK_READ), false), "rwsem:R");
    assert_string_equal(lock_type_name(lock_type(LOCK_PERCPU | LOCK_WRITE), true), "percpu-rwsem");
    assert_string_equal(lock_type_name(lock_type(LOCK_SPIN | LOCK_RT), false), "unknown");
    assert_string_equal(lock_type_name(99, true), "unknown");
    assert_int_equal(lock_types_named("rwsem", 5), 1 << lock_type(LOCK_READ) | 1 << lock_type(LOCK_WRITE));
    assert_int_equal(lock_types_named("rwsem:W", 7), 1 << lock_type(LOCK_WRITE));
    assert_int_equal(lock_types_named("pcpu-sem", 8), lock_types_named("percpu-rwsem", 12));
    assert_int_equal(lock_types_named("", 0), 0);
    assert_int_equal(lock_types_named("unknown", 7), 0);
    static const char *const LOCKS[] = {"_raw_spin_lock_irqsave",
                                        "down_read",
                                        "mutex_lock.constprop.0",
                                        "__schedule",
                                        "schedule",
                                        "rwsem_down_read_slowpath",
                                        "__pv_queued_spin_lock_slowpath",
                                        "down",
                                        "schedule_timeout"};
    static const char *const OTHERS[] = {"downgrade", "vm_mmap_pgoff", "scheduler_tick", "__x64_sys_munmap"};
    for (size_t i = 0; i < sizeof LOCKS / sizeof *LOCKS; i++)
        assert_true(call_site_is_lock(LOCKS[i]));
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(call_site_is_lock(OTHERS[i]));
}

static const char *name_it(void *ctx, uint64_t address, uint64_t *offset, char *room, size_t size) {
    static const char *const NAMES[] = {"bpf_prog_1_x", "rwsem_down_write_slowpath", "down_write",
                                        "vm_mmap_pgoff"};
    (void)ctx, (void)room, (void)size;
    *offset = 0x10;
    return address < 4 ? NAMES[address] : NULL;
}

static void test_sites(void **state) {
    static const uint64_t STACK[] = {0, 1, 2, 3, 0xabc};
    struct call_sites s = {.own = call_site_is_lock, .stacks = true};
    (void)state;
    uint32_t site = call_sites_of_addresses(&s, STACK, 5, name_it, NULL);
    assert_string_equal(strpool_text(&s.texts, s.list.items[site].name), "vm_mmap_pgoff+0x10");
    assert_int_equal(call_sites_of_addresses(&s, STACK, 5, name_it, NULL), site);
    assert_true(call_sites_of_addresses(&s, STACK, 4, name_it, NULL) != site); /* another stack */
    s.skip = 4;
    site = call_sites_of_addresses(&s, STACK, 5, name_it, NULL);
    assert_string_equal(strpool_text(&s.texts, s.list.items[site].name), "0xabc");
    site = call_sites_of_addresses(&s, NULL, 0, name_it, NULL);
    assert_string_equal(strpool_text(&s.texts, s.list.items[site].name), "Unknown");
    s.filter = "munmap";
    assert_true(call_sites_of_addresses(&s, STACK, 5, name_it, NULL) == CALL_SITE_FILTERED);
    s.filter = "mmap";
    assert_true(call_sites_of_addresses(&s, STACK, 5, name_it, NULL) < s.list.count);
    call_sites_fini(&s);
}

static void test_merge(void **state) {
    struct lock_table t = {.by = LOCK_BY_ADDRESS};
    struct lock_row a = {
        .address = LOCK, .acquired = 2, .contended = 2, .total_ns = 30, .max_ns = 20, .min_ns = 10};
    (void)state;
    assert_true(lock_table_merge(&t, &a));
    a.min_ns = 5;
    a.total_ns = UINT64_MAX;
    assert_true(lock_table_merge(&t, &a));
    assert_int_equal(t.rows.count, 1);
    assert_int_equal(t.rows.items[0].contended, 4);
    assert_int_equal(t.rows.items[0].min_ns, 5);
    assert_true(t.rows.items[0].total_ns == UINT64_MAX);
    lock_table_fini(&t);
}

/* Whatever comes: each wait that began is handed on once, is ignored, or is counted as a fault. */
static void test_random(void **state) {
    (void)state;
    srand(25);
    for (int round = 0; round < 200; round++) {
        struct lock_table t = {.by = (enum lock_by)(round % 4)};
        struct locks l;
        locks_init(&l, lock_table_add, &t);
        for (int i = 0; i < 300; i++)
            at(&l, (enum lock_event_kind)(rand() % LOCK_EVENT_KINDS), (uint64_t)(rand() % 1000),
               (uint32_t)(rand() % 4), (uint64_t)(rand() % 5), (unsigned)(rand() % 64));
        locks_finish(&l);
        for (size_t i = 0; i < t.rows.count; i++) {
            const struct lock_row *r = &t.rows.items[i];
            assert_true(r->contended <= r->acquired && r->min_ns <= r->max_ns && r->max_ns <= r->total_ns);
            assert_true(r->total_ns <= 1000 * r->contended);
        }
        lock_table_sort(&t, (enum lock_field)(round % LOCK_FIELDS));
        locks_fini(&l);
        lock_table_fini(&t);
    }
}

static void waits_of_one(void) {
    struct lock_table t = {.by = LOCK_BY_THREAD};
    struct locks l;
    struct lock_event begin = event(LOCK_EVENT_BEGIN, 1, A, LOCK, LOCK_SPIN);
    struct lock_event end = event(LOCK_EVENT_END, 2, A, LOCK, 0);
    locks_init(&l, lock_table_add, &t);
    bool ok = locks_apply(&l, &begin) && locks_apply(&l, &end);
    assert_true(ok || t.rows.count <= 1);
    locks_fini(&l);
    lock_table_fini(&t);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(waits_of_one());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),           cmocka_unit_test(test_groups),  cmocka_unit_test(test_mutex),
        cmocka_unit_test(test_idle_and_losses), cmocka_unit_test(test_lockdep), cmocka_unit_test(test_names),
        cmocka_unit_test(test_random),          cmocka_unit_test(test_sites),   cmocka_unit_test(test_merge),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
