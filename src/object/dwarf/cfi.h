/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows: for each instruction of an image, where its caller's registers are. Out of .eh_frame (with or
 * without .eh_frame_hdr: LSB Core 5.0, 10.6) and .debug_frame (DWARF 5, 6.4), of either class and byte order.
 *
 *   table:  CIE  what its functions have in common   FDE [start, end) -> CIE, a program of DW_CFA_ opcodes
 *   row:    the program run up to an address:  CFA = rsp + 16;  rip at CFA - 8;  rbp at CFA - 16
 *
 * Tables are frozen: any number of threads may ask. Everything handed out points into the bytes given, or is
 * owned by the table.
 */
#ifndef SONDE_OBJECT_CFI_H
#define SONDE_OBJECT_CFI_H

#include "object/elf.h"

struct object_cfi;

/*
 * The tables of `image`, the file that was mapped, and `debug`, its separate debug file (may be empty), which
 * is asked for .debug_frame alone. Both stay the caller's and must live as long. NULL and *err: ERR_ABSENT:
 * there are none; ERR_BROKEN: no ELF file; ERR_UNSUPPORTED: a relocatable file, whose tables have no
 * addresses yet.
 */
struct object_cfi *object_cfi_new(struct bytes image, struct bytes debug, struct err *err);
void object_cfi_free(struct object_cfi *t); /* NULL is allowed */

/* EM_ machine number of the image. */
uint16_t object_cfi_machine(const struct object_cfi *t);

/* The description of one range of code. */
struct object_cfi_range {
    object_vaddr start, end; /* exclusive */
    uint64_t code_align;     /* factors of the programs' numbers */
    int64_t data_align;
    uint32_t return_column; /* the column whose rule is the return address's */
    bool signal;            /* the caller was interrupted, not calling: its address is exact */
    uint8_t encoding;       /* DW_EH_PE_ of DW_CFA_set_loc's operand */
    struct bytes initial, program;
    object_vaddr program_addr; /* where the program lies */
};

/* The range that an address is in; .eh_frame before .debug_frame. False: nothing covers it. */
bool object_cfi_find(const struct object_cfi *t, object_vaddr addr, struct object_cfi_range *out);

enum object_cfi_kind {
    OBJECT_CFI_UNSPECIFIED,   /* nothing is said: the ABI tells */
    OBJECT_CFI_UNDEFINED,     /* lost; of the return address: there is no caller */
    OBJECT_CFI_SAME,          /* unchanged */
    OBJECT_CFI_SAVED,         /* at CFA + offset */
    OBJECT_CFI_IS,            /* is CFA + offset */
    OBJECT_CFI_REGISTER,      /* in the register `offset` */
    OBJECT_CFI_EXPRESSION,    /* at the address that the expression gives, the CFA being on its stack */
    OBJECT_CFI_IS_EXPRESSION, /* is what the expression gives */
};

struct object_cfi_rule {
    uint8_t kind;
    uint32_t size; /* of the expression */
    union {
        int64_t offset;
        const uint8_t *expression;
    };
};

/* Columns beyond are not looked at: vector and floating point registers, which no caller's frame is found
 * by. ppc64's link register is the last of the others (65). */
enum { OBJECT_CFI_COLUMNS = 72 };

struct object_cfi_row {
    object_vaddr start, end;    /* the code it holds for */
    uint32_t cfa_register;      /* CFA: register + offset, where cfa.kind is OBJECT_CFI_IS; */
    struct object_cfi_rule cfa; /* or OBJECT_CFI_IS_EXPRESSION; UNSPECIFIED: none was given */
    struct object_cfi_rule rules[OBJECT_CFI_COLUMNS];
};

/* The row of an address inside the range. False: its program makes no sense. Linear in the programs' size. */
bool object_cfi_row(const struct object_cfi *t, const struct object_cfi_range *range, object_vaddr addr,
                    struct object_cfi_row *out);

/* Walks over all ranges, for tests and listings: `at` begins as 0 and is the walk's own. False at the end. */
bool object_cfi_next(const struct object_cfi *t, uint64_t *at, struct object_cfi_range *out);

#endif
