/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_options.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/common/options/absent.h"

#define DEFAULT_MAX_STACK   127
#define DEFAULT_MIN_PERCENT 0.5
#define DEFAULT_QUANTUM_NS  100000000

/* ---- -g ---- */

enum chain_word { WORD_MODE, WORD_ORDER, WORD_KEY, WORD_VALUE, WORD_BRANCH };

/* Words may be abbreviated to any prefix; if it fits several, the first one here is meant. */
static const struct {
    const char *name;
    enum chain_word what;
    int value;
} chain_words[] = {
    {"none", WORD_MODE, PROFILE_CHAIN_NONE},
    {"graph", WORD_MODE, PROFILE_CHAIN_GRAPH},
    {"flat", WORD_MODE, PROFILE_CHAIN_FLAT},
    {"fractal", WORD_MODE, PROFILE_CHAIN_FRACTAL},
    {"folded", WORD_MODE, PROFILE_CHAIN_FOLDED},
    {"caller", WORD_ORDER, PROFILE_CALLER},
    {"callee", WORD_ORDER, PROFILE_CALLEE},
    {"function", WORD_KEY, PROFILE_BY_FUNCTION},
    {"address", WORD_KEY, PROFILE_BY_ADDRESS},
    {"srcline", WORD_KEY, PROFILE_BY_SRCLINE},
    {"branch", WORD_BRANCH, 1},
    {"percent", WORD_VALUE, REPORT_GRAPH_PERCENT},
    {"period", WORD_VALUE, REPORT_GRAPH_PERIOD},
    {"count", WORD_VALUE, REPORT_GRAPH_COUNT},
};

static bool take_chain_word(struct report_chain_options *c, const char *word, size_t len) {
    for (size_t i = 0; i < sizeof chain_words / sizeof chain_words[0]; i++) {
        if (strncmp(chain_words[i].name, word, len))
            continue;
        int value = chain_words[i].value;
        switch (chain_words[i].what) {
        case WORD_MODE:
            c->mode = (enum profile_chain_mode)value;
            break;
        case WORD_ORDER:
            c->order = (enum profile_chain_order)value;
            c->order_said = true;
            break;
        case WORD_KEY:
            c->key = (enum profile_chain_key)value;
            break;
        case WORD_VALUE:
            c->value = (enum report_graph_value)value;
            break;
        case WORD_BRANCH:
            c->branches = true;
            break;
        }
        return true;
    }
    return false;
}

/* Parses words in any order; the first number is the minimum percentage, the second the limit. */
bool report_chain_text(struct report_chain_options *c, const char *text) {
    unsigned numbers = 0;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");
        char *end;
        double number = strtod(at, &end);
        if (len && end == at + len) {
            if (numbers == 0)
                c->min_percent = number;
            else if (numbers == 1)
                c->limit = number > 0 && number < UINT32_MAX ? (unsigned)number : 0;
            numbers++;
        } else if (len && !take_chain_word(c, at, len)) {
            return false;
        }
        at += len + (at[len] == ',');
    }
    return true;
}

static bool take_call_graph(const struct option *row, void *field, const char *value, bool negated,
                            struct err *e) {
    struct report_chain_options *c = field;
    (void)row;
    c->asked = !negated;
    if (negated) {
        c->mode = PROFILE_CHAIN_NONE;
        return true;
    }
    if (!value) { /* -g without a value */
        c->order = PROFILE_CALLER;
        c->order_said = true;
        return true;
    }
    return report_chain_text(c, value) ||
           err_set(e, ERR_USAGE, "-g",
                   "\"%s\": use one of graph, flat, fractal, folded, none; a percentage; caller or callee; "
                   "function, address or srcline; branch; percent, period or count",
                   value);
}

static bool take_inverted(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    struct report_chain_options *c = field;
    (void)row, (void)value, (void)e;
    c->order = negated ? PROFILE_CALLEE : PROFILE_CALLER;
    c->order_said = true;
    return true;
}

/* ---- other values ---- */

/* The options struct of which `field` is a member. */
#define OPTIONS_OF(field, member) \
    ((struct report_options *)((char *)(field)-offsetof(struct report_options, member)))

