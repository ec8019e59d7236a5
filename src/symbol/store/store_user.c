/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the names of user code: from files, the vdso, perf maps that JITs write, and records themselves. */
#include "symbol/store/store_kernel.h"

#include "base/radix.h"
#include "format/perfmap/perfmap.h"
#include "object/links.h"
#include "os/files/files.h"
#include "os/proc/host.h"
#include "symbol/elf_symbols.h"
#include <elf.h>
#include <stdio.h>

/* ---- from an ELF file to a table ---- */

/* The end of the segment that contains the offset. */
static uint64_t segment_end(const void *ctx, uint64_t start) {
    const struct object_layout *l = ctx;
    for (uint32_t i = 0; i < l->count; i++)
        if (start - l->by_offset[i].offset < l->by_offset[i].size)
            return l->by_offset[i].offset + l->by_offset[i].size;
    return start;
}

/* Adds the symbols of MiniDebugInfo: only functions that .dynsym lacks. */
static bool add_mini(struct symfile *f, struct symbol_drafts *d, struct err *err) {
    struct bytes bytes;
    struct object_elf mini;
    struct err absent = ERR_INIT;
    if (!object_minidebug_read(&f->elf, &f->unpacked, &bytes, &absent) ||
        !object_elf_open(bytes, &mini, &absent))
        return absent.code != ERR_MEMORY || err_memory(err, f->path);
    size_t before = d->list.count;
    bool ok = elf_symbols_add(&mini, SHT_SYMTAB, elf_symbols_in_file, &f->layout, d, err) ||
              err->code == ERR_ABSENT;
    for (size_t i = before; i < d->list.count; i++)
        d->list.items[i].flags |= SYMBOL_MINIDEBUG;
    return ok;
}

/* Adds the fullest list of symbols there is: the debug file's, else the file's own, else what a stripped file
 * still has. */
static bool add_all(struct symfile *f, const struct symfile *debug, struct symbol_drafts *d,
                    struct err *err) {
    const struct object_elf *full = debug && elf_symbols_has(&debug->elf, SHT_SYMTAB) ? &debug->elf
                                    : elf_symbols_has(&f->elf, SHT_SYMTAB)            ? &f->elf
                                                                                      : NULL;
    if (full ? !elf_symbols_add(full, SHT_SYMTAB, elf_symbols_in_file, &f->layout, d, err)
             : !add_mini(f, d, err))
        return false;
    if (!full && !elf_symbols_add(&f->elf, SHT_DYNSYM, elf_symbols_in_file, &f->layout, d, err) &&
        err->code != ERR_ABSENT)
        return false;
    return elf_symbols_add_plt(&f->elf, &f->layout, d, err);
}

/* The table of a file, made once. NULL: out of memory. */
static const struct symbol_table *file_table(const struct symbol_store *s, struct symfile *f,
                                             const struct symfile *debug, struct err *err) {
    pthread_mutex_lock(&f->lock);
    if (!f->table) {
        struct symbol_drafts d = {0};
        struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_BEST,
                                     .limit = segment_end,
                                     .ctx = &f->layout,
                                     .layout = &f->layout,
                                     .raw_names = s->options.raw_names};
        if (s->options.frames_only || add_all(f, debug, &d, err))
            f->table = symbol_table_build(&d, &rules, err);
        symbol_drafts_fini(&d);
    }
    const struct symbol_table *t = f->table;
    pthread_mutex_unlock(&f->lock);
    return t;
}

/* ---- finding the file ---- */

/* Whether a file is to be completed by another: its symbols were moved, or the rest of its debug information
 * (strip -g with a link). */
static bool was_split(const struct symfile *f) {
    struct object_section s;
    return !elf_symbols_has(&f->elf, SHT_SYMTAB) || object_elf_section_named(&f->elf, ".gnu_debuglink", &s);
}

