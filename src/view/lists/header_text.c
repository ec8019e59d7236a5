/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/header_text.h"

#include <inttypes.h>
#include <time.h>

#include "format/perfdata/header/bpf_info.h"
#include "view/lists/attr_text.h"

struct page {
    const struct perfdata_header *h;
    const struct perfdata_namer *names;
    struct out *o;
    struct arena arena;         /* for the current feature */
    uint64_t first_ns, last_ns; /* header_text_options */
};

static void put_text(struct out *o, struct bytes text) {
    out_mem(o, (const char *)text.data, bytes_text_len(text));
}

static void write_line(struct out *o, const char *label, struct bytes text) {
    out_str(o, label);
    put_text(o, text);
    out_char(o, '\n');
}

static void hostname(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# hostname : ", v->text);
}
static void osrelease(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# os release : ", v->text);
}
static void version(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# perf version : ", v->text);
}
static void arch(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# arch : ", v->text);
}
static void cpudesc(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# cpudesc : ", v->text);
}
static void cpuid(struct page *p, const struct perfdata_feature_value *v) {
    write_line(p->o, "# cpuid : ", v->text);
}

static void nr_cpus(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# nrcpus online : %u\n# nrcpus avail : %u\n", v->nr_cpus.online, v->nr_cpus.available);
}

static void total_mem(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# total memory : %" PRIu64 " kB\n", v->u64);
}

/* Writes each word with a space after it; of the characters special to a shell, only quotes are escaped. */
static void cmdline(struct page *p, const struct perfdata_feature_value *v) {
    out_str(p->o, "# cmdline : ");
    for (uint32_t i = 0; i < v->cmdline.count; i++) {
        struct bytes word = v->cmdline.items[i];
        size_t len = bytes_text_len(word);
        for (size_t k = 0; k < len; k++) {
            if (word.data[k] == '\'')
                out_char(p->o, '\\');
            out_char(p->o, (char)word.data[k]);
        }
        out_char(p->o, ' ');
    }
    out_char(p->o, '\n');
}

static void event_desc(struct page *p, const struct perfdata_feature_value *v) {
    static const struct attr_text_style STYLE = {", ", " = "};
    if (v->cut) {
        out_str(p->o, "# event desc: not available or unable to read\n");
        return;
    }
    for (uint32_t i = 0; i < v->event_desc.count; i++) {
        const struct perfdata_event_desc *e = &v->event_desc.items[i];
        out_str(p->o, "# event : name = ");
        put_text(p->o, e->name);
        out_str(p->o, ", ");
        for (uint64_t k = 0; k < e->ids.count; k++) {
            out_str(p->o, k ? ", " : ", id = { ");
            out_dec(p->o, perfdata_u64_at(&e->ids, k), 0);
        }
        out_str(p->o, e->ids.count ? " }, " : ", ");
        attr_text_write(p->names, &e->attr, &STYLE, p->o);
        out_char(p->o, '\n');
    }
}

static void write_siblings(struct out *o, const char *label, const struct perfdata_texts *texts) {
    for (uint32_t i = 0; i < texts->count; i++)
        write_line(o, label, texts->items[i]);
}

static void cpu_topology(struct page *p, const struct perfdata_feature_value *v) {
    const struct perfdata_cpu_topology *t = &v->cpu_topology;
    write_siblings(p->o, "# sibling sockets : ", &t->cores);
    write_siblings(p->o, "# sibling dies    : ", &t->dies);
    write_siblings(p->o, "# sibling threads : ", &t->threads);
    for (uint32_t i = 0; i < t->cpu_count; i++) {
        out_printf(p->o, "# CPU %u: Core ID %d, ", i, (int32_t)t->cpus[i].core);
        if (t->has_dies)
            out_printf(p->o, "Die ID %d, ", (int32_t)t->cpus[i].die);
        out_printf(p->o, "Socket ID %d\n", (int32_t)t->cpus[i].socket);
    }
    if (!t->cpu_count)
        out_str(p->o, "# Core ID and Socket ID information is not available\n");
}

