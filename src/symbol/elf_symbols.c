/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_symbols.h"

#include <elf.h>

#include "object/plt.h"

bool elf_symbols_in_file(const void *ctx, const struct object_symbol *s, uint64_t value, uint64_t *offset) {
    (void)s;
    return object_layout_offset(ctx, value, offset);
}

/*
 * Whether a symbol may name code: functions, also those chosen at run time; objects, because code declared as
 * such does run; and labels, as assembler without .type makes them, unless they are hidden, which jump
 * targets are (perf 7.2 leaves the same ones out).
 */
static bool is_wanted(const struct object_elf *e, const struct object_symbol *s) {
    bool typed = s->type == STT_FUNC || s->type == STT_OBJECT || s->type == STT_GNU_IFUNC;
    unsigned visibility = ELF64_ST_VISIBILITY(s->other);
    bool label = s->type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL;
    return (typed || label) && s->section && s->name.size && !object_symbol_is_mapping(e, s);
}

static enum symbol_bind bind_of(uint8_t bind) {
    return bind == STB_LOCAL        ? SYMBOL_LOCAL
           : bind == STB_WEAK       ? SYMBOL_WEAK
           : bind == STB_GNU_UNIQUE ? SYMBOL_UNIQUE
                                    : SYMBOL_GLOBAL;
}

bool elf_symbols_add(const struct object_elf *e, uint32_t type, elf_symbols_place_fn *place, const void *ctx,
                     struct symbol_drafts *d, struct err *err) {
    struct object_symbols walk;
    struct object_opd opd;
    unsigned listed = type == SHT_DYNSYM ? SYMBOL_DYNAMIC : 0;
    if (!object_symbols_open(e, type, &walk, err))
        return false;
    (void)vec_reserve(&d->list, d->list.count + walk.count); /* if not, it grows with each symbol */
    object_opd_init(e, &opd);
    for (struct object_symbol s; object_symbols_next(&walk, &s);) {
        if (!is_wanted(e, &s))
            continue;
        uint64_t value = object_opd_follow(&opd, s.value), start;
        /* The lowest bit of an ARM function says that it is Thumb code (ELF for the Arm Architecture 5.5.3).
         */
        if (e->machine == EM_ARM && s.type != STT_OBJECT)
            value &= ~(uint64_t)1;
        if (!place(ctx, &s, value, &start))
            continue;
        struct symbol_draft *to = vec_push(&d->list);
        if (!to)
            return err_memory(err, "symbols");
        uint64_t end = start + s.size;
        *to = (struct symbol_draft){.start = start,
                                    .end = end < start ? UINT64_MAX : end,
                                    .name = (const char *)s.name.data,
                                    .bind = (uint8_t)bind_of(s.bind),
                                    .flags = (uint8_t)((s.type == STT_GNU_IFUNC ? SYMBOL_IFUNC : 0) |
                                                       (s.type == STT_OBJECT ? SYMBOL_OBJECT : 0) | listed),
                                    .untyped = s.type == STT_NOTYPE};
    }
    return true;
}

/* Returns the name of a PLT entry; "" for one of an IFUNC, which gets the name of its resolver. NULL: out of
 * memory.
 */
static const char *stub_name(const struct object_plt_stub *stub, struct arena *texts) {
    if (stub->kind == OBJECT_PLT_IFUNC)
        return "";
    if (stub->kind == OBJECT_PLT_HEADER)
        return ".plt";
    size_t len = stub->name.size;
    char *name = arena_alloc(texts, len + sizeof "@plt");
    if (name) {
        memcpy(name, stub->name.data, len);
        memcpy(name + len, "@plt", sizeof "@plt");
    }
    return name;
}

bool elf_symbols_add_plt(const struct object_elf *e, const struct object_layout *layout,
                         struct symbol_drafts *d, struct err *err) {
    struct object_plt plt;
    bool ok = object_plt_init(e, &plt, err);
    for (size_t i = 0; ok && i < plt.stubs.count; i++) {
        const struct object_plt_stub *stub = &plt.stubs.items[i];
        uint64_t start, target = 0;
        if (!object_layout_offset(layout, stub->addr, &start) ||
            (stub->kind == OBJECT_PLT_IFUNC && !object_layout_offset(layout, stub->resolver, &target)))
            continue;
        const char *name = stub_name(stub, &d->texts);
        struct symbol_draft *to = name ? vec_push(&d->list) : NULL;
        ok = to || err_memory(err, "symbols");
        if (to)
            *to = (struct symbol_draft){.start = start,
                                        .end = start + stub->size,
                                        .name = name,
                                        .bind = SYMBOL_GLOBAL,
                                        .flags = SYMBOL_PLT,
                                        .target = target};
    }
    object_plt_fini(&plt);
    return ok;
}

bool elf_symbols_has(const struct object_elf *e, uint32_t type) {
    struct object_symbols walk;
    struct object_symbol s;
    return object_symbols_open(e, type, &walk, NULL) && object_symbols_next(&walk, &s);
}
