/* SPDX-License-Identifier: Apache-2.0 */
/* Records to lines and sums. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/trace/trace.h"
#include "cmd/trace/trace_record.h"

enum { FRAME_INDENT = 39, MACHINE_MAX = 65 };

/* ---- what is wanted ---- */

static bool is_wanted(void *ctx, const struct calls_call *call) {
    struct trace *t = ctx;
    return trace_select_call(t->select, calls_table_name(calls_table_of(&t->calls, call), call->number));
}

static bool is_hidden(const struct trace *t, const struct perfdata_sample *s) {
    return !filter_sample(&t->filter, NULL, s, (struct model_when){0}) ||
           (t->not_pids.list.count &&
            (filter_ranges_have(&t->not_pids, s->pid) || filter_ranges_have(&t->not_pids, s->tid)));
}

static bool is_event(const struct trace *t, const struct stream_record *r) {
    return r->raw.type == PERFDATA_RECORD_SAMPLE && r->event < t->recording->events->list.count;
}

/* Samples of what arguments point to: they are read ahead, as their halves come after the tracepoints'. */
static bool is_memory(const struct trace *t, const struct stream_record *r) {
    enum { BPF_OUTPUT = 10 }; /* linux/perf_event.h */
    const struct perfdata_event *e = is_event(t, r) ? &t->recording->events->list.items[r->event] : NULL;
    return e && e->attr.type == PERFDATA_TYPE_SOFTWARE && e->attr.config == BPF_OUTPUT && e->name &&
           strcmp(e->name, TRACE_MEMORY_EVENT) == 0;
}

static void keep_memory(struct trace *t, const struct stream_record *r) {
    const struct perfdata_event *e = &t->recording->events->list.items[r->event];
    struct perfdata_sample s = {0};
    struct trace_memory_head head;
    struct bpf_trace_half half;
    if (!t->texts || !perfdata_sample_decode(&e->plan, r->raw.body, PERFDATA_SAMPLE_RAW, &s) ||
        s.raw.size < sizeof head + sizeof half)
        return;
    memcpy(&head, s.raw.data, sizeof head);
    memcpy(&half, s.raw.data + sizeof head, sizeof half);
    if (head.version != TRACE_MEMORY_VERSION || head.half_bytes != sizeof half)
        return;
    struct bytes memory = {s.raw.data + sizeof head + sizeof half, s.raw.size - sizeof head - sizeof half};
    t->failed |= !trace_texts_put(t->texts, &half, memory);
}

bool trace_want(void *ctx, const struct stream_record *r) {
    struct trace *t = ctx;
    struct err err = ERR_INIT;
    if (is_memory(t, r)) {
        keep_memory(t, r);
        return false;
    }
    /* In a pipe, and live, events are described before the first of their samples. */
    if (is_event(t, r) && r->event >= t->events.tracepoints.list.count &&
        !call_events_update(&t->events, &err))
        t->failed = true;
    return is_event(t, r) || call_events_want(&t->events, r);
}

/* ---- callchains ---- */

static void put_frame(struct trace *t, struct resolve_samples *r, struct resolve_sample_frame *f) {
    const char *name = resolve_sample_name(r, f, NULL);
    out_fill(t->out, ' ', FRAME_INDENT);
    if (name)
        out_str(t->out, name);
    else if (resolve_sample_grade(r, f) == GRADE_STALE)
        out_str(t->out, "[stale]");
    else
        out_printf(t->out, "[0x%" PRIx64 "]", f->address);
    bool known = f->hit.image != MODEL_NONE;
    out_printf(t->out, " (%s)\n", known ? model_image(t->model, f->hit.image)->name : "[unknown]");
}

/* `kernel`: with the kernel's part. False: out of memory. */
static bool put_stack(struct trace *t, uint64_t loc, bool kernel) {
    if (!t->stacks || !t->o->callgraph)
        return true;
    if (!recording_stacks_read(t->stacks, loc))
        return false;
    struct resolve_samples *r = &t->stacks->samples;
    size_t most = t->o->max_stack ? (size_t)t->o->max_stack : r->frames.count;
    size_t shown = 0;
    if (r->frames.count < (size_t)t->o->min_stack)
        return true;
    for (size_t i = 0; i < r->frames.count && shown < most; i++) {
        struct resolve_sample_frame *f = &r->frames.items[i];
        if (f->cpumode == PERFDATA_MISC_KERNEL && !kernel)
            continue;
        put_frame(t, r, f);
        shown++;
    }
    return true;
}

