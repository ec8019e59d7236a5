/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/build_ids.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "os/files/place.h"
#include "os/proc/proc.h"
#include "os/run/debuginfod.h"
#include "record/keep/cache_entries.h"
#include "record/keep/kcore.h"
#include "recording/kernel/kernel_maps.h"

enum { PATH_ROOM = 4096, SERVERS_TOTAL_MS = 60000 };

struct cache_options {
    bool list, purge_all, force, servers;
    int verbose;
    const char *add, *kcore, *remove, *purge, *update, *missing, *urls, *target;
    uint64_t limit_bytes; /* UINT64_MAX: none */
};

static bool take_size(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    static const char units[] = "BKMGT";
    char *end = NULL;
    double number = negated ? 0 : strtod(value, &end);
    const char *unit = end && *end ? strchr(units, toupper((unsigned char)*end)) : units;
    *(uint64_t *)field = UINT64_MAX;
    if (negated)
        return true;
    if (end == value || number < 0 || number > 1e9 || !unit || (*end && end[1]))
        return err_set(e, ERR_USAGE, row->name, "\"%s\": use a size such as 500M or 2G", value);
    *(uint64_t *)field = (uint64_t)(number * (double)(1ull << 10 * (unit - units)));
    return true;
}

static bool take_servers(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct cache_options *o = (struct cache_options *)((char *)field - offsetof(struct cache_options, urls));
    (void)row, (void)e;
    o->servers = !negated;
    o->urls = value;
    return true;
}

