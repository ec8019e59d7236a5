/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the names of kernel modules: from their kernel's own list, or from their files. */
#include <elf.h>

#include "format/modules/modules.h"
#include "format/perfdata/added/module_map.h"
#include "os/files/files.h"
#include "symbol/elf_symbols.h"
#include "symbol/store/store_kernel.h"

struct bytes store_module_name(struct store_image *im, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = *name == '[' ? strcspn(name + 1, "]") : strcspn(name, ".");
    char *copy = arena_strndup(&im->texts, name + (*name == '['), len);
    for (char *c = copy; c && *c; c++)
        *c = *c == '-' ? '_' : *c;
    return (struct bytes){(const uint8_t *)copy, copy ? len : 0};
}

/* ---- where its sections lay ---- */

/* Finds what the recording says about the module's sections. False: nothing. */
static bool find_map(const struct symbol_store *s, const struct store_image *im, struct bytes name,
                     struct perfdata_module_map *map) {
    bool found = false;
    bool known = im->known.space == SYMBOL_KERNEL && s->options.module_lines;
    for (size_t i = 0; !found && known && i < 2; i++) {
        struct bytes rest = s->options.module_lines[i];
        while (!found && perfdata_module_map_next(&rest, map))
            found = map->count && bytes_equal(map->module.name, name) &&
                    im->known.start >= map->module.start && im->known.start < map->module.end;
    }
    return found;
}

/* ---- from a list ---- */

static bool use_list(struct symbol_store *s, struct store_image *im, const struct kernel_list *list,
                     const char *path, enum symbol_origin origin) {
    struct err err = ERR_INIT;
    struct kernel_bounds bounds = {.from = im->known.start, .end = im->known.end};
    struct bytes name = store_module_name(im, im->known.name);
    struct perfdata_module_map map;
    uint64_t cuts[PERFDATA_MODULE_SECTIONS_MAX];
    /* A list does not say where symbols end: at the latest with their section. */
    if (find_map(s, im, name, &map)) {
        for (uint32_t i = 0; i < map.count; i++)
            cuts[i] = map.sections[i].address;
        bounds.cuts = cuts;
        bounds.cut_count = map.count;
    }
    if (!kernel_list_has_module(list, name)) {
        store_tried(im, path, "it lists nothing of this module");
        return false;
    }
    if (!kernel_list_module_fits(list, name, bounds.from, bounds.end)) {
        static const char why[] = "the module was at another place";
        store_tried(im, path, why);
        return store_fail(im, SYMBOL_CONTRADICTED, path, why);
    }
    struct symbol_table *t = kernel_list_table(list, name, &bounds, store_raw_kernel_names(s), &err);
    if (!t)
        return store_fail_err(im, path, &err);
    im->table = im->owned = t;
    return store_found(im, origin, path, false);
}

/* Tries a list in a file. */
static bool try_list(struct symbol_store *s, struct store_image *im, const char *path,
                     enum symbol_origin origin) {
    struct err err = ERR_INIT;
    const struct kernel_list *list = symfile_kernel_list(&s->files, path, &err);
    bool proved = false;
    if (!list)
        return store_fail_err(im, path, &err);
    return store_list_matches(s, im, path, list, &proved) && store_kcore_matches(s, im, path, &proved) &&
           use_list(s, im, list, path, origin) && (proved || store_kcore_fits(s, im, path));
}

/* Tries the cache's lists with copies of the kernel's memory. */
static bool use_cached_kcore(struct symbol_store *s, struct store_image *im) {
    const char *path;
    for (size_t i = 0; (path = store_kcore_list(s, im, i)); i++)
        if (try_list(s, im, path, SYMBOL_FROM_CACHE))
            return true;
    return false;
}

static bool use_live(struct symbol_store *s, struct store_image *im) {
    bool proved;
    const struct kernel_list *list = store_live_list(s, im, true, &proved);
    return list && use_list(s, im, list, STORE_LIVE_LIST, SYMBOL_FROM_LIVE_KALLSYMS);
}

