/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/debug/variables_internal.h"

/* ---- scopes ---- */

static const struct debug_instance *instance_of(const struct object_debug *d, uint32_t id) {
    return &d->instances.items[id];
}

/* The instance and the blocks in it that the address lies in. Not what was inlined into it. */
static size_t find_scopes(const struct debug_instance *i, uint64_t addr, Dwarf_Die scopes[DEBUG_SCOPES_MAX]) {
    Dwarf_Die die;
    size_t count = 1;
    scopes[0] = i->die;
    while (count < DEBUG_SCOPES_MAX && dwarf_child(&scopes[count - 1], &die) == 0) {
        bool found = false;
        do
            found = dwarf_tag(&die) == DW_TAG_lexical_block && dwarf_haspc(&die, addr) > 0;
        while (!found && object_lines_sibling(&die));
        if (!found)
            break;
        scopes[count++] = die;
    }
    return count;
}

static bool is_variable(Dwarf_Die *die) {
    int tag = dwarf_tag(die);
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool find_in(Dwarf_Die *scope, const char *name, Dwarf_Die *out, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(scope, &die) != 0)
        return false;
    do {
        const char *own = is_variable(&die) ? debug_text(&die, DW_AT_name) : NULL;
        if (own && strcmp(own, name) == 0) {
            *out = die;
            return true;
        }
    } while (object_lines_sibling(&die));
    return false;
}

/* A variable of the unit that has a location; mere declarations are passed over. */
static bool find_external(Dwarf_Die *unit, const char *name, Dwarf_Die *out, unsigned depth) {
    Dwarf_Die die;
    Dwarf_Attribute a;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(unit, &die) != 0)
        return false;
    do {
        if (dwarf_tag(&die) == DW_TAG_namespace && find_external(&die, name, out, depth + 1))
            return true;
        const char *own = dwarf_tag(&die) == DW_TAG_variable ? debug_text(&die, DW_AT_name) : NULL;
        if (own && strcmp(own, name) == 0 && dwarf_attr_integrate(&die, DW_AT_location, &a)) {
            *out = die;
            return true;
        }
    } while (object_lines_sibling(&die));
    return false;
}

static bool find_variable(struct object_debug *d, struct object_debug_place at, const char *name,
                          Dwarf_Die *out, bool *external) {
    const struct debug_instance *i = instance_of(d, at.instance);
    Dwarf_Die scopes[DEBUG_SCOPES_MAX], unit = i->unit;
    *external = false;
    for (size_t n = find_scopes(i, at.addr, scopes); n--;)
        if (find_in(&scopes[n], name, out, 0))
            return true;
    *external = true;
    return find_external(&unit, name, out, 0);
}

/* ---- locations ---- */

struct surroundings {
    struct object_location_context context;
    struct object_chain cfa, frame;
};

/* ---- types ---- */

static enum object_value_type class_of(Dwarf_Die *type) {
    Dwarf_Die bare = *type;
    Dwarf_Attribute a;
    Dwarf_Word encoding = 0;
    if (!object_type_peel(&bare, true))
        return OBJECT_VALUE_OTHER;
    switch (dwarf_tag(&bare)) {
    case DW_TAG_base_type:
        if (dwarf_formudata(dwarf_attr(&bare, DW_AT_encoding, &a), &encoding) != 0)
            return OBJECT_VALUE_OTHER;
        switch (encoding) {
        case DW_ATE_signed:
        case DW_ATE_signed_char:
            return OBJECT_VALUE_SIGNED;
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_boolean:
        case DW_ATE_UTF:
        case DW_ATE_address:
            return OBJECT_VALUE_UNSIGNED;
        case DW_ATE_float:
            return OBJECT_VALUE_FLOAT;
        default:
            return OBJECT_VALUE_OTHER;
        }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return OBJECT_VALUE_POINTER;
    case DW_TAG_enumeration_type:
        return object_type_of(&bare, &bare) ? class_of(&bare) : OBJECT_VALUE_UNSIGNED;
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_class_type:
        return OBJECT_VALUE_STRUCT;
    case DW_TAG_array_type:
        return OBJECT_VALUE_ARRAY;
    default:
        return OBJECT_VALUE_OTHER;
    }
}

static bool is_integer(Dwarf_Die *type) {
    enum object_value_type c = class_of(type);
    return c == OBJECT_VALUE_SIGNED || c == OBJECT_VALUE_UNSIGNED;
}