static void numa(struct page *p, const struct perfdata_feature_value *v) {
    for (uint32_t i = 0; i < v->numa.count; i++) {
        const struct perfdata_numa_node *n = &v->numa.items[i];
        out_printf(p->o, "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n", n->node,
                   n->total_kb, n->free_kb);
        out_printf(p->o, "# node%u cpu list : ", n->node);
        if (bytes_text_len(n->cpus))
            put_text(p->o, n->cpus);
        else
            out_str(p->o, "-1"); /* perf's spelling of no CPU at all */
        out_char(p->o, '\n');
    }
}

static void branch_stack(struct page *p, const struct perfdata_feature_value *v) {
    (void)v;
    out_str(p->o, "# contains samples with branch stack\n");
}
static void auxtrace(struct page *p, const struct perfdata_feature_value *v) {
    (void)v;
    out_str(p->o, "# contains AUX area data (e.g. instruction trace)\n");
}
static void stat(struct page *p, const struct perfdata_feature_value *v) {
    (void)v;
    out_str(p->o, "# contains stat data\n");
}

static void pmu_mappings(struct page *p, const struct perfdata_feature_value *v) {
    out_str(p->o, "# pmu mappings: ");
    for (uint32_t i = 0; i < v->pmu_mappings.count; i++) {
        if (i)
            out_str(p->o, ", ");
        put_text(p->o, v->pmu_mappings.items[i].name);
        out_printf(p->o, " = %u", v->pmu_mappings.items[i].type);
    }
    out_str(p->o, v->pmu_mappings.count ? "\n" : "not available\n");
}

/* Writes the groups, with the names of EVENT_DESC for their events. */
static void groups(struct page *p, const struct perfdata_feature_value *v) {
    struct perfdata_feature_value desc;
    if (!perfdata_feature_get(p->h, PERFDATA_FEATURE_EVENT_DESC, &p->arena, &desc))
        return;
    uint32_t free_from = 0; /* groups do not overlap: those that do are damaged */
    for (uint32_t i = 0; i < v->groups.count; i++) {
        const struct perfdata_group *g = &v->groups.items[i];
        if (g->leader < free_from || g->leader >= desc.event_desc.count ||
            g->members > desc.event_desc.count - g->leader)
            continue;
        free_from = g->leader + g->members;
        out_str(p->o, "# group: ");
        if (!perfdata_group_anonymous(g))
            put_text(p->o, g->name);
        for (uint32_t k = g->leader; k < free_from; k++) {
            out_char(p->o, k == g->leader ? '{' : ',');
            put_text(p->o, desc.event_desc.items[k].name);
        }
        out_str(p->o, "}\n");
    }
}

static void caches(struct page *p, const struct perfdata_feature_value *v) {
    out_str(p->o, "# CPU cache info:\n");
    for (uint32_t i = 0; i < v->caches.count; i++) {
        const struct perfdata_cache_level *c = &v->caches.items[i];
        out_printf(p->o, "#  L%u ", c->level);
        out_left(p->o, (const char *)c->type.data, bytes_text_len(c->type), 15);
        out_char(p->o, ' ');
        out_right(p->o, (const char *)c->size.data, bytes_text_len(c->size), 8);
        out_str(p->o, " [");
        put_text(p->o, c->map);
        out_str(p->o, "]\n");
    }
}

static void sample_time(struct page *p, const struct perfdata_feature_value *v) {
    const struct perfdata_sample_time found = {p->first_ns, p->last_ns};
    const struct perfdata_sample_time *t = v->sample_time.last_ns ? &v->sample_time : &found;
    out_printf(p->o, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n", t->first_ns / 1000000000,
               t->first_ns / 1000 % 1000000);
    out_printf(p->o, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n", t->last_ns / 1000000000,
               t->last_ns / 1000 % 1000000);
    out_printf(p->o, "# sample duration : %10.3f ms\n", (double)(t->last_ns - t->first_ns) / 1e6);
}

