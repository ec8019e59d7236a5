/* SPDX-License-Identifier: Apache-2.0 */
/* The values of keys that do not follow from where the sample lies, from samples. */
#include "profile/profile_internal.h"

enum key_kind {
    KEY_NUMBER,
    KEY_TEXT,  /* an id in builder.texts */
    KEY_FRAME, /* an id in builder.frames: another place than the sample's own */
    KEY_PLACE, /* no value: of the sample's own place */
};

#define WEIGHTS (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT)

static const struct rule {
    uint8_t kind; /* enum key_kind */
    uint8_t slot; /* the column under whose name the value is kept, if that is another; else 0 */
    uint32_t wants;
} rules[PROFILE_COLUMN_COUNT] = {
    [PROFILE_COMM] = {KEY_TEXT, 0, 0},
    [PROFILE_COMM_NODIGIT] = {KEY_TEXT, 0, 0},
    [PROFILE_PARENT] = {KEY_TEXT, 0, 0},
    [PROFILE_FIELD... PROFILE_FIELD_LAST] = {KEY_TEXT, 0, PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU},
    [PROFILE_TRACE] = {KEY_TEXT, 0, PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU},
    [PROFILE_DSO] = {KEY_PLACE, 0, 0},
    [PROFILE_DSO_SIZE] = {KEY_PLACE, 0, 0},
    [PROFILE_SYMBOL] = {KEY_PLACE, 0, 0},
    [PROFILE_SYMBOL_SIZE] = {KEY_PLACE, 0, 0},
    [PROFILE_SYMBOL_OFFSET] = {KEY_PLACE, 0, 0},
    [PROFILE_ADDR] = {KEY_PLACE, 0, 0},
    [PROFILE_SRCLINE] = {KEY_PLACE, 0, 0},
    [PROFILE_SRCFILE] = {KEY_PLACE, 0, 0},
    [PROFILE_TYPE] = {KEY_PLACE, 0, 0},
    [PROFILE_TYPEOFF] = {KEY_PLACE, 0, 0},
    [PROFILE_TYPECLN] = {KEY_PLACE, 0, 0},
    [PROFILE_GRADE] = {KEY_PLACE, 0, 0},
    [PROFILE_IDENTITY] = {KEY_PLACE, 0, 0},
    [PROFILE_PROVENANCE] = {KEY_PLACE, 0, 0},
    [PROFILE_IPC] = {KEY_PLACE, 0, 0},
    [PROFILE_DSO_FROM] = {KEY_FRAME, PROFILE_SYMBOL_FROM, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_SYMBOL_FROM] = {KEY_FRAME, 0, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_ADDR_FROM] = {KEY_FRAME, PROFILE_SYMBOL_FROM, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_DSO_TO] = {KEY_FRAME, PROFILE_SYMBOL_TO, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_SYMBOL_TO] = {KEY_FRAME, 0, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_ADDR_TO] = {KEY_FRAME, PROFILE_SYMBOL_TO, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_SRCLINE_FROM] = {KEY_FRAME, PROFILE_SYMBOL_FROM, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_SRCLINE_TO] = {KEY_FRAME, PROFILE_SYMBOL_TO, PERFDATA_SAMPLE_BRANCH_STACK},
    [PROFILE_CPU] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_CPU},
    [PROFILE_SOCKET] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_CPU},
    [PROFILE_WEIGHT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_LOCAL_WEIGHT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_INS_LAT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_LOCAL_INS_LAT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_P_STAGE_CYC] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_LOCAL_P_STAGE_CYC] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_RETIRE_LAT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_LOCAL_RETIRE_LAT] = {KEY_NUMBER, 0, WEIGHTS},
    [PROFILE_CGROUP] = {KEY_TEXT, 0, PERFDATA_SAMPLE_CGROUP},
    [PROFILE_TRANSACTION] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_TRANSACTION},
    [PROFILE_CODE_PAGE_SIZE] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_CODE_PAGE_SIZE},
    [PROFILE_DATA_PAGE_SIZE] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_DATA_PAGE_SIZE},
    [PROFILE_PHYS_DADDR] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_PHYS_ADDR},
    [PROFILE_LOCKED] = {KEY_NUMBER, PROFILE_MEM, PERFDATA_SAMPLE_DATA_SRC},
    [PROFILE_TLB] = {KEY_NUMBER, PROFILE_MEM, PERFDATA_SAMPLE_DATA_SRC},
    [PROFILE_MEM] = {KEY_NUMBER, 0, PERFDATA_SAMPLE_DATA_SRC},
    [PROFILE_SNOOP] = {KEY_NUMBER, PROFILE_MEM, PERFDATA_SAMPLE_DATA_SRC},
    [PROFILE_BLOCKED] = {KEY_NUMBER, PROFILE_MEM, PERFDATA_SAMPLE_DATA_SRC},
    [PROFILE_SYMBOL_DADDR] = {KEY_FRAME, 0, PERFDATA_SAMPLE_ADDR},
    [PROFILE_DSO_DADDR] = {KEY_FRAME, PROFILE_SYMBOL_DADDR, PERFDATA_SAMPLE_ADDR},
    [PROFILE_DCACHELINE] = {KEY_FRAME, PROFILE_SYMBOL_DADDR, PERFDATA_SAMPLE_ADDR},
    [PROFILE_SYMBOL_IADDR] = {KEY_FRAME, 0, 0},
};

