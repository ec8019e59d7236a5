/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/bpf/bpf_fake.h"
#include "os/bpf/bpf_maps.h"
#include "os/proc/proc_fake.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_put_together),
        cmocka_unit_test(what_is_damaged_or_gone_is_left_out),
        cmocka_unit_test(generations),
        cmocka_unit_test(without_copies),
        cmocka_unit_test(a_stack_is_read_to_its_end),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