/* An address, or a number, from the unit's table (.debug_addr). */
static void convert_index(Dwarf_Attribute *attribute, const Dwarf_Op *from, struct object_op *to) {
    Dwarf_Attribute entry;
    Dwarf_Addr addr;
    bool constant = from->atom == DW_OP_constx || from->atom == DW_OP_GNU_const_index;
    if (dwarf_getlocation_attr(attribute, from, &entry) == 0 &&
        (constant ? dwarf_formudata(&entry, &addr) : dwarf_formaddr(&entry, &addr)) == 0)
        *to = (struct object_op){constant ? DW_OP_constu : DW_OP_addr, addr, 0};
}

/* libdw's form of an expression as ours. */
static size_t convert(Dwarf_Attribute *attribute, const Dwarf_Op *from, size_t count, bool swap,
                      struct object_op *to, size_t room) {
    for (size_t i = 0; i < count && i < room; i++) {
        to[i] = (struct object_op){from[i].atom, from[i].number, from[i].number2};
        if (from[i].atom == DW_OP_implicit_value) {
            Dwarf_Block b;
            uint64_t v = 0;
            if (dwarf_getlocation_implicit_value(attribute, &from[i], &b) != 0 || b.length > 8) {
                to[i].number = OBJECT_OP_NONE;
                continue;
            }
            for (uint64_t k = 0; k < b.length; k++)
                v |= (uint64_t)b.data[k] << 8 * (swap != BYTES_HOST_BIG ? b.length - 1 - k : k);
            to[i].number = b.length;
            to[i].number2 = v;
        } else if (from[i].atom == DW_OP_addrx || from[i].atom == DW_OP_constx ||
                   from[i].atom == DW_OP_GNU_addr_index || from[i].atom == DW_OP_GNU_const_index) {
            convert_index(attribute, &from[i], &to[i]);
        } else if (from[i].atom == DW_OP_convert || from[i].atom == DW_OP_GNU_convert) {
            Dwarf_Die type;
            to[i].number = dwarf_getlocation_die(attribute, &from[i], &type) == 0 && is_integer(&type)
                               ? object_type_size(&type)
                               : OBJECT_OP_NONE;
        } else if (from[i].atom == DW_OP_entry_value || from[i].atom == DW_OP_GNU_entry_value) {
            Dwarf_Attribute inner;
            Dwarf_Op *ops;
            size_t n;
            to[i].number = OBJECT_OP_NONE;
            if (dwarf_getlocation_attr(attribute, &from[i], &inner) == 0 &&
                dwarf_getlocation(&inner, &ops, &n) == 0 && n == 1)
                to[i].number = ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31 ? ops->atom - DW_OP_reg0
                               : ops->atom == DW_OP_regx                           ? ops->number
                                                                                   : OBJECT_OP_NONE;
        }
    }
    return count < room ? count : room + 1;
}

static unsigned address_size(Dwarf_Die *die) {
    Dwarf_Die unit;
    uint8_t size;
    return dwarf_diecu(die, &unit, &size, NULL) ? size : 8;
}

enum { OPS_MAX = 64 };

/* Statements that need no instruction share an address with what follows (GCC's location views): a list then
 * has an empty range for what holds before them. Finds that. */
static bool find_first_view(Dwarf_Attribute *attribute, uint64_t addr, Dwarf_Op **ops, size_t *count) {
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_getlocations(attribute, at, &base, &start, &end, ops, count)) > 0;)
        if (start == addr && end == addr)
            return true;
    return false;
}

/* Whether one of its values ends or begins at the address. */
static bool changes_at(Dwarf_Attribute *attribute, uint64_t addr) {
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    for (ptrdiff_t at = 0; (at = dwarf_getlocations(attribute, at, &base, &start, &end, &ops, &count)) > 0;)
        if (start == addr || end == addr)
            return true;
    return false;
}

/* Follows an attribute's expression for an address. *there: it has an expression there. */
static bool follow(struct object_debug *d, Dwarf_Attribute *attribute, struct object_debug_place at,
                   const struct object_location_context *context, struct object_location *out,
                   const char **why, bool *there) {
    Dwarf_Op *ops;
    size_t count;
    struct object_op own[OPS_MAX];
    if (at.between && changes_at(attribute, at.addr)) {
        *why = "it changes there, before or after this line";
        *there = true;
        return false;
    }
    int n = at.entry && find_first_view(attribute, at.addr, &ops, &count)
                ? 1
                : dwarf_getlocation_addr(attribute, at.addr, &ops, &count, 1);
    *why = n < 0 ? "its description makes no sense" : "it has no value here";
    *there = n > 0 && count > 0;
    if (n < 1)
        return false;
    count = convert(attribute, ops, count, d->swap, own, OPS_MAX);
    if (count > OPS_MAX) {
        *why = "its value is computed";
        return false;
    }
    return object_location_follow(own, count, context, out, why);
}

