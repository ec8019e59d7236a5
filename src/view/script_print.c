/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "view/script_internal.h"

enum { NS_PER_SECOND = 1000000000 };

/* What a line can consist of, in the order in which perf prints it. */
enum step {
    STEP_GUEST,
    STEP_COMM,
    STEP_COMM_PADDED,
    STEP_COMM_SHORT,
    STEP_PID_TID,
    STEP_PID,
    STEP_TID,
    STEP_CPU,
    STEP_CPU_LATENCY,
    STEP_MISC,
    STEP_CLOCK,
    STEP_TIME,
    STEP_PERIOD,
    STEP_EVENT,
    STEP_FLAGS,
    STEP_TRACE,
    STEP_ADDR,
    STEP_DATA_SRC,
    STEP_WEIGHT,
    STEP_INS_LAT,
    STEP_RETIRE_LAT,
    STEP_CGROUP,
    STEP_PLACE,
    STEP_IREGS,
    STEP_UREGS,
    STEP_INSN,
    STEP_BRANCHES,
    STEP_BRANCH_CODE,
    STEP_BPF,
    STEP_PHYS_ADDR,
    STEP_DATA_PAGE_SIZE,
    STEP_CODE_PAGE_SIZE,
};

/* Which step a field becomes, in the order of printing. Fields that share a step with others, or depend on
 * more than themselves, are in plan_start. */
static const struct step_row {
    uint64_t field;
    enum step step;
} body_steps[] = {
    {SCRIPT_BIT(PERIOD), STEP_PERIOD},
    {SCRIPT_BIT(EVENT), STEP_EVENT},
    {SCRIPT_BIT(FLAGS), STEP_FLAGS},
    {SCRIPT_BIT(TRACE), STEP_TRACE},
    {SCRIPT_BIT(ADDR), STEP_ADDR},
    {SCRIPT_BIT(DATA_SRC), STEP_DATA_SRC},
    {SCRIPT_BIT(WEIGHT), STEP_WEIGHT},
    {SCRIPT_BIT(INS_LAT), STEP_INS_LAT},
    {SCRIPT_BIT(RETIRE_LAT), STEP_RETIRE_LAT},
    {SCRIPT_BIT(CGROUP), STEP_CGROUP},
    {SCRIPT_BIT(IP), STEP_PLACE},
    {SCRIPT_BIT(IREGS), STEP_IREGS},
    {SCRIPT_BIT(UREGS), STEP_UREGS},
    {SCRIPT_BIT(INSN) | SCRIPT_BIT(INSNLEN), STEP_INSN},
    {SCRIPT_BIT(BRSTACK) | SCRIPT_BIT(BRSTACKSYM) | SCRIPT_BIT(BRSTACKOFF), STEP_BRANCHES},
    {SCRIPT_BRANCH_CODE, STEP_BRANCH_CODE},
    {SCRIPT_BIT(BPF_OUTPUT), STEP_BPF},
    {SCRIPT_BIT(PHYS_ADDR), STEP_PHYS_ADDR},
    {SCRIPT_BIT(DATA_PAGE_SIZE), STEP_DATA_PAGE_SIZE},
    {SCRIPT_BIT(CODE_PAGE_SIZE), STEP_CODE_PAGE_SIZE},
};

bool script_print_init(struct script_print *p, struct out *out, const struct perfdata_events *events,
                       const struct model *model, const struct script_print_options *options) {
    *p = (struct script_print){.out = out, .events = events, .model = model, .options = *options};
    p->first_ns = p->previous_ns = 0;
    p->second = UINT64_MAX;
    p->regs = dump_regs_find(0, NULL);
    p->samples.locator = &p->names.locator;
    p->samples.chain.o.most = options->max_stack;
    return script_names_init(&p->names, model);
}

