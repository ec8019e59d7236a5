/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/cursor.h"
#include "format/perfdata/record.h"

enum {
    SOFTWARE_DUMMY = 9, /* PERF_COUNT_SW_DUMMY */
    PAGES = 32,
    WAKEUP_BYTES = 16 << 10,
    RECORD_MAX = 1 << 16,
    TASKS_MAX = 1 << 20,
};

/* --- rings --- */

/* Carries COMM and FORK records, and the ring. */
static int open_dummy(const struct os_perf *perf, int32_t tid, int32_t cpu, bool on_exec) {
    const struct perfdata_attr a = {
        .type = PERFDATA_TYPE_SOFTWARE,
        .config = SOFTWARE_DUMMY,
        .size = PERFDATA_ATTR_SIZE_MIN + 48, /* PERF_ATTR_SIZE_VER5 */
        .known_size = PERFDATA_ATTR_SIZE_MIN + 48,
        .sample_type = PERFDATA_SAMPLE_TIME,
        .clockid = CLOCK_MONOTONIC,
        .flags = PERFDATA_ATTR_SAMPLE_ID_ALL | PERFDATA_ATTR_USE_CLOCKID | PERFDATA_ATTR_DISABLED |
                 PERFDATA_ATTR_INHERIT | (on_exec ? PERFDATA_ATTR_ENABLE_ON_EXEC : 0) | PERFDATA_ATTR_COMM |
                 PERFDATA_ATTR_TASK | PERFDATA_ATTR_WATERMARK | PERFDATA_ATTR_EXCLUDE_KERNEL |
                 PERFDATA_ATTR_EXCLUDE_HV,
        .wakeup = WAKEUP_BYTES,
    };
    struct writer w = writer_make(false);
    perfdata_attr_encode(&a, &w);
    int fd = writer_ok(&w) ? perf->open(perf->ctx, writer_bytes(&w), tid, cpu, -1) : -ENOMEM;
    writer_fini(&w);
    return fd;
}

static bool open_ring(struct count_tasks *t, int32_t tid, int32_t cpu, bool on_exec, struct err *err) {
    struct count_task_ring *r = vec_push(&t->rings);
    if (!r)
        return err_memory(err, "rings");
    r->fd = open_dummy(t->perf, tid, cpu, on_exec);
    if (r->fd < 0)
        return err_errno(err, -r->fd, "--per-thread", "cannot open an event for the names of threads");
    int why = -t->perf->map(t->perf->ctx, r->fd, PAGES, false, &r->map);
    return why == 0 || err_errno(err, why, "--per-thread", "cannot map %d pages", PAGES);
}

static bool add_task(struct count_tasks *t, int32_t tid, const char *comm) {
    struct count_reading *sums = arena_zalloc(&t->arena, (t->events + 1) * sizeof *sums);
    struct count_task *task = sums && t->tasks.count < TASKS_MAX ? vec_push(&t->tasks) : NULL;
    if (!task || !hash_map_set(&t->by_tid, (uint32_t)tid, (uint32_t)t->tasks.count - 1)) {
        t->no_memory = true;
        return false;
    }
    task->tid = tid;
    task->sums = sums;
    snprintf(task->comm, sizeof task->comm, "%s", comm);
    return true;
}

/* A counter of an event on a CPU, which tells the CPU's ring of threads that end. */
static bool open_counter(struct count_tasks *t, struct count_counters *c, struct count_plan *p,
                         const struct perf_target *target, const struct count_counter *cell,
                         struct err *err) {
    size_t had = c->list.count;
    int ring = t->rings.items[cell->cpu].fd;
    uint64_t id;
    if (p->events.items[cell->event].tool || p->events.items[cell->event].skipped ||
        !c->supported.items[cell->event])
        return true;
    if (!count_counters_open_one(c, p, target, cell, ring, err))
        return false;
    int fd = c->list.count > had ? c->list.items[c->list.count - 1].fd : -1;
    if (fd < 0)
        return true;
    int why = -c->perf->control(c->perf->ctx, fd, OS_PERF_SET_OUTPUT, ring);
    why = why ? why : -c->perf->id(c->perf->ctx, fd, &id);
    if (why)
        return err_errno(err, why, p->events.items[cell->event].name, "it cannot tell of single threads");
    return hash_map_set(&t->by_id, id, cell->event) || err_memory(err, "counters");
}

bool count_tasks_open(struct count_tasks *t, struct count_counters *c, const struct os_perf *perf,
                      struct count_plan *p, const struct perf_target *target, struct err *err) {
    int32_t tid = target->threads.items[0].tid;
    *t = (struct count_tasks){.perf = perf, .events = p->events.count};
    if (!count_counters_init(c, perf, p, err))
        return false;
    for (uint32_t cpu = 0; cpu < target->cpus.count; cpu++) {
        if (!open_ring(t, tid, target->cpus.items[cpu], p->on_exec, err))
            return false;
        for (uint32_t e = 0; e < p->events.count; e++)
            if (!open_counter(t, c, p, target, &(struct count_counter){.fd = -1, .event = e, .cpu = cpu},
                              err))
                return false;
    }
    return add_task(t, tid, "") || err_memory(err, "threads");
}

