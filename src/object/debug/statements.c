/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "object/debug/debug_internal.h"

static int by_line(const void *a, const void *b) {
    const struct object_debug_line *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return 0;
}

struct search {
    struct object_debug *d;
    const char *file;
    uint32_t first, last;
    Dwarf_Die within; /* addr NULL: anywhere */
    object_debug_lines *out;
};

/* Whether a row is of that address, and its line, and whether a statement begins there. */
static bool row_at(Dwarf_Lines *lines, size_t row, Dwarf_Addr addr, int *line, bool *begins) {
    Dwarf_Line *l = dwarf_onesrcline(lines, row);
    Dwarf_Addr other;
    bool ends = true;
    return l && dwarf_lineaddr(l, &other) == 0 && other == addr && dwarf_lineendsequence(l, &ends) == 0 &&
           !ends && dwarf_lineno(l, line) == 0 && dwarf_linebeginstatement(l, begins) == 0;
}

/* Several rows may have the row's address: the line of the first statement, and whether the row's is the
 * last. */
static void compare_rows(Dwarf_Lines *lines, size_t row, struct object_debug_line *out) {
    int line = 0;
    bool begins = false;
    out->owner = out->line;
    out->last = true;
    for (size_t i = row; i-- > 0 && row_at(lines, i, out->addr, &line, &begins);)
        if (begins)
            out->owner = (uint32_t)line;
    for (size_t i = row + 1; row_at(lines, i, out->addr, &line, &begins); i++)
        out->last = line > 0 && (uint32_t)line == out->line;
}

/* Whether a row is of a function that was inlined: in its code, and not the line of a call. */
static bool is_of_copy(Dwarf_Die *around, Dwarf_Addr addr, int line, unsigned depth) {
    Dwarf_Die die;
    Dwarf_Attribute a;
    Dwarf_Word call;
    bool inside = false;
    if (depth > DEBUG_DEPTH_MAX || dwarf_child(around, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_inlined_subroutine) {
            if (dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &a), &call) == 0 &&
                call == (Dwarf_Word)line)
                return false;
            inside = inside || dwarf_haspc(&die, addr) > 0;
        } else if (tag == DW_TAG_lexical_block && dwarf_haspc(&die, addr) > 0) {
            return is_of_copy(&die, addr, line, depth + 1);
        }
    } while (object_lines_sibling(&die));
    return inside;
}

static bool add_row(struct search *s, Dwarf_Die *unit, Dwarf_Lines *lines, size_t index) {
    Dwarf_Addr addr;
    Dwarf_Line *row = dwarf_onesrcline(lines, index);
    int line = 0;
    bool begins = false, ends = true;
    if (!row || dwarf_lineno(row, &line) != 0 || line <= 0 || (uint32_t)line < s->first ||
        (uint32_t)line > s->last || dwarf_linebeginstatement(row, &begins) != 0 || !begins ||
        dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineaddr(row, &addr) != 0)
        return true;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    if (!file ||
        (s->within.addr && (dwarf_haspc(&s->within, addr) <= 0 || is_of_copy(&s->within, addr, line, 0))))
        return true;
    file = object_lines_path(s->d->lines, unit, file);
    if (!object_debug_path_ends(file, s->file))
        return true;
    struct object_debug_line *l = vec_push(s->out);
    if (l)
        *l = (struct object_debug_line){.addr = addr, .file = file, .line = (uint32_t)line};
    if (l)
        compare_rows(lines, index, l);
    return l != NULL;
}

static bool read_unit(struct search *s, Dwarf_Die *unit) {
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (!add_row(s, unit, lines, i))
            return false;
    return true;
}

/* Whether a unit's table of files has a file of that name; the lines of other units need not be read. */
static bool names_file(struct object_debug *d, Dwarf_Die *unit, const char *file) {
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = dwarf_filesrc(files, i, NULL, NULL);
        if (name && object_debug_path_ends(object_lines_path(d->lines, unit, name), file))
            return true;
    }
    return false;
}

bool object_debug_statements(struct object_debug *d, const struct object_debug_span *span,
                             object_debug_lines *out, struct err *err) {
    const struct object_instance *within = span->within;
    struct search s = {.d = d, .file = span->file, .first = span->first, .last = span->last, .out = out};
    Dwarf_Off at = 0, next;
    size_t header_size, before = out->count;
    bool ok = true;
    if (within) {
        Dwarf_Die unit = d->instances.items[within->id].unit;
        s.within = d->instances.items[within->id].die;
        ok = read_unit(&s, &unit);
    }
    for (;
         ok && !within && dwarf_nextcu(d->lines->main.dwarf, at, &next, &header_size, NULL, NULL, NULL) == 0;
         at = next) {
        Dwarf_Die unit;
        if (next <= at) /* no way forward */
            break;
        if (dwarf_offdie(d->lines->main.dwarf, at + header_size, &unit) && names_file(d, &unit, span->file))
            ok = read_unit(&s, &unit);
    }
    if (out->count > before)
        qsort(out->items + before, out->count - before, sizeof *out->items, by_line);
    size_t kept = before;
    for (size_t i = before; i < out->count; i++)
        if (kept == before || by_line(&out->items[kept - 1], &out->items[i]) != 0)
            out->items[kept++] = out->items[i];
    out->count = kept;
    return ok || err_memory(err, "lines");
}
