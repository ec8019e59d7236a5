/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/feature.h"

#include "base/cursor.h"

enum { BUILD_ID_ENTRY_MIN = 36, BUILD_ID_MAX = 20, BUILD_ID_SIZE_AT = 20, ATTR_ROOM_MIN = 64 };

struct reader {
    struct cursor c;
    struct arena *arena;
    uint32_t cpus_available;
    bool no_memory;
    bool cut;
};

/* The cursor fails, and the value is cut. */
static void give_up(struct reader *r) {
    cursor_take(&r->c, UINT64_MAX);
}

static struct bytes read_text(struct reader *r) {
    return cursor_bytes(&r->c, cursor_u32(&r->c));
}

static void write_text(struct writer *w, struct bytes text) {
    writer_u32(w, (uint32_t)text.size);
    writer_bytes_put(w, text);
}

/*
 * Room for as many items as are claimed and could be left (each takes at least `item_min` bytes of the
 * content); *count becomes that many. NULL when there are none or memory ran out.
 */
static void *make_items(struct reader *r, uint64_t claimed, size_t item_min, size_t item_size,
                        uint32_t *count) {
    uint64_t most = cursor_left(&r->c) / item_min;
    if (claimed > most) {
        claimed = most;
        r->cut = true;
    }
    *count = claimed > UINT32_MAX ? UINT32_MAX : (uint32_t)claimed;
    void *items = *count ? arena_zalloc(r->arena, *count * item_size) : NULL;
    if (*count && !items) {
        r->no_memory = true;
        *count = 0;
    }
    return items;
}

#define MAKE_ITEMS(r, list, claimed, item_min) \
    ((list)->items = make_items((r), (claimed), (item_min), sizeof *(list)->items, &(list)->count))

/* After an item was read: when it was not all there, the list ends before it. */
#define ITEM_WHOLE(r, list, i) (cursor_ok(&(r)->c) || ((list)->count = (uint32_t)(i), false))

static void read_texts(struct reader *r, struct perfdata_texts *list, uint64_t claimed) {
    MAKE_ITEMS(r, list, claimed, 4);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i] = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}

static void write_texts(struct writer *w, const struct perfdata_texts *list) {
    writer_u32(w, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        write_text(w, list->items[i]);
}

static void text_read(struct reader *r, struct perfdata_feature_value *v) {
    v->text = read_text(r);
}
static void text_write(const struct perfdata_feature_value *v, struct writer *w) {
    write_text(w, v->text);
}

static void u64_read(struct reader *r, struct perfdata_feature_value *v) {
    v->u64 = cursor_u64(&r->c);
}
static void u64_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u64(w, v->u64);
}

static void u32_read(struct reader *r, struct perfdata_feature_value *v) {
    v->u32 = cursor_u32(&r->c);
}
static void u32_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->u32);
}

/* u32 count, then that many texts. */
static void cmdline_read(struct reader *r, struct perfdata_feature_value *v) {
    read_texts(r, &v->cmdline, cursor_u32(&r->c));
}
static void cmdline_write(const struct perfdata_feature_value *v, struct writer *w) {
    write_texts(w, &v->cmdline);
}

/* Entries are records with a header of their own: u32 type, u16 misc, u16 size. */
static void build_ids_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_feature_build_ids *list = &v->build_ids;
    MAKE_ITEMS(r, list, cursor_left(&r->c) / BUILD_ID_ENTRY_MIN, BUILD_ID_ENTRY_MIN);
    uint32_t i = 0;
    for (; i < list->count && cursor_left(&r->c) >= BUILD_ID_ENTRY_MIN; i++) {
        struct perfdata_feature_build_id *e = &list->items[i];
        struct cursor start = r->c;
        e->type = cursor_u32(&r->c);
        e->misc = cursor_u16(&r->c);
        e->size = cursor_u16(&r->c);
        e->pid = (int32_t)cursor_u32(&r->c);
        struct bytes id = cursor_bytes(&r->c, sizeof e->id);
        if (e->size < BUILD_ID_ENTRY_MIN || (size_t)(e->size - BUILD_ID_ENTRY_MIN) > cursor_left(&r->c)) {
            r->c = start; /* stays in the tail */
            r->cut = true;
            break;
        }
        memcpy(e->id, id.data, sizeof e->id);
        e->name = cursor_bytes(&r->c, e->size - BUILD_ID_ENTRY_MIN);
        e->id_size = BUILD_ID_MAX;
        if (e->misc & PERFDATA_MISC_BUILD_ID_SIZE && e->id[BUILD_ID_SIZE_AT] < BUILD_ID_MAX)
            e->id_size = e->id[BUILD_ID_SIZE_AT];
    }
    list->count = i;
}
static void build_ids_write(const struct perfdata_feature_value *v, struct writer *w) {
    for (uint32_t i = 0; i < v->build_ids.count; i++) {
        const struct perfdata_feature_build_id *e = &v->build_ids.items[i];
        writer_u32(w, e->type);
        writer_u16(w, e->misc);
        writer_u16(w, (uint16_t)(BUILD_ID_ENTRY_MIN + e->name.size));
        writer_u32(w, (uint32_t)e->pid);
        writer_put(w, e->id, sizeof e->id);
        writer_bytes_put(w, e->name);
    }
}

