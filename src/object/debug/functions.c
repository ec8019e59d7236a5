/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by name: a walk over those units in whose bytes the name, or a reference to it, occurs at all. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "object/debug/debug_internal.h"

/* ---- units that a name may occur in ---- */

enum { SPELLINGS_MAX = 64, REST_BYTES = 32 << 20 };

/* How a unit's bytes refer to a text: by its offset in .debug_str. */
struct spellings {
    uint32_t offsets[SPELLINGS_MAX];
    unsigned count;
    bool many; /* more than that: every unit is walked */
};

static struct spellings find_spellings(const struct object_debug *d, const char *name) {
    struct spellings s = {.count = 0};
    size_t size = strlen(name) + 1;
    for (size_t at = 0; at < d->text.size;) {
        const uint8_t *hit = memmem(d->text.data + at, d->text.size - at, name, size);
        if (!hit)
            break;
        if (s.count == SPELLINGS_MAX) {
            s.many = true;
            break;
        }
        at = (size_t)(hit - d->text.data);
        s.many |= at > UINT32_MAX;
        s.offsets[s.count++] = d->swap ? __builtin_bswap32((uint32_t)at) : (uint32_t)at;
        at++;
    }
    return s;
}

static bool refers(struct bytes in, const struct spellings *s) {
    for (unsigned i = 0; in.size && i < s->count; i++)
        if (memmem(in.data, in.size, &s->offsets[i], sizeof s->offsets[i]))
            return true;
    return false;
}

/* Whether the name may occur in the unit at [start, end) of .debug_info. */
static bool may_have(const struct object_debug *d, Dwarf_Die *unit, uint64_t start, uint64_t end,
                     const char *name, const struct spellings *s) {
    Dwarf_Attribute base;
    if (d->crosses || s->many || end > d->info.size || start > end ||
        !dwarf_haschildren(unit)) /* its entries are elsewhere: split DWARF */
        return true;
    struct bytes in = {d->info.data + start, (size_t)(end - start)};
    if (refers(in, s) || (in.size && memmem(in.data, in.size, name, strlen(name) + 1)))
        return true;
    /* Texts are referred to by indices into a table of offsets, of one unit or of all: that makes no
     * difference here. */
    return dwarf_attr(unit, DW_AT_str_offsets_base, &base) && refers(d->offsets, s);
}

/* ---- the walk ---- */

struct walk {
    struct object_debug *d;
    const struct object_debug_query *query;
    object_instances *out;
    Dwarf_Die unit;
    bool failed;
};

static bool is_called(const char *name, const struct object_debug_query *q) {
    return name && (q->pattern ? fnmatch(q->name, name, 0) == 0 : strcmp(q->name, name) == 0);
}

static bool is_wanted(struct object_debug *d, Dwarf_Die *die, const struct object_debug_query *q) {
    if (!is_called(debug_text(die, DW_AT_name), q) && (q->pattern || !is_called(debug_linkage(die), q)))
        return false;
    const char *file = q->file ? debug_decl_file(d, die) : NULL;
    return !q->file || (file && object_debug_path_ends(file, q->file));
}

static void visit(struct walk *w, Dwarf_Die *die, const struct debug_instance *function) {
    struct debug_instance i = {.die = *die, .function = function->function, .unit = w->unit};
    if (!is_wanted(w->d, die, w->query) || !debug_entry(die, &i.entry))
        return;
    i.function_entry = function->function_entry;
    struct object_instance *out = vec_push(w->out);
    if (!out || !debug_note(w->d, &i, out)) {
        w->out->count -= out != NULL;
        w->failed = true;
    }
}

