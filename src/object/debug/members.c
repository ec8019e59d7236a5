/* SPDX-License-Identifier: Apache-2.0 */
/* From a variable to a part of it. */
#include <string.h>

#include "object/debug/variables_internal.h"

static bool is_struct(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static bool is_pointer(int tag) {
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool debug_is_reference(Dwarf_Die *type) {
    Dwarf_Die bare = *type;
    return object_type_peel(&bare, true) && is_pointer(dwarf_tag(&bare)) &&
           dwarf_tag(&bare) != DW_TAG_pointer_type;
}

static const char *type_text(struct debug_part *p) {
    p->text[0] = '\0';
    object_type_put_name(&p->type, p->text, sizeof p->text);
    return p->text;
}

/* ---- places ---- */

static bool too_far(const char *name, struct err *err) {
    return err_set(err, ERR_UNSUPPORTED, name, "is too many pointers away");
}

/* Moves on to the `size` bytes that begin `add` bytes later. */
static bool move(struct debug_part *p, uint64_t add, uint64_t size, const char *name, struct err *err) {
    struct object_location *l = &p->location;
    if (l->pieces[0].size == 0) { /* in one place */
        if (l->pieces[0].place.kind == OBJECT_PLACE_MEMORY)
            return object_chain_add(&l->pieces[0].place.chain, (int64_t)add) || too_far(name, err);
        p->skipped += add;
        return true;
    }
    for (unsigned i = 0; i < l->count; i++) {
        struct object_piece *piece = &l->pieces[i];
        if (add >= piece->size) {
            add -= piece->size;
            continue;
        }
        if (piece->place.kind == OBJECT_PLACE_NOWHERE)
            return err_set(err, ERR_UNSUPPORTED, name, "cannot be had here: %s", piece->why);
        if (size > piece->size - add)
            return err_set(err, ERR_UNSUPPORTED, name, "is spread over several places");
        struct object_piece only = *piece;
        bool last = add == 0 && size == piece->size;
        only.size = 0;
        *l = (struct object_location){.pieces = {only}, .count = 1};
        p->skipped = 0;
        return last || move(p, add, size, name, err);
    }
    return err_set(err, ERR_UNSUPPORTED, name, "was optimized out");
}

bool debug_part_whole(struct debug_part *p, const char *name, struct err *err) {
    const struct object_piece *first = &p->location.pieces[0];
    if (first->size == 0 && first->place.kind == OBJECT_PLACE_NOWHERE)
        return err_set(err, ERR_UNSUPPORTED, name, "%s", first->why ? first->why : "was optimized out");
    return first->size == 0 || move(p, 0, object_type_size(&p->type), name, err);
}

/* From a pointer's place to what it points to. */
static bool follow(struct debug_part *p, const char *name, struct err *err) {
    if (!debug_part_whole(p, name, err))
        return false;
    struct object_place *place = &p->location.pieces[0].place;
    if (p->skipped)
        return err_set(err, ERR_UNSUPPORTED, name, "is a pointer in a part of a register");
    if (place->kind == OBJECT_PLACE_MEMORY) {
        if (p->address_size != p->word_size)
            return err_set(err, ERR_UNSUPPORTED, name,
                           "is a 32-bit pointer in memory, where the kernel would read 64 bits");
        if (!object_chain_load(&place->chain, 0))
            return too_far(name, err);
    }
    place->kind = OBJECT_PLACE_MEMORY; /* at the number that the register or value was */
    place->own_frame = false;
    return true;
}

/* ---- members ---- */

/* Bytes from the start of the structure. False: an expression that computes it (virtual bases). */
static bool member_at(Dwarf_Die *member, uint64_t *at) {
    Dwarf_Attribute a;
    Dwarf_Word n;
    Dwarf_Op *ops;
    size_t count;
    *at = 0;
    if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &a))
        return true;
    if (dwarf_formudata(&a, &n) == 0) {
        *at = n;
        return true;
    }
    if (dwarf_getlocation(&a, &ops, &count) != 0 || count != 1 || ops->atom != DW_OP_plus_uconst)
        return false;
    *at = ops->number;
    return true;
}

static bool number(Dwarf_Die *die, unsigned attribute, uint64_t *out) {
    Dwarf_Attribute a;
    Dwarf_Word n;
    if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &n) != 0)
        return false;
    *out = n;
    return true;
}

