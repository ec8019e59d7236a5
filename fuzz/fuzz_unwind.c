/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up a dumped stack by the unwind tables of an ELF image, both made up. A head of 8 bytes: mode, flags, sizes
 * (16 bits each) of the stack and of .eh_frame_hdr, the first instruction pointer; then the stack, and either
 * a whole image or the contents of .eh_frame_hdr and .eh_frame (or .debug_frame), for which one is made.
 * What the quick way up can do, the general one must do alike; the way ends.
 */
#include "fuzz.h"

#include "format/perfdata/perfdata_sample.h"
#include "tests/support/cfi_image.h"
#include "unwind/cache.h"
#include "unwind/step.h"

enum {
    HEAD = 8,
    STACK = 0x700000,
    WHOLE = 0x80,
    BIG = 0x40,
    DEBUG = 0x20,
    EXACT = 1,
    CACHE = 2,
    FRAMES = 64,
    WALK = 300
};

static const struct unwind_cpu *const CPUS[] = {&unwind_x86_64,     &unwind_i386,  &unwind_arm64,
                                                &unwind_s390x,      &unwind_ppc64, &unwind_riscv64,
                                                &unwind_loongarch64};

struct input {
    const struct unwind_cpu *cpu;
    struct unwind_stack stack;
    struct unwind_regs regs;
    const struct object_cfi *cfi;
    struct unwind_cache cache;
    bool exact;
};

/* An image with those sections, the code at TEST_CFI_TEXT. */
static struct bytes wrap(struct test_image *t, const struct unwind_cpu *cpu, unsigned mode, struct bytes hdr,
                         struct bytes frame) {
    test_image_init(t, cpu->word == 8, mode & BIG, ET_DYN, cpu->machine);
    struct writer *text = test_image_part(t);
    writer_zero(text, TEST_CFI_TEXT_SIZE);
    elf_image_section(&t->image,
                      &(struct elf_image_section){".text", SHT_PROGBITS, 0, 0, SHF_ALLOC | SHF_EXECINSTR,
                                                  TEST_CFI_TEXT, 16, 0, writer_bytes(text), 0});
    if (!(mode & DEBUG))
        elf_image_section(&t->image, &(struct elf_image_section){".eh_frame_hdr", SHT_PROGBITS, 0, 0,
                                                                 SHF_ALLOC, TEST_CFI_HDR, 8, 0, hdr, 0});
    elf_image_section(&t->image,
                      &(struct elf_image_section){mode & DEBUG ? ".debug_frame" : ".eh_frame", SHT_PROGBITS,
                                                  0, 0, SHF_ALLOC, TEST_CFI_FRAME, 8, 0, frame, 0});
    elf_image_segment(&t->image,
                      &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, TEST_CFI_TEXT, 0x1000, 1, 1});
    return test_image_done(t);
}

/* Registers are small numbers, places in the stack, or its words. */
static void make_regs(struct input *in, unsigned ip) {
    in->regs = (struct unwind_regs){.known = ((uint64_t)1 << in->cpu->count) - 1};
    for (unsigned i = 0; i < in->cpu->count; i++)
        in->regs.value[i] = i % 3 == 0            ? i
                            : i % 3 == 1          ? STACK + 8 * i
                            : in->stack.size >= 8 ? bytes_load64(in->stack.bytes, in->stack.swap)
                                                  : 0;
    in->regs.value[UNWIND_IP] = ip;
    in->regs.value[in->cpu->sp] = STACK;
    if (in->cpu->fp)
        in->regs.value[in->cpu->fp] = STACK + in->stack.size / 2;
}

static void check_alike(const struct unwind_cpu *cpu, const struct unwind_regs *a,
                        const struct unwind_regs *b) {
    FUZZ_CHECK(a->known == b->known);
    for (unsigned i = 0; i < cpu->count; i++)
        FUZZ_CHECK(!unwind_regs_known(a, i) || a->value[i] == b->value[i]);
}

