/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/kwork/kwork_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "bpf/dist/kwork.h"
#include "cmd/common/measure.h"
#include "events/tracepoint.h"

static const uint32_t ZERO;

const char *kwork_live_wrong(const struct kwork_common *c, bool command) {
    if (!c->use_bpf)
        return command ? "a command is measured with -b only: record it, or use -b" : NULL;
    if (c->times)
        return "--time chooses from a recording: with -b a command says how long (-b sleep 1)";
    return c->input  ? "-b measures: there is no input"
           : c->dump ? "-b measures: there is nothing to dump"
                     : NULL;
}

/* ---- measuring ---- */

static bool put_cpus(struct kwork_live *l, struct err *err) {
    const struct filter_ranges *cpus = l->choice->cpus;
    for (size_t i = 0; cpus && i < cpus->list.count; i++)
        for (uint64_t n = cpus->list.items[i].first; n <= cpus->list.items[i].last; n++) {
            uint32_t cpu = (uint32_t)n, one = 1;
            int e = os_bpf_update(l->bpf, l->object.maps[KWORK_MAP_CPUS].fd, &cpu, &one);
            if (e < 0)
                return err_errno(err, -e, "-C", "too many CPUs");
        }
    return true;
}

bool kwork_live_load(struct kwork_live *l, struct err *err) {
    if (!os_bpf_open(&l->object, l->bpf, &bpf_kwork, err))
        return false;
    struct bpf_kwork_rodata *data = os_bpf_data(&l->object, KWORK_MAP_RODATA);
    data->options = (struct bpf_kwork_options){.cpus = l->choice->cpus && l->choice->cpus->list.count,
                                               .threads = l->threads};
    return os_bpf_load(&l->object, l->verbose, err) && put_cpus(l, err);
}

static bool load(void *ctx, uint64_t pid, struct err *err) {
    (void)pid;
    return kwork_live_load(ctx, err);
}

/* What runs is noted, or charged, on each CPU. */
static bool run_now(struct kwork_live *l, struct err *err) {
    for (uint32_t cpu = 0, n = l->bpf->cpus(l->bpf->ctx); cpu < n; cpu++) {
        int e = os_bpf_run_on(&l->object, KWORK_PROGRAM_NOW, cpu);
        if (e < 0 && e != -ENXIO)
            return err_errno(err, -e, "BPF", "a program cannot be run on CPU %" PRIu32, cpu);
    }
    return true;
}

static bool attach(void *ctx, struct err *err) {
    static const struct {
        enum kwork_class class;
        uint32_t first, last;
    } PROGRAMS[] = {
        {KWORK_IRQ, KWORK_PROGRAM_ON_IRQ_ENTRY, KWORK_PROGRAM_ON_IRQ_EXIT},
        {KWORK_SOFTIRQ, KWORK_PROGRAM_ON_SOFTIRQ_RAISE, KWORK_PROGRAM_ON_SOFTIRQ_EXIT},
        {KWORK_WORKQUEUE, KWORK_PROGRAM_ON_WORK_RAISE, KWORK_PROGRAM_ON_WORK_EXIT},
    };
    struct kwork_live *l = ctx;
    bool ok = !l->threads || os_bpf_attach_one(&l->object, KWORK_PROGRAM_ON_SWITCH, err);
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) {
        bool wanted =
            l->choice->classes[PROGRAMS[i].class] && !(l->threads && PROGRAMS[i].class == KWORK_WORKQUEUE);
        for (uint32_t p = PROGRAMS[i].first; ok && wanted && p <= PROGRAMS[i].last; p++)
            ok = os_bpf_attach_one(&l->object, p, err);
    }
    return ok && run_now(l, err);
}

static void end(void *ctx) {
    struct kwork_live *l = ctx;
    struct err err = ERR_INIT;
    ((struct bpf_kwork_bss *)os_bpf_data(&l->object, KWORK_MAP_BSS))->ending = 1;
    if (!run_now(l, &err))
        log_line(LOG_WARN, "%s: %s", err.where, err.message);
    os_bpf_detach(&l->object);
}

bool kwork_live_measure(struct kwork_live *l, struct err *err) {
    struct measure m = {.command = l->command, .ctx = l, .load = load, .attach = attach, .end = end};
    bool ok = measure_run(&m, err);
    l->status = m.status;
    return ok;
}

/* ---- what was summed ---- */