static void nr_cpus_read(struct reader *r, struct perfdata_feature_value *v) {
    v->nr_cpus.available = cursor_u32(&r->c);
    v->nr_cpus.online = cursor_u32(&r->c);
}
static void nr_cpus_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->nr_cpus.available);
    writer_u32(w, v->nr_cpus.online);
}

static void event_desc_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_event_descs *list = &v->event_desc;
    uint32_t claimed = cursor_u32(&r->c);
    list->attr_size = cursor_u32(&r->c);
    if (list->attr_size < ATTR_ROOM_MIN) {
        give_up(r);
        return;
    }
    MAKE_ITEMS(r, list, claimed, (size_t)list->attr_size + 8);
    for (uint32_t i = 0; i < list->count; i++) {
        struct perfdata_event_desc *e = &list->items[i];
        struct bytes attr = cursor_bytes(&r->c, list->attr_size);
        uint32_t ids = cursor_u32(&r->c);
        e->name = read_text(r);
        struct bytes id_bytes = cursor_bytes(&r->c, 8ull * ids);
        if (!ITEM_WHOLE(r, list, i))
            break;
        e->ids = (struct perfdata_u64s){id_bytes.data, ids, r->c.swap};
        perfdata_attr_decode(attr, r->c.swap, &e->attr); /* cannot fail: 64 bytes are there */
    }
}
static void event_desc_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->event_desc.count);
    writer_u32(w, v->event_desc.attr_size);
    for (uint32_t i = 0; i < v->event_desc.count; i++) {
        const struct perfdata_event_desc *e = &v->event_desc.items[i];
        perfdata_attr_encode(&e->attr, w);
        writer_u32(w, (uint32_t)e->ids.count);
        write_text(w, e->name);
        for (uint64_t k = 0; k < e->ids.count; k++)
            writer_u64(w, perfdata_u64_at(&e->ids, k));
    }
}

/* The later revisions are there when there is room for them: that is how old readers skip them. */
static void cpu_topology_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_cpu_topology *t = &v->cpu_topology;
    read_texts(r, &t->cores, cursor_u32(&r->c));
    read_texts(r, &t->threads, cursor_u32(&r->c));
    uint32_t n = r->cpus_available;
    if (!cursor_ok(&r->c) || n == 0 || cursor_left(&r->c) / 8 < n)
        return;
    t->cpus = make_items(r, n, 8, sizeof *t->cpus, &t->cpu_count);
    for (uint32_t i = 0; i < t->cpu_count; i++) {
        t->cpus[i].core = cursor_u32(&r->c);
        t->cpus[i].socket = cursor_u32(&r->c);
    }
    if (cursor_left(&r->c) < 4 || t->cpu_count < n)
        return;
    struct cursor start = r->c;
    read_texts(r, &t->dies, cursor_u32(&r->c));
    if (!cursor_ok(&r->c) || r->cut || cursor_left(&r->c) / 4 < n) {
        t->dies = (struct perfdata_texts){0};
        r->c = start; /* stays in the tail */
        return;
    }
    t->has_dies = true;
    for (uint32_t i = 0; i < n; i++)
        t->cpus[i].die = cursor_u32(&r->c);
}
static void cpu_topology_write(const struct perfdata_feature_value *v, struct writer *w) {
    const struct perfdata_cpu_topology *t = &v->cpu_topology;
    write_texts(w, &t->cores);
    write_texts(w, &t->threads);
    for (uint32_t i = 0; i < t->cpu_count; i++) {
        writer_u32(w, t->cpus[i].core);
        writer_u32(w, t->cpus[i].socket);
    }
    if (!t->has_dies)
        return;
    write_texts(w, &t->dies);
    for (uint32_t i = 0; i < t->cpu_count; i++)
        writer_u32(w, t->cpus[i].die);
}

