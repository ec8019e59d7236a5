/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "cmd/common/symbol_notes.h"
#include "cmd/why/why_find.h"

struct why_options {
    bool force, json;
    int verbose;
    const char *input, *pid, *time, *symbol;
    uint64_t sample, frame;
    struct symbol_options symbols;
};

#define OWN struct why_options
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_U64(0, "sample", OWN, sample, "n",
               "a frame of the n-th sample, in the order of the file (default: 1)"),
    OPTION_U64(0, "frame", OWN, frame, "n", "with --sample: the n-th frame from the innermost, which is 0"),
    OPTION_STRING(0, "pid", OWN, pid, "pid", "an address of this process; without it, of the kernel"),
    OPTION_STRING(0, "time", OWN, time, "seconds", "when, as script shows it (default: at the end)"),
    OPTION_STRING(0, "symbol", OWN, symbol, "name", "the first frame of that name"),
    OPTION_BOOL(0, "json", OWN, json, "as one line of JSON"),
    OPTION_STRING('k', "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "force-image", OWN, symbols.force_images, "[object=]file[,...]",
                  "use these files even though nothing proves that they match"),
    OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "symfs", OWN, symbols.symfs, "directory",
                  "look for files with symbols under this directory"),
    OPTION_END,
};

struct session {
    const struct why_options *o;
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct why_finder finder;
};

/* ---- addresses ---- */

/* Seconds with decimals, and up to the end of what they leave open: script prints microseconds. */
static bool parse_time(const char *text, uint64_t *ns) {
    uint64_t scale = 1000000000, seconds;
    char *end;
    seconds = strtoull(text, &end, 10);
    if (end == text || *text == '-' || seconds > UINT64_MAX / scale - 1)
        return false;
    *ns = seconds * scale;
    if (*end == '.')
        for (end++; *end >= '0' && *end <= '9' && scale > 1; end++) {
            scale /= 10;
            *ns += (uint64_t)(*end - '0') * scale;
        }
    *ns += scale - 1;
    return !*end;
}

/* At the end of all a process that is over has no address space. */
static struct model_when last_instant(const struct session *s) {
    uint32_t id = s->o->pid ? model_process_at(s->model, s->finder.why.pid, MODEL_WHEN_END) : MODEL_NONE;
    if (id == MODEL_NONE)
        return MODEL_WHEN_END;
    struct model_when ended = model_process(s->model, id)->ended;
    return model_when_before(ended, MODEL_WHEN_END) ? model_when_prior(ended) : MODEL_WHEN_END;
}

static bool find_address(struct session *s, const char *text, struct err *err) {
    const struct why_options *o = s->o;
    char *end;
    uint64_t address = strtoull(text, &end, 16);
    struct why *w = &s->finder.why;
    if (end == text || *end)
        return err_set(err, ERR_USAGE, NULL, "%s: give an address in hexadecimal", text);
    if (o->pid) {
        w->pid = w->tid = (uint32_t)strtol(o->pid, &end, 10);
        if (end == o->pid || *end)
            return err_set(err, ERR_USAGE, "--pid", "%s: give a number", o->pid);
    }
    w->when = last_instant(s);
    if (o->time) {
        if (!parse_time(o->time, &w->when.time_ns))
            return err_set(err, ERR_USAGE, "--time", "%s: give seconds, as script shows them", o->time);
        w->when.order = UINT64_MAX;
        w->has_time = true;
    }
    bool kernel = !o->pid || address >> 63;
    return why_finder_address(&s->finder, kernel, address, err);
}

/* ---- the command ---- */

static bool prepare(struct session *s, const struct command_env *env, struct err *err) {
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err);
    s->recording.kallsyms = s->o->symbols.host.kallsyms;
    s->recording.symfs = s->o->symbols.symfs;
    if (!s->model || !recording_jitdumps(&s->recording, NULL, s->o->symbols.symfs, err) ||
        !input_first_pass(&s->recording, s->model, NULL, NULL, NULL, err) ||
        !input_names(&s->naming, env, &s->recording, s->model, &s->o->symbols, err))
        return false;
    why_finder_init(&s->finder, &s->recording, s->model, &s->naming);
    return true;
}

static bool find_sample(struct session *s, struct err *err) {
    const struct why_options *o = s->o;
    return o->symbol ? why_finder_symbol(&s->finder, o->symbol, NULL, err)
                     : why_finder_sample(&s->finder, o->sample ? o->sample : 1, o->frame, err);
}

static int show(struct command_env *env, struct session *s) {
    struct out out;
    struct err absent = ERR_INIT;
    char path[WHY_PATH_ROOM];
    why_finder_source(&s->finder);
    why_finder_identities(&s->finder, s->o->symbols.symfs, path, sizeof path, &absent);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    if (s->o->json)
        why_print_json(&s->finder.why, &out);
    else
        why_print_text(&s->finder.why, &out);
    return command_finish(env, &out, input_status(&s->recording));
}

static int run(struct command_env *env, int argc, char **argv) {
    struct why_options o = {0};
    struct session s = {.o = &o};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1 || (argc && (o.sample || o.symbol)) || (!argc && (o.pid || o.time)) ||
        (o.sample && o.symbol))
        return command_usage(env, argc ? NULL : "give an address, --sample or --symbol");
    command_log(env, o.verbose, false);
    bool ok = input_open(&s.recording, input_path(o.input), o.force, &err) && prepare(&s, env, &err) &&
              (argc ? find_address(&s, argv[0], &err) : find_sample(&s, &err));
    status = ok ? show(env, &s) : command_fail(&err);
    why_finder_fini(&s.finder);
    recording_names_close(&s.naming);
    model_free(s.model);
    recording_close(&s.recording);
    return status;
}

const struct command cmd_why = {
    .name = "why",
    .summary = "Explain how a frame got its name",
    .usage = (const char *const[]){"why [<options>] [--sample <n> [--frame <n>]]",
                                   "why [<options>] [--pid <pid>] [--time <seconds>] <address>",
                                   "why [<options>] --symbol <name>", NULL},
    .options = options,
    .run = run,
};
