/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sonde kmem` share. */
#ifndef SONDE_CMD_KMEM_KMEM_H
#define SONDE_CMD_KMEM_KMEM_H

#include "cmd/common/command.h"
#include "cmd/common/event_view.h"
#include "states/call_sites.h"
#include "states/kmem/kmem_pages.h"
#include "states/kmem/kmem_slab.h"

/* What --slab, --page, --caller, --alloc, -s and -l say together: the last two are about what was named
 * before. */
struct kmem_choice {
    bool slab, page;         /* named */
    bool last_page;          /* of the two, the last one */
    int caller, alloc, last; /* when they were named; 0: not */
    const char *slab_caller_sort, *slab_alloc_sort, *page_caller_sort, *page_alloc_sort; /* NULL: usual */
    size_t caller_lines, alloc_lines;                                                    /* SIZE_MAX: all */
};

struct kmem_options {
    struct kmem_choice choice;
    const char *input, *time;
    bool force, live, raw_ip;
    int verbose;
    struct symbol_options symbols;
};

int kmem_stat(struct command_env *env, const struct kmem_options *o, int argc, char **argv);
int kmem_record(struct command_env *env, const struct kmem_options *o, int argc, char **argv);
int kmem_script(struct command_env *env, const struct kmem_options *o, int argc, char **argv);

/* Reads a text of sort keys. False: *bad, which may be empty, is none. */
bool kmem_slab_order_parse(const char *text, struct kmem_slab_order *order, struct bytes *bad);
bool kmem_page_order_parse(const char *text, struct kmem_page_order *order, struct bytes *bad);

struct kmem_gfp {
    uint32_t whole, brief; /* in `texts` */
};

/* The flags of allocations as their events print them, each found once. Zeroed at first. */
struct kmem_gfps {
    struct hash_map ids;
    VEC(struct kmem_gfp) list;
    struct strpool texts;
};
/* Notes the flags of an event. False: out of memory. */
bool kmem_gfps_note(struct kmem_gfps *g, struct recording *r, const struct event_view_item *item,
                    uint64_t gfp);
const char *kmem_gfps_text(const struct kmem_gfps *g, uint64_t gfp, bool whole);
void kmem_gfps_fini(struct kmem_gfps *g);

#endif
