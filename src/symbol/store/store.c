/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/machine.h"
#include "symbol/store/store_internal.h"

#include <stdio.h>

#include "object/cookie.h"
#include "os/files/files.h"
#include "os/proc/host.h"
#include "os/proc/proc.h"

enum { SERVERS_TOTAL_MS = 10000 };

struct symbol_store *symbol_store_new(const struct symbol_options *options, struct err *err) {
    struct symbol_store *s = calloc(1, sizeof *s);
    bool files = s && symfile_cache_init(&s->files, err);
    bool lock = files && pthread_mutex_init(&s->lock, NULL) == 0;
    unsigned total_ms = options->debuginfod_total_ms ? options->debuginfod_total_ms : SERVERS_TOTAL_MS;
    if (lock && options->debuginfod_urls)
        s->servers = os_debuginfod_new(options->debuginfod_urls, total_ms, err);
    if (!lock || (options->debuginfod_urls && !s->servers)) {
        err_memory(err, "symbols");
        if (lock)
            pthread_mutex_destroy(&s->lock);
        if (files)
            symfile_cache_fini(&s->files);
        free(s);
        return NULL;
    }
    s->options = *options;
    if (!store_kept_init(s)) {
        err_memory(err, "symbols");
        symbol_store_free(s);
        return NULL;
    }
    return s;
}

static void image_free(struct store_image *im) {
    symbol_table_free(im->owned);
    object_cfi_free(im->frames);
    writer_fini(&im->built);
    vec_fini(&im->tries);
    arena_fini(&im->texts);
    free(im);
}

void symbol_store_free(struct symbol_store *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->images.count; i++)
        image_free(s->images.items[i]);
    vec_fini(&s->images);
    symfile_cache_fini(&s->files);
    store_kept_fini(s);
    kernel_list_free(s->kernel.list);
    os_map_fini(&s->kernel.map);
    os_debuginfod_free(s->servers);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Replaces a text by a copy. False: it is NULL, or memory. */
static bool copy_text(struct arena *a, const char **text) {
    if (*text)
        *text = arena_strndup(a, *text, strlen(*text));
    return *text != NULL;
}

uint32_t symbol_store_add(struct symbol_store *s, const struct symbol_image *image) {
    struct store_image *im = calloc(1, sizeof *im), **slot = NULL;
    bool ok = im != NULL;
    if (ok) {
        im->known = *image;
        im->known.build_id = arena_copy(&im->texts, image->build_id);
        if (image->evidence) {
            im->evidence = *image->evidence;
            im->known.evidence = &im->evidence;
        }
        struct bytes parts = {(const uint8_t *)image->parts, image->part_count * sizeof *image->parts};
        im->known.parts = (const struct symbol_part *)(const void *)arena_copy(&im->texts, parts).data;
        ok = (im->known.parts || !parts.size) && copy_text(&im->texts, &im->known.name) &&
             (!image->reference || copy_text(&im->texts, &im->known.reference)) &&
             (!image->release || copy_text(&im->texts, &im->known.release)) &&
             (!image->build_id.size || im->known.build_id.data) && (slot = vec_push(&s->images));
    }
    if (!ok) {
        if (im)
            image_free(im);
        return SYMBOL_NONE;
    }
    *slot = im;
    return (uint32_t)(s->images.count - 1);
}

/* ---- what loaders share ---- */

const char *store_text(struct store_image *im, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    const char *copy = arena_strndup(&im->texts, text, len);
    return copy ? copy : "";
}

void store_tried(struct store_image *im, const char *path, const char *why) {
    struct symbol_try *t = vec_push(&im->tries);
    if (t)
        *t = (struct symbol_try){path, why};
}

bool store_fail(struct store_image *im, enum symbol_status status, const char *path, const char *text) {
    if (im->source.status != SYMBOL_ABSENT && im->source.status != SYMBOL_FOUND)
        return false;
    im->source.status = status;
    im->source.path = path;
    im->source.text = text;
    return false;
}

