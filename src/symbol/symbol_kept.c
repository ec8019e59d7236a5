/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_kept.h"

#include <elf.h>

#include "object/compressed.h"
#include "object/elf.h"

/* Section types and names: gABI, chapter 4; LSB for .eh_frame; GDB manual for .gnu_debug*. */
static const uint32_t TYPES[] = {SHT_SYMTAB, SHT_DYNSYM, SHT_SYMTAB_SHNDX, SHT_STRTAB,
                                 SHT_NOTE,   SHT_RELA,   SHT_REL};
static const char *const NAMES[] = {".eh_frame",      ".eh_frame_hdr",     ".debug_frame", ".gnu_debugdata",
                                    ".gnu_debuglink", ".gnu_debugaltlink", ".plt",         ".plt.sec",
                                    ".plt.got",       ".plt.bnd",          ".iplt",        ".opd",
                                    ".ARM.exidx",     ".ARM.extab",        ".sframe"};

/* Sections for source lines and inlined functions (DWARF 5, section 7.1). */
static const char *const LINES[] = {".debug_info",     ".debug_abbrev", ".debug_line",
                                    ".debug_line_str", ".debug_str",    ".debug_ranges",
                                    ".debug_rnglists", ".debug_addr",   ".debug_str_offsets",
                                    ".debug_aranges",  ".debug_types"};

static bool is_named(const struct object_section *s, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (s->name.size == strlen(names[i]) && memcmp(s->name.data, names[i], s->name.size) == 0)
            return true;
    return false;
}

/* Whether it is compressed DWARF, which is always kept: zeros in its place would be no valid compressed
 * section, for which libdw refuses all of a file's DWARF. */
static bool is_packed_dwarf(const struct object_section *s) {
    static const char begin[] = ".debug_";
    return s->flags & SHF_COMPRESSED && s->name.size >= sizeof begin - 1 &&
           !memcmp(s->name.data, begin, sizeof begin - 1);
}

static bool is_wanted(const struct object_section *s, bool lines) {
    if (s->type == SHT_NOBITS || s->type == SHT_NULL)
        return false;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (s->type == TYPES[i])
            return true;
    return is_named(s, NAMES, sizeof NAMES / sizeof *NAMES) ||
           (lines && (is_named(s, LINES, sizeof LINES / sizeof *LINES) || is_packed_dwarf(s)));
}

/* Adds an extent, cut at the end of the file. */
static bool add(symbol_extents *out, uint64_t file_size, uint64_t offset, uint64_t size) {
    if (offset >= file_size || !size)
        return true;
    struct perfdata_extent *x = vec_push(out);
    if (x)
        *x = (struct perfdata_extent){offset, size < file_size - offset ? size : file_size - offset};
    return x != NULL;
}

static int by_offset(const void *a, const void *b) {
    const struct perfdata_extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void join(symbol_extents *list) {
    size_t to = 0;
    qsort(list->items, list->count, sizeof *list->items, by_offset);
    for (size_t i = 1; i < list->count; i++) {
        struct perfdata_extent *last = &list->items[to], *x = &list->items[i];
        uint64_t end = last->offset + last->size, new_end = x->offset + x->size;
        if (x->offset > end)
            list->items[++to] = *x;
        else if (new_end > end)
            last->size = new_end - last->offset;
    }
    list->count = list->count ? to + 1 : 0;
}

bool symbol_kept_tables(struct bytes file, bool lines, symbol_extents *out) {
    struct object_elf e;
    struct object_section s;
    struct object_segment p;
    bool symbols = false;
    if (!object_elf_open(file, &e, NULL))
        return false;
    bool ok = add(out, file.size, 0, e.wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) &&
              add(out, file.size, e.segments_at, (uint64_t)e.segment_count * e.segment_size) &&
              add(out, file.size, e.sections_at, (uint64_t)e.section_count * e.section_size);
    for (uint32_t i = 0; ok && i < e.section_count; i++)
        if (object_elf_section(&e, i, &s) && is_wanted(&s, lines)) {
            symbols |= s.type == SHT_SYMTAB || s.type == SHT_DYNSYM;
            ok = add(out, file.size, s.offset, s.size);
        }
    for (uint32_t i = 0; ok && i < e.segment_count; i++)
        if (object_elf_segment(&e, i, &p) && p.type == PT_NOTE)
            ok = add(out, file.size, p.offset, p.file_size);
    join(out);
    return ok && (symbols || lines); /* files of dwz(1) have no symbols */
}

bool symbol_kept_encode(struct perfdata_kept *is, struct bytes file, bool lines, uint64_t most,
                        struct writer *entries) {
    symbol_extents extents = {0};
    struct writer plain = writer_make(false), packed = writer_make(false);
    bool ok = true;
    is->kept_size = 0;
    if (is->kind == PERFDATA_KEPT_TABLES || is->kind == PERFDATA_KEPT_DEBUG) {
        ok = symbol_kept_tables(file, lines, &extents);
    } else {
        struct perfdata_extent *all = vec_push(&extents);
        ok = all != NULL;
        if (ok)
            *all = (struct perfdata_extent){0, file.size};
    }
    for (size_t i = 0; ok && i < extents.count; i++)
        writer_put(&plain, file.data + extents.items[i].offset, extents.items[i].size);
    ok = ok && writer_ok(&plain) && object_compress(writer_bytes(&plain), &packed);
    if (ok) {
        is->file_size = file.size;
        is->kept_size = plain.size;
        is->packed = writer_bytes(&packed);
        ok = plain.size <= most;
        if (ok)
            perfdata_kept_encode(is, extents.items, extents.count, entries);
    }
    is->packed = (struct bytes){0};
    writer_fini(&plain);
    writer_fini(&packed);
    vec_fini(&extents);
    return ok;
}
