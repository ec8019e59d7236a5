/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff/diff_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/input.h"

/* perf's; addresses of another build say nothing, so these are what can be matched. */
#define DEFAULT_SORT "dso,symbol"

static const double DEFAULT_LEVEL = 0.95;

/* Parses "W1,W2" of wdiff: the base's weight first. */
static bool take_weights(const char *text, struct compare_computation *how) {
    char *end;
    errno = 0;
    how->base_weight = strtoll(text, &end, 10);
    if (end == text || *end != ',')
        return false;
    text = end + 1;
    how->new_weight = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static bool compute_parse(const char *text, struct diff_options *o, struct err *err) {
    static const struct {
        const char *name;
        enum compare_method method;
    } methods[] = {{"delta", COMPARE_DELTA}, {"delta-abs", COMPARE_DELTA_ABS}, {"ratio", COMPARE_RATIO}};
    o->cycles = strcmp(text, "cycles") == 0;
    if (o->cycles)
        return true;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(text, methods[i].name) == 0) {
            o->how.method = methods[i].method;
            return true;
        }
    size_t name = strcspn(text, ":");
    if (name == strlen("wdiff") && strncmp(text, "wdiff", name) == 0) {
        o->how.method = COMPARE_WDIFF;
        return (text[name] && take_weights(text + name + 1, &o->how)) ||
               err_set(err, ERR_USAGE, "-c", "wrong weight data, use 'wdiff:w1,w2'");
    }
    return err_set(err, ERR_USAGE, "-c",
                   "'%s' is not computation method (use 'delta','delta-abs','ratio', 'wdiff' or 'cycles')",
                   text);
}

static bool take_compute(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct diff_options *o = field;
    (void)row;
    if (!negated)
        return compute_parse(value, o, e);
    o->cycles = false;
    o->how = (struct compare_computation){0};
    return true;
}

static bool read_percent(const char *text, size_t len, double *share) {
    char *end;
    double percent = strtod(text, &end);
    end += *end == '%';
    *share = percent / 100;
    return end != text && end == text + len && percent >= 0 && percent < 1e6;
}

/* --gate PERCENT[,FUNCTION] */
static bool take_gate(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    struct diff_options *o = field;
    (void)row;
    o->gate = !negated;
    o->gate_share = 0;
    o->gate_function = NULL;
    if (negated)
        return true;
    size_t len = strcspn(value, ",");
    if (value[len] && value[len + 1])
        o->gate_function = value + len + 1;
    return read_percent(value, len, &o->gate_share) ||
           err_set(e, ERR_USAGE, "--gate", "\"%s\": use percent, as in 5%%, or 5,FUNCTION", value);
}

static bool take_level(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    struct diff_options *o = field;
    (void)row;
    o->level = DEFAULT_LEVEL;
    return negated ||
           (read_percent(value, strlen(value), &o->level) && o->level >= 0.5 && o->level <= 0.99) ||
           err_set(e, ERR_USAGE, "--level", "\"%s\": use percent between 50 and 99", value);
}

/* -c is about several fields: its own is the whole struct, whose first member is `report`. */
#define OWN                                  struct diff_options
#define FLAG(letter, name, field, help, ...) OPTION_BOOL(letter, name, OWN, field, help, __VA_ARGS__)
#define TEXT(letter, name, field, arg, help, ...) \
    OPTION_STRING(letter, name, OWN, field, arg, help, __VA_ARGS__)
#define CALL(letter, name, field, arg, help, fn, ...) \
    OPTION_CALL(letter, name, OWN, field, arg, help, fn, __VA_ARGS__)

