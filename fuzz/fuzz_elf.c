/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF image: everything that can be asked of it. */
#include "fuzz.h"

#include <elf.h>

#include "object/links.h"
#include "object/plt.h"

enum { MAX_SECTIONS = 64 }; /* of which the content is read */

static uint64_t sum_of(struct bytes b) {
    uint64_t sum = 0;
    for (size_t i = 0; i < b.size; i++)
        sum += b.data[i];
    return sum;
}

static uint64_t read_tables(const struct object_elf *e, struct arena *arena) {
    uint64_t sum = 0;
    struct object_section section;
    struct object_segment segment;
    struct bytes content;
    for (uint32_t i = 0; i < MAX_SECTIONS && object_elf_section(e, i, &section); i++)
        if (object_elf_section_bytes(e, &section, arena, &content, NULL))
            sum += sum_of(section.name) + sum_of(content);
    for (uint32_t i = 0; object_elf_segment(e, i, &segment); i++)
        sum += segment.file_size;
    return sum;
}

static uint64_t read_symbols(const struct object_elf *e) {
    const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    uint64_t sum = 0, offset, back;
    struct object_opd opd;
    struct object_layout layout;
    object_opd_init(e, &opd);
    FUZZ_CHECK(object_layout_init(e, &layout, NULL));
    for (int i = 0; i < 2; i++) {
        struct object_symbols walk;
        struct object_symbol s;
        if (!object_symbols_open(e, tables[i], &walk, NULL))
            continue;
        while (object_symbols_next(&walk, &s)) {
            sum += sum_of(s.name) + object_symbol_is_mapping(e, &s) + object_symbol_local_entry(e, &s);
            /* Segments that overlap may lead back elsewhere, or nowhere. */
            if (object_layout_offset(&layout, object_opd_follow(&opd, s.value), &offset)) {
                FUZZ_CHECK(offset < e->file.size);
                sum += object_layout_addr(&layout, offset, &back);
            }
        }
    }
    object_layout_fini(&layout);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes file = {data, size}, inner;
    struct object_elf e;
    if (!object_elf_open(file, &e, NULL))
        return 0;
    struct arena arena = ARENA_INIT;
    uint64_t sum = read_tables(&e, &arena) + read_symbols(&e);
    struct object_plt plt;
    FUZZ_CHECK(object_plt_init(&e, &plt, NULL));
    for (size_t i = 0; i < plt.stubs.count; i++)
        sum += sum_of(plt.stubs.items[i].name) + plt.stubs.items[i].size;
    object_plt_fini(&plt);
    struct object_debuglink link;
    struct object_altlink alt;
    if (object_debuglink_read(&e, &link))
        sum += sum_of(link.name) + object_debuglink_crc(file);
    if (object_altlink_read(&e, &alt))
        sum += sum_of(alt.name);
    if (object_minidebug_read(&e, &arena, &inner, NULL))
        sum += sum_of(inner);
    struct object_build_id id;
    sum += object_build_id_read(file, &id);
    arena_fini(&arena);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