static bool holds_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool holds_inlines(int tag) {
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

/* Whether an inlined copy lies directly in the code of the function that it is a copy of: GCC splits
 * functions, and takes a part back in. The function is entered once. */
static bool is_own_part(Dwarf_Die *copy, Dwarf_Die *around) {
    const char *name = debug_text(copy, DW_AT_name), *outer = debug_text(around, DW_AT_name);
    return name && outer && strcmp(name, outer) == 0;
}

/* `function`: the concrete one that `parent` is in, and in its `die` the innermost copy; function.addr is
 * NULL outside of any. */
static void walk(struct walk *w, Dwarf_Die *parent, const struct debug_instance *function, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        struct debug_instance inner = *function;
        if (tag == DW_TAG_subprogram) {
            struct debug_instance own = {.function = die, .die = die};
            bool code = debug_entry(&die, &own.function_entry);
            if (code)
                visit(w, &die, &own);
            if (code ||
                dwarf_haschildren(&die)) /* nested functions have code in abstract ones in Rust and GNU C */
                walk(w, &die, code ? &own : function, depth + 1);
        } else if (holds_functions(tag)) {
            walk(w, &die, function, depth + 1);
        } else if (holds_inlines(tag) && function->function.addr) {
            if (tag == DW_TAG_inlined_subroutine) {
                if (!w->query->no_inlines && !is_own_part(&die, &inner.die))
                    visit(w, &die, function);
                inner.die = die;
            }
            walk(w, &die, &inner, depth + 1);
        }
    } while (!w->failed && object_lines_sibling(&die));
}

static int by_entry(const void *a, const void *b) {
    const struct object_instance *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    if (x->inlined != y->inlined) /* the function itself first */
        return x->inlined ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

bool object_debug_functions(struct object_debug *d, const struct object_debug_query *q, object_instances *out,
                            struct err *err) {
    struct walk w = {.d = d, .query = q, .out = out};
    struct spellings s = {.many = q->pattern};
    Dwarf_Off at = 0, next, rested = 0;
    size_t header_size, before = out->count;
    if (!q->pattern)
        s = find_spellings(d, q->name);
    for (; !w.failed && dwarf_nextcu(d->lines->main.dwarf, at, &next, &header_size, NULL, NULL, NULL) == 0;
         at = next) {
        Dwarf_Die unit;
        struct debug_instance none = {.entry = 0};
        if (next <= at) /* no way forward */
            break;
        if (d->rest && at - rested >= REST_BYTES) {
            d->rest(d->rest_ctx);
            rested = at;
        }
        if (!dwarf_offdie(d->lines->main.dwarf, at + header_size, &unit) ||
            !may_have(d, &unit, at, next, q->name, &s))
            continue;
        w.unit = debug_split(d, unit);
        walk(&w, &w.unit, &none, 0);
    }
    if (out->count > before)
        qsort(out->items + before, out->count - before, sizeof *out->items, by_entry);
    return !w.failed || err_memory(err, "functions");
}

/* ---- by address ---- */

/* The innermost of an entry's children that covers an address, down to what is asked for. */
static bool descend(Dwarf_Die *parent, uint64_t addr, bool function, struct debug_instance *i,
                    unsigned depth) {
    Dwarf_Die die;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return false;
    bool found = false;
    do {
        int tag = dwarf_tag(&die);
        bool holder = holds_functions(tag), inside = i->function.addr != NULL;
        if (holder || (tag == DW_TAG_subprogram && dwarf_haspc(&die, addr) <= 0 && !inside)) {
            found = (holder || dwarf_haschildren(&die)) && descend(&die, addr, function, i, depth + 1);
        } else if ((tag == DW_TAG_subprogram || (inside && !function && holds_inlines(tag))) &&
                   dwarf_haspc(&die, addr) > 0) {
            uint64_t entry;
            if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
                if (!debug_entry(&die, &entry))
                    continue;
                i->die = die;
                i->entry = entry;
            }
            if (tag == DW_TAG_subprogram) {
                i->function = die;
                i->function_entry = entry;
            }
            descend(&die, addr, function, i, depth + 1);
            found = true;
        }
    } while (!found && object_lines_sibling(&die));
    return found;
}

bool object_debug_at(struct object_debug *d, object_vaddr addr, bool function, struct object_instance *out) {
    struct unit_walk walk_units = {0};
    uint32_t index;
    while ((index = object_lines_unit(d->lines, addr, &walk_units)) != UINT32_MAX) {
        struct debug_instance i = {.entry = 0};
        Dwarf_Die unit;
        if (!dwarf_offdie(d->lines->main.dwarf, d->lines->units.items[index].die, &unit))
            continue;
        i.unit = debug_split(d, unit);
        if (descend(&i.unit, addr, function, &i, 0) && i.function.addr && debug_note(d, &i, out))
            return true;
    }
    return false;
}
