/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the kernel's allocators as text: `kmem stat`. */
#ifndef SONDE_VIEW_KMEM_KMEM_TEXT_H
#define SONDE_VIEW_KMEM_KMEM_TEXT_H

#include "base/text/out.h"
#include "states/kmem/kmem_pages.h"
#include "states/kmem/kmem_slab.h"

/* Names for the keys of rows, from the owner; texts are valid until the next call. */
struct kmem_names {
    void *ctx;
    const char *(*code)(void *ctx, uint64_t address); /* "alloc_fdtable+d0", or the address */
    const char *(*site)(void *ctx, uint32_t site);
    const char *(*gfp)(void *ctx, uint64_t gfp, bool whole); /* "K|Z", or GFP_KERNEL|__GFP_ZERO */
};

/* Sorted rows, at most `most`; `addresses`: they are of addresses, not of call sites. */
void kmem_text_slab(const struct kmem_slab_rows *rows, bool addresses, size_t most,
                    const struct kmem_names *names, struct out *o);
void kmem_text_slab_summary(const struct kmem_slab *s, struct out *o);

struct kmem_page_text {
    bool live;       /* only allocations that were not freed */
    bool by_page;    /* rows are of pages, not of call sites */
    bool is_address; /* a page's key is the address of its descriptor */
    size_t most;
    uint32_t page_kb; /* the size of a page */
};
/* The different flags, in ascending order, and what they mean. */
void kmem_text_gfps(const uint64_t *gfps, size_t count, const struct kmem_names *names, struct out *o);
/* Sorted rows of `count`; with `live` those that have something. */
void kmem_text_pages(const struct kmem_page_row *rows, size_t count, const struct kmem_page_text *how,
                     const uint64_t *gfps, size_t gfp_count, const struct kmem_names *names, struct out *o);
void kmem_text_page_summary(const struct kmem_pages *p, const struct kmem_page_text *how, struct out *o);

#endif