/* A bit field's place: bytes and bits from the start of the structure, in *at and p. */
static bool bit_field(struct debug_part *p, Dwarf_Die *member, uint64_t *at, struct err *err) {
    uint64_t bits, from = 0, storage = object_type_size(&p->type);
    const char *name = dwarf_diename(member);
    if (!number(member, DW_AT_bit_size, &bits))
        return true;
    if (!storage || storage > 8 || !bits || bits > 64)
        return err_set(err, ERR_BROKEN, name, "is described in a way that makes no sense");
    if (number(member, DW_AT_data_bit_offset, &from)) { /* DWARF 4 and 5, 5.7.6: from the structure's start */
        *at = from / 8 / storage * storage;
        from -= *at * 8;
        from = p->big_endian && from + bits <= storage * 8 ? storage * 8 - from - bits : from;
    } else if (number(member, DW_AT_bit_offset, &from)) { /* DWARF 2 and 3: from the storage's highest bit */
        uint64_t size;
        storage = number(member, DW_AT_byte_size, &size) && size && size <= 8 ? size : storage;
        if (from + bits > storage * 8)
            return err_set(err, ERR_UNSUPPORTED, name, "is a bit field that crosses its storage unit");
        from = storage * 8 - from - bits;
    }
    if (from + bits > storage * 8)
        return err_set(err, ERR_UNSUPPORTED, name, "is a bit field that crosses its storage unit");
    p->bit_size = (uint32_t)bits;
    p->bit_at = (uint32_t)from;
    p->bit_storage = (uint32_t)storage;
    return true;
}

/* Finds a member, also in unnamed ones and in base classes; its bytes from the start are added to *at. */
static bool find_member(Dwarf_Die *structure, const char *name, Dwarf_Die *member, uint64_t *at,
                        unsigned depth) {
    Dwarf_Die die;
    if (depth > 16 || dwarf_child(structure, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        const char *own = dwarf_diename(&die);
        uint64_t start;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&die, DW_AT_external))
            continue;
        if (tag == DW_TAG_member && own && strcmp(own, name) == 0) {
            *member = die;
            return member_at(&die, &start) && !__builtin_add_overflow(*at, start, at);
        }
        Dwarf_Die inner;
        uint64_t sum;
        if ((tag == DW_TAG_inheritance || !own) && member_at(&die, &start) && object_type_of(&die, &inner) &&
            object_type_peel(&inner, true) && is_struct(dwarf_tag(&inner)) &&
            !__builtin_add_overflow(*at, start, &sum) && find_member(&inner, name, member, &sum, depth + 1)) {
            *at = sum;
            return true;
        }
    } while (object_lines_sibling(&die));
    return false;
}

/* A structure's definition, where the entry is only its declaration: one of that name in the same unit. */
void debug_find_definition(Dwarf_Die *structure) {
    Dwarf_Die unit, die;
    Dwarf_Attribute signature;
    if (dwarf_attr(structure, DW_AT_signature, &signature) && dwarf_formref_die(&signature, &die)) {
        *structure = die; /* in a unit of its own (DWARF 4 and 5, 3.1.4) */
        return;
    }
    const char *name = dwarf_diename(structure);
    if (!dwarf_hasattr(structure, DW_AT_declaration) || !name || !dwarf_diecu(structure, &unit, NULL, NULL) ||
        dwarf_child(&unit, &die) != 0)
        return;
    do {
        const char *other = dwarf_tag(&die) == dwarf_tag(structure) ? dwarf_diename(&die) : NULL;
        if (other && strcmp(other, name) == 0 && !dwarf_hasattr(&die, DW_AT_declaration)) {
            *structure = die;
            return;
        }
    } while (object_lines_sibling(&die));
}