/* Of all CPUs; to be freed. NULL with *err. */
static struct bpf_kwork_cpu *read_cpus(struct kwork_live *l, uint32_t *count, struct err *err) {
    *count = l->bpf->cpus(l->bpf->ctx);
    struct bpf_kwork_cpu *c = calloc(*count ? *count : 1, sizeof *c);
    int e = c ? os_bpf_lookup(l->bpf, l->object.maps[KWORK_MAP_STATES].fd, &ZERO, c) : 0;
    if (!c)
        err_memory(err, "CPUs");
    if (e < 0) {
        err_errno(err, -e, "BPF", "the sums cannot be read");
        free(c);
        c = NULL;
    }
    return c;
}

static void note(const struct bpf_kwork_cpu *c, uint32_t count) {
    uint64_t full = 0;
    for (uint32_t i = 0; i < count; i++)
        full += c[i].full;
    if (full)
        log_line(LOG_WARN, "%" PRIu64 " events are not counted, as a map in the kernel was full", full);
}

static void add_faults(struct kwork_faults *f, const struct bpf_kwork_cpu *c) {
    f->events += c->events;
    f->exits += c->exits;
    f->entries += c->entries + c->depth;
}

/* Raises that no entry followed. */
static void add_raises(struct kwork_live *l, struct kwork_faults *f, uint64_t *of_cpus, uint32_t count) {
    int map = l->object.maps[KWORK_MAP_RAISED].fd;
    for (uint32_t vector = 0; vector < BPF_KWORK_VECTORS; vector++) {
        if (os_bpf_lookup(l->bpf, map, &vector, of_cpus) < 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            f->raises += of_cpus[i] != 0;
    }
}

static bool take_item(void *ctx, const void *key, const void *value) {
    struct kwork_faults *f = ctx;
    struct bpf_kwork_item item;
    (void)key;
    memcpy(&item, value, sizeof item);
    f->raises += item.raise_ns != 0;
    f->entries += item.since_ns != 0;
    return true;
}

struct taking {
    struct kwork_live *l;
    struct kwork *k;
    struct kwork_sums *s;
    struct kwork_top *top;
    struct print_name vectors[BPF_KWORK_VECTORS];
    size_t vector_count;
    bool failed; /* memory */
};

static struct bytes name_of(const struct taking *t, const struct bpf_kwork_key *key,
                            const struct bpf_kwork_row *row) {
    for (size_t i = 0; key->class == KWORK_SOFTIRQ && i < t->vector_count; i++)
        if (t->vectors[i].number == key->id)
            return t->vectors[i].text;
    return (struct bytes){(const uint8_t *)row->name, strnlen(row->name, sizeof row->name)};
}

static struct kwork_sum sum_of(const struct bpf_kwork_sum *s) {
    return (struct kwork_sum){s->count, s->total_ns, s->max_ns, s->max_since_ns, s->max_until_ns};
}

static bool take_row(void *ctx, const void *key_bytes, const void *value) {
    struct taking *t = ctx;
    struct bpf_kwork_key key;
    struct bpf_kwork_row row;
    memcpy(&key, key_bytes, sizeof key);
    memcpy(&row, value, sizeof row);
    if (key.class >= KWORK_CLASSES)
        return true;
    const struct kwork_event work = {.class = (enum kwork_class)key.class,
                                     .id = key.id,
                                     .function = row.function,
                                     .cpu = key.cpu,
                                     .name = name_of(t, &key, &row)};
    const struct kwork_row sums = {kwork_work_of(t->k, &work), sum_of(&row.run), sum_of(&row.delay)};
    t->failed = sums.work == KWORK_NONE || !kwork_sums_take(t->s, t->k, &sums);
    return !t->failed;
}

/* The names of vectors are those that the kernel prints, where tracefs can be read. */
static const char *vector_format(struct tracepoint_set *set, struct arena *a) {
    char path[4096];
    struct err absent = ERR_INIT;
    uint64_t id;
    if (!tracepoint_id(set, "irq", "softirq_entry", &id, &absent) ||
        (size_t)snprintf(path, sizeof path, "%s/irq/softirq_entry/format", set->root) >= sizeof path)
        return NULL;
    return set->sys->read(set->sys, path, a, &absent);
}

static bool each(struct kwork_live *l, uint32_t map, size_t key, size_t value, os_bpf_entry_fn *fn, void *ctx,
                 struct err *err) {
    int e = os_bpf_each(l->bpf, l->object.maps[map].fd, key, value, fn, ctx);
    return e >= 0 || err_errno(err, -e, "BPF", "the sums cannot be read");
}

static bool take_rows(struct taking *t, struct err *err) {
    struct tracepoint_set set;
    struct arena a = ARENA_INIT;
    tracepoint_set_init(&set, &sysfs_system);
    const char *format = vector_format(&set, &a);
    if (format)
        t->vector_count = print_names_read((struct bytes){(const uint8_t *)format, strlen(format)},
                                           "__print_symbolic(REC->vec", t->vectors, BPF_KWORK_VECTORS);
    bool ok = each(t->l, KWORK_MAP_ROWS, sizeof(struct bpf_kwork_key), sizeof(struct bpf_kwork_row), take_row,
                   t, err);
    arena_fini(&a);
    tracepoint_set_fini(&set);
    return ok && (!t->failed || err_memory(err, "the kernel's work"));
}

bool kwork_live_sums(struct kwork_live *l, struct kwork *k, struct kwork_sums *s, struct err *err) {
    const struct bpf_kwork_bss *times = os_bpf_data(&l->object, KWORK_MAP_BSS);
    struct taking t = {.l = l, .k = k, .s = s};
    uint32_t count;
    struct bpf_kwork_cpu *cpus = read_cpus(l, &count, err);
    if (!cpus)
        return false;
    for (uint32_t i = 0; i < count; i++)
        add_faults(&k->faults, &cpus[i]);
    note(cpus, count);
    add_raises(l, &k->faults, (uint64_t *)cpus, count); /* which is room enough */
    free(cpus);
    k->begin_ns = times->begin_ns;
    k->now_ns = times->end_ns;
    return each(l, KWORK_MAP_ITEMS, sizeof(uint64_t), sizeof(struct bpf_kwork_item), take_item, &k->faults,
                err) &&
           take_rows(&t, err) && (!l->choice->classes[KWORK_WORKQUEUE] || kernel_names_read(&l->kernel, err));
}

static bool take_thread(void *ctx, const void *key_bytes, const void *value) {
    struct taking *t = ctx;
    struct bpf_kwork_thread x;
    uint64_t key;
    memcpy(&key, key_bytes, sizeof key);
    memcpy(&x, value, sizeof x);
    struct kwork_top_thread *to = kwork_top_add_thread(t->top);
    size_t n = strnlen(x.comm, sizeof x.comm);
    t->failed = !to;
    if (!to)
        return false;
    *to = (struct kwork_top_thread){.tid = key >> 32 ? 0 : (uint32_t)key,
                                    .name = n ? strpool_add(&t->l->names, x.comm, n) : STRPOOL_NONE,
                                    .run_ns = x.run_ns,
                                    .inner_ns = x.inner_ns};
    t->failed = n && to->name == STRPOOL_NONE;
    return !t->failed;
}

bool kwork_live_top(struct kwork_live *l, struct kwork_top *top, struct err *err) {
    const struct bpf_kwork_bss *times = os_bpf_data(&l->object, KWORK_MAP_BSS);
    struct taking t = {.l = l, .top = top};
    uint32_t count;
    struct bpf_kwork_cpu *cpus = read_cpus(l, &count, err);
    if (!cpus)
        return false;
    for (uint32_t i = 0; i < count && !t.failed; i++) {
        if (!cpus[i].begun)
            continue; /* off, or not wanted */
        struct kwork_top_cpu *c = kwork_top_add_cpu(top, i);
        t.failed = !c;
        if (!c)
            break;
        c->run_ns = cpus[i].run_ns;
        c->idle_ns = cpus[i].idle_ns;
        c->irq_ns = cpus[i].irq_ns;
        c->softirq_ns = cpus[i].softirq_ns;
        c->idle_inner_ns = cpus[i].idle_inner_ns;
    }
    note(cpus, count);
    free(cpus);
    top->names = &l->names;
    top->window_ns = times->end_ns - times->begin_ns;
    bool ok = !t.failed && each(l, KWORK_MAP_THREADS, sizeof(uint64_t), sizeof(struct bpf_kwork_thread),
                                take_thread, &t, err);
    return t.failed ? err_memory(err, "threads") : ok;
}

const char *kwork_live_function(void *ctx, uint64_t address) {
    struct kwork_live *l = ctx;
    return kernel_names_function(&l->kernel, address, NULL);
}

void kwork_live_close(struct kwork_live *l) {
    os_bpf_close(&l->object);
    kernel_names_fini(&l->kernel);
    strpool_fini(&l->names);
}