static bool use_kept(struct symbol_store *s, struct store_image *im) {
    const struct symbol_image *kernel = store_kernel_of(s, im);
    const struct kernel_list *list = kernel ? store_kept_list(s, kernel->build_id) : NULL;
    bool proved = true;
    return list && store_list_matches(s, im, STORE_KEPT_LIST, list, &proved) &&
           use_list(s, im, list, STORE_KEPT_LIST, SYMBOL_FROM_KEPT);
}

/* ---- from its file ---- */

enum { SECTIONS_MAX = 4096 };

/* Where the kernel puts a module's sections: offsets from the module's start; UINT64_MAX: not placed, as it
 * is no code. */
struct placement {
    uint64_t *offsets;
    uint64_t *ends;
    uint32_t count;
};

static bool is_code(const struct object_section *sec) {
    return (sec->flags & SHF_ALLOC) && (sec->flags & SHF_EXECINSTR) && sec->size <= UINT32_MAX;
}

static bool is_lasting_code(const struct object_section *sec) {
    return is_code(sec) && !(sec->name.size >= 5 && memcmp(sec->name.data, ".init", 5) == 0);
}

/* Allocates places for all sections, none of them placed. */
static bool places_new(const struct object_elf *e, struct placement *p, struct err *err) {
    p->count = e->section_count < SECTIONS_MAX ? e->section_count : SECTIONS_MAX;
    p->offsets = malloc((2 * (size_t)p->count + 1) * sizeof *p->offsets);
    if (!p->offsets)
        return err_memory(err, "module");
    p->ends = p->offsets + p->count;
    for (uint32_t i = 0; i < p->count; i++)
        p->offsets[i] = p->ends[i] = UINT64_MAX;
    return true;
}

/* Places sections by their recorded addresses. */
static bool place_recorded(const struct object_elf *e, const struct perfdata_module_map *map, uint64_t start,
                           struct placement *p, struct err *err) {
    struct object_section sec;
    uint64_t init, init_end, at;
    bool has_init = perfdata_module_map_init(map, &init, &init_end);
    if (!places_new(e, p, err))
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!object_elf_section(e, i, &sec) || !is_code(&sec) ||
            !perfdata_module_map_section(map, sec.name, &at))
            continue;
        if (at >= map->module.start && at < map->module.end && at >= start)
            p->offsets[i] = at - start;
        else if (has_init && at >= init && at < init_end)
            p->offsets[i] = PERFDATA_MODULE_INIT + (at - init);
        else
            continue;
        p->ends[i] = p->offsets[i] + sec.size;
    }
    return true;
}

/*
 * Places sections as the kernel's loader does: executable ones first, in the file's order, each at its own
 * alignment, but those named .init* elsewhere (seen in /sys/module/NAME/sections of 6.1 kernels). On s390 the
 * recorded start is that of .text itself, because tables precede it.
 */
static bool place_sections(const struct object_elf *e, struct placement *p, struct err *err) {
    struct object_section sec;
    uint64_t at = 0, text = 0;
    if (!places_new(e, p, err))
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!object_elf_section(e, i, &sec) || !is_lasting_code(&sec))
            continue;
        uint64_t align = sec.align && sec.align <= 1 << 21 ? sec.align : 1;
        at = (at + align - 1) / align * align;
        p->offsets[i] = at;
        p->ends[i] = at + sec.size;
        text = sec.name.size == 5 && memcmp(sec.name.data, ".text", 5) == 0 ? at : text;
        at += sec.size;
    }
    for (uint32_t i = 0; e->machine == EM_S390 && i < p->count; i++)
        if (p->offsets[i] != UINT64_MAX) {
            p->ends[i] -= text;
            p->offsets[i] = p->offsets[i] >= text ? p->offsets[i] - text : UINT64_MAX;
        }
    return true;
}

uint64_t store_module_code_end(const struct object_elf *e) {
    struct placement places = {0};
    struct err err = ERR_INIT;
    uint64_t end = 0;
    if (place_sections(e, &places, &err))
        for (uint32_t i = 0; i < places.count; i++)
            end = places.offsets[i] != UINT64_MAX && places.ends[i] > end ? places.ends[i] : end;
    free(places.offsets);
    return end;
}