/* Writes "64G": divides by 1024 as long as the result is at least 2. */
static void write_size(struct out *o, uint64_t bytes) {
    static const char UNITS[] = "BKMG";
    int unit = 0;
    while (bytes / 1024 > 1 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    out_printf(o, "%" PRIu64 "%c", bytes, UNITS[unit]);
}

/* Writes the set bits as ranges: "0-23,32-69". Returns their number. */
static uint64_t write_ranges(struct out *o, const struct perfdata_memory_node *n, bool write) {
    uint64_t set = 0;
    const char *between = "";
    for (uint64_t i = 0; i < n->bitmap_bits; i++) {
        uint64_t word = perfdata_u64_at(&n->bitmap, i / 64);
        if (!(word >> i % 64 & 1))
            continue;
        uint64_t last = i;
        while (last + 1 < n->bitmap_bits &&
               perfdata_u64_at(&n->bitmap, (last + 1) / 64) >> (last + 1) % 64 & 1)
            last++;
        set += last - i + 1;
        if (write) {
            out_str(o, between);
            out_dec(o, i, 0);
            if (last != i) {
                out_char(o, '-');
                out_dec(o, last, 0);
            }
            between = ",";
        }
        i = last;
    }
    return set;
}

static void mem_topology(struct page *p, const struct perfdata_feature_value *v) {
    const struct perfdata_mem_topology *t = &v->mem_topology;
    out_printf(p->o, "# memory nodes (nr %u, block size %#" PRIx64 "):\n", t->count, t->block_bytes);
    for (uint32_t i = 0; i < t->count; i++) {
        out_printf(p->o, "#  %3" PRIu64 " [", t->items[i].node);
        write_size(p->o, write_ranges(p->o, &t->items[i], false) * t->block_bytes);
        out_str(p->o, "]: ");
        write_ranges(p->o, &t->items[i], true);
        out_char(p->o, '\n');
    }
}

static void clockid(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# clockid frequency: %" PRIu64 " MHz\n", v->u64 * 1000);
}

static void dir_format(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# directory data version : %" PRIu64 "\n", v->u64);
}

static void write_bpf_prog(struct out *o, const struct perfdata_bpf_info *info,
                           struct perfdata_btf_names *names) {
    uint32_t count = info->function_count;
    if (count > 1)
        out_printf(o, "# bpf_prog_info %u:\n", info->id);
    for (uint32_t k = 0; k < count; k++) {
        struct perfdata_bpf_function f = perfdata_bpf_info_function(info, names, k);
        if (count > 1)
            out_printf(o, "# \tsub_prog %u: ", k);
        else
            out_printf(o, "# bpf_prog_info %u: ", info->id);
        out_printf(o, "%s addr %#" PRIx64 " size %u\n", f.name, f.address, f.size);
    }
}

static void bpf_progs(struct page *p, const struct perfdata_feature_value *v) {
    if (!v->bpf_progs.count) {
        out_str(p->o, "# bpf_prog_info empty\n");
        return;
    }
    struct perfdata_feature_value btf;
    if (!perfdata_feature_get(p->h, PERFDATA_FEATURE_BPF_BTF, &p->arena, &btf))
        btf.btfs = (struct perfdata_btfs){0};
    struct perfdata_btf_names names;
    struct perfdata_bpf_info info;
    bool ok = perfdata_btf_names_init(&names, &btf.btfs, p->h->swap);
    for (uint32_t i = 0; ok && i < v->bpf_progs.count; i++)
        if (perfdata_bpf_info_decode(&v->bpf_progs.items[i], p->h->swap, &info))
            write_bpf_prog(p->o, &info, &names);
    perfdata_btf_names_fini(&names);
}

static void btfs(struct page *p, const struct perfdata_feature_value *v) {
    for (uint32_t i = 0; i < v->btfs.count; i++)
        out_printf(p->o, "# btf info of id %u\n", v->btfs.items[i].id);
    if (!v->btfs.count)
        out_str(p->o, "# btf info empty\n");
}

static void compression(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# compressed : %s, level = %u, ratio = %u\n",
               v->compression.type == 1 ? "Zstd" : "Unknown", v->compression.level, v->compression.ratio);
}

