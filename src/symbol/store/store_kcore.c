/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a kernel's memory (/proc/kcore, proc(5)): code at the addresses where it ran, with the kernel's
 * list of symbols in the same folder. Both were made at the same time, so that the copy can contradict the
 * list; and if it has the kernel's notes, it proves the list.
 *
 *   recording/kcore_dir/{kcore,kallsyms,modules}                  record --kcore
 *   cache/[kernel.kcore]/BUILD-ID/DATE/{kcore,kallsyms,modules}   buildid-cache --kcore
 */
#include "symbol/store/store_kernel.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "format/kallsyms/kallsyms.h"
#include "os/core.h"
#include "os/files/files.h"

/* What the copy has from a recorded address on; empty: it does not have that. */
static struct bytes memory_at(const struct object_elf *e, uint64_t address) {
    struct object_segment s;
    for (uint32_t i = 0; object_elf_segment(e, i, &s); i++) {
        if (s.type != PT_LOAD || address < s.vaddr || address - s.vaddr >= s.file_size ||
            s.offset > e->file.size || s.file_size > e->file.size - s.offset)
            continue;
        uint64_t skip = address - s.vaddr;
        return (struct bytes){e->file.data + s.offset + skip, (size_t)(s.file_size - skip)};
    }
    return (struct bytes){NULL, 0};
}

static bool code_at(const void *ctx, uint64_t address, struct bytes *code, size_t *at) {
    const struct object_elf *e = ctx;
    struct object_segment s;
    for (uint32_t i = 0; object_elf_segment(e, i, &s); i++)
        if (s.type == PT_LOAD && address > s.vaddr && address - s.vaddr <= s.file_size) {
            *code = memory_at(e, s.vaddr);
            *at = (size_t)(address - s.vaddr);
            return code->size >= *at;
        }
    return false;
}

static struct store_landmarks read_landmarks(const char *list_path) {
    struct store_landmarks l = {.list_path = list_path};
    const struct {
        const char *name;
        uint64_t *address;
    } wanted[] = {{"linux_banner", &l.banner}, {"__start_notes", &l.notes}, {"__stop_notes", &l.notes_end}};
    struct writer text = writer_make(false);
    if (os_files_real.read(os_files_real.ctx, list_path, &text, NULL)) {
        struct bytes rest = writer_bytes(&text);
        for (struct kallsyms_symbol s; kallsyms_next(&rest, &s);)
            for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                if (!s.module.size && s.name.size == strlen(wanted[i].name) &&
                    memcmp(s.name.data, wanted[i].name, s.name.size) == 0)
                    *wanted[i].address = s.address;
    }
    writer_fini(&text);
    return l;
}

/* Reads landmarks once: all modules use the same list. */
static struct store_landmarks find_landmarks(struct symbol_store *s, const char *list_path) {
    pthread_mutex_lock(&s->lock);
    if (!s->landmarks.list_path || strcmp(s->landmarks.list_path, list_path) != 0)
        s->landmarks = read_landmarks(list_path);
    struct store_landmarks l = s->landmarks;
    pthread_mutex_unlock(&s->lock);
    return l;
}

/* Finds the kernel's build-id among its notes in the copy. */
static bool notes_id(const struct object_elf *e, const struct store_landmarks *l,
                     struct object_build_id *id) {
    if (e->swap || !l->notes || l->notes_end <= l->notes)
        return false;
    struct bytes notes = memory_at(e, l->notes);
    if (notes.size > l->notes_end - l->notes)
        notes.size = (size_t)(l->notes_end - l->notes);
    return object_build_id_in_notes(notes, id);
}

static bool refuse(struct store_image *im, const char *path, const char *why) {
    store_tried(im, path, why);
    return store_fail(im, SYMBOL_CONTRADICTED, path, why);
}

struct symfile *store_kcore_beside(struct symbol_store *s, struct store_image *im, const char *list_path) {
    static const char name[] = "/kallsyms";
    size_t n = strlen(list_path), k = sizeof name - 1;
    if (n < k || strcmp(list_path + n - k, name) != 0 || strcmp(list_path, STORE_LIVE_LIST) == 0)
        return NULL;
    const char *path = store_text(im, "%.*s/kcore", (int)(n - k), list_path);
    struct symfile *f = symfile_open(&s->files, path);
    if (!f || f->err.code == ERR_ABSENT)
        return NULL;
    if (f->err.code == ERR_NONE && f->is_elf && f->elf.type == ET_CORE)
        return f;
    store_tried(im, path, f->err.code ? f->err.message : "no copy of a kernel's memory");
    return NULL;
}