void count_tasks_enable(struct count_tasks *t, bool on) {
    for (size_t i = 0; i < t->rings.count; i++)
        t->perf->control(t->perf->ctx, t->rings.items[i].fd, on ? OS_PERF_ENABLE : OS_PERF_DISABLE, 0);
}

void count_tasks_fini(struct count_tasks *t) {
    for (size_t i = 0; i < t->rings.count; i++) {
        if (t->rings.items[i].map.data)
            t->perf->unmap(t->perf->ctx, &t->rings.items[i].map);
        if (t->rings.items[i].fd >= 0)
            t->perf->close(t->perf->ctx, t->rings.items[i].fd);
    }
    vec_fini(&t->rings);
    vec_fini(&t->tasks);
    vec_fini(&t->notes);
    hash_map_fini(&t->by_tid);
    hash_map_fini(&t->by_id);
    arena_fini(&t->arena);
}

/* --- records --- */

static struct count_task *find_task(struct count_tasks *t, int32_t tid) {
    uint32_t i = hash_map_get(&t->by_tid, (uint32_t)tid);
    return i == HASH_ABSENT ? NULL : &t->tasks.items[i];
}

static bool note_read(const struct count_tasks *t, struct cursor *c, struct count_task_note *n) {
    cursor_u32(c); /* the process */
    n->tid = (int32_t)cursor_u32(c);
    n->read.value = cursor_u64(c);
    n->read.enabled_ns = cursor_u64(c);
    n->read.running_ns = cursor_u64(c);
    n->event = hash_map_get(&t->by_id, cursor_u64(c));
    n->time_ns = cursor_u64(c);
    return n->event != HASH_ABSENT;
}

static void note_fork(struct cursor *c, struct count_task_note *n) {
    cursor_u64(c); /* the process and its parent */
    n->tid = (int32_t)cursor_u32(c);
    n->parent = (int32_t)cursor_u32(c);
    cursor_u64(c); /* of another clock */
    n->time_ns = cursor_u64(c);
}

static void note_comm(struct cursor *c, struct count_task_note *n) {
    cursor_u32(c);
    n->tid = (int32_t)cursor_u32(c);
    struct bytes name = cursor_bytes(c, cursor_left(c) >= 8 ? cursor_left(c) - 8 : 0);
    n->time_ns = cursor_u64(c);
    size_t len = name.size ? strnlen((const char *)name.data, name.size) : 0;
    len = len < sizeof n->comm ? len : sizeof n->comm - 1;
    if (len)
        memcpy(n->comm, name.data, len);
}

void count_tasks_record(struct count_tasks *t, struct bytes record) {
    struct cursor c = cursor_make(record, false);
    struct count_task_note n = {.type = cursor_u32(&c)};
    bool wanted = true;
    cursor_u32(&c); /* misc and size */
    switch (n.type) {
    case PERFDATA_RECORD_READ:
        wanted = note_read(t, &c, &n);
        break;
    case PERFDATA_RECORD_FORK:
        note_fork(&c, &n);
        break;
    case PERFDATA_RECORD_COMM:
        note_comm(&c, &n);
        break;
    case PERFDATA_RECORD_EXIT:
        note_fork(&c, &n); /* of the same form */
        t->exited |= cursor_ok(&c) && t->tasks.count && n.tid != t->tasks.items[0].tid;
        return;
    case PERFDATA_RECORD_LOST:
        cursor_u64(&c);
        n.time_ns = cursor_u64(&c);
        t->lost += cursor_ok(&c) ? n.time_ns : 0;
        return;
    default:
        return;
    }
    struct count_task_note *slot = cursor_ok(&c) && wanted ? vec_push(&t->notes) : NULL;
    if (slot)
        *slot = n;
    t->no_memory |= cursor_ok(&c) && wanted && !slot;
}

