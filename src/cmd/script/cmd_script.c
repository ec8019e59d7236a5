/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/script/script.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/common/options/absent.h"
#include "cmd/common/symbol_notes.h"
#include "cmd/script/script_dlfilter.h"
#include "cmd/script/script_python.h"
#include "format/perfdata/header/feature.h"
#include "recording/head.h"
#include "view/lists/header_text.h"

static bool set_absent(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    (void)value, (void)e;
    if (!negated)
        *(const char **)field = row->name;
    return true;
}

#define OWN struct script_options
#define ABSENT(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, OWN, absent, arg, help " (not there yet)", set_absent, __VA_ARGS__)
#define ABSENT_FLAG(letter, name, help) ABSENT(letter, name, NULL, help, .flags = OPTION_NO_VALUE)
#define SHOW(name, group, help)         OPTION_BOOL(0, "show-" name "-events", OWN, show[group], "Show " help)

/* Indices into script_options.show. */
enum {
    SHOW_TASK,
    SHOW_MMAP,
    SHOW_SWITCH,
    SHOW_NAMESPACES,
    SHOW_CGROUP,
    SHOW_BPF,
    SHOW_LOST,
    SHOW_ROUND,
    SHOW_TEXT_POKE,
    SHOW_COUNT,
};

static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_LIST('F', "fields", OWN, fields, "str",
                "comma separated output fields, prepended with 'type:'; +field to add and -field to remove.\n"
                "Types: hw, sw, trace, raw, synth.\n"
                "Fields:",
                .words = OPTION_WORDS_FIELDS),
    OPTION_BOOL('G', "hide-call-graph", OWN, hide_chains, "do not show callchains"),
    OPTION_BOOL('L', "Latency", OWN, latency, "show latency attributes (irqs/preemption disabled, etc)"),
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "list of cpus to show"),
    OPTION_STRING('c', "comms", OWN, comms, "comm[,comm...]", "only show these comms",
                  .words = OPTION_WORDS_COMMS),
    OPTION_STRING(0, "pid", OWN, pids, "pid[,pid...]", "only show these pids"),
    OPTION_STRING(0, "tid", OWN, tids, "tid[,tid...]", "only show these tids"),
    OPTION_STRING(0, "time", OWN, time, "str", "time span of interest: start,stop or a%/n,... or a%-b%,..."),
    OPTION_BOOL(0, "ns", OWN, ns, "show nine decimal places of times"),
    OPTION_BOOL(0, "reltime", OWN, reltime, "show times relative to the first"),
    OPTION_BOOL(0, "deltatime", OWN, deltatime, "show times relative to the one before"),
    OPTION_INT(0, "max-stack", OWN, max_stack, "n", "show at most n addresses of a callchain (default: 127)"),
    OPTION_INT(0, "max-blocks", OWN, max_blocks, "n", "show at most n blocks of code of a branch stack"),
    OPTION_STRING(0, "switch-on", OWN, switch_on, "event", "show samples only after this event was seen"),
    OPTION_STRING(0, "switch-off", OWN, switch_off, "event", "show samples only until this event is seen"),
    OPTION_BOOL(0, "show-on-off-events", OWN, show_switches,
                "include the events of --switch-on and --switch-off"),
    OPTION_BOOL(0, "no-merge-callchains", OWN, no_merge, "show deferred callchains where they were recorded"),
    OPTION_BOOL('D', "dump-raw-trace", OWN, dump, "dump every record, then show it"),
    OPTION_BOOL(0, "dump-unsorted-raw-trace", OWN, dump_unsorted, "like -D, in the order of the file"),
    OPTION_BOOL(0, "header", OWN, header, "show the header, then the events"),
    OPTION_BOOL(0, "header-only", OWN, header_only, "show the header only"),
    OPTION_BOOL('I', "show-info", OWN, header_full, "show the header's long descriptions too"),
    SHOW("task", SHOW_TASK, "fork, comm and exit events"),
    SHOW("mmap", SHOW_MMAP, "mmap events"),
    SHOW("switch", SHOW_SWITCH, "context switch events"),
    SHOW("namespace", SHOW_NAMESPACES, "namespace events"),
    SHOW("cgroup", SHOW_CGROUP, "cgroup events"),
    SHOW("bpf", SHOW_BPF, "events of BPF programs"),
    SHOW("lost", SHOW_LOST, "lost events"),
    SHOW("round", SHOW_ROUND, "the ends of rounds"),
    SHOW("text-poke", SHOW_TEXT_POKE, "changes of kernel code"),
    OPTION_BOOL(0, "json", OWN, json, "show each record as a JSON object, one a line"),
    OPTION_BOOL(0, "per-event-dump", OWN, per_event, "write each event's samples to a file of its own"),
    OPTION_STRING('S', "symbols", OWN, chosen_symbols, "symbol[,symbol...]",
                  "only samples taken in these functions, or at these addresses"),
    OPTION_U64(0, "addr-range", OWN, range_bytes, "n",
               "with -S: an address stands for this many bytes after it, too"),
    OPTION_STRING(0, "dsos", OWN, chosen_dsos, "dso[,dso...]", "only samples taken in these DSOs",
                  .words = OPTION_WORDS_DSOS),
    OPTION_STRING(0, "stop-bt", OWN, stop, "symbol[,symbol...]", "end callchains at these functions"),
    OPTION_STRING('s', "script", OWN, script, "name", "give the samples to a Python script ([lang:]FILE.py)"),
    OPTION_STRING('g', "gen-script", OWN, generate, "lang", "write the start of a Python script"),
    OPTION_BOOL('l', "list", OWN, list_scripts, "list the scripts that come with sonde"),
    OPTION_STRING(0, "dlfilter", OWN, dlfilter, "file", "filter samples by a shared object"),
    OPTION_LIST(0, "dlarg", OWN, dlargs, "arg", "argument for --dlfilter; may be given several times"),
    OPTION_BOOL(0, "list-dlfilters", OWN, list_filters,
                "list the filters here and those that come with sonde"),
    OPTION_STRING('k', "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "force-image", OWN, symbols.force_images, "[object=]file[,...]",
                  "use these files even though nothing proves that they match"),
    OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "guestvmlinux", OWN, symbols.guest.vmlinux, "file", "guest's kernel image"),
    OPTION_STRING(0, "guestkallsyms", OWN, symbols.guest.kallsyms, "file", "guest's kallsyms"),
    OPTION_STRING(0, "guestmodules", OWN, symbols.guest.modules, "file", "guest's modules"),
    OPTION_STRING(0, "symfs", OWN, symbols.symfs, "directory",
                  "look for files with symbols under this directory"),
    OPTION_STRING(0, "jitdump-dir", OWN, jitdump_dir, "directory",
                  "look for jitdumps (jit-PID.dump) in this directory first"),
    OPTION_BOOL(0, "inline", OWN, inlines, "show inlined functions"),
    OPTION_BOOL(0, "demangle", OWN, demangle, "demangle symbols"),
    OPTION_BOOL(0, "demangle-kernel", OWN, symbols.demangle_kernel, "demangle kernel symbols"),
    OPTION_BOOL(0, "full-source-path", OWN, full_paths, "show source files with their whole path"),
    OPTION_BOOL(0, "show-kernel-path", OWN, kernel_path, "show the path of the kernel's image"),
    OPTION_BOOL(0, "grades", OWN, grades, "show how sure each name is"),
    OPTION_BOOL(0, "strict", OWN, strict, "name only frames that are proved"),
    OPTION_BOOL('d', "debug-mode", OWN, debug_mode, "show nothing but how many samples are out of order"),
    OPTION_STRING(0, "addr2line", OWN, ignored_text, "path",
                  "accepted for compatibility and ignored: no other program is run for line numbers"),
    OPTION_STRING(0, "unwind-style", OWN, ignored_text, "style,...",
                  "accepted for compatibility and ignored: there is only one unwinder"),
    ABSENT_FLAG('a', "all-cpus", "of script record"),
    ABSENT_FLAG(0, "call-ret-trace", "calls and returns of an instruction trace"),
    ABSENT_FLAG(0, "call-trace", "calls of an instruction trace"),
    ABSENT(0, "graph-function", "symbol", "only calls from these functions"),
    ABSENT_FLAG(0, "guest-code", "guest code is in the hypervisor's process"),
    ABSENT(0, "guestmount", "directory", "where guests' root directories are mounted"),
    ABSENT(0, "insn-trace", "raw|disasm", "instructions of an instruction trace",
           .flags = OPTION_VALUE_OPTIONAL),
    ABSENT(0, "itrace", "opts", "decode instruction traces", .flags = OPTION_VALUE_OPTIONAL),
    ABSENT_FLAG(0, "stitch-lbr", "join LBR callchains"),
    ABSENT_FLAG(0, "xed", "disassemble with xed"),
    OPTION_END,
};

