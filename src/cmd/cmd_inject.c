/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "edit/aslr.h"
#include "edit/edit_build_ids.h"
#include "edit/edit_jit.h"
#include "edit/kmod.h"
#include "os/files/files.h"
#include "os/rights.h"
#include "os/sysfs.h"
#include "record/keep/sections.h"
#include "record/synth/kernel.h"

struct inject_options {
    const char *input, *output;
    bool force, aslr;
    int verbose;
    struct inject_jit {
        bool wanted;
        enum edit_jit_mode mode;
    } jit;
    const char *jitdump_dir;
    struct inject_kmod {
        bool wanted, rfc;
    } kmod;
    bool build_ids, all_build_ids, map_ids, all_map_ids;
    const char *known_build_ids;
    struct symbol_options symbols;
};

static bool take_jit(const struct option *row, void *field, const char *value, bool negated,
                     struct err *err) {
    static const char *const modes[] = {
        [EDIT_JIT_ONE] = "one", [EDIT_JIT_FILES] = "files", [EDIT_JIT_DROP_ANON] = "drop-anon"};
    struct inject_jit *o = field;
    (void)row;
    *o = (struct inject_jit){!negated, EDIT_JIT_ONE};
    if (negated || !value)
        return true;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(value, modes[i]) == 0) {
            o->mode = (enum edit_jit_mode)i;
            return true;
        }
    return err_set(err, ERR_USAGE, "--jit", "unknown value '%s': use one, files or drop-anon", value);
}

static bool take_kmod(const struct option *row, void *field, const char *value, bool negated,
                      struct err *err) {
    struct inject_kmod *o = field;
    (void)row;
    *o = (struct inject_kmod){!negated, value && strcmp(value, "rfc") == 0};
    return negated || !value || o->rfc ||
           err_set(err, ERR_USAGE, "--kmod-sections", "unknown value '%s': the only one is rfc", value);
}