static bool place_in_module(const void *ctx, const struct object_symbol *s, uint64_t value,
                            uint64_t *offset) {
    const struct placement *p = ctx;
    if (s->section >= p->count || p->offsets[s->section] == UINT64_MAX)
        return false;
    *offset = p->offsets[s->section] + value;
    return *offset >= p->offsets[s->section] && *offset < p->ends[s->section];
}

static uint64_t section_end(const void *ctx, uint64_t start) {
    const struct placement *p = ctx;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->offsets[i] != UINT64_MAX && start >= p->offsets[i] && start < p->ends[i])
            return p->ends[i];
    return start;
}

struct placed {
    const struct object_elf *e;
    const struct placement *places;
    uint64_t start;
};

/* A store_code_fn for a module's sections, each at its place. */
static bool code_of_sections(const void *ctx, uint64_t address, struct bytes *code, size_t *at) {
    const struct placed *p = ctx;
    uint64_t offset = address - p->start;
    struct object_section sec;
    for (uint32_t i = 0; i < p->places->count; i++) {
        uint64_t from = p->places->offsets[i];
        if (from == UINT64_MAX || offset <= from || offset > p->places->ends[i])
            continue;
        *at = (size_t)(offset - from);
        return object_elf_section(p->e, i, &sec) && object_elf_section_bytes(p->e, &sec, NULL, code, NULL);
    }
    return false;
}

/* Places the sections of a module's file: as recorded, else as the kernel's loader does. */
static bool place_all(struct symbol_store *s, struct store_image *im, const struct object_elf *e,
                      struct placement *places, bool *recorded, struct err *err) {
    struct perfdata_module_map map;
    *recorded = find_map(s, im, store_module_name(im, im->known.name), &map);
    return *recorded ? place_recorded(e, &map, im->known.start, places, err) : place_sections(e, places, err);
}

bool store_module_code(struct symbol_store *s, struct store_image *im, uint64_t start, uint64_t end,
                       struct symbol_machine_code *out) {
    struct placement places = {0};
    struct object_elf e;
    struct object_section sec;
    struct bytes code;
    bool recorded, found = false;
    if (!object_elf_open(im->bytes.debug, &e, NULL) || !place_all(s, im, &e, &places, &recorded, NULL))
        return false;
    for (uint32_t i = 0; !found && i < places.count; i++) {
        uint64_t from = places.offsets[i];
        if (from == UINT64_MAX || start < from || start >= places.ends[i])
            continue;
        found = object_elf_section(&e, i, &sec) && object_elf_section_bytes(&e, &sec, NULL, &code, NULL) &&
                start - from < code.size;
        if (!found)
            break;
        uint64_t at = start - from, room = code.size - at;
        out->bytes = (struct bytes){code.data + at, (size_t)(end - start < room ? end - start : room)};
        out->elf = im->bytes.debug;
        out->section = sec.name;
        out->address = at; /* sections have no addresses yet */
        out->delta = 0 - from;
    }
    free(places.offsets);
    return found;
}

/* Makes the table from a module's file; `f` may be NULL. `vouched`: by the user. */
static bool use_module(struct symbol_store *s, struct store_image *im, struct symfile *f, bool proved,
                       bool vouched, enum symbol_origin origin) {
    struct err err = ERR_INIT;
    struct placement places = {0};
    struct symbol_drafts d = {0};
    if (!f)
        return false;
    if (!f->is_elf || f->elf.type != ET_REL) {
        store_tried(im, f->path, "not a kernel module");
        return store_fail(im, SYMBOL_BROKEN, f->path, "not a kernel module");
    }
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_BEST,
                                 .limit = section_end,
                                 .ctx = &places,
                                 .raw_names = store_raw_kernel_names(s)};
    bool recorded;
    if (place_all(s, im, &f->elf, &places, &recorded, &err) &&
        elf_symbols_add(&f->elf, SHT_SYMTAB, place_in_module, &places, &d, &err))
        im->table = im->owned = symbol_table_build(&d, &rules, &err);
    symbol_drafts_fini(&d);
    struct placed placed = {&f->elf, &places, im->known.start};
    bool sure = vouched || (proved && recorded) || !im->table;
    bool fits = sure || store_returns_fit(s, im, f->path, &f->elf, code_of_sections, &placed);
    free(places.offsets);
    if (!im->table)
        return fits && store_fail_err(im, f->path, &err);
    im->bytes.debug = f->bytes;
    /* Unless it was recorded, where its sections lie is a guess. */
    return store_found(im, origin, f->path, proved && recorded);
}

