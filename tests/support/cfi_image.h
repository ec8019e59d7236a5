/* SPDX-License-Identifier: Apache-2.0 */
/* ELF images with unwind tables, for tests: one CIE, and FDEs with the programs given. */
#ifndef SONDE_TESTS_SUPPORT_CFI_IMAGE_H
#define SONDE_TESTS_SUPPORT_CFI_IMAGE_H

#include "tests/support/elf_image.h"

struct test_cfi_fde {
    uint32_t start, size;
    const char *program; /* in C, with "\0" allowed: */
    size_t program_size;
};
#define TEST_CFI_FDE(start, size, program) \
    { start, size, program, sizeof(program) - 1 }

enum test_cfi_kind {
    TEST_CFI_HEADER,   /* .eh_frame with a search table in .eh_frame_hdr */
    TEST_CFI_NO_TABLE, /* .eh_frame with a header that has no search table */
    TEST_CFI_BARE,     /* .eh_frame alone */
    TEST_CFI_DEBUG,    /* .debug_frame */
    TEST_CFI_SEGMENTS, /* as TEST_CFI_HEADER, found by the segments only */
};

struct test_cfi {
    bool wide, big;
    uint16_t machine;
    uint8_t return_column;
    int8_t data_align;        /* -64..63 */
    const char *augmentation; /* of .eh_frame: "zR", "zRS" */
    const char *initial;
    size_t initial_size;
    bool long_form; /* 64-bit DWARF */
    enum test_cfi_kind kind;
    const struct test_cfi_fde *fdes;
    size_t count;
};

enum { TEST_CFI_TEXT = 0x1000, TEST_CFI_TEXT_SIZE = 0x1000, TEST_CFI_HDR = 0x2000, TEST_CFI_FRAME = 0x2800 };

/* The start of an entry; its length is known at the end. */
static inline size_t test_cfi_begin(const struct test_cfi *x, struct writer *w) {
    size_t at = w->size;
    if (x->long_form) {
        writer_u32(w, UINT32_MAX);
        writer_u64(w, 0);
    } else {
        writer_u32(w, 0);
    }
    return at;
}

static inline void test_cfi_end(const struct test_cfi *x, struct writer *w, size_t at) {
    while (w->size % 8)
        writer_u8(w, 0); /* DW_CFA_nop */
    if (x->long_form)
        writer_patch64(w, at + 4, w->size - at - 12);
    else
        writer_patch32(w, at, (uint32_t)(w->size - at - 4));
}

static inline void test_cfi_address(const struct test_cfi *x, struct writer *w, uint64_t v) {
    if (x->wide)
        writer_u64(w, v);
    else
        writer_u32(w, (uint32_t)v);
}

static inline void test_cfi_put_cie(const struct test_cfi *x, struct writer *w) {
    bool debug = x->kind == TEST_CFI_DEBUG;
    size_t at = test_cfi_begin(x, w);
    if (debug && x->long_form)
        writer_u64(w, UINT64_MAX);
    else
        writer_u32(w, debug ? UINT32_MAX : 0);
    writer_u8(w, debug ? 4 : 1);
    const char *text = debug ? "" : x->augmentation;
    writer_put(w, text, strlen(text) + 1);
    if (debug) {
        writer_u8(w, x->wide ? 8 : 4);
        writer_u8(w, 0);
    }
    writer_u8(w, 1);
    writer_u8(w, (uint8_t)x->data_align & 0x7f);
    writer_u8(w, x->return_column);
    if (!debug) {
        writer_u8(w, 1);
        writer_u8(w, 0x1b); /* pcrel, sdata4 */
    }
    writer_put(w, x->initial, x->initial_size);
    test_cfi_end(x, w, at);
}