static void find_cfa(struct object_debug *d, uint64_t addr, struct surroundings *s) {
    struct object_cfi_range range;
    struct object_cfi_row row;
    if (!d->cfi || !object_cfi_find(d->cfi, addr, &range) || !object_cfi_row(d->cfi, &range, addr, &row) ||
        row.cfa.kind != OBJECT_CFI_IS || row.cfa_register > INT16_MAX)
        return;
    s->cfa = (struct object_chain){(int)row.cfa_register, false, 1, {row.cfa.offset}};
    s->context.cfa = &s->cfa;
}

/* What the expressions of the function's variables may refer to. */
static void find_surroundings(struct object_debug *d, const struct debug_instance *i,
                              struct object_debug_place at, struct surroundings *s) {
    Dwarf_Attribute base;
    Dwarf_Die function = i->function;
    struct object_location l;
    const char *why;
    bool there;
    at.between = false;
    *s = (struct surroundings){.context.at_entry = at.addr == i->function_entry};
    s->context.address_size = address_size(&function);
    find_cfa(d, at.addr, s);
    if (!object_type_location(&function, DW_AT_frame_base, &base) ||
        !follow(d, &base, at, &s->context, &l, &why, &there) || l.count != 1 || l.pieces[0].size)
        return;
    const struct object_place *p = &l.pieces[0].place;
    if (p->kind == OBJECT_PLACE_NOWHERE)
        return;
    s->frame = p->chain; /* a register: what is in it; memory, a value: the address itself */
    s->context.frame = &s->frame;
    s->context.frame_is_cfa =
        s->context.cfa && p->kind == OBJECT_PLACE_MEMORY && memcmp(&s->frame, &s->cfa, sizeof s->frame) == 0;
}

/* A constant that stands for the variable. */
static bool constant(Dwarf_Die *die, struct object_location *out) {
    Dwarf_Attribute a;
    Dwarf_Sword n;
    Dwarf_Word u;
    if (!dwarf_attr_integrate(die, DW_AT_const_value, &a))
        return false;
    if (dwarf_whatform(&a) == DW_FORM_sdata || dwarf_whatform(&a) == DW_FORM_implicit_const) {
        if (dwarf_formsdata(&a, &n) != 0)
            return false;
        u = (Dwarf_Word)n;
    } else if (dwarf_formudata(&a, &u) != 0) {
        return false;
    }
    *out = (struct object_location){.count = 1};
    out->pieces[0].place =
        (struct object_place){OBJECT_PLACE_VALUE, {OBJECT_NO_REGISTER, false, 1, {(int64_t)u}}, false};
    return true;
}

/* Whether the code at the address runs before the function has made its frame. */
static bool before_body(const struct debug_instance *i, uint64_t addr) {
    Dwarf_Die die = i->die;
    return dwarf_tag(&die) == DW_TAG_subprogram &&
           (addr == i->entry || (addr > i->entry && (addr < i->body || addr < i->settled)));
}

/* Whether callers pass something in a register, or it is the stack pointer (the machines' ABIs). */
static bool is_passed(uint16_t machine, int number) {
    switch (machine) {
    case EM_X86_64:
        return number == 1 || number == 2 || number == 4 || number == 5 || (number >= 7 && number <= 9);
    case EM_AARCH64:
        return number <= 8 || number == 31;
    case EM_RISCV:
        return number == 2 || (number >= 10 && number <= 17);
    default:
        return true;
    }
}

/* Whether a part of a variable is where the function puts it only in its prologue: in its own frame or, if it
 * is in one place all the time, in a register that callers do not use, or where such a one points to. */
static bool is_unwritten(const struct object_debug *d, Dwarf_Attribute *a, const struct object_place *p) {
    return p->own_frame || (p->kind != OBJECT_PLACE_NOWHERE && p->chain.base != OBJECT_NO_REGISTER &&
                            !debug_is_list(a) && !is_passed(d->machine, p->chain.base));
}