/* ---- calls ---- */

static uint64_t group_of(const struct trace *t, uint32_t tid) {
    return t->o->table.mode == TRACE_SUMMARY_TOTAL ? 0 : tid;
}

static bool show_call(struct trace *t, const struct calls_call *call, enum calls_end end) {
    if (!t->on || !is_wanted(t, call))
        return true;
    if (t->o->any_summary && end != CALLS_EXIT_UNSEEN &&
        !calls_summary_add(&t->summary, group_of(t, call->tid), call, end))
        return false;
    if (t->o->summary || !trace_text_call(&t->text, call, end))
        return true;
    t->printed++;
    if (t->o->print_sample)
        out_printf(t->out, "%*sentered at 0x%" PRIx64 ", left at 0x%" PRIx64 "\n", FRAME_INDENT, "",
                   call->enter_loc, call->exit_loc);
    return !call->has_exit || put_stack(t, call->exit_loc, t->o->kernel_graph);
}

static bool take_call(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct trace *t = ctx;
    bool ok = show_call(t, call, end);
    if (t->files) /* it was shown with what the descriptor was */
        trace_files_call(t->files, c, call);
    return ok;
}

static bool count_event(struct trace *t, uint32_t tid) {
    if (!t->o->any_summary || !t->on)
        return true;
    uint64_t key = group_of(t, tid);
    struct calls_group *g = calls_summary_group(&t->summary, key);
    const char *name = calls_thread_name(&t->calls, tid);
    if (!g)
        return false;
    g->events++;
    t->summary.events++;
    return t->o->table.mode == TRACE_SUMMARY_TOTAL || !name || calls_summary_name(&t->summary, key, name);
}

/* Whether the call is only followed, for the names of descriptors. */
static bool is_followed(const struct trace *t, const struct calls_event *e) {
    const struct calls_table *table = e->compat ? t->calls.compat_table : t->calls.table;
    return t->files && !trace_select_call(t->select, calls_table_name(table, e->number));
}

/* Whether the call of a thread that is open is known by then with what its arguments point to; `enter` is
 * what there is. False: out of memory. */
static bool find_texts(struct trace *t, uint32_t tid, uint64_t until_ns,
                       const struct trace_text_half **enter) {
    const struct calls_thread *c = t->texts ? calls_thread(&t->calls, tid) : NULL;
    struct calls_memory memory[CALLS_ARGS];
    *enter = c && c->open ? trace_texts_enter(t->texts, &c->call, until_ns) : NULL;
    if (!*enter)
        return true;
    trace_texts_memory((*enter)->half, (const uint8_t *)((*enter)->half + 1), (*enter)->room, memory);
    return calls_remember(&t->calls, tid, memory);
}

/* The call of another thread that is shown unfinished now, as an event of `tid` comes. */
static bool find_current_texts(struct trace *t, uint64_t time_ns, uint32_t tid) {
    const struct trace_text_half *enter;
    return !t->text.current || t->text.current == tid || find_texts(t, t->text.current, time_ns, &enter);
}

static bool find_texts_of_exit(struct trace *t, struct call_events_read *x) {
    const struct trace_text_half *enter, *exit;
    if (x->kind != CALL_EVENTS_EXIT)
        return true;
    if (!find_texts(t, x->event.tid, x->event.time_ns, &enter))
        return false;
    exit = enter ? trace_texts_exit(t->texts, enter, &x->event) : NULL;
    if (exit)
        trace_texts_memory(exit->half, (const uint8_t *)(exit->half + 1), exit->room, x->event.memory);
    return true;
}

static bool take_syscall(struct trace *t, struct call_events_read *x) {
    if (!find_texts_of_exit(t, x))
        return false;
    if (is_followed(t, &x->event))
        return call_events_apply(&t->calls, x);
    if (!find_current_texts(t, x->event.time_ns, x->event.tid))
        return false;
    if (!t->o->summary && t->on)
        trace_text_heard(&t->text, x->event.time_ns, x->event.tid);
    if (!count_event(t, x->event.tid) || !call_events_apply(&t->calls, x))
        return false;
    if (x->kind == CALL_EVENTS_ENTER)
        trace_text_entered(&t->text, x->event.tid);
    return true;
}

