/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jitdump/jitelf.h"

#include <elf.h>
#include <xxhash.h>

#include "base/strpool.h"
#include "format/elf/elf_image.h"
#include "format/jitdump/jitelf_internal.h"

static const char where[] = "ELF file of JIT code";

static bool is_wide(uint32_t machine) {
    return machine != EM_386 && machine != EM_ARM && machine != EM_PPC && machine != EM_SPARC &&
           machine != EM_SH;
}

struct writer jitelf_writer(const struct jitcode *code) {
    return writer_make(code->swap);
}

uint64_t jitelf_offset(const struct jitelf_part *p, size_t index) {
    const struct jitcode_function *f = p->code->functions.items;
    return f[index].offset - f[p->first].offset + JITCODE_FIRST_OFFSET;
}

struct jitelf_part jitelf_part_from(const struct jitcode *code, size_t first, uint64_t max_bytes) {
    const struct jitcode_function *f = code->functions.items;
    size_t last = first;
    do
        last++;
    while (last < code->functions.count && f[last].offset + f[last].code.size - f[first].offset <= max_bytes);
    return (struct jitelf_part){code, first, last};
}

static void put_text(const struct jitelf_part *p, struct writer *w) {
    for (size_t i = p->first; i < p->last; i++) {
        writer_zero(w, (size_t)(jitelf_offset(p, i) - JITCODE_FIRST_OFFSET) - w->size);
        writer_bytes_put(w, p->code->functions.items[i].code);
    }
}

static void put_symbols(const struct jitelf_part *p, const struct elf_image *m, uint32_t text,
                        struct writer *table, struct writer *strings) {
    for (size_t i = p->first; i < p->last; i++) {
        const struct jitcode_function *f = &p->code->functions.items[i];
        elf_image_symbol_put(
            m, table, strings,
            &(struct elf_image_symbol){.name = (const char *)f->name.data, /* a NUL follows */
                                       .value = jitelf_offset(p, i),
                                       .size = f->code.size,
                                       .bind = STB_GLOBAL,
                                       .type = STT_FUNC,
                                       .section = text});
    }
}

/* What the sections hold. */
struct contents {
    struct writer note, text, frame, frame_hdr, symtab, strtab;
    struct jitelf_lines lines;
};

static void contents_fini(struct contents *c) {
    struct writer *const all[] = {&c->note,         &c->text,         &c->frame,      &c->frame_hdr,
                                  &c->symtab,       &c->strtab,       &c->lines.line, &c->lines.info,
                                  &c->lines.abbrev, &c->lines.aranges};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        writer_fini(all[i]);
}

/* Of all that the file says. A build-id has 20 bytes by custom, and old readers expect that. */
static void make_build_id(const struct contents *c, uint8_t id[JITELF_BUILD_ID_SIZE]) {
    const struct writer *const all[] = {&c->text,       &c->strtab,     &c->symtab,
                                        &c->lines.line, &c->lines.info, &c->frame};
    XXH128_hash_t h = {0, 0};
    XXH128_canonical_t canonical;
    XXH32_canonical_t rest;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        XXH128_canonicalFromHash(&canonical, h);
        XXH128_hash_t part = XXH3_128bits(all[i]->data, all[i]->size);
        h = XXH3_128bits_withSeed(&canonical, sizeof canonical, part.low64 ^ part.high64);
    }
    XXH128_canonicalFromHash(&canonical, h);
    XXH32_canonicalFromHash(&rest, XXH32(&canonical, sizeof canonical, 0));
    memcpy(id, &canonical, sizeof canonical);
    memcpy(id + sizeof canonical, &rest, sizeof rest);
}

static uint32_t add(struct elf_image *m, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                    uint64_t align, const struct writer *content) {
    if (!content->size && type != SHT_STRTAB)
        return 0;
    return elf_image_section(m, &(struct elf_image_section){.name = name,
                                                            .type = type,
                                                            .flags = flags,
                                                            .addr = addr,
                                                            .align = align,
                                                            .content = writer_bytes(content)});
}

/*
 * "If the unwinding data was not mapped, then only the EH Frame Header will be read, which can be used to
 * specify FP based unwinding" (the specification): it is kept as it is, in a file of that function alone.
 * Returns the last section that is loaded.
 */
static uint32_t put_bare_hdr(const struct jitelf_part *p, struct elf_image *m, struct contents *c,
                             uint64_t at, uint32_t last) {
    const struct jitdump_unwinding *u = &p->code->functions.items[p->first].unwinding;
    writer_bytes_put(&c->frame_hdr, u->frame_hdr);
    return u->frame_hdr.size ? add(m, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, at, 4, &c->frame_hdr) : last;
}