#define OWN struct cache_options
static const struct option options[] = {
    OPTION_STRING('a', "add", OWN, add, "file list", "add these files (separated by commas)"),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_STRING('k', "kcore", OWN, kcore, "file",
                  "add a copy of a kernel's code: /proc/kcore for the running one's"),
    OPTION_BOOL('l', "list", OWN, list, "list what is in the cache"),
    OPTION_STRING('M', "missing", OWN, missing, "file",
                  "list the build-ids of a recording that the cache lacks"),
    OPTION_STRING('p', "purge", OWN, purge, "file list", "remove all versions of these files"),
    OPTION_BOOL('P', "purge-all", OWN, purge_all, "remove everything"),
    OPTION_STRING('r', "remove", OWN, remove, "file list",
                  "remove the entries with the build-ids of these files"),
    OPTION_STRING('u', "update", OWN, update, "file list",
                  "add these files, replacing entries with the same build-ids"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_CALL(0, "limit", OWN, limit_bytes, "size",
                "remove the least recently used files until the cache is no larger than this (500M, 2G)",
                take_size),
    OPTION_CALL(0, "debuginfod", OWN, urls, "urls",
                "download from these servers: debug information of the files that are added and, with -M, "
                "what is missing",
                take_servers, .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING(0, "target-ns", OWN, target, "pid", "paths are those that this process sees"),
    OPTION_END,
};

struct session {
    const struct cache_options *o;
    const char *folder;
    struct record_cache_entries entries;
    struct os_debuginfod *servers; /* NULL: none */
    bool failed;
};

static bool reload(struct session *s, struct err *err) {
    record_cache_entries_fini(&s->entries);
    s->entries = (struct record_cache_entries){0};
    return record_cache_list(s->folder, &s->entries, err);
}

static void put_hex(char *text, size_t room, const uint8_t *bytes, size_t n) {
    *text = 0;
    for (size_t i = 0; i < n && 2 * i + 3 <= room; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- one file ---- */

static const char KALLSYMS[] = "/proc/kallsyms";

struct file {
    char path[PATH_ROOM + 64]; /* to open */
    char name[PATH_ROOM];      /* in the cache */
    struct object_build_id id;
    char hex[2 * OBJECT_BUILD_ID_MAX + 1];
};

static bool read_id(struct file *f, struct err *err) {
    struct os_image image;
    if (!os_proc_system.image(NULL, f->path, UINT64_MAX, &image, err))
        return false;
    bool is_elf = object_is_elf(image.bytes);
    bool found = is_elf && object_build_id_read(image.bytes, &f->id);
    os_proc_system.release(NULL, &image);
    return found ||
           err_set(err, ERR_ABSENT, f->path, is_elf ? "it has no build-id" : "it is not an ELF file");
}

/* Finds a file's name in the cache and its build-id. */
static bool identify(const struct session *s, const char *path, struct file *f, struct err *err) {
    *f = (struct file){0};
    if (!s->o->target && !os_place_real(path, f->name, sizeof f->name, err))
        return false;
    if (s->o->target) {
        if (*path != '/' || strlen(path) >= sizeof f->name)
            return err_set(err, ERR_USAGE, path, "--target-ns needs absolute paths");
        strcpy(f->name, path);
        snprintf(f->path, sizeof f->path, "/proc/%.20s/root%s", s->o->target, path);
    } else {
        strcpy(f->path, f->name);
    }
    bool kernel = !strcmp(f->path, KALLSYMS);
    if (kernel)
        strcpy(f->name, "[kernel.kallsyms]");
    if (!(kernel ? kernel_maps_kernel_id(&os_files_real, &f->id, err) : read_id(f, err)))
        return false;
    put_hex(f->hex, sizeof f->hex, f->id.bytes, f->id.size);
    return true;
}

static void add_debug(struct session *s, const struct file *f) {
    struct err err = ERR_INIT;
    char *path = s->servers ? os_debuginfod_find(s->servers, (struct bytes){f->id.bytes, f->id.size},
                                                 OS_DEBUGINFOD_DEBUGINFO, &err)
                            : NULL;
    if (path && !record_cache_put(s->folder, f->name, f->hex, "debug", path, &err))
        log_line(LOG_WARN, "%s: %s", err.where, err.message);
    else if (s->servers)
        log_line(LOG_INFO, "debug information of %s: %s", f->name, path ? "Ok" : err.message);
    free(path);
}

static bool add_file(struct session *s, const struct file *f, struct err *err) {
    const char *kind = *f->name == '[' ? "kallsyms" : "elf";
    if (!record_cache_put(s->folder, f->name, f->hex, kind, f->path, err))
        return false;
    add_debug(s, f);
    return true;
}

static bool add(struct session *s, struct file *f, struct err *err) {
    bool have = record_cache_find(&s->entries, f->hex);
    bool ok = have || add_file(s, f, err);
    log_line(LOG_INFO, "Adding %s %s: %s", f->hex, f->name, have ? "there already" : ok ? "Ok" : "FAIL");
    return ok;
}

static bool drop(struct session *s, const struct record_cache_entry *e, struct err *err) {
    bool ok = record_cache_drop(s->folder, e, err);
    log_line(LOG_INFO, "Removing %s %s: %s", e->id, e->name, ok ? "Ok" : "FAIL");
    return ok;
}

static bool update(struct session *s, struct file *f, struct err *err) {
    const struct record_cache_entry *e = record_cache_find(&s->entries, f->hex);
    bool ok = (!e || record_cache_drop(s->folder, e, err)) && add_file(s, f, err);
    log_line(LOG_INFO, "Updating %s %s: %s", f->hex, f->name, ok ? "Ok" : "FAIL");
    return ok;
}

static bool remove_same(struct session *s, struct file *f, struct err *err) {
    const struct record_cache_entry *e = record_cache_find(&s->entries, f->hex);
    return e ? drop(s, e, err) : err_set(err, ERR_ABSENT, f->name, "it is not in the cache");
}

/* ---- lists of files ---- */

typedef bool file_fn(struct session *s, struct file *f, struct err *err);

/* Takes the next name off *list. False: there is none. */
static bool next_name(const char **list, char *name, size_t room) {
    while (**list == ',')
        ++*list;
    size_t len = strcspn(*list, ",");
    if (!len)
        return false;
    snprintf(name, room, "%.*s", (int)len, *list);
    *list += len;
    return true;
}

static void fail(struct session *s, const char *what, const char *name, const struct err *err) {
    log_line(LOG_WARN, "Couldn't %s %s: %s", what, name, err->message);
    s->failed = true;
}

static void each_file(struct session *s, const char *list, const char *what, file_fn *fn) {
    char name[PATH_ROOM];
    struct file f;
    while (list && next_name(&list, name, sizeof name)) {
        struct err err = ERR_INIT;
        if (!identify(s, name, &f, &err) || !fn(s, &f, &err) || !reload(s, &err))
            fail(s, what, name, &err);
    }
}

/* Removes all versions of a file, which need not exist any more. */
static void purge(struct session *s, const char *list) {
    char name[PATH_ROOM], real[PATH_ROOM];
    while (list && next_name(&list, name, sizeof name)) {
        struct err err = ERR_INIT;
        bool any = false, ok = true;
        const char *path = os_place_real(name, real, sizeof real, NULL) ? real : name;
        for (size_t i = 0; ok && i < s->entries.list.count; i++) {
            const struct record_cache_entry *e = &s->entries.list.items[i];
            if (strcmp(e->name, path))
                continue;
            any = true;
            ok = drop(s, e, &err);
        }
        if (!any)
            ok = err_set(&err, ERR_ABSENT, name, "it is not in the cache");
        if (!ok || !reload(s, &err))
            fail(s, "purge", name, &err);
    }
}

static void purge_all(struct session *s) {
    for (size_t i = 0; i < s->entries.list.count; i++) {
        struct err err = ERR_INIT;
        if (!drop(s, &s->entries.list.items[i], &err))
            fail(s, "remove", s->entries.list.items[i].name, &err);
    }
}

/* ---- the kernel's memory ---- */

static bool add_kcore(struct session *s, const struct record_kcore *k, struct err *err) {
    struct object_build_id id;
    char hex[2 * OBJECT_BUILD_ID_MAX + 1];
    bool live = strncmp(s->o->kcore, "/proc/", 6) == 0, added = false;
    if (!record_kcore_id(k, &id) && !(live && kernel_maps_kernel_id(&os_files_real, &id, NULL)))
        return err_set(err, ERR_ABSENT, s->o->kcore, "it does not hold the kernel's build-id");
    put_hex(hex, sizeof hex, id.bytes, id.size);
    bool ok = record_kcore_cache(k, s->folder, hex, &added, err);
    log_line(LOG_INFO, "Adding %s [kernel.kcore]: %s", hex, !ok ? "FAIL" : added ? "Ok" : "there already");
    return ok;
}

static void add_memory(struct session *s) {
    struct record_kcore k;
    struct err err = ERR_INIT;
    if (!s->o->kcore)
        return;
    bool open = record_kcore_open(&k, s->o->kcore, &err);
    if (!open || !add_kcore(s, &k, &err))
        fail(s, "add", s->o->kcore, &err);
    if (open)
        record_kcore_close(&k);
}

/* ---- the size ---- */

static int by_use(const void *a, const void *b) {
    const struct record_cache_entry *x = a, *y = b;
    return x->used_ns != y->used_ns ? (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns)
                                    : strcmp(x->id, y->id);
}

static void shrink(struct session *s) {
    uint64_t bytes = 0;
    struct err err = ERR_INIT;
    if (!reload(s, &err)) {
        fail(s, "list", s->folder, &err);
        return;
    }
    for (size_t i = 0; i < s->entries.list.count; i++)
        bytes += s->entries.list.items[i].bytes;
    qsort(s->entries.list.items, s->entries.list.count, sizeof *s->entries.list.items, by_use);
    for (size_t i = 0; i < s->entries.list.count && bytes > s->o->limit_bytes; i++) {
        const struct record_cache_entry *e = &s->entries.list.items[i];
        if (drop(s, e, &err))
            bytes -= e->bytes;
        else
            fail(s, "remove", e->name, &err);
    }
}

/* ---- output ---- */

static void print_entry(struct out *o, const char *id, const char *name, size_t len) {
    out_str(o, id);
    out_char(o, ' ');
    out_mem(o, name, len);
    out_char(o, '\n');
}

/* Fetches an entry's files from a server into the cache. */
static bool fetch(struct session *s, const struct buildid_row *row, const char *hex) {
    struct err err = ERR_INIT;
    char name[PATH_ROOM];
    size_t len = row->name.size < sizeof name ? row->name.size : sizeof name - 1;
    char *path = s->servers ? os_debuginfod_find(s->servers, row->id, OS_DEBUGINFOD_EXECUTABLE, &err) : NULL;
    memcpy(name, row->name.data, len);
    name[len] = 0;
    bool ok = path && *name == '/' && record_cache_put(s->folder, name, hex, "elf", path, &err);
    if (s->servers)
        log_line(LOG_INFO, "%s %s: %s", hex, name, ok ? "downloaded" : err.message);
    free(path);
    return ok;
}

static bool print_missing(struct session *s, struct out *o, struct err *err) {
    struct recording r;
    struct build_ids ids = {0};
    bool ok = input_open(&r, s->o->missing, s->o->force, err) && build_ids_collect(&ids, &r, false, err);
    for (size_t i = 0; ok && i < ids.list.rows.count; i++) {
        const struct buildid_row *row = &ids.list.rows.items[i];
        char hex[2 * OBJECT_BUILD_ID_MAX + 1];
        put_hex(hex, sizeof hex, row->id.data, row->id.size);
        if (row->id.size && !record_cache_find(&s->entries, hex) && !fetch(s, row, hex))
            print_entry(o, hex, (const char *)row->name.data, row->name.size);
    }
    s->failed |= ok && input_status(&r) != EXIT_OK;
    build_ids_fini(&ids);
    recording_close(&r);
    return ok;
}

static int print(struct command_env *env, struct session *s) {
    struct err err = ERR_INIT;
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (size_t i = 0; s->o->list && i < s->entries.list.count; i++)
        print_entry(&out, s->entries.list.items[i].id, s->entries.list.items[i].name,
                    strlen(s->entries.list.items[i].name));
    bool ok = !s->o->missing || print_missing(s, &out, &err);
    int status = command_finish(env, &out, ok ? EXIT_OK : EXIT_ERROR);
    return ok ? status : command_fail(&err);
}

/* ---- the command ---- */

/* Does everything in perf's order: first lists, then changes. */
static int work(struct command_env *env, struct session *s) {
    const struct cache_options *o = s->o;
    struct err err = ERR_INIT;
    int status = EXIT_OK;
    const char *urls = o->urls ? o->urls : getenv("DEBUGINFOD_URLS");
    if (o->servers && urls && *urls && !(s->servers = os_debuginfod_new(urls, SERVERS_TOTAL_MS, &err)))
        return command_fail(&err);
    if (!reload(s, &err))
        return command_fail(&err);
    if (o->list || o->missing)
        status = print(env, s);
    each_file(s, o->add, "add", add);
    add_memory(s);
    each_file(s, o->remove, "remove", remove_same);
    purge(s, o->purge);
    if (o->purge_all)
        purge_all(s);
    each_file(s, o->update, "update", update);
    if (o->limit_bytes != UINT64_MAX)
        shrink(s);
    return status != EXIT_OK ? status : s->failed ? EXIT_ERROR : EXIT_OK;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct cache_options o = {.limit_bytes = UINT64_MAX};
    struct session s = {.o = &o, .folder = env->buildid_dir};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    bool any = o.list || o.purge_all || o.add || o.kcore || o.remove || o.purge || o.update || o.missing ||
               o.limit_bytes != UINT64_MAX;
    if (argc || !any)
        return command_usage(env, NULL);
    command_log(env, o.verbose, false);
    if (!s.folder) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_USAGE, NULL, "there is no folder for the cache: give --buildid-dir");
        return command_fail(&err);
    }
    status = work(env, &s);
    record_cache_entries_fini(&s.entries);
    os_debuginfod_free(s.servers);
    return status;
}

const struct command cmd_buildid_cache = {
    .name = "buildid-cache",
    .summary = "Add, remove and list files in the build-id cache",
    .usage = (const char *const[]){"buildid-cache [<options>]", NULL},
    .options = options,
    .run = run,
};