static void numa_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_numa_nodes *list = &v->numa;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 24);
    for (uint32_t i = 0; i < list->count; i++) {
        struct perfdata_numa_node *e = &list->items[i];
        e->node = cursor_u32(&r->c);
        e->total_kb = cursor_u64(&r->c);
        e->free_kb = cursor_u64(&r->c);
        e->cpus = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void numa_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->numa.count);
    for (uint32_t i = 0; i < v->numa.count; i++) {
        const struct perfdata_numa_node *e = &v->numa.items[i];
        writer_u32(w, e->node);
        writer_u64(w, e->total_kb);
        writer_u64(w, e->free_kb);
        write_text(w, e->cpus);
    }
}

static void pmu_mappings_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_pmu_mappings *list = &v->pmu_mappings;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 8);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].type = cursor_u32(&r->c);
        list->items[i].name = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void pmu_mappings_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->pmu_mappings.count);
    for (uint32_t i = 0; i < v->pmu_mappings.count; i++) {
        writer_u32(w, v->pmu_mappings.items[i].type);
        write_text(w, v->pmu_mappings.items[i].name);
    }
}

static void groups_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_groups *list = &v->groups;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 12);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].name = read_text(r);
        list->items[i].leader = cursor_u32(&r->c);
        list->items[i].members = cursor_u32(&r->c);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void groups_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->groups.count);
    for (uint32_t i = 0; i < v->groups.count; i++) {
        write_text(w, v->groups.items[i].name);
        writer_u32(w, v->groups.items[i].leader);
        writer_u32(w, v->groups.items[i].members);
    }
}

/* perf writes a u64 count before the entries, simpleperf writes the entries alone: the size tells. */
static void auxtrace_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_auxtrace_index *list = &v->auxtrace;
    list->bare = cursor_left(&r->c) != 0 && cursor_left(&r->c) % 16 == 0;
    uint64_t claimed = list->bare ? cursor_left(&r->c) / 16 : cursor_u64(&r->c);
    MAKE_ITEMS(r, list, claimed, 16);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].file_offset = cursor_u64(&r->c);
        list->items[i].size = cursor_u64(&r->c);
    }
}
static void auxtrace_write(const struct perfdata_feature_value *v, struct writer *w) {
    if (!v->auxtrace.bare)
        writer_u64(w, v->auxtrace.count);
    for (uint32_t i = 0; i < v->auxtrace.count; i++) {
        writer_u64(w, v->auxtrace.items[i].file_offset);
        writer_u64(w, v->auxtrace.items[i].size);
    }
}

static void caches_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_caches *list = &v->caches;
    list->version = cursor_u32(&r->c);
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 28);
    for (uint32_t i = 0; i < list->count; i++) {
        struct perfdata_cache_level *e = &list->items[i];
        e->level = cursor_u32(&r->c);
        e->line_size = cursor_u32(&r->c);
        e->sets = cursor_u32(&r->c);
        e->ways = cursor_u32(&r->c);
        e->type = read_text(r);
        e->size = read_text(r);
        e->map = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void caches_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->caches.version);
    writer_u32(w, v->caches.count);
    for (uint32_t i = 0; i < v->caches.count; i++) {
        const struct perfdata_cache_level *e = &v->caches.items[i];
        writer_u32(w, e->level);
        writer_u32(w, e->line_size);
        writer_u32(w, e->sets);
        writer_u32(w, e->ways);
        write_text(w, e->type);
        write_text(w, e->size);
        write_text(w, e->map);
    }
}

static void sample_time_read(struct reader *r, struct perfdata_feature_value *v) {
    v->sample_time.first_ns = cursor_u64(&r->c);
    v->sample_time.last_ns = cursor_u64(&r->c);
}
static void sample_time_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u64(w, v->sample_time.first_ns);
    writer_u64(w, v->sample_time.last_ns);
}