bool store_fail_err(struct store_image *im, const char *path, const struct err *err) {
    enum symbol_status status = err->code == ERR_ABSENT       ? SYMBOL_ABSENT
                                : err->code == ERR_PERMISSION ? SYMBOL_HIDDEN
                                : err->code == ERR_MEMORY     ? SYMBOL_NO_MEMORY
                                                              : SYMBOL_BROKEN;
    const char *text = store_text(im, "%s", err->message);
    store_tried(im, path, text);
    return store_fail(im, status, path, text);
}

bool store_found(struct store_image *im, enum symbol_origin origin, const char *path, bool proved) {
    im->source.status = SYMBOL_FOUND;
    im->source.origin = origin;
    im->source.path = path;
    im->source.proved = proved;
    im->source.text = NULL;
    if (path)
        store_tried(im, path, NULL);
    return true;
}

const char *store_hex(struct store_image *im, struct bytes build_id) {
    char text[2 * OBJECT_BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < build_id.size && i < OBJECT_BUILD_ID_MAX; i++)
        snprintf(text + 2 * i, 3, "%02x", build_id.data[i]);
    return store_text(im, "%s", text);
}

const char *store_cache_path(const struct symbol_store *s, struct store_image *im, const char *file) {
    const char *symfs = s->options.symfs, *cache = s->options.cache;
    const struct perfdata_evidence *e = im->known.evidence;
    struct bytes id = im->known.build_id;
    if (!id.size && e && e->has_cookie) /* `archive` stores it under this key */
        id = (struct bytes){e->cookie, sizeof e->cookie};
    if (id.size < 2 || (!cache && !symfs))
        return NULL;
    const char *hex = store_hex(im, id);
    /* With --symfs perf 7.2 uses the cache there and not the user's. */
    return symfs ? store_text(im, "%s/.debug/.build-id/%.2s/%s/%s", symfs, hex, hex + 2, file)
                 : store_text(im, "%s/.build-id/%.2s/%s/%s", cache, hex, hex + 2, file);
}

const char *store_host_path(const struct symbol_store *s, struct store_image *im, const char *path) {
    return s->options.symfs ? store_text(im, "%s%s%s", s->options.symfs, *path == '/' ? "" : "/", path)
                            : path;
}

/* Whether the recording was made on this machine, judged by its host name; without that, `otherwise`. */
static bool recorded_here(struct symbol_store *s, bool otherwise) {
    return s->options.recorded_host ? strcmp(s->options.recorded_host, store_live(s)->name) == 0 : otherwise;
}

bool store_processes_here(struct symbol_store *s) {
    const char *boot = s->options.kernel ? s->options.kernel->boot_id : "";
    const struct store_live *live = store_live(s);
    if (!*boot)
        return recorded_here(s, true);
    return live->boot_size >= strlen(boot) &&
           memcmp(live->boot, boot, strlen(boot)) == 0; /* a newline follows */
}

static bool same_file(const struct os_identity *now, const struct perfdata_file_state *then) {
    return now->dev == then->dev && now->ino == then->ino && now->size == then->size &&
           now->mtime_ns == then->mtime_ns && now->ctime_ns == then->ctime_ns;
}

/*
 * The latest wall-clock time at which the image can have been mapped first. Not all recordings relate their
 * clock to the wall's; but they were complete no earlier than their last sample, and clocks run alike (those
 * that stop while the machine sleeps make this later, which is safe):
 *
 *     mapped ------------- last sample     the recording's clock
 *     |<------ same ------>|
 *     at most this ------- recorded_ns     the wall's
 */
static int64_t mapped_at_most_ns(const struct symbol_store *s, const struct store_image *im) {
    const struct symbol_span *span = s->options.span;
    uint64_t at = im->known.mapped_ns;
    int64_t ns;
    if (!s->options.recorded_ns || !span || !span->last_ns)
        return INT64_MAX;
    at = at < span->first_ns ? span->first_ns : at > span->last_ns ? span->last_ns : at;
    bool senseless = s->options.clock_to_wall_ns
                         ? __builtin_add_overflow(at, s->options.clock_to_wall_ns, &ns)
                         : __builtin_sub_overflow(s->options.recorded_ns, span->last_ns - at, &ns);
    return senseless || ns <= 0 ? INT64_MAX : ns; /* before 1970 */
}

