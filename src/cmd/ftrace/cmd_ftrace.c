/* SPDX-License-Identifier: Apache-2.0 */
/* `ftrace`: the kernel's function tracers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ftrace/ftrace.h"

#define CLI struct ftrace_cli

/* --- values --- */

static bool add_name(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    ftrace_names *names = field;
    (void)row;
    if (negated)
        names->count = 0;
    const char **slot = negated ? NULL : vec_push(names);
    if (slot)
        *slot = value;
    return negated || slot || err_memory(e, row->name);
}

/* "sched:sched_waking,sched:sched_switch" as "SYSTEM/EVENT" each. The texts are freed with the command. */
static bool add_events(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    ftrace_names *names = field;
    for (size_t i = 0; i < names->count; i++)
        free((char *)names->items[i]);
    names->count = 0;
    for (const char *at = value; !negated && *at;) {
        size_t n = strcspn(at, ",");
        char *text = strndup(at, n), *colon = text ? strchr(text, ':') : NULL;
        const char **slot = colon && names->count < 2 && !strchr(text, '/') ? vec_push(names) : NULL;
        if (!slot) {
            free(text);
            return err_set(e, ERR_USAGE, NULL,
                           "-%c: '%s': use two events, such as sched:sched_waking,sched:sched_switch",
                           row->letter, value);
        }
        *colon = '/';
        *slot = text;
        at += n + (at[n] == ',');
    }
    return true;
}

/* "16M" in kB. */
static bool set_size(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    uint64_t *kb = field;
    char *unit;
    (void)row;
    *kb = 0;
    if (negated)
        return true;
    unsigned long long n = strtoull(value, &unit, 10);
    unsigned shift = *unit == 'B' ? 0 : *unit == 'K' ? 10 : *unit == 'M' ? 20 : 30;
    bool ok = unit != value && *value != '-' && strchr("BKMG", *unit) && *unit && !unit[1] && n &&
              n <= 1ull << (40 - shift);
    *kb = ok ? ((n << shift) + 1023) / 1024 : 0;
    return ok || err_set(e, ERR_USAGE, NULL, "bad size '%s': use a number and B, K, M or G", value);
}

struct word {
    const char *name;
    size_t flag;   /* of a bool in struct ftrace_options */
    size_t number; /* of a uint64_t there; 0: it takes none */
};

static bool take_word(const struct word *words, size_t count, struct ftrace_options *o, const char *text,
                      size_t n) {
    size_t name = strcspn(text, "=,");
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i].name) != name || strncmp(words[i].name, text, name) != 0)
            continue;
        if (!words[i].number) {
            *(bool *)((char *)o + words[i].flag) = true;
            return name == n;
        }
        char *end;
        uint64_t *number = (uint64_t *)((char *)o + words[i].number);
        *number = text[name] == '=' ? strtoull(text + name + 1, &end, 10) : 0;
        return *number && end == text + n;
    }
    return false;
}

#define FLAG(word, field) \
    { word, offsetof(struct ftrace_options, field), 0 }
#define NUMBER(word, field) \
    { word, 0, offsetof(struct ftrace_options, field) }

/* Words of --func-opts and --graph-opts. */
static bool take_words(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    static const struct word FUNCTION[] = {FLAG("call-graph", call_graph), FLAG("irq-info", irq_info)};
    static const struct word GRAPH[] = {FLAG("args", args),
                                        FLAG("retval", retval),
                                        FLAG("retval-hex", retval_hex),
                                        FLAG("retaddr", retaddr),
                                        FLAG("nosleep-time", nosleep_time),
                                        FLAG("noirqs", noirqs),
                                        FLAG("verbose", verbose),
                                        FLAG("tail", tail),
                                        NUMBER("thresh", thresh_us),
                                        NUMBER("depth", depth)};
    bool graph = strcmp(row->name, "graph-opts") == 0;
    struct ftrace_cli *c = field;
    for (const char *at = value; !negated && *at;) {
        size_t n = strcspn(at, ",");
        if (!take_word(graph ? GRAPH : FUNCTION, graph ? sizeof GRAPH / sizeof *GRAPH : 2, &c->o, at, n))
            return err_set(e, ERR_USAGE, NULL, "--%s: unknown option '%.*s'", row->name, (int)n, at);
        at += n + (at[n] == ',');
    }
    return true;
}

