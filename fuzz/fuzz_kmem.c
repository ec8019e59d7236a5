/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and frees: every 8 bytes are one of a slab address and one of a page, of few of each. However
 * they contradict each other, sums by site, by address and over all agree. */
#include "fuzz.h"

#include "states/kmem/kmem_pages.h"
#include "states/kmem/kmem_slab.h"

enum { STEP = 8 };

static void check_slab(const struct kmem_slab *s) {
    uint64_t sites = 0, addresses = 0;
    for (size_t i = 0; i < s->sites.count; i++)
        sites += s->sites.items[i].allocated;
    for (size_t i = 0; i < s->addresses.count; i++)
        addresses += s->addresses.items[i].allocated;
    FUZZ_CHECK(sites == s->allocated && addresses == s->allocated && s->freed <= s->allocated);
}

static void check_pages(const struct kmem_pages *p) {
    uint64_t sites = 0, pages = 0, live_sites = 0, live_pages = 0;
    for (size_t i = 0; i < p->sites.count; i++) {
        sites += p->sites.items[i].pages;
        live_sites += p->sites.items[i].live_pages;
    }
    for (size_t i = 0; i < p->pages.count; i++) {
        pages += p->pages.items[i].pages;
        live_pages += p->pages.items[i].live_pages;
    }
    FUZZ_CHECK(sites == pages && live_sites == live_pages && sites + p->failed.pages == p->allocs.pages);
    FUZZ_CHECK(p->frees.requests == p->freed.requests + p->before.requests);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kmem_slab s = {0};
    struct kmem_pages p = {0};
    for (size_t at = 0; at + STEP <= size; at += STEP) {
        const uint8_t *x = data + at;
        const struct kmem_slab_alloc a = {.address = (uint64_t)x[1] * 8,
                                          .site = x[2],
                                          .requested = x[3],
                                          .allocated = (uint64_t)x[3] + x[4] % 8,
                                          .cpu = x[5] % 2};
        const struct kmem_page_event e = {.page = x[1],
                                          .gfp = x[2] % 8,
                                          .order = x[3] % 64,
                                          .site = x[4] % 4,
                                          .type = (enum kmem_migrate)(x[5] % KMEM_TYPES),
                                          .failed = x[6] == 0xff};
        if (x[0] & 1)
            FUZZ_CHECK(kmem_slab_alloc(&s, &a) && kmem_pages_alloc(&p, &e));
        else {
            kmem_slab_free(&s, a.address, a.cpu);
            kmem_pages_free(&p, e.page, e.order);
        }
    }
    check_slab(&s);
    check_pages(&p);
    kmem_slab_fini(&s);
    kmem_pages_fini(&p);
    return 0;
}