bool report_take_choice(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    (void)row, (void)value, (void)e;
    *(enum report_choice *)field = negated ? REPORT_NO : REPORT_YES;
    return true;
}

bool report_take_stdio(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    return report_take_choice(row, field, value, !negated, e);
}

/* Sets the inverse of a flag: --demangle unsets the flag that leaves names as they are. */
bool report_take_not(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)value, (void)e;
    *(bool *)field = negated;
    return true;
}

bool report_take_relative(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    (void)row;
    if (negated || !strcmp(value, "relative") || !strcmp(value, "absolute")) {
        *(bool *)field = !negated && !strcmp(value, "relative");
        return true;
    }
    return err_set(e, ERR_USAGE, "--percentage", "\"%s\": use relative or absolute", value);
}

/* Sets the limit for call graphs, too, unless a later -g gives another one. */
bool report_take_percent(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    char *end = NULL;
    double percent = negated ? 0 : strtod(value, &end);
    (void)row;
    if (!negated && (end == value || (*end && strcmp(end, "%")) || !isfinite(percent)))
        return err_set(e, ERR_USAGE, "--percent-limit", "\"%s\" is not a number", value);
    OPTIONS_OF(field, percent_limit)->percent_limit = percent;
    OPTIONS_OF(field, percent_limit)->chain.min_percent = percent;
    return true;
}

static bool take_color(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    enum report_color *color = field;
    (void)row;
    if (negated || (value && !strcmp(value, "never")))
        *color = REPORT_COLOR_NEVER;
    else if (!value || !strcmp(value, "always"))
        *color = REPORT_COLOR_ALWAYS;
    else if (!strcmp(value, "auto"))
        *color = REPORT_COLOR_AUTO;
    else
        return err_set(e, ERR_USAGE, "--stdio-color", "\"%s\": use always, never or auto", value);
    return true;
}

bool report_take_widths(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    struct report_options *o = OPTIONS_OF(field, widths);
    (void)row;
    vec_clear(&o->widths);
    for (const char *at = negated ? "" : value; *at;) {
        char *end;
        unsigned long width = strtoul(at, &end, 10);
        unsigned *item = vec_push(&o->widths);
        if (!item)
            return err_memory(e, "-w");
        if (end == at || (*end && *end != ',') || width > 4096)
            return err_set(e, ERR_USAGE, "-w", "\"%s\": use column widths separated by commas", value);
        *item = (unsigned)width;
        at = end + (*end == ',');
    }
    return true;
}

static bool take_quantum(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    uint64_t ns = 0;
    (void)row;
    if (negated) {
        *(uint64_t *)field = DEFAULT_QUANTUM_NS;
        return true;
    }
    if (!option_time_ns(value, 0, &ns) || !ns)
        return err_set(e, ERR_USAGE, "--time-quantum", "\"%s\": use a number followed by ns, us, ms or s",
                       value);
    *(uint64_t *)field = ns;
    return true;
}

/* perf's option is -T and has no value. */
static bool take_threads(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct report_options *o = OPTIONS_OF(field, thread_count);
    char *end = NULL;
    (void)row;
    if (negated || !value) {
        o->threads = !negated;
        o->thread_count = 0;
        return true;
    }
    unsigned long n = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || !n || n > POOL_THREADS_MAX)
        return err_set(e, ERR_USAGE, "--threads", "\"%s\": use a number from 1 to %d", value,
                       POOL_THREADS_MAX);
    o->thread_count = (unsigned)n;
    return true;
}

bool report_take_separator(const struct option *row, void *field, const char *value, bool negated,
                           struct err *e) {
    (void)row;
    if (!negated && !strcmp(value, "."))
        return err_set(e, ERR_USAGE, "-t",
                       "the separator cannot be '.', which replaces the separator inside names");
    *(const char **)field = negated ? NULL : strcmp(value, "\\t") ? value : "\t";
    return true;
}

static bool take_absent(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    (void)value, (void)e;
    if (!negated)
        *(const char **)field = row->name;
    return true;
}

/* ---- rows ---- */

#define OWN                                  struct report_options
#define FLAG(letter, name, field, help)      OPTION_BOOL(letter, name, OWN, field, help)
#define TEXT(letter, name, field, arg, help) OPTION_STRING(letter, name, OWN, field, arg, help)
#define CALL(letter, name, field, arg, help, fn, ...) \
    OPTION_CALL(letter, name, OWN, field, arg, help, fn, __VA_ARGS__)