/* Makes the image's table from a file. `path`: the recorded one, relative to which debug links are. */
static bool use_file(struct symbol_store *s, struct store_image *im, struct symfile *f, const char *path,
                     enum symbol_origin origin) {
    struct err err = ERR_INIT;
    if (!f)
        return false;
    if (!f->is_elf) {
        store_tried(im, f->path, "not an ELF file");
        return store_fail(im, SYMBOL_BROKEN, f->path, "not an ELF file");
    }
    bool named = elf_symbols_has(&f->elf, SHT_SYMTAB);
    struct symfile *debug = was_split(f) ? store_find_debug(s, im, f, path) : NULL;
    im->table = file_table(s, f, named ? NULL : debug, &err);
    if (!im->table)
        return store_fail_err(im, f->path, &err);
    im->bytes.code = f->bytes;
    im->framed = f;
    im->framed_debug = debug;
    bool proved = im->evidenced || store_id_proves(&im->known);
    if (!debug)
        return store_found(im, origin, f->path, proved);
    im->bytes.debug = debug->bytes;
    im->debug_path = debug->path;
    return named ? store_found(im, origin, f->path, proved)
                 : store_found(im, SYMBOL_FROM_DEBUG_FILE, debug->path, proved);
}

/* The image's path without " (deleted)", which is no part of it (proc_pid_maps(5)). */
static const char *real_path(struct store_image *im) {
    static const char suffix[] = " (deleted)";
    size_t len = strlen(im->known.name), n = sizeof suffix - 1;
    return im->known.deleted && len > n ? store_text(im, "%.*s", (int)(len - n), im->known.name)
                                        : im->known.name;
}

/* Tries the file in the process's own root, which may be another or have other mounts. The pid may be another
 * process's by now, so the caller must know the image's build-id or cookie. */
static bool use_root(struct symbol_store *s, struct store_image *im, const char *path) {
    if (im->known.pid == UINT32_MAX || s->options.symfs || im->known.space != SYMBOL_USER)
        return false;
    const char *rooted = store_text(im, "/proc/%u/root%s", im->known.pid, path);
    return use_file(s, im, store_open_proved(s, im, rooted), path, SYMBOL_FROM_ROOT);
}

/* Tries what a process that still runs has mapped, whatever became of its name (proc_pid_map_files(5)). */
static bool use_link(struct symbol_store *s, struct store_image *im, const char *path) {
    const struct symbol_image *k = &im->known;
    if (k->pid == UINT32_MAX || s->options.symfs || k->space != SYMBOL_USER || k->end <= k->start)
        return false;
    const char *link = store_text(im, "/proc/%u/map_files/%llx-%llx", k->pid, (unsigned long long)k->start,
                                  (unsigned long long)k->end);
    return use_file(s, im, store_open_proved(s, im, link), path, SYMBOL_FROM_ROOT);
}

/* Tries the file that the recording keeps, which was proved when it was kept. It has the code only if it was
 * kept as a whole. */
static bool use_kept(struct symbol_store *s, struct store_image *im, const char *path) {
    bool whole;
    struct symfile *f = store_kept_image(s, im, &whole);
    im->evidenced = f != NULL;
    if (!f || !use_file(s, im, f, path, SYMBOL_FROM_KEPT))
        return false;
    if (!whole) { /* it may have source lines */
        im->bytes.debug = im->bytes.debug.size ? im->bytes.debug : im->bytes.code;
        im->bytes.code = (struct bytes){0};
    }
    return true;
}

/* Uses `f`, but with the recording's symbols if it was stripped since: its code proves it, but the recording
 * may have kept more symbols. */
