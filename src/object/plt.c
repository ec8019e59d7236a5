/* SPDX-License-Identifier: Apache-2.0 */
#include "object/plt.h"

#include <elf.h>

#include "base/sorted.h"
#include "object/elf_internal.h"

/* A relocated slot of the global offset table. */
struct slot {
    object_vaddr addr;
    uint32_t symbol; /* in .dynsym */
    bool ifunc;
    object_vaddr resolver; /* of an ifunc */
};

struct context {
    const struct object_elf *elf;
    const struct machine *machine;
    VEC(struct slot) slots; /* sorted by addr */
    uint64_t budget;        /* bytes of relocations yet to read: tables of a hostile file may overlap */
    object_vaddr got;       /* what i386's %ebx holds */
    struct object_symbols names;
};

/* Code at `at`, address `pc`: if it is a stub's beginning, the address of the slot that it jumps through. */
typedef bool decode_fn(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot);

struct machine {
    uint16_t machine;
    uint32_t jump_slot, glob_dat, irelative; /* relocation types, of its psABI */
    uint32_t step;                           /* stubs begin at multiples of it */
    uint32_t shortest, longest;              /* a stub's size at least and at most, bytes */
    decode_fn *decode;
};

static uint32_t load32(const struct context *x, const uint8_t *p) {
    return bytes_load32(p, x->elf->swap);
}

/* Without endbr64/endbr32 (CET) and bnd (MPX), which may precede the jump. */
static struct bytes skip_x86_prefix(struct bytes at) {
    if (at.size >= 4 && memcmp(at.data, "\xf3\x0f\x1e", 3) == 0 && (at.data[3] == 0xfa || at.data[3] == 0xfb))
        at = (struct bytes){at.data + 4, at.size - 4};
    if (at.size && at.data[0] == 0xf2)
        at = (struct bytes){at.data + 1, at.size - 1};
    return at;
}

/* jmp *disp32(%rip) */
static bool decode_x86_64(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    struct bytes jump = skip_x86_prefix(at);
    if (jump.size < 6 || jump.data[0] != 0xff || jump.data[1] != 0x25)
        return false;
    *slot = pc + (uint64_t)(jump.data - at.data) + 6 + (uint64_t)(int64_t)(int32_t)load32(x, jump.data + 2);
    return true;
}

/* jmp *abs32, or jmp *disp32(%ebx) in position-independent code */
static bool decode_i386(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    (void)pc;
    struct bytes jump = skip_x86_prefix(at);
    if (jump.size < 6 || jump.data[0] != 0xff || (jump.data[1] != 0x25 && jump.data[1] != 0xa3))
        return false;
    *slot = (uint32_t)((jump.data[1] == 0xa3 ? x->got : 0) + load32(x, jump.data + 2));
    return true;
}

/* Code is little-endian even in big-endian images. */
static uint32_t load32_code(const uint8_t *p) {
    return bytes_load32(p, BYTES_HOST_BIG);
}

/* [bti c;] adrp x16, page; ldr x17, [x16, #offset]: instruction set manual C6.2 ADRP, LDR (immediate) */
static bool decode_aarch64(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    (void)x;
    if (at.size >= 12 && load32_code(at.data) == 0xd503245f) {
        at = (struct bytes){at.data + 4, at.size - 4};
        pc += 4;
    }
    if (at.size < 8)
        return false;
    uint32_t adrp = load32_code(at.data), ldr = load32_code(at.data + 4);
    if ((adrp & 0x9f00001f) != 0x90000010)
        return false;
    uint32_t scale = (ldr & 0xffc003ff) == 0xf9400211 ? 3 : (ldr & 0xffc003ff) == 0xb9400211 ? 2 : 0;
    if (!scale)
        return false;
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if (pages & 1 << 20)
        pages |= ~(uint64_t)0 << 21;
    *slot = (pc & ~(uint64_t)0xfff) + (pages << 12) + ((uint64_t)(ldr >> 10 & 0xfff) << scale);
    return true;
}

static uint32_t arm_immediate(uint32_t insn) {
    uint32_t value = insn & 0xff, turn = (insn >> 8 & 15) * 2;
    return turn ? value >> turn | value << (32 - turn) : value;
}

