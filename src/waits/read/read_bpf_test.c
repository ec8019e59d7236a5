/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up output of the iterators: rows in any order, ids that nobody has, a kernel that refuses. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/dist/waits.h"
#include "os/bpf/bpf_fake.h"
#include "os/proc/proc_fake.h"
#include "waits/read/read_bpf.h"

static const struct os_bpf_map_kind KINDS[WAITS_MAP_COUNT] = {
    [WAITS_MAP_NAMES] = {.key_bytes = 8, .value_bytes = BPF_WAITS_NAME, .entries = 16},
    [WAITS_MAP_RODATA] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_waits_rodata), .entries = 1},
    [WAITS_MAP_BSS] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_waits_bss), .entries = 1},
};

static void open_it(struct os_bpf_fake *f, struct waits_bpf *b) {
    struct err e = ERR_INIT;
    os_bpf_fake_init(f, &bpf_waits);
    f->kinds = KINDS;
    *b = (struct waits_bpf){0};
    assert_true(waits_bpf_open(b, &f->bpf, true, &e));
}

static void name(struct waits_bpf *b, uint64_t address, const char *text) {
    char value[BPF_WAITS_NAME] = {0};
    memcpy(value, text, strlen(text));
    assert_int_equal(os_bpf_update(b->object.bpf, b->object.maps[WAITS_MAP_NAMES].fd, &address, value), 0);
}

static void rows(void **state) {
    (void)state;
    static const struct bpf_waits_thread written[] = {
        {.tid = 30,
         .pid = 30,
         .inner_tid = 3,
         .state = 2,
         .call = 1,
         .cpu = 1,
         .exec_start = 500,
         .frames = 2,
         .stack = {0x10, 0x20},
         .args = {7, 8},
         .comm = "writer",
         .process = "writer"},
        {.tid = 0, .pid = 30, .comm = "none"}, /* not in our namespace */
        {.tid = 12,
         .pid = 11,
         .inner_tid = 12,
         .call = BPF_WAITS_NO_CALL,
         .on_cpu = 1,
         .comm = "second",
         .process = "app"},
        {.tid = 11,
         .pid = 11,
         .inner_tid = 11,
         .state = 1,
         .call = BPF_WAITS_OTHER_CPU,
         .frames = 4000000000u,
         .comm = "sixteen-bytes-al",
         .process = "sixteen-bytes-al"},
        {.tid = 11, .pid = 11, .inner_tid = 11, .comm = "again", .process = "again"},
        {.tid = 2,
         .pid = 2,
         .inner_tid = 2,
         .state = 0x402,
         .flags = 0x00200000,
         .call = BPF_WAITS_NO_CALL,
         .comm = "kthreadd"},
    };
    static const int64_t clocks[] = {-1, 2000};
    static const struct os_proc_fake_file files[] = {
        {.path = "/proc/11/task/11/syscall",
         .content = OS_PROC_TEXT("35 0x1 0x0 0x0 0x0 0x0 0x0 0x7fff00000000 0x7f0000000000\n")}};
    const struct os_proc_fake fake = {files, 1};
    const struct os_proc proc = os_proc_fake(&fake);
    struct os_bpf_fake f;
    struct waits_bpf b;
    struct waits w;
    struct err e = ERR_INIT;
    open_it(&f, &b);
    name(&b, 0x10, "io_schedule");
    name(&b, 0x20, "folio_wait_bit_common");
    f.iterated = (struct bytes){(const uint8_t *)written, sizeof written};
    f.read_most = 1000; /* rows come in pieces */
    waits_init(&w);
    assert_true(waits_read_bpf(
        &b, &w, &proc, &(struct waits_read_options){.stacks = true, .clock_ns = clocks, .cpus = 2}, &e));
    assert_int_equal(w.threads.count, 4);
    const struct waits_thread *t = w.threads.items;
    assert_string_equal(t[0].process, "[kernel]");
    assert_int_equal(t[0].state, 'I');
    assert_int_equal(t[1].tid, 11);
    assert_int_equal(t[1].call, 35); /* from /proc */
    assert_string_equal(t[1].comm, "sixteen-bytes-al");
    assert_int_equal(t[1].depth, BPF_WAITS_FRAMES); /* no more than there is room for */
    assert_true(t[2].running);
    assert_int_equal(t[2].state, 'R');
    assert_int_equal(t[3].state, 'D');
    assert_string_equal(t[3].site, "folio_wait_bit_common");
    assert_int_equal(t[3].depth, 2);
    assert_int_equal(t[3].since_ns, 1500);
    assert_int_equal(t[3].args[1], 8);
    assert_int_equal(waits_process(&w, 11)->count, 2);
    waits_fini(&w);
    waits_bpf_close(&b);
    assert_int_equal(os_bpf_fake_open(&f), 0);
    os_bpf_fake_fini(&f);
}

static void open_files(void **state) {
    (void)state;
    static const struct bpf_waits_file written[] = {
        {9, 1, 3, 0, 1}, {9, 2, 4, 0, 2}, {8, 0, 1, 1, 3}, {7, 3, 5, 1, 3}};
    struct os_bpf_fake f;
    struct waits_bpf b;
    struct waits_ends ends = {0};
    open_it(&f, &b);
    f.iterated = (struct bytes){(const uint8_t *)written, sizeof written};
    assert_true(waits_bpf_find_holders(&b, &ends));
    assert_int_equal(ends.holders.count, 3);
    assert_true(ends.holders.items[0].reads && !ends.holders.items[0].writes &&
                !ends.holders.items[0].socket);
    assert_true(ends.holders.items[1].writes && ends.holders.items[2].socket);
    waits_ends_fini(&ends);
    waits_bpf_close(&b);
    os_bpf_fake_fini(&f);
}

static int refuse_all(void *ctx, int command) {
    (void)ctx, (void)command;
    return EPERM;
}

static void refused(void **state) {
    (void)state;
    struct os_bpf_fake f;
    struct waits_bpf b = {0};
    struct err e = ERR_INIT;
    os_bpf_fake_init(&f, &bpf_waits);
    f.kinds = KINDS;
    f.refuse = refuse_all;
    assert_false(waits_bpf_open(&b, &f.bpf, false, &e));
    assert_int_not_equal(e.code, ERR_NONE);
    waits_bpf_close(&b);
    waits_bpf_close(&b);
    assert_int_equal(os_bpf_fake_open(&f), 0);
    os_bpf_fake_fini(&f);
}

static void states(void **state) {
    (void)state;
    static const struct {
        uint32_t state, exit_state;
        char letter;
    } cases[] = {{0, 0, 'R'},
                 {1, 0, 'S'},
                 {2, 0, 'D'},
                 {4, 0, 'T'},
                 {8, 0, 't'},
                 {0, 0x10, 'X'},
                 {0, 0x20, 'Z'},
                 {0x40, 0, 'P'},
                 {0x402, 0, 'I'},
                 {0x1000, 0, 'D'},
                 {0x8000, 0, 'D'},
                 {0x102, 0, 'D'},
                 {UINT32_MAX, UINT32_MAX, 'I'},
                 {0x2001, 0, 'S'}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(waits_bpf_state(cases[i].state, cases[i].exit_state), cases[i].letter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(open_files),
        cmocka_unit_test(refused),
        cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
