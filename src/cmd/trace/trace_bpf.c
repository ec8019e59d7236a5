/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace/trace_bpf.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/dist/trace.h"
#include "os/proc/host.h"

enum { CPUS_MAX = 1 << 14, SUMS = 1 << 17, RING_BYTES = 16 << 20 };

/* ---- what is wanted ---- */

_Static_assert((int)CALLS_VECTORS_MAX == BPF_TRACE_VECTORS &&
                   (int)CALLS_VECTOR_BYTES == BPF_TRACE_VECTOR_BYTES &&
                   (int)CALLS_NAME_BYTES == BPF_TRACE_NAME,
               "what is copied is what is shown");

enum { WRITTEN_MAX = 128, READ_MAX = 64, TEXTS_MAX = 384 };

static const uint8_t WHEN[] = {
    [CALLS_IN] = BPF_TRACE_ON_ENTER,
    [CALLS_OUT] = BPF_TRACE_ON_EXIT,
    [CALLS_POSITIVE] = BPF_TRACE_ON_POSITIVE,
    [CALLS_BOTH] = BPF_TRACE_ON_ENTER | BPF_TRACE_ON_EXIT,
};
static const uint8_t MANY[] = {
    [CALLS_ONE] = BPF_TRACE_ONE,
    [CALLS_PAIR] = BPF_TRACE_PAIR,
    [CALLS_NEXT] = BPF_TRACE_NEXT,
    [CALLS_NEXT_BYTES] = BPF_TRACE_NEXT,
    [CALLS_BEFORE_BYTES] = BPF_TRACE_BEFORE,
    [CALLS_RESULT] = BPF_TRACE_RESULT,
    [CALLS_RESULT_BYTES] = BPF_TRACE_RESULT,
    [CALLS_RESULT_NEXT] = BPF_TRACE_RESULT_NEXT,
    [CALLS_LENGTH] = BPF_TRACE_LENGTH,
};

static bool counts_bytes(const struct calls_arg *a) {
    return a->kind != CALLS_STRUCT || a->many == CALLS_NEXT_BYTES || a->many == CALLS_BEFORE_BYTES ||
           a->many == CALLS_RESULT_BYTES || a->many == CALLS_RESULT_NEXT || a->many == CALLS_LENGTH;
}

/* Several structs, or one of which the program says how large it is. */
static void describe_struct(struct bpf_trace_arg *to, const struct calls_arg *a,
                            const struct calls_shape *shape) {
    if (!shape->count || !shape->size || shape->size > BPF_TRACE_MOST)
        return;
    to->how = BPF_TRACE_UNITS;
    to->unit = counts_bytes(a) ? 1 : shape->size;
    to->most = counts_bytes(a) ? shape->size : (uint16_t)(BPF_TRACE_MOST - BPF_TRACE_MOST % shape->size);
}

static struct bpf_trace_arg describe_arg(const struct calls_arg *a, const struct calls_shape *shapes) {
    struct bpf_trace_arg to = {.when = WHEN[a->when], .many = MANY[a->many], .unit = 1};
    bool wide = sizeof(void *) == sizeof(uint64_t); /* the structs of 32-bit kernels are others */
    switch (a->kind) {
    case CALLS_PATH:
    case CALLS_TEXT:
        to.how = BPF_TRACE_STRING;
        break;
    case CALLS_DATA:
    case CALLS_SOCKADDR:
        to.how = BPF_TRACE_UNITS;
        to.most = a->kind == CALLS_SOCKADDR || a->when == CALLS_IN ? WRITTEN_MAX : READ_MAX;
        break;
    case CALLS_STRUCT:
        if (wide)
            describe_struct(&to, a, &shapes[a->shape]);
        break;
    case CALLS_TEXTS:
        to.how = wide ? BPF_TRACE_STRINGS : BPF_TRACE_NOTHING;
        to.most = TEXTS_MAX;
        break;
    case CALLS_VECTORS:
        to.how = wide ? BPF_TRACE_IOVECS : BPF_TRACE_NOTHING;
        break;
    case CALLS_MESSAGE:
        to.how = wide ? BPF_TRACE_MESSAGE : BPF_TRACE_NOTHING;
        break;
    default:
        break;
    }
    return to;
}

static void describe(struct bpf_trace_row *to, const struct calls_table_entry *e,
                     const struct trace_bpf_plan *plan) {
    bool followed = plan->lines && trace_files_need(e->name);
    *to = (struct bpf_trace_row){.skip = !trace_select_call(plan->select, e->name) && !followed};
    const struct calls_row *row = e->row;
    if (!row)
        return;
    to->never = row->returns == CALLS_NEVER;
    for (size_t i = 0; i < row->count && i < CALLS_ARGS; i++)
        to->args[i] = describe_arg(&row->args[i], plan->shapes);
}

