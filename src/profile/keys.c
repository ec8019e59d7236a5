/* SPDX-License-Identifier: Apache-2.0 */
/* The values of keys that are no places, from samples. */
#include "profile/profile_internal.h"

bool profile_key_is_place(enum profile_column_id id) {
    switch (id) {
    case PROFILE_DSO:
    case PROFILE_DSO_SIZE:
    case PROFILE_SYMBOL:
    case PROFILE_SYMBOL_SIZE:
    case PROFILE_SYMBOL_OFFSET:
    case PROFILE_SYMBOL_IADDR:
    case PROFILE_ADDR:
    case PROFILE_IPC:
        return true;
    default:
        return false;
    }
}

bool profile_key_is_text(enum profile_column_id id) {
    return id == PROFILE_COMM || id == PROFILE_COMM_NODIGIT || id == PROFILE_CGROUP || id == PROFILE_PARENT ||
           id == PROFILE_TRACE;
}

uint64_t profile_key_wants(enum profile_column_id id) {
    static const struct {
        uint8_t id;
        uint32_t bits;
    } rows[] = {
        {PROFILE_CPU, PERFDATA_SAMPLE_CPU},
        {PROFILE_SOCKET, PERFDATA_SAMPLE_CPU},
        {PROFILE_WEIGHT, PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_LOCAL_WEIGHT, PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_INS_LAT, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_LOCAL_INS_LAT, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_P_STAGE_CYC, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_LOCAL_P_STAGE_CYC, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_RETIRE_LAT, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_LOCAL_RETIRE_LAT, PERFDATA_SAMPLE_WEIGHT_STRUCT},
        {PROFILE_CGROUP, PERFDATA_SAMPLE_CGROUP},
        {PROFILE_TRANSACTION, PERFDATA_SAMPLE_TRANSACTION},
        {PROFILE_CODE_PAGE_SIZE, PERFDATA_SAMPLE_CODE_PAGE_SIZE},
        {PROFILE_DATA_PAGE_SIZE, PERFDATA_SAMPLE_DATA_PAGE_SIZE},
        {PROFILE_PHYS_DADDR, PERFDATA_SAMPLE_PHYS_ADDR},
        {PROFILE_TRACE, PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return rows[i].bits;
    return 0;
}

/* A comm with "<N>" for each row of digits. */
static uint64_t without_digits(struct profile_builder *b, uint32_t comm_text) {
    char text[64];
    size_t n = 0;
    const char *from = strpool_text(&b->texts, comm_text);
    while (*from && n + 4 < sizeof text) {
        size_t digits = strspn(from, "0123456789");
        if (!digits) {
            text[n++] = *from++;
            continue;
        }
        memcpy(text + n, "<N>", 3);
        n += 3;
        from += digits;
    }
    return strpool_add(&b->texts, text, n);
}

static uint64_t cgroup_text(struct profile_builder *b, const struct perfdata_sample *s) {
    const char *path = s->have & PERFDATA_SAMPLE_CGROUP ? model_cgroup(b->plan->in->model, s->cgroup) : NULL;
    path = path ? path : "N/A";
    return strpool_add(&b->texts, path, strlen(path));
}

static uint64_t trace_text(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event) {
    const struct profile_input *in = b->plan->in;
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return STRPOOL_NONE;
    if (in->trace && s->have & PERFDATA_SAMPLE_RAW)
        in->trace(in->trace_ctx, &in->events->list.items[event].attr, s, &text);
    uint64_t id = text.len ? strpool_add(&b->texts, text.buf, text.len) : strpool_add(&b->texts, "N/A", 3);
    out_fini(&text);
    return id;
}

/* Seven links are recorded; the last is the cgroup namespace. Device in the upper half; both are small. */
static uint64_t cgroup_link(struct profile_builder *b, const struct perfdata_sample *s,
                            struct model_when when) {
    struct model_namespaces links;
    enum { CGROUP = 6 };
    if (!model_namespaces_at(b->plan->in->model, s->pid, s->tid, when, &links) || links.count <= CGROUP)
        return 0;
    return links.links[2 * CGROUP] << 32 | (uint32_t)links.links[2 * CGROUP + 1];
}

static uint64_t take(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                     struct model_when when, uint32_t comm_text, enum profile_column_id id) {
    const struct profile_input *in = b->plan->in;
    switch (id) {
    case PROFILE_COMM:
        return comm_text;
    case PROFILE_PID:
        return s->tid;
    case PROFILE_TGID:
        return s->pid;
    case PROFILE_CPU:
        return s->cpu;
    case PROFILE_SOCKET:
        return s->cpu < in->cpu_count ? in->cpu_sockets[s->cpu] : UINT32_MAX;
    case PROFILE_TIME:
        return when.time_ns / b->plan->o->time_quantum_ns * b->plan->o->time_quantum_ns;
    case PROFILE_COMM_NODIGIT:
        return without_digits(b, comm_text);
    case PROFILE_CGROUP:
        return cgroup_text(b, s);
    case PROFILE_CGROUP_ID:
        return cgroup_link(b, s, when);
    case PROFILE_WEIGHT:
    case PROFILE_LOCAL_WEIGHT:
        return s->weight;
    case PROFILE_INS_LAT:
    case PROFILE_LOCAL_INS_LAT:
        return s->ins_lat;
    case PROFILE_P_STAGE_CYC:
    case PROFILE_LOCAL_P_STAGE_CYC:
    case PROFILE_RETIRE_LAT:
    case PROFILE_LOCAL_RETIRE_LAT:
        return s->weight3;
    case PROFILE_TRANSACTION:
        return s->have & PERFDATA_SAMPLE_TRANSACTION ? s->transaction : 0;
    case PROFILE_CODE_PAGE_SIZE:
        return s->have & PERFDATA_SAMPLE_CODE_PAGE_SIZE ? s->code_page_size : 0;
    case PROFILE_DATA_PAGE_SIZE:
        return s->have & PERFDATA_SAMPLE_DATA_PAGE_SIZE ? s->data_page_size : 0;
    case PROFILE_TRACE:
        return trace_text(b, s, event);
    default:
        return 0;
    }
}

void profile_keys_take(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                       struct model_when when, uint32_t comm_text, uint64_t *values) {
    for (uint32_t i = 1; i < b->plan->class_count; i++)
        values[i] = take(b, s, event, when, comm_text, (enum profile_column_id)b->plan->slots[i]);
}
