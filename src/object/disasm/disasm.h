/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's bytes as instructions, in the spelling of objdump(1) of binutils 2.40; docs/DISASM.md has the
 * rules, and what remains different. By capstone, or out of objdump's own output (objdump_text.h).
 */
#ifndef SONDE_OBJECT_DISASM_DISASM_H
#define SONDE_OBJECT_DISASM_DISASM_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

enum disasm_arch { DISASM_X86_64, DISASM_I386, DISASM_ARM64 };

/* The architecture of an ELF image, by its e_machine; false: not known here. Big-endian images are not. */
bool disasm_arch_of(struct bytes image, enum disasm_arch *arch);

/* What lies at an address: printed as <name+0xoffset>. */
struct disasm_symbol {
    const char *name; /* lives until the next call */
    size_t name_len;
    int64_t offset; /* of the address, from the symbol's start; 0: <name> */
};
/* False: nothing is known of `address`, and nothing is printed after it. */
typedef bool disasm_symbol_fn(void *ctx, uint64_t address, struct disasm_symbol *out);

struct disasm_options {
    enum disasm_arch arch;
    bool intel;               /* x86: as objdump -M intel; else AT&T's syntax */
    disasm_symbol_fn *symbol; /* NULL: addresses without names */
    void *ctx;
};

struct disasm_instruction {
    uint64_t address;
    uint64_t target;      /* where it jumps or calls to, if has_target */
    const char *text;     /* as objdump prints it, no newline: "call   401126 <main+0x10>" */
    const uint8_t *bytes; /* `length` of them, in the code that was given */
    uint8_t length;
    bool has_target;
    bool is_call, is_jump, is_return; /* is_jump: conditional ones too, and indirect ones, without a target */
    bool unknown; /* the bytes are no instruction that is known here; the text is "(bad)" */
};

/* Zeroed at first. Its instructions follow each other without gaps. */
struct disasm_list {
    VEC(struct disasm_instruction) instructions;
    size_t unknown; /* how many are */
    struct arena texts;
};
void disasm_list_fini(struct disasm_list *l);

/* One for each architecture and syntax, one thread at a time. */
struct disasm;
/* The options are copied. NULL and *err: ERR_UNSUPPORTED: built without capstone, or it is not installed;
 * ERR_MEMORY. */
struct disasm *disasm_new(const struct disasm_options *options, struct err *err);
void disasm_free(struct disasm *d); /* NULL is fine */

/* Appends the instructions of `code`, which lies at `address` and is borrowed by the list. Whatever the bytes
 * are, all of them are covered: what is no instruction is `unknown`. False: ERR_MEMORY. */
bool disasm_function(struct disasm *d, struct bytes code, uint64_t address, struct disasm_list *list,
                     struct err *err);

/* Whether this build has capstone. */
bool disasm_supported(void);

#endif