bool profile_key_is_place(enum profile_column_id id) {
    return rules[id].kind == KEY_PLACE;
}

bool profile_key_is_text(enum profile_column_id id) {
    return rules[id].kind == KEY_TEXT;
}

bool profile_key_is_frame(enum profile_column_id id) {
    return rules[id].kind == KEY_FRAME;
}

bool profile_key_is_mem(enum profile_column_id id) {
    enum profile_column_id slot = profile_key_slot(id);
    return slot == PROFILE_MEM || slot == PROFILE_SYMBOL_DADDR || slot == PROFILE_SYMBOL_IADDR;
}

enum profile_column_id profile_key_slot(enum profile_column_id id) {
    return rules[id].slot ? (enum profile_column_id)rules[id].slot : id;
}

uint64_t profile_key_wants(enum profile_column_id id) {
    return rules[id].wants;
}

/* ---- texts ---- */

/* A comm with each run of digits as one "<N>", and above that without them, which is what tells them apart:
 * perf shows the one that came first. */
static uint64_t without_digits(struct profile_builder *b, uint32_t comm) {
    const char *from = strpool_text(&b->texts, comm);
    char shown[64], bare[64];
    size_t n = 0, left = 0;
    for (; *from && n + 4 < sizeof shown; from++) {
        if (*from < '0' || *from > '9') {
            shown[n++] = bare[left++] = *from;
            continue;
        }
        memcpy(shown + n, "<N>", 3);
        n += 3;
        while (from[1] >= '0' && from[1] <= '9')
            from++;
    }
    return (uint64_t)profile_text_add(b, bare, left) << 32 | profile_text_add(b, shown, n);
}

static uint32_t cgroup_text(struct profile_builder *b, const struct perfdata_sample *s) {
    const char *path = s->have & PERFDATA_SAMPLE_CGROUP ? model_cgroup(b->plan->in->model, s->cgroup) : NULL;
    path = path ? path : "N/A";
    return profile_text_add(b, path, strlen(path));
}

/* Seven links are recorded; the last is the cgroup namespace. Device in the upper half; both are small. */
static uint64_t cgroup_link(struct profile_builder *b, const struct profile_taken *x) {
    struct model_namespaces links;
    enum { CGROUP = 6 };
    if (!model_namespaces_at(b->plan->in->model, x->s->pid, x->s->tid, x->when, &links) ||
        links.count <= CGROUP)
        return 0;
    return links.links[2 * CGROUP] << 32 | (uint32_t)links.links[2 * CGROUP + 1];
}

static uint32_t trace_text(struct profile_builder *b, const struct profile_taken *x) {
    const struct profile_input *in = b->plan->in;
    const struct perfdata_attr *attr = &in->events->list.items[x->event].attr;
    if (!in->trace || attr->type != PERFDATA_TYPE_TRACEPOINT)
        return profile_text_add(b, "N/A", 3);
    struct out o;
    uint32_t id = STRPOOL_NONE;
    if (out_init(&o, NULL, NULL)) {
        in->trace(in->trace_ctx, attr, x->s, &o);
        const char *text = out_text(&o);
        id = profile_text_add(b, text, strlen(text));
    }
    out_fini(&o);
    b->failed |= id == STRPOOL_NONE;
    return id;
}

static const struct profile_column *column_of(const struct profile_columns *c, enum profile_column_id id) {
    for (size_t i = 0; i < c->order.count; i++)
        if (c->order.items[i].id == id)
            return &c->order.items[i];
    return NULL;
}

static uint32_t text_of_field(struct profile_builder *b, const struct profile_taken *x,
                              const struct profile_column *c) {
    const struct profile_input *in = b->plan->in;
    struct out o;
    uint32_t text = STRPOOL_NONE;
    if (out_init(&o, NULL, NULL)) {
        if (c && c->event == x->event && in->field)
            in->field(in->trace_ctx, &in->events->list.items[x->event].attr, x->s, c, &o);
        text = profile_text_add(b, o.buf, o.len);
    }
    out_fini(&o);
    b->failed |= text == STRPOOL_NONE;
    return text == STRPOOL_NONE ? 0 : text;
}

