/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "object/dwarf/lines_internal.h"

/* Bounds for hostile trees; compilers stay far below. */
enum { DEPTH_MAX = 64, SCOPES_MAX = 128 };

/* ---- types ---- */

bool object_type_of(Dwarf_Die *die, Dwarf_Die *out) {
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), out);
}

/* Go still writes expressions in blocks, as DWARF 2 and 3 did, where DWARF 4 has a form for them, and libdw
 * takes them for nothing then. Below 128 bytes both look the same. */
bool object_type_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *out) {
    Dwarf_Block block;
    if (!dwarf_attr_integrate(die, name, out))
        return false;
    if (dwarf_whatform(out) == DW_FORM_block1 && dwarf_formblock(out, &block) == 0 && block.length < 128)
        out->form = DW_FORM_exprloc;
    return true;
}

static bool is_qualifier(int tag) {
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

bool object_type_peel(Dwarf_Die *type, bool names) {
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        int tag = dwarf_tag(type);
        if (!is_qualifier(tag) && !(names && tag == DW_TAG_typedef))
            return true;
        if (!object_type_of(type, type))
            return false;
    }
    return false;
}

uint64_t object_type_size(Dwarf_Die *type) {
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_aggregate(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static void append(char *to, size_t room, const char *text) {
    size_t len = strlen(to), more = strlen(text);
    more = len + more < room ? more : room - 1 - len;
    memcpy(to + len, text, more);
    to[len + more] = '\0';
}

void object_type_put_name(Dwarf_Die *type, char *to, size_t room) {
    static const struct {
        int tag;
        const char *before;
    } words[] = {{DW_TAG_structure_type, "struct "},
                 {DW_TAG_union_type, "union "},
                 {DW_TAG_class_type, "class "},
                 {DW_TAG_enumeration_type, "enum "}};
    char after[2 * DEPTH_MAX + 1] = ""; /* in the order of reading */
    Dwarf_Die at = *type, next;
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        int tag = dwarf_tag(&at);
        bool pointer = tag == DW_TAG_pointer_type, array = tag == DW_TAG_array_type;
        bool reference = tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
        if (!pointer && !array && !reference && !is_qualifier(tag))
            break;
        const char *sign = pointer ? "*" : array ? "[]" : reference ? "&" : "";
        memmove(after + strlen(sign), after, strlen(after) + 1);
        memcpy(after, sign, strlen(sign));
        if (!object_type_of(&at, &next)) {
            append(to, room, "void");
            append(to, room, after);
            return;
        }
        at = next;
    }
    const char *name = dwarf_diename(&at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].tag == dwarf_tag(&at))
            append(to, room, words[i].before);
    append(to, room,
           name                                       ? name
           : dwarf_tag(&at) == DW_TAG_subroutine_type ? "(function_type)"
                                                      : "(unnamed)");
    append(to, room, after);
}

/* ---- members ---- */

/* Where a member lies, in bytes. */
static uint64_t member_start(Dwarf_Die *member) {
    Dwarf_Attribute attribute;
    Dwarf_Word at;
    if (dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), &at) == 0)
        return at;
    return dwarf_formudata(dwarf_attr(member, DW_AT_data_bit_offset, &attribute), &at) == 0 ? at / 8 : 0;
}

/* The member of an aggregate that has the byte at *offset, and from then on the offset in it. */
static bool find_member(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member, Dwarf_Die *member_type) {
    Dwarf_Die die;
    if (dwarf_child(type, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
            continue;
        Dwarf_Attribute attribute;
        uint64_t start = member_start(&die);
        if (dwarf_attr(&die, DW_AT_external, &attribute) || /* static members of C++ classes */
            start > *offset || !object_type_of(&die, member_type) ||
            *offset - start >= object_type_size(member_type))
            continue;
        *member = die;
        *offset -= start;
        return true;
    } while (object_lines_sibling(&die));
    return false;
}

static void put_field(const Dwarf_Die *type, uint64_t offset, char *to, size_t room) {
    Dwarf_Die at = *type, member, next;
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        if (!object_type_peel(&at, true) || !is_aggregate(dwarf_tag(&at)) ||
            !find_member(&at, &offset, &member, &next))
            return;
        const char *name = dwarf_diename(&member);
        if (name && *to)
            append(to, room, ".");
        append(to, room, name ? name : "");
        at = next;
    }
}

