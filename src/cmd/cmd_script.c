/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/command.h"
#include "cmd/filter.h"
#include "cmd/input.h"
#include "cmd/reading.h"
#include "cmd/time_range.h"
#include "format/perfdata/feature.h"
#include "stream/order.h"
#include "view/dump.h"
#include "view/header_text.h"
#include "view/readings.h"
#include "view/script_print.h"
#include "view/script_record.h"

struct script_options {
    const char *input;
    bool force;
    int verbose;
    struct option_list fields; /* -F */
    bool ns, reltime, deltatime, latency, hide_chains, no_merge;
    int max_stack;
    const char *time, *cpus, *pids, *tids, *comms;
    const char *switch_on, *switch_off;
    bool show_switches;
    bool header, header_only, header_full;
    bool dump, dump_unsorted;
    bool show[16];       /* by the bit of enum script_show */
    const char *ignored; /* for options that change nothing as long as functions have no names */
    bool ignored_flag;
    const char *absent; /* an option of perf's that sonde does not have yet */
};

enum { DEFAULT_MAX_STACK = 127 }; /* as perf's, from the kernel's default perf_event_max_stack */

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
    OPTION_COUNT('v', "verbose", OWN, verbose, "say more"),
    OPTION_LIST(
        'F', "fields", OWN, fields, "str",
        "comma separated output fields, prepended with 'type:'; +field to add and -field to remove.\n"
        "Types: hw, sw, trace, raw, synth.\n"
        "Fields: comm, tid, pid, time, cpu, event, trace, ip, sym, dso, dsoff, addr, symoff, srcline,\n"
        "period, iregs, uregs, brstack, brstacksym, brstackoff, flags, data_src, weight, bpf-output,\n"
        "synth, phys_addr, misc, tod, data_page_size, code_page_size, ins_lat, retire_lat, machine_pid,\n"
        "vcpu, cgroup"),
    OPTION_BOOL('G', "hide-call-graph", OWN, hide_chains, "do not show callchains"),
    OPTION_BOOL('L', "Latency", OWN, latency, "show latency attributes (irqs/preemption disabled, etc)"),
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "list of cpus to show"),
    OPTION_STRING('c', "comms", OWN, comms, "comm[,comm...]", "only show these comms"),
    OPTION_STRING(0, "pid", OWN, pids, "pid[,pid...]", "only show these pids"),
    OPTION_STRING(0, "tid", OWN, tids, "tid[,tid...]", "only show these tids"),
    OPTION_STRING(0, "time", OWN, time, "str", "time span of interest: start,stop or a%/n,... or a%-b%,..."),
    OPTION_BOOL(0, "ns", OWN, ns, "show nine decimal places of times"),
    OPTION_BOOL(0, "reltime", OWN, reltime, "show times relative to the first"),
    OPTION_BOOL(0, "deltatime", OWN, deltatime, "show times relative to the one before"),
    OPTION_INT(0, "max-stack", OWN, max_stack, "n", "show at most n addresses of a callchain (default: 127)"),
    OPTION_STRING(0, "switch-on", OWN, switch_on, "event", "show samples only after this event was seen"),
    OPTION_STRING(0, "switch-off", OWN, switch_off, "event", "show samples only until this event is seen"),
    OPTION_BOOL(0, "show-on-off-events", OWN, show_switches,
                "show the events of --switch-on and --switch-off too"),
    OPTION_BOOL(0, "no-merge-callchains", OWN, no_merge, "show deferred callchains where they were recorded"),
    OPTION_BOOL('D', "dump-raw-trace", OWN, dump, "dump every record, then show it"),
    OPTION_BOOL(0, "dump-unsorted-raw-trace", OWN, dump_unsorted, "the same in the order of the file"),
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
    OPTION_STRING(0, "symfs", OWN, ignored, "directory", "look for files with symbols under this directory"),
    OPTION_BOOL(0, "inline", OWN, ignored_flag, "show inlined functions"),
    OPTION_BOOL(0, "demangle", OWN, ignored_flag, "demangle symbols"),
    OPTION_BOOL(0, "demangle-kernel", OWN, ignored_flag, "demangle kernel symbols"),
    OPTION_BOOL(0, "full-source-path", OWN, ignored_flag, "show source files with their whole path"),
    OPTION_BOOL(0, "show-kernel-path", OWN, ignored_flag, "show the path of the kernel's image"),
    ABSENT_FLAG('a', "all-cpus", "of script record"),
    ABSENT_FLAG('d', "debug-mode", "check order and losses"),
    ABSENT('g', "gen-script", "lang", "write the start of a script"),
    ABSENT('k', "vmlinux", "file", "kernel image"),
    ABSENT_FLAG('l', "list", "list scripts"),
    ABSENT('s', "script", "name", "give the samples to a script"),
    ABSENT('S', "symbols", "symbol[,symbol...]", "only these symbols"),
    ABSENT(0, "addr-range", "n", "with -S"),
    ABSENT(0, "addr2line", "path", "addr2line binary"),
    ABSENT_FLAG(0, "call-ret-trace", "calls and returns of an instruction trace"),
    ABSENT_FLAG(0, "call-trace", "calls of an instruction trace"),
    ABSENT(0, "dlarg", "arg", "argument for --dlfilter"),
    ABSENT(0, "dlfilter", "file", "filter by a shared object"),
    ABSENT(0, "dsos", "dso[,dso...]", "only these DSOs"),
    ABSENT(0, "graph-function", "symbol", "only calls from these functions"),
    ABSENT_FLAG(0, "guest-code", "guest code is in the hypervisor's process"),
    ABSENT(0, "guestkallsyms", "file", "guest's kallsyms"),
    ABSENT(0, "guestmodules", "file", "guest's modules"),
    ABSENT(0, "guestmount", "directory", "where guests' root directories are mounted"),
    ABSENT(0, "guestvmlinux", "file", "guest's kernel image"),
    ABSENT(0, "insn-trace", "raw|disasm", "instructions of an instruction trace",
           .flags = OPTION_VALUE_OPTIONAL),
    ABSENT(0, "itrace", "opts", "decode instruction traces", .flags = OPTION_VALUE_OPTIONAL),
    ABSENT(0, "kallsyms", "file", "kallsyms file"),
    ABSENT_FLAG(0, "list-dlfilters", "list filters"),
    ABSENT(0, "max-blocks", "n", "for brstackinsn"),
    ABSENT_FLAG(0, "per-event-dump", "one file per event"),
    ABSENT_FLAG(0, "stitch-lbr", "join LBR callchains"),
    ABSENT(0, "stop-bt", "symbol", "cut callchains at a symbol"),
    ABSENT_FLAG(0, "xed", "disassemble with xed"),
    OPTION_END,
};

