/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds samples that may show a function of a given name without resolving all others: whether any code of
 * that name lies in a page is found out once for each page of each state of an address space.
 */
#ifndef SONDE_CMD_WHY_WHY_SEARCH_H
#define SONDE_CMD_WHY_WHY_SEARCH_H

#include "base/hash.h"
#include "resolve/sample.h"

struct why_search {
    const char *name;                /* borrowed */
    struct resolve_samples *samples; /* borrowed; they name functions */
    struct why_page *pages;          /* direct-mapped; NULL: not made yet */
    struct hash_map odd;             /* pages that some mapping ends in or begins in */
    struct hash_map held;            /* by image and offset: whether that page of it may hold the name */
    bool odd_known;
};

/* Zeroed before but for its borrowed members. The model is frozen. */
void why_search_fini(struct why_search *w);

/* False: no address of the chain has the name. True: one may have, or memory ran out. */
bool why_search_may_show(struct why_search *w, const struct resolve_sample_at *at,
                         const struct resolve_chain *chain);

#endif
