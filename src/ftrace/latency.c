/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/latency.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/dist/latency.h"
#include "os/bpf/bpf_maps.h"

static_assert((int)FTRACE_BUCKETS == (int)BPF_LATENCY_BUCKETS, "the same buckets");

bool ftrace_latency_load(struct ftrace_latency *l, const struct os_bpf *bpf, const struct ftrace_histogram *h,
                         const struct ftrace_latency_options *o, struct err *err) {
    *l = (struct ftrace_latency){.bpf = bpf};
    if (!os_bpf_open(&l->object, bpf, &bpf_latency, err))
        return false;
    struct bpf_latency_rodata *data = os_bpf_data(&l->object, LATENCY_MAP_RODATA);
    data->options = (struct bpf_latency_options){.unit_ns = h->unit_ns,
                                                 .last = ftrace_histogram_size(h) - 1,
                                                 .range = h->range,
                                                 .least = h->range ? h->least : 0,
                                                 .same = strcmp(o->first, o->second) == 0,
                                                 .all = o->all,
                                                 .cpus = o->some_cpus};
    return os_bpf_load(&l->object, o->verbose, err);
}

bool ftrace_latency_add_task(struct ftrace_latency *l, uint32_t id, bool thread, struct err *err) {
    const uint32_t one = 1;
    uint64_t key = id | (thread ? UINT64_C(1) << 32 : 0);
    int e = os_bpf_update(l->bpf, l->object.maps[LATENCY_MAP_TARGETS].fd, &key, &one);
    return e >= 0 || err_errno(err, -e, thread ? "--tid" : "-p", "too many processes or threads");
}

bool ftrace_latency_add_cpu(struct ftrace_latency *l, uint32_t cpu, struct err *err) {
    const uint32_t one = 1;
    int e = os_bpf_update(l->bpf, l->object.maps[LATENCY_MAP_CPUS].fd, &cpu, &one);
    return e >= 0 || err_errno(err, -e, "-C", "too many CPUs");
}

static bool attach(struct ftrace_latency *l, uint32_t program, const char *event, struct err *err) {
    const char *name = strchr(event, '/');
    struct err why = ERR_INIT;
    char shown[128];
    name = name ? name + 1 : event;
    if (os_bpf_attach_to(&l->object, program, name, &why))
        return true;
    snprintf(shown, sizeof shown, "%.*s:%s", (int)strcspn(event, "/"), event, name);
    if (why.code == ERR_ABSENT)
        return err_set(err, ERR_ABSENT, shown,
                       "is no tracepoint that BPF programs can be attached to (of system calls there are "
                       "raw_syscalls:sys_enter and sys_exit): leave -b out");
    *err = why;
    return false;
}

bool ftrace_latency_attach(struct ftrace_latency *l, const struct ftrace_latency_options *o,
                           struct err *err) {
    if (o->inherit && !os_bpf_attach_one(&l->object, LATENCY_PROGRAM_ON_FORK, err))
        return false;
    if (strcmp(o->first, o->second) == 0)
        return attach(l, LATENCY_PROGRAM_ON_BOTH, o->first, err);
    /* The end first: an event that began nothing is only counted. */
    return attach(l, LATENCY_PROGRAM_ON_END, o->second, err) &&
           attach(l, LATENCY_PROGRAM_ON_BEGIN, o->first, err);
}

static void add(struct ftrace_latency *l, struct ftrace_histogram *h, const struct bpf_latency_sum *s) {
    l->unmatched += s->unmatched;
    l->full += s->full;
    if (!s->count)
        return;
    for (unsigned i = 0; i < FTRACE_BUCKETS; i++)
        h->buckets[i] += s->buckets[i];
    h->min_ns = h->count && h->min_ns < s->min_ns ? h->min_ns : s->min_ns;
    h->max_ns = h->max_ns > s->max_ns ? h->max_ns : s->max_ns;
    h->total_ns += s->total_ns;
    h->count += s->count;
}

bool ftrace_latency_read(struct ftrace_latency *l, struct ftrace_histogram *h, struct err *err) {
    const uint32_t zero = 0;
    uint32_t cpus = l->bpf->cpus(l->bpf->ctx);
    struct bpf_latency_sum *sums = cpus ? calloc(cpus, sizeof *sums) : NULL;
    if (!sums)
        return err_memory(err, "latencies");
    os_bpf_detach(&l->object);
    int e = os_bpf_lookup(l->bpf, l->object.maps[LATENCY_MAP_SUMS].fd, &zero, sums);
    for (uint32_t i = 0; e >= 0 && i < cpus; i++)
        add(l, h, &sums[i]);
    free(sums);
    return e >= 0 || err_errno(err, -e, "latency", "what was measured cannot be read");
}

void ftrace_latency_close(struct ftrace_latency *l) {
    if (l->bpf)
        os_bpf_close(&l->object);
}
