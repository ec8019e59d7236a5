/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/debug_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct bytes section(const struct object_elf *e, const char *name) {
    struct object_section s;
    struct bytes content = {NULL, 0};
    if (object_elf_section_named(e, name, &s))
        object_elf_section_bytes(e, &s, NULL, &content, NULL);
    return content;
}

/* Whether one abbreviation says that functions have instances in other units (link-time optimisation, dwz).
 */
static bool crosses(struct cursor *c) {
    bool found = false;
    cursor_uleb(c); /* tag */
    cursor_u8(c);   /* whether it has children */
    while (cursor_ok(c)) {
        uint64_t attribute = cursor_uleb(c), form = cursor_uleb(c);
        if (form == DW_FORM_implicit_const)
            cursor_sleb(c);
        if (!attribute && !form)
            break;
        found |= (attribute == DW_AT_abstract_origin || attribute == DW_AT_specification) &&
                 (form == DW_FORM_ref_addr || form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
                  form == DW_FORM_ref_sup8);
    }
    return found;
}

/* Whether any abbreviation says so (DWARF 5, 7.5.3). A damaged one counts as if it did, which costs only
 * time. */
static bool finds_crossing(struct bytes abbreviations) {
    struct cursor c = cursor_make(abbreviations, false);
    while (cursor_left(&c))
        if (cursor_uleb(&c) && (crosses(&c) || !cursor_ok(&c)))
            return true;
    return false;
}

struct object_debug *object_debug_new(struct bytes image, struct bytes alt, const struct object_cfi *cfi,
                                      struct err *err) {
    struct object_debug *d = calloc(1, sizeof *d);
    if (!d) {
        err_memory(err, "debugging information");
        return NULL;
    }
    struct object_elf e;
    d->cfi = cfi;
    d->lines = object_lines_new(image, alt, err);
    if (!d->lines || !object_elf_open(d->lines->main.image.bytes, &e, err)) {
        object_debug_free(d);
        return NULL;
    }
    d->swap = e.swap;
    d->machine = e.machine;
    d->info = section(&e, ".debug_info");
    d->text = section(&e, ".debug_str");
    d->abbrev = section(&e, ".debug_abbrev");
    d->offsets = section(&e, ".debug_str_offsets");
    d->crosses = alt.size || finds_crossing(d->abbrev);
    return d;
}

void object_debug_rest_by(struct object_debug *d, void (*rest)(void *ctx), void *ctx) {
    d->rest = rest;
    d->rest_ctx = ctx;
}

void object_debug_free(struct object_debug *d) {
    if (!d)
        return;
    object_lines_free(d->lines);
    vec_fini(&d->instances);
    free(d);
}

/* ---- entries ---- */

const char *debug_text(Dwarf_Die *die, unsigned attribute) {
    Dwarf_Attribute a;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &a));
}

const char *debug_linkage(Dwarf_Die *die) {
    const char *name = debug_text(die, DW_AT_linkage_name);
    return name ? name : debug_text(die, DW_AT_MIPS_linkage_name);
}

const char *debug_decl_file(struct object_debug *d, Dwarf_Die *die) {
    Dwarf_Attribute a;
    Dwarf_Word index;
    Dwarf_Files *files;
    Dwarf_Die unit;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &a) || dwarf_formudata(&a, &index) != 0 ||
        !dwarf_cu_die(a.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count)
        return NULL;
    const char *file = dwarf_filesrc(files, (size_t)index, NULL, NULL);
    return file ? object_lines_path(d->lines, &unit, file) : NULL;
}

bool debug_entry(Dwarf_Die *die, uint64_t *addr) {
    Dwarf_Addr base, start, end;
    if (dwarf_entrypc(die, addr) == 0 || dwarf_lowpc(die, addr) == 0)
        return true;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
        if (start < end) {
            *addr = start;
            return true;
        }
    return false;
}

Dwarf_Die debug_split(struct object_debug *d, Dwarf_Die unit) {
    Dwarf_Die sub;
    const char *name;
    if (unit.addr && !dwarf_haschildren(&unit) &&
        dwarf_cu_info(unit.cu, NULL, NULL, NULL, &sub, NULL, NULL, NULL) == 0 && sub.addr)
        return sub;
    if (unit.addr && !dwarf_haschildren(&unit) &&
        ((name = debug_text(&unit, DW_AT_dwo_name)) || (name = debug_text(&unit, DW_AT_GNU_dwo_name))))
        d->missing = name;
    return unit;
}

const char *object_debug_missing(const struct object_debug *d) {
    return d->missing;
}

/* Where the function's code proper begins, as debuggers put a breakpoint there. */
static uint64_t body_of(Dwarf_Die *function, uint64_t entry) {
    Dwarf_Addr *at = NULL;
    uint64_t body = entry;
    int count = dwarf_entry_breakpoints(function, &at);
    for (int i = 0; i < count; i++)
        if (at[i] >= entry && dwarf_haspc(function, at[i]) > 0)
            body = at[i];
    if (count > 0)
        free(at);
    return body;
}

bool debug_is_list(Dwarf_Attribute *a) {
    unsigned form = dwarf_whatform(a);
    return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
           form == DW_FORM_data8;
}

/* Whether all arguments are in memory after the prologue. In optimised code they are not: GCC moves
 * instructions, and other compilers keep some arguments only in registers, for a while. */
static bool body_is_told(Dwarf_Die *unit, Dwarf_Die *function) {
    const char *producer = debug_text(unit, DW_AT_producer);
    for (const char *at = producer && !strncmp(producer, "GNU ", 4) ? producer : NULL;
         at && (at = strstr(at, " -O")); at += 3)
        if (at[3] != '0')
            return false;
    Dwarf_Die die;
    Dwarf_Attribute a;
    if (dwarf_child(function, &die) != 0)
        return true;
    do
        if (dwarf_tag(&die) == DW_TAG_formal_parameter && dwarf_attr(&die, DW_AT_location, &a) &&
            debug_is_list(&a))
            return false;
    while (object_lines_sibling(&die));
    return true;
}

bool debug_note(struct object_debug *d, const struct debug_instance *i, struct object_instance *out) {
    struct debug_instance *kept = vec_push(&d->instances);
    if (!kept)
        return false;
    *kept = *i;
    bool inlined = dwarf_tag(&kept->die) == DW_TAG_inlined_subroutine;
    bool told = !inlined && body_is_told(&kept->unit, &kept->die);
    kept->settled = inlined ? kept->entry : body_of(&kept->die, kept->entry);
    kept->body = told ? kept->settled : kept->entry;
    int line = 0;
    dwarf_decl_line(&kept->die, &line);
    *out = (struct object_instance){
        .id = (uint32_t)(d->instances.count - 1),
        .name = debug_text(&kept->die, DW_AT_name),
        .linked = debug_linkage(&kept->die),
        .outer = debug_text(inlined ? &kept->function : &kept->die, DW_AT_name),
        .file = debug_decl_file(d, &kept->die),
        .line = line > 0 ? (uint32_t)line : 0,
        .entry = kept->entry,
        .outer_entry = kept->function_entry,
        .body = kept->body,
        .inlined = inlined,
    };
    if (!out->name)
        out->name = out->linked;
    return true;
}

bool object_debug_path_ends(const char *path, const char *end) {
    size_t n = strlen(path), m = strlen(end);
    return m <= n && strcmp(path + n - m, end) == 0 && (m == n || *end == '/' || path[n - m - 1] == '/');
}
