/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program or library that probes go into: its code, its symbols by name with all their aliases, and the
 * DWARF of it or of its separate debug file, which is used only if its build-id is the same.
 */
#ifndef SONDE_PROBE_IMAGE_H
#define SONDE_PROBE_IMAGE_H

#include "base/arena.h"
#include "object/debug/debug.h"
#include "object/dwarf/lines.h"
#include "symbol/store/store.h"

struct probe_symbol {
    const char *name;  /* as linked, without version */
    const char *shown; /* demangled; NULL: not asked for yet, or not mangled */
    object_vaddr addr;
    uint64_t size;
    bool function, indirect, asked; /* indirect: a resolver (STT_GNU_IFUNC) */
};

struct probe_image {
    const char *path;
    struct arena arena;
    struct symbol_store *store;
    uint32_t id;
    struct bytes code, dwarf;
    struct object_elf elf;
    struct object_layout layout;
    const struct probe_symbol *text;  /* of a kernel: what its places count from; NULL: no kernel */
    const char *module;               /* of a kernel's module: its name; NULL: it is none */
    uint8_t *linked[2];               /* a module's image, and its debug file's, with addresses; or NULL */
    struct object_cfi *cfi;           /* of a module */
    VEC(struct probe_symbol) symbols; /* by address, then as they came; equal ones once */
    bool debug_tried;
    struct object_debug *debug; /* probe_image_debug */
    struct err debug_err;
};

struct probe_image_options {
    const char *symfs, *buildid_dir, *debuginfod_urls; /* NULL: none */
    bool kernel;                                       /* a vmlinux */
    const char *module;                                /* the name of the module that it is; NULL: none */
    const char *target_root;                           /* a folder that `path` is looked for in; NULL: none */
};

/* Opens `path`, made absolute and without links. False and *err: no such file, not ELF, out of memory.
 * probe_image_fini in any case. */
bool probe_image_open(struct probe_image *i, const char *path, const struct probe_image_options *o,
                      struct err *err);
void probe_image_fini(struct probe_image *i);

/* Why DWARF may not have had an answer: ": ... FILE.dwo is not where ...", what to do; "" where nothing that
 * was asked for is missing. Lives as long as the image. */
const char *probe_image_missing(struct probe_image *i);

/* What DWARF says; NULL and i->debug_err: why there is none. */
struct object_debug *probe_image_debug(struct probe_image *i);

/* The symbol of that name, as linked; functions before others. NULL: none. */
const struct probe_symbol *probe_image_symbol(const struct probe_image *i, const char *name);
/* The variable that an address is in. NULL: none. */
const struct probe_symbol *probe_image_variable_at(const struct probe_image *i, object_vaddr addr);
/* The function whose code an address is. NULL: none. */
const struct probe_symbol *probe_image_function_at(const struct probe_image *i, object_vaddr addr);
/* A symbol's name for display; lives as long as the image. */
const char *probe_symbol_shown(struct probe_image *i, struct probe_symbol *s);

#endif
