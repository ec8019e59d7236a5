/* SPDX-License-Identifier: Apache-2.0 */
#include "view/kmem/kmem_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { RULE = 105, SITE_WIDTH = 34, GFP_WIDTH = 9, USUAL_ORDERS = 11 };

static void rule(struct out *o) {
    out_fill(o, '-', RULE);
    out_char(o, '\n');
}

static void put_name(struct out *o, const char *name, size_t width) {
    size_t n = strlen(name);
    out_plain(o, name, n);
    out_fill(o, ' ', width > n ? width - n : 0);
}

/* ---- slab ---- */

static void slab_row(const struct kmem_slab_row *r, bool addresses, const struct kmem_names *names,
                     struct out *o) {
    char text[24];
    snprintf(text, sizeof text, "%#" PRIx64, r->key);
    out_char(o, ' ');
    put_name(o, addresses ? text : names->code(names->ctx, r->key), SITE_WIDTH);
    uint64_t hits = r->hits ? r->hits : 1;
    out_printf(o, " | %9" PRIu64 "/%-5" PRIu64 " | %9" PRIu64 "/%-5" PRIu64 " | %8" PRIu64 " | %9" PRIu64,
               r->allocated, r->allocated / hits, r->requested, r->requested / hits, r->hits, r->pingpong);
    out_printf(o, " | %6.3f%%\n", kmem_slab_fragmentation(r->requested, r->allocated));
}

void kmem_text_slab(const struct kmem_slab_rows *rows, bool addresses, size_t most,
                    const struct kmem_names *names, struct out *o) {
    rule(o);
    out_char(o, ' ');
    put_name(o, addresses ? "Alloc Ptr" : "Callsite", SITE_WIDTH);
    out_str(o, " | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n");
    rule(o);
    for (size_t i = 0; i < rows->count && i < most && !o->failed; i++)
        slab_row(&rows->items[i], addresses, names, o);
    if (rows->count > most)
        out_str(o, " ...                                | ...             | ...             | ...      | ... "
                   "      | ...   \n");
    rule(o);
}

void kmem_text_slab_summary(const struct kmem_slab *s, struct out *o) {
    uint64_t wasted = s->allocated > s->requested ? s->allocated - s->requested : 0;
    out_str(o, "\nSUMMARY (SLAB allocator)\n========================\n");
    out_printf(o, "Total bytes requested: %" PRIu64 "\n", s->requested);
    out_printf(o, "Total bytes allocated: %" PRIu64 "\n", s->allocated);
    out_printf(o, "Total bytes freed:     %" PRIu64 "\n", s->freed);
    if (s->allocated > s->freed)
        out_printf(o, "Net total bytes allocated: %" PRIu64 "\n", s->allocated - s->freed);
    out_printf(o, "Total bytes wasted on internal fragmentation: %" PRIu64 "\n", wasted);
    out_printf(o, "Internal fragmentation: %f%%\n", kmem_slab_fragmentation(s->requested, s->allocated));
    out_printf(o, "Cross CPU allocations: %" PRIu64 "/%" PRIu64 "\n", s->cross_node, s->allocs);
}

/* ---- pages ---- */

static const char *const TYPES[KMEM_TYPES] = {"UNMOVABL", "RECLAIM", "MOVABLE", "RESERVED", "CMA/ISLT"};

static int gfp_width(const uint64_t *gfps, size_t count, const struct kmem_names *names) {
    size_t width = GFP_WIDTH;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names->gfp(names->ctx, gfps[i], false));
        if (n > width)
            width = n;
    }
    return width > 200 ? 200 : (int)width;
}

void kmem_text_gfps(const uint64_t *gfps, size_t count, const struct kmem_names *names, struct out *o) {
    int width = gfp_width(gfps, count, names);
    out_str(o, "#\n# GFP flags\n# ---------\n");
    for (size_t i = 0; i < count && !o->failed; i++) {
        out_printf(o, "# %08" PRIx64 ": %*s: ", gfps[i], width, names->gfp(names->ctx, gfps[i], false));
        put_name(o, names->gfp(names->ctx, gfps[i], true), 0);
        out_char(o, '\n');
    }
}

