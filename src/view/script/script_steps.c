/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of script (-F): the table, in the order of printing, and before it the functions that print its
 * rows, as text and as JSON. Which of them a line needs is decided once for each event (script_print.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "view/script/script_internal.h"
#include "view/script/script_json.h"

enum { NS_PER_SECOND = 1000000000 };

/* ---- the start of a line: who and when ---- */

enum { COMM_MAX = 16 }; /* the kernel's names are shorter, and no column is wider */

/* The name of a thread during some time. */
struct script_comm {
    struct model_comm_span span; /* from = until: the slot is free */
    uint32_t pid, tid;
    const char *name;
    size_t len;
    char right[2 * COMM_MAX]; /* a name of at most COMM_MAX chars, with spaces before it; anything after */
    char unnamed[24];
};

/* Sets the name; without one, the thread's id. */
static void set_name(struct script_comm *c) {
    c->name = c->span.comm;
    if (!c->name) {
        int32_t tid = (int32_t)c->tid;
        char *at = c->unnamed;
        *at++ = ':';
        if (tid < 0)
            *at++ = '-';
        *digits_dec(at, tid < 0 ? -(uint64_t)tid : (uint64_t)tid, 0) = 0;
        c->name = c->unnamed;
    }
    c->len = strlen(c->name);
    if (c->len > COMM_MAX)
        return;
    memset(c->right, ' ', COMM_MAX);
    memcpy(c->right + COMM_MAX - c->len, c->name, c->len);
}

/* Returns the thread's name, kept in a slot or, if none can be kept, in *room. */
static const struct script_comm *comm_of(struct script_print *p, const struct script_start *x,
                                         struct script_comm *room) {
    enum { SLOTS = 256 };
    bool lasts = model_is_frozen(p->model);
    if (!p->comms && lasts)
        p->comms = calloc(SLOTS, sizeof *p->comms);
    struct script_comm *c = p->comms && lasts ? &p->comms[x->comm_tid % SLOTS] : room;
    if (c != room && c->pid == x->comm_pid && c->tid == x->comm_tid &&
        !model_when_before(x->when, c->span.from) && model_when_before(x->when, c->span.until))
        return c;
    if (c == room)
        c->span.comm = model_comm(p->model, x->comm_pid, x->comm_tid, x->when, NULL);
    else
        model_comm_at(p->model, x->comm_pid, x->comm_tid, x->when, &c->span);
    c->pid = x->comm_pid;
    c->tid = x->comm_tid;
    set_name(c);
    return c;
}

static void print_comm(struct script_print *p, const struct script_plan *plan, const struct script_start *x) {
    enum { SHORT = 8 };
    struct out *o = p->out;
    struct script_comm room;
    const struct script_comm *c = comm_of(p, x, &room);
    bool cut = p->options.latency;
    size_t width = cut ? SHORT : plan->chain ? 0 : COMM_MAX, shown = cut && c->len > width ? width : c->len;
    if (__builtin_expect(c->len <= COMM_MAX, 1)) {
        size_t before = c->len > width ? c->len : width, size = shown > width ? shown : width;
        memcpy(out_room(o, COMM_MAX), c->right + COMM_MAX - before, COMM_MAX);
        o->len += size;
    } else {
        out_right(o, c->name, shown, width);
    }
    out_char(o, ' ');
}

static void json_comm(struct script_json *j, const struct script_sample *x) {
    const char *comm = x->s->have & PERFDATA_SAMPLE_TID
                           ? model_comm(j->print->model, x->s->pid, x->s->tid, x->when, NULL)
                           : NULL;
    if (comm)
        json_text(&j->json, "comm", comm);
}

/* Writes an id as %7d; the kernel's -1 means "none". */
static char *put_id(char *at, uint32_t id) {
    if (__builtin_expect((int32_t)id >= 0, 1))
        return digits_dec(at, id, 7);
    char tmp[24], *end = digits_dec(tmp + 1, -(uint64_t)(int32_t)id, 0);
    tmp[0] = '-';
    for (ptrdiff_t n = end - tmp; n < 7; n++)
        *at++ = ' ';
    memcpy(at, tmp, (size_t)(end - tmp));
    return at + (end - tmp);
}

/* Prints "pid/tid", or one of them. */
static void print_ids(struct script_print *p, const struct script_plan *plan, const struct script_start *x) {
    bool pid = plan->fields & SCRIPT_BIT(PID);
    char *start = out_room(p->out, 64), *at = put_id(start, pid ? x->pid : x->tid);
    if (pid && plan->fields & SCRIPT_BIT(TID)) {
        *at++ = '/';
        char *tid = at;
        if ((int32_t)x->tid < 0) {
            *at++ = '-';
            at = digits_dec(at, -(uint64_t)(int32_t)x->tid, 0);
        } else {
            at = digits_dec(at, x->tid, 0);
        }
        while (at - tid < 7)
            *at++ = ' ';
    }
    *at++ = ' ';
    p->out->len += (size_t)(at - start);
}

static void json_pid(struct script_json *j, const struct script_sample *x) {
    json_int(&j->json, "pid", (int32_t)x->s->pid);
}

static void json_tid(struct script_json *j, const struct script_sample *x) {
    json_int(&j->json, "tid", (int32_t)x->s->tid);
}

static void print_cpu(struct script_print *p, const struct script_plan *plan, const struct script_start *x) {
    char *start = out_room(p->out, 32), *at = start;
    (void)plan;
    if (p->options.latency) {
        at = digits_dec(at, x->cpu, 3);
    } else {
        *at++ = '[';
        if (x->cpu < 100) {
            *at++ = '0';
            at = digits_two(at, x->cpu);
        } else {
            at = digits_dec(at, x->cpu, 0);
        }
        *at++ = ']';
    }
    *at++ = ' ';
    p->out->len += (size_t)(at - start);
}

static void json_cpu(struct script_json *j, const struct script_sample *x) {
    json_int(&j->json, "cpu", (int32_t)x->s->cpu);
}

/* Prints perf-script(1)'s letters for a record's misc field. */
static void print_misc(struct script_print *p, const struct script_plan *plan, const struct script_start *x) {
    static const char modes[8] = {0, 'K', 'U', 'H', 'G', 'g', 0, 0};
    char text[4], *at = text;
    (void)plan;
    if (modes[x->misc & PERFDATA_MISC_CPUMODE_MASK])
        *at++ = modes[x->misc & PERFDATA_MISC_CPUMODE_MASK];
    switch (x->type) {
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
        if (x->misc & PERFDATA_MISC_MMAP_DATA)
            *at++ = 'M';
        break;
    case PERFDATA_RECORD_COMM:
        if (x->misc & PERFDATA_MISC_COMM_EXEC)
            *at++ = 'E';
        break;
    case PERFDATA_RECORD_SWITCH:
    case PERFDATA_RECORD_SWITCH_CPU_WIDE:
        if (x->misc & PERFDATA_MISC_SWITCH_OUT)
            *at++ = 'S';
        if (x->misc & PERFDATA_MISC_SWITCH_OUT && x->misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT)
            *at++ = 'p';
        break;
    default:
        break;
    }
    out_left(p->out, text, (size_t)(at - text), 5);
    out_char(p->out, ' ');
}

static void json_mode(struct script_json *j, const struct script_sample *x) {
    static const char *const modes[8] = {NULL, "kernel", "user", "hypervisor", "guest_kernel", "guest_user"};
    if (modes[x->misc & PERFDATA_MISC_CPUMODE_MASK])
        json_text(&j->json, "mode", modes[x->misc & PERFDATA_MISC_CPUMODE_MASK]);
}

static void print_guest(struct script_print *p, const struct script_plan *plan,
                        const struct script_start *x) {
    uint32_t index = p->guests ? hash_map_get(&p->guests->by_id, x->id) : HASH_ABSENT;
    if (index == HASH_ABSENT)
        return;
    if (plan->fields & SCRIPT_BIT(MACHINE_PID)) {
        out_str(p->out, "VM:");
        out_dec(p->out, p->guests->list.items[index].machine_pid, 5);
        out_char(p->out, ' ');
    }
    if (plan->fields & SCRIPT_BIT(VCPU)) {
        out_str(p->out, "VCPU:");
        out_dec0(p->out, p->guests->list.items[index].vcpu, 3);
        out_char(p->out, ' ');
    }
}

static void print_clock(struct script_print *p, const struct script_plan *plan,
                        const struct script_start *x) {
    (void)plan;
    if (p->has_clock)
        script_value_clock(p->out, x->time_ns + (uint64_t)p->clock_offset_ns, p->options.ns);
}

/* Returns the time to show: since the start, since the line before, or as recorded. Records of what existed
 * before the recording have time 0, from which no time is counted. */
static uint64_t shown_time(struct script_print *p, uint64_t time_ns) {
    uint64_t shown = time_ns;
    if (p->options.reltime) {
        if (!p->first_ns)
            p->first_ns = time_ns;
        shown = time_ns - p->first_ns;
    } else if (p->options.deltatime) {
        shown = p->previous_ns ? time_ns - p->previous_ns : 0;
        p->previous_ns = time_ns;
    }
    return shown;
}

static void print_time(struct script_print *p, const struct script_plan *plan, const struct script_start *x) {
    uint64_t shown = shown_time(p, x->time_ns), second = shown / NS_PER_SECOND;
    unsigned rest = (unsigned)(shown % NS_PER_SECOND);
    (void)plan;
    if (second != p->second) {
        p->second = second;
        char *end = digits_dec(p->second_text, second, 5);
        *end++ = '.';
        p->second_len = (uint8_t)(end - p->second_text);
    }
    char *start = out_room(p->out, 64), *at = start;
    memcpy(at, p->second_text, sizeof p->second_text);
    at = digits_six(at + p->second_len, rest / 1000);
    if (p->options.ns) {
        *at++ = (char)('0' + rest % 1000 / 100);
        at = digits_two(at, rest % 100);
    }
    memcpy(at, ": ", 2);
    p->out->len += (size_t)(at + 2 - start);
}

static void json_time(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "time", x->s->time);
}