/* A callchain that came after its sample: the CALLCHAIN_DEFERRED at loc. */
struct deferred {
    uint64_t cookie, loc;
};

/* Everything while it runs. */
struct script {
    const struct script_options *o;
    struct command_env *env;
    struct reading reading;
    struct model *model;
    struct out out;
    bool out_open;
    struct script_print print;
    struct script_guests guests;
    struct readings readings; /* totals of group reads */
    unsigned show;            /* enum script_show */
    struct time_ranges times;
    struct filter filter;
    uint32_t on_event, off_event; /* --switch-on, --switch-off; PERFDATA_NO_EVENT: none */
    bool on;                      /* samples are shown at present */
    struct reading_span span;     /* of the samples; a pipe's is not known */
    VEC(struct deferred) deferred;
    bool deferred_sorted;
    uint64_t round_locs[3]; /* streaming: where the last rounds ended, the latest last */
    bool round_ended;
    bool failed; /* memory ran out where it could not be said */
    struct perfdata_sample sample;
};

/* ---- deferred callchains ---- */

/* What is needed of records ahead of their turn: guests, and chains that came late. False: memory. */
static bool note_record(struct script *s, const struct stream_record *r) {
    struct perfdata_record rec;
    bool index = r->raw.type == PERFDATA_RECORD_ID_INDEX;
    if ((!index && r->raw.type != PERFDATA_RECORD_CALLCHAIN_DEFERRED) ||
        !reading_decode(&s->reading, r, &rec))
        return true;
    if (index)
        return script_guests_add(&s->guests, &rec.id_index);
    struct deferred *d = vec_push(&s->deferred);
    if (!d)
        return false;
    *d = (struct deferred){rec.callchain_deferred.cookie, r->loc};
    s->deferred_sorted = false;
    return true;
}