/* ---- from options to output ---- */

static void print_trace(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *x,
                        struct out *out) {
    struct script *s = ctx;
    if (s->recording.formats)
        tracefs_formats_print(s->recording.formats, attr->config, (int)x->cpu, x->raw, out);
}

static bool find_event(struct script *s, const char *option, const char *name, uint32_t *out,
                       struct err *err) {
    *out = PERFDATA_NO_EVENT;
    if (!name)
        return true;
    for (size_t i = 0; i < s->recording.events->list.count; i++) {
        const char *have = s->recording.events->list.items[i].name;
        if (have && !strcmp(have, name)) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return err_set(err, ERR_ABSENT, option, "event '%s' not found: 'evlist' shows the names of the events",
                   name);
}

static void json_field(void *ctx, const char *name, const char *value, size_t len) {
    script_json_field(ctx, name, value, len);
}

static void json_fields(void *ctx, struct script_json *j, const struct perfdata_attr *attr,
                        const struct perfdata_sample *x) {
    struct script *s = ctx;
    if (s->recording.formats)
        tracefs_formats_fields(s->recording.formats, attr->config, x->raw, json_field, j);
}

/* Fields by -F, -L's wish included. */
static bool print_options(const struct script_options *o, struct script_print_options *p, struct err *err) {
    *p = (struct script_print_options){.chains = !o->hide_chains,
                                       .latency = o->latency,
                                       .ns = o->ns,
                                       .reltime = o->reltime,
                                       .deltatime = o->deltatime,
                                       .max_stack = (unsigned)o->max_stack,
                                       .max_blocks = (unsigned)o->max_blocks};
    script_fields_init(&p->fields);
    for (size_t i = 0; i < o->fields.count; i++)
        if (!script_fields_parse(&p->fields, o->fields.items[i], err))
            return false;
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        p->fields.chosen[k] |= o->grades && p->fields.chosen[k] & SCRIPT_BIT(SYM) ? SCRIPT_BIT(GRADE) : 0;
    return true;
}

/* The wall clock for the tod field (CLOCK_DATA), and the names of registers (E_MACHINE, ARCH). */
static bool apply_features(struct script *s, struct err *err) {
    const struct perfdata_header *h = stream_header(s->recording.stream);
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    if (perfdata_feature_get(h, PERFDATA_FEATURE_CLOCK_DATA, &arena, &value)) {
        s->print.has_clock = true;
        s->print.clock_offset_ns = (int64_t)(value.clock_data.wall_ns - value.clock_data.clock_ns);
    }
    arena_fini(&arena);
    s->print.regs = dump_regs_of(h);
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        if (s->print.options.fields.asked[k] & SCRIPT_BIT(TOD) && !s->print.has_clock)
            return err_set(err, ERR_ABSENT, "-F",
                           "Can't provide 'tod' time, missing clock data. Record with -k/--clockid option.");
    return true;
}

/* --time; percents need the span of the recording, which the header knows or the first pass found. */
static bool apply_times(struct script *s, struct err *err) {
    if (!s->o->time)
        return true;
    recording_header_span(&s->recording, &s->span);
    if (time_ranges_relative(s->o->time) && s->span.first_ns > s->span.last_ns)
        return err_set(err, ERR_ABSENT, "--time",
                       "a pipe does not say how long the recording is: give seconds");
    return time_ranges_parse(s->o->time, s->span.first_ns, s->span.last_ns, &s->times, err);
}

static unsigned shown_groups(const struct script_options *o) {
    unsigned show = SCRIPT_SHOW_ERRORS | (o->no_merge ? SCRIPT_SHOW_DEFERRED : 0);
    if (o->script)
        return SCRIPT_SHOW_SWITCH;
    for (unsigned i = 0; i < SHOW_COUNT; i++)
        show |= o->show[i] ? 1u << i : 0;
    return show;
}

/* Whether a field that is printed needs to know what was mapped. */
static bool names_code(const struct script *s) {
    return script_fields_model(&s->print.options.fields) & MODEL_NEED_MAPS;
}

/* Whether addresses of callchains are printed that dumped stacks must be unwound for, which takes maps. */
static bool prints_unwound(const struct script *s) {
    bool asked = false, dumps = stream_is_pipe(s->recording.stream); /* a pipe's events are not known yet */
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        asked |= (s->print.options.fields.chosen[k] & SCRIPT_BIT(IP)) != 0;
    for (size_t i = 0; i < s->recording.events->list.count; i++)
        dumps |= (s->recording.events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_STACK_USER) != 0;
    return asked && dumps && s->print.options.chains;
}

/* What the model must know for what is printed. */
static unsigned model_needs(const struct script *s) {
    const struct script_options *o = s->o;
    bool places =
        script_is_dump(o) || o->chosen_symbols || o->chosen_dsos || s->recording.formats || o->dlfilter;
    return (o->json || o->script ? MODEL_NEED_ALL : MODEL_NEED_COMMS) | (places ? MODEL_NEED_MAPS : 0) |
           (prints_unwound(s) ? MODEL_NEED_MAPS : 0) | script_fields_model(&s->print.options.fields);
}

/* For tracepoints that print functions: the one at an address, and where it starts. */
static const char *kernel_symbol(void *ctx, uint64_t address, uint64_t *start) {
    struct script *s = ctx;
    struct model_hit hit;
    uint64_t offset = 0;
    if (!model_find(s->model, PERFDATA_MISC_KERNEL, 0, MODEL_WHEN_END, address, &hit))
        return NULL;
    const char *name = script_names_symbol(&s->print.names, &hit, &offset);
    *start = address - offset;
    return name;
}

/* Makes functions nameable; opens nothing yet. */
static bool open_names(struct script *s, struct err *err) {
    struct symbol_options symbols = s->o->symbols;
    symbols.raw_names = !s->o->demangle;
    bool ok = input_names(&s->naming, s->env, &s->recording, s->model, &symbols, err);
    if (ok && s->o->strict)
        resolve_names_be_strict(s->naming.names);
    s->print.names.names = s->print.samples.names = s->naming.names;
    s->print.names.lines = s->print.samples.lines = s->naming.lines;
    s->print.samples.chain.o = recording_chains(&s->recording, s->naming.names, (uint64_t)s->o->max_stack);
    if (s->o->no_merge)
        s->print.samples.chain.o.deferred = NULL;
    s->print.names.full_paths = s->o->full_paths;
    s->print.names.inlines = s->o->inlines;
    s->print.names.kernel_path = s->o->kernel_path;
    s->print.names.store = s->naming.store;
    return ok && recording_name_functions(&s->recording, kernel_symbol, s, err);
}

/* Everything between the open recording and the open output, after which only printing remains. */
static bool prepare(struct script *s, const struct script_print_options *p, struct err *err) {
    struct filter_options f = {s->o->cpus, s->o->pids, s->o->tids, s->o->comms};
    bool streaming = stream_is_pipe(s->recording.stream) && !script_is_dump(s->o);
    if (!script_print_init(&s->print, &s->out, s->recording.events, NULL, p) ||
        !filter_parse(&f, &s->filter, err) || (s->o->cpus && !input_check_cpus(&s->recording, err)) ||
        !script_choice_parse(&s->choice, s->o->chosen_symbols, s->o->chosen_dsos, s->o->range_bytes, err) ||
        (s->o->stop && !filter_names_parse("--stop-bt", s->o->stop, &s->stop, err)))
        return false;
    s->print.options.stop = (const char *const *)s->stop.list.items;
    s->print.options.stop_count = s->stop.list.count;
    s->json = (struct script_json){.print = &s->print, .fields = json_fields, .fields_ctx = s};
    s->as_json = s->o->json || s->o->script;
    s->json.scripting = s->o->script;
    s->json.tracing = s->recording.namer.tracing.events.count ? &s->recording.namer.tracing : NULL;
    s->print.trace = print_trace;
    s->print.trace_ctx = s;
    s->print.guests = &s->guests;
    s->show = shown_groups(s->o);
    unsigned need = model_needs(s);
    s->model = model_new(&(struct model_options){.need = need, .streaming = streaming}, err);
    /* A dump shows what was recorded. */
    if (!script_is_dump(s->o) && need & MODEL_NEED_MAPS &&
        !recording_jitdumps(&s->recording, s->o->jitdump_dir, s->o->symbols.symfs, err))
        return false;
    s->print.model = s->print.names.model = s->print.names.locator.model = s->model;
    s->recording.kallsyms = s->o->symbols.host.kallsyms;
    s->recording.symfs = s->o->symbols.symfs;
    return s->model && open_names(s, err) &&
           (streaming || input_first_pass(&s->recording, s->model, &s->span, script_see_record, s, err)) &&
           apply_features(s, err) && apply_times(s, err) &&
           find_event(s, "--switch-on", s->o->switch_on, &s->on_event, err) &&
           find_event(s, "--switch-off", s->o->switch_off, &s->off_event, err) &&
           (!s->recording.events->list.count || script_print_plan(&s->print, 0, err));
}

static void finish(struct script *s) {
    script_dlfilter_close(s->dlfilter, NULL); /* where it went wrong before its end */
    script_print_fini(&s->print);
    script_choice_fini(&s->choice);
    filter_names_fini(&s->stop);
    recording_names_close(&s->naming);
    script_guests_fini(&s->guests);
    readings_fini(&s->readings);
    time_ranges_fini(&s->times);
    filter_fini(&s->filter);
    model_free(s->model);
    recording_close(&s->recording);
}

static void print_header(struct script *s) {
    const struct header_text_options h = input_header_options(&s->recording, s->o->header_full);
    header_text_write(stream_header(s->recording.stream), &s->recording.namer, &h, &s->out);
}

static bool open_filter(struct script *s, struct err *err) {
    struct script_dlfilter_world world = {&s->print, s->naming.store, &s->o->dlargs};
    if (s->o->dlfilter)
        s->dlfilter = script_dlfilter_open(s->o->dlfilter, &world, err);
    return s->dlfilter || !s->o->dlfilter;
}

static bool close_filter(struct script *s, struct err *err) {
    bool ok = script_dlfilter_close(s->dlfilter, err);
    s->dlfilter = NULL;
    return ok;
}

static bool print_all(struct script *s, struct err *err) {
    if (s->o->header || s->o->header_only)
        print_header(s);
    if (s->o->header_only)
        return true;
    if (s->as_json)
        script_json_header(&s->json, stream_header(s->recording.stream));
    return script_read(s, err) && close_filter(s, err);
}

/* To standard output, and to the events' own files. */
static int print_out(struct script *s, struct err *err) {
    if (!command_output(s->env, &s->out))
        return EXIT_ERROR;
    bool ok = print_all(s, err) && script_files_close(s, err);
    return command_finish(s->env, &s->out, ok ? input_status(&s->recording) : EXIT_ERROR);
}

/* -s: to a script, whose status counts. */
static int run_script(struct script *s, struct err *err) {
    struct script_python python = {0};
    if (!script_python_start(&python, s->o->script, s->o->arguments, &s->out, err))
        return EXIT_ERROR;
    bool ok = print_all(s, err);
    int status = script_python_finish(&python, &s->out);
    return status || !ok ? EXIT_ERROR : input_status(&s->recording);
}

/* -g */
static int generate_script(struct script *s, struct err *err) {
    char path[4096];
    const struct tracing_data *tracing =
        s->recording.namer.tracing.events.count ? &s->recording.namer.tracing : NULL;
    if (!script_python_generate(s->o->generate, s->recording.events, tracing, path, sizeof path, err))
        return EXIT_ERROR;
    printf("generated Python script: %s\n", path);
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_ERROR;
}

/* What kept names from being shown. */
static void warn(const struct script *s) {
    bool named = s->o->json || s->o->script || names_code(s);
    if (s->naming.names && s->model && named)
        symbol_notes_say(s->model, s->naming.names, s->naming.store);
    if (s->recording.stream && named)
        symbol_notes_say_grades(s->print.names.grades, stream_path(s->recording.stream), s->env->verbose > 0);
    if (s->print.samples.chain.unwind)
        symbol_notes_say_stacks(resolve_unwind_tally(s->print.samples.chain.unwind), s->model);
    if (s->o->debug_mode) /* perf's words */
        log_line(LOG_WARN, "Misordered timestamps: %" PRIu64, s->misordered);
}

static int script(struct command_env *env, const struct script_options *o) {
    struct script s = {.o = o, .env = env, .span = {UINT64_MAX, 0}};
    struct script_print_options p;
    struct err err = ERR_INIT;
    int status = EXIT_ERROR;
    s.on = !o->switch_on;
    if (print_options(o, &p, &err) && input_open(&s.recording, input_path(o->input), o->force, &err) &&
        (o->header_only || (prepare(&s, &p, &err) && open_filter(&s, &err))))
        status = o->generate ? generate_script(&s, &err)
                 : o->script ? run_script(&s, &err)
                             : print_out(&s, &err);
    warn(&s);
    if (err.code)
        status = command_fail(&err);
    finish(&s);
    return status;
}

static int list(struct command_env *env, const struct script_options *o) {
    struct err err = ERR_INIT;
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    bool ok = o->list_scripts ? script_python_list(&out, &err) : script_dlfilter_list(&out, o->verbose > 0);
    int status = ok ? EXIT_OK : EXIT_ERROR;
    status = command_finish(env, &out, status);
    return err.code ? command_fail(&err) : status;
}

static int list_languages(void) {
    fputs("\nScripting language extensions (used in script -s [spec:]script.[spec]):\n\n"
          "  Python                                     [Python]\n"
          "  py                                         [Python]\n\n",
          stderr);
    return EXIT_OK;
}

/* -i among what follows a script's name is script's own, as through perf's NAME-report wrappers, which pass
 * on what they are given; the script gets all else, and everything from "--" on. */
static bool take_input(struct script_options *o, char **arguments, struct err *err) {
    char **kept = arguments;
    char **a = arguments;
    for (; *a && strcmp(*a, "--") != 0; a++) {
        size_t letters = !strncmp(*a, "-i", 2) ? 2 : !strncmp(*a, "--input=", 8) ? 8 : 0;
        bool next = !strcmp(*a, "-i") || !strcmp(*a, "--input");
        if (!letters && !next)
            *kept++ = *a;
        else if (!next)
            o->input = *a + letters;
        else if (a[1])
            o->input = *++a;
        else
            return err_set(err, ERR_USAGE, *a, "name the recording to read");
    }
    while ((*kept++ = *a))
        a++;
    return true;
}

/* What stands after the options: with -s the arguments of its script; else a recording to read, with more
 * options after it, or [report] NAME: a script that comes with us, and its arguments. */
static bool take_operands(struct command_env *env, struct script_options *o, int argc, char **argv,
                          int *status) {
    struct err err = ERR_INIT;
    o->arguments = argv;
    if (o->script || !argc)
        return true;
    bool report = !strcmp(argv[0], "report");
    if (!report && recording_is_at(argv[0])) {
        if (!o->input) {
            o->input = argv[0];
            return command_options(env, o, OPTION_STOP_AT_OPERAND, &argc, &argv, status) &&
                   take_operands(env, o, argc, argv, status);
        }
        err_set(&err, ERR_USAGE, argv[0], "is a second recording beside %s: give one", o->input);
    } else if (report && argc == 1) {
        err_set(&err, ERR_USAGE, "script report", "name a script; script -l lists those that come with %s",
                env->program);
    } else {
        o->script = argv[report];
        o->arguments = argv + report + 1;
        o->is_named = true;
        o->as_report = report;
        return true;
    }
    *status = command_fail(&err);
    return false;
}

static bool check_options(const struct script_options *o, struct err *err) {
    if (o->absent)
        return absent_err(err, "script", o->absent);
    if (o->script && !strcmp(o->script, "record"))
        return err_set(err, ERR_UNSUPPORTED, NULL, "script record is not there yet: record with `record`");
    if (o->reltime && o->deltatime)
        return err_set(err, ERR_USAGE, NULL, "use either --reltime or --deltatime, not both");
    if (o->max_stack < 0 || o->max_blocks < 0)
        return err_set(err, ERR_USAGE, o->max_stack < 0 ? "--max-stack" : "--max-blocks",
                       "use a number that is not negative");
    if (o->json + o->per_event + (o->script != NULL) + script_is_dump(o) > 1)
        return err_set(err, ERR_USAGE, NULL, "use only one of --json, --per-event-dump, --script and -D");
    return true;
}

/* Whether the word after the options is a script that can be run: asked before any recording is opened,
 * because it may be the mistyped name of one. */
static bool check_name(const struct script_options *o, struct err *err) {
    char path[PATH_MAX];
    return !o->is_named || script_python_is_lang(o->script) ||
           script_python_find(o->script, path, sizeof path, err);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct script_options o = {.max_stack = RESOLVE_CHAIN_USUAL, .demangle = true, .inlines = true};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (take_operands(env, &o, argc, argv, &status)) {
        command_log(env, o.verbose, false);
        if (!check_options(&o, &err) ||
            (o.as_report && !script_python_report(o.script, o.input, o.arguments, &err)) ||
            !check_name(&o, &err) || (o.is_named && !take_input(&o, o.arguments, &err)))
            status = command_fail(&err);
        else if (o.list_scripts || o.list_filters)
            status = list(env, &o);
        else if (o.script && script_python_is_lang(o.script))
            status = list_languages();
        else
            status = script(env, &o);
    }
    option_list_fini(&o.fields);
    option_list_fini(&o.dlargs);
    return status;
}

const struct command cmd_script = {
    .name = "script",
    .summary = "Print every sample of a recording",
    .usage = (const char *const[]){"script [<options>] [<recording>]",
                                   "script [<options>] -s <script> [<script-args>]",
                                   "script [<options>] [report] <script> [<script-args>]", NULL},
    .options = options,
    .run = run,
};
