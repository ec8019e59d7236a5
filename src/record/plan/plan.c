/* SPDX-License-Identifier: Apache-2.0 */
#include "record/plan/plan.h"

#include <string.h>

#include "bpf/off_cpu.h"
#include "events/event_attr.h"

enum { SOFTWARE_DUMMY = 9, SOFTWARE_BPF_OUTPUT = 10 }; /* PERF_COUNT_SW_* */

/* PERF_SAMPLE_BRANCH_*: user, call stack, and neither flags nor cycles, which a callgraph has no use for. */
#define BRANCH_CALL_STACK (1ull << 0 | 1ull << 11 | 1ull << 14 | 1ull << 15)

uint64_t record_plan_all_regs(void) {
#if defined(__x86_64__)
    return 0xff0fff; /* without the segment registers ds, es, fs, gs */
#elif defined(__aarch64__)
    return 0x1ffffffffu;
#elif defined(__s390x__)
    return 0x3ffffffffu; /* general, floating point, PSW mask and address (asm/perf_regs.h) */
#else
    return 0;
#endif
}

static void set_rate(struct record_event_plan *p, const struct perf_event *e,
                     const struct record_options *o) {
    struct perfdata_attr *a = &p->attr;
    uint64_t freq = o->freq_hz, period = o->period;
    if (!freq && !period) {
        freq = e->terms.given & PERF_TERM_FREQ ? e->terms.freq_hz : 0;
        period = e->terms.given & PERF_TERM_PERIOD ? e->terms.period : 0;
        if (!freq && !period && e->attr.sample_period)
            period = e->attr.sample_period; /* tracepoints and breakpoints: every one */
        else if (!freq && !period)
            freq = RECORD_DEFAULT_FREQ_HZ;
    }
    perf_event_attr_set(a, PERFDATA_ATTR_FREQ, freq != 0);
    a->sample_period = o->no_samples ? 0 : freq ? freq : period;
    if (freq)
        a->sample_type |= PERFDATA_SAMPLE_PERIOD;
}

static void set_callgraph(struct perfdata_attr *a, enum record_callgraph how, const struct record_options *o,
                          const struct perf_event_terms *t) {
    if (how == RECORD_CALLGRAPH_NONE)
        return;
    a->sample_type |= PERFDATA_SAMPLE_CALLCHAIN;
    a->sample_max_stack = t && t->given & PERF_TERM_MAX_STACK ? t->max_stack : o->max_stack;
    perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER, o->kernel_callchains);
    perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_CALLCHAIN_KERNEL, o->user_callchains);
    perf_event_attr_set(a, PERFDATA_ATTR_DEFER_CALLCHAIN, o->defer_callchain && how == RECORD_CALLGRAPH_FP);
    if (how == RECORD_CALLGRAPH_DWARF) {
        uint32_t bytes = t && t->given & PERF_TERM_STACK_SIZE ? t->stack_size_bytes : o->stack_bytes;
        a->sample_type |= PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER;
        a->sample_regs_user |= record_plan_all_regs();
        a->sample_stack_user = (bytes ? bytes + 7 : 8192) & ~7u;
        /* The kernel's own walk over user frames would only repeat what the stack says better; unless that is
         * unwound at once, when it may tell of callers beyond the dump, and is replaced. */
        perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER, !o->unwind || o->kernel_callchains);
    } else if (how == RECORD_CALLGRAPH_LBR) {
        a->sample_type |= PERFDATA_SAMPLE_BRANCH_STACK;
        a->branch_sample_type = BRANCH_CALL_STACK;
        perf_event_attr_set(a, PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER, true);
    }
}

