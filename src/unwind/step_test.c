/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/step.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "format/perfdata/perfdata_sample.h"
#include "tests/support/cfi_image.h"
#include "tests/support/fail_alloc.h"
#include "unwind/cache.h"
#include "unwind/expression.h"

/* Slots of x86-64: column + 1. */
enum { RAX = 1, RBX = 4, RBP = 7, RSP = 8, R12 = 13, R13 = 14, R14 = 15 };

/* A stack at 0x7000 whose words are what they are here. */
static uint64_t words[16];
static const struct unwind_stack STACK = {(const uint8_t *)words, 0x7000, sizeof words, false};

static struct unwind_regs regs_at(uint64_t ip, uint64_t sp, uint64_t fp) {
    struct unwind_regs r = {.known = (1ull << 17) - 1};
    r.value[UNWIND_IP] = ip;
    r.value[RSP] = sp;
    r.value[RBP] = fp;
    return r;
}

/* ---- rows made of tables ---- */

struct table {
    struct test_image image;
    struct object_cfi *cfi;
};

static struct table table_of(const struct unwind_cpu *cpu, const struct test_cfi *x) {
    struct table t;
    struct test_cfi whole = *x;
    whole.machine = cpu->machine;
    whole.wide = cpu->word == 8;
    whole.augmentation = x->augmentation ? x->augmentation : "zR";
    t.cfi = object_cfi_new(test_cfi_make(&whole, &t.image), (struct bytes){0}, NULL);
    assert_non_null(t.cfi);
    return t;
}

static void table_free(struct table *t) {
    object_cfi_free(t->cfi);
    test_image_fini(&t->image);
}

/* A step from `addr` by the table, either way; *flags: of the row. */
static enum unwind_result step_at(const struct table *t, const struct unwind_cpu *cpu, object_vaddr addr,
                                  bool exact, struct unwind_regs *regs, unsigned *flags) {
    struct object_cfi_range range;
    struct object_cfi_row row;
    struct unwind_row made;
    struct unwind_place place = {cpu, &STACK, 0, false};
    assert_true(object_cfi_find(t->cfi, addr, &range));
    assert_true(object_cfi_row(t->cfi, &range, addr, &row));
    unwind_row_make(cpu, &range, &row, &made);
    *flags = made.flags;
    struct unwind_regs general = *regs;
    enum unwind_result r = unwind_step_general(&place, &range, &row, exact, &general);
    if (made.flags & UNWIND_ROW_GENERAL) {
        *regs = general;
        return r;
    }
    /* What the quick way can do, the other one does alike. */
    enum unwind_result quick = unwind_step_row(cpu, &made, &STACK, exact, regs);
    assert_int_equal(quick, r);
    if (r == UNWIND_CALLER) {
        assert_int_equal(regs->known, general.known);
        for (unsigned i = 0; i < cpu->count; i++)
            if (unwind_regs_known(regs, i))
                assert_int_equal(regs->value[i], general.value[i]);
    }
    return r;
}