static int by_cookie(const void *a, const void *b) {
    const struct deferred *x = a, *y = b;
    if (x->cookie != y->cookie)
        return x->cookie < y->cookie ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* The chain with this cookie that is the first behind after_loc and of the same thread. */
static struct perfdata_u64s find_deferred(void *ctx, uint64_t cookie, uint32_t tid, uint64_t after_loc) {
    struct script *s = ctx;
    if (!s->deferred_sorted && s->deferred.count)
        qsort(s->deferred.items, s->deferred.count, sizeof *s->deferred.items, by_cookie);
    s->deferred_sorted = true;
    size_t low = 0, high = s->deferred.count;
    struct deferred key = {cookie, after_loc};
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (by_cookie(&s->deferred.items[mid], &key) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    struct perfdata_record rec;
    if (low == s->deferred.count || s->deferred.items[low].cookie != cookie)
        return (struct perfdata_u64s){0};
    struct stream_record r = stream_record_at(s->reading.stream, s->deferred.items[low].loc);
    if (!reading_decode(&s->reading, &r, &rec) || rec.id.tid != tid)
        return (struct perfdata_u64s){0};
    return rec.callchain_deferred.ips;
}

/* ---- records, in time order ---- */

static void print_trace(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *x,
                        struct out *out) {
    struct script *s = ctx;
    if (s->reading.formats)
        tracefs_formats_print(s->reading.formats, attr->config, (int)x->cpu, x->raw, out);
}

static void print_sample(struct script *s, const struct stream_record *r, uint32_t event,
                         struct model_when when) {
    struct script_sample x = {.s = &s->sample, .event = event, .misc = r->raw.misc, .when = when};
    script_print_sample(&s->print, &x);
}

/* True when the sample is to be shown as far as --switch-on and --switch-off decide. */
static bool switched_on(struct script *s, uint32_t event) {
    if (!s->on) {
        if (event != s->on_event)
            return false;
        s->on = true;
        return s->o->show_switches;
    }
    if (event == s->off_event) {
        /* Without --switch-on there is no way back. */
        s->on = false;
        return s->o->show_switches;
    }
    return true;
}

/* A reading of a group is one line per event that has moved since the last reading, as perf prints it; if
 * none has, the sample itself is still there to be shown. */
static void print_reading(struct script *s, const struct stream_record *r, struct model_when when) {
    uint64_t recorded = s->sample.period;
    bool any = false;
    for (uint64_t i = 0; i < s->sample.read.count; i++) {
        struct perfdata_read_value value = perfdata_read_at(&s->sample.read, i);
        uint64_t moved;
        uint32_t event = readings_take(&s->readings, s->reading.events, s->sample.tid, &value, &moved);
        if (event == PERFDATA_NO_EVENT || !moved)
            continue;
        s->sample.period = moved;
        print_sample(s, r, event, when);
        any = true;
    }
    s->sample.period = recorded;
    if (!any)
        print_sample(s, r, r->event, when);
}

static bool do_sample(struct script *s, const struct stream_record *r, struct err *err) {
    if (r->event == PERFDATA_NO_EVENT)
        return true;
    if (!script_print_plan(&s->print, r->event, err))
        return false;
    const struct perfdata_event *e = &s->reading.events->list.items[r->event];
    struct perfdata_sample *x = &s->sample;
    x->pid = x->tid = x->cpu = UINT32_MAX; /* for those that lack them */
    x->time = x->id = 0;
    /* All of it: a sample with damage in what is not shown is no less damaged. */
    if (!perfdata_sample_decode(&e->plan, r->raw.body, ~0ull, x)) {
        stream_bad_record(s->reading.stream, r, "a sample shorter than its fields");
        return true;
    }
    struct model_when when = reading_when(&s->reading, r);
    if (!switched_on(s, r->event) || !time_ranges_contain(&s->times, x->time) ||
        !filter_sample(&s->filter, s->model, x, when))
        return true;
    if (e->attr.sample_type & PERFDATA_SAMPLE_READ)
        print_reading(s, r, when);
    else
        print_sample(s, r, r->event, when);
    return true;
}

static bool do_shown(struct script *s, const struct stream_record *r, struct err *err) {
    struct perfdata_record rec;
    if (!reading_decode(&s->reading, r, &rec))
        return true;
    uint32_t event = r->event == PERFDATA_NO_EVENT ? 0 : r->event;
    if (r->raw.type < PERFDATA_RECORD_USER_START) {
        if (!s->reading.events->list.count)
            return true;
        if (!script_print_plan(&s->print, event, err))
            return false;
        if (!filter_cpu(&s->filter, rec.id.have & PERFDATA_SAMPLE_CPU ? rec.id.cpu : UINT32_MAX))
            return true;
    }
    script_record_print(&s->print, event, &rec, reading_when(&s->reading, r));
    return true;
}

static bool do_record(struct script *s, const struct stream_record *r, struct err *err) {
    if (r->raw.type == PERFDATA_RECORD_SAMPLE)
        return do_sample(s, r, err);
    return !script_record_shown(s->show, r->raw.type) || do_shown(s, r, err);
}

/* ---- a file: everything into the model first, then the samples ---- */

static bool see_record(void *ctx, const struct stream_record *r, struct err *err) {
    return note_record(ctx, r) || err_memory(err, "script");
}

static bool want_printed(void *ctx, const struct stream_record *r) {
    const struct script *s = ctx;
    return !r->legacy && (r->raw.type == PERFDATA_RECORD_SAMPLE || script_record_shown(s->show, r->raw.type));
}

/* Rounds are shown where they are, so everything else is shown in the order of the file too, as in perf. */
static bool second_pass(struct script *s, struct err *err) {
    struct order order;
    struct stream_record r;
    enum stream_status status;
    bool ok = true;
    order_init(&order, s->reading.stream, want_printed, s, s->show & SCRIPT_SHOW_ROUND);
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD && !s->out.failed)
        ok = do_record(s, &r, err);
    ok = ok && (s->out.failed || status == STREAM_END);
    order_fini(&order);
    return ok;
}

/* -D: each record in hex and decoded, what script makes of it behind it. */
static bool dump_pass(struct script *s, struct err *err) {
    const struct perfdata_header *h = stream_header(s->reading.stream);
    const struct perfdata_events *events = s->reading.events;
    /* perf sorts by time only when every record has one. */
    bool sorted = !s->o->dump_unsorted && !(s->show & SCRIPT_SHOW_ROUND) && events->list.count &&
                  events->list.items[0].attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL;
    struct dump dump;
    struct order order;
    struct stream_record r;
    enum stream_status status;
    bool ok = true;
    dump_init(&dump, events, h, &s->reading.namer, s->model,
              h->container == PERFDATA_CONTAINER_PIPE ? "pipe" : stream_path(s->reading.stream));
    dump.for_script = true;
    order_init(&order, s->reading.stream, NULL, NULL, !sorted);
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD && !s->out.failed) {
        dump_record(&dump, &r, &s->out);
        ok = r.legacy || do_record(s, &r, err);
    }
    ok = ok && (s->out.failed || status == STREAM_END);
    order_fini(&order);
    dump_fini(&dump);
    return ok;
}