/* *there: the variable exists at the place, whether its value can be fetched or not. */
static bool locate(struct object_debug *d, struct object_debug_place at, Dwarf_Die *variable,
                   const char *name, struct object_location *out, bool *there, struct err *err) {
    const struct debug_instance *i = instance_of(d, at.instance);
    struct surroundings s;
    Dwarf_Attribute a;
    const char *why;
    if (!object_type_location(variable, DW_AT_location, &a))
        return (*there = constant(variable, out)) || err_set(err, ERR_UNSUPPORTED, name, "was optimized out");
    find_surroundings(d, i, at, &s);
    at.entry = at.entry && dwarf_tag(variable) == DW_TAG_formal_parameter; /* others have no value yet */
    if (!follow(d, &a, at, &s.context, out, &why, there)) {
        char where[160];
        object_debug_ranges(d, at, name, where, sizeof where);
        return err_set(err, ERR_UNSUPPORTED, name, "cannot be had here: %s%s%s", why,
                       *where ? "; it has a value at " : "", where);
    }
    for (unsigned k = 0; k < out->count; k++)
        if (is_unwritten(d, &a, &out->pieces[k].place) && before_body(i, at.addr))
            return err_set(
                err, ERR_IO, name,
                "is where the function has not put it yet at its entry: probe its first line, or later");
    return true;
}

void object_debug_ranges(struct object_debug *d, struct object_debug_place at, const char *name, char *to,
                         size_t room) {
    const struct debug_instance *i = instance_of(d, at.instance);
    Dwarf_Die die, function = i->function;
    Dwarf_Attribute a;
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count, len = 0;
    bool external;
    *to = '\0';
    if (!find_variable(d, at, name, &die, &external) || !object_type_location(&die, DW_AT_location, &a))
        return;
    const char *outer = dwarf_diename(&function);
    for (ptrdiff_t k = 0;
         len < room && (k = dwarf_getlocations(&a, k, &base, &start, &end, &ops, &count)) > 0;) {
        if (start == 0 && end == (Dwarf_Addr)-1) { /* everywhere in its scope */
            if (debug_entry(&function, &start) && dwarf_highpc(&function, &end) != 0)
                end = start;
        }
        int n = len ? snprintf(to + len, room - len, ",%lld-%lld", (long long)(start - i->function_entry),
                               (long long)(end - i->function_entry))
                    : snprintf(to, room, "<%s+[%lld-%lld", outer ? outer : "?",
                               (long long)(start - i->function_entry), (long long)(end - i->function_entry));
        len = n < 0 ? len : len + (size_t)n;
    }
    if (len && len < room)
        snprintf(to + len, room - len, "]>");
}

/* ---- more of types ---- */

static bool is_character(Dwarf_Die *type) {
    Dwarf_Die bare = *type;
    enum object_value_type c = class_of(type);
    return object_type_peel(&bare, true) && dwarf_tag(&bare) == DW_TAG_base_type &&
           (c == OBJECT_VALUE_SIGNED || c == OBJECT_VALUE_UNSIGNED) && object_type_size(&bare) == 1;
}

/* Whether texts have a length in the unit's language, and no NUL at their end. */
static bool counts_texts(const struct debug_instance *i) {
    Dwarf_Die unit = i->unit;
    int language = dwarf_srclang(&unit);
    return language == DW_LANG_Rust || language == DW_LANG_Go;
}

static void describe_type(struct debug_part *p, struct object_value *out) {
    Dwarf_Die bare = p->type, item;
    object_type_put_name(&p->type, out->type_name, sizeof out->type_name);
    out->type = class_of(&p->type);
    out->size = object_type_size(&p->type);
    bool inner = object_type_peel(&bare, true) && object_type_of(&bare, &item);
    if (out->type == OBJECT_VALUE_POINTER) {
        out->size = out->size ? out->size : p->address_size;
        out->text = inner && is_character(&item);
        out->counted = out->text && p->counts_texts && class_of(&item) == OBJECT_VALUE_UNSIGNED;
    } else if (out->type == OBJECT_VALUE_STRUCT) {
        debug_find_definition(&bare);
        out->size = object_type_size(&bare);
    } else if (out->type == OBJECT_VALUE_ARRAY && inner) {
        out->count = debug_array_count(&bare);
        out->item = class_of(&item);
        out->text = is_character(&item);
        out->counted = out->text && p->counts_texts && class_of(&item) == OBJECT_VALUE_UNSIGNED;
        for (unsigned i = 0; out->item == OBJECT_VALUE_ARRAY && i < DEBUG_DEPTH_MAX; i++) {
            if (!object_type_peel(&item, true) || !object_type_of(&item, &item))
                break;
            out->item = class_of(&item);
        }
        out->size = object_type_size(&item);
    }
}

/* ---- values ---- */

/* A part of what is in a register: bits of it. */
static bool cut_register(struct debug_part *p, const char *name, struct object_value *out, struct err *err) {
    if (out->place.kind == OBJECT_PLACE_MEMORY || (!p->skipped && !p->bit_size))
        return true;
    uint64_t bytes = p->bit_size ? p->bit_storage : out->size;
    if (out->type == OBJECT_VALUE_STRUCT || out->type == OBJECT_VALUE_ARRAY || p->skipped + bytes > 8 ||
        p->big_endian)
        return err_set(err, ERR_UNSUPPORTED, name, "is a part of a register");
    out->bit_at = (uint32_t)(p->skipped * 8) + (p->bit_size ? p->bit_at : 0);
    out->bit_size = p->bit_size ? p->bit_size : (uint32_t)(bytes * 8);
    out->size = 8;
    return true;
}

