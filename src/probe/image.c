/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/build_id.h"
#include "object/linked.h"
#include "object/links.h"
#include "os/files/place.h"
#include "symbol/demangle/demangle.h"

enum { PATH_ROOM = 4096 };

/* ---- symbols ---- */

/* The length of a name without the default version that some linkers append: malloc@@GLIBC_2.2.5. Any other
 * version is another function, whose name keeps it. */
static size_t name_length(struct bytes name) {
    const void *at = memmem(name.data, name.size, "@@", 2);
    return at && at != name.data ? (size_t)((const uint8_t *)at - name.data) : name.size;
}

/* Whether a dynamic symbol is of a version that is only kept for old programs (ELF gABI supplements: LSB Core
 * 5.0, 10.7.2: .gnu.version). */
static bool is_hidden(const struct object_elf *e, struct bytes versions, uint32_t index) {
    return versions.size / 2 > index && bytes_load16(versions.data + 2 * (size_t)index, e->swap) & 0x8000;
}

static bool add_symbols(struct probe_image *i, const struct object_elf *e, uint32_t type, struct err *err) {
    struct object_symbols walk;
    struct object_symbol s;
    struct object_section section;
    struct bytes versions = {NULL, 0};
    if (type == SHT_DYNSYM && object_elf_section_typed(e, SHT_GNU_versym, &section))
        object_elf_section_bytes(e, &section, NULL, &versions, NULL);
    if (!object_symbols_open(e, type, &walk, NULL))
        return true;
    while (object_symbols_next(&walk, &s)) {
        bool function = s.type == STT_FUNC || s.type == STT_GNU_IFUNC;
        if (s.section == SHN_UNDEF || s.reserved || !s.name.size || s.type == STT_TLS ||
            s.type == STT_SECTION || s.type == STT_FILE || object_symbol_is_mapping(e, &s) ||
            is_hidden(e, versions, s.index))
            continue;
        struct probe_symbol *slot = vec_push(&i->symbols);
        const char *name = arena_strndup(&i->arena, (const char *)s.name.data, name_length(s.name));
        if (!slot || !name)
            return err_memory(err, i->path);
        *slot = (struct probe_symbol){.name = name,
                                      .addr = s.value + (function ? object_symbol_local_entry(e, &s) : 0),
                                      .size = s.size,
                                      .function = function,
                                      .indirect = s.type == STT_GNU_IFUNC};
    }
    return true;
}

