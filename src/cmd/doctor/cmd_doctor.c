/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "cmd/doctor/doctor.h"

/* More than usage and plain failure: what CI looks for. */
enum { EXIT_PROBLEM = 2 };

#define SHOWN_PERCENT 0.5 /* of all frames: objects with fewer are left out without -v */

struct doctor_options {
    bool force, json;
    int verbose;
    const char *input;
    struct doctor_limits limits;
    struct report_options report;
};

static bool take_percent(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    char *end = NULL;
    double percent = negated ? 100 : strtod(value, &end);
    if (!negated && (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100)))
        return err_set(e, ERR_USAGE, row->name, "\"%s\": give a percentage", value);
    *(double *)field = percent;
    return true;
}

#define OWN                      struct doctor_options
#define LIMIT(name, field, help) OPTION_CALL(0, name, OWN, limits.field, "percent", help, take_percent)
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_COUNT('v', "verbose", OWN, verbose, "show what is well, and all objects"),
    OPTION_BOOL(0, "json", OWN, json, "as one line of JSON"),
    LIMIT("max-stale", stale, "a problem from more stale frames on (default: 0)"),
    LIMIT("max-inferred", inferred, "a problem from more inferred frames on (default: 100)"),
    LIMIT("max-unknown", unknown, "a problem from more frames without a name on (default: 100)"),
    LIMIT("max-lost", lost, "a problem from more lost events on (default: 1)"),
    OPTION_STRING('k', "vmlinux", OWN, report.symbol.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "force-image", OWN, report.symbol.force_images, "[object=]file[,...]",
                  "use these files even though nothing proves that they match"),
    OPTION_STRING(0, "kallsyms", OWN, report.symbol.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "symfs", OWN, report.symbol.symfs, "directory",
                  "look for files with symbols under this directory"),
    OPTION_END,
};

/* ---- output ---- */

static uint64_t sum_of(const struct profile_image_grades *g) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        sum += g->frames[i];
    return sum;
}

static struct profile_image_grades all_of(const struct profile_quality *q) {
    struct profile_image_grades all = {.image = MODEL_NONE};
    for (size_t i = 0; i < q->images.count; i++)
        for (unsigned g = 0; g < GRADE_COUNT; g++)
            all.frames[g] += q->images.items[i].frames[g];
    return all;
}

/* Short, unless others have that name, too. */
static const char *name_of(const struct model *m, const struct profile_quality *q, uint32_t image) {
    const char *name = image == MODEL_NONE ? "[unknown]" : model_image(m, image)->short_name;
    for (size_t i = 0; image != MODEL_NONE && i < q->images.count; i++) {
        uint32_t other = q->images.items[i].image;
        if (other != MODEL_NONE && other != image && !strcmp(model_image(m, other)->short_name, name))
            return model_image(m, image)->name;
    }
    return name;
}

static void print_shares(const struct profile_image_grades *g, uint64_t all, struct out *o) {
    uint64_t sum = sum_of(g);
    out_printf(o, "  %6.2f %%", all ? 100.0 * (double)sum / (double)all : 0.0);
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        out_printf(o, "  %6.2f %%", sum ? 100.0 * (double)g->frames[i] / (double)sum : 0.0);
}

static void print_objects(const struct model *m, const struct profile_quality *q, bool every, struct out *o) {
    struct profile_image_grades all = all_of(q);
    uint64_t frames = sum_of(&all), left = 0;
    out_printf(o, "%" PRIu64 " samples, %" PRIu64 " frames\n\n", q->samples, frames);
    if (!frames)
        return;
    out_str(o, "    frames     exact  inferred     stale   unknown  object\n");
    print_shares(&all, frames, o);
    out_str(o, "  all\n");
    for (size_t i = 0; i < q->images.count; i++) {
        const struct profile_image_grades *g = &q->images.items[i];
        if (!every && 100.0 * (double)sum_of(g) < SHOWN_PERCENT * (double)frames) {
            left++;
            continue;
        }
        print_shares(g, frames, o);
        out_printf(o, "  %s\n", name_of(m, q, g->image));
    }
    if (left)
        out_printf(o, "%54s  %" PRIu64 " more with less than half a percent each (-v)\n", "", left);
    out_char(o, '\n');
}

static void print_findings(const struct doctor *d, bool well, struct out *o) {
    size_t shown = 0;
    for (size_t i = 0; i < d->list.count; i++) {
        const struct doctor_finding *f = &d->list.items[i];
        if (f->severity == DOCTOR_OK && !well)
            continue;
        out_left(o, doctor_severity_name(f->severity), strlen(doctor_severity_name(f->severity)), 9);
        out_printf(o, "%s\n", f->text);
        if (f->advice)
            out_printf(o, "         -> %s\n", f->advice);
        shown++;
    }
    if (!shown)
        out_str(o, "nothing is wrong\n");
}

static void json_frames(struct json *j, const struct profile_image_grades *g) {
    json_open(j, "frames", '{');
    for (unsigned i = 0; i < GRADE_COUNT; i++)
        json_number(j, grade_name((enum grade)i), g->frames[i]);
    json_close(j, '}');
}

