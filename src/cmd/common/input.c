/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/terminal/progress.h"
#include "cmd/view/stacks_file.h"
#include "format/perfdata/header/header.h"
#include "os/heap.h"
#include "select/filter.h"

#define DEFAULT_INPUT "perf.data"

const char *input_path(const char *given) {
    struct stat st;
    if (given)
        return given;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : DEFAULT_INPUT;
}

bool input_check(const char *path, bool force, struct err *e) {
    if (strcmp(path, "-") == 0)
        return true;
    struct stat st;
    int errnum = stat(path, &st) != 0 ? errno : access(path, R_OK) != 0 ? errno : 0;
    if (errnum) {
        const char *hint = strcmp(path, DEFAULT_INPUT) == 0 ? "  (try 'sonde record' first)" : "";
        enum err_code code = errnum == ENOENT ? ERR_ABSENT : errnum == EACCES ? ERR_PERMISSION : ERR_IO;
        return err_set(e, code, "", "failed to open %s: %s%s", path, strerror(errnum), hint);
    }
    if (!force && st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(e, ERR_PERMISSION, "",
                       "File %s not owned by current user or root (use -f to override)", path);
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        return err_set(e, ERR_BROKEN, "", "zero-sized data (%s), nothing to do!", path);
    return true;
}

bool input_check_output(const char *input, const char *output, struct err *e) {
    struct stat in, out;
    bool same = strcmp(input, "-") != 0 && strcmp(output, "-") != 0 && stat(input, &in) == 0 &&
                stat(output, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    return !same || err_set(e, ERR_USAGE, output, "is the input file too: use another name for the output");
}

static void warn(void *ctx, const struct err *err) {
    (void)ctx;
    log_line(LOG_WARN, "%s: %s", err->where, err->message);
}

void input_watch(struct stream *s) {
    if (!s)
        return;
    const char *slash = strrchr(stream_path(s), '/');
    char what[128];
    snprintf(what, sizeof what, "reading %s", slash ? slash + 1 : stream_path(s));
    progress_start(what, "");
    stream_watch(s, progress_tick, NULL);
}

/* What cannot be opened as a recording may be stacks of another tool, which some commands do read. */
static void point_to_view(const char *path, struct err *err) {
    struct stacks_file file;
    enum stacks_import_kind kind = STACKS_IMPORT_NONE;
    if (err->code == ERR_BROKEN && stacks_file_open(&file, path, false, NULL)) {
        kind = file.kind;
        stacks_file_close(&file);
    }
    if (kind != STACKS_IMPORT_NONE)
        err_set(err, ERR_UNSUPPORTED, path, "not a perf.data file; if it holds %s, `sonde view` shows them",
                stacks_import_kind_name(kind));
}

bool input_open(struct recording *r, const char *path, bool force, struct err *err) {
    static const struct recording_owner owner = {.warn = warn, .give_back = os_heap_give_back};
    *r = (struct recording){0};
    if (!input_check(path, force, err))
        return false;
    os_heap_prepare();
    struct stream *s = stream_open(path, &(struct stream_options){0}, err);
    input_watch(s);
    if (recording_open(r, s, &owner, err))
        return true;
    point_to_view(path, err);
    return false;
}

bool input_check_cpus(const struct recording *r, struct err *err) {
    return filter_knows_cpus(r->events) ||
           err_set(err, ERR_ABSENT, NULL, "File does not contain CPU events. Remove -C option to proceed.");
}

struct symbol_options input_symbols(const struct command_env *env, const struct symbol_options *o) {
    struct symbol_options options = *o;
    options.cache = env->buildid_dir;
    options.own_cache = env->own_cache;
    options.debuginfod_urls = env->debuginfod_urls;
    return options;
}

bool input_names(struct recording_names *n, const struct command_env *env, struct recording *r,
                 const struct model *m, const struct symbol_options *o, struct err *err) {
    const struct symbol_options options = input_symbols(env, o);
    return recording_names_open(n, r, m, &options, err);
}

void input_warn_jitdumps(const struct recording *r) {
    enum { SHOWN = 3 };
    size_t bad = 0;
    for (size_t i = 0; r->jit && i < resolve_jit_count(r->jit); i++)
        if (resolve_jit_dump(r->jit, i)->why && bad++ < SHOWN)
            log_line(LOG_WARN, "%s", resolve_jit_dump(r->jit, i)->why);
    if (bad > SHOWN)
        log_line(LOG_WARN, "%zu more jitdumps cannot be used: sonde doctor tells", bad - SHOWN);
}

bool input_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                      recording_seen_fn *seen, void *ctx, struct err *err) {
    if (!recording_first_pass(r, m, span, seen, ctx, err))
        return false;
    input_warn_jitdumps(r);
    return true;
}

struct header_text_options input_header_options(struct recording *r, bool full) {
    struct header_text_options h = {
        .full = full, .captured_s = recording_captured_s(r), .ending = stream_ending(r->stream)};
    if (stream_is_pipe(r->stream) || stream_header_times(r->stream, &h.first_ns, &h.last_ns) ||
        !perfdata_header_feature(stream_header(r->stream), PERFDATA_FEATURE_SAMPLE_TIME))
        return h;
    struct recording_span span = recording_sample_span(r);
    if (span.first_ns <= span.last_ns) {
        h.first_ns = span.first_ns;
        h.last_ns = span.last_ns;
    }
    return h;
}

int input_status(const struct recording *r) {
    const struct stream_losses *l = stream_losses(r->stream);
    char lost[STREAM_LOST_ROOM];
    if (l->lost_events || l->lost_samples)
        log_line(LOG_WARN, "%s: the recorder lost %s", stream_path(r->stream), stream_lost_text(l, lost));
    if (l->unknown_ids)
        log_line(LOG_WARN, "%s: %" PRIu64 " samples belong to no known event and are not shown",
                 stream_path(r->stream), l->unknown_ids);
    return stream_all_read(r->stream) ? EXIT_OK : EXIT_ERROR;
}
