/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file to which an image's symbol table was moved, by build-id or by the image's .gnu_debuglink
 * (GDB manual, "Debugging Information in Separate Files"), and proves it by either. */
#include "object/links.h"
#include "symbol/store/store_internal.h"

/* Returns `debug` if it is proved by the build-id or, for images without one, by the link's checksum; else
 * NULL. */
static struct symfile *prove_debug(struct store_image *im, const struct symfile *f, struct symfile *debug,
                                   const struct object_debuglink *link) {
    if (!debug || debug == f)
        return NULL;
    const char *why = NULL;
    if (debug->err.code != ERR_NONE)
        why = store_text(im, "%s", debug->err.message);
    else if (!debug->is_elf)
        why = "not an ELF file";
    else if (f->id.size && !symfile_has_id(debug, (struct bytes){f->id.bytes, f->id.size}))
        why = "its build-id is another one than that of the file it should complete";
    else if (!f->id.size && (!link || object_debuglink_crc(debug->bytes) != link->crc))
        why = "its checksum is not the one in the file it should complete";
    if (why)
        store_tried(im, debug->path, why);
    return why ? NULL : debug;
}

static struct symfile *try_debug(struct symbol_store *s, struct store_image *im, const struct symfile *f,
                                 const char *path, const struct object_debuglink *link) {
    return prove_debug(im, f, path ? symfile_open(&s->files, path) : NULL, link);
}

