/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disassemble FILE [intel] <ranges: the instructions of an ELF file at each "START END" (hex) of standard
 * input, a line for each: address, tab, text without symbols. What bench/disasm_equal.py compares with
 * objdump.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/disasm/disasm.h"
#include "object/elf.h"
#include "os/files/map.h"

/* The bytes of [start, end) in an executable section; empty: none has them. */
static struct bytes find_code(const struct object_elf *e, uint64_t start, uint64_t end) {
    struct object_section s;
    struct bytes all;
    for (uint32_t i = 0; object_elf_section(e, i, &s); i++)
        if ((s.flags & SHF_EXECINSTR) && start >= s.addr && start < end && end - s.addr <= s.size &&
            object_elf_section_bytes(e, &s, NULL, &all, NULL))
            return (struct bytes){all.data + (start - s.addr), (size_t)(end - start)};
    return (struct bytes){NULL, 0};
}

/* So that addresses look as they do where symbols are known. */
static bool no_name(void *ctx, uint64_t address, struct disasm_symbol *out) {
    (void)ctx, (void)address;
    *out = (struct disasm_symbol){"", 0, 0};
    return true;
}

static bool print_range(struct disasm *d, struct bytes code, uint64_t start, struct err *err) {
    struct disasm_list list = {0};
    bool ok = disasm_function(d, code, start, &list, err);
    for (size_t i = 0; ok && i < list.instructions.count; i++) {
        const struct disasm_instruction *in = &list.instructions.items[i];
        printf("%" PRIx64 "\t%s\n", in->address, in->text);
    }
    disasm_list_fini(&list);
    return ok;
}

static bool print_ranges(const struct object_elf *e, bool intel, struct err *err) {
    struct disasm_options options = {.intel = intel, .symbol = no_name};
    if (!disasm_arch_of(e->file, &options.arch))
        return err_set(err, ERR_UNSUPPORTED, "file", "machine %u is not known", e->machine);
    struct disasm *d = disasm_new(&options, err);
    bool ok = d != NULL;
    uint64_t start, end;
    while (ok && scanf("%" SCNx64 " %" SCNx64, &start, &end) == 2)
        ok = print_range(d, find_code(e, start, end), start, err);
    disasm_free(d);
    return ok;
}

int main(int argc, char **argv) {
    struct err err = ERR_INIT;
    struct os_file f;
    struct os_map map;
    struct object_elf e;
    if (argc < 2) {
        fprintf(stderr, "usage: disassemble FILE [intel] <ranges\n");
        return 2;
    }
    if (!os_file_open(argv[1], &f, &err) || !os_map_file(&f, argv[1], &map, &err)) {
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
        return 1;
    }
    bool ok =
        object_elf_open(map.bytes, &e, &err) && print_ranges(&e, argc > 2 && !strcmp(argv[2], "intel"), &err);
    if (!ok)
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
    os_map_fini(&map);
    os_file_close(&f);
    return ok ? 0 : 1;
}