static void mem_topology_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_mem_topology *t = &v->mem_topology;
    t->version = cursor_u64(&r->c);
    t->block_bytes = cursor_u64(&r->c);
    MAKE_ITEMS(r, t, cursor_u64(&r->c), 24);
    for (uint32_t i = 0; i < t->count; i++) {
        struct perfdata_memory_node *e = &t->items[i];
        e->node = cursor_u64(&r->c);
        e->size = cursor_u64(&r->c);
        e->bitmap_bits = cursor_u64(&r->c);
        uint64_t words = e->bitmap_bits / 64 + (e->bitmap_bits % 64 != 0);
        struct bytes bits = cursor_bytes(&r->c, 8 * words); /* words < 2^58 */
        if (!ITEM_WHOLE(r, t, i))
            break;
        e->bitmap = (struct perfdata_u64s){bits.data, words, r->c.swap};
    }
}
static void mem_topology_write(const struct perfdata_feature_value *v, struct writer *w) {
    const struct perfdata_mem_topology *t = &v->mem_topology;
    writer_u64(w, t->version);
    writer_u64(w, t->block_bytes);
    writer_u64(w, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        writer_u64(w, t->items[i].node);
        writer_u64(w, t->items[i].size);
        writer_u64(w, t->items[i].bitmap_bits);
        for (uint64_t k = 0; k < t->items[i].bitmap.count; k++)
            writer_u64(w, perfdata_u64_at(&t->items[i].bitmap, k));
    }
}

static void bpf_progs_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_bpf_progs *list = &v->bpf_progs;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 16);
    for (uint32_t i = 0; i < list->count; i++) {
        struct perfdata_bpf_prog *e = &list->items[i];
        e->info_len = cursor_u32(&r->c);
        e->data_len = cursor_u32(&r->c);
        e->arrays = cursor_u64(&r->c);
        e->info = cursor_bytes(&r->c, e->info_len);
        e->data = cursor_bytes(&r->c, e->data_len);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void bpf_progs_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->bpf_progs.count);
    for (uint32_t i = 0; i < v->bpf_progs.count; i++) {
        const struct perfdata_bpf_prog *e = &v->bpf_progs.items[i];
        writer_u32(w, e->info_len);
        writer_u32(w, e->data_len);
        writer_u64(w, e->arrays);
        writer_bytes_put(w, e->info);
        writer_bytes_put(w, e->data);
    }
}

/* The document omits the count before the entries; files have it. */
static void btfs_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_btfs *list = &v->btfs;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 8);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].id = cursor_u32(&r->c);
        list->items[i].data = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void btfs_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->btfs.count);
    for (uint32_t i = 0; i < v->btfs.count; i++) {
        writer_u32(w, v->btfs.items[i].id);
        write_text(w, v->btfs.items[i].data);
    }
}

static void compression_read(struct reader *r, struct perfdata_feature_value *v) {
    v->compression.version = cursor_u32(&r->c);
    v->compression.type = cursor_u32(&r->c);
    v->compression.level = cursor_u32(&r->c);
    v->compression.ratio = cursor_u32(&r->c);
    v->compression.mmap_len = cursor_u32(&r->c);
}
static void compression_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->compression.version);
    writer_u32(w, v->compression.type);
    writer_u32(w, v->compression.level);
    writer_u32(w, v->compression.ratio);
    writer_u32(w, v->compression.mmap_len);
}

/* u32 count, then that many pairs of texts. */
static void read_pairs(struct reader *r, struct perfdata_pairs *list) {
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 8);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].name = read_text(r);
        list->items[i].value = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void write_pairs(struct writer *w, const struct perfdata_pairs *list) {
    writer_u32(w, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        write_text(w, list->items[i].name);
        write_text(w, list->items[i].value);
    }
}

static void pairs_read(struct reader *r, struct perfdata_feature_value *v) {
    read_pairs(r, &v->pairs);
}
static void pairs_write(const struct perfdata_feature_value *v, struct writer *w) {
    write_pairs(w, &v->pairs);
}

static void clock_data_read(struct reader *r, struct perfdata_feature_value *v) {
    v->clock_data.version = cursor_u32(&r->c);
    v->clock_data.clockid = cursor_u32(&r->c);
    v->clock_data.wall_ns = cursor_u64(&r->c);
    v->clock_data.clock_ns = cursor_u64(&r->c);
}
static void clock_data_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->clock_data.version);
    writer_u32(w, v->clock_data.clockid);
    writer_u64(w, v->clock_data.wall_ns);
    writer_u64(w, v->clock_data.clock_ns);
}