#define INITIAL "\x0c\x07\x08\x90\x01" /* def_cfa rsp+8; rip at cfa-8 */
static const struct test_cfi_fde FRAMES[] = {
    /* push rbp, push rbx, +3: frame pointer, +16: both popped, as tables leave it */
    TEST_CFI_FDE(0x1010, 0x40, "\x41\x0e\x10\x86\x02\x41\x0e\x18\x83\x03\x42\x0d\x06\x50\x0c\x07\x08"),
    TEST_CFI_FDE(0x1050, 0x10, "\x07\x10"),             /* rip undefined */
    TEST_CFI_FDE(0x1060, 0x10, "\x0c\x0c\x10\x07\x03"), /* cfa r12+16; rbx undefined */
    TEST_CFI_FDE(0x1070, 0x10, "\x09\x0d\x0e"),         /* r13 in r14 */
    /* as in .plt: rsp + 8 + ((rip & 15) >= 11) * 8 */
    TEST_CFI_FDE(0x1080, 0x10, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
    TEST_CFI_FDE(0x1090, 0x10, "\x83\x7f"),     /* rbx at cfa-1016 */
    TEST_CFI_FDE(0x10a0, 0x10, "\x08\x07"),     /* rsp as it is, whatever the cfa */
    TEST_CFI_FDE(0x10b0, 0x10, "\x2f\x07\x10"), /* rsp at cfa+128 */
};
static const struct test_cfi X86_64 = {.return_column = 16,
                                       .data_align = -8,
                                       .initial = INITIAL,
                                       .initial_size = sizeof INITIAL - 1,
                                       .fdes = FRAMES,
                                       .count = sizeof FRAMES / sizeof *FRAMES};

static void fill(void) {
    for (size_t i = 0; i < 16; i++)
        words[i] = 0x100 + i;
}

static void test_rows(void **state) {
    (void)state;
    struct table t = table_of(&unwind_x86_64, &X86_64);
    unsigned flags;
    fill();
    struct unwind_regs r = regs_at(0x1010, 0x7008, 5); /* nothing pushed yet */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1010, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(flags, 0);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    assert_int_equal(r.value[RSP], 0x7010);
    assert_int_equal(r.value[RBP], 5);
    r = regs_at(0x1020, 0x7000, 0x7010); /* by the frame pointer */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1020, false, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x104);
    assert_int_equal(r.value[RSP], 0x7028);
    assert_int_equal(r.value[RBP], 0x103);
    assert_int_equal(r.value[RBX], 0x102);
    r = regs_at(0x1050, 0x7008, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1050, true, &r, &flags), UNWIND_COMPLETE);
    r = regs_at(0x1060, 0x7000, 5);
    r.value[R12] = 0x7010;
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1060, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[RSP], 0x7020);
    assert_false(unwind_regs_known(&r, RBX));
    r = regs_at(0x1070, 0x7008, 5);
    r.value[R14] = 77;
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1070, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(flags, UNWIND_ROW_GENERAL);
    assert_int_equal(r.value[R13], 77);
    table_free(&t);
}

/* A register whose place was not dumped is lost, and nothing else; the stack pointer may have a rule, too. */
static void test_odd_rules(void **state) {
    (void)state;
    struct table t = table_of(&unwind_x86_64, &X86_64);
    unsigned flags;
    fill();
    struct unwind_regs r = regs_at(0x1091, 0x7008, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1091, false, &r, &flags), UNWIND_CALLER);
    assert_int_equal(flags, 0);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    assert_false(unwind_regs_known(&r, RBX));
    assert_true(unwind_regs_known(&r, RBP));
    r = regs_at(0x10a1, 0x7008, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x10a1, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    assert_int_equal(r.value[RSP], 0x7008);
    r = regs_at(0x10a1, 0x7008, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x10a1, false, &r, &flags), UNWIND_BROKEN);
    table_free(&t);
}

/* On the way out registers are popped while the table still tells where they were: below the stack. */
static void test_popped(void **state) {
    (void)state;
    struct table t = table_of(&unwind_x86_64, &X86_64);
    unsigned flags;
    fill();
    struct unwind_regs r = regs_at(0x1030, 0x7000, 5);
    r.value[RBX] = 6;
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1030, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x100);
    assert_int_equal(r.value[RBP], 5);
    assert_int_equal(r.value[RBX], 6);
    table_free(&t);
}

static void test_failures(void **state) {
    (void)state;
    struct table t = table_of(&unwind_x86_64, &X86_64);
    unsigned flags;
    fill();
    struct unwind_regs r = regs_at(0x1010, 0x7080, 5); /* after the dump */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1010, true, &r, &flags), UNWIND_CUT);
    r = regs_at(0x1010, 0x6ff0, 5); /* before it */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1010, true, &r, &flags), UNWIND_BROKEN);
    r = regs_at(0x1020, 0x7040, 0x7018); /* the caller's frame would lie inside of this one's */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1020, false, &r, &flags), UNWIND_BROKEN);
    r = regs_at(0x1060, 0x7000, 5);
    r.known &= ~(1ull << R12);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1060, true, &r, &flags), UNWIND_LOST);
    r = regs_at(0x10b0, 0x7008, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x10b0, true, &r, &flags), UNWIND_CUT);
    assert_int_equal(flags, 0);
    table_free(&t);
}

static void test_plt(void **state) {
    (void)state;
    struct table t = table_of(&unwind_x86_64, &X86_64);
    unsigned flags;
    fill();
    struct unwind_regs r = regs_at(0x1080, 0x7000, 5); /* nothing pushed */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1080, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(flags, UNWIND_ROW_GENERAL);
    assert_int_equal(r.value[UNWIND_IP], 0x100);
    r = regs_at(0x108b, 0x7000, 5); /* after the stub's push */
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x108b, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    table_free(&t);
}

