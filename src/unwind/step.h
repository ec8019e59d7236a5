/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step up a stack: the registers of a function, and the row that describes the instruction it is at, give
 * the registers of its caller. Reads what it is given and nothing else; no allocation.
 *
 *   object_cfi_row -> unwind_row_make -> unwind_step_row        the usual: loads at constant distances
 *                  `-------------------> unwind_step_general    rows with expressions, signal frames
 *   without a row                        unwind_step_frame      the chain of frame pointers
 *                                        unwind_step_leaf       nothing was pushed yet
 */
#ifndef SONDE_UNWIND_STEP_H
#define SONDE_UNWIND_STEP_H

#include "object/dwarf/cfi.h"
#include "unwind/cpu.h"

/* Where a function is: an instruction, or the one after a call, which may be the next function's already.
 * What describes it is looked up by unwind_frame_lookup, never by the address itself. */
struct unwind_frame {
    uint64_t address;
    bool returned; /* it is a return address; else exact */
};
static inline uint64_t unwind_frame_lookup(struct unwind_frame f) {
    return f.address - f.returned;
}

struct unwind_regs {
    uint64_t value[UNWIND_SLOTS]; /* [UNWIND_IP]: the instruction pointer or return address */
    uint64_t known;               /* a bit for each slot */
};

static inline bool unwind_regs_known(const struct unwind_regs *r, unsigned slot) {
    return r->known >> slot & 1;
}

/* What was dumped of a stack. */
struct unwind_stack {
    const uint8_t *bytes;
    uint64_t start, size; /* its lowest address */
    bool swap;
};

enum unwind_result {
    UNWIND_CALLER, /* the registers are the caller's */
    /* There is no caller: */
    UNWIND_COMPLETE, /* the table says that this is the outermost function */
    UNWIND_CUT,      /* what is needed lies beyond what was dumped */
    UNWIND_LOST,     /* no row, or one that needs a register that nobody knows */
    UNWIND_BROKEN,   /* memory or row make no sense: the stack would not grow */
};

/* The registers of a sample: values by set bit of the mask, lowest first. False: without an instruction or
 * stack pointer. */
struct perfdata_regs;
bool unwind_regs_load(const struct unwind_cpu *cpu, const struct perfdata_regs *from,
                      struct unwind_regs *out);

/* ---- the usual row ---- */

struct unwind_saved {
    uint8_t slot;
    int16_t at; /* from the CFA */
};

enum { UNWIND_SAVED_MAX = 24 };

enum unwind_row_flag {
    UNWIND_ROW_GENERAL = 1, /* more than this struct can say: see unwind_step_general */
    UNWIND_ROW_LAST = 2,    /* there is no caller */
    UNWIND_ROW_SIGNAL = 4,  /* the caller was interrupted */
    UNWIND_ROW_NONE = 8,    /* nothing is known of this code */
};

/* Equal rows are equal in all bytes. */
struct unwind_row {
    int32_t cfa_offset;
    uint8_t cfa_slot, flags;
    uint8_t return_slot; /* holds the return address once the saved ones are loaded */
    uint8_t count;
    uint64_t lost; /* slots whose values are gone */
    struct unwind_saved saved[UNWIND_SAVED_MAX];
};

/* `row` is of `range`. */
void unwind_row_make(const struct unwind_cpu *cpu, const struct object_cfi_range *range,
                     const struct object_cfi_row *row, struct unwind_row *out);

/* `exact`: the function was interrupted where it is, so it may not have made a frame yet. When the result is
 * not UNWIND_CALLER, the registers are to be used no more. */
enum unwind_result unwind_step_row(const struct unwind_cpu *cpu, const struct unwind_row *row,
                                   const struct unwind_stack *stack, bool exact, struct unwind_regs *regs);

/* What an expression may refer to (DWARF 5, 6.4.2): addresses in it are the image's, `bias` less than the
 * process's. */
struct unwind_place {
    const struct unwind_cpu *cpu;
    const struct unwind_stack *stack;
    uint64_t bias;
    bool swap; /* of the image */
};

enum unwind_result unwind_step_general(const struct unwind_place *place, const struct object_cfi_range *range,
                                       const struct object_cfi_row *row, bool exact,
                                       struct unwind_regs *regs);

/* By the frame pointer, if that can be one: it must point into the dump, and the stack must grow. Every other
 * register is lost. 0 is that of the outermost function (UNWIND_COMPLETE), as a process begins with (System V
 * ABI, AMD64 supplement, 3.4.1). */
enum unwind_result unwind_step_frame(const struct unwind_cpu *cpu, const struct unwind_stack *stack,
                                     struct unwind_regs *regs);

/* As if nothing had been pushed since the call. */
enum unwind_result unwind_step_leaf(const struct unwind_cpu *cpu, const struct unwind_stack *stack,
                                    struct unwind_regs *regs);

#endif