static bool use_best(struct symbol_store *s, struct store_image *im, struct symfile *f, const char *path,
                     enum symbol_origin origin) {
    bool whole, bare = f && f->is_elf && !elf_symbols_has(&f->elf, SHT_SYMTAB);
    struct symfile *kept = bare ? store_kept_image(s, im, &whole) : NULL;
    if (!kept || !kept->is_elf || !elf_symbols_has(&kept->elf, SHT_SYMTAB))
        return use_file(s, im, f, path, origin);
    im->evidenced = true;
    if (!use_file(s, im, kept, path, SYMBOL_FROM_KEPT))
        return false;
    im->bytes = (struct symbol_bytes){.code = f->bytes, .debug = kept->bytes}; /* it may have source lines */
    return true;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Tries files that the user vouches for: of that name, or named for this image. */
static bool use_forced(struct symbol_store *s, struct store_image *im, const char *path) {
    const char *rest = s->options.force_images, *forced, *of;
    while ((forced = store_next_forced(im, &rest, &of))) {
        bool meant = of && strchr(of, '/') ? strcmp(of, path) == 0
                                           : strcmp(last_part(of ? of : forced), last_part(path)) == 0;
        struct symfile *f = meant ? symfile_open(&s->files, forced) : NULL;
        struct bytes id = im->known.build_id;
        im->known.build_id = (struct bytes){0};
        im->evidenced = false;
        bool ok = f && f->is_elf && use_file(s, im, f, forced, SYMBOL_FROM_FILE);
        im->known.build_id = id;
        if (ok)
            return true;
    }
    return false;
}

bool store_load_file(struct symbol_store *s, struct store_image *im) {
    const char *path = real_path(im);
    if (use_forced(s, im, path))
        return true;
    if (!store_listed_rightly(s, im, path))
        return false;
    bool cookie = im->known.evidence && im->known.evidence->has_cookie;
    bool identified = im->known.build_id.size != 0 || cookie;
    if (use_best(s, im, store_open_proved(s, im, store_cache_path(s, im, "elf")), path, SYMBOL_FROM_CACHE))
        return true;
    /* Without anything to prove it by, the file at its path now may be any. */
    if (!identified && use_kept(s, im, path))
        return true;
    if (*path != '/')
        return false;
    /* At a deleted file's path there is another file now, unless it proves to be a copy. */
    if (im->known.deleted && !identified) {
        store_tried(im, path, "it was deleted, and what is there now cannot be proved to be the same");
        return false;
    }
    if (im->known.replaced && !identified) {
        static const char why[] = "another file took its name while it was being recorded";
        struct symfile *f = symfile_open(&s->files, store_host_path(s, im, path));
        if (f && f->err.code != ERR_NONE) /* the other file cannot be read either */
            return store_fail_err(im, f->path, &f->err);
        store_tried(im, path, why);
        return store_fail(im, SYMBOL_CONTRADICTED, path, why);
    }
    if (use_best(s, im, store_open_proved(s, im, store_host_path(s, im, path)), path, SYMBOL_FROM_FILE))
        return true;
    if (identified && store_processes_here(s) && use_root(s, im, path))
        return true;
    if (use_kept(s, im, path))
        return true;
    if (identified && im->known.deleted && store_processes_here(s) && use_link(s, im, path))
        return true;
    const char *downloaded = store_download(s, im, im->known.build_id, OS_DEBUGINFOD_EXECUTABLE);
    return use_file(s, im, store_open_proved(s, im, downloaded), path, SYMBOL_FROM_DEBUGINFOD);
}

/* ---- the vdso ---- */

/* Loads the vdso. It is part of the kernel, whose build-id proves it if its own was not recorded. */
bool store_load_vdso(struct symbol_store *s, struct store_image *im) {
    struct bytes want = im->known.build_id;
    const struct symbol_image *kernel = store_kernel_of(s, im);
    /* Recordings of user space alone may have no kernel's map. */
    struct symbol_image unmapped = {.space = SYMBOL_KERNEL, .release = im->known.release};
    bool proved;
    if (im->known.space != SYMBOL_USER)
        return false;
    if (use_file(s, im, store_open_proved(s, im, store_cache_path(s, im, "vdso")), im->known.name,
                 SYMBOL_FROM_CACHE))
        return true;
    struct bytes own = os_host_vdso();
    struct symfile *f = own.size ? symfile_borrow(&s->files, "[vdso]", own) : NULL;
    const char *why = !f          ? "this kernel has none"
                      : want.size ? (symfile_has_id(f, want) ? NULL : "this kernel's is another one")
                                  : store_not_running(s, im, kernel ? kernel : &unmapped, &proved);
    if (why) {
        store_tried(im, im->known.name, why);
        return store_fail(im, SYMBOL_ABSENT, NULL, why);
    }
    if (!use_file(s, im, f, im->known.name, SYMBOL_FROM_SELF))
        return false;
    im->source.proved = want.size ? store_id_proves(&im->known) : proved;
    return true;
}

/* ---- perf-PID.map ---- */

/* The end of a symbol without a size: such a line names a single byte. */
static uint64_t one_byte(const void *ctx, uint64_t start) {
    (void)ctx;
    return start;
}

static bool add_map_lines(struct writer *text, struct symbol_drafts *d) {
    writer_u8(text, 0);
    if (!writer_ok(text))
        return false;
    d->text = (char *)text->data;
    struct bytes rest = {text->data, text->size - 1};
    *text = (struct writer){0};
    for (struct perfmap_symbol p; perfmap_next(&rest, &p);) {
        struct symbol_draft *to = vec_push(&d->list);
        if (!to)
            return false;
        char *name = (char *)(uintptr_t)p.name.data;
        name[p.name.size] = 0; /* the end of the line */
        uint64_t end = p.start + p.size;
        *to = (struct symbol_draft){
            .start = p.start, .end = end < p.start ? UINT64_MAX : end, .name = name, .bind = SYMBOL_GLOBAL};
    }
    return true;
}

static uint64_t end_of_line(const struct symbol_draft *d) {
    return d->end > d->start ? d->end : d->start + 1;
}

/* Marks lines that overlap one with another name that begins no later. */
static void mark_behind(const struct symbol_draft *list, const struct radix_item *by_start, size_t n,
                        bool *doubtful) {
    /* The line that reaches furthest, and the furthest one with another name than that. */
    const struct symbol_draft *far = NULL, *next = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct symbol_draft *d = &list[by_start[i].value];
        const struct symbol_draft *other = far && !strcmp(far->name, d->name) ? next : far;
        doubtful[by_start[i].value] |= other && end_of_line(other) > d->start;
        if (!far || end_of_line(d) > end_of_line(far)) {
            if (far && strcmp(far->name, d->name))
                next = far;
            far = d;
        } else if (strcmp(far->name, d->name) && (!next || end_of_line(d) > end_of_line(next))) {
            next = d;
        }
    }
}