static void pmu_caps_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_pmu_caps *list = &v->pmu_caps;
    MAKE_ITEMS(r, list, cursor_u32(&r->c), 8);
    for (uint32_t i = 0; i < list->count; i++) {
        read_pairs(r, &list->items[i].caps);
        list->items[i].pmu = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
    }
}
static void pmu_caps_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->pmu_caps.count);
    for (uint32_t i = 0; i < v->pmu_caps.count; i++) {
        write_pairs(w, &v->pmu_caps.items[i].caps);
        write_text(w, v->pmu_caps.items[i].pmu);
    }
}

/* Two words that the document omits, then CPUs up to the end. */
static void cpu_domains_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_cpu_domain_info *info = &v->cpu_domains;
    info->schedstat_version = cursor_u32(&r->c);
    info->max_domains = cursor_u32(&r->c);
    MAKE_ITEMS(r, info, cursor_left(&r->c) / 8, 8);
    uint32_t i = 0;
    for (; i < info->count && cursor_left(&r->c) >= 8; i++) {
        struct perfdata_cpu_domains *cpu = &info->items[i];
        cpu->cpu = cursor_u32(&r->c);
        MAKE_ITEMS(r, cpu, cursor_u32(&r->c), 16);
        for (uint32_t k = 0; k < cpu->count; k++) {
            cpu->items[k].domain = cursor_u32(&r->c);
            if (info->schedstat_version >= 17) /* before, domains had no names */
                cpu->items[k].name = read_text(r);
            cpu->items[k].mask = read_text(r);
            cpu->items[k].list = read_text(r);
            if (!ITEM_WHOLE(r, cpu, k))
                break;
        }
        if (!cursor_ok(&r->c))
            break;
    }
    info->count = i;
}
static void cpu_domains_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->cpu_domains.schedstat_version);
    writer_u32(w, v->cpu_domains.max_domains);
    for (uint32_t i = 0; i < v->cpu_domains.count; i++) {
        const struct perfdata_cpu_domains *cpu = &v->cpu_domains.items[i];
        writer_u32(w, cpu->cpu);
        writer_u32(w, cpu->count);
        for (uint32_t k = 0; k < cpu->count; k++) {
            writer_u32(w, cpu->items[k].domain);
            if (v->cpu_domains.schedstat_version >= 17)
                write_text(w, cpu->items[k].name);
            write_text(w, cpu->items[k].mask);
            write_text(w, cpu->items[k].list);
        }
    }
}

static void e_machine_read(struct reader *r, struct perfdata_feature_value *v) {
    v->e_machine.machine = cursor_u32(&r->c);
    v->e_machine.flags = cursor_u32(&r->c);
}
static void e_machine_write(const struct perfdata_feature_value *v, struct writer *w) {
    writer_u32(w, v->e_machine.machine);
    writer_u32(w, v->e_machine.flags);
}

/* A text and its NUL, without padding; the text alone is given. */
static struct bytes read_c_string(struct reader *r) {
    size_t left = cursor_left(&r->c);
    size_t len = left ? strnlen((const char *)r->c.at, left) : 0;
    struct bytes text = cursor_bytes(&r->c, len);
    cursor_take(&r->c, 1);
    return text;
}

/* simpleperf's META_INFO: key NUL value NUL, up to the end. */
static void meta_info_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_pairs *list = &v->pairs;
    uint64_t most = 0;
    for (size_t i = 0; i < cursor_left(&r->c); i++)
        most += r->c.at[i] == 0;
    MAKE_ITEMS(r, list, most / 2, 2);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].name = read_c_string(r);
        list->items[i].value = read_c_string(r);
    }
}
static void meta_info_write(const struct perfdata_feature_value *v, struct writer *w) {
    for (uint32_t i = 0; i < v->pairs.count; i++) {
        writer_bytes_put(w, v->pairs.items[i].name);
        writer_u8(w, 0);
        writer_bytes_put(w, v->pairs.items[i].value);
        writer_u8(w, 0);
    }
}

/* The first length-delimited field 1 of a protobuf message (its wire format: a varint of number * 8 + type,
 * then a varint, 8 bytes, a length and so many bytes, or 4 bytes). simpleperf's record_file.proto: the path.
 */
