/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "recording/head.h"
#include "stream/stream.h"
#include "view/lists/evlist_text.h"

struct evlist_options {
    bool force, freq, group, trace_fields;
    int verbose;
    const char *input;
};

static const struct option options[] = {
    INPUT_FORCE_OPTION(struct evlist_options, force),
    OPTION_BOOL('F', "freq", struct evlist_options, freq, "Show the sample frequency"),
    OPTION_BOOL('g', "group", struct evlist_options, group, "Show event group information"),
    OPTION_STRING('i', "input", struct evlist_options, input, "file", "Input file name"),
    OPTION_COUNT('v', "verbose", struct evlist_options, verbose, "Show all event attr details"),
    OPTION_BOOL(0, "trace-fields", struct evlist_options, trace_fields, "Show tracepoint fields"),
    OPTION_END,
};

static int list(struct command_env *env, struct stream *s, const struct evlist_options *o) {
    struct err err = ERR_INIT;
    struct perfdata_namer names = {0};
    struct out out;
    const struct evlist_text_options text = {
        .freq = o->freq,
        .verbose = o->verbose > 0,
        .group = o->group,
        .trace_fields = o->trace_fields,
        .program = command_program(),
        .attr_names = stream_header(s)->container == PERFDATA_CONTAINER_PIPE,
    };
    int status = EXIT_ERROR;
    if (!recording_read_head(s, &err))
        command_fail(&err);
    else if (!perfdata_namer_init(&names, stream_header(s))) {
        err_memory(&err, stream_path(s));
        command_fail(&err);
    } else if (command_output(env, &out)) {
        evlist_text_write(stream_events(s), &names, &text, &out);
        status = command_finish(env, &out, stream_all_read(s) ? EXIT_OK : EXIT_ERROR);
    }
    perfdata_namer_fini(&names);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct evlist_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, NULL);
    if (o.group && (o.verbose || o.freq))
        return command_usage(env, "--group option is not compatible with other options");
    command_log(env, 0, false);
    struct err err = ERR_INIT;
    const char *path = input_path(o.input);
    struct stream *s =
        input_check(path, o.force, &err) ? stream_open(path, &(struct stream_options){0}, &err) : NULL;
    if (!s)
        return command_fail(&err);
    status = list(env, s, &o);
    stream_close(s);
    return status;
}

const struct command cmd_evlist = {
    .name = "evlist",
    .summary = "List the events of a recording",
    .usage = (const char *const[]){"evlist [<options>]", NULL},
    .options = options,
    .run = run,
};