static bool set_list(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct ftrace_cli *c = field;
    (void)row, (void)e;
    c->lists = !negated;
    c->list = value;
    return true;
}

/* --- options --- */

#define NAMES(letter, name, field, help) OPTION_CALL(letter, name, CLI, field, "func", help, add_name)
#define COMMON                                                                                         \
    OPTION_BOOL('a', "all-cpus", CLI, all_cpus, "System-wide collection from all CPUs"),               \
        OPTION_STRING('C', "cpu", CLI, cpus, "cpu", "List of cpus to monitor"),                        \
        OPTION_STRING('p', "pid", CLI, pids, "pid", "Trace on existing process id"),                   \
        OPTION_STRING(0, "tid", CLI, tids, "tid", "Trace on existing thread id (exclusive to --pid)"), \
        OPTION_COUNT('v', "verbose", CLI, verbose, "Be more verbose")
#define BUFFER                                                \
    OPTION_CALL('m', "buffer-size", CLI, o.buffer_kb, "size", \
                "Size of per cpu buffer, needs to use a B, K, M or G suffix", set_size)
/* perf-ftrace(1), of `trace`, which is also what is done without a verb. */
static const struct option options[] = {
    COMMON,
    OPTION_U64('D', "delay", CLI, delay_ms, "n", "Number of milliseconds to wait before starting tracing"),
    OPTION_CALL('F', "funcs", CLI, o, "pattern", "Show available functions to filter", set_list,
                .flags = OPTION_VALUE_ADOPT),
    NAMES('G', "graph-funcs", o.graph,
          "Trace only what these functions call, with the function_graph tracer"),
    NAMES('g', "nograph-funcs", o.nograph, "Do not trace what these functions call"),
    BUFFER,
    NAMES('N', "notrace-funcs", o.notraces, "Do not trace these functions"),
    OPTION_STRING('t', "tracer", CLI, tracer, "tracer", "Tracer to use: function_graph(default) or function"),
    NAMES('T', "trace-funcs", o.filters, "Trace these functions only"),
    OPTION_CALL(0, "func-opts", CLI, o, "options",
                "Function tracer options, available options: call-graph, irq-info", take_words),
    OPTION_CALL(0, "graph-opts", CLI, o, "options",
                "Graph tracer options, available options: args, retval, retval-hex, retaddr, nosleep-time, "
                "noirqs, verbose, thresh=<n>, depth=<n>, tail",
                take_words),
    OPTION_BOOL(0, "inherit", CLI, o.inherit, "Trace children processes"),
    OPTION_END,
};

static const struct option profile_options[] = {
    COMMON,
    NAMES('G', "graph-funcs", o.graph, "Trace only what these functions call"),
    NAMES('g', "nograph-funcs", o.nograph, "Do not trace what these functions call"),
    BUFFER,
    NAMES('N', "notrace-funcs", o.notraces, "Do not trace these functions"),
    OPTION_STRING('s', "sort", CLI, sort, "key",
                  "Sort result by key: total (default), avg, max, count, name."),
    NAMES('T', "trace-funcs", o.filters, "Trace these functions only"),
    OPTION_BOOL(0, "folded", CLI, folded,
                "Show stacks with the time of their innermost function in ns, for sonde view"),
    OPTION_CALL(0, "graph-opts", CLI, o, "options",
                "Graph tracer options, available options: nosleep-time, noirqs, thresh=<n>, depth=<n>",
                take_words),
    OPTION_BOOL(0, "inherit", CLI, o.inherit, "Trace children processes"),
    OPTION_BOOL(0, "tree", CLI, tree,
                "Show who called whom, with total time and the time of the function itself"),
    OPTION_END,
};