/* Marks lines that overlap one with another name that begins no earlier. */
static void mark_before(const struct symbol_draft *list, const struct radix_item *by_start, size_t n,
                        bool *doubtful) {
    const struct symbol_draft *behind = NULL, *other = NULL; /* the next line; the next one of another name */
    for (size_t i = n; i-- > 0;) {
        const struct symbol_draft *d = &list[by_start[i].value];
        if (behind && strcmp(behind->name, d->name))
            other = behind;
        doubtful[by_start[i].value] |= other && other->start < end_of_line(d);
        behind = d;
    }
}

/*
 * Drops lines that overlap one with another name: the memory was reused, and as lines have no time, which of
 * them a sample hit is unknown.
 *
 *   7f0000 10 f      dropped: f or h may have run at 7f0008
 *   7f0008 20 h      dropped
 *   7f0040 10 g      kept
 */
static bool drop_doubtful(struct symbol_drafts *d) {
    size_t n = d->list.count, kept = 0;
    struct radix_item *by_start = malloc((n + 1) * sizeof *by_start), *room = malloc((n + 1) * sizeof *room);
    bool *doubtful = calloc(n + 1, sizeof *doubtful), ok = by_start && room && doubtful && n < UINT32_MAX;
    if (ok) {
        for (size_t i = 0; i < n; i++)
            by_start[i] = (struct radix_item){d->list.items[i].start, (uint32_t)i};
        radix_sort(by_start, room, n);
        mark_behind(d->list.items, by_start, n, doubtful);
        mark_before(d->list.items, by_start, n, doubtful);
        for (size_t i = 0; i < n; i++)
            if (!doubtful[i])
                d->list.items[kept++] = d->list.items[i];
        d->list.count = kept;
    }
    free(by_start);
    free(room);
    free(doubtful);
    return ok;
}

