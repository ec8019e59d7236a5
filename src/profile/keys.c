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
    return id == PROFILE_COMM || id == PROFILE_COMM_NODIGIT || id == PROFILE_CGROUP || id == PROFILE_PARENT;
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

static uint64_t take(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when,
                     uint32_t comm_text, enum profile_column_id id) {
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
    default:
        return 0;
    }
}

void profile_keys_take(struct profile_builder *b, const struct perfdata_sample *s, uint32_t event,
                       struct model_when when, uint32_t comm_text, uint64_t *values) {
    (void)event;
    for (uint32_t i = 1; i < b->plan->class_count; i++)
        values[i] = take(b, s, when, comm_text, (enum profile_column_id)b->plan->slots[i]);
}