/* [bx pc; nop (Thumb);] add ip, pc, #a; add ip, ip, #b; [add ip, ip, #c;] ldr pc, [ip, #d]! */
static bool decode_arm(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    const uint8_t *p = at.data, *end = at.data + at.size;
    bool be8 = x->elf->big_endian && (x->elf->flags & EF_ARM_BE8); /* big-endian data, little-endian code */
    bool swap = be8 ? BYTES_HOST_BIG : x->elf->swap;
    if (end - p >= 4 && bytes_load16(p, swap) == 0x4778) {
        p += 4;
        pc += 4;
    }
    if (end - p < 4 || (bytes_load32(p, swap) & 0xfffff000) != 0xe28fc000)
        return false;
    uint32_t addr = (uint32_t)pc + 8 + arm_immediate(bytes_load32(p, swap));
    for (p += 4; end - p >= 4; p += 4) {
        uint32_t insn = bytes_load32(p, swap);
        if ((insn & 0xfffff000) == 0xe5bcf000) {
            *slot = addr + (insn & 0xfff);
            return true;
        }
        if ((insn & 0xfffff000) != 0xe28cc000)
            return false;
        addr += arm_immediate(insn);
    }
    return false;
}

/* auipc t3, high; l[dw] t3, low(t3) */
static bool decode_riscv(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    (void)x;
    if (at.size < 8)
        return false;
    uint32_t auipc = load32_code(at.data), load = load32_code(at.data + 4);
    if ((auipc & 0xfff) != 0xe17 || ((load & 0xfffff) != 0xe3e03 && (load & 0xfffff) != 0xe2e03))
        return false;
    *slot = pc + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) + (uint64_t)(int64_t)((int32_t)load >> 20);
    if (!x->elf->wide)
        *slot = (uint32_t)*slot;
    return true;
}

/* larl %r1, slot; lg %r1, 0(%r1) */
static bool decode_s390(const struct context *x, struct bytes at, object_vaddr pc, object_vaddr *slot) {
    if (at.size < 12 || at.data[0] != 0xc0 || at.data[1] != 0x10 ||
        memcmp(at.data + 6, "\xe3\x10\x10", 3) != 0)
        return false;
    *slot = pc + (uint64_t)(int64_t)(int32_t)load32(x, at.data + 2) * 2;
    return true;
}

static const struct machine machines[] = {
    {EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, 8, 8, 16, decode_x86_64},
    {EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE, 8, 8, 16, decode_i386},
    {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, 4, 16, 24, decode_aarch64},
    {EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE, 4, 12, 20, decode_arm},
    {EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE, 4, 16, 16, decode_riscv},
    {EM_S390, R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_IRELATIVE, 2, 32, 32, decode_s390},
};

static const struct machine *machine_of(const struct object_elf *e) {
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == e->machine)
            return &machines[i];
    return NULL;
}

/* --- Slots --------------------------------------------------------------------------------------------- */

/* SHT_REL keeps an IRELATIVE's addend in the slot itself. */
static object_vaddr addend_in_place(const struct object_elf *e, const struct object_layout *layout,
                                    object_vaddr slot) {
    uint64_t offset;
    if (!object_layout_offset(layout, slot, &offset) || offset > e->file.size)
        return 0;
    struct cursor c = cursor_make((struct bytes){e->file.data + offset, e->file.size - offset}, e->swap);
    return object_elf_word(&c, e->wide);
}

static bool add_slots(struct context *x, const struct object_section *s, const struct object_layout *layout) {
    const struct object_elf *e = x->elf;
    struct bytes content;
    if (!object_elf_section_bytes(e, s, NULL, &content, NULL) || content.size > x->budget)
        return true;
    x->budget -= content.size;
    bool rela = s->type == SHT_RELA;
    size_t entry = (e->wide ? 16 : 8) + (rela ? (e->wide ? 8 : 4) : 0);
    struct cursor c = cursor_make(content, e->swap);
    while (cursor_left(&c) >= entry) {
        struct slot slot = {.addr = object_elf_word(&c, e->wide)};
        uint64_t info = object_elf_word(&c, e->wide), addend = rela ? object_elf_word(&c, e->wide) : 0;
        uint32_t type = e->wide ? (uint32_t)info : (uint32_t)info & 0xff;
        slot.symbol = (uint32_t)(e->wide ? info >> 32 : info >> 8);
        slot.ifunc = type == x->machine->irelative;
        if (slot.ifunc)
            slot.resolver = rela ? addend : addend_in_place(e, layout, slot.addr);
        else if ((type != x->machine->jump_slot && type != x->machine->glob_dat) || !slot.symbol)
            continue;
        struct slot *kept = vec_push(&x->slots);
        if (!kept)
            return false;
        *kept = slot;
    }
    return true;
}

static int by_addr(const void *a, const void *b) {
    const struct slot *p = a, *q = b;
    if (p->addr != q->addr)
        return p->addr < q->addr ? -1 : 1;
    return (p->symbol > q->symbol) - (p->symbol < q->symbol);
}