/* ---- samples ---- */

/* Returns the period. Without the field it is the event's fixed period, unless readings have the real one. */
static uint64_t period_of(const struct script_print *p, const struct script_sample *x, uint64_t told) {
    return told & (PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_READ)
               ? x->s->period
               : p->events->list.items[x->event].attr.sample_period;
}

static void print_period(struct script_print *p, const struct script_plan *plan,
                         const struct script_waiting *w) {
    uint64_t period = period_of(p, &w->x, p->events->list.items[w->x.event].attr.sample_type);
    char *start = out_room(p->out, 32), *at = digits_dec(start, period, 10);
    (void)plan;
    *at++ = ' ';
    p->out->len += (size_t)(at - start);
}

static void json_period(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "period", period_of(j->print, x, x->s->have));
}

static void print_event(struct script_print *p, const struct script_plan *plan,
                        const struct script_waiting *w) {
    (void)w;
    if (plan->name_len <= SCRIPT_NAME_STEP) { /* a copy of fixed size is fast */
        memcpy(out_room(p->out, SCRIPT_NAME_STEP), plan->name, SCRIPT_NAME_STEP);
        p->out->len += plan->name_len;
    } else {
        out_mem(p->out, plan->name, plan->name_len);
    }
}

static void json_event(struct script_json *j, const struct script_sample *x) {
    const char *name = j->print->events->list.items[x->event].name;
    json_text(&j->json, "event", name ? name : "unknown");
    if (j->scripting)
        json_number(&j->json, "event_number", x->event);
}