/* An access `offset` bytes after the start of something of this type. False: that is not in it. */
static bool describe(const Dwarf_Die *of, int64_t offset, struct object_type *out) {
    Dwarf_Die type = *of, bare = *of, next;
    if (offset < 0 || !object_type_peel(&type, false) || !object_type_peel(&bare, true))
        return false;
    if ((uint64_t)offset >= object_type_size(&type))
        return false;
    for (unsigned i = 0; i < DEPTH_MAX && dwarf_tag(&bare) == DW_TAG_array_type; i++) { /* of an element */
        if (!object_type_of(&bare, &next) || !object_type_size(&next))
            return false;
        offset %= (int64_t)object_type_size(&next);
        type = bare = next;
        if (!object_type_peel(&type, false) || !object_type_peel(&bare, true))
            return false;
    }
    *out = (struct object_type){.offset = (uint64_t)offset};
    object_type_put_name(&type, out->name, sizeof out->name);
    put_field(&type, out->offset, out->field, sizeof out->field);
    return true;
}

/* ---- variables ---- */

struct search {
    struct object_lines *l;
    uint64_t addr;
    const struct object_access *access;
    bool has_frame;       /* the two below say where the function's frame base is */
    unsigned frame_reg;   /* in DWARF's numbers */
    int64_t frame_offset; /* from what is in it */
};

/* The register of a location's only operation; false: it is no register's. */
static bool register_of(const Dwarf_Op *op, unsigned *reg, bool *in_memory, int64_t *offset) {
    *offset = 0;
    *in_memory = op->atom >= DW_OP_breg0;
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        *reg = op->atom - DW_OP_reg0;
        return true;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *reg = op->atom - DW_OP_breg0;
        *offset = (int64_t)op->number;
        return true;
    }
    return false;
}

/* What lies `offset` bytes from what a base register has. */
static bool in_memory_at(const struct search *s, const Dwarf_Die *type, unsigned reg, int64_t offset,
                         struct object_type *out) {
    int64_t from;
    return !s->access->has_address && s->access->base == (int)reg &&
           !__builtin_sub_overflow(s->access->offset, offset, &from) && describe(type, from, out);
}

/* What a pointer in a base register points to. */
static bool pointed_to(const struct search *s, const Dwarf_Die *type, unsigned reg, struct object_type *out) {
    Dwarf_Die pointer = *type, target;
    if (s->access->has_address || s->access->base != (int)reg || !object_type_peel(&pointer, true))
        return false;
    int tag = dwarf_tag(&pointer);
    return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
            tag == DW_TAG_rvalue_reference_type) &&
           object_type_of(&pointer, &target) && describe(&target, s->access->offset, out);
}

/* A variable's location there, if it is one operation. */
static bool location_of(Dwarf_Die *variable, uint64_t addr, Dwarf_Op *out) {
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!object_type_location(variable, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, addr, &ops, &count, 1) < 1 || count != 1)
        return false;
    *out = *ops;
    return true;
}

static bool is_variable(struct search *s, Dwarf_Die *variable, struct object_type *out) {
    Dwarf_Die type;
    Dwarf_Op op;
    unsigned reg;
    bool in_memory;
    int64_t offset;
    if (!location_of(variable, s->addr, &op) || !object_type_of(variable, &type))
        return false;
    if (op.atom == DW_OP_addr)
        return s->access->has_address && describe(&type, (int64_t)(s->access->address - op.number), out);
    if (op.atom == DW_OP_fbreg)
        return s->has_frame &&
               in_memory_at(s, &type, s->frame_reg, (int64_t)((uint64_t)s->frame_offset + op.number), out);
    return register_of(&op, &reg, &in_memory, &offset) &&
           (in_memory ? in_memory_at(s, &type, reg, offset, out) : pointed_to(s, &type, reg, out));
}

/* Of .debug_frame or .eh_frame; the caller frees it. NULL: neither has one. */
static Dwarf_Frame *find_unwind_row(struct object_lines *l, uint64_t addr) {
    Dwarf_Frame *frame = NULL;
    Dwarf_CFI *cfi = dwarf_getcfi(l->main.dwarf); /* it stays libdw's */
    if (cfi && dwarf_cfi_addrframe(cfi, addr, &frame) == 0)
        return frame;
    if (!l->cfi_known)
        l->cfi = dwarf_getcfi_elf(l->main.elf);
    l->cfi_known = true;
    return l->cfi && dwarf_cfi_addrframe(l->cfi, addr, &frame) == 0 ? frame : NULL;
}

