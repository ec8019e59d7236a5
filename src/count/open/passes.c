/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/passes.h"

#include <errno.h>

/* Software events, tracepoints and breakpoints of code take no counter of the CPU. */
static bool takes_counter(const struct perf_event *e) {
    return e->kind != PERF_EVENT_TOOL && e->attr.type != PERFDATA_TYPE_SOFTWARE &&
           e->attr.type != PERFDATA_TYPE_TRACEPOINT && e->kind != PERF_EVENT_UPROBE;
}

struct trial {
    const struct os_perf *perf;
    VEC(int) fds; /* of the pass so far; the first one leads */
};

static void close_from(struct trial *t, size_t from) {
    while (t->fds.count > from)
        t->perf->close(t->perf->ctx, t->fds.items[--t->fds.count]);
}

/* Opens an event for ourselves beside those of the pass so far. The kernel refuses what can never count
 * together. */
static int open_beside(struct trial *t, const struct perf_event *e) {
    struct perfdata_attr a = e->attr;
    struct writer w = writer_make(false);
    int *slot = vec_push(&t->fds), fd = -ENOMEM;
    if (!slot)
        return -ENOMEM;
    a.flags |= PERFDATA_ATTR_DISABLED;
    a.sample_period = 0;
    perfdata_attr_encode(&a, &w);
    if (writer_ok(&w))
        fd = t->perf->open(t->perf->ctx, writer_bytes(&w), 0, -1, t->fds.count > 1 ? t->fds.items[0] : -1);
    writer_fini(&w);
    if (fd < 0)
        t->fds.count--;
    else
        *slot = fd;
    return fd;
}

/* True: the group that `leader` leads fits, or can be counted nowhere, which is nobody's fault. */
static bool fits(struct trial *t, const struct perf_events *events, size_t leader) {
    size_t had = t->fds.count;
    for (size_t i = leader; i < events->items.count; i++) {
        const struct perf_event *e = &events->items.items[i];
        if (e->leader != leader || !takes_counter(e))
            continue;
        if (open_beside(t, e) == -EINVAL && t->fds.count) {
            close_from(t, had);
            return false;
        }
    }
    return true;
}

bool count_passes_plan(struct count_passes *p, const struct os_perf *perf, const struct perf_events *events) {
    struct trial t = {.perf = perf};
    *p = (struct count_passes){.count = 1};
    for (size_t i = 0; i < events->items.count; i++) {
        uint32_t *of = vec_push(&p->of);
        if (!of)
            return false;
        *of = COUNT_EVERY_PASS;
    }
    for (size_t i = 0; i < events->items.count; i++) {
        if (events->items.items[i].leader != i)
            continue;
        if (!fits(&t, events, i) && t.fds.count) {
            close_from(&t, 0);
            p->count++;
            fits(&t, events, i);
        }
        for (size_t k = i; k < events->items.count; k++)
            if (events->items.items[k].leader == i && takes_counter(&events->items.items[k]))
                p->of.items[k] = p->count - 1;
    }
    close_from(&t, 0);
    vec_fini(&t.fds);
    return true;
}

static bool shared(const struct counts *run, size_t event) {
    for (size_t k = 0; k < run->keys.count; k++) {
        const struct count_cell *c = counts_cell(run, k, event);
        if ((c->state == COUNT_COUNTED && c->running_ns < c->enabled_ns) ||
            (c->state == COUNT_NOT_COUNTED && c->enabled_ns > 0))
            return true;
    }
    return false;
}

bool count_passes_split(struct count_passes *p, uint32_t pass, const struct perf_events *events,
                        const struct counts *run) {
    size_t groups = 0, moved = 0;
    bool any = false;
    for (size_t i = 0; i < p->of.count; i++) {
        groups += p->of.items[i] == pass && events->items.items[i].leader == i;
        any |= p->of.items[i] == pass && shared(run, i);
    }
    if (!any || groups < 2)
        return false;
    /* The latter half of the groups. */
    for (size_t i = p->of.count; i-- > 0 && moved < groups / 2;) {
        if (p->of.items[i] != pass || events->items.items[i].leader != i)
            continue;
        for (size_t k = i; k < p->of.count; k++)
            if (events->items.items[k].leader == i && p->of.items[k] == pass)
                p->of.items[k] = p->count;
        moved++;
    }
    p->count++;
    return true;
}

void count_passes_fini(struct count_passes *p) {
    vec_fini(&p->of);
}