static int by_addr(const void *a, const void *b) {
    const struct probe_symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool read_symbols(struct probe_image *i, struct bytes debug, struct err *err) {
    struct object_elf e;
    struct bytes mini;
    bool ok = true;
    if (debug.size && object_elf_open(debug, &e, NULL))
        ok = add_symbols(i, &e, SHT_SYMTAB, err);
    if (ok && object_minidebug_read(&i->elf, &i->arena, &mini, NULL) && object_elf_open(mini, &e, NULL))
        ok = add_symbols(i, &e, SHT_SYMTAB, err);
    ok = ok && add_symbols(i, &i->elf, SHT_SYMTAB, err) && add_symbols(i, &i->elf, SHT_DYNSYM, err);
    if (i->symbols.count)
        qsort(i->symbols.items, i->symbols.count, sizeof *i->symbols.items, by_addr);
    size_t kept = 0;
    for (size_t k = 0; k < i->symbols.count; k++)
        if (!kept || by_addr(&i->symbols.items[kept - 1], &i->symbols.items[k]) != 0)
            i->symbols.items[kept++] = i->symbols.items[k];
    i->symbols.count = kept;
    return ok;
}

const struct probe_symbol *probe_image_symbol(const struct probe_image *i, const char *name) {
    const struct probe_symbol *found = NULL;
    for (size_t k = 0; k < i->symbols.count; k++) {
        const struct probe_symbol *s = &i->symbols.items[k];
        if ((!found || (s->function && !found->function)) && !strcmp(s->name, name))
            found = s;
    }
    return found;
}

const struct probe_symbol *probe_image_variable_at(const struct probe_image *i, object_vaddr addr) {
    for (size_t k = 0; k < i->symbols.count && i->symbols.items[k].addr <= addr; k++) {
        const struct probe_symbol *s = &i->symbols.items[k];
        if (!s->function && addr - s->addr < s->size)
            return s;
    }
    return NULL;
}

const struct probe_symbol *probe_image_function_at(const struct probe_image *i, object_vaddr addr) {
    size_t low = 0, high = i->symbols.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (i->symbols.items[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    while (low--) {
        const struct probe_symbol *s = &i->symbols.items[low];
        if (s->function && (addr - s->addr < s->size || s->addr == addr))
            return s;
        if (s->function && s->size) /* it ended before */
            break;
    }
    return NULL;
}

const char *probe_symbol_shown(struct probe_image *i, struct probe_symbol *s) {
    if (!s->asked)
        s->shown = symbol_demangle(s->name, &i->arena);
    s->asked = true;
    return s->shown ? s->shown : s->name;
}

/* ---- files ---- */

/* Gives a module's image, and its debug file's, addresses. */
static bool link_module(struct probe_image *i, struct bytes *debug, struct err *err) {
    struct bytes linked;
    struct err why = ERR_INIT;
    if (!object_linked_new(i->code, &linked, &why))
        return err_set(err, why.code, i->path, "%s", why.message);
    i->linked[0] = (uint8_t *)linked.data;
    i->code = linked;
    if (debug->size && object_linked_new(*debug, &linked, NULL)) {
        i->linked[1] = (uint8_t *)linked.data;
        *debug = linked;
    } else {
        *debug = (struct bytes){NULL, 0};
    }
    i->cfi = object_cfi_new(i->code, *debug, NULL);
    return object_elf_open(i->code, &i->elf, err);
}

static bool load(struct probe_image *i, const struct probe_image_options *o, struct err *err) {
    struct symbol_options options = {.symfs = o->symfs,
                                     .cache = o->buildid_dir,
                                     .debuginfod_urls = o->debuginfod_urls,
                                     .recorded_arch = NULL};
    struct symbol_image image = {.kind = SYMBOL_IMAGE_FILE, .name = i->path, .pid = UINT32_MAX};
    i->store = symbol_store_new(&options, err);
    i->id = i->store ? symbol_store_add(i->store, &image) : UINT32_MAX;
    if (i->id == UINT32_MAX)
        return err_memory(err, i->path);
    symbol_store_table(i->store, i->id);
    struct symbol_bytes bytes = symbol_store_bytes(i->store, i->id);
    if (!bytes.code.size) {
        struct symbol_source why = symbol_store_source(i->store, i->id);
        return err_set(err, ERR_BROKEN, i->path, "%s", why.text ? why.text : "cannot be read");
    }
    i->code = bytes.code;
    i->module = o->module;
    if (!object_elf_open(i->code, &i->elf, err) || (o->module && !link_module(i, &bytes.debug, err)) ||
        !object_layout_init(&i->elf, &i->layout, err))
        return false;
    struct object_elf e;
    struct object_section s;
    bool own = object_elf_section_named(&i->elf, ".debug_info", &s) && s.type != SHT_NOBITS;
    i->dwarf = !own && bytes.debug.size && object_elf_open(bytes.debug, &e, NULL) ? bytes.debug : i->code;
    if (!read_symbols(i, bytes.debug, err))
        return false;
    i->text = o->kernel ? probe_image_symbol(i, "_text") : NULL;
    return i->text || !o->kernel ||
           err_set(err, ERR_BROKEN, i->path, "is no kernel with symbols: it has no _text");
}

bool probe_image_open(struct probe_image *i, const char *path, const struct probe_image_options *o,
                      struct err *err) {
    char real[PATH_ROOM], with_root[PATH_ROOM];
    *i = (struct probe_image){.path = path};
    if (o->target_root) {
        if (snprintf(with_root, sizeof with_root, "%s/%s", o->target_root, path) >= (int)sizeof with_root)
            return err_set(err, ERR_USAGE, path, "the path is too long");
        path = with_root; /* through /proc/PID/root, which no absolute path without links leads to */
    } else if (!os_place_real(path, real, sizeof real, err)) {
        return false;
    } else {
        path = real;
    }
    i->path = arena_strndup(&i->arena, path, strlen(path));
    return i->path ? load(i, o, err) : err_memory(err, path);
}

void probe_image_fini(struct probe_image *i) {
    object_debug_free(i->debug);
    object_cfi_free(i->cfi);
    free(i->linked[0]);
    free(i->linked[1]);
    object_layout_fini(&i->layout);
    vec_fini(&i->symbols);
    symbol_store_free(i->store);
    arena_fini(&i->arena);
}

static void rest(void *store) {
    symbol_store_rest(store);
}

struct object_debug *probe_image_debug(struct probe_image *i) {
    struct symbol_frames frames = {NULL, NULL};
    if (i->debug_tried)
        return i->debug;
    i->debug_tried = true;
    if (i->module)
        frames.cfi = i->cfi;
    else
        symbol_store_frames(i->store, i->id, &frames);
    i->debug =
        object_debug_new(i->dwarf, symbol_store_dwz(i->store, i->id, i->dwarf), frames.cfi, &i->debug_err);
    if (i->debug)
        object_debug_rest_by(i->debug, rest, i->store);
    return i->debug;
}

const char *probe_image_missing(struct probe_image *i) {
    const char *name = i->debug ? object_debug_missing(i->debug) : NULL;
    const char *package = name ? arena_printf(&i->arena, "%s.dwp", i->path) : NULL;
    bool packed = package && os_place_taken(package);
    const char *text =
        !name
            ? ""
            : arena_printf(&i->arena,
                           ": debugging information is missing: %s is not where it was made%s%s%s; put that "
                           "file there, or build without -gsplit-dwarf",
                           name, packed ? ", and the package " : "", packed ? package : "",
                           packed ? " cannot be read" : "");
    return text ? text : "";
}
