/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/kmem/kmem.h"
#include "format/perfdata/header/feature.h"
#include "select/filter.h"
#include "select/time_range.h"
#include "view/kmem/kmem_text.h"

enum kind { SLAB_ALLOC, SLAB_FREE, PAGE_ALLOC, PAGE_FREE };
enum { PTR, SITE, REQUESTED, ALLOCATED, NODE };
enum { PAGE, ORDER, GFP, TYPE };
static const struct tracepoint_row ROWS[] = {
    {"kmem", "kmalloc", SLAB_ALLOC, 4, {"ptr", "call_site", "bytes_req", "bytes_alloc", "node"}},
    {"kmem", "kmem_cache_alloc", SLAB_ALLOC, 4, {"ptr", "call_site", "bytes_req", "bytes_alloc", "node"}},
    {"kmem", "kmalloc_node", SLAB_ALLOC, 4, {"ptr", "call_site", "bytes_req", "bytes_alloc", "node"}},
    {"kmem",
     "kmem_cache_alloc_node",
     SLAB_ALLOC,
     4,
     {"ptr", "call_site", "bytes_req", "bytes_alloc", "node"}},
    {"kmem", "kfree", SLAB_FREE, 1, {"ptr"}},
    {"kmem", "kmem_cache_free", SLAB_FREE, 1, {"ptr"}},
    /* Linux before 4.7 tells the address of a page's descriptor. */
    {"kmem", "mm_page_alloc", PAGE_ALLOC, 2, {"pfn", "order", "gfp_flags", "migratetype"}},
    {"kmem", "mm_page_alloc", PAGE_ALLOC, 2, {"page", "order", "gfp_flags", "migratetype"}},
    {"kmem", "mm_page_free", PAGE_FREE, 2, {"pfn", "order"}},
    {"kmem", "mm_page_free", PAGE_FREE, 2, {"page", "order"}},
};

struct node {
    uint32_t number;
    struct filter_ranges cpus;
};

struct session {
    const struct kmem_options *o;
    struct event_view view;
    struct tracepoints events;
    struct time_ranges times;
    struct kmem_slab slab;
    struct kmem_pages pages;
    struct call_sites sites;
    struct kmem_gfps gfps;
    VEC(struct node) nodes; /* of the recorded machine */
    char room[600];
    bool addresses; /* pages are told by descriptors */
    uint64_t losses;
};

/* ---- events ---- */

/* Whether memory of another node than the CPU's was asked for. */
static bool is_other_node(const struct session *s, int64_t node, uint32_t cpu) {
    for (size_t i = 0; node >= 0 && i < s->nodes.count; i++)
        if (filter_ranges_have(&s->nodes.items[i].cpus, cpu))
            return s->nodes.items[i].number != (uint64_t)node;
    return false;
}

static bool take_slab(struct session *s, const struct tracepoint *t) {
    uint64_t address = (uint64_t)tracepoint_int(t, PTR, 0);
    if (t->kind == SLAB_FREE) {
        kmem_slab_free(&s->slab, address, t->sample.cpu);
        return true;
    }
    const struct kmem_slab_alloc a = {
        .address = address,
        .site = (uint64_t)tracepoint_int(t, SITE, 0),
        .requested = (uint64_t)tracepoint_int(t, REQUESTED, 0),
        .allocated = (uint64_t)tracepoint_int(t, ALLOCATED, 0),
        .cpu = t->sample.cpu,
        .other_node = is_other_node(s, tracepoint_int(t, NODE, -1), t->sample.cpu),
    };
    return kmem_slab_alloc(&s->slab, &a);
}

static bool take_page(struct session *s, const struct event_view_item *item) {
    const struct tracepoint *t = item->event;
    uint64_t page = (uint64_t)tracepoint_int(t, PAGE, 0);
    uint32_t order = (uint32_t)tracepoint_int(t, ORDER, 0);
    s->addresses = strcmp(t->event->row->fields[PAGE], "page") == 0;
    if (t->kind == PAGE_FREE) {
        kmem_pages_free(&s->pages, page, order);
        return true;
    }
    struct kmem_page_event e = {
        .page = page,
        .order = order,
        .gfp = (uint64_t)tracepoint_int(t, GFP, 0),
        .type = kmem_migrate_of(tracepoint_int(t, TYPE, 0)),
        .failed = s->addresses ? page == 0 : page == UINT64_MAX,
    };
    if (!kmem_gfps_note(&s->gfps, &s->view.recording, item, e.gfp))
        return false;
    e.site = call_sites_find(&s->sites, item->record->loc);
    return e.site != CALL_SITE_NONE && kmem_pages_alloc(&s->pages, &e);
}