/* Only decoders of AUX data set flags, but the column is always there. */
static void print_flags(struct script_print *p, const struct script_plan *plan,
                        const struct script_waiting *w) {
    (void)plan, (void)w;
    out_fill(p->out, ' ', 24);
}

static void print_trace(struct script_print *p, const struct script_plan *plan,
                        const struct script_waiting *w) {
    (void)plan;
    if (p->trace)
        p->trace(p->trace_ctx, &p->events->list.items[w->x.event].attr, w->x.s, p->out);
}

static void print_addr(struct script_print *p, const struct script_plan *plan,
                       const struct script_waiting *w) {
    if (!plan->branch_pair)
        script_place_addr(p, plan, &w->x);
}

static void print_data_src(struct script_print *p, const struct script_plan *plan,
                           const struct script_waiting *w) {
    (void)plan;
    script_value_data_src(p->out, w->x.s->data_src, &p->data_src_width);
}

static void json_data_src(struct script_json *j, const struct script_sample *x) {
    enum { DIGITS = 17 }; /* before the words */
    struct out words;
    unsigned width = 0;
    json_hex(&j->json, "data_src", x->s->data_src);
    if (!j->scripting || !out_init(&words, NULL, NULL))
        return;
    script_value_data_src(&words, x->s->data_src, &width);
    json_text(&j->json, "data_src_text", out_text(&words) + DIGITS);
    out_fini(&words);
}

