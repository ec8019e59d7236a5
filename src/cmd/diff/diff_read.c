/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cmd/common/input.h"

/* Takes the n-th of the spans that colons separate; of a single one that is for all files. False: out of
 * memory. */
static bool take_time(struct diff_file *f, const char *all, uint32_t n) {
    f->options.time = all;
    if (!all || !strchr(all, ':'))
        return true;
    for (uint32_t i = 0; i < n && all; i++) {
        all = strchr(all, ':');
        all = all ? all + 1 : NULL;
    }
    f->time = all ? strndup(all, strcspn(all, ":")) : NULL;
    f->options.time = f->time && *f->time ? f->time : NULL;
    return f->time || !all;
}

bool diff_file_read(struct diff_file *f, const struct command_env *env, struct err *err) {
    f->opened = true;
    if (!input_open(&f->recording, f->path, f->options.force, err))
        return false;
    struct perfdata_feature_value value;
    if (perfdata_feature_get(stream_header(f->recording.stream), PERFDATA_FEATURE_CMDLINE, &f->arena, &value))
        f->command = value.cmdline;
    f->session = report_session_new(&f->recording, &f->options, env, err);
    if (!f->session && !*err->where) {
        const struct err why = *err;
        err_set(err, why.code, f->path, "%.300s", why.message);
    }
    return f->session != NULL;
}

bool diff_files_read(struct diff_files *out, const char *const *paths, uint32_t count,
                     const struct diff_options *o, const struct command_env *env, struct err *err) {
    out->list = calloc(count, sizeof *out->list);
    if (!out->list)
        return err_memory(err, "recordings");
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct diff_file *f = &out->list[out->count++];
        f->path = paths[i];
        f->options = o->report;
        ok = (take_time(f, o->report.time, i) || err_memory(err, "--time")) && diff_file_read(f, env, err);
    }
    return ok;
}

void diff_file_fini(struct diff_file *f) {
    report_session_free(f->session);
    if (f->opened)
        recording_close(&f->recording);
    arena_fini(&f->arena);
    free(f->time);
}

void diff_files_free(struct diff_files *f) {
    for (uint32_t i = 0; i < f->count; i++)
        diff_file_fini(&f->list[i]);
    free(f->list);
    *f = (struct diff_files){0};
}

int diff_files_status(const struct diff_files *f) {
    int worst = EXIT_OK;
    for (uint32_t i = 0; i < f->count; i++) {
        int status = input_status(&f->list[i].recording);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static const struct perfdata_attr *attr_of(const struct diff_file *f, const struct profile_event *e) {
    return &f->recording.events->list.items[e->event].attr;
}

static const struct profile_event *event_named(const struct profile *p, const char *name) {
    for (uint32_t i = 0; i < profile_event_count(p); i++)
        if (strcmp(profile_event(p, i)->name, name) == 0)
            return profile_event(p, i);
    return NULL;
}

struct compare_side diff_files_side(const struct diff_files *f, uint32_t file, const char *event) {
    /* PERF_TYPE_*: the numbers of tracepoints, and of what comes after these, are the machine's own. */
    enum { HARDWARE = 0, SOFTWARE = 1, CACHE = 3, RAW = 4 };
    struct compare_side side = {report_session_parts(f->list[file].session).profile, NULL,
                                &f->list[file].command};
    side.event = event_named(side.profile, event);
    const struct profile_event *base = event_named(report_session_parts(f->list[0].session).profile, event);
    if (side.event || !base)
        return side;
    const struct perfdata_attr *want = attr_of(&f->list[0], base);
    bool known = want->type == HARDWARE || want->type == SOFTWARE || want->type == CACHE || want->type == RAW;
    for (uint32_t i = 0; known && i < profile_event_count(side.profile) && !side.event; i++) {
        const struct profile_event *e = profile_event(side.profile, i);
        const struct perfdata_attr *have = attr_of(&f->list[file], e);
        if (have->type == want->type && have->config == want->config)
            side.event = e;
    }
    return side;
}

/* ---- what makes a comparison doubtful ---- */

static bool same_file(const char *one, const char *other) {
    struct stat a, b;
    return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void diff_say_files(const struct diff_files *f) {
    char base[64] = "", other[64] = "";
    perfdata_feature_text(stream_header(f->list[0].recording.stream), PERFDATA_FEATURE_ARCH, base,
                          sizeof base);
    for (uint32_t i = 1; i < f->count; i++) {
        const struct diff_file *x = &f->list[i];
        perfdata_feature_text(stream_header(x->recording.stream), PERFDATA_FEATURE_ARCH, other, sizeof other);
        if (same_file(f->list[0].path, x->path))
            log_line(LOG_WARN, "%s is compared with itself", x->path);
        if (*base && *other && strcmp(base, other) != 0)
            log_line(LOG_WARN, "%s was recorded on %s, %s on %s: the same functions are other code there",
                     f->list[0].path, base, x->path, other);
    }
}

void diff_say_matches(struct compare *c, const struct diff_files *f) {
    const char *text = compare_programs_text(c);
    if (text)
        log_line(LOG_WARN, "%s: --exact compares by name", text);
    for (size_t i = 0; i < c->nameless.count; i++) {
        const char *path = f->list[c->nameless.items[i].side].path;
        log_line(LOG_WARN,
                 "%s: no names in %s, in which other recordings have some: its functions have no partner",
                 path, c->nameless.items[i].object);
    }
}