static bool finish_value(struct debug_part *p, const char *name, struct object_value *out, struct err *err) {
    while (debug_is_reference(&p->type)) /* people mean what it refers to */
        if (!debug_part_target(p, name, err))
            return false;
    if (!debug_part_whole(p, name, err))
        return false;
    *out = (struct object_value){.place = p->location.pieces[0].place};
    describe_type(p, out);
    unsigned width = out->place.width;
    if (out->place.kind == OBJECT_PLACE_VALUE && width &&
        (out->size > width || out->type == OBJECT_VALUE_ARRAY))
        return err_set(err, ERR_UNSUPPORTED, name, "is computed, and nothing keeps it");
    if (p->bit_size) {
        out->bit_size = p->bit_size;
        out->bit_at = p->bit_at;
        out->size = p->bit_storage;
    }
    return cut_register(p, name, out, err);
}

bool object_debug_value(struct object_debug *d, struct object_debug_place at,
                        const struct object_debug_path *path, struct object_value *out, struct err *err) {
    const char *name = path->name;
    Dwarf_Die variable;
    bool external, there;
    if (!find_variable(d, at, name, &variable, &external))
        return err_set(err, ERR_ABSENT, name, "there is no variable of that name here: --vars lists them");
    struct debug_part p = {.word_size = sizeof(long), .big_endian = d->swap != BYTES_HOST_BIG};
    p.address_size = address_size(&variable);
    p.counts_texts = counts_texts(instance_of(d, at.instance));
    if (!object_type_of(&variable, &p.type))
        return err_set(err, ERR_UNSUPPORTED, name, "has no type that is known");
    if (!locate(d, at, &variable, name, &p.location, &there, err))
        return false;
    for (size_t i = 0; i < path->count; i++) {
        if (!debug_part_step(&p, &path->steps[i], name, err))
            return false;
        name = path->steps[i].name ? path->steps[i].name : path->name;
    }
    return finish_value(&p, name, out, err);
}

/* ---- lists ---- */

static bool is_listed(const object_variables *v, size_t from, const char *name) {
    for (size_t i = from; i < v->count; i++)
        if (strcmp(v->items[i].name, name) == 0)
            return true;
    return false;
}

/* Whether it is a parameter that the caller passes. Go describes results as parameters, too. */
static bool is_given(Dwarf_Die *die) {
    Dwarf_Attribute a;
    bool result = false;
    return dwarf_tag(die) == DW_TAG_formal_parameter &&
           (dwarf_formflag(dwarf_attr_integrate(die, DW_AT_variable_parameter, &a), &result) != 0 || !result);
}

static bool list(struct object_debug *d, struct object_debug_place at, Dwarf_Die *scope, bool external,
                 object_variables *out, size_t from, unsigned depth) {
    Dwarf_Die die, type;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(scope, &die) != 0)
        return true;
    do {
        if (external && dwarf_tag(&die) == DW_TAG_namespace && !list(d, at, &die, true, out, from, depth + 1))
            return false;
        const char *name = is_variable(&die) ? debug_text(&die, DW_AT_name) : NULL;
        if (!name || is_listed(out, from, name))
            continue;
        struct object_location l;
        struct err why = ERR_INIT;
        struct object_variable v = {.name = name, .parameter = is_given(&die)};
        v.external = external;
        locate(d, at, &die, name, &l, &v.here, &why);
        if (object_type_of(&die, &type))
            object_type_put_name(&type, v.type_name, sizeof v.type_name);
        struct object_variable *slot = vec_push(out);
        if (!slot)
            return false;
        *slot = v;
    } while (object_lines_sibling(&die));
    return true;
}

bool object_debug_variables(struct object_debug *d, struct object_debug_place at, bool externals,
                            object_variables *out, struct err *err) {
    const struct debug_instance *i = instance_of(d, at.instance);
    Dwarf_Die scopes[DEBUG_SCOPES_MAX], unit = i->unit;
    size_t from = out->count;
    bool ok = true;
    for (size_t n = find_scopes(i, at.addr, scopes); ok && n--;)
        ok = list(d, at, &scopes[n], false, out, from, 0);
    if (ok && externals)
        ok = list(d, at, &unit, true, out, from, 0);
    return ok || err_memory(err, "variables");
}