bool script_guests_add(struct script_guests *g, const struct perfdata_id_index *index) {
    for (uint64_t i = 0; i < index->nr && 2 * i + 1 < index->guests.count; i++) {
        struct script_guest guest = {(uint32_t)perfdata_u64_at(&index->guests, 2 * i),
                                     (uint32_t)perfdata_u64_at(&index->guests, 2 * i + 1)};
        struct script_guest *slot = guest.machine_pid ? vec_push(&g->list) : NULL;
        if (guest.machine_pid && !slot)
            return false;
        if (!slot)
            continue;
        *slot = guest;
        if (!hash_map_set(&g->by_id, perfdata_u64_at(&index->entries, 4 * i), (uint32_t)(g->list.count - 1)))
            return false;
    }
    return true;
}

void script_guests_fini(struct script_guests *g) {
    hash_map_fini(&g->by_id);
    vec_fini(&g->list);
}

void script_print_fini(struct script_print *p) {
    vec_fini(&p->plans);
    script_names_fini(&p->names);
    resolve_samples_fini(&p->samples);
    script_frames_fini(&p->frames);
    object_insns_free(p->insns.insns);
    free(p->comms);
    arena_fini(&p->arena);
}

/* ---- plans ---- */

static void add(struct script_plan *plan, enum step step) {
    plan->steps[plan->count++] = (uint8_t)step;
}

static void plan_start(const struct script_print *p, struct script_plan *plan) {
    uint64_t fields = plan->fields;
    bool latency = p->options.latency;
    if (fields & (SCRIPT_BIT(MACHINE_PID) | SCRIPT_BIT(VCPU)) && p->guests)
        add(plan, STEP_GUEST);
    if (fields & SCRIPT_BIT(COMM))
        add(plan, latency ? STEP_COMM_SHORT : plan->chain ? STEP_COMM : STEP_COMM_PADDED);
    if (fields & SCRIPT_BIT(PID) && fields & SCRIPT_BIT(TID))
        add(plan, STEP_PID_TID);
    else if (fields & (SCRIPT_BIT(PID) | SCRIPT_BIT(TID)))
        add(plan, fields & SCRIPT_BIT(PID) ? STEP_PID : STEP_TID);
    if (fields & SCRIPT_BIT(CPU))
        add(plan, latency ? STEP_CPU_LATENCY : STEP_CPU);
    if (fields & SCRIPT_BIT(MISC))
        add(plan, STEP_MISC);
    if (fields & SCRIPT_BIT(TOD) && p->has_clock)
        add(plan, STEP_CLOCK);
    if (fields & SCRIPT_BIT(TIME))
        add(plan, STEP_TIME);
    plan->start_count = plan->count;
}

/* Branches that are sampled one by one, as BTS does: period 1 of the branch counter. */
static bool is_branch_pair(const struct perfdata_attr *attr) {
    enum { BRANCH_INSTRUCTIONS = 4 }; /* enum perf_hw_id */
    return attr->type == PERFDATA_TYPE_HARDWARE && attr->config == BRANCH_INSTRUCTIONS &&
           attr->sample_period == 1 && attr->sample_type & PERFDATA_SAMPLE_ADDR;
}

static bool is_bpf_output(const struct perfdata_attr *attr) {
    enum { BPF_OUTPUT = 10 }; /* enum perf_sw_ids */
    return attr->type == PERFDATA_TYPE_SOFTWARE && attr->config == BPF_OUTPUT;
}

/* The event's name, right-aligned to the longest one's width, and ": ". */
static bool plan_name(struct script_print *p, struct script_plan *plan, const char *name, size_t width) {
    size_t len = strlen(name), pad = width > len ? width - len : 0, all = pad + len + 2;
    char *text = arena_alloc(&p->arena, all > SCRIPT_NAME_STEP ? all : SCRIPT_NAME_STEP);
    if (!text)
        return false;
    memset(text, ' ', pad);
    memcpy(text + pad, name, len);
    memcpy(text + pad + len, ": ", 2);
    plan->name = text;
    plan->name_len = (uint32_t)all;
    return true;
}