/* ---- a pipe: as it comes, round by round ---- */

/* Called as records are read, ahead of their turn. */
static bool want_streamed(void *ctx, const struct stream_record *r) {
    struct script *s = ctx;
    if (r->legacy)
        return false;
    if (r->raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
        s->round_locs[0] = s->round_locs[1];
        s->round_locs[1] = s->round_locs[2];
        s->round_locs[2] = r->loc;
        s->round_ended = true;
    }
    if (!note_record(s, r))
        s->failed = true;
    struct perfdata_record rec;
    bool wanted = r->raw.type == PERFDATA_RECORD_SAMPLE || model_wants(s->model, r->raw.type) ||
                  script_record_shown(s->show, r->raw.type);
    if (!wanted)
        reading_decode(&s->reading, r, &rec); /* only to find damage */
    return wanted;
}

/* A round's end delivers the rounds before it, so what lies before the last but one is done with: its bytes
 * go, and the states that only it saw. */
static bool forget(struct script *s, struct model_when when, struct err *err) {
    uint64_t loc = s->round_locs[0];
    size_t kept = 0;
    s->round_ended = false;
    for (size_t i = 0; i < s->deferred.count; i++)
        if (s->deferred.items[i].loc >= loc)
            s->deferred.items[kept++] = s->deferred.items[i];
    s->deferred.count = kept;
    stream_release(s->reading.stream, loc);
    return model_retire(s->model, when, err);
}

