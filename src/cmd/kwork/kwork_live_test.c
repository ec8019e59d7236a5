/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's work as the kernel summed it, over a bpf(2) that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/dist/kwork.h"
#include "cmd/kwork/kwork_live.h"
#include "os/bpf/bpf_fake.h"

enum { CPUS = 2, WORK = 0x1000 };

#define KIND(key, value, room) \
    { .key_bytes = sizeof(key), .value_bytes = sizeof(value), .entries = room }
/* As bpf/kwork.bpf.c declares them, for two CPUs. */
static const struct os_bpf_map_kind KINDS[KWORK_MAP_COUNT] = {
    [KWORK_MAP_ROWS] = KIND(struct bpf_kwork_key, struct bpf_kwork_row, 16),
    [KWORK_MAP_ITEMS] = KIND(uint64_t, struct bpf_kwork_item, 16),
    [KWORK_MAP_THREADS] = KIND(uint64_t, struct bpf_kwork_thread, 16),
    [KWORK_MAP_CPUS] = KIND(uint32_t, uint32_t, 16),
    [KWORK_MAP_STATES] = KIND(uint32_t, struct bpf_kwork_cpu[CPUS], 1),
    [KWORK_MAP_RAISED] = KIND(uint32_t, uint64_t[CPUS], BPF_KWORK_VECTORS),
};

struct fixture {
    struct os_bpf_fake bpf;
    struct kwork_choice choice;
    struct filter_ranges cpus;
    struct kwork_live live;
    struct kwork k;
    struct kwork_sums sums;
    struct kwork_top top;
    struct err err;
};

static void begin(struct fixture *f, bool threads, const char *cpus) {
    *f = (struct fixture){.choice = {.classes = {true, true, false}}, .err = ERR_INIT};
    os_bpf_fake_init(&f->bpf, &bpf_kwork);
    f->bpf.kinds = KINDS;
    assert_true(!cpus || filter_ranges_parse("--cpu", cpus, &f->cpus, &f->err));
    f->choice.cpus = &f->cpus;
    f->live = (struct kwork_live){.bpf = &f->bpf.bpf, .choice = &f->choice, .threads = threads};
    f->sums.choice = f->top.choice = &f->choice;
    kwork_init(&f->k, kwork_sums_add, &f->sums);
    assert_true(kwork_live_load(&f->live, &f->err));
    struct bpf_kwork_bss *times = os_bpf_data(&f->live.object, KWORK_MAP_BSS);
    *times = (struct bpf_kwork_bss){.begin_ns = 1000, .end_ns = 5000};
}