static enum unwind_result step(struct input *in, object_vaddr addr, bool *signal) {
    struct object_cfi_range range;
    struct object_cfi_row row;
    struct unwind_row made;
    *signal = false;
    if (!object_cfi_find(in->cfi, addr, &range) || !object_cfi_row(in->cfi, &range, addr, &row)) {
        struct unwind_regs leaf = in->regs;
        unwind_step_leaf(in->cpu, &in->stack, &leaf);
        return unwind_step_frame(in->cpu, &in->stack, &in->regs);
    }
    FUZZ_CHECK(range.start <= addr && addr < range.end && row.start <= addr && addr < row.end);
    unwind_row_make(in->cpu, &range, &row, &made);
    if (in->cache.slots) {
        const struct unwind_row *kept = unwind_cache_add(&in->cache, 1, addr, &made);
        FUZZ_CHECK(kept && memcmp(kept, &made, sizeof made) == 0 &&
                   unwind_cache_find(&in->cache, 1, addr) == kept);
    }
    *signal = made.flags & UNWIND_ROW_SIGNAL;
    struct unwind_place place = {in->cpu, &in->stack, 0, in->stack.swap};
    struct unwind_regs general = in->regs;
    enum unwind_result r = unwind_step_general(&place, &range, &row, in->exact, &general);
    if (!(made.flags & UNWIND_ROW_GENERAL)) {
        enum unwind_result quick = unwind_step_row(in->cpu, &made, &in->stack, in->exact, &in->regs);
        FUZZ_CHECK((quick == UNWIND_CALLER) == (r == UNWIND_CALLER));
        if (r == UNWIND_CALLER)
            check_alike(in->cpu, &in->regs, &general);
    }
    in->regs = general;
    return r;
}

static void climb(struct input *in) {
    for (int i = 0; i < FRAMES; i++) {
        uint64_t sp = in->regs.value[in->cpu->sp];
        bool signal;
        if (step(in, in->regs.value[UNWIND_IP] - !in->exact, &signal) != UNWIND_CALLER)
            return;
        /* Else a stack could go round for ever. */
        FUZZ_CHECK(in->exact || signal || in->regs.value[in->cpu->sp] > sp);
        in->exact = signal;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct test_image made;
    if (size < HEAD)
        return 0;
    unsigned mode = data[0], stack = bytes_load16(data + 2, false), hdr = bytes_load16(data + 4, false);
    const uint8_t *at = data + HEAD, *end = data + size;
    stack = stack < end - at ? stack : (unsigned)(end - at);
    hdr = hdr < end - at - stack ? hdr : (unsigned)(end - at - stack);
    struct input in = {.cpu = CPUS[(mode & 0x1f) % (sizeof CPUS / sizeof *CPUS)], .exact = data[1] & EXACT};
    in.stack = (struct unwind_stack){at, STACK, stack, mode & BIG};
    make_regs(&in, TEST_CFI_TEXT + bytes_load16(data + 6, false) % TEST_CFI_TEXT_SIZE);
    at += stack;
    struct bytes image = {at, (size_t)(end - at)};
    if (!(mode & WHOLE))
        image = wrap(&made, in.cpu, mode, (struct bytes){at, hdr},
                     (struct bytes){at + hdr, (size_t)(end - at) - hdr});
    struct object_cfi *cfi = object_cfi_new(image, (struct bytes){0}, NULL);
    FUZZ_CHECK(!(data[1] & CACHE) || unwind_cache_init(&in.cache)); /* which is large */
    in.cfi = cfi;
    if (cfi) {
        struct object_cfi_range range;
        uint64_t walked = 0;
        for (int i = 0; i < WALK && object_cfi_next(cfi, &walked, &range); i++)
            if (i == 0 && mode & WHOLE)
                in.regs.value[UNWIND_IP] = range.start + data[6];
        climb(&in);
    }
    if (in.cache.slots)
        unwind_cache_fini(&in.cache);
    object_cfi_free(cfi);
    if (!(mode & WHOLE))
        test_image_fini(&made);
    return 0;
}
