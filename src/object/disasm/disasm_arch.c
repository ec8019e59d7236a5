/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no capstone. */
#include "object/disasm/disasm.h"

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