/* Where the frame base is: in a register, or where the unwind table has the canonical frame address. */
static void find_frame(struct search *s, Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    bool in_memory;
    if (!object_type_location(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, s->addr, &ops, &count, 1) < 1 || count != 1)
        return;
    if (ops->atom != DW_OP_call_frame_cfa) {
        s->has_frame = register_of(ops, &s->frame_reg, &in_memory, &s->frame_offset);
        return;
    }
    Dwarf_Frame *frame = find_unwind_row(s->l, s->addr);
    if (!frame)
        return;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1)
        s->has_frame = register_of(ops, &s->frame_reg, &in_memory, &s->frame_offset);
    free(frame);
}

/* ---- scopes ---- */

static bool in_scope(struct search *s, Dwarf_Die *scope, struct object_type *out) {
    Dwarf_Die die;
    if (dwarf_child(scope, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && is_variable(s, &die, out))
            return true;
    } while (object_lines_sibling(&die));
    return false;
}

/* The function, and the blocks and inlined calls in it that the address lies in. */
static size_t find_scopes(const Dwarf_Die *function, uint64_t addr, Dwarf_Die scopes[SCOPES_MAX]) {
    Dwarf_Die die;
    size_t count = 1;
    scopes[0] = *function;
    while (count < SCOPES_MAX && dwarf_child(&scopes[count - 1], &die) == 0) {
        bool found = false;
        do {
            int tag = dwarf_tag(&die);
            found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                    dwarf_haspc(&die, addr) > 0;
        } while (!found && object_lines_sibling(&die));
        if (!found)
            break;
        scopes[count++] = die;
    }
    return count;
}

static void add_global(struct unit *u, Dwarf_Die *die) {
    Dwarf_Die type;
    Dwarf_Op op;
    uint64_t size;
    if (!location_of(die, 0, &op) || op.atom != DW_OP_addr || !object_type_of(die, &type) ||
        !(size = object_type_size(&type)))
        return;
    struct unit_global *g = vec_push(&u->globals);
    if (g)
        *g = (struct unit_global){op.number, size, dwarf_dieoffset(die)};
}

static int by_start(const void *a, const void *b) {
    const struct unit_global *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

/* A unit's variables, those of namespaces among them. */
static void collect(struct unit *u, Dwarf_Die *parent, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        if (dwarf_tag(&die) == DW_TAG_variable)
            add_global(u, &die);
        else if (dwarf_tag(&die) == DW_TAG_namespace)
            collect(u, &die, depth + 1);
    } while (object_lines_sibling(&die));
}

static bool in_globals(struct search *s, struct unit *u, Dwarf_Die *unit, struct object_type *out) {
    if (!u->globals_known) {
        u->globals_known = true;
        collect(u, unit, 0);
        if (u->globals.count)
            qsort(u->globals.items, u->globals.count, sizeof *u->globals.items, by_start);
    }
    Dwarf_Die die;
    size_t n = sorted_up_to(&u->globals, start, s->access->address);
    return n && s->access->address - u->globals.items[n - 1].start < u->globals.items[n - 1].size &&
           dwarf_offdie(s->l->main.dwarf, u->globals.items[n - 1].die, &die) && is_variable(s, &die, out);
}

bool object_types_find(struct object_lines *l, object_vaddr addr, const struct object_access *access,
                       struct object_type *out) {
    struct unit_walk walk = {0};
    uint32_t index;
    while ((index = object_lines_unit(l, addr, &walk)) != UINT32_MAX) {
        struct unit *u = &l->units.items[index];
        struct search s = {.l = l, .addr = addr, .access = access};
        Dwarf_Die function, unit, scopes[SCOPES_MAX];
        if (!object_lines_function(l, u, addr, &function) || !dwarf_offdie(l->main.dwarf, u->die, &unit))
            continue;
        find_frame(&s, &function);
        size_t count = find_scopes(&function, addr, scopes);
        while (count--)
            if (in_scope(&s, &scopes[count], out))
                return true;
        return access->has_address && in_globals(&s, u, &unit, out);
    }
    return false;
}