static bool take(void *ctx, const struct event_view_item *item, struct err *err) {
    struct session *s = ctx;
    const struct kmem_choice *c = &s->o->choice;
    if (!item->event) {
        s->losses++;
        return true;
    }
    if (!time_ranges_contain(&s->times, item->record->time_ns))
        return true;
    bool of_page = item->event->kind >= PAGE_ALLOC;
    if (of_page ? !c->page : !(c->slab || !c->page))
        return true;
    return (of_page ? take_page(s, item) : take_slab(s, item->event)) || err_memory(err, "allocations");
}

/* ---- names ---- */

static const char *code_text(void *ctx, uint64_t address) {
    struct session *s = ctx;
    struct resolve_samples *samples = &s->view.stacks.samples;
    uint64_t offset = 0;
    const char *name = NULL;
    if (!s->o->raw_ip &&
        resolve_sample_read_address(samples, PERFDATA_MISC_KERNEL, UINT32_MAX, MODEL_WHEN_END, address) &&
        samples->frames.count)
        name = resolve_sample_name(samples, &samples->frames.items[0], &offset);
    if (name)
        snprintf(s->room, sizeof s->room, "%.512s+%" PRIx64, name, offset);
    else
        snprintf(s->room, sizeof s->room, "%#" PRIx64, address);
    return s->room;
}

static const char *site_text(void *ctx, uint32_t site) {
    const struct session *s = ctx;
    return site < s->sites.list.count ? strpool_text(&s->sites.texts, s->sites.list.items[site].name) : "";
}

static const char *gfp_text(void *ctx, uint64_t gfp, bool whole) {
    const struct session *s = ctx;
    return kmem_gfps_text(&s->gfps, gfp, whole);
}

/* ---- keys ---- */

static int find_word(const char *const *words, size_t count, const char *p, size_t n) {
    for (size_t i = 0; i < count; i++)
        if (words[i] && strlen(words[i]) == n && memcmp(words[i], p, n) == 0)
            return (int)i;
    return -1;
}

/* Calls `add` with the index of each word. */
static bool parse_keys(const char *text, const char *const *words, size_t count, size_t most, int *keys,
                       size_t *key_count, struct bytes *bad) {
    *key_count = 0;
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        int key = find_word(words, count, p, n);
        if (key < 0 || *key_count == most) {
            *bad = (struct bytes){(const uint8_t *)p, n};
            return false;
        }
        keys[(*key_count)++] = key;
        p += n;
        if (!*p)
            return true;
    }
}

bool kmem_slab_order_parse(const char *text, struct kmem_slab_order *order, struct bytes *bad) {
    static const char *const WORDS[] = {"ptr", "callsite", "bytes", "hit", "pingpong", "frag"};
    static const enum kmem_slab_key KEYS[] = {KMEM_SLAB_KEY, KMEM_SLAB_KEY,      KMEM_SLAB_BYTES,
                                              KMEM_SLAB_HIT, KMEM_SLAB_PINGPONG, KMEM_SLAB_FRAG};
    int keys[KMEM_KEYS_MAX];
    bool ok = parse_keys(text, WORDS, sizeof WORDS / sizeof *WORDS, KMEM_KEYS_MAX, keys, &order->count, bad);
    for (size_t i = 0; i < order->count; i++)
        order->keys[i] = KEYS[keys[i]];
    return ok;
}