/* Writes "# PMU pmu capabilities: a=1, b=2". */
static void write_caps(struct out *o, struct bytes pmu, const struct perfdata_pairs *caps) {
    out_str(o, "# ");
    put_text(o, pmu);
    out_str(o, " pmu capabilities: ");
    for (uint32_t i = 0; i < caps->count; i++) {
        if (i)
            out_str(o, ", ");
        put_text(o, caps->items[i].name);
        out_char(o, '=');
        put_text(o, caps->items[i].value);
    }
    out_str(o, caps->count ? "\n" : "not available\n");
}

static void cpu_pmu_caps(struct page *p, const struct perfdata_feature_value *v) {
    write_caps(p->o, (struct bytes){(const uint8_t *)"cpu", 3}, &v->pairs);
}

static void pmu_caps(struct page *p, const struct perfdata_feature_value *v) {
    for (uint32_t i = 0; i < v->pmu_caps.count; i++)
        write_caps(p->o, v->pmu_caps.items[i].pmu, &v->pmu_caps.items[i].caps);
}

/* Returns the names of those clocks of time.h that perf record -k accepts. */
static const char *clock_name(uint32_t id) {
    switch (id) {
    case CLOCK_REALTIME:
        return "realtime";
    case CLOCK_MONOTONIC:
        return "monotonic";
    case CLOCK_MONOTONIC_RAW:
        return "monotonic_raw";
    case CLOCK_BOOTTIME:
        return "boottime";
    case CLOCK_TAI:
        return "tai";
    default:
        return "(not found)";
    }
}

