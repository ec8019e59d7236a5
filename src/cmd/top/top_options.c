/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top/top_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/options/absent.h"
#include "cmd/record/record_args.h"
#include "os/limits.h"
#include "os/proc/host.h"

enum { DEFAULT_DELAY_MS = 2000, LEAST_DELAY_MS = 100, MOST_DELAY_S = 86400, DWARF_RING_BYTES = 16 << 20 };

/* perf's; with comm in front a program that runs in many processes would be in many rows. */
#define DEFAULT_SORT "dso,sym"

bool top_delay_parse(const char *text, uint64_t *ms) {
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !isfinite(s) || s <= 0 || s > MOST_DELAY_S)
        return false;
    *ms = (uint64_t)(s * 1000);
    *ms = *ms < LEAST_DELAY_MS ? LEAST_DELAY_MS : *ms;
    return true;
}

static bool take_delay(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    uint64_t *ms = field;
    (void)row;
    *ms = DEFAULT_DELAY_MS;
    return negated || top_delay_parse(value, ms) ||
           err_set(e, ERR_USAGE, "-d", "\"%s\": use a number of seconds, such as 2 or 0.5", value);
}

/* Whether a word of --call-graph says how to record; else it says what to show. */
static bool is_record_mode(const char *word, size_t n) {
    static const char *const modes[] = {"fp", "dwarf", "lbr"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (n == strlen(modes[i]) && !strncmp(word, modes[i], n))
            return true;
    return false;
}

static bool bad_callgraph(const char *value, struct err *e) {
    return err_set(
        e, ERR_USAGE, "--call-graph",
        "\"%s\": use fp, dwarf[,size] or lbr first, then what report -g takes: graph, flat, fractal, "
        "folded, none; a percentage; caller or callee; function, address or srcline",
        value);
}

/* --call-graph [mode[,size]][,what report -g takes]: perf-top(1). */
static bool take_callgraph(const struct option *row, void *field, const char *value, bool negated,
                           struct err *e) {
    struct top_options *o = field;
    char mode[64];
    (void)row;
    o->record.callgraph = RECORD_CALLGRAPH_NONE;
    o->plain_callgraph = !negated;
    if (negated)
        return true;
    size_t n = strcspn(value, ",");
    if (is_record_mode(value, n)) {
        if (value[n] && n == strlen("dwarf") && value[n + 1] >= '0' && value[n + 1] <= '9')
            n += 1 + strcspn(value + n + 1, ",");
        if (n >= sizeof mode)
            return bad_callgraph(value, e);
        snprintf(mode, sizeof mode, "%.*s", (int)n, value);
        if (!record_args_callgraph(mode, &o->record, e))
            return false;
        value += n + (value[n] == ',');
    }
    return report_chain_text(&o->view.chain, value) || bad_callgraph(value, e);
}

static bool take_plain(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    struct top_options *o = field;
    (void)row, (void)value, (void)e;
    o->plain_callgraph = !negated;
    if (negated)
        o->record.callgraph = RECORD_CALLGRAPH_NONE;
    return true;
}

static bool take_absent(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    (void)value, (void)e;
    if (!negated)
        *(const char **)field = row->name;
    return true;
}

#define OWN                                  struct top_options
#define FLAG(letter, name, field, help, ...) OPTION_BOOL(letter, name, OWN, field, help, __VA_ARGS__)
#define TEXT(letter, name, field, arg, help, ...) \
    OPTION_STRING(letter, name, OWN, field, arg, help, __VA_ARGS__)
#define CALL(letter, name, field, arg, help, fn, ...) \
    OPTION_CALL(letter, name, OWN, field, arg, help, fn, __VA_ARGS__)
#define SELECT(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, OWN, selected, arg, help, event_choices_set, __VA_ARGS__)
/* The field is the whole struct. */
#define WHOLE(letter, name, arg, help, fn, ...) CALL(letter, name, record, arg, help, fn, __VA_ARGS__)
#define IGNORED(letter, name, arg, why) \
    TEXT(letter, name, view.text_ignored, arg, "accepted for compatibility and ignored: " why)
#define ABSENT(letter, name, arg, help, ...) \
    CALL(letter, name, absent, arg, help " (not there yet)", take_absent, __VA_ARGS__)

const struct option top_option_rows[] = {
    FLAG('a', "all-cpus", record.target.all_cpus, "system-wide collection from all CPUs"),
    CALL('b', "branch-any", record.branch_type, NULL, "sample any taken branches", record_take_branches,
         .flags = OPTION_NO_VALUE),
    OPTION_U64('c', "count", OWN, record.period, "n", "event period to sample"),
    TEXT('C', "cpu", record.target.cpus, "cpu", "list of cpus to monitor"),
    CALL('d', "delay", delay_ms, "seconds", "number of seconds to delay between refreshes", take_delay),
    ABSENT('D', "dump-symtab", NULL, "dump the symbol table used for profiling", .flags = OPTION_NO_VALUE),
    SELECT('e', "event", "event", "event selector. use 'sonde list' to list available events",
           .words = OPTION_WORDS_EVENTS),
    OPTION_U64('E', "entries", OWN, entries, "n", "display this many functions"),
    OPTION_U64('f', "count-filter", OWN, count_filter, "n",
               "only display functions with more events than this"),
    TEXT('F', "freq", freq, "freq or 'max'", "profile at this frequency"),
    WHOLE('g', NULL, NULL, "enables call-graph recording and display", take_plain, .flags = OPTION_NO_VALUE),
    SELECT('G', "cgroup", "name", "monitor event in cgroup name only"),
    FLAG('H', "hierarchy", view.hierarchy, "show entries in a hierarchy"),
    FLAG('i', "no-inherit", no_inherit, "child tasks do not inherit counters"),
    CALL('j', "branch-filter", record.branch_type, "branch filter mask", "branch stack filter modes",
         record_take_branches),
    TEXT('k', "vmlinux", view.symbol.host.vmlinux, "file", "vmlinux pathname"),
    FLAG('K', "hide_kernel_symbols", hide_kernel, "hide kernel symbols"),
    CALL('m', "mmap-pages", record.pages, "pages", "number of mmap data pages", record_take_pages),
    TEXT('M', "disassembler-style", view.text_ignored, "disassembler style",
         "syntax of assembly, such as intel"),
    FLAG('n', "show-nr-samples", view.show_samples, "show a column with the number of samples"),
    TEXT('p', "pid", record.target.pids, "pid", "profile events on existing process id"),
    OPTION_INT('r', "realtime", OWN, realtime, "n", "collect data with this RT SCHED_FIFO priority"),
    TEXT('s', "sort", view.sort, "key[,key2...]",
         "sort by key(s): see sonde report -h -s; +key adds one.\nKeys:", .words = OPTION_WORDS_KEYS),
    TEXT('t', "tid", record.target.tids, "tid", "profile events on existing thread id"),
    TEXT('u', "uid", user, "user", "user to profile"),
    FLAG('U', "hide_user_symbols", hide_user, "hide user symbols"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose (show counter open errors, etc)"),
    CALL('w', "column-widths", view.widths, "width[,width...]", "fixed column widths", report_take_widths),
    FLAG('z', "zero", zero, "zero history across updates"),
    IGNORED(0, "addr2line", "path", "no other program is run for line numbers"),
    FLAG(0, "all-cgroups", record.all_cgroups, "record cgroup events"),
    FLAG(0, "asm-raw", view.flag_ignored, "show the bytes of each instruction"),
    FLAG(0, "branch-history", view.branch_history, "add the last branches to the callchains"),
    WHOLE(0, "call-graph", "mode[,size][,print_type,...]",
          "set up call-graph recording (fp, dwarf[,size] or lbr) and display (as report -g), implies -g",
          take_callgraph),
    CALL(0, "children", view.children, NULL,
         "accumulate callchains of children and show total overhead as well", report_take_choice,
         .flags = OPTION_NO_VALUE),
    TEXT(0, "comms", view.comms, "comm[,comm...]", "only consider symbols in these comms",
         .words = OPTION_WORDS_COMMS),
    CALL(0, "demangle", view.symbol.raw_names, NULL, "demangle symbols", report_take_not,
         .flags = OPTION_NO_VALUE),
    FLAG(0, "demangle-kernel", view.symbol.demangle_kernel, "demangle the kernel's symbols too"),
    TEXT(0, "dsos", view.dsos, "dso[,dso...]", "only consider symbols in these dsos",
         .words = OPTION_WORDS_DSOS),
    TEXT(0, "fields", view.fields, "key[,keys...]",
         "output field(s): overhead, period, sample plus all of sort keys", .words = OPTION_WORDS_KEYS),
    SELECT(0, "filter", "filter", "event filter"),
    FLAG(0, "force", view.force, "accepted for compatibility: nothing is checked for its owner"),
    FLAG(0, "group", group, "put the counters into a counter group"),
    OPTION_INT(0, "group-sort-idx", OWN, view.group_sort_index, "n", "sort groups by their n-th event"),
    TEXT(0, "ignore-callees", view.ignore_callees, "regex", "leave out everything that these functions call"),
    FLAG(0, "inline", view.inlines, "show inlined functions in callchains (which may take much memory)"),
    FLAG(0, "ignore-vmlinux", view.symbol.ignore_vmlinux, "do not use a vmlinux even if there is one"),
    TEXT(0, "kallsyms", view.symbol.host.kallsyms, "file", "kallsyms pathname"),
    OPTION_INT(0, "max-stack", OWN, view.max_stack, "n", "cut callchains after this many frames"),
    FLAG(0, "namespaces", record.namespaces, "record namespaces events"),
    FLAG(0, "no-bpf-event", record.no_bpf_event, "do not record bpf events"),
    OPTION_U64(0, "num-thread-synthesize", OWN, record.synth_threads, "n",
               "number of threads to run event synthesis"),
    IGNORED(0, "objdump", "path", "no other program is run to disassemble"),
    FLAG(0, "overwrite", view.flag_ignored,
         "accepted for compatibility and ignored: what rings hold is always read from its beginning"),
    CALL(0, "percent-limit", view.percent_limit, "percent", "don't show entries under that percent",
         report_take_percent),
    CALL(0, "percentage", view.relative, "relative|absolute",
         "percentages of the samples that pass the filters, or of all", report_take_relative),
    SELECT(0, "pfm-events", "event", "libpfm4 event selector. use 'sonde list' to list available events"),
    TEXT(0, "prefix", view.text_ignored, "prefix", "prefix for paths of source files"),
    TEXT(0, "prefix-strip", view.text_ignored, "N",
         "remove this many leading folders from paths of source files (with --prefix)"),
    OPTION_U64(0, "proc-map-timeout", OWN, ignored, "ms",
               "accepted for compatibility and ignored: maps are read without a limit"),
    FLAG(0, "raw-trace", view.raw_trace, "show tracepoint fields as plain numbers"),
    FLAG(0, "show-on-off-events", view.flag_ignored, "show the events of --switch-on and --switch-off"),
    FLAG(0, "show-total-period", view.show_total_period, "show a column with the sum of periods"),
    FLAG(0, "source", view.flag_ignored, "show source code between the instructions"),
    CALL(0, "stdio", view.tui, NULL, "use the stdio interface", report_take_stdio, .flags = OPTION_NO_VALUE),
    FLAG(0, "stitch-lbr", view.stitch_lbr, "join LBR call stacks"),
    FLAG(0, "strict", view.strict, "name only frames that are proved; inferred ones stay without a name"),
    TEXT(0, "switch-off", switch_off, "event", "stop considering events after the occurrence of this event"),
    TEXT(0, "switch-on", switch_on, "event", "consider events after the occurrence of this event"),
    TEXT(0, "sym-annotate", sym_annotate, "symbol name",
         "symbol to annotate: its instructions instead of the profile, as text"),
    TEXT(0, "symbols", view.symbols, "symbol[,symbol...]", "only consider these symbols"),
    TEXT(0, "symfs", view.symbol.symfs, "directory[,layout]", "where to look for files with symbols"),
    CALL(0, "tui", view.tui, NULL, "browse the profile in the terminal (the default there)",
         report_take_choice, .flags = OPTION_NO_VALUE),
    OPTION_END,
};

void top_options_init(struct top_options *o, const struct perfconfig *config) {
    *o = (struct top_options){.record = {.inherit = true, .build_id_mmap = true, .no_build_ids = true},
                              .delay_ms = DEFAULT_DELAY_MS};
    report_options_init(&o->view, config);
    o->view.sort = NULL; /* report.sort_order is not for us; nor is report.percent-limit */
    o->view.percent_limit = 0;
    o->view.inlines = false;
    o->view.children = perfconfig_bool(config, "top.children", true) ? REPORT_UNSAID : REPORT_NO;
}

void top_options_fini(struct top_options *o) {
    report_options_fini(&o->view);
    vec_fini(&o->selected);
    free(o->sort);
}

/* The columns: those of perf top by default, and what is added to them. */
static bool settle_sort(struct top_options *o, struct err *err) {
    const char *sort = o->view.sort;
    if (!sort && o->view.fields && o->view.fields[0] != '+')
        return true;
    if (!sort || sort[0] == '+') {
        if (asprintf(&o->sort, DEFAULT_SORT "%s%s", sort && sort[1] ? "," : "", sort ? sort + 1 : "") < 0) {
            o->sort = NULL;
            return err_memory(err, "columns");
        }
        o->view.sort = o->sort;
    }
    return true;
}

bool top_options_settle(struct top_options *o, const struct perfconfig *config,
                        struct perf_event_sources *src, struct perf_events *events, struct err *err) {
    struct record_options *r = &o->record;
    if (o->absent)
        return absent_err(err, "top", o->absent);
    if (o->view.max_stack < 0)
        return err_set(err, ERR_USAGE, "--max-stack", "use a number that is not negative");
    const char *mode = perfconfig_text(config, "top.call-graph");
    if (o->plain_callgraph && r->callgraph == RECORD_CALLGRAPH_NONE && mode &&
        !record_args_callgraph(mode, r, err))
        return false;
    if (o->plain_callgraph && !record_args_plain_callgraph(config, r, err))
        return false;
    if (r->target.tids)
        r->inherit = false;
    if (o->no_inherit)
        r->inherit = false;
    bool ok = record_args_rate(o->freq, r, &sysfs_system, err) &&
              event_options_user(o->user, o->user_number, &r->target.uid, err) && settle_sort(o, err) &&
              event_choices_parse(&o->selected, src, events, NULL, err) &&
              (!o->realtime || os_limits_realtime(o->realtime, err));
    if (ok && o->group)
        record_args_join(events);
    /* Stacks are unwound where the rings are read: until that goes on, they have to hold half a second of
     * dumps. What others may lock is limited. */
    if (r->callgraph == RECORD_CALLGRAPH_DWARF && !r->pages && os_host_root())
        r->pages = DWARF_RING_BYTES / os_limits_page_bytes();
    r->delay_ms = 1; /* until what there was before has been read: a high rate would leave no time for that */
    r->target.all_cpus |= !r->target.pids && !r->target.tids && !r->target.uid && !r->target.cpus;
    return ok;
}
