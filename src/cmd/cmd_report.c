/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a recording, unresolved: raw dump, counts, tasks, maps, header. */
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/reading.h"
#include "stream/order.h"
#include "view/dump.h"
#include "view/header_text.h"
#include "view/mmaps.h"
#include "view/stats.h"
#include "view/tasks.h"

struct report_options {
    bool force, quiet, dump, disable_order, stats, json, tasks, mmaps, header, header_only, show_info;
    int verbose;
    const char *input;
    const char *later; /* takes the options of the report proper */
};

/* An option of the report proper: taken, so that scripts that give it get the one answer there is. */
static bool take_later(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    (void)value, (void)e;
    if (!negated)
        *(const char **)field = row->name;
    return true;
}

#define LATER(letter, name, arg, help, ...) \
    OPTION_CALL(letter, name, struct report_options, later, arg, help, take_later, __VA_ARGS__)
#define LATER_FLAG(letter, name, help) LATER(letter, name, NULL, help, .flags = OPTION_NO_VALUE)

static const struct option options[] = {
    LATER_FLAG('b', "branch-stack", "a histogram of branches, from the branch records"),
    LATER('c', "comms", "comm[,comm...]", "only these commands"),
    LATER('C', "cpu", "cpu", "only these CPUs"),
    LATER('d', "dsos", "dso[,dso...]", "only these objects"),
    OPTION_BOOL('D', "dump-raw-trace", struct report_options, dump, "every record, in hex and decoded"),
    LATER('F', "fields", "key[,keys...]", "the columns, and no others"),
    INPUT_FORCE_OPTION(struct report_options, force),
    LATER('g', "call-graph", "print_type,threshold[,print_limit],order,sort_key[,branch],value",
          "show call graphs", .flags = OPTION_VALUE_ADOPT),
    LATER_FLAG('G', "inverted", "call graphs from the caller down"),
    LATER_FLAG('H', "hierarchy", "one level of a tree for each sort key"),
    INPUT_OPTION(struct report_options, input),
    OPTION_BOOL('I', "show-info", struct report_options, show_info,
                "with --header: its long descriptions too"),
    LATER('k', "vmlinux", "file", "kernel image"),
    LATER('M', "disassembler-style", "disassembler style", "syntax of assembly, such as intel"),
    LATER_FLAG('m', "modules", "load symbols of modules (with -k, of the running kernel)"),
    LATER_FLAG('n', "show-nr-samples", "a column with the number of samples"),
    LATER('p', "parent", "regex", "callers to group by, with --sort parent"),
    OPTION_BOOL('q', "quiet", struct report_options, quiet, "no warnings and messages"),
    LATER('s', "sort", "key[,key2...]", "sort by these keys"),
    LATER('S', "symbols", "symbol[,symbol...]", "only these symbols"),
    LATER('t', "field-separator", "separator", "what separates columns, which are not padded then"),
    LATER_FLAG('T', "threads", "counter values per thread"),
    LATER_FLAG('U', "hide-unresolved", "only what has a symbol"),
    OPTION_COUNT('v', "verbose", struct report_options, verbose, "say more"),
    LATER('w', "column-widths", "width[,width...]", "fixed widths of columns"),
    LATER_FLAG('x', "exclude-other", "only what has a parent of -p"),
    LATER(0, "addr2line", "path", "taken for perf's sake: no other program is run for line numbers"),
    LATER(0, "addr2line-style", "addr2line style", "taken for perf's sake, like --addr2line"),
    LATER_FLAG(0, "asm-raw", "encodings beside the assembly"),
    LATER_FLAG(0, "branch-history", "the last branches as part of the call chains"),
    LATER_FLAG(0, "children", "add what callees cost to their callers"),
    LATER_FLAG(0, "demangle", "demangle symbols"),
    LATER_FLAG(0, "demangle-kernel", "demangle the kernel's symbols too"),
    OPTION_BOOL(0, "disable-order", struct report_options, disable_order,
                "with -D: records as they are in the file, not by time"),
    LATER_FLAG(0, "full-source-path", "whole paths of source files"),
    LATER_FLAG(0, "group", "the events of a group side by side"),
    LATER(0, "group-sort-idx", "n", "sort groups by their n-th event"),
    OPTION_BOOL(0, "header", struct report_options, header, "the recording's header first"),
    OPTION_BOOL(0, "header-only", struct report_options, header_only, "the recording's header, nothing else"),
    LATER(0, "ignore-callees", "regex", "leave out what these functions call"),
    LATER_FLAG(0, "ignore-vmlinux", "do not use a vmlinux even if there is one"),
    LATER_FLAG(0, "inline", "show inlined functions"),
    LATER(0, "itrace", "opts", "decode instruction traces", .flags = OPTION_VALUE_OPTIONAL),
    OPTION_BOOL(0, "json", struct report_options, json, "with --stats: all sums as one line of JSON"),
    LATER(0, "kallsyms", "file", "kallsyms file"),
    LATER_FLAG(0, "latency", "time that passed rather than time that CPUs spent"),
    LATER(0, "max-stack", "n", "no call chains longer than this"),
    LATER_FLAG(0, "mem-mode", "a profile of memory accesses"),
    OPTION_BOOL(0, "mmaps", struct report_options, mmaps, "the tasks, and what each had mapped"),
    LATER_FLAG(0, "ns", "times in nanoseconds"),
    LATER(0, "objdump", "path", "taken for perf's sake: no other program is run to disassemble"),
    LATER(0, "parallelism", "parallelism", "only these levels of parallelism"),
    LATER(0, "percent-limit", "percent", "nothing that is below this"),
    LATER(0, "percent-type", "local-period", "what percentages in annotations are of"),
    LATER(0, "percentage", "relative|absolute", "percentages of what filters leave, or of all"),
    LATER(0, "pid", "pid[,pid...]", "only these processes"),
    LATER(0, "prefix", "prefix", "put this before paths of source files"),
    LATER(0, "prefix-strip", "N", "take as many folders off paths of source files, with --prefix"),
    LATER(0, "pretty", "key", "style of counter values: normal or raw"),
    LATER_FLAG(0, "raw-trace", "tracepoint fields as they are"),
    LATER(0, "samples", "n", "keep as many samples of each entry"),
    LATER_FLAG(0, "show-cpu-utilization", "columns for system, user and guest"),
    LATER_FLAG(0, "show-on-off-events", "show the events of --switch-on and --switch-off"),
    LATER_FLAG(0, "show-ref-call-graph", "call graphs of the event that has them"),
    LATER_FLAG(0, "show-total-period", "a column with the sum of the periods"),
    LATER_FLAG(0, "skip-empty", "leave out events without samples"),
    LATER(0, "socket-filter", "n", "only this processor socket"),
    LATER_FLAG(0, "source", "source code between the assembly"),
    OPTION_BOOL(0, "stats", struct report_options, stats, "how many records there are of each type"),
    LATER_FLAG(0, "stdio", "print, rather than show on the terminal"),
    LATER(0, "stdio-color", "mode", "colours when printing: always, never or auto"),
    LATER_FLAG(0, "stitch-lbr", "join LBR call stacks"),
    LATER(0, "switch-off", "event", "look no further from this event on"),
    LATER(0, "switch-on", "event", "look from this event on"),
    LATER(0, "symbol-filter", "filter", "only symbols that contain this"),
    LATER(0, "symfs", "directory[,layout]", "where to look for files with symbols"),
    OPTION_BOOL(0, "tasks", struct report_options, tasks, "the tasks, as a tree"),
    LATER(0, "tid", "tid[,tid...]", "only these threads"),
    LATER(0, "time", "str", "only this span of time: start,stop"),
    LATER(0, "time-quantum", "time (ms|us|ns|s)", "grain of the sort key time"),
    LATER_FLAG(0, "total-cycles", "basic blocks by their cycles"),
    LATER_FLAG(0, "tui", "show on the terminal"),
    LATER(0, "unwind-style", "unwind styles", "taken for perf's sake: there is one unwinder"),
    OPTION_END,
};