static uint64_t read_varint(struct cursor *c) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    cursor_take(c, UINT64_MAX);
    return 0;
}
static struct bytes message_path(struct bytes message) {
    struct cursor c = cursor_make(message, false);
    while (cursor_left(&c)) {
        uint64_t tag = read_varint(&c);
        struct bytes field = {NULL, 0};
        switch (tag & 7) {
        case 0:
            read_varint(&c);
            break;
        case 1:
            cursor_take(&c, 8);
            break;
        case 2:
            field = cursor_bytes(&c, read_varint(&c));
            break;
        case 5:
            cursor_take(&c, 4);
            break;
        default:
            return (struct bytes){NULL, 0};
        }
        if (tag >> 3 == 1)
            return field;
    }
    return (struct bytes){NULL, 0};
}

/* simpleperf's FILE and FILE2: u32 length and so many bytes, up to the end. FILE starts with the path. */
static void files_read(struct reader *r, struct perfdata_feature_value *v) {
    struct perfdata_file_spans *list = &v->files;
    struct cursor ahead = r->c;
    uint32_t most = 0;
    for (; cursor_left(&ahead) >= 4; most++)
        cursor_bytes(&ahead, cursor_u32(&ahead));
    MAKE_ITEMS(r, list, most, 4);
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].data = read_text(r);
        if (!ITEM_WHOLE(r, list, i))
            break;
        struct bytes data = list->items[i].data;
        list->items[i].path = v->id == PERFDATA_FEATURE_SIMPLEPERF_FILE
                                  ? (struct bytes){data.data, bytes_text_len(data)}
                                  : message_path(data);
    }
}
static void files_write(const struct perfdata_feature_value *v, struct writer *w) {
    for (uint32_t i = 0; i < v->files.count; i++)
        write_text(w, v->files.items[i].data);
}

struct row {
    const char *name;
    void (*read)(struct reader *r, struct perfdata_feature_value *v); /* NULL: everything stays in the tail */
    void (*write)(const struct perfdata_feature_value *v, struct writer *w);
};

static const struct row PERF_ROWS[PERFDATA_FEATURE_KNOWN_END] = {
    [PERFDATA_FEATURE_TRACING_DATA] = {"TRACING_DATA", NULL, NULL},
    [PERFDATA_FEATURE_BUILD_ID] = {"BUILD_ID", build_ids_read, build_ids_write},
    [PERFDATA_FEATURE_HOSTNAME] = {"HOSTNAME", text_read, text_write},
    [PERFDATA_FEATURE_OSRELEASE] = {"OSRELEASE", text_read, text_write},
    [PERFDATA_FEATURE_VERSION] = {"VERSION", text_read, text_write},
    [PERFDATA_FEATURE_ARCH] = {"ARCH", text_read, text_write},
    [PERFDATA_FEATURE_NRCPUS] = {"NRCPUS", nr_cpus_read, nr_cpus_write},
    [PERFDATA_FEATURE_CPUDESC] = {"CPUDESC", text_read, text_write},
    [PERFDATA_FEATURE_CPUID] = {"CPUID", text_read, text_write},
    [PERFDATA_FEATURE_TOTAL_MEM] = {"TOTAL_MEM", u64_read, u64_write},
    [PERFDATA_FEATURE_CMDLINE] = {"CMDLINE", cmdline_read, cmdline_write},
    [PERFDATA_FEATURE_EVENT_DESC] = {"EVENT_DESC", event_desc_read, event_desc_write},
    [PERFDATA_FEATURE_CPU_TOPOLOGY] = {"CPU_TOPOLOGY", cpu_topology_read, cpu_topology_write},
    [PERFDATA_FEATURE_NUMA_TOPOLOGY] = {"NUMA_TOPOLOGY", numa_read, numa_write},
    [PERFDATA_FEATURE_BRANCH_STACK] = {"BRANCH_STACK", NULL, NULL},
    [PERFDATA_FEATURE_PMU_MAPPINGS] = {"PMU_MAPPINGS", pmu_mappings_read, pmu_mappings_write},
    [PERFDATA_FEATURE_GROUP_DESC] = {"GROUP_DESC", groups_read, groups_write},
    [PERFDATA_FEATURE_AUXTRACE] = {"AUXTRACE", auxtrace_read, auxtrace_write},
    [PERFDATA_FEATURE_STAT] = {"STAT", NULL, NULL},
    [PERFDATA_FEATURE_CACHE] = {"CACHE", caches_read, caches_write},
    [PERFDATA_FEATURE_SAMPLE_TIME] = {"SAMPLE_TIME", sample_time_read, sample_time_write},
    [PERFDATA_FEATURE_MEM_TOPOLOGY] = {"MEM_TOPOLOGY", mem_topology_read, mem_topology_write},
    [PERFDATA_FEATURE_CLOCKID] = {"CLOCKID", u64_read, u64_write},
    [PERFDATA_FEATURE_DIR_FORMAT] = {"DIR_FORMAT", u64_read, u64_write},
    [PERFDATA_FEATURE_BPF_PROG_INFO] = {"BPF_PROG_INFO", bpf_progs_read, bpf_progs_write},
    [PERFDATA_FEATURE_BPF_BTF] = {"BPF_BTF", btfs_read, btfs_write},
    [PERFDATA_FEATURE_COMPRESSED] = {"COMPRESSED", compression_read, compression_write},
    [PERFDATA_FEATURE_CPU_PMU_CAPS] = {"CPU_PMU_CAPS", pairs_read, pairs_write},
    [PERFDATA_FEATURE_CLOCK_DATA] = {"CLOCK_DATA", clock_data_read, clock_data_write},
    [PERFDATA_FEATURE_HYBRID_TOPOLOGY] = {"HYBRID_TOPOLOGY", pairs_read, pairs_write},
    [PERFDATA_FEATURE_PMU_CAPS] = {"PMU_CAPS", pmu_caps_read, pmu_caps_write},
    [PERFDATA_FEATURE_CPU_DOMAIN_INFO] = {"CPU_DOMAIN_INFO", cpu_domains_read, cpu_domains_write},
    [PERFDATA_FEATURE_E_MACHINE] = {"E_MACHINE", e_machine_read, e_machine_write},
    [PERFDATA_FEATURE_CLN_SIZE] = {"CLN_SIZE", u32_read, u32_write},
};

