/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/dist/tasks.h"
#include "os/bpf/bpf_fake.h"
#include "os/bpf/bpf_ring.h"
#include "os/limits.h"
#include "tests/support/fail_alloc.h"

/* A code with each kind of map and program; the fake does not look at the loader. */
static const uint8_t START[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const struct os_bpf_map_row MAPS[] = {
    {"counts", {NULL, 0}}, {"rodata", {START, 8}}, {"bss", {START, 8}}};
static const struct os_bpf_program_row PROGRAMS[] = {{"on_switch", OS_BPF_ATTACH_BTF, NULL},
                                                     {"on_enter", OS_BPF_ATTACH_RAW, "sys_enter"},
                                                     {"all", OS_BPF_ATTACH_ITER, NULL}};
static const struct os_bpf_code CODE = {.name = "made_up",
                                        .data = {START, 8},
                                        .insns = {START, 8},
                                        .maps = MAPS,
                                        .map_count = 3,
                                        .programs = PROGRAMS,
                                        .program_count = 3};
static const struct os_bpf_map_kind KINDS[] = {{.key_bytes = 4, .value_bytes = 8, .entries = 4},
                                               {.key_bytes = 4, .value_bytes = 8, .entries = 1},
                                               {.key_bytes = 4, .value_bytes = 8, .entries = 1}};

struct refusal {
    int command, error;
    uint32_t times; /* 0: always */
};

static int refuse(void *ctx, int command) {
    struct refusal *r = ctx;
    if (command != r->command || r->error == 0)
        return 0;
    int error = r->error;
    if (r->times && --r->times == 0)
        r->error = 0;
    return error;
}

static void fake_for(struct os_bpf_fake *f, struct refusal *r) {
    os_bpf_fake_init(f, &CODE);
    f->kinds = KINDS;
    f->refuse = r ? refuse : NULL;
    f->refuse_ctx = r;
}

static void loads_and_runs(void **state) {
    (void)state;
    struct os_bpf_fake f;
    struct os_bpf_object o;
    struct err e = ERR_INIT;
    fake_for(&f, NULL);
    assert_true(os_bpf_open(&o, &f.bpf, &CODE, &e));
    assert_memory_equal(os_bpf_data(&o, 1), START, 8);
    os_bpf_set_entries(&o, 0, 7);
    assert_true(os_bpf_load(&o, false, &e));
    assert_null(os_bpf_data(&o, 1));
    assert_non_null(os_bpf_data(&o, 2));
    assert_true(os_bpf_attach(&o, &e));
    assert_true(o.programs[0].link > 0 && o.programs[1].link > 0);
    assert_int_equal(o.programs[2].link, -1);
    assert_int_equal(os_bpf_fake_open(&f), 3 + 3 + 2); /* neither the loader nor its data */
    assert_int_equal(f.fds.items[o.maps[0].fd - OS_BPF_FAKE_FD].max_entries, 7);
    os_bpf_detach(&o);
    assert_int_equal(os_bpf_fake_open(&f), 3 + 3);
    os_bpf_close(&o);
    os_bpf_close(&o);
    assert_int_equal(os_bpf_fake_open(&f), 0);
    os_bpf_fake_fini(&f);
}

static void refusals_are_explained(void **state) {
    (void)state;
    static const struct {
        struct refusal r;
        bool no_types, verbose;
        enum err_code code;
        const char *says;
    } CASES[] = {
        {{BPF_MAP_CREATE, EPERM, 0}, false, false, ERR_PERMISSION, "refuses BPF programs"},
        {{BPF_PROG_LOAD, EPERM, 0}, false, false, ERR_PERMISSION, "CAP_PERFMON"},
        {{BPF_MAP_CREATE, ENOSYS, 0}, false, false, ERR_UNSUPPORTED, "CONFIG_BPF_SYSCALL"},
        {{BPF_PROG_LOAD, EINVAL, 0}, false, false, ERR_UNSUPPORTED, "5.15"},
        {{BPF_BTF_LOAD, ENOENT, 0}, true, false, ERR_UNSUPPORTED, "CONFIG_DEBUG_INFO_BTF"},
        {{BPF_BTF_LOAD, EINVAL, 0}, false, false, ERR_UNSUPPORTED, "does not take"},
        {{BPF_BTF_LOAD, EINVAL, 0}, false, true, ERR_UNSUPPORTED, ": R1 invalid mem access"},
        {{BPF_BTF_LOAD, EACCES, 0}, false, false, ERR_UNSUPPORTED, "verifier refuses the BPF program"},
        {{BPF_BTF_LOAD, EACCES, 0}, false, false, ERR_UNSUPPORTED, "takes: R1 invalid mem access"},
        {{BPF_BTF_LOAD, EPERM, 0}, false, false, ERR_PERMISSION, "CAP_PERFMON"},
        {{BPF_MAP_UPDATE_ELEM, ENOMEM, 0}, false, false, ERR_MEMORY, ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct refusal r = CASES[i].r;
        struct os_bpf_fake f;
        struct os_bpf_object o;
        struct err e = ERR_INIT;
        fake_for(&f, &r);
        f.no_types = CASES[i].no_types;
        f.log = "0: (79) r1\nR1 invalid mem access\nprocessed 3 insns\n";
        assert_true(os_bpf_open(&o, &f.bpf, &CODE, &e));
        assert_false(os_bpf_load(&o, CASES[i].verbose, &e));
        assert_int_equal(e.code, CASES[i].code);
        if (!strstr(e.message, CASES[i].says))
            fail_msg("case %zu: %s", i, e.message);
        os_bpf_close(&o);
        assert_int_equal(os_bpf_fake_open(&f), 0);
        os_bpf_fake_fini(&f);
    }
}

static void attaching_can_fail(void **state) {
    (void)state;
    struct refusal r = {BPF_RAW_TRACEPOINT_OPEN, ENOENT, 1};
    struct os_bpf_fake f;
    struct os_bpf_object o;
    struct err e = ERR_INIT;
    fake_for(&f, &r);
    assert_true(os_bpf_open(&o, &f.bpf, &CODE, &e) && os_bpf_load(&o, false, &e));
    assert_false(os_bpf_attach(&o, &e));
    assert_non_null(strstr(e.message, "on_switch"));
    assert_true(os_bpf_attach(&o, &e));
    os_bpf_close(&o);
    assert_int_equal(os_bpf_fake_open(&f), 0);
    os_bpf_fake_fini(&f);
}

struct sum {
    uint64_t keys, values;
    uint32_t count, most;
};

static bool add(void *ctx, const void *key, const void *value) {
    struct sum *s = ctx;
    uint32_t k = 0;
    uint64_t v;
    if (key)
        memcpy(&k, key, sizeof k);
    memcpy(&v, value, sizeof v);
    s->keys += k;
    s->values += v;
    return ++s->count != s->most;
}

static void whole_maps_are_read(void **state) {
    (void)state;
    static const struct os_bpf_map_kind KIND = {
        "a name longer than the room", BPF_MAP_TYPE_HASH, 0, 4, 8, 3000};
    struct refusal r = {BPF_MAP_LOOKUP_BATCH, ENOSPC, 2};
    struct os_bpf_fake f;
    fake_for(&f, &r);
    int map = os_bpf_make_map(&f.bpf, &KIND);
    struct sum empty = {0}, all = {0}, some = {.most = 10}, none = {0};
    assert_int_equal(os_bpf_each(&f.bpf, map, 4, 8, add, &empty), 0);
    assert_int_equal(empty.count, 0);
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t v = (uint64_t)i * i;
        assert_int_equal(os_bpf_update(&f.bpf, map, &i, &v), 0);
    }
    assert_int_equal(os_bpf_update(&f.bpf, map, &(uint32_t){3000}, &(uint64_t){1}), -E2BIG);
    assert_int_equal(os_bpf_each(&f.bpf, map, 4, 8, add, &all), 0);
    assert_int_equal(all.count, 3000);
    assert_true(all.keys == 2999ull * 3000 / 2 && all.values == 2999ull * 3000 * 5999 / 6);
    assert_int_equal(os_bpf_each(&f.bpf, map, 4, 8, add, &some), 0);
    assert_int_equal(some.count, 10);
    uint64_t v;
    assert_int_equal(os_bpf_lookup(&f.bpf, map, &(uint32_t){77}, &v), 0);
    assert_true(v == 77 * 77);
    assert_int_equal(os_bpf_delete(&f.bpf, map, &(uint32_t){77}), 0);
    assert_int_equal(os_bpf_lookup(&f.bpf, map, &(uint32_t){77}, &v), -ENOENT);
    r = (struct refusal){BPF_MAP_LOOKUP_BATCH, EPERM, 0};
    assert_int_equal(os_bpf_each(&f.bpf, map, 4, 8, add, &none), -EPERM);
    r.error = 0;
    FAIL_EACH_ALLOC(os_bpf_each(&f.bpf, map, 4, 8, add, &none));
    os_bpf_fake_fini(&f);
}

static void iterators_are_read_to_the_end(void **state) {
    (void)state;
    uint64_t rows[100];
    for (uint64_t i = 0; i < 100; i++)
        rows[i] = i;
    for (size_t most = 0; most < 20; most += 5) { /* rows are cut by reads */
        struct os_bpf_fake f;
        struct os_bpf_object o;
        struct err e = ERR_INIT;
        struct sum s = {0}, few = {.most = 3};
        fake_for(&f, NULL);
        f.iterated = (struct bytes){(const uint8_t *)rows, sizeof rows};
        f.read_most = most;
        assert_true(os_bpf_open(&o, &f.bpf, &CODE, &e) && os_bpf_load(&o, false, &e));
        assert_true(os_bpf_iterate(&o, 2, 8, add, &s, &e));
        assert_true(s.count == 100 && s.values == 4950);
        assert_true(os_bpf_iterate(&o, 2, 8, add, &few, &e));
        assert_int_equal(few.count, 3);
        FAIL_EACH_ALLOC(os_bpf_iterate(&o, 2, 8, add, &few, &e));
        os_bpf_close(&o);
        assert_int_equal(os_bpf_fake_open(&f), 0);
        os_bpf_fake_fini(&f);
    }
}

/* --- rings --- */

struct taken {
    uint32_t words[8], count, most;
};

static bool take(void *ctx, struct bytes record) {
    struct taken *t = ctx;
    assert_int_equal(record.size, 4);
    memcpy(&t->words[t->count++], record.data, 4);
    return t->count != t->most;
}

/* As the kernel writes it: a record of one word, 16 bytes in all. */
static void put_word(struct os_bpf_ring *r, unsigned long *end, uint32_t header, uint32_t word) {
    uint8_t *at = r->producer + os_limits_page_bytes() + (*end & (r->bytes - 1));
    memcpy(at, &header, 4);
    memcpy(at + BPF_RINGBUF_HDR_SZ, &word, 4);
    *end += 16;
    memcpy(r->producer, end, sizeof *end);
}

static void rings_are_read_in_order(void **state) {
    (void)state;
    static const struct os_bpf_map_kind KIND = {"ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 0, 4096};
    struct os_bpf_fake f;
    struct os_bpf_ring r;
    struct err e = ERR_INIT;
    struct taken t = {0}, one = {.most = 1};
    unsigned long end = 0;
    fake_for(&f, NULL);
    assert_true(os_bpf_ring_open(&r, &f.bpf, os_bpf_make_map(&f.bpf, &KIND), 4096, &e));
    assert_int_equal(os_bpf_ring_take(&r, take, &t), 0);
    put_word(&r, &end, 4, 11);
    put_word(&r, &end, 4 | BPF_RINGBUF_DISCARD_BIT, 12);
    put_word(&r, &end, 4, 13);
    put_word(&r, &end, 4 | BPF_RINGBUF_BUSY_BIT, 14);
    put_word(&r, &end, 4, 15);
    assert_int_equal(os_bpf_ring_take(&r, take, &one), 1);
    assert_int_equal(os_bpf_ring_take(&r, take, &t), 1);
    assert_true(one.words[0] == 11 && t.words[0] == 13);
    unsigned long busy = 48;
    put_word(&r, &busy, 4, 14); /* written now */
    memcpy(r.producer, &end, sizeof end);
    assert_int_equal(os_bpf_ring_take(&r, take, &t), 2);
    assert_true(t.words[1] == 14 && t.words[2] == 15);
    put_word(&r, &end, 4000, 0); /* longer than what there is */
    assert_int_equal(os_bpf_ring_take(&r, take, &t), -EBADMSG);
    os_bpf_ring_close(&r);
    os_bpf_ring_close(&r);
    os_bpf_fake_fini(&f);
}

static void no_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC({
        struct os_bpf_fake f;
        struct os_bpf_object o;
        struct err e = ERR_INIT;
        fake_for(&f, NULL);
        if (os_bpf_open(&o, &f.bpf, &CODE, &e) && os_bpf_load(&o, false, &e))
            os_bpf_attach(&o, &e);
        os_bpf_close(&o);
        os_bpf_fake_fini(&f);
    });
}

/* --- the kernel's own, where it allows BPF --- */

struct search {
    uint32_t tid, rows;
    struct bpf_task_row found;
};

static bool look(void *ctx, const void *key, const void *value) {
    struct search *s = ctx;
    const struct bpf_task_row *row = value;
    (void)key;
    s->rows++;
    if (row->tid == s->tid)
        s->found = *row;
    return true;
}

static void kernel_lists_this_thread(void **state) {
    (void)state;
    struct os_bpf_object o;
    struct err e = ERR_INIT;
    struct search s = {.tid = (uint32_t)gettid()};
    char comm[16];
    assert_true(os_bpf_open(&o, &os_bpf_system, &bpf_tasks, &e));
    if (!os_bpf_load(&o, true, &e)) {
        printf("SKIP: %s\n", e.message);
        os_bpf_close(&o);
        skip();
    }
    assert_true(os_bpf_iterate(&o, TASKS_PROGRAM_TASKS, sizeof(struct bpf_task_row), look, &s, &e));
    prctl(PR_GET_NAME, comm);
    assert_true(s.rows > 1);
    assert_int_equal(s.found.pid, getpid());
    assert_string_equal(s.found.comm, comm);
    assert_int_equal(s.found.state, 0); /* it runs: it reads this */
    os_bpf_close(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_runs),
        cmocka_unit_test(refusals_are_explained),
        cmocka_unit_test(attaching_can_fail),
        cmocka_unit_test(whole_maps_are_read),
        cmocka_unit_test(iterators_are_read_to_the_end),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(rings_are_read_in_order),
        cmocka_unit_test(kernel_lists_this_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
