/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/why/why_search.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/name_match.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, SLOTS = 1 << 14 };

/* What is known of a page of an address space in one state. */
struct why_page {
    uint64_t page; /* 0: the slot is free */
    uint32_t state;
    uint8_t space, in_kernel;
    bool may_hold;
};

void why_search_fini(struct why_search *w) {
    hash_map_fini(&w->odd);
    hash_map_fini(&w->held);
    free(w->pages);
}

/* Several mappings may share such a page. */
static bool find_odd(struct why_search *w) {
    const struct model *m = w->samples->locator->model;
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_mapping_count(m); i++) {
        const struct model_mapping map = model_mapping(m, i);
        if (map.start % PAGE_BYTES)
            ok = hash_map_set(&w->odd, map.start >> PAGE_BITS, 0);
        if (ok && (map.last + 1) % PAGE_BYTES)
            ok = hash_map_set(&w->odd, map.last >> PAGE_BITS, 0);
    }
    return ok;
}

/* The first symbol that begins after `offset`. */
static uint32_t next_symbol(const struct symbol_table *t, uint64_t offset) {
    uint32_t low = 0, high = symbol_table_count(t);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbol_table_start(t, middle) > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_called(const struct symbol_table *t, uint32_t symbol, const char *name) {
    return !strcmp(symbol_table_name(t, symbol), name) ||
           symbol_name_matches(symbol_table_shown(t, symbol), name);
}

/* Whether any place in [from, last] has that name. */
static bool range_holds(const struct symbol_table *t, uint64_t from, uint64_t last, const char *name) {
    for (uint64_t at = from;;) {
        uint32_t symbol = symbol_table_find(t, at), next = next_symbol(t, at);
        uint64_t to = next < symbol_table_count(t) ? symbol_table_start(t, next) : UINT64_MAX;
        if (symbol != SYMBOL_NONE) {
            if (is_called(t, symbol, name))
                return true;
            if (symbol_table_end(t, symbol) < to)
                to = symbol_table_end(t, symbol);
        }
        if (to > last || to <= at)
            return false;
        at = to;
    }
}

/* Return addresses belong to the byte before them, which may be the page before's last one. */
static bool page_may_hold(struct why_search *w, const struct model_state *state, enum model_space space,
                          bool in_kernel, uint64_t page) {
    uint64_t start = page << PAGE_BITS, last = start + PAGE_BYTES - 1;
    struct model_hit first, end;
    if (hash_map_get(&w->odd, page) != HASH_ABSENT || hash_map_get(&w->odd, page - 1) != HASH_ABSENT)
        return true;
    bool mapped = resolve_locate(w->samples->locator, state, space, in_kernel, start, &first);
    bool to_end = resolve_locate(w->samples->locator, state, space, in_kernel, last, &end);
    if (first.mapping != end.mapping || mapped != to_end)
        return true;
    if (first.image == MODEL_NONE) /* what calls may be the page before's */
        return resolve_locate(w->samples->locator, state, space, in_kernel, start - 1, &end) &&
               end.image != MODEL_NONE;
    const struct model_image *image = model_image(w->samples->locator->model, first.image);
    if (image->pid != MODEL_NONE || image->kind == MODEL_IMAGE_CODE)
        return true; /* JITs' mappings lie side by side */
    uint64_t key = hash_u64(first.offset) ^ first.image;
    uint32_t held = hash_map_get(&w->held, key);
    if (held != HASH_ABSENT)
        return held;
    resolve_names_find(w->samples->names, first.image, first.offset); /* loads the table */
    const struct symbol_table *t = resolve_names_table(w->samples->names, first.image);
    held = t && range_holds(t, first.offset ? first.offset - 1 : 0, first.offset + (last - start), w->name);
    hash_map_set(&w->held, key, held); /* without memory it is found out again */
    return held;
}

static bool may_be_at(struct why_search *w, const struct model_state *state, enum model_space space,
                      bool in_kernel, uint64_t address) {
    uint64_t page = address >> PAGE_BITS;
    uint64_t which = page ^ (uint64_t)state->id << 40 ^ (uint64_t)space << 61 ^ (uint64_t)in_kernel << 60;
    struct why_page *slot = &w->pages[hash_u64(which) % SLOTS];
    if (slot->page != page || slot->state != state->id || slot->space != space ||
        slot->in_kernel != in_kernel || !page)
        *slot = (struct why_page){page, state->id, (uint8_t)space, in_kernel,
                                  page_may_hold(w, state, space, in_kernel, page)};
    return slot->may_hold;
}

bool why_search_may_show(struct why_search *w, const struct resolve_sample_at *at,
                         const struct resolve_chain *chain) {
    bool in_kernel = at->cpumode == PERFDATA_MISC_KERNEL;
    if (!w->pages)
        w->pages = calloc(SLOTS, sizeof *w->pages);
    if (!w->odd_known)
        w->odd_known = find_odd(w);
    if (!w->pages || !w->odd_known)
        return true;
    for (size_t i = 0; i < chain->segments.count; i++) {
        const struct resolve_segment *s = &chain->segments.items[i];
        enum model_space space = model_space_of(s->cpumode);
        const struct model_state *state =
            resolve_locator_state(w->samples->locator, space, at->s->pid, at->when);
        for (uint64_t k = 0; k < s->count; k++)
            if (may_be_at(w, state, space, in_kernel, resolve_segment_at(s, k)))
                return true;
    }
    return false;
}