static bool put_rows(struct trace_bpf *b, const struct trace_bpf_plan *plan, struct err *err) {
    const struct calls_table *table = plan->table;
    for (uint32_t i = 0; i < BPF_TRACE_CALLS; i++) {
        const struct calls_table_entry none = {0};
        const struct calls_table_entry *e = table && i < table->count ? &table->entries[i] : &none;
        struct bpf_trace_row row;
        describe(&row, e, plan);
        int status = os_bpf_update(b->object.bpf, b->object.maps[TRACE_MAP_ROWS].fd, &i, &row);
        if (status < 0)
            return err_errno(err, -status, "BPF", "cannot say which calls are wanted");
    }
    return true;
}

bool trace_bpf_open(struct trace_bpf *b, const struct os_bpf *bpf, const struct trace_bpf_plan *plan,
                    struct err *err) {
    const struct trace_options *o = plan->options;
    const struct record_options *r = &o->record;
    bool lines = plan->lines;
    *b = (struct trace_bpf){.opened = true, .lines = lines};
    if (!os_bpf_open(&b->object, bpf, &bpf_trace, err))
        return false;
    struct bpf_trace_rodata *data = os_bpf_data(&b->object, TRACE_MAP_RODATA);
    data->options = (struct bpf_trace_options){
        .all = r->target.all_cpus || r->target.cpus,
        .inherit = r->inherit,
        .self = (uint32_t)os_host_pid(),
        .lines = lines,
        .errnos = o->errno_summary || o->json,
        .by_cgroup = o->table.mode == TRACE_SUMMARY_CGROUP,
    };
    os_bpf_set_entries(&b->object, lines ? TRACE_MAP_HALVES : TRACE_MAP_SUMS, lines ? RING_BYTES : SUMS);
    return os_bpf_load(&b->object, o->verbose > 0, err) && put_rows(b, plan, err) &&
           (!lines || os_bpf_ring_open(&b->ring, bpf, b->object.maps[TRACE_MAP_HALVES].fd, RING_BYTES, err));
}

bool trace_bpf_start(struct trace_bpf *b, const struct perf_target *target, struct err *err) {
    for (size_t i = 0; i < target->threads.count; i++) {
        uint32_t tid = (uint32_t)target->threads.items[i].tid;
        uint32_t how = target->exec ? BPF_TRACE_FROM_EXEC : BPF_TRACE_NOW;
        if (target->threads.items[i].tid < 0)
            continue;
        int status = os_bpf_update(b->object.bpf, b->object.maps[TRACE_MAP_TARGETS].fd, &tid, &how);
        if (status < 0)
            return err_errno(err, -status, "BPF", "cannot say which threads are wanted");
    }
    return os_bpf_attach(&b->object, err);
}

void trace_bpf_stop(struct trace_bpf *b) {
    os_bpf_detach(&b->object);
}

void trace_bpf_close(struct trace_bpf *b) {
    if (!b->opened)
        return;
    os_bpf_ring_close(&b->ring);
    os_bpf_close(&b->object);
    vec_fini(&b->lost_by_cpu);
    b->opened = false;
}

/* ---- one by one ---- */

struct taking {
    struct trace_bpf *b;
    struct trace *t;
    bool failed;
};

/* A CPU says with each half how many it could not tell so far. */
static bool note_losses(struct trace_bpf *b, const struct bpf_trace_half *half, bool *lost) {
    *lost = false;
    if (half->cpu >= CPUS_MAX)
        return true;
    while (b->lost_by_cpu.count <= half->cpu)
        if (!vec_push(&b->lost_by_cpu))
            return false;
    uint64_t *before = &b->lost_by_cpu.items[half->cpu];
    if (half->lost > *before) {
        b->lost += half->lost - *before;
        *before = half->lost;
        *lost = true;
    }
    return true;
}

static void read_half(const struct bpf_trace_half *half, struct bytes memory, struct calls_event *e) {
    *e = (struct calls_event){.time_ns = half->time_ns,
                              .tid = half->tid,
                              .pid = half->pid,
                              .cpu = half->cpu,
                              .compat = half->compat,
                              .number = half->number,
                              .result = half->result};
    memcpy(e->args, half->args, sizeof e->args);
    trace_texts_memory(half, memory.data, memory.size, e->memory);
}

static bool take_half(void *ctx, struct bytes record) {
    struct taking *x = ctx;
    struct bpf_trace_half half;
    struct calls_event e;
    bool lost;
    if (record.size < sizeof half)
        return true;
    memcpy(&half, record.data, sizeof half);
    read_half(&half, (struct bytes){record.data + sizeof half, record.size - sizeof half}, &e);
    struct bytes comm = {(const uint8_t *)half.comm, sizeof half.comm};
    x->failed = !note_losses(x->b, &half, &lost);
    if (lost)
        calls_lost(&x->t->calls);
    x->failed = x->failed || !trace_take_half(x->t, &e, half.kind == BPF_TRACE_ENTER, comm);
    return !x->failed && !x->t->done;
}