static void print_weight(struct script_print *p, const struct script_plan *plan,
                         const struct script_waiting *w) {
    (void)plan;
    out_dec(p->out, w->x.s->weight, 16);
}

static void json_weight(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "weight", x->s->weight);
}

static void print_ins_lat(struct script_print *p, const struct script_plan *plan,
                          const struct script_waiting *w) {
    (void)plan;
    out_dec(p->out, w->x.s->ins_lat, 16);
}

static void json_ins_lat(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "ins_lat", x->s->ins_lat);
}

static void print_retire_lat(struct script_print *p, const struct script_plan *plan,
                             const struct script_waiting *w) {
    (void)plan;
    out_dec(p->out, w->x.s->weight3, 16);
}

static void json_retire_lat(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "retire_lat", x->s->weight3);
}

static void print_cgroup(struct script_print *p, const struct script_plan *plan,
                         const struct script_waiting *w) {
    const char *path = model_cgroup(p->model, w->x.s->cgroup);
    (void)plan;
    out_char(p->out, ' ');
    out_str(p->out, path ? path : "unknown");
}

static void json_cgroup(struct script_json *j, const struct script_sample *x) {
    const char *path = model_cgroup(j->print->model, x->s->cgroup);
    json_number(&j->json, "cgroup_id", x->s->cgroup);
    if (path)
        json_text(&j->json, "cgroup", path);
}

static void print_iregs(struct script_print *p, const struct script_plan *plan,
                        const struct script_waiting *w) {
    (void)plan;
    script_value_regs(p->out, p->regs, &w->x.s->regs_intr);
}

static void json_iregs(struct script_json *j, const struct script_sample *x) {
    script_json_regs(j, "iregs", &x->s->regs_intr);
}

static void print_uregs(struct script_print *p, const struct script_plan *plan,
                        const struct script_waiting *w) {
    (void)plan;
    script_value_regs(p->out, p->regs, &w->x.s->regs_user);
}

static void json_uregs(struct script_json *j, const struct script_sample *x) {
    script_json_regs(j, "uregs", &x->s->regs_user);
}

static void print_branches(struct script_print *p, const struct script_plan *plan,
                           const struct script_waiting *w) {
    script_place_branches(p, plan, &w->x);
}

static void print_insn(struct script_print *p, const struct script_plan *plan,
                       const struct script_waiting *w) {
    script_code_sample(p, plan->fields, &w->x);
}

static void print_branch_code(struct script_print *p, const struct script_plan *plan,
                              const struct script_waiting *w) {
    script_code_branches(p, plan->fields, &w->x);
}

static void print_bpf(struct script_print *p, const struct script_plan *plan,
                      const struct script_waiting *w) {
    (void)plan;
    script_value_bpf(p->out, w->x.s->raw);
}

static void print_phys_addr(struct script_print *p, const struct script_plan *plan,
                            const struct script_waiting *w) {
    (void)plan;
    out_hex(p->out, w->x.s->phys_addr, 16);
}

static void json_phys_addr(struct script_json *j, const struct script_sample *x) {
    json_hex(&j->json, "phys_addr", x->s->phys_addr);
}

static void print_data_page(struct script_print *p, const struct script_plan *plan,
                            const struct script_waiting *w) {
    (void)plan;
    script_value_page_size(p->out, w->x.s->data_page_size);
}

static void json_data_page(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "data_page_size", x->s->data_page_size);
}

static void print_code_page(struct script_print *p, const struct script_plan *plan,
                            const struct script_waiting *w) {
    (void)plan;
    script_value_page_size(p->out, w->x.s->code_page_size);
}

static void json_code_page(struct script_json *j, const struct script_sample *x) {
    json_number(&j->json, "code_page_size", x->s->code_page_size);
}

/* ---- the rows, in the order of printing ---- */

#define NAMES(of_option, meaning) .name = (of_option), .help = (meaning)
#define NEEDS(bit)                .needs = PERFDATA_SAMPLE_##bit, .needs_name = #bit