static enum record_callgraph callgraph_of(const struct perf_event *e, const struct record_options *o) {
    if (!(e->terms.given & PERF_TERM_CALL_GRAPH) || !e->terms.call_graph)
        return o->callgraph;
    if (strcmp(e->terms.call_graph, "dwarf") == 0)
        return RECORD_CALLGRAPH_DWARF;
    if (strcmp(e->terms.call_graph, "lbr") == 0)
        return RECORD_CALLGRAPH_LBR;
    return strcmp(e->terms.call_graph, "no") == 0 ? RECORD_CALLGRAPH_NONE : RECORD_CALLGRAPH_FP;
}

static void set_contents(struct perfdata_attr *a, const struct record_options *o) {
    const struct {
        bool on;
        uint64_t bits;
    } rules[] = {
        {o->sample_cpu, PERFDATA_SAMPLE_CPU},
        {o->addresses, PERFDATA_SAMPLE_ADDR},
        {o->addresses || o->mem_info, PERFDATA_SAMPLE_DATA_SRC},
        {o->phys_addresses, PERFDATA_SAMPLE_PHYS_ADDR},
        {o->data_page_size, PERFDATA_SAMPLE_DATA_PAGE_SIZE},
        {o->code_page_size, PERFDATA_SAMPLE_CODE_PAGE_SIZE},
        {o->weight, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {o->transaction, PERFDATA_SAMPLE_TRANSACTION},
        {o->raw, PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU},
        {o->branch_type, PERFDATA_SAMPLE_BRANCH_STACK},
        {o->regs_intr, PERFDATA_SAMPLE_REGS_INTR},
        {o->regs_user, PERFDATA_SAMPLE_REGS_USER},
        {o->all_cgroups, PERFDATA_SAMPLE_CGROUP},
        {o->identifier, PERFDATA_SAMPLE_IDENTIFIER},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].on)
            a->sample_type |= rules[i].bits;
    a->branch_sample_type |= o->branch_type;
    a->sample_regs_intr |= o->regs_intr;
    a->sample_regs_user |= o->regs_user;
}

/* What is the same for every event, the side-band one included. */
static void set_common(struct record_event_plan *p, const struct record_options *o,
                       const struct perf_target *t) {
    struct perfdata_attr *a = &p->attr;
    a->sample_type |= PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID;
    if (!o->time_given || o->sample_time)
        a->sample_type |= PERFDATA_SAMPLE_TIME;
    if (t->system_wide)
        a->sample_type |= PERFDATA_SAMPLE_CPU;
    a->read_format |= PERFDATA_FORMAT_ID | PERFDATA_FORMAT_LOST;
    perf_event_attr_set(a, PERFDATA_ATTR_SAMPLE_ID_ALL, true);
    perf_event_attr_set(a, PERFDATA_ATTR_INHERIT, o->inherit && !t->per_thread);
    if (o->read_stat) {
        a->read_format |= PERFDATA_FORMAT_TOTAL_TIME_ENABLED | PERFDATA_FORMAT_TOTAL_TIME_RUNNING;
        perf_event_attr_set(a, PERFDATA_ATTR_INHERIT_STAT, a->flags & PERFDATA_ATTR_INHERIT);
    }
    if (o->no_buffering)
        a->wakeup = 1;
    if (o->use_clockid) {
        perf_event_attr_set(a, PERFDATA_ATTR_USE_CLOCKID, true);
        a->clockid = o->clockid;
    }
}

/* What tells of processes, and of code that comes and goes. */
static void set_side_band(struct perfdata_attr *a, const struct record_options *o) {
    const uint64_t always = PERFDATA_ATTR_MMAP | PERFDATA_ATTR_MMAP2 | PERFDATA_ATTR_COMM |
                            PERFDATA_ATTR_COMM_EXEC | PERFDATA_ATTR_TASK | PERFDATA_ATTR_KSYMBOL;
    a->flags |= always;
    perf_event_attr_set(a, PERFDATA_ATTR_BPF_EVENT, !o->no_bpf_event);
    perf_event_attr_set(a, PERFDATA_ATTR_BUILD_ID, o->build_id_mmap);
    perf_event_attr_set(a, PERFDATA_ATTR_MMAP_DATA,
                        o->data_mmap || o->addresses || o->callgraph == RECORD_CALLGRAPH_DWARF);
    perf_event_attr_set(a, PERFDATA_ATTR_NAMESPACES, o->namespaces);
    perf_event_attr_set(a, PERFDATA_ATTR_CGROUP, o->all_cgroups);
    perf_event_attr_set(a, PERFDATA_ATTR_CONTEXT_SWITCH, o->switch_events || o->latency);
    perf_event_attr_set(a, PERFDATA_ATTR_DEFER_OUTPUT, o->defer_callchain);
}

