/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "states/kwork/kwork_top.h"
#include "states/print_names.h"
#include "tests/support/fail_alloc.h"

enum { ITEM = 0xf00, RUNS_MAX = 16 };

struct seen {
    struct kwork_run runs[RUNS_MAX];
    size_t count;
};

static bool see(void *ctx, const struct kwork *k, const struct kwork_run *run) {
    struct seen *s = ctx;
    assert_true(run->work < k->works.count && s->count < RUNS_MAX);
    s->runs[s->count++] = *run;
    return true;
}

static bool tell(struct kwork *k, enum kwork_event_kind kind, enum kwork_class class, uint64_t time_ns,
                 uint32_t cpu, uint64_t id) {
    return kwork_apply(
        k, &(struct kwork_event){.kind = kind, .class = class, .time_ns = time_ns, .cpu = cpu, .id = id});
}

static void check_run(const struct kwork_run *r, uint64_t since_ns, uint64_t until_ns, uint64_t inner_ns,
                      bool nested) {
    assert_int_equal(r->since_ns, since_ns);
    assert_int_equal(r->until_ns, until_ns);
    assert_int_equal(r->inner_ns, inner_ns);
    assert_int_equal(r->nested, nested);
}

/* An interrupt in a soft interrupt, which was raised twice. */
static bool nested(struct kwork *k) {
    return tell(k, KWORK_RAISE, KWORK_SOFTIRQ, 5, 0, 3) && tell(k, KWORK_RAISE, KWORK_SOFTIRQ, 8, 0, 3) &&
           tell(k, KWORK_ENTRY, KWORK_SOFTIRQ, 10, 0, 3) && tell(k, KWORK_ENTRY, KWORK_IRQ, 12, 0, 40) &&
           tell(k, KWORK_RAISE, KWORK_SOFTIRQ, 13, 0, 3) && tell(k, KWORK_EXIT, KWORK_IRQ, 16, 0, 40) &&
           tell(k, KWORK_EXIT, KWORK_SOFTIRQ, 20, 0, 3) && tell(k, KWORK_ENTRY, KWORK_SOFTIRQ, 21, 0, 3) &&
           tell(k, KWORK_EXIT, KWORK_SOFTIRQ, 22, 0, 3);
}

static void test_nested(void **state) {
    (void)state;
    struct seen seen = {0};
    struct kwork k;
    kwork_init(&k, see, &seen);
    assert_true(nested(&k));
    kwork_finish(&k);
    assert_int_equal(seen.count, 3);
    check_run(&seen.runs[0], 12, 16, 0, true);
    check_run(&seen.runs[1], 10, 20, 4, false);
    check_run(&seen.runs[2], 21, 22, 0, false);
    assert_true(!seen.runs[0].raised && seen.runs[1].raised && seen.runs[2].raised);
    assert_int_equal(seen.runs[1].raise_ns, 5); /* the first time counts */
    assert_int_equal(seen.runs[2].raise_ns, 13);
    assert_int_equal(k.works.count, 2);
    assert_int_equal(k.faults.raises + k.faults.entries + k.faults.exits, 0);
    kwork_fini(&k);
}

/* A work item is activated on one CPU, begins on another and ends on a third. */
static void test_items_move(void **state) {
    (void)state;
    struct seen seen = {0};
    struct kwork k;
    kwork_init(&k, see, &seen);
    assert_true(tell(&k, KWORK_RAISE, KWORK_WORKQUEUE, 1, 0, ITEM) &&
                tell(&k, KWORK_ENTRY, KWORK_WORKQUEUE, 4, 1, ITEM) &&
                tell(&k, KWORK_RAISE, KWORK_WORKQUEUE, 5, 1, ITEM) &&
                tell(&k, KWORK_EXIT, KWORK_WORKQUEUE, 9, 2, ITEM));
    kwork_finish(&k);
    assert_int_equal(seen.count, 1);
    check_run(&seen.runs[0], 4, 9, 0, false);
    assert_int_equal(seen.runs[0].cpu, 1);
    assert_int_equal(seen.runs[0].raise_ns, 1);
    assert_int_equal(k.faults.raises, 1); /* the second one */
    kwork_fini(&k);
}

/* No work continues across a loss on its CPU, and no work item across any loss. */
static void test_loss(void **state) {
    (void)state;
    struct seen seen = {0};
    struct kwork k;
    kwork_init(&k, see, &seen);
    assert_true(
        tell(&k, KWORK_ENTRY, KWORK_IRQ, 1, 0, 7) && tell(&k, KWORK_RAISE, KWORK_SOFTIRQ, 1, 1, 2) &&
        tell(&k, KWORK_ENTRY, KWORK_IRQ, 2, 1, 7) && tell(&k, KWORK_ENTRY, KWORK_WORKQUEUE, 2, 1, ITEM) &&
        tell(&k, KWORK_LOST, KWORK_IRQ, 3, 1, 0) && tell(&k, KWORK_EXIT, KWORK_IRQ, 4, 0, 7) &&
        tell(&k, KWORK_EXIT, KWORK_IRQ, 5, 1, 7) && tell(&k, KWORK_EXIT, KWORK_WORKQUEUE, 6, 1, ITEM) &&
        tell(&k, KWORK_ENTRY, KWORK_SOFTIRQ, 7, 1, 2) && tell(&k, KWORK_EXIT, KWORK_SOFTIRQ, 8, 1, 2));
    kwork_finish(&k);
    assert_int_equal(seen.count, 2);
    check_run(&seen.runs[0], 1, 4, 0, false);
    check_run(&seen.runs[1], 7, 8, 0, false);
    assert_false(seen.runs[1].raised);
    assert_int_equal(k.faults.exits, 2);
    assert_int_equal(k.faults.entries, 2);
    assert_int_equal(k.faults.raises, 1);
    kwork_fini(&k);
}