struct bytes store_kcore_memory(const struct symfile *copy, uint64_t address) {
    return memory_at(&copy->elf, address);
}

bool store_kcore_matches(struct symbol_store *s, struct store_image *im, const char *list_path,
                         bool *proved) {
    const struct symbol_image *kernel = store_kernel_of(s, im);
    struct symfile *f = kernel ? store_kcore_beside(s, im, list_path) : NULL;
    struct object_build_id id;
    if (!f)
        return true;
    const struct object_elf *e = &f->elf;
    if (!memory_at(e, kernel->start).size)
        return refuse(im, f->path,
                      store_text(im, "it has nothing at %#llx, where the recorded kernel was: another boot",
                                 (unsigned long long)kernel->start));
    struct store_landmarks l = find_landmarks(s, list_path);
    const char *other =
        kernel->release && l.banner ? store_other_release(im, memory_at(e, l.banner), kernel->release) : NULL;
    if (other)
        return refuse(im, f->path,
                      store_text(im, "it is %s, the recorded kernel %s", other, kernel->release));
    if (kernel->build_id.size && notes_id(e, &l, &id)) {
        struct bytes found = {id.bytes, id.size};
        if (!bytes_equal(found, kernel->build_id))
            return refuse(im, f->path,
                          store_text(im, "its kernel's build-id is %s, the recorded one's %s",
                                     store_hex(im, found), store_hex(im, kernel->build_id)));
        *proved = *proved || store_id_proves(kernel);
    }
    return true;
}

bool store_kcore_fits(struct symbol_store *s, struct store_image *im, const char *list_path) {
    struct symfile *f = store_kcore_beside(s, im, list_path);
    if (!f)
        return true;
    if (!store_returns_fit(s, im, f->path, &f->elf, code_at, &f->elf))
        return false;
    store_tried(im, f->path, NULL);
    return true;
}

/* ---- the running kernel's ---- */

static bool read_all(const struct os_core *core, uint64_t at, uint8_t *to, size_t n) {
    while (n) {
        int64_t got = core->read(core->ctx, at, to, n);
        if (got <= 0)
            return false;
        at += (uint64_t)got;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

bool store_kcore_read(const struct os_core *core, uint64_t address, uint8_t *to, size_t size,
                      struct err *err) {
    enum { HEAD = 64 << 10 }; /* the ELF header and more segments than any has */
    uint8_t *head = malloc(HEAD);
    int64_t got = head ? core->read(core->ctx, 0, head, HEAD) : 0;
    struct object_elf e;
    struct object_segment s;
    bool found = false,
         ok = got > 0 && object_elf_open((struct bytes){head, (size_t)got}, &e, NULL) && e.type == ET_CORE;
    for (uint32_t i = 0; ok && !found && object_elf_segment(&e, i, &s); i++)
        found = s.type == PT_LOAD && address >= s.vaddr && address - s.vaddr < s.file_size &&
                size <= s.file_size - (address - s.vaddr) &&
                read_all(core, s.offset + (address - s.vaddr), to, size);
    free(head);
    if (!head)
        return err_memory(err, STORE_LIVE_CORE);
    return found ||
           err_set(err, ERR_ABSENT, STORE_LIVE_CORE, "it has nothing at %#llx", (unsigned long long)address);
}

bool store_kcore_read_live(uint64_t address, uint8_t *to, size_t size, struct err *err) {
    struct os_core core;
    if (!os_core_open(STORE_LIVE_CORE, &core, err))
        return false;
    bool ok = store_kcore_read(&core, address, to, size, err);
    core.close(core.ctx);
    return ok;
}

/* ---- in the cache ---- */

static bool is_shown(const char *name) {
    return *name != '.';
}

const char *store_kcore_list(struct symbol_store *s, struct store_image *im, size_t i) {
    const struct symbol_image *kernel = store_kernel_of(s, im);
    const char *symfs = s->options.symfs, *cache = s->options.cache, *path = NULL;
    if (!kernel || kernel->build_id.size < 2 || (!cache && !symfs))
        return NULL;
    const char *folder = store_text(im, "%s%s/[kernel.kcore]/%s", symfs ? symfs : cache,
                                    symfs ? "/.debug" : "", store_hex(im, kernel->build_id));
    char **names = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;
    if (!os_dir_list(folder, is_shown, &names, &count, &err))
        return NULL;
    if (i < count) /* the latest first: their names are dates */
        path = store_text(im, "%s/%s/kallsyms", folder, names[count - 1 - i]);
    for (size_t k = 0; k < count; k++)
        free(names[k]);
    free(names);
    return path;
}
