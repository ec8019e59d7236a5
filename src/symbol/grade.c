/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/grade.h"

#include "symbol/store/store_internal.h"
#include "symbol/store/store_kernel.h"

const char *grade_name(enum grade g) {
    static const char *const names[GRADE_COUNT] = {"exact", "inferred", "stale", "unknown"};
    return names[g];
}

const char *symbol_identity_text(enum symbol_identity identity) {
    static const char *const texts[SYMBOL_IDENTITY_COUNT] = {
        [SYMBOL_BY_NOTHING] = "none", [SYMBOL_BY_BUILD_ID] = "build-id", [SYMBOL_BY_COOKIE] = "cookie",
        [SYMBOL_BY_FSTAT] = "fstat",  [SYMBOL_BY_KERNEL] = "kernel",     [SYMBOL_BY_RECORD] = "record",
    };
    return texts[identity];
}

const char *symbol_list_text(enum symbol_list list) {
    static const char *const texts[SYMBOL_LIST_COUNT] = {
        [SYMBOL_IN_NONE] = "none",         [SYMBOL_IN_SYMTAB] = "symtab",
        [SYMBOL_IN_DYNSYM] = "dynsym",     [SYMBOL_IN_MINIDEBUG] = "minidebuginfo",
        [SYMBOL_IN_PLT] = "plt",           [SYMBOL_IN_DWARF] = "DWARF",
        [SYMBOL_IN_KALLSYMS] = "kallsyms", [SYMBOL_IN_JITDUMP] = "jitdump",
        [SYMBOL_IN_MAP] = "perf map",      [SYMBOL_IN_KSYMBOL] = "ksymbol",
    };
    return texts[list];
}

const char *symbol_origin_text(enum symbol_origin origin) {
    static const char *const texts[SYMBOL_ORIGIN_COUNT] = {
        [SYMBOL_FROM_NOTHING] = "nothing",
        [SYMBOL_FROM_FILE] = "the file itself",
        [SYMBOL_FROM_CACHE] = "the build-id cache",
        [SYMBOL_FROM_DEBUG_FILE] = "separate debug information",
        [SYMBOL_FROM_ROOT] = "the process's own root",
        [SYMBOL_FROM_DEBUGINFOD] = "debuginfod",
        [SYMBOL_FROM_KALLSYMS] = "kallsyms",
        [SYMBOL_FROM_LIVE_KALLSYMS] = "the running kernel's kallsyms",
        [SYMBOL_FROM_VMLINUX] = "a kernel image",
        [SYMBOL_FROM_MODULE] = "the module's file",
        [SYMBOL_FROM_MAP] = "a perf map",
        [SYMBOL_FROM_RECORD] = "the recording itself",
        [SYMBOL_FROM_SELF] = "this process's own vdso",
        [SYMBOL_FROM_KEPT] = "tables kept in the recording",
        [SYMBOL_FROM_JITDUMP] = "a jitdump",
    };
    return texts[origin];
}

/* Whether what was refused was a candidate at all. The running kernel, which every machine has, is none for a
 * recording of another release. */
static bool is_candidate(const struct symbol_store *s, const struct store_image *im) {
    if (im->source.path != STORE_LIVE_LIST)
        return true;
    const struct symbol_image *kernel = store_kernel_of(s, im);
    return kernel && kernel->release && strcmp(kernel->release, s->live.release) == 0;
}

enum grade symbol_store_grade(const struct symbol_store *s, uint32_t image, uint32_t symbol) {
    const struct store_image *im = s->images.items[image];
    if (symbol == SYMBOL_NONE || !im->table)
        return !im->table && im->source.status == SYMBOL_CONTRADICTED && is_candidate(s, im) ? GRADE_STALE
                                                                                             : GRADE_UNKNOWN;
    bool guessed = symbol_table_flags(im->table, symbol) & SYMBOL_SIZE_GUESSED;
    return im->source.proved && !guessed ? GRADE_EXACT : GRADE_INFERRED;
}