/* One loaded segment from the note on to the unwind tables, in which addresses are file offsets. */
static bool assemble(const struct jitelf_part *p, struct elf_image *m, struct contents *c, struct writer *w) {
    enum { TEXT_SECTION = 2 };
    uint64_t head =
        m->wide ? sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) : sizeof(Elf32_Ehdr) + 3 * sizeof(Elf32_Phdr);
    uint64_t frame_at = (JITCODE_FIRST_OFFSET + c->text.size + 7) & ~7ull;
    uint64_t hdr_at = (frame_at + c->frame.size + 3) & ~3ull;
    jitelf_put_frame_hdr(&c->frame, frame_at, hdr_at, &c->frame_hdr);
    put_symbols(p, m, TEXT_SECTION, &c->symtab, &c->strtab);
    uint32_t note = add(m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, head, 4, &c->note);
    uint32_t last = add(m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, JITCODE_FIRST_OFFSET,
                        JITCODE_FIRST_OFFSET, &c->text);
    if (!c->frame.size && p->last - p->first == 1)
        last = put_bare_hdr(p, m, c, hdr_at, last);
    if (c->frame.size) {
        add(m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, frame_at, 8, &c->frame);
        last = add(m, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr_at, 4, &c->frame_hdr);
    }
    add(m, ".debug_line", SHT_PROGBITS, 0, 0, 1, &c->lines.line);
    add(m, ".debug_info", SHT_PROGBITS, 0, 0, 1, &c->lines.info);
    add(m, ".debug_abbrev", SHT_PROGBITS, 0, 0, 1, &c->lines.abbrev);
    add(m, ".debug_aranges", SHT_PROGBITS, 0, 0, 16, &c->lines.aranges);
    uint32_t strings = add(m, ".strtab", SHT_STRTAB, 0, 0, 1, &c->strtab);
    elf_image_section(
        m, &(struct elf_image_section){.name = ".symtab",
                                       .type = SHT_SYMTAB,
                                       .link = strings,
                                       .info = 1,
                                       .align = 8,
                                       .entry_size = m->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym),
                                       .content = writer_bytes(&c->symtab)});
    elf_image_segment(
        m, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, head, JITCODE_FIRST_OFFSET, note, last});
    elf_image_segment(m, &(struct elf_image_segment){PT_NOTE, PF_R, head, 4, note, note});
    /* Without tables the third header says nothing. */
    elf_image_segment(m, &(struct elf_image_segment){c->frame_hdr.size ? PT_GNU_EH_FRAME : PT_NULL, PF_R,
                                                     c->frame_hdr.size ? hdr_at : head, 4,
                                                     c->frame_hdr.size ? last : note,
                                                     c->frame_hdr.size ? last : note});
    bool ok = writer_ok(&c->symtab) && writer_ok(&c->strtab) && writer_ok(&c->frame_hdr);
    return ok && elf_image_write(m, w);
}

bool jitelf_write(const struct jitelf_part *p, struct writer *w, uint8_t build_id[JITELF_BUILD_ID_SIZE],
                  struct err *err) {
    const struct jitdump_header *h = &p->code->header;
    struct elf_image m;
    elf_image_init(&m, is_wide(h->machine), BYTES_HOST_BIG != p->code->swap, ET_DYN, (uint16_t)h->machine);
    struct writer empty = elf_image_writer(&m);
    struct contents c = {empty, empty, empty, empty, empty, empty, {empty, empty, empty, empty}};
    put_text(p, &c.text);
    jitelf_put_lines(p, m.wide, &c.lines);
    jitelf_put_frame(p, (JITCODE_FIRST_OFFSET + c.text.size + 7) & ~7ull, &c.frame);
    bool ok = writer_ok(&c.text) && writer_ok(&c.frame) && jitelf_lines_ok(&c.lines);
    if (ok) {
        /* The names are part of it: they are put twice, once for the build-id. */
        put_symbols(p, &m, 0, &c.symtab, &c.strtab);
        make_build_id(&c, build_id);
        writer_clear(&c.symtab);
        writer_clear(&c.strtab);
        elf_image_note_put(&c.note, "GNU", NT_GNU_BUILD_ID, (struct bytes){build_id, JITELF_BUILD_ID_SIZE});
        ok = writer_ok(&c.note) && assemble(p, &m, &c, w);
    }
    contents_fini(&c);
    elf_image_fini(&m);
    return ok || err_memory(err, where);
}