/* A signal's frame: all registers lie in what the kernel pushed; the stack may be another one. */
static void test_signal(void **state) {
    (void)state;
    static const struct test_cfi_fde fde[] = {
        TEST_CFI_FDE(0x1010, 0x10,
                     "\x0f\x03\x77\x20\x06"   /* cfa: what lies at rsp+32 */
                     "\x10\x06\x02\x77\x08"   /* rbp at rsp+8 */
                     "\x10\x07\x02\x77\x20"   /* rsp at rsp+32 */
                     "\x10\x10\x02\x77\x10"), /* rip at rsp+16 */
    };
    struct test_cfi x = X86_64;
    unsigned flags;
    x.fdes = fde;
    x.count = 1;
    x.augmentation = "zRS";
    struct table t = table_of(&unwind_x86_64, &x);
    fill();
    words[4] = 0x6000;
    struct unwind_regs r = regs_at(0x1010, 0x7000, 5);
    assert_int_equal(step_at(&t, &unwind_x86_64, 0x1010, false, &r, &flags), UNWIND_CALLER);
    assert_int_equal(flags, UNWIND_ROW_GENERAL | UNWIND_ROW_SIGNAL);
    assert_int_equal(r.value[UNWIND_IP], 0x102);
    assert_int_equal(r.value[RSP], 0x6000);
    assert_int_equal(r.value[RBP], 0x101);
    table_free(&t);
}

/* ---- other CPUs ---- */

