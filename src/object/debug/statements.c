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

/* The line that an address is attributed to if several rows have it: that of the last one. */
static int line_of_address(Dwarf_Lines *lines, size_t count, size_t row, Dwarf_Addr addr) {
    int line = 0;
    for (; row < count; row++) {
        Dwarf_Line *l = dwarf_onesrcline(lines, row);
        Dwarf_Addr other;
        bool ends = true;
        if (!l || dwarf_lineaddr(l, &other) != 0 || other != addr || dwarf_lineendsequence(l, &ends) != 0 ||
            ends)
            break;
        dwarf_lineno(l, &line);
    }
    return line;
}

static bool add_row(struct search *s, Dwarf_Die *unit, Dwarf_Lines *lines, size_t count, size_t index) {
    Dwarf_Addr addr;
    Dwarf_Line *row = dwarf_onesrcline(lines, index);
    int line = 0;
    bool begins = false, ends = true;
    if (!row || dwarf_lineno(row, &line) != 0 || line <= 0 || (uint32_t)line < s->first ||
        (uint32_t)line > s->last || dwarf_linebeginstatement(row, &begins) != 0 || !begins ||
        dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineaddr(row, &addr) != 0)
        return true;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    if (!file || (s->within.addr && dwarf_haspc(&s->within, addr) <= 0))
        return true;
    file = object_lines_path(s->d->lines, unit, file);
    if (!object_debug_path_ends(file, s->file))
        return true;
    struct object_debug_line *l = vec_push(s->out);
    if (l)
        *l = (struct object_debug_line){addr, file, (uint32_t)line,
                                        line_of_address(lines, count, index, addr) != line};
    return l != NULL;
}

static bool read_unit(struct search *s, Dwarf_Die *unit) {
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (!add_row(s, unit, lines, count, i))
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
