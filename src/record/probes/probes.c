/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/probes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "bpf/dist/probe.h"
#include "events/event_attr.h"
#include "os/bpf/bpf_maps.h"

struct record_probes {
    const struct os_bpf *bpf;
    const struct os_perf *perf;
    struct os_bpf_object object;
    VEC(int) uprobes; /* of perf */
    VEC(int) links;   /* of programs to them */
};

bool record_probes_possible(const struct os_bpf *bpf) {
    struct os_bpf_object object;
    bool ok = probe_registers_here() && os_bpf_open(&object, bpf, &bpf_probe, NULL);
    if (!ok)
        return false;
    ok = os_bpf_load(&object, false, NULL);
    os_bpf_close(&object);
    return ok;
}

bool record_probes_wanted(const struct record_plan *plan) {
    for (size_t i = 0; i < plan->events.count; i++)
        if (plan->events.items[i].probe)
            return true;
    return false;
}

/* Its own samples go nowhere: it has no ring. The CPU does not matter: programs run on all. */
static int open_uprobe(struct record_probes *x, const struct perf_event *e) {
    struct writer w = writer_make(false);
    struct perfdata_attr attr = e->attr;
    attr.config1 = (uintptr_t)e->probe_path; /* uprobe_path of perf_event.h */
    attr.sample_period = 1;
    perf_event_attr_size(&attr);
    perfdata_attr_encode(&attr, &w);
    int fd = writer_ok(&w) ? x->perf->open(x->perf->ctx, writer_bytes(&w), -1, 0, -1) : -ENOMEM;
    writer_fini(&w);
    return fd;
}

static bool attach(struct record_probes *x, const struct perf_event *e, uint32_t index, uint32_t program,
                   struct err *err) {
    int fd = open_uprobe(x, e);
    int *uprobe = fd < 0 ? NULL : vec_push(&x->uprobes), *link = uprobe ? vec_push(&x->links) : NULL;
    if (fd == -EACCES || fd == -EPERM)
        return err_set(err, ERR_PERMISSION, "--probe",
                       "probes are for root only: run as root, or with CAP_BPF and CAP_PERFMON");
    if (fd < 0)
        return err_errno(err, -fd, e->probe_path, "the kernel refuses a probe at 0x%llx",
                         (unsigned long long)e->program->offset);
    if (!uprobe || !link) {
        x->perf->close(x->perf->ctx, fd);
        x->uprobes.count -= uprobe != NULL;
        return err_memory(err, "--probe");
    }
    *uprobe = fd;
    *link = os_bpf_attach_probe(&x->object, program, fd, index);
    if (*link >= 0)
        return true;
    int why = -*link;
    x->links.count--;
    return err_errno(err, why, "--probe", "the program that reads arguments cannot be attached");
}

static bool put_probes(struct record_probes *x, const struct record_probes_sources *from, struct err *err) {
    for (uint32_t i = 0, n = 0; i < from->plan->events.count; i++) {
        const struct perf_event *p = from->plan->events.items[i].probe;
        int why = p ? os_bpf_update(x->bpf, x->object.maps[PROBE_MAP_PROBES].fd, &n, &p->program->code) : 0;
        if (why < 0)
            return err_errno(err, -why, "--probe", "arguments cannot be described to the kernel");
        n += p != NULL;
    }
    return true;
}

static bool put_targets(struct record_probes *x, const struct perf_target *t, struct err *err) {
    const uint32_t how = t->exec ? BPF_PROBE_AT_EXEC : BPF_PROBE_FOLLOWED;
    for (size_t i = 0; i < t->threads.count && !t->system_wide; i++) {
        uint32_t tid = (uint32_t)t->threads.items[i].tid;
        int why = os_bpf_update(x->bpf, x->object.maps[PROBE_MAP_TARGETS].fd, &tid, &how);
        if (why < 0)
            return err_errno(err, -why, "--probe", "not all threads can be followed");
    }
    return true;
}

