/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/kmem/kmem.h"

/* Flags have other bits in each kernel; their names are those that the event's own format prints. */
static const struct {
    const char *name, *brief;
} BRIEF[] = {
    {"GFP_TRANSHUGE", "THP"},
    {"GFP_TRANSHUGE_LIGHT", "THL"},
    {"GFP_HIGHUSER_MOVABLE", "HUM"},
    {"GFP_HIGHUSER", "HU"},
    {"GFP_USER", "U"},
    {"GFP_KERNEL_ACCOUNT", "KAC"},
    {"GFP_KERNEL", "K"},
    {"GFP_NOFS", "NF"},
    {"GFP_ATOMIC", "A"},
    {"GFP_NOIO", "NI"},
    {"GFP_NOWAIT", "NW"},
    {"GFP_DMA", "D"},
    {"GFP_DMA32", "D32"},
    {"__GFP_RECLAIM", "R"},
    {"__GFP_DMA", "D"},
    {"__GFP_DMA32", "D32"},
    {"__GFP_HIGHMEM", "HM"},
    {"__GFP_MOVABLE", "M"},
    {"__GFP_RECLAIMABLE", "RC"},
    {"__GFP_HIGH", "H"},
    {"__GFP_ATOMIC", "_A"},
    {"__GFP_IO", "I"},
    {"__GFP_FS", "F"},
    {"__GFP_ZERO", "Z"},
    {"__GFP_DIRECT_RECLAIM", "DR"},
    {"__GFP_KSWAPD_RECLAIM", "KR"},
    {"__GFP_WRITE", "WR"},
    {"__GFP_NOWARN", "NWR"},
    {"__GFP_RETRY_MAYFAIL", "R"},
    {"__GFP_NOFAIL", "NF"},
    {"__GFP_NORETRY", "NR"},
    {"__GFP_MEMALLOC", "MA"},
    {"__GFP_COMP", "C"},
    {"__GFP_NOMEMALLOC", "NMA"},
    {"__GFP_HARDWALL", "HW"},
    {"__GFP_THISNODE", "TN"},
    {"__GFP_ACCOUNT", "AC"},
    {"__GFP_ZEROTAGS", "ZT"},
    {"__GFP_NO_OBJ_EXT", "NOE"},
};

/* Names that are not known stay whole. */
static void put_brief(struct out *o, struct bytes name) {
    for (size_t i = 0; i < sizeof BRIEF / sizeof *BRIEF; i++)
        if (strlen(BRIEF[i].name) == name.size && memcmp(BRIEF[i].name, name.data, name.size) == 0) {
            out_str(o, BRIEF[i].brief);
            return;
        }
    out_mem(o, (const char *)name.data, name.size);
}

static uint32_t keep(struct kmem_gfps *g, struct out *o) {
    const char *text = out_text(o);
    return o->failed ? STRPOOL_NONE : strpool_add(&g->texts, text, strlen(text));
}

/* "... gfp_flags=GFP_KERNEL|__GFP_ZERO node=..." */
static struct bytes find_flags(struct out *text) {
    static const char FIELD[] = "gfp_flags=";
    const char *at = strstr(out_text(text), FIELD);
    if (!at)
        return (struct bytes){NULL, 0};
    at += sizeof FIELD - 1;
    return (struct bytes){(const uint8_t *)at, strcspn(at, " \t\n")};
}

static bool print(struct kmem_gfps *g, struct bytes flags, uint64_t gfp, struct kmem_gfp *to) {
    struct out whole, brief;
    bool ok = out_init(&whole, NULL, NULL);
    if (!out_init(&brief, NULL, NULL) || !ok) {
        out_fini(&whole);
        out_fini(&brief);
        return false;
    }
    if (!flags.size)
        out_printf(&whole, "%#llx", (unsigned long long)gfp);
    else
        out_mem(&whole, (const char *)flags.data, flags.size);
    const char *text = out_text(&whole);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "|");
        put_brief(&brief, (struct bytes){(const uint8_t *)p, n});
        p += n;
        if (*p == '|') {
            out_char(&brief, '|');
            p++;
        }
    }
    to->whole = keep(g, &whole);
    to->brief = keep(g, &brief);
    out_fini(&whole);
    out_fini(&brief);
    return to->whole != STRPOOL_NONE && to->brief != STRPOOL_NONE;
}

bool kmem_gfps_note(struct kmem_gfps *g, struct recording *r, const struct event_view_item *item,
                    uint64_t gfp) {
    if (hash_map_get(&g->ids, gfp) != HASH_ABSENT)
        return true;
    struct out text;
    struct kmem_gfp *to = vec_push(&g->list);
    if (!to || !hash_map_set(&g->ids, gfp, (uint32_t)g->list.count - 1))
        return false;
    *to = (struct kmem_gfp){STRPOOL_NONE, STRPOOL_NONE};
    if (!out_init(&text, NULL, NULL))
        return false;
    const struct perfdata_attr *attr = &r->events->list.items[item->event->index].attr;
    bool printed = r->formats && tracefs_formats_print(r->formats, attr->config, (int)item->event->sample.cpu,
                                                       item->event->sample.raw, &text);
    bool ok = print(g, printed ? find_flags(&text) : (struct bytes){NULL, 0}, gfp, to);
    out_fini(&text);
    return ok;
}

const char *kmem_gfps_text(const struct kmem_gfps *g, uint64_t gfp, bool whole) {
    uint32_t i = hash_map_get(&g->ids, gfp);
    if (i == HASH_ABSENT || i >= g->list.count)
        return "?";
    uint32_t id = whole ? g->list.items[i].whole : g->list.items[i].brief;
    return id == STRPOOL_NONE ? "?" : strpool_text(&g->texts, id);
}

void kmem_gfps_fini(struct kmem_gfps *g) {
    hash_map_fini(&g->ids);
    vec_fini(&g->list);
    strpool_fini(&g->texts);
}