static void end(struct fixture *f) {
    kwork_live_close(&f->live);
    kwork_sums_fini(&f->sums);
    kwork_top_fini(&f->top);
    kwork_fini(&f->k);
    filter_ranges_fini(&f->cpus);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

static void put(struct fixture *f, uint32_t map, const void *key, const void *value) {
    assert_int_equal(os_bpf_update(&f->bpf.bpf, f->live.object.maps[map].fd, key, value), 0);
}

static void put_row(struct fixture *f, uint32_t class, uint64_t id, uint64_t count, const char *name) {
    const struct bpf_kwork_key key = {.id = id, .class = class, .cpu = 1};
    struct bpf_kwork_row row = {.run = {count, 10 * count, 10, 1200, 1210},
                                .delay = {count, 3 * count, 3, 1197, 1200}};
    memcpy(row.name, name, strlen(name));
    put(f, KWORK_MAP_ROWS, &key, &row);
}

static void put_states(struct fixture *f, const struct bpf_kwork_cpu states[CPUS]) {
    const uint32_t zero = 0;
    put(f, KWORK_MAP_STATES, &zero, states);
}

static void sums_are_rows(void **state) {
    struct fixture f;
    struct bpf_kwork_cpu states[CPUS] = {{.events = 40, .exits = 1}, {.events = 2, .entries = 3, .depth = 1}};
    const struct bpf_kwork_item items[] = {{.raise_ns = 7}, {.since_ns = 8}, {.cpu = 1}};
    const uint64_t raised[CPUS] = {0, 9};
    const struct kwork_order order = {.keys = {KWORK_COUNT}, .count = 1};
    const uint32_t vector = 3;
    (void)state;
    begin(&f, false, NULL);
    put_states(&f, states);
    for (uint64_t i = 0; i < 3; i++)
        put(&f, KWORK_MAP_ITEMS, &i, &items[i]);
    put(&f, KWORK_MAP_RAISED, &vector, raised);
    put_row(&f, BPF_KWORK_IRQ, 36, 5, "disk");
    put_row(&f, BPF_KWORK_SOFTIRQ, 9, 7, "");
    put_row(&f, BPF_KWORK_WORKQUEUE, WORK, 9, ""); /* a class that nobody wants */
    put_row(&f, 77, 1, 1, "");                     /* none at all */
    assert_true(kwork_live_sums(&f.live, &f.k, &f.sums, &f.err));
    kwork_sums_finish(&f.sums, &f.k, &order);
    assert_int_equal(f.sums.rows.count, 2);
    const struct kwork_row *first = &f.sums.rows.items[0], *second = &f.sums.rows.items[1];
    const struct kwork_work *disk = kwork_work(&f.k, second->work);
    assert_int_equal(kwork_work(&f.k, first->work)->class, KWORK_SOFTIRQ);
    assert_true(first->run.count == 7 && first->run.total_ns == 70 && first->delay.total_ns == 21);
    assert_true(second->run.max_since_ns == 1200 && second->run.max_until_ns == 1210);
    assert_true(disk->class == KWORK_IRQ && disk->id == 36 && disk->cpu == 1);
    assert_string_equal(strpool_text(&f.k.names, disk->name), "disk");
    assert_int_equal(f.k.now_ns - f.k.begin_ns, 4000);
    assert_int_equal(f.k.faults.events, 42);
    assert_int_equal(f.k.faults.exits, 1);
    assert_int_equal(f.k.faults.entries, 3 + 1 + 1);
    assert_int_equal(f.k.faults.raises, 1 + 1);
    end(&f);
}

static void threads_and_cpus(void **state) {
    struct fixture f;
    struct bpf_kwork_cpu states[CPUS] = {
        {.run_ns = 1}, /* where nothing was seen */
        {.begun = 1, .run_ns = 3000, .idle_ns = 900, .irq_ns = 20, .softirq_ns = 30, .idle_inner_ns = 40}};
    const struct bpf_kwork_thread threads[] = {{.run_ns = 2000, .inner_ns = 10, .comm = "worker"},
                                               {.run_ns = 1000, .comm = ""},
                                               {.run_ns = 900, .inner_ns = 40, .comm = "swapper/1"}};
    const uint64_t keys[] = {101, 102, UINT64_C(1) << 32 | 1};
    (void)state;
    begin(&f, true, "1");
    put_states(&f, states);
    for (size_t i = 0; i < 3; i++)
        put(&f, KWORK_MAP_THREADS, &keys[i], &threads[i]);
    assert_true(kwork_live_top(&f.live, &f.top, &f.err));
    kwork_top_finish(&f.top, false);
    assert_int_equal(f.top.window_ns, 4000);
    assert_int_equal(f.top.cpus.count, 1);
    assert_true(f.top.cpus.items[0].number == 1 && f.top.cpus.items[0].idle_ns == 900 - 40);
    assert_int_equal(f.top.threads.count, 2); /* none is idle */
    assert_int_equal(f.top.threads.items[0].tid, 101);
    assert_int_equal(f.top.threads.items[0].run_ns, 1990);
    assert_string_equal(kwork_top_name(&f.top, &f.top.threads.items[0]), "worker");
    assert_null(kwork_top_name(&f.top, &f.top.threads.items[1]));
    end(&f);
}

static void options_that_do_not_fit(void **state) {
    struct kwork_common c = {.times = "1,2"};
    (void)state;
    assert_null(kwork_live_wrong(&c, false));
    assert_non_null(kwork_live_wrong(&c, true)); /* a command without -b */
    c.use_bpf = true;
    assert_non_null(kwork_live_wrong(&c, true));
    c = (struct kwork_common){.use_bpf = true, .input = "x"};
    assert_non_null(kwork_live_wrong(&c, false));
    c.input = NULL;
    assert_null(kwork_live_wrong(&c, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_rows),
        cmocka_unit_test(threads_and_cpus),
        cmocka_unit_test(options_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
