/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/facts.h"

#include <stdio.h>
#include <time.h>

#include "config.h"
#include "os/poller.h"
#include "record/write/compress.h"
#include "record/write/facts_internal.h"

enum { TEXT_ROOM = 64 };

const char *record_facts_read(struct record_facts *f, const char *fmt, ...) {
    char path[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    return n > 0 && (size_t)n < sizeof path ? f->sys->read(f->sys, path, &f->arena, NULL) : NULL;
}

struct bytes record_facts_text(struct record_facts *f, const char *text) {
    size_t n = strlen(text), room = (n + TEXT_ROOM) / TEXT_ROOM * TEXT_ROOM;
    char *p = arena_zalloc(&f->arena, room);
    if (!p) {
        f->failed = true;
        return (struct bytes){0};
    }
    memcpy(p, text, n);
    return (struct bytes){(uint8_t *)p, room};
}

void record_facts_add(struct record_facts *f, const struct perfdata_feature_value *v) {
    struct writer w = writer_make(false);
    perfdata_feature_encode(v, &w);
    struct perfdata_feature *p = writer_ok(&w) ? vec_push(&f->list) : NULL;
    if (p) {
        *p = (struct perfdata_feature){.id = v->id, .content = arena_copy(&f->arena, writer_bytes(&w))};
        f->failed |= w.size && !p->content.data;
    } else {
        f->failed = true;
    }
    writer_fini(&w);
}

static void add_text(struct record_facts *f, uint32_t id, const char *text) {
    if (!text || !*text)
        return;
    struct perfdata_feature_value v = {.id = id, .text = record_facts_text(f, text)};
    record_facts_add(f, &v);
}

/* What follows "KEY<spaces>: " on a line of a text like /proc/cpuinfo; NULL without such a line. */
static const char *line_value(struct record_facts *f, const char *text, const char *key) {
    size_t len = strlen(key);
    for (const char *p = text; p && *p; p = strchr(p, '\n'), p += p != NULL) {
        if (strncmp(p, key, len) != 0)
            continue;
        const char *v = p + len + strspn(p + len, " \t");
        if (*v != ':')
            continue;
        v += 1 + strspn(v + 1, " \t");
        return arena_strndup(&f->arena, v, strcspn(v, "\n"));
    }
    return NULL;
}

/* CPUDESC, and CPUID as perf writes it: vendor,family,model,stepping on x86, MIDR_EL1 on arm64. */
static void add_cpu(struct record_facts *f) {
    const char *info = record_facts_read(f, "/proc/cpuinfo");
    const char *midr = record_facts_read(f, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    const char *vendor = line_value(f, info, "vendor_id"), *family = line_value(f, info, "cpu family"),
               *model = line_value(f, info, "model"), *stepping = line_value(f, info, "stepping");
    const char *name = line_value(f, info, "model name");
    char id[256];
    add_text(f, PERFDATA_FEATURE_CPUDESC, name ? name : line_value(f, info, "Processor"));
    if (vendor && family && model && stepping) {
        snprintf(id, sizeof id, "%s,%s,%s,%s", vendor, family, model, stepping);
        add_text(f, PERFDATA_FEATURE_CPUID, id);
    } else {
        add_text(f, PERFDATA_FEATURE_CPUID, midr);
    }
}

static void add_total_mem(struct record_facts *f) {
    const char *total = line_value(f, record_facts_read(f, "/proc/meminfo"), "MemTotal");
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_TOTAL_MEM};
    if (total && (v.u64 = strtoull(total, NULL, 10)) != 0)
        record_facts_add(f, &v);
}

static void add_nr_cpus(struct record_facts *f) {
    uint32_t present = record_facts_count_list(record_facts_read(f, "/sys/devices/system/cpu/present"));
    uint32_t online = record_facts_count_list(record_facts_read(f, "/sys/devices/system/cpu/online"));
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_NRCPUS,
                                       .nr_cpus = {present > online ? present : online, online}};
    record_facts_add(f, &v);
}

static void add_cmdline(struct record_facts *f, const struct record_facts_input *in) {
    uint32_t n = 0;
    while (in->argv[n])
        n++;
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_CMDLINE,
                                       .cmdline.items = arena_zalloc(&f->arena, n * sizeof(struct bytes))};
    if (!v.cmdline.items) {
        f->failed = true;
        return;
    }
    for (; v.cmdline.count < n; v.cmdline.count++)
        v.cmdline.items[v.cmdline.count] =
            record_facts_text(f, v.cmdline.count ? in->argv[v.cmdline.count] : in->host->program);
    record_facts_add(f, &v);
}