static bool plan_make(struct script_print *p, const struct perfdata_event *e, size_t width,
                      struct script_plan *plan, struct err *err) {
    *plan = (struct script_plan){0};
    if (!script_fields_of(&p->options.fields, e, p->options.chains, &plan->fields, err))
        return false;
    if (!plan->fields)
        return true;
    if (!is_bpf_output(&e->attr))
        plan->fields &= ~SCRIPT_BIT(BPF_OUTPUT);
    uint64_t fields = plan->fields;
    plan->chain =
        p->options.chains && fields & SCRIPT_BIT(IP) && e->attr.sample_type & PERFDATA_SAMPLE_CALLCHAIN;
    /* perf shows the target unasked unless the user spoke about the fields. */
    plan->branch_pair = is_branch_pair(&e->attr) &&
                        (fields & SCRIPT_BIT(ADDR) || !p->options.fields.spoken[script_kind_of(&e->attr)]);
    plan_start(p, plan);
    for (size_t i = 0; i < sizeof body_steps / sizeof *body_steps; i++) {
        const struct step_row *row = &body_steps[i];
        if (!(fields & row->field) || (row->step == STEP_ADDR && plan->branch_pair) ||
            (row->step == STEP_TRACE && !p->trace))
            continue;
        add(plan, row->step);
    }
    return plan_name(p, plan, e->name ? e->name : "unknown", width) || err_memory(err, "script");
}

void script_print_replan(struct script_print *p) {
    p->planned_events = 0;
}

static bool plan_all(struct script_print *p, struct err *err) {
    size_t count = p->events->list.count, width = 0;
    if (!vec_reserve(&p->plans, count))
        return err_memory(err, "script");
    for (size_t i = 0; i < count; i++) {
        const char *name = p->events->list.items[i].name;
        size_t len = name ? strlen(name) : 0;
        width = len > width ? len : width;
    }
    p->plans.count = count;
    for (size_t i = 0; i < count; i++)
        if (!plan_make(p, &p->events->list.items[i], width, &p->plans.items[i], err))
            return false;
    p->planned_events = count;
    return true;
}

const struct script_plan *script_print_plan(struct script_print *p, uint32_t event, struct err *err) {
    if (p->planned_events != p->events->list.count && !plan_all(p, err))
        return NULL;
    return &p->plans.items[event];
}

/* ---- the start of a line ---- */

enum { COMM_MAX = 16 }; /* the kernel's names are shorter, and no column is wider */

/* What a thread is called for some time. */
struct script_comm {
    struct model_comm_span span; /* from = until: the slot is free */
    uint32_t pid, tid;
    const char *name;
    size_t len;
    char right[2 * COMM_MAX]; /* a name of at most COMM_MAX chars, with spaces before it; anything behind */
    char unnamed[24];
};

/* Where nothing names the thread then, its id does. */
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

/* In *room where none are remembered. */
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

static void print_comm(struct script_print *p, enum step step, const struct script_start *x) {
    struct out *o = p->out;
    struct script_comm room;
    const struct script_comm *c = comm_of(p, x, &room);
    size_t width = step == STEP_COMM_SHORT ? 8 : step == STEP_COMM_PADDED ? COMM_MAX : 0;
    size_t shown = step == STEP_COMM_SHORT && c->len > width ? width : c->len;
    if (__builtin_expect(c->len <= COMM_MAX, 1)) {
        size_t before = c->len > width ? c->len : width, size = shown > width ? shown : width;
        memcpy(out_room(o, COMM_MAX), c->right + COMM_MAX - before, COMM_MAX);
        o->len += size;
    } else {
        out_right(o, c->name, shown, width);
    }
    out_char(o, ' ');
}

/* An id as %7d; the kernel's -1 stands for "none". */
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