bool kmem_page_order_parse(const char *text, struct kmem_page_order *order, struct bytes *bad) {
    static const char *const WORDS[] = {
        [KMEM_PAGE_PAGE] = "page", [KMEM_PAGE_SITE] = "callsite", [KMEM_PAGE_BYTES] = "bytes",
        [KMEM_PAGE_HIT] = "hit",   [KMEM_PAGE_ORDER] = "order",   [KMEM_PAGE_TYPE] = "migtype",
        [KMEM_PAGE_GFP] = "gfp",
    };
    int keys[8];
    bool ok = parse_keys(text, WORDS, sizeof WORDS / sizeof *WORDS, 8, keys, &order->count, bad);
    for (size_t i = 0; i < order->count; i++)
        order->keys[i] = (enum kmem_page_key)keys[i];
    return ok;
}

/* ---- texts ---- */

static void show_slab(struct session *s, const struct kmem_names *names) {
    const struct kmem_choice *c = &s->o->choice;
    struct kmem_slab_order order;
    struct bytes bad;
    static const char USUAL[] = "frag,hit,bytes";
    if (c->caller && kmem_slab_order_parse(c->slab_caller_sort ? c->slab_caller_sort : USUAL, &order, &bad)) {
        kmem_slab_sort(s->slab.sites.items, s->slab.sites.count, &order);
        kmem_text_slab(&s->slab.sites, false, c->caller_lines, names, &s->view.out);
    }
    if (c->alloc && kmem_slab_order_parse(c->slab_alloc_sort ? c->slab_alloc_sort : USUAL, &order, &bad)) {
        kmem_slab_sort(s->slab.addresses.items, s->slab.addresses.count, &order);
        kmem_text_slab(&s->slab.addresses, true, c->alloc_lines, names, &s->view.out);
    }
    kmem_text_slab_summary(&s->slab, &s->view.out);
}