#define SIMPLEPERF(name) [PERFDATA_FEATURE_SIMPLEPERF_##name - PERFDATA_FEATURE_SIMPLEPERF_START]
static const struct row SIMPLEPERF_ROWS[] = {
    SIMPLEPERF(FILE) = {"SP_FILE", files_read, files_write},
    SIMPLEPERF(META_INFO) = {"SP_META_INFO", meta_info_read, meta_info_write},
    SIMPLEPERF(DEBUG_UNWIND) = {"SP_DEBUG_UNWIND", NULL, NULL},
    SIMPLEPERF(DEBUG_UNWIND_FILE) = {"SP_DEBUG_UNWIND_FILE", NULL, NULL},
    SIMPLEPERF(FILE2) = {"SP_FILE2", files_read, files_write},
};

static const struct row *find_row(uint32_t id) {
    if (id < PERFDATA_FEATURE_KNOWN_END)
        return &PERF_ROWS[id];
    if (id < PERFDATA_FEATURE_SIMPLEPERF_START || id >= PERFDATA_FEATURE_SIMPLEPERF_KNOWN_END)
        return NULL;
    return &SIMPLEPERF_ROWS[id - PERFDATA_FEATURE_SIMPLEPERF_START];
}

const char *perfdata_feature_name(uint32_t id) {
    const struct row *row = find_row(id);
    return row ? row->name : NULL;
}

bool perfdata_feature_decode(uint32_t id, struct bytes content, const struct perfdata_feature_env *env,
                             struct arena *arena, struct perfdata_feature_value *out) {
    *out = (struct perfdata_feature_value){.id = id};
    const struct row *row = find_row(id);
    if (!row || !row->read) {
        out->tail = content;
        return true;
    }
    struct reader r = {cursor_make(content, env->swap), arena, env->cpus_available, false, false};
    row->read(&r, out);
    out->cut = r.cut || !cursor_ok(&r.c);
    out->no_memory = r.no_memory;
    out->tail = cursor_rest(&r.c);
    return !r.no_memory;
}

