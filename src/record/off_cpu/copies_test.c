/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "os/bpf/bpf_fake.h"
#include "os/bpf/bpf_maps.h"
#include "os/proc/proc_fake.h"
#include "record/off_cpu/code_ranges.h"
#include "record/off_cpu/copies.h"
#include "record/plan/plan.h"
#include "tests/support/fail_alloc.h"

enum { BYTES = BPF_OFF_CPU_PAGE + 1000, HASH = 99 };

struct fixture {
    struct os_bpf_fake bpf;
    struct os_bpf_object object;
    struct record_copies copies;
    struct bpf_off_cpu_bss *bss;
    struct err err;
};

static const struct os_bpf_map_kind KINDS[OFF_CPU_MAP_COUNT] = {
    [OFF_CPU_MAP_PAGES] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_off_cpu_page), .entries = 20},
    [OFF_CPU_MAP_COPIES] = {.key_bytes = sizeof(struct bpf_off_cpu_copy_key),
                            .value_bytes = sizeof(struct bpf_off_cpu_copy),
                            .entries = 20},
    [OFF_CPU_MAP_CODE] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_off_cpu_code), .entries = 4},
};

static bool begin(struct fixture *f, uint32_t bytes) {
    *f = (struct fixture){.err = ERR_INIT};
    os_bpf_fake_init(&f->bpf, &bpf_off_cpu);
    f->bpf.kinds = KINDS;
    bool ok = os_bpf_open(&f->object, &f->bpf.bpf, &bpf_off_cpu, &f->err);
    record_copies_init(&f->copies, &f->object, bytes);
    if (!ok || !os_bpf_load(&f->object, false, &f->err))
        return false;
    f->bss = os_bpf_data(&f->object, OFF_CPU_MAP_BSS);
    return true;
}