/*
 * Why the file at a path now cannot be what was mapped then, or NULL; nothing of its content was recorded. On
 * the machine of the recording any difference means another file or a changed one; a copy on another machine
 * may differ in all but size. A map event's inode number counts only if the device is the same: overlays show
 * other devices to stat(2). `listed`: the file has a build-id, so it may be in a build-id cache: those
 * consist of links, and link(2) changes the ctime.
 */
static const char *changed(struct symbol_store *s, struct store_image *im, const struct os_identity *now,
                           bool listed) {
    const struct perfdata_evidence *e = im->known.evidence;
    if (e && e->has_state) {
        im->evidenced = same_file(now, &e->state);
        if (im->evidenced)
            return NULL;
        if (now->size != e->state.size)
            return "it is not as long as what was mapped";
        bool here = !s->options.symfs && recorded_here(s, true);
        bool inode = now->dev == e->state.dev && now->ino == e->state.ino;
        return inode || here ? "it changed after it was mapped" : NULL;
    }
    if (s->options.symfs || !recorded_here(s, false))
        return NULL;
    if (im->known.ino && now->dev == im->known.dev && now->ino != im->known.ino)
        return "it is another file than the one that was mapped";
    int64_t recorded = s->options.recorded_ns;
    if (recorded && (now->mtime_ns > recorded || (!listed && now->ctime_ns > recorded)))
        return "it changed after the recording";
    return now->mtime_ns > mapped_at_most_ns(s, im) ? "it changed while it was being recorded" : NULL;
}

/*
 * Why the image's build-id is another file's, or NULL. Stock perf reads build-ids when it closes the
 * recording, at the paths that were mapped. What it read is wrong if the file that has this build-id now was
 * there by then, but is another one (a container's, a chroot's path) or changed after it was mapped. One that
 * was put there later may be a copy.
 */
static const char *listed_of_another(struct symbol_store *s, struct store_image *im, const char *path) {
    struct os_identity now;
    if (!im->known.id_by_name || s->options.symfs || !s->options.recorded_ns || !recorded_here(s, false) ||
        !os_proc_system.identity(NULL, path, &now, NULL) || now.ctime_ns > s->options.recorded_ns)
        return NULL;
    bool other = im->known.ino && now.dev == im->known.dev && now.ino != im->known.ino;
    bool later = now.mtime_ns > mapped_at_most_ns(s, im);
    const struct symfile *f = other || later ? symfile_open(&s->files, path) : NULL;
    if (!f || f->err.code != ERR_NONE || !symfile_has_id(f, im->known.build_id))
        return NULL;
    return other ? "another file had its name when the recording was closed"
                 : "it changed while it was being recorded";
}

bool store_listed_rightly(struct symbol_store *s, struct store_image *im, const char *path) {
    const char *why = listed_of_another(s, im, path);
    if (!why)
        return true;
    store_tried(im, path, why);
    return store_fail(im, SYMBOL_CONTRADICTED, path, why);
}

/* Whether a file may be used for an image without a build-id: the cookie of its code decides, or else its
 * stat(2). */
static bool evidence_allows(struct symbol_store *s, struct store_image *im, const struct symfile *f) {
    const struct perfdata_evidence *e = im->known.evidence;
    uint8_t cookie[OBJECT_COOKIE_BYTES];
    struct os_identity now;
    const char *why = NULL;
    im->evidenced = false;
    if (e && e->has_cookie) {
        im->evidenced = object_cookie_read(f->bytes, cookie) && memcmp(cookie, e->cookie, sizeof cookie) == 0;
        why = im->evidenced ? NULL : "its code is not what was recorded";
    } else if (os_proc_system.identity(NULL, f->path, &now, NULL)) {
        why = changed(s, im, &now, f->id.size != 0);
    }
    if (why) {
        store_tried(im, f->path, why);
        store_fail(im, SYMBOL_CONTRADICTED, f->path, why);
    }
    return !why;
}