/* Returns where it begins in the section. */
static inline size_t test_cfi_put_fde(const struct test_cfi *x, struct writer *w,
                                      const struct test_cfi_fde *f) {
    bool debug = x->kind == TEST_CFI_DEBUG;
    size_t at = test_cfi_begin(x, w);
    if (debug) {
        if (x->long_form)
            writer_u64(w, 0);
        else
            writer_u32(w, 0);
        test_cfi_address(x, w, f->start);
        test_cfi_address(x, w, f->size);
    } else {
        writer_u32(w, (uint32_t)w->size); /* back to the CIE at 0 */
        writer_u32(w, (uint32_t)(f->start - (TEST_CFI_FRAME + w->size)));
        writer_u32(w, f->size);
        writer_u8(w, 0);
    }
    writer_put(w, f->program, f->program_size);
    test_cfi_end(x, w, at);
    return at;
}

/* The image's file, in t; freed with test_image_fini. FDEs are given in order of addresses, at most 16. */
static inline struct bytes test_cfi_make(const struct test_cfi *x, struct test_image *t) {
    test_image_init(t, x->wide, x->big, ET_DYN, x->machine);
    struct writer *text = test_image_part(t), *hdr = test_image_part(t), *frame = test_image_part(t);
    bool search = x->kind == TEST_CFI_HEADER || x->kind == TEST_CFI_SEGMENTS;
    writer_zero(text, TEST_CFI_TEXT_SIZE);
    test_cfi_put_cie(x, frame);
    const uint8_t header[] = {1, 0x1b, search ? 0x03 : 0xff, search ? 0x3b : 0xff};
    writer_put(hdr, header, sizeof header);
    writer_u32(hdr, TEST_CFI_FRAME - (TEST_CFI_HDR + 4));
    if (search)
        writer_u32(hdr, (uint32_t)x->count);
    for (size_t i = 0; i < x->count; i++) {
        size_t at = test_cfi_put_fde(x, frame, &x->fdes[i]);
        if (search) {
            writer_u32(hdr, x->fdes[i].start - TEST_CFI_HDR);
            writer_u32(hdr, (uint32_t)(TEST_CFI_FRAME + at - TEST_CFI_HDR));
        }
    }
    if (x->kind != TEST_CFI_DEBUG)
        writer_u32(frame, 0);
    bool named = x->kind != TEST_CFI_SEGMENTS, debug = x->kind == TEST_CFI_DEBUG;
    const struct elf_image_section sections[] = {
        {".text", SHT_PROGBITS, 0, 0, SHF_ALLOC | SHF_EXECINSTR, TEST_CFI_TEXT, 16, 0, writer_bytes(text), 0},
        {named ? ".eh_frame_hdr" : ".x", SHT_PROGBITS, 0, 0, SHF_ALLOC, TEST_CFI_HDR, 8, 0, writer_bytes(hdr),
         0},
        {debug   ? ".debug_frame"
         : named ? ".eh_frame"
                 : ".y",
         SHT_PROGBITS, 0, 0, debug ? 0 : SHF_ALLOC, debug ? 0 : TEST_CFI_FRAME, 8, 0, writer_bytes(frame), 0},
    };
    bool with_header = x->kind != TEST_CFI_BARE && !debug;
    elf_image_section(&t->image, &sections[0]);
    if (with_header)
        elf_image_section(&t->image, &sections[1]);
    uint32_t last = elf_image_section(&t->image, &sections[2]);
    elf_image_segment(&t->image,
                      &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, TEST_CFI_TEXT, 0x1000, 1, 1});
    if (!debug)
        elf_image_segment(&t->image,
                          &(struct elf_image_segment){PT_LOAD, PF_R, TEST_CFI_FRAME, 8, last, last});
    if (with_header)
        elf_image_segment(&t->image, &(struct elf_image_segment){PT_LOAD, PF_R, TEST_CFI_HDR, 8, 2, 2});
    if (with_header)
        elf_image_segment(&t->image,
                          &(struct elf_image_segment){PT_GNU_EH_FRAME, PF_R, TEST_CFI_HDR, 8, 2, 2});
    return test_image_done(t);
}

#endif