static void clock_data(struct page *p, const struct perfdata_feature_value *v) {
    const struct perfdata_clock_data *c = &v->clock_data;
    uint64_t wall_s = c->wall_ns / 1000000000, wall_us = c->wall_ns / 1000 % 1000000;
    const char *name = clock_name(c->clockid);
    char when[64] = "";
    struct tm tm;
    time_t seconds = (time_t)wall_s;
    if (localtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    out_printf(p->o, "# clockid: %s (%u)\n", name, c->clockid);
    out_printf(p->o, "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = ", when, wall_us,
               wall_s, wall_us);
    out_printf(p->o, "%" PRIu64 ".%09" PRIu64 " (%s)\n", c->clock_ns / 1000000000, c->clock_ns % 1000000000,
               name);
}

static void hybrid(struct page *p, const struct perfdata_feature_value *v) {
    out_str(p->o, "# hybrid cpu system:\n");
    for (uint32_t i = 0; i < v->pairs.count; i++) {
        out_str(p->o, "# ");
        put_text(p->o, v->pairs.items[i].name);
        write_line(p->o, " cpu list : ", v->pairs.items[i].value);
    }
}

static void cpu_domains(struct page *p, const struct perfdata_feature_value *v) {
    const struct perfdata_cpu_domain_info *info = &v->cpu_domains;
    out_printf(p->o, "# schedstat version\t: %u\n# Maximum sched domains\t: %u\n", info->schedstat_version,
               info->max_domains);
    for (uint32_t i = 0; i < info->count; i++) {
        const struct perfdata_cpu_domains *cpu = &info->items[i];
        out_printf(p->o, "# cpu\t\t: %u\n# nr_domains\t: %u\n", cpu->cpu, cpu->count);
        for (uint32_t k = 0; k < cpu->count; k++) {
            out_printf(p->o, "# Domain\t\t: %u\n", cpu->items[k].domain);
            write_line(p->o, "# Domain name      : ", cpu->items[k].name);
            write_line(p->o, "# Domain cpu map   : ", cpu->items[k].mask);
            write_line(p->o, "# Domain cpu list  : ", cpu->items[k].list);
        }
    }
}

static void e_machine(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# e_machine : %u\n#   e_flags : %u\n", v->e_machine.machine, v->e_machine.flags);
}

static void cln_size(struct page *p, const struct perfdata_feature_value *v) {
    out_printf(p->o, "# cacheline size: %u\n", v->u32);
}

/* Features not listed have no text: TRACING_DATA, BUILD_ID, and those unknown to perf. */
static const struct {
    void (*write)(struct page *p, const struct perfdata_feature_value *v);
    bool long_form; /* written with -I only */
} FEATURES[PERFDATA_FEATURE_KNOWN_END] = {
    [PERFDATA_FEATURE_HOSTNAME] = {hostname, false},
    [PERFDATA_FEATURE_OSRELEASE] = {osrelease, false},
    [PERFDATA_FEATURE_VERSION] = {version, false},
    [PERFDATA_FEATURE_ARCH] = {arch, false},
    [PERFDATA_FEATURE_NRCPUS] = {nr_cpus, false},
    [PERFDATA_FEATURE_CPUDESC] = {cpudesc, false},
    [PERFDATA_FEATURE_CPUID] = {cpuid, false},
    [PERFDATA_FEATURE_TOTAL_MEM] = {total_mem, false},
    [PERFDATA_FEATURE_CMDLINE] = {cmdline, false},
    [PERFDATA_FEATURE_EVENT_DESC] = {event_desc, false},
    [PERFDATA_FEATURE_CPU_TOPOLOGY] = {cpu_topology, true},
    [PERFDATA_FEATURE_NUMA_TOPOLOGY] = {numa, true},
    [PERFDATA_FEATURE_BRANCH_STACK] = {branch_stack, false},
    [PERFDATA_FEATURE_PMU_MAPPINGS] = {pmu_mappings, false},
    [PERFDATA_FEATURE_GROUP_DESC] = {groups, false},
    [PERFDATA_FEATURE_AUXTRACE] = {auxtrace, false},
    [PERFDATA_FEATURE_STAT] = {stat, false},
    [PERFDATA_FEATURE_CACHE] = {caches, true},
    [PERFDATA_FEATURE_SAMPLE_TIME] = {sample_time, false},
    [PERFDATA_FEATURE_MEM_TOPOLOGY] = {mem_topology, true},
    [PERFDATA_FEATURE_CLOCKID] = {clockid, false},
    [PERFDATA_FEATURE_DIR_FORMAT] = {dir_format, false},
    [PERFDATA_FEATURE_BPF_PROG_INFO] = {bpf_progs, false},
    [PERFDATA_FEATURE_BPF_BTF] = {btfs, false},
    [PERFDATA_FEATURE_COMPRESSED] = {compression, false},
    [PERFDATA_FEATURE_CPU_PMU_CAPS] = {cpu_pmu_caps, false},
    [PERFDATA_FEATURE_CLOCK_DATA] = {clock_data, false},
    [PERFDATA_FEATURE_HYBRID_TOPOLOGY] = {hybrid, true},
    [PERFDATA_FEATURE_PMU_CAPS] = {pmu_caps, false},
    [PERFDATA_FEATURE_CPU_DOMAIN_INFO] = {cpu_domains, true},
    [PERFDATA_FEATURE_E_MACHINE] = {e_machine, false},
    [PERFDATA_FEATURE_CLN_SIZE] = {cln_size, false},
};

/* True if damaged contents still have something to show. */
static bool worth_showing(const struct perfdata_feature_value *v) {
    switch (v->id) {
    case PERFDATA_FEATURE_CMDLINE:
    case PERFDATA_FEATURE_EVENT_DESC:
    case PERFDATA_FEATURE_CPU_TOPOLOGY:
    case PERFDATA_FEATURE_NUMA_TOPOLOGY:
    case PERFDATA_FEATURE_PMU_MAPPINGS:
    case PERFDATA_FEATURE_GROUP_DESC:
    case PERFDATA_FEATURE_AUXTRACE:
    case PERFDATA_FEATURE_CACHE:
    case PERFDATA_FEATURE_MEM_TOPOLOGY:
    case PERFDATA_FEATURE_BPF_PROG_INFO:
    case PERFDATA_FEATURE_BPF_BTF:
    case PERFDATA_FEATURE_CPU_PMU_CAPS:
    case PERFDATA_FEATURE_HYBRID_TOPOLOGY:
    case PERFDATA_FEATURE_PMU_CAPS:
    case PERFDATA_FEATURE_CPU_DOMAIN_INFO:
        return true;
    default:
        return false;
    }
}

/* Writes a feature. False: there is nothing to print. */
static bool write_feature(struct page *p, const struct perfdata_feature *f, bool full) {
    if (f->id >= PERFDATA_FEATURE_KNOWN_END || !FEATURES[f->id].write)
        return false;
    /* perf ends a pipe's features with an empty one, whose id is the first that perf did not know. */
    if (p->h->container == PERFDATA_CONTAINER_PIPE && !f->content.size &&
        f->id != PERFDATA_FEATURE_BRANCH_STACK && f->id != PERFDATA_FEATURE_STAT)
        return false;
    if (FEATURES[f->id].long_form && !full) {
        out_printf(p->o, "# %s info available, use -I to display\n", perfdata_feature_name(f->id));
        return true;
    }
    struct perfdata_feature_value v;
    bool got = perfdata_feature_get(p->h, f->id, &p->arena, &v);
    if (got && (!v.cut || worth_showing(&v)))
        FEATURES[f->id].write(p, &v);
    else
        out_printf(p->o, "# %s: not available or unable to read\n", perfdata_feature_name(f->id));
    arena_fini(&p->arena);
    p->arena = ARENA_INIT;
    return true;
}

bool header_text_feature(const struct perfdata_header *h, const struct perfdata_namer *names, uint32_t id,
                         struct out *o) {
    const struct perfdata_feature *f = perfdata_header_feature(h, id);
    struct page page = {h, names, o, ARENA_INIT, 0, 0};
    return f && write_feature(&page, f, true);
}

static void write_missing(const struct perfdata_header *h, struct out *o) {
    out_str(o, "# missing features: ");
    for (uint32_t id = PERFDATA_FEATURE_TRACING_DATA; id < PERFDATA_FEATURE_KNOWN_END; id++) {
        if (h->feature_bits[id / 64] >> id % 64 & 1)
            continue;
        out_str(o, perfdata_feature_name(id));
        out_char(o, ' ');
    }
    out_char(o, '\n');
}

static void write_captured(int64_t when_s, struct out *o) {
    char text[64] = "";
    struct tm tm;
    time_t t = (time_t)when_s;
    if (localtime_r(&t, &tm))
        strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &tm);
    out_printf(o, "# captured on    : %s\n", text);
}