/* The first pass: everything that is no sample into a model. NULL: *err says why. */
static struct model *make_model(struct reading *r, unsigned need, struct err *err) {
    struct model *m = model_new(&(struct model_options){.need = need}, err);
    if (m && reading_first_pass(r, m, NULL, NULL, NULL, err))
        return m;
    model_free(m);
    return NULL;
}

static void write_header(const struct reading *r, bool full, struct out *out) {
    struct header_text_options text = {.full = full, .captured_s = reading_captured_s(r)};
    header_text_write(stream_header(r->stream), &r->namer, &text, out);
}

static bool write_stats(struct reading *r, bool json, struct out *out, struct err *err) {
    struct stats t;
    stats_init(&t, json);
    bool ok = stats_read(&t, r->stream, err) && reading_names(r, err);
    /* What could be read is worth showing even so. */
    if (json)
        stats_print_json(&t, r->stream, out);
    else
        stats_print(&t, r->stream, out);
    stats_fini(&t);
    return ok;
}

/* perf sorts by time only when every record has one; records of a file without sample_id_all do not. */
static bool can_order(const struct reading *r) {
    return r->events->list.count && r->events->list.items[0].attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL;
}

static bool write_dump(struct reading *r, bool disable_order, struct out *out, struct err *err) {
    struct model *m = make_model(r, MODEL_NEED_COMMS | MODEL_NEED_MAPS, err);
    if (!m)
        return false;
    const struct perfdata_header *h = stream_header(r->stream);
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE;
    struct dump dump;
    struct stats stats;
    struct order order;
    struct stream_record rec;
    enum stream_status status;
    bool ok = true;
    dump_init(&dump, r->events, h, &r->namer, m, pipe ? "pipe" : stream_path(r->stream));
    stats_init(&stats, false);
    stats.samples_only = true;
    order_init(&order, r->stream, NULL, NULL, disable_order || !can_order(r));
    while (ok && (status = order_next(&order, &rec, err)) == STREAM_RECORD) {
        const char *reason = dump_record(&dump, &rec, out);
        /* Others than samples were decoded in the first pass, and counted there if they are bad. */
        if (reason && rec.raw.type == PERFDATA_RECORD_SAMPLE)
            stream_bad_record(r->stream, &rec, reason);
        stats_add(&stats, r->events, &rec, &ok);
        if (!ok)
            err_memory(err, "statistics");
        ok = ok && !out->failed;
    }
    stats_print(&stats, r->stream, out);
    order_fini(&order);
    stats_fini(&stats);
    dump_fini(&dump);
    model_free(m);
    return ok && status == STREAM_END;
}