#define CHOICE(letter, name, field, help) \
    CALL(letter, name, field, NULL, help, report_take_choice, .flags = OPTION_NO_VALUE)
#define ABSENT(letter, name, help) \
    CALL(letter, name, absent, NULL, help " (not there yet)", take_absent, .flags = OPTION_NO_VALUE)

const struct option report_option_rows[] = {
    CHOICE('b', "branch-stack", branch_stack, "count branches, from the recorded branch stacks"),
    OPTION_STRING('c', "comms", OWN, comms, "comm[,comm...]", "only these commands",
                  .words = OPTION_WORDS_COMMS),
    TEXT('C', "cpu", cpus, "cpu", "only these CPUs"),
    OPTION_STRING('d', "dsos", OWN, dsos, "dso[,dso...]", "only these objects", .words = OPTION_WORDS_DSOS),
    FLAG('D', "dump-raw-trace", dump, "show every record, in hex and decoded"),
    OPTION_STRING('F', "fields", OWN, fields, "key[,keys...]",
                  "show these columns and no others; +key adds one; the keys are those of --sort",
                  .words = OPTION_WORDS_KEYS),
    INPUT_FORCE_OPTION(OWN, force),
    CALL('g', "call-graph", chain, "print_type,threshold[,print_limit],order,sort_key[,branch],value",
         "show call graphs", take_call_graph, .flags = OPTION_VALUE_ADOPT),
    CALL('G', "inverted", chain, NULL, "show call graphs starting from the outermost caller", take_inverted,
         .flags = OPTION_NO_VALUE),
    FLAG('H', "hierarchy", hierarchy, "show a tree with one level for each sort key"),
    INPUT_OPTION(OWN, input),
    FLAG('I', "show-info", show_info, "with --header: show its long descriptions too"),
    TEXT('k', "vmlinux", symbol.host.vmlinux, "file", "kernel image"),
    TEXT(0, "force-image", symbol.force_images, "[object=]file[,...]",
         "use these files even though nothing proves that they match"),
    TEXT('M', "disassembler-style", text_ignored, "disassembler style", "syntax of assembly, such as intel"),
    FLAG('m', "modules", live_modules, "load symbols of modules (with -k, of the running kernel)"),
    FLAG('n', "show-nr-samples", show_samples, "add a column with the number of samples"),
    TEXT('p', "parent", parent, "regex", "regex of the callers to group by with --sort parent"),
    FLAG('q', "quiet", quiet, "print no titles, warnings or messages"),
    OPTION_STRING('s', "sort", OWN, sort, "key[,key2...]",
                  "group by these keys; +key adds one to the default; 'help' explains them.\n"
                  "Fields of tracepoints are keys too (EVENT.FIELD, trace_fields). Keys:",
                  .words = OPTION_WORDS_KEYS),
    TEXT('S', "symbols", symbols, "symbol[,symbol...]",
         "only these symbols, or samples at these addresses (0x...)"),
    CALL('t', "field-separator", separator, "separator", "text between columns, which are then not padded",
         report_take_separator),
    OPTION_BOOL('T', NULL, OWN, threads, "counter values per thread"),
    CALL(0, "threads", thread_count, "n", "work on n threads; without a number, as -T", take_threads,
         .flags = OPTION_VALUE_ADOPT),
    FLAG('U', "hide-unresolved", hide_unresolved, "only entries that have a symbol"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "show more: addresses, and where names come from"),
    CALL('w', "column-widths", widths, "width[,width...]", "fixed column widths", report_take_widths),
    FLAG('x', "exclude-other", exclude_other, "only entries that have a parent as given by -p"),
    TEXT(0, "addr2line", text_ignored, "path",
         "accepted for compatibility and ignored: no other program is run for line numbers"),
    TEXT(0, "addr2line-style", text_ignored, "addr2line style",
         "accepted for compatibility and ignored, like --addr2line"),
    FLAG(0, "asm-raw", flag_ignored, "show the bytes of each instruction"),
    FLAG(0, "branch-history", branch_history, "add the last branches to the callchains"),
    CHOICE(0, "children", children, "add the cost of callees to their callers"),
    CALL(0, "demangle", symbol.raw_names, NULL, "demangle symbols", report_take_not,
         .flags = OPTION_NO_VALUE),
    FLAG(0, "demangle-kernel", symbol.demangle_kernel, "demangle the kernel's symbols too"),
    FLAG(0, "disable-order", disable_order, "with -D: show records in the order of the file, not by time"),
    FLAG(0, "full-source-path", full_source_path, "show whole paths of source files"),
    CHOICE(0, "group", group, "show the events of a group side by side"),
    OPTION_INT(0, "group-sort-idx", OWN, group_sort_index, "n", "sort groups by their n-th event"),
    FLAG(0, "grades", grades, "add a column that says how sure each name is"),
    ABSENT(0, "gtk", "show in a window"),
    FLAG(0, "header", header, "show the recording's header first"),
    FLAG(0, "header-only", header_only, "show only the recording's header"),
    TEXT(0, "ignore-callees", ignore_callees, "regex", "leave out everything that these functions call"),
    FLAG(0, "ignore-vmlinux", symbol.ignore_vmlinux, "do not use a vmlinux even if there is one"),
    FLAG(0, "inline", inlines, "show inlined functions"),
    CALL(0, "itrace", absent, "opts", "decode instruction traces", take_absent,
         .flags = OPTION_VALUE_OPTIONAL),
    FLAG(0, "json", json, "the profile as one line of JSON; with --stats: all sums"),
    TEXT(0, "jitdump-dir", jitdump_dir, "directory", "look for jitdumps (jit-PID.dump) here first"),
    TEXT(0, "kallsyms", symbol.host.kallsyms, "file", "kallsyms file"),
    FLAG(0, "latency", latency, "time that passed rather than time that CPUs spent"),
    OPTION_INT(0, "max-stack", OWN, max_stack, "n", "cut callchains after this many frames"),
    FLAG(0, "mem-mode", mem_mode, "show a profile of memory accesses"),
    FLAG(0, "mmaps", mmaps, "show the tasks and their mappings"),
    FLAG(0, "ns", nanoseconds, "show times in nanoseconds"),
    TEXT(0, "objdump", text_ignored, "path",
         "accepted for compatibility and ignored: no other program is run to disassemble"),
    TEXT(0, "parallelism", parallelism, "parallelism", "only samples taken at these levels of parallelism"),
    CALL(0, "percent-limit", percent_limit, "percent", "leave out entries below this percentage",
         report_take_percent),
    TEXT(0, "percent-type", text_ignored, "local-period", "what percentages in annotations are of"),
    CALL(0, "percentage", relative, "relative|absolute",
         "percentages of the samples that pass the filters, or of all", report_take_relative),
    TEXT(0, "pid", pids, "pid[,pid...]", "only these processes"),
    TEXT(0, "prefix", text_ignored, "prefix", "prefix for paths of source files"),
    TEXT(0, "prefix-strip", text_ignored, "N",
         "remove this many leading folders from paths of source files (with --prefix)"),
    TEXT(0, "pretty", pretty, "key", "with -T, style of counter values: normal or raw"),
    FLAG(0, "raw-trace", raw_trace, "show tracepoint fields as plain numbers"),
    TEXT(0, "samples", text_ignored, "n", "number of samples to keep for each entry (for the TUI)"),
    FLAG(0, "show-cpu-utilization", show_cpu_utilization, "add columns for system, user and guest time"),
    OPTION_BOOL(0, "showcpuutilization", OWN, show_cpu_utilization, "the same", .flags = OPTION_HIDDEN),
    FLAG(0, "show-on-off-events", flag_ignored, "show the events of --switch-on and --switch-off"),
    FLAG(0, "show-ref-call-graph", show_reference, "call graphs of the event that has them"),
    FLAG(0, "show-total-period", show_total_period, "add a column with the sum of the periods"),
    CALL(0, "skip-empty", keep_empty, NULL, "leave out events without samples", report_take_not,
         .flags = OPTION_NO_VALUE),
    OPTION_INT(0, "socket-filter", OWN, socket, "n", "only this processor socket"),
    FLAG(0, "source", flag_ignored, "show source code between the instructions"),
    FLAG(0, "stats", stats, "show how many records there are of each type"),
    CALL(0, "stdio", tui, NULL, "print the profile as text", report_take_stdio, .flags = OPTION_NO_VALUE),
    CALL(0, "stdio-color", color, "mode", "colours when printing: always, never or auto", take_color,
         .flags = OPTION_VALUE_ADOPT),
    FLAG(0, "stitch-lbr", stitch_lbr, "join LBR call stacks"),
    FLAG(0, "strict", strict, "name only frames that are proved; inferred ones stay without a name"),
    TEXT(0, "switch-off", switch_off, "event", "stop at the first of these events"),
    TEXT(0, "switch-on", switch_on, "event", "start with the first of these events"),
    TEXT(0, "symbol-filter", symbol_filter, "filter", "only symbols whose names contain this"),
    TEXT(0, "symfs", symbol.symfs, "directory[,layout]", "where to look for files with symbols"),
    FLAG(0, "tasks", tasks, "show the tasks as a tree"),
    TEXT(0, "tid", tids, "tid[,tid...]", "only these threads"),
    TEXT(0, "time", time, "str", "only samples from this span of time: start,stop"),
    CALL(0, "time-quantum", time_quantum_ns, "time (ms|us|ns|s)",
         "length of the slices of the sort key time (default: 100ms)", take_quantum),
    FLAG(0, "total-cycles", total_cycles, "show basic blocks, sorted by their cycles"),
    CHOICE(0, "tui", tui, "browse the profile in the terminal (the default there)"),
    TEXT(0, "unwind-style", text_ignored, "unwind styles",
         "accepted for compatibility and ignored: there is only one unwinder"),
    OPTION_END,
};

