/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no capstone. */
#include "object/disasm/disasm.h"
#include "object/disasm/text.h"

bool disasm_arch_of(struct bytes image, enum disasm_arch *arch) {
    /* Places in the ELF header, and e_machine, of the ELF gABI. */
    enum { BYTE_ORDER_AT = 5, LITTLE = 1, MACHINE_AT = 18 };
    static const struct {
        unsigned machine;
        enum disasm_arch arch;
    } known[] = {{3, DISASM_I386}, {62, DISASM_X86_64}, {183, DISASM_ARM64}};
    if (image.size < MACHINE_AT + 2 || image.data[BYTE_ORDER_AT] != LITTLE)
        return false;
    unsigned machine = image.data[MACHINE_AT] | (unsigned)image.data[MACHINE_AT + 1] << 8;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *arch = known[i].arch;
        if (known[i].machine == machine)
            return true;
    }
    return false;
}

void disasm_list_fini(struct disasm_list *l) {
    vec_fini(&l->instructions);
    arena_fini(&l->texts);
    *l = (struct disasm_list){0};
}

void disasm_address_print(const struct disasm_options *o, uint64_t address, struct text *out) {
    struct disasm_symbol s;
    if (!o->symbol || !o->symbol(o->ctx, address, &s)) {
        text_hex0x(out, address);
        return;
    }
    text_hex(out, address);
    text_str(out, " <");
    text_mem(out, s.name, s.name_len);
    if (s.offset) {
        text_char(out, s.offset < 0 ? '-' : '+');
        text_hex0x(out, s.offset < 0 ? -(uint64_t)s.offset : (uint64_t)s.offset);
    }
    text_char(out, '>');
}
