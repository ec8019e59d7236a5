/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_print.h"

#include <stdlib.h>
#include <string.h>

#include "view/script/script_internal.h"

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

/* Lists the functions that print the fields. One that prints several fields is called once. */
static void plan_steps(struct script_plan *plan) {
    const struct script_field *field, *before = NULL;
    for (size_t i = 0; (field = script_field_at(i)); i++) {
        if (!(plan->fields & script_field_bit(i)))
            continue;
        if (field->start && !(before && before->start == field->start))
            plan->starts[plan->start_count++] = field->start;
        if (field->print && !(before && before->print == field->print))
            plan->steps[plan->count++] = field->print;
        before = field;
    }
}

/* True for branches that are sampled one by one, as with BTS: period 1 of the branch counter. */
static bool is_branch_pair(const struct perfdata_attr *attr) {
    enum { BRANCH_INSTRUCTIONS = 4 }; /* enum perf_hw_id */
    return attr->type == PERFDATA_TYPE_HARDWARE && attr->config == BRANCH_INSTRUCTIONS &&
           attr->sample_period == 1 && attr->sample_type & PERFDATA_SAMPLE_ADDR;
}

static bool is_bpf_output(const struct perfdata_attr *attr) {
    enum { BPF_OUTPUT = 10 }; /* enum perf_sw_ids */
    return attr->type == PERFDATA_TYPE_SOFTWARE && attr->config == BPF_OUTPUT;
}

/* Makes the event's name, right-aligned to the longest name, and ": ". */
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
    /* perf shows the target by default, if the user did not choose fields. */
    plan->branch_pair = is_branch_pair(&e->attr) &&
                        (fields & SCRIPT_BIT(ADDR) || !p->options.fields.spoken[script_kind_of(&e->attr)]);
    plan_steps(plan);
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

/* ---- lines ---- */

void script_print_start(struct script_print *p, const struct script_plan *plan,
                        const struct script_start *x) {
    for (unsigned i = 0; i < plan->start_count; i++)
        plan->starts[i](p, plan, x);
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
    for (unsigned i = 0; i < plan->count; i++)
        plan->steps[i](p, plan, waiting);
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
    enum { FRAMES = 512 }; /* enough for prefetching to work */
    const struct script_plan *plan = &p->plans.items[x->event];
    if (!plan->fields)
        return;
    struct script_waiting *waiting = &p->queue[p->queued++];
    waiting->x = *x;
    waiting->asked = (struct script_asked){p->frames.runs.count, p->frames.asks.count};
    if (plan->chain)
        script_place_ask(p, plan->fields, x);
    waiting->run_end = p->frames.runs.count;
    /* A chain that is in the chain's own memory is overwritten by the next sample's. */
    if (p->queued == SCRIPT_QUEUE_MAX || p->frames.asks.count >= FRAMES ||
        (plan->chain && p->samples.chain.own_memory))
        script_print_flush(p);
}

void script_print_sample(struct script_print *p, const struct script_sample *x) {
    script_print_later(p, x);
    script_print_flush(p);
}