static struct symbol_table *newest_table(struct writer *text, bool sure, struct err *err) {
    struct symbol_drafts d = {0};
    struct symbol_table *t = NULL;
    /* Of several lines with the same name the last one has the function's size. */
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_NEWEST, .limit = one_byte, .raw_names = true};
    if (add_map_lines(text, &d) && (!sure || drop_doubtful(&d)))
        t = symbol_table_build(&d, &rules, err);
    else
        err_memory(err, "perf map");
    symbol_drafts_fini(&d);
    return t;
}

/* The table of a process that started before the recording: where lines overlap, the earlier were mostly over
 * by then, so the last one counts. */
static struct symbol_table *old_map_table(struct writer *text, struct err *err) {
    return newest_table(text, false, err);
}

/* The table of a process that began during the recording: of lines that overlap, either may have been hit. */
static struct symbol_table *young_map_table(struct writer *text, struct err *err) {
    return newest_table(text, true, err);
}

static symfile_build_fn *map_table_of(const struct store_image *im) {
    return im->known.young ? young_map_table : old_map_table;
}

/* Adds the symbols in a part, at their offsets in the file in memory. */
static bool add_part(const struct symbol_table *raw, const struct symbol_part *part,
                     struct symbol_drafts *d) {
    uint32_t count = symbol_table_count(raw), low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbol_table_end(raw, middle) <= part->start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && symbol_table_start(raw, low) <= part->last; low++) {
        uint64_t start = symbol_table_start(raw, low), last = symbol_table_end(raw, low) - 1;
        start = start < part->start ? part->start : start;
        last = last > part->last ? part->last : last;
        const char *name = symbol_table_name(raw, low);
        struct symbol_draft draft = {.start = start - part->start + part->offset,
                                     .end = last - part->start + part->offset + 1,
                                     .name = arena_strndup(&d->texts, name, strlen(name))};
        struct symbol_draft *to = last >= start && draft.name ? vec_push(&d->list) : NULL;
        if (to)
            *to = draft;
        else if (last >= start)
            return false;
    }
    return true;
}

/* The table of a file in memory: JITs use one to map the same memory twice, writable and executable. */
static struct symbol_table *memory_table(const struct store_image *im, const struct symbol_table *raw,
                                         struct err *err) {
    struct symbol_drafts d = {0};
    struct symbol_table *t = NULL;
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_NEWEST, .raw_names = true};
    bool ok = true;
    for (size_t i = 0; ok && i < im->known.part_count; i++)
        ok = add_part(raw, &im->known.parts[i], &d);
    if (ok)
        t = symbol_table_build(&d, &rules, err);
    else
        err_memory(err, "perf map");
    symbol_drafts_fini(&d);
    return t;
}

/* Makes a perf map the image's table. `raw`: the map as a table of addresses; `owned`: the same if the image
 * is to own it, else NULL. */
static bool take_map(struct store_image *im, const struct symbol_table *raw, struct symbol_table *owned,
                     struct err *err) {
    im->table = raw;
    im->owned = owned;
    if (!raw || !im->known.part_count)
        return raw;
    im->table = im->owned = memory_table(im, raw, err);
    symbol_table_free(owned);
    return im->table;
}

/* Tries the recording's copy of the map: it was made at the end, not when the samples were taken, so it
 * proves nothing. */
