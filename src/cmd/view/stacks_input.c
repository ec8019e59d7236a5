/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/stacks_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/input.h"
#include "cmd/view/stacks_file.h"
#include "stacks/wall_clock.h"

void stacks_options_init(struct stacks_options *o, const struct perfconfig *config) {
    *o = (struct stacks_options){.frames = PROFILE_BY_FUNCTION};
    report_options_init(&o->report, config);
}

void stacks_options_fini(struct stacks_options *o) {
    report_options_fini(&o->report);
}

/* Makes report's options those of whole stacks, whatever the configuration says about tables. */
static void settle(struct stacks_options *o) {
    enum { DEEPEST = 4096 }; /* deeper than what the kernel records by any setting */
    struct report_options *r = &o->report;
    r->sort = "comm,dso,sym";
    r->fields = NULL;
    r->children = r->branch_stack = r->group = REPORT_NO;
    r->chain.mode = PROFILE_CHAIN_NONE;
    r->chain.key = o->frames;
    r->max_stack = DEEPEST;
    r->percent_limit = 0;
    r->stacks = true;
    r->moments = o->moments;
}

/* ---- what the recording says of itself ---- */

static uint32_t feature(struct stacks *s, const struct perfdata_header *h, uint32_t id) {
    char text[4096];
    perfdata_feature_text(h, id, text, sizeof text);
    return stacks_text(s, text, strlen(text));
}

/* Returns the recorded command line. */
static uint32_t command_line(struct stacks *s, const struct perfdata_header *h) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    struct out line;
    bool ok = out_init(&line, NULL, NULL);
    if (ok && perfdata_feature_get(h, PERFDATA_FEATURE_CMDLINE, &arena, &value))
        for (uint32_t i = 0; i < value.cmdline.count; i++) {
            out_str(&line, i ? " " : "");
            out_mem(&line, (const char *)value.cmdline.items[i].data, bytes_text_len(value.cmdline.items[i]));
        }
    uint32_t text = ok ? stacks_text(s, line.buf, line.len) : STRPOOL_NONE;
    out_fini(&line);
    arena_fini(&arena);
    return text;
}

/* Sets when the recording began, as far as it says, and how long it took. */
static void date(struct stacks_recording *made, struct recording *r) {
    struct recording_span span = {0};
    recording_header_span(r, &span);
    int64_t captured_s = recording_captured_s(r);
    if (span.last_ns >= span.first_ns)
        made->duration_ns = span.last_ns - span.first_ns;
    uint64_t end_ns = captured_s > 0 ? (uint64_t)captured_s * 1000000000 : 0;
    made->start_ns = end_ns > made->duration_ns ? end_ns - made->duration_ns : end_ns;
}

static bool describe(struct stacks *s, struct recording *r, struct err *err) {
    const struct perfdata_header *h = stream_header(r->stream);
    struct stacks_recording *made = vec_push(&s->recordings);
    const char *path = stream_path(r->stream);
    if (!made)
        return err_memory(err, path);
    made->path = stacks_text(s, path, strlen(path));
    made->host = feature(s, h, PERFDATA_FEATURE_HOSTNAME);
    made->os = feature(s, h, PERFDATA_FEATURE_OSRELEASE);
    made->arch = feature(s, h, PERFDATA_FEATURE_ARCH);
    made->cpu = feature(s, h, PERFDATA_FEATURE_CPUDESC);
    made->cmdline = command_line(s, h);
    date(made, r);
    return made->cmdline != STRPOOL_NONE || err_memory(err, path);
}

/* ---- reading ---- */

/* Adds a line to what whoever looks at the stacks should know. */
static void note(struct stacks *s, const char *format, uint64_t n) {
    char line[256];
    snprintf(line, sizeof line, format, n);
    uint32_t text = stacks_text(s, line, strlen(line)), *item = vec_push(&s->notes);
    if (item && text != STRPOOL_NONE)
        *item = text;
    else if (item)
        s->notes.count--;
}

static bool take(struct stacks *s, struct recording *r, const struct report_session *session,
                 struct err *err) {
    struct report_session_parts parts = report_session_parts(session);
    uint32_t recording = (uint32_t)s->recordings.count, first = (uint32_t)s->events.count;
    if (!describe(s, r, err) || !profile_stacks(parts.profile, recording, s, err) ||
        !stacks_wall_clock(s, first, err) || !stacks_finish(s, err))
        return false;
    if (parts.lost)
        note(s, "%" PRIu64 " samples were lost", parts.lost);
    if (parts.throttled)
        note(s, "the kernel throttled the recording %" PRIu64 " times", parts.throttled);
    return true;
}

/* Reads a file of another tool, if it is one. False: it is not. */
static bool read_other(const char *path, struct stacks *s, int *status) {
    struct stacks_file file;
    struct err err = ERR_INIT;
    if (!stacks_file_open(&file, path, false, &err))
        return false; /* whoever opens a recording says why */
    bool is = file.kind != STACKS_IMPORT_NONE;
    if (is && !stacks_file_read(&file, path, s, status, &err)) {
        command_fail(&err);
        *status = STACKS_FAILED;
    }
    stacks_file_close(&file);
    return is;
}

int stacks_read(struct command_env *env, struct stacks_options *o, const char *path, struct stacks *s,
                struct diff_file *kept) {
    struct diff_file own = {0}, *f = kept ? kept : &own;
    struct err err = ERR_INIT;
    int status = STACKS_FAILED;
    if (!s->texts.entries.count && !stacks_init(s, &err)) {
        command_fail(&err);
        return STACKS_FAILED;
    }
    if (read_other(path, s, &status))
        return status;
    settle(o);
    f->path = path;
    bool ok = report_options_settle(&o->report, &err);
    f->options = o->report;
    f->options.slices = kept != NULL;
    if (ok && diff_file_read(f, env, &err) && take(s, &f->recording, f->session, &err)) {
        status = input_status(&f->recording);
        report_session_warn(f->session);
        if (report_session_interrupted(f->session) && status == EXIT_OK)
            status = EXIT_INTERRUPTED;
    } else {
        command_fail(&err);
    }
    if (!kept)
        diff_file_fini(f);
    return status;
}
