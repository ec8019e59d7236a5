/* SPDX-License-Identifier: Apache-2.0 */
/* The table of an ELF image's symbols. */
#include "fuzz.h"

#include <elf.h>

#include "symbol/elf_symbols.h"

static uint64_t end_of(const void *ctx, uint64_t start) {
    (void)ctx;
    return start + 64 > start ? start + 64 : start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct object_elf e;
    struct object_layout layout;
    struct symbol_drafts d = {0};
    struct symbol_rules rules = {.limit = end_of};
    if (!object_elf_open((struct bytes){data, size}, &e, NULL))
        return 0;
    FUZZ_CHECK(object_layout_init(&e, &layout, NULL));
    rules.layout = &layout;
    elf_symbols_add(&e, SHT_SYMTAB, elf_symbols_in_file, &layout, &d, NULL);
    elf_symbols_add(&e, SHT_DYNSYM, elf_symbols_in_file, &layout, &d, NULL);
    FUZZ_CHECK(elf_symbols_add_plt(&e, &layout, &d, NULL));
    struct symbol_table *t = symbol_table_build(&d, &rules, NULL);
    FUZZ_CHECK(t);
    for (uint32_t i = 0; i < symbol_table_count(t); i++) {
        uint64_t start = symbol_table_start(t, i);
        FUZZ_CHECK(symbol_table_end(t, i) > start && symbol_table_find(t, start) == i);
        FUZZ_CHECK(symbol_table_shown(t, i));
        symbol_table_address(t, start);
    }
    symbol_table_free(t);
    object_layout_fini(&layout);
    return 0;
}