/* Whether the recorded machine can have run the file. A guest's machine may be of any kind. */
static bool made_for_that(const struct symbol_store *s, struct store_image *im, const struct symfile *f) {
    bool guest = im->known.space == SYMBOL_GUEST_KERNEL || im->known.space == SYMBOL_GUEST_USER;
    if (guest || !f->is_elf || symbol_machine_fits(s->options.recorded_arch, f->elf.machine))
        return true;
    const char *why =
        store_text(im, "it is for another machine than the recorded %s", s->options.recorded_arch);
    store_tried(im, f->path, why);
    return store_fail(im, SYMBOL_CONTRADICTED, f->path, why);
}

struct symfile *store_open_proved(struct symbol_store *s, struct store_image *im, const char *path) {
    struct bytes want = im->known.build_id;
    struct symfile *f = path ? symfile_open(&s->files, path) : NULL;
    if (!f)
        return NULL;
    if (f->err.code != ERR_NONE) {
        store_fail_err(im, f->path, &f->err);
        return NULL;
    }
    if (want.size && !symfile_has_id(f, want)) {
        const char *hex = store_hex(im, want);
        const char *why = f->id.size ? store_text(im, "its build-id is %s, the recorded file's is %s",
                                                  store_hex(im, (struct bytes){f->id.bytes, f->id.size}), hex)
                                     : store_text(im, "it has no build-id; the recorded file had %s", hex);
        store_tried(im, f->path, why);
        store_fail(im, SYMBOL_CONTRADICTED, f->path, why);
        return NULL;
    }
    if (want.size)
        return f;
    return made_for_that(s, im, f) && evidence_allows(s, im, f) ? f : NULL;
}

const char *store_download(struct symbol_store *s, struct store_image *im, struct bytes build_id,
                           enum os_debuginfod_kind kind) {
    struct err err = ERR_INIT;
    if (!s->servers || !build_id.size)
        return NULL;
    char *path = os_debuginfod_find(s->servers, build_id, kind, &err);
    const char *copy = path ? store_text(im, "%s", path) : NULL;
    if (!path)
        store_tried(im, "debuginfod", store_text(im, "%s", err.message));
    free(path);
    return copy;
}

/* Reads the running kernel's release, build-id and boot at the first call. */
const struct store_live *store_live(struct symbol_store *s) {
    pthread_mutex_lock(&s->lock);
    if (!s->live.known) {
        struct os_host host;
        struct writer notes = writer_make(false);
        os_host_read(&host);
        memcpy(s->live.release, host.release, sizeof s->live.release);
        memcpy(s->live.name, host.name, sizeof s->live.name);
        if (os_files_real.read(os_files_real.ctx, "/sys/kernel/notes", &notes, NULL))
            object_build_id_in_notes(writer_bytes(&notes), &s->live.id);
        writer_clear(&notes);
        if (os_files_real.read(os_files_real.ctx, "/proc/sys/kernel/random/boot_id", &notes, NULL) &&
            notes.size <= sizeof s->live.boot) {
            memcpy(s->live.boot, notes.data, notes.size);
            s->live.boot_size = notes.size;
        }
        writer_fini(&notes);
        s->live.known = true;
    }
    pthread_mutex_unlock(&s->lock);
    return &s->live;
}

/* ---- loading, and its results ---- */

typedef bool load_fn(struct symbol_store *s, struct store_image *im);

static load_fn *const loaders[] = {
    [SYMBOL_IMAGE_FILE] = store_load_file,     [SYMBOL_IMAGE_KERNEL] = store_load_kernel,
    [SYMBOL_IMAGE_MODULE] = store_load_module, [SYMBOL_IMAGE_NAMED] = store_load_named,
    [SYMBOL_IMAGE_VDSO] = store_load_vdso,     [SYMBOL_IMAGE_JIT] = store_load_map,
    [SYMBOL_IMAGE_CODE] = store_load_code,     [SYMBOL_IMAGE_NONE] = NULL,
};