/* As it is shown, and above that as it was recorded, which is what perf tells apart and sorts by. Of another
 * event than the field's, nothing. */
static uint64_t field_text(struct profile_builder *b, const struct profile_taken *x,
                           enum profile_column_id id) {
    const struct profile_column *c = column_of(b->plan->o->columns, id);
    uint32_t shown = text_of_field(b, x, c), raw = shown;
    if (c && !c->raw && c->event == x->event) {
        struct profile_column as_recorded = *c;
        as_recorded.raw = true;
        raw = text_of_field(b, x, &as_recorded);
    }
    return (uint64_t)raw << 32 | shown;
}

/* ---- values ---- */

static uint64_t take_branch(const struct profile_taken *x, enum profile_column_id id) {
    switch (id) {
    case PROFILE_SYMBOL_FROM:
        return x->from;
    case PROFILE_SYMBOL_TO:
        return x->to;
    case PROFILE_MISPREDICT:
        return (uint64_t)x->branch->mispred << 1 | x->branch->predicted; /* perf takes both */
    case PROFILE_IN_TX:
        return x->branch->in_tx;
    case PROFILE_ABORT:
        return x->branch->abort;
    case PROFILE_CYCLES:
        return x->branch->cycles;
    default:
        return 0;
    }
}

/* Another place than the sample's own entry: where it is, or what it accessed, to the byte. */
static uint64_t take_place(struct profile_builder *b, const struct profile_taken *x, uint64_t address) {
    const struct model_state *state = resolve_places_state(&b->places, x->cpumode, x->s->pid, x->when);
    uint32_t frame = resolve_frames_at(&b->frames, state, x->cpumode, address, RESOLVE_ADDRESS, false);
    b->failed |= frame == RESOLVE_NO_FRAME;
    return frame == RESOLVE_NO_FRAME ? 0 : frame;
}

static uint64_t take(struct profile_builder *b, const struct profile_taken *x, enum profile_column_id id) {
    const struct profile_input *in = b->plan->in;
    const struct perfdata_sample *s = x->s;
    switch (id) {
    case PROFILE_COMM:
        return x->comm;
    case PROFILE_COMM_NODIGIT:
        return without_digits(b, x->comm);
    case PROFILE_PARENT:
        return x->parent != PROFILE_NONE ? x->parent
                                         : profile_text_add(b, PROFILE_OTHER, strlen(PROFILE_OTHER));
    case PROFILE_CGROUP_ID:
        return cgroup_link(b, x);
    case PROFILE_TRACE:
        return trace_text(b, x);
    case PROFILE_PID:
        return s->tid;
    case PROFILE_TGID:
        return s->pid;
    case PROFILE_CPU:
        return s->cpu;
    case PROFILE_SOCKET:
        return s->cpu < in->cpu_count ? in->cpu_sockets[s->cpu] : UINT32_MAX;
    case PROFILE_TIME:
        return x->when.time_ns / b->plan->o->time_quantum_ns * b->plan->o->time_quantum_ns;
    case PROFILE_PARALLELISM:
        return b->parallelism;
    case PROFILE_WEIGHT:
    case PROFILE_LOCAL_WEIGHT:
        return profile_taken_weight(x);
    case PROFILE_INS_LAT:
    case PROFILE_LOCAL_INS_LAT:
        return s->ins_lat;
    case PROFILE_P_STAGE_CYC:
    case PROFILE_LOCAL_P_STAGE_CYC:
    case PROFILE_RETIRE_LAT:
    case PROFILE_LOCAL_RETIRE_LAT:
        return s->weight3;
    case PROFILE_CGROUP:
        return cgroup_text(b, s);
    case PROFILE_TRANSACTION:
        return s->transaction;
    case PROFILE_CODE_PAGE_SIZE:
        return s->code_page_size;
    case PROFILE_DATA_PAGE_SIZE:
        return s->data_page_size;
    case PROFILE_PHYS_DADDR:
        return s->phys_addr;
    case PROFILE_MEM:
        return s->data_src;
    case PROFILE_SYMBOL_DADDR:
        return take_place(b, x, s->addr);
    case PROFILE_SYMBOL_IADDR:
        return take_place(b, x, s->ip);
    default:
        if (profile_column_is_field(id))
            return field_text(b, x, id);
        return x->branch ? take_branch(x, id) : 0;
    }
}

void profile_keys_take(struct profile_builder *b, const struct profile_taken *x, uint64_t *values) {
    values[0] = x->event;
    for (uint32_t i = 1; i < b->plan->class_count; i++)
        values[i] =
            i == b->plan->level_at ? x->cpumode : take(b, x, (enum profile_column_id)b->plan->slots[i]);
}