static void add_event_desc(struct record_facts *f, const struct perfdata_events *events) {
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_EVENT_DESC};
    struct perfdata_event_descs *d = &v.event_desc;
    d->items = arena_zalloc(&f->arena, events->list.count * sizeof *d->items);
    if (!d->items) {
        f->failed = true;
        return;
    }
    for (size_t i = 0; i < events->list.count; i++) {
        uint32_t size = events->list.items[i].attr.known_size;
        d->attr_size = size > d->attr_size ? size : d->attr_size;
    }
    for (; d->count < events->list.count; d->count++) {
        const struct perfdata_event *e = &events->list.items[d->count];
        struct perfdata_event_desc *to = &d->items[d->count];
        *to = (struct perfdata_event_desc){
            .attr = e->attr,
            .name = record_facts_text(f, e->name),
            .ids = {(const uint8_t *)e->ids, e->id_count, false},
        };
        to->attr.known_size = d->attr_size; /* all are as long as the longest; what is beyond is zero */
    }
    record_facts_add(f, &v);
}

static void add_groups(struct record_facts *f, const struct perfdata_events *events) {
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_GROUP_DESC};
    v.groups.items = arena_zalloc(&f->arena, events->list.count * sizeof *v.groups.items);
    if (!v.groups.items) {
        f->failed = true;
        return;
    }
    for (uint32_t i = 0; i < events->list.count; i++) {
        const struct perfdata_event *e = &events->list.items[i];
        if (e->leader == i && e->group_members > 1)
            v.groups.items[v.groups.count++] = (struct perfdata_group){
                record_facts_text(f, e->group_name ? e->group_name : "{anon_group}"), i, e->group_members};
    }
    if (v.groups.count)
        record_facts_add(f, &v);
}

static void add_pmus(struct record_facts *f) {
    struct sysfs_names names;
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_PMU_MAPPINGS};
    if (!f->sys->list(f->sys, "/sys/bus/event_source/devices", &f->arena, &names, NULL))
        return;
    v.pmu_mappings.items = arena_zalloc(&f->arena, names.count * sizeof *v.pmu_mappings.items);
    for (size_t i = 0; i < names.count && v.pmu_mappings.items; i++) {
        const char *type = record_facts_read(f, "/sys/bus/event_source/devices/%s/type", names.items[i]);
        if (type)
            v.pmu_mappings.items[v.pmu_mappings.count++] = (struct perfdata_pmu_mapping){
                (uint32_t)strtoul(type, NULL, 10), record_facts_text(f, names.items[i])};
    }
    record_facts_add(f, &v);
}

/* How the chosen clock and the wall clock stood to each other, for readers that want time of day. */
static void add_clock(struct record_facts *f, int32_t clockid) {
    uint64_t now, resolution, wall, unused;
    if (!os_clock_read(clockid, &now, &resolution) || !os_clock_read(CLOCK_REALTIME, &wall, &unused))
        return;
    struct perfdata_feature_value id = {.id = PERFDATA_FEATURE_CLOCKID, .u64 = resolution};
    struct perfdata_feature_value data = {.id = PERFDATA_FEATURE_CLOCK_DATA,
                                          .clock_data = {1, (uint32_t)clockid, wall, now}};
    record_facts_add(f, &id);
    record_facts_add(f, &data);
}

bool record_facts_early(struct record_facts *f, const struct record_facts_input *in) {
    *f = (struct record_facts){.sys = in->sys};
    if (in->tracepoints)
        record_facts_tracing(f, in->events, in->plan);
    add_text(f, PERFDATA_FEATURE_HOSTNAME, in->host->name);
    add_text(f, PERFDATA_FEATURE_OSRELEASE, in->host->release);
    add_text(f, PERFDATA_FEATURE_VERSION, "sonde " SONDE_VERSION);
    add_text(f, PERFDATA_FEATURE_ARCH, in->host->machine);
    add_nr_cpus(f);
    add_cpu(f);
    add_total_mem(f);
    add_cmdline(f, in);
    add_event_desc(f, in->events);
    add_pmus(f);
    add_groups(f, in->events);
    struct perfdata_feature_value time = {.id = PERFDATA_FEATURE_SAMPLE_TIME}; /* filled in at the end */
    record_facts_add(f, &time);
    struct perfdata_feature_value branches = {.id = PERFDATA_FEATURE_BRANCH_STACK};
    if (in->options->branch_type)
        record_facts_add(f, &branches);
    if (in->options->use_clockid)
        add_clock(f, in->options->clockid);
    struct perfdata_feature_value z = {.id = PERFDATA_FEATURE_COMPRESSED,
                                       .compression = {1, 1, (uint32_t)in->options->compression, 1,
                                                       record_compress_decoded(in->ring_bytes)}};
    if (in->options->compression)
        record_facts_add(f, &z);
    /* 1: records lie in data.N, too. */
    struct perfdata_feature_value folder = {.id = PERFDATA_FEATURE_DIR_FORMAT, .u64 = 1};
    if (in->options->threads)
        record_facts_add(f, &folder);
    return !f->failed;
}

void record_facts_fini(struct record_facts *f) {
    vec_fini(&f->list);
    arena_fini(&f->arena);
}