static const struct option latency_options[] = {
    COMMON,
    OPTION_BOOL('b', "use-bpf", CLI, use_bpf,
                "Use BPF to measure the latency between the two events of -e: the kernel sums up, and "
                "nothing is lost"),
    OPTION_CALL('e', "events", CLI, o.events, "event1,event2", "Show latency between the two events",
                add_events, .words = OPTION_WORDS_EVENTS),
    OPTION_BOOL('n', "use-nsec", CLI, use_nsec, "Use nano-second histogram"),
    NAMES('T', "trace-funcs", o.filters, "Show latency of given function"),
    OPTION_U64(0, "bucket-range", CLI, bucket_range, "n",
               "Bucket range in us or ns (-n/--use-nsec), default is log2() mode"),
    OPTION_BOOL(0, "hide-empty", CLI, hide_empty, "Hide empty buckets in the histogram"),
    OPTION_BOOL(0, "inherit", CLI, o.inherit, "Trace children processes"),
    OPTION_U64(0, "max-latency", CLI, max_latency, "n",
               "Maximum latency (last bucket). Works only with --bucket-range."),
    OPTION_U64(0, "min-latency", CLI, min_latency, "n",
               "Minimum latency (1st bucket). Works only with --bucket-range."),
    OPTION_END,
};

/* --- verbs --- */

static const struct verb {
    const char *name;
    const struct option *options;
    const char *const *usage;
    ftrace_verb_fn *run;
} verbs[] = {
    {"latency", latency_options,
     (const char *const[]){"ftrace latency [<options>] [<command>]",
                           "ftrace latency [<options>] -- [<command>] [<options>]", NULL},
     ftrace_latency},
    {"profile", profile_options,
     (const char *const[]){"ftrace profile [<options>] [<command>]",
                           "ftrace profile [<options>] -- [<command>] [<options>]", NULL},
     ftrace_profile},
    {"trace", options,
     (const char *const[]){"ftrace trace [<options>] [<command>]",
                           "ftrace trace [<options>] -- [<command>] [<options>]", NULL},
     ftrace_trace},
};

/* -G and -g are of function_graph, -T and -N of function, unless -t says otherwise (perf-ftrace(1)). */
static bool choose_tracer(struct ftrace_cli *c, struct err *err) {
    const struct ftrace_options *o = &c->o;
    bool graph = o->graph.count || o->nograph.count, function = o->filters.count || o->notraces.count;
    if (c->tracer && strcmp(c->tracer, "function_graph") != 0 && strcmp(c->tracer, "function") != 0)
        return err_set(err, ERR_USAGE, "-t", "unknown tracer '%s': use function_graph or function",
                       c->tracer);
    c->o.tracer = graph ? "function_graph" : c->tracer ? c->tracer : function ? "function" : "function_graph";
    return true;
}

static int run_verb(struct command_env *env, struct ftrace_cli *c, ftrace_verb_fn *verb, int argc,
                    char **argv) {
    struct err err = ERR_INIT;
    command_log(env, c->verbose, false);
    c->command = argc ? argv : NULL;
    if (c->lists)
        return ftrace_list(env, c->list);
    c->all_cpus |= !argc && !c->pids && !c->tids;
    if (!choose_tracer(c, &err))
        return command_fail(&err);
    if (verb == ftrace_latency)
        c->o.tracer = NULL;
    return verb(env, c);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct ftrace_cli c = {0};
    ftrace_verb_fn *verb = ftrace_trace;
    int status = EXIT_OK;
    bool ok = command_options(env, &c, OPTION_STOP_AT_OPERAND, &argc, &argv, &status);
    for (size_t i = 0; ok && argc && i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, argv[0]) != 0)
            continue;
        verb = verbs[i].run;
        ok = command_verb_options_first(env, verbs[i].options, verbs[i].usage, &c, &argc, &argv, &status);
        break;
    }
    if (ok)
        status = run_verb(env, &c, verb, argc, argv);
    for (size_t i = 0; i < c.o.events.count; i++)
        free((char *)c.o.events.items[i]);
    vec_fini(&c.o.filters);
    vec_fini(&c.o.notraces);
    vec_fini(&c.o.graph);
    vec_fini(&c.o.nograph);
    vec_fini(&c.o.events);
    return status;
}

const struct command cmd_ftrace = {
    .name = "ftrace",
    .summary = "Use the kernel's function tracer",
    .usage =
        (const char *const[]){"ftrace [<options>] [<command>]",
                              "ftrace [<options>] -- [<command>] [<options>]",
                              "ftrace {trace|latency|profile} [<options>] [<command>]",
                              "ftrace {trace|latency|profile} [<options>] -- [<command>] [<options>]", NULL},
    .options = options,
    .run = run,
};