void header_text_write(const struct perfdata_header *h, const struct perfdata_namer *names,
                       const struct header_text_options *opts, struct out *o) {
    struct page page = {h, names, o, ARENA_INIT, opts->first_ns, opts->last_ns};
    char ending[PERFDATA_ENDING_TEXT];
    out_str(o, "# ========\n");
    write_captured(opts->captured_s, o);
    out_str(o, "# header version : 1\n"); /* of the header's layout, not the magic's; perf has only one */
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE; /* no sections, and no end of the block */
    struct perfdata_section data = pipe ? (struct perfdata_section){0} : h->data;
    out_printf(o, "# data offset    : %" PRIu64 "\n", data.offset);
    out_printf(o, "# data size      : %" PRIu64 "\n", data.size);
    out_printf(o, "# feat offset    : %" PRIu64 "\n", data.offset + data.size);
    if (!h->data_size_zero && perfdata_ending_text(&opts->ending, ending)) /* a size of 0 says so, too */
        out_printf(o, "# recording %s\n", ending);
    if (pipe)
        out_str(o, "# ========\n#\n");
    for (size_t i = 0; i < h->features.count; i++)
        write_feature(&page, &h->features.items[i], opts->full);
    if (!pipe) {
        write_missing(h, o);
        out_str(o, "# ========\n#\n");
    }
}