/* Halves of pairs are counted; the outer one of a pair that was broken still has its time. */
static void test_halves(void **state) {
    (void)state;
    struct seen seen = {0};
    struct kwork k;
    kwork_init(&k, see, &seen);
    assert_true(tell(&k, KWORK_EXIT, KWORK_IRQ, 1, 0, 7) && tell(&k, KWORK_ENTRY, KWORK_SOFTIRQ, 2, 0, 1) &&
                tell(&k, KWORK_ENTRY, KWORK_IRQ, 3, 0, 7) && tell(&k, KWORK_EXIT, KWORK_SOFTIRQ, 9, 0, 1) &&
                tell(&k, KWORK_EXIT, KWORK_IRQ, 10, 0, 7) && tell(&k, KWORK_ENTRY, KWORK_IRQ, 11, 0, 8) &&
                tell(&k, KWORK_ENTRY, KWORK_IRQ, 12, 0, 8) && tell(&k, KWORK_EXIT, KWORK_IRQ, 13, 0, 8));
    kwork_finish(&k);
    assert_int_equal(seen.count, 2);
    check_run(&seen.runs[0], 2, 9, 0, false);
    check_run(&seen.runs[1], 12, 13, 0, false);
    assert_int_equal(k.faults.exits, 2);
    assert_int_equal(k.faults.entries, 2);
    kwork_fini(&k);
}

static void test_sums(void **state) {
    (void)state;
    struct kwork_choice choice = {.classes = {true, true, true}};
    struct kwork_sums sums = {.choice = &choice};
    struct kwork_order order = {.delays = false};
    struct bytes bad;
    struct kwork k;
    kwork_init(&k, kwork_sums_add, &sums);
    assert_true(nested(&k));
    assert_true(kwork_order_parse("count,max", &order, &bad));
    kwork_sums_finish(&sums, &k, &order);
    assert_int_equal(sums.rows.count, 2);
    const struct kwork_row *soft = &sums.rows.items[0];
    assert_int_equal(kwork_work(&k, soft->work)->class, KWORK_SOFTIRQ);
    assert_true(soft->run.count == 2 && soft->run.total_ns == 11 && soft->run.max_ns == 10);
    assert_true(soft->delay.count == 2 && soft->delay.total_ns == 13 && soft->delay.max_since_ns == 13);
    assert_false(kwork_order_parse("avg", &order, &bad)); /* of delays only */
    assert_false(kwork_order_parse("", &order, &bad));
    order.delays = true;
    assert_true(kwork_order_parse("avg,avg,count", &order, &bad));
    assert_int_equal(order.count, 2);
    kwork_sums_fini(&sums);
    kwork_fini(&k);
}

/* A thread runs for 100 ns, of which a soft interrupt took 10, and of these an interrupt 4. */
static void test_top(void **state) {
    (void)state;
    struct kwork_choice choice = {.classes = {true, true, true}};
    struct states states;
    struct kwork_top top = {.choice = &choice, .states = &states};
    struct kwork k;
    states_init(&states, kwork_top_interval, &top);
    kwork_init(&k, kwork_top_run, &top);
    struct states_event e = {.kind = STATES_IN, .time_ns = 0, .cpu = 0, .tid = 9, .other = STATES_NONE};
    assert_true(states_apply(&states, &e));
    assert_true(nested(&k));
    e = (struct states_event){.kind = STATES_OUT,
                              .time_ns = 100,
                              .cpu = 0,
                              .tid = 9,
                              .other = STATES_NONE,
                              .state = STATES_SLEEPING};
    assert_true(states_apply(&states, &e) && states_finish(&states));
    kwork_top_finish(&top, false);
    assert_int_equal(top.threads.count, 1);
    assert_int_equal(top.threads.items[0].run_ns, 100 - 11);
    assert_int_equal(top.cpus.count, 1);
    assert_true(top.cpus.items[0].irq_ns == 4 && top.cpus.items[0].softirq_ns == 6 + 1);
    assert_int_equal(top.cpus.items[0].run_ns, 100);
    assert_int_equal(top.window_ns, 100);
    kwork_top_fini(&top);
    kwork_fini(&k);
    states_fini(&states);
}

static void test_names(void **state) {
    (void)state;
    static const char format[] =
        "name: x\nprint fmt: \"vec=%u\", __print_symbolic(REC->vec, { 0, \"HI\" }, { 0x1f, \"TIMER\" }, { 2";
    struct print_name names[4];
    struct bytes b = {(const uint8_t *)format, sizeof format - 1};
    assert_int_equal(print_names_read(b, "__print_symbolic(REC->vec", names, 4), 2);
    assert_true(names[0].number == 0 && names[0].text.size == 2 && names[1].number == 31);
    assert_memory_equal(names[1].text.data, "TIMER", 5);
    assert_int_equal(print_names_read(b, "__print_symbolic(REC->vec", names, 1), 1);
    assert_int_equal(print_names_read(b, "__print_flags(", names, 4), 0);
    assert_int_equal(print_names_read((struct bytes){NULL, 0}, "x", names, 4), 0);
}

static void run_short(void) {
    struct seen seen = {0};
    struct kwork k;
    kwork_init(&k, see, &seen);
    bool ok = nested(&k);
    assert_true(!ok || seen.count == 3);
    kwork_fini(&k);
}

static void test_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(run_short());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested), cmocka_unit_test(test_items_move), cmocka_unit_test(test_loss),
        cmocka_unit_test(test_halves), cmocka_unit_test(test_sums),       cmocka_unit_test(test_top),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