/* A group that is read with its leader's samples (:S): the members count, the leader samples. */
static void set_group_read(struct record_event_plan *p, bool leader, const struct record_options *o) {
    p->attr.sample_type |= PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_ID;
    p->attr.read_format |= PERFDATA_FORMAT_GROUP;
    if (o->running_time)
        p->attr.read_format |= PERFDATA_FORMAT_TOTAL_TIME_ENABLED | PERFDATA_FORMAT_TOTAL_TIME_RUNNING;
    /* Kernels before 6.12 refuse to inherit such groups, and perf's readers do not expect it. */
    perf_event_attr_set(&p->attr, PERFDATA_ATTR_INHERIT, false);
    if (!leader) {
        p->attr.sample_period = 0;
        perf_event_attr_set(&p->attr, PERFDATA_ATTR_FREQ, false);
    }
}

static void plan_event(struct record_event_plan *p, const struct perf_events *events, uint32_t index,
                       const struct record_options *o, const struct perf_target *t) {
    const struct perf_event *e = &events->items.items[index];
    const struct perf_event *first = &events->items.items[e->leader];
    bool leader = e->leader == index;
    *p = (struct record_event_plan){
        .attr = e->attr,
        .name = e->name,
        .filter = e->filters_samples ? NULL : e->filter,
        .sample_filter = e->filters_samples ? e->filter : NULL,
        .cgroup = e->cgroup,
        .probe_path = e->probe_path,
        .probe = e->program ? e : NULL,
        .cpus = e->cpus,
        .group = e->group,
        .leader = e->leader,
        .members = e->members,
        .weak = (first->modifiers & (PERF_EVENT_WEAK | PERF_EVENT_SAMPLE_READ)) == PERF_EVENT_WEAK,
        .tracepoint = e->kind == PERF_EVENT_TRACEPOINT,
        .max_precise = e->modifiers & PERF_EVENT_MAX_PRECISE,
    };
    if (e->program) {
        p->attr = (struct perfdata_attr){
            .type = PERFDATA_TYPE_TRACEPOINT, .config = e->program->code.type, .sample_period = 1};
        p->probe_path = NULL;
        p->tracepoint = true;
    }
    set_common(p, o, t);
    /* The side-band's rings are not overwritten: without it the newest samples would have no names. */
    perf_event_attr_set(&p->attr, PERFDATA_ATTR_WRITE_BACKWARD, o->overwrite);
    set_contents(&p->attr, o);
    set_rate(p, e, o);
    if (p->tracepoint)
        p->attr.sample_type |= PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD;
    if (o->period_given)
        p->attr.sample_type = o->sample_period ? p->attr.sample_type | PERFDATA_SAMPLE_PERIOD
                                               : p->attr.sample_type & ~PERFDATA_SAMPLE_PERIOD;
    if (e->terms.given & PERF_TERM_TIME && !e->terms.time && !o->time_given)
        p->attr.sample_type &= ~PERFDATA_SAMPLE_TIME;
    if (e->terms.given & PERF_TERM_INHERIT && !e->terms.inherit)
        p->attr.flags &= ~(PERFDATA_ATTR_INHERIT | PERFDATA_ATTR_INHERIT_STAT);
    else if (e->terms.given & PERF_TERM_INHERIT)
        perf_event_attr_set(&p->attr, PERFDATA_ATTR_INHERIT, true);
    set_callgraph(&p->attr, callgraph_of(e, o), o, &e->terms);
    p->mode_fixed = perf_event_attr_modes(&p->attr, e, o->all_user, o->all_kernel);
    perf_event_attr_set(&p->attr, PERFDATA_ATTR_DISABLED, leader);
    perf_event_attr_set(&p->attr, PERFDATA_ATTR_ENABLE_ON_EXEC, leader && t->exec && !o->delay_ms);
    if (first->modifiers & PERF_EVENT_SAMPLE_READ && first->members > 1)
        set_group_read(p, leader, o);
    if (p->probe) { /* each hit is a sample; the kernel would write 0 for its period */
        p->attr.sample_type &= ~PERFDATA_SAMPLE_PERIOD;
        p->attr.sample_period = 1;
        perf_event_attr_set(&p->attr, PERFDATA_ATTR_FREQ, false);
    }
    perf_event_attr_size(&p->attr);
}

