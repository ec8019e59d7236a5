/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/boundary.h"

#include "object/disasm/disasm.h"

enum { CODE_MAX = 1 << 20, LONGEST = 16 };

/* The file's bytes from `start` on, up to a bit after `addr`. */
static struct bytes code_of(const struct probe_image *i, object_vaddr start, object_vaddr addr) {
    uint64_t offset, want = addr - start + LONGEST;
    if (want > CODE_MAX || !object_layout_offset(&i->layout, start, &offset) || offset >= i->code.size)
        return (struct bytes){NULL, 0};
    uint64_t left = i->code.size - offset;
    return (struct bytes){i->code.data + offset, (size_t)(want < left ? want : left)};
}

static bool is_start(const struct disasm_list *l, object_vaddr addr, object_vaddr *from) {
    for (size_t k = 0; k < l->instructions.count; k++) {
        const struct disasm_instruction *n = &l->instructions.items[k];
        if (n->unknown || n->address >= addr)
            return n->unknown || n->address == addr;
        *from = n->address;
        if (n->address + n->length > addr)
            return false;
    }
    return true;
}

bool probe_boundary(const struct probe_image *i, object_vaddr start, object_vaddr addr, object_vaddr *from) {
    struct disasm_options o = {.symbol = NULL};
    struct disasm_list list = {0};
    struct bytes code = addr > start ? code_of(i, start, addr) : (struct bytes){NULL, 0};
    *from = addr;
    if (!code.size || !disasm_arch_of(i->code, &o.arch))
        return true;
    struct disasm *d = disasm_new(&o, NULL);
    bool ok = !d || !disasm_function(d, code, start, &list, NULL) || is_start(&list, addr, from);
    disasm_list_fini(&list);
    disasm_free(d);
    return ok;
}