static void json_objects(const char *path, const struct model *m, const struct profile_quality *q,
                         struct json *j) {
    struct profile_image_grades all = all_of(q);
    json_text(j, "file", path);
    json_number(j, "samples", q->samples);
    json_number(j, "callchains", q->chains);
    json_number(j, "truncated", q->truncated);
    json_number(j, "lost_callers", q->lost_callers);
    json_frames(j, &all);
    json_open(j, "objects", '[');
    for (size_t i = 0; i < q->images.count; i++) {
        uint32_t image = q->images.items[i].image;
        json_open(j, NULL, '{');
        json_text(j, "name", image == MODEL_NONE ? "[unknown]" : model_image(m, image)->name);
        json_frames(j, &q->images.items[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_findings(const struct doctor *d, struct json *j) {
    json_open(j, "findings", '[');
    for (size_t i = 0; i < d->list.count; i++) {
        const struct doctor_finding *f = &d->list.items[i];
        json_open(j, NULL, '{');
        json_text(j, "severity", doctor_severity_name(f->severity));
        json_text(j, "id", f->id);
        json_text(j, "text", f->text);
        if (f->advice)
            json_text(j, "advice", f->advice);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* What a command prints of it; q is NULL for the machine. */
static void print(const struct doctor_options *o, const struct doctor *d, const char *path,
                  const struct model *m, const struct profile_quality *q, struct out *out) {
    if (o->json) {
        struct json *j = &(struct json){.out = out};
        json_open(j, NULL, '{');
        json_number(j, "version", 1);
        if (q)
            json_objects(path, m, q, j);
        json_findings(d, j);
        json_close(j, '}');
        return;
    }
    if (q)
        print_objects(m, q, o->verbose, out);
    print_findings(d, o->verbose || !q, out);
}

static int status_of(const struct doctor *d) {
    for (size_t i = 0; i < d->list.count; i++)
        if (d->list.items[i].severity == DOCTOR_PROBLEM)
            return EXIT_PROBLEM;
    return EXIT_OK;
}

/* ---- the two uses ---- */

static int examine_machine(struct command_env *env, const struct doctor_options *o) {
    struct doctor d = {0};
    struct out out;
    int status = EXIT_ERROR;
    doctor_machine(&d, &sysfs_system, &os_perf_system, &os_proc_system);
    if (command_output(env, &out)) {
        print(o, &d, NULL, NULL, NULL, &out);
        status = command_finish(env, &out, d.failed ? EXIT_ERROR : status_of(&d));
    }
    doctor_fini(&d);
    return status;
}

static int examine_session(struct command_env *env, const struct doctor_options *o, const struct recording *r,
                           const struct report_session *s) {
    struct report_session_parts parts = report_session_parts(s);
    struct profile_quality q = {0};
    struct doctor d = {0};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    if (!profile_quality_find(parts.profile, &q, &err)) {
        status = command_fail(&err);
    } else {
        doctor_recording(&d, r, &parts, &q, &o->limits);
        if (command_output(env, &out)) {
            print(o, &d, stream_path(r->stream), parts.model, &q, &out);
            int problem = status_of(&d), failed = d.failed || !stream_all_read(r->stream);
            status = command_finish(env, &out, failed && problem != EXIT_PROBLEM ? EXIT_ERROR : problem);
        }
    }
    doctor_fini(&d);
    profile_quality_fini(&q);
    return status;
}

/* Whole callchains, no graphs: what `report` does without what it prints. */
static void settle(struct report_options *r) {
    r->sort = "comm";
    r->children = REPORT_NO;
    r->branch_stack = REPORT_NO;
    r->chain.mode = PROFILE_CHAIN_GRAPH;
    r->chain.min_percent = 101;
    r->inlines = false;
}

static int examine_recording(struct command_env *env, struct doctor_options *o, const char *path) {
    struct recording r;
    struct err err = ERR_INIT;
    struct report_session *s = NULL;
    int status = EXIT_ERROR;
    settle(&o->report);
    if (!input_open(&r, path, o->force, &err) || !(s = report_session_new(&r, &o->report, env, &err)))
        status = command_fail(&err);
    else
        status = examine_session(env, o, &r, s);
    report_session_free(s);
    recording_close(&r);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct doctor_options o = {.limits = {.stale = 0, .inferred = 100, .unknown = 100, .lost = 1}};
    int status;
    report_options_init(&o.report, env->config);
    if (command_options(env, &o, 0, &argc, &argv, &status)) {
        command_log(env, o.verbose, false);
        if (argc > 1 || (argc && o.input))
            status = command_usage(env, NULL);
        else if (argc || o.input)
            status = examine_recording(env, &o, argc ? argv[0] : o.input);
        else
            status = examine_machine(env, &o);
    }
    report_options_fini(&o.report);
    return status;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "Check a recording or this machine, and say what to do",
    .usage = (const char *const[]){"doctor [<options>] [<file>]", NULL},
    .options = options,
    .run = run,
};
