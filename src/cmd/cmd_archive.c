/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "cmd/build_ids.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "edit/archive.h"
#include "edit/embed.h"
#include "edit/scrub_file.h"
#include "object/cookie.h"
#include "os/files/output.h"
#include "os/files/place.h"
#include "os/proc/proc.h"
#include "os/sysfs.h"
#include "record/keep/cache_entries.h"
#include "recording/kernel/kernel_maps.h"

enum { PATH_ROOM = 8192 };

struct archive_options {
    bool force, all, embed, scrub, no_lines;
    int verbose;
    const char *output, *exclude;
};

static bool refuse_unpack(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    (void)row, (void)field, (void)value;
    return negated || err_set(e, ERR_UNSUPPORTED, "--unpack", "use tar to unpack: tar xf FILE -C ~/.debug");
}

#define OWN struct archive_options
static const struct option options[] = {
    OPTION_BOOL(0, "all", OWN, all, "include the recording itself"),
    OPTION_BOOL(0, "embed", OWN, embed,
                "write a copy of the recording that contains all it needs to name its samples"),
    OPTION_STRING(0, "exclude-buildids", OWN, exclude, "file",
                  "leave out files whose build-ids are in the first column of this file"),
    OPTION_CALL(0, "unpack", OWN, exclude, NULL, "unpack an archive (not supported: use tar)", refuse_unpack,
                .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "no-lines", OWN, no_lines, "with --embed: leave out source lines and inlined functions"),
    OPTION_BOOL(0, "scrub", OWN, scrub,
                "write such a copy to share: without host name, folders, command lines and addresses"),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_STRING('o', "output", OWN, output, "file",
                  "name of the archive (default: the recording's, with .tar.gz; - is standard output)"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_END,
};

struct session {
    const char *cache; /* may be NULL */
    struct record_cache_entries entries;
    struct os_output output;
    uint64_t written; /* bytes */
    struct archive *archive;
    struct writer excluded;           /* lines that begin with build-ids */
    size_t packed, missing, nameless; /* nameless: nothing recorded identifies them */
};

static bool write_out(void *ctx, struct bytes b, struct err *err) {
    struct session *s = ctx;
    return os_output_put(&s->output, &s->written, b, "archive", err);
}

/* ---- contents ---- */

/* Adds a regular file, under a name in the archive. */
static bool pack_file(struct session *s, const char *from, const char *to, struct err *err) {
    struct os_image image = {0};
    struct os_identity now;
    if (!os_proc_system.identity(NULL, from, &now, err))
        return false;
    struct stat st;
    const struct tar_entry e = {.path = to,
                                .mode = stat(from, &st) == 0 ? (st.st_mode & 0777) | 0600 : 0644,
                                .mtime_s = now.mtime_ns / 1000000000};
    if (!now.size)
        return archive_add(s->archive, &e, image.bytes, err);
    if (!os_proc_system.image(NULL, from, UINT64_MAX, &image, err))
        return false;
    bool ok = archive_add(s->archive, &e, image.bytes, err);
    os_proc_system.release(NULL, &image);
    return ok;
}

static bool pack_list(struct session *s, const char *to, struct err *err) {
    struct writer text = writer_make(false);
    const struct tar_entry e = {.path = to, .mode = 0600};
    bool ok = os_files_real.read(os_files_real.ctx, "/proc/kallsyms", &text, err) &&
              archive_add(s->archive, &e, writer_bytes(&text), err);
    writer_fini(&text);
    return ok;
}

/* Adds the link by which the entry is found; the cache's layout is in record/keep/build_id_cache.h. */
static bool pack_link(struct session *s, const char *name, const char *hex, struct err *err) {
    char path[PATH_ROOM], target[PATH_ROOM];
    snprintf(path, sizeof path, ".build-id/%.2s/%s", hex, hex + 2);
    snprintf(target, sizeof target, "../../%s/%s", name + (*name == '/'), hex);
    const struct tar_entry e = {.path = path, .link = target, .mode = 0777};
    return archive_add(s->archive, &e, (struct bytes){0}, err);
}

/* Adds separate debug information that is installed here, in the place that gdb and distributions use. */
static bool pack_debug(struct session *s, const char *name, const char *hex, struct err *err) {
    char from[PATH_ROOM], to[PATH_ROOM];
    snprintf(from, sizeof from, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
    snprintf(to, sizeof to, "%s/%s/debug", name + (*name == '/'), hex);
    return !os_place_taken(from) || pack_file(s, from, to, err);
}

/* Adds all files of a cache entry. */
static bool pack_entry(struct session *s, const struct record_cache_entry *e, struct err *err) {
    const char *name = e->name + (*e->name == '/');
    struct arena scratch = ARENA_INIT;
    struct sysfs_names files;
    char from[PATH_ROOM], to[PATH_ROOM];
    snprintf(from, sizeof from, "%s/%s/%s", s->cache, name, e->id);
    bool ok = sysfs_system.list(&sysfs_system, from, &scratch, &files, err), debug = false;
    for (size_t i = 0; ok && i < files.count; i++) {
        snprintf(from, sizeof from, "%s/%s/%s/%s", s->cache, name, e->id, files.items[i]);
        snprintf(to, sizeof to, "%s/%s/%s", name, e->id, files.items[i]);
        ok = pack_file(s, from, to, err);
        debug |= !strcmp(files.items[i], "debug");
    }
    arena_fini(&scratch);
    return ok && (debug || pack_debug(s, e->name, e->id, err)) && pack_link(s, e->name, e->id, err);
}

static bool has_id(const char *path, struct bytes id) {
    struct os_image image;
    struct object_build_id now;
    if (!os_proc_system.image(NULL, path, UINT64_MAX, &image, NULL))
        return false;
    bool same = object_is_elf(image.bytes) && object_build_id_read(image.bytes, &now) &&
                bytes_equal((struct bytes){now.bytes, now.size}, id);
    os_proc_system.release(NULL, &image);
    return same;
}

/* Adds what is not, or no longer, in the cache: the file itself if it still has the build-id, or the running
 * kernel's list of symbols. ERR_ABSENT: it has another build-id. */
static bool pack_original(struct session *s, const char *name, const char *hex, struct bytes id,
                          struct err *err) {
    struct object_build_id kernel;
    char to[PATH_ROOM];
    bool is_kernel = !strcmp(name, "[kernel.kallsyms]") &&
                     kernel_maps_kernel_id(&os_files_real, &kernel, NULL) &&
                     bytes_equal((struct bytes){kernel.bytes, kernel.size}, id);
    if (!is_kernel && (*name != '/' || !has_id(name, id)))
        return err_set(err, ERR_ABSENT, name, "neither in the cache, nor in its place with that build-id");
    snprintf(to, sizeof to, "%s/%s/%s", name + (*name == '/'), hex, is_kernel ? "kallsyms" : "elf");
    return (is_kernel ? pack_list(s, to, err)
                      : pack_file(s, name, to, err) && pack_debug(s, name, hex, err)) &&
           pack_link(s, name, hex, err);
}

static bool is_excluded(const struct session *s, const char *hex) {
    size_t n = strlen(hex);
    for (struct bytes left = writer_bytes(&s->excluded); left.size;) {
        const uint8_t *end = memchr(left.data, '\n', left.size);
        size_t line = end ? (size_t)(end - left.data) : left.size;
        if (line >= n && memcmp(left.data, hex, n) == 0 && (line == n || left.data[n] == ' '))
            return true;
        line += end != NULL;
        left = (struct bytes){left.data + line, left.size - line};
    }
    return false;
}

static bool pack_row(struct session *s, const struct buildid_row *row, struct err *err) {
    char hex[2 * OBJECT_BUILD_ID_MAX + 1] = "", name[4096];
    if (row->id.size < 2 || row->id.size > OBJECT_BUILD_ID_MAX || row->name.size >= sizeof name)
        return true;
    for (size_t i = 0; i < row->id.size; i++)
        snprintf(hex + 2 * i, 3, "%02x", row->id.data[i]);
    if (is_excluded(s, hex))
        return true;
    memcpy(name, row->name.data, row->name.size);
    name[row->name.size] = 0;
    const struct record_cache_entry *e = record_cache_find(&s->entries, hex);
    struct err why = ERR_INIT;
    /* The name becomes a path in the archive. */
    bool ok = e ? pack_entry(s, e, err)
              : strstr(name, "/../")
                  ? err_set(&why, ERR_ABSENT, name, "cannot be stored in an archive under this path")
                  : pack_original(s, name, hex, row->id, &why);
    if (ok)
        s->packed++;
    if (ok || e)
        return ok;
    if (why.code != ERR_ABSENT) {
        *err = why;
        return false;
    }
    s->missing++;
    log_line(LOG_INFO, "%s %s: %s", hex, name, why.message);
    return true;
}

/* ---- files without a build-id ---- */

static bool has_cookie(const char *path, const uint8_t cookie[OBJECT_COOKIE_BYTES]) {
    struct os_image image;
    uint8_t now[OBJECT_COOKIE_BYTES];
    if (!os_proc_system.image(NULL, path, UINT64_MAX, &image, NULL))
        return false;
    bool same = object_cookie_read(image.bytes, now) && !memcmp(now, cookie, sizeof now);
    os_proc_system.release(NULL, &image);
    return same;
}

/* Adds a file under its content cookie, by which readers look for it, too. */
static bool pack_by_cookie(struct session *s, const char *name, const struct perfdata_evidence *e,
                           struct err *err) {
    char hex[2 * OBJECT_COOKIE_BYTES + 1], to[PATH_ROOM];
    for (size_t i = 0; i < OBJECT_COOKIE_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", e->cookie[i]);
    if (is_excluded(s, hex))
        return true;
    if (strstr(name, "/../") || !has_cookie(name, e->cookie)) {
        s->missing++;
        log_line(LOG_INFO, "%s: not in its place with the code that was recorded", name);
        return true;
    }
    snprintf(to, sizeof to, "%s/%s/elf", name + 1, hex);
    s->packed++;
    return pack_file(s, name, to, err) && pack_link(s, name, hex, err);
}

/* Adds files that were linked without a build-id, such as Go programs; sonde records what identifies their
 * code. */
static bool pack_others(struct session *s, const struct build_ids *ids, struct err *err) {
    bool ok = true;
    for (uint32_t i = 0; ok && ids->model && i < model_image_count(ids->model); i++) {
        const struct model_image *image = model_image(ids->model, i);
        struct perfdata_evidence e;
        if (!ids->hit[i] || image->kind != MODEL_IMAGE_FILE || *image->name != '/' ||
            model_image_build_id(ids->model, image, NULL).size)
            continue;
        if (model_image_evidence(ids->model, image, &e) && e.has_cookie) {
            ok = pack_by_cookie(s, image->name, &e, err);
            continue;
        }
        s->nameless++;
        log_line(LOG_INFO, "%s: neither a build-id nor anything else that identifies it was recorded",
                 image->name);
    }
    return ok;
}

/* ---- the command ---- */

static bool pack(struct session *s, const struct build_ids *ids, const char *recording, struct err *err) {
    const char *slash = recording ? strrchr(recording, '/') : NULL;
    bool ok = !recording || pack_file(s, recording, slash ? slash + 1 : recording, err);
    for (size_t i = 0; ok && i < ids->list.rows.count; i++)
        ok = pack_row(s, &ids->list.rows.items[i], err);
    return ok && pack_others(s, ids, err) && archive_finish(s->archive, err);
}

static void tell(const struct session *s, const char *output) {
    if (s->missing)
        log_line(LOG_WARN, "%zu file%s not found here as recorded (-v lists them)", s->missing,
                 plural(s->missing));
    if (s->nameless)
        log_line(
            LOG_WARN,
            "%zu file%s left out: no build-id, and nothing else that identifies them, was recorded (-v lists "
            "them)",
            s->nameless, plural(s->nameless));
    if (strcmp(output, "-") != 0)
        log_line(LOG_WARN, "%zu file%s packed; to unpack on the other machine: tar xf %s -C ~/.debug",
                 s->packed, plural(s->packed), output);
}

static bool open_output(struct session *s, const char *output, struct err *err) {
    if (strcmp(output, "-") != 0)
        return os_output_create(output, &s->output, err);
    s->output = os_output_fd(1);
    return true;
}

static int archive(struct command_env *env, const struct archive_options *o, const char *path) {
    struct session s = {.cache = env->buildid_dir, .excluded = writer_make(false)};
    struct recording r;
    struct build_ids ids = {0};
    struct err err = ERR_INIT;
    char name[PATH_ROOM];
    struct copy_sink sink = {write_out, NULL, &s};
    snprintf(name, sizeof name, "%s%s", o->output ? o->output : path, o->output ? "" : archive_suffix());
    bool ok = input_open(&r, path, o->force, &err) && input_check_output(path, name, &err);
    ok = ok && (!o->exclude || os_files_real.read(os_files_real.ctx, o->exclude, &s.excluded, &err));
    if (ok && o->all && stream_is_pipe(r.stream))
        ok = err_set(&err, ERR_USAGE, "--all", "a pipe cannot be read a second time");
    ok = ok && build_ids_collect(&ids, &r, true, &err) &&
         (!s.cache || record_cache_list(s.cache, &s.entries, &err));
    if (ok && !ids.list.rows.count)
        ok = err_set(&err, ERR_ABSENT, path, "it knows no build-ids");
    if (ok && open_output(&s, name, &err)) {
        s.archive = archive_new(&sink, &err);
        ok = s.archive && pack(&s, &ids, o->all ? path : NULL, &err);
        int closed = s.output.close(s.output.ctx);
        if (ok && closed)
            ok = err_errno(&err, -closed, name, "cannot write");
    }
    if (!ok && s.archive && strcmp(name, "-") != 0)
        os_place_remove(name, NULL);
    int status = ok && !err.code ? input_status(&r) : command_fail(&err);
    if (ok && !err.code)
        tell(&s, name);
    archive_free(s.archive);
    writer_fini(&s.excluded);
    record_cache_entries_fini(&s.entries);
    build_ids_fini(&ids);
    recording_close(&r);
    return status;
}

static bool embed_into(struct command_env *env, const struct archive_options *o, const char *path,
                       const char *output, struct edit_embed_counts *counts, struct err *err) {
    struct recording r;
    const struct edit_embed_options with = {.symbols = input_symbols(env, &(struct symbol_options){0}),
                                            .lines = !o->scrub && !o->no_lines};
    bool ok = input_open(&r, path, o->force, err) && edit_embed(&r, &with, output, counts, err);
    recording_close(&r);
    return ok;
}

/* Scrubs a recording that we have just written ourselves. */
static bool scrub_into(const char *path, const char *output, struct err *err) {
    struct recording r;
    uint64_t left_out = 0;
    bool ok = input_open(&r, path, true, err) && edit_scrub_file(&r, output, &left_out, err);
    recording_close(&r);
    if (ok && left_out)
        log_line(LOG_WARN, "%llu records that cannot be read are left out: addresses may stand in them",
                 (unsigned long long)left_out);
    return ok;
}

static int embed(struct command_env *env, const struct archive_options *o, const char *path) {
    struct edit_embed_counts counts;
    struct err err = ERR_INIT;
    char name[PATH_ROOM];
    snprintf(name, sizeof name, "%s%s", o->output ? o->output : path,
             o->output  ? ""
             : o->scrub ? ".scrubbed"
                        : ".embedded");
    char whole[PATH_ROOM + 16];
    snprintf(whole, sizeof whole, "%s%s", name, o->scrub ? ".whole" : "");
    bool ok = input_check_output(path, name, &err) && embed_into(env, o, path, whole, &counts, &err);
    if (ok && o->scrub) {
        ok = scrub_into(whole, name, &err);
        os_place_remove(whole, NULL);
    }
    if (!ok)
        return command_fail(&err);
    if (counts.left_out)
        log_line(LOG_WARN, "%u object%s could not be embedded (-v names %s)", counts.left_out,
                 counts.left_out == 1 ? "" : "s", counts.left_out == 1 ? "it" : "them");
    log_line(LOG_WARN, "%s: %u object%s embedded, %llu bytes larger%s", name, counts.kept,
             counts.kept == 1 ? "" : "s", (unsigned long long)counts.bytes,
             o->scrub ? "; check it before you share it" : "");
    return EXIT_OK;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct archive_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1)
        return command_usage(env, NULL);
    command_log(env, o.verbose, false);
    const char *path = argc ? argv[0] : input_path(NULL);
    if (!o.output && !strcmp(path, "-"))
        return command_usage(env, "name the output with -o");
    o.embed = o.embed || o.scrub;
    if (o.embed && (o.all || o.exclude || !strcmp(path, "-") || (o.output && !strcmp(o.output, "-"))))
        return command_usage(
            env, "--embed and --scrub go from file to file, without --all and --exclude-buildids");
    return o.embed ? embed(env, &o, path) : archive(env, &o, path);
}

const struct command cmd_archive = {
    .name = "archive",
    .summary = "Pack the files that a recording needs",
    .usage = (const char *const[]){"archive [<options>] [<file>]", NULL},
    .options = options,
    .run = run,
};
