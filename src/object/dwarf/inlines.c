/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions an address is in: DWARF's tree of entries, from a unit's functions down into what was
 * inlined. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "object/dwarf/lines_internal.h"

/* Bounds for hostile trees; compilers stay far below. */
enum { DEPTH_MAX = 128, INLINED_MAX = 128 };

static bool holds_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* --- A unit's functions -------------------------------------------------------------------------------- */

struct collector {
    struct unit *unit;
    size_t most;
    bool failed;
};

static void add_function(struct collector *c, Dwarf_Die *die) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while (!c->failed && c->unit->functions.count < c->most &&
           (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        struct unit_function *f = vec_push(&c->unit->functions);
        if (f)
            *f = (struct unit_function){start, end, dwarf_dieoffset(die)};
        else
            c->failed = true;
    }
}

static void collect(struct collector *c, Dwarf_Die *parent, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            add_function(c, &die);
        if (tag == DW_TAG_subprogram ||
            holds_functions(tag)) /* in a function too: Rust's and GNU C's nested ones */
            collect(c, &die, depth + 1);
    } while (!c->failed && object_lines_sibling(&die));
}

static int by_start(const void *a, const void *b) {
    const struct unit_function *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->die > y->die) - (x->die < y->die);
}

bool object_lines_function(struct object_lines *l, struct unit *u, uint64_t addr, Dwarf_Die *out) {
    Dwarf_Die die;
    if (!u->functions_known) {
        struct collector c = {u, l->main.image.bytes.size / 2, false};
        u->functions_known = true;
        if (dwarf_offdie(l->main.dwarf, u->die, &die))
            collect(&c, &die, 0);
        if (u->functions.count)
            qsort(u->functions.items, u->functions.count, sizeof *u->functions.items, by_start);
    }
    size_t n = sorted_up_to(&u->functions, start, addr);
    return n && u->functions.items[n - 1].end > addr &&
           dwarf_offdie(l->main.dwarf, u->functions.items[n - 1].die, out);
}

/* --- What was inlined in it ---------------------------------------------------------------------------- */

static bool covers(Dwarf_Die *die, uint64_t addr) {
    return dwarf_haspc(die, addr) > 0;
}

/* The path from a function to the innermost inlined call at an address: path[0] is the function. Blocks on
 * the way are walked through, and not in it. */
static size_t find_path(Dwarf_Die *function, uint64_t addr, Dwarf_Die path[INLINED_MAX]) {
    Dwarf_Die at = *function, die;
    size_t count = 1;
    path[0] = *function;
    for (unsigned depth = 0; depth < DEPTH_MAX && count < INLINED_MAX && dwarf_child(&at, &die) == 0;
         depth++) {
        bool found = false;
        do {
            int tag = dwarf_tag(&die);
            if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) || !covers(&die, addr))
                continue;
            found = true;
            if (tag == DW_TAG_inlined_subroutine)
                path[count++] = die;
            break;
        } while (object_lines_sibling(&die));
        if (!found)
            break;
        at = die;
    }
    return count;
}

static const char *name_of(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/* Where the call was that an inlined subroutine stands for. */
static struct object_line call_of(struct object_lines *l, Dwarf_Die *unit, Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files *files;
    size_t count;
    struct object_line out = {0};
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0 && line <= UINT32_MAX)
        out.line = (uint32_t)line;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return out;
    const char *name = dwarf_filesrc(files, (size_t)file, NULL, NULL);
    out.file = name ? object_lines_path(l, unit, name) : NULL;
    return out;
}

static size_t describe(struct object_lines *l, Dwarf_Die *unit, Dwarf_Die *path, size_t count,
                       const struct object_line *innermost, struct object_inline *out, size_t max) {
    struct object_line line = *innermost;
    size_t n = 0;
    for (size_t i = count; i-- && n < max; n++) {
        const char *name = name_of(&path[i]);
        out[n] = (struct object_inline){name ? name : "", line};
        if (i)
            line = call_of(l, unit, &path[i]);
    }
    return n;
}

size_t object_lines_inlined(struct object_lines *l, object_vaddr addr, struct object_inline *out,
                            size_t max) {
    struct unit_walk walk = {0};
    uint32_t index;
    while ((index = object_lines_unit(l, addr, &walk)) != UINT32_MAX) {
        struct unit *u = &l->units.items[index];
        Dwarf_Die function, unit, path[INLINED_MAX];
        struct object_line line;
        if (!object_lines_function(l, u, addr, &function) || !dwarf_offdie(l->main.dwarf, u->die, &unit))
            continue;
        size_t count = find_path(&function, addr, path);
        object_lines_find(l, addr, &line);
        return describe(l, &unit, path, count, &line, out, max);
    }
    return 0;
}