enum {
    NOT_TRACE = SCRIPT_ANY_KIND & ~(1 << SCRIPT_KIND_TRACE),
    RAW = 1 << SCRIPT_KIND_RAW,
};

static const struct script_field rows[] = {
    {NAMES("machine_pid", "the guest's virtual machine: its process id"), .id = SCRIPT_MACHINE_PID,
     .start = print_guest},
    {NAMES("vcpu", "the guest's CPU"), .id = SCRIPT_VCPU, .start = print_guest},
    {NAMES("comm", "the thread's name"), .id = SCRIPT_COMM, .defaults = SCRIPT_ANY_KIND, .start = print_comm,
     .json = json_comm}, /* without TID, that of -1 */
    {NAMES("pid", "the process id"), .id = SCRIPT_PID, NEEDS(TID), .start = print_ids, .json = json_pid},
    {NAMES("tid", "the thread's id"), .id = SCRIPT_TID, .defaults = SCRIPT_ANY_KIND, NEEDS(TID),
     .start = print_ids, .json = json_tid},
    {NAMES("cpu", "the CPU it ran on"), .defaults = SCRIPT_ANY_KIND, NEEDS(CPU), .start = print_cpu,
     .json = json_cpu},
    {NAMES("misc", "letters for the record's misc bits: K, U, H, G, g, M, E, S"), .id = SCRIPT_MISC,
     .start = print_misc, .json = json_mode},
    {NAMES("tod", "the wall clock's time (recorded with -k)"), .id = SCRIPT_TOD, NEEDS(TIME),
     .start = print_clock},
    {NAMES("time", "when, in seconds"), .defaults = SCRIPT_ANY_KIND, NEEDS(TIME), .start = print_time,
     .json = json_time},
    {NAMES("period", "how many events the sample stands for"), .id = SCRIPT_PERIOD, .defaults = NOT_TRACE,
     .print = print_period, .json = json_period},
    {NAMES("event", "the event's name"), .id = SCRIPT_EVENT, .defaults = SCRIPT_ANY_KIND,
     .print = print_event, .json = json_event},
    {NAMES("flags", "flags of instruction traces, which are not decoded"), .print = print_flags},
    {NAMES("trace", "the fields of a tracepoint"), .id = SCRIPT_TRACE, .kinds = 1 << SCRIPT_KIND_TRACE,
     .defaults = 1 << SCRIPT_KIND_TRACE, NEEDS(RAW), .print = print_trace, .json = script_json_raw},
    {NAMES("addr", "the address that the event is about, such as that of accessed data"), .id = SCRIPT_ADDR,
     .defaults = RAW, NEEDS(ADDR), .print = print_addr, .json = script_json_addr},
    {NAMES("data_src", "where accessed data came from"), .defaults = RAW, NEEDS(DATA_SRC),
     .print = print_data_src, .json = json_data_src},
    {NAMES("weight", "what the event says of its cost, such as a latency"), .defaults = RAW,
     .needs = PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT, .needs_name = "WEIGHT",
     .print = print_weight, .json = json_weight},
    {NAMES("ins_lat", "the instruction's latency in cycles"), .defaults = RAW, NEEDS(WEIGHT_STRUCT),
     .print = print_ins_lat, .json = json_ins_lat},
    {NAMES("retire_lat", "cycles since the instruction before was done"), .defaults = RAW,
     NEEDS(WEIGHT_STRUCT), .print = print_retire_lat, .json = json_retire_lat},
    {NAMES("cgroup", "the control group's path"), .model = MODEL_NEED_EXTRAS, NEEDS(CGROUP),
     .print = print_cgroup, .json = json_cgroup},
    {NAMES("ip", "the code's address, or the callchain"), .id = SCRIPT_IP, .defaults = NOT_TRACE, NEEDS(IP),
     .print = script_place_sample, .json = script_json_ip},
    /* These are printed with addresses. */
    {NAMES("sym", "the function"), .id = SCRIPT_SYM, .defaults = NOT_TRACE, .model = MODEL_NEED_MAPS},
    {NAMES("symoff", "the offset in the function"), .id = SCRIPT_SYMOFF, .defaults = NOT_TRACE},
    {NAMES("dso", "the program, library or kernel module"), .id = SCRIPT_DSO, .defaults = NOT_TRACE,
     .model = MODEL_NEED_MAPS},
    {NAMES("dsoff", "the offset in the program, library or kernel module"), .id = SCRIPT_DSOFF,
     .model = MODEL_NEED_MAPS},
    {NAMES("srcline", "source file and line"), .id = SCRIPT_SRCLINE, .model = MODEL_NEED_MAPS},
    {NAMES("grade", "how sure the name is: exact, inferred, stale or unknown"), .id = SCRIPT_GRADE,
     .model = MODEL_NEED_MAPS},
    {NAMES("identity", "by what the file that gave the name was recognised"), .id = SCRIPT_IDENTITY,
     .model = MODEL_NEED_MAPS},
    {NAMES("provenance", "which table of which file gave the name"), .id = SCRIPT_PROVENANCE,
     .model = MODEL_NEED_MAPS},
    {NAMES("iregs", "registers when the event happened"), .needs = PERFDATA_SAMPLE_REGS_INTR,
     .needs_name = "IREGS", .print = print_iregs, .json = json_iregs},
    {NAMES("uregs", "registers of the user's code"), .needs = PERFDATA_SAMPLE_REGS_USER,
     .needs_name = "UREGS", .print = print_uregs, .json = json_uregs},
    {NAMES("insn", "the instruction's bytes"), .id = SCRIPT_INSN, .model = MODEL_NEED_MAPS,
     .print = print_insn},
    {NAMES("insnlen", "the instruction's length in bytes"), .id = SCRIPT_INSNLEN, .model = MODEL_NEED_MAPS,
     .print = print_insn},
    {NAMES("brstack", "the branch stack, as addresses"), .id = SCRIPT_BRSTACK, .print = print_branches,
     .json = script_json_branches},
    {NAMES("brstacksym", "the branch stack, as functions"), .id = SCRIPT_BRSTACKSYM, .model = MODEL_NEED_MAPS,
     .print = print_branches},
    {NAMES("brstackoff", "the branch stack, as offsets in objects"), .model = MODEL_NEED_MAPS,
     .print = print_branches},
    {NAMES("brstackinsn", "the instructions between the branches, as bytes"), .id = SCRIPT_BRSTACKINSN,
     .model = MODEL_NEED_MAPS, .print = print_branch_code},
    {NAMES("brstackinsnlen", "the lengths of the instructions between the branches"),
     .id = SCRIPT_BRSTACKINSNLEN, .model = MODEL_NEED_MAPS, .print = print_branch_code},
    {NAMES("brstackdisasm", "the instructions between the branches, disassembled"),
     .id = SCRIPT_BRSTACKDISASM, .model = MODEL_NEED_MAPS, .print = print_branch_code},
    {NAMES("bpf-output", "the bytes of a bpf-output event"), .id = SCRIPT_BPF_OUTPUT,
     .kinds = 1 << SCRIPT_KIND_SOFTWARE, .defaults = 1 << SCRIPT_KIND_SOFTWARE, .print = print_bpf},
    {NAMES("phys_addr", "the physical address of accessed data"), .defaults = RAW, NEEDS(PHYS_ADDR),
     .print = print_phys_addr, .json = json_phys_addr},
    {NAMES("data_page_size", "the size of the page of accessed data"), .defaults = RAW, NEEDS(DATA_PAGE_SIZE),
     .print = print_data_page, .json = json_data_page},
    {NAMES("code_page_size", "the size of the page of the code"), .defaults = RAW, NEEDS(CODE_PAGE_SIZE),
     .print = print_code_page, .json = json_code_page},
    {NAMES("metric", "figures such as instructions per cycle, on lines of their own"),
     .id = SCRIPT_METRIC}, /* script_metric.h */
    /* Fields of instruction traces; other samples print nothing. */
    {NAMES("synth", "what was made of instruction traces"), .defaults = 1 << SCRIPT_KIND_SYNTH},
    {NAMES("callindent", "calls, indented, of instruction traces")},
    {NAMES("ipc", "instructions per cycle, of instruction traces")},
    {.name = "disasm", .later = "insn has the bytes of the instruction"},
    {.name = "srccode", .later = "source files are not read; srcline says which line it is"},
    {.name = "brcntr", .later = "what a branch's counters count is not known"},
};

const struct script_field *script_field_at(size_t i) {
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}
