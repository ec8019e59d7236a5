/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of the kernel in BTF (/sys/kernel/btf/vmlinux; Documentation/bpf/btf.rst): which structs there are,
 * and what is in them.
 *
 *   btf_open -> btf_each_struct, btf_member, btf_type -> btf_close
 *
 * Nothing is believed before it is looked at: types that contradict each other are not found.
 */
#ifndef SONDE_FORMAT_BTF_BTF_H
#define SONDE_FORMAT_BTF_BTF_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

struct btf {
    struct bytes types, strings; /* borrowed */
    bool swap;
    VEC(uint32_t) at; /* by id, less 1: where the type begins in `types` */
};

enum btf_kind { BTF_OTHER, BTF_INT, BTF_POINTER, BTF_ENUM, BTF_ARRAY, BTF_STRUCT /* or a union */ };

/* A type, without typedefs and qualifiers. */
struct btf_type {
    enum btf_kind kind;
    uint32_t id;
    uint32_t size;  /* bytes; 0: not known, as of pointers and arrays */
    uint32_t count; /* of members */
    bool is_signed;
    bool is_union;
};

struct btf_member {
    const char *name; /* "": none */
    uint32_t type;    /* its id */
    uint32_t bit;     /* where it begins */
    bool is_bitfield;
};

/* `all` is borrowed. False: *err says what is wrong; btf_close is allowed. */
bool btf_open(struct btf *b, struct bytes all, struct err *err);
void btf_close(struct btf *b); /* b may be all zero */

/* Calls `fn` with every struct that has a name; its name lives as long as `all`. False: fn said so. */
bool btf_each_struct(const struct btf *b, bool (*fn)(void *ctx, const char *name, uint32_t id), void *ctx);

/* False: there is no such type, or none that makes sense. */
bool btf_type(const struct btf *b, uint32_t id, struct btf_type *out);
/* The i-th member of a struct. */
bool btf_member(const struct btf *b, uint32_t id, uint32_t i, struct btf_member *out);

#endif