static void print_ids(struct script_print *p, enum step step, const struct script_start *x) {
    char *start = out_room(p->out, 64), *at = put_id(start, step == STEP_TID ? x->tid : x->pid);
    if (step == STEP_PID_TID) {
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

static void print_cpu(struct script_print *p, enum step step, uint32_t cpu) {
    char *start = out_room(p->out, 32), *at = start;
    if (step == STEP_CPU_LATENCY) {
        at = digits_dec(at, cpu, 3);
    } else {
        *at++ = '[';
        if (cpu < 100) {
            *at++ = '0';
            at = digits_two(at, cpu);
        } else {
            at = digits_dec(at, cpu, 0);
        }
        *at++ = ']';
    }
    *at++ = ' ';
    p->out->len += (size_t)(at - start);
}

/* The letters of perf-script(1) for a record's misc field. */
static void print_misc(struct script_print *p, const struct script_start *x) {
    static const char modes[8] = {0, 'K', 'U', 'H', 'G', 'g', 0, 0};
    char text[4], *at = text;
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

static void print_guest(struct script_print *p, const struct script_plan *plan, uint64_t id) {
    uint32_t index = hash_map_get(&p->guests->by_id, id);
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

/* The time that is shown: since the start, since the line before, or as recorded. What was there before the
 * recording began has time 0, from which nothing is counted. */
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

static void print_time(struct script_print *p, uint64_t time_ns) {
    uint64_t shown = shown_time(p, time_ns), second = shown / NS_PER_SECOND;
    unsigned rest = (unsigned)(shown % NS_PER_SECOND);
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

void script_print_start(struct script_print *p, const struct script_plan *plan,
                        const struct script_start *x) {
    for (unsigned i = 0; i < plan->start_count; i++) {
        enum step step = plan->steps[i];
        switch (step) {
        case STEP_GUEST:
            print_guest(p, plan, x->id);
            break;
        case STEP_COMM:
        case STEP_COMM_PADDED:
        case STEP_COMM_SHORT:
            print_comm(p, step, x);
            break;
        case STEP_PID_TID:
        case STEP_PID:
        case STEP_TID:
            print_ids(p, step, x);
            break;
        case STEP_CPU:
        case STEP_CPU_LATENCY:
            print_cpu(p, step, x->cpu);
            break;
        case STEP_MISC:
            print_misc(p, x);
            break;
        case STEP_CLOCK:
            script_value_clock(p->out, x->time_ns + (uint64_t)p->clock_offset_ns, p->options.ns);
            break;
        case STEP_TIME:
            print_time(p, x->time_ns);
            break;
        default:
            break;
        }
    }
}

/* ---- samples ---- */

static void print_cgroup(struct script_print *p, uint64_t id) {
    const char *path = model_cgroup(p->model, id);
    out_char(p->out, ' ');
    out_str(p->out, path ? path : "unknown");
}

static void print_event(struct script_print *p, const struct script_plan *plan) {
    if (plan->name_len <= SCRIPT_NAME_STEP) { /* a copy of a known size */
        memcpy(out_room(p->out, SCRIPT_NAME_STEP), plan->name, SCRIPT_NAME_STEP);
        p->out->len += plan->name_len;
    } else {
        out_mem(p->out, plan->name, plan->name_len);
    }
}

static void print_period(struct script_print *p, const struct script_sample *x) {
    const struct perfdata_attr *attr = &p->events->list.items[x->event].attr;
    /* Without the field every sample stands for the event's fixed period; readings tell how much it was. */
    bool told = attr->sample_type & (PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_READ);
    uint64_t period = told ? x->s->period : attr->sample_period;
    char *start = out_room(p->out, 32), *at = digits_dec(start, period, 10);
    *at++ = ' ';
    p->out->len += (size_t)(at - start);
}

static void print_step(struct script_print *p, enum step step, const struct script_plan *plan,
                       const struct script_waiting *waiting) {
    struct out *o = p->out;
    const struct script_sample *x = &waiting->x;
    const struct perfdata_sample *s = x->s;
    switch (step) {
    case STEP_PERIOD:
        print_period(p, x);
        break;
    case STEP_EVENT:
        print_event(p, plan);
        break;
    case STEP_FLAGS: /* set by AUX decoders only; the column is there */
        out_fill(o, ' ', 24);
        break;
    case STEP_TRACE:
        p->trace(p->trace_ctx, &p->events->list.items[x->event].attr, s, o);
        break;
    case STEP_ADDR:
        script_place_addr(p, plan, x);
        break;
    case STEP_DATA_SRC:
        script_value_data_src(o, s->data_src, &p->data_src_width);
        break;
    case STEP_WEIGHT:
        out_dec(o, s->weight, 16);
        break;
    case STEP_INS_LAT:
        out_dec(o, s->ins_lat, 16);
        break;
    case STEP_RETIRE_LAT:
        out_dec(o, s->weight3, 16);
        break;
    case STEP_CGROUP:
        print_cgroup(p, s->cgroup);
        break;
    case STEP_PLACE:
        script_place_sample(p, plan, waiting);
        break;
    case STEP_IREGS:
        script_value_regs(o, p->regs, &s->regs_intr);
        break;
    case STEP_UREGS:
        script_value_regs(o, p->regs, &s->regs_user);
        break;
    case STEP_BRANCHES:
        script_place_branches(p, plan, x);
        break;
    case STEP_INSN:
        script_code_sample(p, plan->fields, x);
        break;
    case STEP_BRANCH_CODE:
        script_code_branches(p, plan->fields, x);
        break;
    case STEP_BPF:
        script_value_bpf(o, s->raw);
        break;
    case STEP_PHYS_ADDR:
        out_hex(o, s->phys_addr, 16);
        break;
    case STEP_DATA_PAGE_SIZE:
        script_value_page_size(o, s->data_page_size);
        break;
    case STEP_CODE_PAGE_SIZE:
        script_value_page_size(o, s->code_page_size);
        break;
    default: /* steps of the start */
        break;
    }
}

bool script_print_locate(struct script_print *p, const struct script_sample *x, struct model_hit *hit) {
    *hit = MODEL_NOTHING;
    return x->s->have & PERFDATA_SAMPLE_IP &&
           script_place_find(p, x, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->ip, hit);
}

void script_print_sample_start(struct script_print *p, const struct script_sample *x) {
    struct script_start start = {.comm_pid = x->s->pid,
                                 .comm_tid = x->s->tid,
                                 .pid = x->s->pid,
                                 .tid = x->s->tid,
                                 .cpu = x->s->cpu,
                                 .misc = x->misc,
                                 .type = PERFDATA_RECORD_SAMPLE,
                                 .time_ns = x->s->time,
                                 .id = x->s->have & PERFDATA_SAMPLE_IDENTIFIER ? x->s->identifier : x->s->id,
                                 .when = x->when};
    script_print_start(p, &p->plans.items[x->event], &start);
}

static void print_sample(struct script_print *p, const struct script_waiting *waiting) {
    const struct script_sample *x = &waiting->x;
    const struct script_plan *plan = &p->plans.items[x->event];
    script_print_sample_start(p, x);
    for (unsigned i = plan->start_count; i < plan->count; i++)
        print_step(p, plan->steps[i], plan, waiting);
    out_char(p->out, '\n');
}

void script_print_flush(struct script_print *p) {
    script_frames_answer(&p->frames, &p->names);
    for (unsigned i = 0; i < p->queued; i++)
        print_sample(p, &p->queue[i]);
    p->queued = 0;
    script_frames_clear(&p->frames);
}

void script_print_later(struct script_print *p, const struct script_sample *x) {
    enum { FRAMES = 512 }; /* so many are enough */
    const struct script_plan *plan = &p->plans.items[x->event];
    if (!plan->fields)
        return;
    struct script_waiting *waiting = &p->queue[p->queued++];
    waiting->x = *x;
    waiting->asked = (struct script_asked){p->frames.runs.count, p->frames.asks.count};
    if (plan->chain)
        script_place_ask(p, plan->fields, x);
    waiting->run_end = p->frames.runs.count;
    /* The next sample's chain takes the place of one that lies in the chain's own memory. */
    if (p->queued == SCRIPT_QUEUE_MAX || p->frames.asks.count >= FRAMES ||
        (plan->chain && p->samples.chain.own_memory))
        script_print_flush(p);
}

void script_print_sample(struct script_print *p, const struct script_sample *x) {
    script_print_later(p, x);
    script_print_flush(p);
}
