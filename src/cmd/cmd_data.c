/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "format/perfdata/header/feature.h"
#include "resolve/sample.h"
#include "select/time_range.h"
#include "stream/stream_order.h"
#include "view/export/json_convert.h"

struct data_options {
    const char *input, *json, *ctf, *time;
    bool force, all, tod;
    int verbose;
};

#define OWN struct data_options
static const struct option convert_options[] = {
    INPUT_FORCE_OPTION(OWN, force),
    INPUT_OPTION(OWN, input),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_BOOL(0, "all", OWN, all, "Convert all events"),
    OPTION_STRING(0, "time", OWN, time, "str", "Time span of interest (start,stop)"),
    OPTION_STRING(0, "to-ctf", OWN, ctf, "directory", "Convert to CTF format (not there yet)"),
    OPTION_STRING(0, "to-json", OWN, json, "file", "Convert to JSON format"),
    OPTION_BOOL(0, "tod", OWN, tod, "Convert time to wall clock time"),
    OPTION_END,
};

static const char *const convert_usage[] = {"data convert [<options>]", NULL};

/* The state of a conversion. */
struct convert {
    const struct data_options *o;
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct resolve_locator locator;
    struct resolve_samples samples;
    struct time_ranges times;
    struct out out;
    struct command_sink sink;
    struct json_convert json;
    uint64_t skipped;
};

static void write_field(void *ctx, const char *name, const char *value, size_t len) {
    json_convert_member(ctx, name, value, len);
}

static void write_trace(void *ctx, struct json_convert *j, const struct perfdata_attr *attr,
                        const struct perfdata_sample *s) {
    struct convert *c = ctx;
    if (c->recording.formats)
        tracefs_formats_fields(c->recording.formats, attr->config, s->raw, write_field, j);
}

static bool want_sample(void *ctx, const struct stream_record *r) {
    (void)ctx;
    return r->raw.type == PERFDATA_RECORD_SAMPLE && !r->legacy && r->event != PERFDATA_NO_EVENT;
}

static void convert_sample(struct convert *c, const struct stream_record *r) {
    const struct perfdata_event *e = &c->recording.events->list.items[r->event];
    struct perfdata_sample s = {0};
    if (!perfdata_sample_decode(&e->plan, r->raw.body, ~0ull, &s)) {
        stream_bad_record(c->recording.stream, r, "a sample is shorter than its fields");
    } else if (!time_ranges_contain(&c->times, s.time)) {
        c->skipped++;
    } else {
        const struct resolve_sample_at at = {&s, &e->attr, r->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                             recording_when(&c->recording, r)};
        json_convert_sample(&c->json, &at);
    }
}

static bool convert_samples(struct convert *c, struct err *err) {
    struct order order;
    struct stream_record r;
    enum stream_status status;
    json_convert_begin(&c->json, stream_header(c->recording.stream), recording_captured_s(&c->recording));
    order_init(&order, c->recording.stream, want_sample, NULL, false);
    while ((status = order_next(&order, &r, err)) == STREAM_RECORD && !c->out.failed)
        convert_sample(c, &r);
    order_fini(&order);
    json_convert_end(&c->json);
    return status != STREAM_FAILED;
}

static bool apply_times(struct convert *c, struct recording_span span, struct err *err) {
    if (!c->o->time)
        return true;
    recording_header_span(&c->recording, &span);
    if (span.first_ns > span.last_ns)
        span = (struct recording_span){0, 0};
    return time_ranges_parse(c->o->time, span.first_ns, span.last_ns, &c->times, err);
}

/* Prepares finding and naming frames; opens no file yet. */
static bool open_names(struct convert *c, const struct command_env *env, struct err *err) {
    const struct symbol_options symbols = {0};
    if (!input_names(&c->naming, env, &c->recording, c->model, &symbols, err))
        return false;
    c->locator.model = c->model;
    c->samples = (struct resolve_samples){.locator = &c->locator, .names = c->naming.names};
    c->samples.chain.o = recording_chains(&c->recording, c->naming.names, RESOLVE_CHAIN_USUAL);
    return true;
}