static bool stream_pass(struct script *s, struct err *err) {
    struct order order;
    struct stream_record r;
    enum stream_status status;
    uint64_t now_ns = 0;
    bool ok = true;
    order_init(&order, s->reading.stream, want_streamed, s, s->show & SCRIPT_SHOW_ROUND);
    while (ok && (status = order_next(&order, &r, err)) == STREAM_RECORD && !s->out.failed) {
        if (s->failed)
            ok = err_memory(err, "script");
        /* A record without a time is given as it is read, ahead of what waits: it counts from now. */
        if (r.has_time && r.time_ns > now_ns)
            now_ns = r.time_ns;
        else if (!r.has_time)
            r.time_ns = now_ns;
        r.has_time = true;
        if (ok && s->round_ended)
            ok = forget(s, reading_when(&s->reading, &r), err);
        if (r.raw.type != PERFDATA_RECORD_SAMPLE)
            ok = ok && reading_apply(&s->reading, s->model, &r, err);
        if (r.raw.type < PERFDATA_RECORD_USER_START)
            ok = ok && reading_names(&s->reading, err);
        ok = ok && do_record(s, &r, err);
    }
    ok = ok && (s->out.failed || status == STREAM_END);
    uint64_t late = model_unordered(s->model);
    if (late)
        log_line(LOG_WARN, "%" PRIu64 " records came later than their round and counted from there", late);
    order_fini(&order);
    return ok;
}

/* ---- from options to output ---- */

static bool find_event(struct script *s, const char *option, const char *name, uint32_t *out,
                       struct err *err) {
    *out = PERFDATA_NO_EVENT;
    if (!name)
        return true;
    for (size_t i = 0; i < s->reading.events->list.count; i++) {
        const char *have = s->reading.events->list.items[i].name;
        if (have && !strcmp(have, name)) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return err_set(err, ERR_ABSENT, option, "event '%s' not found: 'evlist' shows the names of the events",
                   name);
}

/* Fields by -F, -L's wish included. */
static bool print_options(const struct script_options *o, struct script_print_options *p, struct err *err) {
    *p = (struct script_print_options){.chains = !o->hide_chains,
                                       .latency = o->latency,
                                       .ns = o->ns,
                                       .reltime = o->reltime,
                                       .deltatime = o->deltatime,
                                       .all_cookies = o->no_merge,
                                       .max_stack = (unsigned)o->max_stack};
    script_fields_init(&p->fields);
    for (size_t i = 0; i < o->fields.count; i++)
        if (!script_fields_parse(&p->fields, o->fields.items[i], err))
            return false;
    return true;
}

/* The wall clock for the tod field (CLOCK_DATA), and the names of registers (E_MACHINE, ARCH). */
static bool apply_features(struct script *s, struct err *err) {
    const struct perfdata_header *h = stream_header(s->reading.stream);
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
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    if (!s->o->time)
        return true;
    if (perfdata_feature_get(stream_header(s->reading.stream), PERFDATA_FEATURE_SAMPLE_TIME, &arena,
                             &value)) {
        s->span.first_ns = value.sample_time.first_ns;
        s->span.last_ns = value.sample_time.last_ns;
    }
    arena_fini(&arena);
    if (time_ranges_relative(s->o->time) && s->span.first_ns > s->span.last_ns)
        return err_set(err, ERR_ABSENT, "--time",
                       "a pipe does not say how long the recording is: give seconds");
    return time_ranges_parse(s->o->time, s->span.first_ns, s->span.last_ns, &s->times, err);
}

static unsigned shown_groups(const struct script_options *o) {
    unsigned show = SCRIPT_SHOW_ERRORS | (o->no_merge ? SCRIPT_SHOW_DEFERRED : 0);
    for (unsigned i = 0; i < SHOW_COUNT; i++)
        show |= o->show[i] ? 1u << i : 0;
    return show;
}

static bool is_dump(const struct script *s) {
    return s->o->dump || s->o->dump_unsorted;
}

/* What the model must know for what is printed. */
static unsigned model_needs(const struct script *s) {
    unsigned need = MODEL_NEED_COMMS;
    uint64_t chosen = 0,
             places = SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE) | SCRIPT_BIT(BRSTACKOFF);
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        chosen |= s->print.options.fields.chosen[k];
    return need | (chosen & places || is_dump(s) ? MODEL_NEED_MAPS : 0) |
           (chosen & SCRIPT_BIT(CGROUP) ? MODEL_NEED_EXTRAS : 0);
}