/* An event that counts nothing and carries the side-band: it must see all CPUs, and see them from the start.
 */
static void plan_dummy(struct record_event_plan *p, uint32_t index, const struct record_options *o,
                       const struct perf_target *t) {
    *p = (struct record_event_plan){
        .attr = {.type = PERFDATA_TYPE_SOFTWARE, .config = SOFTWARE_DUMMY, .sample_period = 1},
        .name = "dummy:HG",
        .leader = index,
        .members = 1,
        .side_band = true,
        .mode_fixed = false};
    set_common(p, o, t);
    if (o->callgraph)
        p->attr.sample_type |= PERFDATA_SAMPLE_CALLCHAIN;
    if (o->all_cgroups)
        p->attr.sample_type |= PERFDATA_SAMPLE_CGROUP;
    if (t->exec) {
        perf_event_attr_set(&p->attr, PERFDATA_ATTR_DISABLED, true);
        perf_event_attr_set(&p->attr, PERFDATA_ATTR_ENABLE_ON_EXEC, true);
    }
    perf_event_attr_size(&p->attr);
}

uint64_t record_plan_off_cpu_regs(void) {
#if defined(__x86_64__)
    return BPF_OFF_CPU_REGS_X86;
#elif defined(__aarch64__)
    return BPF_OFF_CPU_REGS_ARM64;
#else
    return 0;
#endif
}

uint32_t record_plan_off_cpu_copies(const struct record_options *o) {
    if (o->callgraph != RECORD_CALLGRAPH_DWARF || o->kernel_callchains || o->all_kernel ||
        !record_plan_off_cpu_regs())
        return 0;
    return ((o->stack_bytes ? o->stack_bytes + 7 : 8192) & ~7u);
}

/* The event of --off-cpu, as perf-record(1) describes it: an id and a name for samples that come from
 * elsewhere. */
static void plan_off_cpu(struct record_event_plan *p, uint32_t index, const struct record_options *o,
                         const struct perf_target *t) {
    *p = (struct record_event_plan){
        .attr = {.type = PERFDATA_TYPE_SOFTWARE, .config = SOFTWARE_BPF_OUTPUT, .sample_period = 1},
        .name = "offcpu-time",
        .leader = index,
        .members = 1,
        .off_cpu = true,
        .mode_fixed = true};
    set_common(p, o, t);
    p->attr.sample_type |= PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_CALLCHAIN;
    p->attr.sample_type &= ~PERFDATA_SAMPLE_CPU; /* a thread that waits is on no CPU */
    if (record_plan_off_cpu_copies(o)) {
        set_callgraph(&p->attr, RECORD_CALLGRAPH_DWARF, o, NULL);
        p->attr.sample_regs_user = record_plan_off_cpu_regs();
    }
    perf_event_attr_size(&p->attr);
}