bool trace_bpf_take(struct trace_bpf *b, struct trace *t, struct err *err) {
    struct taking x = {.b = b, .t = t};
    int n = os_bpf_ring_take(&b->ring, take_half, &x);
    if (x.failed)
        return err_memory(err, "system calls");
    return (n >= 0 || err_set(err, ERR_BROKEN, "BPF", "the ring of system calls is damaged")) && !t->done;
}

struct looking {
    struct trace_bpf *b;
    bool (*fn)(void *ctx, const struct bpf_trace_half *half, struct bytes memory);
    void *ctx;
    bool failed;
};

static bool look_at_half(void *ctx, struct bytes record) {
    struct looking *x = ctx;
    struct bpf_trace_half half;
    bool lost;
    if (record.size < sizeof half)
        return true;
    memcpy(&half, record.data, sizeof half);
    struct bytes memory = {record.data + sizeof half, record.size - sizeof half};
    x->failed = !note_losses(x->b, &half, &lost) || !x->fn(x->ctx, &half, memory);
    return !x->failed;
}

bool trace_bpf_each(struct trace_bpf *b,
                    bool (*fn)(void *ctx, const struct bpf_trace_half *half, struct bytes memory), void *ctx,
                    struct err *err) {
    struct looking x = {.b = b, .fn = fn, .ctx = ctx};
    int n = os_bpf_ring_take(&b->ring, look_at_half, &x);
    if (x.failed)
        return err_memory(err, "texts of system calls");
    return n >= 0 || err_set(err, ERR_BROKEN, "BPF", "the ring of system calls is damaged");
}

/* ---- sums ---- */

struct adding {
    struct calls_summary *s;
    enum trace_summary_mode mode;
    bool failed;
};

static uint64_t group_of(enum trace_summary_mode mode, const struct bpf_trace_key *key) {
    return mode == TRACE_SUMMARY_TOTAL ? 0 : mode == TRACE_SUMMARY_CGROUP ? key->cgroup : key->tid;
}

static struct calls_stat *stat_of(struct adding *x, const struct bpf_trace_key *key, struct calls_group **g) {
    *g = calls_summary_group(x->s, group_of(x->mode, key));
    return *g ? calls_summary_stat(x->s, *g, key->number, key->compat) : NULL;
}

static bool add_sum(void *ctx, const void *key, const void *value) {
    struct adding *x = ctx;
    const struct bpf_trace_sum *v = value;
    struct calls_group *g;
    struct calls_stat *t = stat_of(x, key, &g);
    if (!t) {
        x->failed = true;
        return false;
    }
    t->count += v->count;
    t->errors += v->errors;
    if (v->timed) {
        t->min_ns = !t->timed || v->min_ns < t->min_ns ? v->min_ns : t->min_ns;
        t->max_ns = v->max_ns > t->max_ns ? v->max_ns : t->max_ns;
    }
    t->timed += v->timed;
    t->total_ns += v->total_ns;
    t->squares += (unsigned __int128)v->squares_high << 64 | v->squares_low;
    /* Enters and exits; calls that do not return have no exit. */
    g->events += v->count + v->timed;
    x->s->events += v->count + v->timed;
    return true;
}

static bool add_error(void *ctx, const void *key, const void *value) {
    struct adding *x = ctx;
    const struct bpf_trace_key *k = key;
    struct calls_group *g;
    struct calls_stat *t = stat_of(x, k, &g);
    x->failed = !t || !calls_stat_errno(t, k->error, *(const uint64_t *)value);
    return !x->failed;
}

static uint64_t count_lost(const struct trace_bpf *b) {
    const struct os_bpf *bpf = b->object.bpf;
    uint32_t cpus = bpf->cpus(bpf->ctx), zero = 0;
    struct bpf_trace_counters *c = cpus && cpus <= CPUS_MAX ? calloc(cpus, sizeof *c) : NULL;
    uint64_t lost = 0;
    if (c && os_bpf_lookup(bpf, b->object.maps[TRACE_MAP_COUNTERS].fd, &zero, c) == 0)
        for (uint32_t i = 0; i < cpus; i++)
            lost += c[i].lost_sums + c[i].lost_threads;
    free(c);
    return lost;
}

bool trace_bpf_sums(struct trace_bpf *b, enum trace_summary_mode mode, struct calls_summary *s,
                    uint64_t *lost, struct err *err) {
    struct adding x = {.s = s, .mode = mode};
    const struct os_bpf *bpf = b->object.bpf;
    int status = os_bpf_each(bpf, b->object.maps[TRACE_MAP_SUMS].fd, sizeof(struct bpf_trace_key),
                             sizeof(struct bpf_trace_sum), add_sum, &x);
    if (status >= 0 && !x.failed)
        status = os_bpf_each(bpf, b->object.maps[TRACE_MAP_ERRORS].fd, sizeof(struct bpf_trace_key),
                             sizeof(uint64_t), add_error, &x);
    *lost = count_lost(b);
    if (x.failed)
        return err_memory(err, "sums of system calls");
    return status >= 0 || err_errno(err, -status, "BPF", "cannot read the sums");
}