static bool write_tasks(struct reading *r, bool mmaps, struct out *out, struct err *err) {
    struct model *m = make_model(r, mmaps ? MODEL_NEED_COMMS | MODEL_NEED_MAPS : MODEL_NEED_COMMS, err);
    if (!m)
        return false;
    bool ok = mmaps ? mmaps_print(m, r->stream, out, err) : tasks_print(m, NULL, NULL, out, err);
    model_free(m);
    return ok;
}

static bool write_all(struct reading *r, const struct report_options *o, struct out *out, struct err *err) {
    if (o->header || o->header_only)
        write_header(r, o->show_info, out);
    if (o->header_only)
        return true;
    if (o->dump && !o->header && !o->quiet && !o->stats && !o->tasks && !o->mmaps)
        out_str(out,
                "# To display the perf.data header info, please use --header/--header-only options.\n#\n");
    if (o->dump && !write_dump(r, o->disable_order, out, err))
        return false;
    if (o->stats && !o->dump && !write_stats(r, o->json, out, err))
        return false;
    return (!o->tasks && !o->mmaps) || write_tasks(r, o->mmaps, out, err);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct report_options o = {0};
    struct reading r;
    struct err err = ERR_INIT;
    struct out out;
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1) /* one operand names a symbol: --symbol-filter */
        return command_usage(env, NULL);
    if (o.stats && (o.tasks || o.mmaps))
        return command_usage(env, "--tasks and --mmaps can't be used together with --stats");
    if (o.json && !o.stats)
        return command_usage(env, "--json needs --stats");
    command_log(env, o.verbose, o.quiet);
    if (!o.dump && !o.stats && !o.tasks && !o.mmaps && !o.header_only) {
        err_set(&err, ERR_UNSUPPORTED, NULL,
                "report: the profile is not there yet; -D, --stats, --tasks, --mmaps and --header-only are");
        return command_fail(&err);
    }
    if (!reading_open(&r, input_path(o.input), o.force, &err)) {
        status = command_fail(&err);
    } else if (!command_output(env, &out)) {
        status = EXIT_ERROR;
    } else {
        status = write_all(&r, &o, &out, &err) ? EXIT_OK : command_fail(&err);
        int read_status = reading_status(&r);
        status = command_finish(env, &out, status ? status : read_status);
    }
    reading_close(&r);
    return status;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "Show the profile in a recording",
    .usage = (const char *const[]){"report [<options>]", NULL},
    .options = options,
    .run = run,
};