/* Likewise, with raw data. */
static void plan_made(struct record_event_plan *p, uint32_t index, const struct record_options *o,
                      const struct perf_target *t) {
    *p = (struct record_event_plan){
        .attr = {.type = PERFDATA_TYPE_SOFTWARE, .config = SOFTWARE_BPF_OUTPUT, .sample_period = 1},
        .name = o->made_event,
        .leader = index,
        .members = 1,
        .made = true,
        .mode_fixed = true};
    set_common(p, o, t);
    p->attr.sample_type |= PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD;
    perf_event_attr_size(&p->attr);
}

/*
 * One layout for all events: their samples' id is at a place that the first attr tells (ID). Several: it must
 * be where it needs no layout (IDENTIFIER).
 */
static void set_ids(struct record_plan *c) {
    bool same = true;
    for (size_t i = 1; i < c->events.count; i++)
        same &= c->events.items[i].attr.sample_type == c->events.items[0].attr.sample_type &&
                c->events.items[i].attr.read_format == c->events.items[0].attr.read_format;
    c->split_id = c->events.count > 1;
    for (size_t i = 0; i < c->events.count && c->split_id; i++)
        c->events.items[i].attr.sample_type |= same ? PERFDATA_SAMPLE_ID : PERFDATA_SAMPLE_IDENTIFIER;
    for (size_t i = 0; i < c->events.count && c->split_id && !same; i++)
        c->events.items[i].attr.sample_type &= ~PERFDATA_SAMPLE_ID;
}

bool record_plan_init(struct record_plan *c, const struct perf_events *events, const struct record_options *o,
                      const struct perf_target *t, struct err *err) {
    *c = (struct record_plan){0};
    for (size_t i = 0; i < events->items.count; i++) {
        const struct perf_event *e = &events->items.items[i];
        if (e->cgroup && *e->cgroup && !t->system_wide)
            return err_set(err, ERR_USAGE, "-G", "control groups are recorded by CPU: use -a or -C");
        if (e->cgroup && *e->cgroup && e->program)
            return err_set(err, ERR_USAGE, e->name,
                           "arguments of probes cannot be recorded by control group");
        if (e->cgroup && *e->cgroup && o->off_cpu)
            return err_set(err, ERR_USAGE, "--off-cpu", "it does not go with -G: all threads would be in it");
        if (e->program && t->per_thread)
            return err_set(err, ERR_USAGE, e->name,
                           "arguments of probes are recorded by CPU: leave --per-thread out");
        if (e->kind == PERF_EVENT_TOOL)
            return err_set(err, ERR_USAGE, e->name, "this event can be counted, not sampled");
        struct record_event_plan *p = vec_push(&c->events);
        if (!p)
            return err_memory(err, "events");
        plan_event(p, events, (uint32_t)i, o, t);
    }
    if (o->off_cpu) {
        struct record_event_plan *p = vec_push(&c->events);
        if (!p)
            return err_memory(err, "events");
        plan_off_cpu(p, (uint32_t)c->events.count - 1, o, t);
    }
    if (o->made_event) {
        struct record_event_plan *p = vec_push(&c->events);
        if (!p)
            return err_memory(err, "events");
        plan_made(p, (uint32_t)c->events.count - 1, o, t);
    }
    bool everyone = false; /* an event is opened for all tasks, whatever the target */
    for (size_t i = 0; i < c->events.count; i++)
        everyone |= c->events.items[i].probe != NULL;
    /* Events that are off tell nothing, and rings that are overwritten forget. */
    if (everyone || t->system_wide || o->delay_ms || o->range_count || o->control || o->overwrite) {
        struct record_event_plan *p = vec_push(&c->events);
        if (!p)
            return err_memory(err, "events");
        plan_dummy(p, (uint32_t)c->events.count - 1, o, t);
        set_side_band(&p->attr, o);
    } else if (c->events.count) {
        set_side_band(&c->events.items[0].attr, o);
    }
    set_ids(c);
    return true;
}

void record_plan_fini(struct record_plan *c) {
    vec_fini(&c->events);
}