static bool find_slots(struct context *x, struct err *err) {
    struct object_layout layout;
    if (!object_layout_init(x->elf, &layout, err))
        return false;
    bool ok = true;
    struct object_section s;
    for (uint32_t i = 1; ok && object_elf_section(x->elf, i, &s); i++)
        if ((s.type == SHT_REL || s.type == SHT_RELA) && (s.flags & SHF_ALLOC))
            ok = add_slots(x, &s, &layout);
    object_layout_fini(&layout);
    if (x->slots.count)
        qsort(x->slots.items, x->slots.count, sizeof *x->slots.items, by_addr);
    return ok || err_memory(err, "an image's relocations");
}

static const struct slot *slot_at(const struct context *x, object_vaddr addr) {
    size_t at = sorted_below(&x->slots, addr, addr);
    return at < x->slots.count && x->slots.items[at].addr == addr ? &x->slots.items[at] : NULL;
}

/* --- Stubs --------------------------------------------------------------------------------------------- */

static bool name_stub(struct context *x, const struct slot *slot, struct object_plt_stub *stub) {
    struct object_symbol symbol;
    if (slot->ifunc) {
        stub->kind = OBJECT_PLT_IFUNC;
        stub->resolver = slot->resolver;
        return true;
    }
    stub->kind = OBJECT_PLT_CALL;
    if (!object_symbols_at(&x->names, slot->symbol, &symbol) || !symbol.name.size)
        return false;
    stub->name = symbol.name;
    return true;
}

/* A section's stubs end where the next begins, and at the section's end. */
static void size_stubs(struct object_plt_stub *stubs, size_t count, object_vaddr end, uint32_t longest) {
    for (size_t i = 0; i < count; i++) {
        uint64_t size = (i + 1 < count ? stubs[i + 1].addr : end) - stubs[i].addr;
        stubs[i].size = size < longest ? (uint32_t)size : longest;
    }
}

/* What precedes the stubs in .plt; all of it, when they are in .plt.sec. */
static bool add_header(struct object_plt *p, object_vaddr addr, uint64_t size) {
    if (!size || size > UINT32_MAX)
        return true;
    struct object_plt_stub *stub = vec_push(&p->stubs);
    if (stub)
        *stub = (struct object_plt_stub){.addr = addr,
                                         .size = (uint32_t)size,
                                         .kind = OBJECT_PLT_HEADER,
                                         .name = {(const uint8_t *)".plt", 4}};
    return stub;
}

/* The stubs of one section. */
static bool add_stubs(struct context *x, const struct object_section *s, bool has_header,
                      struct object_plt *p) {
    struct bytes code;
    if (!object_elf_section_bytes(x->elf, s, NULL, &code, NULL))
        return true;
    size_t first = p->stubs.count;
    for (size_t at = 0; at < code.size;) {
        object_vaddr slot_addr;
        struct object_plt_stub stub = {.addr = s->addr + at};
        struct bytes left = {code.data + at, code.size - at};
        const struct slot *slot = NULL;
        if (x->machine->decode(x, left, stub.addr, &slot_addr))
            slot = slot_at(x, slot_addr);
        if (!slot || !name_stub(x, slot, &stub)) {
            at += x->machine->step;
            continue;
        }
        if (has_header) {
            if (!add_header(p, s->addr, at))
                return false;
            has_header = false;
            first = p->stubs.count;
        }
        struct object_plt_stub *kept = vec_push(&p->stubs);
        if (!kept)
            return false;
        *kept = stub;
        at += x->machine->shortest;
    }
    if (has_header)
        return add_header(p, s->addr, code.size);
    if (p->stubs.count > first)
        size_stubs(p->stubs.items + first, p->stubs.count - first, s->addr + code.size, x->machine->longest);
    return true;
}

static bool add_all(struct context *x, struct object_plt *p) {
    static const char *const sections[] = {".plt", ".plt.sec", ".plt.bnd", ".plt.got", ".iplt"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct object_section s;
        if (object_elf_section_named(x->elf, sections[i], &s) && (s.flags & SHF_EXECINSTR) &&
            !add_stubs(x, &s, i == 0, p))
            return false;
    }
    return true;
}

bool object_plt_init(const struct object_elf *e, struct object_plt *out, struct err *err) {
    *out = (struct object_plt){0};
    struct context x = {.elf = e, .machine = machine_of(e), .budget = e->file.size};
    struct object_section got;
    if (!x.machine || e->type == ET_REL)
        return true;
    if (object_elf_section_named(e, ".got.plt", &got) || object_elf_section_named(e, ".got", &got))
        x.got = got.addr;
    object_symbols_open(e, SHT_DYNSYM, &x.names, NULL); /* without one there may still be ifuncs */
    bool ok = find_slots(&x, err);
    if (ok && x.slots.count && !add_all(&x, out))
        ok = err_memory(err, "an image's PLT");
    vec_fini(&x.slots);
    if (!ok)
        object_plt_fini(out);
    return ok;
}

void object_plt_fini(struct object_plt *p) {
    vec_fini(&p->stubs);
}