/* ---- other events ---- */

static void put_field(void *ctx, const char *name, const char *value, size_t len) {
    struct trace *t = ctx;
    bool number = len && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
    if (t->text.line.len)
        out_str(&t->text.line, ", ");
    out_printf(&t->text.line, "%s: ", name);
    if (number)
        out_mem(&t->text.line, value, len);
    else
        calls_values_text((const uint8_t *)value, len, false, &t->text.line);
}

static void put_tracepoint(struct trace *t, const struct perfdata_event *e, const struct perfdata_sample *s) {
    struct tracefs_formats *f = t->recording->formats;
    t->text.line.len = 0;
    if (t->o->library_print && f &&
        tracefs_formats_print(f, e->attr.config, (int)s->cpu, s->raw, &t->text.line)) {
        out_char(t->out, ':');
        out_mem(t->out, t->text.line.buf, t->text.line.len);
        return;
    }
    t->text.line.len = 0;
    if (f)
        tracefs_formats_fields(f, e->attr.config, s->raw, put_field, t);
    out_char(t->out, '(');
    out_mem(t->out, t->text.line.buf, t->text.line.len);
    out_char(t->out, ')');
}

/* "majfault", "minfault", or NULL: it is no page fault (linux/perf_event.h, enum perf_sw_ids). */
static const char *fault_name(const struct perfdata_attr *attr) {
    enum { FAULTS = 2, MINOR = 5, MAJOR = 6 };
    if (attr->type != PERFDATA_TYPE_SOFTWARE)
        return NULL;
    return attr->config == MAJOR                             ? "majfault"
           : attr->config == MINOR || attr->config == FAULTS ? "minfault"
                                                             : NULL;
}

/* What lies at an address: a function, or a place in a file. False: out of memory. */
static bool put_place(struct trace *t, const struct stream_record *r, const struct perfdata_sample *s,
                      bool code) {
    unsigned mode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    bool kernel = code ? mode == PERFDATA_MISC_KERNEL : s->addr >> 63;
    uint64_t address = code ? s->ip : s->addr, offset = 0;
    struct resolve_sample_frame *f = NULL;
    if (t->stacks) {
        if (!resolve_sample_read_address(&t->stacks->samples,
                                         kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, s->pid,
                                         recording_when(t->recording, r), address))
            return false;
        f = t->stacks->samples.frames.count ? t->stacks->samples.frames.items : NULL;
    }
    const char *name = f && code ? resolve_sample_name(&t->stacks->samples, f, &offset) : NULL;
    bool mapped = f && f->hit.image != MODEL_NONE && f->hit.mapping != MODEL_NONE;
    if (name)
        out_printf(t->out, "%s+0x%" PRIx64, name, offset);
    else if (mapped && !code)
        out_printf(t->out, "%s@0x%" PRIx64, model_image(t->model, f->hit.image)->name, f->hit.offset);
    else
        out_printf(t->out, "0x%" PRIx64, address);
    if (code)
        return true;
    enum { EXECUTABLE = 4 };
    char kind = !mapped ? '?' : model_mapping(t->model, f->hit.mapping).prot & EXECUTABLE ? 'x' : 'd';
    out_printf(t->out, " (%c%c)", kind, kernel ? 'k' : '.');
    return true;
}

/* perf-trace(1), "PAGEFAULTS". */
static bool put_fault(struct trace *t, const struct stream_record *r, const struct perfdata_sample *s,
                      const char *name) {
    trace_text_fault(&t->text, s->time, s->cpu, s->tid);
    out_printf(t->out, "%s [", name);
    if (!put_place(t, r, s, true))
        return false;
    out_str(t->out, "] => ");
    if (!put_place(t, r, s, false))
        return false;
    out_char(t->out, '\n');
    t->printed++;
    return put_stack(t, r->loc, true);
}