static const struct option options[] = {
    OPTION_BOOL('b', "build-ids", struct inject_options, build_ids,
                "put build-ids of what samples hit into the output"),
    OPTION_BOOL('B', "mmap2-buildids", struct inject_options, map_ids,
                "put build-ids into maps that samples need, and leave out the others"),
    INPUT_FORCE_OPTION(struct inject_options, force),
    OPTION_STRING('i', "input", struct inject_options, input, "file",
                  "input file name (default: standard input)"),
    OPTION_CALL('j', "jit", struct inject_options, jit, "one|files|drop-anon",
                "make files of the code in jitdumps, and put maps of them into the output", take_jit,
                .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING(0, "jitdump-dir", struct inject_options, jitdump_dir, "directory",
                  "look for jitdumps (jit-PID.dump) in this directory first"),
    OPTION_STRING('k', "vmlinux", struct inject_options, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING('o', "output", struct inject_options, output, "file",
                  "output file name (default: standard output)"),
    OPTION_ABSENT_FLAG('s', "sched-stat", "merge sched_stat and sched_switch"),
    OPTION_COUNT('v', "verbose", struct inject_options, verbose, "be more verbose"),
    OPTION_BOOL(0, "aslr", struct inject_options, aslr,
                "replace all addresses by others that do not reveal the real ones"),
    OPTION_BOOL(0, "buildid-all", struct inject_options, all_build_ids,
                "put build-ids of all DSOs into the output"),
    OPTION_BOOL(0, "mmap2-buildid-all", struct inject_options, all_map_ids, "put build-ids into all maps"),
    OPTION_ABSENT_FLAG(0, "convert-callchain", "turn stack dumps into callchains"),
    OPTION_ABSENT(0, "guest-data", "opts", "merge a guest's recording", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_ABSENT(0, "guestmount", "directory", "where guests' root directories are mounted"),
    OPTION_BOOL(0, "ignore-vmlinux", struct inject_options, symbols.ignore_vmlinux,
                "do not use a vmlinux even if there is one"),
    OPTION_ABSENT(0, "itrace", "opts", "decode instruction traces", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING(0, "kallsyms", struct inject_options, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_CALL(0, "kmod-sections", struct inject_options, kmod, "rfc",
                "put maps of this machine's kernel modules' sections into the output", take_kmod,
                .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING(0, "known-build-ids", struct inject_options, known_build_ids, "list",
                  "build-ids to put in: ID PATH,... or file://FILE with one on each line"),
    OPTION_ABSENT_FLAG(0, "strip", "leave out what --itrace replaced"),
    OPTION_ABSENT(0, "vm-time-correlation", "opts", "correct times of guests",
                  .flags = OPTION_VALUE_OPTIONAL),
    OPTION_END,
};

struct output {
    int fd;
    const char *name;
};

static bool sink_write(void *ctx, struct bytes b, struct err *err) {
    struct output *o = ctx;
    struct command_sink sink = {.fd = o->fd};
    return command_write_fd(&sink, (const char *)b.data, b.size) ||
           err_errno(err, sink.errnum, o->name, "cannot write");
}

static bool sink_patch(void *ctx, uint64_t at, struct bytes b, struct err *err) {
    struct output *o = ctx;
    while (b.size) {
        ssize_t n = pwrite(o->fd, b.data, b.size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, o->name, "cannot write");
        at += (uint64_t)n;
        b.data += n;
        b.size -= (size_t)n;
    }
    return true;
}

/* Opens the output. *regular: earlier output can be overwritten; else the output becomes a pipe recording. */
static bool open_output(const char *path, const char *input, struct output *o, bool *regular,
                        struct err *err) {
    struct stat st;
    bool to_stdout = !path || strcmp(path, "-") == 0;
    o->name = to_stdout ? "standard output" : path;
    if (!to_stdout && !input_check_output(input, path, err))
        return false;
    o->fd = to_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (o->fd < 0)
        return err_errno(err, errno, path, "cannot create");
    if (fstat(o->fd, &st) != 0)
        return err_errno(err, errno, o->name, "cannot examine");
    if (isatty(o->fd))
        return err_set(err, ERR_USAGE, NULL,
                       "a recording is not for a terminal: give a file with -o, or a pipe");
    /* Standard output may be appended to or shared, so it is always written from front to back, as perf does.
     */
    *regular = !to_stdout && S_ISREG(st.st_mode);
    return true;
}

/* Returns the folder of a path. */
static char *folder_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
}

/* Makes the editor for --jit; NULL: it failed. */
static struct edit_jit *find_jit(const struct inject_options *o, struct stream *s, const char *folder,
                                 struct err *err) {
    struct edit_jit_options jit = {.find = {.recording = stream_path(s), .dump_dir = o->jitdump_dir},
                                   .mode = o->jit.mode,
                                   .folder = folder};
    struct edit_jit *j = edit_jit_new(&jit, s, err);
    const struct resolve_jit *found = j ? edit_jit_found(j) : NULL;
    for (size_t i = 0; found && i < resolve_jit_count(found); i++) {
        const struct resolve_jit_dump *d = resolve_jit_dump(found, i);
        if (d->why)
            log_line(LOG_WARN, "%s", d->why);
        if (d->path && d->doubt)
            log_line(LOG_WARN, "%s: %s", d->path, d->doubt);
    }
    return j;
}

static void tell(const struct copy_result *result, const struct edit_jit *jit) {
    if (result->features_left_out)
        log_line(LOG_INFO, "%u header features do not fit into a pipe and were left out",
                 result->features_left_out);
    if (!jit)
        return;
    struct edit_jit_counts c = edit_jit_counts(jit);
    log_line(LOG_INFO,
             "%" PRIu64 " functions in %" PRIu64 " files, %" PRIu64 " maps put in, %" PRIu64 " others cut",
             c.functions, c.files, c.maps, c.trimmed);
}

/* ---- build-ids ---- */

/* Reads the text of --known-build-ids, or the file that it names. */
static bool read_known(const char *text, struct writer *out, struct err *err) {
    static const char file[] = "file://";
    if (!text || strncmp(text, file, sizeof file - 1) == 0)
        return !text || os_files_real.read(os_files_real.ctx, text + sizeof file - 1, out, err);
    writer_put(out, text, strlen(text));
    return writer_ok(out) || err_memory(err, "--known-build-ids");
}

/* A recording that is read twice: once for its mappings, and then to be copied. */
struct identified {
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct writer known;
    struct edit_build_ids *ids; /* NULL: not wanted */
    struct edit_aslr *aslr;     /* likewise */
};

static bool read_maps(struct identified *x, const struct inject_options *o, const char *input,
                      struct err *err) {
    x->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!x->model || !input_open(&x->recording, input, o->force, err))
        return false;
    x->recording.kallsyms = o->symbols.host.kallsyms;
    return recording_first_pass(&x->recording, x->model, NULL, NULL, NULL, err);
}

static bool identify(struct identified *x, const struct command_env *env, const struct inject_options *o,
                     struct err *err) {
    x->known = writer_make(false);
    if (!read_known(o->known_build_ids, &x->known, err) ||
        !input_names(&x->naming, env, &x->recording, x->model, &o->symbols, err))
        return false;
    struct edit_build_ids_options wanted = {.chains = recording_chains(&x->recording, NULL, UINT64_MAX),
                                            .all = o->all_build_ids || o->all_map_ids,
                                            .maps = o->map_ids || o->all_map_ids,
                                            .known = writer_bytes(&x->known)};
    x->ids = edit_build_ids_new(&wanted, x->recording.stream, x->recording.events, x->naming.names, err);
    return x->ids;
}

/* Adds the editor that moves addresses, after that of build-ids, if both are wanted. */
static bool move(struct identified *x, struct err *err) {
    x->aslr =
        edit_aslr_new(x->model, x->recording.stream, x->ids ? edit_build_ids_editor(x->ids) : NULL, err);
    return x->aslr;
}

static void identified_fini(struct identified *x) {
    edit_aslr_free(x->aslr);
    edit_build_ids_free(x->ids);
    recording_names_close(&x->naming);
    model_free(x->model);
    recording_close(&x->recording);
    writer_fini(&x->known);
}

static void tell_ids(const struct edit_build_ids *ids) {
    struct edit_build_ids_counts c = edit_build_ids_counts(ids);
    log_line(LOG_INFO, "%" PRIu64 " build-ids put in, %" PRIu64 " not found", c.injected, c.unknown);
    if (c.dropped)
        log_line(LOG_INFO, "%" PRIu64 " maps that no sample needs left out", c.dropped);
}

static void tell_moved(const struct edit_aslr *aslr) {
    struct edit_aslr_counts c = edit_aslr_counts(aslr);
    const struct {
        enum log_level level;
        uint64_t count;
        const char *what, *why;
    } told[] = {
        {LOG_WARN, c.stacks, "sample", "left out: copies of stacks are full of addresses"},
        {LOG_WARN, c.physical, "sample", "left out: physical addresses cannot be moved"},
        {LOG_WARN, c.raw, "sample", "left out: raw data (the fields of tracepoints) may hold addresses"},
        {LOG_WARN, c.traces, "sample", "left out: AUX data are full of addresses"},
        {LOG_WARN, c.unreadable, "record", "left out: they cannot be read, and may hold addresses"},
        {LOG_WARN, c.breakpoints, "event", "with an address in the name (mem:ADDRESS), which stays"},
        {LOG_INFO, c.others, "other record", "left out: they hold addresses"},
        {LOG_INFO, c.kept_files, "kept file", "left out: they hold addresses"},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i].count)
            log_line(told[i].level, "%" PRIu64 " %s%s %s", told[i].count, told[i].what,
                     told[i].count == 1 ? "" : "s", told[i].why);
    if (c.jit)
        log_line(LOG_WARN, "code that was made at run time loses its names, which go by address: run "
                           "`inject --jit` first to keep those of jitdumps");
}

static int copy_identified(struct command_env *env, const struct inject_options *o, const char *input,
                           bool ids) {
    struct err err = ERR_INIT;
    struct output output = {.fd = -1};
    struct copy_result result;
    struct identified x = {0};
    bool regular = false, ok = false;
    if (read_maps(&x, o, input, &err) && (!ids || identify(&x, env, o, &err)) &&
        (!o->aslr || move(&x, &err)) && open_output(o->output, input, &output, &regular, &err)) {
        struct copy_sink sink = {sink_write, regular ? sink_patch : NULL, &output};
        const struct copy_editor *editor = x.aslr ? edit_aslr_editor(x.aslr) : edit_build_ids_editor(x.ids);
        ok = copy_recording(x.recording.stream, &sink, editor, &result, &err);
    }
    if (ok && x.ids)
        tell_ids(x.ids);
    if (ok && x.aslr)
        tell_moved(x.aslr);
    if (ok)
        tell(&result, NULL);
    if (output.fd >= 0 && output.fd != STDOUT_FILENO && close(output.fd) != 0 && ok)
        ok = err_errno(&err, errno, output.name, "cannot write");
    int status = ok ? (stream_all_read(x.recording.stream) ? EXIT_OK : EXIT_ERROR) : command_fail(&err);
    identified_fini(&x);
    return status;
}

/* ---- modules' sections ---- */

/* True if the recording is of this boot: where things are in the kernel differs in any other. */
static bool is_this_boot(struct recording *r, const struct model *m, struct err *err) {
    struct perfdata_kernel_facts now;
    const struct perfdata_kernel_facts *then = resolve_recorded_kernel(&r->recorded);
    struct record_kernel k;
    struct model_kernel_reference ref;
    static const char what[] = "--kmod-sections";
    record_kernel_facts(&os_proc_system, &now, &k);
    if (*then->boot_id)
        return strcmp(then->boot_id, now.boot_id) == 0 ||
               err_set(err, ERR_USAGE, what, "the recording was made on another boot");
    if (k.hidden || !k.start) {
        char advice[OS_RIGHTS_ROOM];
        return err_set(err, ERR_PERMISSION, what, "the kernel's addresses are hidden: %s",
                       os_rights_show_addresses_here(advice));
    }
    if (!model_kernel_reference(m, MODEL_SPACE_KERNEL, &ref) || !ref.address)
        return err_set(err, ERR_USAGE, what, "the recording does not say where its kernel was");
    const struct perfdata_kernel_symbol *s = now.symbols;
    uint64_t here = strcmp(ref.symbol, k.reference) == 0 ? k.start : 0;
    for (uint32_t i = 0; !here && i < now.symbol_count; i++)
        here = strcmp(s[i].name, ref.symbol) == 0 ? s[i].address : 0;
    struct model_image image = *model_image(m, ref.image);
    struct bytes id = model_image_build_id(m, &image, NULL);
    bool same_kernel = id.size && bytes_equal(id, (struct bytes){now.build_id, now.build_id_size});
    return (same_kernel && here == ref.address) ||
           err_set(err, ERR_USAGE, what, "nothing proves that the recording was made on this boot");
}

static bool read_sections(struct writer *lines, struct err *err) {
    struct record_modules modules;
    bool ok = record_modules_read(&os_proc_system, &modules) &&
              record_sections_encode(&os_proc_system, &sysfs_system, &modules, lines);
    record_modules_fini(&modules);
    return ok || err_memory(err, "modules");
}

static int copy_with_sections(const struct inject_options *o, const char *input) {
    struct err err = ERR_INIT;
    struct output output = {.fd = -1};
    struct copy_result result;
    struct recording r = {0};
    struct edit_kmod *kmod = NULL;
    struct writer lines = writer_make(false);
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, &err);
    bool regular = false, ok = false;
    if (m && input_open(&r, input, o->force, &err) && recording_first_pass(&r, m, NULL, NULL, NULL, &err) &&
        is_this_boot(&r, m, &err) && read_sections(&lines, &err) &&
        (kmod = edit_kmod_new(writer_bytes(&lines), o->kmod.rfc, r.stream, &err)) &&
        open_output(o->output, input, &output, &regular, &err)) {
        struct copy_sink sink = {sink_write, regular ? sink_patch : NULL, &output};
        ok = copy_recording(r.stream, &sink, edit_kmod_editor(kmod), &result, &err);
    }
    if (ok) {
        log_line(LOG_INFO, "maps of %" PRIu64 " sections put in", edit_kmod_count(kmod));
        tell(&result, NULL);
    }
    if (output.fd >= 0 && output.fd != STDOUT_FILENO && close(output.fd) != 0 && ok)
        ok = err_errno(&err, errno, output.name, "cannot write");
    int status = ok ? (stream_all_read(r.stream) ? EXIT_OK : EXIT_ERROR) : command_fail(&err);
    edit_kmod_free(kmod);
    model_free(m);
    recording_close(&r);
    writer_fini(&lines);
    return status;
}

/* ---- the command ---- */

static int copy(const struct inject_options *o, const char *input) {
    struct err err = ERR_INIT;
    struct output output = {.fd = -1};
    struct copy_result result;
    struct edit_jit *jit = NULL;
    bool regular = false, ok = false;
    struct stream_options how = {.keep_compressed = !o->jit.wanted};
    struct stream *s = input_check(input, o->force, &err) ? stream_open(input, &how, &err) : NULL;
    char *folder = folder_of(o->output);
    input_watch(s);
    if (s && open_output(o->output, input, &output, &regular, &err) &&
        (!o->jit.wanted || (jit = find_jit(o, s, folder, &err)))) {
        struct copy_sink sink = {sink_write, regular ? sink_patch : NULL, &output};
        ok = copy_recording(s, &sink, jit ? edit_jit_editor(jit) : NULL, &result, &err);
    }
    if (ok)
        tell(&result, jit);
    if (output.fd >= 0 && output.fd != STDOUT_FILENO && close(output.fd) != 0 && ok)
        ok = err_errno(&err, errno, output.name, "cannot write");
    int status = ok ? (stream_all_read(s) ? EXIT_OK : EXIT_ERROR) : command_fail(&err);
    edit_jit_free(jit);
    stream_close(s);
    free(folder);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct inject_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    command_log(env, o.verbose, false);
    bool ids = o.build_ids || o.all_build_ids || o.known_build_ids || o.map_ids || o.all_map_ids;
    if ((o.map_ids || o.all_map_ids) && (o.build_ids || o.all_build_ids))
        return command_usage(env, "put build-ids either into map records or beside them, not both");
    if (ids && o.jit.wanted)
        return command_usage(env, "--jit and --build-ids cannot be combined: run inject once for each");
    if (o.kmod.wanted && (ids || o.jit.wanted || o.aslr))
        return command_usage(env,
                             "--kmod-sections cannot be combined with the others: run inject once for each");
    if (o.aslr && (o.jit.wanted || o.map_ids || o.all_map_ids))
        return command_usage(env, "--aslr cannot be combined with --jit or build-ids in maps: run inject "
                                  "once for each, --aslr last");
    if (o.kmod.wanted)
        return copy_with_sections(&o, o.input ? o.input : "-");
    if (ids || o.aslr)
        return copy_identified(env, &o, o.input ? o.input : "-", ids);
    return copy(&o, o.input ? o.input : "-");
}

const struct command cmd_inject = {
    .name = "inject",
    .summary = "Copy a recording and add information to it",
    .usage = (const char *const[]){"inject [<options>]", NULL},
    .options = options,
    .run = run,
};