static struct symfile *by_build_id(struct symbol_store *s, struct store_image *im, const struct symfile *f) {
    struct bytes id = {f->id.bytes, f->id.size};
    if (id.size < 2)
        return NULL;
    struct symfile *debug = try_debug(s, im, f, store_cache_path(s, im, "debug"), NULL);
    const char *hex = store_hex(im, id);
    const char *path = store_text(im, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
    return debug ? debug : try_debug(s, im, f, store_host_path(s, im, path), NULL);
}

static struct symfile *by_link(struct symbol_store *s, struct store_image *im, const struct symfile *f,
                               const char *recorded) {
    static const struct {
        const char *before, *after;
    } folders[] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug", ""}};
    struct object_debuglink link;
    const char *slash = strrchr(recorded, '/');
    if (!slash || !object_debuglink_read(&f->elf, &link) || memchr(link.name.data, '/', link.name.size))
        return NULL;
    struct symfile *debug = NULL;
    for (size_t i = 0; !debug && i < sizeof folders / sizeof *folders; i++) {
        const char *path =
            store_text(im, "%s%.*s%s%.*s", folders[i].before, (int)(slash + 1 - recorded), recorded,
                       folders[i].after, (int)link.name.size, (const char *)link.name.data);
        debug = try_debug(s, im, f, store_host_path(s, im, path), &link);
    }
    return debug;
}

struct symfile *store_find_debug(struct symbol_store *s, struct store_image *im, const struct symfile *f,
                                 const char *recorded) {
    struct symfile *debug = by_build_id(s, im, f);
    debug = debug ? debug : by_link(s, im, f, recorded);
    struct bytes id = {f->id.bytes, f->id.size};
    debug = debug ? debug : prove_debug(im, f, store_kept_debug(s, im, id), NULL);
    return debug ? debug : try_debug(s, im, f, store_download(s, im, id, OS_DEBUGINFOD_DEBUGINFO), NULL);
}

/* ---- whether there is DWARF ---- */

static bool code_has_lines(const struct jitcode *j) {
    for (size_t i = 0; j && i < j->functions.count; i++)
        if (j->functions.items[i].lines.size || j->functions.items[i].inlines.size)
            return true;
    return false;
}

static bool file_has_lines(struct bytes file) {
    struct object_elf e;
    struct object_section s;
    return file.size && object_elf_open(file, &e, NULL) &&
           (object_elf_section_named(&e, ".debug_info", &s) ||
            object_elf_section_named(&e, ".zdebug_info", &s));
}

bool symbol_store_has_lines(const struct symbol_store *s, uint32_t image) {
    const struct store_image *im = s->images.items[image];
    if (im->known.kind == SYMBOL_IMAGE_CODE)
        return code_has_lines(im->known.code.code);
    return file_has_lines(im->bytes.debug) || file_has_lines(im->bytes.code);
}

/* ---- dwz ---- */

static struct bytes try_dwz(struct symbol_store *s, struct store_image *im, const struct object_altlink *link,
                            const char *path) {
    struct symfile *f = path && *path ? symfile_open(&s->files, path) : NULL;
    if (f && f->is_elf && symfile_has_id(f, (struct bytes){link->id.bytes, link->id.size}))
        return f->bytes;
    if (f)
        store_tried(im, f->path,
                    !f->is_elf ? "no file of dwz" : "its build-id is not the one in the link to it");
    return (struct bytes){NULL, 0};
}

/* The path that the link names; a relative name starts at the folder of the file that has the link. */
static const char *linked_path(const struct symbol_store *s, struct store_image *im,
                               const struct object_altlink *link) {
    const char *name = store_text(im, "%.*s", (int)link->name.size, (const char *)link->name.data);
    if (*name == '/')
        return store_host_path(s, im, name);
    const char *from = im->debug_path ? im->debug_path : im->source.path,
               *slash = from ? strrchr(from, '/') : NULL;
    return slash ? store_text(im, "%.*s%s", (int)(slash + 1 - from), from, name) : NULL;
}

struct bytes symbol_store_dwz(struct symbol_store *s, uint32_t image, struct bytes dwarf) {
    struct store_image *im = s->images.items[image];
    struct object_elf e;
    struct object_altlink link;
    struct bytes found = {NULL, 0};
    if (!object_elf_open(dwarf, &e, NULL) || !object_altlink_read(&e, &link) || link.id.size < 2)
        return found;
    struct bytes id = {link.id.bytes, link.id.size};
    const char *hex = store_hex(im, id);
    const char *system = store_text(im, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
    found = try_dwz(s, im, &link, linked_path(s, im, &link));
    if (!found.size)
        found = try_dwz(s, im, &link, store_host_path(s, im, system));
    struct symfile *kept = found.size ? NULL : store_kept_debug(s, im, id);
    if (kept && kept->is_elf && symfile_has_id(kept, id))
        return kept->bytes;
    return found.size ? found : try_dwz(s, im, &link, store_download(s, im, id, OS_DEBUGINFOD_DEBUGINFO));
}

/* ---- split DWARF ---- */

static struct bytes split_file(struct symbol_store *s, const char *path) {
    const struct symfile *f = path ? symfile_open(&s->files, path) : NULL;
    return f && f->is_elf ? f->bytes : (struct bytes){NULL, 0};
}

struct bytes symbol_store_dwp(struct symbol_store *s, uint32_t image) {
    struct store_image *im = s->images.items[image];
    const char *const from[] = {im->debug_path, im->source.path};
    struct bytes found = {NULL, 0};
    for (size_t i = 0; !found.size && i < 2; i++)
        if (from[i] && *from[i] == '/')
            found = split_file(s, store_text(im, "%s.dwp", from[i]));
    return found;
}

struct bytes symbol_store_dwo(struct symbol_store *s, uint32_t image, const char *folder, const char *name) {
    struct store_image *im = s->images.items[image];
    struct bytes found = {NULL, 0};
    const char *slash = im->source.path ? strrchr(im->source.path, '/') : NULL;
    if (*name == '/')
        found = split_file(s, store_host_path(s, im, name));
    else if (folder && *folder == '/')
        found = split_file(s, store_host_path(s, im, store_text(im, "%s/%s", folder, name)));
    if (!found.size && *name != '/' && slash) /* beside the program, as where it was moved with them */
        found = split_file(
            s, store_text(im, "%.*s%s", (int)(slash + 1 - im->source.path), im->source.path, name));
    return found;
}