static void page_row(const struct kmem_page_row *r, const struct kmem_page_text *how, int width,
                     const struct kmem_names *names, struct out *o) {
    if (how->by_page)
        out_printf(o, how->is_address ? " %#16" PRIx64 " |" : " %16" PRIu64 " |", r->page);
    out_printf(o, " %16" PRIu64 " | %9" PRIu64 " | %5" PRIu32 " | %8s | %-*s | ",
               (how->live ? r->live_pages : r->pages) * how->page_kb, how->live ? r->live_hits : r->hits,
               r->order, TYPES[r->type], width, names->gfp(names->ctx, r->gfp, false));
    put_name(o, names->site(names->ctx, r->site), 0);
    out_char(o, '\n');
}

void kmem_text_pages(const struct kmem_page_row *rows, size_t count, const struct kmem_page_text *how,
                     const uint64_t *gfps, size_t gfp_count, const struct kmem_names *names, struct out *o) {
    int width = gfp_width(gfps, gfp_count, names);
    size_t shown = 0, rest = 0;
    out_char(o, '\n');
    rule(o);
    if (how->by_page)
        out_printf(o, " %-16s |", how->is_address ? "Page" : "PFN");
    out_printf(o, " %5s alloc (KB) | Hits      | Order | Mig.type | %-*s | Callsite\n",
               how->live ? "Live" : "Total", width, "GFP flags");
    rule(o);
    for (size_t i = 0; i < count && !o->failed; i++) {
        if (how->live && !rows[i].live_hits)
            continue;
        rest += shown >= how->most;
        if (shown++ < how->most)
            page_row(&rows[i], how, width, names, o);
    }
    if (rest)
        out_printf(o, "%s ...              | ...       | ...   | ...      | %-*s | ...\n",
                   how->by_page ? " ...              |" : "", width, "...");
    rule(o);
}

static void put_count(struct out *o, const char *what, const struct kmem_pages_count *c, uint32_t page_kb) {
    out_printf(o, "%-30s: %16" PRIu64 "   [ %16" PRIu64 " KB ]\n", what, c->requests, c->pages * page_kb);
}

static void put_order(struct out *o, unsigned order, const uint64_t *counts) {
    out_printf(o, "%5u", order);
    for (size_t i = 0; i < KMEM_TYPES; i++) {
        if (counts[i])
            out_printf(o, "  %12" PRIu64, counts[i]);
        else
            out_printf(o, "  %12s", ".");
    }
    out_char(o, '\n');
}

void kmem_text_page_summary(const struct kmem_pages *p, const struct kmem_page_text *how, struct out *o) {
    struct kmem_pages_count only = {p->allocs.requests - p->freed.requests, p->allocs.pages - p->freed.pages};
    out_str(o, "\nSUMMARY (page allocator)\n========================\n");
    put_count(o, "Total allocation requests", &p->allocs, how->page_kb);
    put_count(o, "Total free requests", &p->frees, how->page_kb);
    out_char(o, '\n');
    put_count(o, "Total alloc+freed requests", &p->freed, how->page_kb);
    put_count(o, "Total alloc-only requests", &only, how->page_kb);
    put_count(o, "Total free-only requests", &p->before, how->page_kb);
    out_char(o, '\n');
    put_count(o, "Total allocation failures", &p->failed, how->page_kb);
    out_str(o, "\nOrder     Unmovable   Reclaimable       Movable      Reserved  CMA/Isolated\n"
               "-----  ------------  ------------  ------------  ------------  ------------\n");
    for (unsigned order = 0; order <= KMEM_ORDER_MAX; order++) {
        const uint64_t *counts = how->live ? p->live_orders[order] : p->orders[order];
        bool any = false;
        for (size_t i = 0; i < KMEM_TYPES; i++)
            any = any || counts[i];
        if (any || order < USUAL_ORDERS)
            put_order(o, order, counts);
    }
}
