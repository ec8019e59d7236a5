/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with their instructions and source lines, and what share of the samples hit each of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/annotate/annotate_options.h"
#include "cmd/annotate/annotate_print.h"
#include "cmd/common/input.h"
#include "cmd/common/symbol_notes.h"
#include "select/filter.h"

struct session {
    const struct annotate_command_options *o;
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct filter filter;
    struct filter_names dsos;
    struct annotate_result result;
};

static bool keep(void *ctx, const struct perfdata_sample *s, struct model_when when) {
    const struct session *x = ctx;
    (void)when;
    return filter_cpu(&x->filter, s->have & PERFDATA_SAMPLE_CPU ? s->cpu : UINT32_MAX);
}

static bool use_color(int mode) {
    const char *term = getenv("TERM");
    if (mode != ANNOTATE_COLOR_AUTO)
        return mode == ANNOTATE_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static struct annotate_wish wish_of(const struct session *s, bool color) {
    const struct annotate_command_options *o = s->o;
    return (struct annotate_wish){
        .symbol = o->symbol,
        .dsos = &s->dsos,
        .percent_limit = o->percent_limit,
        .ungrouped = o->group == ANNOTATE_GROUP_NONE,
        .skip_empty = o->skip_empty,
        .skip_missing = o->skip_missing || o->quiet,
        .code = {.intel = o->style && strcmp(o->style, "intel") == 0,
                 .raw_names = o->symbols.raw_names,
                 .objdump = o->objdump},
        .text = {.percent = o->percent,
                 .column = o->show_samples  ? ANNOTATE_SAMPLES
                           : o->show_period ? ANNOTATE_PERIOD
                                            : o->usual_column,
                 .source = !o->no_source,
                 .raw = o->raw,
                 .line_summary = o->line_summary,
                 .full_paths = o->full_paths,
                 .inlines = o->inlines,
                 .jump = o->jump,
                 .color = color},
        .symfs = o->symbols.symfs,
        .prefix = o->prefix,
        .strip = (unsigned)o->strip,
    };
}

/* Makes one group of all events where --group asks for it and none was recorded. */
static bool make_group(struct session *s) {
    struct perfdata_events *events = s->recording.events;
    for (size_t i = 0; i < events->list.count; i++)
        if (events->list.items[i].group_members > 1)
            return false;
    return s->o->group == ANNOTATE_GROUP_ALL && events->list.count > 1 && perfdata_events_group_all(events);
}

static bool open_all(struct session *s, const struct command_env *env, struct err *err) {
    const struct annotate_command_options *o = s->o;
    struct recording *r = &s->recording;
    r->kallsyms = o->symbols.host.kallsyms;
    r->symfs = o->symbols.symfs;
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, err);
    return filter_parse(&(struct filter_options){.cpus = o->cpus}, &s->filter, err) &&
           (!o->dsos || filter_names_parse("--dsos", o->dsos, &s->dsos, err)) &&
           (!o->cpus || input_check_cpus(r, err)) && s->model &&
           recording_jitdumps(r, o->jitdump_dir, o->symbols.symfs, err) &&
           input_first_pass(r, s->model, NULL, NULL, NULL, err) &&
           input_names(&s->naming, env, r, s->model, &o->symbols, err);
}

/* Says what was not to be found. */
static int say_nothing(const struct session *s) {
    if (s->result.missed)
        return EXIT_ERROR;
    if (s->o->symbol)
        log_line(LOG_WARN, "no sample hit a function called %s%s%s", s->o->symbol, s->o->dsos ? " in " : "",
                 s->o->dsos ? s->o->dsos : "");
    else
        log_line(LOG_WARN, "no sample hit a function%s",
                 s->o->dsos || s->o->cpus || s->o->percent_limit > 0 ? " that the options want"
                                                                     : " whose name is known");
    return EXIT_ERROR;
}

static int annotate(struct command_env *env, struct session *s) {
    struct err err = ERR_INIT;
    struct out out;
    bool color = use_color(s->o->color); /* before a pager replaces the terminal */
    if (!open_all(s, env, &err))
        return command_fail(&err);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    struct annotate_wish wish = wish_of(s, color);
    wish.made_group = make_group(s);
    const struct annotate_input in = {
        .recording = &s->recording, .model = s->model, .naming = &s->naming, .keep = keep, .keep_ctx = s};
    bool ok = annotate_print(&in, &wish, &out, &s->result, &err);
    int status = ok ? input_status(&s->recording) : command_fail(&err);
    status = command_finish(env, &out, status);
    symbol_notes_say(s->model, s->naming.names, s->naming.store);
    return ok && !s->result.printed && !status ? say_nothing(s) : status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct annotate_command_options o;
    struct session s = {.o = &o};
    struct err err = ERR_INIT;
    int status;
    annotate_options_init(&o, env->config);
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1)
        return command_usage(env, NULL);
    if (argc)
        o.symbol = argv[0];
    if (!annotate_options_check(&o, &err))
        return command_usage(env, "%s%s%s", err.where, *err.where ? ": " : "", err.message);
    command_log(env, o.verbose, o.quiet);
    status =
        input_open(&s.recording, input_path(o.input), o.force, &err) ? annotate(env, &s) : command_fail(&err);
    recording_names_close(&s.naming);
    filter_fini(&s.filter);
    filter_names_fini(&s.dsos);
    recording_close(&s.recording);
    model_free(s.model);
    return status;
}

const struct command cmd_annotate = {
    .name = "annotate",
    .summary = "Show the instructions of a function with their share of the samples",
    .usage = (const char *const[]){"annotate [<options>] [<symbol>]", NULL},
    .options = annotate_option_rows,
    .run = run,
};