const struct symbol_table *symbol_store_table(struct symbol_store *s, uint32_t image) {
    struct store_image *im = s->images.items[image];
    if (im->asked)
        return im->table;
    im->asked = true;
    im->source.status = SYMBOL_ABSENT;
    load_fn *load = loaders[im->known.kind];
    if (load && load(s, im))
        return im->table;
    if (!im->source.text)
        im->source.text = "no file with its symbols was found";
    enum symbol_status status = im->source.status;
    if (status == SYMBOL_CONTRADICTED || status == SYMBOL_HIDDEN || status == SYMBOL_BROKEN)
        im->warning = store_text(im, "%s%s%s", im->source.path ? im->source.path : "",
                                 im->source.path ? ": " : "", im->source.text);
    return NULL;
}

struct symbol_source symbol_store_source(const struct symbol_store *s, uint32_t image) {
    return s->images.items[image]->source;
}

bool symbol_store_try(const struct symbol_store *s, uint32_t image, size_t i, struct symbol_try *out) {
    const struct store_image *im = s->images.items[image];
    if (i >= im->tries.count)
        return false;
    *out = im->tries.items[i];
    return true;
}

static bool names_come_from(const struct symbol_store *s, const char *path) {
    for (size_t i = 0; i < s->images.count; i++) {
        const struct store_image *im = s->images.items[i];
        const char *file = im->framed ? im->framed->path : im->source.path; /* not a separate debug file */
        if (im->source.status == SYMBOL_FOUND && file && strcmp(file, path) == 0)
            return true;
    }
    return false;
}

bool symbol_store_unused_force(const struct symbol_store *s, size_t *i, char *path, size_t room) {
    const char *all = s->options.force_images ? s->options.force_images : "";
    while (all[*i]) {
        size_t file, n = store_forced_length(all + *i, &file);
        snprintf(path, room, "%.*s", (int)(n - file), all + *i + file);
        *i += n + (all[*i + n] == ',');
        if (!names_come_from(s, path))
            return true;
    }
    return false;
}

const char *symbol_store_servers_trouble(const struct symbol_store *s) {
    return s->servers ? os_debuginfod_trouble(s->servers) : NULL;
}

const char *symbol_store_warning(const struct symbol_store *s, uint32_t image) {
    return s->images.items[image]->warning;
}

/* The unwind tables of JIT code: of the file made of it, whose offsets are its addresses. */
static const struct object_cfi *code_frames(struct symbol_store *s, struct store_image *im) {
    store_code_bytes(s, im);
    pthread_mutex_lock(&s->lock);
    if (!im->frames_asked && im->bytes.code.size)
        im->frames = object_cfi_new(im->bytes.code, (struct bytes){NULL, 0}, NULL);
    im->frames_asked = true;
    const struct object_cfi *frames = im->frames;
    pthread_mutex_unlock(&s->lock);
    return frames;
}

bool symbol_store_frames(struct symbol_store *s, uint32_t image, struct symbol_frames *out) {
    struct store_image *im = s->images.items[image];
    *out = (struct symbol_frames){NULL, NULL};
    if (im->known.kind == SYMBOL_IMAGE_CODE && im->table) {
        out->cfi = code_frames(s, im);
    } else if (im->framed) {
        out->cfi = symfile_frames(im->framed, im->framed_debug);
        out->layout = &im->framed->layout;
    }
    return out->cfi;
}

const char *symbol_store_own_cache(const struct symbol_store *s) {
    return s->options.own_cache;
}

bool symbol_store_raw_names(const struct symbol_store *s) {
    return s->options.raw_names;
}

struct symbol_bytes symbol_store_bytes(const struct symbol_store *s, uint32_t image) {
    struct store_image *im = s->images.items[image];
    if (im->known.kind == SYMBOL_IMAGE_CODE && im->table)
        store_code_bytes((struct symbol_store *)(uintptr_t)s, im);
    return im->bytes;
}

void symbol_store_rest(struct symbol_store *s) {
    symfile_cache_rest(&s->files);
}
