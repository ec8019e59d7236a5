/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stubs through which code calls into other images (procedure linkage tables). They have no symbols; each
 * is named by the relocation of the slot that it jumps through, which is found by decoding the stub: so the
 * names hold whatever linker laid out the table and in whatever order. For x86-64, i386, AArch64, ARM, RISC-V
 * and s390x.
 */
#ifndef SONDE_OBJECT_PLT_H
#define SONDE_OBJECT_PLT_H

#include "base/vec.h"
#include "object/elf.h"

enum object_plt_kind {
    OBJECT_PLT_CALL,   /* to the symbol `name`, without the version: to print as name@plt */
    OBJECT_PLT_IFUNC,  /* to what the resolver at `resolver` chose: to print as the symbol there, with @plt */
    OBJECT_PLT_HEADER, /* .plt's common first entry (or all of it, when the stubs are in .plt.sec): name is
                          ".plt" */
};

struct object_plt_stub {
    object_vaddr addr;
    uint32_t size;
    enum object_plt_kind kind;
    struct bytes name;     /* borrowed from the image, or constant; empty for OBJECT_PLT_IFUNC */
    object_vaddr resolver; /* OBJECT_PLT_IFUNC */
};

struct object_plt {
    VEC(struct object_plt_stub) stubs; /* by section, in order of addresses in each */
};

/* False only for want of memory; an image without such stubs, or of another machine, has none. */
bool object_plt_init(const struct object_elf *e, struct object_plt *out, struct err *err);
void object_plt_fini(struct object_plt *p);

#endif
