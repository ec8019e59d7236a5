/* SPDX-License-Identifier: Apache-2.0 */
#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "object/dwarf/lines_internal.h"

enum { PATH_MAX_BYTES = 4096 };
enum { LOOK_BACK_MAX = 64 }; /* ranges around an address that are tried: real ones do not overlap */

static bool open_image(struct bytes image, bool with_alt, struct debug_file *f, struct err *err) {
    struct object_elf e;
    if (!object_elf_open(image, &e, err))
        return false;
    if (e.type == ET_REL)
        return err_set(err, ERR_UNSUPPORTED, "", "source lines of relocatable files are not read");
    if (!object_dwarf_image_init(&e, with_alt, &f->image, err))
        return false;
    elf_version(EV_CURRENT);
    f->elf =
        elf_memory((char *)f->image.bytes.data, f->image.bytes.size); /* reads, with nothing compressed */
    if (!f->elf)
        return err_set(err, ERR_BROKEN, "", "%s", elf_errmsg(-1));
    f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
    return f->dwarf || err_set(err, ERR_ABSENT, "", "no debugging information");
}

static void close_image(struct debug_file *f) {
    dwarf_end(f->dwarf);
    elf_end(f->elf);
    object_dwarf_image_fini(&f->image);
}

struct object_lines *object_lines_new(struct bytes image, struct bytes alt, struct err *err) {
    struct object_lines *l = calloc(1, sizeof *l);
    if (!l) {
        err_memory(err, "source lines");
        return NULL;
    }
    bool ok =
        open_image(image, alt.size, &l->main, err) && (!alt.size || open_image(alt, false, &l->alt, err));
    if (ok && alt.size)
        dwarf_setalt(l->main.dwarf, l->alt.dwarf);
    if (ok)
        return l;
    object_lines_free(l);
    return NULL;
}

void object_lines_free(struct object_lines *l) {
    if (!l)
        return;
    if (l->cfi)
        dwarf_cfi_end(l->cfi);
    close_image(&l->main);
    close_image(&l->alt);
    strpool_fini(&l->paths);
    for (size_t i = 0; i < l->units.count; i++) {
        vec_fini(&l->units.items[i].functions);
        vec_fini(&l->units.items[i].globals);
    }
    vec_fini(&l->units);
    vec_fini(&l->ranges);
    vec_fini(&l->rangeless);
    free(l);
}

/* --- Which unit an address is in --------------------------------------------------------------------------
 */

static bool add_ranges(struct object_lines *l, Dwarf_Die *die, uint32_t unit) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    size_t before = l->ranges.count, most = l->main.image.bytes.size / 2; /* what it takes to write one */
    while (l->ranges.count < most && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        struct unit_range *r = vec_push(&l->ranges);
        if (!r)
            return false;
        *r = (struct unit_range){.start = start, .end = end, .unit = unit};
    }
    int tag = dwarf_tag(die);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) /* partial ones have lines, but no code */
        return true;
    if (l->ranges.count > before || dwarf_hasattr(die, DW_AT_low_pc) || !dwarf_hasattr(die, DW_AT_stmt_list))
        return true;
    uint32_t *kept = vec_push(&l->rangeless);
    if (kept)
        *kept = unit;
    return kept;
}

static int by_start(const void *a, const void *b) {
    const struct unit_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end) /* the smaller, which says more, last */
        return x->end > y->end ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* .debug_aranges is often missing (clang), or not complete; the units themselves say. */
static bool read_units(struct object_lines *l) {
    Dwarf_Off at = 0, next;
    size_t header_size;
    for (; dwarf_nextcu(l->main.dwarf, at, &next, &header_size, NULL, NULL, NULL) == 0; at = next) {
        Dwarf_Die die;
        if (next <= at) /* no way forward */
            break;
        if (!dwarf_offdie(l->main.dwarf, at + header_size, &die))
            continue;
        struct unit *u = vec_push(&l->units);
        if (!u)
            return false;
        u->die = at + header_size;
        if (!add_ranges(l, &die, (uint32_t)(l->units.count - 1)))
            return false;
    }
    return true;
}

static bool index_units(struct object_lines *l) {
    l->indexed = true;
    if (!read_units(l)) {
        l->failed = true;
        return false;
    }
    if (l->ranges.count)
        qsort(l->ranges.items, l->ranges.count, sizeof *l->ranges.items, by_start);
    uint64_t reach = 0;
    for (size_t i = 0; i < l->ranges.count; i++) {
        struct unit_range *r = &l->ranges.items[i];
        reach = r->end > reach ? r->end : reach;
        r->reach = reach;
    }
    return true;
}

/* --- Lines --------------------------------------------------------------------------------------------- */

/* libdw joins folders, but may leave the unit's own away; where that is relative too (builds that do not want
 * to tell theirs) it is often there already, and leads nowhere. */
const char *object_lines_path(struct object_lines *l, Dwarf_Die *die, const char *file) {
    Dwarf_Attribute attribute;
    const char *folder = *file == '/' ? NULL : dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    if (!folder || *folder != '/')
        return file;
    char path[PATH_MAX_BYTES];
    int size = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (size < 0 || size >= PATH_MAX_BYTES)
        return file;
    uint32_t id = strpool_add(&l->paths, path, (size_t)size);
    return id == STRPOOL_NONE ? file : strpool_text(&l->paths, id);
}

static bool find_in_unit(struct object_lines *l, uint32_t index, object_vaddr addr, struct object_line *out) {
    struct unit *u = &l->units.items[index];
    Dwarf_Die die;
    Dwarf_Lines *lines;
    size_t count;
    int number = 0;
    if (u->no_lines || !dwarf_offdie(l->main.dwarf, u->die, &die))
        return false;
    if (dwarf_getsrclines(&die, &lines, &count) != 0 || !count) { /* libdw keeps those that it has read */
        u->no_lines = true;
        return false;
    }
    Dwarf_Line *line = dwarf_getsrc_die(&die, addr);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file)
        return false;
    dwarf_lineno(line, &number);
    *out = (struct object_line){object_lines_path(l, &die, file), number > 0 ? (uint32_t)number : 0};
    return true;
}

uint32_t object_lines_unit(struct object_lines *l, uint64_t addr, struct unit_walk *walk) {
    if (!walk->begun) {
        walk->begun = true;
        if (!l->indexed)
            index_units(l);
        walk->at = l->failed ? 0 : sorted_up_to(&l->ranges, start, addr);
    }
    while (walk->at && walk->tries < LOOK_BACK_MAX && l->ranges.items[walk->at - 1].reach > addr) {
        const struct unit_range *r = &l->ranges.items[--walk->at];
        walk->tries++;
        if (r->end > addr)
            return r->unit;
    }
    return UINT32_MAX;
}

bool object_lines_find(struct object_lines *l, object_vaddr addr, struct object_line *out) {
    struct unit_walk walk = {0};
    uint32_t unit;
    *out = (struct object_line){0};
    while ((unit = object_lines_unit(l, addr, &walk)) != UINT32_MAX)
        if (find_in_unit(l, unit, addr, out))
            return true;
    for (size_t i = 0; !l->failed && i < l->rangeless.count; i++)
        if (find_in_unit(l, l->rangeless.items[i], addr, out))
            return true;
    return false;
}

bool object_lines_supported(void) {
    return true;
}