static bool use_file(struct symbol_store *s, struct store_image *im, const char *path,
                     enum symbol_origin origin) {
    return use_module(s, im, store_open_proved(s, im, path), store_id_proves(&im->known), false, origin);
}

/* Tries a module's file of that name that the user vouches for. */
static bool use_forced(struct symbol_store *s, struct store_image *im) {
    const char *rest = s->options.force_images, *path, *of;
    struct bytes name = store_module_name(im, im->known.name);
    while ((path = store_next_forced(im, &rest, &of))) {
        struct symfile *f =
            bytes_equal(store_module_name(im, of ? of : path), name) ? symfile_open(&s->files, path) : NULL;
        if (f && f->is_elf && f->elf.type == ET_REL && use_module(s, im, f, false, true, SYMBOL_FROM_MODULE))
            return true;
    }
    return false;
}

/* ---- in which order ---- */

/* Sets the module's end from /proc/modules or the copy that was given: old perfs record the last module's end
 * too high. */
static void repair_end(struct symbol_store *s, struct store_image *im) {
    const char *path = store_kernel_options(s, im)->modules;
    struct writer text = writer_make(false);
    struct bytes name = store_module_name(im, im->known.name);
    if (path && os_files_real.read(os_files_real.ctx, path, &text, NULL)) {
        struct bytes rest = writer_bytes(&text);
        for (struct modules_entry m; modules_next(&rest, &m);)
            if (bytes_equal(m.name, name) && m.address == im->known.start && m.size)
                im->known.end = m.address + m.size;
    }
    writer_fini(&text);
}

bool store_load_module(struct symbol_store *s, struct store_image *im) {
    const struct symbol_kernel_options *o = store_kernel_options(s, im);
    struct err err = ERR_INIT;
    repair_end(s, im);
    if (use_forced(s, im))
        return true;
    if (o->kallsyms) {
        const struct kernel_list *list = symfile_kernel_list(&s->files, o->kallsyms, &err);
        if (!list)
            return store_fail_err(im, o->kallsyms, &err);
        if (try_list(s, im, o->kallsyms, SYMBOL_FROM_KALLSYMS))
            return true;
    }
    const char *cached = store_cache_path(s, im, "elf");
    if (cached && use_file(s, im, cached, SYMBOL_FROM_CACHE))
        return true;
    struct perfdata_module_map map;
    bool placed = im->known.build_id.size && find_map(s, im, store_module_name(im, im->known.name), &map);
    const char *host_path = *im->known.name == '/' ? store_host_path(s, im, im->known.name) : NULL;
    if (placed && host_path && use_file(s, im, host_path, SYMBOL_FROM_MODULE))
        return true;
    if (!o->kallsyms && !o->vmlinux &&
        (use_cached_kcore(s, im) ||
         (im->known.space == SYMBOL_KERNEL && (use_kept(s, im) || use_live(s, im)))))
        return true;
    if (*im->known.name != '/')
        return false;
    if (im->known.build_id.size)
        return use_file(s, im, host_path, SYMBOL_FROM_MODULE);
    /* Nothing else is known about it than its path, which names the release that it was built for. */
    const char *release = im->known.release;
    const char *folder = release ? store_text(im, "/lib/modules/%s/", release) : NULL;
    return folder && strncmp(im->known.name, folder, strlen(folder)) == 0 &&
           use_file(s, im, host_path, SYMBOL_FROM_MODULE);
}