/* Everything between the open recording and the open output, after which only printing remains. */
static bool prepare(struct script *s, const struct script_print_options *p, struct err *err) {
    struct filter_options f = {s->o->cpus, s->o->pids, s->o->tids, s->o->comms};
    bool streaming = stream_is_pipe(s->reading.stream) && !is_dump(s);
    if (!script_print_init(&s->print, &s->out, s->reading.events, NULL, p) ||
        !filter_parse(&f, &s->filter, err))
        return false;
    s->print.trace = print_trace;
    s->print.trace_ctx = s;
    s->print.deferred = find_deferred;
    s->print.deferred_ctx = s;
    s->print.guests = &s->guests;
    s->show = shown_groups(s->o);
    s->model = model_new(&(struct model_options){.need = model_needs(s), .streaming = streaming}, err);
    s->print.model = s->model;
    return s->model &&
           (streaming || reading_first_pass(&s->reading, s->model, &s->span, see_record, s, err)) &&
           apply_features(s, err) && apply_times(s, err) &&
           find_event(s, "--switch-on", s->o->switch_on, &s->on_event, err) &&
           find_event(s, "--switch-off", s->o->switch_off, &s->off_event, err) &&
           (!s->reading.events->list.count || script_print_plan(&s->print, 0, err));
}

static void finish(struct script *s) {
    script_print_fini(&s->print);
    script_guests_fini(&s->guests);
    readings_fini(&s->readings);
    time_ranges_fini(&s->times);
    filter_fini(&s->filter);
    vec_fini(&s->deferred);
    model_free(s->model);
    reading_close(&s->reading);
}

static void print_header(struct script *s) {
    struct header_text_options h = {.full = s->o->header_full, .captured_s = reading_captured_s(&s->reading)};
    header_text_write(stream_header(s->reading.stream), &s->reading.namer, &h, &s->out);
}

static bool print_all(struct script *s, struct err *err) {
    if (s->o->header || s->o->header_only)
        print_header(s);
    if (s->o->header_only)
        return true;
    if (is_dump(s))
        return dump_pass(s, err);
    return stream_is_pipe(s->reading.stream) ? stream_pass(s, err) : second_pass(s, err);
}

static int script(struct command_env *env, const struct script_options *o) {
    struct script s = {.o = o, .env = env, .span = {UINT64_MAX, 0}};
    struct script_print_options p;
    struct err err = ERR_INIT;
    int status;
    bool ok = print_options(o, &p, &err) && reading_open(&s.reading, input_path(o->input), o->force, &err) &&
              (o->header_only || prepare(&s, &p, &err));
    s.on = !o->switch_on;
    if (ok && command_output(env, &s.out)) {
        ok = print_all(&s, &err);
        status = command_finish(env, &s.out, ok ? reading_status(&s.reading) : EXIT_ERROR);
    } else {
        status = EXIT_ERROR;
    }
    if (!ok)
        status = command_fail(&err);
    finish(&s);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct script_options o = {.max_stack = DEFAULT_MAX_STACK};
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    command_log(env, o.verbose, false);
    struct err err = ERR_INIT;
    if (o.absent)
        err_set(&err, ERR_UNSUPPORTED, NULL, "script --%s is not there yet", o.absent);
    else if (argc)
        err_set(&err, ERR_UNSUPPORTED, NULL, "script %s: running scripts is not there yet", argv[0]);
    else if (o.reltime && o.deltatime)
        err_set(&err, ERR_USAGE, NULL, "give either --reltime or --deltatime");
    else if (o.max_stack < 0)
        err_set(&err, ERR_USAGE, "--max-stack", "give a number that is not negative");
    status = err.code ? command_fail(&err) : script(env, &o);
    option_list_fini(&o.fields);
    return status;
}

const struct command cmd_script = {
    .name = "script",
    .summary = "Print every event of a recording",
    .usage = (const char *const[]){"script [<options>]", NULL},
    .options = options,
    .run = run,
};
