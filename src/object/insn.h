/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions: how long they are, and their text, by capstone (its API is that of cs_disasm(3)). */
#ifndef SONDE_OBJECT_INSN_H
#define SONDE_OBJECT_INSN_H

#include "base/bytes.h"
#include "base/err.h"

struct object_insns;

struct object_insn {
    uint8_t size; /* bytes */
    bool leaves;  /* what follows it is not executed next for sure: calls, returns, jumps without condition */
    char text[192]; /* AT&T syntax for x86; "mov %eax,%edx" */
};

/* For the machine of an ELF image (its e_machine, class and byte order are read). NULL and *err:
 * ERR_UNSUPPORTED: a machine that is not known here, or built without capstone, which the message says. */
struct object_insns *object_insns_new(struct bytes image, struct err *err);
void object_insns_free(struct object_insns *n); /* NULL is fine */

/* One that is kept from image to image: several machines in one recording are rare. Zeroed at first. */
struct object_insns_kept {
    struct object_insns *insns; /* for the machine; NULL: none yet, or not known */
    uint32_t machine;           /* e_machine and class of the image they were made for */
};
/* The kept one, made anew for an image of another machine; NULL: that is not known. */
struct object_insns *object_insns_for(struct object_insns_kept *kept, struct bytes image);

/* The first instruction of `code`, which lies at `address`. False when it is none, or cut off. */
bool object_insns_decode(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_insn *out);

/* What an instruction accesses. */
struct object_access {
    bool stack;       /* it pushes, pops, calls or returns; nothing else is said then */
    bool canary;      /* it reads the stack's guard (x86-64, System V ABI: at %fs:0x28); likewise */
    bool has_address; /* `address` is what it accesses, relative to its own address; else: */
    int base;         /* the number that DWARF gives to the register with the address */
    int64_t offset;   /* bytes from there */
    uint64_t address;
};

/* Of the first instruction of `code`. False when it accesses no memory, or that is not known: of x86-64 only,
 * and not of what has no base register. */
bool object_insns_access(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_access *out);

/* Whether this build has capstone. */
bool object_insns_supported(void);

#endif