static bool put_event(struct trace *t, const struct stream_record *r, const struct perfdata_sample *s) {
    const struct perfdata_event *e = &t->recording->events->list.items[r->event];
    if (!find_current_texts(t, s->time, s->tid))
        return false;
    trace_text_heard(&t->text, s->time, s->tid);
    if (fault_name(&e->attr))
        return put_fault(t, r, s, fault_name(&e->attr));
    trace_text_head(&t->text, s->time, s->cpu, s->tid);
    out_str(t->out, e->name);
    if (e->attr.type == PERFDATA_TYPE_TRACEPOINT)
        put_tracepoint(t, e, s);
    out_char(t->out, '\n');
    t->printed++;
    return put_stack(t, r->loc, true);
}

static bool matches(const char *wanted, const char *name) {
    return wanted && name && strcmp(wanted, name) == 0;
}

/* --switch-on and --switch-off; *shown: the event itself counts. */
static void apply_switches(struct trace *t, const char *name, bool *shown) {
    const struct trace_options *o = t->o;
    bool turns_on = matches(o->switch_on, name), turns_off = matches(o->switch_off, name);
    *shown = (!turns_on && !turns_off) || o->show_switches;
    if (turns_on && !t->on)
        t->on = true;
    else if (turns_off && t->on)
        t->on = false;
}

/* A pipe tells it after its beginning. */
static void learn_machine(struct trace *t) {
    char room[MACHINE_MAX];
    if (!t->calls.table && !t->machine_asked &&
        perfdata_feature_text(stream_header(t->recording->stream), PERFDATA_FEATURE_ARCH, room, sizeof room))
        calls_machine(&t->calls, room);
    t->machine_asked = true;
}

static bool take_sample(struct trace *t, const struct stream_record *r) {
    const struct perfdata_event *e = &t->recording->events->list.items[r->event];
    struct perfdata_sample s = {0};
    struct call_events_read x;
    bool shown;
    if (!perfdata_sample_decode(&e->plan, r->raw.body,
                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
                                    PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_ADDR,
                                &s)) {
        stream_bad_record(t->recording->stream, r, "a sample is shorter than its fields");
        return true;
    }
    if (is_hidden(t, &s))
        return true;
    apply_switches(t, e->name, &shown);
    if (call_events_want(&t->events, r)) {
        learn_machine(t);
        call_events_read(&t->events, r, &x);
        return x.kind == CALL_EVENTS_OTHER || take_syscall(t, &x);
    }
    if (!t->on || !shown || !count_event(t, s.tid))
        return !t->on || !shown;
    bool chosen = (t->o->faults && fault_name(&e->attr)) || trace_select_event(t->select, e->name);
    return t->o->summary || !chosen || put_event(t, r, &s);
}

bool trace_take(void *ctx, const struct stream_record *r, struct err *err) {
    struct trace *t = ctx;
    struct call_events_read x;
    bool ok;
    if (t->failed)
        return err_memory(err, "system calls");
    if (is_event(t, r)) {
        ok = take_sample(t, r);
    } else {
        call_events_read(&t->events, r, &x);
        ok = call_events_apply(&t->calls, &x);
    }
    if (!ok)
        return err_memory(err, "system calls");
    t->done = t->o->most_events && t->printed >= t->o->most_events;
    return !t->done;
}

bool trace_take_half(struct trace *t, const struct calls_event *e, bool enter, struct bytes comm) {
    struct call_events_read x = {.kind = enter ? CALL_EVENTS_ENTER : CALL_EVENTS_EXIT, .event = *e};
    const struct calls_row *row =
        calls_table_row(e->compat ? t->calls.compat_table : t->calls.table, e->number);
    const char *name = calls_thread_name(&t->calls, e->tid);
    size_t n = bytes_text_len(comm);
    bool renamed = !name || strlen(name) != n || memcmp(name, comm.data, n) != 0;
    if (filter_ranges_have(&t->not_pids, e->pid) && t->not_pids.list.count)
        return true;
    if ((renamed && !calls_name(&t->calls, e->tid, e->pid, comm, false)) || !take_syscall(t, &x))
        return false;
    if (enter && row && row->returns == CALLS_NEVER && !calls_gone(&t->calls, e->tid))
        return false;
    t->done = t->o->most_events && t->printed >= t->o->most_events;
    return true;
}

/* ---- all ---- */