const struct option diff_option_rows[] = {
    FLAG('b', "baseline-only", baseline_only, "show only rows that the baseline and another file have"),
    TEXT('C', "comms", report.comms, "comm[,comm...]", "only these commands", .words = OPTION_WORDS_COMMS),
    OPTION_CALL('c', "compute", OWN, report, "delta,delta-abs,ratio,wdiff:w1,w2,cycles",
                "what to compute of two rows (default: delta-abs)", take_compute),
    TEXT('d', "dsos", report.dsos, "dso[,dso...]", "only these objects", .words = OPTION_WORDS_DSOS),
    FLAG('D', "dump-raw-trace", dump, "show every record of the files first, in hex and decoded"),
    FLAG('F', "formula", formulas, "add a column that shows how the number was computed"),
    INPUT_FORCE_OPTION(OWN, report.force),
    FLAG('g', "call-graph", callers, "show below each row who called it, and how that changed"),
    TEXT('k', "vmlinux", report.symbol.host.vmlinux, "file", "kernel image"),
    FLAG('m', "modules", report.live_modules, "load symbols of modules (with -k, of the running kernel)"),
    OPTION_INT('o', "order", OWN, order, "n",
               "sort by what is computed of the n-th file; 0: by the baseline"),
    FLAG('p', "period", periods, "add columns with the sums of the periods"),
    FLAG('q', "quiet", report.quiet, "print no titles, warnings or messages"),
    OPTION_STRING('s', "sort", OWN, report.sort, "key[,key2...]",
                  "group by these keys; +key adds one to the default, which is " DEFAULT_SORT ". Keys:",
                  .words = OPTION_WORDS_KEYS),
    TEXT('S', "symbols", report.symbols, "symbol[,symbol...]", "only these symbols"),
    CALL('t', "field-separator", report.separator, "separator",
         "text between columns, which are then not aligned", report_take_separator),
    OPTION_COUNT('v', "verbose", OWN, report.verbose, "show more: addresses, and where names come from"),
    TEXT(0, "base", base, "file[,file...]", "judge changes from these recordings to those of --new"),
    TEXT(0, "base-stat", base_stat, "file[,file...]",
         "show what these files of stat record counted above the table, beside those of --new-stat"),
    TEXT(0, "by", by_event, "event",
         "judge what is counted for one of this event, not shares of all samples"),
    FLAG(0, "by-time", by_time, "judge what is counted in a second"),
    TEXT(0, "cpu", report.cpus, "cpu", "only samples of these CPUs"),
    FLAG(0, "exact", exact, "match rows by their texts alone, as perf does"),
    FLAG(0, "cycles-hist", histogram, "with -c cycles: show how much the cycles of a block vary"),
    OPTION_CALL(0, "gate", OWN, report, "percent[,function]",
                "status 1 if a function (this one) is proved to cost more by more than that, 2 if it cannot "
                "be judged",
                take_gate),
    FLAG(0, "inline", inlined,
         "count a function that a recording lacks where it is inlined, so that its time is one row in all "
         "builds"),
    FLAG(0, "json", json, "judge, and print JSON"),
    TEXT(0, "kallsyms", report.symbol.host.kallsyms, "file", "kallsyms file"),
    OPTION_CALL(0, "level", OWN, report, "percent", "how often all intervals are to hold together (95)",
                take_level),
    TEXT(0, "new", now, "file[,file...]", "judge changes to these recordings"),
    TEXT(0, "new-stat", new_stat, "file[,file...]", "runs to compare with those of --base-stat"),
    TEXT(0, "per", per, "n[,n...]",
         "judge what is counted for one request: how many each recording has, in the order of the files"),
    CALL(0, "percentage", report.relative, "relative|absolute",
         "percentages of the samples that pass the filters, or of all", report_take_relative),
    TEXT(0, "pid", report.pids, "pid[,pid...]", "only these processes"),
    FLAG(0, "stream", streams, "compare the hottest ways that branch records show"),
    TEXT(0, "symfs", report.symbol.symfs, "directory[,layout]", "where to look for files with symbols"),
    TEXT(0, "tid", report.tids, "tid[,tid...]", "only these threads"),
    TEXT(0, "time", report.time, "str",
         "only samples from this span of time: start,stop; spans of several files are separated by colons"),
    OPTION_CALL(0, "tui", OWN, report.tui, NULL, "browse the comparison in the terminal", report_take_choice,
                .flags = OPTION_NO_VALUE),
    FLAG(0, "verdict", verdict, "judge which changes are proved: an interval for each row"),
    OPTION_END,
};

void diff_options_init(struct diff_options *o, const struct perfconfig *config) {
    struct err err = ERR_INIT;
    *o = (struct diff_options){.order = 1, .level = DEFAULT_LEVEL};
    report_options_init(&o->report, config);
    struct report_options *r = &o->report;
    r->sort = NULL;
    r->fields = NULL;
    r->percent_limit = 0;
    const char *compute = perfconfig_text(config, "diff.compute"),
               *order = perfconfig_text(config, "diff.order");
    if (compute && !compute_parse(compute, o, &err))
        log_line(LOG_WARN, "diff.compute: %s", err.message);
    if (order)
        o->order = (int)strtol(order, NULL, 10);
}

void diff_options_fini(struct diff_options *o) {
    report_options_fini(&o->report);
}

bool diff_options_settle(struct diff_options *o, struct err *err) {
    struct report_options *r = &o->report;
    r->sort = r->sort ? r->sort : "dso,symbol";
    r->children = r->branch_stack = r->group = REPORT_NO;
    r->chain.mode = o->callers ? PROFILE_CHAIN_GRAPH : PROFILE_CHAIN_NONE;
    r->chain.order = PROFILE_CALLEE; /* and nothing is left out on one side alone */
    r->chain.order_said = true;
    r->chain.min_percent = 0;
    r->chain.asked = o->callers;
    r->inlines = o->callers;
    r->own_inlines = o->inlined;
    r->slices = diff_judges(o);
    r->blocks = o->cycles;
    r->block_values = o->cycles && o->histogram;
    r->streams = o->streams;
    if (!o->base_stat != !o->new_stat)
        return err_set(err, ERR_USAGE, NULL, "--base-stat and --new-stat go together");
    if (o->histogram && !o->cycles)
        return err_set(err, ERR_USAGE, "--cycles-hist", "goes with -c cycles only");
    if ((o->cycles || o->streams) && (diff_judges(o) || o->callers || o->inlined))
        return err_set(err, ERR_USAGE, o->streams ? "--stream" : "-c cycles",
                       "does not go with -g, --inline or a verdict");
    if (diff_judges(o) && (r->separator || o->periods || o->formulas || o->baseline_only))
        return err_set(err, ERR_USAGE, NULL,
                       "-b, -F, -p and -t do not go with a verdict; --json has all numbers");
    return report_options_settle(r, err);
}
