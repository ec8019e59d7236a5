/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as one HTML file that needs nothing else: the built page (web/dist) with the data put in, in the
 * form that docs/PAGE.md describes. */
#ifndef SONDE_VIEW_PAGE_PAGE_H
#define SONDE_VIEW_PAGE_PAGE_H

#include "base/out.h"
#include "stacks/stacks.h"

struct page_options {
    const char *title;   /* hostile text is made visible */
    const char *program; /* "sonde 0.1.0" */
    uint64_t
        time_bytes; /* a larger time axis, compressed, is summed up in PAGE_BUCKETS; 0: PAGE_TIME_BYTES */
};
enum { PAGE_TIME_BYTES = 32 << 20, PAGE_BUCKETS = 1000 };

/* False with *err: memory. */
bool page_write(const struct stacks *s, const struct page_options *o, struct out *out, struct err *err);

/* The built page, and its length (made from web/dist/page.html). */
extern const char page_template[];
extern const size_t page_template_size;

#endif
