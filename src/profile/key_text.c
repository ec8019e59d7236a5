/* SPDX-License-Identifier: Apache-2.0 */
/* How perf prints the values of keys that are numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "profile/profile_internal.h"

/* What a thread was called in the end. If others of its process lived when it called exec the model has
 * another thread from there on, as any of them may have called it; for the one who reads a profile it goes
 * on. */
static const char *last_comm(const struct model *m, uint32_t thread) {
    const struct model_thread *t = thread == MODEL_NONE ? NULL : model_thread(m, thread);
    while (t && !t->exited) {
        uint32_t next = model_thread_at(m, t->pid, t->tid, t->ended);
        if (next == MODEL_NONE || next == thread || model_thread(m, next)->forked)
            break;
        thread = next;
        t = model_thread(m, thread);
    }
    return t ? model_comm(m, t->pid, t->tid, model_when_prior(t->ended), NULL) : NULL;
}

const char *profile_last_comm(const struct profile *p, const struct profile_row *row) {
    return last_comm(p->plan.in->model, profile_row_thread(p, row));
}

/* The first of the process's threads gives it its name. */
static const char *leader_comm(const struct profile *p, const struct profile_row *row, uint32_t pid) {
    const struct model *m = p->plan.in->model;
    struct model_when when = {p->b.leaves.items[row->first_leaf].first_ns, UINT64_MAX};
    struct model_comm_span span = profile_comm_at(m, pid, pid, when);
    const char *last = last_comm(m, span.thread);
    return last ? last : span.comm;
}

const char *profile_task_name(const struct profile *p, const struct profile_row *row,
                              enum profile_column_id id, uint32_t task, char room[PROFILE_TASK_NAME]) {
    const char *comm = id == PROFILE_TGID ? leader_comm(p, row, task)
                       : task == 0        ? "swapper"
                                          : profile_last_comm(p, row);
    if (!comm)
        snprintf(room, PROFILE_TASK_NAME, ":%" PRId32, (int32_t)task);
    return comm ? comm : room;
}

static void put_task(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                     uint32_t task, struct out *o) {
    char room[PROFILE_TASK_NAME];
    out_int(o, (int32_t)task, 7);
    out_char(o, ':');
    out_str(o, profile_task_name(p, row, id, task, room));
}

/* 0: not recorded. */
static void put_page_size(uint64_t size, struct out *o) {
    static const char units[] = "BKMGTPE";
    unsigned unit = 0;
    for (; size >= 1024; unit++)
        size /= 1024;
    if (!size)
        out_str(o, "N/A");
    else
        out_printf(o, "%" PRIu64 "%c", size, units[unit]);
}

/* perf_event.h, PERF_TXN_*. */
static void put_transaction(uint64_t flags, struct out *o) {
    static const char *const words[] = {"EL ",    "TX ",  "SYNC ",           "ASYNC ",
                                        "RETRY ", "CON ", "CAPACITY-WRITE ", "CAPACITY-READ "};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (flags >> i & 1)
            out_str(o, words[i]);
    if (flags >> 32)
        out_printf(o, ":%" PRIx64, flags >> 32);
}

/* "%.3d", and -1 where there is none. */
static void put_cpu(uint32_t cpu, struct out *o) {
    out_printf(o, "%.3" PRId32, (int32_t)cpu);
}

void profile_key_text(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                      uint64_t value, struct out *o) {
    switch (id) {
    case PROFILE_PID:
    case PROFILE_TGID:
        put_task(p, row, id, (uint32_t)value, o);
        break;
    case PROFILE_CPU:
    case PROFILE_SOCKET:
        put_cpu((uint32_t)value, o);
        break;
    case PROFILE_TIME:
        out_dec(o, value / 1000000000, 0);
        out_char(o, '.');
        if (p->plan.o->nanoseconds)
            out_dec0(o, value % 1000000000, 9);
        else
            out_dec0(o, value % 1000000000 / 1000, 6);
        break;
    case PROFILE_CODE_PAGE_SIZE:
    case PROFILE_DATA_PAGE_SIZE:
        put_page_size(value, o);
        break;
    case PROFILE_TRANSACTION:
        put_transaction(value, o);
        break;
    case PROFILE_CGROUP_ID:
        out_printf(o, "%" PRIu64 "/0x%" PRIx64, value >> 32, value & UINT32_MAX);
        break;
    default:
        out_dec(o, value, 0);
        break;
    }
}

uint32_t profile_key_width(enum profile_column_id id) {
    static const struct {
        uint8_t id, width;
    } rows[] = {
        {PROFILE_WEIGHT, 12},
        {PROFILE_TIME, 12},
        {PROFILE_ADDR, 18},
        {PROFILE_IPC, 20},
        {PROFILE_CYCLES, 18},
        {PROFILE_SIMD, 7},
        {PROFILE_TRANSACTION, 27},
        {PROFILE_DSO_SIZE, 8},
        {PROFILE_MEM, 39},
        {PROFILE_TLB, 22},
        {PROFILE_SNOOP, 12},
        {PROFILE_LOCKED, 6},
        {PROFILE_BLOCKED, 10},
        {PROFILE_PHYS_DADDR, 22},
        {PROFILE_DATA_PAGE_SIZE, 22},
        {PROFILE_SYMBOL_DADDR, 22},
        {PROFILE_SYMBOL_IADDR, 22},
        {PROFILE_DCACHELINE, 22},
        {PROFILE_INS_LAT, 13},
        {PROFILE_P_STAGE_CYC, 13},
        {PROFILE_LOCAL_INS_LAT, 13},
        {PROFILE_LOCAL_P_STAGE_CYC, 13},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return rows[i].width;
    return 0;
}