/* ---- configuration ---- */

static void config_chain(struct report_chain_options *c, const struct perfconfig *config) {
    static const char *const keys[] = {"call-graph.print-type", "call-graph.order", "call-graph.sort-key",
                                       "call-graph.threshold"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *text = perfconfig_text(config, keys[i]);
        if (text && !report_chain_text(c, text))
            log_line(LOG_WARN, "%s: \"%s\" is not one of its values", keys[i], text);
    }
    const char *limit = perfconfig_text(config, "call-graph.print-limit");
    if (limit)
        c->limit = (unsigned)strtoul(limit, NULL, 10);
}

void report_options_init(struct report_options *o, const struct perfconfig *config) {
    *o = (struct report_options){.inlines = true,
                                 .max_stack = DEFAULT_MAX_STACK,
                                 .socket = -1,
                                 .group_sort_index = -1,
                                 .time_quantum_ns = DEFAULT_QUANTUM_NS};
    o->chain.mode = PROFILE_CHAIN_GRAPH;
    o->chain.min_percent = DEFAULT_MIN_PERCENT;
    config_chain(&o->chain, config);
    o->children = perfconfig_bool(config, "report.children", true) ? REPORT_UNSAID : REPORT_NO;
    o->group = perfconfig_bool(config, "report.group", true) ? REPORT_UNSAID : REPORT_NO;
    o->keep_empty = !perfconfig_bool(config, "report.skip-empty", true);
    o->sort = perfconfig_text(config, "report.sort_order");
    const char *limit = perfconfig_text(config, "report.percent-limit");
    if (limit) {
        o->percent_limit = strtod(limit, NULL);
        o->chain.min_percent = o->percent_limit;
    }
    const char *percentage = perfconfig_text(config, "hist.percentage");
    o->relative = percentage && !strcmp(percentage, "relative");
    const char *color = perfconfig_text(config, "color.ui");
    if (color)
        o->color = !strcmp(color, "always")                                     ? REPORT_COLOR_ALWAYS
                   : !strcasecmp(color, "never") || !strcasecmp(color, "false") ? REPORT_COLOR_NEVER
                                                                                : REPORT_COLOR_AUTO;
}

void report_options_fini(struct report_options *o) {
    vec_fini(&o->widths);
}

bool report_options_settle(struct report_options *o, struct err *err) {
    if (o->absent)
        return absent_err(err, "report", o->absent);
    if (o->max_stack < 0)
        return err_set(err, ERR_USAGE, "--max-stack", "use a number that is not negative");
    return true;
}