static bool to_member(struct debug_part *p, const struct object_debug_step *s, const char *name,
                      struct err *err) {
    Dwarf_Die bare = p->type, member, target;
    bool pointer = object_type_peel(&bare, true) && is_pointer(dwarf_tag(&bare));
    if (pointer) {
        if (!s->arrow && dwarf_tag(&bare) == DW_TAG_pointer_type)
            return err_set(err, ERR_USAGE, name, "is a pointer (%s): write ->%s", type_text(p), s->name);
        if (!object_type_of(&bare, &target))
            return err_set(err, ERR_USAGE, name, "is a pointer to no known type: it has no member %s",
                           s->name);
        if (!follow(p, name, err))
            return false;
        p->type = bare = target;
    }
    if (!object_type_peel(&bare, true) || !is_struct(dwarf_tag(&bare)))
        return err_set(err, ERR_USAGE, name, "is no structure, class or union (%s): it has no member %s",
                       type_text(p), s->name);
    if (s->arrow && !pointer)
        return err_set(err, ERR_USAGE, name, "is no pointer (%s): write .%s", type_text(p), s->name);
    debug_find_definition(&bare);
    uint64_t at = 0;
    if (!find_member(&bare, s->name, &member, &at, 0) || !object_type_of(&member, &target))
        return err_set(err, ERR_ABSENT, name, "%s has no member %s", type_text(p), s->name);
    uint64_t from = at;
    p->type = target;
    Dwarf_Attribute a;
    bool located = dwarf_attr_integrate(&member, DW_AT_data_member_location, &a) != NULL;
    if (!bit_field(p, &member, &at, err))
        return false;
    if (p->bit_size && !located) /* in an unnamed structure: from its start */
        at += from;
    return move(p, at, p->bit_size ? p->bit_storage : object_type_size(&p->type), s->name, err);
}

/* ---- elements ---- */

/* The number of elements in the dimensions after the first; *first: the number in the first, 0: not known. */
static uint64_t count_rest(Dwarf_Die *array, uint64_t *first) {
    Dwarf_Die die;
    uint64_t rest = 1, n;
    unsigned dimension = 0;
    *first = 0;
    if (dwarf_child(array, &die) != 0)
        return 1;
    do {
        if (dwarf_tag(&die) != DW_TAG_subrange_type)
            continue;
        if (!number(&die, DW_AT_count, &n))
            n = number(&die, DW_AT_upper_bound, &n) ? n + 1 : 0;
        if (dimension++ == 0)
            *first = n;
        else if (__builtin_mul_overflow(rest, n, &rest))
            return 0;
    } while (object_lines_sibling(&die));
    return dimension > 1 ? rest : 1;
}

uint64_t debug_array_count(Dwarf_Die *array) {
    uint64_t first, rest = count_rest(array, &first), all;
    return __builtin_mul_overflow(first, rest, &all) ? 0 : all;
}

static bool to_element(struct debug_part *p, const struct object_debug_step *s, const char *name,
                       struct err *err) {
    Dwarf_Die bare = p->type, item;
    uint64_t first = 0, rest = 1, at;
    if (!object_type_peel(&bare, true) ||
        (dwarf_tag(&bare) != DW_TAG_array_type && dwarf_tag(&bare) != DW_TAG_pointer_type))
        return err_set(err, ERR_USAGE, name, "is neither an array nor a pointer (%s): it has no [%lld]",
                       type_text(p), (long long)s->index);
    bool array = dwarf_tag(&bare) == DW_TAG_array_type;
    if (!object_type_of(&bare, &item) || !object_type_size(&item))
        return err_set(err, ERR_USAGE, name, "has elements of no known size (%s)", type_text(p));
    if (array) {
        rest = count_rest(&bare, &first);
        if (rest != 1)
            return err_set(err, ERR_UNSUPPORTED, name, "has several dimensions (%s)", type_text(p));
        if (first && (uint64_t)s->index >= first)
            return err_set(err, ERR_USAGE, name, "has only %llu elements: there is no [%lld]",
                           (unsigned long long)first, (long long)s->index);
    } else if (!follow(p, name, err)) {
        return false;
    }
    p->type = item;
    if (__builtin_mul_overflow((uint64_t)s->index, object_type_size(&item), &at) || at > INT64_MAX)
        return err_set(err, ERR_USAGE, name, "has no element [%lld]", (long long)s->index);
    return move(p, at, object_type_size(&item), name, err);
}

bool debug_part_step(struct debug_part *p, const struct object_debug_step *s, const char *name,
                     struct err *err) {
    if (p->bit_size)
        return err_set(err, ERR_USAGE, name, "is a bit field, which has no parts");
    while (debug_is_reference(&p->type) && !s->name)
        if (!debug_part_target(p, name, err))
            return false;
    return s->name ? to_member(p, s, name, err) : to_element(p, s, name, err);
}

bool debug_part_target(struct debug_part *p, const char *name, struct err *err) {
    Dwarf_Die bare = p->type;
    if (!object_type_peel(&bare, true) || !object_type_of(&bare, &bare))
        return err_set(err, ERR_UNSUPPORTED, name, "is a reference to no known type");
    if (!follow(p, name, err))
        return false;
    p->type = bare;
    return true;
}
