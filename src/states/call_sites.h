/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call sites: who asked the kernel for a lock or for memory. The site of a sample is the innermost function
 * of its callchain that does not belong to the lock or allocator code itself.
 *
 *   rwsem_down_write_slowpath <- down_write <- vm_mmap_pgoff <- do_syscall_64
 *   |------- locks' own ------------------|    the site: vm_mmap_pgoff+0xe0
 */
#ifndef SONDE_STATES_CALL_SITES_H
#define SONDE_STATES_CALL_SITES_H

#include "base/strpool.h"
#include "base/text/out.h"
#include "recording/stacks_at.h"

/* Whether a kernel function belongs to that code, by its name. */
typedef bool call_site_own_fn(const char *function);
call_site_own_fn call_site_is_lock, call_site_is_page_allocator;

struct call_site {
    uint32_t name;  /* in `texts`: "vm_mmap_pgoff+0xe0" */
    uint32_t stack; /* the whole stack, a line for each frame, where `stacks` asks for it */
};

struct call_sites {
    struct recording_stacks *frames; /* borrowed */
    call_site_own_fn *own;
    unsigned skip;      /* how many innermost frames are never a site */
    size_t depth;       /* how many frames are looked at; 0: all */
    bool functions;     /* a site is a function, without the offset in it */
    bool raw;           /* a site is an address, without a name */
    bool stacks;        /* sites with different stacks are different */
    const char *filter; /* only stacks with this in a function's name; NULL: all */
    struct strpool texts;
    struct out stack; /* scratch */
    VEC(struct call_site) list;
    struct hash_map by_text; /* by what identifies a site */
};

/* Renumbers the sites in the order of their names; ranks[old] is the new number. No site can be found
 * afterwards. False: out of memory. */
bool call_sites_rank(struct call_sites *s, uint32_t *ranks);

/* Returns the index of the site of the sample at `loc`, or CALL_SITE_FILTERED; CALL_SITE_NONE: out of memory.
 */
enum { CALL_SITE_NONE = UINT32_MAX - 1, CALL_SITE_FILTERED = UINT32_MAX - 2 };
uint32_t call_sites_find(struct call_sites *s, uint64_t loc);
/* The function at an address, and how far from its start that is; NULL: none. The text may lie in `room`. */
typedef const char *call_site_name_fn(void *ctx, uint64_t address, uint64_t *offset, char *room, size_t size);
/* The same for a kernel stack that was not recorded as a sample; innermost first. */
uint32_t call_sites_of_addresses(struct call_sites *s, const uint64_t *addresses, uint64_t count,
                                 call_site_name_fn *name, void *ctx);
void call_sites_fini(struct call_sites *s);

#endif
