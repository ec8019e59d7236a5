/* SPDX-License-Identifier: Apache-2.0 */
#include "record/filter/filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "bpf/dist/sample_filter.h"
#include "os/bpf/bpf_maps.h"
#include "record/filter/filter_parse.h"

/* Of one event. A program for each, as children of an event do not inherit a number to tell filters by. */
struct filter {
    uint32_t event;
    char name[64];
    struct os_bpf_object object;
    VEC(int) links;
};

struct record_filters {
    const struct os_bpf *bpf;
    VEC(struct filter *) list;
};

bool record_filters_wanted(const struct record_plan *plan) {
    for (size_t i = 0; i < plan->events.count; i++)
        if (plan->events.items[i].sample_filter)
            return true;
    return false;
}

static struct filter *add(struct record_filters *x) {
    struct filter *f = calloc(1, sizeof *f);
    struct filter **slot = f ? vec_push(&x->list) : NULL;
    if (slot)
        return *slot = f;
    free(f);
    return NULL;
}

static bool load(struct record_filters *x, struct filter *f, const struct record_event_plan *e, bool verbose,
                 struct err *err) {
    struct bpf_filter parsed;
    if (!record_filter_parse(e->sample_filter, &e->attr, &parsed, err) ||
        !os_bpf_open(&f->object, x->bpf, &bpf_sample_filter, err))
        return false;
    ((struct bpf_sample_filter_rodata *)os_bpf_data(&f->object, SAMPLE_FILTER_MAP_RODATA))->filter = parsed;
    return os_bpf_load(&f->object, verbose, err);
}

static bool attach(struct filter *f, const struct record_opened *opened, struct err *err) {
    for (size_t i = 0; i < opened->fds.count; i++) {
        if (opened->fds.items[i].event != f->event)
            continue;
        int *link = vec_push(&f->links);
        if (!link)
            return err_memory(err, "--filter");
        *link = os_bpf_attach_probe(&f->object, SAMPLE_FILTER_PROGRAM_ON_SAMPLE, opened->fds.items[i].fd, 0);
        if (*link >= 0)
            continue;
        int why = -*link;
        f->links.count--;
        return err_errno(err, why, "--filter", "the kernel does not take a filter for samples of %s",
                         f->name);
    }
    return true;
}

static bool start(struct record_filters *x, const struct record_plan *plan,
                  const struct record_opened *opened, bool verbose, struct err *err) {
    for (uint32_t i = 0; i < plan->events.count; i++) {
        const struct record_event_plan *e = &plan->events.items[i];
        struct filter *f = e->sample_filter ? add(x) : NULL;
        if (!e->sample_filter)
            continue;
        if (!f)
            return err_memory(err, "--filter");
        f->event = i;
        snprintf(f->name, sizeof f->name, "%s", e->name);
        if (!load(x, f, e, verbose, err) || !attach(f, opened, err))
            return false;
    }
    return true;
}

struct record_filters *record_filters_start(const struct os_bpf *bpf, const struct record_plan *plan,
                                            const struct record_opened *opened, bool verbose,
                                            struct err *err) {
    struct record_filters *x = calloc(1, sizeof *x);
    if (!x) {
        err_memory(err, "--filter");
        return NULL;
    }
    x->bpf = bpf;
    if (start(x, plan, opened, verbose, err))
        return x;
    record_filters_free(x);
    return NULL;
}

static uint64_t tell(const struct record_filters *x, const struct filter *f) {
    uint32_t cpus = x->bpf->cpus(x->bpf->ctx);
    struct bpf_filter_counters *c = calloc(cpus ? cpus : 1, sizeof *c), sum = {0};
    const uint32_t zero = 0;
    if (c && os_bpf_lookup(x->bpf, f->object.maps[SAMPLE_FILTER_MAP_COUNTERS].fd, &zero, c) == 0)
        for (uint32_t i = 0; i < cpus; i++) {
            sum.dropped += c[i].dropped;
            sum.passed += c[i].passed;
            sum.unknown += c[i].unknown;
        }
    free(c);
    log_line(LOG_INFO, "%s: %llu of %llu samples did not match the filter", f->name,
             (unsigned long long)sum.dropped, (unsigned long long)(sum.dropped + sum.passed));
    if (sum.unknown)
        log_line(LOG_WARN,
                 "%s: %llu sample%s left out, as this kernel does not tell filters what they ask for",
                 f->name, (unsigned long long)sum.unknown, plural(sum.unknown));
    return sum.dropped;
}

uint64_t record_filters_tell(const struct record_filters *x) {
    uint64_t dropped = 0;
    for (size_t i = 0; i < x->list.count; i++)
        dropped += tell(x, x->list.items[i]);
    return dropped;
}

void record_filters_free(struct record_filters *x) {
    if (!x)
        return;
    for (size_t i = 0; i < x->list.count; i++) {
        struct filter *f = x->list.items[i];
        for (size_t k = 0; k < f->links.count; k++)
            x->bpf->close(x->bpf->ctx, f->links.items[k]);
        vec_fini(&f->links);
        os_bpf_close(&f->object);
        free(f);
    }
    vec_fini(&x->list);
    free(x);
}