bool perfdata_feature_get(const struct perfdata_header *h, uint32_t id, struct arena *arena,
                          struct perfdata_feature_value *out) {
    const struct perfdata_feature *f = perfdata_header_feature(h, id);
    *out = (struct perfdata_feature_value){.id = id};
    if (!f || f->broken)
        return false;
    struct perfdata_feature_env env = {.swap = h->swap};
    const struct perfdata_feature *cpus = perfdata_header_feature(h, PERFDATA_FEATURE_NRCPUS);
    if (cpus && cpus->content.size >= 4)
        env.cpus_available = bytes_load32(cpus->content.data, h->swap);
    return perfdata_feature_decode(id, f->content, &env, arena, out);
}

bool perfdata_feature_text(const struct perfdata_header *h, uint32_t id, char *text, size_t size) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    size_t len = perfdata_feature_get(h, id, &arena, &v) ? bytes_text_len(v.text) : 0;
    if (len >= size)
        len = 0;
    if (len)
        memcpy(text, v.text.data, len);
    text[len] = '\0';
    arena_fini(&arena);
    return len;
}

void perfdata_feature_encode(const struct perfdata_feature_value *v, struct writer *w) {
    const struct row *row = find_row(v->id);
    if (row && row->write)
        row->write(v, w);
    writer_bytes_put(w, v->tail);
}

/* The event that a description is about, or PERFDATA_NO_EVENT. */
static uint32_t described_event(const struct perfdata_events *events, const struct perfdata_event_desc *desc,
                                uint32_t place) {
    if (desc->ids.count) {
        uint32_t i = hash_map_get(&events->by_id, perfdata_u64_at(&desc->ids, 0));
        if (i != HASH_ABSENT)
            return i;
    }
    if (place >= events->list.count)
        return PERFDATA_NO_EVENT;
    const struct perfdata_attr *attr = &events->list.items[place].attr;
    return attr->type == desc->attr.type && attr->config == desc->attr.config ? place : PERFDATA_NO_EVENT;
}

static bool apply_event_desc(const struct perfdata_header *h, struct perfdata_events *events,
                             struct arena *arena) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(h, PERFDATA_FEATURE_EVENT_DESC, arena, &v))
        return !v.no_memory;
    for (uint32_t i = 0; i < v.event_desc.count; i++) {
        const struct perfdata_event_desc *desc = &v.event_desc.items[i];
        uint32_t at = described_event(events, desc, i);
        size_t len = bytes_text_len(desc->name);
        if (at == PERFDATA_NO_EVENT || len == 0 || events->list.items[at].name)
            continue;
        if (!perfdata_events_name(events, at, (const char *)desc->name.data, len))
            return false;
    }
    return true;
}

bool perfdata_group_anonymous(const struct perfdata_group *g) {
    static const char ANONYMOUS[] = "{anon_group}";
    return bytes_text_len(g->name) == sizeof ANONYMOUS - 1 &&
           memcmp(g->name.data, ANONYMOUS, sizeof ANONYMOUS - 1) == 0;
}

static bool apply_groups(const struct perfdata_header *h, struct perfdata_events *events,
                         struct arena *arena) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(h, PERFDATA_FEATURE_GROUP_DESC, arena, &v))
        return !v.no_memory;
    uint32_t free_from = 0; /* groups come in the order of their leaders and do not overlap */
    for (uint32_t i = 0; i < v.groups.count; i++) {
        const struct perfdata_group *g = &v.groups.items[i];
        if (g->members == 0 || g->leader < free_from || g->leader >= events->list.count ||
            g->members > events->list.count - g->leader)
            continue;
        free_from = g->leader + g->members;
        for (uint32_t k = g->leader; k < free_from; k++)
            events->list.items[k].leader = g->leader;
        struct perfdata_event *leader = &events->list.items[g->leader];
        leader->group_members = g->members;
        size_t len = bytes_text_len(g->name);
        if (len == 0 || perfdata_group_anonymous(g))
            continue;
        leader->group_name = arena_strndup(&events->arena, (const char *)g->name.data, len);
        if (!leader->group_name)
            return false;
    }
    return true;
}

bool perfdata_feature_apply_names(const struct perfdata_header *h, struct perfdata_events *events) {
    if (h->container == PERFDATA_CONTAINER_PIPE)
        return true;
    struct arena arena = ARENA_INIT;
    bool ok = apply_event_desc(h, events, &arena) && apply_groups(h, events, &arena);
    arena_fini(&arena);
    return ok;
}