static bool use_kept_map(struct symbol_store *s, struct store_image *im) {
    struct err err = ERR_INIT;
    struct writer text = writer_make(false);
    struct symbol_table *t = store_kept_map(s, im->known.pid, &text) ? map_table_of(im)(&text, &err) : NULL;
    writer_fini(&text);
    return take_map(im, t, t, &err) &&
           store_found(im, SYMBOL_FROM_MAP,
                       store_text(im, "/tmp/perf-%u.map (kept in the recording)", im->known.pid), false);
}

static bool use_map(struct symbol_store *s, struct store_image *im, const char *path) {
    struct err err = ERR_INIT;
    const struct symbol_table *t = symfile_text_table(&s->files, path, map_table_of(im), &err);
    return take_map(im, t, NULL, &err) ? store_found(im, SYMBOL_FROM_MAP, path, false)
                                       : store_fail_err(im, path, &err);
}

/* The pid in the process's innermost pid namespace, which is what a JIT in a container sees: the last one of
 * "NSpid:" in proc_pid_status(5). 0: unknown. */
static unsigned inner_pid(uint32_t pid) {
    char path[64], *line, *last;
    struct writer text = writer_make(false);
    unsigned inner = 0;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    if (os_files_real.read(os_files_real.ctx, path, &text, NULL)) {
        writer_u8(&text, 0);
        line = writer_ok(&text) ? strstr((char *)text.data, "\nNSpid:") : NULL;
        if (line) {
            line[1 + strcspn(line + 1, "\n")] = 0;
            last = strrchr(line, '\t');
            inner = last ? (unsigned)strtoul(last, NULL, 10) : 0;
        }
    }
    writer_fini(&text);
    return inner;
}

bool store_load_map(struct symbol_store *s, struct store_image *im) {
    uint32_t pid = im->known.pid;
    bool proved;
    if (use_kept(s, im, im->known.name)) /* a file in memory: memfd_create(2) */
        return true;
    const char *name = im->known.part_count ? store_text(im, "/tmp/perf-%u.map", pid) : im->known.name;
    if (pid == UINT32_MAX || *name != '/')
        return false;
    if (use_kept_map(s, im))
        return true;
    if (use_map(s, im, store_host_path(s, im, name)))
        return true;
    /* It may be in a container; only if the process can be one of this machine at all. */
    if (s->options.symfs || im->known.space != SYMBOL_USER ||
        store_not_running(s, im, store_kernel_of(s, im), &proved))
        return false;
    unsigned inner = inner_pid(pid);
    return inner && use_map(s, im, store_text(im, "/proc/%u/root/tmp/perf-%u.map", pid, inner));
}

bool symbol_store_refresh(struct symbol_store *s) {
    if (!symfile_forget_changed(&s->files))
        return false;
    for (size_t i = 0; i < s->images.count; i++) {
        struct store_image *im = s->images.items[i];
        if (im->known.kind != SYMBOL_IMAGE_JIT || im->source.origin == SYMBOL_FROM_KEPT)
            continue; /* a file in memory that was kept */
        symbol_table_free(im->owned);
        im->owned = NULL;
        im->asked = false;
        im->table = NULL;
        im->source = (struct symbol_source){0};
        im->tries.count = 0;
        im->warning = NULL;
    }
    return true;
}

/* ---- named by its record ---- */

bool store_load_named(struct symbol_store *s, struct store_image *im) {
    struct err err = ERR_INIT;
    struct symbol_drafts d = {0};
    struct symbol_rules rules = {.raw_names = s->options.raw_names};
    struct symbol_draft *only = vec_push(&d.list);
    if (only) {
        *only = (struct symbol_draft){.end = im->known.end - im->known.start, .name = im->known.name};
        im->table = im->owned = symbol_table_build(&d, &rules, &err);
    }
    symbol_drafts_fini(&d);
    return im->table ? store_found(im, SYMBOL_FROM_RECORD, NULL, true)
                     : store_fail(im, SYMBOL_NO_MEMORY, NULL, "out of memory");
}