static bool prepare(struct convert *c, const struct command_env *env, struct err *err) {
    struct recording_span span;
    if (!input_open(&c->recording, input_path(c->o->input), c->o->force, err))
        return false;
    c->model = model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err);
    c->json = (struct json_convert){
        .out = &c->out, .model = c->model, .frames = &c->samples, .trace = write_trace, .trace_ctx = c};
    return c->model && recording_jitdumps(&c->recording, NULL, NULL, err) &&
           input_first_pass(&c->recording, c->model, &span, NULL, NULL, err) && apply_times(c, span, err) &&
           open_names(c, env, err);
}

static bool open_output(struct convert *c, struct err *err) {
    const char *path = c->o->json;
    if (c->o->force && !input_check_output(stream_path(c->recording.stream), path, err))
        return false;
    c->sink.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (c->o->force ? O_TRUNC : O_EXCL), 0666);
    if (c->sink.fd < 0 && errno == EEXIST)
        return err_set(err, ERR_USAGE, path, "Output file exists. Use --force to overwrite it.");
    if (c->sink.fd < 0)
        return err_errno(err, errno, path, "cannot create");
    return out_init(&c->out, command_write_fd, &c->sink) || err_memory(err, path);
}

/* Flushes and closes the output. False: not all could be written. */
static bool close_output(struct convert *c, struct err *err) {
    if (c->sink.fd < 0)
        return true;
    bool ok = !c->out.buf || out_flush(&c->out);
    int errnum = c->sink.errnum;
    if (close(c->sink.fd) != 0 && ok) {
        errnum = errno;
        ok = false;
    }
    return ok || err_errno(err, errnum, c->o->json, "cannot write");
}

static int to_json(struct command_env *env, const struct data_options *o) {
    struct convert c = {.o = o, .sink = {.fd = -1}};
    struct err err = ERR_INIT;
    bool ok = prepare(&c, env, &err) && open_output(&c, &err) && convert_samples(&c, &err);
    ok = close_output(&c, ok ? &err : NULL) && ok;
    int status = EXIT_ERROR;
    if (ok) {
        status = input_status(&c.recording);
        fprintf(stderr, "[ %s data convert: Converted '%s' into JSON data '%s' ]\n", env->program,
                stream_path(c.recording.stream), o->json);
        fprintf(stderr, "[ %s data convert: Converted and wrote %.3f MB (%" PRIu64 " samples) ]\n",
                env->program, (double)c.out.total / 1024.0 / 1024.0, c.json.samples);
        if (c.skipped)
            fprintf(stderr, "[ %s data convert: Skipped %" PRIu64 " samples ]\n", env->program, c.skipped);
    } else {
        status = command_fail(&err);
    }
    if (c.out.buf)
        out_fini(&c.out);
    time_ranges_fini(&c.times);
    resolve_samples_fini(&c.samples);
    resolve_locator_fini(&c.locator);
    recording_names_close(&c.naming);
    model_free(c.model);
    recording_close(&c.recording);
    return status;
}

static int convert(struct command_env *env, int argc, char **argv) {
    struct data_options o = {0};
    struct err err = ERR_INIT;
    int status;
    if (!command_verb_options(env, convert_options, convert_usage, &o, &argc, &argv, &status))
        return status;
    command_log(env, o.verbose, false);
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o.json && o.ctf)
        err_set(&err, ERR_USAGE, NULL, "You cannot specify both --to-ctf and --to-json.");
    else if (o.ctf)
        err_set(&err, ERR_UNSUPPORTED, NULL, "data convert --to-ctf is not there yet");
    else if (!o.json)
        err_set(&err, ERR_USAGE, NULL, "You must specify one of --to-ctf or --to-json.");
    else if (o.all || o.tod)
        err_set(&err, ERR_UNSUPPORTED, NULL, "--%s is currently unsupported for JSON output.",
                o.all ? "all" : "tod");
    return err.code ? command_fail(&err) : to_json(env, &o);
}

static int run(struct command_env *env, int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "convert"))
        return convert(env, argc - 1, argv + 1);
    struct data_options o = {0};
    int status;
    if (argc > 1 && argv[1][0] != '-')
        return command_usage(env, "unknown command: %s", argv[1]);
    if (!command_options(env, &o, 0, &argc, &argv, &status)) /* -h */
        return status;
    return command_usage(env, NULL);
}

const struct command cmd_data = {
    .name = "data",
    .summary = "Convert a recording to other formats",
    .usage = convert_usage,
    .options = convert_options,
    .run = run,
};
