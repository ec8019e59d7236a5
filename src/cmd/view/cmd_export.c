/* SPDX-License-Identifier: Apache-2.0 */
/* A recording's stacks in the formats of other tools. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/view/stacks_input.h"
#include "cmd/view/stacks_output.h"

struct own {
    struct stacks_options in;
    const char *output, *event, *frames;
    const char *base; /* compare with this recording; NULL: do not */
    bool samples;
};

static const struct option options[] = {
    STACKS_OPTION_ROWS(struct own, in),
    OPTION_STRING('o', "output", struct own, output, "file", "write to this file, not to standard output"),
    OPTION_STRING('e', "event", struct own, event, "event",
                  "only this event; by default all, or the first one where the format holds one"),
    OPTION_STRING(0, "frames", struct own, frames, "kind",
                  "what a frame stands for: function, line or address; by default what suits the format"),
    OPTION_BOOL('n', "samples", struct own, samples, "weights are numbers of samples, not periods"),
    OPTION_END,
};

static int list_formats(struct command_env *env, const char *wrong) {
    struct out out;
    if (wrong) {
        fprintf(stderr, "%s: no such format: use ", wrong);
        for (const struct export_format *f = export_formats; f->name; f++)
            fprintf(stderr, "%s%s", f == export_formats ? "" : !f[1].name ? " or " : ", ", f->name);
        fprintf(stderr, "\n");
        return EXIT_USAGE;
    }
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (const struct export_format *f = export_formats; f->name; f++)
        out_printf(&out, "  %-12s %s\n", f->name, f->help);
    return command_finish(env, &out, EXIT_OK);
}

/* Sets which frames are wanted. False: *err says what may be. */
static bool choose_frames(struct own *o, const struct export_format *f, struct err *err) {
    static const char *const words[] = {"function", "line", "address"};
    static const enum profile_chain_key keys[] = {PROFILE_BY_FUNCTION, PROFILE_BY_SRCLINE,
                                                  PROFILE_BY_ADDRESS};
    o->in.frames = keys[f->frames];
    if (!o->frames)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(o->frames, words[i])) {
            o->in.frames = keys[i];
            return true;
        }
    return err_set(err, ERR_USAGE, "--frames", "\"%s\": use function, line or address", o->frames);
}

/* Returns the event of a recording that `name` names, else its first one. STACKS_NONE: there is none. */
static uint32_t choose_event(const struct stacks *s, const char *name, uint32_t recording) {
    for (uint32_t i = 0; i < s->events.count; i++) {
        const char *have = stacks_str(s, s->events.items[i].name);
        size_t bare = strcspn(have, ":");
        if (s->events.items[i].recording == recording &&
            (!name || !strcmp(have, name) || (strlen(name) == bare && !strncmp(have, name, bare))))
            return i;
    }
    return STACKS_NONE;
}

static bool write_to(const struct own *o, const struct export_format *f, const struct stacks *s,
                     struct err *err) {
    struct export_options how = {.event = choose_event(s, o->event, o->base ? 1 : 0),
                                 .only = o->event,
                                 .samples = o->samples,
                                 .compares = o->base,
                                 .base_event = STACKS_NONE};
    if (how.event == STACKS_NONE)
        return err_set(err, ERR_ABSENT, NULL, "no samples of event %s: see `sonde evlist`",
                       o->event ? o->event : "to compare");
    const char *name = stacks_str(s, s->events.items[how.event].name);
    if (o->base)
        how.base_event = choose_event(s, name, 0);
    if (o->base && how.base_event == STACKS_NONE)
        return err_set(err, ERR_ABSENT, o->base, "it has no samples of %s to compare with", name);
    return stacks_write(s, f, &how, o->output, err);
}

/* Says what the recording or the format lacks. */
static void say_lacking(const struct own *o, const struct export_format *f, const struct stacks *s) {
    bool chains = false;
    for (size_t i = 0; i < s->rows.count && !chains; i++)
        chains = s->nodes.items[s->rows.items[i].node].caller != STACKS_NONE;
    if (!chains)
        log_line(LOG_WARN, "there are no callchains: every stack is one frame");
    if (f->one_event && s->events.count > (o->base ? 2 : 1) && !o->event)
        log_line(LOG_WARN, "only %s is written: this format holds one event, and -e chooses it",
                 stacks_str(s, s->events.items[0].name));
}

static int export(struct command_env *env, struct own *o, const struct export_format *f) {
    struct err err = ERR_INIT;
    struct stacks s = {0};
    if (!choose_frames(o, f, &err))
        return command_fail(&err);
    if (f->binary && !o->output && isatty(STDOUT_FILENO)) {
        err_set(&err, ERR_USAGE, f->name, "not written to a terminal: give a file with -o");
        return command_fail(&err);
    }
    o->in.moments = f->moments;
    const char *path = input_path(o->in.report.input);
    int base_status = o->base ? stacks_read(env, &o->in, o->base, &s, NULL) : EXIT_OK;
    int status = base_status == STACKS_FAILED ? base_status : stacks_read(env, &o->in, path, &s, NULL);
    if (status == STACKS_FAILED) {
        status = EXIT_ERROR;
    } else if (!s.events.count) {
        err_set(&err, ERR_ABSENT, path, "no samples to export");
        status = command_fail(&err);
    } else if (say_lacking(o, f, &s), !write_to(o, f, &s, &err)) {
        status = command_fail(&err);
    }
    stacks_fini(&s);
    return status ? status : base_status;
}

static int run_with(struct command_env *env, struct own *o, int argc, char **argv) {
    int status;
    if (!command_options(env, o, 0, &argc, &argv, &status))
        return status;
    if (!argc)
        return list_formats(env, NULL);
    const struct export_format *f = export_format_find(argv[0]);
    if (!f)
        return list_formats(env, argv[0]);
    if (argc > 3 || (argc > 1 && o->in.report.input))
        return command_usage(env, NULL);
    if (argc == 3 && !f->compares)
        return command_usage(env, "%s cannot show two recordings: use folded or flamegraph", f->name);
    o->base = argc == 3 ? argv[1] : NULL;
    if (argc > 1)
        o->in.report.input = argv[argc - 1];
    command_log(env, o->in.report.verbose, o->in.report.quiet);
    return export(env, o, f);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct own o = {0};
    stacks_options_init(&o.in, env->config);
    int status = run_with(env, &o, argc, argv);
    stacks_options_fini(&o.in);
    return status;
}

const struct command cmd_export = {
    .name = "export",
    .summary = "Write a recording's stacks in the format of another tool",
    .usage = (const char *const[]){"export [<options>] <format> [<file>]",
                                   "export [<options>] folded|flamegraph <base> <file>", "export", NULL},
    .options = options,
    .run = run,
};
