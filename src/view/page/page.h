/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as one HTML file that needs nothing else: the built page (web/dist) with the data put in, in the
 * form that docs/PAGE.md describes. */
#ifndef SONDE_VIEW_PAGE_PAGE_H
#define SONDE_VIEW_PAGE_PAGE_H

#include "base/text/out.h"
#include "profile/compare/functions.h"
#include "profile/compare/interval.h"
#include "stacks/stacks.h"

/* What is proved of an event of two recordings: rows of judge.h, proved ones first, and which functions of
 * the stacks they are of. */
struct page_verdict {
    uint32_t base_event, new_event; /* of the stacks */
    double level;
    VEC(struct interval) rows;          /* at most PAGE_VERDICT_ROWS */
    struct compare_functions functions; /* at most PAGE_VERDICT_FUNCTIONS; .row: in `rows` */
};
enum { PAGE_VERDICT_ROWS = 4000, PAGE_VERDICT_FUNCTIONS = 16000 };

struct page_verdicts {
    VEC(struct page_verdict) list;
};
void page_verdicts_fini(struct page_verdicts *v);

struct page_options {
    const char *title;                    /* hostile text is made visible */
    const char *program;                  /* "sonde 0.1.0" */
    const struct page_verdicts *verdicts; /* NULL: none */
    uint64_t
        time_bytes; /* a larger time axis, compressed, is summed up in PAGE_BUCKETS; 0: PAGE_TIME_BYTES */
};
enum { PAGE_TIME_BYTES = 32 << 20, PAGE_BUCKETS = 1000 };

/* False with *err: out of memory. */
bool page_write(const struct stacks *s, const struct page_options *o, struct out *out, struct err *err);

/* The built page, and its length (made from web/dist/page.html). */
extern const char page_template[];
extern const size_t page_template_size;

#endif
