/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the machine code of a part of an image in the file that gave its names, which is proved as these are.
 */
#include <elf.h>

#include "symbol/store/store_kernel.h"

enum { CODE_MAX = 4 << 20 }; /* bytes: more of a function is not looked at */

/* Takes [start, end) from `code`, which begins at `from`. */
static bool cut(struct symbol_machine_code *out, struct bytes code, uint64_t from, uint64_t start,
                uint64_t end) {
    if (start < from || start - from >= code.size)
        return false;
    uint64_t room = code.size - (start - from), size = end - start;
    out->bytes = (struct bytes){code.data + (start - from), (size_t)(size < room ? size : room)};
    return true;
}

/* Names the section that holds an address of the image. */
static void find_section(const struct object_elf *e, uint64_t address, struct symbol_machine_code *out) {
    struct object_section sec;
    for (uint32_t i = 0; object_elf_section(e, i, &sec); i++)
        if (sec.flags & SHF_ALLOC && address >= sec.addr && address - sec.addr < sec.size)
            out->section = sec.name;
}

/* A mapped file, the vdso, code of a jitdump: offsets are the file's. */
static bool code_of_file(struct store_image *im, uint64_t start, uint64_t end,
                         struct symbol_machine_code *out) {
    struct object_elf e;
    out->elf = im->bytes.code;
    if (!cut(out, im->bytes.code, 0, start, end))
        return false;
    out->address = symbol_table_address(im->table, start);
    out->layout = im->framed ? &im->framed->layout : NULL;
    out->delta = out->address - start;
    if (object_elf_open(im->bytes.code, &e, NULL))
        find_section(&e, out->address, out);
    return true;
}

/* Where the JIT had announced it. */
static bool code_of_jit(struct store_image *im, uint64_t start, uint64_t end,
                        struct symbol_machine_code *out) {
    const struct jitcode_function *f = jitcode_find(im->known.code.code, start);
    if (!f || !cut(out, f->code, f->offset, start, end))
        return false;
    out->elf = im->bytes.code;
    out->address = f->address + (start - f->offset);
    out->delta = f->address - f->offset;
    return true;
}

/* A kernel image's sections: recorded addresses are higher by the slide. */
static bool code_of_vmlinux(struct store_image *im, uint64_t start, uint64_t end,
                            struct symbol_machine_code *out) {
    struct object_elf e;
    struct object_section sec;
    struct bytes code;
    uint64_t there = start - (uint64_t)im->source.slide;
    if (!object_elf_open(im->bytes.debug, &e, NULL))
        return false;
    for (uint32_t i = 0; object_elf_section(&e, i, &sec); i++) {
        if (!(sec.flags & SHF_EXECINSTR) || there < sec.addr || there - sec.addr >= sec.size)
            continue;
        out->elf = im->bytes.debug;
        out->address = there;
        out->section = sec.name;
        out->delta = 0 - (uint64_t)im->source.slide;
        return object_elf_section_bytes(&e, &sec, NULL, &code, NULL) &&
               cut(out, code, sec.addr, there, there + (end - start));
    }
    return false;
}

/* A copy of the kernel's memory; `base`: what is added to offsets of the image for recorded addresses. */
static bool code_of_copy(const struct symfile *f, uint64_t base, uint64_t start, uint64_t end,
                         struct symbol_machine_code *out) {
    struct bytes code = store_kcore_memory(f, base + start);
    out->elf = f->bytes;
    out->address = base + start;
    out->delta = base;
    out->path = f->path;
    return cut(out, code, start, start, end);
}

/* The running kernel's memory, if that is the recorded kernel where it lay then. */
static bool code_of_memory(struct symbol_store *s, struct store_image *im, uint64_t base, uint64_t start,
                           uint64_t end, struct symbol_machine_code *out, struct err *err) {
    struct symbol_source source = im->source;
    bool proved;
    bool here = store_live_list(s, im, im->known.kind == SYMBOL_IMAGE_MODULE, &proved);
    im->source = source; /* the image has its names already */
    if (!here)
        return err_set(err, ERR_ABSENT, im->known.name,
                       "no file has its code: give its vmlinux (-k), or record with --kcore");
    uint8_t *room = arena_alloc(&im->texts, (size_t)(end - start));
    if (!room)
        return err_memory(err, im->known.name);
    struct err why = ERR_INIT;
    if (!store_kcore_read_live(base + start, room, (size_t)(end - start), &why))
        return err_set(err, ERR_ABSENT, im->known.name, "give its vmlinux (-k), as %s cannot be read: %s",
                       STORE_LIVE_CORE, why.message);
    out->address = base + start;
    out->delta = base;
    out->path = STORE_LIVE_CORE;
    out->bytes = (struct bytes){room, (size_t)(end - start)};
    return true;
}

static bool code_of_kernel(struct symbol_store *s, struct store_image *im, uint64_t start, uint64_t end,
                           struct symbol_machine_code *out, struct err *err) {
    bool module = im->known.kind == SYMBOL_IMAGE_MODULE;
    uint64_t base = module ? im->known.start : 0;
    const char *list = im->source.path;
    struct symfile *copy = list ? store_kcore_beside(s, im, list) : NULL;
    if (copy && code_of_copy(copy, base, start, end, out))
        return true;
    if (!im->bytes.debug.size)
        return code_of_memory(s, im, base, start, end, out, err);
    return (module ? store_module_code(s, im, start, end, out) : code_of_vmlinux(im, start, end, out)) ||
           err_set(err, ERR_ABSENT, list ? list : im->known.name, "it does not have that code");
}

static bool lacks(const struct store_image *im, struct err *err) {
    const char *why = "no file with its code was found";
    if (im->source.origin == SYMBOL_FROM_KEPT)
        why = "the recording keeps its symbols, but not its code: record --keep=full keeps it";
    else if (im->source.origin == SYMBOL_FROM_MAP)
        why = "a perf map has names, but no code: let the JIT write a jitdump";
    return err_set(err, ERR_ABSENT, im->known.name, "%s", why);
}

bool symbol_store_machine_code(struct symbol_store *s, uint32_t image, uint64_t start, uint64_t end,
                               struct symbol_machine_code *out, struct err *err) {
    struct store_image *im = s->images.items[image];
    *out = (struct symbol_machine_code){.path = im->source.path, .proved = im->source.proved};
    end = end > start && end - start > CODE_MAX ? start + CODE_MAX : end;
    if (!im->table || end <= start)
        return err_set(err, ERR_ABSENT, im->known.name, "%s",
                       im->source.text ? im->source.text : "no code there");
    switch (im->known.kind) {
    case SYMBOL_IMAGE_KERNEL:
    case SYMBOL_IMAGE_MODULE:
        return code_of_kernel(s, im, start, end, out, err);
    case SYMBOL_IMAGE_CODE:
        store_code_bytes(s, im);
        return code_of_jit(im, start, end, out) || lacks(im, err);
    default:
        return code_of_file(im, start, end, out) || lacks(im, err);
    }
}

bool symbol_machine_code_offset(const struct symbol_machine_code *c, uint64_t address, uint64_t *offset) {
    *offset = address - c->delta;
    return !c->layout || object_layout_offset(c->layout, address, offset);
}