static void end(struct fixture *f) {
    record_copies_fini(&f->copies);
    os_bpf_close(&f->object);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

static struct bpf_off_cpu_registers registers(uint64_t sp) {
    struct bpf_off_cpu_registers r = {.mask = record_plan_off_cpu_regs(), .abi = 2};
    r.values[r.mask == BPF_OFF_CPU_REGS_X86 ? 2 : 12] = sp;
    return r;
}

static int put_page(struct fixture *f, uint32_t number, uint8_t fill) {
    static struct bpf_off_cpu_page page;
    memset(page.bytes, fill, sizeof page.bytes);
    return os_bpf_update(&f->bpf.bpf, f->object.maps[OFF_CPU_MAP_PAGES].fd, &number, &page);
}

static int put_copy(struct fixture *f, uint64_t hash, uint32_t generation, uint32_t bytes, uint64_t mask) {
    struct bpf_off_cpu_copy_key key = {.hash = hash, .generation = generation};
    struct bpf_off_cpu_copy copy = {.registers = registers(0x7000), .first_page = 4, .bytes = bytes};
    copy.registers.mask = mask;
    return os_bpf_update(&f->bpf.bpf, f->object.maps[OFF_CPU_MAP_COPIES].fd, &key, &copy);
}

/* The bytes of the stack that the sample got. */
static size_t found(struct fixture *f, uint64_t hash) {
    struct perfdata_sample s = {.have = 0};
    bool is = record_copies_find(&f->copies, hash, &s);
    assert_int_equal(is, s.stack_user.size != 0);
    assert_int_equal(s.stack_dyn_size, s.stack_user.size);
    assert_int_equal(s.regs_user.values.count,
                     s.stack_user.size ? __builtin_popcountll(record_plan_off_cpu_regs()) : 0);
    return s.stack_user.size;
}

static void a_copy_is_put_together(void **state) {
    (void)state;
    struct fixture f;
    assert_true(begin(&f, BYTES));
    assert_int_equal(put_page(&f, 4, 1) | put_page(&f, 5, 2) |
                         put_copy(&f, HASH, 0, BYTES, record_plan_off_cpu_regs()),
                     0);
    struct perfdata_sample s = {.have = 0};
    record_copies_find(&f.copies, HASH, &s);
    if (record_plan_off_cpu_regs()) {
        assert_int_equal(s.stack_user.size, BYTES);
        assert_int_equal(s.stack_user.data[BPF_OFF_CPU_PAGE - 1], 1);
        assert_int_equal(s.stack_user.data[BPF_OFF_CPU_PAGE], 2);
        assert_int_equal(s.regs_user.abi, 2);
    }
    assert_int_equal(put_copy(&f, HASH + 1, 1, 20, record_plan_off_cpu_regs()), 0);
    if (record_plan_off_cpu_regs())
        assert_int_equal(found(&f, HASH + 1), 16); /* whole words */
    end(&f);
}

static void what_is_damaged_or_gone_is_left_out(void **state) {
    (void)state;
    struct fixture f;
    uint64_t mask = record_plan_off_cpu_regs();
    assert_true(begin(&f, BYTES));
    assert_int_equal(put_page(&f, 4, 1), 0); /* and no page 5 */
    assert_int_equal(put_copy(&f, 1, 0, UINT32_MAX, mask) | put_copy(&f, 2, 0, 4, mask) |
                         put_copy(&f, 3, 0, 64, ~0ull) | put_copy(&f, 4, 0, 64, 0),
                     0);
    size_t any = found(&f, 1) + found(&f, 2) + found(&f, 3) + (mask ? found(&f, 4) : 0) + found(&f, 5);
    assert_int_equal(any, 0);
    end(&f);
}

/* A generation is dropped when its sums have been taken, and those of the time in which that was done. */
static void generations(void **state) {
    (void)state;
    struct fixture f;
    if (!record_plan_off_cpu_regs())
        skip();
    assert_true(begin(&f, BYTES));
    assert_int_equal(put_page(&f, 4, 1) | put_copy(&f, HASH, 0, 64, record_plan_off_cpu_regs()), 0);
    assert_false(record_copies_due(&f.copies));
    f.bss->pages_used[0] = f.copies.pages / 2;
    assert_true(record_copies_due(&f.copies));
    assert_true(record_copies_turn(&f.copies));
    assert_int_equal(f.bss->generation, 1);
    assert_false(record_copies_due(&f.copies));
    assert_int_equal(f.bss->pages_used[0], f.copies.pages / 2);
    assert_int_equal(found(&f, HASH), 64);
    assert_true(record_copies_turn(&f.copies));
    assert_int_equal(f.bss->generation, 0);
    assert_int_equal(f.bss->pages_used[0], 0);
    assert_int_equal(found(&f, HASH), 0);
    end(&f);
}

static void without_copies(void **state) {
    (void)state;
    struct fixture f;
    struct bpf_off_cpu_still still = {.registers = registers(0x7000)};
    assert_true(begin(&f, 0));
    f.bss->pages_used[0] = UINT32_MAX;
    assert_false(record_copies_due(&f.copies));
    assert_true(record_copies_turn(&f.copies));
    assert_int_equal(f.bss->generation, 0);
    assert_int_equal(record_copies_read(&f.copies, NULL, &still), 0);
    end(&f);
}

/* Stacks of threads that still wait end where no memory is. */
static void a_stack_is_read_to_its_end(void **state) {
    (void)state;
    static const uint8_t CONTENT[5000] = {[4992] = 7};
    static const struct os_proc_fake_memory MEMORY[] = {{77, 0x7000, {CONTENT, sizeof CONTENT}, false}};
    const struct os_proc_fake fake = {.memory = MEMORY, .memory_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    struct bpf_off_cpu_still still = {.key = {.pid = 77}, .registers = registers(0x7000)};
    struct fixture f;
    if (!record_plan_off_cpu_regs())
        skip();
    assert_true(begin(&f, BYTES));
    uint32_t number = record_copies_read(&f.copies, &proc, &still);
    assert_int_equal(number, 1);
    still.key.pid = 78;
    assert_int_equal(record_copies_read(&f.copies, &proc, &still), 0);
    still.key.pid = 77;
    assert_int_equal(record_copies_read(&f.copies, &proc, &still), 2);
    struct perfdata_sample s = {.have = 0};
    record_copies_own(&f.copies, number, &s);
    assert_int_equal(s.stack_user.size, sizeof CONTENT);
    assert_int_equal(s.stack_user.data[4992], 7);
    uint64_t n = 2;
    while (f.copies.own_bytes.size + f.copies.bytes <= RECORD_COPIES_BYTES && n < 10000)
        n += record_copies_read(&f.copies, &proc, &still) != 0;
    assert_int_equal(record_copies_read(&f.copies, &proc, &still), 0);
    assert_int_equal(f.copies.no_room, 1);
    record_copies_forget(&f.copies);
    assert_int_equal(record_copies_read(&f.copies, &proc, &still), 1);
    end(&f);
}

static void no_memory(void **state) {
    (void)state;
    static const uint8_t CONTENT[64] = {1};
    static const struct os_proc_fake_memory MEMORY[] = {{77, 0x7000, {CONTENT, sizeof CONTENT}, false}};
    const struct os_proc_fake fake = {.memory = MEMORY, .memory_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    const struct bpf_off_cpu_still still = {.key = {.pid = 77}, .registers = registers(0x7000)};
    FAIL_EACH_ALLOC({
        struct fixture f;
        struct perfdata_sample s = {.have = 0};
        if (begin(&f, BYTES) && !put_page(&f, 4, 1) &&
            !put_copy(&f, HASH, 0, 64, record_plan_off_cpu_regs())) {
            uint32_t number = record_copies_read(&f.copies, &proc, &still);
            if (number)
                record_copies_own(&f.copies, number, &s);
            record_copies_find(&f.copies, HASH, &s);
            record_copies_turn(&f.copies);
            record_copies_turn(&f.copies);
        }
        end(&f);
    });
}

static bool has_code(const struct bpf_off_cpu_code *c, uint64_t address) {
    for (uint32_t i = 0; i < BPF_OFF_CPU_RANGES; i++)
        if (address - c->ranges[i].start < c->ranges[i].size)
            return true;
    return false;
}

static void code_of_maps(void **state) {
    (void)state;
    static const char MAPS[] = "1000-2000 r--p 00000000 08:01 5 /bin/app\n"
                               "2000-4000 r-xp 00001000 08:01 5 /bin/app\n"
                               "4000-5000 r-xp 00000000 00:00 0 \n"
                               "9000-a000 rwxp 00000000 00:00 0 \n"
                               "7000-8000 r-xp 00000000 00:00 0 \n" /* not in order: not the kernel's text */
                               "b000-b000 r-xp 00000000 00:00 0 \n";
    struct bpf_off_cpu_code c = {.filled = 1};
    record_code_ranges((struct bytes){(const uint8_t *)MAPS, sizeof MAPS - 1}, &c);
    assert_true(c.ranges[0].start == 0x2000 && c.ranges[0].size == 0x3000);
    assert_true(c.ranges[1].start == 0x9000 && c.ranges[1].size == 0x1000);
    for (uint32_t i = 2; i < BPF_OFF_CPU_RANGES; i++)
        assert_true(c.ranges[i].start == UINT64_MAX && !c.ranges[i].size);
    record_code_ranges((struct bytes){NULL, 0}, &c);
    assert_true(c.ranges[0].start == UINT64_MAX);
}

/* More ranges than there is room for: all code is still in one, and the widest gaps still in none. */
static void much_code(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    struct bpf_off_cpu_code c = {.filled = 1};
    for (unsigned i = 0; i < 3 * BPF_OFF_CPU_RANGES; i++) {
        char line[64];
        unsigned start = 0x10000 + i * 0x4000 + i / BPF_OFF_CPU_RANGES * 0x1000000;
        int n = snprintf(line, sizeof line, "%x-%x r-xp 00000000 00:00 0 \n", start, start + 0x1000);
        writer_put(&w, line, (size_t)n);
    }
    record_code_ranges(writer_bytes(&w), &c);
    for (unsigned i = 0; i < 3 * BPF_OFF_CPU_RANGES; i++) {
        uint64_t start = 0x10000 + i * 0x4000ull + i / BPF_OFF_CPU_RANGES * 0x1000000ull;
        assert_true(has_code(&c, start) && has_code(&c, start + 0xfff));
    }
    for (uint32_t i = 0; i + 1 < BPF_OFF_CPU_RANGES; i++)
        assert_true(c.ranges[i].start + c.ranges[i].size <= c.ranges[i + 1].start);
    assert_false(has_code(&c, 0x10000 + BPF_OFF_CPU_RANGES * 0x4000 + 0x800000));
    writer_fini(&w);
}

static int put_asked(struct fixture *f, uint32_t pid, uint32_t filled) {
    struct bpf_off_cpu_code c = {.memory = 11, .pages = 22, .filled = filled};
    return os_bpf_update(&f->bpf.bpf, f->object.maps[OFF_CPU_MAP_CODE].fd, &pid, &c);
}

static void fill_code(const struct os_proc *proc) {
    static const uint32_t PIDS[] = {7, 8, 9};
    struct fixture f;
    struct bpf_off_cpu_code c;
    if (begin(&f, BYTES) && put_asked(&f, 7, 0) == 0 && put_asked(&f, 8, 0) == 0 &&
        put_asked(&f, 9, 1) == 0 && record_code_ranges_fill(&f.object, proc)) {
        int fd = f.object.maps[OFF_CPU_MAP_CODE].fd;
        assert_int_equal(os_bpf_lookup(&f.bpf.bpf, fd, &PIDS[0], &c), 0);
        assert_true(c.memory == 11 && c.pages == 22 && c.filled && c.ranges[0].start == 0x2000);
        assert_int_equal(os_bpf_lookup(&f.bpf.bpf, fd, &PIDS[1], &c), -ENOENT);
        assert_int_equal(os_bpf_lookup(&f.bpf.bpf, fd, &PIDS[2], &c), 0);
        assert_int_equal(c.ranges[0].start, 0);
    }
    end(&f);
}

/* What is asked for is filled, for the memory that it was asked for; who is gone makes room. */
static void code_that_is_asked_for(void **state) {
    (void)state;
    static const struct os_proc_fake_file MAPS = {"/proc/7/maps",
                                                  OS_PROC_TEXT("2000-3000 r-xp 00001000 08:01 5 /x\n")};
    const struct os_proc_fake fake = {.files = &MAPS, .file_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    FAIL_EACH_ALLOC(fill_code(&proc));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_maps),
        cmocka_unit_test(much_code),
        cmocka_unit_test(code_that_is_asked_for),
        cmocka_unit_test(a_copy_is_put_together),
        cmocka_unit_test(what_is_damaged_or_gone_is_left_out),
        cmocka_unit_test(generations),
        cmocka_unit_test(without_copies),
        cmocka_unit_test(a_stack_is_read_to_its_end),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