static void test_link_register(void **state) {
    (void)state;
    static const struct test_cfi_fde fde[] = {
        TEST_CFI_FDE(0x1010, 0x40, "\x44\x0e\x20\x9d\x04\x9e\x03")}; /* stp x29, x30, [sp, -32]! */
    const struct test_cfi x = {.return_column = 30,
                               .data_align = -8,
                               .initial = "\x0c\x1f\x00",
                               .initial_size = 3,
                               .fdes = fde,
                               .count = 1};
    struct table t = table_of(&unwind_arm64, &x);
    struct unwind_regs r = {.known = (1ull << 33) - 1};
    unsigned flags;
    fill();
    r.value[UNWIND_IP] = 0x1010;
    r.value[31] = 0x4444; /* x30 */
    r.value[32] = 0x7000;
    struct unwind_regs start = r;
    assert_int_equal(step_at(&t, &unwind_arm64, 0x1010, true, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x4444);
    assert_int_equal(r.value[32], 0x7000);
    /* Who has called cannot still have its return address there. */
    r = start;
    assert_int_equal(step_at(&t, &unwind_arm64, 0x1010, false, &r, &flags), UNWIND_BROKEN);
    r = start;
    assert_int_equal(step_at(&t, &unwind_arm64, 0x1020, false, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    assert_int_equal(r.value[30], 0x100);
    assert_int_equal(r.value[32], 0x7020);
    table_free(&t);
}

/* s390x: the CFA is 160 bytes above the stack pointer. */
static void test_s390x(void **state) {
    (void)state;
    static const struct test_cfi_fde fde[] = {TEST_CFI_FDE(0x1010, 0x40, "\x0e\xc0\x02\x8e\x1a\x8f\x19")};
    const struct test_cfi x = {.return_column = 14,
                               .data_align = -8,
                               .initial = "\x0c\x0f\xa0\x01",
                               .initial_size = 4,
                               .fdes = fde,
                               .count = 1};
    struct table t = table_of(&unwind_s390x, &x);
    struct unwind_regs r = {.known = (1ull << 17) - 1};
    unsigned flags;
    fill();
    words[1] = 0x7000;
    r.value[16] = 0x7000 + 208 - 320; /* r14 at cfa-208, r15 at cfa-200 */
    assert_int_equal(step_at(&t, &unwind_s390x, 0x1020, false, &r, &flags), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x100);
    assert_int_equal(r.value[16], 0x7000);
    table_free(&t);
}

static void test_columns(void **state) {
    (void)state;
    assert_int_equal(unwind_cpu_slot(&unwind_x86_64, 16), UNWIND_IP);
    assert_int_equal(unwind_cpu_slot(&unwind_x86_64, 15), 16);
    assert_int_equal(unwind_cpu_slot(&unwind_x86_64, 17), UNWIND_NO_SLOT);
    assert_int_equal(unwind_cpu_slot(&unwind_i386, 8), UNWIND_IP);
    assert_int_equal(unwind_cpu_slot(&unwind_ppc64, 65), 33);
    assert_int_equal(unwind_cpu_slot(&unwind_ppc64, 31), 32);
    assert_int_equal(unwind_cpu_slot(&unwind_ppc64, 32), UNWIND_NO_SLOT);
    assert_int_equal(unwind_cpu_slot(&unwind_arm64, 31), 32);
    assert_int_equal(unwind_cpu_slot(&unwind_arm64, 34), UNWIND_NO_SLOT);
    assert_ptr_equal(unwind_cpu_find(EM_X86_64, NULL, 2), &unwind_x86_64);
    assert_ptr_equal(unwind_cpu_find(EM_X86_64, NULL, 1), &unwind_i386);
    assert_ptr_equal(unwind_cpu_find(0, "aarch64", 2), &unwind_arm64);
    assert_null(unwind_cpu_find(0, "aarch64", 1));
    assert_null(unwind_cpu_find(0, "aarch64", 0));
    assert_null(unwind_cpu_find(0, NULL, 2));
    assert_null(unwind_cpu_find(0, "pdp11", 2));
}

/* Values stand in the order of the mask's bits, which is not that of DWARF's columns. */
static void test_regs_load(void **state) {
    (void)state;
    uint64_t values[20];
    for (size_t i = 0; i < 20; i++)
        values[i] = 0xf00000000 + i;
    struct perfdata_regs from = {2, 0xff0fff, {(const uint8_t *)values, 20, false}};
    struct unwind_regs r;
    assert_true(unwind_regs_load(&unwind_x86_64, &from, &r));
    assert_int_equal(r.value[UNWIND_IP], 0xf00000008);
    assert_int_equal(r.value[RSP], 0xf00000007);
    assert_int_equal(r.value[RBX], 0xf00000001);
    assert_int_equal(r.value[RAX], 0xf00000000);
    assert_int_equal(r.value[R12], 0xf00000010); /* bit 20: the 16th that is set */
    assert_true(unwind_regs_load(&unwind_i386, &from, &r));
    assert_int_equal(r.value[UNWIND_IP], 8);
    assert_int_equal(r.value[5], 7);
    from.mask = 0xfffff; /* RISC-V: the instruction pointer, then registers from 1 on */
    assert_true(unwind_regs_load(&unwind_riscv64, &from, &r));
    assert_int_equal(r.known, 0x1ffffd);
    assert_int_equal(r.value[UNWIND_IP], 0xf00000000);
    assert_int_equal(r.value[2], 0xf00000001);
    assert_int_equal(r.value[20], 0xf00000013);
    from.mask = 0xff0eff; /* no instruction pointer */
    assert_false(unwind_regs_load(&unwind_x86_64, &from, &r));
    from.mask = 0xff0fff;
    from.values.count = 8; /* cut off before it */
    assert_false(unwind_regs_load(&unwind_x86_64, &from, &r));
}

/* ---- without rows ---- */

static void test_blind(void **state) {
    (void)state;
    fill();
    words[4] = 0x7050;
    struct unwind_regs r = regs_at(1, 0x7000, 0x7020);
    assert_int_equal(unwind_step_frame(&unwind_x86_64, &STACK, &r), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x105);
    assert_int_equal(r.value[RSP], 0x7030);
    assert_int_equal(r.value[RBP], 0x7050);
    assert_false(unwind_regs_known(&r, RBX));
    r = regs_at(1, 0x7030, 0x7020); /* after the stack pointer */
    assert_int_equal(unwind_step_frame(&unwind_x86_64, &STACK, &r), UNWIND_LOST);
    r = regs_at(1, 0x7000, 0x7024);
    assert_int_equal(unwind_step_frame(&unwind_x86_64, &STACK, &r), UNWIND_LOST);
    r = regs_at(1, 0x7000, 0x7078);
    assert_int_equal(unwind_step_frame(&unwind_x86_64, &STACK, &r), UNWIND_CUT);
    r = regs_at(1, 0x7000, 0);
    assert_int_equal(unwind_step_frame(&unwind_x86_64, &STACK, &r), UNWIND_COMPLETE);
    r = regs_at(1, 0x7000, 0);
    assert_int_equal(unwind_step_frame(&unwind_s390x, &STACK, &r), UNWIND_LOST);
    r = regs_at(1, 0x7008, 0);
    assert_int_equal(unwind_step_leaf(&unwind_x86_64, &STACK, &r), UNWIND_CALLER);
    assert_int_equal(r.value[UNWIND_IP], 0x101);
    assert_int_equal(r.value[RSP], 0x7010);
    /* RISC-V's frame pointer is where the caller's stack pointer was: a frame that leads to itself is none.
     */
    struct unwind_regs riscv = {.known = (1ull << 33) - 1};
    words[2] = 0x7020;
    riscv.value[3] = 0x7000;
    riscv.value[9] = 0x7020;
    assert_int_equal(unwind_step_frame(&unwind_riscv64, &STACK, &riscv), UNWIND_CALLER);
    assert_int_equal(riscv.value[UNWIND_IP], 0x103);
    assert_int_equal(riscv.value[3], 0x7020);
    assert_int_equal(unwind_step_frame(&unwind_riscv64, &STACK, &riscv), UNWIND_LOST);
    struct unwind_regs arm = {.known = (1ull << 33) - 1};
    arm.value[31] = 9;
    assert_int_equal(unwind_step_leaf(&unwind_arm64, &STACK, &arm), UNWIND_CALLER);
    assert_int_equal(arm.value[UNWIND_IP], 9);
    assert_int_equal(unwind_step_leaf(&unwind_arm64, &STACK, &arm), UNWIND_LOST);
}

/* ---- expressions ---- */

#define E(text) \
    { (const uint8_t *)(text), sizeof(text) - 1 }

static enum unwind_result evaluate(const struct unwind_cpu *cpu, struct bytes e, uint64_t *out) {
    struct unwind_place place = {cpu, &STACK, 0x10000, false};
    struct unwind_regs r = regs_at(1, 0x7000, 0x7020);
    r.known &= ~(1ull << R12);
    const uint64_t first = 40;
    return unwind_expression(&place, &r, e, &first, out);
}

static void test_expressions(void **state) {
    (void)state;
    static const struct {
        struct bytes e;
        uint64_t want;
    } good[] = {
        {E(""), 40},
        {E("\x03\x34\x12\0\0\0\0\0\0"), 0x11234},                       /* addr */
        {E("\x77\x10\x06"), 0x102},                                     /* breg7+16, deref */
        {E("\x92\x07\x10\x94\x01"), 2},                                 /* bregx 7+16, deref_size 1 */
        {E("\x08\xff"), 255},                                           /* const1u */
        {E("\x09\xff"), UINT64_MAX},                                    /* const1s */
        {E("\x0a\x02\x01"), 0x102},                                     /* const2u */
        {E("\x0d\xfe\xff\xff\xff"), UINT64_MAX - 1},                    /* const4s */
        {E("\x0e\x08\x07\x06\x05\x04\x03\x02\x01"), 0x102030405060708}, /* const8u */
        {E("\x10\x80\x01"), 128},                                       /* constu */
        {E("\x11\x7f"), UINT64_MAX},                                    /* consts */
        {E("\x32\x12\x22"), 4},                                         /* lit2 dup plus */
        {E("\x32\x33\x13"), 2},                                         /* lit2 lit3 drop */
        {E("\x32\x33\x14"), 2},                                         /* over */
        {E("\x32\x33\x15\x02"), 40},                                    /* pick 2 */
        {E("\x32\x35\x16\x1c"), 3},                                     /* lit2 lit5 swap minus */
        {E("\x31\x32\x33\x17"), 2},                                     /* lit1 lit2 lit3 rot: 3 1 2 */
        {E("\x31\x1f\x19"), 1},                                         /* lit1 neg abs */
        {E("\x30\x20"), UINT64_MAX},                                    /* lit0 not */
        {E("\x23\x08"), 48},                                            /* plus_uconst 8 */
        {E("\x3f\x1f\x33\x1b"), (uint64_t)-5},                          /* -15 / 3 */
        {E("\x38\x33\x1d"), 2},                                         /* 8 mod 3 */
        {E("\x38\x33\x1e"), 24},                                        /* mul */
        {E("\x38\x33\x21"), 11},                                        /* or */
        {E("\x39\x33\x1a"), 1},                                         /* and */
        {E("\x39\x33\x27"), 10},                                        /* xor */
        {E("\x31\x33\x24"), 8},                                         /* shl */
        {E("\x38\x32\x25"), 2},                                         /* shr */
        {E("\x38\x1f\x32\x26"), (uint64_t)-2},                          /* -8 shra 2 */
        {E("\x31\x1f\x30\x2d"), 1},                                     /* -1 < 0 */
        {E("\x31\x32\x2b"), 0},                                         /* 1 > 2 */
        {E("\x32\x32\x2a"), 1},                                         /* ge */
        {E("\x32\x32\x2c"), 1},                                         /* le */
        {E("\x32\x32\x29"), 1},                                         /* eq */
        {E("\x32\x32\x2e"), 0},                                         /* ne */
        {E("\x31\x28\x01\0\x31\x96"), 40},                              /* bra over lit1; nop */
        {E("\x2f\x01\0\x31"), 40},                                      /* skip over lit1 */
    };
    uint64_t got;
    fill();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(evaluate(&unwind_x86_64, good[i].e, &got), UNWIND_CALLER);
        assert_int_equal(got, good[i].want);
    }
    static const struct bytes narrow = E("\x31\x1f\x19"); /* 32 bits: lit1 neg abs */
    assert_int_equal(evaluate(&unwind_i386, narrow, &got), UNWIND_CALLER);
    assert_int_equal(got, 1);
    static const struct {
        struct bytes e;
        enum unwind_result want;
    } bad[] = {
        {E("\x7c\x00"), UNWIND_LOST},           /* r12, which nobody knows */
        {E("\x92\x40\x00"), UNWIND_LOST},       /* a column that is no register here */
        {E("\x77\x80\x01\x06"), UNWIND_CUT},    /* memory after the dump */
        {E("\x77\x78\x06"), UNWIND_BROKEN},     /* before it */
        {E("\x13\x13"), UNWIND_BROKEN},         /* more is dropped than there is */
        {E("\x31\x30\x1b"), UNWIND_BROKEN},     /* 1 / 0 */
        {E("\x0e\x01"), UNWIND_BROKEN},         /* cut off */
        {E("\x2f\xfd\xff"), UNWIND_BROKEN},     /* around and around */
        {E("\x2f\x7f\x00"), UNWIND_BROKEN},     /* out of it */
        {E("\x12\x2f\xfc\xff"), UNWIND_BROKEN}, /* a stack without end */
        {E("\xf0"), UNWIND_BROKEN},
        {E("\x32\x94\x03"), UNWIND_BROKEN}, /* three bytes */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(evaluate(&unwind_x86_64, bad[i].e, &got), bad[i].want);
}

/* ---- the cache ---- */

static void test_cache(void **state) {
    (void)state;
    struct unwind_cache c;
    struct unwind_row a = {.cfa_offset = 8}, b = {.cfa_offset = 16};
    assert_true(unwind_cache_init(&c));
    assert_null(unwind_cache_find(&c, 1, 0x10));
    for (uint64_t i = 0; i < 1000; i++)
        assert_non_null(unwind_cache_add(&c, 1, i, i % 2 ? &a : &b));
    assert_int_equal(c.rows.count, 2); /* equal ones are one */
    unsigned found = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const struct unwind_row *row = unwind_cache_find(&c, 1, i);
        found += row != NULL;
        if (row)
            assert_int_equal(row->cfa_offset, i % 2 ? 8 : 16);
        assert_null(unwind_cache_find(&c, 2, i));
    }
    assert_true(found > 900);
    unwind_cache_fini(&c);
    FAIL_EACH_ALLOC({
        if (unwind_cache_init(&c)) {
            unwind_cache_add(&c, 1, 1, &a);
            unwind_cache_fini(&c);
        }
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_popped),
        cmocka_unit_test(test_odd_rules),     cmocka_unit_test(test_failures),
        cmocka_unit_test(test_plt),           cmocka_unit_test(test_signal),
        cmocka_unit_test(test_link_register), cmocka_unit_test(test_s390x),
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_regs_load),
        cmocka_unit_test(test_blind),         cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