static int by_time(const void *a, const void *b) {
    const struct count_task_note *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void apply(struct count_tasks *t, const struct count_task_note *n) {
    if (n->type == PERFDATA_RECORD_FORK) {
        struct count_task *parent = find_task(t, n->parent);
        char comm[16];
        memcpy(comm, parent ? parent->comm : "", parent ? sizeof comm : 1);
        add_task(t, n->tid, comm);
        return;
    }
    if (!find_task(t, n->tid) && !add_task(t, n->tid, ""))
        return;
    struct count_task *task = find_task(t, n->tid);
    if (n->type == PERFDATA_RECORD_COMM) {
        memcpy(task->comm, n->comm, sizeof task->comm);
        return;
    }
    struct count_reading *sum = &task->sums[n->event];
    task->told = true;
    sum->value += n->read.value;
    sum->enabled_ns += n->read.enabled_ns;
    sum->running_ns += n->read.running_ns;
}

static void take_ring(struct count_tasks *t, struct os_ring *r) {
    uint64_t at = os_ring_tail(r), end = os_ring_head(r);
    uint8_t buffer[RECORD_MAX];
    while (end - at >= PERFDATA_HEADER_SIZE) {
        uint8_t header[PERFDATA_HEADER_SIZE];
        os_ring_copy(r, at, header, sizeof header);
        uint16_t size = bytes_load16(header + 6, false);
        if (size < PERFDATA_HEADER_SIZE || size > end - at)
            break;
        os_ring_copy(r, at, buffer, size);
        count_tasks_record(t, (struct bytes){buffer, size});
        at += size;
    }
    os_ring_consume(r, end);
}

void count_tasks_take(struct count_tasks *t, uint64_t until_ns) {
    size_t done = 0;
    for (size_t i = 0; i < t->rings.count; i++)
        if (t->rings.items[i].map.data)
            take_ring(t, &t->rings.items[i].map);
    if (!t->notes.count)
        return;
    qsort(t->notes.items, t->notes.count, sizeof *t->notes.items, by_time);
    for (; done < t->notes.count && t->notes.items[done].time_ns < until_ns; done++)
        apply(t, &t->notes.items[done]);
    t->notes.count -= done;
    memmove(t->notes.items, t->notes.items + done, t->notes.count * sizeof *t->notes.items);
}

/* --- sums --- */

static void take_off(uint64_t *from, uint64_t n) {
    *from -= n < *from ? n : *from;
}

/* What nobody told belongs to the first one that told nothing. */
static void settle_rest(struct count_tasks *t, const struct count_counters *c) {
    size_t who = 0;
    while (who < t->tasks.count && t->tasks.items[who].told)
        who++;
    if (who == t->tasks.count)
        return;
    struct count_reading *rest = t->tasks.items[who].sums;
    memset(rest, 0, t->events * sizeof *rest);
    for (size_t i = 0; i < c->list.count; i++) {
        const struct count_counter *k = &c->list.items[i];
        rest[k->event].value += k->now.value;
        rest[k->event].enabled_ns += k->now.enabled_ns;
        rest[k->event].running_ns += k->now.running_ns;
    }
    for (size_t i = 0; i < t->tasks.count; i++)
        for (size_t e = 0; e < t->events && t->tasks.items[i].sums != rest; e++) {
            take_off(&rest[e].value, t->tasks.items[i].sums[e].value);
            take_off(&rest[e].enabled_ns, t->tasks.items[i].sums[e].enabled_ns);
            take_off(&rest[e].running_ns, t->tasks.items[i].sums[e].running_ns);
        }
}

bool count_tasks_silent(const struct count_tasks *t) {
    bool told = false;
    for (size_t i = 0; i < t->tasks.count; i++)
        told |= t->tasks.items[i].told;
    return t->exited && !told;
}

static bool ran(const struct count_tasks *t, const struct count_task *task) {
    bool any = task == &t->tasks.items[0];
    for (size_t e = 0; e < t->events; e++)
        any |= task->sums[e].running_ns != 0;
    return any;
}

static bool key_of(struct counts *out, const struct count_task *task, enum count_level level, size_t *key) {
    char text[48];
    if (level == COUNT_THREAD)
        snprintf(text, sizeof text, "%s-%d", task->comm, (int)task->tid);
    else
        snprintf(text, sizeof text, "%s", task->comm);
    for (*key = 0; *key < out->keys.count && level == COUNT_COMM; ++*key)
        if (strcmp(out->keys.items[*key].text, text) == 0)
            return true;
    *key = out->keys.count;
    struct count_key *k = vec_push(&out->keys);
    return k && (k->text = arena_strndup(&out->arena, text, strlen(text)));
}

/* An event of a CPU is enabled while its thread runs on another one, too: that does not mean that others took
 * its counter. */
static void add_reading(struct count_cell *cell, const struct count_reading *r) {
    if (cell->state == COUNT_NONE)
        cell->state = COUNT_NOT_COUNTED;
    cell->counters++;
    cell->enabled_ns += (double)r->running_ns;
    cell->running_ns += (double)r->running_ns;
    cell->value += (double)r->value;
    if (r->running_ns)
        cell->state = COUNT_COUNTED;
}

bool count_tasks_sum(struct count_tasks *t, const struct count_counters *c, const struct count_plan *p,
                     enum count_level level, struct counts *out) {
    *out = (struct counts){.level = level, .events = p->shown.items, .event_count = t->events};
    settle_rest(t, c);
    out->cells = calloc(t->tasks.count * t->events + 1, sizeof *out->cells);
    bool ok = out->cells && !t->no_memory;
    for (size_t i = 0; i < t->tasks.count && ok; i++) {
        size_t key;
        if (!ran(t, &t->tasks.items[i]))
            continue;
        ok = key_of(out, &t->tasks.items[i], level, &key);
        for (size_t e = 0; e < t->events && ok; e++)
            if (!c->supported.items[e])
                counts_cell(out, key, e)->state =
                    p->events.items[e].optional ? COUNT_NONE : COUNT_NOT_SUPPORTED;
            else if (!p->events.items[e].tool && !p->events.items[e].skipped)
                add_reading(counts_cell(out, key, p->shown.items[e].row_of), &t->tasks.items[i].sums[e]);
    }
    if (!ok)
        counts_fini(out);
    return ok;
}