/* Where each probe's records go: output `probe * cpus + cpu`. */
static bool put_outputs(struct record_probes *x, const struct record_probes_sources *from, uint32_t cpus,
                        struct err *err) {
    for (size_t i = 0; i < from->opened->fds.count; i++) {
        const struct record_fd *f = &from->opened->fds.items[i];
        uint32_t n = 0;
        if (!from->plan->events.items[f->event].probe || f->cpu < 0 || (uint32_t)f->cpu >= cpus)
            continue;
        for (uint32_t k = 0; k < f->event; k++)
            n += from->plan->events.items[k].probe != NULL;
        uint32_t key = n * cpus + (uint32_t)f->cpu, fd = (uint32_t)f->fd;
        int why = os_bpf_update(x->bpf, x->object.maps[PROBE_MAP_OUTPUTS].fd, &key, &fd);
        if (why < 0)
            return err_errno(err, -why, "--probe", "the rings cannot be handed to the kernel's programs");
    }
    return true;
}

static bool load(struct record_probes *x, const struct record_probes_sources *from, struct err *err) {
    const struct probe_registers *r = probe_registers_here();
    uint32_t cpus = x->bpf->cpus(x->bpf->ctx), count = 0;
    for (size_t i = 0; i < from->plan->events.count; i++)
        count += from->plan->events.items[i].probe != NULL;
    if (!r || !cpus)
        return err_set(err, ERR_UNSUPPORTED, "--probe", "arguments cannot be fetched on this machine");
    if (!os_bpf_open(&x->object, x->bpf, &bpf_probe, err))
        return false;
    struct bpf_probe_rodata *rodata = os_bpf_data(&x->object, PROBE_MAP_RODATA);
    rodata->options = (struct bpf_probe_options){.all = from->target->system_wide,
                                                 .inherit = from->inherit,
                                                 .cpus = cpus,
                                                 .registers_bytes = r->count * (uint32_t)sizeof(uint64_t),
                                                 .instruction = (uint32_t)r->instruction};
    os_bpf_set_entries(&x->object, PROBE_MAP_PROBES, count);
    os_bpf_set_entries(&x->object, PROBE_MAP_OUTPUTS, count * cpus);
    return os_bpf_load(&x->object, from->verbose, err) && put_probes(x, from, err) &&
           put_targets(x, from->target, err) && put_outputs(x, from, cpus, err) &&
           (from->target->system_wide || os_bpf_attach(&x->object, err));
}

static bool start(struct record_probes *x, const struct record_probes_sources *from, struct err *err) {
    if (!load(x, from, err))
        return false;
    for (uint32_t i = 0, n = 0; i < from->plan->events.count; i++) {
        const struct perf_event *e = from->plan->events.items[i].probe;
        if (!e)
            continue;
        /* Called in the reverse order. */
        if (!attach(x, e, n, PROBE_PROGRAM_TELL, err) || !attach(x, e, n, PROBE_PROGRAM_GATHER, err))
            return false;
        n++;
    }
    return true;
}

struct record_probes *record_probes_start(const struct record_probes_sources *from, struct err *err) {
    struct record_probes *x = calloc(1, sizeof *x);
    if (!x) {
        err_memory(err, "--probe");
        return NULL;
    }
    x->bpf = from->bpf;
    x->perf = from->perf;
    if (start(x, from, err))
        return x;
    record_probes_free(x);
    return NULL;
}

void record_probes_tell(const struct record_probes *x) {
    struct bpf_probe_counters c = {0};
    const uint32_t zero = 0;
    if (os_bpf_lookup(x->bpf, x->object.maps[PROBE_MAP_COUNTERS].fd, &zero, &c) < 0)
        return;
    if (c.missed)
        log_line(LOG_WARN, "%llu hit%s of probes could not be recorded: no memory for the arguments",
                 (unsigned long long)c.missed, plural(c.missed));
    if (c.lost_threads)
        log_line(LOG_WARN, "%llu thread%s could not be followed: there are too many",
                 (unsigned long long)c.lost_threads, plural(c.lost_threads));
}

void record_probes_free(struct record_probes *x) {
    if (!x)
        return;
    for (size_t i = 0; i < x->links.count; i++)
        x->bpf->close(x->bpf->ctx, x->links.items[i]);
    for (size_t i = 0; i < x->uprobes.count; i++)
        x->perf->close(x->perf->ctx, x->uprobes.items[i]);
    vec_fini(&x->links);
    vec_fini(&x->uprobes);
    if (x->object.bpf)
        os_bpf_close(&x->object);
    free(x);
}