/* Sites are sorted by name. */
static void rank_sites(struct session *s) {
    size_t n = s->sites.list.count;
    uint32_t *ranks = n ? calloc(n, sizeof *ranks) : NULL;
    struct kmem_pages *p = &s->pages;
    if (ranks && call_sites_rank(&s->sites, ranks)) {
        for (size_t i = 0; i < p->sites.count; i++)
            p->sites.items[i].site = ranks[p->sites.items[i].site];
        for (size_t i = 0; i < p->pages.count; i++)
            p->pages.items[i].site = ranks[p->pages.items[i].site];
    }
    free(ranks);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void show_pages(struct session *s, const struct kmem_names *names) {
    const struct kmem_choice *c = &s->o->choice;
    struct kmem_page_order order = {.live = s->o->live};
    struct kmem_pages *p = &s->pages;
    struct bytes bad;
    static const char USUAL[] = "bytes,hit";
    uint32_t page_bytes = s->view.recording.namer.tracing.page_size;
    struct kmem_page_text how = {.live = s->o->live,
                                 .is_address = s->addresses,
                                 .page_kb = page_bytes >= 1024 ? page_bytes / 1024 : 4};
    rank_sites(s);
    if (p->gfps.count)
        qsort(p->gfps.items, p->gfps.count, sizeof *p->gfps.items, ascending);
    if (c->caller || c->alloc)
        kmem_text_gfps(p->gfps.items, p->gfps.count, names, &s->view.out);
    if (c->caller && kmem_page_order_parse(c->page_caller_sort ? c->page_caller_sort : USUAL, &order, &bad)) {
        kmem_pages_sort(p->sites.items, p->sites.count, &order);
        how.most = c->caller_lines;
        kmem_text_pages(p->sites.items, p->sites.count, &how, p->gfps.items, p->gfps.count, names,
                        &s->view.out);
    }
    if (c->alloc && kmem_page_order_parse(c->page_alloc_sort ? c->page_alloc_sort : USUAL, &order, &bad)) {
        kmem_pages_sort(p->pages.items, p->pages.count, &order);
        how.most = c->alloc_lines;
        how.by_page = true;
        kmem_text_pages(p->pages.items, p->pages.count, &how, p->gfps.items, p->gfps.count, names,
                        &s->view.out);
    }
    kmem_text_page_summary(p, &how, &s->view.out);
}

/* ---- the session ---- */

static bool read_nodes(struct session *s, struct err *err) {
    struct perfdata_feature_value v;
    struct arena arena = {0};
    bool ok = true;
    if (perfdata_feature_get(stream_header(s->view.recording.stream), PERFDATA_FEATURE_NUMA_TOPOLOGY, &arena,
                             &v))
        for (uint32_t i = 0; i < v.numa.count && ok; i++) {
            char text[1024];
            struct bytes cpus = v.numa.items[i].cpus;
            struct node *n = vec_push(&s->nodes);
            ok = n || err_memory(err, "nodes");
            if (!n)
                break;
            n->number = v.numa.items[i].node;
            snprintf(text, sizeof text, "%.*s", (int)bytes_text_len(cpus), (const char *)cpus.data);
            struct err unreadable = ERR_INIT;
            if (!filter_ranges_parse("NUMA_TOPOLOGY", text, &n->cpus, &unreadable)) {
                filter_ranges_fini(&n->cpus);
                s->nodes.count--; /* whose CPUs are not known */
            }
        }
    arena_fini(&arena);
    return ok;
}

static bool has_events(struct session *s, struct err *err) {
    const struct kmem_choice *c = &s->o->choice;
    const char *path = stream_path(s->view.recording.stream);
    if ((c->slab || !c->page) && !tracepoints_have(&s->events, SLAB_ALLOC))
        return err_set(err, ERR_ABSENT, path,
                       "no allocations of the slab allocator were recorded: use 'sonde kmem record --slab'");
    if (c->page && !tracepoints_have(&s->events, PAGE_ALLOC))
        return err_set(err, ERR_ABSENT, path,
                       "no allocations of the page allocator were recorded: use 'sonde kmem --page record'");
    return true;
}

static bool read_all(struct session *s, struct err *err) {
    if (!event_view_open(&s->view, err))
        return false;
    s->sites.frames = &s->view.stacks;
    tracepoints_init(&s->events, s->view.recording.stream, &s->view.recording.namer, ROWS,
                     sizeof ROWS / sizeof *ROWS, 0);
    return tracepoints_update(&s->events, err) && has_events(s, err) && read_nodes(s, err) &&
           event_view_tracepoints(&s->view, &s->events, take, s, err);
}

static void note(uint64_t n, const char *what) {
    if (n)
        log_line(LOG_WARN, "%" PRIu64 " %s", n, what);
}

static void show(struct session *s) {
    const struct kmem_names names = {s, code_text, site_text, gfp_text};
    if (s->o->choice.slab || !s->o->choice.page)
        show_slab(s, &names);
    if (s->o->choice.page)
        show_pages(s, &names);
    note(s->slab.before, "of the slab's frees are of what was allocated before the recording");
    note(s->slab.missed + s->pages.missed, "allocations are of what was not seen to be freed before");
}

int kmem_stat(struct command_env *env, const struct kmem_options *o, int argc, char **argv) {
    struct session s = {.o = o,
                        .view = {.env = env,
                                 .input = o->input,
                                 .force = o->force,
                                 .symbols = &o->symbols,
                                 .names_addresses = true},
                        .sites = {.own = call_site_is_page_allocator, .functions = true, .raw = o->raw_ip}};
    struct err err = ERR_INIT;
    if (argc)
        return command_usage(env, "unexpected argument `%s'", argv[0]);
    if (o->live && !o->choice.page)
        return command_usage(env, "--live goes with --page");
    command_log(env, o->verbose, false);
    if (o->time && time_ranges_relative(o->time))
        return command_usage(env, "--time %s: give seconds: start,stop", o->time);
    bool ok = (!o->time || time_ranges_parse(o->time, 0, 0, &s.times, &err)) && read_all(&s, &err);
    if (ok)
        show(&s);
    int status = event_view_close(&s.view, ok, &err);
    for (size_t i = 0; i < s.nodes.count; i++)
        filter_ranges_fini(&s.nodes.items[i].cpus);
    vec_fini(&s.nodes);
    time_ranges_fini(&s.times);
    kmem_slab_fini(&s.slab);
    kmem_pages_fini(&s.pages);
    call_sites_fini(&s.sites);
    kmem_gfps_fini(&s.gfps);
    tracepoints_fini(&s.events);
    return status;
}
