/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the addresses that instructions refer to, as objdump(1) names them: the symbol at or before. */
#ifndef SONDE_ANNOTATE_SYMBOLS_H
#define SONDE_ANNOTATE_SYMBOLS_H

#include "base/arena.h"
#include "base/vec.h"
#include "object/disasm/disasm.h"
#include "symbol/store/store.h"

struct annotate_data_symbol {
    object_vaddr address;
    uint32_t section, order;
    struct bytes name;
    const char *shown; /* NULL: not asked for yet */
};

/* Zeroed at first; of one image at a time. */
struct annotate_symbols {
    const struct symbol_table *table;       /* borrowed, as the next */
    const struct symbol_machine_code *code; /* what is disassembled */
    struct bytes names;                     /* the ELF image with symbols of data; empty: none */
    bool raw_names;
    const uint8_t *elf;                    /* the image whose symbols `data` has; NULL: none yet */
    VEC(struct annotate_data_symbol) data; /* by address */
    VEC(struct object_section) sections;
    struct arena texts;
};

void annotate_symbols_fini(struct annotate_symbols *s);

/* For code of an image with this table; symbols of data are those of `names`, an ELF image that has the same
 * addresses as the code, or empty. */
void annotate_symbols_use(struct annotate_symbols *s, const struct symbol_table *table,
                          const struct symbol_machine_code *code, struct bytes names);

/* A disasm_symbol_fn; ctx is a struct annotate_symbols. */
disasm_symbol_fn annotate_symbols_find;

#endif