/* What proved the image; see the loaders. */
static enum symbol_identity identity_of(const struct store_image *im) {
    static const uint8_t by_origin[SYMBOL_ORIGIN_COUNT] = {
        [SYMBOL_FROM_KALLSYMS] = SYMBOL_BY_KERNEL,
        [SYMBOL_FROM_LIVE_KALLSYMS] = SYMBOL_BY_KERNEL,
        [SYMBOL_FROM_RECORD] = SYMBOL_BY_RECORD,
        [SYMBOL_FROM_JITDUMP] = SYMBOL_BY_RECORD,
    };
    const struct perfdata_evidence *e = im->known.evidence;
    if (!im->source.proved)
        return SYMBOL_BY_NOTHING;
    if (by_origin[im->source.origin])
        return (enum symbol_identity)by_origin[im->source.origin];
    if (im->known.build_id.size)
        return SYMBOL_BY_BUILD_ID;
    return im->known.kind == SYMBOL_IMAGE_VDSO ? SYMBOL_BY_KERNEL
           : e && e->has_cookie                ? SYMBOL_BY_COOKIE
                                               : SYMBOL_BY_FSTAT;
}

static enum symbol_list list_of(const struct store_image *im, uint32_t symbol) {
    static const uint8_t by_origin[SYMBOL_ORIGIN_COUNT] = {
        [SYMBOL_FROM_RECORD] = SYMBOL_IN_KSYMBOL,
        [SYMBOL_FROM_JITDUMP] = SYMBOL_IN_JITDUMP,
        [SYMBOL_FROM_MAP] = SYMBOL_IN_MAP,
    };
    unsigned flags = symbol_table_flags(im->table, symbol);
    if (by_origin[im->source.origin])
        return (enum symbol_list)by_origin[im->source.origin];
    return flags & SYMBOL_LISTED      ? SYMBOL_IN_KALLSYMS
           : flags & SYMBOL_PLT       ? SYMBOL_IN_PLT
           : flags & SYMBOL_MINIDEBUG ? SYMBOL_IN_MINIDEBUG
           : flags & SYMBOL_DYNAMIC   ? SYMBOL_IN_DYNSYM
                                      : SYMBOL_IN_SYMTAB;
}

/* Whether no file was found for the image: then the path tried last is no explanation. */
static bool lacks_file(const struct store_image *im) {
    return im->source.status == SYMBOL_ABSENT && im->known.kind == SYMBOL_IMAGE_FILE && im->source.path;
}

static const char *why_no_better(const struct store_image *im, uint32_t symbol, enum grade grade) {
    switch (grade) {
    case GRADE_EXACT:
        return NULL;
    case GRADE_INFERRED:
        if (im->source.proved)
            return "the nearest symbol before it, which has no size";
        if (im->known.code.doubt)
            return im->known.code.doubt;
        return im->known.id_by_name
                   ? "its build-id was read when the recording was closed, not when it was mapped"
                   : "nothing that was recorded can confirm the file";
    default:
        if (!im->table && lacks_file(im))
            return "no file that has names for it is here";
        return symbol == SYMBOL_NONE && im->table ? "no symbol of the file covers the place"
               : im->source.text                  ? im->source.text
                                                  : "nothing has names for it";
    }
}

struct symbol_provenance symbol_store_provenance(const struct symbol_store *s, uint32_t image,
                                                 uint32_t symbol) {
    const struct store_image *im = s->images.items[image];
    struct symbol_provenance p = {.grade = symbol_store_grade(s, image, symbol),
                                  .origin = im->table ? im->source.origin : SYMBOL_FROM_NOTHING,
                                  .path = im->table || !lacks_file(im) ? im->source.path : NULL,
                                  .support = im->source.support,
                                  .has_slide = im->source.has_slide,
                                  .slide = im->source.slide};
    if (symbol != SYMBOL_NONE && im->table) {
        p.identity = identity_of(im);
        p.list = list_of(im, symbol);
    }
    p.why = why_no_better(im, symbol, p.grade);
    return p;
}