static void name_groups(struct trace *t) {
    /* A name may have come after the thread's last event. */
    for (size_t i = 0; i < t->summary.groups.count; i++) {
        struct calls_group *g = &t->summary.groups.items[i];
        const char *name = calls_thread_name(&t->calls, (uint32_t)g->key);
        if (name && g->name == STRPOOL_NONE && t->o->table.mode == TRACE_SUMMARY_THREAD)
            calls_summary_name(&t->summary, g->key, name);
    }
}

bool trace_finish(struct trace *t, struct err *err) {
    if (!t->done && !calls_finish(&t->calls))
        return err_memory(err, "system calls");
    if (!t->o->any_summary)
        return true;
    name_groups(t);
    calls_summary_sort(&t->summary);
    (t->o->json ? trace_summary_json : trace_summary_text)(&t->summary, &t->calls, &t->o->table, t->out);
    return true;
}

void trace_faults(const struct trace *t) {
    const struct calls_faults *f = &t->calls.faults;
    if (f->losses)
        log_line(LOG_WARN, "events were lost %" PRIu64 " times: %" PRIu64 " calls were cut by that",
                 f->losses, f->cut_by_loss);
    if (f->backwards)
        log_line(LOG_WARN, "%" PRIu64 " calls were left before they were entered: they took no time",
                 f->backwards);
    if (!t->o->tool_stats)
        return;
    log_line(LOG_WARN, "%zu threads; of calls without an enter %" PRIu64 ", without an exit %" PRIu64,
             t->calls.threads.count, f->enter_unseen, f->exit_unseen);
}

/* What the configuration says of lines: perf-config(1), "trace.*". */
static void configure(struct trace_text *text, const struct perfconfig *c) {
    const char *align = perfconfig_text(c, "trace.args_alignment");
    unsigned long n = align ? strtoul(align, NULL, 10) : TRACE_TEXT_ALIGN;
    text->align = n < TRACE_TEXT_ALIGN_MAX ? (unsigned)n : TRACE_TEXT_ALIGN_MAX;
    text->values.no_names = !perfconfig_bool(c, "trace.show_arg_names", true);
    text->values.zeros = text->values.no_names || perfconfig_bool(c, "trace.show_zeros", false);
    text->values.prefix = perfconfig_bool(c, "trace.show_prefix", false);
    text->no_timestamp = !perfconfig_bool(c, "trace.show_timestamp", true);
    text->no_duration = !perfconfig_bool(c, "trace.show_duration", true);
}

bool trace_init(struct trace *t, struct recording *r, const char *machine, struct err *err) {
    const struct trace_options *o = t->o;
    t->recording = r;
    t->on = !o->switch_on;
    calls_init(&t->calls, machine, take_call, t);
    call_events_init(&t->events, r);
    t->text = (struct trace_text){
        .out = t->out,
        .calls = &t->calls,
        .values = {.calls = &t->calls,
                   .file = t->files ? trace_files_path : NULL,
                   .ctx = t->files,
                   .whole = o->verbose > 0,
                   .shapes = t->shapes},
        .full_time = o->full_time,
        .cpu = o->cpu,
        .comm = !o->no_comm,
        .failure = o->failure,
        .least_ns = (uint64_t)(o->least_ms * 1e6),
        .wanted = is_wanted,
        .ctx = t,
    };
    configure(&t->text, t->env->config);
    const struct filter_options lists = {
        .cpus = o->record.target.cpus, .pids = o->record.target.pids, .tids = o->record.target.tids};
    bool file = o->input;
    return (trace_text_init(&t->text) || err_memory(err, "lines")) &&
           (!file || filter_parse(&lists, &t->filter, err)) &&
           (!o->filter_pids || filter_ranges_parse("--filter-pids", o->filter_pids, &t->not_pids, err)) &&
           call_events_update(&t->events, err);
}

bool trace_follow(struct trace *t, struct recording *r, struct err *err) {
    call_events_fini(&t->events);
    t->recording = r;
    call_events_init(&t->events, r);
    return call_events_update(&t->events, err);
}

void trace_fini(struct trace *t) {
    trace_text_fini(&t->text);
    calls_fini(&t->calls);
    calls_summary_fini(&t->summary);
    call_events_fini(&t->events);
    filter_fini(&t->filter);
    filter_ranges_fini(&t->not_pids);
}
